"""Seed 001 (Sauerhoff): Rabin's fingerprint against its bound, min-hash, relative size and overlap from samples."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from benchmarks.sources.outcome import Outcome
from benchmarks.sources.texts import documents
from dbsim.evaluate.sampling.overlap import overlap
from dbsim.hashing.families.registry import family_of
from dbsim.hashing.keys import Plan
from dbsim.report.plot import Axis, Series, sheet, svg

TEXT_BITS = 1024
TEXTS = 12


def run(size: str) -> Outcome:
    repeats = {"small": 2000, "full": 20_000}[size]
    setting = f"{TEXTS} texts of {TEXT_BITS} bits; {repeats} random primes; collections of 2,000 and 1,000 rows"
    outcome = Outcome("sampling", "seed 001, §1.1, §1.2, §2.1", setting, size)
    rng = np.random.default_rng(1)
    pictures = [fingerprints(outcome, repeats, rng), minima(outcome, size, rng), sizes(outcome, repeats // 10, rng)]
    outcome.pictures["sampling.svg"] = sheet(pictures)
    return outcome


# ── §1.1 ──
def fingerprints(outcome: Outcome, repeats: int, rng: np.random.Generator) -> str:
    """P[some two of the texts collide] for a prime out of the first m, random texts and the worst ones."""
    primes = first_primes(1_000_000)
    numbers = [1 << power for power in range(8, 20)]
    kinds = {"random texts": random_texts(rng), "worst texts": worst_texts(primes)}
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in kinds}
    bound, pairs = [], math.comb(TEXTS, 2)
    for count in numbers:
        bound.append((float(count), min(pairs * TEXT_BITS / count, 1.0)))
        drawn = primes[rng.integers(0, count, repeats)]
        for name, texts in kinds.items():
            found[name].append((float(count), float(np.mean([collide(texts, int(p)) for p in drawn]))))
    rows = [[f"{count:,}", bound[n][1], *(found[name][n][1] for name in kinds)] for n, count in enumerate(numbers)]
    outcome.table("§1.1: chance of a false positive", ["first m primes", "bound", *kinds], rows)
    above = sum(point[1] > limit[1] + 1e-12 for name in kinds for point, limit in zip(found[name], bound, strict=True))
    last = len(numbers) - 1
    outcome.say(
        "§1.1: no false negatives; false positives at most C(|S|,2)·n/m",
        f"above the bound at {above} of {2 * len(numbers)} points; at m = {numbers[last]:,} bound "
        f"{bound[last][1]:.3f}, "
        f"worst texts {found['worst texts'][last][1]:.4f}, random texts {found['random texts'][last][1]:.6f}",
        "holds, with room: an n-bit number has far fewer than n prime factors",
    )
    example = [0b0101011011 % 173, 0b1101011011 % 173, 0b0001011011 % 173]
    outcome.say(
        "§1.1: the example with p = 173 (fingerprints of similar texts are not similar)",
        f"{example} = {', '.join(f'{value:08b}' for value in example)}",
        "holds",
    )
    series = [Series("bound C(|S|,2)·n/m", bound), *(Series(name, points) for name, points in found.items())]
    floor = [Series(one.name, [(x, max(y, 1e-5)) for x, y in one.points]) for one in series]
    title = f"False positives of x mod p, {TEXTS} texts of {TEXT_BITS} bits"
    return svg(
        floor, title=title, x=Axis("first m primes", 100, 1e6, log=True), y=Axis("probability", 1e-5, 1, log=True)
    )


def first_primes(limit: int) -> NDArray[np.int64]:
    """All primes below 16 × limit, a sieve; the first `limit` of them are used."""
    sieve = np.ones(16 * limit, bool)
    sieve[:2] = False
    for number in range(2, math.isqrt(len(sieve)) + 1):
        if sieve[number]:
            sieve[number * number :: number] = False
    return np.flatnonzero(sieve)[:limit]


def random_texts(rng: np.random.Generator) -> list[int]:
    return [int.from_bytes(rng.bytes(TEXT_BITS // 8), "big") for _ in range(TEXTS)]


def worst_texts(primes: NDArray[np.int64]) -> list[int]:
    """Neighbours differ by a product of many different small primes, other ones for each pair."""
    texts, place = [0], 0
    for _ in range(TEXTS - 1):
        product = 1
        while (product * int(primes[place])).bit_length() < TEXT_BITS - 4:
            product *= int(primes[place])
            place += 1
        texts.append(texts[-1] + product)
    return texts


def collide(texts: list[int], prime: int) -> bool:
    return len({text % prime for text in texts}) < len(texts)


# ── §1.2 ──
def minima(outcome: Outcome, size: str, rng: np.random.Generator) -> str:
    """Pairs of texts with known Jaccard similarity: share of equal minima of single rows."""
    pairs, keys = {"small": 200, "full": 2000}[size], 64
    grid = [0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95]
    found: dict[str, list[tuple[float, float]]] = {"minhash": [], "rabin-minhash": []}
    worst = dict.fromkeys(found, 0.0)
    for wanted in grid:
        exact, texts = known_pairs(wanted, pairs // 10, rng)
        analysed = documents(texts, shingle=1)
        for name in found:
            made = family_of(name).keys(analysed, Plan(1, keys), {})
            equal = made[0::2] == made[1::2]
            found[name].append((exact, float(equal.mean())))
            error = math.sqrt(exact * (1 - exact) / equal.size)
            worst[name] = max(worst[name], abs(float(equal.mean()) - exact) / error)
    rows = [
        [f"{exact:.3f}", *(points[n][1] for points in found.values())] for n, (exact, _) in enumerate(found["minhash"])
    ]
    outcome.table("§1.2: share of equal minima", ["Jaccard", *found], rows)
    outcome.say(
        "§1.2: P[equal minima] = J, for random permutations; Rabin-min-hash as an approximation",
        ", ".join(f"{name}: largest deviation {value:.1f} standard errors" for name, value in worst.items())
        + f" ({pairs // 10 * keys:,} comparisons a point)",
        "holds",
    )
    series = [Series(name, points, line=False) for name, points in found.items()]
    return svg([Series("J", [(0, 0), (1, 1)]), *series], title="Equal minima", x="Jaccard similarity", y="share equal")


def known_pairs(wanted: float, count: int, rng: np.random.Generator) -> tuple[float, list[str]]:
    """Texts 2i and 2i+1 share so many words that J is `wanted`, as near as 200 words allow."""
    size = 200
    common = round(2 * size * wanted / (1 + wanted))
    texts = []
    for _ in range(count):
        words = [f"w{n}" for n in rng.choice(10**9, 2 * size - common, replace=False)]
        texts.append(" ".join(words[:size]))
        texts.append(" ".join(words[size - common :]))
    return common / (2 * size - common), texts


# ── §2.1 ──
def sizes(outcome: Outcome, repeats: int, rng: np.random.Generator) -> str:
    """A has 2,000 rows, B 1,000, `shared` in both: what samples say about |A| : |B|."""
    large, small, shared = 2000, 1000, 600
    points, rows = [], []
    for sample in (50, 100, 200, 400, 800):
        in_b = rng.hypergeometric(shared, large - shared, sample, repeats)
        in_a = rng.hypergeometric(shared, small - shared, sample, repeats)
        made = [overlap(sample, int(x), sample, int(y)) for x, y in zip(in_b, in_a, strict=True)]
        values = np.array([one.relative_size.value for one in made])
        covers = float(np.mean([one.relative_size.holds(large / small) for one in made]))
        shares = float(np.mean([one.a_in_b.holds(shared / large) and one.b_in_a.holds(shared / small) for one in made]))
        low, middle, high = np.quantile(values, [0.05, 0.5, 0.95])
        points.append((sample, low, middle, high))
        rows.append([f"{sample}", float(low), float(middle), float(high), covers, shares])
    headings = ["rows sampled", "5 %", "median", "95 %", "interval holds 2", "both shares held"]
    outcome.table("§2.1: |A| : |B| = 2, 30 % of A in B, 60 % of B in A", headings, rows)
    outcome.say(
        "§2.1: P[x∈A | x∈B] : P[x∈B | x∈A] is the relative size of two collections",
        f"median {rows[2][2]:.2f} for 2 from 200 rows each (5 % to 95 %: {rows[2][1]:.2f} to {rows[2][3]:.2f}); "
        f"95 % intervals hold the truth in {min(row[4] for row in rows):.1%} to {max(row[4] for row in rows):.1%}",
        "holds",
    )
    names = {"5 % of the samples": 1, "median": 2, "95 % of the samples": 3}
    series = [Series(name, [(point[0], float(point[column])) for point in points]) for name, column in names.items()]
    x, y = Axis("rows sampled from each", 0, 800), Axis("estimated |A| : |B|", 0, 5)
    return svg([Series("true", [(0, 2), (800, 2)]), *series], title="Relative size from samples", x=x, y=y)
