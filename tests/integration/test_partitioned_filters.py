"""filter=partitioned: an index stores the very filters of Kampf's sketch and scores as they do, on both engines."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dbsim
from dbsim.errors import InvalidOption
from dbsim.hashing.partitioned import arithmetic as seed
from dbsim.hashing.partitioned.parted import Parted, parted
from dbsim.tables.names import quote
from tests.conftest import SECRET
from tests.fixtures.shell import Command
from tests.integration.helpers import execute, fetch
from tests.people import people

PERSONS = [
    ("Erika", "Mustermann", "Köln"),
    ("Erica", "Mustermann", "Koeln"),
    ("Erika", "Musterman", ""),
    ("Jürgen", "Weiß-Groß", "Düsseldorf"),
    ("Juergen", "Weiss", "Duesseldorf"),
    ("Anna", "日本 Ω", "Bonn"),
    ("", "Mustermann", "Köln"),
]
COLUMNS = ("given", "surname", "city")
WEIGHTS = {"given": 0.5, "surname": 0.25, "city": 0.25}


def _table(database: dbsim.Database) -> None:
    execute(database.engine, "CREATE TABLE persons (id INTEGER PRIMARY KEY, given TEXT, surname TEXT, city TEXT)")
    for number, row in enumerate(PERSONS):
        values = ", ".join(f"'{value}'" if value else "NULL" for value in row)
        execute(database.engine, f"INSERT INTO persons VALUES ({number}, {values})")


def _stored(database: dbsim.Database, index: dbsim.Index, field: int) -> dict[int, list[int]]:
    """The bits that are set in the filter of each row."""
    name = index._tables.names.bits[field]
    rows = fetch(database.engine, f"SELECT id, {quote(name)} FROM {quote(index._tables.signatures.name)}")
    backend = index._context.backend
    return {
        key: np.flatnonzero(np.unpackbits(np.frombuffer(backend.read_bits(bits), np.uint8))).tolist()
        for key, bits in rows
        if bits is not None
    }


def _by_hand(text: str, size: int, shape: seed.Shape) -> seed.Bits:
    folded = seed.folded(" ".join(text.split()))
    return seed.filter_of(seed.indexes("_".join(folded.strip("_").split()), size), shape)


@pytest.mark.parametrize("similarity", ["cardinality", "raw", "corrected"])
def test_filters_and_scores_of_the_source(database: dbsim.Database, similarity: str) -> None:
    _table(database)
    index = database.create_index(
        "persons",
        table="persons",
        columns=WEIGHTS,
        characters=2,
        filter=f"partitioned:characters=12:rate=0.05:similarity={similarity}",
        threshold=0.3,
        rows=1,
        keys=12,
        secret=SECRET,
    )
    index.sync()
    shape = seed.shape_for(12, 2, 0.05)
    filters: list[dict[int, seed.Bits]] = []
    for place, field in enumerate(index.options.fields):
        assert field.parted is not None
        assert field.parted.shape == shape
        expected = {n: _by_hand(row[place], 2, shape) for n, row in enumerate(PERSONS) if row[place] and n != 5}
        stored = _stored(database, index, place)
        assert {n: stored[n] for n in expected} == {n: np.flatnonzero(bits).tolist() for n, bits in expected.items()}
        filters.append({n: np.isin(np.arange(shape.bits), places) for n, places in stored.items()})

    def compared(a: seed.Bits, b: seed.Bits) -> float:
        if similarity == "raw":
            return seed.raw(a, b)
        return seed.estimated(a, b, shape) if similarity == "cardinality" else seed.corrected(a, b, shape, 13)

    def score(x: int, y: int) -> float:
        both = [place for place, found in enumerate(filters) if x in found and y in found]
        values = [compared(filters[place][x], filters[place][y]) for place in both]
        return seed.profile(values, [list(WEIGHTS.values())[place] for place in both])

    for asked in range(len(PERSONS)):
        for hit in index.similar(asked):
            assert hit.score == pytest.approx(score(asked, hit.key), abs=2e-6)
            assert not hit.exact
    assert index.similar(0)[0].key in (1, 2, 6)
    pairs = {(pair.a, pair.b): pair.score for pair in index.pairs()}
    assert pairs == pytest.approx({(a, b): score(a, b) for a, b in pairs}, abs=2e-6)
    assert (0, 1) in pairs
    shown = fetch(database.engine, "SELECT a, b, score FROM dbsim_persons_pairs")
    assert {(min(a, b), max(a, b)): value for a, b, value in shown} == pairs  # to the last bit
    found = index.search({"given": "Erika", "surname": "Mustermann", "city": "Köln"})
    assert found[0].score == pytest.approx(score(0, 0), abs=2e-6)
    assert {hit.key: hit.score for hit in found if hit.key} == {hit.key: hit.score for hit in index.similar(0)}
    exact = index.similar(0, verify=True)
    assert all(hit.exact for hit in exact)
    assert index.explain(0, 1).fields[0].estimate == pytest.approx(compared(filters[0][0], filters[0][1]), abs=2e-6)
    status = index.status()
    assert not status.problems
    assert 0 < status.fill["given"] < 0.6


def test_columns_of_one_weight_are_merged_by_or(database: dbsim.Database) -> None:
    """And what is left open follows from the texts; the same call again changes nothing."""
    _table(database)
    asked: dict[str, Any] = {"table": "persons", "columns": list(COLUMNS), "filter": "partitioned", "secret": SECRET}
    index = database.create_index("persons", **asked)
    index.sync()
    field = index.options.fields[0]
    assert field.parted is not None
    assert (field.unit, field.size, field.normaliser, field.sample) == ("characters", 3, "german", 1)
    shape = field.parted.shape
    assert shape == seed.shape_for(field.parted.characters, 3, 0.01)
    by_hand = seed.merged([_by_hand(value, 3, shape) for value in PERSONS[0]])
    assert _stored(database, index, 0)[0] == np.flatnonzero(by_hand).tolist()
    before = index.options
    assert database.create_index("persons", **asked).options == before
    with pytest.raises(dbsim.DbsimError, match="filter of"):
        database.create_index("persons", **asked | {"filter": "partitioned:rate=0.2"})
    index.alter(filter="partitioned:characters=9:similarity=raw")
    index.sync()
    changed = index.options.fields[0].parted
    assert changed is not None
    assert (changed.characters, changed.similarity) == (9, "raw")
    assert changed.shape != shape
    assert index.similar(0)


def test_persons_with_partitioned_filters(database: dbsim.Database) -> None:
    """One shape for all fields, so that crossed names are compared; scores are equal everywhere."""
    people(database.engine, 150)
    index = database.create_records("people", table="people", filter="partitioned", secret=SECRET)
    index.sync()
    assert {field.reading.marks for field in index.options.fields} == {301}
    usual = database.create_records("usual", table="people", secret=SECRET)
    usual.sync()
    mine, theirs = ({(pair.a, pair.b): pair.score for pair in one.pairs()} for one in (index, usual))
    assert len(mine.keys() & theirs.keys()) >= 0.9 * len(mine.keys() | theirs.keys()) > 5
    for (a, b), value in itertools.islice(mine.items(), 20):
        assert {hit.key: hit.score for hit in index.similar(a)}[b] == value
    row = dict(
        zip(
            ("given", "surname", "born"),
            fetch(database.engine, "SELECT given, surname, born FROM people")[3],
            strict=True,
        )
    )
    assert index.check_row(row) is not None
    assert index.duplicates()


def test_what_is_refused(
    database: dbsim.Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _table(database)

    def create(**options: Any) -> dbsim.Index:
        return database.create_index("persons", table="persons", columns="surname", **options)

    for options, sentence in (
        ({"filter": "partitioned", "bits": 256}, "leave them out, and say filter='partitioned:characters"),
        ({"filter": "partitioned", "words": 2}, "n-grams of characters: say characters=2 or 3"),
        ({"filter": "partition"}, "there is no filter 'partition'; did you mean 'partitioned'"),
        ({"filter": "partitioned:similarity=cosine"}, "no similarity 'cosine': use cardinality, raw, corrected"),
        ({"filter": "partitioned:rate=2"}, "rate a number between 0 and 1"),
        ({"filter": "partitioned:hashes=3"}, "no setting of a partitioned filter: use characters, rate, similarity"),
        ({"filter": "partitioned:characters=many"}, "characters must be int"),
    ):
        with pytest.raises(InvalidOption, match=sentence):
            create(**options)
    with pytest.raises(InvalidOption, match="learned from the similarity by cardinality"):
        database.create_records("records", table="persons", filter="partitioned:similarity=raw")
    with pytest.raises(InvalidOption, match="partitioned filters are not folded"):
        database.create_records("records", table="persons", filter="partitioned", fold=1)
    url = database.engine.url.render_as_string(hide_password=False)
    run = Command(monkeypatch, capsys)
    code, said, _ = run("create", url, "one", "--table", "persons", "--column", "surname", "--filter", "partitioned")
    assert code == 0, said
    assert run("sync", url, "one")[0] == 0
    assert "Mustermann" in str(fetch(database.engine, "SELECT surname FROM persons WHERE id = 0"))
    assert run("search", url, "one", "Mustermann", "--threshold", "0.5")[0] == 0
    assert run("create", url, "two", "--table", "persons", "--records", "--filter", "partitioned")[0] == 0
    assert run("sync", url, "two")[0] == 0
    if database.engine.dialect.name == "postgresql":
        code, _, said = run(
            "create", url, "inline", "--table", "persons", "--column", "surname", "--filter", "partitioned", "--inline"
        )
        assert code == 2
        assert "its filters are partitioned" in said
        functions = fetch(database.engine, "SELECT proname FROM pg_proc WHERE proname LIKE 'dbsim_one_%'")
        assert not [name for (name,) in functions if name.endswith("_search")]


def test_settings_are_written_and_read() -> None:
    made = Parted(rate=0.05).for_texts(20, 2)
    assert parted(str(made)) == made
    assert made.has(parted("partitioned:rate=0.05"))
    assert not made.has(parted("partitioned:rate=0.05:similarity=raw"))
    assert made.reading.marks == made.shape.bits <= made.bits
    assert made.bits % 64 == 0
    many = made.filters([[b""], [b"erika"], [b"erika", "übergröße".encode(), b"a"], [b"erika  mustermann"]])
    assert many.counts[0] == 0
    one = seed.filter_of(seed.indexes("erika", 2), made.shape)
    assert np.unpackbits(many.bits[1])[: made.shape.bits].astype(bool).tolist() == one.tolist()
    third = seed.merged([seed.filter_of(seed.indexes(t, 2), made.shape) for t in ("erika", "_bergr__e", "a")])
    assert np.unpackbits(many.bits[2])[: made.shape.bits].astype(bool).tolist() == third.tolist()
