"""How an index is doing: Connection → Status."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import Connection, case, func, select

from dbsim.choosing import outgrown
from dbsim.engines.backend import Backend
from dbsim.hashing.choosing.filter_size import saturated_from
from dbsim.hashing.records.evidence import UNIT
from dbsim.hashing.records.family import COPY
from dbsim.hashing.records.probability import probability_of
from dbsim.lifecycle import groups as stored_groups
from dbsim.lifecycle.fit import source_problem
from dbsim.lifecycle.words import filters as word_filters
from dbsim.outside import why_missing
from dbsim.tables import catalogue, group_results, group_state
from dbsim.tables.catalogue import target
from dbsim.tables.group_tables import PUBLISHED, GroupTables
from dbsim.tables.index_tables import IndexTables
from dbsim.tables.model_rows import load

TELLING = 6 * UNIT  # evidence of a copy, 0.985: registers without a date of birth have 0.6 to 5.5, with one from 9 on
SATURATED = 0.05  # share of rows that need their texts: more of them make searches slow


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
    groups: int | None  # stored groups of near-duplicates; None before `duplicates` was called
    fill: dict[str, float]  # field → mean share of set bits
    saturated: dict[str, float]  # field → share of rows too long for their filter, which only texts can compare
    false_drops: dict[str, float]  # field with a word filter → share of rows that questions for one word read in vain
    change: dict[str, Any] | None  # a change of options under way: its generation, its options, rows read
    kept: tuple[int, ...]  # replaced generations that are not dropped yet
    problems: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "problems": list(self.problems), "kept": list(self.kept)}


def status(connection: Connection, backend: Backend, tables: IndexTables, describe: str) -> Status:
    record, names = tables.record, tables.names
    options = record.options
    stored = tables.signatures
    fill = {
        field.name: round(float(connection.scalar(_mean_count(stored.c[count])) or 0) / field.reading.marks, 4)
        for field, count in zip(options.fields, names.counts, strict=True)
    }
    queued, oldest = connection.execute(
        select(func.count(), func.min(tables.queue.c[names.queued])).select_from(tables.queue)
    ).one()
    quarantined = connection.scalar(
        select(func.count())
        .select_from(catalogue.quarantine_table)
        .where(
            catalogue.quarantine_table.c.index_name == record.name,
            catalogue.quarantine_table.c.generation == record.generation,
        )
    )
    found = catalogue.generations(connection, record.name)
    wanted = target(found)
    source = backend.describe(connection, options.table, options.schema)
    rows = _count_rows(connection, tables) if source is not None else 0
    saturated = _saturated(connection, tables)
    problems = _problems(connection, backend, tables, saturated)
    drops = word_filters.false_drops(connection, tables)
    problems += word_filters.problems(tables, drops)
    problems += filter(None, (outgrown(options, rows), unreadable(connection, tables)))
    if (problem := source_problem(connection, backend, tables, source)) is not None:
        problems.append(problem)
    elif source is not None and options.triggers and not problems:  # which explain it as well
        problems += _past_the_triggers(connection, tables)
    problems += _telling_little(connection, tables)
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
        rows=rows,
        indexed=connection.scalar(select(func.count()).select_from(stored)) or 0,
        queued=queued,
        oldest_queued=None if oldest is None else str(oldest),
        quarantined=quarantined or 0,
        groups=_groups(connection, backend, GroupTables(tables)),
        fill=fill,
        saturated=saturated,
        false_drops={name: round(rate, 5) for name, rate in drops.items()},
        change=None if wanted is None or wanted is found[0] else _change(connection, wanted, record, rows),
        kept=tuple(other.generation for other in found[1:] if other is not wanted),
        problems=tuple(problems),
    )


def _telling_little(connection: Connection, tables: IndexTables) -> list[str]:
    """Of persons: when even copies are not sure to be one person, nobody should be merged without a look."""
    record = tables.record
    if not record.options.hashing.rarity:
        return []
    copy = load(connection, record.name, record.generation, COPY)
    if copy is None or (bits := int(copy[""][0])) >= TELLING:
        return []
    return [
        f"the columns tell little: of half of the rows an exact copy is the same person with a probability of at most "
        f"{probability_of(bits):.2f}; index a column that tells persons apart, such as a date of birth, and look at "
        "what is found before you act on it"
    ]


def _change(
    connection: Connection, new: catalogue.IndexRecord, old: catalogue.IndexRecord, rows: int
) -> dict[str, Any]:
    stored = IndexTables(new).signatures
    done = connection.scalar(select(func.count()).select_from(stored)) or 0
    return {
        "generation": new.generation,
        "state": new.state,
        "indexed": done,
        "rows": rows,
        "options": old.options.changes(new.options) or ["learned again"],
    }


def unreadable(connection: Connection, tables: IndexTables) -> str | None:
    """What to say of an index none of whose rows can be read as text; a look at the quarantine, unless there is one."""
    held = catalogue.quarantine_table
    mine = (held.c.index_name == tables.record.name, held.c.generation == tables.record.generation)
    reason = connection.scalar(select(held.c.reason).where(*mine).limit(1))
    if reason is None:
        return None
    quarantined = connection.scalar(select(func.count()).select_from(held).where(*mine)) or 0
    if quarantined < (connection.scalar(select(func.count()).select_from(tables.signatures)) or 0):
        return None
    return (
        f"all {quarantined} rows of {tables.record.options.table!r} are quarantined ({reason}), so that nothing can be "
        f"found: name a column with text (`dbsim alter`), or correct the values and sync again"
    )


def _past_the_triggers(connection: Connection, tables: IndexTables) -> list[str]:
    """Rows that came or went while nothing was queued; counted by one statement, so that all is of one moment."""
    held = catalogue.quarantine_table
    mine = (held.c.index_name == tables.record.name, held.c.generation == tables.record.generation)
    counts = [
        select(func.count()).select_from(table).scalar_subquery()
        for table in (tables.source, tables.signatures, tables.queue)
    ]
    poison = select(func.count()).select_from(held).where(*mine).scalar_subquery()
    counted: Any = connection.execute(select(*counts, poison)).one()
    rows, indexed, queued, quarantined = counted
    remedy = "past the triggers (switched off, or a partition dropped): run `dbsim sync --reconcile`"
    if indexed > rows + queued:
        return [f"at least {indexed - rows - queued} rows went from the table {remedy}"]
    if rows > indexed + quarantined + queued:
        return [f"at least {rows - indexed - quarantined - queued} rows came into the table {remedy}"]
    return []


def _count_rows(connection: Connection, tables: IndexTables) -> int:
    return connection.scalar(select(func.count()).select_from(tables.source)) or 0


def _groups(connection: Connection, backend: Backend, groups: GroupTables) -> int | None:
    """Of the published result."""
    if not stored_groups.exist(connection, backend, groups):
        return None
    found = group_results.find(connection, groups, PUBLISHED)
    if found is None or not found.generation:
        return None
    contents = groups.contents
    representatives = contents.c.fingerprint == contents.c.group_id
    query = select(func.count()).select_from(contents)
    return connection.scalar(query.where(contents.c.generation == found.generation, representatives))


def _waiting(connection: Connection, backend: Backend, groups: GroupTables) -> list[str]:
    """What keeps stored pairs and groups from being up to date."""
    if not stored_groups.exist(connection, backend, groups):
        return []
    states = group_state.all_states(connection, groups)
    found = []
    if any(state.token == stored_groups.RENEW for state in states):
        found.append("groups are to be made again for the new options: run `dbsim sync`")
    idle = [state for state in states if not state.paired and not state.running]
    stopped = [state for state in idle if state.token != stored_groups.RENEW]
    if stopped:
        noted = sum(group_state.pending(connection, groups, state.id) for state in stopped)
        found.append(
            f"a run of `dbsim duplicates` or `pairs` was stopped, {noted} changes wait for it: run it again to go on"
        )
    return found


def _saturated(connection: Connection, tables: IndexTables) -> dict[str, float]:
    """Of the rows that have the field; known by the count of set bits."""
    options = tables.record.options
    found = {}
    for field, name in zip(options.fields, tables.names.counts, strict=True):
        count = tables.signatures.c[name]
        full = count >= saturated_from(field.reading.marks, options.threshold)
        query = select(func.count(), func.sum(case((full, 1), else_=0))).where(count > 0)
        rows, many = connection.execute(query).one()
        found[field.name] = round(float(many or 0) / rows, 4) if rows else 0.0
    return found


def _mean_count(count: Any) -> Any:
    return select(func.avg(count)).where(count > 0)


def _not_in_place(connection: Connection, backend: Backend, tables: IndexTables) -> list[str]:
    surface, triggers = backend.defects(connection, tables)
    if surface.outdated or triggers.outdated:  # which lack what is new, too
        return ["its triggers, views and functions are of an earlier dbsim: run `dbsim sync`, which makes them anew"]
    found = []
    if triggers.missing:
        found.append(f"{len(triggers.missing)} triggers are missing, changes go unnoticed: run `dbsim sync`")
    if views := surface.missing:
        found.append(f"{len(views)} views or functions for SQL are missing ({views[0]}, …): run `dbsim sync`")
    return found


def _problems(connection: Connection, backend: Backend, tables: IndexTables, saturated: dict[str, float]) -> list[str]:
    found = []
    record = tables.record
    if record.options.secret and not record.secret:
        found.append(why_missing(record.options.secret, record.options.secret_check))
    if not record.ready:
        found.append("not filled yet: run `dbsim sync`")
    elif record.wanted not in (None, record.generation):
        found.append(f"generation {record.wanted} takes over when it is built: run `dbsim sync`")
    found += _not_in_place(connection, backend, tables)
    found += _waiting(connection, backend, GroupTables(tables))
    for role in backend.readers_of_secrets(connection):
        found.append(f"role {role} can read the secrets of indexes: run `REVOKE ALL ON dbsim_index FROM {role}`")
    for name, share in saturated.items():
        if share > SATURATED:
            what = f"{share:.0%} of the rows are too long for the filters of {name!r} and are compared by their texts"
            found.append(f"{what}: `dbsim alter` it to more bits")
    return found
