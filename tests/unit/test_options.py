"""Options: JSON and back, what is refused and with which words, and the difference between two sets of options."""

from __future__ import annotations

import json
import re
from dataclasses import FrozenInstanceError, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsim.errors import InvalidOption
from dbsim.hashing.keys import LIMIT_KEYS, Plan
from dbsim.options import UNITS, Field, IndexOptions, describe_columns, fields_from
from dbsim.text.normalisers.registry import normaliser_names

names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
powers = st.integers(6, 16).map(lambda exponent: 1 << exponent)

fields = st.builds(
    Field,
    columns=st.lists(names, min_size=1, max_size=3).map(tuple),
    weight=st.floats(1e-6, 1e6),
    normaliser=st.sampled_from(normaliser_names()),
    unit=st.none() | st.sampled_from(UNITS),
    size=st.integers(0, 32),
    bits=st.just(0) | powers,
    sample=st.just(0) | powers,
)

options = st.builds(
    IndexOptions,
    name=names,
    table=names,
    schema=st.none() | names,
    fields=st.lists(fields, min_size=1, max_size=3, unique_by=lambda field: field.name).map(tuple),
    family=st.sampled_from(["minhash", "minhash@1"]),
    threshold=st.floats(0.06, 1.0),
    recall=st.floats(0.01, 0.95),
    rows=st.just(0),
    keys=st.just(0),
    triggers=st.booleans(),
)

BODY = Field(columns=("body",), unit="words", size=3, bits=1024, sample=1)
ARTICLES = IndexOptions(name="articles", table="articles", fields=(BODY,))


# JSON


@given(options)
def test_json_and_back(asked: IndexOptions) -> None:
    for complete in (asked, asked.with_plan()):
        text = complete.to_json()
        assert IndexOptions.from_json(text) == complete
        assert IndexOptions.from_json(text).to_json() == text


def test_json_is_plain_and_sorted() -> None:
    data = json.loads(ARTICLES.with_plan().to_json())
    assert list(data) == sorted(data)
    assert data["fields"] == [
        {
            "bits": 1024,
            "columns": ["body"],
            "normaliser": "text",
            "sample": 1,
            "size": 3,
            "unit": "words",
            "weight": 1.0,
        }
    ]
    assert (data["family"], data["rows"], data["keys"]) == ("minhash@1", 5, 22)


def test_json_keeps_other_scripts_readable() -> None:
    assert "Größe" in replace(ARTICLES, table="Größe").to_json()


# What is refused


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"columns": ()}, "a field needs at least one column"),
        ({"weight": 0}, "the weight of 'body' is 0, but must be a positive number"),
        ({"weight": -0.5}, "the weight of 'body' is -0.5, but must be a positive number"),
        ({"weight": float("inf")}, "the weight of 'body' is inf, but must be a positive number"),
        ({"weight": float("nan")}, "the weight of 'body' is nan, but must be a positive number"),
        ({"normaliser": "germn"}, "there is no normaliser 'germn'; did you mean 'german'?"),
        ({"normaliser": "xyz"}, "there is no normaliser 'xyz'; there is text, german, digits, symbols"),
        ({"unit": "word"}, "the unit of a feature is one of words, characters, not 'word'"),
        ({"size": -1}, "-1 words in a row is out of range: use 1 to 32"),
        ({"size": 33}, "33 words in a row is out of range: use 1 to 32"),
        ({"size": 33, "unit": None}, "33 tokens in a row is out of range: use 1 to 32"),
        ({"bits": 63}, "a filter of 63 bits is not possible: use a power of two from 64 to 65536"),
        ({"bits": 32}, "a filter of 32 bits is not possible: use a power of two from 64 to 65536"),
        ({"bits": 1000}, "a filter of 1000 bits is not possible: use a power of two from 64 to 65536"),
        ({"bits": 131072}, "a filter of 131072 bits is not possible: use a power of two from 64 to 65536"),
        ({"bits": -64}, "a filter of -64 bits is not possible: use a power of two from 64 to 65536"),
        ({"sample": 3}, "sample is 3, but must be a power of two"),
        ({"sample": -2}, "sample is -2, but must be a power of two"),
    ],
)
def test_a_wrong_field_is_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidOption, match=f"^{re.escape(message)}$"):
        replace(BODY, **wrong)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"fields": ()}, "an index needs at least one column"),
        ({"fields": (BODY, BODY)}, "a column is named twice among body, body: name each column once"),
        ({"threshold": 0}, "threshold is 0, but must be above 0 and at most 1"),
        ({"threshold": 1.01}, "threshold is 1.01, but must be above 0 and at most 1"),
        ({"threshold": float("nan")}, "threshold is nan, but must be above 0 and at most 1"),
        ({"recall": 0}, "recall is 0, but must lie between 0 and 1, both excluded"),
        ({"recall": 1.0}, "recall is 1.0, but must lie between 0 and 1, both excluded"),
        ({"rows": 2, "keys": LIMIT_KEYS + 1}, f"{LIMIT_KEYS + 1} keys are not possible: use 1 to {LIMIT_KEYS}"),
        ({"rows": 2, "keys": -1}, f"-1 keys are not possible: use 1 to {LIMIT_KEYS}"),
        ({"rows": 129, "keys": 2}, "129 values a key (rows) are not possible: use 1 to 128"),
        ({"rows": 2}, "give both rows and keys, or neither to have them follow from threshold and recall"),
        ({"keys": 2}, "give both rows and keys, or neither to have them follow from threshold and recall"),
    ],
)
def test_wrong_options_are_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidOption, match=f"^{re.escape(message)}$"):
        replace(ARTICLES, **wrong)


def test_an_unknown_family_or_an_impossible_plan_is_refused() -> None:
    with pytest.raises(InvalidOption, match=r"no hash family 'minhsh'; did you mean 'minhash'\?"):
        replace(ARTICLES, family="minhsh").with_plan()
    with pytest.raises(InvalidOption, match="would need 299 keys, more than 64: raise the threshold or lower"):
        replace(ARTICLES, threshold=0.01).with_plan()


def test_options_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        ARTICLES.threshold = 0.5  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        BODY.weight = 0.5  # type: ignore[misc]


# What follows from them


def test_the_plan_follows_or_is_given() -> None:
    assert ARTICLES.with_plan().plan == Plan(5, 22)
    assert replace(ARTICLES, rows=4, keys=7).with_plan().plan == Plan(4, 7)
    assert replace(ARTICLES, family="minhash").with_plan() == ARTICLES.with_plan() == ARTICLES.with_plan().with_plan()


def test_a_field_is_resolved_when_nothing_is_open() -> None:
    assert BODY.resolved
    for missing in ({"normaliser": ""}, {"unit": None}, {"size": 0}, {"bits": 0}, {"sample": 0}):
        assert not replace(BODY, **missing).resolved


def test_columns_of_all_fields_once() -> None:
    several = replace(ARTICLES, fields=(Field(columns=("title", "body")), Field(columns=("body", "author"))))
    assert several.columns == ("title", "body", "author")
    assert [field.name for field in several.fields] == ["title_body", "body_author"]


def test_the_signer_follows_the_options() -> None:
    made = ARTICLES.with_plan().signer(b"secret")
    assert made.plan == Plan(5, 22)
    assert [(field.bits, field.sample, field.weight, field.analyser) for field in made.fields] == [
        (1024, 1, 1.0, BODY.analyser())
    ]


def test_fields_from_columns() -> None:
    assert fields_from("body", None) == (Field(columns=("body",), normaliser=""),)
    assert fields_from(["title", "body"], None, bits=256, normaliser="text") == (
        Field(columns=("title", "body"), bits=256),
    )
    weighted = fields_from({"title": 0.3, "body": 0.7}, None, normaliser="german")
    assert weighted == (
        Field(columns=("title",), weight=0.3, normaliser="german"),
        Field(columns=("body",), weight=0.7, normaliser="german"),
    )
    assert fields_from(None, [BODY]) == (BODY,)
    assert describe_columns(weighted) == "title:0.3, body:0.7"
    assert describe_columns((Field(columns=("title", "body")),)) == "title+body"


@pytest.mark.parametrize("nothing", [None, [], {}])
def test_no_column_is_refused(nothing: Any) -> None:
    with pytest.raises(InvalidOption, match="name at least one column"):
        fields_from(nothing, None)


def test_columns_and_fields_together_are_refused() -> None:
    with pytest.raises(InvalidOption, match="give either columns or fields, not both"):
        fields_from(["body"], [BODY])


# Differences

EVERYTHING = ("table", "schema", "family", "threshold", "recall", "rows", "keys", "triggers")


@given(options)
def test_no_difference_from_itself(asked: IndexOptions) -> None:
    complete = asked.with_plan()
    assert complete.differences(complete, EVERYTHING) == []


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"table": "news"}, "table is 'articles', not 'news'"),
        ({"schema": "blog"}, "schema is None, not 'blog'"),
        ({"threshold": 0.8}, "threshold is 0.7, not 0.8"),
        ({"recall": 0.9}, "recall is 0.95, not 0.9"),
        ({"triggers": False}, "triggers is True, not False"),
    ],
)
def test_each_difference_is_named_if_it_was_asked_for(change: dict[str, Any], expected: str) -> None:
    existing, asked = ARTICLES.with_plan(), replace(ARTICLES.with_plan(), **change)
    assert existing.differences(asked, tuple(change)) == [expected]
    assert existing.differences(asked, ()) == []


def test_a_given_plan_is_a_difference() -> None:
    asked = replace(ARTICLES, rows=4, keys=7)
    assert ARTICLES.with_plan().differences(asked, ("rows", "keys")) == ["rows is 5, not 4", "keys is 22, not 7"]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"columns": ("title",)}, "columns are body, not title"),
        ({"columns": ("title", "body")}, "columns are body, not title+body"),
        ({"unit": "characters"}, "unit of 'body' is 'words', not 'characters'"),
        ({"size": 5}, "size of 'body' is 3, not 5"),
        ({"bits": 2048}, "bits of 'body' is 1024, not 2048"),
        ({"sample": 2}, "sample of 'body' is 1, not 2"),
        ({"normaliser": "german"}, "normaliser of 'body' is 'text', not 'german'"),
    ],
)
def test_differences_of_a_field(change: dict[str, Any], expected: str) -> None:
    asked = replace(ARTICLES, fields=(replace(BODY, **change),))
    assert ARTICLES.differences(asked, ()) == [expected]


def test_weights_and_their_number_are_differences() -> None:
    two = replace(ARTICLES, fields=(replace(BODY, weight=0.7), Field(columns=("title",), weight=0.3)))
    other = replace(ARTICLES, fields=(replace(BODY, weight=0.5), Field(columns=("title",), weight=0.5)))
    assert two.differences(other, ()) == ["columns are body:0.7, title:0.3, not body, title"]
    assert two.differences(ARTICLES, ()) == ["columns are body:0.7, title:0.3, not body"]


def test_what_was_left_open_is_no_difference() -> None:
    asked = replace(ARTICLES, fields=(Field(columns=("body",)),))
    assert ARTICLES.differences(asked, ()) == []
