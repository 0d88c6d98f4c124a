"""What the triggers cost the application: the same writes to a table with and without an index, on both engines."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

import dbsim
from benchmarks import corpora, server
from benchmarks.report import Report, Target, console

LENGTH = 1500
BATCH = 100
TABLES = ("plain", "watched", "bare")  # the second has a dbsim index, the third the least that any queue needs
BULK_ID = 10**9  # rows written at once have ids above


@dataclass(frozen=True)
class Sizes:
    """Rows written a round: single commits, batches of 100, rows at once; and how often."""

    single: int
    batches: int
    bulk: int
    rounds: int
    bulk_rounds: int


SIZES = {
    "small": Sizes(single=20, batches=2, bulk=1_000, rounds=2, bulk_rounds=2),
    "medium": Sizes(single=100, batches=10, bulk=20_000, rounds=6, bulk_rounds=3),
    "full": Sizes(single=200, batches=20, bulk=100_000, rounds=20, bulk_rounds=5),
}
# SQLite's default journal, and the one many applications switch to
SETTINGS = {"sqlite": "PRAGMA journal_mode = DELETE", "sqlite-wal": "PRAGMA journal_mode = WAL", "postgresql": ""}
PARTS = tuple(SETTINGS)


def run(size: str, parts: Sequence[str] = PARTS) -> Report:
    sizes = SIZES[size]
    report = Report("write", asdict(sizes) | {"batch": BATCH, "characters": LENGTH})
    texts = list(corpora.documents(sizes.bulk, LENGTH))
    with server.postgres() as url:
        report.versions |= server.server_versions(url)
        for part in parts:
            console.print(part)
            with application(part, url, texts) as app:
                taken = rounds(app, sizes)
            describe(report, part, taken)
    return report


# ── the application ──
@dataclass
class Application:
    """A client with the plain driver: no library between it and the database that could hide the triggers' cost."""

    connection: Any
    mark: str
    texts: list[str]
    next_id: dict[str, int] = field(default_factory=lambda: dict.fromkeys(TABLES, BULK_ID // 2))

    def execute(self, statement: str, parameters: Sequence[Any] = ()) -> None:
        cursor = self.connection.cursor()
        cursor.execute(statement.replace("?", self.mark), parameters)
        cursor.close()

    def rows(self, table: str, count: int) -> list[tuple[int, str, str]]:
        start = self.next_id[table]
        self.next_id[table] += count
        return [(start + i, f"title {start + i}", self.texts[(start + i) % len(self.texts)]) for i in range(count)]

    def recent(self, table: str, count: int) -> range:
        return range(self.next_id[table] - count, self.next_id[table])

    def insert_single(self, table: str, count: int) -> Callable[[], None]:
        rows = self.rows(table, count)

        def work() -> None:
            for row in rows:
                self.execute(f"INSERT INTO {table} VALUES (?, ?, ?)", row)
                self.connection.commit()

        return work

    def insert_batches(self, table: str, batches: int) -> Callable[[], None]:
        prepared = [self.rows(table, BATCH) for _ in range(batches)]
        statement = f"INSERT INTO {table} VALUES (?, ?, ?)".replace("?", self.mark)

        def work() -> None:
            for rows in prepared:
                cursor = self.connection.cursor()
                cursor.executemany(statement, rows)
                cursor.close()
                self.connection.commit()

        return work

    def insert_statements(self, table: str, batches: int) -> Callable[[], None]:
        prepared = [[value for row in self.rows(table, BATCH) for value in row] for _ in range(batches)]
        statement = f"INSERT INTO {table} VALUES " + ", ".join(["(?, ?, ?)"] * BATCH)

        def work() -> None:
            for values in prepared:
                self.execute(statement, values)
                self.connection.commit()

        return work

    def update_single(self, table: str, count: int) -> Callable[[], None]:
        # another text: SQLite does not write a page whose content stays the same
        changes = [(self.texts[(number + 1) % len(self.texts)], number) for number in self.recent(table, count)]

        def work() -> None:
            for change in changes:
                self.execute(f"UPDATE {table} SET body = ? WHERE id = ?", change)
                self.connection.commit()

        return work

    def delete_single(self, table: str, count: int) -> Callable[[], None]:
        gone = self.recent(table, count)

        def work() -> None:
            for number in gone:
                self.execute(f"DELETE FROM {table} WHERE id = ?", (number,))
                self.connection.commit()

        return work

    def bulk(self, statement: str) -> Callable[[], None]:
        def work() -> None:
            self.execute(statement)
            self.connection.commit()

        return work


@contextmanager
def application(part: str, url: str, texts: list[str]) -> Iterator[Application]:
    engine = "postgresql" if part == "postgresql" else "sqlite"
    with server.empty(engine, url) as database:
        prepare(database, texts)
        raw = database.engine.raw_connection()
        app = Application(raw.driver_connection, "%s" if engine == "postgresql" else "?", texts)
        if SETTINGS[part]:
            app.execute(SETTINGS[part])
        yield app
        raw.close()


def prepare(database: dbsim.Database, texts: Sequence[str]) -> None:
    """A staging table for bulk writes, and equal tables that hold a tenth of it; one gets a finished index."""
    server.load(database, "staging", enumerate(texts, 1))
    key = "INTEGER" if database.engine.dialect.name == "sqlite" else "BIGINT"
    with database.engine.begin() as connection:
        for table in TABLES:
            connection.exec_driver_sql(f"CREATE TABLE {table} (id {key} PRIMARY KEY, title TEXT, body TEXT)")
            connection.exec_driver_sql(
                f"INSERT INTO {table} SELECT id, 'title ' || id, body FROM staging WHERE id <= {len(texts) // 10}"
            )
    database.create_index("watched", table="watched", columns=["body"], secret=server.SECRET).sync()

    with database.engine.begin() as connection:
        for statement in BARE[database.engine.dialect.name]:
            connection.exec_driver_sql(statement)


# A trigger that appends the key and knows nothing else: what is above it is dbsim's, what is below the engine's.
BARE = {
    "sqlite": (
        "CREATE TABLE bare_queue (id INTEGER)",
        "CREATE TRIGGER i AFTER INSERT ON bare BEGIN INSERT INTO bare_queue VALUES (NEW.id); END",
        "CREATE TRIGGER u AFTER UPDATE ON bare BEGIN INSERT INTO bare_queue VALUES (NEW.id); END",
        "CREATE TRIGGER d AFTER DELETE ON bare BEGIN INSERT INTO bare_queue VALUES (OLD.id); END",
    ),
    "postgresql": (
        "CREATE TABLE bare_queue (id bigint)",
        "CREATE FUNCTION bare() RETURNS trigger LANGUAGE plpgsql AS "
        "'BEGIN INSERT INTO bare_queue SELECT id FROM changed; RETURN NULL; END'",
        "CREATE TRIGGER i AFTER INSERT ON bare REFERENCING NEW TABLE AS changed EXECUTE FUNCTION bare()",
        "CREATE TRIGGER u AFTER UPDATE ON bare REFERENCING NEW TABLE AS changed EXECUTE FUNCTION bare()",
        "CREATE TRIGGER d AFTER DELETE ON bare REFERENCING OLD TABLE AS changed EXECUTE FUNCTION bare()",
    ),
}


# ── rounds ──
def rounds(app: Application, sizes: Sizes) -> dict[str, dict[str, list[float]]]:
    """Seconds of each kind of write, each table; the tables take turns in going first."""
    taken: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for number in range(sizes.rounds):
        for name, make in single_writes(app, sizes).items():
            for table in (*TABLES[number % 3 :], *TABLES[: number % 3]):
                taken[name][table].append(server.seconds(make(table)))
        clean(app)
    for number in range(sizes.bulk_rounds):
        for name, make in bulk_writes(app).items():
            for table in (*TABLES[number % 3 :], *TABLES[: number % 3]):
                taken[name][table].append(server.seconds(make(table)))
        clean(app)
    return taken


def single_writes(app: Application, sizes: Sizes) -> dict[str, Callable[[str], Callable[[], None]]]:
    return {
        "insert, a commit each": lambda table: app.insert_single(table, sizes.single),
        f"insert, executemany of {BATCH}": lambda table: app.insert_batches(table, sizes.batches),
        f"insert, one statement of {BATCH}": lambda table: app.insert_statements(table, sizes.batches),
        "update, a commit each": lambda table: app.update_single(table, sizes.single),
        "delete, a commit each": lambda table: app.delete_single(table, sizes.single),
    }


def bulk_writes(app: Application) -> dict[str, Callable[[str], Callable[[], None]]]:
    copied = f"SELECT id + {BULK_ID}, 'title ' || id, body FROM staging"
    return {
        "insert, one INSERT … SELECT": lambda table: app.bulk(f"INSERT INTO {table} {copied}"),
        "update, one statement": lambda table: app.bulk(f"UPDATE {table} SET title = 'x' WHERE id > {BULK_ID}"),
        "delete, one statement": lambda table: app.bulk(f"DELETE FROM {table} WHERE id > {BULK_ID}"),
    }


def clean(app: Application) -> None:
    """As a worker leaves the queue; and no vacuum or checkpoint that would fall into one table's time."""
    postgres = app.mark == "%s"
    for queue in ("dbsim_watched_queue", "bare_queue"):
        app.execute(f"TRUNCATE {queue}" if postgres else f"DELETE FROM {queue}")
    app.connection.commit()
    if postgres:
        app.connection.autocommit = True
        for statement in (*(f"VACUUM {table}" for table in TABLES), "CHECKPOINT"):
            app.execute(statement)
        app.connection.autocommit = False


def describe(report: Report, part: str, taken: dict[str, dict[str, list[float]]]) -> None:
    for name, sides in taken.items():
        plain, watched, bare = (float(np.median(sides[table])) * 1e3 for table in TABLES)
        pairs = np.array(sides["watched"]) / np.array(sides["plain"])
        against_bare = part != "postgresql" and "SELECT" in name
        report.add(
            f"{name}, {part}",
            watched,
            "ms a round",
            peer="the barest trigger" if against_bare else "without triggers",
            peer_value=bare if against_bare else plain,
            target=bar(part, name),
            note=f"by round {pairs.min():.2f} to {pairs.max():.2f}; "
            f"the barest trigger {bare / plain:.2f}, so {watched / bare:.2f} × it",
        )


def bar(part: str, name: str) -> Target | None:
    """SQLite has triggers for each row only: what a bulk insert pays is compared with the least of them."""
    if name.startswith("update, one statement"):
        return Target("≤", 1.05)  # of no indexed column
    if not name.startswith("insert"):
        return None
    return Target("≤", 1.35 if part == "postgresql" else 1.1 if "SELECT" in name else 1.25)
