"""What a question sends to the database, as an application's tracing sees it, and that one answers as many do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import Engine, event, text

import dbsim
from dbsim.search.results import Results
from tests.conftest import SECRET
from tests.integration.helpers import add, articles, corpus, execute, near_copy, sentence


@contextmanager
def traced(engine: Engine) -> Iterator[list[str]]:
    """Every statement that a cursor executes."""
    found: list[str] = []

    def keep(*given: Any) -> None:
        found.append(given[2])

    event.listen(engine, "before_cursor_execute", keep)
    yield found
    event.remove(engine, "before_cursor_execute", keep)


@pytest.fixture
def index(database: dbsim.Database) -> dbsim.Index:
    articles(database.engine, corpus(20, singles=20))
    index = database.create_index(
        "articles", table="articles", columns="body", threshold=0.6, rows=2, keys=12, secret=SECRET
    )
    index.sync()
    return index


@pytest.mark.parametrize("verify", [None, True, False])
def test_a_search_is_one_statement(database: dbsim.Database, index: dbsim.Index, verify: bool | None) -> None:
    """Also where texts are compared, and for a batch."""
    index.search(sentence(1), verify=verify)  # what is asked once: the warm-up, rights, whether it is filled
    index.similar(1)
    with traced(database.engine) as sent:
        assert index.search(near_copy(1), verify=verify)
        assert len(sent) == 1, sent
        assert not index.search(sentence(12345), verify=verify)
        assert len(sent) == 2, sent
        index.search_many([near_copy(number) for number in range(20)] + ["", "word"], limit=100, verify=verify)
        assert len(sent) == 3, sent


def test_similar_reads_the_signature_the_decisions_and_the_rows(database: dbsim.Database, index: dbsim.Index) -> None:
    assert index.similar(1)
    with traced(database.engine) as sent:
        assert index.similar(2)
        assert len(sent) == 3, sent


def test_a_callers_connection_is_asked_what_it_may_read(database: dbsim.Database, index: dbsim.Index) -> None:
    """Its role may be another one; on SQLite there are none."""
    index.search(sentence(1))
    with database.engine.connect() as connection, traced(database.engine) as sent:
        assert index.search(near_copy(1), connection=connection)
    assert any("has_table_privilege" in one for one in sent) == (database.engine.dialect.name == "postgresql")


def told(found: Results) -> tuple[Any, ...]:
    hits = [(hit.key, hit.score, hit.exact, hit.stale) for hit in [*found, *filter(None, [found.closest])]]
    return hits, found.candidates, found.cut, found.complete


@pytest.mark.parametrize("options", [{}, {"threshold": 0.9}, {"verify": True}, {"limit": 1}, {"where": "id < 30"}])
def test_one_question_is_answered_as_in_a_batch(
    database: dbsim.Database, index: dbsim.Index, options: dict[str, Any]
) -> None:
    """To the last bit, for texts that are signed by themselves and others: long, short, empty, changed since."""
    add(database.engine, {901: sentence(3) + " " + "long " * 2000, 902: "two words", 903: "ÄÖÜ ß İ \u0301 日本"})
    index.sync()
    execute(database.engine, "UPDATE articles SET body = body || ' and more of it' WHERE id IN (1, 2, 3, 4)")
    asked = [near_copy(number, changed) for number in range(25) for changed in (0, 1, 3, 6)]
    asked += [sentence(3) + " " + "long " * 2000, "two words", "", "ÄÖÜ ß İ \u0301 日本", sentence(3) * 3]
    alone = [told(index.search(text, **options)) for text in asked]
    assert alone == [told(found) for found in index.search_many(asked, **options)]
    assert any(hit[2] for hits, *_ in alone for hit in hits)
    assert any(hit[3] for hits, *_ in alone for hit in hits) or "threshold" in options or "limit" in options


def test_a_batch_of_several_fields_is_answered_as_each_alone(database: dbsim.Database) -> None:
    """Also where a field is missing, the key has two parts with odd names, and more rows are found than are ranked."""
    texts = [(number, near_copy(number % 9, number % 4), sentence(number % 5)) for number in range(40)]
    rows = [
        {"key": f"it's {number}", "n": number % 7, "a": a if number % 6 else "", "b": b if number % 5 else None}
        for number, a, b in texts
    ]
    columns = '"the key" TEXT, n INTEGER, a TEXT, b TEXT, PRIMARY KEY (n, "the key")'
    with database.engine.begin() as connection:
        connection.exec_driver_sql(f"CREATE TABLE pages ({columns})")
        connection.execute(text("INSERT INTO pages VALUES (:key, :n, :a, :b)"), rows)
    pages = database.create_index(
        "pages", table="pages", columns=["a", "b"], threshold=0.3, rows=1, keys=12, secret=SECRET
    )
    pages.sync()
    asked = [{"a": a if number % 3 else "", "b": b if number % 2 else ""} for number, a, b in texts]
    asking: list[dict[str, Any]] = [{}, {"limit": 3}, {"max_candidates": 5}, {"verify": False, "threshold": 0.1}]
    for options in asking:
        alone = [told(pages.search(one, **options)) for one in asked]
        assert alone == [told(found) for found in pages.search_many(asked, **options)]
        assert any(len(hits) > 2 for hits, *_ in alone)
        assert any(cut for *_, cut, _ in alone) == ("max_candidates" in options)
