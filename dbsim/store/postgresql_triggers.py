"""The triggers of an index on PostgreSQL, as statements that need to know nothing of the database: → list[str]."""

from __future__ import annotations

from dbsim.resources import sql
from dbsim.store.identifiers import dollar_quoted, identifier, literal, quote
from dbsim.store.tables import IndexTables

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


def create_triggers(tables: IndexTables) -> list[str]:
    """One block that tries until it gets the lock on the table."""
    options = tables.record.options
    function = _function(tables.record.name)
    triggers = [
        statement
        for trigger, event in events(tables.record.name).items()
        for statement in (
            f"CREATE OR REPLACE TRIGGER {quote(trigger)} AFTER {event.format(RELATION)} "
            f"FOR EACH STATEMENT EXECUTE FUNCTION {function}",
            f"ALTER TABLE {RELATION} ENABLE TRIGGER {quote(trigger)}",
        )
    ]
    work = sql("postgresql", "triggers").format(
        function=_execute(_create_function(tables)),
        revoke=_execute(f"REVOKE ALL ON FUNCTION {function} FROM PUBLIC"),
        source=literal(quote(options.schema, options.table)),
        triggers="\n    ".join(map(_execute, triggers)),
    )
    return [_patiently(work)]


def drop_triggers(name: str) -> list[str]:
    """The function, and with it the triggers that call it."""
    drop = _execute(f"DROP FUNCTION IF EXISTS {_function(name)} CASCADE")
    return [_patiently(f"IF home IS NOT NULL THEN\n    {drop}\nEND IF;")]


def _function(name: str) -> str:
    return f"{HOME}.{quote(identifier('dbsim', name, 'changed'))}()"


def _create_function(tables: IndexTables) -> str:
    name, key, queue = tables.record.name, tables.key_names, quote(tables.queue.name)
    body = sql("postgresql", "queue_function").format(
        queue=f"{HOME}.{queue}",
        queue_literal=literal(f"{HOME_IN_LITERAL}.{queue}"),
        catalogue=f"{HOME}.dbsim_index",
        catalogue_literal=literal(f"{HOME_IN_LITERAL}.dbsim_index"),
        index_literal=literal(name),
        channel_literal=literal(channel(name)),
        key=", ".join(quote(column) for column in key),
        key_array="ARRAY[" + ", ".join(literal(column) for column in key) + "]::name[]",
        key_count=len(key),
    )
    return (
        f"CREATE OR REPLACE FUNCTION {_function(name)} RETURNS trigger LANGUAGE plpgsql "
        f"SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS {dollar_quoted(body)}"
    )


def _patiently(work: str) -> str:
    """A statement of its own that does `work` under the table's lock."""
    return f"DO {dollar_quoted(sql('postgresql', 'patiently').format(wait=LOCK, patience=PATIENCE, work=work.strip()))}"


def _execute(statement: str) -> str:
    """EXECUTE in PL/pgSQL; the server puts the names it knows into their places."""
    parts = [part if number % 2 else literal(part) for number, part in enumerate(statement.split(PLACE))]
    return "EXECUTE " + " || ".join(parts) + ";"
