"""dbsim's own tables: every door leads to the same schema, again, at once and back."""

from __future__ import annotations

import io
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.operations import Operations
from sqlalchemy import Connection, Engine, MetaData, create_engine, inspect

import dbsim
import dbsim.migrate
from dbsim.errors import DbsimError, InvalidOption
from dbsim.tables.catalogue import metadata
from dbsim.tables.versions import VERSIONS, current
from tests.integration.helpers import QUICK, articles, corpus, execute, fetch, objects
from tests.migration.harness import but_comments

ROOT = Path(__file__).parents[2]
CURRENT = current()


def schema(engine: Engine) -> list[tuple[Any, ...]]:
    """All objects and the version."""
    return [*objects(engine), *fetch(engine, "SELECT 'version', version_num FROM dbsim_version")]


@pytest.fixture
def empty(url: str) -> Any:
    engine = create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    yield engine
    engine.dispose()


def online(engine: Engine, work: Callable[[Operations], None], **options: Any) -> None:
    """As in an application's own migration."""
    with engine.begin() as connection:
        work(Operations(MigrationContext.configure(connection, opts=options)))


def offline(engine: Engine, work: Callable[[Operations], None], **options: Any) -> str:
    """As `alembic upgrade --sql` prints it."""
    buffer = io.StringIO()
    context = MigrationContext.configure(
        dialect_name=engine.dialect.name, opts={"as_sql": True, "output_buffer": buffer, **options}
    )
    work(Operations(context))
    return buffer.getvalue()


def run_script(engine: Engine, script: str) -> None:
    """In a client that knows nothing of SQLAlchemy."""
    connection = engine.raw_connection()
    if engine.dialect.name == "sqlite":
        connection.executescript(script)  # type: ignore[attr-defined]
    else:
        connection.cursor().execute(script)
    connection.commit()
    connection.close()


# ── dbsim upgrade, downgrade ──
def test_upgrade_twice_changes_nothing(empty: Engine) -> None:
    database = dbsim.open(empty)
    assert database.upgrade() == CURRENT
    first = schema(empty)
    articles(empty, corpus(1))
    index = database.create_index("articles", table="articles", columns="body", **QUICK)
    index.sync()
    before = schema(empty)
    assert database.upgrade() == CURRENT
    assert schema(empty) == before
    assert not index.check()
    assert fetch(empty, "SELECT version_num FROM dbsim_version") == [(CURRENT,)]
    assert set(first) <= set(before)


def test_eight_upgrades_at_once(url: str, empty: Engine) -> None:
    failures: list[BaseException] = []
    start = threading.Barrier(8)

    def upgrade() -> None:
        own = dbsim.open(url, create=True)
        start.wait()
        try:
            own.upgrade()
        except Exception as error:  # noqa: BLE001 - shown by the assertion
            failures.append(error)
        own.close()

    threads = [threading.Thread(target=upgrade) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    found = schema(empty)
    dbsim.open(empty).downgrade()
    dbsim.open(empty).upgrade()
    assert schema(empty) == found


def test_upgrades_of_several_databases_at_once_in_one_process(tmp_path: Path) -> None:
    """Alembic keeps its current migration in a global of the process."""
    failures: list[BaseException] = []
    start = threading.Barrier(6)

    def upgrade(number: int) -> None:
        own = dbsim.open(tmp_path / f"{number}.db", create=True)
        start.wait()
        try:
            for _ in range(3):
                own.upgrade()
                own.downgrade()
            own.upgrade()
        except Exception as error:  # noqa: BLE001 - shown by the assertion
            failures.append(error)
        own.close()

    threads = [threading.Thread(target=upgrade, args=[number]) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    for number in range(6):
        own = dbsim.open(tmp_path / f"{number}.db")
        assert own.indexes() == []
        own.close()


def test_downgrade_and_upgrade_lead_back(empty: Engine) -> None:
    execute(empty, "CREATE TABLE mine (id INTEGER PRIMARY KEY)")
    before = objects(empty)
    database = dbsim.open(empty)
    database.upgrade()
    upgraded = schema(empty)
    database.downgrade()
    assert objects(empty) == before
    database.downgrade()  # again: nothing left to do
    assert objects(empty) == before
    assert database.upgrade() == CURRENT
    assert schema(empty) == upgraded


def test_downgrade_is_refused_while_there_are_indexes(empty: Engine) -> None:
    database = dbsim.open(empty)
    database.upgrade()
    articles(empty, corpus(1))
    for name in ("one", "two"):
        database.create_index(name, table="articles", columns="body", **QUICK).sync()
    before = schema(empty)
    sentence = "the database still has the indexes one, two: drop them first with `dbsim drop`"
    with pytest.raises(DbsimError, match=f"^{sentence}$"):
        database.downgrade()
    online(empty, dbsim.migrate.downgrade)  # an application's migration does not fail: the indexes may be another's
    assert schema(empty) == before
    execute(empty, "INSERT INTO articles VALUES (100, 'the application goes on')")
    assert database.index("one").sync().changed == 1


# ── rows that somebody imported ──
@pytest.fixture
def imported(empty: Engine, tmp_path: Path) -> dbsim.Database:
    database = dbsim.open(empty)
    database.upgrade()
    path = tmp_path / "two.jsonl"
    path.write_text('{"text": "mine"}\n{"text": "mine too"}\n')
    database.import_file(path)
    return database


def documents(engine: Engine) -> list[tuple[Any, ...]] | None:
    listed = inspect(engine).has_table("dbsim_document")
    return fetch(engine, "SELECT text FROM dbsim_document ORDER BY id") if listed else None


MINE = [("mine",), ("mine too",)]


def test_imported_rows_go_only_when_it_is_said(empty: Engine, imported: dbsim.Database) -> None:
    before = schema(empty)
    with pytest.raises(DbsimError, match="dbsim_document holds 2 imported rows"):
        imported.downgrade()
    assert schema(empty) == before
    imported.downgrade("0002")  # the table is not touched
    imported.upgrade()
    imported.downgrade(documents=False)
    assert documents(empty) == MINE
    assert not inspect(empty).has_table("dbsim_index")
    assert imported.upgrade() == CURRENT
    assert schema(empty) == before
    assert documents(empty) == MINE
    imported.downgrade(documents=True)
    assert documents(empty) is None


def test_imported_rows_outlive_migrations(
    empty: Engine, imported: dbsim.Database, caplog: pytest.LogCaptureFixture
) -> None:
    online(empty, dbsim.migrate.downgrade)
    assert documents(empty) == MINE
    assert "dbsim_document stays with its 2 imported rows" in caplog.text
    imported.upgrade()
    run_script(empty, offline(empty, dbsim.migrate.downgrade))
    assert documents(empty) == MINE
    imported.upgrade()
    online(empty, lambda op: dbsim.migrate.downgrade(op, documents=True))
    assert documents(empty) is None


def test_the_shell_counts_and_asks(url: str, empty: Engine, imported: dbsim.Database, tmp_path: Path) -> None:
    def shell(*arguments: str) -> tuple[int, str]:
        start = [sys.executable, "-m", "dbsim", "downgrade", url, *arguments]
        done = subprocess.run(start, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=300)
        return done.returncode, (done.stdout + done.stderr).decode()

    empty.dispose()
    code, said = shell()
    assert (code, said.count("\n")) == (2, 1)
    assert "add --yes to delete dbsim_document with its 2 imported rows" in said
    assert documents(empty) == MINE
    assert shell("--yes", "--keep-documents")[0] == 2
    assert shell("--keep-documents") == (0, "dbsim's tables are removed\n")
    assert documents(empty) == MINE
    imported.upgrade()
    assert shell("--yes") == (0, "dbsim's tables are removed\n")
    assert documents(empty) is None


# ── an application's own migration ──
def test_a_migration_of_the_application_makes_the_same_schema(empty: Engine) -> None:
    dbsim.open(empty).upgrade()
    expected = schema(empty)
    dbsim.open(empty).downgrade()
    before = objects(empty)
    for _ in range(2):
        online(empty, dbsim.migrate.upgrade)
        assert schema(empty) == expected
        online(empty, dbsim.migrate.upgrade)  # again: nothing to do
        assert schema(empty) == expected
        assert dbsim.open(empty).upgrade() == CURRENT  # and both doors agree on the version
        assert schema(empty) == expected
        online(empty, dbsim.migrate.downgrade)
        assert objects(empty) == before


@pytest.mark.parametrize("options", [{}, {"literal_binds": True}], ids=["plain", "literal binds"])
def test_the_printed_migration_makes_the_same_schema(empty: Engine, options: dict[str, Any]) -> None:
    dbsim.open(empty).upgrade()
    expected = schema(empty)
    dbsim.open(empty).downgrade()
    before = objects(empty)
    up, down = (offline(empty, work, **options) for work in (dbsim.migrate.upgrade, dbsim.migrate.downgrade))
    run_script(empty, up)
    assert schema(empty) == expected
    assert dbsim.open(empty).indexes() == []
    run_script(empty, down)
    left = [row for row in objects(empty) if "dbsim_document" in row]  # a script for SQLite cannot see if it is empty
    assert bool(left) == (empty.dialect.name == "sqlite")
    assert [row for row in objects(empty) if row not in left] == before


def test_unknown_versions_are_refused(empty: Engine) -> None:
    for work in (dbsim.migrate.upgrade, dbsim.migrate.downgrade):
        with pytest.raises(InvalidOption, match=f"there is no version '7777' of dbsim's tables; .* {CURRENT}"):
            online(empty, lambda op, work=work: work(op, to="7777"))  # type: ignore[misc]


def test_a_whole_application_with_alembic(empty: Engine, tmp_path: Path) -> None:
    """Its own environment and history, in which dbsim is one revision between two others."""
    write_application(tmp_path)
    config = Config()
    config.set_main_option("script_location", str(tmp_path / "app"))
    config.attributes["engine"] = empty
    command.upgrade(config, "head")
    database = dbsim.open(empty)
    index = database.create_index("articles", table="articles", columns="body", **QUICK)
    index.sync()
    command.downgrade(config, "a2")
    command.downgrade(config, "a1")  # leaves the tables to the index, which this application did not make
    assert index.status().problems == ()
    database.drop_index("articles")
    command.upgrade(config, "a2")
    command.downgrade(config, "a1")
    assert not [one for one in objects(empty) if "dbsim" in str(one)]
    command.upgrade(config, "head")
    assert dbsim.open(empty).indexes() == []
    command.downgrade(config, "base")


def write_application(folder: Path) -> None:
    (folder / "app" / "versions").mkdir(parents=True)
    (folder / "app" / "script.py.mako").touch()
    (folder / "app" / "env.py").write_text(
        "from alembic import context\n"
        "with context.config.attributes['engine'].begin() as connection:\n"
        "    context.configure(connection=connection)\n"
        "    with context.begin_transaction():\n"
        "        context.run_migrations()\n"
    )
    table = "'articles', sa.Column('id', sa.Integer, primary_key=True), sa.Column('body', sa.Text)"
    column = "'articles', sa.Column('title', sa.Text)"
    steps = {
        ("a1", "None"): (f"op.create_table({table})", "op.drop_table('articles')"),
        ("a2", "'a1'"): (f"dbsim.migrate.upgrade(op, to='{CURRENT}')", "dbsim.migrate.downgrade(op, to='base')"),
        ("a3", "'a2'"): (f"op.add_column({column})", "op.drop_column('articles', 'title')"),
    }
    for (revision, down), (upgrade, downgrade) in steps.items():
        (folder / "app" / "versions" / f"{revision}.py").write_text(
            "import sqlalchemy as sa\nfrom alembic import op\nimport dbsim.migrate\n"
            f"revision = '{revision}'\ndown_revision = {down}\n"
            f"def upgrade():\n    {upgrade}\ndef downgrade():\n    {downgrade}\n"
        )


# ── the metadata, the environment in the checkout ──
def differences(connection: Connection, target: MetaData) -> list[Any]:
    """What autogenerate would propose for dbsim's tables."""
    options = {
        "compare_type": True,
        "compare_server_default": True,
        "include_name": lambda name, kind, parents: kind != "table" or (name in target.tables),
    }
    return but_comments(compare_metadata(MigrationContext.configure(connection, opts=options), target))


def test_the_metadata_is_what_the_migrations_make(empty: Engine) -> None:
    dbsim.open(empty).upgrade()
    with empty.connect() as connection:
        assert differences(connection, metadata) == []
    execute(empty, "ALTER TABLE dbsim_model ADD COLUMN extra TEXT", "DROP TABLE dbsim_cardinality")
    with empty.connect() as connection:
        assert len(differences(connection, metadata)) == 2  # the comparison does compare


def test_every_version_has_a_revision_in_the_environment() -> None:
    shown = subprocess.run(
        [sys.executable, "-m", "alembic", "history"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    for version in VERSIONS:
        assert version in shown
        assert len(version) <= 32
    assert f"{CURRENT} (head)" in shown


def test_alembic_ini_works_from_the_checkout(empty: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    config = Config("alembic.ini")
    config.set_main_option("sqlalchemy.url", empty.url.render_as_string(hide_password=False).replace("%", "%%"))
    dbsim.open(empty).upgrade()
    expected = schema(empty)
    dbsim.open(empty).downgrade()
    command.upgrade(config, "head")
    assert schema(empty) == expected
    command.check(config)  # autogenerate has nothing to propose
    assert dbsim.open(empty).upgrade() == CURRENT
    command.downgrade(config, "base")
    assert dbsim.open(empty).upgrade() == CURRENT
    dbsim.open(empty).downgrade()
    online(empty, dbsim.migrate.upgrade)
    command.downgrade(config, "base")  # which leaves an empty version table
    online(empty, dbsim.migrate.upgrade)
    assert schema(empty) == expected


def test_the_environment_prints_sql(empty: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    dbsim.open(empty).upgrade()
    expected = schema(empty)
    dbsim.open(empty).downgrade()
    buffer = io.StringIO()
    config = Config("alembic.ini", output_buffer=buffer)
    config.set_main_option("sqlalchemy.url", empty.url.render_as_string(hide_password=False).replace("%", "%%"))
    command.upgrade(config, "head", sql=True)
    run_script(empty, buffer.getvalue())
    assert schema(empty) == expected
