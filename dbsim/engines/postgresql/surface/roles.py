"""Roles that search without the secret of an index: grant it, sign their questions in SQL (texts → signature rows)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection

from dbsim.engines.backend import Backend
from dbsim.engines.execute import ask, run
from dbsim.engines.postgresql.surface.install import surface_of
from dbsim.engines.postgresql.wire.plain import home
from dbsim.engines.views import PAIRS
from dbsim.errors import InvalidOption, MissingRight, NotInPlace, UnknownName
from dbsim.tables import catalogue
from dbsim.tables.index_tables import IndexTables
from dbsim.tables.names import identifier, quote

DENIED = re.compile(r"permission denied for (\w+) (.+)$")
OWNER = "connect as the owner of dbsim's tables; a role that only searches is let in with `dbsim grant DB INDEX ROLE`"


class PostgreSQLRoles(Backend):
    """The part of the backend that deals with them; see `Backend` for what each step means."""

    def reads_secrets(self, connection: Connection) -> bool:
        statement = "SELECT has_column_privilege(to_regclass('dbsim_index'), 'secret', 'SELECT')"
        return bool(ask(connection, statement).scalar())

    def grant(self, connection: Connection, tables: IndexTables, role: str, *, decides: bool = False) -> list[str]:
        _require_role(connection, role)
        function = self._function(connection, tables, "grant")
        if function is None:
            raise NotInPlace(f"index {tables.record.name!r} has no functions for SQL yet: run `dbsim sync` first")
        lacking = ask(
            connection, f"SELECT {function}(CAST(CAST(:role AS text) AS regrole), {decides})", role=quote(role)
        )
        return list(lacking.scalars())

    def revoke(self, connection: Connection, tables: IndexTables, role: str) -> bool:
        _require_role(connection, role)
        quoted = quote(role)
        names = catalogue.names(connection)
        found = {name for name in names if self._is_granted(connection, name, quoted)}
        if tables.record.name in found:
            elsewhere = len(found) > 1
            run(connection, [surface_of(self, connection, tables).revoke_statement(quoted, elsewhere)])
        return tables.record.name in found

    def _is_granted(self, connection: Connection, index: str, role: str) -> bool:
        """By name, not through another role or as the owner."""
        statement = (
            "SELECT EXISTS (SELECT FROM pg_class c, aclexplode(c.relacl) AS acl WHERE c.oid = to_regclass(:view) "
            "AND acl.grantee = CAST(CAST(:role AS text) AS regrole) AND acl.grantee <> c.relowner)"
        )
        view = quote(home(connection), identifier("dbsim", index, PAIRS))
        return bool(ask(connection, statement, view=view, role=role).scalar())

    def sign_in_sql(
        self, connection: Connection, tables: IndexTables, columns: Sequence[Sequence[str]]
    ) -> list[tuple[Any, ...]]:
        function = self._function(connection, tables, "sign")
        if function is not None and tables.record.options.hashing.learns:
            asked = identifier("dbsim", tables.record.name, "check")
            raise InvalidOption(
                f"a role that may only search cannot read what index {tables.record.name!r} has learned: "
                f"ask {asked}(…) in SQL, or connect as the owner of dbsim's tables"
            )
        if function is None:
            if tables.record.options.secret:
                raise InvalidOption(
                    f"the secret of index {tables.record.name!r} is kept outside the database, so that a role that "
                    "may only search cannot ask it about texts: connect as the owner of dbsim's tables"
                )
            raise InvalidOption(
                f"family {tables.record.options.family!r} cannot be signed in SQL, so without the secret of index "
                f"{tables.record.name!r} only its views can be read: connect as the owner of dbsim's tables"
            )
        texts = [f"t{number}" for number in range(len(columns))]
        arrays = ", ".join(f"CAST(:{name} AS text[])" for name in texts)
        derived = [column.name for column in list(tables.signatures.columns)[len(tables.key_names) :]]
        rows = ask(
            connection,
            f"SELECT {', '.join(f's.{quote(name)}' for name in derived)} ".replace(":", "\\:")
            + f"FROM unnest({arrays}) WITH ORDINALITY AS t ({', '.join(texts)}, number) "
            f"CROSS JOIN LATERAL {function}({', '.join(f't.{name}' for name in texts)}) AS s ORDER BY t.number",
            **{name: [text.replace("\0", "") for text in column] for name, column in zip(texts, columns, strict=True)},
        )
        return [tuple(row) for row in rows]

    def _function(self, connection: Connection, tables: IndexTables, part: str) -> str | None:
        """As it is called from a text with :names; None when the index has none."""
        schema, name = home(connection), identifier("dbsim", tables.record.name, part)
        statement = (
            "SELECT EXISTS (SELECT FROM pg_proc WHERE proname = CAST(:name AS text) "
            "AND pronamespace = CAST(CAST(:home AS text) AS regnamespace))"
        )
        there = ask(connection, statement, name=name, home=quote(schema)).scalar()
        return quote(schema, name).replace(":", "\\:") if there else None


def _require_role(connection: Connection, role: str) -> None:
    known = list(ask(connection, "SELECT rolname FROM pg_roles ORDER BY rolname").scalars())
    if role not in known:
        raise UnknownName("role", role, [name for name in known if not name.startswith("pg_")])


def explain_denied(detail: str) -> MissingRight:
    """Which right is missing, and who can give it."""
    denied = DENIED.search(detail)
    kind, name = (denied[1], denied[2]) if denied else ("", "")
    if name.startswith("dbsim_"):
        return MissingRight(f"the database role lacks a right ({detail}): {OWNER}")
    needed = {"table": "GRANT SELECT ON", "view": "GRANT SELECT ON", "schema": "GRANT USAGE ON SCHEMA"}.get(kind)
    remedy = f"have its owner run `{needed} {name} TO …`" if needed else "grant it and try again"
    return MissingRight(f"the database role lacks a right ({detail}): {remedy}")
