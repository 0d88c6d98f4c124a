"""Indexes of several columns: joined to one text, or weighted fields whose missing values do not count."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import column, insert, table

import dbsim
from dbsim.errors import InvalidOption
from dbsim.hashing.bloom import jaccard
from tests.conftest import SECRET
from tests.integration.helpers import QUICK, execute, near_copy, sentence, stored_filters
from tests.oracle import assert_in_step

# a sum of these depends on the order and the kind of number in which it is taken: 0.1 + 0.2 is not 0.3
WEIGHTS = {"name": 0.1, "street": 0.2, "town": 0.7}
PEOPLE: dict[int, tuple[str | None, str | None, str | None]] = {
    1: ("Erika Mustermann", "Hauptstraße 17", "Berlin-Köpenick"),
    2: ("Erika Mustermann", "Hauptstr. 17", "Berlin Köpenick"),
    3: ("Erica Mustermann", None, "Berlin-Köpenick"),
    4: ("Erika Mustermann", "Hauptstraße 17", None),
    5: (None, "Hauptstraße 17", None),
    6: (None, None, None),
    7: ("Max Müller", "Nebenweg 2", "München"),
    8: ("", "…", "Muenchen"),
    9: ("Erika Mustermann", "Am Kanal 4", "Potsdam"),
}


def people(database: dbsim.Database, **options: Any) -> dbsim.Index:
    execute(database.engine, "CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, street TEXT, town TEXT)")
    host = table("people", *map(column, ("id", *WEIGHTS)))
    with database.engine.begin() as connection:
        rows = [{"id": key, **dict(zip(WEIGHTS, row, strict=True))} for key, row in PEOPLE.items()]
        connection.execute(insert(host), rows)
    settings = {
        "columns": WEIGHTS,
        "characters": 2,
        "threshold": 0.3,
        "rows": 1,
        "keys": 32,
        "secret": SECRET,
        **options,
    }
    index = database.create_index("people", table="people", **settings)
    index.sync()
    return index


def expected_score(index: dbsim.Index, first: list[tuple[int, int]], second: list[tuple[int, int]]) -> float | None:
    """Σ weight·Ĵ over the fields present in both, divided by the weights of these fields."""
    total = weights = 0.0
    for field, (bits, count), (other, size) in zip(index.options.fields, first, second, strict=True):
        if count and size:
            total += field.weight * jaccard(count, size, (bits & other).bit_count(), field.bits)
            weights += field.weight
    return total / weights if weights else None


def test_scores_are_weighted_over_the_fields_present_in_both(database: dbsim.Database) -> None:
    index = people(database)
    filters = stored_filters(index)
    seen = 0
    for key in PEOPLE:
        for hit in index.similar(key, threshold=0, limit=100):
            assert hit.score == expected_score(index, filters[key], filters[hit.key])
            seen += 1
    assert seen > 20
    by_key = {hit.key: hit.score for hit in index.similar(1, threshold=0)}
    assert by_key[4] == 1.0  # the town is missing in one of them, the rest is equal
    assert by_key[5] == 1.0
    assert 0.7 < by_key[2] < 1.0
    assert by_key[3] > by_key[9]  # the town weighs more than the name
    assert index.similar(6, threshold=0) == []


def test_a_question_by_field(database: dbsim.Database) -> None:
    index = people(database)
    assert index.search({"town": "BERLIN KÖPENICK"})[0].score == 1.0
    assert {hit.key for hit in index.search({"town": "Berlin-Köpenick"})} == {1, 2, 3}
    assert {hit.key for hit in index.search({"name": "Max Müller", "town": ""})} == {7}
    question = {"name": "Max Müller", "town": "München"}
    both = index.search(question, limit=1)
    assert both == [dbsim.Hit(7, 1.0)]
    assert index.search_many([question, {}, {"street": " "}], limit=1) == [both, [], []]
    assert index.search({}) == []
    with pytest.raises(InvalidOption, match=r"'people' has no field 'twon'; it has name:0.1, street:0.2, town:0.7"):
        index.search({"twon": "Berlin"})


def test_a_missing_value_appears_and_disappears(database: dbsim.Database) -> None:
    index = people(database)
    execute(
        database.engine,
        "UPDATE people SET street = NULL, town = 'Bonn' WHERE id = 1",
        "UPDATE people SET name = 'Zoe' WHERE id = 6",
    )
    index.sync()
    assert index.search({"town": "Bonn"}) == [dbsim.Hit(1, 1.0)]
    assert [hit.key for hit in index.search({"name": "zoe"})] == [6]
    assert 1 not in [hit.key for hit in index.search({"street": "Hauptstraße 17"})]
    assert_in_step(database, "people")


def test_every_field_has_its_own_analysis(database: dbsim.Database) -> None:
    execute(
        database.engine,
        "CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, phone TEXT, about TEXT)",
        f"INSERT INTO people VALUES (1, 'Jörg Weiß', '+49 (30) 123-456', '{sentence(1)}')",
        f"INSERT INTO people VALUES (2, 'Joerg Weiss', '49 30 123456', '{near_copy(1)}')",
    )
    fields = [
        dbsim.Field(columns=("name",), weight=2, normaliser="german", unit="characters", size=2, bits=128),
        dbsim.Field(columns=("phone",), weight=1, normaliser="digits", unit="characters", size=3),
        dbsim.Field(columns=("about",), weight=3, unit="words", size=2, bits=512),
    ]
    index = database.create_index("people", table="people", fields=fields, **QUICK)
    index.sync()
    assert [(field.unit, field.size) for field in index.options.fields] == [
        (field.unit, field.size) for field in fields
    ]
    assert [field.bits for field in index.options.fields][::2] == [128, 512]
    assert index.search({"name": "JOERG WEISS", "phone": "4930123456"}, limit=1) == [dbsim.Hit(1, 1.0)]
    assert [hit.key for hit in index.similar(1)] == [2]
    assert index.status().columns == "name:2, phone:1, about:3"
    assert_in_step(database, "people")


def test_columns_without_weights_are_one_text(database: dbsim.Database) -> None:
    execute(
        database.engine,
        "CREATE TABLE posts (id INTEGER PRIMARY KEY, title TEXT, body TEXT)",
        f"INSERT INTO posts VALUES (1, '{sentence(1)}', '{sentence(2)}'), (2, NULL, '{sentence(1)} {sentence(2)}')",
        f"INSERT INTO posts VALUES (3, '{sentence(1)} {sentence(2)}', NULL), (4, '{sentence(2)}', '{sentence(1)}')",
    )
    index = database.create_index("posts", table="posts", columns=["title", "body"], **QUICK)
    index.sync()
    assert [(hit.key, hit.score) for hit in index.similar(1)][:2] == [(2, 1.0), (3, 1.0)]
    assert index.search({"title": sentence(1), "body": sentence(2)})[0] == dbsim.Hit(1, 1.0)
    assert index.texts([1, 2]) == [f"{sentence(1)}\n{sentence(2)}", f"\n{sentence(1)} {sentence(2)}"]
    execute(database.engine, f"UPDATE posts SET title = '{sentence(7)}' WHERE id = 1")
    index.sync()
    assert 1 not in [hit.key for hit in index.search(f"{sentence(1)} {sentence(2)}", threshold=0.9)]
    assert_in_step(database, "posts")


def test_one_column_in_two_fields(database: dbsim.Database) -> None:
    """The same text twice, by words and by characters."""
    execute(
        database.engine,
        "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, b TEXT)",
        f"INSERT INTO t VALUES (1, '{sentence(1)}', 'x'), (2, '{near_copy(1)}', 'x')",
    )
    fields = [
        dbsim.Field(columns=("a", "b"), unit="words", size=2),
        dbsim.Field(columns=("a",), unit="characters", size=3),
    ]
    index = database.create_index("t", table="t", fields=fields, **QUICK)
    index.sync()
    filters = stored_filters(index)
    assert index.similar(1) == [dbsim.Hit(2, expected_score(index, filters[1], filters[2]))]
    assert_in_step(database, "t")
