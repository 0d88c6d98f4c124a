"""Four sums in one: evidence against strangers and three kinds of relatives as a 64-bit number, so that SQL adds once.

A lane has 16 bits with sign, ±511 bits of evidence in 1/64; strangers are the highest, so that the larger of two
numbers is the one that says more against strangers. PostgreSQL's twin of `least` is in
sql/postgresql/shared/probability.sql.
"""

from __future__ import annotations

from dataclasses import dataclass

from dbsim.hashing.records.evidence import Evidence

LANE = 16
LANES = 4
STRANGERS_LANE = LANE * (LANES - 1)  # bits above which strangers are
HALF, MASK = 1 << (LANE - 1), (1 << LANE) - 1


@dataclass(frozen=True)
class Packed:
    """`weights[field][level]` and the prior, all lanes in one number each."""

    weights: list[list[int]]
    prior: int
    moved: int


def pack(evidence: Evidence) -> Packed:
    fields = [[_together(level) for level in field.T.tolist()] for field in evidence.weights.transpose(1, 0, 2)]
    return Packed(fields, _together(evidence.priors.tolist()), evidence.moved << STRANGERS_LANE)


def _together(lanes: list[int]) -> int:
    return sum(value << (LANE * number) for number, value in enumerate(reversed(lanes)))


def least(total: int) -> int:
    """The smallest lane."""
    found = []
    for _ in range(LANES - 1):
        low = ((total + HALF) & MASK) - HALF
        found.append(low)
        total = (total - low) >> LANE
    return min(*found, total)
