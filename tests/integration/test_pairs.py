"""All near-duplicate pairs of a table: recall and precision against exact comparison, scores, copies, large buckets."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sqlalchemy import text
from sqlalchemy.dialects import postgresql

import dbsim
from dbsim.dedupe.kernels.buckets import Limits
from dbsim.engines.postgresql.binary_copy import ordered_signatures
from dbsim.errors import DbsimError, InvalidOption
from tests.articles import corpus, exact_jaccard, fill, forget_pairs, generated, stored_pairs
from tests.conftest import SECRET

Found = dict[tuple[Any, Any], float]


def found(index: dbsim.Index, **options: Any) -> Found:
    listed = list(index.pairs(**options))
    result = {(pair.a, pair.b): pair.score for pair in listed}
    assert len(result) == len(listed)
    assert all(a < b for a, b in result)
    return result


@pytest.mark.parametrize("threshold", [0.5, 0.7, 0.9])
@pytest.mark.parametrize(("name", "count"), [("howto", 90), ("debian", 1500)])
def test_recall_and_precision(database: dbsim.Database, name: str, count: int, threshold: float) -> None:
    """Without `verify` a pair counts as missed only from two standard errors of the score above the threshold."""
    texts = list({" ".join(body.split()): body for body in corpus(name, count)}.values())
    index = fill(database, texts, threshold=threshold, recall=0.95, words=3)
    signer = index.options.signer(SECRET)
    _, fingerprints = signer.fingerprint([texts])
    first = {int(value): number for number, value in reversed(list(enumerate(fingerprints.tolist())))}
    distinct = np.array(sorted(first.values()))
    jaccard = exact_jaccard(signer.features(0, [texts[number] for number in distinct]))
    truth = {(int(distinct[a]), int(distinct[b])) for a, b in zip(*np.nonzero(jaccard >= threshold), strict=True)}
    assert len(truth) >= 20
    place = {int(number): place for place, number in enumerate(distinct)}

    estimated = set(found(index))
    clear = {(a, b) for a, b in truth if jaccard[place[a], place[b]] >= threshold + 0.04}
    assert len(clear & estimated) >= (0.95 - 0.02) * len(clear)

    verified = {pair: score for pair, score in found(index, verify=True).items() if pair[1] in place}
    assert len(truth & set(verified)) >= (0.95 - 0.02) * len(truth)
    assert set(verified) <= truth  # precision 1
    assert all(score == jaccard[place[a], place[b]] for (a, b), score in verified.items())


def test_scores_are_those_of_the_search_to_the_last_bit(database: dbsim.Database) -> None:
    texts = generated(300)
    pairs = found(fill(database, texts))
    index = database.index("articles")
    for key in range(0, 300, 3):
        for hit in index.similar(key, limit=100):
            pair = (min(key, hit.key), max(key, hit.key))
            if pair in pairs:
                assert pairs[pair] == hit.score
    expected = {(min(k, h.key), max(k, h.key)) for k in range(300) for h in index.similar(k, limit=300)}
    assert set(pairs) <= expected
    first = {text.lower(): number for number, text in reversed(list(enumerate(texts)))}
    collapsed = {tuple(sorted(first[texts[number].lower()] for number in pair)) for pair in expected}
    assert {pair for pair in collapsed if pair[0] != pair[1]} <= set(pairs)


def test_weighted_fields(database: dbsim.Database) -> None:
    with database.engine.begin() as connection:
        connection.execute(text("CREATE TABLE articles (id INTEGER PRIMARY KEY, title TEXT, body TEXT)"))
        rows = [
            {"id": number, "title": None if number % 7 == 0 else body.split()[0], "body": body}
            for number, body in enumerate(generated(200))
        ]
        connection.execute(text("INSERT INTO articles VALUES (:id, :title, :body)"), rows)
    index = database.create_index(
        "articles", table="articles", columns={"title": 0.3, "body": 0.7}, secret=SECRET, threshold=0.6
    )
    index.sync()
    pairs = found(index)
    assert pairs
    for (a, b), score in pairs.items():
        hits = {hit.key: hit.score for hit in index.similar(a, limit=200)}
        assert hits[b] == score
    assert found(index, verify=True)


def test_copies_are_pairs_with_the_first_of_them(database: dbsim.Database) -> None:
    index = fill(database, ["one two three four five", "quite another text, this", "One two, three four five"] * 3)
    assert found(index) == {(0, n): 1.0 for n in (2, 3, 5, 6, 8)} | {(1, 4): 1.0, (1, 7): 1.0}
    assert stored_pairs(database) == []


def test_a_higher_threshold_needs_no_new_run_and_a_lower_one_does(database: dbsim.Database) -> None:
    index = fill(database, generated(200))
    all_pairs = found(index)
    stored = stored_pairs(database)
    assert found(index, threshold=0.85) == {pair: score for pair, score in all_pairs.items() if score >= 0.85}
    assert stored_pairs(database) == stored
    assert found(index, threshold=0.6).items() >= all_pairs.items()
    assert len(stored_pairs(database)) > len(stored)


@pytest.mark.parametrize("limit", [4, 40])
def test_large_buckets_are_limited_and_named(database: dbsim.Database, limit: int) -> None:
    """Hundreds of near-copies of one text: still one group, at a fraction of the pairs."""
    words = generated(1)[0].split()
    texts = [" ".join([*words[:40], f"number{n}", *words[40:]]) for n in range(120)]
    index = fill(database, texts + generated(50, seed=2))
    complete = found(index, limits=Limits(bucket=1000))
    assert not index.pairs(limits=Limits(bucket=1000)).limited
    limits = Limits(bucket=limit, representatives=2, depth=0)
    limited = index.pairs(limits=limits)
    assert limited.limited.buckets > 0
    assert limited.limited.largest > 80
    pairs = found(index, limits=limits)
    assert pairs.items() < complete.items()
    assert len(pairs) < len(complete) / 4
    groups = index.duplicates(limits=limits, by="components")
    assert max(len(group.members) for group in groups) == 120


def test_signatures_leave_postgresql_in_key_order(database: dbsim.Database) -> None:
    """An ORDER BY inside a subquery guarantees nothing: it must be the statement's own, after the last bracket."""
    index = fill(database, generated(20))
    statement = ordered_signatures(index._tables, postgresql.dialect())
    assert " ORDER BY " in " ".join(statement[statement.rindex(")") :].split())
    assert statement.count("ORDER BY") == 1


def test_composite_and_text_keys(database: dbsim.Database) -> None:
    with database.engine.begin() as connection:
        connection.execute(text('CREATE TABLE t (lang TEXT, "score" INTEGER, body TEXT, PRIMARY KEY (lang, "score"))'))
        for number, body in enumerate(["a b c d e f g"] * 2 + ["a b c d e f h", "other words come here now"]):
            values = {"lang": "é" if number % 2 else "de", "n": number, "body": body}
            connection.execute(text('INSERT INTO t (lang, "score", body) VALUES (:lang, :n, :body)'), values)
    index = database.create_index("t", table="t", columns=["body"], secret=SECRET, threshold=0.5, words=2)
    index.sync()
    pairs = [(pair.a["score"], pair.b["score"], pair.score) for pair in index.pairs()]
    assert [pair[:2] for pair in pairs] == [(0, 1), (0, 2)]
    groups = list(index.duplicates())
    assert [group.representative for group in groups] == [{"lang": "de", "score": 0}]
    assert len(groups[0].members) == 3
    assert index.resolve().removed == 2


def test_nothing_to_find(database: dbsim.Database) -> None:
    index = fill(database, ["", "one two three four"])
    assert found(index) == {}
    assert list(index.duplicates()) == []


def test_progress_tells_how_much_is_left(database: dbsim.Database) -> None:
    index = fill(database, generated(300))
    told: list[tuple[str, int, int]] = []
    index.duplicates(progress=lambda *values: told.append(values))
    stages = list(dict.fromkeys(stage for stage, _, _ in told))
    assert stages == ["reading signatures", "comparing", "grouping", "storing groups"]
    assert all(done <= total for _, done, total in told)
    assert told[-1][1] == told[-1][2]


def test_an_index_that_is_not_filled_is_refused(database: dbsim.Database) -> None:
    with database.engine.begin() as connection:
        connection.execute(text("CREATE TABLE articles (id INTEGER PRIMARY KEY, body TEXT)"))
    index = database.create_index("articles", table="articles", columns=["body"], secret=SECRET)
    with pytest.raises(DbsimError, match="run `dbsim sync` first"):
        index.pairs()


def test_options_out_of_range(database: dbsim.Database) -> None:
    index = fill(database, generated(5))
    with pytest.raises(InvalidOption, match="threshold"):
        index.pairs(threshold=1.5)
    with pytest.raises(InvalidOption, match="did you mean 'tight'"):
        index.duplicates(by="tigt")
    with pytest.raises(InvalidOption, match="representative"):
        index.pairs(limits=Limits(representatives=0))


def test_the_same_pairs_again(database: dbsim.Database) -> None:
    index = fill(database, generated(200))
    index.pairs()
    first = stored_pairs(database)
    forget_pairs(database)
    index.pairs()
    assert stored_pairs(database) == first != []
