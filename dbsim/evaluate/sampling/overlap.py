"""Two collections compared by samples (Sauerhoff 2008, §2.1): how many sampled rows the other holds → shares, quotient.

|A ∩ B| = |A|·P[x∈B | x∈A] = |B|·P[x∈A | x∈B], so that |A| : |B| is the quotient of the two shares, and no collection
has to be counted.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from dbsim.evaluate.intervals import Interval, quotient, share


@dataclass(frozen=True)
class Overlap:
    """What two samples say about collections A and B."""

    a_in_b: Interval
    b_in_a: Interval
    relative_size: Interval  # |A| / |B|
    sampled_a: int
    sampled_b: int
    counted: float | None = None  # |A| / |B| as counted, where both can be

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def overlap(sampled_a: int, found_in_b: int, sampled_b: int, found_in_a: int) -> Overlap:
    """From the rows drawn from each collection and those of them that the other one holds."""
    a_in_b, b_in_a = share(found_in_b, sampled_a), share(found_in_a, sampled_b)
    return Overlap(a_in_b, b_in_a, quotient(b_in_a, sampled_b, a_in_b, sampled_a), sampled_a, sampled_b)
