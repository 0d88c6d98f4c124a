"""The version of dbsim's own tables in a database: check it, raise it, lower it."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, Engine, inspect

from dbsim.errors import DbsimError, SchemaOutdated
from dbsim.resources import folder
from dbsim.store.backend import Backend
from dbsim.store.transactions import write
from dbsim.store.versions import CURRENT, VERSION_TABLE, VERSIONS

_alembic = Lock()  # Alembic keeps the running migration in a global of the process
MIGRATION = """
    import dbsim.migrate

    def upgrade():
        dbsim.migrate.upgrade(op, to="{current}")

    def downgrade():
        dbsim.migrate.downgrade(op, to="{found}")
"""


def version(connection: Connection) -> str | None:
    """The stored version, or None without dbsim's tables."""
    if not inspect(connection).has_table(VERSION_TABLE):
        return None
    row = connection.exec_driver_sql(f"SELECT version_num FROM {VERSION_TABLE}").first()
    return row[0] if row else None


def require(connection: Connection, url: str) -> None:
    """Raise SchemaOutdated, with the command to run and the migration to paste, unless the version is this code's."""
    found = version(connection)
    if found == CURRENT:
        return
    if found is not None and found > CURRENT:
        raise SchemaOutdated(
            f"dbsim's tables are of version {found}, newer than this dbsim ({CURRENT}): install the newer dbsim"
        )
    what = "has no dbsim tables yet" if found is None else f"has dbsim's tables in version {found}, not {CURRENT}"
    raise SchemaOutdated(
        f"the database {what}: run `dbsim upgrade {url}`, or put this into your application's next Alembic migration:\n"
        + MIGRATION.format(current=CURRENT, found=found or "base")
    )


def upgrade(engine: Engine, backend: Backend, to: str = "head") -> str:
    """Create or raise dbsim's own tables; safe to repeat and to run at once from several places."""

    def work(connection: Connection) -> str:
        _exclusively(connection)
        _require_known(version(connection))
        _migrate(command.upgrade, connection, to)
        return version(connection) or ""

    return write(engine, backend, work)


def downgrade(engine: Engine, backend: Backend, to: str = "base") -> None:
    """Remove dbsim's own tables, or lower their version; indexes must be dropped first."""

    def work(connection: Connection) -> None:
        _exclusively(connection)
        found = version(connection)
        if found is None:
            return
        _require_known(found)
        if to == "base":
            refuse_indexes(connection)
        _migrate(command.downgrade, connection, to)
        if to == "base":
            connection.exec_driver_sql(f"DROP TABLE {VERSION_TABLE}")

    write(engine, backend, work)


def refuse_indexes(connection: Connection) -> None:
    """Without the catalogue nobody would know which triggers and tables belong to dbsim."""
    left = connection.exec_driver_sql("SELECT name FROM dbsim_index ORDER BY name").scalars().all()
    if left:
        raise DbsimError(f"the database still has the indexes {', '.join(left)}: drop them first with `dbsim drop`")


def _migrate(run: Callable[[Config, str], None], connection: Connection, to: str) -> None:
    with _alembic:
        run(_config(connection), to)


def _require_known(found: str | None) -> None:
    if found is not None and found not in VERSIONS:
        raise SchemaOutdated(
            f"dbsim's tables are of version {found}, which this dbsim ({CURRENT}) does not know: "
            f"install the dbsim that made them"
        )


def _config(connection: Connection) -> Config:
    config = Config()
    config.set_main_option("script_location", str(folder("migrations")).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config


def _exclusively(connection: Connection) -> None:
    """One migration at a time; SQLite's write transaction already sees to that."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql("SELECT pg_advisory_xact_lock(hashtext('dbsim migration'))")
