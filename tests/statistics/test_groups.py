"""Grouping against hand-computed examples, scipy, and each other."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from dbsim.dedupe.kernels.decide import Decision
from dbsim.dedupe.kernels.grouping.assignment import Assignment, Contents, Scores, assign
from dbsim.dedupe.kernels.grouping.correlation import bits_beyond
from dbsim.dedupe.kernels.grouping.diameters import Known, diameters
from dbsim.dedupe.kernels.grouping.graph import Graph, Labels
from dbsim.dedupe.kernels.grouping.linkage import average_link
from dbsim.dedupe.kernels.grouping.registry import METHODS, group

Edge = tuple[int, int, float]
DECISION = Decision((), 0.5, verify=False)
# two triangles, held together by one weak edge
TRIANGLES: list[Edge] = [
    (0, 1, 0.9),
    (0, 2, 0.8),
    (1, 2, 0.7),
    (3, 4, 0.9),
    (3, 5, 0.8),
    (4, 5, 0.7),
    (2, 3, 0.5),
]


def graph(nodes: int, edges: list[Edge]) -> Graph:
    a, b, weights = zip(*edges, strict=True) if edges else ((), (), ())
    return Graph(nodes, np.array(a, np.int64), np.array(b, np.int64), np.array(weights, float))


def labels(nodes: int, edges: list[Edge], by: str, threshold: float = 0.0) -> list[int]:
    found: list[int] = group(graph(nodes, edges), by, threshold).tolist()
    return found


def test_components_follow_chains() -> None:
    assert labels(6, TRIANGLES, "components") == [0] * 6
    assert labels(6, TRIANGLES, "components", 0.6) == [0, 0, 0, 3, 3, 3]
    assert labels(3, [], "components") == [0, 1, 2]


def test_tight_groups_have_no_chains() -> None:
    chain = [(0, 1, 0.9), (1, 2, 0.9), (2, 3, 0.9)]
    assert labels(4, chain, "tight") == [0, 0, 2, 2]


def test_tight_groups_take_the_most_similar_leader() -> None:
    # 0 and 2 lead; 3 is similar to both, more to 2; 4 equally to both, so the earlier one has it
    edges = [(0, 1, 0.9), (1, 2, 0.9), (0, 3, 0.7), (2, 3, 0.8), (0, 4, 0.75), (2, 4, 0.75)]
    assert labels(5, edges, "tight") == [0, 0, 2, 2, 0]


def test_majorclust_by_hand() -> None:
    # 0 goes to 1 (0.9 > 0.8), 2 joins them (0.8 + 0.7 > 0.5), and so on the other side: the weak edge loses
    assert labels(6, TRIANGLES, "majorclust") == [0, 0, 0, 3, 3, 3]


def test_majorclust_gives_a_node_to_the_weighted_majority() -> None:
    # 4 has one strong edge to {0, 1} (0.9) and two weaker ones to {2, 3} (0.5 + 0.6)
    edges = [(0, 1, 0.95), (2, 3, 0.95), (0, 4, 0.9), (2, 4, 0.5), (3, 4, 0.6)]
    assert labels(5, edges, "majorclust") == [0, 0, 2, 2, 2]


def test_average_link_by_hand() -> None:
    # after 0 and 1, the mean to 2 is (0.8 + 0) / 2
    edges = [(0, 1, 0.9), (0, 2, 0.8)]
    assert labels(3, edges, "average", 0.41) == [0, 0, 2]
    assert labels(3, edges, "average", 0.39) == [0, 0, 0]


def test_complete_groups_by_hand() -> None:
    # 2 is similar to 1 but not to 0: it stays out, and so does 3, which 2 would have taken with it
    edges = [(0, 1, 0.9), (1, 2, 0.8), (2, 3, 0.7), (1, 3, 0.6)]
    assert labels(4, edges, "complete") == [0, 0, 2, 2]
    assert labels(4, [*edges, (0, 2, 0.5), (0, 3, 0.5)], "complete") == [0, 0, 0, 0]
    assert labels(4, [*edges, (0, 2, 0.5), (0, 3, 0.5)], "complete", 0.55) == [0, 0, 2, 2]


@pytest.mark.parametrize("seed", range(20))
def test_complete_link_equals_scipy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    size = int(rng.integers(3, 25))
    similarity = rng.uniform(0.01, 1, size * (size - 1) // 2)
    tree = linkage(1 - similarity, "complete")
    a, b = np.triu_indices(size, 1)
    for threshold in (0.3, 0.5, 0.8):
        found = group(Graph(size, a, b, similarity), "complete", threshold)
        expected = fcluster(tree, 1 - threshold, "distance")
        assert (np.equal.outer(found, found) == np.equal.outer(expected, expected)).all()


def test_correlation_weighs_what_speaks_against() -> None:
    # 1 and 2 hardly disagree (a value is missing), 0 holds them together; with a clear "no" the stronger side has 0
    assert labels(3, [(0, 1, 0.99), (0, 2, 0.95), (1, 2, 0.3)], "correlation", 0.5) == [0, 0, 0]
    assert labels(3, [(0, 1, 0.99), (0, 2, 0.95), (1, 2, 0.001)], "correlation", 0.5) == [0, 0, 2]
    assert labels(3, [(0, 1, 1.0), (0, 2, 1.0), (1, 2, 0.0)], "correlation", 0.5) == [0, 0, 2]
    assert labels(2, [(0, 1, 0.7)], "correlation", 0.7) == [0, 0]
    family = [
        (0, 1, 0.0),
        (0, 2, 1.0),
        (1, 2, 1.0),
        (0, 3, 0.93),
        (1, 3, 0.93),
        (2, 3, 0.45),
    ]  # 2 and 3 are poor records
    assert labels(4, family, "correlation", 0.5)[1] != 0
    # a pair that was no candidate speaks against as a clear "no" does
    assert labels(3, [(0, 1, 0.99), (0, 2, 0.95)], "correlation", 0.5) == [0, 0, 2]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.floats(0.001, 0.999), min_size=10, max_size=10), st.sampled_from([0.3, 0.5, 0.9]))
def test_no_joining_of_two_correlated_groups_would_gain(scores: list[float], threshold: float) -> None:
    a, b = np.triu_indices(5, 1)
    found = group(Graph(5, a, b, np.array(scores)), "correlation", threshold)
    bits = bits_beyond(np.array(scores), threshold)
    for one in set(found.tolist()):
        for other in set(found.tolist()) - {one}:
            between = ((found[a] == one) & (found[b] == other)) | ((found[a] == other) & (found[b] == one))
            assert bits[between].sum() <= 0


def test_a_household_is_not_chained(monkeypatch: pytest.MonkeyPatch) -> None:
    """Father and son through a row without a birthday; the pair nobody stored is compared, in small components only."""
    stored = graph(3, [(0, 1, 0.97), (1, 2, 0.8)])
    nodes, copies, exact = np.arange(3), np.ones(3, np.int64), np.ones(2, bool)
    own = np.ones(3)

    def found(between: float) -> list[int]:
        scores = Scores(lambda a, b: np.full(len(a), between), lambda a, b: np.full(len(a), between), DECISION)
        return assign(Contents(nodes, copies, stored, exact, own), "correlation", 0.5, scores).fingerprints.tolist()

    assert found(0.45) == [0, 1, 2]
    assert found(0.01) == [0, 1]
    monkeypatch.setattr("dbsim.dedupe.kernels.grouping.assignment.EVERY_PAIR", 2)
    assert found(0.45) == [0, 1]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11), st.floats(0.1, 1)), max_size=50))
def test_every_two_members_of_a_complete_group_have_an_edge(found: list[Edge]) -> None:
    edges = {(min(a, b), max(a, b)): weight for a, b, weight in found if a != b}
    result = labels(12, [(a, b, weight) for (a, b), weight in edges.items()], "complete", 0.4)
    for a in range(12):
        for b in range(a + 1, 12):
            assert result[a] != result[b] or edges.get((a, b), 0) >= 0.4


@pytest.mark.parametrize("seed", range(20))
def test_average_link_equals_scipy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    size = int(rng.integers(3, 25))
    similarity = rng.uniform(0.01, 1, size * (size - 1) // 2)
    distances = squareform(1 - similarity)
    a, b = np.triu_indices(size, 1)
    found = group(Graph(size, a, b, similarity), "average", 0.0)
    assert set(found.tolist()) == {0}
    for threshold in (0.3, 0.5, 0.7):
        expected = fcluster(linkage(squareform(distances), "average"), 1 - threshold, "distance")
        # directly, because `group` would leave out the pairs below the threshold, which then count as nothing
        assert same_partition(average_link(Graph(size, a, b, similarity), threshold), expected.astype(np.int64))


def same_partition(one: Labels, other: Labels) -> bool:
    return bool((np.equal.outer(one, one) == np.equal.outer(other, other)).all())


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    nodes = draw(st.integers(2, 14))
    pairs = [(a, b) for a in range(nodes) for b in range(a + 1, nodes)]
    chosen = draw(st.lists(st.sampled_from(pairs), unique=True))
    return graph(nodes, [(a, b, draw(st.sampled_from([0.5, 0.6, 0.7, 0.8, 0.9, 1.0]))) for a, b in chosen])


@settings(max_examples=200, deadline=None)
@given(graphs(), st.sampled_from(list(METHODS)), st.randoms(use_true_random=False))
def test_groups_depend_on_the_graph_alone(made: Graph, by: str, random: object) -> None:
    """Neither on the order of the edges nor on other components; labels are the smallest members."""
    found = group(made, by, 0.6)
    order = np.arange(len(made.a))
    random.shuffle(order)  # type: ignore[attr-defined]
    shuffled = Graph(made.nodes, made.b[order], made.a[order], made.weights[order])
    assert (group(shuffled, by, 0.6) == found).all()
    for label in set(found.tolist()):
        assert np.flatnonzero(found == label).min() == label
    parts = group(made, "components", 0.6)
    assert (parts[found] == parts).all()
    for part in set(parts.tolist()):
        members = np.flatnonzero(parts == part)
        inside = np.isin(made.a, members) & np.isin(made.b, members)
        alone = Graph(
            len(members),
            np.searchsorted(members, made.a[inside]),
            np.searchsorted(members, made.b[inside]),
            made.weights[inside],
        )
        assert (members[group(alone, by, 0.6)] == found[members]).all()


@settings(max_examples=100, deadline=None)
@given(graphs())
def test_members_of_tight_groups_reach_the_threshold(made: Graph) -> None:
    found = group(made, "tight", 0.7)
    known = {(a, b): w for a, b, w in zip(made.a.tolist(), made.b.tolist(), made.weights.tolist(), strict=True)}
    for node, label in enumerate(found.tolist()):
        assert node == label or known[label, node] >= 0.7


@settings(max_examples=100, deadline=None)
@given(graphs())
def test_a_node_at_the_end_leaves_tight_groups_as_they_are(made: Graph) -> None:
    last = made.nodes - 1
    kept = (made.a != last) & (made.b != last)
    before = group(Graph(last, made.a[kept], made.b[kept], made.weights[kept]), "tight", 0.6)
    assert (group(made, "tight", 0.6)[:last] == before).all()


def test_diameter_and_score_use_known_scores_and_compute_the_others() -> None:
    made = graph(4, [(0, 1, 0.9), (1, 2, 0.8)])
    asked: list[tuple[int, int]] = []

    def score(a: Labels, b: Labels) -> NDArray[np.float64]:
        asked.extend(zip(a.tolist(), b.tolist(), strict=True))
        return np.full(len(a), 0.4)

    found = group(made, "components", 0.5)
    known = Known(made).completed(score)
    assert diameters(found, known).tolist() == [pytest.approx(0.6)] * 3 + [0.0]
    assert known(found, np.arange(4)).tolist() == [1.0, 0.9, 0.4, 1.0]
    assert asked == [(0, 2), (0, 2)]


def test_the_diameter_of_a_large_group_is_a_lower_bound() -> None:
    size = 300
    chain = graph(size, [(i, i + 1, 0.9) for i in range(size - 1)])
    known = Known(chain).completed(lambda a, b: 1 - np.abs(a - b) / size)
    found = diameters(group(chain, "components", 0.5), known)
    assert found[0] == pytest.approx(1 - 1 / size)


def test_copies_below_the_threshold_are_no_group() -> None:
    """Of persons: two rows of nothing but a name may be two persons; in a group with others they count as they are."""
    empty, near = graph(2, []), graph(2, [(0, 1, 0.8)])
    scores = Scores(lambda a, b: np.zeros(len(a)), lambda a, b: np.zeros(len(a)), DECISION)

    def made(of: Graph, threshold: float) -> Assignment:
        own = np.array([0.7, 0.95])
        contents = Contents(np.arange(2), np.array([2, 2]), of, np.ones(len(of.weights), bool), own)
        return assign(contents, "tight", threshold, scores)

    alone = made(empty, 0.9)
    assert (alone.fingerprints.tolist(), alone.scores.tolist(), alone.exact.tolist()) == ([1], [0.95], [False])
    assert np.allclose(alone.diameters, 0.05)
    together = made(near, 0.6)
    assert (together.fingerprints.tolist(), together.scores.tolist()) == ([0, 1], [0.7, 0.8])
    assert (together.sizes.tolist(), together.lowest.tolist()) == ([4, 4], [0.7, 0.7])
    assert np.allclose(together.diameters, 0.3)
