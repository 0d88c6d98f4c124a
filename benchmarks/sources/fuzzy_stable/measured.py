"""What each setting finds at ten hits a query: texts → Collection and Found by name; recall and precision of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks.sources import texts
from benchmarks.sources.fuzzy_stable.variants import Views, variants
from benchmarks.sources.outcome import console
from benchmarks.sources.retrieval import THRESHOLDS, Collection, Found, collection, tuned

FOCUS = (0.5, 0.7, 0.8, 0.9)
Made = tuple[Collection, dict[str, Found]]


def measure(corpus: str, count: int, queries: int) -> Made:
    found = (
        texts.rfc(count)
        if corpus == "rfc"
        else texts.plagiarised(texts.howto(count // 2) + texts.rfc(count // 2), count)
    )
    return compare(found, queries, f"{corpus} {count}")


def compare(found: list[str], queries: int, name: str, only: Sequence[str] = ()) -> Made:
    clean = texts.without_stop_words(found)
    views = Views(texts.documents(found), texts.documents(clean))
    asked = collection(views.clean, queries)
    console.print(f"{name}: {len(found)} texts, {int((asked.exact >= 0.8).sum())} pairs from 0.8")
    made = {}
    for title, (keys_at, low, high) in variants(views).items():
        if only and title not in only:
            continue
        made[title] = tuned(title, keys_at, asked.queries, low, high)
    return asked, made


def similar_rows(asked: Collection) -> list[tuple[float, float]]:
    return [(t, max(float((asked.exact >= t).sum(axis=1).mean()), 1e-3)) for t in THRESHOLDS]


def curve(name: str, made: list[Made], kind: str) -> list[tuple[float, float]]:
    curves = [results[name].curve(asked.exact, kind) for asked, results in made]
    return [(points[0][0], float(np.mean([point[1] for point in points]))) for points in zip(*curves, strict=True)]


def row(name: str, made: list[Made]) -> list[str | float]:
    values: list[float] = [float(np.mean([results[name].mean for _, results in made]))]
    for kind in ("recall", "precision"):
        values += [float(np.mean([getattr(r[name], kind)(asked.exact, t) for asked, r in made])) for t in FOCUS]
    pooled = [((asked.exact >= 0.8) & r[name].hits).sum() / max(r[name].hits.sum(), 1) for asked, r in made]
    return [name, *values, float(np.mean(pooled))]
