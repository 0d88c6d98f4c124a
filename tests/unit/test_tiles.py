"""Large buckets, compared as tables: the same pairs as one by one, and hardly one more is scored."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from dbsim.dedupe.kernels import pairs as pairs_module
from dbsim.dedupe.kernels import tiles
from dbsim.dedupe.kernels.buckets import Limits, emit
from dbsim.dedupe.kernels.collection import Collection
from dbsim.dedupe.kernels.decide import Decision, FieldScore
from dbsim.dedupe.kernels.pairs import Candidates, Found
from dbsim.hashing.bloom import Filters, jaccards
from dbsim.hashing.signer import Signatures

BITS = 256
FIELD = (FieldScore(BITS, 1.0),)
VERIFY = st.sampled_from([None, True, False])


def collection(seed: int, contents: int, columns: int) -> Collection:
    """Contents with a template in common and some bits of their own, of any number; copies of a few in part."""
    rng = np.random.default_rng(seed)
    own = rng.random((contents, BITS)) < rng.uniform(0, 0.3, (contents, 1))
    some = rng.random(contents) < 0.3
    own[some] = own[rng.integers(0, contents, some.sum())] & (rng.random((some.sum(), BITS)) < 0.97)
    bits = own | (rng.random(BITS) < rng.uniform(0, 0.3))
    bits[:, 0] = True
    packed = np.packbits(bits, axis=1)
    keys = rng.integers(0, 3, (contents, columns))
    order = rng.permutation(contents)  # the order of the rows, and so of the file, is another than that of the contents
    filters = Filters(packed, bits.sum(axis=1, dtype=np.int64))
    made = Signatures(np.ones(contents, bool), order, keys, (filters,))
    blocks = [made.part(slice(i, i + 37)) for i in range(0, contents, 37)]
    return Collection.of(FIELD, [(column, -1) for column in range(columns)], blocks)


def found(made: Collection, decision: Decision, limits: Limits) -> tuple[list[Found], list[tuple[object, ...]]]:
    parts = list(Candidates(made, limits).pairs(decision))
    columns = (np.concatenate([getattr(part, name) for part in parts]) for name in ("a", "b", "scores", "unsure"))
    return parts, list(zip(*(column.tolist() for column in columns), strict=True))


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    contents=st.integers(2, 160),
    threshold=st.floats(0.05, 1.0),
    verify=VERIFY,
    bucket=st.integers(2, 200),
    block=st.sampled_from([50, 700, 1 << 20]),
    held=st.sampled_from([0, 1 << 27]),
    size=st.sampled_from([(1, 1), (7, 20), (1024, 1 << 16)]),
)
def test_tables_give_the_pairs_that_candidates_one_by_one_give(
    seed: int,
    contents: int,
    threshold: float,
    verify: bool | None,
    bucket: int,
    block: int,
    held: int,
    size: tuple[int, int],
) -> None:
    made, limits = collection(seed, contents, 3), Limits(bucket=bucket, representatives=3)
    decision = Decision(FIELD, threshold, verify)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tiles.Tiles, "emit", lambda self, *entries: pairs_module._all(*entries))
        _, expected = found(made, decision, limits)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tiles, "WIDE", 1)
        patch.setattr(tiles, "HELD", held)
        patch.setattr(tiles, "READ", 5000)
        patch.setattr(tiles, "COLUMNS", size[0])
        patch.setattr(tiles, "PLACES", size[1])
        patch.setattr(pairs_module, "BLOCK", block)
        parts, got = found(made, decision, limits)
    assert got == expected
    assert [part.upto for part in parts] == sorted({part.upto for part in parts})
    assert parts[-1].upto == len(made)


@settings(deadline=None)
@given(count=st.integers(1, BITS), threshold=st.floats(0.01, 1.0), verify=VERIFY)
def test_fewer_common_bits_are_never_kept(count: int, threshold: float, verify: bool | None) -> None:
    """And from one more than these on everything is: the limit leaves nothing to look at in vain."""
    decision = Decision(FIELD, threshold, verify)
    others = np.arange(1, BITS + 1)
    fewest = decision.fewest(count, others)

    def kept(common: NDArray[np.int64]) -> NDArray[np.bool_]:
        counts = [np.full(BITS, count)], [others]
        return decision.kept(*counts, jaccards(counts[0][0], others, common, BITS))

    least, most = np.maximum(count + others - BITS, 0), np.minimum(count, others)
    below, above = fewest - 1, fewest + 1
    assert not (kept(np.clip(below, least, most)) & (below >= least) & (below <= most)).any()
    there = (above >= least) & (above <= most) & (fewest > 0)
    assert (kept(np.clip(above, least, most)) | ~there).all()


def test_hardly_more_is_written_out_than_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiles, "WIDE", 1)
    made, decision = collection(3, 400, 2), Decision(FIELD, 0.8)
    written: list[NDArray[np.uint64]] = []
    once = pairs_module._once
    monkeypatch.setattr(pairs_module, "_once", lambda parts: (written.append(once(parts)), written[-1])[1])
    _, pairs = found(made, decision, Limits(bucket=400))
    candidates = len(np.unique(emit(*everyone(400), 0)))
    assert 0 < len(pairs) <= sum(map(len, written)) <= 1.1 * len(pairs) + 100 < candidates / 4


def everyone(contents: int) -> tuple[NDArray[np.int64], ...]:
    """All with all."""
    nodes = np.arange(contents)
    return nodes, nodes[:-1], nodes[1:], contents - nodes[1:]


def test_common_bits_of_long_filters_are_counted_in_full() -> None:
    full = np.full((1 << 10, 2), 2**64 - 1, np.uint64)
    assert tiles.common(full, full[:, :1]).tolist() == [[1 << 16], [1 << 16]]
