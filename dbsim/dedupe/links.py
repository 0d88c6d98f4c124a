"""Decisions in force between nodes, for grouping: dbsim_<index>_decisions → pairs of nodes → Constraints.

A node is a content, named by its fingerprint. Where decisions name several rows of equal content they may want other
things of each: every one is a node of its own then, with a negative number, but the first row stays with the rest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from dbsim.dedupe.contents import firsts
from dbsim.dedupe.kernels.grouping.assignment import Assignment, Contents, Scores, assign
from dbsim.dedupe.kernels.grouping.constraints import Constraints, split
from dbsim.dedupe.options import GroupOptions
from dbsim.engines.context import IndexContext
from dbsim.engines.signature_rows import Numbers
from dbsim.lifecycle import decisions as stored_decisions
from dbsim.tables.decision_tables import DIFFERENT, SAME, DecisionTables
from dbsim.tables.source import Key

Pairs = NDArray[np.int64]  # n × 2


@dataclass(frozen=True)
class Apart:
    """Rows that are nodes of their own, in key order."""

    nodes: Numbers
    contents: Numbers
    keys: Sequence[Key]

    def of(self, contents: Numbers) -> Apart:
        """Those of these contents."""
        chosen = np.flatnonzero(np.isin(self.contents, contents))
        return Apart(self.nodes[chosen], self.contents[chosen], [self.keys[place] for place in chosen.tolist()])

    @property
    def named(self) -> dict[int, Key]:
        return dict(zip(self.nodes.tolist(), self.keys, strict=True))

    def rows(self, generation: int) -> list[tuple[Any, ...]]:
        """For the table."""
        columns = (self.nodes.tolist(), self.contents.tolist(), self.keys)
        return [(generation, node, content, *key) for node, content, key in zip(*columns, strict=True)]

    def __len__(self) -> int:
        return len(self.nodes)


@dataclass(frozen=True)
class Links:
    """Nodes that were decided to be the same, oldest decisions first, or different."""

    same: Pairs
    different: Pairs
    apart: Apart

    def __bool__(self) -> bool:
        return bool(len(self.same) or len(self.different))

    def touching(self, contents: Numbers) -> Numbers:
        """Contents that something is decided to be the same as one of these."""
        known = dict(zip(self.apart.nodes.tolist(), self.apart.contents.tolist(), strict=True))
        ends = np.array([known.get(node, node) for node in self.same.reshape(-1).tolist()], np.int64).reshape(-1, 2)
        touched = np.isin(ends, contents).any(axis=1)
        return ends[touched].reshape(-1)

    def among(self, nodes: Numbers) -> Constraints:
        """Between these nodes, numbered in this order."""
        order = np.argsort(nodes)
        return Constraints(*(_places(pairs, nodes, order) for pairs in (self.same, self.different)))


def links_of(connection: Connection, context: IndexContext) -> Links:
    """Those whose texts are still the ones that were decided upon."""
    tables = context.tables
    if not stored_decisions.exist(connection, context.backend, tables):
        return Links(_pairs([]), _pairs([]), Apart(np.empty(0, np.int64), np.empty(0, np.int64), []))
    rows = connection.execute(DecisionTables.of(tables).in_order()).all()
    width = len(tables.key_names)
    found = [(tuple(row[:width]), tuple(row[width : 2 * width]), *row[2 * width :]) for row in rows]
    apart = _apart(connection, context, found)
    own = dict(zip(apart.keys, apart.nodes.tolist(), strict=True))
    ends = [(verdict, own.get(a, one), own.get(b, two)) for a, b, verdict, one, two in found]
    same, different = (_pairs([(x, y) for said, x, y in ends if said == one and x != y]) for one in (SAME, DIFFERENT))
    return Links(same, different, apart)


def assign_with(links: Links, contents: Contents, options: GroupOptions, scores: Scores) -> Assignment:
    """As `assign`, with decisions; rows that are nodes of their own come behind all contents."""
    if not links:  # as a rule: then nothing is sorted, of which there may be millions
        return assign(contents, options.by, options.threshold, scores)
    fingerprints, copies = contents.fingerprints, contents.copies
    apart, order = links.apart.of(fingerprints), np.argsort(fingerprints)
    owners = order[np.searchsorted(fingerprints[order], apart.contents)]
    graph, exact = split(contents.graph, contents.exact, owners, contents.own)
    copies = np.concatenate([copies - np.bincount(owners, minlength=len(copies)), np.ones(len(owners), np.int64)])
    if len(apart):
        scores = scores.of(np.concatenate([np.arange(len(fingerprints)), owners]))
    nodes = np.concatenate([fingerprints, apart.nodes])
    parted = Contents(nodes, copies, graph, exact, np.concatenate([contents.own, contents.own[owners]]))
    made = assign(parted, options.by, options.threshold, scores, links.among(nodes))
    own = dict(zip(apart.nodes.tolist(), apart.contents.tolist(), strict=True))
    if not own:
        return made
    return replace(made, contents=np.array([own.get(node, node) for node in made.fingerprints.tolist()], np.int64))


def _apart(connection: Connection, context: IndexContext, found: Sequence[tuple[Any, ...]]) -> Apart:
    every = {key: content for a, b, _, one, two in found for key, content in ((a, one), (b, two))}
    several = {content for content, rows in Counter(every.values()).items() if rows > 1}
    named = {key: content for key, content in every.items() if content in several}
    contents = np.array(sorted(several), np.int64)
    for first in firsts(connection, context.backend, context.tables, contents) if several else ():
        named.pop(first.key, None)
    keys = sorted(named, key=_order)
    numbers = np.array([_number(key) for key in keys], np.int64)
    return Apart(numbers, np.array([named[key] for key in keys], np.int64), keys)


def _order(key: Key) -> tuple[tuple[str, Any], ...]:
    """SQLite may hold numbers and texts in one column."""
    return tuple((type(part).__name__, part) for part in key)


def _number(key: Key) -> int:
    """The same for a key in every run; fingerprints are not negative, and -1 and -2 have a meaning of their own."""
    return -3 - int.from_bytes(blake2b(repr(key).encode(), digest_size=7).digest())


def _pairs(found: list[tuple[int, int]]) -> Pairs:
    return np.array(found, np.int64).reshape(-1, 2)


def _places(pairs: Pairs, nodes: Numbers, order: Numbers) -> Pairs:
    there = np.isin(pairs, nodes).all(axis=1)
    found: Pairs = order[np.searchsorted(nodes[order], pairs[there])].reshape(-1, 2)
    return found
