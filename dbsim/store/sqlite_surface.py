"""The views of an index on SQLite, for clients that have no function registered: IndexTables → statements."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dbsim.errors import InvalidOption
from dbsim.hashing.bloom import Filters
from dbsim.options import Field
from dbsim.resources import filled, sql
from dbsim.store.identifiers import identifier, literal, quote
from dbsim.store.popcount import common_bits
from dbsim.store.surface import BUCKETS, PAIRS, STATUS, Surface, union
from dbsim.store.tables import IndexTables

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
    """The values of these columns, row by row; NULL where the row lacks the field."""
    parts = []
    for part in filters:
        words = part.bits.view(">i8").astype(object)
        words[part.counts == 0] = None
        parts.append(words)
    rows: list[list[int | None]] = np.concatenate(parts, axis=1).tolist()
    return rows


def view_names(tables: IndexTables) -> list[str]:
    return [Surface(tables).name(part) for part in (PAIRS, BUCKETS)]


def view_statements(tables: IndexTables) -> list[str]:
    """Pairs and buckets, whatever was there before."""
    surface = Surface(tables)
    words = word_names(tables)

    def jaccard(field: Field, number: int, a: str, b: str) -> str:
        mine, other = ([f"{side}.{quote(word)}" for word in words[number]] for side in (a, b))
        one, two = surface.count(number, a), surface.count(number, b)
        union_count = f"{one} + {two} - {common_bits(mine, other)}"
        return (
            "(SELECT max((ea.estimate + eb.estimate - eu.estimate) / eu.estimate, 0.0) FROM dbsim_cardinality AS ea, "
            f"dbsim_cardinality AS eb, dbsim_cardinality AS eu WHERE ea.bits = {field.bits} AND ea.count = {one} "
            f"AND eb.bits = {field.bits} AND eb.count = {two} AND eu.bits = {field.bits} AND eu.count = {union_count})"
        )

    names = surface.common_names() | {
        "score": surface.score(jaccard, repr),
        "shared_keys": surface.keys_in_common("(a.{0} = b.{0})", " + "),
    }
    names["buckets"] = union(
        filled(sql("sqlite", "bucket"), names | {"number": number, "key": key})
        for number, key in enumerate(surface.bucket_keys)
    )
    made = [filled(sql("sqlite", template), names) for template in ("pairs", "buckets")]
    return [*drop_statements(tables.record.name), *made]


def drop_statements(name: str) -> list[str]:
    return [f"DROP VIEW IF EXISTS {quote(identifier('dbsim', name, part))}" for part in (PAIRS, BUCKETS)]


def status_statements(all_tables: Sequence[IndexTables], triggers: Sequence[Sequence[str]]) -> list[str]:
    """dbsim_status over these indexes; no view without an index."""
    parts = [
        filled(
            sql("sqlite", "status"),
            Surface(tables).common_names() | {"triggers": ", ".join(map(literal, names)), "trigger_count": len(names)},
        )
        for tables, names in zip(all_tables, triggers, strict=True)
    ]
    made = [f"CREATE VIEW {STATUS} AS\n{union(parts)}"] if parts else []
    return [f"DROP VIEW IF EXISTS {STATUS}", *made]
