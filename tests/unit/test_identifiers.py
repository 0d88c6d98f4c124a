"""Identifiers: never over 63 bytes, never the same for different names, quoted so that any name is only a name."""

from __future__ import annotations

import hashlib
import re
import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsim.tables.names import LIMIT, dollar_tag, identifier, literal, quote

storable = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
long_parts = st.lists(st.text(st.sampled_from("aé日😀_"), min_size=10, max_size=60), min_size=1, max_size=4)


@given(st.lists(st.text(st.characters()), min_size=1) | long_parts)
def test_at_most_63_bytes(parts: list[str]) -> None:
    assert len(identifier(*parts).encode("utf-8", "surrogatepass")) <= LIMIT


@given(st.lists(storable, min_size=1) | long_parts)
def test_short_names_stay_long_ones_keep_their_beginning(parts: list[str]) -> None:
    joined, name = "_".join(parts), identifier(*parts)
    if len(joined.encode()) <= LIMIT:
        assert name == joined
    else:
        assert re.fullmatch(r"(?s).*_[0-9a-f]{8}", name)
        assert joined.startswith(name[:-9])
        assert len(name.encode()) > LIMIT - 4  # cut no shorter than one character of four bytes needs


def test_names_that_differ_only_after_the_cut_stay_different() -> None:
    names = {identifier("dbsim", "x" * 70, str(number)) for number in range(2_000)}
    assert len(names) == 2_000


def test_a_long_name_ends_in_its_hash() -> None:
    whole = "dbsim_" + "é" * 40 + "_queue"
    suffix = hashlib.sha256(whole.encode()).hexdigest()[:8]
    assert identifier("dbsim", "é" * 40, "queue") == "dbsim_" + "é" * 24 + "_" + suffix


def test_a_name_of_63_bytes_is_not_cut() -> None:
    assert identifier("x" * 63) == "x" * 63
    assert identifier("x" * 64).startswith("x" * 54 + "_")


@given(storable.filter(lambda name: name and not name.lower().startswith("sqlite_")))
def test_quoted_names_and_literals_in_a_database(name: str) -> None:
    with sqlite3.connect(":memory:") as connection:
        connection.execute(f"CREATE TABLE {quote(name)} ({quote(name)} TEXT)")
        connection.execute(f"INSERT INTO {quote('main', name)} VALUES ({literal(name)})")
        assert connection.execute(f"SELECT {quote(name)} FROM {quote(name)}").fetchall() == [(name,)]
    connection.close()


@pytest.mark.parametrize(
    ("names", "expected"),
    [(("a",), '"a"'), (("s", "a"), '"s"."a"'), ((None, "a"), '"a"'), (('x"y', "%"), '"x""y"."%"')],
)
def test_quote(names: tuple[str | None, ...], expected: str) -> None:
    assert quote(*names) == expected


@given(st.lists(st.text(st.sampled_from("$dbsim_")), max_size=4))
def test_a_dollar_tag_occurs_in_no_part(parts: list[str]) -> None:
    tag = dollar_tag(parts)
    assert re.fullmatch(r"\$dbsim_*\$", tag)
    assert not any(tag in part for part in parts)
