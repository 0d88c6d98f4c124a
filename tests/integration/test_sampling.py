"""Overlap of collections and random walks, on both engines and across them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import chisquare

import dbsim
from dbsim.errors import DbsimError, InvalidOption
from tests.fixtures.shell import Command
from tests.integration.helpers import QUICK, articles, corpus, execute, near_copy, sentence


def collections(database: dbsim.Database) -> tuple[dbsim.Index, dbsim.Index]:
    """A has texts 0…79, B near-copies of 40…79 and 20 others: half of A in B, two thirds of B in A."""
    articles(database.engine, {n + 1: sentence(n) for n in range(80)}, "a")
    texts = [near_copy(n) for n in range(40, 80)] + [sentence(500 + n) for n in range(20)]
    articles(database.engine, dict(enumerate(texts, 1)), "b")
    found = [database.create_index(name, table=name, columns="body", **QUICK) for name in ("a", "b")]
    for index in found:
        index.sync()
    return found[0], found[1]


def test_overlap_of_known_collections(database: dbsim.Database) -> None:
    a, b = collections(database)
    found = a.overlap(b)
    assert (found.sampled_a, found.sampled_b) == (80, 60)
    assert found.a_in_b.holds(0.5)
    assert found.a_in_b.value == pytest.approx(0.5, abs=0.03)
    assert found.b_in_a.value == pytest.approx(2 / 3, abs=0.03)
    assert found.relative_size.holds(80 / 60)
    assert found.counted == pytest.approx(80 / 60)
    some = a.overlap(b, sample=30, seed=4)
    assert (some.sampled_a, some.sampled_b) == (30, 30)
    assert some.a_in_b.holds(0.5)


def test_overlap_across_engines(database: dbsim.Database, tmp_path: Path) -> None:
    a, b = collections(database)
    with_file = dbsim.open(f"sqlite:///{tmp_path / 'other.db'}", create=True)
    with_file.upgrade()
    articles(with_file.engine, {n: sentence(n) for n in range(40, 60)}, "c")
    other = with_file.create_index("c", table="c", columns="body", **{**QUICK, "secret": b"another secret!!"})
    other.sync()
    found = a.overlap(other)
    assert found.b_in_a.value == 1.0
    assert found.a_in_b.value == pytest.approx(0.25)
    assert found.relative_size.value == pytest.approx(4.0)
    assert other.overlap(b).b_in_a.value == pytest.approx(1 / 3, abs=0.03)
    with_file.close()


def test_copies_count_once_unless_rows_are_asked_for(database: dbsim.Database) -> None:
    articles(
        database.engine, {n: "one text that stands in many rows" if n <= 8 else sentence(n) for n in range(1, 11)}, "a"
    )
    articles(database.engine, {1: "one text that stands in many rows", 2: sentence(99)}, "b")
    a, b = (database.create_index(name, table=name, columns="body", words=3, **QUICK) for name in ("a", "b"))
    a.sync()
    b.sync()
    assert a.overlap(b).a_in_b.value == pytest.approx(1 / 3)
    assert a.overlap(b, distinct=False).a_in_b.value == pytest.approx(0.8)


def test_unlike_indexes_are_refused(database: dbsim.Database) -> None:
    a, _ = collections(database)
    other = database.create_index("other", table="b", columns="body", threshold=0.9)
    with pytest.raises(DbsimError, match="same threshold"):
        a.overlap(other)
    shorter = database.create_index("shorter", table="b", columns="body", words=2, **QUICK)
    with pytest.raises(DbsimError, match="read their texts alike"):
        a.overlap(shorter)


def test_walk_on_a_table_of_edges_is_uniform(database: dbsim.Database) -> None:
    """A star of twelve leaves and a ring: the centre has a quarter of all edges and no more than its share of draws."""
    execute(database.engine, "CREATE TABLE links (source TEXT, target TEXT)")
    edges = [("hub", f"n{n}") for n in range(12)] + [(f"n{n}", f"n{(n + 1) % 12}") for n in range(12)]
    for a, b in [*edges, ("island", "shore")]:
        execute(database.engine, f"INSERT INTO links VALUES ('{a}', '{b}')")
    execute(database.engine, "INSERT INTO links VALUES ('hub', NULL)")
    found = database.walk("links", ("source", "target"), 2000, start="n3", seed=1)
    assert (found.nodes, found.reached, found.degree) == (15, 13, 24)
    assert 0.5 < found.second_eigenvalue < 1
    assert found.convergence == pytest.approx(1 / (1 - found.second_eigenvalue))
    _, counts = np.unique(found.drawn, return_counts=True)
    assert len(counts) == 13
    assert chisquare(counts).pvalue > 0.001
    for given in ({"gap": 0}, {"degree": 0}, {"gap": -1}, {"size": 0}):
        with pytest.raises(InvalidOption, match=f"{next(iter(given))} is .* must be 1 or more"):
            database.walk("links", ("source", "target"), **({"size": 5} | given))
    with pytest.raises(DbsimError, match="no edge leads there"):
        database.walk("links", ("source", "target"), 5, start="nowhere")
    with pytest.raises(DbsimError, match="targt"):
        database.walk("links", ("source", "targt"), 5)
    with pytest.raises(DbsimError, match="lnks"):
        database.walk("lnks", ("source", "target"), 5)


def test_walk_on_near_duplicates(database: dbsim.Database) -> None:
    articles(database.engine, corpus(3, 5))
    index = database.create_index("articles", table="articles", columns="body", **QUICK)
    index.sync()
    found = index.walk(400, start=1, seed=2)
    assert found.start == 1
    assert set(found.drawn) == {1, 2, 3, 4}
    _, counts = np.unique(found.drawn, return_counts=True)
    assert chisquare(counts).pvalue > 0.001


def test_commands(
    database: dbsim.Database, url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    collections(database)
    dbsim_ = Command(monkeypatch, capsys)
    code, out, _ = dbsim_("sample", url, "a", "5", "--seed", "1", "--json")
    assert code == 0
    assert len(json.loads(out)) == 5
    assert dbsim_("sample", url, "a", "3", "--distinct")[1].count("\n") == 3
    code, out, _ = dbsim_("overlap", url, "a", "b", "--sample", "60")
    assert code == 0
    assert "share of a in b: 0." in out
    assert "counted 1.333" in out
    assert json.loads(dbsim_("overlap", url, "a", "b", "--other", url, "--json")[1])["sampled_b"] == 60
    execute(database.engine, "CREATE TABLE links (x INTEGER, y INTEGER)", "INSERT INTO links VALUES (1, 2), (2, 3)")
    code, out, err = dbsim_("walk", url, "--edges", "links:x:y", "--size", "4", "--start", "2")
    assert (code, out.count("\n")) == (0, 4)
    assert "3 of 3 nodes" in err
    assert dbsim_("walk", url)[0] == 2
    assert dbsim_("walk", url, "a")[0] == 2  # no pairs in it


def test_rows_and_contents_are_drawn_uniformly(database: dbsim.Database) -> None:
    """Rows 1 to 10 hold one text, 11 to 20 a text each: as rows all are alike, as contents the copies count once."""
    texts = {n: sentence(0) if n <= 10 else sentence(n) for n in range(1, 21)}
    articles(database.engine, texts)
    index = database.create_index("articles", table="articles", columns="body", **QUICK)
    index.sync()
    rows = np.bincount([key for seed in range(150) for key in index.sample(4, seed=seed)], minlength=21)[1:]
    assert chisquare(rows).pvalue > 0.001
    contents = np.bincount(
        [key for seed in range(150) for key in index.sample(4, distinct=True, seed=seed)], minlength=21
    )
    assert not contents[2:11].any()
    assert chisquare(contents[[1, *range(11, 21)]]).pvalue > 0.001
