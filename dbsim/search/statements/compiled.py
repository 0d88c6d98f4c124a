"""Statements as the driver takes them, compiled once: building and compiling costs more than running them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, Dialect

MOST = 100  # kept: conditions may have literals in them


@dataclass(frozen=True)
class Compiled:
    """Its text, the order of its parameters where they have no names, and the values that are always the same."""

    sql: str
    order: Sequence[str] | None
    defaults: dict[str, Any]

    @staticmethod
    def of(statement: Any, dialect: Dialect) -> Compiled:
        compiled = statement.compile(dialect=dialect)
        return Compiled(str(compiled), compiled.positiontup, dict(compiled.params))

    def arguments(self, values: dict[str, Any]) -> Any:
        values = self.defaults | values
        return values if self.order is None else tuple(map(values.__getitem__, self.order))

    def rows(self, connection: Connection, values: dict[str, Any]) -> Sequence[Any]:
        return connection.exec_driver_sql(self.sql, self.arguments(values)).all()


@dataclass
class CompiledStatements:
    """For the drivers of callers, which need not be that of dbsim's own engine."""

    _known: dict[Hashable, Compiled] = field(default_factory=dict)

    def known(self, driver: str, shape: Hashable) -> Compiled | None:
        """Where it was compiled before."""
        return self._known.get((driver, shape))

    def get(self, connection: Connection, shape: Hashable, build: Callable[[], Any]) -> Compiled:
        """The statement of this shape."""
        dialect = connection.dialect
        shape = dialect.driver, shape
        found = self._known.get(shape)
        if found is None:
            found = Compiled.of(build(), dialect)
            if len(self._known) >= MOST:
                self._known.clear()
            self._known[shape] = found
        return found
