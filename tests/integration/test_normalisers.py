"""Every normaliser with every family: signed in SQL as in Python, or refused; symbols chosen by the texts."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlalchemy import text

import dbsim
from dbsim.errors import InvalidOption
from dbsim.hashing.families.registry import FAMILIES
from dbsim.options import Field
from dbsim.resources import sql_names
from dbsim.text.normalise import normalise
from dbsim.text.normalisers.mapped import Mapped
from dbsim.text.normalisers.registry import NORMALISERS, normaliser_of
from tests.code_points import CODES
from tests.conftest import SECRET
from tests.integration.sql_helpers import make_table, plain
from tests.integration.test_sql_functions import signed_in_python, signed_in_sql

TEXTS = [
    "",
    "a+b = c; a-b != c",
    r"for (i = 0; i < n; i++) { C:\dir[i] += a_b * 'x' ≠ C++; }",
    "C++, C# and C",
    "Größe Müller 12.08.1964, +49 (0)30 / 123-456",
    "½ … x² ＋ ＼ 東京タワー🚗 हिन्दी \u0338 =\u0338",
    "~`!@#$%^&*()_-+={}[]|\\:;\"'<,>.?/\x01\x1f\x7f",
    "plain words of an ordinary sentence that goes on and on and on",
]
SETTINGS = {name: f"{name}:expected=english" for name in ("fuzzy@1", "fuzzy@2")}  # otherwise they learn: not in SQL
UNIT = {"text": "words", "german": "characters", "digits": "characters", "symbols": "words"}


class Shouted(Mapped):
    """Has no twin in SQL."""

    def fold(self, text: str) -> bytes:
        return super().fold(text).upper()


@pytest.fixture
def server(new_postgres: str) -> Iterator[dbsim.Database]:
    database = dbsim.open(new_postgres)
    database.upgrade()
    make_table(database, {1: "one two three four"}, "texts")
    yield database
    database.close()


def test_every_normaliser_and_family(server: dbsim.Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(NORMALISERS, "shouted@1", Shouted("text"))
    signed, refused = set(), set()
    for normaliser in NORMALISERS:
        for family in FAMILIES:
            if family.startswith("records@"):
                with pytest.raises(InvalidOption, match="create_records"):
                    server.create_index("i", table="texts", columns=["body"], family=family, secret=SECRET)
                continue
            name = SETTINGS.get(family, family)
            unit = UNIT.get(normaliser.split("@")[0], "words")
            field = Field(columns=("body",), normaliser=normaliser, unit=unit, size=2, bits=128)
            plan = {"rows": 3, "keys": 4} if family in ("minhash@1", "rabin-minhash@1") else {}
            index = server.create_index("i", table="texts", fields=[field], family=name, secret=SECRET, **plan)
            if plain(server, "SELECT 1 FROM pg_proc WHERE proname = 'dbsim_i_sign'"):
                assert signed_in_sql(server, index, TEXTS) == signed_in_python(index, TEXTS), (normaliser, family)
                signed.add((normaliser, family))
            else:
                with pytest.raises(InvalidOption, match="has no SQL function"):
                    index.inline(True)
                refused.add((normaliser, family))
            server.drop_index("i")
    assert len(signed) >= 4 * 5
    assert {family for _, family in refused} == {*FAMILIES} - {"records@1"}
    assert {normaliser for normaliser, family in refused if family == "minhash@1"} == {"shouted@1"}


def test_every_normaliser_folds_alike(server: dbsim.Database) -> None:
    """Code points, by every name that an index may have stored; of what is never folded some, in a full run all."""
    server.create_index("i", table="texts", columns=["body"])
    points = [chr(code) for code in CODES if code and not 0xD800 <= code < 0xE000]
    some = ["x".join(points[start : start + 4000]) for start in range(0, len(points), 4000)] + TEXTS
    for full in NORMALISERS:
        for name in {full, full.removesuffix("@1")}:
            with server.engine.connect() as connection:
                found = connection.exec_driver_sql(
                    "SELECT dbsim_normalise(t, %s) FROM unnest(%s::text[]) WITH ORDINALITY AS x (t, n) ORDER BY n",
                    (name, some if name == full else TEXTS),
                ).scalars()
                assert list(found) == [normalise(one, full) for one in (some if name == full else TEXTS)], name


def test_an_unknown_normaliser_is_an_error_in_sql(server: dbsim.Database) -> None:
    server.create_index("i", table="texts", columns=["body"])
    with server.engine.connect() as connection, pytest.raises(Exception, match="no normaliser shouted in SQL"):
        connection.exec_driver_sql("SELECT dbsim_normalise('a', 'shouted')")


def test_every_sql_normaliser_is_registered() -> None:
    files = {name.split("/")[1] for name in sql_names("postgresql", "normalisers")}
    kinds = {name for name in files if name.startswith("kind-")}  # see test_kinds_in_sql.py
    assert files - kinds == set(NORMALISERS)
    assert all(normaliser_of(name) for name in kinds)


CODE = [f"int f{n}(int a) {{ return a {op} v[{n}] * (a - {n}) >> 2; }}" for n in range(30) for op in ("+", "-")]
PROSE = [f"Sentence number {n}, in which nothing much happens (as ever); it ends here." for n in range(60)]


@pytest.mark.parametrize(("texts", "chosen"), [(CODE, "symbols"), (PROSE, "text"), ([""] * 3, "text")])
def test_symbols_are_chosen_by_the_texts(database: dbsim.Database, texts: list[str], chosen: str) -> None:
    make_table(database, dict(enumerate(texts)))
    index = database.create_index("i", table="articles", columns=["body"])
    assert index.options.fields[0].normaliser == chosen
    assert database.create_index("i", table="articles", columns=["body"]).options == index.options
    asked = database.create_index("other", table="articles", columns=["body"], normaliser="text")
    assert asked.options.fields[0].normaliser == "text"
    explicit = database.create_index("third", table="articles", fields=[Field(columns=("body",))])
    assert explicit.options.fields[0].normaliser == "text"


def test_signs_decide_between_rows(database: dbsim.Database) -> None:
    """Two functions that differ in a sign are no exact copies."""
    make_table(database, dict(enumerate(CODE)))
    index = database.create_index("i", table="articles", columns=["body"], threshold=0.3)
    index.sync()
    for key in (0, 10):
        scores = {hit.key: hit.score for hit in index.similar(key)}
        assert 0.3 < scores[key + 1] < 1.0
    with database.engine.begin() as connection:
        connection.execute(text("UPDATE articles SET body = :b WHERE id = 1"), {"b": CODE[0].replace(" ", "  ")})
    index.sync()
    assert {hit.key: hit.score for hit in index.similar(0)}[1] == 1.0
