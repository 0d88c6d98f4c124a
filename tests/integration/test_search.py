"""Search: equal to brute force, bounded, filtered, inside the caller's transaction, the same on both engines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Column, Integer, MetaData, Table, Text, column, func, insert, select, table, text
from sqlalchemy.orm import DeclarativeBase, Mapped, aliased, mapped_column

import dbsim
from dbsim.errors import InvalidOption, UnknownKey
from dbsim.tables.names import quote
from tests.conftest import SECRET
from tests.integration.helpers import (
    QUICK,
    add,
    articles,
    brute_force,
    corpus,
    execute,
    fetch,
    near_copy,
    sentence,
    stored_filters,
)


def indexed(database: dbsim.Database, texts: dict[int, str], **options: Any) -> dbsim.Index:
    articles(database.engine, texts)
    index = database.create_index("articles", table="articles", columns="body", secret=SECRET, **options)
    index.sync()
    return index


def sharing(index: dbsim.Index) -> dict[int, set[int]]:
    """Key → keys of the rows that agree with it in at least one bucket key."""
    rows = fetch(index._context.engine, f"SELECT * FROM {quote(index._tables.signatures.name)}")
    buckets: dict[tuple[int, int], set[int]] = {}
    for row in rows:
        for place in range(index.options.keys):
            buckets.setdefault((place, row[2 + place]), set()).add(row[0])
    return {
        row[0]: set().union(*(buckets[place, row[2 + place]] for place in range(index.options.keys))) for row in rows
    }


# ── the right answer ──
def test_results_equal_brute_force_over_the_stored_filters(database: dbsim.Database) -> None:
    texts = corpus(25, singles=60)
    index = indexed(database, texts)
    for threshold in (None, 0.0, 0.85, 1.0):
        compare(index, texts, threshold)


def compare(index: dbsim.Index, texts: dict[int, str], threshold: float | None) -> None:
    """Every search with every text against the scores of all rows that share a key with it."""
    filters, related = stored_filters(index), sharing(index)
    options: dict[str, Any] = {"threshold": threshold, "limit": 1000, "verify": False}
    found = index.search_many(list(texts.values()), **options)
    for (key, body), many in zip(texts.items(), found, strict=True):
        expected = brute_force(index, filters[key], threshold, related[key], filters)
        assert index.search(body, **options) == expected
        assert many == expected
        assert many.candidates <= len(related[key])
        similar = index.similar(key, **options)
        assert similar == [hit for hit in expected if hit.key != key]
        assert not similar.cut
        assert similar.complete


def test_planted_near_copies_are_found(database: dbsim.Database) -> None:
    index = indexed(database, corpus(50, singles=50))
    for first in range(1, 200, 4):
        assert [hit.key for hit in index.similar(first)][:3] == [first + 1, first + 2, first + 3]
    for single in range(201, 251):
        assert index.similar(single) == []


def test_both_engines_give_the_same_keys_and_scores_to_the_last_bit(tmp_path: Path, new_postgres: str) -> None:
    answers = []
    texts = corpus(20, singles=20)
    for url in (f"sqlite:///{tmp_path / 'a.db'}", new_postgres):
        database = dbsim.open(url, create=True)
        database.upgrade()
        index = indexed(database, texts, threshold=0.5)
        execute(database.engine, "CREATE TABLE persons (id INTEGER PRIMARY KEY, name TEXT, town TEXT, born TEXT)")
        with database.engine.begin() as connection:
            persons = table("persons", *map(column, ("id", "name", "town", "born")))
            rows = [
                {"id": key, "name": body[:12], "town": body[12:25] if key % 3 else None, "born": str(1900 + key % 9)}
                for key, body in texts.items()
            ]
            connection.execute(insert(persons), rows)
        weights = {"name": 0.1, "town": 0.2, "born": 0.7}
        people = database.create_index("persons", table="persons", columns=weights, secret=SECRET, threshold=0.4)
        people.sync()
        answers.append(
            [
                [index.similar(key, limit=100) for key in texts],
                [index.search(near_copy(seed, 5), limit=100, threshold=0.1) for seed in range(25)],
                index.search_many([near_copy(seed, 7) for seed in range(25)], threshold=0.1),
                [people.similar(key, limit=100) for key in texts],
                people.search_many([{"name": body[:9], "born": "1901"} for body in texts.values()], limit=50),
            ]
        )
        database.close()
    assert answers[0] == answers[1]
    assert sum(len(found) for found in answers[0][3]) > 50  # the persons are a test of something


# ── bounds ──
def test_threshold_and_limit(database: dbsim.Database) -> None:
    index = indexed(database, {number: near_copy(0, number) for number in range(1, 13)})
    everything = index.search(sentence(0), threshold=0, limit=100)
    scores = [hit.score for hit in everything]
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) > 5
    for threshold in (scores[2], scores[5], 1.0):
        assert index.search(sentence(0), threshold=threshold, limit=100, verify=False) == [
            hit for hit in everything if hit.score >= threshold
        ]
    for limit in (1, 3, 100):
        assert index.search(sentence(0), threshold=0, limit=limit) == everything[:limit]
        assert index.search_many([sentence(0)], threshold=0, limit=limit) == [everything[:limit]]
    assert index.search(sentence(0), verify=False) == [hit for hit in everything if hit.score >= 0.7][:10]


def test_who_is_exactly_at_the_threshold_is_found_by_the_texts(database: dbsim.Database) -> None:
    """And who is just below it is not; estimates would err on one side or the other."""
    index = indexed(database, {number: near_copy(0, number) for number in range(1, 13)})
    exact = index.search(sentence(0), threshold=0, limit=100, verify=True)
    assert len({hit.score for hit in exact}) > 3
    for at in exact:
        found = index.search(sentence(0), threshold=at.score, limit=100)
        assert {hit.key for hit in found} == {hit.key for hit in exact if hit.score >= at.score}
        assert all(hit.exact for hit in found if hit.score == at.score)


def test_the_best_of_many_are_shown(database: dbsim.Database) -> None:
    """Of so many that the statement's own order and limit decide which rows are looked at."""
    index = indexed(database, {key: f"{near_copy(0, 12 - key % 12)} {' end' * (key % 5)}" for key in range(1, 400)})
    everything = index.search(sentence(0), threshold=0, limit=1000, verify=False)
    assert len(everything) > 200
    for threshold, verify in ((0.0, False), (0.3, None)):
        found = index.search(sentence(0), threshold=threshold, limit=2, verify=verify)
        assert [hit.key for hit in found] == [hit.key for hit in everything[:2]]


def test_ties_are_ordered_by_key(database: dbsim.Database) -> None:
    index = indexed(database, {key: sentence(1) for key in (7, 3, 12, 1, 9, 30, 2)})
    assert index.search(sentence(1), limit=4) == [dbsim.Hit(key, 1.0) for key in (1, 2, 3, 7)]
    assert [hit.key for hit in index.similar(3)] == [1, 2, 7, 9, 12, 30]
    assert [hit.key for hit in index.search_many([sentence(1)], limit=3)[0]] == [1, 2, 3]


def test_ten_thousand_identical_rows_are_bounded_work(database: dbsim.Database) -> None:
    execute(
        database.engine,
        "CREATE TABLE articles (id INTEGER PRIMARY KEY, body TEXT, tenant TEXT)",
        "INSERT INTO articles WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000) "
        f"SELECT i, '{sentence(1)}', CASE WHEN i % 1000 = 0 THEN 'rare' ELSE 'common' END FROM n",
    )
    index = database.create_index("articles", table="articles", columns="body", **QUICK)
    index.sync()
    for found in (index.search(sentence(1)), index.similar(5), *index.search_many([sentence(1)] * 2)):
        assert len(found) == 10
        assert found.candidates == 1000
        assert found.cut
    for bound in (1, 37):
        options = {"max_candidates": bound, "limit": 100}
        for found in (index.search(sentence(1), **options), *index.search_many([sentence(1)], **options)):
            assert (found.candidates, found.cut, len(found)) == (bound, True, bound)
    # the condition comes before the bound: the ten rows of the rare tenant are all found
    for where in ("tenant = 'rare'", column("tenant") == "rare", text("tenant = :t").bindparams(t="rare")):
        found = index.search(sentence(1), where=where, max_candidates=20, limit=20)
        assert [hit.key for hit in found] == list(range(1000, 10001, 1000))
        assert (found.candidates, found.cut) == (10, False)
    full = index.search(sentence(1), max_candidates=20000, limit=20000)
    assert (len(full), full.candidates, full.cut) == (10000, 10000, False)


# ── where ──
class Base(DeclarativeBase):
    pass


class Article(Base):
    __tablename__ = "articles"
    key: Mapped[int] = mapped_column("id", primary_key=True)  # the attribute is called otherwise than the column
    body: Mapped[str]
    tenant: Mapped[str]


class Tag(Base):
    __tablename__ = "tags"
    article: Mapped[int] = mapped_column(primary_key=True)
    tag: Mapped[str] = mapped_column(primary_key=True)


def tenants(database: dbsim.Database) -> dbsim.Index:
    """Six copies of one text; 1 and 2 belong to a, 3 and 4 to b, 5 to "100% :x" and 6 to nobody."""
    Base.metadata.create_all(database.engine)
    owners = {1: "a", 2: "a", 3: "b", 4: "b", 5: "100% :x", 6: ""}
    with database.engine.begin() as connection:
        rows = [{"key": key, "body": sentence(1), "tenant": owner} for key, owner in owners.items()]
        connection.execute(insert(Article), rows)
        connection.execute(insert(Tag), [{"article": 2, "tag": "red"}, {"article": 3, "tag": "red"}])
    index = database.create_index("articles", table="articles", columns="body", **QUICK)
    index.sync()
    return index


def test_where_filters_the_rows_of_the_table(database: dbsim.Database) -> None:
    index = tenants(database)
    own = Table("articles", MetaData(), Column("id", Integer, primary_key=True), Column("tenant", Text))
    other = aliased(Article)
    cases: list[tuple[Any, list[int]]] = [
        ("tenant = 'a'", [1, 2]),
        ("articles.tenant = 'a' -- of the first customer", [1, 2]),
        ("tenant = 'b' OR tenant = 'a'", [1, 2, 3, 4]),
        ("tenant LIKE '100%' OR tenant LIKE '%b%'", [3, 4, 5]),
        ("tenant = '100% :x'", [5]),
        ("id IN (SELECT article FROM tags WHERE tag = 'red')", [2, 3]),
        (text("tenant = :tenant").bindparams(tenant="b"), [3, 4]),
        (column("tenant") == "b", [3, 4]),
        (own.c.tenant == "b", [3, 4]),
        (own.c.tenant.in_(["a", "100% :x"]), [1, 2, 5]),
        (Article.tenant == "a", [1, 2]),
        ((Article.tenant == "a") & (Article.key > 1), [2]),
        (Article.key.in_(select(Tag.article).where(Tag.tag == "red")), [2, 3]),
        (select(Tag).where(Tag.article == Article.key, Tag.tag == "red").exists(), [2, 3]),
        (other.tenant == "b", [3, 4]),
        (Article.tenant == select(func.min(other.tenant)).where(other.key < 3).scalar_subquery(), [1, 2]),
    ]
    for where, expected in cases:
        assert [hit.key for hit in index.search(sentence(1), where=where)] == expected, str(where)
        assert [hit.key for hit in index.similar(6, where=where)] == expected, str(where)
        assert [hit.key for hit in index.search(sentence(1), where=where, limit=1)] == expected[:1], str(where)


def test_where_on_another_table_is_refused_and_does_not_leak(database: dbsim.Database) -> None:
    """`WHERE tags.tag = 'red'` beside the source row would hold for every row as soon as one tag is red."""
    index = tenants(database)
    for where in (Tag.tag == "red", (Tag.article == Article.key) & (Tag.tag == "red")):
        with pytest.raises(InvalidOption, match="put other tables into a subquery"):
            index.search(sentence(1), where=where)
    with pytest.raises(InvalidOption, match="without the key column 'id'"):
        index.search(sentence(1), where=table("articles", column("tenant")).c.tenant == "a")


# ── the caller's transaction ──
def test_a_connection_joins_the_callers_transaction(database: dbsim.Database) -> None:
    index = indexed(database, corpus(2), rows=2, keys=4)
    with database.engine.connect() as connection:
        connection.exec_driver_sql(f"INSERT INTO articles VALUES (100, '{sentence(0)}')")
        assert index._worker().step(connection) == 1  # indexed in this transaction
        for found in (
            index.search(sentence(0), connection=connection),
            index.similar(1, connection=connection),
            index.search_many([sentence(0)], connection=connection)[0],
            index.search(sentence(0), connection=connection, where="id > 99"),
            index.search(sentence(0), connection=connection, where=column("id") > 99),
        ):
            assert 100 in [hit.key for hit in found]
        assert connection.in_transaction()
        assert 100 not in [hit.key for hit in index.search(sentence(0))]  # nobody else sees it
        connection.rollback()
        assert 100 not in [hit.key for hit in index.search(sentence(0), connection=connection)]
    assert fetch(database.engine, "SELECT count(*) FROM articles WHERE id = 100") == [(0,)]


def test_a_search_neither_commits_nor_ends_the_callers_transaction(database: dbsim.Database) -> None:
    index = indexed(database, corpus(2), rows=2, keys=4)
    with database.engine.connect() as connection:
        transaction = connection.begin()
        connection.exec_driver_sql(f"INSERT INTO articles VALUES (100, '{sentence(5)}')")
        index.search(sentence(0), connection=connection)
        savepoint = connection.begin_nested()
        connection.exec_driver_sql(f"INSERT INTO articles VALUES (101, '{sentence(5)}')")
        assert index.similar(101, connection=connection) == []  # not indexed yet, found by its uncommitted text
        savepoint.rollback()
        with pytest.raises(UnknownKey):
            index.similar(101, connection=connection)
        assert connection.exec_driver_sql("SELECT count(*) FROM articles WHERE id > 99").scalar() == 1
        assert transaction.is_active
        transaction.rollback()
    assert fetch(database.engine, "SELECT count(*) FROM articles WHERE id > 99") == [(0,)]


# ── batches ──
def test_search_many_equals_one_search_each(database: dbsim.Database) -> None:
    """More than one statement's worth of queries, empty ones and repeated ones among them."""
    texts = corpus(30, singles=10)
    index = indexed(database, texts, rows=3, keys=8)
    queries = ["", sentence(0), "nothing like it at all", *texts.values(), sentence(0)]
    queries += [near_copy(number, 4) for number in range(80)]
    assert len(queries) > 200
    for options in ({}, {"threshold": 0.2, "limit": 3}, {"max_candidates": 2}):
        found = index.search_many(queries, **options)
        for query, many in zip(queries, found, strict=True):
            one = index.search(query, **options)
            if "max_candidates" not in options:  # which candidates are ranked is not promised when they are cut
                assert many == one
            assert (many.candidates, many.cut, many.complete) == (one.candidates, one.cut, one.complete)
            assert len(many) == len(one)
    assert index.search_many([]) == []


def test_a_search_says_when_the_index_is_not_filled_yet(database: dbsim.Database) -> None:
    articles(database.engine, corpus(1))
    index = database.create_index("articles", table="articles", columns="body", **QUICK)
    assert not index.search(sentence(0)).complete
    assert not index.similar(1).complete
    assert not index.search_many([sentence(0), ""])[0].complete
    index.sync()
    assert index.search(sentence(0)).complete
    assert index.similar(1).complete
    assert index.search_many([sentence(0)])[0].complete


def test_similar_to_a_row_that_is_not_indexed_yet_or_gone(database: dbsim.Database) -> None:
    index = indexed(database, corpus(1), rows=2, keys=4)
    add(database.engine, {50: sentence(0), 51: sentence(8), 52: None})
    assert [hit.key for hit in index.similar(50)] == [1, 2, 3, 4]
    assert index.similar(51) == []
    assert index.similar(52) == []
    with pytest.raises(UnknownKey, match="table 'articles' has no row with the key 53"):
        index.similar(53)
    execute(database.engine, "DELETE FROM articles WHERE id = 1")
    assert [hit.key for hit in index.similar(1)] == [2, 3, 4]  # until the deletion is worked off
    index.sync()
    with pytest.raises(UnknownKey):
        index.similar(1)


def test_keys_in_any_form(database: dbsim.Database) -> None:
    index = indexed(database, corpus(1), rows=2, keys=4)
    expected = index.similar(1)
    for form in ((1,), [1], {"id": 1}, "1"):
        assert index.similar(form) == expected
    for wrong in ((1, 2), {"key": 1}, {}, ()):
        with pytest.raises(InvalidOption, match="the key"):
            index.similar(wrong)


@pytest.mark.parametrize("asked", [None, 7, b"bytes", ["a", "list"]])
def test_what_is_no_text_is_refused_in_one_sentence(database: dbsim.Database, asked: Any) -> None:
    articles(database.engine, corpus(1))
    index = database.create_index("one", table="articles", columns="body", **QUICK)
    index.sync()
    for call in (index.search, index.match, lambda text: index.search_many([text])):
        with pytest.raises(
            InvalidOption, match=r"^a search takes a text, or a dict with the text of every field, not "
        ):
            call(asked)
