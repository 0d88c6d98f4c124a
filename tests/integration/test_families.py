"""Every hash family through create, sync, search and check, with the same results on both engines."""

from __future__ import annotations

import json
import random
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from sqlalchemy import select, text

import dbsim
from dbsim.cli import cli
from dbsim.engines.registry import backend_of
from dbsim.errors import InvalidOption, NotFitted
from dbsim.search.statements.statement import Statements
from dbsim.tables.catalogue import load, model_table
from dbsim.tables.index_tables import IndexTables
from tests.conftest import SECRET
from tests.unit.family_helpers import ANY_FAMILY

ROWS = 60  # 30 texts, each with an edited copy beside it


def texts() -> dict[int, str]:
    rng = random.Random(4)
    vocabulary = ["".join(rng.choices("abcdefghijklmnoprstuvw", k=rng.randint(2, 8))) for _ in range(900)]
    found = {}
    for number in range(1, ROWS, 2):
        words = [vocabulary[int(900 * rng.random() ** 1.5)] for _ in range(200)]
        found[number] = " ".join(words)
        found[number + 1] = " ".join(word for word in words if rng.random() > 0.04)
    return found


def fill(database: dbsim.Database, rows: dict[int, str]) -> None:
    with database.engine.begin() as connection:
        connection.execute(text("CREATE TABLE articles (id INTEGER PRIMARY KEY, body TEXT)"))
        insert(database, rows, connection)


def insert(database: dbsim.Database, rows: dict[int, str], connection: object = None) -> None:
    statement, values = text("INSERT INTO articles VALUES (:i, :b)"), [{"i": i, "b": b} for i, b in rows.items()]
    if connection is not None:
        connection.execute(statement, values)  # type: ignore[attr-defined]
        return
    with database.engine.begin() as own:
        own.execute(statement, values)


def index_of(database: dbsim.Database, family: str, **options: object) -> dbsim.Index:
    index = database.create_index(
        "articles", table="articles", columns=["body"], family=family, words=1, secret=SECRET, **options
    )
    index.sync()
    return index


@pytest.fixture
def filled(database: dbsim.Database) -> dbsim.Database:
    fill(database, texts())
    return database


@pytest.fixture
def both(tmp_path: Path, new_postgres: str) -> Iterator[list[dbsim.Database]]:
    """The same table on SQLite and on PostgreSQL."""
    opened = []
    for url in (f"sqlite:///{tmp_path / 'both.db'}", new_postgres):
        opened.append(dbsim.open(url, create=True))
        opened[-1].upgrade()
        fill(opened[-1], texts())
    yield opened
    for database in opened:
        database.close()


def stored(database: dbsim.Database) -> list[tuple[object, ...]]:
    """Key, fingerprint and bucket keys of every row."""
    with database.engine.connect() as connection:
        tables = IndexTables(load(connection, "articles"))
        columns = [tables.signatures.c[name] for name in ("id", tables.names.fingerprint, *tables.names.keys)]
        return [tuple(row) for row in connection.execute(select(*columns).order_by(columns[0]))]


@pytest.mark.parametrize("family", ANY_FAMILY)
def test_family_works_and_both_engines_agree(both: list[dbsim.Database], family: str) -> None:
    rows = texts()
    answers = []
    for database in both:
        index = index_of(database, family)
        assert not index.check()
        similar = [[(hit.key, hit.score) for hit in index.similar(key)] for key in range(1, ROWS, 3)]
        searched = [(hit.key, hit.score) for hit in index.search(rows[5])]
        many = [[(hit.key, hit.score) for hit in one] for one in index.search_many([rows[5], "", rows[8]])]
        assert searched[0] == (5, pytest.approx(1.0))
        assert many[0] == searched
        assert many[1] == []
        assert index.search("") == []
        answers.append((stored(database), similar, searched, many, index.options.family))
    assert answers[0] == answers[1]
    found = sum(
        key + 1 in [hit for hit, _ in hits]
        for key, hits in zip(range(1, ROWS, 3), answers[0][1], strict=True)
        if key % 2
    )
    assert found >= (1 if "fuzzy" in family else 9)  # of ten pairs


@pytest.mark.parametrize("family", ["cauchy", "fuzzy:classes=8", "linear-spectral:bits=16", "forest:over=hyperplane"])
def test_changes_are_followed_and_reopening_finds_the_same(filled: dbsim.Database, family: str, url: str) -> None:
    index = index_of(filled, family)
    with filled.engine.begin() as connection:
        connection.execute(text("DELETE FROM articles WHERE id = 6"))
        connection.execute(text("UPDATE articles SET body = (SELECT body FROM articles WHERE id = 9) WHERE id = 1"))
    assert index.sync().changed >= 2
    assert not index.check()
    again = dbsim.open(url)
    hits = again.index("articles").similar(9)
    assert hits == index.similar(9)
    assert hits[0] == dbsim.Hit(1, 1.0)
    assert 6 not in [hit.key for hit in index.similar(5)]
    again.close()


# ── verification ──
def test_verifying_gives_the_exact_measure(filled: dbsim.Database) -> None:
    rows = texts()
    index = index_of(filled, "minhash", threshold=0.6)
    exact = index.similar(3, verify=True)
    sets = {key: set(body.split()) for key, body in rows.items()}
    for hit in exact:
        assert hit.score == pytest.approx(len(sets[3] & sets[hit.key]) / len(sets[3] | sets[hit.key]))
    estimated = index.similar(3)
    assert [hit.key for hit in exact] == [hit.key for hit in estimated] == [4]
    assert 0 < abs(exact[0].score - estimated[0].score) < 0.1


def test_other_measures_verify_unless_told_not_to(filled: dbsim.Database) -> None:
    index = index_of(filled, "hyperplane", threshold=0.9, rows=13, keys=21)  # by chance a third row shares a key
    hits = index.similar(3)
    assert [hit.key for hit in hits] == [4]
    assert 0.97 < hits[0].score < 1
    estimates = index.similar(3, verify=False, limit=100)
    assert len(estimates) > 1
    assert estimates[0].key == 4
    assert estimates[0].score < hits[0].score
    assert index.similar(3, threshold=0.9999) == []


# ── neighbouring keys ──
@pytest.mark.parametrize("family", ["hyperplane", "gauss", "cauchy", "fuzzy:classes=13"])
def test_probes_find_more_with_the_same_keys(filled: dbsim.Database, family: str) -> None:
    settings = {} if "fuzzy" in family else {"rows": 14, "keys": 2}
    index = index_of(filled, family, threshold=0.8, **settings)
    plain = [{hit.key for hit in index.similar(key, limit=100)} for key in range(1, ROWS + 1)]
    probed = [{hit.key for hit in index.similar(key, limit=100, probes=30)} for key in range(1, ROWS + 1)]
    assert all(few <= many for few, many in zip(plain, probed, strict=True))
    assert sum(map(len, probed)) > sum(map(len, plain))
    body = texts()[7]
    assert [hit.key for hit in index.search(body, probes=5)] == [
        hit.key for hit in index.search_many([body], probes=5)[0]
    ]


def test_families_without_neighbours_say_so(filled: dbsim.Database) -> None:
    index = index_of(filled, "minhash")
    with pytest.raises(InvalidOption, match="no neighbouring keys"):
        index.search("some text", probes=3)
    with pytest.raises(InvalidOption, match="probes are not possible"):
        index.search("some text", probes=1000)


def test_equal_keys_stay_the_plain_statement(filled: dbsim.Database) -> None:
    """The benchmarked statement: one equality a key column, nothing else on the keys."""
    index = index_of(filled, "minhash")
    with filled.engine.connect() as connection:
        tables = IndexTables(load(connection, "articles"))
    shown = str(Statements(backend_of(filled.engine), tables).search().compile(filled.engine))
    assert len(re.findall(r"\.k\d+ = ", shown)) == shown.count(".k") == index.options.keys == shown.count("OR ") + 1
    assert " IN " not in shown
    assert "UNION" not in shown


# ── forest ──
@pytest.mark.parametrize("over", ["minhash", "hyperplane"])
def test_forest_needs_no_threshold(filled: dbsim.Database, over: str) -> None:
    index = index_of(filled, f"forest:over={over}")
    hits = index.similar(11, limit=7)
    assert len(hits) == 7
    assert hits[0].key == 12
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    with filled.engine.begin() as connection:
        connection.execute(text("DELETE FROM articles WHERE id = 12"))
    index.sync()
    assert 12 not in [hit.key for hit in index.similar(11, limit=50)]
    few = index.similar(11, max_candidates=20, where="id > 30")
    assert 0 < few.candidates <= 20
    assert all(hit.key > 30 for hit in few)


def test_forest_on_a_composite_key(database: dbsim.Database) -> None:
    with database.engine.begin() as connection:
        connection.execute(text("CREATE TABLE articles (a INTEGER, b INTEGER, body TEXT, PRIMARY KEY (a, b))"))
        for key, body in texts().items():
            connection.execute(text("INSERT INTO articles VALUES (:a, :b, :t)"), {"a": key // 2, "b": key, "t": body})
    index = index_of(database, "forest")
    assert index.similar((1, 3), limit=1)[0].key == {"a": 2, "b": 4}


# ── learning ──
def models(database: dbsim.Database) -> list[tuple[str, int, str, str, int]]:
    columns = (
        model_table.c.name,
        model_table.c.generation,
        model_table.c.dtype,
        model_table.c.shape,
        model_table.c.sample,
    )
    with database.engine.connect() as connection:
        return [tuple(row) for row in connection.execute(select(*columns).order_by(model_table.c.name))]  # type: ignore[misc]


def test_model_is_stored_as_typed_arrays(filled: dbsim.Database) -> None:
    index = index_of(filled, "spectral:bits=16:within=2")
    found = {
        name: (generation, dtype, json.loads(shape), sample)
        for name, generation, dtype, shape, sample in models(filled)
    }
    assert found["modes"] == (1, "<i4", [2, 16], ROWS)
    assert found["lows"][1] == "<f8"
    assert found["normals"][1] == "<i4"
    assert found["vocabulary"][1] == "<i8"
    filled.drop_index("articles")
    assert models(filled) == []
    assert index.name == "articles"


def test_fitting_again_makes_a_new_generation(filled: dbsim.Database) -> None:
    index = index_of(filled, "linear-spectral:bits=16")
    other = filled.index("articles")
    before = stored(filled)
    insert(filled, {100 + key: " ".join(reversed(body.split()[:100])) for key, body in texts().items()})
    index.refit()
    assert other.search("anything at all").complete  # the old generation answers until the new one is built
    assert stored(filled)[:ROWS] == before
    assert index.sync().filled == 2 * ROWS
    assert {generation for _, generation, *_ in models(filled)} == {1, 2}
    assert index.status().generation == 2
    other._current.look()
    assert stored(filled)[0] != before[0]
    assert other.similar(5) == index.similar(5)
    assert other.similar(5)[0].key == 6
    assert not other.check()
    assert other.sync().changed == 0


def test_empty_table_waits_for_its_first_rows(database: dbsim.Database) -> None:
    fill(database, {1: ""})
    index = index_of(database, "gauss")
    with pytest.raises(NotFitted, match="dbsim sync"):
        index.search("some text")
    assert index.sync().filled == 0
    insert(database, {number + 1: body for number, body in texts().items()})
    assert index.sync().filled == ROWS + 1
    assert index.similar(6)[0].key == 7
    assert not index.check()


def test_what_cannot_be_learned_is_said_with_the_remedy(database: dbsim.Database) -> None:
    fill(database, {1: "one text only"})
    with pytest.raises(NotFitted, match=r"spectral@1.*one text is not enough"):
        index_of(database, "spectral")
    with pytest.raises(NotFitted, match="learns nothing"):
        database.create_index("other", table="articles", columns=["body"]).refit()


# ── choosing ──
def test_family_options_from_the_shell(filled: dbsim.Database, url: str, tmp_path: Path) -> None:
    run = CliRunner()
    given = [
        "create",
        url,
        "articles",
        "--table",
        "articles",
        "--column",
        "body",
        "--family",
        "hyperplane",
        "--words",
        "1",
    ]
    assert "keys of" in run.invoke(cli, [*given, "--threshold", "0.9"]).output
    assert run.invoke(cli, ["sync", url, "articles"], standalone_mode=False).exit_code == 0
    shown = run.invoke(cli, ["similar", url, "articles", "3", "--json", "--probes", "2"], standalone_mode=False)
    assert json.loads(shown.stdout)[0]["key"] == 4
    assert run.invoke(cli, ["sync", url, "articles", "--refit"], standalone_mode=False).stdout.startswith(
        f"{ROWS} rows"
    )
    picture = tmp_path / "tune.svg"
    tuned = run.invoke(
        cli,
        ["tune", url, "articles", "--family", "gauss", "--family", "fuzzy", "--plot", str(picture)],
        standalone_mode=False,
    )
    assert tuned.exception is None
    assert f"recommended: {shlex.join(['dbsim', 'alter', url, 'articles'])} --family" in tuned.stdout
    assert picture.read_text().startswith("<svg")
    listed = json.loads(run.invoke(cli, ["tune", url, "articles", "--json"], standalone_mode=False).stdout)
    assert listed["best"]["family"] == "hyperplane@1"
    assert listed["sample"] == ROWS


def test_bucket_size_instead_of_recall(filled: dbsim.Database) -> None:
    index = index_of(filled, "minhash", threshold=0.8, bucket=6)
    assert 0.6**index.options.rows == pytest.approx(6 / ROWS, rel=0.35)
    assert index_of(filled, "minhash", threshold=0.8, bucket=6).options == index.options
    with pytest.raises(InvalidOption, match="takes the place"):
        filled.create_index("b", table="articles", columns=["body"], bucket=6, rows=2, keys=3)


@pytest.mark.parametrize("family", ["minhsh", "gauss:width=-2", "fuzzy:clases=3"])
def test_mistakes_are_refused_before_anything_is_made(filled: dbsim.Database, family: str) -> None:
    with pytest.raises(InvalidOption):
        index_of(filled, family)
    assert filled.indexes() == []
