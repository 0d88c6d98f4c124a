"""Records of persons in the database: found by probability, the same on both engines to the last bit."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import dbsim
from benchmarks.register import register
from dbsim.hashing.records.evidence import UNIT
from dbsim.hashing.records.probability import probability
from tests.conftest import SECRET
from tests.integration.helpers import execute, fetch
from tests.people import COLUMNS, add_people, people

ROWS = 300


@pytest.fixture
def index(database: dbsim.Database) -> dbsim.Index:
    people(database.engine, ROWS)
    made = database.create_records("people", table="people", secret=SECRET)
    made.sync()
    return made


def true_pairs() -> set[tuple[int, int]]:
    return {(a + 1, b + 1) for a, b in register(ROWS, 5).pairs()}


def found_pairs(index: dbsim.Index) -> dict[tuple[int, int], float]:
    found = {}
    for key in range(1, ROWS + 1):
        for hit in index.similar(key, limit=100):
            found[min(key, hit.key), max(key, hit.key)] = hit.score
    return found


def test_duplicates_of_a_generated_register_are_found(index: dbsim.Index) -> None:
    found, true = found_pairs(index), true_pairs()
    assert len(true) > 25
    assert len(found.keys() & true) >= 0.85 * len(true)
    assert len(found.keys() & true) >= 0.95 * len(found)  # a quarter of these persons share a household


def test_scores_in_sql_are_those_of_numpy_to_the_last_bit(index: dbsim.Index) -> None:
    search = index._current.get()
    rows = search.columns_of([(key,) for key in range(1, ROWS + 1)])
    columns = [list(column) for column in zip(*(row for row in rows if row is not None), strict=True)]
    signer = index._signer
    documents = signer.documents(columns)
    exact = signer.family.similarity(documents, documents, signer.fitted)
    found = found_pairs(index)
    assert found
    assert all(score == exact[a - 1, b - 1] for (a, b), score in found.items())
    many = index.search_many([dict(zip(COLUMNS, row, strict=True)) for row in rows[:50] if row is not None], limit=100)
    for key, results in enumerate(many, 1):
        for hit in results:
            if hit.key != key:
                assert hit.score == found[min(key, hit.key), max(key, hit.key)]


@pytest.mark.parametrize(
    "url", ["postgresql"], indirect=True
)  # SQLite has no such view: engines/sqlite/surface/views.py
def test_the_view_of_pairs_has_the_same_scores(index: dbsim.Index, database: dbsim.Database) -> None:
    shown = {
        (a, b): score for a, b, score in fetch(database.engine, "SELECT a, b, score FROM dbsim_people_pairs") if a < b
    }
    assert shown == found_pairs(index)
    assert all(score >= 0.5 for score in shown.values())


def test_pairs_and_groups_of_the_whole_table_have_the_same_scores(index: dbsim.Index) -> None:
    found = found_pairs(index)
    listed = {(min(pair.a, pair.b), max(pair.a, pair.b)): pair.score for pair in index.pairs()}
    copies = {pair for pair, score in listed.items() if score == 1.0}  # equal in every field: listed once a content
    assert listed.keys() <= found.keys()
    assert all(listed[pair] == found[pair] for pair in listed.keys() - copies)
    copied = {key for pair in copies for key in pair}
    assert all(found[pair] > 0.99 and copied & {*pair} for pair in copies | (found.keys() - listed.keys()))
    for group in index.duplicates(by="tight"):
        assert all(hit.score >= 0.5 for hit in group.members)
    for by in ("tight", None):
        assert all(len(group.members) <= 8 for group in index.duplicates(by=by))  # never a household, a street, a city


def test_incremental_is_from_scratch(index: dbsim.Index, database: dbsim.Database) -> None:
    made = people(database.engine, 40, 9, "others")
    add_people(database.engine, {1000 + n: row for n, row in enumerate(made.rows)})
    execute(database.engine, "UPDATE people SET surname = 'Müller' WHERE id < 20", "DELETE FROM people WHERE id = 33")
    index.sync()
    assert not index.check()


def test_groups_follow_changes_and_deletions(index: dbsim.Index, database: dbsim.Database) -> None:
    """Groups that were updated are those of an index made now with the same model."""
    before = sorted(sorted(keys_of(group)) for group in index.duplicates())
    gone = [members[0] for members in before[::2]]
    execute(
        database.engine,
        f"DELETE FROM people WHERE id IN ({', '.join(map(str, gone))})",
        f"UPDATE people SET surname = 'Quint', born = '1901-01-01' WHERE id = {before[1][0]}",
    )
    index.sync()
    after = sorted(sorted(keys_of(group)) for group in index.duplicates())
    assert after != before
    assert after == sorted(sorted(keys_of(group)) for group in index.duplicates(threshold=0.5000001, save="again"))


def test_probability_rises_with_evidence_and_reaches_a_half_at_zero() -> None:
    values = probability(np.arange(-70_000, 70_000, 13))
    assert (np.diff(values) >= 0).all()
    assert probability(np.array([0]))[0] == 0.5
    assert probability(np.array([UNIT]))[0] == pytest.approx(2 / 3, abs=1e-12)


def test_one_field_alone_identifies_nobody(index: dbsim.Index, database: dbsim.Database) -> None:
    add_people(database.engine, {n: ["", "Schmidt", "", "", "", "", "", "", ""] for n in range(5000, 5020)})
    index.sync()
    assert not index.similar(5000)
    assert not any(hit.key >= 5000 for hit in index.search({"surname": "Schmidt"}))
    assert not any(a >= 5000 for (a, b) in itertools.combinations(range(5000, 5003), 2) if index.similar(a))


def test_a_household_is_not_chained_through_a_poor_record(index: dbsim.Index, database: dbsim.Database) -> None:
    """Father and son, and a row that could be either: it goes to one of them, and they stay apart, however grouped."""
    (row,) = fetch(database.engine, f"SELECT {', '.join(COLUMNS)} FROM people WHERE id = 1")
    own = {"given": "Wilhelmus", "born": "1931-02-17", "phone": "0401234567", "email": "wilhelmus@example.org"}
    father = dict(zip(COLUMNS, row, strict=True)) | own
    own = {"given": "Theophilus", "born": "1966-11-30", "phone": "0897654321", "email": "theo.k@example.net"}
    son = father | own
    either = father | {"given": None, "born": None, "email": son["email"]}  # the father's telephone
    family = [list(one.values()) for one in (father, dict(father), son, dict(son), either)]
    add_people(database.engine, dict(enumerate(family, 9001)))
    index.sync()
    for by in (None, "complete"):
        groups = [keys_of(group) for group in index.duplicates(by=by)]
        mine = [members for members in groups if members & {9001, 9003}]
        assert len(mine) == 2
        assert any(members >= {9001, 9002} for members in mine)
        assert any(members >= {9003, 9004} for members in mine)
    assert {result["by"] for result in index.results()} == {"correlation", "complete"}


def keys_of(group: dbsim.Group) -> set[int]:
    return {hit.key for hit in group.members}


def test_keys_are_planned_again_when_the_table_has_grown(database: dbsim.Database) -> None:
    people(database.engine, 150)
    index = database.create_records("people", table="people", secret=SECRET)
    index.sync()
    assert not [one for one in index.status().problems if "replan" in one]
    before = index.options
    add_people(database.engine, dict(enumerate(register(1200, 21).rows, 10_001)))
    index.sync()
    assert any("--replan" in one and "150 rows to 1,350" in one for one in index.status().problems)
    index.alter(replan=True)
    assert index.options == before  # searched until the next sync
    index.sync()
    assert index.options.family != before.family
    assert not index.status().problems
    assert not index.check()
    generation = index.status().generation
    index.alter(replan=True).sync()  # nothing to gain
    assert index.status().generation == generation
    index.alter(threshold=0.6).sync()  # leaves the keys alone
    assert index.options.keys == len(index.options.hashing.keys_of.keys)
