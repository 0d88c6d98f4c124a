"""The stored groups and pairs of one result as subqueries, and statements on them that are made once."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from sqlalchemy import Select, select

from dbsim.engines.context import Stage
from dbsim.lifecycle import groups as stored_groups
from dbsim.tables.group_tables import PUBLISHED, GroupTables


@dataclass
class ResultView(Stage):
    """Reads only, of one result."""

    result: str = PUBLISHED
    _known: dict[Hashable, Select[Any]] = field(default_factory=dict)
    _exist: bool = False

    def _statement(self, name: Hashable, make: Callable[[], Select[Any]]) -> Select[Any]:
        """The same for the same kind of question: making one takes longer than a short answer to it."""
        if name not in self._known:
            self._known[name] = make()
        return self._known[name]

    @cached_property
    def groups(self) -> GroupTables:
        return GroupTables(self.tables)

    @cached_property
    def _view(self) -> Any:
        """The rows of the result's groups."""
        view = self.groups.saved_groups
        names = (*self.tables.key_names, *self.groups.shown)
        mine = view.c[self.groups.result_name] == self.result
        return select(*(view.c[name] for name in names)).where(mine).subquery("shown")

    @cached_property
    def _edges(self) -> Any:
        """The pairs that the result groups."""
        edges, results = self.groups.edges, self.groups.results
        mine = select(results.c.pairing).where(results.c.name == self.result).scalar_subquery()
        return select(edges.c.a, edges.c.b, edges.c.score).where(edges.c.pairing == mine).subquery("edges")

    def exist(self) -> bool:
        """Whether groups are stored; once they are, they stay as long as this generation of the index."""
        if not self._exist:
            self._exist = self.read(lambda c: stored_groups.exist(c, self.backend, self.groups))
        return self._exist
