"""The version of dbsim's own tables in a database: check it, raise it, lower it."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from sqlalchemy import Connection, Engine, MetaData, Table, inspect

from dbsim.engines.backend import Backend
from dbsim.engines.execute import TableHook, run
from dbsim.engines.transactions import write
from dbsim.errors import DbsimError, ImportedRows, SchemaOutdated
from dbsim.lifecycle.statements import drop_groups
from dbsim.tables import catalogue, versions
from dbsim.tables.versions import BASE, VERSION_TABLE
from dbsim.tables.versions.v0001 import count_documents

if TYPE_CHECKING:
    from alembic.operations import Operations  # half a second: only `operations` needs it

CLOSED = [name for name in (*catalogue.metadata.tables, *versions.v0002.TABLES) if name != "dbsim_document"]
LOCK_WAIT = "200ms"  # how long those who use dbsim's tables may queue behind a change of them
MIGRATION = """
    import dbsim.migrate

    def upgrade():
        dbsim.migrate.upgrade(op, to="{current}", since="{found}")

    def downgrade():
        dbsim.migrate.downgrade(op, to="{found}", since="{current}")
"""


def version(connection: Connection) -> str | None:
    """The stored version, or None without dbsim's tables."""
    if not inspect(connection).has_table(VERSION_TABLE):
        return None
    row = connection.exec_driver_sql(f"SELECT version_num FROM {VERSION_TABLE}").first()
    return row[0] if row else None


def require(connection: Connection, url: str) -> None:
    """Raise SchemaOutdated, with the command to run and the migration to paste, unless the version is this code's."""
    found, current = version(connection), versions.current()
    if found == current:
        return
    if found is not None and found > current:
        raise SchemaOutdated(
            f"dbsim's tables are of version {found}, newer than this dbsim ({current}): install the newer dbsim"
        )
    what = "has no dbsim tables yet" if found is None else f"has dbsim's tables in version {found}, not {current}"
    raise SchemaOutdated(
        f"the database {what}: run `dbsim upgrade {url}`, or put this into your application's next Alembic migration:\n"
        + MIGRATION.format(current=current, found=found or BASE)
    )


def upgrade(
    engine: Engine, backend: Backend, to: str | None = None, after_create_table: TableHook | None = None
) -> str:
    """Create or raise dbsim's own tables; safe to repeat and to run at once from several places.

    The hook is called with those that were made; where Citus is installed, all of them come to lie on every node.
    """
    import_module("alembic.operations")  # now: others would wait for it while the tables are locked

    def work(connection: Connection) -> str:
        backend.alone(connection)
        backend.limit_lock_wait(connection, LOCK_WAIT)
        found = _known(version(connection))
        before = set(inspect(connection).get_table_names())
        versions.upgrade(operations(connection), found, to or versions.current())
        run(connection, backend.table_settings(CLOSED))
        run(connection, backend.spread_catalogue(connection, [VERSION_TABLE, *CLOSED]))
        if after_create_table is not None:
            for name in sorted({*inspect(connection).get_table_names()} - before):
                run(connection, after_create_table(Table(name, MetaData(), autoload_with=connection)))
        return version(connection) or ""

    return write(engine, backend, work)


def downgrade(engine: Engine, backend: Backend, to: str = BASE, documents: bool | None = None) -> None:
    """Remove dbsim's own tables, or lower their version; indexes must be dropped first.

    Imported documents are somebody's: with `documents` they go, with False they stay in their table, with None
    nothing is done while there are any.
    """

    def work(connection: Connection) -> None:
        backend.alone(connection)
        backend.limit_lock_wait(connection, LOCK_WAIT)
        found = _known(version(connection))
        if found == BASE:
            return
        left = catalogue.names(connection)
        if left and to == BASE:
            raise DbsimError(f"the database still has the indexes {', '.join(left)}: drop them first with `dbsim drop`")
        if documents is None and to == BASE and (count := count_documents(connection)):
            raise ImportedRows(count)
        take_back(connection, backend, to)
        versions.downgrade(operations(connection), found, to, bool(documents))

    write(engine, backend, work)


def take_back(connection: Connection, backend: Backend, to: str) -> None:
    """Indexes below 0003 have other triggers, views and groups: today's go, the older dbsim's `sync` makes its own.

    It finds what is written without triggers by a comparison. Signatures stay.
    """
    if to == BASE or to >= "0003":
        return
    for name in catalogue.names(connection):
        run(connection, [*backend.drop_surface(name), *drop_groups(name), *backend.drop_triggers(name)])
    run(connection, backend.status_statements(connection, []))  # and what all indexes share


def _known(found: str | None) -> str:
    if found is not None and found not in versions.VERSIONS:
        raise SchemaOutdated(
            f"dbsim's tables are of version {found}, which this dbsim ({versions.current()}) does not know: "
            f"install the dbsim that made them"
        )
    return found or BASE


def operations(connection: Connection) -> Operations:
    """Alembic's `op` on a connection."""
    from alembic.migration import MigrationContext
    from alembic.operations import Operations

    return Operations(MigrationContext.configure(connection))
