"""All near-duplicate pairs of a table: recall and precision against exact comparison, scores, copies, large buckets."""

from __future__ import annotations

import itertools
import random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from sqlalchemy import text
from sqlalchemy.dialects import postgresql

import dbsim
from dbsim import bulk
from dbsim.dedupe.kernels.buckets import Limits
from dbsim.engines.postgresql.wire.binary_copy import ordered_signatures
from dbsim.errors import DbsimError, InvalidOption
from tests.articles import corpus, exact_jaccard, fill, forget_pairs, generated, stored_pairs
from tests.conftest import SECRET
from tests.integration.test_duplicates import FAMILY

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
    """By default, too: what the estimate leaves open is decided by the texts."""
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

    decided = {pair for pair in found(index) if pair[1] in place}
    assert len(truth & decided) >= (0.95 - 0.02) * len(truth)
    assert len(truth & decided) >= 0.98 * len(decided)  # precision

    verified = {pair: score for pair, score in found(index, verify=True).items() if pair[1] in place}
    assert len(truth & set(verified)) >= (0.95 - 0.02) * len(truth)
    assert set(verified) <= truth  # precision 1
    assert all(score == jaccard[place[a], place[b]] for (a, b), score in verified.items())


def test_scores_are_those_of_the_search_to_the_last_bit(database: dbsim.Database) -> None:
    texts = generated(300)
    index = fill(database, texts)
    for verify in (False, True):
        pairs = found(index, verify=verify)
        expected = {
            (min(key, hit.key), max(key, hit.key)): hit.score
            for key in range(300)
            for hit in index.similar(key, limit=300, verify=verify)
        }
        assert set(pairs) == set(expected)
        assert pairs == expected if not verify else pairs == pytest.approx(expected)


def test_the_view_and_the_verb_agree(database: dbsim.Database) -> None:
    """Copies included, each pair of rows once here and in both directions there."""
    index = fill(database, generated(200))
    with database.engine.connect() as connection:
        view = connection.execute(text("SELECT a, b, score FROM dbsim_articles_pairs WHERE a < b")).all()
    assert {(a, b): score for a, b, score in view if score >= 0.7} == found(index, verify=False)


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
    pairs = found(index, verify=False)
    assert pairs
    for (a, b), score in pairs.items():
        hits = {hit.key: hit.score for hit in index.similar(a, limit=200, verify=False)}
        assert hits[b] == score
    assert found(index, verify=True)


def test_copies_are_pairs(database: dbsim.Database, monkeypatch: pytest.MonkeyPatch) -> None:
    index = fill(database, ["one two three four five", "quite another text, this", "One two, three four five"] * 3)
    one, other = (0, 2, 3, 5, 6, 8), (1, 4, 7)
    every = {pair: 1.0 for rows in (one, other) for pair in itertools.combinations(rows, 2)}
    assert found(index) == every
    compact = {(0, n): 1.0 for n in one[1:]} | {(1, 4): 1.0, (1, 7): 1.0}
    assert found(index, copies="first") == compact
    assert stored_pairs(database) == []
    monkeypatch.setattr("dbsim.dedupe.answers.FULL_LIST", len(every) - 1)
    chosen = index.pairs()
    assert chosen.copies == "first"
    assert "all 18 pairs would be too many" in chosen.warnings[0]
    assert found(index) == compact
    assert found(index, copies="all") == every
    with pytest.raises(InvalidOption, match="copies are listed all or first"):
        index.pairs(copies="some")


def test_copies_of_near_duplicates(database: dbsim.Database) -> None:
    """Two contents, two and three rows: six pairs of one with the other."""
    index = fill(database, [FAMILY[0], FAMILY[1], FAMILY[0].upper(), FAMILY[1], FAMILY[1] + "!"], threshold=0.7)
    assert len(found(index)) == 1 + 3 + 6
    assert len(found(index, copies="first")) == 1 + 2 + 1
    assert index.pairs().warnings == ()


def test_pairs_exactly_at_the_threshold_are_found(database: dbsim.Database) -> None:
    """The estimate alone rejects most of them."""
    rng = random.Random(4)
    texts = []
    for number in range(150):  # 32 common words of 40: 28 of 40 shingles without the border
        words = [f"w{number}x{place}" for place in range(34)]
        texts += [" ".join(words), " ".join(words[:28] + [f"o{number}x{place}" for place in range(6)])]
    rng.shuffle(texts)
    index = fill(database, texts, threshold=0.7, words=1)
    signer = index.options.signer(SECRET)
    jaccard = exact_jaccard(signer.features(0, texts))
    truth = {(int(a), int(b)) for a, b in zip(*np.nonzero(jaccard == 0.7), strict=True)}
    assert len(truth) == 150
    assert len(truth & set(found(index, verify=False))) < 0.75 * len(truth)
    decided = index.pairs()
    assert all(pair.exact for pair in decided)
    assert len(truth & {(pair.a, pair.b) for pair in decided}) >= (0.95 - 0.02) * len(truth)


def test_below_the_threshold_of_the_index_is_warned(database: dbsim.Database) -> None:
    index = fill(database, generated(30), threshold=0.8)
    (warning,) = index.pairs(threshold=0.5).warnings
    assert "made for pairs from 0.8 on; of those at 0.5 about " in warning
    assert "dbsim alter --threshold 0.5" in warning
    assert index.duplicates(threshold=0.5).warnings[0] == warning
    assert index.pairs(threshold=0.9).warnings == ()


@pytest.mark.parametrize("limit", [4, 40])
def test_large_buckets_are_limited_and_named(database: dbsim.Database, limit: int) -> None:
    """Hundreds of near-copies of one text: still one group, at a fraction of the pairs."""
    words = generated(1)[0].split()
    texts = [" ".join([*words[:40], f"number{n}", *words[40:]]) for n in range(120)]
    index = fill(database, texts + generated(50, seed=2))
    complete = found(index, limits=Limits(bucket=1000))
    assert found(index) == complete  # 120 contents can be afforded
    assert not index.pairs(limits=Limits(bucket=1000)).limited
    limits = Limits(bucket=limit, representatives=2, depth=0)
    limited = index.pairs(limits=limits)
    assert limited.limited.buckets > 0
    assert limited.limited.largest > 80
    pairs = found(index, limits=limits)
    assert pairs.items() < complete.items()
    assert len(pairs) < len(complete) / 4
    assert limited.limited.missing == pytest.approx(len(complete) - len(pairs), rel=0.2)
    assert "pairs in them are missing (estimated from" in limited.warnings[-1]
    groups = index.duplicates(limits=limits, by="components")
    assert max(len(group.members) for group in groups) == 120


def test_signatures_leave_postgresql_in_key_order(database: dbsim.Database) -> None:
    """An ORDER BY inside a subquery guarantees nothing: it must be the statement's own, after the last bracket."""
    index = fill(database, generated(20))
    statement = ordered_signatures(index._tables, postgresql.dialect())
    assert " ORDER BY " in " ".join(statement[statement.rindex(")") :].split())
    assert statement.count("ORDER BY") == 1


def test_rows_that_lie_in_another_order_than_that_of_their_keys(database: dbsim.Database) -> None:
    """As on several nodes: representatives are the first rows by key, wherever the signatures lie."""
    texts = generated(300, length=30)
    index = fill(database, texts)
    rows = pa.table({"id": list(range(len(texts))), "body": texts})
    found = bulk.duplicates(rows, key="id", options=index.options, secret=SECRET).to_table()
    expected = sorted(zip(*(found.column(name).to_pylist() for name in ("representative_id", "id")), strict=True))
    assert len(expected) > 20
    with database.engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE aside AS SELECT * FROM dbsim_articles ORDER BY random()")
        connection.exec_driver_sql("DELETE FROM dbsim_articles")
        connection.exec_driver_sql("INSERT INTO dbsim_articles SELECT * FROM aside")
    if database.engine.dialect.name == "postgresql":  # otherwise an index would give them in order by chance
        with database.engine.connect() as connection:
            name = connection.exec_driver_sql("SELECT current_database()").scalar_one()
            for way in ("indexscan", "bitmapscan", "indexonlyscan"):
                connection.exec_driver_sql(f"ALTER DATABASE {name} SET enable_{way} = off")
            connection.commit()
        database.engine.dispose()
    shown = ((group.representative, hit.key) for group in index.duplicates() for hit in group.members)
    assert sorted(shown) == expected


def test_composite_and_text_keys(database: dbsim.Database) -> None:
    with database.engine.begin() as connection:
        connection.execute(text('CREATE TABLE t (lang TEXT, "score" INTEGER, body TEXT, PRIMARY KEY (lang, "score"))'))
        for number, body in enumerate(["a b c d e f g"] * 2 + ["a b c d e f h", "other words come here now"]):
            values = {"lang": "é" if number % 2 else "de", "n": number, "body": body}
            connection.execute(text('INSERT INTO t (lang, "score", body) VALUES (:lang, :n, :body)'), values)
    index = database.create_index("t", table="t", columns=["body"], secret=SECRET, threshold=0.5, words=2)
    index.sync()
    pairs = [(pair.a["score"], pair.b["score"]) for pair in index.pairs()]
    assert pairs == [(0, 1), (0, 2), (2, 1)]  # in the order of the keys: de before é
    assert len(list(index.pairs(copies="first"))) == 2
    groups = list(index.duplicates())
    assert [group.representative for group in groups] == [{"lang": "de", "score": 0}]
    assert len(groups[0].members) == 3
    assert index.delete_duplicates(dry_run=True).removed == 2


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
