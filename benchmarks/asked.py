"""Questions to an index with what must be found, and how they are measured: Questions → Measured, Report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import psycopg
from sqlalchemy import event
from sqlalchemy.exc import OperationalError

import dbsim
from benchmarks import server
from benchmarks.report import Report, Target
from benchmarks.server import Times, seconds, timed

THRESHOLD, RECALL = 0.7, 0.95
LIMIT = 10
BATCH = 100  # texts
BUILD_MINUTES = 10


@dataclass(frozen=True)
class Questions:
    """Query texts, and per query the row ids that reach the threshold exactly."""

    texts: list[str]
    truth: list[set[int]]

    def recall(self, found: Iterable[Iterable[int]]) -> float:
        """Share of all true pairs that were found."""
        hits = sum(len(truth & set(keys)) for truth, keys in zip(self.truth, found, strict=True))
        return hits / max(sum(map(len, self.truth)), 1)


@dataclass(frozen=True)
class Measured:
    """One engine at one size."""

    statement: Times
    signing: Times
    call: Times
    batch: Times  # a query of it
    recall: float

    @property
    def overhead(self) -> float:
        return self.call.median - self.statement.median


def measure(
    report: Report, index: dbsim.Index, database: dbsim.Database, questions: Questions, where: str, limit: int = LIMIT
) -> Measured:
    """Recall, then the statement that search() sends, sent alone; signing; the whole call; batches of 100."""
    with recorded(database) as sent:
        found = [[hit.key for hit in index.search(text, limit=limit)] for text in questions.texts]
    candidates = [
        [hit.key for hit in index.search(text, limit=limit, threshold=THRESHOLD - 0.1)] for text in questions.texts
    ]
    # new ones, which know the common words after the warm-up but not yet those of every query, as in real use
    signer, fresh = index.options.signer(server.SECRET), database.index(index.name)
    single = signer.single
    assert single is not None
    batches = [questions.texts[start : start + BATCH] for start in range(0, len(questions.texts), BATCH)]
    with server.cursor(database) as cursor:
        measured = Measured(
            statement=timed(lambda one: cursor.execute(*one).fetchall(), sent),
            signing=timed(single.sign, questions.texts),
            call=timed(lambda text: fresh.search(text, limit=limit), questions.texts),
            batch=timed(lambda texts: fresh.search_many(texts, limit=limit), batches).divided(BATCH),
            recall=questions.recall(found),
        )
    describe(report, measured, where, questions.recall(candidates), sum(map(len, questions.truth)))
    return measured


@contextmanager
def recorded(database: dbsim.Database) -> Iterator[list[tuple[str, Any]]]:
    """The search statements with their parameters, as the driver got them."""
    sent: list[tuple[str, Any]] = []

    def note(_: object, __: object, statement: str, parameters: Any, *___: object) -> None:
        if "FROM dbsim_documents" in statement:
            sent.append((statement, parameters))

    event.listen(database.engine, "before_cursor_execute", note)
    try:
        yield sent
    finally:
        event.remove(database.engine, "before_cursor_execute", note)


def describe(report: Report, measured: Measured, where: str, candidates: float, pairs: int) -> None:
    report.add(
        f"recall of pairs with J ≥ {THRESHOLD}, {where}",
        measured.recall,
        "",
        target=Target("≥", round(RECALL - 0.02, 3), "value"),
        note=f"{pairs} pairs; {candidates:.4f} before the score's own rounding at the threshold (asked at 0.1 less)",
    )
    report.add(f"statement, {where}", measured.statement.median, "ms", note=f"p99 {measured.statement.p99:.3f}")
    signing, call, batch = measured.signing, measured.call, measured.batch
    report.add(
        f"signing the query, {where}",
        signing.median,
        "ms",
        target=Target("≤", 0.08, "value"),
        note=f"p99 {signing.p99:.3f}",
    )
    whole = Target("≤", 0.3, "value") if where.startswith("sqlite") else None
    report.add(f"whole call, {where}", call.median, "ms", target=whole, note=f"p99 {call.p99:.3f}")
    report.add(
        f"signing and Python, {where}",
        measured.overhead,
        "ms",
        target=Target("≤", 0.45, "value") if where.startswith("postgresql") else None,
        note="whole call less the statement; SQLAlchemy included",
    )
    report.add(f"a query in a batch of {BATCH}, {where}", batch.median, "ms", target=Target("≤", 0.1, "value"))


# ── pgvector ──
@contextmanager
def vector_index(database: dbsim.Database) -> Iterator[float | None]:
    """Seconds the build took, None when it would take more than ten minutes."""
    with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.exec_driver_sql("CREATE EXTENSION IF NOT EXISTS vector")
        connection.exec_driver_sql("SET maintenance_work_mem = '4GB'")  # the whole graph in memory, as its manual asks
        connection.exec_driver_sql(f"SET statement_timeout = '{BUILD_MINUTES}min'")
        statement = "CREATE INDEX vectors ON dbsim_documents USING hnsw (body_bits bit_jaccard_ops)"
        try:
            taken = seconds(lambda: connection.exec_driver_sql(statement))
        except OperationalError as error:
            if not isinstance(error.orig, psycopg.errors.QueryCanceled):
                raise
            yield None
            return
        finally:
            connection.exec_driver_sql("RESET ALL")
        yield taken
        connection.exec_driver_sql("DROP INDEX vectors")


def ladder(
    database: dbsim.Database, index: dbsim.Index, questions: Questions, steps: Sequence[int], limit: int
) -> Iterator[tuple[int, Times, float]]:
    """(ef_search, times, recall), step by step."""
    field = index.options.fields[0]
    bits = index.options.signer(server.SECRET).sign([questions.texts]).filters[0].bits
    asked = [("X" + row.tobytes().hex(),) for row in bits]
    statement = f"SELECT id FROM dbsim_documents ORDER BY body_bits <%%> %s::bit({field.bits}) LIMIT {limit}"
    with server.cursor(database) as cursor:

        def ask(one: tuple[str]) -> list[Any]:
            return cursor.execute(statement, one).fetchall()

        for ef in steps:
            cursor.execute(f"SET hnsw.ef_search = {ef}")
            recall = questions.recall([row[0] for row in ask(one)] for one in asked)
            yield ef, timed(ask, asked), recall
