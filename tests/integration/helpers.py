"""What the integration tests share: a table with texts, signature dumps, the command line in this process."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from sqlalchemy import Engine, make_url, text

import dbsim
from dbsim.hashing.bloom import jaccard
from dbsim.tables.names import quote
from tests.conftest import SECRET

# few keys, so that a test that is not about recall builds few B-trees; a pair at 0.9 is still found with 0.999
QUICK: dict[str, Any] = {"rows": 2, "keys": 4, "secret": SECRET}
WORDS = [
    *("amber", "brook", "cedar", "delta", "ember", "fjord", "grove", "heath", "islet", "juniper", "kelp", "lagoon"),
    *("meadow", "nectar", "orchard", "pebble", "quartz", "ridge", "saddle", "thicket", "upland", "valley", "willow"),
    *("yarrow", "zephyr", "anchor", "beacon", "canvas", "dagger", "engine", "falcon", "gallop", "harbor", "insect"),
    *("jacket", "kettle", "lantern", "mirror", "napkin", "oyster", "pencil", "rocket", "salmon", "tunnel", "violin"),
]


def sentence(seed: int, words: int = 30) -> str:
    """A text of its own for every seed; texts of different seeds share next to no 3-word shingle."""
    return " ".join(np.random.default_rng(seed).choice(WORDS, words).tolist())


def near_copy(seed: int, changed: int = 1, words: int = 30) -> str:
    """The same text with its last words replaced."""
    return " ".join(sentence(seed, words).split()[: words - changed] + [f"other{seed}x{i}" for i in range(changed)])


def corpus(groups: int, singles: int = 0) -> dict[int, str]:
    """Groups of four (a text, a copy, two near copies) numbered from 1, then texts without a twin."""
    texts: list[str] = []
    for seed in range(groups):
        texts += [sentence(seed), sentence(seed).upper() + "!", near_copy(seed, 1), near_copy(seed, 3)]
    texts += [sentence(1000 + seed) for seed in range(singles)]
    return dict(enumerate(texts, 1))


def execute(engine: Engine, *statements: str) -> None:
    """Driver statements without parameters, in one transaction: percent signs and colons are what they are."""
    with engine.begin() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement, execution_options={"no_parameters": True})


def fetch(engine: Engine, statement: str) -> list[tuple[Any, ...]]:
    with engine.connect() as connection:
        rows = connection.exec_driver_sql(statement, execution_options={"no_parameters": True})
        return [tuple(row) for row in rows]


def articles(engine: Engine, texts: Mapping[int, str | None], table: str = "articles") -> None:
    """CREATE TABLE articles (id, body) with these texts."""
    execute(engine, f"CREATE TABLE {quote(table)} (id INTEGER PRIMARY KEY, body TEXT)")
    add(engine, texts, table)


def add(engine: Engine, texts: Mapping[int, str | None], table: str = "articles") -> None:
    with engine.begin() as connection:
        rows = [{"id": key, "body": body} for key, body in texts.items()]
        connection.execute(text(f"INSERT INTO {quote(table)} (id, body) VALUES (:id, :body)"), rows)


def objects(engine: Engine) -> list[tuple[Any, ...]]:
    """The full schema: every table, column, index, trigger, function, constraint and default with its definition."""
    if engine.dialect.name == "sqlite":
        rows = fetch(engine, "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_stat%'")
        return sorted(((*row[:3], " ".join((row[3] or "").split())) for row in rows), key=repr)
    queries = (
        "SELECT 'relation', n.nspname, c.relname, c.relkind::text, pg_get_indexdef(c.oid) FROM pg_class c "
        "JOIN pg_namespace n ON n.oid = c.relnamespace WHERE {user}",
        "SELECT 'column', n.nspname, c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, "
        "pg_get_expr(d.adbin, d.adrelid), a.attcollation::regcollation::text FROM pg_class c "
        "JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 "
        "AND NOT a.attisdropped LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum WHERE {user}",
        "SELECT 'trigger', t.tgrelid::regclass::text, t.tgname, pg_get_triggerdef(t.oid), t.tgenabled::text "
        "FROM pg_trigger t WHERE NOT t.tgisinternal",
        "SELECT 'function', n.nspname, p.proname, pg_get_functiondef(p.oid), p.proacl::text FROM pg_proc p "
        "JOIN pg_namespace n ON n.oid = p.pronamespace WHERE {user}",
        "SELECT 'constraint', n.nspname, c.conrelid::regclass::text, c.conname, pg_get_constraintdef(c.oid) "
        "FROM pg_constraint c JOIN pg_namespace n ON n.oid = c.connamespace WHERE {user}",
        "SELECT 'view', n.nspname, c.viewname, c.definition FROM pg_views c "
        "JOIN pg_namespace n ON n.nspname = c.schemaname WHERE {user}",
    )
    user = "n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg_toast%'"
    return sorted((row for query in queries for row in fetch(engine, query.format(user=user))), key=repr)


def stored_filters(index: dbsim.Index) -> dict[Any, list[tuple[int, int]]]:
    """Key → (bits as a number, popcount) of every field, as stored."""
    tables, backend = index._tables, index._context.backend
    width = len(tables.key_names)
    found = {}
    columns = ", ".join(quote(column.name) for column in tables.signatures.columns)
    for row in fetch(index._context.engine, f"SELECT {columns} FROM {quote(tables.signatures.name)}"):
        tail = row[width + 1 + index.options.keys :]
        bits = [0 if b is None else int.from_bytes(backend.read_bits(b)) for b in tail[0::2]]
        key = row[0] if width == 1 else row[:width]
        found[key] = list(zip(bits, tail[1::2], strict=True))
    return found


def brute_force(
    index: dbsim.Index,
    filters: Sequence[tuple[int, int]],
    threshold: float | None,
    among: Iterable[Any],
    stored: Mapping[Any, Sequence[tuple[int, int]]],
) -> list[dbsim.Hit]:
    """Score these filters against the stored ones of all rows `among` the keys, best first, ties by key."""
    options = index.options
    limit = options.threshold if threshold is None else threshold
    hits = []
    for key in among:
        others = stored[key]
        total, weight = 0.0, 0.0
        for field, (bits, count), (other, size) in zip(options.fields, filters, others, strict=True):
            if count and size:
                share = field.weight if len(options.fields) > 1 else 1.0
                total += share * jaccard(count, size, (bits & other).bit_count(), field.bits)
                weight += share
        if weight and total / weight >= limit:
            hits.append(dbsim.Hit(key, total / weight))
    return sorted(hits, key=lambda hit: (-hit.score, hit.key))


def url_of(database: dbsim.Database, role: str) -> str:
    """The same database, as another role."""
    return make_url(database.engine.url).set(username=role, drivername="postgresql").render_as_string(False)
