"""α-stable projections: densities, the collision integral, keys and probes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import erf
from scipy.stats import levy_stable

from dbsim.hashing.families.stable import Cauchy, Gauss, Levy, Stable
from dbsim.hashing.keys import Plan
from dbsim.hashing.projections import cauchy, levy, normal
from tests.unit.family_helpers import agreement, assert_formula, documents, family_at, pairs

FAMILIES = ("gauss", "cauchy", "levy")


@pytest.mark.parametrize("share", [0.005, 0.03, 0.1, 0.3, 0.8])
@pytest.mark.parametrize("name", FAMILIES)
def test_rows_agree_with_the_collision_integral(name: str, share: float) -> None:
    assert_formula(family_at(name), share)


@pytest.mark.parametrize("ratio", [0.1, 1.0, 4.0, 30.0])
def test_integral_equals_datars_closed_forms(ratio: float) -> None:
    gauss = math.erf(ratio / math.sqrt(2)) - 2 / (math.sqrt(2 * math.pi) * ratio) * (1 - math.exp(-(ratio**2) / 2))
    cauchy_ = 2 * math.atan(ratio) / math.pi - math.log(1 + ratio**2) / (math.pi * ratio)
    assert Gauss(width=ratio * math.sqrt(2) / 2).collision(0.5) == pytest.approx(gauss, abs=1e-9)
    assert Cauchy(width=ratio).collision(0.5) == pytest.approx(cauchy_, abs=1e-9)


def test_levy_density_is_the_symmetric_half_stable_one() -> None:
    for x in (0.01, 0.1, 0.5, 1.0, 5.0, 50.0):
        assert Levy().density(x) == pytest.approx(levy_stable.pdf(x, 0.5, 0.0), rel=1e-4)
    whole = sum(quad(Levy().density, low, high, limit=200)[0] for low, high in ((0, 1e-2), (1e-2, 1), (1, 100)))
    assert whole == pytest.approx(levy_stable.cdf(100, 0.5, 0.0) - 0.5, abs=1e-4)


@pytest.mark.parametrize(
    ("draw", "quartile"), [(normal, 0.67449), (cauchy, 1.0), (levy, float(levy_stable.ppf(0.75, 0.5, 0.0)))]
)
def test_drawn_numbers_have_the_quartiles_of_their_distribution(draw: object, quartile: float) -> None:
    rng = np.random.default_rng(5)
    drawn = np.concatenate(draw(rng.random(40_000), rng.random(40_000)))  # type: ignore[operator]
    inside = (np.abs(drawn) < quartile).mean()
    assert abs(inside - 0.5) < 4 * 0.5 / math.sqrt(len(drawn))
    assert abs((drawn > 0).mean() - 0.5) < 4 * 0.5 / math.sqrt(len(drawn))


@pytest.mark.parametrize("name", FAMILIES)
def test_collision_falls_with_the_distance(name: str) -> None:
    family = family_at(name)
    values = [family.collision(similarity) or 0.0 for similarity in np.linspace(0, 1, 50).tolist()]
    assert values == sorted(values)
    assert values[-1] == 1.0


@pytest.mark.parametrize("name", FAMILIES)
def test_probes_are_neighbouring_segments(name: str) -> None:
    left, right = (documents(side) for side in pairs(0.05, 30))
    family, plan = family_at(name), Plan(4, 5)
    model = family.fit(left, plan)
    found = family.probes(left, plan, model, 6)
    assert np.array_equal(found[:, :, 0], family.keys(left, plan, model))
    wanted = family.keys(right, plan, model)[:, :, None]
    exact, probed = (found[:, :, :1] == wanted).any(axis=2).mean(), (found == wanted).any(axis=2).mean()
    assert probed > exact + 0.1 * (1 - exact)


def test_width_follows_from_the_threshold() -> None:
    assert Gauss().settled(0.9) == Gauss(width=round(4 * 0.1 * math.sqrt(2), 4))
    assert Gauss(width=2.5).settled(0.9) == Gauss(width=2.5)
    with pytest.raises(ValueError, match="segment width"):
        Gauss(width=-1)


def test_gauss_is_the_normal_distribution() -> None:
    assert quad(Gauss().density, 0, 1)[0] == pytest.approx(erf(1 / math.sqrt(2)) / 2)


def test_keys_do_not_depend_on_the_batch() -> None:
    left, right = (documents(side) for side in pairs(0.1, 4))
    for family in (Gauss(width=1.0), Cauchy(width=1.0), Levy(width=1.0)):
        assert isinstance(family, Stable)
        together, _, _ = agreement(family, left, right, Plan(3, 5))
        alone = documents([pairs(0.1, 4)[0][2]])
        model = family.fit(left, Plan(3, 5))
        assert np.array_equal(family.keys(alone, Plan(3, 5), model)[0], together[2])
