"""The same by other measures of what is similar, for short and long texts, and with segments of any width."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from benchmarks.sources import texts
from benchmarks.sources.fuzzy_stable.measured import FOCUS, compare
from benchmarks.sources.fuzzy_stable.variants import (
    BARE,
    BEST,
    COMBINED,
    FEW,
    LETTERS,
    MANY,
    REFERENCE,
    Views,
    variants,
)
from benchmarks.sources.outcome import Outcome
from benchmarks.sources.retrieval import (
    Collection,
    Found,
    Keys,
    collection,
    collide,
    fuzzy_keys,
    plain_cosine,
    stable_keys,
    tuned,
    word_jaccard,
)
from dbsim.hashing.families.fuzzy import Fuzzy


def measures(outcome: Outcome, queries: int) -> None:
    """Other exact similarities for the same hits, each from where as many pairs are similar as by tf-idf from 0.8."""
    found = texts.rfc(1000 if queries > 200 else 600)
    views = Views(texts.documents(found), texts.documents(texts.without_stop_words(found)))
    asked, ways = collection(views.clean, queries), variants(views)
    truths = {
        "tf-idf cosine, no stop words": asked.exact,
        "cosine of word counts, all words": plain_cosine(views.whole, asked.queries),
        "Jaccard of words": word_jaccard(views.whole, asked.queries),
    }
    pairs = max(int((asked.exact >= 0.8).sum()), 1)
    rows: list[list[str | float]] = []
    for name in (REFERENCE, FEW, f"{LETTERS}, signed", BEST, MANY):
        one = tuned(name, *ways_of(ways[name], asked))
        rows.append([name, one.mean, *(one.recall(t, float(np.sort(t, axis=None)[-pairs])) for t in truths.values())])
    outcome.table(f"rfc: recall by another measure, {pairs} pairs each", ["method", "hits", *truths], rows)
    by_measure(outcome, list(truths), rows)


def by_measure(outcome: Outcome, names: list[str], rows: list[list[str | float]]) -> None:
    """Where fuzzy-fingerprints are ahead of α-stable hashing: with the keys of the source, and with 17 each."""
    said = "; ".join(f"{row[0]}: " + ", ".join(f"{float(value):.2f}" for value in row[2:]) for row in rows)
    recall = {str(row[0]): [float(value) for value in row[2:]] for row in rows}
    kept = []
    for keys, mine in (("3 keys against 17", BEST), ("17 keys each", MANY)):
        ahead = [name for name, a, b in zip(names, recall[mine], recall[REFERENCE], strict=True) if a > b]
        kept.append(f"{keys}: " + (f"holds by {' and by '.join(ahead)}" if ahead else "holds by none of them"))
    outcome.say(
        f"similarity is the cosine of the vector space model; here recall by {', '.join(names)}", said, "; ".join(kept)
    )
    outcome.conclusion += f" rfc by another measure of what is similar, recall: {'; '.join(kept)}."


def ways_of(
    way: tuple[Callable[[float], Keys], float, float], asked: Collection
) -> tuple[Callable[[float], Keys], NDArray[np.int64], float, float]:
    return way[0], asked.queries, way[1], way[2]


def narrow(outcome: Outcome, queries: int) -> None:
    """The same with a segment width that was not tuned, and for short and long texts."""
    found = texts.rfc(1000 if queries > 200 else 600)
    order = np.argsort([len(text) for text in found])
    rows: list[list[str | float]] = []
    names = (REFERENCE, COMBINED, BEST, BARE)
    for title, part in (("shorter half", order[: len(order) // 2]), ("longer half", order[len(order) // 2 :])):
        asked, made = compare([found[place] for place in np.sort(part)], queries, title, names)
        for name in names:
            one = made[name]
            rows.append([f"{title}: {name}", one.mean, *(one.recall(asked.exact, t) for t in FOCUS)])
    outcome.table("rfc by length", ["method", "hits", *(f"R {t}" for t in FOCUS)], rows)
    outcome.say(
        "rfc: the length of the documents",
        "recall from 0.8: " + ", ".join(f"{one[0]} {float(one[4]):.2f}" for one in rows),
        "α-stable hashing is ahead in both halves" if _ahead_in_halves(rows, len(names)) else "it decides who is ahead",
    )
    clean = texts.documents(texts.without_stop_words(found))
    asked, keys_at, rows = collection(clean, queries), stable_keys(clean), []
    best = tuned("", fuzzy_keys(Fuzzy(deviation="signed"), clean, 3), asked.queries, 0.02, 60.0)
    for width in (1.2, 1.8, 2.4, 3.0, 3.6):
        one = Found("", width, collide(keys_at(width), asked.queries))
        rows.append([f"u = {width}", one.mean, *(one.recall(asked.exact, t) for t in FOCUS)])
    rows.append(["fuzzy, signed, no stop words", best.mean, *(best.recall(asked.exact, t) for t in FOCUS)])
    outcome.table("rfc: α-stable by segment width", ["width", "hits", *(f"R {t}" for t in FOCUS)], rows)
    behind = [str(line[0]) for line in rows[:-1] if float(line[4]) < float(rows[-1][4])]
    outcome.say(
        "α-stable hashing reaches only low recall",
        f"recall from 0.8: {', '.join(f'{one[0]}: {one[4]:.2f} ({one[1]:.2g} hits)' for one in rows[:-1])}; "
        f"fuzzy {rows[-1][4]:.2f} ({rows[-1][1]:.3g} hits)",
        f"true of segments so narrow that hardly any row is found ({', '.join(behind)}), not at ten hits",
    )


def _ahead_in_halves(rows: list[list[str | float]], names: int) -> bool:
    """The first method of each half, at 0.8."""
    recall = [float(row[4]) for row in rows]
    return all(recall[start] > max(recall[start + 1 : start + names]) for start in range(0, len(recall), names))
