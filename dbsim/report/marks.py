"""Differences of two texts as pieces to show, line breaks kept: (first, second) → [(kind, text)]."""

from __future__ import annotations

import difflib
import re

SAME, MISSING, ADDED = "same", "missing", "added"
WORDS = 3000  # compared of each text: beyond that, marking differences takes longer than anybody reads
CONTEXT = 40  # words shown before and after a difference
CODE = re.compile(
    r"(^|\n)(?:[ \t]{2,}\S|\s*(?:def |class |import |#include|function |return |\}|\{|</?\w+>))|[;{}]\s*\n"
)


def looks_like_code(text: str | None) -> bool:
    """Lines that are indented or end like statements are shown in monospace."""
    return bool(text and "\n" in text and len(CODE.findall(text[:4000])) >= 2)


def marked(text: str | None, first: str | None = None, around: int = CONTEXT) -> list[tuple[str, str]]:
    """`text` with what it has beyond `first`, and what it lacks; shortened where both agree for long."""
    if text is None:
        return [(MISSING, "(deleted)")]
    new = _words(text)
    if first is None:
        return [(SAME, _shortened(new, around * 10))]
    old = _words(first)
    pieces: list[tuple[str, str]] = []
    before, after = ([word.strip() for word in words[:WORDS]] for words in (old, new))
    for tag, a, b, c, d in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag == "equal":
            pieces.append((SAME, _shortened(new[c:d], around)))
            continue
        for kind, words in ((MISSING, old[a:b]), (ADDED, new[c:d])):
            if words:
                text = "".join(words)
                pieces += [(kind, text.rstrip()), (SAME, text[len(text.rstrip()) :] if kind == ADDED else " ")]
    if len(new) > WORDS:
        pieces.append((SAME, _shortened(new[WORDS:], around)))
    return pieces


def _words(text: str) -> list[str]:
    """Each with the space behind it."""
    return re.findall(r"\S+\s*", text)


def _shortened(words: list[str], around: int) -> str:
    if len(words) <= 2 * around + 1:
        return "".join(words)
    return "".join(words[:around]).rstrip() + " … " + "".join(words[-around:])
