"""Sampled bits of filters and of unary codes."""

from __future__ import annotations

import numpy as np
import pytest

from dbsim.hashing.families.bitsampling import BitSampling, sample_positions
from tests.unit.family_helpers import assert_formula, documents


@pytest.mark.parametrize("share", [0.02, 0.1, 0.3, 0.9])
@pytest.mark.parametrize("of", ["filter", "unary"])
def test_rows_agree_with_the_share_of_equal_bits(of: str, share: float) -> None:
    # positions are drawn once for all pairs, so pairs are not independent of each other: a wider interval
    assert_formula(BitSampling(of=of), share, rows=2000, deviations=6)


def test_unary_code_is_the_l1_distance_of_the_counts() -> None:
    family = BitSampling(of="unary", buckets=64, levels=8)
    texts = ["a a a b", "a b b c", "a " * 20]
    codes = np.unpackbits(family.code(documents(texts).fields[0]), axis=1)
    assert codes.shape == (3, 512)
    assert codes.sum(axis=1).tolist() == [4, 4, 8]  # the third is cut at eight levels
    assert (codes[0] != codes[1]).sum() == 2 + 1 + 1
    assert (np.sort(codes.reshape(3, 64, 8), axis=2)[:, :, ::-1] == codes.reshape(3, 64, 8)).all()


def test_positions_are_spread_over_the_filter() -> None:
    found = np.bincount(sample_positions(20_000, 16), minlength=16)
    assert abs(found - 1250).max() < 5 * np.sqrt(1250)


@pytest.mark.parametrize("settings", [{"of": "shingles"}, {"buckets": 12}, {"levels": 0}])
def test_impossible_settings(settings: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"filter|unary"):
        BitSampling(**settings)  # type: ignore[arg-type]
