"""What goes past the triggers: `status` says so, `sync --reconcile` repairs it; schema_translate_map is refused."""

from __future__ import annotations

import pytest
from sqlalchemy import create_engine

import dbsim
from dbsim.errors import InvalidOption
from tests.integration.helpers import QUICK, articles, corpus, execute
from tests.oracle import assert_in_step

TEXTS = corpus(3)


@pytest.mark.parametrize(
    ("past", "said"),
    [
        ("DELETE FROM articles WHERE id < 5", "at least 4 rows went from the table past the triggers"),
        ("INSERT INTO articles VALUES (97, 'a'), (98, 'b')", "at least 2 rows came into the table past the triggers"),
    ],
)
def test_writes_while_triggers_are_off(new_postgres: str, past: str, said: str) -> None:
    with dbsim.open(new_postgres) as database:
        database.upgrade()
        articles(database.engine, TEXTS)
        index = database.create_index("articles", table="articles", columns=["body"], **QUICK)
        index.sync()
        assert index.status().problems == ()
        event = past.split()[0].lower()
        off, on = (f"ALTER TABLE articles {word} TRIGGER dbsim_articles_{event}" for word in ("DISABLE", "ENABLE"))
        execute(database.engine, off, past, on)
        (problem,) = index.status().problems
        assert problem.startswith(said)
        assert index.sync(reconcile=True).repaired
        assert index.status().problems == ()
        assert_in_step(database, "articles")


def test_translated_schemas_are_refused(database: dbsim.Database) -> None:
    articles(database.engine, TEXTS)
    index = database.create_index("articles", table="articles", columns=["body"], **QUICK)
    index.sync()
    mapped = database.engine.execution_options(schema_translate_map={None: "tenant"})
    with pytest.raises(InvalidOption, match="schema_translate_map is set"):
        dbsim.open(mapped)
    with database.engine.connect() as connection:
        renamed = connection.execution_options(schema_translate_map={None: "tenant"})
        for ask in (index.similar, index.search):
            with pytest.raises(InvalidOption, match="schema_translate_map is set"):
                ask(1 if ask == index.similar else TEXTS[1], connection=renamed)
    same = create_engine(database.engine.url, execution_options={"schema_translate_map": {None: None}})
    assert [hit.key for hit in dbsim.open(same).index("articles").similar(1)] == [2, 3, 4]
    same.dispose()
