"""Seed 002, fig. 3: recall of fuzzy-fingerprints at similarity, and comparisons saved (table 1's parameters)."""

from __future__ import annotations

import numpy as np

from benchmarks.sources import texts
from benchmarks.sources.outcome import Outcome, console
from benchmarks.sources.retrieval import Collection, Found, collection, collide, fuzzy_keys
from dbsim.hashing.documents import Documents
from dbsim.hashing.families.fuzzy import Fuzzy
from dbsim.hashing.families.registry import family_of
from dbsim.hashing.keys import Plan
from dbsim.report.plot import Axis, Series, sheet, svg

SIZES = {"small": {"rfc": 800, "howto": 800}, "full": {"rfc": 3600, "howto": 4600}}
QUERIES = {"small": 300, "full": 1000}
TABLE_1 = "fuzzy:prefix=1:classes=0:drop=jquvwxyz:schemes=3:intervals=3:expected=english"
KINDS = {"signed": "signed deviation", "absolute": "absolute deviation"}
FOCUS = (0.5, 0.7, 0.8, 0.9, 0.95)
Results = dict[str, tuple[float, float]]  # kind → recall from 0.8, speed-up


def run(size: str) -> Outcome:
    setting = (
        "18 letters, 3 schemes of 3 intervals, expected shares of English; the borders are not printed: the project's"
    )
    outcome = Outcome("fuzzy-recall", "seed 002, fig. 3 and table 1", setting, size)
    pictures, found = [], {}
    for corpus, count in SIZES[size].items():
        recall, saved, rows, results = one(corpus, count, QUERIES[size])
        outcome.table(f"{corpus}: recall", ["deviation", *(f"R {t}" for t in FOCUS), "compared", "speed-up"], rows)
        found[corpus] = results
        pictures.append(svg(recall, title=f"{corpus}: recall at similarity", x="cosine similarity from", y="recall"))
        x, y = Axis("documents in the collection", 0, count), Axis("rows compared a query", 1, 10_000, log=True)
        pictures.append(svg(saved, title=f"{corpus}: comparisons", x=x, y=y))
    outcome.say(
        "recall of 0.9 to 1 for pairs above 0.8 (a sacrifice of 0 to 0.1), on RFC and on Linux documents",
        "; ".join(
            f"{corpus}, {kind}: {recall:.2f} from 0.8"
            for corpus, kinds in found.items()
            for kind, (recall, _) in kinds.items()
        ),
        verdict(found),
    )
    outcome.say(
        "a significant speed-up: the collision set stays close to the axis",
        "; ".join(
            f"{corpus}, {kind}: {speed:,.0f} ×" for corpus, kinds in found.items() for kind, (_, speed) in kinds.items()
        ),
        "holds by itself; see the line above",
    )
    outcome.pictures["fuzzy-recall.svg"] = sheet(pictures)
    return outcome


def verdict(found: dict[str, Results]) -> str:
    """Both claims at once: a recall of 0.9 and a hundredth of the rows compared, or fewer."""
    both = [
        f"{corpus}, {kind}"
        for corpus, kinds in found.items()
        for kind, one in kinds.items()
        if one[0] >= 0.9 and one[1] >= 100
    ]
    costs = [
        one[1] for kinds in found.values() for kind, one in kinds.items() if kind == "signed deviation, wider borders"
    ]
    if both:
        return f"holds: {'; '.join(both)}"
    cost = " and ".join(f"{one:,.0f}" for one in costs)
    return f"not both at once: a recall of 0.9 leaves a speed-up of only {cost} (signed; absolute is worse)"


def one(corpus: str, count: int, queries: int) -> tuple[list[Series], list[Series], list[list[str | float]], Results]:
    chosen = texts.rfc(count) if corpus == "rfc" else texts.howto(count)
    analysed = texts.documents(chosen)
    asked = collection(texts.documents(texts.without_stop_words(chosen)), queries)
    console.print(f"{corpus}: {len(chosen)} texts, {int((asked.exact >= 0.8).sum())} pairs from 0.8")
    recall, rows, results = [], [], {}
    steps = np.linspace(len(chosen) / 8, len(chosen), 8).astype(int)
    saved = [Series("every row", [(float(n), float(n)) for n in steps])]
    for kind, title in KINDS.items():
        family = family_of(f"{TABLE_1}:deviation={kind}")
        keys = family.keys(analysed, Plan(1, 3), family.fit(analysed, Plan(1, 3)))
        hits = Found(title, 1.0, collide(keys, asked.queries))
        recall.append(Series(title, hits.curve(asked.exact, "recall")))
        saved.append(Series(title, [(float(n), max(_compared(keys[:n]), 1.0)) for n in steps]))
        speed = len(chosen) / max(hits.mean, 1e-9)
        rows.append([title, *(hits.recall(asked.exact, t) for t in FOCUS), hits.mean, speed])
        results[title] = (hits.recall(asked.exact, 0.8), speed)
        assert isinstance(family, Fuzzy)
        wide = widened(family, analysed, asked)
        speed = len(chosen) / max(wide.mean, 1e-9)
        wider = f"{title}, wider borders"
        recall.append(Series(wider, wide.curve(asked.exact, "recall")))
        rows.append([wider, *(wide.recall(asked.exact, t) for t in FOCUS), wide.mean, speed])
        results[wider] = (wide.recall(asked.exact, 0.8), speed)
    return recall, saved, rows, results


def widened(family: Fuzzy, analysed: Documents, asked: Collection) -> Found:
    """The narrowest borders with a recall of 0.9 from 0.8 on: what the claim costs."""
    keys_at = fuzzy_keys(family, analysed, 3)
    low, high = 0.1, 30.0
    best = Found("", high, collide(keys_at(high), asked.queries))
    for _ in range(14):
        middle = float(np.sqrt(low * high))
        found = Found("", middle, collide(keys_at(middle), asked.queries))
        if found.recall(asked.exact, 0.8) >= 0.9:
            best, high = found, middle
        else:
            low = middle
    return best


def _compared(keys: np.ndarray) -> float:
    """Rows in the collision set when every row asks, itself included."""
    step = max(len(keys) // 800, 1)
    queries = np.arange(0, len(keys), step)
    return float(collide(keys, queries).sum(axis=1).mean()) + 1.0
