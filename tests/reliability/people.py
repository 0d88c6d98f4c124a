"""What decisions promise: groups as a run from scratch makes them, the same together, the different apart."""

from __future__ import annotations

from collections.abc import Iterable

import dbsim
from dbsim.dedupe.people.decisions import Decision
from tests.integration.helpers import execute, fetch
from tests.oracle import build_like

Groups = set[frozenset[int]]


def groups(index: dbsim.Index) -> Groups:
    return {frozenset(hit.key for hit in group.members) for group in index.duplicates(by="components")}


def groups_from_scratch(database: dbsim.Database, index: dbsim.Index) -> Groups:
    """The same table, options, secret and decisions in a new index, grouped once."""
    other = build_like(database, index._worker().tables.record, "scratch")
    try:
        other.sync()
        execute(database.engine, f"INSERT INTO dbsim_scratch_decisions SELECT * FROM dbsim_{index.name}_decisions")
        return groups(other)
    finally:
        database.drop_index("scratch")


def assert_respected(database: dbsim.Database, index: dbsim.Index, found: Groups) -> None:
    """Decisions about texts that are still the same hold; nothing is decided about rows that are gone."""
    decided = [one for one in index.decisions() if not one.outdated]
    stored = dict(fetch(database.engine, f"SELECT id, fingerprint FROM dbsim_{index.name}"))
    assert {key for one in decided for key in (one.a, one.b)} <= stored.keys()
    group = {key: number for number, keys in enumerate(found) for key in keys}
    torn = contradicted(decided)
    for one in decided:
        together = one.a in group and group[one.a] == group.get(one.b)
        assert not (one.verdict == "different" and together), one
        grouped = None not in (stored[one.a], stored[one.b])  # a row without a text is in no group
        assert together or one.verdict != "same" or not grouped or one.a in torn, one


def contradicted(decided: Iterable[Decision]) -> set[int]:
    """Rows that are the same through others as one from which they are different, as only SQL can write it.

    And a text that becomes what it was: that brings a decision back, past those that were made meanwhile.
    """
    leader = {key: key for one in decided for key in (one.a, one.b)}
    for one in decided:
        if one.verdict == "same":
            old, new = leader[one.a], leader[one.b]
            leader = {key: new if root == old else root for key, root in leader.items()}
    torn = {leader[one.a] for one in decided if one.verdict == "different" and leader[one.a] == leader[one.b]}
    return {key for key, root in leader.items() if root in torn}
