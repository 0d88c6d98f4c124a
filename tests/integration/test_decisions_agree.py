"""Whatever people decide, every verb respects it, and taking it all back leaves no trace; on both engines.

The reference is a list of verdicts: rows that are the same form sets, and a decision is refused if and only if two rows
of one set would be different.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import dbsim
from dbsim.errors import Contradiction
from tests.conftest import ALL
from tests.integration.helpers import execute
from tests.integration.test_verbs_agree import ROWS, Texts, alike, components, index, shingles, words_of, write

__all__ = ["index"]  # the fixture
Pair = tuple[int, int]
Verdicts = dict[Pair, str]
VERDICTS = st.sampled_from(["same", "different", "unsure"])


# ── the reference ──
def sets_of(decided: Mapping[Pair, str]) -> dict[int, frozenset[int]]:
    """Row → the rows that are the same, as far as somebody said something."""
    found = components({pair: 1.0 for pair, verdict in decided.items() if verdict == "same"})
    return {row: group for group in found for row in group}


def contradicts(decided: Mapping[Pair, str]) -> bool:
    sets = sets_of(decided)
    return any(verdict == "different" and b in sets.get(a, ()) for (a, b), verdict in decided.items())


# ── what the verbs say ──
def groups_of(index: dbsim.Index) -> list[set[int]]:
    return [{hit.key for hit in group.members} for group in index.duplicates(by="components", verify=True)]


def state_of(index: dbsim.Index, texts: Texts) -> tuple[Any, ...]:
    pairs = sorted((pair.a, pair.b, pair.score, pair.decided) for pair in index.pairs(verify=True))
    near = {key: sorted(hit.key for hit in index.similar(key, limit=50, verify=True)) for key in sorted(texts)[:4]}
    return pairs, near, sorted(map(sorted, groups_of(index)))


def check(index: dbsim.Index, texts: Texts, decided: Verdicts) -> None:
    """Of decisions that count, about rows that have a text."""
    near, sets = alike(texts), sets_of(decided)
    same = {pair for pair, verdict in decided.items() if verdict == "same"}
    different = {pair for pair, verdict in decided.items() if verdict == "different"}
    listed = {(pair.a, pair.b): pair.decided for pair in index.pairs(verify=True)}
    assert listed.keys() == (near.keys() | same) - different
    assert {pair for pair, verdict in listed.items() if verdict == "same"} == same
    groups = groups_of(index)
    for group in groups:
        assert not {*combinations(sorted(group), 2)} & different
    for rows in sets.values():
        assert sum(bool(group & rows) for group in groups) == 1, rows
        assert any(rows <= group for group in groups), rows
    for a, b in decided:
        found = {hit.key for hit in index.similar(a, limit=50, verify=True)}
        assert (b in found) == ((a, b) in listed), (a, b)


@settings(
    max_examples=30 if ALL else 5,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(rows=ROWS.filter(lambda texts: sum(bool(shingles(body)) for body in texts.values()) > 1), data=st.data())
def test_every_verb_respects_what_was_decided(index: dbsim.Index, rows: Texts, data: st.DataObject) -> None:
    execute(index.context.engine, "DELETE FROM articles")
    write(index, {}, rows)
    before = state_of(index, rows)
    possible = list(combinations(sorted(key for key in rows if shingles(rows[key])), 2))
    decided: Verdicts = {}
    for pair in data.draw(st.lists(st.sampled_from(possible), min_size=1, max_size=6)):
        verdict = data.draw(VERDICTS)
        asked = decided | {pair: verdict}
        ends = data.draw(st.permutations(pair))
        if contradicts(asked):
            with pytest.raises(Contradiction):
                index.decide(*ends, verdict)
        else:
            index.decide(*ends, verdict)
            decided = asked
    assert {(one.a, one.b): one.verdict for one in index.decisions()} == decided
    check(index, rows, decided)

    changed = data.draw(st.sampled_from(sorted({key for pair in possible for key in pair})))
    after = rows | {changed: "fjord grove amber " + " ".join(words_of(rows[changed])[::-1])}
    write(index, rows, after)
    outdated = {pair for pair in decided if changed in pair}
    assert {(one.a, one.b) for one in index.decisions() if one.outdated} == outdated
    check(index, after, {pair: verdict for pair, verdict in decided.items() if pair not in outdated})

    write(index, after, rows)
    for a, b in decided:
        assert index.undecide(b, a)
    assert list(index.decisions()) == []
    assert state_of(index, rows) == before
