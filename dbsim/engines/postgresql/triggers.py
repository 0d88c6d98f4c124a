"""The triggers of an index on PostgreSQL, as statements that need to know nothing of the database: → list[str]."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

from dbsim.engines.views import MARK
from dbsim.resources import filled, sql
from dbsim.tables.index_tables import IndexTables
from dbsim.tables.names import dollar_quoted, dollar_tag, identifier, literal, quote

WAIT = 200  # milliseconds that a request for the table's lock may queue in front of the application's statements
PATIENCE = "60s"  # how long it is tried again
DOOR = "unless"
PLACE = "\1"  # stands around names that only the server knows: no identifier contains it
HOME, HOME_IN_LITERAL, RELATION = (f"{PLACE}{name}{PLACE}" for name in ("home", "home_in_literal", "relation"))
STATEMENT = {  # event → what it listens to; statement level, so that a bulk write pays once
    "insert": "INSERT ON {} REFERENCING NEW TABLE AS dbsim_new FOR EACH STATEMENT",
    "delete": "DELETE ON {} REFERENCING OLD TABLE AS dbsim_old FOR EACH STATEMENT",
    "truncate": "TRUNCATE ON {} FOR EACH STATEMENT",
}
UPDATE_TOGETHER = "UPDATE ON {} REFERENCING OLD TABLE AS dbsim_old NEW TABLE AS dbsim_new FOR EACH STATEMENT"
# without copies of all rows, most of which are written again with the same text: a third of the cost
UPDATE_ROW = "UPDATE ON {} FOR EACH ROW"
REPLICA = "INSERT OR UPDATE OR DELETE ON {} FOR EACH ROW"  # all that the apply worker of a subscription fires
ENABLED = {"truncate": "ENABLE ALWAYS", "replica": "ENABLE REPLICA"}


def events(name: str) -> dict[str, str]:
    """Trigger name → how it is switched on in pg_trigger; a partition has all of them but the last by itself."""
    letters = {"insert": "OA", "update": "OA", "delete": "OA", "truncate": "A", "replica": "RA"}
    return {identifier("dbsim", name, event): enabled for event, enabled in letters.items()}


def channel(name: str) -> str:
    """Where the trigger notifies a sleeping worker."""
    return identifier("dbsim", name)


def wake(name: str) -> int:
    """The advisory lock that a sleeping worker holds."""
    return int.from_bytes(hashlib.sha256(f"dbsim wake {name}".encode()).digest()[:8], signed=True)


def parts(tables: IndexTables) -> dict[str, Any]:
    """What the templates of the trigger functions fill in."""
    name, key, queue = tables.record.name, tables.key_names, quote(tables.queue.name)
    found: dict[str, Any] = {
        "mark": MARK,
        "function": _function(name),
        "queue": f"{HOME}.{queue}",
        "queue_literal": literal(f"{HOME_IN_LITERAL}.{queue}"),
        "catalogue": f"{HOME}.dbsim_index",
        "catalogue_literal": literal(f"{HOME_IN_LITERAL}.dbsim_index"),
        "index_literal": literal(name),
        "channel_literal": literal(channel(name)),
        "wake": wake(name),
        **_columns(tables, queue),
        "key_types": _key_types(queue, key),
        "key_known": _key_known(queue, key),
    }
    found["queue_open"] = filled(sql("postgresql", "queue_open"), found).strip()
    found["queue_changes"] = filled(sql("postgresql", "queue_changes"), found)
    found["row_unchanged"] = filled(sql("postgresql", "row_unchanged"), found)
    return found | {"body": dollar_tag([*map(str, found.values()), *tables.record.options.columns])}


def _columns(tables: IndexTables, queue: str) -> dict[str, str]:
    """Names and comparisons of the key and of the indexed columns, which are compared as the texts that are signed."""
    key = tables.key_names
    read = list(dict.fromkeys((*key, *tables.record.options.columns)))
    rows = {"new": "NEW", "old": "OLD", "n": "dbsim_n", "o": "dbsim_o"}
    keys = {one: ", ".join(f"{row}.{quote(name)}" for name in key) for one, row in rows.items()}
    texts = {one: ", ".join(f'{row}.{quote(name)}::text COLLATE "C"' for name in read) for one, row in rows.items()}
    key_texts = {one: ", ".join(f'{rows[one]}.{quote(name)}::text COLLATE "C"' for name in key) for one in rows}
    same_key = " AND ".join(f"dbsim_n.{quote(name)} = dbsim_o.{quote(name)}" for name in key)
    virtual = f"{PLACE}virtual::text{PLACE}"
    first = quote(key[0])
    changed_keys = (
        f"SELECT {keys['n']} FROM dbsim_new AS dbsim_n LEFT JOIN dbsim_old AS dbsim_o ON {same_key} "
        f"WHERE {virtual} OR dbsim_o.{first} IS NULL OR ({texts['n']}) IS DISTINCT FROM ({texts['o']}) "
        f"UNION ALL SELECT {keys['o']} FROM dbsim_old AS dbsim_o LEFT JOIN dbsim_new AS dbsim_n ON {same_key} "
        f"WHERE dbsim_n.{first} IS NULL"
    )
    return {
        "key": ", ".join(quote(name) for name in key),
        "queue_has_key": " AND ".join(f"(NULL::{HOME}.{queue}).{quote(name)} IS NULL" for name in key),
        "key_names": ", ".join(literal(name) for name in key),
        "key_count": str(len(key)),
        "column_names": ", ".join(literal(name) for name in read),
        "column_count": str(len(read)),
        "new_key": keys["new"],
        "old_key": keys["old"],
        "new_key_text": key_texts["new"],
        "old_key_text": key_texts["old"],
        "row_changed": f"{virtual} OR ({texts['new']}) IS DISTINCT FROM ({texts['old']})",
        "changed_keys": changed_keys,
    }


def create_triggers(tables: IndexTables, function: str | None = None, *, patient: bool = True) -> list[str]:
    """One block that tries until it gets the lock on the table; `function` is the statement that makes another one.

    Not `patient`: only once, when the caller tries the whole transaction again.
    """
    options, name = tables.record.options, tables.record.name
    table = literal(quote(options.schema, options.table))
    own = [
        f"source := {table}::regclass;",
        _virtual(options.columns),
        _execute(function or filled(sql("postgresql", "queue_function"), parts(tables))),
        _execute(f"REVOKE ALL ON FUNCTION {_function(name)}() FROM PUBLIC"),
        _rights(tables),
        _execute(f"COMMENT ON FUNCTION {_function(name)}() IS 'dbsim: the trigger that notes or signs changed rows'"),
    ]
    tree = "SELECT source UNION SELECT t.relid FROM pg_partition_tree(source) t"
    pieces = {
        "source": "source",
        "tree": f"SELECT t.relid FROM ({tree}) AS t (relid) JOIN pg_class k ON k.oid = t.relid "
        "WHERE k.relkind IN ('r', 'p')",
        "inline": str(options.inline).lower(),
        "triggers": _lines(_create(name, event, listens) for event, listens in STATEMENT.items()),
        "update_together": _create(name, "update", UPDATE_TOGETHER),
        "update_row": _create(name, "update", UPDATE_ROW),
        "door": _door(name) if options.on_duplicate else "",
        "enable": _lines(_enable(name, event) for event in (*STATEMENT, "update")),
        "replica": _lines([_create(name, "replica", REPLICA), _enable(name, "replica")]),
        "strays": _bearers(name, f"AND t.tgrelid NOT IN (SELECT x.relid FROM ({tree}) AS x (relid))"),
        "drop_strays": _lines(_execute(f"DROP TRIGGER IF EXISTS {quote(one)} ON {RELATION}") for one in events(name)),
    }
    relations = f"SELECT x.relid::regclass::text FROM ({pieces['tree']}) AS x (relid) ORDER BY 1"
    work = filled(sql("postgresql", "triggers"), pieces)
    return [_patiently(_lines(own), relations, "SHARE ROW EXCLUSIVE", work, PATIENCE if patient else "0s")]


def _rights(tables: IndexTables) -> str:
    """The owner of the trigger function may write the queue."""
    names = {"function": f"{_function(tables.record.name)}()", "queue": f"{HOME}.{quote(tables.queue.name)}"}
    written = {f"{part}_literal": _known(name) for part, name in names.items()}
    return filled(sql("postgresql", "queue_rights"), written).strip()


def drop_everything(name: str, own: Iterable[str], written: Iterable[str]) -> list[str]:
    """Of an index: `own` objects first, then the triggers, then at once what the triggers have `written` to."""
    functions = (f"DROP FUNCTION IF EXISTS {one}() CASCADE" for one in (_function(name), _function(name, DOOR)))
    drop = f"IF home IS NOT NULL THEN\n    {_lines(map(_execute, functions))}\nEND IF;"
    work = _lines([drop, *map(_execute, written)])
    return [_patiently(_lines(map(_execute, own)), _bearers(name), "ACCESS EXCLUSIVE", work, PATIENCE)]


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
    return drop_everything(name, (), ())


def _bearers(name: str, condition: str = "") -> str:
    """The tables that have triggers of this index."""
    function = f"home || {literal('.' + quote(identifier('dbsim', name, 'changed')) + '()')}"
    return (
        f"SELECT DISTINCT t.tgrelid::regclass::text FROM pg_trigger t WHERE t.tgfoid = to_regprocedure({function}) "
        f"{condition} ORDER BY 1"
    )


def _create(name: str, event: str, listens: str) -> str:
    made = f"CREATE OR REPLACE TRIGGER {quote(identifier('dbsim', name, event))} AFTER {listens.format(RELATION)} "
    return _execute(f"{made}EXECUTE FUNCTION {_function(name)}()")


def _enable(name: str, event: str) -> str:
    how = ENABLED.get(event, "ENABLE")
    return _execute(f"ALTER TABLE {RELATION} {how} TRIGGER {quote(identifier('dbsim', name, event))}")


def _virtual(columns: Sequence[str]) -> str:
    """A column that is computed when it is read has no value in a trigger, so that its changes are not seen there."""
    names = ", ".join(map(literal, columns))
    return (
        "virtual := EXISTS (SELECT FROM pg_attribute WHERE attrelid = source AND attgenerated = 'v' "
        f"AND attname IN ({names}));"
    )


def _key_types(queue: str, key: Sequence[str]) -> str:
    """(name, type, length) of every key column of the queue, to be read by the server when it makes the function."""
    columns = ", ".join(literal(column) for column in key)
    return (
        f"{PLACE}(SELECT string_agg(format('(%L::name, to_regtype(%L)::oid, %s)', a.attname, "
        "quote_ident(n.nspname) || '.' || quote_ident(t.typname), a.atttypmod), ', ') "
        "FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid JOIN pg_namespace n ON n.oid = t.typnamespace "
        f"WHERE a.attrelid = to_regclass(home || {literal('.' + queue)}) AND a.attname IN ({columns})){PLACE}"
    )


def _key_known(queue: str, key: Sequence[str]) -> str:
    """Whether the table has these key columns, as an expression; of types with a length the catalogue knows more.

    A name with a dollar sign, which the server puts in, might end the body of the function: the catalogue is asked.
    """
    columns = ", ".join(literal(column) for column in key)
    return (
        f"{PLACE}(SELECT CASE WHEN bool_and(a.atttypmod = -1) AND strpos(min(s.name), '$') = 0 THEN "
        "format('TG_RELID = %L::regclass', min(s.name)) || "
        "string_agg(format(' AND pg_typeof((NULL::%s).%I) = %L::regtype', s.name, a.attname, "
        "quote_ident(n.nspname) || '.' || quote_ident(t.typname)), '') ELSE 'false' END "
        "FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid JOIN pg_namespace n ON n.oid = t.typnamespace, "
        "(SELECT format('%I.%I', n.nspname, c.relname) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
        "WHERE c.oid = source) AS s (name) "
        f"WHERE a.attrelid = to_regclass(home || {literal('.' + queue)}) AND a.attname IN ({columns})){PLACE}"
    )


def _function(name: str, part: str = "changed") -> str:
    return f"{HOME}.{quote(identifier('dbsim', name, part))}"


def _door(name: str) -> str:
    """Rejects or flags persons who are there already; fired after the trigger that signs."""
    made = f"CREATE OR REPLACE TRIGGER {quote(unless_trigger(name))} AFTER {STATEMENT['insert'].format(RELATION)} "
    return _execute(f"{made}EXECUTE FUNCTION {_function(name, DOOR)}()")


def unless_trigger(index: str) -> str:
    """Sorted after dbsim's other triggers, and so fired after them."""
    return identifier("unless_dbsim", index)


def _patiently(own: str, relations: str, mode: str, work: str, patience: str) -> str:
    """A statement of its own."""
    names = {"wait": WAIT, "patience": patience, "own": own, "relations": relations, "mode": mode, "work": work.strip()}
    return f"DO {dollar_quoted(filled(sql('postgresql', 'patiently'), names))}"


def _lines(statements: Iterable[str]) -> str:
    return "\n".join(statements)


def _execute(statement: str) -> str:
    """EXECUTE in PL/pgSQL."""
    return f"EXECUTE {_known(statement)};"


def _known(text: str) -> str:
    """As an expression in which the server puts the names it knows into their places."""
    return " || ".join(part if number % 2 else literal(part) for number, part in enumerate(text.split(PLACE)))
