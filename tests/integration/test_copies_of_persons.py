"""Two equal rows of persons have one probability, whoever is asked: never 1 because they are equal."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import dbsim
from benchmarks.register import COLUMNS
from dbsim.engines import views
from dbsim.engines.postgresql.surface.install import PostgreSQLSurfaces
from dbsim.engines.sqlite.surface.probability import probability
from dbsim.engines.sqlite.surface.views import SQLiteSurfaces
from dbsim.hashing.records.evidence import UNIT
from dbsim.hashing.records.packing import LANE, LANES, least
from dbsim.hashing.records.probability import MOST_BITS, probability_of
from dbsim.index import Index
from tests.conftest import SECRET
from tests.integration.helpers import execute, fetch
from tests.people import add_people, people

WEAK = ["Zacharias", "Quappenberg", *[""] * (len(COLUMNS) - 2)]
STRONG, NAMESAKES = (9001, 9002), (9003, 9004)


@pytest.fixture
def index(database: dbsim.Database) -> Index:
    """A register with one person twice, in full, and two rows of nothing but the same name."""
    made = people(database.engine, 200)
    add_people(database.engine, dict.fromkeys(STRONG, made.rows[10]) | dict.fromkeys(NAMESAKES, WEAK))
    found = database.create_records("people", table="people", secret=SECRET)
    found.sync()
    return found


def in_sql(index: Index, pair: tuple[int, int]) -> list[float]:
    """What PostgreSQL's view and functions say."""
    engine, (a, b) = index._context.engine, pair
    row = json.dumps(person(index, a)).replace("'", "''")
    asked = [
        f"SELECT score FROM dbsim_people_pairs WHERE a = {a} AND b = {b}",
        f"SELECT score FROM dbsim_people_similar({a}, hits => 1000) WHERE id = {b}",
        f"SELECT score FROM dbsim_people_check('{row}') WHERE id = {b}",
    ]
    return [fetch(engine, one)[0][0] for one in asked]


def person(index: Index, key: int) -> dict[str, Any]:
    values = fetch(index._context.engine, f"SELECT {', '.join(COLUMNS)} FROM people WHERE id = {key}")[0]
    return {name: value or "" for name, value in zip(COLUMNS, values, strict=True)}


def grouped(index: Index, pair: tuple[int, int], **asked: Any) -> list[float]:
    """Scores of both rows with the first of their group, which is one of them or another copy; [] without a group."""
    found = [group for group in index.duplicates(**asked) if pair[0] in [hit.key for hit in group.members]]
    return [hit.score for group in found for hit in group.members if hit.key in pair]


def stored(index: Index, pair: tuple[int, int]) -> list[float]:
    rows = fetch(index._context.engine, "SELECT * FROM dbsim_people_duplicate_pairs")
    return [row[2] for row in rows if row[:2] == pair]


def test_one_score_through_every_door(index: Index, database: dbsim.Database) -> None:
    expected = {}
    for pair in (STRONG, NAMESAKES):
        a, b = pair
        (score,) = (hit.score for hit in index.similar(a, limit=1000) if hit.key == b)
        expected[pair] = score
        row = person(index, a)
        found = [
            *(match.probability for match in index.check_row(row) if match.key in pair),
            *(hit.score for hit in index.search(row) if hit.key in pair),
            index.explain(a, b).score,
            *(one.score for one in index.pairs(copies="all") if (one.a, one.b) == pair),
            *grouped(index, pair),
            *stored(index, pair),
            *(in_sql(index, pair) if database.engine.dialect.name == "postgresql" else ()),
        ]
        assert len(found) >= 9
        assert set(found) == {score}
        assert not any(one.exact for one in index.pairs() if (one.a, one.b) == pair)
    assert 0.5 < expected[NAMESAKES] < 0.95 < expected[STRONG] < 1
    first = {(one.a, one.b): one.score for one in index.pairs(copies="first")}
    assert first[11, STRONG[1]] == expected[STRONG]  # row 11 is the same person, too
    assert first[NAMESAKES] == expected[NAMESAKES]
    other = database.create_records("other", table="people", secret="index:people")
    other.sync()
    links = {(link.a, link.b): link.score for link in other.link(index)}
    assert {pair: links[pair] for pair in expected} == expected


def test_equal_rows_that_say_little_are_no_pair_at_a_higher_threshold(index: Index) -> None:
    """Nothing is merged or deleted from .95 on because two rows hold the same name and nothing else."""
    for copies in ("all", "first"):
        assert NAMESAKES not in [(pair.a, pair.b) for pair in index.pairs(threshold=0.95, copies=copies)]
    assert grouped(index, NAMESAKES, threshold=0.95, publish=True) == []
    assert stored(index, NAMESAKES) == []
    assert len(grouped(index, STRONG, threshold=0.95, publish=True)) == len(STRONG)
    assert len(stored(index, STRONG)) == 1
    assert not {*NAMESAKES} & {one.key for one in index.golden()}
    assert all(set(NAMESAKES).isdisjoint(one.others) for one in index.golden())


@pytest.mark.parametrize("threshold", [0.5, 0.95])
def test_groups_of_copies_that_come_and_go_are_as_made_anew(
    index: Index, database: dbsim.Database, threshold: float
) -> None:
    index.duplicates(threshold=threshold, publish=True)
    other = ["Adalbert", "Quittenbaum", *WEAK[2:]]
    add_people(database.engine, {9005: WEAK, 9006: other, 9007: other})
    execute(database.engine, "DELETE FROM people WHERE id IN (9002, 9004)")
    index.sync()
    kept = fetch(database.engine, "SELECT * FROM dbsim_people_groups ORDER BY id")
    pairs = sorted(fetch(database.engine, "SELECT * FROM dbsim_people_duplicate_pairs"))
    weak = {9003, 9005, 9006, 9007}
    assert weak & {row[0] for row in kept} == (weak if threshold == 0.5 else set())
    index.duplicates(threshold=threshold, by="components", publish=True)
    index.duplicates(threshold=threshold, publish=True)  # anew
    assert fetch(database.engine, "SELECT * FROM dbsim_people_groups ORDER BY id") == kept
    assert sorted(fetch(database.engine, "SELECT * FROM dbsim_people_duplicate_pairs")) == pairs


def register(database: dbsim.Database) -> Index:
    """Stored groups of people of whom two have the same name and nothing else."""
    people(database.engine, 200)
    add_people(database.engine, dict.fromkeys(NAMESAKES, WEAK))
    index = database.create_records("people", table="people", secret=SECRET)
    index.sync()
    index.duplicates(publish=True)
    return index


def test_anybody_may_open_the_view_of_stored_pairs(tmp_path: Path) -> None:
    """In the `sqlite3` shell no function of dbsim's is there."""
    with dbsim.open(tmp_path / "a.db", create=True) as database:
        database.upgrade()
        expected = stored(register(database), NAMESAKES)
    with closing(sqlite3.connect(tmp_path / "a.db")) as plain:
        rows = plain.execute("SELECT * FROM dbsim_people_duplicate_pairs").fetchall()
    assert [row[2] for row in rows if row[:2] == NAMESAKES] == expected
    assert expected[0] < 1


def test_the_view_of_an_earlier_dbsim_is_made_anew(database: dbsim.Database, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as earlier:
        earlier.setattr(views, "MARK", f"dbsim revision {views.REVISION - 1}")
        for surfaces in (SQLiteSurfaces, PostgreSQLSurfaces):
            earlier.setattr(surfaces, "score_of_copies", lambda *_: None)
        index = register(database)
        assert stored(index, NAMESAKES) == [1.0]
    index.sync()
    assert stored(index, NAMESAKES) == [index.explain(*NAMESAKES).score]


def test_probability_in_plain_sql_is_equal_to_the_last_bit() -> None:
    most = MOST_BITS * UNIT
    some = [*range(-most - 5, most + 6, 7), *range(-3 * UNIT, 3 * UNIT + 1), -most, most, 0]
    lanes = [(one, 400 * UNIT, 400 * UNIT, 500 * UNIT) for one in some]
    lanes += list(product((-500, -1, 0, 1, 777), repeat=LANES))
    packed = [sum(value << (LANE * place) for place, value in enumerate(each)) for each in lanes]
    with closing(sqlite3.connect(":memory:")) as plain:
        plain.execute("CREATE TABLE sums (number INTEGER)")
        plain.executemany("INSERT INTO sums VALUES (?)", [(number,) for number in packed])
        found = plain.execute(f"SELECT {probability('s.number')} FROM sums AS s ORDER BY s.rowid").fetchall()
    assert [row[0] for row in found] == [probability_of(least(number)) for number in packed]
