"""dbsim in an application's own deploys: functions for its Alembic migrations, its env.py and its start-up."""

from dbsim.migrate.autogenerate import include_name, including
from dbsim.migrate.deploy import check, exclusively, suspended
from dbsim.migrate.operations import (
    alter_index,
    create_index,
    downgrade,
    drop_index,
    rename_column,
    rename_table,
    upgrade,
)
from dbsim.migrate.plain import index_sql
from dbsim.migrate.script import init_migration, sql

__all__ = [
    "alter_index",
    "check",
    "create_index",
    "downgrade",
    "drop_index",
    "exclusively",
    "include_name",
    "including",
    "index_sql",
    "init_migration",
    "rename_column",
    "rename_table",
    "sql",
    "suspended",
    "upgrade",
]
