"""Two texts compared as their index compares them: (first, second, Analyser) → Runs; excerpts of what differs.

Words that the normaliser makes equal are equal here, though case, accents or punctuation differ: those are faint.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from dbsim.options import IndexOptions
from dbsim.text.features import Analyser
from dbsim.text.spans import Span, spans

EQUAL, FAINT, CHANGED = "equal", "faint", "changed"
MOST = 3000  # tokens compared one by one in each text: beyond that, it takes longer than anybody reads
WORD = 12  # characters by which an excerpt is moved to the edge of a word
CUT = "…"


@dataclass(frozen=True)
class Run:
    """A stretch of both texts, in their own spelling; `changed` has one side empty where something was only added.

    All `first` together are the first text, all `second` the second one.
    """

    kind: str  # equal: letter by letter; faint: equal to the index; changed
    first: str
    second: str


def analyser_of(options: IndexOptions) -> Analyser:
    """How an index reads its texts: of several fields the one that weighs most decides."""
    return max(options.fields, key=lambda field: field.weight).analyser()


def compare(first: str, second: str, analyser: Analyser) -> list[Run]:
    """The runs of two texts, in reading order; neighbours are of different kinds."""
    old, new = spans(first, analyser), spans(second, analyser)
    runs: list[Run] = []
    mine = other = 0  # where the next token's text begins, the gap before it included
    for tag, a, b, c, d in _matched([span.token for span in old], [span.token for span in new]):
        if tag == "equal":
            for one, two in zip(old[a:b], new[c:d], strict=True):
                _add(runs, FAINT, first[mine : one.start], second[other : two.start])
                _add(runs, FAINT, first[one.start : one.end], second[two.start : two.end])
                mine, other = one.end, two.end
            continue
        before, after = _place(old, a, first), _place(new, c, second)
        _add(runs, FAINT, first[mine:before], second[other:after])
        replaced = a < b and c < d  # what is only in one text takes the gap after it along
        mine = old[b - 1].end if replaced else _place(old, b, first)
        other = new[d - 1].end if replaced else _place(new, d, second)
        _add(runs, CHANGED, first[before:mine], second[after:other])
    _add(runs, FAINT, first[mine:], second[other:])
    return runs


def _place(found: Sequence[Span], number: int, text: str) -> int:
    """Where a token begins; the end of the text after the last one."""
    return found[number].start if number < len(found) else len(text)


def _add(runs: list[Run], kind: str, first: str, second: str) -> None:
    """Joined to the run before where the kind is the same."""
    kind = EQUAL if first == second else kind
    if not first and not second:
        return
    if runs and runs[-1].kind == kind:
        runs[-1] = Run(kind, runs[-1].first + first, runs[-1].second + second)
    else:
        runs.append(Run(kind, first, second))


def _matched(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[str, int, int, int, int]]:
    """difflib's operations; equal ends are taken off first, and what is left beyond MOST tokens is one change."""
    head = _common(zip(old, new, strict=False))
    tail = _common(zip(reversed(old[head:]), reversed(new[head:]), strict=False))
    left, right = len(old) - tail, len(new) - tail
    stop, end = min(left, head + MOST), min(right, head + MOST)
    yield "equal", 0, head, 0, head
    matcher = difflib.SequenceMatcher(None, old[head:stop], new[head:end], autojunk=False)
    for tag, a, b, c, d in matcher.get_opcodes():
        yield tag, head + a, head + b, head + c, head + d
    if stop < left or end < right:
        yield "replace", stop, left, end, right
    yield "equal", left, len(old), right, len(new)


def _common(pairs: Iterable[tuple[str, str]]) -> int:
    count = 0
    for one, two in pairs:
        if one != two:
            break
        count += 1
    return count


def excerpt(runs: Sequence[Run], around: int = 40) -> list[Run]:
    """The runs with at most `around` characters of equal text before and after each change.

    Runs that differ nowhere show their beginning.
    """
    if all(run.kind != CHANGED for run in runs):
        whole = "".join(run.second for run in runs)
        return [Run(EQUAL, shown, shown)] if (shown := _shortened(whole, 2 * around, 0)) else []
    places = [place for place, run in enumerate(runs) if run.kind == CHANGED]
    found: list[Run] = []
    for kind, part, before, after in _between(runs, places):
        if kind == CHANGED:
            found.append(part)
            continue
        shown = _shortened(part.second, around if before else 0, around if after else 0)
        found.append(Run(EQUAL, shown, shown))
    return [run for run in found if run.first or run.second]


def _between(runs: Sequence[Run], places: Sequence[int]) -> Iterator[tuple[str, Run, bool, bool]]:
    """Changes, and what lies between them as one run; whether there is a change before it, and after it."""
    start = 0
    for number, place in enumerate([*places, len(runs)]):
        text = "".join(run.second for run in runs[start:place])
        yield EQUAL, Run(EQUAL, text, text), number > 0, number < len(places)
        if place < len(runs):
            yield CHANGED, runs[place], False, False
        start = place + 1


def _shortened(text: str, head: int, tail: int) -> str:
    """Some characters of both ends, cut between words where there is a gap nearby."""
    if len(text) <= head + tail + WORD:
        return text
    first, last = text[:head], text[len(text) - tail :] if tail else ""
    if (gap := first.rfind(" ")) >= 0 and len(first) - gap <= WORD:
        first = first[: gap + 1]
    if 0 <= (gap := last.find(" ")) <= WORD:
        last = last[gap:]
    return first + CUT + last


def differing_part(first: str, second: str, analyser: Analyser, width: int = 100) -> str:
    """The second text around the first place where it differs from the first one, on one line; for lists."""
    runs = compare(first, second, analyser)
    equal = 0
    for run in runs:
        if run.kind == CHANGED:
            break
        equal += len(run.second)
    else:
        equal = 0
    start = equal - width // 3
    shown = second if start <= WORD else CUT + _from_word(second, start)
    line = " ".join(shown.split())
    return line if len(line) <= width else line[: width - 1] + CUT


def _from_word(text: str, start: int) -> str:
    gap = text.find(" ", start, start + WORD)
    return text[(gap if gap >= 0 else start) :].lstrip()
