"""Pieces of marked differences: what is shown is the text, as the index sees it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsim.report.marks import ADDED, MISSING, SAME, SPELT, marked
from dbsim.text.features import Analyser


@pytest.mark.parametrize(
    ("first", "text", "pieces"),
    [
        (
            "東京タワーの高さ",
            "東京タワーの長さ",
            [(SAME, "東京タワーの"), (MISSING, "高"), (SAME, " "), (ADDED, "長"), (SAME, "さ")],
        ),
        ("The DOG sleeps", "The dog sleeps", [(SAME, "The "), (SPELT, "dog"), (SAME, " sleeps")]),
        ("cafe\u0301", "café", [(SPELT, "café")]),
        ("a b", "a b c", [(SAME, "a b"), (SAME, " "), (ADDED, "c")]),
        ("same", "same", [(SAME, "same")]),
        ("gone", None, [(MISSING, "(deleted)")]),
    ],
)
def test_pieces(first: str, text: str | None, pieces: list[tuple[str, str]]) -> None:
    assert [piece for piece in marked(text, first) if piece[1]] == pieces


@given(st.text(max_size=40), st.text(max_size=40), st.sampled_from(["words", "characters"]))
def test_the_text_is_shown_whole(first: str, text: str, unit: str) -> None:
    shown = "".join(piece for kind, piece in marked(text, first, Analyser(unit=unit)) if kind != MISSING)
    assert "".join(shown.split()) == "".join(text.split())


def test_long_agreement_is_shortened() -> None:
    common = " ".join(f"word{number}" for number in range(500))
    shown = "".join(piece for _, piece in marked(f"{common} new", f"{common} old"))
    assert "word0 word1 " in shown
    assert "word499 old new" in shown
    assert " … " in shown
    assert len(shown) < 1000
