"""What Spark's executors do with parcels, without Spark: candidates and scores of the kernels, whatever the parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from dbsim.dedupe.kernels import buckets
from dbsim.dedupe.kernels.buckets import Limits, affordable
from dbsim.dedupe.kernels.collection import Collection
from dbsim.dedupe.kernels.decide import Decision, FieldScore
from dbsim.dedupe.kernels.pairs import Candidates
from dbsim.dedupe.options import PairOptions
from dbsim.hashing.bloom import Filters
from dbsim.hashing.signer import Signatures
from dbsim.spark import candidates as spark_candidates
from dbsim.spark import few
from dbsim.spark import meeting as spark_meeting
from dbsim.spark import parcels as spark_parcels
from dbsim.spark.layout import Layout
from dbsim.spark.parcels import Exchange, binary, matrix, received, sent, unbinary

FIELD = FieldScore(64, 1.0)


class Frame:
    """Of a DataFrame what the candidates need: batches, of one task each."""

    def __init__(self, batches: list[pa.RecordBatch]) -> None:
        self.batches = [batch for batch in batches if len(batch)]

    def mapInArrow(self, function: Callable[[Any], Any], schema: str) -> Frame:
        """Every batch is a task: worse than Spark ever does, but for what is sorted."""
        return Frame(list(chain.from_iterable(function(iter([batch])) for batch in self.batches)))

    def union(self, other: Frame) -> Frame:
        return Frame(self.batches + other.batches)

    def rows(self) -> list[dict[str, Any]]:
        return list(chain.from_iterable(batch.to_pylist() for batch in self.batches))


class Sorted(Exchange):
    """All parts in one task."""

    def sorted(self, parcels: Any) -> Any:
        if not parcels.batches:
            return parcels
        table = pa.Table.from_batches(parcels.batches).sort_by("part").combine_chunks()
        return Frame(table.to_batches())


def signatures(keys: NDArray[np.int64], fingerprints: NDArray[np.int64]) -> Signatures:
    bits = np.zeros((len(keys), 8), np.uint8)
    bits[:, 0] = 255
    bits[:, 1] = fingerprints % 256
    filters = Filters(bits, np.bitwise_count(bits).sum(axis=1, dtype=np.int64))
    return Signatures(np.ones(len(keys), bool), fingerprints, keys, (filters,))


def met(found: Signatures, layout: Layout, limits: Limits, parts: int, cut: int) -> tuple[Frame, Sorted, list[Frame]]:
    """As dbsim.spark.candidates does it, step by step, on frames of batches."""
    packed = layout.packed(found)
    signed = Frame(
        [
            pa.RecordBatch.from_arrays(
                [pa.array(found.fingerprints[start : start + cut]), binary(packed[start : start + cut])], ["f", "s"]
            )
            for start in range(0, len(packed), cut)
        ]
    )
    exchange = Sorted(1, parts)
    meeting = spark_meeting.Meeting(layout, exchange, limits)
    whole = Frame(pa.Table.from_batches(signed.batches).combine_chunks().to_batches())
    level = exchange.sorted(whole.mapInArrow(meeting.spread, "")).mapInArrow(meeting.meet, "")
    levels, keys = [level], signed.mapInArrow(meeting.keyed, "")
    for depth in range(1, limits.depth + 1):
        large = Frame([batch.filter(pa.compute.equal(batch["kind"], spark_parcels.LARGE)) for batch in level.batches])
        before, now = meeting.within(limits, depth - 1), meeting.within(limits, depth)
        finer = exchange.sorted(keys.union(large.mapInArrow(before.cut, ""))).mapInArrow(before.finer, "")
        level = exchange.sorted(finer).mapInArrow(now.meet, "")
        levels.append(level)
    return signed, exchange, levels


def of_kind(levels: list[Frame], kind: int) -> Frame:
    batches = [batch for level in levels for batch in level.batches]
    return Frame([batch.filter(pa.compute.equal(batch["kind"], kind)) for batch in batches])


cases = st.tuples(
    st.integers(0, 2**31),
    st.integers(1, 120),
    st.integers(1, 4),
    st.sampled_from([1, 2, 3, 40]),
    st.integers(1, 9),
    st.integers(1, 50),
)


@given(cases, st.integers(2, 12), st.integers(0, 3), st.integers(1, 4))
def test_pairs_and_scores_equal_the_kernels(
    case: tuple[int, ...], bucket: int, depth: int, representatives: int
) -> None:
    seed, count, columns, values, parts, cut = case
    rng = np.random.default_rng(seed)
    fingerprints = np.sort(rng.choice(10_000, count, replace=False)).astype(np.int64)
    keys = rng.integers(0, values, (count, columns)) * np.int64(2**40 + 1) - 5
    limits = Limits(bucket=bucket, representatives=representatives, depth=depth)
    decision = Decision((FIELD,), 0.3, verify=None)
    joins = tuple((column, -1) for column in range(columns))
    layout = Layout(joins, (FIELD,))
    rows = np.concatenate([rng.permutation(count), rng.integers(0, count, count // 3)])  # some of them again
    found = signatures(keys[rows], fingerprints[rows])
    signed, exchange, levels = met(found, layout, limits, parts, cut)
    scoring = spark_candidates.Scoring(layout, exchange, decision)
    contents = signed.mapInArrow(scoring.shown, "")
    attached = exchange.sorted(contents.union(of_kind(levels, spark_parcels.PAIRS))).mapInArrow(scoring.attach, "")
    edges = exchange.sorted(contents.union(attached)).mapInArrow(scoring.score, "").rows()
    made = sorted((row["a"], row["b"], row["score"], row["unsure"]) for row in edges)

    collection = Collection.of([FIELD], list(joins), [signatures(keys, fingerprints)])
    expected = []
    for part in Candidates(collection, limits).pairs(decision):
        ends = (collection.fingerprints[side] for side in (part.a, part.b))
        expected += zip(*(column.tolist() for column in (*ends, part.scores, part.unsure)), strict=True)
    assert made == sorted(expected)

    copies = [matrix([np.frombuffer(row["data"], np.uint8)], 2) for row in of_kind(levels, spark_parcels.COPIES).rows()]
    again = {int(f): int(n) for part in copies for f, n in part}
    values_, times = np.unique(found.fingerprints, return_counts=True)
    assert again == {int(f): int(n) - 1 for f, n in zip(values_, times, strict=True) if n > 1}


def test_the_limit_by_cost_is_the_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sizes of level 0 and of those cut from it, as executors count them."""
    rng = np.random.default_rng(3)
    count, columns = 3000, 5
    keys = rng.integers(0, [2, 3, 50, 400, 2000], (count, columns)).astype(np.int64)
    fingerprints = np.sort(rng.choice(10**9, count, replace=False)).astype(np.int64)
    joins = tuple((column, -1) for column in range(columns))
    collection = Collection.of([FIELD], list(joins), [signatures(keys, fingerprints)])
    limits = Limits(depth=2)
    for free in (1_000, 100_000, 1_000_000):
        monkeypatch.setattr(buckets, "FREE", free)
        monkeypatch.setattr(buckets, "BUDGET", 1)
        expected = affordable(columns, collection.key, limits, count)
        least = replace(limits, bucket=buckets.FEWEST)
        found = signatures(keys, fingerprints)
        _, _, levels = met(found, Layout(joins, (FIELD,)), least, 7, 500)
        sizes = [matrix([np.frombuffer(r["data"], np.uint8)], 4) for r in of_kind(levels, spark_parcels.SIZES).rows()]
        first, outer, size, times = np.concatenate(sizes).T
        measured = np.isin(first, buckets.measured_columns(columns))
        outer = np.where(outer == 0, count + 1, outer)
        made = buckets.largest_affordable(size[measured], outer[measured], times[measured], columns, count, limits)
        assert made == expected


@given(st.integers(0, 300), st.integers(1, 20), st.integers(1, 64), st.integers(0, 2**31))
def test_parcels_bring_every_row_to_its_part(count: int, parts: int, most: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.integers(-(2**62), 2**62, (count, 3))
    exchange = Exchange(1, parts)
    part = exchange.place(rows[:, 0], rows[:, 1])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spark_parcels, "MOST", 24 * most)
        batches = list(sent(2, rows, part))
    table = pa.Table.from_batches(batches).sort_by("part") if batches else None
    found: Iterator[Any] = received(iter(table.to_batches(max_chunksize=3))) if table else iter([])
    got = {number: matrix(parcels[2], 3) for number, parcels in found}
    assert sum(map(len, got.values())) == count
    for number, mine in got.items():
        wanted = rows[part == number]
        assert sorted(map(tuple, mine.tolist())) == sorted(map(tuple, wanted.tolist()))


def test_values_of_equal_width_survive_slices() -> None:
    rows = np.arange(60, dtype=np.uint8).reshape(12, 5)
    column = binary(rows)
    assert column.to_pylist() == [row.tobytes() for row in rows]
    assert (unbinary(column.slice(3, 4), 5) == rows[3:7]).all()
    assert (unbinary(pa.chunked_array([column.slice(0, 2), column.slice(9)]), 5) == rows[[0, 1, 9, 10, 11]]).all()
    assert unbinary(column.slice(0, 0), 5).shape == (0, 5)


def test_a_component_too_large_for_a_task_is_left_to_joins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its rows count, not its contents."""
    work = SimpleNamespace(pairing=PairOptions(threshold=0.5))
    edges = pa.table({"a": [1, 2, 7], "b": [2, 3, 8], "score": [0.9, 0.8, 0.7], "unsure": [False, True, False]})
    copies = np.array([[3, 4], [9, 1]])
    monkeypatch.setattr(few, "TOGETHER", 7)
    found = few.Few.of(work, edges, copies, 2)
    assert found is not None
    assert found.nodes.tolist() == [1, 2, 3, 7, 8, 9]
    assert found.asked.tolist() == [False, True, True, False, False, False]
    assert len(set(found.part[:3].tolist())) == len(set(found.part[3:5].tolist())) == 1
    monkeypatch.setattr(few, "TOGETHER", 6)
    assert few.Few.of(work, edges, copies, 2) is None
    assert few.Few.of(work, edges.slice(0, 0), copies[:0], 2) is not None
