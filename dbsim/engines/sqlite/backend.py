"""SQLite: what it is, and its part of each subject."""

from __future__ import annotations

import sqlite3

from sqlalchemy import Dialect
from sqlalchemy.dialects.sqlite.base import SQLiteDialect
from sqlalchemy.exc import DBAPIError

from dbsim.engines.sqlite.feed import SQLiteFeed
from dbsim.engines.sqlite.host_tables import SQLiteHostTables
from dbsim.engines.sqlite.queue import SQLiteQueue
from dbsim.engines.sqlite.scores import SQLiteScores
from dbsim.engines.sqlite.slices import SQLiteSlices
from dbsim.engines.sqlite.storage import SQLiteStorage
from dbsim.engines.sqlite.surface.views import SQLiteSurfaces
from dbsim.engines.sqlite.transactions import SQLiteTransactions


class SQLite(
    SQLiteHostTables,
    SQLiteQueue,
    SQLiteSurfaces,
    SQLiteTransactions,
    SQLiteStorage,
    SQLiteScores,
    SQLiteSlices,
    SQLiteFeed,
):
    """See `Backend` for what each step means."""

    name = "sqlite"
    dialect: Dialect = SQLiteDialect(paramstyle="named")  # which leaves a percent sign alone
    random_hex = "lower(hex(randomblob(16)))"
    read_batch = 256
    key_batch = 500  # SQLite before 3.32 takes 999 parameters
    fill_batch = 1000
    queue_batch = 500  # the application waits for the write lock meanwhile: keep it well under its busy timeout
    not_text: tuple[str, ...] = ("blob",)
    not_key = r"(?!)"  # any type will do
    typed_keys = False
    errors: tuple[type[Exception], ...] = (DBAPIError, sqlite3.Error)
    errors_abort = False
    signs_inline = False
    writers_wait = True
    refuse_writes = "PRAGMA query_only = ON"
    searches_in_sql = False
    rebuilds_tables = True
