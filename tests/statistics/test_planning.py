"""Plans by cost: cheaper than the safe one where the table allows it, with the recall asked for, by brute force."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from dbsim.choosing import outgrown, planned, why
from dbsim.hashing.choosing.planning import FEWEST, MANY, choose
from dbsim.hashing.choosing.trial import collisions
from dbsim.hashing.keys import aimed
from dbsim.options import Field, IndexOptions, Planned

BODY = Field(columns=("body",), unit="words", size=2, bits=1024, sample=1)


def options(**given: object) -> IndexOptions:
    return replace(IndexOptions(name="i", table="t", fields=(BODY,)), **given).with_plan()  # type: ignore[arg-type]


def distinct(count: int, seed: int = 0, vocabulary: int = 5000) -> list[str]:
    rng = random.Random(seed)
    return [" ".join(f"w{rng.randrange(vocabulary)}" for _ in range(40)) for _ in range(count)]


def lettered(count: int) -> list[str]:
    rng = random.Random(3)
    return [" ".join("".join(rng.choices("abcdefghijklmno", k=4)) for _ in range(60)) for _ in range(count)]


def templated(count: int, seed: int = 0) -> list[str]:
    """Two thirds of every text are common to all: many pairs not far below the threshold."""
    rng = random.Random(seed)
    head = " ".join(f"t{n}" for n in range(30))
    return [head + " " + " ".join(f"w{rng.randrange(2000)}" for _ in range(12)) for _ in range(count)]


def test_a_table_without_likeness_needs_few_keys() -> None:
    chosen = planned(options(), [distinct(1000)], lambda: 100_000)
    assert chosen.keys <= 11 < options().keys
    assert chosen.planned is not None
    assert 2 * chosen.planned.candidates <= MANY
    assert why(chosen)[0].startswith("chosen on a sample for 100,000 rows")


def test_likeness_and_size_ask_for_more_rows_a_key() -> None:
    small, large = (planned(options(), [templated(1000)], lambda rows=rows: rows) for rows in (2_000, 1_000_000))
    none = planned(options(), [distinct(1000)], lambda: 1_000_000)
    assert none.rows < large.rows
    assert small.rows <= large.rows
    assert large.planned is not None
    assert any("does not separate" in line for line in why(large)) == (
        large.planned.candidates + large.planned.alike > MANY
    )


@pytest.mark.parametrize("texts", [[], ["one two three"] * 10, distinct(FEWEST - 1)])
def test_a_small_table_gets_the_safe_plan(texts: list[str]) -> None:
    assert planned(options(), [texts], lambda: len(texts)) == options()
    assert planned(options(), [texts], lambda: len(texts)).planned is None


@pytest.mark.parametrize("family", ["bitsampling", "hyperplane"])
def test_a_family_that_does_not_separate_is_named(family: str) -> None:
    chosen = planned(options(family=family), [templated(1000)], lambda: 100_000)
    assert any(line.startswith(f"family {family} does not separate this table") for line in why(chosen))


def test_recall_is_measured_where_there_is_no_formula() -> None:
    chosen = planned(options(family="fuzzy", threshold=0.8), [lettered(1000)], lambda: 5_000)
    assert chosen.planned is not None
    assert chosen.planned.recall is not None
    assert any("of the pairs in a trial were found" in line for line in why(chosen))


def test_a_small_table_keeps_the_settings_and_hears_what_they_find() -> None:
    asked = options(family="fuzzy", threshold=0.8)
    chosen = planned(asked, [lettered(200)], lambda: 200, free=True)
    assert chosen.family == asked.family
    assert any("of the pairs in a trial were found, 95% were asked for" in line for line in why(chosen))
    assert planned(asked, [lettered(49)], lambda: 49, free=True).planned is None


@pytest.mark.parametrize("threshold", [0.5, 0.7, 0.9])
@pytest.mark.parametrize("texts", [distinct, templated])
def test_the_recall_is_as_asked_by_brute_force(threshold: float, texts: object) -> None:
    """Held-out pairs just at the threshold; over several secrets, because pairs that share a template fall together."""
    made: list[str] = texts(1000)  # type: ignore[operator]
    chosen = planned(options(threshold=threshold), [made], lambda: 50_000)
    held: list[str] = texts(400, seed=1)  # type: ignore[operator]
    rng = random.Random(2)
    near = [_edited(text, share, rng) for text in held for share in (0.02, 0.05, 0.1, 0.15, 0.2, 0.3)]
    recalls = []
    signer = chosen.signer(b"")
    similar = signer.family.similarity(signer.documents([held]), signer.documents([near]), {})
    at = (similar >= threshold) & (similar < threshold + 0.05)
    assert at.sum() > 100
    for secret in (b"a", b"b", b"c", b"d", b"e", b"f"):
        signer = chosen.signer(secret)
        left, right = signer.documents([held]), signer.documents([near])
        keys = [signer.family.keys(part, chosen.plan, {}) for part in (left, right)]
        shared = collisions(signer.family, keys[1], keys[0][:, :, None])
        recalls.append(float(shared[at].mean()))
    assert np.mean(recalls) >= chosen.recall - 0.01


@pytest.mark.parametrize("name", ["fuzzy", "spectral", "linear-spectral"])
def test_settings_are_chosen_by_trial_where_there_is_no_formula(name: str) -> None:
    """Whatever is chosen finds at least what the usual settings find, unless those rank too many."""
    asked = options(family=name, threshold=0.8)
    usual, chosen = (planned(asked, [lettered(1000)], lambda: 2_000, free=free) for free in (False, True))
    assert usual.family == asked.family
    assert usual.planned is not None
    assert chosen.planned is not None
    assert chosen.planned.candidates <= MANY
    assert (chosen.planned.recall or 0) >= min(usual.planned.recall or 0, 0.95) or usual.planned.candidates > MANY
    assert chosen.plan == chosen.hashing.plan(0.8, 0.95)
    assert chosen.differences(asked, ("family",)) == []  # `create` once more, as it was said the first time
    assert any(f"settings are {chosen.family}" in line for line in why(chosen)) == (":" in chosen.family)


def test_settings_that_somebody_named_stay() -> None:
    named = options(family="fuzzy:classes=13", threshold=0.8)
    assert planned(named, [lettered(1000)], lambda: 2_000).family == named.family
    assert named.differences(options(family="fuzzy:classes=10", threshold=0.8), ("family",)) != []


def test_rows_of_one_template_are_found_together_so_plans_aim_higher() -> None:
    for threshold in (0.5, 0.7, 0.9):
        chosen = planned(options(threshold=threshold), [templated(1000)], lambda: 5_000)
        assert chosen.plan.recall(threshold) >= aimed(0.95) > 0.97


def _edited(text: str, share: float, rng: random.Random) -> str:
    return " ".join("x" + word if rng.random() < share else word for word in text.split())


def test_status_says_when_the_plan_is_outgrown() -> None:
    chosen = replace(options(), planned=Planned(rows=10_000, candidates=20.0))
    assert outgrown(chosen, 15_000) is None
    assert outgrown(chosen, 10) is None
    assert "grown from 10,000 rows to 100,000" in (outgrown(chosen, 100_000) or "")
    assert outgrown(replace(chosen, planned=Planned(rows=10_000, candidates=0.01)), 100_000) is None
    assert outgrown(options(), 10**9) is None


def test_what_was_planned_is_stored_and_changes_nothing_else() -> None:
    chosen = replace(options(), planned=Planned(rows=10_000, candidates=2.5))
    assert IndexOptions.from_json(chosen.to_json()).planned == chosen.planned
    assert chosen == options()
    assert "planned" not in options().to_json()


def test_a_forest_has_nothing_to_plan() -> None:
    forest = options(family="forest")
    assert choose(forest.signer(b""), [distinct(1000)], 10_000, 0.7, 0.95).rows == 0
