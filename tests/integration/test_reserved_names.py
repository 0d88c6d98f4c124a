"""No index can have the name of another's table: whatever an index has makes a name that is refused."""

from __future__ import annotations

import pytest

import dbsim
from dbsim.tables.catalogue import check_name
from tests.conftest import SECRET
from tests.integration.helpers import articles, corpus, execute, fetch

OBJECTS = {  # that share one space of names: tables, views and B-trees
    "sqlite": "SELECT name FROM sqlite_master WHERE name LIKE 'dbsim_%' AND type <> 'trigger'",
    "postgresql": "SELECT relname::text FROM pg_class WHERE relname LIKE 'dbsim_%'",
}


@pytest.fixture
def names(database: dbsim.Database) -> set[str]:
    """Of everything there is once an index has been used in every way."""
    articles(database.engine, corpus(2, 2))
    before = objects(database)
    options = {"table": "articles", "columns": "body", "rows": 1, "keys": 2, "secret": SECRET}
    index = database.create_index("one", false_drops=0.01, **options)
    index.sync()
    index.duplicates()
    index.decide(1, 3, "same")
    database.create_index("two", **options).sync()
    index.link(database.index("two"))
    database.alter_index("one", keys=3, rows=1)
    index.sync()
    return objects(database) - before


def objects(database: dbsim.Database) -> set[str]:
    return {name for (name,) in fetch(database.engine, OBJECTS[database.engine.dialect.name])}


def test_what_an_index_has_is_the_name_of_no_other(names: set[str]) -> None:
    own = {name.removeprefix("dbsim_") for name in names if name.startswith("dbsim_one_")} - {"one_links_two"}
    assert len(own) > 20
    free = []
    for name in sorted(own):
        try:
            check_name(name)
        except dbsim.InvalidOption:
            continue
        free.append(name)
    assert free == []


def test_names_that_only_look_like_it_are_allowed(database: dbsim.Database) -> None:
    execute(database.engine, "CREATE TABLE t (id INTEGER PRIMARY KEY, body TEXT)")
    for name in ("one", "queue", "pairs", "k0", "my pairs", "groups_of", "ones"):
        database.create_index(name, table="t", columns="body", rows=1, keys=1, secret=SECRET)
    assert len(database.indexes()) == 7


def test_a_table_of_links_is_not_made_where_an_index_has_that_name(database: dbsim.Database) -> None:
    """An index may well be called social_links_2024."""
    articles(database.engine, corpus(1))
    for name in ("one", "two", "one_links_two"):
        database.create_index(name, table="articles", columns="body", rows=1, keys=1, secret=SECRET).sync()
    with pytest.raises(
        dbsim.InvalidOption, match="there is another table 'dbsim_one_links_two': name one for the links"
    ):
        database.index("one").link(database.index("two"))
    assert not database.index("one_links_two").check()
    assert len(database.index("two").link(database.index("one"))) > 0
