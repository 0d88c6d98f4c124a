"""Breakages that mutation testing found no test for (issue 11): each is killed here."""

from __future__ import annotations

from decimal import Decimal

import pytest

import dbsim
from dbsim.engines.postgresql.transactions import stripe
from dbsim.lifecycle.retire import retire
from dbsim.sync.build import KEEP
from tests.conftest import SECRET
from tests.integration.helpers import QUICK, articles, assert_in_step, corpus, execute, fetch, near_copy, sentence


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
