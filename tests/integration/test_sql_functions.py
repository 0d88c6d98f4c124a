"""Signing in PostgreSQL gives the same numbers as signing in Python, for any text, locale and encoding.

DBSIM_PARITY is the number of random texts (300 by default).
"""

from __future__ import annotations

import math
import os
import uuid
from collections.abc import Iterator, Sequence
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import make_url, text

import dbsim
from dbsim.errors import InvalidOption
from dbsim.options import Field
from dbsim.text.normalise import normalise
from dbsim.text.normalisers.registry import normaliser_names
from tests.conftest import SECRET
from tests.integration.sql_helpers import indexed, make_people, make_table, plain

TEXTS = int(os.environ.get("DBSIM_PARITY", "300"))
BATCH = 20
FIELDS = {
    "words": [Field(columns=("body",), unit="words", size=3, bits=256)],
    "single": [Field(columns=("body",), unit="words", size=1, bits=64, sample=4)],
    "letters": [Field(columns=("body",), unit="characters", size=2, bits=128, normaliser="german")],
    "symbols": [Field(columns=("body",), unit="words", size=2, bits=128, normaliser="symbols")],
    "symbol_letters": [Field(columns=("body",), unit="characters", size=3, bits=128, normaliser="symbols")],
    "mixed": [
        Field(columns=("body",), unit="words", size=2, bits=1024, sample=2, weight=0.3, normaliser="german"),
        Field(columns=("title",), unit="characters", size=3, bits=64, weight=0.5),
        Field(columns=("born",), unit="characters", size=2, bits=64, weight=0.2, normaliser="digits"),
    ],
}
KINDS: dict[str, tuple[str, str, int]] = {  # index → fields, family, rows per key (0: they follow from the family)
    **{name: (name, "minhash", 3) for name in FIELDS},
    "rabin": ("words", "rabin-minhash", 3),
    "rabin_mixed": ("mixed", "rabin-minhash", 2),
    "sampled": ("letters", "bitsampling", 20),
    "sampled_mixed": ("mixed", "bitsampling", 130),
    "fuzzy": ("words", "fuzzy:expected=english", 0),
    "fuzzy_signed": ("letters", "fuzzy:expected=german:prefix=1:classes=0:deviation=signed:schemes=1:drop=xy", 0),
    "fuzzy_mixed": ("mixed", "fuzzy:expected=german:classes=90:intervals=2", 0),
}
# every plane, whatever Hypothesis likes best, and what a normaliser stumbles over
CHARACTERS = st.one_of(
    st.characters(min_codepoint=1, exclude_categories=("Cs",)),
    st.sampled_from(
        "aAzZ09 .,-_\t\n\\'\"%{}$§ÄäÖöÜüßẞİıſﬁ½ʼŉǅΣσςЁё٣۴४ก็ำกัน한글각漢字々〆ー゙゚أَلِف\u0301\u0308\u200d\u200b\u00ad🇩🇪👩‍🔬𝔘𝟗"
    ),
    st.sampled_from([chr(point) for point in (0x7F, 0x80, 0xA0, 0x7FF, 0x800, 0xFFFD, 0xFFFF, 0x10000, 0x10FFFF)]),
)
RUNS = st.builds(lambda piece, times: piece * times, st.text(CHARACTERS, max_size=5), st.integers(1, 60))
ANY_TEXT = st.one_of(
    st.text(CHARACTERS, max_size=60),
    st.lists(st.one_of(RUNS, st.sampled_from(["the", "quick", "Straße", "naïve", "東京", " "])), max_size=30).map(
        " ".join
    ),
)


@pytest.fixture(scope="module")
def signing(postgres_url: str) -> Iterator[dbsim.Database]:
    """One database with an index of each kind over an empty table."""
    yield from signing_database(postgres_url, "")


def signing_database(server: str, options: str) -> Iterator[dbsim.Database]:
    name = f"t_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE template0 STRATEGY file_copy {options}")
    database = dbsim.open(make_url(server).set(database=name).render_as_string(hide_password=False))
    database.upgrade()
    with database.engine.begin() as connection:
        connection.execute(text("CREATE TABLE texts (id INTEGER PRIMARY KEY, body TEXT, title TEXT, born TEXT)"))
    for index, (fields, family, rows) in KINDS.items():
        plan = {"rows": rows, "keys": 8} if rows else {}
        database.create_index(index, table="texts", fields=FIELDS[fields], family=family, secret=SECRET, **plan)
    yield database
    database.close()
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def signed_in_sql(database: dbsim.Database, index: dbsim.Index, texts: Sequence[str]) -> list[tuple[Any, ...]]:
    arguments = ", ".join(["t.body"] * len(index.options.fields))
    with database.engine.connect() as connection:
        rows = connection.exec_driver_sql(
            f"SELECT (s).* FROM (SELECT dbsim_{index.name}_sign({arguments}) AS s, t.n "
            "FROM unnest(%s::text[]) WITH ORDINALITY AS t (body, n) OFFSET 0) AS signed ORDER BY n",
            (list(texts),),
        )
        return [tuple(row)[1:] for row in rows]  # without the key


def signed_in_python(index: dbsim.Index, texts: Sequence[str]) -> list[tuple[Any, ...]]:
    columns = [list(texts)] * len(index.options.fields)
    signer = index.options.signer(SECRET)
    if signer.model is None:  # of a language, so that there is nothing to learn for the keys
        signer.model = signer.family.division()
    rows = signer.sign(columns).as_tuples()
    return [
        tuple(f"{int.from_bytes(value):0{8 * len(value)}b}" if isinstance(value, bytes) else value for value in row)
        for row in rows
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_parity(signing: dbsim.Database, kind: str) -> None:
    index = signing.index(kind)

    @settings(
        max_examples=math.ceil(TEXTS / BATCH / len(KINDS)),
        deadline=None,
        database=None,
        derandomize=TEXTS == 300,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.lists(ANY_TEXT, min_size=BATCH, max_size=BATCH))
    def check(texts: list[str]) -> None:
        assert signed_in_sql(signing, index, texts) == signed_in_python(index, texts)

    check()


def test_every_code_point(signing: dbsim.Database) -> None:
    """Assigned or not: some 1,100,000, each between two letters, 500 to a text."""
    points = [point for point in range(1, 0x110000) if not 0xD800 <= point < 0xE000]
    step = 500 if TEXTS > 300 else 50_000  # in CI the first 500 of each 50,000, beside the first 13,000
    starts = sorted({*range(0, 13_000, 500), *range(0, len(points), step)})
    texts = ["".join(f"a{chr(point)}B" for point in points[start : start + 500]) for start in starts]
    for profile in normaliser_names():
        with signing.engine.connect() as connection:
            found = connection.exec_driver_sql(
                "SELECT dbsim_normalise(t, %s) FROM unnest(%s::text[]) WITH ORDINALITY AS x (t, n) ORDER BY n",
                (profile, texts),
            ).scalars()
            assert list(found) == [normalise(one, profile) for one in texts]


LOCALES = {
    "C": "ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C'",
    "C.UTF-8": "ENCODING 'UTF8' LOCALE 'C.UTF-8'",
    "LATIN1": "ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C'",
    "LATIN5": "ENCODING 'LATIN5' LC_COLLATE 'C' LC_CTYPE 'C'",
    "EUC_JP": "ENCODING 'EUC_JP' LC_COLLATE 'C' LC_CTYPE 'C'",
}
WHERE_PRESENT = {  # asked of the server: ICU is a matter of its build, other locales of the system
    "ICU, Turkish": "ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C' LOCALE_PROVIDER icu ICU_LOCALE 'tr-TR'",
    "ICU, loose": "ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C' LOCALE_PROVIDER icu ICU_LOCALE 'de-u-ks-level1'",
    "builtin": "ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C' LOCALE_PROVIDER builtin BUILTIN_LOCALE 'C.UTF-8'",
    "builtin, full": "ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C' LOCALE_PROVIDER builtin "
    "BUILTIN_LOCALE 'PG_UNICODE_FAST'",
    "Turkish": "ENCODING 'UTF8' LOCALE 'tr_TR.UTF-8'",
    "German": "ENCODING 'UTF8' LOCALE 'de_DE.UTF-8'",
}
CODECS = {"LATIN1": "latin-1", "LATIN5": "iso8859-9", "EUC_JP": "euc-jp"}
SENTENCES = [
    "ISTANBUL Işık İzmir ılık TITLE",
    "Größe, Ärger & Straße: ½ µm (10²) naïve Café",
    "東京タワーの高さは333メートル",
    "ŠŽšž Œuvre Ÿ",
    "plain ASCII only, 1980-05-01",
    r"C:\dir + §5 ~ `a` ± ÷ {x} _y_ \342 ¬ «z»",
    "",
]


def same_everywhere(server: str, options: str, codec: str = "utf-8") -> None:
    texts = [sentence.encode(codec, "ignore").decode(codec) for sentence in SENTENCES]
    for database in signing_database(server, options):
        for kind in KINDS:
            index = database.index(kind)
            assert signed_in_sql(database, index, texts) == signed_in_python(index, texts), kind


@pytest.mark.parametrize("locale", LOCALES)
def test_every_locale_and_encoding(postgres_url: str, locale: str) -> None:
    same_everywhere(postgres_url, LOCALES[locale], CODECS.get(locale, "utf-8"))


def test_locales_the_server_may_have(postgres_url: str) -> None:
    refused = []
    for name, options in WHERE_PRESENT.items():
        try:
            same_everywhere(postgres_url, options)
        except (psycopg.errors.FeatureNotSupported, psycopg.errors.WrongObjectType, psycopg.errors.SyntaxError):
            refused.append(name)
    print("refused by this server:", ", ".join(refused) or "none")
    with psycopg.connect(postgres_url) as connection:
        if connection.info.server_version >= 170000:
            assert "builtin" not in refused


def test_nondeterministic_collation(signing: dbsim.Database) -> None:
    """A column whose collation takes A for a is signed like any other, where the server has such collations."""
    index, body = signing.index("words"), "Größe grosse GROSSE café cafe ärger arger"
    with signing.engine.begin() as connection:
        icu = connection.exec_driver_sql("SELECT count(*) FROM pg_collation WHERE collprovider = 'i'").scalar_one() > 1
        loose = "(provider = icu, locale = 'und-u-ks-level1', deterministic = false)" if icu else 'FROM "POSIX"'
        connection.exec_driver_sql(f"CREATE COLLATION loose {loose}")
        connection.exec_driver_sql("CREATE TABLE loosely (body TEXT COLLATE loose)")
        connection.exec_driver_sql("INSERT INTO loosely VALUES (%s)", (body,))
        row = connection.exec_driver_sql("SELECT (dbsim_words_sign(body)).* FROM loosely").one()
    assert [tuple(row)[1:]] == signed_in_python(index, [body])


@pytest.mark.parametrize("said", [{"client_encoding": "utf8"}, {}])
def test_sql_ascii_has_views_but_no_functions(postgres_url: str, said: dict[str, str]) -> None:
    name = f"t_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(
            f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C'"
        )
    url = make_url(postgres_url).set(database=name).update_query_dict(said)
    database = dbsim.open(url.render_as_string(hide_password=False))
    database.upgrade()
    make_table(database, {1: "one two three four", 2: "one two three four"})
    with pytest.raises(InvalidOption, match="SQL_ASCII"):
        database.create_index("inline", table="articles", columns=["body"], inline=True)
    index = database.create_index("articles", table="articles", columns=["body"], secret=SECRET)
    index.sync()
    assert plain(database, "SELECT b, score FROM dbsim_articles_pairs WHERE a = 1") == [(2, 1.0)]
    assert not index.status().problems
    database.drop_index("articles")
    database.close()
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def articles(new_postgres: str) -> Iterator[dbsim.Database]:
    database = dbsim.open(new_postgres)
    database.upgrade()
    yield database
    database.close()


def test_search_and_similar_are_those_of_python(articles: dbsim.Database) -> None:
    index = indexed(articles)
    for key, body in plain(articles, "SELECT id, coalesce(body, '') FROM articles"):
        found = plain(articles, f"SELECT * FROM dbsim_articles_similar({key}, 0.2, 5)")
        assert found == [(hit.key, hit.score, hit.exact) for hit in index.similar(key, threshold=0.2, limit=5)]
        quoted = body.replace("'", "''")
        found = plain(articles, f"SELECT * FROM dbsim_articles_search('{quoted}', threshold => 0.5)")
        assert found == [(hit.key, hit.score, hit.exact) for hit in index.search(body, threshold=0.5)]
    assert plain(articles, "SELECT * FROM dbsim_articles_search('nothing of the kind')") == []
    assert plain(articles, "SELECT * FROM dbsim_articles_similar(4711)") == []


def test_similar_signs_a_row_that_is_not_indexed_yet(articles: dbsim.Database) -> None:
    indexed(articles, 10)
    with articles.engine.begin() as connection:
        connection.execute(text("INSERT INTO articles SELECT 100, body FROM articles WHERE id = 4"))
    assert (4, 1.0, True) in plain(articles, "SELECT * FROM dbsim_articles_similar(100)")


def test_several_fields_are_named_arguments(articles: dbsim.Database) -> None:
    index = make_people(articles)
    found = plain(articles, "SELECT * FROM dbsim_people_search(name => 'Jon Smith', threshold => 0.1)")
    expected = index.search({"name": "Jon Smith"}, threshold=0.1)
    assert found == [(hit.key["tenant"], hit.key["nr"], hit.score, hit.exact) for hit in expected]
    assert len(found) >= 2
    found = plain(articles, "SELECT * FROM dbsim_people_similar(0, 0, 0.1)")
    expected = index.similar({"tenant": 0, "nr": 0}, threshold=0.1)
    assert found == [(hit.key["tenant"], hit.key["nr"], hit.score, hit.exact) for hit in expected]


HOSTILE = ['we"ird', "per%cent", "{home}", "$dbsim$", "select", "größe" * 12, "a'b", "threshold", "score", "question"]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names(articles: dbsim.Database, name: str) -> None:
    """As index, as table, as key and as text column at once."""
    quoted = '"' + name.replace('"', '""') + '"'
    with articles.engine.begin() as connection:
        run = connection.exec_driver_sql
        none: Any = {"no_parameters": True}
        run(
            f'CREATE TABLE {quoted} ({quoted} INTEGER PRIMARY KEY, "x{name[:25].replace(chr(34), chr(34) * 2)}" TEXT)',
            execution_options=none,
        )
        run(
            f"INSERT INTO {quoted} VALUES (1, 'one two three four five'), (2, 'one two three four five')",
            execution_options=none,
        )
        real = run(
            "SELECT relname FROM pg_class WHERE relkind = 'r' AND relname NOT LIKE 'dbsim%%' "
            "AND relnamespace = 'public'::regnamespace"
        ).scalar_one()
    index = articles.create_index(name, table=real, columns=["x" + name[:25]], secret=SECRET, inline=True)
    index.sync()
    assert [hit.score for hit in index.similar(1)] == [1.0]
    pairs = plain(
        articles,
        "SELECT relname FROM pg_class WHERE relkind = 'v' AND relname LIKE 'dbsim%pairs%' "
        "OR relkind = 'v' AND relname ~ 'dbsim.*_[0-9a-f]{8}$' ORDER BY relname",
    )
    assert pairs
    functions = plain(
        articles,
        "SELECT oid::regproc::text FROM pg_proc WHERE prosrc LIKE '%question%' "
        "AND proname LIKE 'dbsim%' AND pronargs = 3 AND proargtypes[0] = 'integer'::regtype",
    )
    assert plain(articles, f"SELECT * FROM {functions[0][0]}(1)") == [(2, 1.0, True)]
    with articles.engine.begin() as connection:
        connection.exec_driver_sql(
            f"INSERT INTO {quoted} VALUES (3, 'one two three four five')", execution_options={"no_parameters": True}
        )
    assert index.status().queued == 0
    assert not index.check()
    articles.drop_index(name)
