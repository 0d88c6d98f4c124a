"""What people decided as the measure: decisions in force, what a search would find of them → Truth."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dbsim.errors import InvalidOption
from dbsim.evaluate import figures
from dbsim.lifecycle.decisions import in_force
from dbsim.search.explain import Explanation
from dbsim.search.searcher import SearchEngine
from dbsim.tables.decision_tables import SAME

DECISIONS = "decisions"  # in the place of a column's name
DRAWN, STEP = 1000, 0.05  # weights that are tried, and how fine they are


def against_decisions(search: SearchEngine) -> figures.Truth:
    """Each decision is a question: would a search with the one row find the other by the texts alone?"""
    width = len(search.tables.key_names)
    rows = search.read(lambda c: in_force(c, search.backend, search.tables))
    if not rows:
        raise InvalidOption(
            "nothing is decided yet, so there is nothing to compare with: `dbsim decide` or `dbsim serve`"
        )
    same = np.array([row[2 * width] == SAME for row in rows])
    explained = [search.explain(row[:width], row[width : 2 * width]) for row in rows]
    found = np.flatnonzero([one.found for one in explained])
    answers = figures.answers(len(rows), found.tolist(), same[found].tolist(), same.astype(np.int64))
    scores = np.array([one.score if one.exact is None else one.exact for one in explained], float)
    weights = best_weights(search, explained, same)
    return figures.Truth(DECISIONS, len(rows), answers, None, None, best_threshold(scores, same), weights)


def best_weights(
    search: SearchEngine, explained: Sequence[Explanation], same: NDArray[np.bool_]
) -> figures.BestWeights | None:
    """Of the fields of an index that has several; None where weights come from elsewhere, or one verdict is missing."""
    fields = search.options.fields
    if len(fields) < 2 or search.options.hashing.rarity or same.all() or not same.any():
        return None
    values = np.array([[np.nan if part.exact is None else part.exact for part in one.fields] for one in explained])
    found = fit_weights(values, same, np.array([field.weight for field in fields]))
    threshold, quality = best_threshold(weighted(values, found), same) or (0.0, 0.0)
    weights = dict(zip((field.name for field in fields), found.tolist(), strict=True))
    return figures.BestWeights(weights, threshold, quality)


def fit_weights(values: NDArray[np.float64], same: NDArray[np.bool_], now: NDArray[np.float64]) -> NDArray[np.float64]:
    """values[pair, field], NaN where a row lacks it → weights in steps of STEP; those of now unless others are better.

    The best F1 counts, then how far apart the scores of both kinds are.
    """
    count = values.shape[1]
    drawn = np.random.default_rng(0).dirichlet(np.ones(count), DRAWN)
    tried = np.concatenate([np.full((1, count), 1 / count), np.eye(count), drawn])
    tried = np.round(np.maximum(np.round(tried / STEP), 1) * STEP, 2)  # no field is left out
    best = max(tried, key=lambda weights: _division(weighted(values, weights), same))
    better = _division(weighted(values, best), same)[0] > _division(weighted(values, now), same)[0]
    return np.array(best if better else now)


def _division(scores: NDArray[np.float64], same: NDArray[np.bool_]) -> tuple[float, float]:
    found = best_threshold(scores, same)
    apart = float(scores[same].mean() - scores[~same].mean())
    return (0.0, apart) if found is None else (round(found[1], 6), round(apart, 6))


def weighted(values: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """As the index sums them: fields that both rows have count."""
    there = ~np.isnan(values)
    total = (there * weights).sum(axis=1)
    scores: NDArray[np.float64] = (np.where(there, values, 0.0) * weights).sum(axis=1) / np.where(total > 0, total, 1.0)
    return scores


def best_threshold(scores: NDArray[np.float64], same: Sequence[bool] | NDArray[np.bool_]) -> tuple[float, float] | None:
    """(threshold, F1) that separates the same from the different ones best; the middle of the gap it lies in."""
    wanted = np.asarray(same, bool)
    if not wanted.any():
        return None
    scores = np.nan_to_num(scores)
    order = np.argsort(-scores, kind="stable")
    ranked, right = scores[order], np.cumsum(wanted[order])
    last = np.append(ranked[1:] < ranked[:-1], True)  # equal scores are on one side of any threshold
    quality = np.where(last, 2 * right / (np.arange(1, len(ranked) + 1) + wanted.sum()), 0.0)
    place = int(np.argmax(quality))
    below = ranked[place + 1] if place + 1 < len(ranked) else 0.0
    return float((ranked[place] + below) / 2), float(quality[place])
