"""The triggers of an index on PostgreSQL, as statements that need to know nothing of the database: → list[str]."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dbsim.resources import filled, sql
from dbsim.tables.index_tables import IndexTables
from dbsim.tables.names import dollar_quoted, dollar_tag, identifier, literal, quote

LOCK = "500ms"  # how long CREATE TRIGGER may queue in front of the application's writes
PATIENCE = "60s"  # how long it is tried again
PLACE = "\1"  # stands around names that only the server knows: no identifier contains it
HOME, HOME_IN_LITERAL, RELATION = (f"{PLACE}{name}{PLACE}" for name in ("home", "home_in_literal", "relation"))


def events(name: str) -> dict[str, str]:
    """Trigger name → what it listens to; statement level, so that a bulk write pays once."""
    found = {
        "insert": "INSERT ON {} REFERENCING NEW TABLE AS dbsim_new",
        "update": "UPDATE ON {} REFERENCING OLD TABLE AS dbsim_old NEW TABLE AS dbsim_new",
        "delete": "DELETE ON {} REFERENCING OLD TABLE AS dbsim_old",
        "truncate": "TRUNCATE ON {}",
    }
    return {identifier("dbsim", name, event): text for event, text in found.items()}


def channel(name: str) -> str:
    """Where the trigger notifies a sleeping worker."""
    return identifier("dbsim", name)


def parts(tables: IndexTables) -> dict[str, Any]:
    """What the templates of the trigger functions fill in."""
    name, key, queue = tables.record.name, tables.key_names, quote(tables.queue.name)
    found: dict[str, Any] = {
        "function": _function(name),
        "queue": f"{HOME}.{queue}",
        "queue_literal": literal(f"{HOME_IN_LITERAL}.{queue}"),
        "catalogue": f"{HOME}.dbsim_index",
        "catalogue_literal": literal(f"{HOME_IN_LITERAL}.dbsim_index"),
        "index_literal": literal(name),
        "channel_literal": literal(channel(name)),
        "key": ", ".join(quote(column) for column in key),
        "key_types": _key_types(queue, key),
        "key_count": str(len(key)),
    }
    found["queue_changes"] = filled(sql("postgresql", "queue_changes"), found)
    return found | {"body": dollar_tag([*map(str, found.values()), *tables.record.options.columns])}


def create_triggers(tables: IndexTables, function: str | None = None) -> list[str]:
    """One block that tries until it gets the lock on the table; `function` is the statement that makes another one."""
    options, name = tables.record.options, tables.record.name
    triggers = [
        statement
        for trigger, event in events(name).items()
        for statement in (
            f"CREATE OR REPLACE TRIGGER {quote(trigger)} AFTER {event.format(RELATION)} "
            f"FOR EACH STATEMENT EXECUTE FUNCTION {_function(name)}()",
            f"ALTER TABLE {RELATION} ENABLE TRIGGER {quote(trigger)}",
        )
    ]
    pieces = {
        "function": _execute(function or filled(sql("postgresql", "queue_function"), parts(tables))),
        "revoke": _execute(f"REVOKE ALL ON FUNCTION {_function(name)}() FROM PUBLIC"),
        "source": literal(quote(options.schema, options.table)),
        "triggers": "\n    ".join(map(_execute, triggers)),
    }
    return [_patiently(filled(sql("postgresql", "triggers"), pieces))]


def require_key(tables: IndexTables) -> list[str]:
    """One block that refuses an index whose key columns are of other types than the table's."""
    options = tables.record.options
    parts = {
        "source_literal": literal(quote(options.schema, options.table)),
        "queue_literal": literal(quote(tables.queue.name)),
        "names": ", ".join(literal(name) for name in tables.key_names),
        "sentence": literal(f"dbsim: the primary key of {options.table} is "),
    }
    return [filled(sql("postgresql", "require_key"), parts | {"body": dollar_tag(parts.values())})]


def drop_triggers(name: str) -> list[str]:
    """The function, and with it the triggers that call it."""
    drop = _execute(f"DROP FUNCTION IF EXISTS {_function(name)}() CASCADE")
    return [_patiently(f"IF home IS NOT NULL THEN\n    {drop}\nEND IF;")]


def _key_types(queue: str, key: Sequence[str]) -> str:
    """(name, type, length) of every key column of the queue, to be read by the server when it makes the function."""
    columns = ", ".join(literal(column) for column in key)
    return (
        f"{PLACE}(SELECT string_agg(format('(%L::name, to_regtype(%L)::oid, %s)', a.attname, "
        "quote_ident(n.nspname) || '.' || quote_ident(t.typname), a.atttypmod), ', ') "
        "FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid JOIN pg_namespace n ON n.oid = t.typnamespace "
        f"WHERE a.attrelid = to_regclass(home || {literal('.' + queue)}) AND a.attname IN ({columns})){PLACE}"
    )


def _function(name: str) -> str:
    return f"{HOME}.{quote(identifier('dbsim', name, 'changed'))}"


def _patiently(work: str) -> str:
    """A statement of its own that does `work` under the table's lock."""
    names = {"wait": LOCK, "patience": PATIENCE, "work": work.strip()}
    return f"DO {dollar_quoted(filled(sql('postgresql', 'patiently'), names))}"


def _execute(statement: str) -> str:
    """EXECUTE in PL/pgSQL; the server puts the names it knows into their places."""
    pieces = [part if number % 2 else literal(part) for number, part in enumerate(statement.split(PLACE))]
    return "EXECUTE " + " || ".join(pieces) + ";"
