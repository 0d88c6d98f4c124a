"""Autogenerate proposes nothing about dbsim, and everything about a table of the application's own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from alembic.autogenerate import produce_migrations
from alembic.migration import MigrationContext
from sqlalchemy import MetaData, text

import dbsim
import dbsim.migrate
from dbsim.migrate.autogenerate import belongs
from dbsim.tables.names import identifier
from tests.migration.harness import deploy, in_process, proposals

LONG = "articles_with_a_name_that_is_far_longer_than_postgresql_allows"


@pytest.fixture
def deployed(url: str) -> Iterator[dbsim.Database]:
    """The sample application, with a second index whose name has to be cut."""
    deploy(url)
    database = dbsim.open(url)
    database.create_index(LONG, table="comments", columns="text")
    yield database
    database.close()


def test_a_table_of_ones_own_may_be_called_dbsim(deployed: dbsim.Database, url: str) -> None:
    assert proposals(url) == []
    with deployed.engine.begin() as connection:
        connection.execute(text("CREATE TABLE dbsim_notes (id INTEGER PRIMARY KEY)"))
    assert [(kind, table.name) for kind, table in proposals(url)] == [("remove_table", "dbsim_notes")]


def test_without_a_connection_the_beginning_of_the_name_decides() -> None:
    assert not dbsim.migrate.include_name("dbsim_notes", "table", {})
    assert dbsim.migrate.include_name("notes", "table", {})
    assert dbsim.migrate.include_name(None, "schema", {})


def test_with_the_applications_own_filter() -> None:
    def own(name: str | None, type_: str, parents: Mapping[str, Any]) -> bool:
        return name != "spatial_ref_sys"

    both = dbsim.migrate.including(own)
    asked = ["spatial_ref_sys", "dbsim_index", "articles"]
    assert [both(name, "table", {}) for name in asked] == [False, False, True]


def test_names_that_were_cut_are_known() -> None:
    for part in ("queue", "g2", "insert"):
        assert belongs(identifier("dbsim", LONG, part), [LONG])
    assert belongs("dbsim_articles_g2", ["articles"])
    assert not belongs("dbsim_article", ["articles"])
    assert not belongs("dbsim_articles2", ["articles"])


def test_alembic_utils_leaves_functions_triggers_and_views_alone(new_postgres: str) -> None:
    deploy(new_postgres)
    assert in_process(lambda: with_alembic_utils(new_postgres))() == 0


def with_alembic_utils(url: str) -> None:
    """In a process of its own, because importing alembic_utils changes Alembic for good."""
    from alembic_utils.pg_function import PGFunction
    from alembic_utils.pg_trigger import PGTrigger
    from alembic_utils.pg_view import PGView
    from alembic_utils.replaceable_entity import register_entities

    register_entities([], schemas=["public"], entity_types=[PGFunction, PGTrigger, PGView])
    database = dbsim.open(url)
    with database.engine.begin() as connection:
        connection.execute(text("CREATE VIEW dbsim_articles_pairs AS SELECT 1 AS one"))
        connection.execute(text("CREATE VIEW mine AS SELECT 1 AS one"))
    assert utils_proposals(database, dbsim.migrate.include_name) == ["mine"]
    without = utils_proposals(database, lambda name, type_, parents: True)
    assert {"mine", "dbsim_articles_pairs", "dbsim_articles_changed()", "dbsim_articles_insert"} <= set(without)


def utils_proposals(database: dbsim.Database, include_name: Any) -> list[str]:
    with database.engine.connect() as connection:
        opts = {"include_name": include_name, "include_schemas": False}
        context = MigrationContext.configure(connection, opts=opts)
        script = produce_migrations(context, MetaData())
        found = [op.target.signature for op in script.upgrade_ops.ops if hasattr(op, "target")]
        connection.rollback()
    return sorted(found)
