"""Texts with a chosen similarity, and the comparison of a collision rate with its formula."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dbsim.hashing.documents import Documents
from dbsim.hashing.families.registry import described, family_of
from dbsim.hashing.family import Family, Keys
from dbsim.hashing.keys import Plan
from dbsim.hashing.signer import FieldPlan, Signer
from dbsim.text.features import Analyser

SECRET = b"0123456789abcdef"
PLAN_FOR_TUNING = Plan(1, 1)
ONE_WORD = FieldPlan(Analyser(size=1), 1.0, 1024)
ANY_FAMILY = (
    "minhash",
    "rabin-minhash",
    "bitsampling",
    "bitsampling:of=unary",
    "gauss",
    "cauchy",
    "levy",
    "hyperplane",
    "fuzzy",
    "fuzzy:prefix=1:classes=0:drop=jquvwxyz:schemes=3:expected=english",
    "fuzzy:classes=40:intervals=2:deviation=signed:expected=german",
    "spectral:bits=16:within=2",
    "linear-spectral:bits=16:within=2",
    "forest",
    "forest:over=hyperplane",
)


def family_at(name: str, threshold: float = 0.7) -> Family:
    return family_of(name).settled(threshold)


def signer(family: Family, plan: Plan, fields: Sequence[FieldPlan] = (ONE_WORD,)) -> Signer:
    return Signer(fields, described(family), plan, SECRET)


def documents(*columns: Sequence[str], fields: Sequence[FieldPlan] = (ONE_WORD,)) -> Documents:
    return signer(family_of("minhash"), Plan(1, 1), fields).documents(columns)


def pairs(share: float, count: int, words: int = 120, seed: int = 0) -> tuple[list[str], list[str]]:
    """`count` texts of their own vocabularies, and copies with a share of the words replaced by new ones."""
    rng = np.random.default_rng(seed)
    left, right = [], []
    for number in range(count):
        text = [spelt(number, int(word)) for word in rng.zipf(1.6, words).clip(0, 10**6)]
        new = {place: spelt(number, 10**7 + place) for place in np.flatnonzero(rng.random(words) < share).tolist()}
        copy = [new.get(place, word) for place, word in enumerate(text)]
        left.append(" ".join(text))
        right.append(" ".join(copy))
    return left, right


def spelt(document: int, word: int) -> str:
    """A word that only this document has, with any first letters."""
    return f"{chr(97 + word % 26)}{chr(97 + (word + document) % 23)}{document}x{word}"


def agreement(family: Family, left: Documents, right: Documents, plan: Plan) -> tuple[Keys, Keys, NDArray[np.float64]]:
    """Keys of both sides, and the exact similarity of each pair."""
    both = Documents(left.fields)
    model = family.fit(both, plan)
    similar = np.array([family.similarity(one(left, i), one(right, i), model)[0, 0] for i in range(len(left))])
    return family.keys(left, plan, model), family.keys(right, plan, model), similar


def one(some: Documents, number: int) -> Documents:
    """One document of a batch, made by cutting, so that keys cannot depend on the batch."""
    return Documents(
        tuple(
            type(field)(
                [field.folded[number]],
                type(field.tokens)(
                    field.tokens.hashes[field.tokens.offsets[number] : field.tokens.offsets[number + 1]],
                    np.array([0, field.tokens.counts[number]]),
                ),
                type(field.features)(
                    field.features.hashes[field.features.offsets[number] : field.features.offsets[number + 1]],
                    np.array([0, field.features.counts[number]]),
                ),
                type(field.filters)(field.filters.bits[[number]], field.filters.counts[[number]]),
                field.weight,
                field.words,
            )
            for field in some.fields
        )
    )


def assert_formula(family: Family, share: float, count: int = 40, rows: int = 300, deviations: float = 4.0) -> None:
    """Rows agree as often as the family's formula says for each pair's exact similarity, within a binomial interval."""
    left, right = (documents(side) for side in pairs(share, count))
    mine, other, similar = agreement(family, left, right, Plan(1, rows))
    expected = np.array([family.collision(value) for value in similar.tolist()])
    agreed = (mine == other).sum()
    spread = np.sqrt((rows * expected * (1 - expected)).sum())
    assert abs(agreed - rows * expected.sum()) <= deviations * spread + 1, (
        agreed / (rows * count),
        expected.mean(),
        similar.mean(),
    )
