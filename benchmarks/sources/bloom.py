"""Seed 004 (Kampf): Bloom filters as measures of similarity, their collisions, false positives and n-gram indexes."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from benchmarks.sources.outcome import Outcome
from dbsim.hashing.bloom import ESTIMATORS
from dbsim.report.plot import Axis, Series, sheet, svg

ALPHABET = "_abcdefghijklmnopqrstuvwxyz0123456789"
PRINTED_TRIGRAMS = {"__e": 1591, "_er": 1610, "eri": 8280, "rik": 26467, "ika": 14136, "ka_": 16503, "a__": 2776}
# m/n → (rounded k, false-positive rate), as printed in §4.5
PRINTED_RATES = {
    2: (1, 0.393),
    3: (2, 0.237),
    4: (3, 0.147),
    5: (3, 0.092),
    6: (4, 0.0561),
    7: (5, 0.0347),
    8: (6, 0.0216),
    9: (6, 0.0133),
    10: (7, 0.00819),
    11: (8, 0.00509),
    12: (8, 0.00314),
    13: (9, 0.00194),
    14: (10, 0.0012),
    15: (10, 0.000744),
}
BITS = 1024


def run(size: str) -> Outcome:
    repeats = {"small": 300, "full": 3000}[size]
    outcome = Outcome("bloom", "seed 004, §3.5, §4.5, §4.7, §4.8", f"{repeats} random filters a point", size)
    rng = np.random.default_rng(4)
    trigrams(outcome)
    rates(outcome, repeats, rng)
    pictures = [collisions(outcome, repeats, rng), similarity(outcome, repeats, rng)]
    outcome.pictures["bloom.svg"] = sheet(pictures)
    return outcome


# ── §3.5 ──
def index(gram: str) -> int:
    """Σ (ord(a_j) + 1)·37^(n-j-1)"""
    found = 0
    for letter in gram:
        found = found * len(ALPHABET) + ALPHABET.index(letter) + 1
    return found


def rolled(text: str, size: int, *, printed: bool) -> list[int]:
    """§3.4: from the index before; the print subtracts Ord(a)·|A|ⁿ where (Ord(a)+1)·|A|ⁿ is meant."""
    base, found = len(ALPHABET), [index(text[:size])]
    for place in range(size, len(text)):
        gone = ALPHABET.index(text[place - size]) + (0 if printed else 1)
        found.append(found[-1] * base - gone * base**size + ALPHABET.index(text[place]) + 1)
    return found


def trigrams(outcome: Outcome) -> None:
    padded = "__erika__"
    grams = [padded[place : place + 3] for place in range(len(padded) - 2)]
    rows = [(gram, float(PRINTED_TRIGRAMS[gram]), float(index(gram))) for gram in grams]
    outcome.table("§3.5: index of the trigrams of erika", ["trigram", "printed", "computed"], rows)
    wrong = [gram for gram, printed, computed in rows if printed != computed]
    direct = [index(gram) for gram in grams]
    outcome.say(
        "§3.5: indexes of the seven trigrams of erika",
        f"{len(rows) - len(wrong)} of {len(rows)} as printed; slips: "
        + ", ".join(f"{gram} is {index(gram)}, not {PRINTED_TRIGRAMS[gram]}" for gram in wrong),
        "the formula holds, three cells of the table do not",
    )
    good = rolled(padded, 3, printed=False) == direct
    outcome.say(
        "§3.4: an index follows from the one before",
        f"with (Ord(a)+1)·37³ subtracted: {'equal' if good else 'unequal'}; as printed, with Ord(a)·37³: "
        f"{'equal' if rolled(padded, 3, printed=True) == direct else 'unequal'}",
        "holds with + 1, which the print leaves out",
    )


# ── §4.5 ──
def rates(outcome: Outcome, repeats: int, rng: np.random.Generator) -> None:
    words, rows, slips = 100, [], []
    for ratio, (rounded, printed) in PRINTED_RATES.items():
        best = ratio * math.log(2)
        count = math.floor(best + 0.5)
        formula = (1 - math.exp(-count / ratio)) ** count
        bits = ratio * words
        fill = np.mean([filled(bits, words * count, rng) for _ in range(repeats)]) / bits
        rows.append((f"{ratio}", printed, formula, float(fill) ** count, float(count)))
        if count != rounded or abs(formula / printed - 1) > 0.02:
            slips.append(f"m/n = {ratio}: {formula:.3g}, printed {printed:g}")
    headings = ["m/n", "printed", "(1-e^(-kn/m))^k", "simulated", "k"]
    outcome.table("§4.5: false-positive rates", headings, rows)
    worst = max(abs(simulated / formula - 1) for _, _, formula, simulated, _ in rows)
    outcome.say(
        "§4.5: table of k and false-positive rate for m/n = 2 … 15",
        f"{len(rows) - len(slips)} of {len(rows)} rows within 2 %; simulated within {worst:.1%} of the formula"
        + (f"; otherwise {'; '.join(slips)}" if slips else ""),
        "holds" if not slips else "holds but for the rows named",
    )


def filled(bits: int, hashes: int, rng: np.random.Generator) -> int:
    return len(np.unique(rng.integers(0, bits, hashes)))


# ── §4.8 ──
def collisions(outcome: Outcome, repeats: int, rng: np.random.Generator) -> str:
    """One fragment of p bits and n words: the three models, and what happens."""
    words = 30
    lengths = [16, 24, 36, 48, 72, 110, 170, 260, 400, 700, 1467, 3771]
    simulated = [fragment(length, words, repeats, rng) for length in lengths]
    classic = [1 - math.exp(-(2 * words**2 + words) / (2 * p)) for p in lengths]
    birthday = [1 - math.exp(-words * (words - 1) / (2 * p)) for p in lengths]
    false_positive = [1 - (1 - 1 / p) ** words for p in lengths]
    author = [1 - (1 - 1 / (2 * p)) * (1 - 3 / (4 * p)) ** (words - 1) for p in lengths]
    lost = [1 - p * (1 - (1 - 1 / p) ** words) / words for p in lengths]
    headings = ["p", "any (sim)", "classic", "birthday", "next (sim)", "fpr", "author", "lost (sim)", "1-E|B|/n"]
    columns = (lengths, [s[0] for s in simulated], classic, birthday, [s[1] for s in simulated], false_positive)
    columns += (author, [s[2] for s in simulated], lost)
    rows = [[f"{row[0]}", *row[1:]] for row in zip(*columns, strict=True)]
    outcome.table(f"§4.8: collisions in a fragment of p bits, {words} words", headings, rows)
    place = lengths.index(48)
    outcome.say(
        "§4.8: three models of the bit-collision rate, the author's own (1-e^(-3n/4p)) as the most realistic",
        f"at p = 48: any collision {simulated[place][0]:.3f} (classic {classic[place]:.3f}, birthday "
        f"{birthday[place]:.3f}); next word hits a set bit {simulated[place][1]:.3f} "
        f"(fpr {false_positive[place]:.3f}); "
        f"share of words that set no new bit {simulated[place][2]:.3f} (author {author[place]:.3f}, exact "
        f"{lost[place]:.3f})",
        "each is a different event; the author's model is none of them: it lies between the second and the third",
    )
    needed = [-(2 * words**2 + words) / 2, -words * (words - 1) / 2]
    printed, usual = (value / math.log(1 - 0.1 ** (1 / 3)) for value in needed)
    outcome.say(
        "§4.8: the classic model needs p = 3,771 for n = 30, k = 3 and 10 %",
        f"its own formula gives {printed:.0f}; the birthday bound n(n-1)/2p gives {usual:.0f}",
        "a slip of the print, and the exponent (2n²+n)/2p should be (n²-n)/2p",
    )
    kinds = ["any collision", "next word on a set bit", "words that set no new bit"]
    series = [
        Series(kind, [(p, s[k]) for p, s in zip(lengths, simulated, strict=True)], line=False)
        for k, kind in enumerate(kinds)
    ]
    models = {"classic": classic, "birthday": birthday, "fpr": false_positive, "author": author}
    series += [Series(name, list(zip(lengths, values, strict=True))) for name, values in models.items()]
    title = "Collisions in a fragment (30 words): dots simulated, lines models"
    return svg(series, title=title, x=Axis("bits of the fragment, p", 10, 10_000, log=True), y="probability")


def fragment(bits: int, words: int, repeats: int, rng: np.random.Generator) -> tuple[float, float, float]:
    """Share with any collision, chance of a further word to hit a set bit, share of words without a bit."""
    different = np.array([filled(bits, words, rng) for _ in range(repeats)])
    return float((different < words).mean()), float(different.mean() / bits), float(1 - different.mean() / words)


# ── §4.7 ──
def similarity(outcome: Outcome, repeats: int, rng: np.random.Generator) -> str:
    loads = [0.1, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0]
    true = 0.5
    names = {"raw": "raw bits", "seed": "correction of §4.7", "cardinality": "cardinality estimator"}
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in names}
    errors: dict[str, list[float]] = {name: [] for name in names}
    rows = []
    for load in loads:
        values = estimates(round(load * BITS), true, repeats, rng)
        for name in names:
            found[name].append((load, float(values[name].mean())))
            errors[name].append(float(np.sqrt(((values[name] - true) ** 2).mean())))
        rows.append([f"{load:g}", *(found[name][-1][1] for name in names), *(errors[name][-1] for name in names)])
    headings = ["words a bit", *names.values(), *(f"error {name}" for name in names)]
    outcome.table(f"§4.7: similarity read from {BITS} bits, true Jaccard {true:g}", headings, rows)
    place = loads.index(0.5)
    outcome.say(
        "§4.7: raw similarity is too high by the collision rate; times (1+δ²)/(1+2δ-δ²) it is the Jaccard similarity",
        f"at half a word a bit raw reads {found['raw'][place][1]:.3f} for 0.5, corrected "
        f"{found['seed'][place][1]:.3f}, cardinality estimator {found['cardinality'][place][1]:.3f}; at two words "
        f"a bit {found['raw'][5][1]:.3f}, {found['seed'][5][1]:.3f}, {found['cardinality'][5][1]:.3f}",
        "raw is too high, as said; the correction (k = 1) is too low up to a word a bit and too high beyond; "
        "the estimator holds",
    )
    series = [Series(title, found[name]) for name, title in names.items()]
    series.insert(0, Series("true", [(0.0, true), (3.0, true)]))
    return svg(series, title="Similarity read from filters, true 0.5", x=Axis("words a bit", 0, 3), y="similarity")


def estimates(words: int, true: float, repeats: int, rng: np.random.Generator) -> dict[str, NDArray[np.float64]]:
    """Two sets of so many words and a Jaccard similarity of `true`, one hash a word."""
    common = round(2 * words * true / (1 + true))
    found: dict[str, list[float]] = {name: [] for name in ESTIMATORS}
    for _ in range(repeats):
        bits = np.zeros((2, BITS), bool)
        shared = rng.integers(0, BITS, common)
        for row in bits:
            row[shared] = True
            row[rng.integers(0, BITS, words - common)] = True
        a, b, both = (int(part.sum()) for part in (bits[0], bits[1], bits[0] & bits[1]))
        for name, estimate in ESTIMATORS.items():
            found[name].append(estimate(a, b, both, BITS))
    return {name: np.array(values) for name, values in found.items()}
