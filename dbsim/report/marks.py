"""Differences of two texts as pieces to show, line breaks kept: (text, first, Analyser) → [(kind, text)]."""

from __future__ import annotations

import re
from collections.abc import Mapping

from dbsim.options import IndexOptions
from dbsim.report.differences import CHANGED, FAINT, compare
from dbsim.text.features import Analyser

SAME, MISSING, ADDED, SPELT = "same", "missing", "added", "spelt"  # spelt: other letters, the same to the index
CONTEXT = 40  # words shown before and after a difference
CODE = re.compile(
    r"(^|\n)(?:[ \t]{2,}\S|\s*(?:def |class |import |#include|function |return |\}|\{|</?\w+>))|[;{}]\s*\n"
)


def looks_like_code(text: str | None) -> bool:
    """Lines that are indented or end like statements are shown in monospace."""
    return bool(text and "\n" in text and len(CODE.findall(text[:4000])) >= 2)


def analysers_of(options: IndexOptions) -> Mapping[str, Analyser]:
    """How each field of an index is read, by its name; of persons, whose letters are compared, words are marked."""
    if options.hashing.rarity:
        return {}
    return {field.name: field.analyser() for field in options.fields}


def marked(
    text: str | None, first: str | None = None, analyser: Analyser | None = None, around: int = CONTEXT
) -> list[tuple[str, str]]:
    """`text` with what it has beyond `first`, and what it lacks; shortened where both agree for long."""
    if text is None:
        return [(MISSING, "(deleted)")]
    if first is None:
        return [(SAME, _shortened(text, around * 10))]
    pieces: list[tuple[str, str]] = []
    for run in compare(first, text, analyser or Analyser()):
        if run.kind == CHANGED:
            pieces += _change(run.first, run.second)
        else:
            pieces.append((SPELT if run.kind == FAINT and run.second.strip() else SAME, _shortened(run.second, around)))
    return pieces


def _change(old: str, new: str) -> list[tuple[str, str]]:
    """What is gone before what has come, the gap between them unmarked."""
    found = []
    for kind, text in ((MISSING, old), (ADDED, new)):
        if text:
            bare = text.rstrip()
            gap = " " if kind == MISSING and new and bare == text else text[len(bare) :]
            found += [(kind, bare), (SAME, gap)]
    return [(kind, text) for kind, text in found if text]


def _shortened(text: str, around: int) -> str:
    """So many words of both ends."""
    words = re.findall(r"\s*\S+", text)
    if len(words) <= 2 * around + 1:
        return text
    return "".join(words[:around]) + " … " + text[text.rindex("".join(words[-around:])) :].lstrip()
