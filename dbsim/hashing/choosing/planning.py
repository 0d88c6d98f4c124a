"""Rows and keys by what they cost on this table: (Signer, sample of texts, rows of the table) → Choice.

A key costs 30 bytes of disk a row, its share of every sync and a look-up in every search; a candidate costs a search
about as much as a look-up. Fewer values a key need fewer keys for the same recall but bring more candidates; how many
follows from the similarities in a sample of the table and the family's collision probability.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dbsim.hashing.choosing.trial import collisions, edited
from dbsim.hashing.documents import Documents
from dbsim.hashing.family import Family, Model
from dbsim.hashing.keys import LIMIT_KEYS, Plan, aimed, keys_needed
from dbsim.hashing.signer import Signer

FEWEST = 1000  # rows of a table that says something about what it will become
FEWEST_TRIED = 50  # rows of one that says what a family without a formula finds
HEADROOM = 2  # the table may grow to so many times its size before the choice is looked at again
MANY = 50.0  # candidates a search should not rank on average
KEY_COST = 1.5  # of a key, in candidates
FEWEST_KEYS = 8  # with fewer, rows that share a template are found or missed together: recall would hang on the secret
GRAIN = 1e-9
QUERIES = 200
CHARACTERS = 1_500_000  # of each half of the sample

Similarities = NDArray[np.float64]


@dataclass(frozen=True)
class Choice:
    """A plan, and the rows below the threshold that a search of so many rows is expected to rank with it.

    `alike` is the expected number of rows that reach the threshold, which no plan avoids; `recall` is measured on
    edited copies, where no formula promises it.
    """

    plan: Plan
    rows: int  # of the table when this was chosen; 0: nothing was measured
    candidates: float
    alike: float = 0.0
    recall: float | None = None
    family: Family | None = None  # with other settings than the signer's, where a trial chose them


def choose(
    signer: Signer, texts: Sequence[Sequence[str]], rows: int, threshold: float, recall: float, *, free: bool = False
) -> Choice:
    """The cheapest plan with the recall that was asked for; the signer's own where there is no choice or no table.

    `free`: the family's settings may be chosen too, where it has no formula.
    """
    family, plan = signer.family, signer.plan
    known = family.collision(threshold) is not None
    if family.nearest or rows < (FEWEST if known else FEWEST_TRIED):
        return Choice(plan, 0, 0.0)
    texts = _bounded(texts)
    try:
        if not known:
            families = family.settings() if free and rows >= FEWEST else [family]
            return _measured(signer, texts, rows, threshold, recall, families)
        return _computed(signer, texts, rows, threshold, recall)
    except ValueError:  # a family that learns says what the sample lacks; the first sync will say it again
        return Choice(plan, 0, 0.0)


def _bounded(texts: Sequence[Sequence[str]]) -> list[list[str]]:
    """As many rows of both ends as have together a few million characters: long texts need not all be compared."""
    size = len(texts[0])
    usual = max(sum(len(text) for column in texts for text in column) / size, 1.0)
    each = max(min(size // 2, int(CHARACTERS / usual)), 1)
    return [[*column[:each], *column[size - each :]] for column in texts]


def _computed(signer: Signer, texts: Sequence[Sequence[str]], rows: int, threshold: float, recall: float) -> Choice:
    family, plan = signer.family, signer.plan
    middle = len(texts[0]) // 2  # rows far apart in the table: neighbours are often alike, and most rows are not
    stored = signer.documents([column[:middle] for column in texts])
    asked = signer.documents([column[middle:] for column in texts])
    model = family.fit(stored, plan)
    similar = family.similarity(asked, stored, model)
    present = asked.present[:, None] & stored.present[None, :]
    below = similar[present & (similar < threshold - GRAIN)]
    share = below.size / max(int(present.sum()), 1)
    alike = rows * (1.0 - share)
    plans = [plan] if family.fixed else _plans(family, threshold, recall) or [plan]
    choices = [Choice(one, rows, rows * share * _mean_collision(family, one, below), alike) for one in plans]
    few = [one for one in choices if HEADROOM * one.candidates <= MANY]
    return min(few or choices, key=_cost)


def _cost(choice: Choice) -> float:
    return KEY_COST * choice.plan.keys + HEADROOM * choice.candidates


def _plans(family: Family, threshold: float, recall: float) -> list[Plan]:
    """Every number of rows that reaches the recall, with some to spare, within the keys an index may have."""
    probability = family.collision(threshold) or 0.0
    needed = [(rows, keys_needed(probability**rows, aimed(recall))) for rows in range(1, family.max_rows + 1)]
    found = [Plan(rows, max(keys, FEWEST_KEYS)) for rows, keys in needed]
    return [plan for plan in found if plan.keys <= LIMIT_KEYS]


def _mean_collision(family: Family, plan: Plan, similar: Similarities) -> float:
    """Probability that two such rows share a key; the formula once for each thousandth."""
    if not similar.size:
        return 0.0
    steps = np.bincount(np.clip((similar * 1000).astype(np.int64), 0, 1000), minlength=1001)
    used = steps.nonzero()[0]
    chances = [plan.recall(family.collision((step + 0.5) / 1000) or 0.0) for step in used.tolist()]
    return float(np.dot(steps[used], chances) / similar.size)


def _measured(
    signer: Signer,
    texts: Sequence[Sequence[str]],
    rows: int,
    threshold: float,
    recall: float,
    families: Sequence[Family],
) -> Choice:
    """By asking: the cheapest setting with the recall asked for, else the one that finds most of all that rank few."""
    stored, asked = signer.documents(texts), signer.documents(edited(texts, QUERIES))
    model = signer.family.fit(stored, signer.plan)
    similar = signer.family.similarity(asked, stored, model)
    present = stored.present[None, :] & asked.present[:, None]
    near = (similar >= threshold - GRAIN) & present
    models = {signer.plan: model}
    tried = [
        _tried(family, stored, asked, near, rows, models)
        for family in families
        if _learned(family, family.plan(threshold, recall), stored, models)
    ]
    few = [one for one in tried if one.candidates <= MANY] or [min(tried, key=lambda one: one.candidates)]
    enough = [one for one in few if (one.recall or 0.0) >= recall]
    if enough:
        return min(enough, key=_cost)
    return max(few, key=lambda one: (one.recall or 0.0, -one.candidates))


def _learned(family: Family, plan: Plan, stored: Documents, models: dict[Plan, Model]) -> bool:
    """Whether the sample is large enough for it; settings with the same plan have the same model."""
    if plan not in models:
        try:
            models[plan] = family.fit(stored, plan)
        except ValueError:
            return False
    return True


def _tried(
    family: Family,
    stored: Documents,
    asked: Documents,
    near: NDArray[np.bool_],
    rows: int,
    models: dict[Plan, Model],
) -> Choice:
    plan = family.plan(1.0, 1.0)  # which follows from its settings
    model = models[plan]
    wanted = family.spread(family.keys(asked, plan, model), plan)
    found = collisions(family, family.keys(stored, plan, model), wanted)
    found &= stored.present[None, :] & asked.present[:, None]
    ranked = float((found & ~near).sum()) / max(len(asked), 1) * rows / max(len(stored), 1)
    return Choice(plan, rows, ranked, recall=float(found[near].mean()) if near.any() else None, family=family)
