"""All doors lead to the same schema: migrations, `dbsim upgrade`, `dbsim sql`, dbsim's own Alembic environment."""

from __future__ import annotations

import io
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.operations import Operations
from sqlalchemy import make_url, text

import dbsim
import dbsim.migrate
from dbsim import Field, IndexOptions
from dbsim.cli import main
from dbsim.errors import InvalidOption, SchemaOutdated
from dbsim.lifecycle.schema import operations
from dbsim.tables import catalogue, versions
from dbsim.tables.versions import v0002
from tests.migration.harness import APP, apply_script, but_comments, deploy, driver, dump

FIELD = Field(columns=("title", "body"), unit="words", size=3, bits=256)
OPTIONS = IndexOptions(name="articles", table="articles", fields=(FIELD,))


@pytest.fixture
def opened(url: str) -> Iterator[dbsim.Database]:
    database = dbsim.open(url, create=True)
    with database.engine.connect() as connection:
        connection.execute(text("SELECT 1"))
    yield database
    database.close()


def install(url: str, door: str) -> None:
    kind = make_url(url).get_backend_name()
    if door == "upgrade":
        database = dbsim.open(url, create=True)
        database.upgrade()
        database.close()
    elif door == "op":
        engine = sa.create_engine(driver(url))
        with engine.begin() as connection:
            dbsim.migrate.upgrade(operations(connection), to="0003")
        engine.dispose()
    elif door == "sql":
        apply_script(url, dbsim.migrate.sql(kind))
    else:
        own = Config()
        own.set_main_option("script_location", str(Path(dbsim.__file__).parents[1] / "migrations"))
        engine = sa.create_engine(driver(url))
        with engine.begin() as connection:
            own.attributes["connection"] = connection
            command.upgrade(own, "head")
        engine.dispose()


@pytest.mark.parametrize("door", ["op", "sql", "alembic"])
def test_every_door_gives_the_same(opened: dbsim.Database, url: str, door: str) -> None:
    empty = dump(url)
    install(url, "upgrade")
    fresh = dump(url)
    with opened.engine.connect() as connection:
        opts = {"version_table": "dbsim_version", "include_name": lambda name, *_: name not in v0002.TABLES}
        context = MigrationContext.configure(connection, opts=opts)
        assert but_comments(compare_metadata(context, catalogue.metadata)) == []
    opened.downgrade()
    assert dump(url) == empty
    install(url, door)
    assert dump(url) == fresh
    apply_script(url, dbsim.migrate.sql(make_url(url).get_backend_name(), since="0003", to="base"))
    if make_url(url).get_backend_name() == "sqlite":  # a script cannot look whether rows were imported: the table stays
        with opened.engine.begin() as connection:
            connection.execute(text("DROP TABLE dbsim_document"))
    assert dump(url) == empty


def test_a_migration_makes_the_index_that_create_makes(opened: dbsim.Database, url: str) -> None:
    deploy(url, "release_2")
    opened.index("articles").sync()  # with which come the views and functions
    migrated = dump(url)
    opened.drop_index("articles")
    opened.create_index("articles", table="articles", fields=[FIELD], threshold=0.7, recall=0.95).sync()
    created = dump(url).replace('\\"schema\\": \\"public\\"', '\\"schema\\": null')
    for text_ in (created, migrated):
        assert "dbsim_articles_queue" in text_
    # the catalogue names the table's schema and the type as PostgreSQL writes it; the objects are the same
    assert created.partition("alembic_version [")[0] == migrated.partition("alembic_version [")[0]


# ── versions ──
@pytest.fixture
def future(monkeypatch: pytest.MonkeyPatch) -> None:
    """A version 0004 that adds a column, as a later dbsim will have."""

    def upgrade(op: Operations) -> None:
        op.add_column("dbsim_document", sa.Column("lang", sa.Text))

    def downgrade(op: Operations) -> None:
        op.drop_column("dbsim_document", "lang")

    monkeypatch.setitem(versions.VERSIONS, "0004", SimpleNamespace(upgrade=upgrade, downgrade=downgrade))  # type: ignore[arg-type]


def test_from_one_version_to_the_next_and_back(opened: dbsim.Database, url: str, future: None) -> None:
    kind = make_url(url).get_backend_name()
    assert opened.upgrade("0003") == "0003"
    first = dump(url)
    assert opened.upgrade() == "0004"
    second = dump(url)
    assert second != first
    opened.downgrade("0003")
    assert dump(url) == first
    apply_script(url, dbsim.migrate.sql(kind, since="0003", to="0004"))
    assert dump(url) == second
    apply_script(url, dbsim.migrate.sql(kind, since="0004", to="0003"))
    assert dump(url) == first
    with opened.engine.begin() as connection:
        dbsim.migrate.upgrade(operations(connection), to="0003")  # nothing to do
        dbsim.migrate.upgrade(operations(connection), to="0004")
    assert dump(url) == second


def test_the_error_contains_the_migration(opened: dbsim.Database, url: str, future: None) -> None:
    with pytest.raises(SchemaOutdated, match='upgrade\\(op, to="0004", since="base"\\)'):
        dbsim.migrate.check(opened.engine)
    opened.upgrade("0003")
    with pytest.raises(SchemaOutdated) as caught:
        dbsim.migrate.check(opened.engine)
    pasted = str(caught.value).split("migration:\n")[1]
    assert 'downgrade(op, to="0003", since="0004")' in pasted
    names: dict[str, object] = {}
    with opened.engine.begin() as connection:
        names["op"] = operations(connection)
        exec("\n".join(line[4:] for line in pasted.splitlines()), names)
        names["upgrade"]()  # type: ignore[operator]
    dbsim.migrate.check(opened.engine)
    with opened.engine.connect() as connection:
        dbsim.migrate.check(connection)


def test_an_unknown_version_is_refused(opened: dbsim.Database) -> None:
    with pytest.raises(InvalidOption, match=r"no version '0009'.*0001"):
        opened.upgrade("0009")


def test_a_newer_database_is_left_alone(opened: dbsim.Database) -> None:
    opened.upgrade()
    with opened.engine.begin() as connection:
        connection.execute(text("UPDATE dbsim_version SET version_num = '0007'"))
        dbsim.migrate.upgrade(operations(connection), to="0003")
    with pytest.raises(SchemaOutdated, match="newer than this dbsim"):
        dbsim.migrate.check(opened.engine)
    with pytest.raises(SchemaOutdated, match="install the dbsim that made them"):
        opened.upgrade()


# ── offline ──
@pytest.mark.parametrize("dialect", ["sqlite", "postgresql"])
def test_offline_says_what_is_missing(dialect: str) -> None:
    context = MigrationContext.configure(dialect_name=dialect, opts={"as_sql": True, "output_buffer": io.StringIO()})
    op = Operations(context)
    bare = IndexOptions(name="articles", table="articles", fields=(Field(columns=("body",), size=3),))
    with pytest.raises(InvalidOption, match=r"primary_key=.*unit of body, bits of body.*init-migration"):
        dbsim.migrate.create_index(op, bare)
    with pytest.raises(InvalidOption, match="generation=2"):
        dbsim.migrate.alter_index(op, OPTIONS, primary_key={"id": "INTEGER"})


@pytest.mark.parametrize("dialect", ["sqlite", "postgresql"])
def test_no_secret_in_the_file(dialect: str) -> None:
    out = io.StringIO()
    context = MigrationContext.configure(dialect_name=dialect, opts={"as_sql": True, "output_buffer": out})
    dbsim.migrate.create_index(Operations(context), OPTIONS, primary_key={"id": "INTEGER"})
    assert ("randomblob(16)" if dialect == "sqlite" else "gen_random_uuid()") in out.getvalue()


def test_the_secret_survives_a_second_run(opened: dbsim.Database, url: str) -> None:
    deploy(url, "release_2")
    first = opened.index("articles")._tables.record
    with opened.engine.begin() as connection:
        dbsim.migrate.create_index(operations(connection), OPTIONS, primary_key={"id": "INTEGER"})
    again = opened.index("articles")._tables.record
    assert (again.secret, again.stamp) == (first.secret, first.stamp)
    assert len(first.secret) == 16


# ── command line ──
@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Run a command: exit code, standard output, standard error."""

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["dbsim", *arguments])
        with pytest.raises(SystemExit) as end:
            main()
        return int(end.value.code or 0), *capsys.readouterr()

    return run


def test_upgrade_check_and_sql(opened: dbsim.Database, url: str, cli: Callable[..., tuple[int, str, str]]) -> None:
    code, out, err = cli("upgrade", url, "--check")
    assert (code, out) == (1, "")
    assert "dbsim.migrate.upgrade(op" in err
    assert cli("upgrade", url)[0] == 0
    assert cli("upgrade", url, "--check")[0] == 0
    kind = make_url(url).get_backend_name()
    _, out, _ = cli("sql", "--dialect", kind)
    signing = len(v0002.TABLES) if kind == "postgresql" else 0
    assert out.count("CREATE TABLE") == len(catalogue.metadata.tables) + 1 + signing


def test_init_migration(
    opened: dbsim.Database,
    url: str,
    tmp_path: Path,
    cli: Callable[..., tuple[int, str, str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Written by the command line for an index and for a change; run as written; nothing is left to propose."""
    app = tmp_path / "app"
    shutil.copytree(APP, app, ignore=shutil.ignore_patterns("release_2*", "release_3*", "__pycache__"))
    out = io.StringIO()
    own = Config(str(app / "alembic.ini"), output_buffer=out)
    own.attributes["url"] = driver(url)
    command.upgrade(own, "head")
    arguments = ["init-migration", url, "articles", "--table", "articles", "--column", "title", "--column", "body"]
    monkeypatch.chdir(tmp_path)
    assert "alembic.ini" in cli(*arguments)[2]
    monkeypatch.chdir(app)
    for extra in ([], ["--threshold", "0.5"]):
        code, shown, err = cli(*arguments, *extra)
        assert (code, err) == (0, "")
        assert shown.startswith("written: ")
        command.upgrade(own, "head")
        command.check(own)
        command.upgrade(own, "release_1:head", sql=True)
        opened.index("articles").sync()
    assert "dbsim_articles_g2" in out.getvalue()
    assert opened.index("articles").options.threshold == 0.5
    code, _, err = cli(*arguments, "--threshold", "0.5")
    assert (code, "nothing to migrate" in err) == (2, True)
    command.downgrade(own, "base")
    assert "dbsim_articles" not in dump(url)
