"""Promise 1: the index converges, and SQLite and PostgreSQL end equal, whatever the application and the workers do."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test
from sqlalchemy import Connection

import dbsim
from dbsim.errors import Contradiction, InvalidOption, UnknownKey
from dbsim.index import Index
from dbsim.sync.presign import SignedAhead
from dbsim.sync.refresh import refresh
from tests.oracle import Dump, assert_converged, dump, source_rows
from tests.reliability.harness import FIELDS, FULL, Application, create_index, sentence, size, small_batches
from tests.reliability.people import assert_respected, groups, groups_from_scratch

OTHER_OPTIONS = {"fields": FIELDS[1:], "rows": 2, "keys": 3}


@dataclass(frozen=True)
class Hostile:
    """A value that PostgreSQL cannot hold (quarantined on SQLite, or not), and one to write there instead."""

    sqlite: str
    postgresql: str | None


TEXTS: tuple[str | Hostile | None, ...] = (
    *(sentence(number) for number in range(3)),
    sentence(1) + " changed at the end",
    None,
    "",
    " \t\n",
    "a",
    "'; DROP TABLE articles; --",
    "%s {} ? :name \\",
    "Ünïcödé İstanbul ẞ ﬁne ①",
    "e\u0301te\u0301 été",
    "👩\u200d👩\u200d👧 漢字かな 한국어 العربية",
    "\x01\x02\x7f \u202e \ufeff \uffff",
    "long " * 40,
    Hostile("CAST(x'6f6e650074776f' AS TEXT)", "one two"),  # a NUL inside
    Hostile("CAST(x'fffe6162' AS TEXT)", None),  # not UTF-8
    Hostile("x'0001ff'", None),  # a BLOB
    Hostile("12.5", "12.5"),  # a number
)
ids = st.integers(1, 7)
texts = st.integers(0, 3)  # of the few that a program draws from TEXTS, so that they meet again
slugs = st.sampled_from(["red", "blue", "grey", None])
rows = st.tuples(ids, slugs, texts, texts)
writes = st.one_of(
    st.tuples(st.just("insert"), rows),
    st.tuples(st.just("insert_many"), st.lists(rows, min_size=1, max_size=5)),
    st.tuples(st.just("update"), ids, texts, texts),
    st.tuples(st.just("update_many"), ids, texts),
    st.tuples(st.just("delete"), ids),
    st.tuples(st.just("delete_many"), st.integers(1, 4)),
    st.tuples(st.just("move"), ids, ids),
    st.tuples(st.just("upsert"), rows),
    st.tuples(st.just("replace"), rows),
    st.tuples(st.just("truncate")),
)
verdicts = st.sampled_from(["same", "same", "different", "different", "unsure", "none"])
some_writes = st.lists(writes, min_size=1, max_size=4)


class Killed(BaseException):
    """A worker's process ends here."""


@dataclass
class Side:
    """One engine with the application, the index, and whether a change went past the triggers."""

    url: str
    pool: tuple[str | Hostile | None, ...]
    database: dbsim.Database = field(init=False)
    app: Application = field(init=False)
    index: Index = field(init=False)
    bypassed: bool = False
    grouped: bool = False  # groups are stored, and kept up to date

    def __post_init__(self) -> None:
        self.database = dbsim.open(self.url, create=True)
        self.database.upgrade()
        self.app = Application(self.url)
        for index in self.database.indexes():
            self.database.drop_index(index.name)
        self.app.execute("DROP TABLE IF EXISTS articles")
        self.app.execute("CREATE TABLE articles (id INTEGER PRIMARY KEY, slug TEXT UNIQUE, title TEXT, body TEXT)")

    def create(self, **options: Any) -> None:
        self.index = small_batches(create_index(self.database, **options))

    def recreate(self, **options: Any) -> None:
        self.database.drop_index("articles")
        self.create(**options)
        self.bypassed = self.grouped = False

    def close(self) -> None:
        self.app.close()
        self.database.close()

    # ── the application ──
    def literal(self, value: str | int | None) -> str:
        """A slug, or the number of a text."""
        return self._literal(self.pool[value] if isinstance(value, int) else value)

    def _literal(self, value: str | Hostile | None) -> str:
        if isinstance(value, Hostile) and self.app.sqlite:
            return value.sqlite
        text = value.postgresql if isinstance(value, Hostile) else value
        if text is None:
            return "NULL"
        data = text.encode().hex()
        return f"CAST(x'{data}' AS TEXT)" if self.app.sqlite else f"convert_from('\\x{data}', 'UTF8')"

    def values(self, row: tuple[Any, ...]) -> str:
        return f"({row[0]}, {', '.join(self.literal(value) for value in row[1:])})"

    def write(self, kind: str, *parts: Any) -> None:
        for statement in getattr(self, f"_{kind}")(*parts):
            self.app.execute(statement)

    def _insert(self, row: tuple[Any, ...]) -> list[str]:
        return self._insert_many([row])

    def _insert_many(self, many: list[tuple[Any, ...]]) -> list[str]:
        return [f"INSERT INTO articles VALUES {', '.join(map(self.values, many))} ON CONFLICT DO NOTHING"]

    def _update(self, key: int, title: Any, body: Any) -> list[str]:
        return [f"UPDATE articles SET title = {self.literal(title)}, body = {self.literal(body)} WHERE id = {key}"]

    def _update_many(self, key: int, body: Any) -> list[str]:
        return [f"UPDATE articles SET body = {self.literal(body)} WHERE id >= {key}"]

    def _delete(self, key: int) -> list[str]:
        return [f"DELETE FROM articles WHERE id = {key}"]

    def _delete_many(self, key: int) -> list[str]:
        return [f"DELETE FROM articles WHERE id <= {key}"]

    def _move(self, old: int, new: int) -> list[str]:
        return [
            f"UPDATE articles SET id = {new} WHERE id = {old} AND NOT EXISTS (SELECT 1 FROM articles WHERE id = {new})"
        ]

    def _upsert(self, row: tuple[Any, ...]) -> list[str]:
        row = (row[0], None, *row[2:])
        return [
            f"INSERT INTO articles VALUES {self.values(row)} "
            "ON CONFLICT (id) DO UPDATE SET title = excluded.title, body = excluded.body"
        ]

    def _replace(self, row: tuple[Any, ...]) -> list[str]:
        """On SQLite the row that had the slug goes without a trigger; on PostgreSQL it has to be deleted."""
        victims = f"id <> {row[0]} AND slug = {self.literal(row[1])}"
        if self.app.sqlite:
            self.bypassed |= bool(self.app.execute(f"SELECT 1 FROM articles WHERE {victims}"))
            return [f"INSERT OR REPLACE INTO articles VALUES {self.values(row)}"]
        return [
            f"DELETE FROM articles WHERE {victims} OR id = {row[0]}",
            f"INSERT INTO articles VALUES {self.values(row)}",
        ]

    def _truncate(self) -> list[str]:
        return ["DELETE FROM articles" if self.app.sqlite else "TRUNCATE articles"]

    def drop_triggers(self) -> None:
        for event in ("insert", "update", "delete") if self.app.sqlite else ("insert", "update", "delete", "truncate"):
            name = f'DROP TRIGGER IF EXISTS "dbsim_articles_{event}"'
            self.app.execute(name if self.app.sqlite else f"{name} ON articles")

    # ── workers ──
    def transaction(self, *works: Callable[[Connection], object]) -> None:
        worker = self.index._worker()
        with worker.engine.connect() as connection:
            worker.backend.begin(connection)
            for work in works:
                work(connection)
            connection.commit()

    def fill_step(self, connection: Connection) -> None:
        worker = self.index._worker()
        worker._build.filling(worker.context).step(connection, SignedAhead(worker.signer))

    def killed(self, *works: Callable[[Connection], object]) -> None:
        def die(connection: Connection) -> None:
            raise Killed

        try:
            self.transaction(*works, die)
        except Killed:
            return

    def two_workers(self, between: list[tuple[Any, ...]]) -> None:
        """The first has claimed its changes when the second does all of its work; SQLite lets no second one begin."""
        worker = self.index._worker()
        if self.app.sqlite:
            self.transaction(worker.step)
            for write in between:
                self.write(*write)
            self.transaction(worker.step)
            return
        with worker.engine.connect() as connection:
            worker.backend.begin(connection)
            claimed = worker.backend.claim(connection, worker.tables, worker.backend.queue_batch)
            for write in between:
                self.write(*write)
            self.transaction(worker.step)
            refresh(connection, worker.backend, worker.tables, SignedAhead(worker.signer), claimed)
            connection.commit()

    def finish(self) -> Dump:
        assert_converged(self.index, reconcile=self.bypassed, problem="are quarantined")
        self.bypassed = False
        self.check_groups()
        return dump(self.index)

    # ── people ──
    def decide(self, one: int, two: int, verdict: str) -> None:
        """Not about rows that are not indexed, not against what was decided before."""
        with suppress(Contradiction, UnknownKey, InvalidOption):
            if verdict == "none":
                self.index.undecide(one, two)
            else:
                self.index.decide(one, two, verdict)

    def decide_in_sql(self, one: int, two: int, verdict: str) -> None:
        """Into a table that anybody may write, without a look at what it says."""
        table, (low, high) = "dbsim_articles_decisions", sorted((one, two))
        if verdict == "none":
            self.app.execute(f"DELETE FROM {table} WHERE a = {one} OR b = {two}")
        elif low == high:
            self.app.execute(f"UPDATE {table} SET verdict = '{verdict}' WHERE b = {one}")
        else:
            values = f"({low}, {high}, '{verdict}')"
            self.app.execute(f"INSERT INTO {table} (a, b, verdict) VALUES {values} ON CONFLICT DO NOTHING")

    def group(self) -> None:
        groups(self.index)
        self.grouped = True

    def check_groups(self) -> None:
        if self.grouped:
            found = groups(self.index)
            assert found == groups_from_scratch(self.database, self.index)
            assert_respected(self.database, self.index, found)


class Program(RuleBasedStateMachine):
    """The same program on both engines."""

    counter = itertools.count()
    ran = 0

    def __init__(self, folder: Path, postgres_url: str) -> None:
        super().__init__()
        self.urls = [f"sqlite:///{folder / str(next(self.counter))}.db", postgres_url]
        self.sides: list[Side] = []
        self.filled = False

    @initialize(pool=st.tuples(*[st.sampled_from(TEXTS)] * 4), first=st.lists(rows, max_size=9))
    def start(self, pool: tuple[Any, ...], first: list[tuple[Any, ...]]) -> None:
        self.sides = [Side(url, pool) for url in self.urls]

        def work(side: Side) -> None:
            for row in first:
                side.write("insert", row)
            side.create()

        self.each(work)

    def each(self, work: Callable[[Side], object]) -> None:
        for side in self.sides:
            work(side)
        Program.ran += 1

    # ── the application ──
    @rule(write=writes)
    def write(self, write: tuple[Any, ...]) -> None:
        self.each(lambda side: side.write(*write))

    @rule(some=some_writes, commit=st.booleans())
    def transaction(self, some: list[tuple[Any, ...]], commit: bool) -> None:
        def work(side: Side) -> None:
            before = side.bypassed
            side.app.execute("BEGIN")
            for write in some:
                side.write(*write)
            side.app.execute("COMMIT" if commit else "ROLLBACK")
            side.bypassed = side.bypassed if commit else before

        self.each(work)

    @rule(first=some_writes, undone=some_writes, last=some_writes)
    def savepoint(self, first: list[Any], undone: list[Any], last: list[Any]) -> None:
        def work(side: Side) -> None:
            side.app.execute("BEGIN")
            for write in first:
                side.write(*write)
            side.app.execute("SAVEPOINT here")
            before = side.bypassed
            for write in undone:
                side.write(*write)
            side.app.execute("ROLLBACK TO SAVEPOINT here")
            side.bypassed = before
            for write in last:
                side.write(*write)
            side.app.execute("COMMIT")

        self.each(work)

    @rule(some=some_writes)
    def unseen_writes(self, some: list[tuple[Any, ...]]) -> None:
        """A table rebuild drops the triggers; the next sync notices."""

        def work(side: Side) -> None:
            side.drop_triggers()
            for write in some:
                side.write(*write)
            side.bypassed = False

        self.each(work)
        self.compare()

    # ── workers ──
    @rule()
    def sync(self) -> None:
        self.each(lambda side: side.index.sync())
        self.filled = True

    @rule()
    def compare(self) -> None:
        """The oracle, anywhere in the program and at its end."""
        sources = [[row[0] for row in source_rows(side.index)[1]] for side in self.sides]
        sqlite, postgresql = [side.finish() for side in self.sides]
        assert sources[0] == sources[1]
        # a row that SQLite had to put into quarantine holds what PostgreSQL would not have taken
        held = {key for key, _ in sqlite.quarantine}
        readable = [[row for row in one.signatures if f"[{row[0][0]}]" not in held] for one in (sqlite, postgresql)]
        assert readable[0] == readable[1]
        self.filled = True

    @rule()
    def reconcile(self) -> None:
        def work(side: Side) -> None:
            side.index.sync(reconcile=True)
            side.bypassed = False

        self.each(work)
        self.filled = True

    @precondition(lambda self: not self.filled)
    @rule(killed=st.booleans())
    def fill_step(self, killed: bool) -> None:
        self.each(lambda side: (side.killed if killed else side.transaction)(side.fill_step))

    @precondition(lambda self: self.filled)
    @rule(killed=st.booleans())
    def worker_step(self, killed: bool) -> None:
        self.each(lambda side: (side.killed if killed else side.transaction)(side.index._worker().step))

    @precondition(lambda self: self.filled)
    @rule(between=some_writes)
    def two_workers(self, between: list[tuple[Any, ...]]) -> None:
        self.each(lambda side: side.two_workers(between))

    @rule(sample=st.sampled_from([None, 1]))
    def check_and_repair(self, sample: int | None) -> None:
        def work(side: Side) -> None:
            side.index.check(sample=sample, repair=True)

        self.each(work)
        self.filled = True

    @rule(text=st.sampled_from([text for text in TEXTS if isinstance(text, str)]))
    def search(self, text: str) -> None:
        self.each(lambda side: side.index.search(text, threshold=0.0))

    # ── people ──
    @precondition(lambda self: self.filled)
    @rule(one=ids, two=ids, verdict=verdicts)
    def decide(self, one: int, two: int, verdict: str) -> None:
        self.each(lambda side: side.decide(one, two, verdict))

    @precondition(lambda self: self.filled)
    @rule(one=ids, two=ids, verdict=verdicts)
    def decide_in_sql(self, one: int, two: int, verdict: str) -> None:
        self.each(lambda side: side.decide_in_sql(one, two, verdict))

    @precondition(lambda self: self.filled)
    @rule()
    def group(self) -> None:
        """From here on groups are stored and kept up to date."""
        self.each(lambda side: side.group())

    # ── the index itself ──
    @rule(other=st.booleans())
    def rebuild(self, other: bool) -> None:
        self.each(lambda side: side.recreate(**(OTHER_OPTIONS if other else {})))
        self.filled = False

    def teardown(self) -> None:
        try:
            if self.sides:
                self.compare()
        finally:
            for side in self.sides:
                side.close()


class People(Program):
    """The same with groups from the beginning and little else than decisions, edits, deletions and syncs between."""

    transaction = savepoint = unseen_writes = reconcile = None  # type: ignore[assignment]
    fill_step = two_workers = check_and_repair = search = rebuild = None  # type: ignore[assignment]

    @initialize(pool=st.tuples(*[st.sampled_from(TEXTS[:5])] * 4), first=st.lists(rows, min_size=5, max_size=9))
    def start(self, pool: tuple[Any, ...], first: list[tuple[Any, ...]]) -> None:
        super().start(pool, first)
        self.sync()
        self.group()


def run(program: type[Program], sequences: int, steps: int, *arguments: Any) -> None:
    configured = settings(
        max_examples=sequences,
        stateful_step_count=steps,
        deadline=None,
        database=None,
        derandomize=not FULL,
        suppress_health_check=list(HealthCheck),
        print_blob=True,
    )
    Program.ran = 0
    run_state_machine_as_test(lambda: program(*arguments), settings=configured)
    print(f"\n{sequences} sequences, {Program.ran} steps on both engines: 0 divergences")


@pytest.mark.long
def test_both_engines_converge_and_end_equal(tmp_path: Path, new_postgres: str) -> None:
    run(Program, size(20, 400), size(20, 40), tmp_path, new_postgres)


def test_people_decide_while_rows_change(tmp_path: Path, new_postgres: str) -> None:
    run(People, size(2, 400), size(12, 30), tmp_path, new_postgres)
