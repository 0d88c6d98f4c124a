"""One migration for two engines and every driver: key types come from the table, a mismatch fails the deploy."""

from __future__ import annotations

import io
import uuid
from pathlib import Path
from typing import Any

import pytest
from alembic.migration import MigrationContext
from alembic.operations import Operations
from sqlalchemy import Column, Engine, MetaData, Table, Text, Uuid, make_url

import dbsim
import dbsim.migrate
from dbsim import Field, IndexOptions
from dbsim.errors import InvalidOption, NotInPlace, SchemaOutdated
from dbsim.lifecycle.schema import operations
from tests.applications.drivers import under
from tests.integration.helpers import corpus, execute
from tests.migration.harness import apply_script
from tests.oracle import assert_in_step

pytestmark = pytest.mark.long

FIELD = Field(columns=("body",), unit="words", size=3, bits=256)
OPTIONS = IndexOptions(name="articles", table="articles", fields=(FIELD,), threshold=0.7, recall=0.95)
MADE_ON_SQLITE = {"id": "CHAR(32)"}  # as `init-migration` finds it there
TEXTS = list(corpus(2).values())
HOST = Table("articles", MetaData(), Column("id", Uuid(), primary_key=True), Column("body", Text))


def migration(op: Operations, **given: Any) -> None:
    dbsim.migrate.upgrade(op)
    dbsim.migrate.create_index(op, **{"options": OPTIONS, "primary_key": MADE_ON_SQLITE, **given})


def fill(engine: Engine) -> None:
    with engine.begin() as connection:
        HOST.create(connection, checkfirst=True)
        rows = [{"id": uuid.UUID(int=number + 1), "body": body} for number, body in enumerate(TEXTS)]
        connection.execute(HOST.insert(), rows)


def test_under_every_driver(driver_url: str) -> None:
    def program(engine: Engine) -> None:
        fill(engine)
        with engine.begin() as connection:
            migration(operations(connection))
            dbsim.migrate.check(connection)
        index = dbsim.open(engine).index("articles")
        index.sync()
        assert len(index.similar(uuid.UUID(int=1))) == 3
        assert_in_step(dbsim.open(engine), "articles")
        with engine.begin() as connection:
            dbsim.migrate.drop_index(operations(connection), "articles")
            dbsim.migrate.downgrade(operations(connection))
        with pytest.raises(SchemaOutdated), engine.connect() as connection:
            dbsim.migrate.check(connection)

    under(driver_url, program)


def offline(url: str, **given: Any) -> str:
    out = io.StringIO()
    settings = {"as_sql": True, "output_buffer": out, "literal_binds": True}
    context = MigrationContext.configure(dialect_name=make_url(url).get_backend_name(), opts=settings)
    migration(Operations(context), **given)
    return out.getvalue()


BOTH = {"sqlite": MADE_ON_SQLITE, "postgresql": {"id": "uuid"}}


def test_offline_for_both_engines(url: str) -> None:
    database = dbsim.open(url, create=True)
    fill(database.engine)
    apply_script(url, offline(url, primary_key=BOTH))
    dbsim.migrate.check(database.engine)
    database.index("articles").sync()
    assert_in_step(database, "articles")
    database.close()


def test_a_wrong_type_fails_the_deploy(new_postgres: str) -> None:
    database = dbsim.open(new_postgres)
    fill(database.engine)
    script = offline(new_postgres, primary_key={"id": "CHAR(32)"})
    with pytest.raises(AssertionError, match="the primary key of articles is id uuid: correct primary_key"):
        apply_script(new_postgres, script)
    with pytest.raises(InvalidOption, match="also needs primary_key"):
        offline(new_postgres, primary_key={"sqlite": MADE_ON_SQLITE})
    database.close()


@pytest.mark.parametrize("harm", ["trigger", "column", "table", "view"])
def test_check_at_start_up_finds(database: dbsim.Database, harm: str) -> None:
    fill(database.engine)
    with database.engine.begin() as connection:
        migration(operations(connection))
    database.index("articles").sync()
    dbsim.migrate.check(database.engine)
    sqlite = database.engine.dialect.name == "sqlite"
    statement = {
        "trigger": "DROP TRIGGER dbsim_articles_insert" + ("" if sqlite else " ON articles"),
        "column": "ALTER TABLE articles RENAME COLUMN body TO content",
        "table": "ALTER TABLE articles RENAME TO posts",
        "view": "DROP VIEW dbsim_status",
    }[harm]
    execute(database.engine, statement)
    with pytest.raises(NotInPlace, match=r"index 'articles': .* run `dbsim (sync|alter) "):
        dbsim.migrate.check(database.engine)


INLINE = IndexOptions(name="articles", table="articles", fields=(FIELD,), inline=True)


@pytest.mark.parametrize("script", [False, True], ids=["online", "offline"])
def test_inline_from_a_migration(new_postgres: str, script: bool) -> None:
    database = dbsim.open(new_postgres)
    fill(database.engine)
    if script:
        apply_script(new_postgres, offline(new_postgres, options=INLINE, primary_key=BOTH))
    else:
        with database.engine.begin() as connection:
            migration(operations(connection), options=INLINE)
    index = database.index("articles")
    index.sync()
    with database.engine.begin() as connection:
        connection.execute(HOST.insert(), {"id": uuid.UUID(int=99), "body": TEXTS[0]})
        assert len(index.similar(uuid.UUID(int=99), connection=connection)) == 4
    assert_in_step(database, "articles")
    database.close()


def test_a_script_that_did_not_know_of_a_generated_column(tmp_path: Path) -> None:
    """It names the columns that an UPDATE must touch; the first sync sees that one of them follows another."""
    url = f"sqlite:///{tmp_path}/made.db"
    database = dbsim.open(url, create=True)
    made = "CREATE TABLE articles (id TEXT PRIMARY KEY, raw TEXT, body TEXT GENERATED ALWAYS AS (upper(raw)))"
    execute(database.engine, made, f"INSERT INTO articles (id, raw) VALUES ('a', '{TEXTS[0]}')")
    apply_script(url, offline(url, primary_key={"id": "TEXT"}))
    index = database.index("articles")
    assert index.sync().renewed
    execute(database.engine, f"UPDATE articles SET raw = '{TEXTS[1]}'")
    assert index.sync().changed == 1
    assert not index.sync().renewed
    assert_in_step(database, "articles")
    database.close()
