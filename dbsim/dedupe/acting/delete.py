"""Delete all but one row of each group, and count what that does to other tables: Ranking → Resolution."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection, delete, func, select

from dbsim.dedupe.acting.resolve import PLAN, Acting, Resolution
from dbsim.errors import DbsimError
from dbsim.tables.names import quote
from dbsim.tables.source import Name, Reference

RAW = {"no_parameters": True}
DEEPEST = 20  # tables in a chain of ON DELETE CASCADE


@dataclass(frozen=True)
class Deletion(Acting):
    """The rows go; foreign keys that point to them do what they say, or forbid it, unless they `follow` (merge)."""

    follow: bool = False

    def counted(self, connection: Connection, plan: Any, found: Resolution) -> Resolution:
        options = self.place.tables.record.options
        keys = ", ".join(quote(name) for name in self.place.tables.key_names)
        planned = ", ".join(f"dbsim_key{number}" for number in range(len(self.place.tables.key_names)))
        goes = f"({keys}) IN (SELECT {planned} FROM {PLAN} WHERE dbsim_place > 1)"
        counts = _Consequences(self, connection, (options.schema, options.table))
        counts.follow(options.table, options.schema, goes, 0)
        done = replace(found, cascaded=counts.cascaded, emptied=counts.emptied, blocked=counts.blocked)
        return replace(done, moved=counts.moved)

    def refuse(self, found: Resolution) -> None:
        if found.blocked:
            tables = ", ".join(f"{count} rows of {name}" for name, count in found.blocked.items())
            raise DbsimError(
                f"{tables} refer to rows that would go, and their foreign keys forbid it: nothing was deleted; "
                f"let them refer to the rows that stay first (mark_duplicates, --mark)"
            )

    def act(self, connection: Connection, plan: Any) -> None:
        source = self.place.tables.source
        connection.execute(delete(source).where(self.key(source).in_(self._chosen(plan))))

    def require_done(self, connection: Connection, plan: Any) -> None:
        """Nor may the row that stays have gone with the others, by a foreign key to the table itself or a trigger."""
        super().require_done(connection, plan)
        source = self.place.tables.source
        stays = select(*self.ranking.ranked_keys(plan)).where(plan.c.dbsim_place == 1, plan.c.dbsim_rows > 1)
        there = connection.scalar(select(func.count()).select_from(source).where(self.key(source).in_(stays))) or 0
        lost = (connection.scalar(select(func.count()).select_from(stays.subquery())) or 0) - there
        if lost:
            raise DbsimError(
                f"{lost} of the rows that stay would go with the others, by a foreign key with ON DELETE CASCADE or a "
                f"trigger: nothing was deleted; keep other rows (keep, --keep) or take the reference out first"
            )

    def undone(self, connection: Connection, plan: Any) -> int:
        source = self.place.tables.source
        there = select(func.count()).select_from(source).where(self.key(source).in_(self._chosen(plan)))
        return connection.scalar(there) or 0

    def _chosen(self, plan: Any) -> Any:
        return select(*self.ranking.ranked_keys(plan)).where(plan.c.dbsim_place > 1)


class _Consequences:
    """Walks along the foreign keys from the rows that go."""

    def __init__(self, deletion: Deletion, connection: Connection, source: Name) -> None:
        self._backend, self._connection, self._source = deletion.place.backend, connection, source
        self._goes = ""  # the condition on the source's own rows
        self._moving = sorted(deletion.place.tables.key_names) if deletion.follow else []
        self.cascaded, self.emptied, self.blocked = Counter[str](), Counter[str](), Counter[str]()
        self.moved = Counter[str]()

    def follow(self, table: str, schema: str | None, goes: str, depth: int) -> None:
        """`goes` is a condition on the table's rows."""
        self._goes = self._goes or goes
        for reference in self._backend.references(self._connection, (schema, table), self._source):
            mine, other = (", ".join(map(quote, names)) for names in (reference.columns, reference.referred))
            refers = f"({mine}) IN (SELECT {other} FROM {quote(schema, table)} WHERE {goes})"
            count = self._count(reference, refers)
            if not count:
                continue
            name = reference.table
            if not depth and sorted(reference.referred) == self._moving:
                self.moved[f"{name}.{', '.join(reference.columns)}"] += count
            elif reference.action == "CASCADE":
                self.cascaded[name] += count
                if depth < DEEPEST:
                    self.follow(name, reference.schema, refers, depth + 1)
            elif reference.action.startswith("SET"):
                self.emptied[f"{name}.{', '.join(reference.columns)}"] += count
            else:
                self.blocked[name] += count

    def _count(self, reference: Reference, refers: str) -> int:
        """Rows that refer; those that go anyway do not count."""
        table = quote(reference.schema, reference.table)
        also = f" AND NOT ({self._goes})" if reference.own else ""
        statement = f"SELECT count(*) FROM {table} WHERE {refers}{also}"
        return self._connection.exec_driver_sql(statement, execution_options=RAW).scalar_one()  # type: ignore[no-any-return]
