"""Functions that sign rows in SQL on PostgreSQL: the trigger of inline indexes, and `fill`: a surface → statements."""

from __future__ import annotations

from typing import Any

from dbsim.engines.postgresql.surface.pieces.rendered import source_text
from dbsim.engines.postgresql.surface.views import PostgreSQLSurface
from dbsim.engines.postgresql.wire.plain import STRIPES, space
from dbsim.resources import filled, sql
from dbsim.tables.group_tables import GroupTables
from dbsim.tables.names import dollar_tag, literal, quote
from dbsim.tables.slice_tables import SliceTables, word_columns

ROW_LIMIT = 10_000  # rows of one statement that are signed inline
TEXT_LIMIT = 1_000_000  # bytes of a row's text that is signed inline: about a second
TIME_LIMIT = "10s"  # of a statement without statement_timeout; otherwise half of that
BYTE_TIME = "3 microseconds"  # to sign a byte of text, on a slow day
# As long as the statement has a limit and has signed nothing yet: 11 were seen where ten processes shared a core.
BYTE_TIME_UNKNOWN = "30 microseconds"


def inline_function(surface: PostgreSQLSurface, names: dict[str, Any]) -> str:
    """The trigger function that signs; `names` are those of the queue's function, which it falls back to."""
    return filled(sql("postgresql", "inline_function"), {**names, **_names(surface)})


def fill_statement(surface: PostgreSQLSurface) -> str:
    """The function that fills the index and works its queue off from SQL."""
    tables, key = surface.tables, surface.surface.key
    home = surface.home[1:-1].replace('""', '"') if surface.home.startswith('"') else surface.home
    own = {
        "space": space(home, tables.record.name),
        "stripes": STRIPES,
        "generation": tables.record.generation,
        "q_no_key": " AND ".join(f"q.{name} IS NULL" for name in key),
        "key_descending": ", ".join(f"{name} DESC" for name in key),
        "create_indexes": "\n".join(f"{statement};" for statement in _indexes(surface)),
    }
    names = surface.names | _names(surface) | own
    names["body"] = dollar_tag(map(str, names.values()))
    return filled(sql("postgresql", "index/fill"), names)


def _indexes(surface: PostgreSQLSurface) -> list[str]:
    found = (statement.element for statement in surface.tables.indexes)
    return [
        f"CREATE INDEX IF NOT EXISTS {quote(str(index.name))} ON {surface.names['home_signatures']} "
        f"({', '.join(quote(column.name) for column in index.columns)})"
        for index in found
    ]


def _names(surface: PostgreSQLSurface) -> dict[str, Any]:
    """What the templates of both fill in."""
    tables = surface.tables
    key = surface.surface.key
    arrays = [f"dbsim_key_{number}" for number in range(1, len(key) + 1)]
    derived = [quote(column.name) for column in (*list(tables.signatures.columns)[len(key) :], *word_columns(tables))]
    texts = [source_text(field, "dbsim_source") for field in tables.record.options.fields]
    groups = GroupTables(tables)
    noted, pairings, results = (
        f"{surface.home}.{quote(table.name)}" for table in (groups.changes, groups.state, groups.results)
    )
    fingerprint, *keys = (f"s.{quote(name)}" for name in (tables.names.fingerprint, *tables.names.keys))
    return _slice_names(surface) | {
        "noted": noted,
        "noted_literal": literal(results),  # made last
        "pairings": pairings,
        "noted_values": ", ".join([fingerprint, *keys]),
        "has_features": f"{fingerprint} IS NOT NULL",
        "home": surface.home,
        "signatures": surface.names["home_signatures"],
        "quarantine": f"{surface.home}.dbsim_quarantine",
        "gate": gate(tables.record.name),
        "source": surface.source,
        "source_literal": literal(surface.source),
        "signatures_view": surface.names["signatures_view"],
        "sign": surface.function("sign"),
        "source_texts": ", ".join(texts),
        "text_length": " + ".join(f"octet_length({text})" for text in texts),
        "text_limit": TEXT_LIMIT,
        "row_limit": ROW_LIMIT,
        "time_limit": TIME_LIMIT,
        "byte_time": BYTE_TIME,
        "byte_time_unknown": BYTE_TIME_UNKNOWN,
        "row_key": surface.surface.key_of("dbsim_row"),
        "row_texts": ", ".join(f"dbsim_row.dbsim_texts[{number}]" for number in range(1, len(texts) + 1)),
        "k_key": surface.surface.key_of("k"),
        "changed_arrays": " ".join(f"{a} {type_}[];" for a, type_ in zip(arrays, surface.key_types, strict=True)),
        "collected": ", ".join(f"array_agg(k.{name})" for name in key) + f" INTO {', '.join(arrays)}",
        "changed": f"unnest({', '.join(arrays)}) AS k ({', '.join(key)})",
        "s_is_k": " AND ".join(f"s.{name} = k.{name}" for name in key),
        "source_is_k": " AND ".join(f"dbsim_source.{name} = k.{name}" for name in key),
        "derived": ", ".join(derived),
        "own_derived": ", ".join(f"dbsim_own.{name}" for name in derived),
    }


def _slice_names(surface: PostgreSQLSurface) -> dict[str, Any]:
    """Changed rows lose their places in the slices of word signatures, if there are any, and go into the tail."""
    sliced, key = SliceTables.of(surface.tables), surface.surface.key
    places, tail = (f"{surface.home}.{quote(table.name)}" for table in (sliced.places, sliced.tail))
    numbered = [column.name for column in sliced.keys(sliced.places)]
    p_is_k = " AND ".join(f"p.{n} = k.{name}" for n, name in zip(numbered, key, strict=True))
    return {
        "sliced": f"to_regclass({literal(tail)}) IS NOT NULL" if sliced.wanted else "false",
        "places": places,
        "tail": tail,
        "p_is_k": p_is_k,
        "numbered_keys": ", ".join(numbered),
    }


def gate(index: str) -> str:
    """The lock that inline triggers share, and that a worker holds alone."""
    return f"hashtextextended({literal(f'dbsim inline {index}')}, 0)"
