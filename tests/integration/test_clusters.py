"""Clusters and sampling by words, through the index and the shell, on both engines."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sqlalchemy import text

import dbsim
from dbsim.errors import InvalidOption, NotFitted
from tests.fixtures.shell import Command
from tests.unit.test_clusters import documents


@pytest.fixture
def index(database: dbsim.Database) -> dbsim.Index:
    texts, classes = documents()
    with database.engine.begin() as connection:
        connection.execute(text("CREATE TABLE notes (id INTEGER PRIMARY KEY, body TEXT, topic INTEGER)"))
        rows = [
            {"i": number, "b": body, "t": topic}
            for number, (body, topic) in enumerate(zip(texts, classes, strict=True))
        ]
        connection.execute(text("INSERT INTO notes VALUES (:i, :b, :t)"), rows)
    made = database.create_index("notes", table="notes", columns="body", words=1, threshold=0.3, false_drops=0.01)
    made.sync()
    return made


def test_clusters_of_a_table(index: dbsim.Index) -> None:
    found = index.clusters(count=3, save=True)
    assert found.f_measure(index.values("topic", found.keys)) > 0.99
    assert index.cluster_of(["bread and butter", "the brake and the clutch"]) != [0, 0]
    assert index.search("flour butter sugar dough yeast bread cake")  # stored centroids are not taken for a model
    index.clusters(count=2, save=True)
    assert max(index.cluster_of(documents()[0])) <= 1
    graph = index.clusters(by="majorclust", threshold=0.3)
    assert graph.f_measure(index.values("topic", graph.keys)) > 0.99


@pytest.mark.parametrize("family", ["hyperplane", "fuzzy", "bitsampling", "gauss:width=2"])
def test_every_method_on_the_graph_of_any_family(database: dbsim.Database, family: str) -> None:
    """Similarity is that family's own measure; the quality measures come from the result."""
    texts, classes = documents()
    with database.engine.begin() as connection:
        connection.execute(text("CREATE TABLE notes (id INTEGER PRIMARY KEY, body TEXT)"))
        rows = [{"i": number, "b": body} for number, body in enumerate(texts)]
        connection.execute(text("INSERT INTO notes VALUES (:i, :b)"), rows)
    made = database.create_index("notes", table="notes", columns="body", words=1, threshold=0.3, family=family)
    made.sync()
    exact = made._signer.similarity([texts], [texts])
    inside = np.equal.outer(classes, classes) & ~np.eye(len(classes), dtype=bool)
    threshold = float(np.quantile(exact[inside], 0.5))  # half of the pairs of a class are edges
    for by in ("kmeans", "components", "majorclust", "average"):
        found = made.clusters(by=by, threshold=threshold, **({"count": 3} if by == "kmeans" else {}))
        upper = exact[np.triu_indices(len(texts), 1)]
        assert len(found.graph.a) == int((upper >= threshold).sum())
        assert 0 < found.f_measure(classes) <= 1
        assert found.expected_density() >= 0
        assert found.partial_connectivity() >= 0
        assert sorted(key for cluster in found for key in cluster) == list(range(len(texts)))


def test_clusters_that_were_not_saved(index: dbsim.Index) -> None:
    index.clusters(count=3)
    with pytest.raises(NotFitted, match="no stored clusters"):
        index.cluster_of(["bread"])


def test_drawing_through_questions_for_words(index: dbsim.Index) -> None:
    drawn = index.sample_by_words(50, seed=1)
    assert len(drawn) == 50
    assert {*drawn} <= {*range(60)}
    assert len({*drawn}) > 20
    assert drawn == index.sample_by_words(50, seed=1)
    with pytest.raises(InvalidOption, match="-1 rows"):
        index.sample_by_words(-1)


def test_from_the_shell(index: dbsim.Index, url: str, shell: Command) -> None:
    code, out, _ = shell("clusters", url, "notes", "--count", "3", "--classes", "topic", "--json")
    found = json.loads(out)
    assert (code, len(found["clusters"])) == (0, 3)
    assert found["f_measure"] > 0.99
    code, out, _ = shell("clusters", url, "notes", "--by", "components")
    assert code == 0
    assert "expected density" in out
    assert shell("clusters", url, "notes")[0] == 2
    assert len(shell("sample", url, "notes", "5", "--by-words", "--seed", "1")[1].splitlines()) == 5
