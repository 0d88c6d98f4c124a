"""Databases of the first version (tables of 0002): tests/migration/landed has what its code had made, and left to do.

articles (queued, with a word signature), weighted (two fields, a key of two columns; inline on PostgreSQL), fuzzy and
learned; groups of the first two are stored. After the last sync a row came, one went and one changed.
"""

from __future__ import annotations

import io
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from alembic.migration import MigrationContext
from alembic.operations import Operations
from sqlalchemy import make_url

import dbsim
import dbsim.migrate
from dbsim.engines.postgresql.surface import signing_data
from dbsim.errors import DbsimError, SchemaOutdated
from dbsim.tables import catalogue
from tests.conftest import SECRET
from tests.integration.helpers import execute, fetch, objects
from tests.oracle import stored

LANDED = Path(__file__).parent / "landed"
NAMES = ("articles", "fuzzy", "learned", "weighted")
FIRST = "napkin dagger yarrow meadow nectar brook delta amber heath lantern engine rocket willow canvas"


@pytest.fixture
def database(url: str) -> Iterator[dbsim.Database]:
    """As the first version left it; not upgraded."""
    _restore(url)
    opened = dbsim.open(url)
    yield opened
    opened.close()


def _restore(url: str) -> None:
    if url.startswith("sqlite"):
        connection = sqlite3.connect(make_url(url).database or "")
        connection.executescript((LANDED / "sqlite.sql").read_text())
        connection.close()
        return
    with psycopg.connect(url) as plain:
        plain.execute((LANDED / "postgresql.sql").read_text())  # type: ignore[arg-type]
    _fill_signing_tables(url)


def _fill_signing_tables(url: str) -> None:
    """Thousands of rows that are the same in both versions, so the file leaves them out."""
    opened = dbsim.open(url)
    with opened.engine.begin() as connection:
        for name in ("articles", "weighted"):
            signing_data.fill(connection, catalogue.load(connection, name))
        connection.exec_driver_sql("DELETE FROM dbsim_constant WHERE name = 'unicode 15.1.0 unicode symbols'")
        connection.exec_driver_sql("DELETE FROM dbsim_unicode WHERE profile = 'symbols'")
    opened.close()


def _on_sqlite(database: dbsim.Database) -> bool:
    return database.engine.dialect.name == "sqlite"


def _sync_all(database: dbsim.Database) -> list[Any]:
    reports = [database.index(name).sync() for name in NAMES]
    for name in NAMES:
        assert not database.index(name).check(), name
        assert database.index(name).status().problems == (), name
    return reports


def _answers(database: dbsim.Database) -> dict[str, Any]:
    """What is stored, and all that people can ask; indexes that learn keep a model that a new one would not have."""
    found: dict[str, Any] = {}
    for name in ("articles", "weighted"):
        index, shown = database.index(name), f"dbsim_{name}"
        keys = [tuple(row) for row in fetch(database.engine, f"SELECT {_key(name)} FROM {_table(name)}")]
        key = [key if len(key) > 1 else key[0] for key in keys]
        found[name] = {
            "stored": stored(database, name),
            "similar": {str(one): index.similar(one) for one in key},
            "searched": index.search(**_question(name)),
            "pairs": sorted(index.pairs(), key=repr),
            "views": [sorted(fetch(database.engine, f"SELECT * FROM {shown}_{view}")) for view in ("pairs", "buckets")],
            "groups": sorted(fetch(database.engine, f"SELECT * FROM {shown}_groups"), key=repr),
        }
    found["contains"] = sorted(database.index("articles").contains("napkin dagger"))
    if not _on_sqlite(database):
        for call in (f"articles_search('{FIRST}')", "articles_similar(4)", "weighted_similar('a', 1)"):
            found[call] = sorted(fetch(database.engine, f"SELECT * FROM dbsim_{call}"), key=repr)
    return found


def _key(name: str) -> str:
    return "part, number" if name == "weighted" else "id"


def _table(name: str) -> str:
    return "notes" if name == "weighted" else "articles"


def _question(name: str) -> dict[str, Any]:
    return {"text": {"body": FIRST, "title": "napkin dagger yarrow meadow nectar"} if name == "weighted" else FIRST}


def _made_anew(database: dbsim.Database) -> None:
    """Everything of dbsim's goes, then the same indexes are created by today's code."""
    options = {name: database.index(name).options for name in NAMES}
    for name in NAMES:
        database.drop_index(name)
    database.downgrade()
    assert not [row for row in objects(database.engine) if "dbsim" in repr(row)]
    database.upgrade()
    for name, made in options.items():
        plan = {"rows": made.rows, "keys": made.keys} if made.family.startswith("minhash") else {}
        settings = {key: getattr(made, key) for key in ("table", "fields", "family", "threshold", "recall", "inline")}
        database.create_index(name, **settings, **plan, secret=SECRET).sync()
    for name in ("articles", "weighted"):
        database.index(name).duplicates(publish=True)


def test_before_the_upgrade_one_sentence_says_what_to_do(database: dbsim.Database) -> None:
    with pytest.raises(SchemaOutdated, match=r"in version 0002, not 0003: run `dbsim upgrade "):
        database.indexes()
    with pytest.raises(SchemaOutdated, match='upgrade\\(op, to="0003", since="0002"\\)'):
        dbsim.migrate.check(database.engine)


def test_an_upgraded_index_is_the_one_that_today_makes(database: dbsim.Database) -> None:
    assert database.upgrade() == "0003"
    dbsim.migrate.check(database.engine)  # the application may start before the first sync
    for name in NAMES:
        assert "of an earlier dbsim: run `dbsim sync`" in "".join(database.index(name).status().problems)
    reports = _sync_all(database)
    assert [report.renewed for report in reports] == [True] * 4
    assert [report.changed for report in reports] == [3, 3, 3, 2 if _on_sqlite(database) else 0]
    assert all(database.index(name).sync().idle for name in NAMES)
    schema, answers = objects(database.engine), _answers(database)
    assert len(answers["articles"]["groups"]) == 10
    _made_anew(database)
    assert schema == objects(database.engine)
    assert answers == _answers(database)


def test_triggers_of_the_first_version_work_until_the_first_sync(database: dbsim.Database) -> None:
    """Also when another index of the table has today's already, and groups are made anew below the inline trigger."""
    database.upgrade()
    engine = database.engine
    execute(engine, f"INSERT INTO articles VALUES (30, '{FIRST}')", "DELETE FROM articles WHERE id = 2")
    execute(engine, f"INSERT INTO notes VALUES ('c', 8, 'napkin dagger yarrow meadow nectar', '{FIRST}')")
    database.index("fuzzy").sync()
    database.index("articles").sync()
    execute(engine, f"UPDATE notes SET body = '{FIRST} end' WHERE number = 2")
    database.index("weighted").duplicates()
    execute(engine, f"INSERT INTO notes VALUES ('c', 9, 'napkin dagger yarrow meadow nectar', '{FIRST}')")
    execute(engine, f"UPDATE articles SET body = '{FIRST}' WHERE id = 7", "DELETE FROM notes WHERE number = 3")
    _sync_all(database)
    assert {hit.key for hit in database.index("articles").similar(1)} >= {3, 7, 30}
    found = database.index("weighted").similar(("a", 1))
    assert {tuple(hit.key.values()) for hit in found} >= {("a", 2), ("c", 8), ("c", 9)}
    assert fetch(engine, "SELECT note_a_part FROM dbsim_weighted_duplicate_pairs LIMIT 1")


def test_people_decide_delete_and_alter_after_the_upgrade(database: dbsim.Database) -> None:
    database.upgrade()
    index = database.index("articles")
    index.decide(1, 3, "different")
    _sync_all(database)
    execute(database.engine, "INSERT INTO dbsim_fuzzy_decisions (a, b, verdict) VALUES (1, 2, 'same')")
    database.index("fuzzy").sync()
    assert [(one.a, one.b, one.verdict) for one in index.decisions()] == [(1, 3, "different")]
    assert [(one.a, one.b) for one in database.index("fuzzy").decisions()] == [(1, 2)]
    assert all(not {1, 3} <= {member.key for member in group.members} for group in index.duplicates())
    before = len(fetch(database.engine, "SELECT id FROM articles"))
    removed = index.delete_duplicates().removed
    assert removed > 0
    assert len(fetch(database.engine, "SELECT id FROM articles")) == before - removed
    index.alter(threshold=0.5)
    index.sync()
    assert index.options.threshold == 0.5
    assert not index.check()


def test_down_and_up_again(database: dbsim.Database) -> None:
    """Down to 0002 nothing is left that the first version would not know, but the signatures."""
    database.upgrade()
    _sync_all(database)
    with pytest.raises(DbsimError, match="still has the indexes articles, fuzzy, learned, weighted: drop them first"):
        database.downgrade()
    stored = fetch(database.engine, "SELECT * FROM dbsim_fuzzy ORDER BY id")
    database.downgrade("0002")
    assert not [row for row in objects(database.engine) if row[0] in ("view", "trigger", "function")]
    assert fetch(database.engine, "SELECT * FROM dbsim_fuzzy ORDER BY id") == stored
    execute(database.engine, f"INSERT INTO articles VALUES (30, '{FIRST}')")  # without a trigger
    database.upgrade()
    _sync_all(database)
    assert 30 in {hit.key for hit in database.index("articles").similar(1)}


def test_every_door_leads_to_0003(url: str) -> None:
    """A script without a connection, and an application's own migration."""
    _restore(url)
    opened = dbsim.open(url)
    script = dbsim.migrate.sql(opened.engine.dialect.name, "0002")
    buffer = io.StringIO()
    context = MigrationContext.configure(
        dialect_name=opened.engine.dialect.name, opts={"as_sql": True, "output_buffer": buffer}
    )
    dbsim.migrate.upgrade(Operations(context), to="0003", since="0002")
    for text in (script, buffer.getvalue()):
        connection = opened.engine.raw_connection()
        run = connection.executescript if _on_sqlite(opened) else connection.cursor().execute  # type: ignore[attr-defined]
        run(text)
        connection.commit()
        connection.close()
        assert fetch(opened.engine, "SELECT version_num FROM dbsim_version") == [("0003",)]
    _sync_all(opened)
    with opened.engine.begin() as own:
        op = Operations(MigrationContext.configure(own))
        dbsim.migrate.downgrade(op, to="0002", since="0003")
    assert not [row for row in objects(opened.engine) if row[0] in ("view", "trigger", "function")]
    with opened.engine.begin() as own:
        dbsim.migrate.upgrade(Operations(MigrationContext.configure(own)), to="0003", since="0002")
    _sync_all(opened)
    opened.close()
