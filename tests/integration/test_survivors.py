"""Breakages that mutation testing found no test for (issue 11): each is killed here."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest
from sqlalchemy import select

import dbsim
from dbsim.engines.postgresql.transactions import stripe
from dbsim.engines.sqlite.surface.views import word_names
from dbsim.lifecycle.retire import retire
from dbsim.sync.build import KEEP
from dbsim.tables.names import quote
from tests.conftest import SECRET
from tests.integration.helpers import QUICK, articles, corpus, execute, fetch, near_copy, sentence
from tests.oracle import assert_in_step


@pytest.fixture
def index(database: dbsim.Database) -> dbsim.Index:
    articles(database.engine, {1: sentence(1), 2: near_copy(1, 3), 3: sentence(2)})
    made = database.create_index("articles", table="articles", columns=["body"], words=3, **QUICK)
    made.sync()
    return made


def test_retiring_keeps_what_is_searched(database: dbsim.Database, index: dbsim.Index) -> None:
    index.alter(keys=5, rows=2)
    index.sync()
    context = index._context
    for keep in (KEEP, 0.0, 0.0):
        retire(context.engine, context.backend, "articles", keep)
        assert 1 in [hit.key for hit in index.search(sentence(1), threshold=0.0)]
    assert index.status().kept == ()
    index.alter(keys=6, rows=2)  # asked for, not built yet: what is searched is no longer what is wanted
    for keep in (KEEP, 0.0):
        retire(context.engine, context.backend, "articles", keep)
        assert 1 in [hit.key for hit in index.search(sentence(1), threshold=0.0)]
    index.sync()
    assert_in_step(database, "articles")


def test_a_score_at_the_threshold_counts(database: dbsim.Database) -> None:
    """In search, match, the view of pairs and PostgreSQL's functions alike."""
    articles(database.engine, {1: sentence(1), 2: near_copy(1, 3)})
    probe = database.create_index("probe", table="articles", columns=["body"], words=3, threshold=0.1, **QUICK)
    probe.sync()
    score = next(hit.score for hit in probe.similar(1) if hit.key == 2)
    limit = float(f"{score:.17g}")
    exact = database.create_index("exact", table="articles", columns=["body"], words=3, threshold=limit, **QUICK)
    exact.sync()
    assert [hit.key for hit in exact.similar(1)] == [2]
    assert (1, 2) in fetch(database.engine, "SELECT a, b FROM dbsim_exact_pairs")
    if database.engine.dialect.name == "postgresql":
        assert fetch(database.engine, "SELECT id FROM dbsim_exact_similar(1)") == [(2,)]


@pytest.mark.parametrize("new_type", ["numeric", 'text COLLATE "nocase"'])
def test_keys_equal_in_sql_share_a_lock(new_type: str) -> None:
    if new_type == "numeric":
        assert stripe((Decimal("1.0"),), [new_type]) == stripe((Decimal("1.00"),), [new_type])
    else:
        assert stripe(("Bob",), [new_type]) == stripe(("bob",), [new_type])
    assert len({stripe((number,), ["integer"]) for number in range(200)}) > 32


def test_the_worker_sees_all_rows_or_fails(new_postgres: str) -> None:
    """Rows that row-level security hides from the worker must not look like deleted ones."""
    with dbsim.open(new_postgres) as database:
        database.upgrade()
        articles(database.engine, corpus(2))
        index = database.create_index("articles", table="articles", columns=["body"], words=3, **QUICK)
        index.sync()
        backend = index._context.backend
        with backend.open(database.engine) as connection:
            backend.begin(connection)
            assert connection.exec_driver_sql("SHOW row_security").scalar_one() == "off"


def test_a_worker_keeps_inline_triggers_out(new_postgres: str) -> None:
    """While its transaction runs, a write queues instead of signing."""
    with dbsim.open(new_postgres) as database:
        database.upgrade()
        articles(database.engine, corpus(1))
        index = database.create_index(
            "articles", table="articles", columns=["body"], words=3, rows=2, keys=4, secret=SECRET, inline=True
        )
        index.sync()
        backend, tables = index._context.backend, index._tables
        with backend.open(database.engine) as connection:
            backend.begin(connection)
            backend.lock_keys(connection, tables, [(1,)])
            execute(database.engine, f"UPDATE articles SET body = '{sentence(9)}' WHERE id = 2")
            assert index.status().queued == 1
            connection.rollback()
        execute(database.engine, f"UPDATE articles SET body = '{sentence(8)}' WHERE id = 3")
        assert index.status().queued == 1
        index.sync()
        assert_in_step(database, "articles")


def test_what_is_equal_reaches_the_highest_threshold(database: dbsim.Database) -> None:
    """Nothing is above one: here `>` in the place of `>=` would find nothing, in match, views and functions alike."""
    articles(database.engine, {1: sentence(1), 2: sentence(1), 3: near_copy(1, 3)})
    index = database.create_index("articles", table="articles", columns=["body"], words=3, threshold=1.0, **QUICK)
    index.sync()
    with database.engine.connect() as connection:
        assert {row.id for row in connection.execute(select(index.match(sentence(1))))} == {1, 2}
    assert [hit.key for hit in index.search(sentence(1))] == [1, 2]
    assert {(pair.a, pair.b) for pair in index.pairs()} == {(1, 2)}
    assert set(fetch(database.engine, "SELECT a, b FROM dbsim_articles_pairs")) == {(1, 2), (2, 1)}
    if database.engine.dialect.name == "postgresql":
        assert fetch(database.engine, f"SELECT id FROM dbsim_articles_search('{sentence(1)}')") == [(1,), (2,)]
        assert fetch(database.engine, "SELECT id FROM dbsim_articles_similar(1)") == [(2,)]


def test_words_of_filters_keep_their_byte_order(tmp_path: Path) -> None:
    """A database that an earlier dbsim has filled must give the same scores: the order is part of what is stored."""
    with dbsim.open(tmp_path / "test.db", create=True) as database:
        database.upgrade()
        articles(database.engine, corpus(2))
        index = database.create_index("articles", table="articles", columns=["body"], words=3, bits=128, **QUICK)
        index.sync()
        tables = index._tables
        bits, words = tables.names.bits[0], word_names(tables)[0]
        columns = ", ".join(quote(name) for name in (bits, *words))
        for blob, *stored in fetch(database.engine, f"SELECT {columns} FROM dbsim_articles"):
            first, second = (int.from_bytes(blob[start : start + 8], "big", signed=True) for start in (0, 8))
            assert stored == [first, second]


def test_where_only_the_estimate_decides_it_may_be_just_the_threshold(new_postgres: str) -> None:
    """Of a family whose measure no filter knows SQL reads no texts: what is equal is found at one, not only above."""
    with dbsim.open(new_postgres) as database:
        database.upgrade()
        articles(database.engine, {1: sentence(1), 2: sentence(1)})
        database.create_index("articles", table="articles", columns=["body"], family="bitsampling").sync()
        found = fetch(database.engine, f"SELECT id FROM dbsim_articles_search('{sentence(1)}', threshold => 1.0)")
        assert found == [(1,), (2,)]
