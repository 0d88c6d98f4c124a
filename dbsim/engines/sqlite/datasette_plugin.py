"""dbsim in Datasette, found through the entry point `datasette` when both are installed: its functions for queries.

The views (dbsim_<index>_pairs, …) need nothing of this: they are plain SQL.
"""

from __future__ import annotations

import sqlite3

from datasette import hookimpl

from dbsim.engines.sqlite.surface.functions import register


@hookimpl  # type: ignore[untyped-decorator,unused-ignore]
def prepare_connection(conn: sqlite3.Connection) -> None:
    register(conn)
