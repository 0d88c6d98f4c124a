"""What people decided as the measure: decisions in force, what a search would find of them → Truth."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dbsim.errors import InvalidOption
from dbsim.evaluate import figures
from dbsim.lifecycle.decisions import in_force
from dbsim.search.searcher import SearchEngine
from dbsim.tables.decision_tables import SAME

DECISIONS = "decisions"  # in the place of a column's name


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
    return figures.Truth(DECISIONS, len(rows), answers, None, None, best_threshold(scores, same))


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
