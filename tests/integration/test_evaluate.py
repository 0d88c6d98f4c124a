"""`evaluate` and `sample` on both engines: what is found, what is broken, what is known."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import chisquare

import dbsim
from dbsim.errors import DbsimError
from dbsim.report.evaluation import evaluation_page
from dbsim.tables.names import quote
from tests.fixtures.shell import Command
from tests.integration.helpers import QUICK, articles, corpus, execute, near_copy, sentence


def made(database: dbsim.Database, groups: int = 12, singles: int = 60, **options: object) -> dbsim.Index:
    articles(database.engine, corpus(groups, singles))
    index = database.create_index("articles", table="articles", columns="body", **{**QUICK, **options})
    index.sync()
    return index


def test_a_whole_index_keeps_its_promise(database: dbsim.Database) -> None:
    index = made(database, rows=None, keys=None)
    report = index.evaluate(sample=200)
    assert report.queries == report.table_rows == 108
    assert report.own.value == 1.0
    assert report.problems == []
    assert report.at_threshold.value == pytest.approx(1.0, abs=0.05)
    pairs = {one.threshold: one.pairs for one in report.curve}
    assert pairs[0.0] == 108 * 107
    assert pairs[1.0] == 12 * 2  # each original and its copy, asked from both ends
    assert report.answers.precision.value > 0.9
    assert report.score is not None
    assert abs(report.score.bias.value) < 0.05
    assert sum(rows for *_, rows in report.buckets.sizes) == 108 * index.options.keys
    assert report.milliseconds[0] > 0
    json.dumps(report.to_json())


def test_a_broken_index_shows_up(database: dbsim.Database) -> None:
    index = made(database, groups=20)
    assert index.evaluate().problems == []
    name = quote(index._tables.signatures.name)
    execute(database.engine, f"UPDATE {name} SET k0 = 1, k1 = 2, k2 = 3, k3 = 4 WHERE id % 2 = 0")
    report = index.evaluate()
    assert report.own.value < 0.6
    assert report.at_threshold.high < 0.95
    assert any("do not find themselves" in problem for problem in report.problems)
    assert any("promised" in problem for problem in report.problems)


def test_labels_are_the_truth(database: dbsim.Database) -> None:
    index = made(database)
    execute(database.engine, "ALTER TABLE articles ADD COLUMN person INTEGER")
    execute(database.engine, "UPDATE articles SET person = (id - 1) / 4 WHERE id <= 48")
    report = index.evaluate(truth="person")
    assert report.truth is not None
    assert report.truth.labelled == 48
    assert report.truth.groups is None
    assert report.truth.answers.precision.value == pytest.approx(1.0)
    assert report.truth.answers.recall.value > 0.6
    index.duplicates(by="components")
    found = index.evaluate(truth="person").truth
    assert found is not None
    assert found.groups is not None
    assert found.groups.precision == 1.0
    assert found.groups_bcubed is not None
    assert found.groups_bcubed.f1 > 0.8
    with pytest.raises(DbsimError, match="person"):
        index.evaluate(truth="persn")


@pytest.mark.parametrize("family", ["hyperplane", "fuzzy", "spectral:bits=8:within=1", "forest"])
def test_every_measure_can_be_evaluated(database: dbsim.Database, family: str) -> None:
    articles(database.engine, corpus(10, 30))
    index = database.create_index("articles", table="articles", columns="body", family=family, threshold=0.8)
    index.sync()
    report = index.evaluate(sample=40)
    assert report.measure == index.options.hashing.measure
    assert report.score is None
    assert report.answers.precision.value == pytest.approx(1.0) or report.family.startswith("forest")
    assert "<svg" in evaluation_page(report)


def test_composite_keys_and_fields(database: dbsim.Database) -> None:
    execute(database.engine, "CREATE TABLE people (a INTEGER, b INTEGER, name TEXT, town TEXT, PRIMARY KEY (a, b))")
    for number in range(20):
        text = near_copy(number // 2, number % 2)
        execute(database.engine, f"INSERT INTO people VALUES ({number}, 1, '{text}', '{sentence(number // 2, 4)}')")
    index = database.create_index("people", table="people", columns={"name": 0.7, "town": 0.3})
    index.sync()
    report = index.evaluate()
    assert report.queries == 20
    assert report.own.value == 1.0
    assert index.sample(3, seed=1) == index.sample(3, seed=1)
    assert set(index.sample(1)[0]) == {"a", "b"}


def test_empty_tables_are_refused(database: dbsim.Database) -> None:
    articles(database.engine, {1: "", 2: ""})
    index = database.create_index("articles", table="articles", columns="body", **QUICK)
    index.sync()
    with pytest.raises(DbsimError, match="no texts"):
        index.evaluate()
    with pytest.raises(DbsimError, match="sample of 0"):
        index.evaluate(sample=0)


def test_samples_are_uniform(database: dbsim.Database) -> None:
    """Over rows every row, over contents every content has the same chance, whatever its number of copies."""
    articles(database.engine, {n: "the same text in every row" if n <= 30 else sentence(n) for n in range(1, 41)})
    index = database.create_index("articles", table="articles", columns="body", **QUICK)
    index.sync()
    rows, contents = np.zeros(41), np.zeros(41)
    for seed in range(200):
        rows[index.sample(5, seed=seed)] += 1
        contents[index.sample(3, distinct=True, seed=seed)] += 1
    assert chisquare(rows[1:]).pvalue > 0.001
    seen = np.flatnonzero(contents)
    assert seen.tolist() == [1, *range(31, 41)]
    assert chisquare(contents[seen]).pvalue > 0.001
    assert index.sample(1000) == list(range(1, 41))
    assert index.sample(0) == []


def test_command(
    database: dbsim.Database,
    url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    made(database)
    dbsim_ = Command(monkeypatch, capsys)
    page = tmp_path / "page.html"
    code, out, _ = dbsim_("evaluate", url, "articles", "--sample", "50", "--html", str(page))
    assert code == 0
    assert "rows that find themselves" in out
    assert "1.000 [" in out
    assert page.read_text("utf-8").count("<svg") == 2
    code, out, _ = dbsim_("evaluate", url, "articles", "--json", "--seed", "3")
    assert json.loads(out)["own"]["value"] == 1.0
    assert dbsim_("evaluate", url, "articles", "--truth", "nothing")[0] == 2
