"""What SQL users wait for: signing in SQL, inline writes beside queued ones, the view of pairs beside the search."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

import psycopg

import dbsim
from benchmarks import corpora, server
from benchmarks.report import Report, Target, console

LENGTH = 1500
INSERTED = 1000  # rows in one transaction
PARTS = ("sign", "inline", "pairs")


@dataclass(frozen=True)
class Sizes:
    """Texts signed, rounds of 1,000 inserts, rows of the table the pairs are asked of, questions, hot rows."""

    texts: int
    rounds: int
    rows: int
    questions: int


SIZES = {
    "small": Sizes(texts=50, rounds=2, rows=5_000, questions=50),
    "medium": Sizes(texts=500, rounds=5, rows=100_000, questions=300),
    "full": Sizes(texts=2000, rounds=10, rows=1_000_000, questions=500),
}


def run(size: str, parts: Sequence[str] = PARTS) -> Report:
    sizes = SIZES[size]
    report = Report("insql", asdict(sizes) | {"characters": LENGTH, "inserted": INSERTED})
    with server.postgres() as url:
        report.versions |= server.server_versions(url)
        for part in parts:
            console.print(part)
            {"sign": sign, "inline": inline, "pairs": pairs}[part](report, sizes, url)
    return report


# ── signing ──
def sign(report: Report, sizes: Sizes, url: str) -> None:
    """One call a text, as a client would search; the statement alone and the same text in Python beside it."""
    texts = corpora.passages(sizes.texts, LENGTH)
    with server.empty("postgresql", url) as database:
        server.load(database, "documents", enumerate(texts, 1))
        index = create(database)
        index.sync()
        signer = index.options.signer(server.SECRET)
        python = server.timed(lambda text: signer.sign([[text]]), texts)
        with raw(database) as ask:
            signed = server.timed(lambda text: ask("SELECT dbsim_documents_sign(%s)", (text,)), texts)
            nothing = server.timed(lambda text: ask("SELECT length(%s)", (text,)), texts)
            searched = server.timed(lambda text: ask("SELECT * FROM dbsim_documents_search(%s)", (text,)), texts)
    report.add(
        f"signing {LENGTH} characters in SQL",
        signed.median - nothing.median,
        "ms",
        peer="Python",
        peer_value=python.median,
        target=Target("≤", 2, "value"),
        note=f"p99 {signed.p99 - nothing.median:.2f}; without sending the text, {nothing.median:.3f} ms",
    )
    report.add("dbsim_<index>_search in SQL", searched.median, "ms", note=f"p99 {searched.p99:.2f}, signing included")


# ── inline ──
def inline(report: Report, sizes: Sizes, url: str) -> None:
    """The same INSERT of 1,000 rows, one statement, one transaction, without dbsim, queued and inline, in turns."""
    texts = list(corpora.documents(INSERTED, LENGTH))
    taken: dict[str, list[float]] = {"plain": [], "queued": [], "inline": [], "queued, then sync": []}
    with server.empty("postgresql", url) as database:
        for kind in ("plain", "queued", "inline"):
            server.load(database, f"{kind}_documents", [])
        queued = create(database, "queued", table="queued_documents")
        signed = create(database, "inline", table="inline_documents", inline=True)
        queued.sync()
        signed.sync()
        for number in range(sizes.rounds):
            for kind in ("plain", "queued", "inline"):
                start = number * INSERTED
                taken[kind].append(server.seconds(lambda: insert(database, f"{kind}_documents", start, texts)))  # noqa: B023
            taken["queued, then sync"].append(taken["queued"][-1] + server.seconds(queued.sync))
        assert signed.status().queued == 0
        assert not signed.check(sample=50)
    times = {kind: server.Times.of(values) for kind, values in taken.items()}
    for kind in ("inline", "queued, then sync", "queued"):
        report.add(
            f"INSERT of {INSERTED:,} rows, {kind}",
            times[kind].median,
            "ms",
            peer="without dbsim",
            peer_value=times["plain"].median,
            note=f"p99 {times[kind].p99:.0f}",
        )
    report.add(
        f"INSERT of {INSERTED:,} rows, inline",
        times["inline"].median,
        "ms",
        peer="queued, then sync",
        peer_value=times["queued, then sync"].median,
        note="all rows are searchable after either",
    )


def insert(database: dbsim.Database, table: str, start: int, texts: list[str]) -> None:
    keys = list(range(start, start + len(texts)))
    with database.engine.begin() as connection:
        connection.exec_driver_sql(f"INSERT INTO {table} SELECT * FROM unnest(%s::bigint[], %s::text[])", (keys, texts))


# ── pairs ──
def pairs(report: Report, sizes: Sizes, url: str) -> None:
    """`_pairs` filtered by one key, through the plain driver, beside `similar` of the same key."""
    data = corpora.plant(sizes.rows, LENGTH, sizes.questions)
    keys = sorted({key for members in data.members for key in members})[: sizes.questions]
    for engine in server.ENGINES:
        console.print(f"{engine}, {sizes.rows:,} rows")
        with server.empty(engine, url) as database:
            server.load(database, "documents", data.rows(sizes.rows, LENGTH))
            index = create(database)
            index.sync()
            mark = "?" if engine == "sqlite" else "%s"
            statement = f"SELECT b, score FROM dbsim_documents_pairs WHERE a = {mark}"
            with raw(database) as ask:
                differing = sum(
                    sorted(ask(statement, (key,)))
                    != sorted((hit.key, hit.score) for hit in index.similar(key, limit=1000))
                    for key in keys
                )
                view = server.timed(lambda key: ask(statement, (key,)), keys)  # noqa: B023
            search = server.timed(lambda key: index.similar(key, limit=1000), keys)  # noqa: B023
        report.add(
            f"_pairs of one key, {engine}, {sizes.rows:,} rows",
            view.median,
            "ms",
            peer="similar() in Python",
            peer_value=search.median,
            target=Target("≤", 3),
            note=f"p99 {view.p99:.2f} beside {search.p99:.2f}; {len(keys)} keys, {differing} answers differ",
        )


# ── helpers ──
def create(database: dbsim.Database, name: str = "documents", table: str = "documents", **options: Any) -> dbsim.Index:
    return database.create_index(
        name, table=table, columns=["body"], words=3, bits=1024, secret=server.SECRET, **options
    )


@contextmanager
def raw(database: dbsim.Database) -> Iterator[Callable[[str, Any], list[Any]]]:
    """The driver alone, with nothing registered: as psql, DBeaver or the sqlite3 shell would ask."""
    if database.engine.dialect.name == "sqlite":
        bare = sqlite3.connect(str(database.engine.url.database))
        yield lambda statement, parameters: bare.execute(statement, parameters).fetchall()
        bare.close()
        return
    target = database.engine.url.set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(target, autocommit=True, prepare_threshold=2) as connection:
        yield lambda statement, parameters: connection.execute(statement, parameters).fetchall()


if __name__ == "__main__":
    from benchmarks.__main__ import alone

    alone("insql")
