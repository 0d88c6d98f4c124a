"""Bit slices of word signatures on both engines: answers equal a search of the texts while rows come, change and go."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import create_engine, text

import dbsim
from dbsim.engines.sqlite import slices
from dbsim.engines.sqlite.surface import functions
from dbsim.sync.slicing.turning import Slicing
from dbsim.sync.slicing.widening import Long, Widening
from dbsim.tables import slice_tables
from dbsim.tables.slice_tables import SliceTables, slice_names
from dbsim.text.normalisers import mapped
from dbsim.text.normalisers.registry import normaliser_of
from tests.integration.helpers import add, execute, fetch, sentence
from tests.integration.test_contains import grep, made
from tests.integration.test_contains_sql import asked
from tests.oracle import assert_in_step


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several blocks of few rows, so that they fill up, run empty and dissolve."""
    monkeypatch.setattr(slice_tables, "BLOCK", 64)
    monkeypatch.setattr(slice_tables, "TAIL", 20)


@pytest.fixture
def postgres(new_postgres: str) -> Iterator[dbsim.Database]:
    with dbsim.open(new_postgres) as database:
        database.upgrade()
        yield database


def slicing(index: dbsim.Index) -> Slicing:
    return Slicing(index._search.context)


def counted(database: dbsim.Database, index: dbsim.Index) -> tuple[int, int]:
    """Rows with a place, rows in the tail."""
    tables = SliceTables(index._tables)
    (places,), (tail,) = (
        fetch(database.engine, f"SELECT count(*) FROM {table.name}")[0] for table in (tables.places, tables.tail)
    )
    return places, tail


def ask_all(database: dbsim.Database, index: dbsim.Index, rng: np.random.Generator) -> None:
    postgres = database.engine.dialect.name == "postgresql"
    for _ in range(4):
        a, b, c = rng.choice(sentence(int(rng.integers(200)), 60).split(), 3).tolist()
        assert index.contains(a, b) == grep(database, (a, b))
        assert index.contains(a, none_of=c) == grep(database, (a,), (c,))
        assert index.contains(none_of=[a, b]) == grep(database, (), (a, b))
        assert index.contains(a, where="id > 100") == [key for key in grep(database, (a,)) if key > 100]
        assert index.contains(a, limit=3) == grep(database, (a,))[:3]
        if postgres:
            assert asked(database, "articles", [a], [], [c]) == grep(database, (a,), (c,))
    (body,) = fetch(database.engine, "SELECT body FROM articles ORDER BY length(body) DESC, id LIMIT 1")[0]
    run = " ".join(body.split()[2:5])
    assert index.contains(phrase=run) == grep(database, (run,)) != []


def test_answers_stay_exact_while_blocks_fill_and_dissolve(database: dbsim.Database) -> None:
    rng = np.random.default_rng(5)
    index = made(database, {n: sentence(n, 12) for n in range(1, 201)})
    engine = database.engine
    assert counted(database, index) == (200, 0)
    moved = 0
    for step in range(6):
        keys = [key for (key,) in fetch(engine, "SELECT id FROM articles")]
        with engine.begin() as connection:
            for key in rng.choice(keys, 45, replace=False).tolist():
                values = {"id": key, "body": sentence(1000 * step + key, 12)}
                change = "DELETE FROM articles" if key % 4 == 0 else "UPDATE articles SET body = :body"
                connection.execute(text(f"{change} WHERE id = :id"), values)
        add(engine, {1000 + 100 * step + n: sentence(5000 + 100 * step + n, 12) for n in range(1 + 4 * step)})
        index.sync()
        ask_all(database, index, rng)
        places, tail = counted(database, index)
        assert tail <= slice_tables.TAIL
        assert places + tail == len(fetch(engine, "SELECT id FROM articles"))
        slices = SliceTables(index._tables).slices.name
        blocks = [number for (number,) in fetch(engine, f"SELECT block FROM {slices} WHERE slice = 0 ORDER BY block")]
        moved += blocks[0] > 0
    assert moved  # the first block was mostly holes, and its rows went elsewhere
    assert_in_step(database, "articles")


def uneven(number: int, seed: int = 0) -> str:
    """Every ninth text has more words than its signature has room for."""
    rng = np.random.default_rng([number, seed])
    if number % 9:
        return sentence(number + 1000 * seed, 12)
    return " ".join([*(f"x{one}" for one in rng.choice(3000, 150, replace=False)), *sentence(number, 6).split()])


def wide_rows(database: dbsim.Database, index: dbsim.Index) -> set[int]:
    """Rows with a place in a wide block."""
    places, first = SliceTables(index._tables).places, slice_tables.FIRST_WIDE * slice_tables.BLOCK
    return {key for (key,) in fetch(database.engine, f"SELECT key_0 FROM {places.name} WHERE place >= {first}")}


def test_long_texts_get_longer_signatures(database: dbsim.Database) -> None:
    """Answers stay exact, and far fewer texts are read in vain, while rows come, change and go."""
    rng = np.random.default_rng(6)
    texts = {n: uneven(n) for n in range(1, 141)}
    long = {n for n in texts if n % 9 == 0}
    index = made(database, texts, false_drops=0.1)
    assert wide_rows(database, index) == {n for n in long if n <= 128}  # those of the last block stay with the others
    signature = index.options.fields[0].signature
    assert signature is not None
    in_vain = [index.contains(f"absent{n}", f"lacking{n}").false_drops for n in range(20)]
    assert np.mean(in_vain) < float(signature.false_drops(150)) ** 2 * len(long) / 3
    for step in range(1, 4):
        keys = rng.choice(sorted(texts), 25, replace=False).tolist()
        for key in keys:
            texts[key] = uneven(key if key % 2 else key + 1, step)
        with database.engine.begin() as connection:
            for key in keys:
                values = {"id": key, "body": texts[key]}
                connection.execute(text("UPDATE articles SET body = :body WHERE id = :id"), values)
            connection.execute(text("DELETE FROM articles WHERE id = :id"), {"id": step})
        texts.pop(step, None)
        index.sync()
        for key in rng.choice(sorted(long & {*texts}), 3).tolist():
            word, other = rng.choice(texts[key].split(), 2).tolist()
            assert index.contains(word, other) == grep(database, (word, other)) != []
            assert index.contains(none_of=word) == grep(database, (), (word,))
            if database.engine.dialect.name == "postgresql":
                assert asked(database, "articles", [word], [], [other]) == grep(database, (word,), (other,))
    assert not index.check()


def test_a_broken_wide_block_is_found_and_repaired(database: dbsim.Database) -> None:
    index = made(database, {n: uneven(n) for n in range(1, 141)}, false_drops=0.1)
    tables, word = SliceTables(index._tables), uneven(90).split()[0]
    assert 90 in index.contains(word)
    (number,) = index._search.signer.marks.places(0, word.encode(), tables.wider)[:1]
    broken = f"DELETE FROM {tables.places.name} WHERE key_0 = 90"
    if database.engine.dialect.name == "sqlite":
        broken = f"UPDATE {tables.slices.name} SET bits = zeroblob(length(bits)) WHERE slice = {tables.bits + number}"
    execute(database.engine, broken)
    assert 90 not in index.contains(word)
    assert (90,) in index.check().different
    index.check(repair=True)
    assert 90 in index.contains(word)
    assert not index.check()


def test_a_text_that_changes_meanwhile_is_not_widened(database: dbsim.Database) -> None:
    """Between the look at the long texts and the move: another text, a text that is gone, one that was folded away."""
    index = made(database, {n: sentence(n, 12) for n in range(1, 141)}, false_drops=0.1)
    widening = Widening(index._search.context)
    with database.engine.begin() as connection:  # as if no block had been looked at
        connection.execute(text(f"DELETE FROM {widening.sliced.slices.name} WHERE slice = {slice_tables.WIDENED}"))
        long = Long([0, 1, 2], [(1,), (2,), (3,)], np.zeros((3, widening.sliced.bits >> 3), np.int64))
    execute(database.engine, "DELETE FROM articles WHERE id = 2")
    index.sync()
    with database.engine.begin() as connection:  # the first is somewhere else by now
        connection.execute(text(f"UPDATE {widening.sliced.places.name} SET place = 150000 WHERE key_0 = 1"))
    widening.write(lambda c: widening._move(c, 0, long))
    assert wide_rows(database, index) == {3}


def test_only_connections_of_dbsims_own_get_more_memory(tmp_path: Path) -> None:
    """SQLite: the application's keep what it has given them."""
    url = f"sqlite:///{tmp_path / 'own.db'}"
    with dbsim.open(url, create=True) as own:
        own.upgrade()
        assert made(own, {n: sentence(n, 12) for n in range(1, 41)}).contains("amber") == grep(own, ("amber",))
        assert fetch(own.engine, "PRAGMA cache_size") == [(-slices.CACHE,)]
    application = create_engine(url)
    before = fetch(application, "PRAGMA cache_size")
    with dbsim.open(application) as other:
        assert other.index("articles").contains("amber") == grep(other, ("amber",))
        assert fetch(application, "PRAGMA cache_size") == before != [(-slices.CACHE,)]


def test_few_changes_stay_in_the_tail(database: dbsim.Database) -> None:
    index = made(database, {n: sentence(n, 8) for n in range(1, 101)})
    add(database.engine, {200: "needle alpha", 201: "alpha"})
    execute(database.engine, "UPDATE articles SET body = 'needle' WHERE id = 7", "DELETE FROM articles WHERE id = 8")
    index.sync()
    assert counted(database, index) == (98, 3)
    assert index.contains("needle") == [7, 200]
    assert index.sync().idle


def test_small_tables_have_no_slices(database: dbsim.Database) -> None:
    index = made(database, {n: sentence(n, 8) for n in range(1, 20)})
    backend = index._context.backend
    with database.engine.connect() as connection:
        assert not any(backend.has_table(connection, name) for name in slice_names("articles", 1))


def test_a_killed_turn_goes_on(database: dbsim.Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """As an index made by an earlier version: no slices until a sync, which may be killed after any block."""
    monkeypatch.setattr(slice_tables, "TAIL", 10_000)
    index = made(database, {n: sentence(n, 12) for n in range(1, 201)})
    monkeypatch.setattr(slice_tables, "TAIL", 20)
    rng = np.random.default_rng(6)
    write = slicing(index).write
    write(slicing(index)._create)
    for step in range(3):
        assert write(slicing(index).step) == slice_tables.BLOCK
        execute(database.engine, f"UPDATE articles SET body = 'needle {step}' WHERE id IN ({step + 1}, {190 - step})")
        index._worker().drain()
        ask_all(database, index, rng)  # by a scan until the slices are complete
        assert len(index.contains("needle")) == 2 * (step + 1)
    index.sync()
    assert counted(database, index)[1] <= 20
    ask_all(database, index, rng)
    assert len(index.contains("needle")) == 6
    assert_in_step(database, "articles")


def test_another_generation_has_slices_of_its_own(database: dbsim.Database) -> None:
    index = made(database, {n: sentence(n, 12) for n in range(1, 101)})
    worker = database.alter_index("articles", false_drops=0.05)._worker()
    worker.keep = 0.0
    worker.run()
    index = database.index("articles")
    ask_all(database, index, np.random.default_rng(7))
    worker.run()
    backend = index._context.backend
    with database.engine.connect() as connection:
        assert [backend.has_table(connection, slice_names("articles", n)[0]) for n in (1, 2)] == [False, True]
    database.drop_index("articles")
    with database.engine.connect() as connection:
        assert not any(backend.has_table(connection, name) for n in (1, 2) for name in slice_names("articles", n))


def test_broken_slices_are_found_and_repaired(database: dbsim.Database) -> None:
    index = made(database, {n: sentence(n, 12) for n in range(1, 101)})
    tables = SliceTables(index._tables)
    word = fetch(database.engine, "SELECT body FROM articles WHERE id = 70")[0][0].split()[0]
    zero = "zeroblob(8)" if database.engine.dialect.name == "sqlite" else "repeat('0', 64)::varbit"
    execute(
        database.engine,
        f"UPDATE {tables.slices.name} SET bits = {zero} WHERE block = 1 AND slice >= 0",
        f"DELETE FROM {tables.places.name} WHERE place = 3",
    )
    assert 70 not in index.contains(word)
    found = index.check()
    assert (4,) in found.different
    assert (70,) in found.different
    index.check(repair=True)
    assert not index.check()
    ask_all(database, index, np.random.default_rng(8))


def test_a_deleted_row_leaves_no_key_behind(database: dbsim.Database) -> None:
    index = made(database, {n: sentence(n, 8) for n in range(1, 101)})
    execute(database.engine, "DELETE FROM articles WHERE id = 77")
    index.sync()
    tables = SliceTables(index._tables)
    for table in (tables.places, tables.tail):
        assert fetch(database.engine, f"SELECT * FROM {table.name} WHERE key_0 = 77") == []


def test_composite_keys_and_several_fields(database: dbsim.Database) -> None:
    """Every tenth person has a name of many words, so that the wide blocks have several fields, too."""
    names = {n: f"person {n % 7} " + " ".join(f"x{n}y{i}" for i in range(120 if n % 10 == 0 else 0)) for n in range(70)}
    execute(
        database.engine,
        "CREATE TABLE people (a INTEGER, b VARCHAR(9), name TEXT, town TEXT, PRIMARY KEY (a, b))",
        *(f"INSERT INTO people VALUES ({n}, 'k{n}', '{name}', 'town {n % 5}')" for n, name in names.items()),
    )
    index = database.create_index("people", table="people", columns={"name": 0.5, "town": 0.5}, false_drops=0.1)
    index.sync()
    assert counted(database, index)[0] == 70
    assert wide_rows(database, index) == {0, 10, 20, 30, 40, 50, 60}
    expected = [{"a": n, "b": f"k{n}"} for n in range(70) if 3 in (n % 7, n % 5) and n % 5 != 2]
    assert index.contains("3", none_of="town 2") == expected
    assert index.contains("x20y7", "town", "x20y119") == [{"a": 20, "b": "k20"}]
    assert not index.check()
    if database.engine.dialect.name == "postgresql":
        assert asked(database, "people", ["3"], [], ["town 2"]) == expected
        assert asked(database, "people", ["x20y7", "town", "x20y119"], [], []) == [{"a": 20, "b": "k20"}]


def test_an_inline_index_answers_before_the_commit(postgres: dbsim.Database) -> None:
    index = made(postgres, {n: sentence(n, 8) for n in range(1, 101)}, inline=True)
    assert counted(postgres, index) == (100, 0)
    with postgres.engine.begin() as connection:
        connection.exec_driver_sql("INSERT INTO articles VALUES (300, 'needle')")
        connection.exec_driver_sql("UPDATE articles SET body = 'needle too' WHERE id = 5")
        connection.exec_driver_sql("DELETE FROM articles WHERE id = 6")
        assert index.contains("needle", connection=connection) == [5, 300]
    assert counted(postgres, index)[0] == 98
    assert asked(postgres, "articles", ["needle"]) == [5, 300]
    execute(postgres.engine, "TRUNCATE articles")
    assert counted(postgres, index) == (0, 0)
    assert index.contains("needle") == []


def test_an_older_moment_is_asked_as_it_was(postgres: dbsim.Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """A transaction that began before the slices were complete does not see them, and scans."""
    monkeypatch.setattr(slice_tables, "TAIL", 10_000)
    index = made(postgres, {n: f"needle {n}" for n in range(1, 101)})
    monkeypatch.setattr(slice_tables, "TAIL", 20)
    with postgres.engine.connect().execution_options(isolation_level="REPEATABLE READ") as old:
        assert old.exec_driver_sql("SELECT count(*) FROM articles").scalar() == 100
        index.sync()
        assert len(index.contains("needle")) == 100
        assert len(index.contains("needle", connection=old)) == 100


def test_a_wider_key_takes_the_slices_along(postgres: dbsim.Database) -> None:
    index = made(postgres, {n: sentence(n, 8) for n in range(1, 101)})
    postgres.engine.dispose()
    execute(postgres.engine, "ALTER TABLE articles ALTER COLUMN id TYPE bigint")
    execute(postgres.engine, "INSERT INTO articles VALUES (5000000000, 'needle')")
    index.sync()
    assert postgres.index("articles").contains("needle") == [5000000000]


@pytest.mark.parametrize("normaliser", ["text", "german", "symbols", "digits"])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.text(), max_size=6))
def test_folding_all_at_once_is_folding_each(normaliser: str, texts: list[str]) -> None:
    found = normaliser_of(normaliser)
    assert [one.strip(b" ").split() for one in found.fold_all(texts)] == [found.fold(text).split() for text in texts]
    assert all(one[:1] == one[-1:] == b" " for one in found.fold_all(texts))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_slices_are_put_together_alike_as_they_are_and_in_digits(data: st.DataObject) -> None:
    """Up to three terms of up to two fields of up to three slices each."""
    count = st.lists(st.lists(st.integers(1, 3), min_size=1, max_size=2), min_size=1, max_size=3)
    terms, every = data.draw(count), data.draw(st.booleans())
    bits = st.binary(min_size=2, max_size=2)
    slices = [[[data.draw(bits) for _ in range(size)] for size in term] for term in terms]
    form = ",".join("|".join(map(str, term)) for term in terms)
    flat = [one for term in slices for field in term for one in field]
    digits = ["|".join(f"{len(field)}:{b''.join(field).hex()}" for field in term) for term in slices]
    assert functions._common_places(int(every), form, *flat) == functions._places(int(every), *digits)
    for wrong in ([*flat[:-1], None], [*flat, b"longer"], [*flat, b"ab"]):
        with pytest.raises(ValueError, match="slices of other lengths"):
            functions._common_places(int(every), form, *wrong)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(alphabet="ab ,äß€😀İ\u0301\ud800", max_size=60))
def test_long_texts_are_read_as_short_ones(piece: str) -> None:
    """By another way to the same characters."""
    long = piece * 60 + "plain ascii words " * 200
    assert mapped._kinds(long) == {char for char in long if not char.isascii()}
    assert mapped._kinds(piece) == {char for char in piece if not char.isascii()}
