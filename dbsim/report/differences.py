"""Two texts compared word by word: (first, second) → pieces (kind, words) of the second."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

WORDS = 3000  # compared of each text: beyond that, marking differences takes longer than anybody reads
SAME, MISSING, ADDED = "same", "missing", "added"


def differences(first: str, second: str) -> Iterator[tuple[str, list[str]]]:
    """Words in both, words only in the first, words only in the second, in reading order."""
    old, new = first.split(), second.split()
    rest = new[WORDS:]
    old, new = old[:WORDS], new[:WORDS]
    for tag, a, b, c, d in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            yield SAME, new[c:d]
            continue
        if a < b:
            yield MISSING, old[a:b]
        if c < d:
            yield ADDED, new[c:d]
    if rest:
        yield SAME, rest


def shorten(words: list[str], around: int) -> list[str]:
    """A long run of equal words, without its middle."""
    return words if len(words) <= 2 * around + 1 else [*words[:around], "…", *words[-around:]]
