"""How an index is doing: Connection → Status."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import Connection, func, select

from dbsim.store import catalogue
from dbsim.store.backend import Backend
from dbsim.store.tables import IndexTables

SATURATED = 0.8  # share of set bits beyond which scores become coarse


@dataclass(frozen=True)
class Status:
    """One index: what it covers, how far it is, and what needs attention."""

    index: str
    table: str
    columns: str
    family: str
    keys: int
    rows_per_key: int
    threshold: float
    recall: float
    state: str
    inline: bool
    generation: int
    rows: int
    indexed: int
    queued: int
    oldest_queued: str | None
    quarantined: int
    fill: dict[str, float]  # field → mean share of set bits
    problems: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "problems": list(self.problems)}


def status(connection: Connection, backend: Backend, tables: IndexTables, describe: str) -> Status:
    record, names = tables.record, tables.names
    options = record.options
    stored = tables.signatures
    fill = {
        field.name: round(float(connection.scalar(_mean_count(stored.c[count])) or 0) / field.bits, 4)
        for field, count in zip(options.fields, names.counts, strict=True)
    }
    queued, oldest = connection.execute(
        select(func.count(), func.min(tables.queue.c[names.queued])).select_from(tables.queue)
    ).one()
    quarantined = connection.scalar(
        select(func.count())
        .select_from(catalogue.quarantine_table)
        .where(catalogue.quarantine_table.c.index_name == record.name)
    )
    source = backend.describe(connection, options.table, options.schema)
    problems = _problems(connection, backend, tables, fill)
    gone = [name for name in (*tables.key_names, *options.columns) if source is None or name not in source.columns]
    if gone:
        what = "the table" if source is None else f"column {', '.join(map(repr, gone))}"
        problems.append(f"{what} is gone: rename it back, or drop the index and create it again")
    return Status(
        index=record.name,
        table=options.table if options.schema is None else f"{options.schema}.{options.table}",
        columns=describe,
        family=options.family,
        keys=options.keys,
        rows_per_key=options.rows,
        threshold=options.threshold,
        recall=options.recall,
        state=record.state,
        inline=options.inline,
        generation=record.generation,
        rows=_count_rows(connection, tables) if source is not None else 0,
        indexed=connection.scalar(select(func.count()).select_from(stored)) or 0,
        queued=queued,
        oldest_queued=None if oldest is None else str(oldest),
        quarantined=quarantined or 0,
        fill=fill,
        problems=tuple(problems),
    )


def _count_rows(connection: Connection, tables: IndexTables) -> int:
    return connection.scalar(select(func.count()).select_from(tables.source)) or 0


def _mean_count(count: Any) -> Any:
    return select(func.avg(count)).where(count > 0)


def _problems(connection: Connection, backend: Backend, tables: IndexTables, fill: dict[str, float]) -> list[str]:
    found = []
    record = tables.record
    if not record.ready:
        found.append("not filled yet: run `dbsim sync`")
    if record.options.triggers and (missing := backend.missing_triggers(connection, tables)):
        found.append(f"{len(missing)} triggers are missing, changes go unnoticed: run `dbsim sync`")
    if missing := backend.missing_surface(connection, tables):
        found.append(f"{len(missing)} views or functions for SQL are missing ({missing[0]}, …): run `dbsim sync`")
    for name, share in fill.items():
        if share > SATURATED:
            found.append(f"the filters of {name!r} are {share:.0%} full, scores are coarse: create it with more bits")
    return found
