"""Statements as the server gets them, past every parameter style."""

from __future__ import annotations

import hashlib
import zlib

from sqlalchemy import Connection

from dbsim.engines.backend import RAW

SPELLED = {  # as the server gives a type back that people write shorter
    "int": "integer",
    "int2": "smallint",
    "int4": "integer",
    "int8": "bigint",
    "bool": "boolean",
    "float": "double precision",
    "float4": "real",
    "float8": "double precision",
    "decimal": "numeric",
    "varchar": "character varying",
    "char": "character",
    "timestamp": "timestamp without time zone",
    "timestamptz": "timestamp with time zone",
}
STRIPES = 64  # locks per index: documents share them, so that a batch never fills the server's lock table


def send(connection: Connection, statement: str) -> None:
    connection.exec_driver_sql(statement, execution_options=RAW)


def home(connection: Connection) -> str:
    """The schema of dbsim's own tables."""
    return str(
        connection.exec_driver_sql(
            "SELECT n.nspname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
            "WHERE c.oid = to_regclass('dbsim_index')"
        ).scalar_one()
    )


def space(schema: str, name: str) -> int:
    """Of the advisory locks of an index, by the schema of dbsim's own tables."""
    return zlib.crc32(f"dbsim {schema} {name}".encode()) - 2**31


def door_salt(home: str, index: str, generation: int) -> int:
    """By which the locks of one generation's bucket keys differ from those of others."""
    name = f"dbsim door {home} {index} {generation}"
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big", signed=True)


def type_name(written: str) -> str:
    """What format_type would say, of the types that keys have; a name in quotes is as it is."""
    if '"' in written:
        return written
    base, bracket, rest = written.strip().lower().partition("(")
    found = SPELLED.get(base.strip(), base.strip())
    if bracket and found.startswith("timestamp"):  # its precision stands in the middle
        return written
    return found + bracket + rest.replace(" ", "")
