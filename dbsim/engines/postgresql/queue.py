"""Triggers on the application's table, and the queue they fill, on PostgreSQL."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from sqlalchemy import (
    Connection,
    Engine,
)

from dbsim.engines.backend import RAW, Backend
from dbsim.engines.execute import ask
from dbsim.engines.pause import pause
from dbsim.engines.postgresql.surface import install
from dbsim.engines.postgresql.surface.signing import inline_function
from dbsim.engines.postgresql.triggers import (
    channel,
    create_triggers,
    drop_everything,
    drop_triggers,
    events,
    parts,
    require_key,
    unless_trigger,
    wake,
)
from dbsim.engines.postgresql.wire import drivers
from dbsim.engines.postgresql.wire.plain import home, send, type_name
from dbsim.tables.index_tables import IndexTables
from dbsim.tables.names import identifier, literal, quote
from dbsim.tables.source import Key

# Whether the owner of a trigger's function may not write to the queue: nothing is noted then, as without the trigger.
SHUT_OUT = (
    "EXISTS (SELECT FROM pg_class q, pg_proc f JOIN pg_roles r ON r.oid = f.proowner "
    "WHERE q.oid = to_regclass(CAST(:queue AS text)) AND f.oid = t.tgfoid AND NOT r.rolsuper AND NOT ("
    "has_schema_privilege(r.oid, q.relnamespace, 'USAGE') AND has_table_privilege(r.oid, q.oid, 'INSERT') AND ("
    "r.rolbypassrls OR NOT q.relrowsecurity OR NOT q.relforcerowsecurity AND pg_has_role(r.oid, q.relowner, 'USAGE'))))"
)
POLL_SECONDS = 0.5  # where a sleeping worker cannot be notified


class PostgreSQLQueue(Backend):
    """See `Queue` for what each step means."""

    def _relations(self, connection: Connection, tables: IndexTables) -> list[str]:
        """The table and its partitions: a write aimed at a partition does not fire the parent's triggers."""
        source = quote(tables.record.options.schema, tables.record.options.table)
        found = ask(
            connection,
            "SELECT format('%I.%I', n.nspname, c.relname) FROM pg_partition_tree(to_regclass(:source)) t "
            "JOIN pg_class c ON c.oid = t.relid JOIN pg_namespace n ON n.oid = c.relnamespace "
            "WHERE c.relkind IN ('r', 'p')",
            source=source,
        ).scalars()
        return sorted({source, *found})

    def create_triggers(
        self, tables: IndexTables, connection: Connection | None, *, patient: bool = False
    ) -> list[str]:
        if not tables.record.options.inline:
            return create_triggers(tables, patient=patient)
        assert connection is not None
        function = inline_function(install.surface_of(self, connection, tables), parts(tables))
        return create_triggers(tables, function, patient=patient)

    def type_name(self, written: str) -> str:
        return type_name(written)

    def require_key(self, tables: IndexTables) -> list[str]:
        return require_key(tables)

    def drop_triggers(self, name: str) -> list[str]:
        return drop_triggers(name)

    def drop_everything(self, name: str, own: Sequence[str], written: Sequence[str]) -> list[str]:
        return drop_everything(name, own, written)

    def missing_triggers(self, connection: Connection, tables: IndexTables) -> list[str]:
        wanted, schema = events(tables.record.name), home(connection)
        found = ask(
            connection,
            "SELECT format('%I.%I', n.nspname, c.relname), t.tgname, CAST(t.tgenabled AS text) FROM pg_trigger t "
            "JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_namespace n ON n.oid = c.relnamespace "
            "WHERE t.tgname = ANY (CAST(:triggers AS text[])) AND t.tgfoid = to_regprocedure(CAST(:function AS text)) "
            f"AND NOT {SHUT_OUT}",
            triggers=list(wanted),
            queue=quote(schema, tables.queue.name),
            function=f"{quote(schema, identifier('dbsim', tables.record.name, 'changed'))}()",
        )
        rows: list[tuple[Any, ...]] = [tuple(row) for row in found]
        there = {(row[0], row[1]) for row in rows if row[2] in wanted[row[1]]}
        relations = self._plain_names(connection, self._relations(connection, tables))
        strays = {str(row[0]) for row in rows} - set(relations) if relations else set()  # of a table once here
        missing = [trigger for relation in relations for trigger in wanted if (relation, trigger) not in there]
        missing += self._missing_door(connection, tables)
        return [*missing, *sorted(f"{relation} no longer belongs to the table" for relation in strays)]

    def _missing_door(self, connection: Connection, tables: IndexTables) -> list[str]:
        if not tables.record.options.on_duplicate:
            return []
        name = unless_trigger(tables.record.name)
        source = quote(tables.record.options.schema, tables.record.options.table)
        statement = "SELECT count(*) FROM pg_trigger WHERE tgname = :name AND tgrelid = to_regclass(:source)"
        return [] if ask(connection, statement, name=name, source=source).scalar() else [name]

    def _plain_names(self, connection: Connection, relations: list[str]) -> list[str]:
        return sorted(
            set(
                ask(
                    connection,
                    "SELECT format('%I.%I', n.nspname, c.relname) FROM unnest(CAST(:relations AS text[])) r "
                    "JOIN pg_class c ON c.oid = to_regclass(r) JOIN pg_namespace n ON n.oid = c.relnamespace",
                    relations=relations,
                ).scalars()
            )
        )

    def claim(self, connection: Connection, tables: IndexTables, limit: int) -> list[Key]:
        queue = quote(tables.queue.name)
        key = ", ".join(quote(name) for name in tables.key_names)
        rows = connection.exec_driver_sql(
            f"DELETE FROM {queue} WHERE ctid = ANY (ARRAY(SELECT ctid FROM {queue} WHERE NOT ({self._no_key(tables)}) "
            f"LIMIT {limit} FOR UPDATE SKIP LOCKED)) RETURNING {key}",
            execution_options=RAW,
        )
        return [tuple(row) for row in rows]

    def pending(self, connection: Connection, tables: IndexTables, limit: int) -> list[Key]:
        key = ", ".join(quote(name) for name in tables.key_names)
        statement = f"SELECT {key} FROM {quote(tables.queue.name)} WHERE NOT ({self._no_key(tables)}) LIMIT {limit}"
        return [tuple(row) for row in connection.exec_driver_sql(statement, execution_options=RAW)]

    def markers(self, connection: Connection, tables: IndexTables) -> list[Any]:
        queued = quote(tables.names.queued)
        rows = connection.exec_driver_sql(
            f"SELECT ctid::text, {queued}::text FROM {quote(tables.queue.name)} WHERE {self._no_key(tables)}",
            execution_options=RAW,
        )
        return [tuple(row) for row in rows]

    def remove_markers(self, connection: Connection, tables: IndexTables, markers: Sequence[Any]) -> None:
        for place, queued in markers:  # with the time, because the place may have been given to another row
            send(
                connection,
                f"DELETE FROM {quote(tables.queue.name)} WHERE ctid = {literal(place)}::tid "
                f"AND {quote(tables.names.queued)} = {literal(queued)}::timestamptz AND {self._no_key(tables)}",
            )

    def _no_key(self, tables: IndexTables) -> str:
        return " AND ".join(f"{quote(name)} IS NULL" for name in tables.key_names)

    def wait(self, engine: Engine, tables: IndexTables, seconds: float) -> None:
        """LISTEN, then say so, then look at the queue once more: what is written after that look notifies.

        Where transactions may be prepared for a commit in two phases nobody says so, because those cannot notify.
        """
        lock = wake(tables.record.name)
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            raw = drivers.own_psycopg(connection)
            if raw is None or drivers.pooled(raw):
                connection.close()
                drivers.say_polling(engine, self.name if raw is None else "a pooler")
                pause(min(drivers.POLL_SECONDS, seconds))
                return
            allowed = connection.exec_driver_sql("SELECT current_setting('max_prepared_transactions')").scalar_one()
            if allowed != "0" or not self._announce(connection, tables, lock):
                self._poll(connection, tables, seconds)
                return
            try:
                if not self._pending(connection, tables):
                    drivers.await_notification(raw, seconds)
            finally:
                send(connection, "UNLISTEN *")
                send(connection, f"SELECT pg_advisory_unlock({lock})")

    def _announce(self, connection: Connection, tables: IndexTables, lock: int) -> bool:
        """Whether triggers notify from now on; another worker that sleeps may be the one to be woken."""
        send(connection, f"LISTEN {quote(channel(tables.record.name))}")
        taken = connection.exec_driver_sql(f"SELECT pg_try_advisory_lock({lock})").scalar_one()
        if not taken:
            send(connection, "UNLISTEN *")
        return bool(taken)

    def _poll(self, connection: Connection, tables: IndexTables, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while not self._pending(connection, tables) and (left := deadline - time.monotonic()) > 0:
            time.sleep(min(POLL_SECONDS, left))

    def _pending(self, connection: Connection, tables: IndexTables) -> bool:
        statement = f"SELECT EXISTS (SELECT FROM {quote(tables.queue.name)})"
        send(connection, "BEGIN ISOLATION LEVEL READ COMMITTED")  # a serializable look makes the application's fail
        found = bool(connection.exec_driver_sql(statement, execution_options=RAW).scalar_one())
        send(connection, "COMMIT")
        return found
