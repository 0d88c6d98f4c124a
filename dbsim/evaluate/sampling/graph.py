"""Graphs to walk on, read from the database: stored pairs, or any table of edges → nodes and edges; WalkSample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from sqlalchemy import Connection, column, select, table

from dbsim.engines.backend import Backend
from dbsim.errors import InvalidOption, UnknownName
from dbsim.evaluate.sampling.sample import chance
from dbsim.evaluate.sampling.walk import Nodes, Walk
from dbsim.options import require_positive

MOST_STEPS = 50_000_000  # of one walk; loops are not walked one by one, so that this takes seconds


@dataclass(frozen=True)
class WalkSample:
    """Nodes drawn by a walk, and how far the walk can be trusted.

    `gap` steps lie between two draws. 1/(1 - |λ₂|) is what the source calls the time of convergence; `reached` is the
    number of nodes that a walk from the start can come to, all others are never drawn.
    """

    drawn: list[Any]
    start: Any
    nodes: int
    reached: int
    degree: int
    second_eigenvalue: float
    convergence: float
    gap: int

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Graph:
    """Edges between nodes by number, and what users call the nodes."""

    names: Sequence[Any]
    a: Nodes
    b: Nodes

    def sample(self, size: int, start: Any, degree: int | None, gap: int | None, seed: int | None) -> WalkSample:
        """`size` nodes; without a start the walk begins at a node drawn at random, without a gap it is long enough."""
        require_positive(size=size, degree=degree, gap=gap)
        rng = chance(seed)
        if not len(self.names):
            raise InvalidOption("the graph has no edges to walk on")
        place = self._place(start) if start is not None else int(rng.integers(len(self.names)))
        walk = Walk.on(len(self.names), self.a, self.b, degree or 0)
        second = walk.second_eigenvalue(place)
        gap = walk.gap(place) if gap is None else gap
        if size * gap > MOST_STEPS:
            raise InvalidOption(f"{size} draws of {gap} steps each are too many: draw fewer, or give a smaller gap")
        drawn = [self.names[node] for node in walk.sample(place, size, gap, rng).tolist()]
        time = 1.0 / max(1.0 - second, 1e-12)
        reached = len(walk.reached(place))
        return WalkSample(drawn, self.names[place], len(self.names), reached, walk.degree, second, time, gap)

    def _place(self, start: Any) -> int:
        """By its name, which the command line has as text."""
        for place, name in enumerate(self.names):
            if name == start or str(name) == start:
                return place
        raise InvalidOption(f"the walk cannot begin at {start!r}: no edge leads there")


def edge_table(connection: Connection, backend: Backend, name: str, ends: tuple[str, str]) -> Graph:
    """Any table with two columns that name nodes; rows without both are left out."""
    schema, _, plain = name.rpartition(".")
    found = backend.describe(connection, plain, schema or None)
    if found is None:
        raise UnknownName("table", name, [])
    for end in ends:
        if end not in found.columns:
            raise UnknownName(f"column of table {name!r} named", end, found.columns)
    edges = table(plain, *(column(end) for end in dict.fromkeys(ends)), schema=schema or None)
    a, b = (edges.c[end] for end in ends)
    rows = connection.execute(select(a, b).where(a.is_not(None), b.is_not(None))).all()
    return numbered([row[0] for row in rows], [row[1] for row in rows])


def numbered(a: Sequence[Any], b: Sequence[Any]) -> Graph:
    """Nodes in the order of their first mention."""
    numbers: dict[Any, int] = {}
    places = [[numbers.setdefault(end, len(numbers)) for end in ends] for ends in (a, b)]
    return Graph(list(numbers), np.array(places[0], np.int64), np.array(places[1], np.int64))
