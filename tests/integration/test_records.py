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


@pytest.mark.parametrize("url", ["postgresql"], indirect=True)  # SQLite has no such view: engines/sqlite/views.py
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
    for group in index.duplicates():
        assert all(hit.score >= 0.5 for hit in group.members)
        assert len(group.members) <= 8  # never a household, a street, a city


def test_incremental_is_from_scratch(index: dbsim.Index, database: dbsim.Database) -> None:
    made = people(database.engine, 40, 9, "others")
    add_people(database.engine, {1000 + n: row for n, row in enumerate(made.rows)})
    execute(database.engine, "UPDATE people SET surname = 'Müller' WHERE id < 20", "DELETE FROM people WHERE id = 33")
    index.sync()
    assert not index.check()


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
