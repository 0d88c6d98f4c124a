"""What the comparison of texts keeps: rows of a file, read together or alone, feature sets."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from dbsim.dedupe.kernels import spill
from dbsim.dedupe.kernels.exact import distinct, jaccard
from dbsim.dedupe.kernels.remembered import Remembered, part_of
from dbsim.dedupe.kernels.spill import Spill
from dbsim.text.features import Features


@given(st.sets(st.integers(0, 999)), st.sampled_from([0, 16, 4096]), st.sampled_from([5, 8, 20]))
def test_rows_are_those_asked_for_however_close(wanted: set[int], near: int, span: int) -> None:
    whole = np.arange(2000, dtype=np.uint64).reshape(1000, 2)
    stored = Spill()
    stored.append(whole)
    places = np.array(sorted(wanted), np.int64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spill, "NEAR", near)
        patch.setattr(spill, "SPAN", span)
        assert np.array_equal(stored.rows(places, 2, np.uint64), whole[places])


def features(documents: list[list[int]]) -> Features:
    ends = np.cumsum([0, *map(len, documents)])
    return Features(np.array([value for each in documents for value in each], np.uint64), ends)


hashes = st.integers(0, 12) | st.integers(2**62 - 12, 2**62 - 1)  # the largest there are
documents = st.lists(st.lists(hashes, max_size=8), min_size=1, max_size=8)


@given(documents)
def test_distinct_hashes_ascend(each: list[list[int]]) -> None:
    found = distinct(features(each))
    assert [found.hashes[start:end].tolist() for start, end in pairwise(found.offsets)] == [sorted({*d}) for d in each]


@given(documents)
def test_similarity_is_that_of_the_sets(each: list[list[int]]) -> None:
    a, b = np.divmod(np.arange(len(each) ** 2), len(each))
    found, present = jaccard(distinct(features(each)), a, b)
    for x, y, value, both in zip(a, b, found, present, strict=True):
        one, two = set(each[x]), set(each[y])
        assert value == (len(one & two) / len(one | two) if one | two else 0.0)
        assert both == bool(one and two)


@given(st.dictionaries(st.integers(-(2**63), 2**63 - 1), st.lists(st.integers(0, 2**62), max_size=5)), st.data())
def test_remembered_features_are_those_given(contents: dict[int, list[int]], data: st.DataObject) -> None:
    """Of two fields, in several calls; of what was never given there are none."""
    kept = Remembered(2)
    left = set(contents)
    while left:
        some = sorted(data.draw(st.sets(st.sampled_from(sorted(left)), min_size=1)))
        left -= set(some)
        assert kept.missing(numbers(some)).all()
        kept.add(
            numbers(some), [features([contents[one] for one in some]), features([contents[one][:1] for one in some])]
        )
    asked = sorted({*data.draw(st.sets(st.sampled_from(sorted(contents)) if contents else st.nothing())), 5, 6})
    whole, first = kept.of(numbers(asked))
    for place, content in enumerate(asked):
        assert whole.hashes[slice(*whole.offsets[place : place + 2])].tolist() == contents.get(content, [])
        assert first.hashes[slice(*first.offsets[place : place + 2])].tolist() == contents.get(content, [])[:1]
    assert kept.missing(numbers(asked)).tolist() == [content not in contents for content in asked]


def test_there_is_room_for_so_much() -> None:
    kept = Remembered(1, room=24)
    kept.add(numbers([1]), [features([[1, 2]])])
    assert not kept.full
    kept.add(numbers([2]), [features([[3]])])
    assert kept.full


def numbers(values: list[int]) -> NDArray[np.int64]:
    return np.array(values, np.int64)


@given(documents, st.integers(0, 255))
def test_part_of_some_documents(each: list[list[int]], which: int) -> None:
    chosen = np.array([bool(which >> place & 1) for place in range(len(each))])
    found, wanted = part_of(features(each), chosen), features([d for d, c in zip(each, chosen, strict=True) if c])
    assert (found.hashes.tolist(), found.offsets.tolist()) == (wanted.hashes.tolist(), wanted.offsets.tolist())
