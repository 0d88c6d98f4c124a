"""PostgreSQL (14 or later, for bit_count): what it is, and its part of each subject."""

from __future__ import annotations

from sqlalchemy import Dialect
from sqlalchemy.dialects.postgresql.base import PGDialect

from dbsim.engines.postgresql.feed import PostgreSQLFeed
from dbsim.engines.postgresql.host_tables import PostgreSQLHostTables
from dbsim.engines.postgresql.queue import PostgreSQLQueue
from dbsim.engines.postgresql.scores import PostgreSQLScores
from dbsim.engines.postgresql.slices import PostgreSQLSlices
from dbsim.engines.postgresql.storage import PostgreSQLStorage
from dbsim.engines.postgresql.surface.citus import PostgreSQLNodes
from dbsim.engines.postgresql.surface.install import PostgreSQLSurfaces
from dbsim.engines.postgresql.surface.roles import PostgreSQLRoles
from dbsim.engines.postgresql.transactions import PostgreSQLTransactions
from dbsim.engines.postgresql.wire import drivers


class PostgreSQL(
    PostgreSQLHostTables,
    PostgreSQLQueue,
    PostgreSQLSurfaces,
    PostgreSQLRoles,
    PostgreSQLTransactions,
    PostgreSQLStorage,
    PostgreSQLScores,
    PostgreSQLSlices,
    PostgreSQLFeed,
    PostgreSQLNodes,
):
    """See `Backend` for what each step means."""

    name = "postgresql"
    dialect: Dialect = PGDialect(paramstyle="named")  # type: ignore[no-untyped-call]  # leaves a percent sign alone
    random_hex = "replace(gen_random_uuid()::text, '-', '')"
    read_batch = 512
    key_batch = 1000
    fill_batch = 4000
    queue_batch = 2000
    not_text: tuple[str, ...] = ("bytea",)
    not_key = r"(\[\]|range|^jsonb?|^time with time zone)$"
    typed_keys = True
    errors: tuple[type[Exception], ...] = drivers.ERRORS
    errors_abort = True
    signs_inline = True
    writers_wait = False
    refuse_writes = "SET default_transaction_read_only = on"
    searches_in_sql = True
    rebuilds_tables = False
