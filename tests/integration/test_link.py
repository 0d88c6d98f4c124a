"""link: the rows of one table that are rows of another, of one database and of two, on both engines."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import dbsim
from dbsim.cli import cli
from dbsim.dedupe.linked import matching
from dbsim.dedupe.linked.matching import one_to_one
from dbsim.errors import InvalidOption
from tests.conftest import SECRET
from tests.integration.helpers import execute, fetch
from tests.people import COLUMNS, add_people, people

ROWS = 120


@pytest.mark.parametrize("seed", range(8))
def test_one_to_one_is_the_best_assignment(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Against every possible assignment; the greedy way of large components has no partner twice either."""
    rng = np.random.default_rng(seed)
    pairs = sorted({(int(a), int(b)) for a, b in rng.integers(0, 4, (7, 2))})
    a, b = np.array(pairs).T
    scores = rng.uniform(0.5, 1, len(pairs))
    kept = one_to_one(a, b, scores)
    best = 0.0
    for size in range(1, 5):
        for some in itertools.combinations(range(len(pairs)), size):
            if len({pairs[n][0] for n in some}) == len({pairs[n][1] for n in some}) == size:
                best = max(best, float(scores[list(some)].sum()))
    assert scores[kept].sum() == pytest.approx(best)
    monkeypatch.setattr(matching, "CELLS", 0)
    greedy = one_to_one(a, b, scores)
    assert len(set(a[greedy])) == len(set(b[greedy])) == greedy.sum() > 0
    assert not len(one_to_one(a[:0], b[:0], scores[:0]))


@pytest.fixture
def registers(database: dbsim.Database) -> tuple[dbsim.Index, dbsim.Index]:
    """`people`, and `clients`: some of the same persons under other keys, spoiled a little."""
    made = people(database.engine, ROWS)
    people(database.engine, 1, 77, table="clients")
    execute(database.engine, "DELETE FROM clients")
    spoiled = {}
    for number in range(1, 31):
        row = list(made.rows[number - 1])
        row[1], row[7] = row[1] + "n", ""
        spoiled[500 + number] = row
    add_people(database.engine, spoiled, table="clients")
    kinds = {"given": "name", "surname": "name", "born": "date", "street": "address", "house": "digits"}
    kinds |= {"postcode": "digits", "city": "text", "phone": "phone", "email": "email"}
    indexes = [database.create_records(name, table=name, kinds=kinds, secret=SECRET) for name in ("people", "clients")]
    for index in indexes:
        index.sync()
    return indexes[1], indexes[0]


def test_persons_of_two_tables(registers: tuple[dbsim.Index, dbsim.Index], database: dbsim.Database) -> None:
    clients, known = registers
    found = clients.link(known, one_to_one=True)
    assert {(link.a, link.b) for link in found} >= {(500 + n, n) for n in range(1, 31) if n not in _copies(known)}
    assert len({link.a for link in found}) == len({link.b for link in found}) == len(found)
    assert (found.table, found.asked) == ("dbsim_clients_links_people", 30)
    stored = fetch(database.engine, "SELECT a_id, b_id, score, evidence, decision FROM dbsim_clients_links_people")
    assert len(stored) == len(found)
    assert {field["field"] for field in json.loads(stored[0][3])["fields"]} == set(COLUMNS)
    assert json.loads(stored[0][3])["probability"] == stored[0][2]

    # what people write into the table counts, and the rest is what a run from nothing gives
    first = found[0]
    execute(
        database.engine,
        f"UPDATE dbsim_clients_links_people SET decision = 'different' WHERE a_id = {first.a} AND b_id = {first.b}",
        "UPDATE clients SET surname = 'Quint', given = 'Zoe', born = '1901-01-01', email = 'q@x.org' WHERE id = 505",
        "DELETE FROM clients WHERE id = 506",
    )
    clients.sync()
    again = clients.link(known)
    said = {(link.a, link.b): link.decision for link in again}
    assert said[first.a, first.b] == "different"
    assert not {506} & {link.a for link in again}
    fresh = clients.link(known, into="links_from_nothing")
    rest = [(link.a, link.b, link.score) for link in again if link.decision is None]
    assert rest == [(x.a, x.b, x.score) for x in fresh if (x.a, x.b) != (first.a, first.b)]
    assert all((link.a, link.b) != (first.a, first.b) or link.decision for link in clients.link(known, one_to_one=True))
    execute(database.engine, "UPDATE dbsim_clients_links_people SET decision = 'perhaps'")
    with pytest.raises(InvalidOption, match="write same or different"):
        clients.link(known)
    database.index("people").drop()
    with pytest.raises(Exception, match="dbsim_clients_links_people"):
        fetch(database.engine, "SELECT * FROM dbsim_clients_links_people")


def _copies(index: dbsim.Index) -> set[int]:
    """Persons who are twice in the table: either row is right."""
    return {key for pair in index.pairs(threshold=0.3) for key in (pair.a, pair.b)}


def test_texts_of_two_databases(database: dbsim.Database, tmp_path: Path) -> None:
    words = "the quick brown fox jumps over the lazy dog near the river bank on a sunny day in may"
    other = dbsim.open(str(tmp_path / "other.db"), create=True)
    other.upgrade()
    for one, key in ((database, 1), (other, 7)):
        execute(
            one.engine,
            "CREATE TABLE notes (id INTEGER PRIMARY KEY, body TEXT)",
            f"INSERT INTO notes VALUES ({key}, '{words}'), ({key + 1}, 'nothing of the kind is written here at all')",
            f"INSERT INTO notes VALUES ({key + 2}, '{words} number {key}')",
        )
        one.create_index("notes", table="notes", columns=["body"], threshold=0.5, secret=SECRET).sync()
    found = database.index("notes").link(other.index("notes"), one_to_one=True)
    assert {(link.a, link.b) for link in found} == {(1, 7), (2, 8), (3, 9)}
    assert len(database.index("notes").link(other.index("notes"))) == 5
    stored = fetch(database.engine, "SELECT a_id, b_id FROM dbsim_notes_links_notes ORDER BY 1")
    assert {str(b) for _, b in stored} == {"7", "8", "9"}
    execute(database.engine, "CREATE TABLE mine (id INTEGER PRIMARY KEY)")
    with pytest.raises(InvalidOption, match="there is another table 'mine'"):
        database.index("notes").link(other.index("notes"), into="mine")
    url = database.engine.url.render_as_string(hide_password=False)
    shown = CliRunner().invoke(
        cli, ["link", url, "notes", "notes", "--other", str(tmp_path / "other.db"), "--one-to-one"]
    )
    assert shown.exit_code == 0, shown.output
    assert "1\t7\t1.000000" in shown.stdout
    assert "3 links of 3 rows (0 compared now), in table dbsim_notes_links_notes" in shown.stderr
    other.create_index("letters", table="notes", columns=["body"], characters=4, threshold=0.5).sync()
    with pytest.raises(InvalidOption, match="the same kinds of fields in the same order"):
        database.index("notes").link(other.index("letters"))
    other.close()
