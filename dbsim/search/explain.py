"""Why two rows are, or are not, near-duplicates: two keys → Explanation, from what is stored and from the texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from dbsim.hashing.records.waterfall import Waterfall
from dbsim.options import Field, IndexOptions
from dbsim.search.query import Query


@dataclass(frozen=True)
class FieldExplanation:
    """One field: its similarity, estimated from the filters and counted in the texts; None when a row lacks it."""

    field: str
    weight: float
    estimate: float | None
    exact: float | None
    shared: list[str]
    only_a: list[str]
    only_b: list[str]


@dataclass(frozen=True)
class Explanation:
    """`shared_keys` are numbers of bucket keys: with none in common the pair is not found, whatever its score."""

    a: Any
    b: Any
    score: float | None
    exact: float | None
    keys: int
    shared_keys: list[int]
    threshold: float
    fields: list[FieldExplanation]
    evidence: Waterfall | None = None  # of records of persons

    @property
    def found(self) -> bool:
        """Whether a search for one finds the other."""
        return bool(self.shared_keys) and self.score is not None and self.score >= self.threshold

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"found": self.found}


def explain(
    options: IndexOptions,
    keys: tuple[Any, Any],
    texts: tuple[Sequence[str], Sequence[str]],
    stored: Sequence[Query | None],
    evidence: Waterfall | None = None,
) -> Explanation:
    """`texts` and `stored` of both rows, field by field."""
    one, two = stored
    fields = [
        _field(field, texts[0][number], texts[1][number], _estimate(field, number, one, two))
        for number, field in enumerate(options.fields)
    ]
    shared = (
        []
        if one is None or two is None
        else [i for i, (a, b) in enumerate(zip(one.keys, two.keys, strict=True)) if a == b]
    )
    return Explanation(
        a=keys[0],
        b=keys[1],
        score=_total([(field.weight, field.estimate) for field in fields])
        if evidence is None
        else evidence.probability,
        exact=_total([(field.weight, field.exact) for field in fields]) if evidence is None else evidence.probability,
        keys=options.keys,
        shared_keys=shared,
        threshold=options.threshold,
        fields=fields,
        evidence=evidence,
    )


def _field(field: Field, a: str, b: str, estimate: float | None) -> FieldExplanation:
    mine, other = field.analyser().shingles(a), field.analyser().shingles(b)
    in_mine, in_other = set(mine), set(other)
    return FieldExplanation(
        field=field.name,
        weight=field.weight,
        estimate=estimate,
        exact=len(in_mine & in_other) / len(in_mine | in_other) if mine and other else None,
        shared=[shingle for shingle in mine if shingle in in_other],
        only_a=[shingle for shingle in mine if shingle not in in_other],
        only_b=[shingle for shingle in other if shingle not in in_mine],
    )


def _estimate(field: Field, number: int, one: Query | None, two: Query | None) -> float | None:
    bits = [None if query is None else query.bits[number] for query in (one, two)]
    if one is None or two is None or bits[0] is None or bits[1] is None:
        return None
    both = (int.from_bytes(bits[0]) & int.from_bytes(bits[1])).bit_count()
    return field.reading.similarity(one.counts[number], two.counts[number], both)


def _total(parts: Sequence[tuple[float, float | None]]) -> float | None:
    """Σ weight·value over the fields that both have, as the score does it."""
    if len(parts) == 1:
        return parts[0][1]
    total = weights = 0.0
    for weight, value in parts:
        if value is not None:
            total += weight * value
            weights += weight
    return total / weights if weights else None
