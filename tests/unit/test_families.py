"""What every family promises: the same keys everywhere, the two monotonicity properties, defined results at the edges.

Golden keys are written by `python -m tests.unit.test_families`; they change only with a new version of a family. The
spectral families are left out there: what they learn comes from LAPACK, and only the stored model is the same
everywhere.
"""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dbsim.errors import InvalidOption
from dbsim.hashing.families import registry
from dbsim.hashing.families.registry import FAMILIES, described, family_names, family_of
from dbsim.hashing.keys import LIMIT_KEYS, Plan, aimed, bit_keys, bucket_plan
from dbsim.hashing.signer import FieldPlan
from dbsim.options import Field, IndexOptions
from dbsim.text.features import Analyser
from tests.unit.family_helpers import ANY_FAMILY, agreement, documents, family_at, one, pairs, signer

GOLDEN = Path(__file__).with_name("golden_families.json")
TEXTS = (
    "The quick brown fox jumps over the lazy dog",
    "Victor jagt zwölf Boxkämpfer quer über den großen Sylter Deich",
    "αβγ δεζ 12 34 x",
)
SAMPLE = (*TEXTS, "the dog and the fox", "quer über den Deich", "a b c d e f g h", "x y z", "")
PLAN = Plan(4, 3)
FORMULA = [name for name in ANY_FAMILY if family_of(name).collision(0.5) is not None and not family_of(name).fixed]
LEARNED_BY_LAPACK = [name for name in ANY_FAMILY if "spectral" in name]


def plan_of(name: str) -> Plan:
    family = family_at(name)
    return family.plan(0.7, 0.95) if family.fixed else PLAN


def keys_of(name: str, texts: tuple[str, ...] = TEXTS) -> list[list[int]]:
    family, plan = family_at(name), plan_of(name)
    model = family.fit(documents(SAMPLE), plan)
    return family.keys(documents(texts), plan, model).tolist()  # type: ignore[no-any-return]


def golden() -> dict[str, list[list[int]]]:
    possible = [name for name in ANY_FAMILY if name not in LEARNED_BY_LAPACK and "classes" not in described_of(name)]
    older = ["fuzzy@1", "fuzzy@1:classes=5", "fuzzy@1:classes=8:prefix=3"]
    return {described_of(name): keys_of(name) for name in [*possible, *older]}


def described_of(name: str) -> str:
    return described(family_at(name))


# ── the same everywhere ──
def test_golden_keys() -> None:
    assert golden() == json.loads(GOLDEN.read_text())


def test_another_process_computes_the_same() -> None:
    code = "import json; from tests.unit.test_families import golden; print(json.dumps(golden()))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert json.loads(shown) == golden()


@pytest.mark.parametrize("name", ANY_FAMILY)
def test_keys_do_not_depend_on_the_batch(name: str) -> None:
    family, plan = family_at(name), plan_of(name)
    made = documents([*pairs(0.2, 30)[0], "the same", ""])
    model = family.fit(made, plan)
    together = family.keys(made, plan, model)
    for number in (0, 7, 30):
        assert np.array_equal(family.keys(one(made, number), plan, model)[0], together[number])


@pytest.mark.parametrize("name", ANY_FAMILY)
def test_keys_fit_a_signed_column_and_equal_texts_share_all(name: str) -> None:
    family, plan = family_at(name), plan_of(name)
    left = pairs(0.2, 30)[0]
    made, copies = documents(left), documents([text.upper() + " !" for text in left])
    model = family.fit(made, plan)
    keys = family.keys(made, plan, model)
    assert keys.dtype == np.int64
    assert keys.shape == (30, plan.keys)
    assert (keys >= 0).all()
    assert (keys < 2**62).all()
    assert np.array_equal(keys, family.keys(copies, plan, model))
    similar = family.similarity(made, copies, model)
    assert np.diag(similar) == pytest.approx(np.ones(30))
    assert (similar <= 1).all()
    assert (similar >= 0).all()


# ── monotonicity (Potthast 2006, §2.2.3) ──
@pytest.mark.parametrize("name", FORMULA)
def test_more_functions_never_find_fewer_and_longer_keys_never_more(name: str) -> None:
    left, right = (documents(side) for side in pairs(0.12, 60))
    family = family_at(name)
    single, other, _ = agreement(family, left, right, Plan(1, 24))
    rows = single == other
    hits = {
        (length, keys): rows[:, : length * keys].reshape(60, keys, length).all(axis=2).any(axis=1)
        for length, keys in ((1, 24), (2, 12), (4, 6), (4, 3), (2, 6), (1, 12))
    }
    mine, its, _ = agreement(family, left, right, Plan(4, 6))
    assert np.array_equal((mine == its).any(axis=1), hits[4, 6])  # keys are bands of the same rows
    assert not (hits[4, 6] & ~hits[2, 12]).any()
    assert not (hits[2, 12] & ~hits[1, 24]).any()
    assert not (hits[4, 3] & ~hits[4, 6]).any()
    assert not (hits[1, 12] & ~hits[1, 24]).any()


@pytest.mark.parametrize("name", ["fuzzy@1:schemes=1", "fuzzy:schemes=1"])
def test_more_schemes_never_find_fewer(name: str) -> None:
    left, right = (documents(side) for side in pairs(0.05, 60, words=400))
    found = []
    for schemes in range(1, 5):
        family = family_of(name.replace("schemes=1", f"schemes={schemes}") + ":classes=3:prefix=1")
        mine, other, _ = agreement(family, left, right, Plan(3, schemes))
        found.append((mine == other).any(axis=1))
    for fewer, more in itertools.pairwise(found):
        assert not (fewer & ~more).any()
    assert found[-1].sum() > 0


@pytest.mark.parametrize("name", FORMULA)
def test_plan_reaches_the_recall_at_the_threshold(name: str) -> None:
    for threshold in (0.5, 0.8, 0.95):
        family = family_at(name, threshold)
        plan = family.plan(threshold, 0.9)
        probability = family.collision(threshold)
        assert probability is not None
        assert plan.recall(probability) >= aimed(0.9) > 0.9
        assert plan.keys <= LIMIT_KEYS
        assert plan.rows <= family.max_rows
        if plan.rows < family.max_rows and plan.rows > 1:
            longer = Plan(plan.rows + 1, 24)
            assert longer.recall(probability) < aimed(0.9)


# ── edges ──
@pytest.mark.parametrize("name", ANY_FAMILY)
@pytest.mark.parametrize(
    "sample",
    [["only one text here"], ["all the same text"] * 12, ["", " ", "..."], ["12 34", "56"], ["a", "b", "c"]],
    ids=["one", "equal", "empty", "digits", "three letters"],
)
def test_degenerate_samples_are_refused_clearly_or_work(name: str, sample: list[str]) -> None:
    family, plan = family_at(name), plan_of(name)
    made = documents(sample)
    try:
        model = family.fit(made, plan)
    except ValueError:
        with pytest.raises(ValueError, match=r"[a-z]+: \w+|nothing|only"):
            family.fit(made, plan)
        return
    keys = family.keys(documents([*sample, "", "something else entirely"]), plan, model)
    assert keys.dtype == np.int64
    assert (keys[made.present.nonzero()[0]] < 2**62).all()
    assert family.keys(documents([""]), plan, model).shape == (1, plan.keys)
    similar = family.similarity(made, made, model)
    assert np.isfinite(similar).all()
    present = made.present.nonzero()[0]
    assert np.diag(similar)[present] == pytest.approx(np.ones(len(present)))


@pytest.mark.parametrize("name", ANY_FAMILY)
def test_weighted_fields_and_missing_ones(name: str) -> None:
    fields = (FieldPlan(Analyser(size=1), 0.3, 256), FieldPlan(Analyser(unit="characters", size=2), 0.7, 256))
    first, second = pairs(0.1, 25)
    made = documents(first, second, fields=fields)
    family, plan = family_at(name), plan_of(name)
    model = family.fit(made, plan)
    some = documents([first[0], first[0], "", ""], [second[0], "", second[0], ""], fields=fields)
    keys, similar = family.keys(some, plan, model), family.similarity(some, made, model)
    assert np.array_equal(keys[0], family.keys(made, plan, model)[0])
    assert similar[0, 0] == pytest.approx(1.0)
    assert np.isfinite(similar).all()
    assert (similar[3] == 0).all()
    if family.measure in ("jaccard", "hamming"):  # weights are renormalised over the fields that both have
        assert similar[1, 0] == pytest.approx(1.0)
        assert similar[2, 0] == pytest.approx(1.0)


def test_a_signer_without_its_model_says_so() -> None:
    with pytest.raises(ValueError, match="must be fitted"):
        signer(family_of("hyperplane"), PLAN).sign([["text"]])
    assert len(signer(family_of("minhash"), PLAN).sign([["text"]])) == 1


# ── names and settings ──
def test_names_and_settings_are_read_and_written() -> None:
    assert set(family_names()) >= {"minhash", "fuzzy", "spectral", "forest", "levy"}
    assert described(family_of("fuzzy:classes=13:schemes=3")) == "fuzzy@2:classes=13"
    assert described(family_of("fuzzy@1:classes=26")) == "fuzzy@1"
    for full, usual in FAMILIES.items():
        assert family_of(full) == usual
        assert described(family_of(full)) == full
    assert described_of("gauss") == "gauss@1:width=1.6971"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("minhsh", "did you mean 'minhash'"),
        ("quantum", "there is minhash"),
        ("minhash:rows=3", "it has none"),
        ("fuzzy:clases=3", "it has prefix, classes"),
        ("fuzzy:classes", "no setting"),
        ("fuzzy:classes=many", "must be int"),
        ("gauss:width=wide", "must be float"),
    ],
)
def test_mistakes_in_a_family_are_named(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        family_of(text)


# ── k and l of the sources ──
def test_numbers_of_seed_000_section_3_2_2() -> None:
    """r1 = 10, m = 10,000, n = 1,000, b = 10, ε = 0.1 → r2 = 11, k = 4184 and l = 65 in the source.

    k is right. l is (n/b)^ρ = 65.78: the source cuts it to 65, which misses its own success probability of 1 - 1/e by a
    little; 66 reaches it. Its formula for l is printed as b^(-ρ)/n, which would be 1.2·10⁻⁴ with these numbers.
    """
    near, far = 1 - 10 / 10_000, 1 - 11 / 10_000
    plan = bucket_plan(near, far, 1_000, 10)
    assert plan == Plan(4184, 66)
    exact = (1_000 / 10) ** (np.log(near) / np.log(far))
    assert int(exact) == 65
    assert Plan(4184, 66).recall(near) >= 1 - 1 / np.e > Plan(4184, 65).recall(near)
    assert far**plan.rows == pytest.approx(10 / 1_000, rel=1e-3)


@pytest.mark.parametrize("documents_", [1000, 100_000])
def test_bucket_size_gives_rows_and_keys(documents_: int) -> None:
    asked = IndexOptions(name="x", table="t", fields=(Field(columns=("a",)),), threshold=0.9)
    plan = asked.with_plan(100, documents_).plan
    assert 0.8**plan.rows == pytest.approx(100 / documents_, rel=0.2)
    assert 0.6 < plan.recall(0.9) < 0.75  # 1 - 1/e = .632, and what rounding to whole numbers adds
    assert bucket_plan(0.9, 0.8, 5, 10) == Plan(1, 1)


@pytest.mark.parametrize(
    ("family", "bucket", "rows", "message"),
    [("fuzzy", 10, 0, "no formula"), ("minhash", -1, 0, "positive"), ("minhash", 10, 3, "takes the place")],
)
def test_bucket_size_where_it_cannot_be(family: str, bucket: int, rows: int, message: str) -> None:
    with pytest.raises(InvalidOption, match=message):
        IndexOptions(
            name="x", table="t", fields=(Field(columns=("a",)),), family=family, rows=rows, keys=rows
        ).with_plan(bucket, 1000)


def test_rows_of_a_fixed_family_cannot_be_given() -> None:
    asked = IndexOptions(name="x", table="t", fields=(Field(columns=("a",)),), family="forest", rows=3, keys=4)
    with pytest.raises(InvalidOption, match="from its settings"):
        asked.with_plan()


@pytest.mark.parametrize("rows", [1, 61, 62, 63, 200])
def test_bit_keys_are_positive_and_distinct(rows: int) -> None:
    bits = np.random.default_rng(0).integers(0, 2, (300, rows))
    keys = bit_keys(bits)
    assert (keys >= 0).all()
    assert (keys < 2**62).all()
    assert len(np.unique(keys)) == len(np.unique(bits, axis=0))


if __name__ == "__main__":
    GOLDEN.write_text(json.dumps(golden(), indent=1) + "\n")


# ── versions ──
def test_versions_of_one_class_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stored by its own name, and the tenth version is newer than the second."""
    usual = registry.FAMILIES["fuzzy@1"]
    monkeypatch.setitem(registry.FAMILIES, "fuzzy@2", replace(usual, classes=13))
    monkeypatch.setitem(registry.FAMILIES, "fuzzy@10", replace(usual, classes=100))
    registry.family_of.cache_clear()
    try:
        assert registry.resolve("fuzzy") == "fuzzy@10"
        assert registry.described(registry.family_of("fuzzy")) == "fuzzy@10"
        assert registry.described(registry.family_of("fuzzy@1")) == "fuzzy@1"
        assert registry.described(registry.family_of("fuzzy@2")) == "fuzzy@2"
        assert registry.family_of("fuzzy@2").classes == 13
        again = registry.described(registry.family_of("fuzzy@2:classes=26"))
        assert again == f"fuzzy@2:classes={26}"
        assert registry.family_of(again).classes == 26
        assert registry.described(registry.family_of("fuzzy@10:classes=100")) == "fuzzy@10"
        assert registry.family_names().count("fuzzy") == 1
    finally:
        registry.family_of.cache_clear()


@pytest.mark.parametrize("name", sorted(registry.FAMILIES))
def test_every_family_is_made_again_from_its_description(name: str) -> None:
    assert registry.described(registry.family_of(name)) == name
