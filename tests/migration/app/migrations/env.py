"""The usual Alembic environment; what mentions dbsim is all an application needs."""

from alembic import context
from shop_models import Base
from sqlalchemy import create_engine, pool

import dbsim.migrate

config = context.config
url = config.attributes.get("url") or config.get_main_option("sqlalchemy.url")
alone = config.attributes.get("alone", dbsim.migrate.exclusively)  # tests also try without
common = {"target_metadata": Base.metadata, "include_name": dbsim.migrate.include_name}


def run_offline() -> None:
    context.configure(url=url, literal_binds=True, dialect_opts={"paramstyle": "named"}, **common)
    with context.begin_transaction():
        context.run_migrations()


def run_online() -> None:
    with create_engine(url, poolclass=pool.NullPool).connect() as connection, alone(connection):
        context.configure(connection=connection, **common)
        with context.begin_transaction():
            context.run_migrations()


if context.is_offline_mode():
    run_offline()
else:
    run_online()
