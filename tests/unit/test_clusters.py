"""Clusters of documents against known classes and hand-made graphs; sampling by words against the bias it undoes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chisquare

from dbsim.errors import InvalidOption
from dbsim.evaluate.clusters import BY, assigned, by_size, clusters, similarity_graph
from dbsim.evaluate.sampling.queries import QuerySampler
from dbsim.hashing.signer import Signer
from dbsim.options import Field, IndexOptions

TOPICS = (
    "harbour ferry captain tide anchor sailor deck mast rope quay",
    "oven flour butter sugar dough yeast bread cake crust pastry",
    "engine piston gear clutch brake wheel tyre fuel valve torque",
)


def signer(family: str = "minhash") -> Signer:
    field = Field(columns=("body",), unit="words", size=1, bits=1024, sample=1)
    options = IndexOptions(name="a", table="a", fields=(field,), family=family, threshold=0.3).with_plan()
    return options.signer(b"0123456789abcdef")


def documents(count: int = 60, seed: int = 1) -> tuple[list[str], list[int]]:
    rng = np.random.default_rng(seed)
    classes = [number % len(TOPICS) for number in range(count)]
    return [" ".join(rng.permutation(TOPICS[topic].split())[:7]) for topic in classes], classes


@pytest.mark.parametrize("by", BY)
def test_every_method_finds_separate_topics(by: str) -> None:
    texts, classes = documents()
    count = 3 if by == "kmeans" else None
    found = clusters(signer(), range(60), [texts], by=by, count=count, threshold=0.3)
    assert found.f_measure(classes) > (0.99 if by != "tight" else 0.6)
    assert sorted(key for keys in found for key in keys) == list(range(60))
    sizes = [len(keys) for keys in found]
    assert sizes == sorted(sizes, reverse=True)
    assert found.expected_density() > 1


def test_new_texts_go_to_the_nearest_centroid() -> None:
    texts, classes = documents()
    made = signer()
    found = clusters(made, range(60), [texts], by="kmeans", count=3, threshold=0.3)
    assert found.model is not None
    assert assigned(made, [texts], found.model).tolist() == found.labels.tolist()
    others, theirs = documents(30, seed=2)
    labels = assigned(made, [others], found.model)
    for topic in range(3):
        same = {int(label) for label, known in zip(labels, theirs, strict=True) if known == topic}
        assert same == {int(found.labels[classes.index(topic)])}
    assert len(assigned(made, [["unheard of words alone"]], found.model)) == 1


def test_what_cannot_be_clustered() -> None:
    made = signer()
    for wrong in ({"by": "kmeans"}, {"by": "components", "count": 3}, {"by": "magic"}):
        with pytest.raises(InvalidOption):
            clusters(made, [1], [["a b c"]], threshold=0.5, **wrong)  # type: ignore[arg-type]
    with pytest.raises(InvalidOption, match="4 clusters of 1 documents"):
        clusters(made, [1], [["a b c"]], by="kmeans", count=4, threshold=0.5)
    empty = clusters(made, [], [[]], by="components", threshold=0.5)
    assert (len(empty), list(empty)) == (0, [])


def test_the_graph_has_every_similar_pair_once() -> None:
    texts, _ = documents(25)
    made = signer()
    graph = similarity_graph(made, [texts], 0.3)
    exact = made.similarity([texts], [texts])
    wanted = {(a, b) for a in range(25) for b in range(a + 1, 25) if exact[a, b] >= 0.3}
    assert {*zip(graph.a.tolist(), graph.b.tolist(), strict=True)} == wanted
    assert np.allclose(graph.weights, exact[graph.a, graph.b])


def test_largest_first() -> None:
    assert by_size(np.array([7, 3, 3, 9, 9])).tolist() == [2, 0, 0, 1, 1]


# ── sampling by words ──
def collection() -> dict[tuple[int], list[str]]:
    """Rows 0 … 9 have 2 words, rows 10 … 19 have 12; words are shared by two rows each."""
    rng = np.random.default_rng(3)
    rows = {(row,): [f"w{row}", *(f"s{number}" for number in rng.integers(0, 15, 1))] for row in range(10)}
    return rows | {(row,): [f"w{row}", *{f"s{number}" for number in rng.integers(0, 15, 11)}] for row in range(10, 20)}


def sampler(uniform: bool, first: int = 10) -> QuerySampler:
    rows = collection()
    lexicon = sorted({word for words in rows.values() for word in words})
    answers = lambda word, limit: [row for row, words in rows.items() if word in words][:limit]  # noqa: E731
    return QuerySampler(lexicon, answers, rows.__getitem__, first, uniform, np.random.default_rng(0))


def test_drawing_by_words_is_uniform_only_with_the_rejections() -> None:
    counts = {
        uniform: np.bincount([row for (row,) in sampler(uniform).draw(4000)], minlength=20) for uniform in (True, False)
    }
    assert chisquare(counts[True]).pvalue > 0.001
    assert chisquare(counts[False]).pvalue < 1e-9  # what the source warns of: rows with many words
    assert counts[False][10:].sum() > 1.2 * counts[False][:10].sum()


def test_words_with_too_many_answers_are_not_used() -> None:
    found = sampler(uniform=True, first=1)
    assert {row for (row,) in found.draw(200)} == set(range(20))  # each row has a word of its own
    with pytest.raises(InvalidOption, match="give rarer words"):
        QuerySampler(["the"], lambda word, limit: [(1,)] * limit, lambda row: ["the"], 5).draw(1)
    with pytest.raises(InvalidOption, match="no word to ask for"):
        QuerySampler([], lambda word, limit: [], lambda row: []).draw(1)
