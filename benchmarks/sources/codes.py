"""Seed 003 (Bodó): codes by hyperplanes, spectral and linear spectral hashing; the 50 nearest as truth."""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from benchmarks.sources import texts
from benchmarks.sources.outcome import Outcome, console
from dbsim.hashing.documents import Documents
from dbsim.hashing.families.registry import family_of
from dbsim.hashing.families.shared.codes import Code
from dbsim.hashing.keys import Plan
from dbsim.hashing.measures import cosine
from dbsim.hashing.vectors import align, fit_frequencies, vectors
from dbsim.report.plot import Axis, Series, sheet, svg

SIZES = {"small": (1200, 300, (8, 16, 32)), "full": (6000, 1000, (8, 16, 24, 32, 48, 64, 96, 128))}
VOCABULARY = 5000
NEAREST = 50
METHODS = {"hyperplane": "random hyperplanes", "spectral": "spectral", "linear-spectral": "linear spectral"}
Bits = NDArray[np.int64]


def run(size: str) -> Outcome:
    learned, asked, lengths = SIZES[size]
    setting = (
        f"newsgroups, {learned} to learn, {asked} to ask; 199 stop words, 5,000 words, tf-idf, 50 nearest as truth"
    )
    outcome = Outcome("codes", "seed 003, the two figures", setting, size)
    stored, queries = prepared(learned, asked)
    near = nearest(stored, queries)
    rows: list[list[str | float]] = []
    found: dict[str, dict[int, tuple[float, float]]] = {name: {} for name in METHODS}
    for bits in lengths:
        for name in METHODS:
            distance = hamming(*codes(name, bits, stored, queries))
            found[name][bits] = area(distance, near, bits), within(distance, near, 2)
            console.print(
                f"  {bits} bits, {name}: area {found[name][bits][0]:.3f}, precision {found[name][bits][1]:.3f}"
            )
        rows.append([f"{bits}", *(found[name][bits][k] for k in (0, 1) for name in METHODS)])
    headings = ["bits", *(f"area {name}" for name in METHODS), *(f"P<2 {name}" for name in METHODS)]
    outcome.table("area under recall-precision; precision at Hamming distance < 2", headings, rows)
    judge(outcome, found, lengths)
    titles = ("Area under the recall-precision curve", "Precision at Hamming distance < 2")
    pictures = []
    for k, title in enumerate(titles):
        series = [Series(METHODS[name], [(float(b), found[name][b][k]) for b in lengths]) for name in METHODS]
        high = 0.2 * np.ceil(max(y for one in series for _, y in one.points) / 0.2)
        pictures.append(
            svg(series, title=title, x=Axis("bits", 0, max(lengths)), y=Axis(("area", "precision")[k], 0, float(high)))
        )
    outcome.pictures["codes.svg"] = sheet(pictures)
    return outcome


def prepared(learned: int, asked: int) -> tuple[Documents, Documents]:
    parts: dict[str, list[str]] = {"train": [], "test": []}
    for split, _, body in texts.newsgroups():
        parts["train" if split == "train" else "test"].append(body)
    rng = np.random.default_rng(6)
    chosen = [parts["train"][n] for n in rng.permutation(len(parts["train"]))[:learned]]
    chosen += [parts["test"][n] for n in rng.permutation(len(parts["test"]))[:asked]]
    clean = [text.split() for text in texts.without_stop_words(chosen)]
    frequent = {
        word for word, _ in Counter(word for words in clean[:learned] for word in words).most_common(VOCABULARY)
    }
    kept = [" ".join(word for word in words if word in frequent) for words in clean]
    full = [text for text in kept[:learned] if text], [text for text in kept[learned:] if text]
    return texts.documents(full[0], shingle=1), texts.documents(full[1], shingle=1)


def nearest(stored: Documents, queries: Documents) -> NDArray[np.bool_]:
    """queries × stored: the 50 with the highest cosine."""
    model = fit_frequencies(stored)
    exact = cosine(*align(vectors(queries, model), vectors(stored, model)))
    near = np.zeros(exact.shape, bool)
    np.put_along_axis(near, np.argsort(-exact, axis=1, kind="stable")[:, :NEAREST], True, axis=1)
    return near


def codes(name: str, bits: int, stored: Documents, queries: Documents) -> tuple[Bits, Bits]:
    if name == "hyperplane":
        family = family_of(name)
        plan = Plan(1, bits)  # a key of one row is one bit
        model = family.fit(stored, plan)
        return family.keys(stored, plan, model), family.keys(queries, plan, model)
    family = family_of(f"{name}:bits={bits}:pieces={max(bits // 32, 1) if bits % 32 == 0 else 2}:within=0")
    assert isinstance(family, Code)
    model = family.fit(stored, Plan(1, 1))
    return family.code(stored, model), family.code(queries, model)


def hamming(stored: Bits, queries: Bits) -> NDArray[np.int64]:
    a, b = 2.0 * queries - 1, 2.0 * stored - 1
    return np.round((a.shape[1] - a @ b.T) / 2).astype(np.int64)


def area(distance: NDArray[np.int64], near: NDArray[np.bool_], bits: int) -> float:
    """Over all distances, answers of all queries together."""
    hits = np.cumsum(np.bincount(distance[near], minlength=bits + 1))
    got = np.cumsum(np.bincount(distance.reshape(-1), minlength=bits + 1))
    recall, precision = hits / hits[-1], hits / np.maximum(got, 1)
    filled = got > 0
    recall, precision = recall[filled], precision[filled]
    return float(np.trapezoid(np.concatenate([[precision[0]], precision]), np.concatenate([[0.0], recall])))


def within(distance: NDArray[np.int64], near: NDArray[np.bool_], limit: int) -> float:
    """Mean over the queries; one without an answer counts as 0, as in Weiss et al. 2008."""
    close = distance < limit
    got = close.sum(axis=1)
    return float(((close & near).sum(axis=1) / np.maximum(got, 1)).mean())


def judge(outcome: Outcome, found: dict[str, dict[int, tuple[float, float]]], lengths: tuple[int, ...]) -> None:
    for k, what in enumerate(("area under recall-precision", "precision at Hamming distance < 2")):
        ahead = [
            bits for bits in lengths if found["linear-spectral"][bits][k] >= max(found[n][bits][k] for n in METHODS)
        ]
        last = lengths[-1]
        outcome.say(
            f"linear spectral hashing as an improvement (figures without numbers in our copy): {what}",
            ", ".join(f"{METHODS[n]} {found[n][last][k]:.3f}" for n in METHODS)
            + f" at {last} bits; linear spectral is best at {len(ahead)} of {len(lengths)} lengths"
            + (f" ({', '.join(map(str, ahead))} bits)" if ahead else ""),
            "holds"
            if len(ahead) == len(lengths)
            else f"holds for {', '.join(map(str, ahead))} bits"
            if ahead
            else "does not hold",
        )
