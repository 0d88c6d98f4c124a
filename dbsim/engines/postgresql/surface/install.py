"""Install and remove what people see of dbsim from SQL on PostgreSQL; wait for those who write inline."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from sqlalchemy import Connection, Engine

from dbsim.engines.backend import Backend
from dbsim.engines.evidence import learned_of, of_copies
from dbsim.engines.execute import ask, run
from dbsim.engines.pause import pause
from dbsim.engines.postgresql.surface.comments import comment_statement
from dbsim.engines.postgresql.surface.objects import (
    ONE_AT_A_TIME,
    create_objects,
    encoding,
    missing_objects,
    pinned,
    settings_statement,
    written_objects,
)
from dbsim.engines.postgresql.surface.pieces.decided import DECIDED
from dbsim.engines.postgresql.surface.shared import (
    drop_functions,
    drop_shared,
    shared_functions,
    why_not_in_sql,
)
from dbsim.engines.postgresql.surface.signing import gate, inline_function
from dbsim.engines.postgresql.surface.views import (
    FORMER,
    MARKED,
    PostgreSQLSurface,
    drop_statements,
)
from dbsim.engines.postgresql.triggers import create_triggers, events, parts
from dbsim.engines.postgresql.wire.plain import home as home_of
from dbsim.engines.views import PAIRS, STATUS, Surface, outdated, union
from dbsim.errors import DatabaseUnavailable, InvalidOption
from dbsim.options import IndexOptions
from dbsim.resources import filled, sql
from dbsim.tables.index_tables import IndexTables
from dbsim.tables.names import dollar_tag, identifier, literal, quote
from dbsim.tables.source import Source

PATIENCE = 60.0  # seconds to wait for transactions that are writing
POLL = 0.01
DAYS = "kind-date@"


class PostgreSQLSurfaces(Backend):
    """See `Surface` in dbsim.engines.backend for what each step means."""

    def table_settings(self, names: Sequence[str]) -> list[str]:
        return [settings_statement(names), comment_statement([quote(name) for name in names])]

    def readers_of_secrets(self, connection: Connection) -> list[str]:
        return list(ask(connection, sql("postgresql", "readers_of_secrets")).scalars())

    def require_inline(self, connection: Connection, tables: IndexTables, source: Source) -> None:
        reason = why_not_in_sql(tables, encoding(connection))
        if reason:
            raise InvalidOption(
                f"an inline index signs in SQL, but {reason}: keep it queued (`dbsim inline --off`) and sync"
            )
        require_stable_text(source.columns, tables.record.options)

    def create_surface(self, connection: Connection, tables: IndexTables) -> None:
        create_objects(connection, surface_of(self, connection, tables))

    def view_made_anew(self, name: str, query: str) -> list[str]:
        return [f"CREATE OR REPLACE VIEW {quote(name)} AS {query}"]

    def score_of_copies(self, connection: Connection, tables: IndexTables) -> str | None:
        learned = learned_of(connection, tables)
        return None if learned is None else f"dbsim_probability({of_copies(tables, learned, 'greatest')})"

    def json_number(self, text: str, name: str) -> str:
        return f"({text}::json ->> {literal(name)})::float8"

    def go_home(self, home: str) -> list[str]:
        return [f"SET LOCAL search_path = {quote(home)}"]

    def surface_statements(self, tables: IndexTables, home: str) -> list[str]:
        if reason := why_not_in_sql(tables, "UTF8"):
            raise InvalidOption(f"without a connection nothing but SQL can sign, but {reason}: use `dbsim create`")
        if tables.record.options.hashing.learns:
            raise InvalidOption(
                "an index of persons learns from the table, which needs a connection: use `dbsim create`"
            )
        return written_objects(self._written(tables, home), list(events(tables.record.name)))

    def written_triggers(self, tables: IndexTables, home: str) -> list[str]:
        if not tables.record.options.inline:
            return create_triggers(tables)
        return create_triggers(tables, inline_function(self._written(tables, home), parts(tables)))

    def _written(self, tables: IndexTables, home: str) -> PostgreSQLSurface:
        """With the key's types as they were given."""
        types = tuple(type_.split(" COLLATE ")[0] for _, type_ in tables.record.primary_key)
        return PostgreSQLSurface(tables, quote(home), self, types)

    def drop_surface(self, name: str) -> list[str]:
        return [ONE_AT_A_TIME, *drop_statements(name)]

    def shared_names(self) -> list[str]:
        return shared_functions()

    def drop_shared(self) -> list[str]:
        return drop_shared()

    def granted(self, connection: Connection, tables: IndexTables) -> dict[str, bool]:
        readers = _holders(connection, tables, PAIRS, "SELECT")
        return dict.fromkeys(readers, False) | dict.fromkeys(_holders(connection, tables, DECIDED, "INSERT"), True)

    def grant_again(self, connection: Connection, tables: IndexTables, roles: Mapping[str, bool]) -> None:
        function = surface_of(self, connection, tables).function("grant")
        run(connection, [f"SELECT {function}({literal(role)}::regrole, {decides})" for role, decides in roles.items()])

    def missing_surface(self, connection: Connection, tables: IndexTables) -> list[str]:
        return missing_objects(connection, surface_of(self, connection, tables))

    def outdated_triggers(self, connection: Connection, tables: IndexTables) -> bool:
        return outdated(self._sources(connection, [identifier("dbsim", tables.record.name, "changed")]))

    def outdated_surface(self, connection: Connection, tables: IndexTables) -> bool:
        surface = Surface(tables)
        return outdated(self._sources(connection, [surface.name(MARKED), surface.name(FORMER)]))

    def _sources(self, connection: Connection, names: list[str]) -> list[str]:
        """The bodies of these functions, as far as they are there."""
        home = quote(home_of(connection))
        statement = (
            "SELECT prosrc FROM pg_proc WHERE proname = ANY (CAST(:names AS text[])) "
            "AND pronamespace = CAST(CAST(:home AS text) AS regnamespace)"
        )
        return list(ask(connection, statement, names=names, home=home).scalars())

    def status_statements(self, connection: Connection, indexes: Sequence[IndexTables]) -> list[str]:
        """After the last index is dropped, so are the shared functions."""
        if not indexes:
            return drop_functions()
        surfaces = [surface_of(self, connection, tables) for tables in indexes]
        parts = [one.status_part(list(events(one.tables.record.name))) for one in surfaces]
        view = f"{surfaces[0].home}.{STATUS}"
        shown = f"CREATE OR REPLACE VIEW {view} WITH (security_barrier) AS\n{union(parts)}"
        return pinned([shown, _status_readers(surfaces, view), comment_statement([view], (), surfaces[0].home)])

    def settle(self, engine: Engine) -> None:
        wait_for_writers(engine)


def _status_readers(surfaces: Sequence[PostgreSQLSurface], status: str) -> str:
    pairs = (f"to_regclass({one.names['pairs_literal']})" for one in surfaces)
    names = {"pairs_views": ", ".join(pairs), "grant_status": literal(f"GRANT SELECT ON {status} TO ")}
    return filled(sql("postgresql", "index/status_readers"), names | {"body": dollar_tag(names.values())})


def surface_of(backend: Backend, connection: Connection, tables: IndexTables) -> PostgreSQLSurface:
    types = ask(connection, sql("postgresql", "key_types"), table=quote(tables.signatures.name))
    named = {row.name: row.type for row in types}
    plain = {name: type_.split(" COLLATE ")[0] for name, type_ in tables.record.primary_key}
    types_of_key = tuple(named.get(name, type_) for name, type_ in plain.items())
    home = quote(home_of(connection))
    return PostgreSQLSurface(tables, home, backend, types_of_key, learned_of(connection, tables))


def _holders(connection: Connection, tables: IndexTables, view: str, right: str) -> list[str]:
    """Roles that were given a right on a view of the index; the one of pairs remembers who was granted it."""
    rows = ask(
        connection,
        "SELECT DISTINCT acl.grantee::regrole::text FROM pg_class c, aclexplode(c.relacl) AS acl "
        "WHERE c.oid = to_regclass(:view) AND acl.privilege_type = :right AND acl.grantee NOT IN (c.relowner, 0)",
        view=quote(home_of(connection), Surface(tables).name(view)),
        right=right,
    )
    return list(rows.scalars())


def close_gate(connection: Connection, index: str) -> None:
    """Keep inline triggers to the queue until this transaction ends; wait for those that have signed."""
    inline = ask(
        connection,
        "SELECT coalesce((options::json ->> 'inline')::boolean, false) FROM dbsim_index WHERE name = :name",
        name=index,
    ).scalar()
    if inline:
        run(
            connection,
            [
                "SET LOCAL lock_timeout = '5s'",
                f"SELECT pg_advisory_xact_lock({gate(index)})",
                "SET LOCAL lock_timeout = 0",
            ],
        )


def wait_for_writers(engine: Engine) -> None:
    """Wait until every transaction that is writing now has ended."""
    deadline = time.monotonic() + PATIENCE
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        newest = connection.exec_driver_sql("SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint").scalar_one()
        oldest = "SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint"
        while connection.exec_driver_sql(oldest).scalar_one() < newest:
            if time.monotonic() > deadline:
                raise DatabaseUnavailable("long transactions are still writing: try again when they have finished")
            pause(POLL)


def require_stable_text(columns: dict[str, str], options: IndexOptions) -> None:
    """Inline signing needs columns whose text is the same in every session, whatever its DateStyle or time zone."""
    days = {name for field in options.fields if field.normaliser.startswith(DAYS) for name in field.columns}
    for name in options.columns:
        type_ = columns[name].split("(")[0].split(" COLLATE ")[0]
        if type_ == "date" and name in days:  # functions that sign have a DateStyle of their own
            continue
        if type_.startswith(("date", "time", "interval", "real", "double", "money")) or type_.endswith("[]"):
            raise InvalidOption(
                f"column {name!r} is of type {columns[name]}, whose text depends on settings of the session: "
                "leave the index queued, or index a text column"
            )
