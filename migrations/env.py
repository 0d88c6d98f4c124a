"""Alembic environment of dbsim's own tables; version table dbsim_version."""

from alembic import context
from sqlalchemy import engine_from_config, pool

from dbsim.tables.catalogue import metadata
from dbsim.tables.versions.v0002 import TABLES

config = context.config
options = {
    "target_metadata": metadata,
    "version_table": "dbsim_version",
    "transaction_per_migration": True,
    "include_name": lambda name, *_: name not in TABLES,  # of PostgreSQL only, so not in the common metadata
}

connection = config.attributes.get("connection")
if context.is_offline_mode():
    context.configure(url=config.get_main_option("sqlalchemy.url"), literal_binds=True, **options)
    with context.begin_transaction():
        context.run_migrations()
elif connection is not None:
    context.configure(connection=connection, **options)
    with context.begin_transaction():
        context.run_migrations()
else:
    engine = engine_from_config(config.get_section(config.config_ini_section, {}), poolclass=pool.NullPool)
    engine.dialect.supports_comments = False  # they are written beside the tables, for autogenerate no difference
    with engine.connect() as own:
        context.configure(connection=own, **options)
        with context.begin_transaction():
            context.run_migrations()
