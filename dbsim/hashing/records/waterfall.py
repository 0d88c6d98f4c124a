"""What speaks for and against two records being one person, field by field: two signatures → Waterfall."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dbsim.hashing.records.evidence import STRANGERS, UNIT
from dbsim.hashing.records.learning import Learned
from dbsim.hashing.records.levels import CROSSED, CUTS, EQUAL, Rows, levels
from dbsim.hashing.records.probability import probability_of
from dbsim.hashing.signer import Signatures

MOVED, ELSEWHERE = "moved", "another address counts once"
WIDTH = 24  # characters of the longest bar


@dataclass(frozen=True)
class FieldEvidence:
    """One field: how alike, and its weight in bits; `rare` of them because the value is rare."""

    field: str
    agreement: str
    bits: float
    rare: float = 0.0


@dataclass(frozen=True)
class Waterfall:
    """The prior, then every field; the sum in bits is what the probability says."""

    prior: float
    fields: tuple[FieldEvidence, ...]
    bits: float
    probability: float
    against: str = "strangers"  # or relatives, who share surname and address: whichever is harder to tell apart

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    def lines(self) -> Iterator[str]:
        """As text: a bar a field, to the left against, to the right for one person."""
        most = max([abs(self.prior), *(abs(one.bits) for one in self.fields), 1.0])
        yield f"one person, or two {self.against}?"
        yield f"{'before any look':<20} {self.prior:>+7.1f} bits  {_bar(self.prior, most)}"
        for one in self.fields:
            why = f" (rare {one.rare:+.1f})" if one.rare else ""
            yield f"{one.field:<20} {one.bits:>+7.1f} bits  {_bar(one.bits, most)} {one.agreement}{why}"
        yield f"{'together':<20} {self.bits:>+7.1f} bits  probability {self.probability:.4f}"


def waterfalls(learned: Learned, names: Sequence[str], one: Signatures, others: Signatures) -> list[Waterfall]:
    """Of the first row of `one` with each of the others."""
    left, right = (Rows.of(side.filters) for side in (one, others))
    first, second = np.zeros(len(others), np.int64), np.arange(len(others))
    found = levels(left, right, first, second, learned.crossed)
    mine, theirs = (np.stack(side.rarities, axis=1) for side in (one, others))
    rarities = np.where(found == EQUAL, np.minimum(mine[first], theirs), 0)
    return [_waterfall(learned, names, level, rare) for level, rare in zip(found, rarities, strict=True)]


def _waterfall(learned: Learned, names: Sequence[str], level: NDArray[np.int8], rare: NDArray[np.int64]) -> Waterfall:
    """Against those from whom the pair is told apart least: strangers, or relatives."""
    evidence = learned.evidence
    sums = evidence.against(level[None, :], rare[None, :].astype(np.int64))[0]
    against = int(sums.argmin())
    fields, shown = [], int(evidence.priors[against])
    for number, name in enumerate(names):
        added = int(rare[number]) if against == STRANGERS else 0
        worth = int(evidence.weights[against, number, level[number]]) + added
        shown += worth
        fields.append(FieldEvidence(name, agreement(int(level[number])), worth / UNIT, added / UNIT))
    total = int(sums[against])
    if total != shown:
        fields.append(FieldEvidence(MOVED, ELSEWHERE, (total - shown) / UNIT))
    told = "strangers" if against == STRANGERS else "relatives"
    return Waterfall(int(evidence.priors[against]) / UNIT, tuple(fields), total / UNIT, probability_of(total), told)


def agreement(level: int) -> str:
    """In words."""
    if level in (0, CROSSED, EQUAL):
        return {0: "missing, or crossed with the other name", CROSSED: "names crossed", EQUAL: "equal"}[level]
    return f"alike from {CUTS[level - 2]:g}" if level > 1 else f"different (alike below {CUTS[0]:g})"


def _bar(bits: float, most: float) -> str:
    length = round(abs(bits) / most * WIDTH / 2)
    return f"{'-' * length if bits < 0 else '':>{WIDTH // 2}}|{'+' * length if bits > 0 else '':<{WIDTH // 2}}"
