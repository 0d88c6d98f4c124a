"""--column NAME[:WEIGHT][:OPTION=VALUE…] and what the other options of fields make of it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsim.cli.index.options import FIELD_OPTIONS, fields_of, parse_column, take_fields
from dbsim.errors import InvalidOption

NONE: dict[str, Any] = dict.fromkeys([*FIELD_OPTIONS, "false_drops", "filter"])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("body", ("body", None, {})),
        ("title:0.3", ("title", 0.3, {})),
        ("title:2", ("title", 2.0, {})),
        ("surname:0.2:characters=2:normaliser=german", ("surname", 0.2, {"characters": "2", "normaliser": "german"})),
        ("body:words=3", ("body", None, {"words": "3"})),
        ("ns:title", ("ns:title", None, {})),
        ("ns:title:0.5:bits=64", ("ns:title", 0.5, {"bits": "64"})),
        ("a=b", ("a=b", None, {})),
    ],
)
def test_columns(text: str, expected: tuple[str, float | None, dict[str, str]]) -> None:
    assert parse_column(text) == expected


@pytest.mark.parametrize("text", ["title:0.3:0.4", "title:words=3:more", "title:0.3:colour=red"])
def test_what_is_neither_weight_nor_option_is_refused(text: str) -> None:
    with pytest.raises(InvalidOption, match="is neither a weight nor one of bits, characters, normaliser, words"):
        parse_column(text)


@given(st.text(st.characters(exclude_categories=["Cs", "Nd"], exclude_characters=":="), min_size=1))
def test_any_name_without_a_colon_is_a_name(name: str) -> None:
    if name.strip().lower() not in ("nan", "inf", "infinity"):
        assert parse_column(name) == (name, None, {})
        assert parse_column(f"{name}:0.5")[:2] == (name, 0.5)


def test_columns_without_weights_are_one_text() -> None:
    (field,) = fields_of(("title", "body:words=2"), NONE)
    assert (field.columns, field.unit, field.size) == (("title", "body"), "words", 2)


def test_columns_with_weights_are_fields_with_options_of_their_own() -> None:
    title, body = fields_of(("title:0.3:characters=4", "body:0.7"), NONE | {"words": 3, "bits": 512})
    assert (title.unit, title.size) == ("characters", 4)
    assert (title.weight, body.weight) == (0.3, 0.7)
    assert (body.unit, body.size, body.bits, title.bits) == ("words", 3, 512, 512)


def test_an_option_of_a_column_goes_before_the_common_one() -> None:
    (field,) = fields_of(("body:0.5:bits=64:words=2",), NONE | {"bits": 512, "characters": 4})
    assert (field.bits, field.unit, field.size) == (64, "words", 2)
    (joined,) = fields_of(("title", "body:words=2"), NONE | {"characters": 4})
    assert (joined.unit, joined.size) == ("words", 2)


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        (("a:0.5", "b"), {}, "give every --column a weight"),
        (("a",), {"words": 2, "characters": 3}, "give words or characters, not both"),
        (("a:words=2:characters=3",), {}, "give words or characters, not both"),
        (("a:words=two",), {}, "words must be a whole number, not 'two'"),
        (("a:bits=many",), {}, "bits must be a whole number, not 'many'"),
        (("a:words=0",), {}, "0 words in a row is out of range"),
        (("a",), {"characters": -1}, "-1 characters in a row is out of range"),
        (("a:bits=0",), {}, "bits"),
    ],
)
def test_contradictions_are_refused(columns: tuple[str, ...], options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidOption, match=message):
        fields_of(columns, NONE | options)


def test_options_of_fields_are_taken_out_of_the_others() -> None:
    options = NONE | {"words": 3, "false_drops": 0.02, "filter": "partitioned", "threshold": 0.5}
    (field,) = take_fields(("body",), options)
    assert options == {"threshold": 0.5}
    assert (field.size, field.false_drops) == (3, 0.02)
    assert field.filter.startswith("partitioned")
