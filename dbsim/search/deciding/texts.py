"""Which ranked rows are hits: by the estimate where it is sure, by the texts where it is not: Ranked → Hit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dbsim.hashing.documents import Documents
from dbsim.hashing.error import question_widths
from dbsim.hashing.signer import Signer
from dbsim.options import IndexOptions
from dbsim.search.limits import SLACK, Bounds
from dbsim.search.query import Query
from dbsim.search.results import Hit
from dbsim.tables.source import Key, public_keys
from dbsim.text.short import Shingles

Decided = tuple[float, bool]  # the exact value, and whether the text is another one than was signed
INFINITE = float("inf")
SCORE = attrgetter("score")
FEW = 8  # rows compared one by one: for more of them arrays are faster


class Cut(NamedTuple):
    """An estimate below `lowest` is no hit, one of `highest` or more is; between them the texts decide."""

    lowest: float
    highest: float

    def doubtful(self, score: float) -> bool:
        return self.lowest <= score < self.highest


class Ranked(NamedTuple):
    """A row as the statement returns it; `texts` are there when its score is doubtful, None when the row is gone."""

    key: Key
    score: float
    fingerprint: int
    there: bool
    queued: bool
    texts: Sequence[str] | None = None


def cut_of(options: IndexOptions, counts: Sequence[int], bounds: Bounds) -> Cut:
    """What the estimates of one question can tell: from the length of its filters, and how many bits are set."""
    if bounds.verify is False or (bounds.verify is None and bounds.threshold <= 0):  # every row is a hit
        return Cut(bounds.threshold, bounds.threshold)
    if bounds.measure != "jaccard" or options.parted:  # of which an estimate of the Jaccard similarity says nothing
        return Cut(0.0, INFINITE)
    below = above = 0.0
    for field, count in zip(options.fields, counts, strict=True):
        # a row may lack the other fields: then this one's error is the whole score's
        threshold = bounds.threshold if len(counts) == 1 else None
        down, up = question_widths(field.bits, threshold, field.sample)
        below, above = max(below, down[count]), max(above, up[count])
    lowest = max(bounds.threshold - below, 0.0)
    if bounds.verify:
        return Cut(min(lowest, max(bounds.threshold - SLACK, 0.0)), INFINITE)
    return Cut(lowest, bounds.threshold + above)


def decide(
    rows: Sequence[Ranked],
    query: Query,
    cut: Cut,
    bounds: Bounds,
    exact: Callable[[Sequence[Ranked]], Sequence[Decided] | None],
    names: Sequence[str],
) -> list[Hit]:
    """Every row that is there with its score, best first; `exact` compares texts, None without a question's text."""
    keys = public_keys(names, [row.key for row in rows])
    known, verify = query.fingerprint if bounds.measure == "jaccard" else None, bounds.verify
    found: list[Hit] = []
    doubtful: list[tuple[Any, Ranked]] = []
    for key, row in zip(keys, rows, strict=True):
        same = known is not None and row.fingerprint == known
        if row.there and (verify or not same) and cut.doubtful(row.score):
            doubtful.append((key, row))
        elif row.there:
            found.append(Hit(key, row.score, same, row.queued))
    decided = exact([row for _, row in doubtful]) if doubtful else []
    if decided is None:  # the estimate is all there is
        found += [Hit(key, row.score, False, row.queued) for key, row in doubtful]
    else:
        pairs = zip(doubtful, decided, strict=True)
        found += [Hit(key, value, True, stale or row.queued) for (key, row), (value, stale) in pairs]
    found.sort(key=SCORE, reverse=True)  # those of one score stay in their order
    return found


def compared_single(signer: Signer, question: Shingles, rows: Sequence[Ranked]) -> list[Decided] | None:
    """`compared` for a question that was signed by itself and a few rows; None when a text is not one for that."""
    if signer.single is None or len(rows) > FEW:
        return None
    found = signer.single.compare(question, [row.texts[0] if row.texts else "" for row in rows])
    if found is None:
        return None
    pairs = zip(found, rows, strict=True)
    return [(value, signer.keyed and fingerprint != row.fingerprint) for (value, fingerprint), row in pairs]


def compared(signer: Signer, question: Documents, numbers: Sequence[int], rows: Sequence[Ranked]) -> list[Decided]:
    """rows[i] with the question of this number: the family's exact measure of the texts as they are now."""
    columns: list[Any] = list(zip(*(row.texts or ("",) * len(signer.fields) for row in rows), strict=True))
    documents = signer.comparable(columns)
    values = signer.paired(question, documents, np.asarray(numbers), np.arange(len(rows)))
    stored: NDArray[np.int64] = np.array([row.fingerprint for row in rows])
    # without the secret nobody can tell whether a text is what was signed
    stale = signer.fingerprints(documents) != stored if signer.keyed else np.zeros(len(rows), bool)
    return list(zip(values.tolist(), stale.tolist(), strict=True))
