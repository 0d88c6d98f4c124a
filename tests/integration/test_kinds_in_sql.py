"""The kinds of field in SQL are those of Python, whatever the text: every kind, hostile text included (PostgreSQL)."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Engine, text

import dbsim
from dbsim.engines.postgresql.surface.shared import normaliser_function
from dbsim.text.kinds.registry import kind_names, kind_of
from dbsim.text.normalisers.registry import normaliser_of
from tests.integration.helpers import articles

BUILT_IN = ("name", "date", "digits", "phone", "address", "email", "text")
KINDS = [kind_of(name).normaliser for name in (*BUILT_IN, "phone+49")]
WRITTEN = [
    *("24.6.1971", "1971-06-24", "6/24/1971", "June 24th, 1971", "24 juin 1971", "1971 24 6", "24061971", "19710624"),
    *("32.13.2001", "29.2.1900", "29.2.2000", "1.2.29", "1.2.30", "12.1971", "jan 1 2000 5", "1971-06-24T12:30:00"),
    *("24.6.1971 12:30\nmore", "24.6.1971 1:30", "२४.६.१९७१", "janⅧ 1 2000", "Montag, 3. März 2003", "1 2 3 4"),
    *("00000000", "0-0-0", "n/a", "N/A", "unknown", "K.A.", "\u212a.a.", "xXx", "x x x", "xx", "\u2003n/a\u3000", "-"),
    *("Dr. Müller", "Mueller", "Muller", "Bauer", "Quentin", "Prof. Dr.", "Dr.", "feue uue aeue", "ß", "ẞ", "İ", "ǅ"),
    *("040 123-45", "(040) 12345", "+49 (0)40 12345", "0049 40 12345", "040 12345 ext. 12", "040 1x12", "+", "00"),
    *("040 1 Durchwahl 7", "49 40 1", "Hauptstr. 5", "Hauptstraße 5", "c/ Mayor", "C/C/ Mayor", "xc/ M", "_c/ x"),
    *("éc/ x", "str", "xstr", "musterstr", "12b Main St", "Erika+news@GoogleMail.com", "<a@b.c>", "a@b@c", "@", "a@"),
    *("@b", "+@b", "a+b+c@d", "Köln", "", " ", "\n", "ﬃ", "क्षि", "漢字", "😀", "\u0301a", "\x1c 0 \x1f", "\\", "\\303"),
]
LETTERS = "0123456789 aeouqxXTtcC/.-+()@<>_\n\t:säüöß\u00a0\u2003²Ⅷ٣éक्षि漢字😀janfebmrzstrüdr\\'"
NO_TEXT = st.characters(blacklist_categories=("Cs",), blacklist_characters="\0")


@pytest.fixture(scope="module")
def engine(module_postgres: str) -> Iterator[Engine]:
    """Of a database with dbsim's functions; made by an index, they know nothing of it."""
    database = dbsim.open(module_postgres)
    database.upgrade()
    articles(database.engine, {1: "a"})
    database.create_index("articles", table="articles", columns="body", rows=1, keys=1)
    yield database.engine
    database.close()


def in_sql(engine: Engine, kind: str, texts: list[str]) -> list[str]:
    query = "SELECT dbsim_fold(x, :kind) FROM unnest(CAST(:texts AS text[])) WITH ORDINALITY AS t (x, n) ORDER BY n"
    with engine.connect() as connection:
        return list(connection.execute(text(query), {"kind": kind, "texts": texts}).scalars())


def assert_equal(engine: Engine, texts: list[str]) -> None:
    for kind in KINDS:
        fold = normaliser_of(kind).fold
        found = zip(texts, in_sql(engine, kind, texts), strict=True)
        assert [(given, shown) for given, shown in found if shown != fold(given).decode()] == [], kind


def test_every_kind_has_a_twin() -> None:
    assert set(BUILT_IN) <= set(kind_names())
    assert all(map(normaliser_function, KINDS))


def test_what_people_write_is_read_alike(engine: Engine) -> None:
    assert_equal(engine, WRITTEN)


def test_any_characters_are_read_alike(engine: Engine) -> None:
    draw = random.Random(1)
    mixed = ["".join(draw.choices(LETTERS, k=draw.randrange(14))) for _ in range(300)]
    spread = [(1, 0x250), (0x250, 0xD800), (0xE000, 0x30000), (0xE0000, 0x110000)]
    any_of_all = ["".join(chr(draw.randrange(*draw.choice(spread))) for _ in range(3)) for _ in range(200)]
    assert_equal(engine, mixed + any_of_all)


@given(st.lists(st.one_of(st.text(NO_TEXT, max_size=12), st.text(LETTERS, max_size=12)), min_size=1, max_size=20))
@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_nothing_that_can_be_found_is_read_otherwise(engine: Engine, texts: list[str]) -> None:
    assert_equal(engine, texts)
