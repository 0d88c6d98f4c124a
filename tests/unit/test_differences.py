"""Marked differences: nothing is lost, equal is what the index calls equal, lists show what differs."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsim.report.differences import CHANGED, CUT, EQUAL, FAINT, MOST, compare, differing_part, excerpt
from dbsim.text.features import Analyser
from dbsim.text.normalise import normalise
from dbsim.text.normalisers.registry import normaliser_names
from dbsim.text.spans import spans

WORDS = Analyser()
CHARACTERS = Analyser(unit="characters")
SYMBOLS = Analyser(normaliser="symbols")

analysers = st.builds(
    Analyser, normaliser=st.sampled_from(normaliser_names()), unit=st.sampled_from(["words", "characters"])
)
pieces = st.sampled_from(
    ["a", "B", "ä", "a\u0308", "½", "京", "+", ".", "-", " ", "\n", "1", "😀", "\u0338", "", "The", "dog"]
)
texts = st.text(max_size=30) | st.lists(pieces, max_size=30).map("".join)


@given(texts, texts, analysers)
def test_nothing_is_lost_and_neighbours_differ(first: str, second: str, analyser: Analyser) -> None:
    runs = compare(first, second, analyser)
    assert "".join(run.first for run in runs) == first
    assert "".join(run.second for run in runs) == second
    for one, two in itertools.pairwise(runs):
        assert one.kind != two.kind
    for run in runs:
        assert (run.kind == EQUAL) == (run.first == run.second)


@given(texts, texts, analysers)
def test_changed_means_that_the_index_sees_it(first: str, second: str, analyser: Analyser) -> None:
    changed = any(run.kind == CHANGED for run in compare(first, second, analyser))
    assert changed == ([s.token for s in spans(first, analyser)] != [s.token for s in spans(second, analyser)])


@given(texts, st.sampled_from(list(normaliser_names())))
def test_spans_are_the_tokens(text: str, normaliser: str) -> None:
    found = spans(text, Analyser(normaliser=normaliser))
    assert " ".join(span.token for span in found).split() == normalise(text, normaliser).split()
    assert all(a.end <= b.start for a, b in itertools.pairwise(found))


@pytest.mark.parametrize(
    ("first", "second", "analyser", "changed"),
    [
        ("東京タワーの高さは333", "東京タワーの長さは333", WORDS, [("高", "長")]),
        ("am Montag um 6.40", "am Dienstag um 6.15", WORDS, [("Montag", "Dienstag"), ("40", "15")]),
        ("Café CRÈME", "cafe\u0301, crème!", WORDS, []),
        ("a+b", "a-b", WORDS, []),
        ("a+b", "a-b", SYMBOLS, [("+", "-")]),
        ("Jon Smith", "JOHN Smith", CHARACTERS, [("", "H")]),
        ("the big dog", "the dog", WORDS, [("big ", "")]),
        ("", "new", WORDS, [("", "new")]),
        ("1964-08-12", "12/08/1964", Analyser(normaliser="digits"), [("1964-08-12", "12/08/1964")]),
    ],
)
def test_examples(first: str, second: str, analyser: Analyser, changed: list[tuple[str, str]]) -> None:
    assert [(run.first, run.second) for run in compare(first, second, analyser) if run.kind == CHANGED] == changed


def test_case_and_form_are_faint() -> None:
    assert {run.kind for run in compare("Größe", "GRÖSSE", WORDS)} == {FAINT}


def test_excerpts_keep_every_change_and_little_else() -> None:
    first = " ".join(f"w{n}" for n in range(500))
    second = first.replace("w250", "other").replace("w400 ", "")
    shown = excerpt(compare(first, second, WORDS), 20)
    assert [(run.first, run.second) for run in shown if run.kind == CHANGED] == [("w250", "other"), ("w400 ", "")]
    assert sum(len(run.second) for run in shown) < 150
    assert shown[0].second.startswith(CUT)
    assert excerpt(compare(first, first, WORDS), 20)[0].second.startswith("w0 ")


def test_lists_show_the_part_that_differs() -> None:
    beginning = "the same beginning of many rows " * 20
    shown = differing_part(beginning + "and monday", beginning + "and tuesday", WORDS, 60)
    assert "tuesday" in shown
    assert len(shown) <= 60
    assert differing_part(beginning, beginning, WORDS, 60).startswith("the same beginning")
    assert differing_part("", beginning, WORDS, 60).startswith("the same")


def test_long_texts_are_marked_in_bounded_time() -> None:
    """A change in the middle of equal ends is found however long they are; a long change is one run."""
    equal = "word " * (4 * MOST)
    runs = compare(equal + "x " + equal, equal + "y " + equal, WORDS)
    assert [(run.first, run.second) for run in runs if run.kind == CHANGED] == [("x", "y")]
    first, second = ("".join(f"{letter}{n} " for n in range(3 * MOST)) for letter in "ab")
    assert next(run.kind for run in compare(first, second, WORDS)) == CHANGED
