"""Correlation clustering: pairs with scores, alike or not → labels (pure Python over sparse sums).

Every pair speaks for or against being one, in bits beyond the threshold: log-odds of its score less those of the
threshold. Two groups are joined while what their pairs say together is positive, the strongest first. One pair that
says little (values are missing) does not part what the others hold together, and a household's pairs that say
"different" do part what a chain would have joined. Measured on households and public sets: docs/persons.md, "Groups".
"""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np
from numpy.typing import NDArray

UNIT = 64  # of a bit: whole numbers, so that sums are the same in any order
MOST = 10 * UNIT  # that one pair can say for being one
AGAINST = 20 * UNIT  # and against it: two full records that are clearly two persons outweigh two poor ones between them
Sum = tuple[int, int]  # pairs between two groups that were compared, and what they say


def bits_beyond(scores: NDArray[np.float64], threshold: float) -> NDArray[np.int64]:
    """What each score says in 1/UNIT bit, 0 at the threshold."""
    odds = [np.log2(np.maximum(value, 1e-12) / np.maximum(1 - value, 1e-12)) for value in (scores, threshold)]
    return np.clip(np.round((odds[0] - odds[1]) * UNIT), -AGAINST, MOST).astype(np.int64)


def correlation(
    nodes: int, a: NDArray[np.integer[Any]], b: NDArray[np.integer[Any]], scores: NDArray[np.float64], threshold: float
) -> NDArray[np.int64]:
    """Labels; a pair that is not listed was never a candidate, and speaks against with all it can."""
    sums: list[dict[int, Sum]] = [{} for _ in range(nodes)]
    for one, two, bits in zip(a.tolist(), b.tolist(), bits_beyond(scores, threshold).tolist(), strict=True):
        sums[one][two] = sums[two][one] = (1, bits)
    sizes = [1] * nodes  # 0 once joined to another
    labels = list(range(nodes))
    heap = [(-bits, one, two, 1, 1) for one in range(nodes) for two, (_, bits) in sums[one].items() if one < two]
    heap = [entry for entry in heap if entry[0] <= 0]
    heapq.heapify(heap)
    while heap:
        _, one, two, size_one, size_two = heapq.heappop(heap)
        if sizes[one] != size_one or sizes[two] != size_two:
            continue  # one of them has grown or is gone since
        sizes[one], sizes[two], labels[two] = size_one + size_two, 0, one
        _join(sums, one, two)
        for other, (count, bits) in sums[one].items():
            said = bits - AGAINST * (sizes[one] * sizes[other] - count)
            if said > 0:  # a record in the middle that speaks for both sides does not outweigh their clear "no"
                first, second = min(one, other), max(one, other)
                heapq.heappush(heap, (-said, first, second, sizes[first], sizes[second]))
    for node in range(nodes):  # a group's label is smaller than its members, so it is final by now
        labels[node] = labels[labels[node]]
    return np.array(labels, np.int64)


def _join(sums: list[dict[int, Sum]], one: int, two: int) -> None:
    """What `two` had with others is `one`'s from now on."""
    for other, (count, bits) in sums[two].items():
        del sums[other][two]
        if other != one:
            known, said = sums[one].get(other, (0, 0))
            sums[one][other] = sums[other][one] = (known + count, said + bits)
    sums[two] = {}
