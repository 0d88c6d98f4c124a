"""The settings that the benchmark of the families tries, from few candidates to many where that order is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dbsim.hashing.families.registry import family_of
from dbsim.hashing.families.stable import Stable
from dbsim.hashing.family import Family
from dbsim.hashing.keys import Plan

KEYS = 17  # of the α-stable functions in the source; the other random families get as many
STABLE_ROWS = 20
Setting = tuple[Family, Plan]


def grids() -> list[tuple[str, list[Setting], bool]]:
    """For each family settings, and whether they go from few candidates to many."""
    found = [(name, _minima(name), True) for name in ("minhash", "rabin-minhash")]
    found.append(("hyperplane", _random("hyperplane", range(40, 0, -1)), True))
    found.append(("bitsampling", _random("bitsampling", range(600, 10, -10)), True))
    found.append(("bitsampling:of=unary", _random("bitsampling:of=unary", range(1000, 10, -10)), True))
    found += [(name, _widths(name), True) for name in ("gauss", "cauchy", "levy")]
    combined = family_of("fuzzy:expected=english")
    found.append(("fuzzy, combined classes", _schemes([replace(combined, classes=c) for c in (13, 18, 26, 40)]), False))  # type: ignore[call-arg]
    single = family_of("fuzzy:expected=english:prefix=1:classes=0")
    found.append(("fuzzy, single letters", _schemes([single, replace(single, drop="jquvwxyz")]), False))  # type: ignore[call-arg]
    for name in ("spectral", "linear-spectral"):
        codes = [family_of(f"{name}:bits={bits}:pieces=2:within={w}") for bits in (16, 32, 64) for w in range(4)]
        found.append((name, [(code, code.plan(0.8, 0.9)) for code in codes], False))
    for over in ("minhash", "hyperplane"):
        trees = [family_of(f"forest:over={over}:trees={count}") for count in range(3, 20)]
        found.append((f"forest over {over}", [(family, family.plan(0.8, 0.9)) for family in trees], True))
    return found


def _random(name: str, rows: Sequence[int]) -> list[Setting]:
    return [(family_of(name), Plan(row, KEYS)) for row in rows]


def _minima(name: str) -> list[Setting]:
    """Unrelated texts share few shingles, so one or two rows decide: the number of keys is the finer control."""
    plans = [Plan(rows, keys) for rows in (1, 2, 3, 4) for keys in (1, 2, 3, 4, 6, 8, 12, 17, 24, 32, 48, 64)]
    return [(family_of(name), plan) for plan in sorted(plans, key=lambda plan: plan.recall(0.05))]


def _widths(name: str) -> list[Setting]:
    """k = 20 and l = 17 as in the source; the segment width decides how many are found."""
    family = family_of(name)
    assert isinstance(family, Stable)
    return [(replace(family, width=round(0.05 * 1.1**step, 4)), Plan(STABLE_ROWS, KEYS)) for step in range(75)]


def _schemes(families: Sequence[Family]) -> list[Setting]:
    made = [replace(f, schemes=s, intervals=i) for f in families for i in (2, 3) for s in (1, 2, 3, 4)]  # type: ignore[call-arg]
    return [(family, family.plan(0.8, 0.9)) for family in made]
