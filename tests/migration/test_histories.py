"""init-migration in applications whose Alembic set-up is not the plain one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory

import dbsim
from dbsim.cli import main
from tests.integration.helpers import execute
from tests.migration.harness import driver

pytestmark = pytest.mark.long

Run = Callable[..., tuple[int, str, str]]
ENV = """
from alembic import context
from sqlalchemy import NullPool, create_engine

with create_engine(context.config.attributes["url"], poolclass=NullPool).begin() as connection:
    context.configure(connection=connection)
    context.run_migrations()
"""
REVISION = """revision = "{0}"
down_revision = {1!r}


def upgrade() -> None: ...


def downgrade() -> None: ...
"""


@pytest.fixture
def run(tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """init-migration for an index on a table that is there, in the folder of the application."""
    with dbsim.open(url, create=True) as database:
        execute(database.engine, "CREATE TABLE articles (id INTEGER PRIMARY KEY, body TEXT)")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    (tmp_path / "host").mkdir()
    (tmp_path / "host/env.py").write_text(ENV)

    def init(*arguments: str) -> tuple[int, str, str]:
        given = ["init-migration", url, "articles", "--table", "articles", "--column", "body", *arguments]
        monkeypatch.setattr("sys.argv", ["dbsim", *given])
        with pytest.raises(SystemExit) as end:
            main()
        return int(end.value.code or 0), *capsys.readouterr()

    return init


def migration(folder: str, name: str, after: str | None = None) -> None:
    Path(folder).mkdir(exist_ok=True)
    Path(folder, f"{name}.py").write_text(REVISION.format(name, after))


def applied(config: Config, url: str) -> list[str]:
    """What the application's own `alembic upgrade heads` makes of it: the indexes."""
    config.attributes["url"] = driver(url)
    command.upgrade(config, "heads")
    with dbsim.open(url) as database:
        return [index.name for index in database.indexes()]


def test_several_heads_in_several_places(run: Run, url: str) -> None:
    Path("alembic.ini").write_text(
        "[alembic]\nscript_location = host\nversion_locations = shop\n  billing\npath_separator = newline\n"
    )
    migration("shop", "s1")
    migration("billing", "b1")
    code, _, err = run()
    assert (code, err) == (
        2,
        "dbsim: your migrations have several heads (b1, s1): name the one to go on from with --head, "
        "or merge them with `alembic merge heads`\n",
    )
    code, out, err = run("--head", "b1")
    assert (code, err) == (0, "")
    assert Path(out.split()[1]).parent.name == "billing"
    Path(out.split()[1]).unlink()
    code, out, err = run("--head", "s1", "--version-path", "billing")
    assert (code, err) == (0, "")
    written = Path(out.split()[1])
    assert (written.parent.name, "down_revision: Union[str, Sequence[str], None] = 's1'" in written.read_text()) == (
        "billing",
        True,
    )
    config = Config("alembic.ini")
    assert len(ScriptDirectory.from_config(config).get_heads()) == 2
    assert applied(config, url) == ["articles"]


@pytest.mark.parametrize("template", [None, "revision = ${repr(up_revision)}\ndef upgrade():\n    pass\n"])
def test_a_template_that_is_missing_or_has_no_room(run: Run, url: str, template: str | None) -> None:
    Path("alembic.ini").write_text("[alembic]\nscript_location = host\n")
    migration("host/versions", "h1")
    if template:
        Path("host/script.py.mako").write_text(template)
    code, _, err = run()
    assert (code, err) == (0, "")
    assert applied(Config("alembic.ini"), url) == ["articles"]
    assert Path("host/script.py.mako").exists() == bool(template)


def test_set_up_in_pyproject_or_another_section(run: Run, url: str) -> None:
    code, _, err = run()
    assert (code, "run this where your application's alembic.ini is, or give --config" in err) == (2, True)
    Path("pyproject.toml").write_text('[tool.alembic]\nscript_location = "host"\n')
    migration("host/versions", "h1")
    code, out, err = run()
    assert (code, err) == (0, "")
    Path(out.split()[1]).unlink()
    Path("pyproject.toml").unlink()
    Path("alembic.ini").write_text("[alembic]\nscript_location = nowhere\n[shop]\nscript_location = host\n")
    code, _, err = run()
    assert (code, err.startswith("dbsim: Alembic cannot read your migrations: ")) == (2, True)
    code, _, err = run("--section", "shop")
    assert (code, err) == (0, "")
    assert applied(Config("alembic.ini", ini_section="shop"), url) == ["articles"]


def test_a_head_that_is_none(run: Run) -> None:
    Path("alembic.ini").write_text("[alembic]\nscript_location = host\n")
    migration("host/versions", "h1")
    migration("host/versions", "h2", "h1")
    for head in ("h1", "h9"):
        code, _, err = run("--head", head)
        assert (code, err.startswith("dbsim: Alembic cannot write the migration: ")) == (2, True), err
