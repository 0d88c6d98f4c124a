"""Prefix classes of words: folded texts → documents × classes; expected shares → classes of equal mass.

A word's prefix is a number in base 27: 0 for no letter or none of a to z, 1 to 26 for the letters.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

LETTERS = 27
LANGUAGES = ("english", "german")
_SYMBOL = np.zeros(256, np.int64)
_SYMBOL[ord("a") : ord("z") + 1] = np.arange(1, LETTERS)


def prefixes(folded: Sequence[bytes], length: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(document, prefix) of every word that begins with a letter a to z."""
    joined = np.frombuffer(b" " + b" ".join(folded) + b" " * length, np.uint8)
    starts = np.flatnonzero((joined[:-length] == 32) & (joined[1 : len(joined) - length + 1] != 32)) + 1
    prefix, inside = np.zeros(len(starts), np.int64), np.ones(len(starts), bool)
    for place in range(length):
        symbol = _SYMBOL[joined[starts + place]]
        inside &= symbol > 0
        prefix = prefix * LETTERS + np.where(inside, symbol, 0)
    ends = np.cumsum([len(text) + 1 for text in folded])
    documents = np.searchsorted(ends, starts - 1, side="right")
    kept = prefix >= LETTERS ** (length - 1)
    return documents[kept], prefix[kept]


@cache
def shipped(language: str, length: int) -> NDArray[np.float64]:
    """Expected share of each prefix in a language, from the project's data."""
    if length > 2:
        raise ValueError("expected shares of three-letter prefixes are not shipped: use expected=table")
    shares = np.zeros(LETTERS**2)
    lines = files(__package__).joinpath(f"data/prefixes_{language}.tsv").read_text("utf-8").splitlines()
    for line in lines:
        if not line.startswith("#"):
            letters, share = line.split("\t")
            first, second = _SYMBOL[ord(letters[0])], _SYMBOL[ord(letters[1])]
            shares[first * LETTERS + second] += float(share)
    if length == 1:
        shares = shares.reshape(LETTERS, LETTERS).sum(axis=1)
    return np.asarray(shares / shares.sum())


def observed(folded: Sequence[bytes], length: int) -> NDArray[np.float64]:
    """Share of each prefix in a sample; every text counts the same."""
    documents, prefix = prefixes(folded, length)
    if not len(prefix):
        raise ValueError("the sampled texts have no words with letters a to z: use expected=english or german")
    sizes = np.bincount(documents, minlength=len(folded))
    shares = np.bincount(prefix, 1.0 / sizes[documents], LETTERS**length)
    return np.asarray(shares / shares.sum())


def without(shares: NDArray[np.float64], length: int, letters: str) -> NDArray[np.float64]:
    """Shares with the prefixes that begin with one of these letters dropped."""
    first = np.arange(len(shares)) // LETTERS ** (length - 1)
    dropped = np.isin(first, [_SYMBOL[ord(letter)] for letter in letters])
    return np.where(dropped, 0.0, shares)


def combined(shares: NDArray[np.float64], count: int) -> NDArray[np.int64]:
    """The class of every prefix (-1 for none): `count` classes of about equal mass, by first-fit-decreasing.

    Bins have room for 1/count of the mass; what does not fit opens a bin, and the contents of bins beyond `count` go to
    the emptiest of the others, largest first, so that exactly `count` remain (the source suggests a random choice).
    """
    order = [int(prefix) for prefix in np.lexsort((np.arange(len(shares)), -shares)) if shares[prefix] > 0]
    if len(order) < count:
        raise ValueError(f"{count} classes cannot be made of {len(order)} prefixes: use longer ones or fewer classes")
    room = shares.sum() / count
    bins: list[list[int]] = []
    load: list[float] = []
    for prefix in order:
        fits = next((number for number, held in enumerate(load) if held + shares[prefix] <= room * (1 + 1e-12)), None)
        if fits is None:
            bins.append([])
            load.append(0.0)
            fits = len(bins) - 1
        bins[fits].append(prefix)
        load[fits] += shares[prefix]
    return _exactly(count, bins, load, shares)


def _exactly(count: int, bins: list[list[int]], load: list[float], shares: NDArray[np.float64]) -> NDArray[np.int64]:
    surplus = sorted((prefix for held in bins[count:] for prefix in held), key=lambda prefix: (-shares[prefix], prefix))
    bins, load = bins[:count], load[:count]
    for prefix in surplus:
        emptiest = min(range(count), key=lambda number: load[number])
        bins[emptiest].append(prefix)
        load[emptiest] += shares[prefix]
    while len(bins) < count:  # single prefixes heavier than a bin leave too few bins: share out the longest lists
        longest = max(bins, key=len)
        half = len(longest) // 2
        bins.append(longest[half:])
        del longest[half:]
    classes = np.full(len(shares), -1, np.int64)
    for number, held in enumerate(bins):
        classes[held] = number
    return classes
