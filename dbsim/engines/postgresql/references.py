"""The foreign keys that point to a table of a PostgreSQL database: Connection → list[Reference]."""

from __future__ import annotations

from sqlalchemy import Connection

from dbsim.engines.execute import ask
from dbsim.tables.source import Reference

ACTIONS = {"a": "NO ACTION", "r": "RESTRICT", "c": "CASCADE", "n": "SET NULL", "d": "SET DEFAULT"}
STATEMENT = """
WITH RECURSIVE tree (relid) AS (
    SELECT to_regclass(:name)::oid UNION SELECT i.inhrelid FROM pg_inherits i JOIN tree ON i.inhparent = tree.relid
), source (relid) AS (
    SELECT to_regclass(:source)::oid
    UNION SELECT i.inhrelid FROM pg_inherits i JOIN source ON i.inhparent = source.relid
)
SELECT n.nspname, c.relname, f.confdeltype::text,
    ARRAY(SELECT a.attname::text FROM unnest(f.conkey) WITH ORDINALITY AS k (number, place)
          JOIN pg_attribute a ON a.attrelid = f.conrelid AND a.attnum = k.number ORDER BY k.place),
    ARRAY(SELECT a.attname::text FROM unnest(f.confkey) WITH ORDINALITY AS k (number, place)
          JOIN pg_attribute a ON a.attrelid = f.confrelid AND a.attnum = k.number ORDER BY k.place),
    f.conrelid IN (SELECT relid FROM source)
FROM pg_constraint f JOIN pg_class c ON c.oid = f.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE f.contype = 'f' AND f.confrelid IN (SELECT relid FROM tree) AND f.conparentid = 0
ORDER BY n.nspname, c.relname, f.conname
"""  # a partition's constraint has its table's as parent; one that somebody made for a partition alone has none


def references(connection: Connection, table: str, source: str) -> list[Reference]:
    """The names are quoted, with their schema where that is known."""
    rows = ask(connection, STATEMENT, name=table, source=source)
    return [
        Reference(schema, name, tuple(columns), tuple(referred), ACTIONS[action], own)
        for schema, name, action, columns, referred, own in map(tuple, rows)
    ]
