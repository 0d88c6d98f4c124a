"""Citus, PostgreSQL over several nodes: which tables are distributed, and dbsim's own beside them.

A signature lies on the node of its row, so that sync and search work on each node by itself; the catalogue and what is
stored of groups are reference tables, copies on every node that anything can be joined with; the queue stays local.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection

from dbsim.engines.backend import Backend
from dbsim.engines.execute import ask, run
from dbsim.engines.postgresql.surface.shared import shared_statements
from dbsim.engines.postgresql.wire.plain import home
from dbsim.errors import DbsimError, InvalidOption, StatementRejected
from dbsim.resources import filled, sql
from dbsim.tables.names import dollar_quoted, literal, quote
from dbsim.tables.source import Source

# many small statements of one transaction over one connection to each node: otherwise what was done to one table in
# parallel forbids to touch a reference table, a type or a function afterwards
SEQUENTIAL = "SET LOCAL citus.multi_shard_modify_mode = 'sequential'"
NO_CITUS = "there is no Citus in this database: leave out --citus, or CREATE EXTENSION citus on every node"
UNSUPPORTED = ("0A000", "XX000")  # feature not supported, and what Citus says of plans it cannot make


class PostgreSQLNodes(Backend):
    """See `Nodes` and `Places` for what each step means."""

    def is_distributed(self, connection: Connection, source: Source, *, required: bool = False) -> bool:
        if not installed(connection):
            if required:
                raise InvalidOption(NO_CITUS)
            return False
        name = quote(source.schema, source.table)
        # a table that Citus only knows of (repmodel s) is an ordinary one on the coordinator
        statement = (
            "SELECT count(*) FROM pg_dist_partition WHERE logicalrelid = to_regclass(:name) "
            "AND (partmethod <> 'n' OR repmodel = 't')"
        )
        found = bool(ask(connection, statement, name=name).scalar())
        if required and not found:
            raise InvalidOption(
                f"table {source.table!r} is not distributed: leave out --citus, or distribute it first "
                f"(SELECT create_distributed_table({literal(name)}, '<a column of its primary key>'))"
            )
        return found

    def before_spreading(self, connection: Connection) -> None:
        run(connection, [SEQUENTIAL, *shared_statements(quote(home(connection)))])

    def spread(self, name: str, like: str | None = None) -> list[str]:
        names = {"table": literal(quote(name)), "like": "NULL" if like is None else literal(like)}
        return [SEQUENTIAL, f"DO {dollar_quoted(filled(sql('postgresql', 'citus/spread'), names))}"]

    def tablespaces(self, connection: Connection) -> list[str]:
        return list(ask(connection, "SELECT spcname FROM pg_tablespace WHERE spcname <> 'pg_global'").scalars())

    def into_tablespace(self, name: str, tablespace: str) -> list[str]:
        names = {"table": literal(quote(name)), "tablespace": literal(tablespace)}
        return [f"DO {dollar_quoted(filled(sql('postgresql', 'tablespace'), names))}"]

    def spread_catalogue(self, connection: Connection, names: Sequence[str]) -> list[str]:
        if not installed(connection):
            return []
        there = (name for name in names if ask(connection, "SELECT to_regclass(:name)", name=quote(name)).scalar())
        return [statement for name in there for statement in self.spread(name)]


def installed(connection: Connection) -> bool:
    return bool(ask(connection, "SELECT count(*) FROM pg_extension WHERE extname = 'citus'").scalar())


def explain_unsupported(state: str, detail: str) -> DbsimError | None:
    """Citus says by these two classes what it cannot do with distributed tables, a standby some of it by the first."""
    if state not in UNSUPPORTED:
        return None
    reason = "the database cannot do this" if state == "0A000" else "the database gave up on a statement"
    return StatementRejected(
        f"{reason} ({detail}): on a replica, connect to the primary; on Citus, to the coordinator, and see "
        f"docs/scale.md for what works with distributed tables"
    )
