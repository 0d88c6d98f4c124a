"""Seed 000, fig. 4.7: hits a query against the size of the collection, with settings that stay as they are."""

from __future__ import annotations

import numpy as np

from benchmarks.sources import texts
from benchmarks.sources.outcome import Outcome
from benchmarks.sources.retrieval import HITS, collide, fuzzy_keys, stable_keys, tuned
from dbsim.hashing.families.fuzzy import Fuzzy
from dbsim.report.plot import Axis, Series, svg

SIZES = {"small": (500, 1000, 2000, 4000), "full": (1000, 2000, 4000, 8000, 16_000)}
QUERIES = 400


def run(size: str) -> Outcome:
    counts = SIZES[size]
    outcome = Outcome(
        "growth", "seed 000, fig. 4.7", "newsgroups; tuned to 10 hits at the smallest size, then left", size
    )
    posts = [body for _, _, body in texts.newsgroups() if len(body) > 400]
    order = np.random.default_rng(5).permutation(len(posts))[: counts[-1]]
    analysed = texts.documents(texts.without_stop_words([posts[place] for place in order]))
    methods = {
        "α-stable (k = 20, l = 17)": (stable_keys(analysed), 0.3, 20.0),
        "fuzzy, 26 letters": (fuzzy_keys(Fuzzy(prefix=1, classes=0), analysed, 3), 0.02, 60.0),
        "fuzzy, 26 combined": (fuzzy_keys(Fuzzy(), analysed, 3), 0.02, 60.0),
        "fuzzy, 26 combined, signed": (fuzzy_keys(Fuzzy(deviation="signed"), analysed, 3), 0.02, 60.0),
    }
    queries = np.arange(QUERIES)
    series, rows = [], []
    for name, (keys_at, low, high) in methods.items():
        best = tuned(name, lambda scale, keys_at=keys_at: keys_at(scale)[: counts[0]], queries, low, high, HITS)
        keys = keys_at(best.scale)
        points = [(float(n), max(float(collide(keys[:n], queries).sum(axis=1).mean()), 0.1)) for n in counts]
        slope = float(np.polyfit(*np.log(np.array(points)).T, 1)[0])
        series.append(Series(name, points))
        rows.append([name, *(hits for _, hits in points), slope])
    outcome.table("hits a query", ["method", *(f"{n:,}" for n in counts), "exponent"], rows)
    outcome.say(
        "hits a query grow linearly with the collection when the parameters stay",
        ", ".join(f"{row[0]}: n^{row[-1]:.2f}" for row in rows),
        "holds" if all(0.9 < float(row[-1]) < 1.1 for row in rows) else "holds roughly",
    )
    x, y = Axis("documents", 100, 100_000, log=True), Axis("hits a query (mean)", 1, 1000, log=True)
    outcome.pictures["growth.svg"] = svg(series, title="Hits a query, settings fixed", x=x, y=y)
    return outcome
