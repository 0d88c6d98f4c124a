"""What people see of an index on SQLite, with no function registered: IndexTables → views, and the words they read."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sqlalchemy import Connection

from dbsim.engines.backend import Backend
from dbsim.engines.evidence import learned_of, of_copies
from dbsim.engines.sqlite.surface.popcount import common_bits
from dbsim.engines.sqlite.surface.probability import probability
from dbsim.engines.views import BUCKETS, PAIRS, STATUS, Surface, outdated, union
from dbsim.errors import InvalidOption
from dbsim.hashing.bloom import Filters
from dbsim.hashing.signer import without
from dbsim.options import Field
from dbsim.resources import filled, sql
from dbsim.tables.index_tables import IndexTables
from dbsim.tables.names import identifier, literal, quote
from dbsim.tables.source import Source

WORD = 64
MOST_WORDS = 1024  # a table has at most 2,000 columns


def word_names(tables: IndexTables) -> list[list[str]]:
    """Columns that hold the filter of each field once more, as integers that plain SQL can AND."""
    fields = tables.record.options.fields
    if sum(field.bits for field in fields) > WORD * MOST_WORDS:
        raise InvalidOption(
            f"on SQLite the filters of all fields have at most {WORD * MOST_WORDS} bits: use fewer bits"
        )
    taken = {column.name.lower() for column in tables.signatures.columns}
    names = []
    for field, bits in zip(fields, tables.names.bits, strict=True):
        prefix = bits
        while any(identifier(prefix, str(number)).lower() in taken for number in range(field.bits // WORD)):
            prefix += "_"
        names.append([identifier(prefix, str(number)) for number in range(field.bits // WORD)])
    return names


def words_of(filters: Sequence[Filters]) -> list[list[int | None]]:
    """The values of these columns, column by column; NULL where the row lacks the field."""
    words = [(part.bits.view(">i8").astype(np.int64).T, part.counts > 0) for part in filters]
    return [column for part, there in words for column in without(part, there)]


def view_names(tables: IndexTables) -> list[str]:
    return [Surface(tables).name(part) for part in _shown(tables)]


def _shown(tables: IndexTables) -> tuple[str, ...]:
    """Evidence is too deep an expression for SQLite's parser: records have no view of pairs that plain SQL computes."""
    return (BUCKETS,) if tables.names.rarities else (PAIRS, BUCKETS)


def trigger_names(name: str) -> list[str]:
    return [identifier("dbsim", name, event) for event in ("insert", "update", "delete")]


NO_ROLES = (
    "SQLite has no roles: whoever may read the file may read all of it, the secrets of indexes included; "
    "the permissions of the file decide"
)


class SQLiteSurfaces(Backend):
    """See `Surface` in dbsim.engines.backend for what each step means."""

    def require_inline(self, connection: Connection, tables: IndexTables, source: Source) -> None:
        raise InvalidOption("inline indexes need PostgreSQL, which can sign in SQL: on SQLite leave it queued and sync")

    def create_surface(self, connection: Connection, tables: IndexTables) -> None:
        for statement in view_statements(tables):
            connection.exec_driver_sql(statement)

    def view_made_anew(self, name: str, query: str) -> list[str]:
        return [f"DROP VIEW IF EXISTS {quote(name)}", f"CREATE VIEW {quote(name)} AS {query}"]

    def score_of_copies(self, connection: Connection, tables: IndexTables) -> str | None:
        learned = learned_of(connection, tables)
        return None if learned is None else probability(of_copies(tables, learned, "max"))

    def json_number(self, text: str, name: str) -> str:
        return f"json_extract({text}, {literal('$.' + name)})"

    def go_home(self, home: str) -> list[str]:
        return []

    def surface_statements(self, tables: IndexTables, home: str) -> list[str]:
        return [*view_statements(tables), *status_statements([tables])]

    def drop_surface(self, name: str) -> list[str]:
        return [*drop_statements(name), *self.drop_shared()]

    def drop_shared(self) -> list[str]:
        return [f"DROP VIEW IF EXISTS {STATUS}"]

    def grant(self, connection: Connection, tables: IndexTables, role: str, *, decides: bool = False) -> list[str]:
        raise InvalidOption(NO_ROLES)

    def revoke(self, connection: Connection, tables: IndexTables, role: str) -> bool:
        raise InvalidOption(NO_ROLES)

    def missing_surface(self, connection: Connection, tables: IndexTables) -> list[str]:
        there = set(connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE type = 'view'").scalars())
        return [name for name in (*view_names(tables), STATUS) if name not in there]

    def outdated_surface(self, connection: Connection, tables: IndexTables) -> bool:
        found = connection.exec_driver_sql("SELECT name, sql FROM sqlite_master WHERE type = 'view'").all()
        return outdated(definition for name, definition in found if name in view_names(tables))

    def status_statements(self, connection: Connection, indexes: Sequence[IndexTables]) -> list[str]:
        return status_statements(indexes)


def view_statements(tables: IndexTables) -> list[str]:
    """Pairs and buckets, whatever was there before."""
    surface, parts = Surface(tables), _shown(tables)
    words = word_names(tables)

    def jaccard(field: Field, number: int, a: str, b: str) -> str:
        mine, other = ([f"{side}.{quote(word)}" for word in words[number]] for side in (a, b))
        one, two = surface.count(number, a), surface.count(number, b)
        union_count = f"{one} + {two} - {common_bits(mine, other)}"
        size, factor = field.reading.marks, field.reading.factor
        if factor:
            share = f"(CAST(both AS REAL) / ({one} + {two} - both))"
            return f"(SELECT {factor!r} * {share} FROM (SELECT {common_bits(mine, other)} AS both LIMIT 1))"
        return (
            "(SELECT max((ea.estimate + eb.estimate - eu.estimate) / eu.estimate, 0.0) FROM dbsim_cardinality AS ea, "
            f"dbsim_cardinality AS eb, dbsim_cardinality AS eu WHERE ea.bits = {size} AND ea.count = {one} "
            f"AND eb.bits = {size} AND eb.count = {two} AND eu.bits = {size} AND eu.count = {union_count})"
        )

    names = surface.common_names()
    names |= surface.pair_pieces(sql("sqlite", "pair"), names)
    names |= {
        "score": surface.score(jaccard, repr) if PAIRS in parts else "",
        "standard_error": surface.standard_error("max", repr),
        "step": surface.step("min", repr),
        "shared_keys": surface.keys_in_common("(a.{0} = b.{0})", " + "),
        "nothing": ", ".join(["NULL"] * (len(surface.pair_names) + 5)),
    }
    names["buckets"] = union(
        filled(sql("sqlite", "bucket"), names | {"number": number, "key": key})
        for number, key in enumerate(surface.bucket_keys)
    )
    made = [filled(sql("sqlite", part), names) for part in parts]
    return [*drop_statements(tables.record.name), *made]


def drop_statements(name: str) -> list[str]:
    return [f"DROP VIEW IF EXISTS {quote(identifier('dbsim', name, part))}" for part in (PAIRS, BUCKETS)]


def status_statements(indexes: Sequence[IndexTables]) -> list[str]:
    """dbsim_status over these indexes; no view without an index."""
    parts = []
    for tables in indexes:
        triggers = trigger_names(tables.record.name)
        own = {"triggers": ", ".join(map(literal, triggers)), "trigger_count": len(triggers)}
        parts.append(filled(sql("sqlite", "status"), Surface(tables).common_names() | own))
    made = [f"CREATE VIEW {STATUS} AS\n{union(parts)}"] if parts else []
    return [f"DROP VIEW IF EXISTS {STATUS}", *made]
