"""Decisions about persons count when weights are learned again: the same ones give the same model, none the old one."""

from __future__ import annotations

import pytest

import dbsim
from dbsim.tables.model_rows import load
from tests.conftest import SECRET
from tests.integration.helpers import execute
from tests.people import people

ROWS = 300
Bytes = dict[str, bytes]


@pytest.fixture
def index(database: dbsim.Database) -> dbsim.Index:
    people(database.engine, ROWS)
    for name in ("born", "street", "house", "phone", "email"):  # with all of it nothing is doubtful
        execute(database.engine, f"ALTER TABLE people DROP COLUMN {name}")
    made = database.create_records("people", table="people", secret=SECRET)
    made.sync()
    return made


def model(index: dbsim.Index, generation: int) -> Bytes:
    found = index.context.read(lambda c: load(c, "people", generation))
    assert found is not None
    return {name: array.tobytes() for name, array in found.items()}


def refitted(index: dbsim.Index, number: int, taught: int) -> Bytes:
    assert index.refit() == taught
    return model(index, number)


def doubtful(index: dbsim.Index) -> list[tuple[int, int, float]]:
    """Pairs that the model thinks to be two persons, the most similar first."""
    found = {}
    for key in range(1, ROWS + 1):
        for hit in index.similar(key, threshold=0.0, limit=50):
            if hit.score < 0.5:
                found[min(key, hit.key), max(key, hit.key)] = hit.score
    return sorted(((a, b, score) for (a, b), score in found.items()), key=lambda pair: -pair[2])


def decide(index: dbsim.Index) -> int:
    """People know better: these are one person each; and some strangers are strangers."""
    likely = doubtful(index)
    assert len(likely) > 20
    for a, b, _ in likely[:8]:
        index.decide(a, b, "same")
    for a, b, _ in likely[-6:]:
        index.decide(a, b, "different")
    index.decide(*likely[10][:2], "unsure")
    return 14


def test_decisions_teach(index: dbsim.Index, database: dbsim.Database) -> None:
    first = model(index, 1)
    assert refitted(index, 2, 0) == first  # nothing is decided: to the last byte what was learned without
    a, b, before = doubtful(index)[0]
    made = decide(index)
    taught = refitted(index, 3, made)
    changed = {name for name in taught if taught[name] != first.get(name)}
    assert changed <= {"weights", "priors", "decided", "copy"}  # what a copy proves follows from weights and priors
    assert taught["weights"] != first["weights"] or taught["priors"] != first["priors"]
    assert refitted(index, 4, made) == taught
    index.sync()
    assert index.status().generation == 4
    assert not index.check()
    assert (index.explain(a, b).exact or 0.0) > before
    execute(database.engine, f"UPDATE people SET surname = 'Somebodyelse' WHERE id = {a}")
    assert 0 < index.refit() < made  # carried over, but for those about this row: its text is another, synced or not


def test_contradictions_do_no_harm(index: dbsim.Index, database: dbsim.Database) -> None:
    """From SQL anything can be decided: all rows of a group the same, and all of them different."""
    values = [(a, b, "same" if (a + b) % 2 else "different") for a in range(1, 9) for b in range(a + 1, 9)]
    listed = ", ".join(f"({a}, {b}, '{verdict}')" for a, b, verdict in values)
    execute(database.engine, f"INSERT INTO dbsim_people_decisions (a, b, verdict) VALUES {listed}")
    index.sync()
    assert index.refit() == len(values)
    index.sync()
    assert not index.check()
    assert index.similar(1, threshold=0.01) is not None


def test_a_change_of_options_is_taught_too(index: dbsim.Index) -> None:
    made = decide(index)
    index.alter(recall=0.9)
    index.sync()
    assert sum(memoryview(model(index, 2)["decided"]).cast("q")) == made
