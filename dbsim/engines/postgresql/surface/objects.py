"""What people see of an index from SQL on PostgreSQL: made, written down without a connection, looked for."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection

from dbsim.engines.execute import ask, run
from dbsim.engines.postgresql.surface import signing_data as constants
from dbsim.engines.postgresql.surface.comments import OWN as COMMENTED
from dbsim.engines.postgresql.surface.comments import comment_statement
from dbsim.engines.postgresql.surface.persons import FLAG, flagged_name, flagged_statement
from dbsim.engines.postgresql.surface.shared import (
    revoke_owned,
    shared_functions,
    shared_statements,
    why_not_in_sql,
)
from dbsim.engines.postgresql.surface.signing import fill_statement
from dbsim.engines.postgresql.surface.views import (
    FUNCTIONS,
    KEPT,
    MARKED,
    OBJECTS,
    PERSONS,
    VIEWS,
    WORDS,
    PostgreSQLSurface,
)
from dbsim.engines.postgresql.surface.words import why_no_words_in_sql, word_statements
from dbsim.engines.postgresql.triggers import DOOR
from dbsim.engines.views import STATUS
from dbsim.errors import StatementRejected
from dbsim.resources import filled, sql
from dbsim.tables.decision_tables import decisions_name
from dbsim.tables.group_tables import GroupTables
from dbsim.tables.index_tables import IndexTables
from dbsim.tables.names import dollar_quoted, literal, quote
from dbsim.tables.slice_tables import SliceTables

# CREATE OR REPLACE of the same function or view in two transactions fails in one of them
ONE_AT_A_TIME = "SELECT pg_advisory_xact_lock(hashtext('dbsim surface'))"


def encoding(connection: Connection) -> str:
    return str(connection.exec_driver_sql("SELECT current_setting('server_encoding')").scalar_one())


def create_objects(connection: Connection, surface: PostgreSQLSurface) -> None:
    """The views, and the functions where the server can sign."""
    run(connection, [ONE_AT_A_TIME, *_flagged(surface), settings_statement(own_tables(surface.tables))])
    shown = [f"{surface.home}.{quote(surface.surface.name(name))}" for name in KEPT]
    fresh = [view for view in shown if ask(connection, "SELECT to_regclass(:name)", name=view).scalar() is None]
    signs = why_not_in_sql(surface.tables, encoding(connection)) is None
    if signs:
        constants.fill(connection, surface.tables.record, surface.learned)
    statements = [*shared_statements(surface.home), *surface.view_statements()]
    statements += word_statements(surface) if finds_words(connection, surface.tables) else []
    statements += surface.function_statements(signs) + ([fill_statement(surface)] if signs else [])
    own = [*shared_functions(), *(surface.surface.name(name) for name in (*FUNCTIONS, DOOR))]
    statements.append(revoke_owned(own, surface.home))
    statements += [_closed(view) for view in (*fresh, surface.names["signatures_view"])]
    run(connection, pinned([*statements, surface.regrant_statement(), _comments(surface)]))
    _require_own(connection)


def _flagged(surface: PostgreSQLSurface) -> list[str]:
    return [flagged_statement(surface)] if surface.tables.record.options.on_duplicate == FLAG else []


def finds_words(connection: Connection, tables: IndexTables) -> bool:
    return why_no_words_in_sql(tables, encoding(connection)) is None


def written_objects(surface: PostgreSQLSurface, triggers: Sequence[str]) -> list[str]:
    """The same without a connection: also the data that signing reads; dbsim_status unless other indexes have one."""
    own = [*shared_functions(), *(surface.surface.name(name) for name in FUNCTIONS)]
    status = f"CREATE VIEW {surface.home}.{STATUS} WITH (security_barrier) AS\n{surface.status_part(triggers)}"
    missing = f"IF to_regclass({literal(f'{surface.home}.{STATUS}')}) IS NULL THEN EXECUTE {literal(status)}; END IF;"
    statements = [
        *constants.statements(surface.tables.record, surface.home),
        *shared_statements(surface.home),
        *surface.view_statements(),
        *surface.function_statements(True),
        fill_statement(surface),
        revoke_owned(own, surface.home),
        *(_closed(f"{surface.home}.{quote(surface.surface.name(name))}") for name in VIEWS),
        f"DO {dollar_quoted(f'BEGIN {missing} END')}",
        _comments(surface),
    ]
    return [settings_statement(own_tables(surface.tables)), *pinned(statements)]


def _comments(surface: PostgreSQLSurface) -> str:
    own = [*own_tables(surface.tables), *(surface.surface.name(name) for name in VIEWS), *COMMENTED]
    made = [*shared_functions(), *(surface.surface.name(name) for name in (*FUNCTIONS, "changed"))]
    return comment_statement([f"{surface.home}.{quote(name)}" for name in own], made, surface.home)


def _closed(view: str) -> str:
    """Taken from everybody whom default privileges have given it."""
    names = {"name": literal(view)}
    return f"DO {dollar_quoted(filled(sql('postgresql', 'closed'), names))}"


def settings_statement(names: Sequence[str]) -> str:
    listed = ", ".join(literal(quote(name)) for name in names)
    return f"DO {dollar_quoted(filled(sql('postgresql', 'table_settings'), {'names': listed}))}"


def own_tables(tables: IndexTables) -> list[str]:
    groups = GroupTables(tables)
    return [
        tables.signatures.name,
        tables.queue.name,
        decisions_name(tables.record.name),
        *(t.name for t in groups.all),
        *([flagged_name(tables.record.name)] if tables.record.options.on_duplicate == FLAG else ()),
        *(t.name for t in SliceTables.of(tables).all),
    ]


def _nameless(connection: Connection, tables: IndexTables) -> list[str]:
    """Tables that a publication of all tables would keep from being changed."""
    found = ask(
        connection,
        "SELECT c.relname FROM pg_class c WHERE c.oid = ANY (SELECT to_regclass(quote_ident(name)) FROM "
        "unnest(CAST(:names AS text[])) AS name) AND c.relreplident = 'd' AND NOT EXISTS "
        "(SELECT FROM pg_index i WHERE i.indrelid = c.oid AND i.indisprimary)",
        names=own_tables(tables),
    )
    return [f"replica identity of {name}" for name in found.scalars()]


def pinned(statements: Sequence[str]) -> list[str]:
    """Run so that names mean what they mean in pg_catalog: what a view is made of is looked up when it is made."""
    before = "SELECT set_config('dbsim.search_path', current_setting('search_path'), true)"
    after = "SELECT set_config('search_path', current_setting('dbsim.search_path'), true)"
    return [before, "SET LOCAL search_path = pg_catalog, pg_temp", *statements, after]


def _require_own(connection: Connection) -> None:
    """A function that another role had made under one of these names is still that role's, who could change it."""
    foreign = ask(connection, sql("postgresql", "foreign_functions")).first()
    if foreign is not None:
        raise StatementRejected(f"function {foreign.name} belongs to role {foreign.owner}: drop it, then try again")


def missing_objects(connection: Connection, surface: PostgreSQLSurface) -> list[str]:
    wanted_views = [*(surface.surface.name(name) for name in VIEWS), STATUS]
    there = set(
        ask(
            connection,
            "SELECT relname FROM pg_class WHERE relkind = 'v' AND relname = ANY (CAST(:views AS text[])) "
            "AND relnamespace = CAST(CAST(:home AS text) AS regnamespace)",
            views=wanted_views,
            home=surface.home,
        ).scalars()
    )
    gone = [name for name in wanted_views if name not in there] + _nameless(connection, surface.tables)
    signs = why_not_in_sql(surface.tables, encoding(connection)) is None
    parts = [MARKED, *(OBJECTS if signs else ()), *(WORDS if finds_words(connection, surface.tables) else ())]
    options = surface.tables.record.options
    parts += [*PERSONS, *([DOOR] if options.on_duplicate else [])] if signs and options.hashing.rarity else []
    wanted = [*(surface.surface.name(name) for name in parts), *shared_functions()]
    present = set(
        ask(
            connection,
            "SELECT proname FROM pg_proc WHERE proname = ANY (CAST(:functions AS text[])) "
            "AND pronamespace = CAST(CAST(:home AS text) AS regnamespace)",
            functions=wanted,
            home=surface.home,
        ).scalars()
    )
    gone += [name for name in wanted if name not in present]
    if signs and not gone and not constants.filled(connection, surface.tables.record.name):
        gone.append("dbsim_constant")
    return gone
