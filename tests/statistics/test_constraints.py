"""Groups under decisions: what is the same is together, what is different is not, and a component is grouped alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbsim.dedupe.kernels.grouping.constraints import Constraints, Pieces, constrain, split
from dbsim.dedupe.kernels.grouping.graph import Graph
from dbsim.dedupe.kernels.grouping.registry import METHODS, group

NODES = 12
pair = st.tuples(st.integers(0, NODES - 1), st.integers(0, NODES - 1)).filter(lambda p: p[0] != p[1]).map(sorted)
pairs = st.lists(pair.map(tuple), max_size=6, unique=True)
weights = st.sampled_from([0.5, 0.7, 0.8, 0.9, 1.0])
edges = st.dictionaries(pair.map(tuple), weights, max_size=25)


def graph_of(found: dict[tuple[int, int], float], nodes: int = NODES) -> Graph:
    ends = np.array(list(found), np.int64).reshape(-1, 2)
    return Graph(nodes, ends[:, 0], ends[:, 1], np.array(list(found.values()), np.float64))


def decided(same: list[tuple[int, int]], different: list[tuple[int, int]]) -> Constraints:
    return Constraints(np.array(same, np.int64).reshape(-1, 2), np.array(different, np.int64).reshape(-1, 2))


def consistent(same: list[tuple[int, int]], different: list[tuple[int, int]]) -> bool:
    pieces = Pieces(NODES, np.empty((0, 2), np.int64))
    for a, b in same:
        pieces.join(a, b)
    return all(pieces.root(a) != pieces.root(b) for a, b in different)


@pytest.mark.parametrize("by", METHODS)
@settings(deadline=None, max_examples=150)
@given(found=edges, same=pairs, different=pairs)
def test_decisions_hold(by: str, found: dict[tuple[int, int], float], same: list, different: list) -> None:
    graph = graph_of(found).at_least(0.7)
    labels = constrain(graph, decided(same, different), lambda g: group(g, by, 0.7))
    assert all(labels[a] != labels[b] for a, b in different)
    if consistent(same, different):
        assert all(labels[a] == labels[b] for a, b in same)
    assert all(labels[labels] == labels)
    assert all(labels <= np.arange(NODES))
    if not same and not different:
        assert (labels == group(graph, by, 0.7)).all()


@pytest.mark.parametrize("by", METHODS)
@settings(deadline=None, max_examples=60)
@given(found=edges, other=edges, same=pairs, different=pairs)
def test_a_component_is_grouped_alone(by: str, found: dict, other: dict, same: list, different: list) -> None:
    """Another graph beside it changes nothing: so regrouping one component equals regrouping all."""
    alone = constrain(graph_of(found).at_least(0.7), decided(same, different), lambda g: group(g, by, 0.7))
    beside = {(a + NODES, b + NODES): weight for (a, b), weight in other.items()}
    both = constrain(
        graph_of(found | beside, 2 * NODES).at_least(0.7), decided(same, different), lambda g: group(g, by, 0.7)
    )
    assert (both[:NODES] == alone).all()
    assert (both[NODES:] >= NODES).all()


def test_not_through_a_third_row_either() -> None:
    graph = graph_of({(0, 1): 0.9, (1, 2): 0.8}, 3)
    assert constrain(graph, Constraints(), lambda g: group(g, "components", 0.7)).tolist() == [0, 0, 0]
    labels = constrain(graph, decided([], [(0, 2)]), lambda g: group(g, "components", 0.7))
    assert labels.tolist() == [0, 0, 2]  # the less similar pair gives way


def test_same_below_the_threshold_and_without_a_pair() -> None:
    labels = constrain(graph_of({}, 4), decided([(1, 3)], []), lambda g: group(g, "tight", 0.7))
    assert labels.tolist() == [0, 1, 2, 1]


def test_what_is_the_same_keeps_others_away_together() -> None:
    """2 is the same as 1, which is different from 0: the pair 0, 2 gives way although nobody decided about it."""
    graph = graph_of({(0, 2): 1.0, (0, 1): 0.9}, 3)
    labels = constrain(graph, decided([(1, 2)], [(0, 1)]), lambda g: group(g, "tight", 0.7))
    assert labels.tolist() == [0, 1, 1]


def test_of_contradictions_different_counts() -> None:
    labels = constrain(graph_of({}, 3), decided([(0, 1), (1, 2)], [(0, 2)]), lambda g: group(g, "tight", 0.7))
    assert labels.tolist() == [0, 0, 2]


def test_a_node_taken_out_of_another_has_its_pairs() -> None:
    graph, exact = graph_of({(0, 1): 0.7, (1, 2): 0.8}, 3), np.array([True, False])
    own = np.array([1.0, 1.0, 0.9])  # what copies score
    wider, sure = split(graph, exact, np.array([1, 1, 2]), own)  # 3 and 4 are copies of 1, 5 is one of 2
    found = {(int(a), int(b)): (w, bool(s)) for a, b, w, s in zip(wider.a, wider.b, wider.weights, sure, strict=True)}
    assert wider.nodes == 6
    assert len(found) == len(wider.a) == 3 + 6 + 4
    assert {pair for pair, value in found.items() if value == (0.7, True)} == {(0, 1), (0, 3), (0, 4)}
    near = {(1, 2), (2, 3), (2, 4), (1, 5), (3, 5), (4, 5)}
    assert {pair for pair, value in found.items() if value == (0.8, False)} == near
    assert {pair for pair, value in found.items() if value == (1.0, True)} == {(1, 3), (1, 4), (3, 4)}
    assert found[2, 5] == (0.9, False)
    assert split(graph, exact, np.empty(0, np.int64), own) == (graph, exact)
