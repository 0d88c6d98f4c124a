"""Decisions in force between contents, for grouping: dbsim_<index>_decisions → pairs of fingerprints → Constraints."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, select

from dbsim.context import IndexContext
from dbsim.dedupe.kernels.constraints import Constraints
from dbsim.engines.signature_rows import Numbers
from dbsim.lifecycle import decisions as stored_decisions
from dbsim.tables.decision_tables import DIFFERENT, SAME, DecisionTables

Pairs = NDArray[np.int64]  # n × 2


@dataclass(frozen=True)
class Links:
    """Fingerprints of contents that were decided to be the same, oldest decisions first, or different."""

    same: Pairs
    different: Pairs

    def touching(self, contents: Numbers) -> Numbers:
        """What is decided to be the same as one of these."""
        touched = np.isin(self.same, contents).any(axis=1)
        return self.same[touched].reshape(-1)

    def among(self, fingerprints: Numbers) -> Constraints:
        """Between nodes, which are these contents in this order."""
        order = np.argsort(fingerprints)
        return Constraints(*(_places(pairs, fingerprints, order) for pairs in (self.same, self.different)))


def links_of(connection: Connection, context: IndexContext) -> Links:
    """Those whose texts are still the ones that were decided upon; equal contents are the same without a decision."""
    tables = context.tables
    if not stored_decisions.exist(connection, context.backend, tables):
        return Links(_pairs([]), _pairs([]))
    decided = DecisionTables(tables)
    a, b = tables.signatures.alias("dbsim_a"), tables.signatures.alias("dbsim_b")
    ends = [row.c[tables.names.fingerprint] for row in (a, b)]
    query = (
        select(decided.decisions.c.verdict, *ends)
        .join_from(decided.decisions, a, decided.row(0, a))
        .join(b, decided.row(1, b))
        .where(decided.valid(a, b), ends[0] != ends[1], decided.decisions.c.verdict.in_((SAME, DIFFERENT)))
        .order_by(decided.decisions.c.decided_at, *decided.keys(0), *decided.keys(1))
    )
    rows = connection.execute(query).all()
    return Links(*(_pairs([(x, y) for word, x, y in rows if word == verdict]) for verdict in (SAME, DIFFERENT)))


def _pairs(found: list[tuple[int, int]]) -> Pairs:
    return np.array(found, np.int64).reshape(-1, 2)


def _places(pairs: Pairs, fingerprints: Numbers, order: Numbers) -> Pairs:
    there = np.isin(pairs, fingerprints).all(axis=1)
    found: Pairs = order[np.searchsorted(fingerprints[order], pairs[there])].reshape(-1, 2)
    return found
