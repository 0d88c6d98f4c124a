"""Citus without Citus: its catalogue and functions as far as dbsim calls them, and its rules as a check of statements.

It cannot be installed in CI. `pretend` gives a PostgreSQL database what dbsim looks for, and refuses what the real one
refuses when tables are distributed; `Recorder` writes down every statement that is sent; `broken` names those that a
distributed planner refuses or answers without a promised order (design.md §11).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from unittest import mock

import psycopg
from sqlalchemy import Engine, event

PRETENDED = """
SET allow_system_table_mods = on;
CREATE TABLE pg_catalog.pg_dist_partition
    (logicalrelid regclass PRIMARY KEY, partmethod "char", partkey text, colocationid integer, repmodel "char");
CREATE FUNCTION pg_catalog.column_to_column_name(regclass, text) RETURNS text LANGUAGE sql AS 'SELECT $2';
CREATE FUNCTION pg_catalog.create_reference_table(regclass) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM pg_trigger WHERE tgrelid = $1 AND NOT tgisinternal) THEN
        RAISE 'triggers are not supported on reference tables' USING ERRCODE = '0A000';
    END IF;
    INSERT INTO pg_dist_partition VALUES ($1, 'n', NULL, 0, 't');
END $$;
CREATE FUNCTION pg_catalog.create_distributed_table(
    table_name regclass, distribution_column text, distribution_type text DEFAULT 'hash',
    colocate_with text DEFAULT 'default') RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    together integer := 1;
BEGIN
    IF EXISTS (SELECT FROM pg_trigger WHERE tgrelid = table_name AND NOT tgisinternal) THEN
        RAISE 'triggers are not supported on distributed tables' USING ERRCODE = '0A000';
    END IF;
    IF EXISTS (SELECT FROM pg_index i WHERE i.indrelid = table_name AND i.indisunique AND NOT EXISTS (
            SELECT FROM pg_attribute a WHERE a.attrelid = table_name AND a.attname = distribution_column
            AND a.attnum = ANY (i.indkey))) THEN
        RAISE 'a unique constraint must contain the distribution column' USING ERRCODE = '0A000';
    END IF;
    IF colocate_with <> 'default' THEN
        SELECT p.colocationid INTO STRICT together FROM pg_dist_partition p, pg_attribute mine, pg_attribute theirs
        WHERE p.logicalrelid = colocate_with::regclass AND mine.attrelid = table_name
          AND mine.attname = distribution_column AND theirs.attrelid = p.logicalrelid AND theirs.attname = p.partkey
          AND mine.atttypid = theirs.atttypid;
    END IF;
    INSERT INTO pg_dist_partition VALUES (table_name, 'h', distribution_column, together, 's');
END $$;
INSERT INTO pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion)
    VALUES (999999, 'citus', 10, 11, false, '13.2');
RESET allow_system_table_mods
"""
VOLATILE = re.compile(
    r"\b(now|random|clock_timestamp|statement_timestamp|gen_random_uuid)\(|\bCURRENT_TIMESTAMP\b", re.I
)


def pretend(engine: Engine) -> None:
    with engine.begin() as connection:
        for statement in re.split(r";\n(?=SET|CREATE|INSERT|RESET)", PRETENDED.strip()):
            connection.exec_driver_sql(statement, execution_options={"no_parameters": True})


@contextmanager
def recorded() -> Iterator[list[str]]:
    """Every statement that goes to a database, past SQLAlchemy (COPY) too."""
    seen: list[str] = []

    def note(connection: Any, cursor: Any, statement: str, *rest: Any) -> None:
        seen.append(statement)

    def copy(cursor: Any, statement: Any, *arguments: Any, **options: Any) -> Any:
        seen.append(str(statement))
        return original(cursor, statement, *arguments, **options)

    original = psycopg.Cursor.copy
    event.listen(Engine, "before_cursor_execute", note)
    try:
        with mock.patch.object(psycopg.Cursor, "copy", copy):
            yield seen
    finally:
        event.remove(Engine, "before_cursor_execute", note)


def broken(statements: Sequence[str], distributed: Sequence[str], keys: Sequence[str]) -> list[str]:
    """The rule and the statement, of statements that distributed tables (their names) do not bear."""
    found = []
    for statement in statements:
        flat = " ".join(statement.split())
        found += [f"{rule}: {flat[:300]}" for rule in _broken(flat, distributed, keys)]
    return found


def _outside(query: str) -> str:
    """Of a query, what stands in no brackets."""
    while (shorter := re.sub(r"\([^()]*\)", "", query)) != query:
        query = shorter
    return query


def _broken(flat: str, distributed: Sequence[str], keys: Sequence[str]) -> Iterator[str]:
    names = "|".join(rf'"?{re.escape(name)}"?' for name in distributed)
    on_nodes = re.search(rf"(?<![\w\"])(?:{names})(?![\w\"])", flat)
    if re.search(r"ON CONFLICT .* DO UPDATE", flat) and VOLATILE.search(flat.split("DO UPDATE", 1)[1]):
        yield "volatile function in ON CONFLICT DO UPDATE"
    if re.match(r"CREATE TABLE\b.*\bdbsim_", flat) and re.search(r"\b(REFERENCES|UNIQUE|FOREIGN KEY)\b", flat):
        yield "a table of dbsim's with a foreign key or another unique constraint"
    if "reltuples" in flat:
        yield "rows counted from statistics of the coordinator"
    if flat.startswith("COPY (") and "ORDER BY" in flat and "ORDER BY" not in _outside(flat[6 : flat.rindex(") TO")]):
        yield "an order only inside a subquery"
    if not on_nodes:
        return
    read = re.search(rf"\b(?:FROM|JOIN) (?:\w+\.)?\"?(?:{names})(?!\w)", flat)  # not only named, as in comments on it
    if (
        read
        and re.search(r"\bWITH RECURSIVE\b|\bLATERAL\b", flat)
        and not flat.startswith("CREATE OR REPLACE FUNCTION")
    ):
        yield "recursive or lateral query over shards"
    if re.search(r"\bFOR (NO KEY )?(UPDATE|SHARE)\b", flat):
        yield "rows of several shards locked one by one"
    if re.search(r"\bCREATE (OR REPLACE )?(CONSTRAINT )?TRIGGER\b", flat):
        yield "a trigger on a distributed table"
    if re.search(rf"UPDATE (?:{names}) SET [^W]*\"?(?:{'|'.join(keys)})\"? ?=", flat):
        yield "a primary key changed in place"
    if re.search(rf"(?:{names}) AS \w+ JOIN (?:\w+\.)?(?:{names})", flat):
        yield "a join of shards by something else than where rows lie"
