"""What decides whether a row is a hit: the texts near the threshold, rows that are there, the best of too many."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import text

import dbsim
from dbsim.options.asking import MOST_TEXTS
from tests.conftest import SECRET
from tests.integration.helpers import add, articles, execute, fetch, sentence

WORDS = [f"w{number}" for number in range(400)]


def jaccard(a: str, b: str) -> float:
    one, two = (set(value.split()) for value in (a, b))
    return len(one & two) / len(one | two)


def at_threshold(pairs: int) -> dict[int, str]:
    """Rows 2n and 2n + 1 have 28 of 40 words in common: J is 0.7 exactly."""
    found = {}
    for pair in range(pairs):
        words = [f"p{pair}w{number}" for number in range(40)]
        found[2 * pair] = " ".join(words[:34])
        found[2 * pair + 1] = " ".join(words[:28] + words[34:])
    return found


def indexed(database: dbsim.Database, texts: dict[int, str], **options: Any) -> dbsim.Index:
    articles(database.engine, texts)
    given: dict[str, Any] = {"threshold": 0.7, "rows": 2, "keys": 12, "secret": SECRET, "words": 1, "bits": 1024}
    index = database.create_index("articles", table="articles", columns="body", **{**given, **options})
    index.sync()
    return index


def test_pairs_exactly_at_the_threshold_are_found(database: dbsim.Database) -> None:
    texts = at_threshold(60)
    assert jaccard(texts[0], texts[1]) == 0.7
    index = indexed(database, texts)
    doors: dict[str, list[set[Any]]] = {"search": [], "similar": [], "many": [], "estimate": []}
    for key, body in texts.items():
        hits = index.search(body)
        assert all(hit.exact for hit in hits)
        doors["search"].append({hit.key for hit in hits} - {key})
        doors["similar"].append({hit.key for hit in index.similar(key)})
        doors["estimate"].append({hit.key for hit in index.search(body, verify=False)} - {key})
    doors["many"] = [
        {hit.key for hit in found} - {key}
        for key, found in zip(texts, index.search_many(list(texts.values())), strict=True)
    ]
    expected = [{key ^ 1} for key in texts]
    assert doors["similar"] == doors["search"] == doors["many"]
    found = {door: sum(a == b for a, b in zip(keys, expected, strict=True)) for door, keys in doors.items()}
    assert found["search"] >= 0.98 * len(texts)  # a key in common has 0.9996 of them
    assert found["estimate"] < 0.7 * len(texts)  # what the texts are for


def test_what_is_just_below_is_refused_and_named(database: dbsim.Database) -> None:
    words = [f"w{number}" for number in range(400)]
    body = " ".join(words[:300])
    index = indexed(database, {1: " ".join(words[:247] + words[320:353]), 2: " ".join(words[350:])}, bits=256)
    exact = jaccard(body, " ".join(words[:247] + words[320:353]))
    assert 0.69 < exact < 0.7 or exact > 0.7
    found = index.search(body, threshold=0.75)
    assert found == []
    assert found.closest is not None
    assert found.closest.key == 1
    assert found.closest.score == pytest.approx(exact, abs=0.12)
    many = index.search_many([body], threshold=0.75)[0]
    assert (many.closest, many.closest and many.closest.exact) == (found.closest, found.closest.exact)
    assert index.search("nothing of the kind").closest is None


def test_saturated_filters_are_decided_by_the_texts(database: dbsim.Database) -> None:
    """5,000 words in 256 bits: every estimate is about one."""
    words = [f"w{number}" for number in range(6000)]
    texts = {1: " ".join(words[:5000]), 2: " ".join(words[100:5000]), 3: " ".join(words[1500:])}
    index = indexed(database, texts, bits=256)
    assert {hit.key for hit in index.search(texts[1], verify=False)} >= {1, 2, 3}
    for hits in (index.search(texts[1]), index.search_many([texts[1]])[0]):
        assert [(hit.key, hit.score, hit.exact) for hit in hits] == [
            (1, 1.0, True),
            (2, pytest.approx(0.98), True),
        ]


def test_verify_all_near_or_none(database: dbsim.Database) -> None:
    base = sentence(1, 60).split()
    texts = {n: " ".join(base[: 60 - n] + [f"x{n}y{i}" for i in range(n)]) for n in (1, 2, 8, 12, 20)}
    index = indexed(database, texts, words=3)
    body = " ".join(base)
    exact = {n: hit.score for n in texts for hit in index.search(body, threshold=0, verify=True, limit=99)}
    assert len(set(exact.values())) >= 1
    every, near, none = (index.search(body, verify=verify) for verify in (True, None, False))
    assert all(hit.exact for hit in every)
    assert not any(hit.exact for hit in none)
    assert {hit.exact for hit in near} == {True, False}
    estimates = {hit.key: hit.score for hit in none}
    decided = {hit.key: hit.score for hit in every}
    for hit in near:
        assert hit.score == (decided if hit.exact else estimates)[hit.key]


def test_a_row_that_is_gone_is_no_hit(database: dbsim.Database) -> None:
    texts = {number: sentence(1) for number in range(1, 41)}
    index = indexed(database, texts)
    execute(database.engine, "DELETE FROM articles WHERE id <= 30")
    for found in (index.search(sentence(1), limit=5), *index.search_many([sentence(1)], limit=5)):
        assert [hit.key for hit in found] == [31, 32, 33, 34, 35]
    assert [hit.key for hit in index.similar(31, limit=3)] == [32, 33, 34]
    assert [hit.key for hit in index.search(sentence(1), verify=False, limit=2)] == [31, 32]
    execute(database.engine, "DELETE FROM articles")
    assert index.search(sentence(1)) == []


def test_more_rows_are_gone_than_are_looked_at(database: dbsim.Database) -> None:
    gone = 3 * MOST_TEXTS
    index = indexed(database, {number: sentence(1) for number in range(1, gone + 6)})
    execute(database.engine, f"DELETE FROM articles WHERE id <= {gone}")
    assert [hit.key for hit in index.search(sentence(1), limit=3)] == [gone + 1, gone + 2, gone + 3]


def test_changed_rows_are_stale(database: dbsim.Database) -> None:
    index = indexed(database, {1: sentence(1), 2: sentence(1), 3: sentence(1) + " and more", 4: sentence(2)})
    assert not any(hit.stale for hit in index.search(sentence(1)))
    execute(database.engine, f"UPDATE articles SET body = '{sentence(9)}' WHERE id = 2")
    for found in (index.search(sentence(1)), index.search_many([sentence(1)])[0]):
        assert {hit.key: hit.stale for hit in found} == {1: False, 2: True, 3: False}
        assert {"key": 2, "score": 1.0, "exact": True, "stale": True} in found.to_list()
    verified = index.search(sentence(1), verify=True)
    assert {hit.key for hit in verified} == {1, 3}  # its text is another one now
    execute(database.engine, f"DELETE FROM {'dbsim_articles_queue'}")  # as if a trigger had been switched off
    assert {hit.key for hit in index.search(sentence(1), verify=True)} == {1, 3}
    index.sync(reconcile=True)
    assert {hit.key: hit.stale for hit in index.search(sentence(1))} == {1: False, 3: False}


def test_the_cut_keeps_identical_rows_and_those_with_most_keys_in_common(database: dbsim.Database) -> None:
    """500 rows share a key by their first words; the identical row and the near one are the last of them."""
    common = [f"c{number}" for number in range(30)]
    texts = {n: " ".join(common + [f"r{n}w{i}" for i in range(30)]) for n in range(1, 501)}
    body = " ".join(common + [f"q{i}" for i in range(30)])
    texts |= {900: body + " q30", 901: body}
    index = indexed(database, texts, rows=1, keys=8)
    full = index.search(body, threshold=0.3, max_candidates=5000)
    assert full.candidates > 300
    assert not full.cut
    for bound in (2, 20):
        for found in (
            index.search(body, threshold=0.3, max_candidates=bound),
            index.search_many([body], threshold=0.3, max_candidates=bound)[0],
        ):
            assert [hit.key for hit in found][:2] == [901, 900]
            assert (found.cut, found.candidates) == (True, bound)
    exactly = index.search(body, threshold=0.3, max_candidates=full.candidates)
    assert not exactly.cut
    assert index.search(body, threshold=0.3, max_candidates=full.candidates - 1).cut


def test_asking_for_less_than_the_index_was_made_for_warns(database: dbsim.Database) -> None:
    index = indexed(database, at_threshold(3))
    for found in (index.search("a b c", threshold=0.4), index.similar(0, threshold=0.4)):
        (warning,) = found.warnings
        expected = 1 - (1 - 0.4**2) ** 12
        assert f"made for threshold 0.7: about {expected:.0%} of the rows at 0.4 are found" in warning
    assert index.search("a b c").warnings == ()
    assert index.search("a b c", threshold=0.9).warnings == ()


def test_a_role_without_the_queue_or_the_texts(new_postgres: str) -> None:
    """Rights on the signatures and on the key columns are enough for estimates; nothing is said about the queue."""
    database = dbsim.open(new_postgres)
    database.upgrade()
    index = indexed(database, {1: sentence(1), 2: sentence(1)})
    role = "dbsim_reader_" + new_postgres.rsplit("/", 1)[1].split("?")[0]
    with database.engine.connect() as connection:
        connection.execute(text(f"CREATE ROLE {role}"))
        connection.execute(text(f"GRANT SELECT ON dbsim_articles, dbsim_index, dbsim_cardinality TO {role}"))
        connection.execute(text(f"GRANT SELECT (id) ON articles TO {role}"))
        connection.execute(text(f"SET LOCAL ROLE {role}"))
        found = index.search(sentence(1), verify=False, connection=connection)
        assert [(hit.key, hit.stale) for hit in found] == [(1, False), (2, False)]
        connection.rollback()
    database.close()


def test_a_caller_sees_its_own_uncommitted_change(database: dbsim.Database) -> None:
    index = indexed(database, {1: sentence(1), 2: sentence(1)})
    with database.engine.connect() as connection:
        connection.exec_driver_sql("DELETE FROM articles WHERE id = 1")
        assert [hit.key for hit in index.search(sentence(1), connection=connection)] == [2]
        connection.rollback()
    assert [hit.key for hit in index.search(sentence(1))] == [1, 2]
    add(database.engine, {3: sentence(1)})
    assert fetch(database.engine, "SELECT count(*) FROM articles") == [(3,)]
