"""Triggers on the application's table, and the queue they fill, on SQLite."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from typing import Any

from sqlalchemy import (
    Connection,
    Engine,
    Row,
)

from dbsim.engines.backend import Backend
from dbsim.engines.pause import pause
from dbsim.engines.sqlite.surface.views import trigger_names
from dbsim.engines.views import MARK, outdated
from dbsim.resources import sql
from dbsim.tables.index_tables import IndexTables
from dbsim.tables.names import quote
from dbsim.tables.source import Key

POLL_SECONDS = 0.2


def _watched(tables: IndexTables) -> list[str]:
    """The columns whose changes count."""
    return list(dict.fromkeys((*tables.key_names, *tables.record.options.columns)))


class SQLiteQueue(Backend):
    """See `Queue` for what each step means."""

    def written_triggers(self, tables: IndexTables, home: str) -> list[str]:
        return self.create_triggers(tables, None)

    def create_triggers(
        self, tables: IndexTables, connection: Connection | None, *, patient: bool = False
    ) -> list[str]:
        names = tables.key_names
        trigger = trigger_names(tables.record.name)
        parts = {
            "mark": MARK,
            "insert_trigger": quote(trigger[0]),
            "update_trigger": quote(trigger[1]),
            "delete_trigger": quote(trigger[2]),
            "source": quote(tables.record.options.table),
            "queue": quote(tables.queue.name),
            "key": ", ".join(quote(name) for name in names),
            "new_key": ", ".join(f"NEW.{quote(name)}" for name in names),
            "old_key": ", ".join(f"OLD.{quote(name)}" for name in names),
            "of_watched": self._of_watched(tables, connection),
        }
        statements = sql("sqlite", "triggers").split("END;")[:-1]  # before the names, which may contain END; too
        created = [statement.strip().format(**parts) + "\nEND" for statement in statements]
        return [*self.drop_triggers(tables.record.name), *created]

    def _of_watched(self, tables: IndexTables, connection: Connection | None) -> str:
        """Which columns an UPDATE must name; every UPDATE counts where one of them is generated from others.

        Where nobody can look, in a script, none is taken to be: the first `sync` looks. In a column list a name may
        vanish with its column. In a WHEN clause it makes the application's own ALTER TABLE … DROP COLUMN fail.
        """
        generated = connection is not None and self._watches_generated(connection, tables)
        return "" if generated else " OF " + ", ".join(map(quote, _watched(tables)))

    def _watches_generated(self, connection: Connection, tables: IndexTables) -> bool:
        asked = "SELECT name FROM pragma_table_xinfo(?) WHERE hidden IN (2, 3)"
        found = connection.exec_driver_sql(asked, (tables.record.options.table,)).scalars()
        return not {name.lower() for name in _watched(tables)}.isdisjoint(name.lower() for name in found)

    def drop_triggers(self, name: str) -> list[str]:
        return [f"DROP TRIGGER IF EXISTS {quote(trigger)}" for trigger in trigger_names(name)]

    def drop_everything(self, name: str, own: Sequence[str], written: Sequence[str]) -> list[str]:
        return [*self.drop_triggers(name), *own, *written]  # in this order also when it is killed in between

    def missing_triggers(self, connection: Connection, tables: IndexTables) -> list[str]:
        there = self._triggers(connection, tables)
        return [name for name in trigger_names(tables.record.name) if name not in there]

    def outdated_triggers(self, connection: Connection, tables: IndexTables) -> bool:
        found = self._triggers(connection, tables).values()
        listed = any(re.search(r"\bAFTER UPDATE OF\b", definition) for definition in found)
        return outdated(found) or (listed and self._watches_generated(connection, tables))

    def _triggers(self, connection: Connection, tables: IndexTables) -> dict[str, str]:
        """Name → definition of the index's triggers on the table."""
        found = connection.exec_driver_sql(
            "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND lower(tbl_name) = lower(?)",
            (tables.record.options.table,),
        )
        own = trigger_names(tables.record.name)
        return {name: definition for name, definition in found if name in own}

    def claim(self, connection: Connection, tables: IndexTables, limit: int) -> list[Key]:
        queue, rowid, key = self._queue_names(tables)
        rows = self._first_changes(connection, tables, limit)
        if rows:  # the write lock is held, so no row below the last one read can appear in between
            connection.exec_driver_sql(
                f"DELETE FROM {queue} WHERE {rowid} <= ? AND ({key}) IS NOT {self._no_key(tables)}", (rows[-1][0],)
            )
        return [tuple(row[1:]) for row in rows]

    def pending(self, connection: Connection, tables: IndexTables, limit: int) -> list[Key]:
        return [tuple(row[1:]) for row in self._first_changes(connection, tables, limit)]

    def _first_changes(self, connection: Connection, tables: IndexTables, limit: int) -> Sequence[Row[Any]]:
        """A key that is no UTF-8 has lone surrogates in the place of its bytes."""
        queue, rowid, key = self._queue_names(tables)
        statement = f"SELECT {rowid}, {key} FROM {queue} WHERE ({key}) IS NOT {self._no_key(tables)} ORDER BY 1 LIMIT ?"
        raw: Any = connection.connection.driver_connection
        before = raw.text_factory
        raw.text_factory = lambda data: data.decode("utf-8", "surrogateescape")
        try:
            return connection.exec_driver_sql(statement, (limit,)).all()
        finally:
            raw.text_factory = before

    def markers(self, connection: Connection, tables: IndexTables) -> list[Any]:
        queue, rowid, key = self._queue_names(tables)
        return list(
            connection.exec_driver_sql(f"SELECT {rowid} FROM {queue} WHERE ({key}) IS {self._no_key(tables)}").scalars()
        )

    def remove_markers(self, connection: Connection, tables: IndexTables, markers: Sequence[Any]) -> None:
        queue, rowid, key = self._queue_names(tables)
        for marker in markers:
            connection.exec_driver_sql(
                f"DELETE FROM {queue} WHERE {rowid} = ? AND ({key}) IS {self._no_key(tables)}", (marker,)
            )

    def _queue_names(self, tables: IndexTables) -> tuple[str, str, str]:
        """The queue, the number of its rows, its key: quoted once."""
        known = tables.made
        if "queue_names" not in known:
            taken = {name.lower() for name in tables.key_names}
            rowid = next(name for name in ("_rowid_", "oid", "rowid") if name not in taken)
            known["queue_names"] = quote(tables.queue.name), rowid, ", ".join(map(quote, tables.key_names))
        found: tuple[str, str, str] = known["queue_names"]
        return found

    def _no_key(self, tables: IndexTables) -> str:
        return "(" + ", ".join(["NULL"] * len(tables.key_names)) + ")"

    def wait(self, engine: Engine, tables: IndexTables, seconds: float) -> None:
        """Until another connection has committed: a number in the file's header tells, which costs next to nothing."""
        deadline = time.monotonic() + seconds
        with engine.connect() as connection:
            seen = self._version(connection)
            queue = quote(tables.queue.name)
            pending = connection.exec_driver_sql(f"SELECT 1 FROM {queue} LIMIT 1").first()
            while pending is None and self._version(connection) == seen and (left := deadline - time.monotonic()) > 0:
                pause(min(POLL_SECONDS, left))

    def _version(self, connection: Connection) -> Any:
        connection.rollback()  # inside a transaction the number stays what it was
        found = connection.exec_driver_sql("PRAGMA data_version").scalar_one()
        connection.rollback()
        return found
