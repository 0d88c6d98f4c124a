"""`dbsim.hashing.records.probability` as plain SQL, for views that anybody opens: packed sums → expression."""

from __future__ import annotations

import math

from dbsim.hashing.records.evidence import UNIT
from dbsim.hashing.records.packing import HALF, LANE, LANES, MASK
from dbsim.hashing.records.probability import COEFFICIENTS, MOST_BITS


def probability(packed: str) -> str:
    """Each step is a query of its own, so that no expression is written more than once for each time it is used."""
    query, lanes = f"SELECT {packed} AS rest", ""
    for number in range(LANES - 1):
        low = f"((rest + {HALF}) & {MASK}) - {HALF}"
        query = f"SELECT {low} AS lane{number}, (rest - ({low})) >> {LANE} AS rest{lanes} FROM ({query})"
        lanes += f", lane{number}"
    query = f"SELECT max(min(rest{lanes}), {-MOST_BITS * UNIT}) AS bits FROM ({query})"
    query = f"SELECT bits, min(abs(bits), {MOST_BITS * UNIT}) AS size FROM ({query})"
    query = f"SELECT bits, size / {UNIT} AS whole, (size % {UNIT}) / {float(UNIT)} AS x FROM ({query})"
    value = _exactly(COEFFICIENTS[-1])
    for coefficient in reversed(COEFFICIENTS[:-1]):
        value = f"({value} * x + {_exactly(coefficient)})"
    query = f"SELECT bits, 1.0 / (1.0 + (1 << whole) * {value}) AS less FROM ({query})"
    return f"(SELECT CASE WHEN bits < 0 THEN less ELSE 1.0 - less END FROM ({query}))"


def _exactly(number: float) -> str:
    """A whole number divided by powers of two, because not every SQLite reads seventeen digits to the last bit."""
    fraction, exponent = math.frexp(number)
    small = 2 ** max(-exponent, 0)
    scale = 2 ** (53 - max(exponent, 0))
    return f"({int(fraction * 2**53)} / {scale}.0 / {small}.0)"
