"""Deleting, marking and merging do all of what they say or nothing, and touch no table but the host's."""

from __future__ import annotations

import uuid

import psycopg
import pytest
from sqlalchemy import make_url

import dbsim
from dbsim.errors import DbsimError, InvalidOption
from tests.articles import fill
from tests.conftest import SECRET
from tests.integration.helpers import articles, corpus, execute, fetch
from tests.integration.test_duplicates import FAMILY, OTHER

# rows that a trigger lets no statement change, as soft deletion does
KEEPING = {
    "sqlite": ["CREATE TRIGGER kept BEFORE {event} ON articles WHEN old.id = 2 BEGIN SELECT RAISE(IGNORE); END"],
    "postgresql": [
        "CREATE FUNCTION kept() RETURNS trigger LANGUAGE plpgsql AS "
        "$$BEGIN RETURN CASE WHEN old.id = 2 THEN NULL WHEN TG_OP = 'DELETE' THEN old ELSE new END; END$$",
        "CREATE TRIGGER kept BEFORE {event} ON articles FOR EACH ROW EXECUTE FUNCTION kept()",
    ],
}


def keep(database: dbsim.Database, event: str) -> None:
    execute(database.engine, *(line.format(event=event) for line in KEEPING[database.engine.dialect.name]))


def rows(database: dbsim.Database) -> list[tuple[object, ...]]:
    return fetch(database.engine, "SELECT * FROM articles ORDER BY id")


@pytest.mark.parametrize("name", ["resolution", "golden"])
def test_an_index_may_have_any_name(database: dbsim.Database, name: str) -> None:
    """A temporary table had the name of its signatures, and what might be left of it was dropped first."""
    articles(database.engine, corpus(2, singles=2))
    index = database.create_index(name, table="articles", columns="body", threshold=0.6, rows=2, keys=8, secret=SECRET)
    index.sync()
    index.duplicates(by="tight")
    signatures = fetch(database.engine, f"SELECT count(*) FROM dbsim_{name}")
    index.delete_duplicates(dry_run=True)
    index.merge(dry_run=True)
    assert fetch(database.engine, f"SELECT count(*) FROM dbsim_{name}") == signatures
    index.merge(even_if_behind=True)
    assert index.sync().changed
    assert not index.check()


def test_a_row_that_a_trigger_keeps_is_not_said_to_be_gone(database: dbsim.Database) -> None:
    index = fill(database, [*FAMILY, OTHER, OTHER], threshold=0.45)
    index.duplicates(by="tight")
    keep(database, "DELETE")
    before = rows(database)
    counted = index.delete_duplicates(dry_run=True)
    assert counted.removed
    with pytest.raises(DbsimError, match=r"^a trigger, a rule or a policy of table 'articles' left 1 rows"):
        index.delete_duplicates(expected=counted)
    assert rows(database) == before
    index.sync()
    with pytest.raises(DbsimError, match=r"a trigger, a rule or a policy of table 'articles' keeps rows"):
        index.merge()
    assert (2,) in fetch(database.engine, "SELECT id FROM articles")


def test_a_row_that_a_trigger_keeps_is_not_said_to_be_marked(database: dbsim.Database) -> None:
    index = fill(database, [*FAMILY, OTHER, OTHER], threshold=0.45)
    execute(database.engine, "ALTER TABLE articles ADD COLUMN twin INTEGER")
    index.duplicates(by="tight")
    keep(database, "UPDATE")
    before = rows(database)
    with pytest.raises(DbsimError, match=r"^a trigger, a rule or a policy of table 'articles' left 1 rows"):
        index.mark_duplicates("twin")
    assert rows(database) == before


@pytest.mark.parametrize("type_", ["VARCHAR(2)", "INTEGER"])
def test_a_key_that_does_not_fit_marks_nothing(database: dbsim.Database, type_: str) -> None:
    """Cut to two characters, or read as a number, it would be the key of another row, or of none."""
    execute(database.engine, f"CREATE TABLE articles (id VARCHAR(9) PRIMARY KEY, body TEXT, twin {type_})")
    values = ", ".join(f"('{key}', '{OTHER}', NULL)" for key in ("00012", "00013", "12x"))
    execute(database.engine, f"INSERT INTO articles VALUES {values}")
    index = database.create_index("articles", table="articles", columns="body", rows=2, keys=4, secret=SECRET)
    index.sync()
    index.duplicates(by="tight")
    before = rows(database)
    if type_ == "VARCHAR(2)" and database.engine.dialect.name == "sqlite":
        assert index.mark_duplicates("twin").removed == 2  # SQLite does not cut
        return
    with pytest.raises(InvalidOption, match="fit into column 'twin'"):
        index.mark_duplicates("twin")
    assert rows(database) == before


@pytest.mark.parametrize("url", ["postgresql"], indirect=True)
@pytest.mark.parametrize("archive", ["CASCADE", "SET NULL", "RESTRICT"])
def test_a_table_of_the_same_name_elsewhere_is_another_table(database: dbsim.Database, archive: str) -> None:
    """Its rows are not those that go anyway."""
    index = fill(database, [*FAMILY, OTHER, OTHER], threshold=0.45)
    refer = f"id INTEGER PRIMARY KEY REFERENCES public.articles (id) ON DELETE {archive}"
    if archive == "SET NULL":
        refer = f"nr INTEGER, id INTEGER REFERENCES public.articles (id) ON DELETE {archive}"
    execute(database.engine, "CREATE SCHEMA archive", f"CREATE TABLE archive.articles ({refer})")
    execute(database.engine, "INSERT INTO archive.articles (id) SELECT id FROM public.articles")
    index.duplicates(by="tight")
    counted = index.delete_duplicates(dry_run=True)
    lost = [counted.cascaded, counted.emptied, counted.blocked]
    wanted = [counted.removed * (archive == action) for action in ("CASCADE", "SET NULL", "RESTRICT")]
    assert [sum(one.values()) for one in lost] == wanted


@pytest.mark.parametrize("url", ["postgresql"], indirect=True)
@pytest.mark.parametrize("part", ["PARTITION OF articles FOR VALUES FROM (0) TO (3)", "() INHERITS (articles)"])
def test_what_refers_to_a_part_of_the_table_is_counted(database: dbsim.Database, part: str) -> None:
    """A foreign key may point to one partition, or to a table that inherits: DELETE on the whole reaches it."""
    split, whole = "PARTITION" in part, "CREATE TABLE articles (id INTEGER PRIMARY KEY, body TEXT)"
    execute(database.engine, whole + (" PARTITION BY RANGE (id)" if split else ""))
    execute(database.engine, f"CREATE TABLE part {part}")
    if split:
        execute(database.engine, "CREATE TABLE rest PARTITION OF articles DEFAULT")
    else:
        execute(database.engine, "ALTER TABLE part ADD PRIMARY KEY (id)")
    for number, body in enumerate([*FAMILY, OTHER, OTHER]):
        table = "part" if number < 3 else "articles"
        execute(database.engine, f"INSERT INTO {table} VALUES ({number}, '{body}')")
    execute(database.engine, "CREATE TABLE notes (id INTEGER REFERENCES part (id) ON DELETE CASCADE)")
    execute(database.engine, "INSERT INTO notes SELECT id FROM part")
    index = database.create_index(
        "articles", table="articles", columns="body", threshold=0.45, rows=2, keys=8, secret=SECRET
    )
    index.sync()
    index.duplicates(by="tight")
    counted = index.delete_duplicates(dry_run=True)
    assert dict(counted.cascaded) == {"notes": 2}
    index.delete_duplicates(expected=counted)
    assert fetch(database.engine, "SELECT id FROM notes") == [(0,)]


def test_the_row_that_stays_does_not_go_with_the_others(database: dbsim.Database) -> None:
    """It referred to one of them, so that of all copies none was left."""
    rule = "id INTEGER PRIMARY KEY, body TEXT, original INTEGER REFERENCES articles (id) ON DELETE CASCADE"
    execute(database.engine, f"CREATE TABLE articles ({rule})")
    for number, original in ((3, "NULL"), (2, "3"), (1, "3")):
        execute(database.engine, f"INSERT INTO articles VALUES ({number}, '{OTHER}', {original})")
    index = database.create_index("articles", table="articles", columns="body", rows=2, keys=4, secret=SECRET)
    index.sync()
    index.duplicates(by="tight")
    before = rows(database)
    with pytest.raises(DbsimError, match=r"^1 of the rows that stay would go with the others"):
        index.delete_duplicates()
    assert rows(database) == before
    assert index.delete_duplicates(keep="last").removed == 2


def test_groups_are_made_in_a_database_that_has_few_characters(postgres_url: str) -> None:
    """The name of unfinished groups had a character that LATIN1 lacks."""
    name = f"t_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C'")
    with dbsim.open(make_url(postgres_url).set(database=name).render_as_string(hide_password=False)) as database:
        database.upgrade()
        index = fill(database, [*FAMILY, OTHER, OTHER], threshold=0.45)
        assert index.search(f"{OTHER} \u2026 \u4e2d")
        assert len(list(index.duplicates(by="tight"))) == 2
        assert index.delete_duplicates().removed
        index.sync()
        assert not index.check()
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.mark.parametrize(
    "target", ["host=h password=hunter2 dbname=x", "postgresql:bob:hunter2@h/x", "postgres:/bob:hunter2@h/x"]
)
def test_what_is_no_path_is_not_repeated(target: str) -> None:
    """It was taken for the name of a SQLite file, and told with its password."""
    with pytest.raises(DbsimError, match=r"^the database URL cannot be read") as caught:
        dbsim.open(target)
    assert "hunter2" not in str(caught.value)
    assert caught.value.__cause__ is None
