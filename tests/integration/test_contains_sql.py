"""`contains` from SQL: PostgreSQL's function gives Python's answer, which is a search of the normalised texts."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import text

import dbsim
from dbsim.engines.context import DatabaseContext
from dbsim.errors import DbsimError
from dbsim.options import Field
from dbsim.text.normalise import fold
from tests.conftest import SECRET
from tests.integration.helpers import QUICK, articles, execute, fetch, sentence
from tests.integration.test_sql_functions import ANY_TEXT

PIECES = (
    "Straße",
    "STRASSE",
    "naïve",
    "東京 данные",
    "C++",
    "a-b",
    "0049 30",
    "ﬁne",
    "½",
    "İstanbul",
    "to be",
    "%",
    "\\",
)
NORMALISERS = ("text", "german", "symbols", "digits")


@pytest.fixture
def postgres(new_postgres: str) -> Iterator[dbsim.Database]:
    database = dbsim.open(new_postgres)
    database.upgrade()
    yield database
    database.close()


def asked(database: dbsim.Database | DatabaseContext, name: str, *lists: Sequence[str]) -> list[Any]:
    """The function's keys in order; `lists` are words, phrases and words to leave out."""
    arguments = ", ".join("%s::text[]" for _ in lists)
    with database.engine.connect() as connection:
        rows = connection.exec_driver_sql(
            f"SELECT c.* FROM dbsim_{name}_contains({arguments}) AS c ORDER BY c", tuple(list(some) for some in lists)
        )
        return [row[0] if len(row) == 1 else dict(row._mapping) for row in rows]


def brute_force(texts: dict[int, str | None], normaliser: str, lists: Sequence[Sequence[str]]) -> list[int]:
    def words(given: str) -> str:
        return " ".join(fold(given, normaliser).decode().split())

    def inside(term: str, body: str) -> bool:
        return bool(words(term)) and f" {words(term)} " in f" {words(body)} "

    found = []
    for key, body in texts.items():
        wanted, unwanted = (*lists[0], *lists[1]), lists[2]
        if all(inside(term, body or "") for term in wanted) and not any(inside(term, body or "") for term in unwanted):
            found.append(key)
    return found


@pytest.mark.parametrize("normaliser", NORMALISERS)
def test_it_gives_pythons_answer_over_random_texts(postgres: dbsim.Database, normaliser: str) -> None:
    rng = random.Random(normaliser)
    texts: dict[int, str | None] = {
        n: " ".join(rng.choices((*PIECES, *sentence(n, 6).split()), k=rng.randint(0, 9))) for n in range(1, 151)
    }
    if normaliser == "digits":  # of which a text is one word
        texts = {n: rng.choice(("12", "1-2", "47 11", "4711", "0049 30", "x")) for n in range(1, 151)}
    texts[151] = None
    articles(postgres.engine, texts)
    field = Field(columns=("body",), unit="characters", size=2, normaliser=normaliser, false_drops=0.4)
    index = postgres.create_index("articles", table="articles", fields=[field], **QUICK)
    index.sync()
    asking = 0
    for _ in range(60):
        terms = [rng.choice([text for text in texts.values() if text]).split() for _ in range(3)]
        lists = [
            rng.sample(terms[0], rng.randint(0, min(2, len(terms[0])))),
            [],
            rng.sample(terms[1], rng.randint(0, 1)),
        ]
        start = rng.randrange(len(terms[2]))
        lists[1] = [" ".join(terms[2][start : start + 3])] if rng.random() < 0.5 else []
        spelled = [fold(term, normaliser).decode().split() for some in lists for term in some]
        if not spelled or not all(spelled):
            continue
        expected = brute_force(texts, normaliser, lists)
        assert asked(postgres, "articles", *lists) == expected, lists
        assert index.contains(*lists[0], phrase=lists[1], none_of=lists[2]) == expected, lists
        asking += 1
    assert asking > 5


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(body=ANY_TEXT, term=ANY_TEXT, data=st.data())
def test_any_text_and_any_term(hostile: dbsim.Index, body: str, term: str, data: st.DataObject) -> None:
    """Nothing is missed and nothing invented, whatever is written in the row or asked for."""
    body = body.replace("\0", " ")
    with hostile._context.engine.begin() as connection:
        connection.execute(text("UPDATE articles SET body = :body WHERE id = 1"), {"body": body})
    hostile.sync()
    words = body.split()
    if words and data.draw(st.booleans()):
        start = data.draw(st.integers(0, len(words) - 1))
        term = " ".join(words[start : start + data.draw(st.integers(1, 3))])
    term = term.replace("\0", " ")
    if not fold(term, "text").split():
        with pytest.raises(DbsimError, match="no word in it"):
            hostile.contains(term)
        return
    texts: dict[int, str | None] = {1: body, 2: "constant"}
    for lists in ([term], [], []), ([], [], [term]):
        expected = brute_force(texts, "text", lists)
        assert hostile.contains(*lists[0], none_of=lists[2]) == expected
        assert asked(hostile._context, "articles", *lists) == expected


@pytest.fixture
def hostile(postgres: dbsim.Database) -> dbsim.Index:
    articles(postgres.engine, {1: "", 2: "constant"})
    field = Field(columns=("body",), unit="words", size=1, false_drops=0.3)
    index = postgres.create_index("articles", table="articles", fields=[field], **QUICK)
    index.sync()
    return index


def test_composite_keys_fields_and_hostile_names(postgres: dbsim.Database) -> None:
    execute(
        postgres.engine,
        'CREATE TABLE people (words INTEGER, phrase TEXT, "na%me" TEXT, "to""wn" TEXT, PRIMARY KEY (words, phrase))',
        "INSERT INTO people VALUES (1, '1', 'Erika Muster', 'Bad Berg'), (1, '2', 'Max Berg', 'Muster'), "
        "(2, '1', NULL, 'X')",
    )
    columns = {"na%me": 0.5, 'to"wn': 0.5}
    index = postgres.create_index(
        "people", table="people", columns=columns, characters=3, false_drops=0.05, family="gauss"
    )
    index.sync()
    for lists in (["berg"], [], []), ([], ["bad berg"], []), ([], ["muster bad"], []), (["muster"], [], ["erika"]):
        expected = index.contains(*lists[0], phrase=lists[1], none_of=lists[2])
        assert asked(postgres, "people", *lists) == expected
    assert asked(postgres, "people", ["berg"]) == [{"words": 1, "phrase": "1"}, {"words": 1, "phrase": "2"}]


def test_together_with_search_in_one_statement(postgres: dbsim.Database) -> None:
    body = sentence(1)
    articles(postgres.engine, {1: body + " alpha", 2: body + " beta", 3: body + " alpha beta", 4: "alpha"})
    index = postgres.create_index("articles", table="articles", columns="body", false_drops=0.01, **QUICK)
    index.sync()
    found = fetch(
        postgres.engine,
        f"SELECT id, score FROM dbsim_articles_search('{body}', 0.5, hits => 1000) "
        "JOIN dbsim_articles_contains('{alpha}', none_of => '{beta}') USING (id)",
    )
    assert [key for key, _ in found] == [1]


def test_questions_without_a_word_are_refused_as_in_python(postgres: dbsim.Database) -> None:
    articles(postgres.engine, {1: "alpha"})
    postgres.create_index("articles", table="articles", columns="body", false_drops=0.01, **QUICK).sync()
    for lists, message in (([], "name at least one word"), ([["!?"]], "no word in it"), ([[None]], "no word in it")):
        with pytest.raises(Exception, match=message):
            asked(postgres, "articles", *lists)  # type: ignore[arg-type]


def test_a_role_gets_the_rows_that_it_may_see(postgres: dbsim.Database, new_postgres: str) -> None:
    articles(postgres.engine, {n: f"alpha {n}" for n in range(1, 6)})
    index = postgres.create_index("articles", table="articles", columns="body", false_drops=0.2, **QUICK)
    index.sync()
    role = f"reader_{postgres.engine.url.database}"
    with psycopg.connect(new_postgres.replace("+psycopg", ""), autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {role}")
        try:
            connection.execute("ALTER TABLE articles ENABLE ROW LEVEL SECURITY")
            connection.execute(f"CREATE POLICY visible ON articles TO {role} USING (id > 3)")
            connection.execute(f"GRANT SELECT ON articles TO {role}")
            question = "SELECT id FROM dbsim_articles_contains('{alpha}') ORDER BY id"
            without = "SELECT id FROM dbsim_articles_contains(none_of => '{beta}') ORDER BY id"
            connection.execute(f"SET ROLE {role}")
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(question)
            connection.execute("RESET ROLE")
            connection.execute(f"SELECT dbsim_articles_grant('{role}')")
            connection.execute(f"SET ROLE {role}")
            assert connection.execute(question).fetchall() == [(4,), (5,)]
            assert connection.execute(without).fetchall() == [(4,), (5,)]
        finally:
            connection.execute("RESET ROLE")
            connection.execute(f"DROP OWNED BY {role}")
            connection.execute(f"DROP ROLE {role}")


def test_a_row_that_is_gone_is_no_answer(postgres: dbsim.Database) -> None:
    articles(postgres.engine, {1: "alpha", 2: "beta"})
    postgres.create_index("articles", table="articles", columns="body", false_drops=0.01, **QUICK).sync()
    execute(postgres.engine, "DELETE FROM articles WHERE id = 2")
    assert asked(postgres, "articles", [], [], ["gamma"]) == [1]


def test_it_comes_and_goes_with_the_signatures(postgres: dbsim.Database) -> None:
    articles(postgres.engine, {1: "alpha", 2: "beta"})
    index = postgres.create_index("articles", table="articles", columns="body", **QUICK)
    index.sync()
    there = "SELECT count(*) FROM pg_proc WHERE proname ~ '^dbsim_articles_(contains|marked|sliced)$'"
    assert fetch(postgres.engine, there) == [(0,)]
    postgres.alter_index("articles", false_drops=0.01).sync()
    assert fetch(postgres.engine, there) == [(3,)]
    execute(postgres.engine, "DROP FUNCTION dbsim_articles_contains")
    postgres.index("articles").sync()
    assert asked(postgres, "articles", ["beta"]) == [2]
    postgres.alter_index("articles", false_drops=0.0).sync()
    assert fetch(postgres.engine, there) == [(0,)]
    postgres.drop_index("articles")


def test_secrets_stay_inside(postgres: dbsim.Database) -> None:
    """What the helper with its owner's rights tells is marks, not the secret."""
    articles(postgres.engine, {1: "alpha"})
    postgres.create_index("articles", table="articles", columns="body", false_drops=0.01, **QUICK).sync()
    shown = fetch(postgres.engine, "SELECT dbsim_articles_marked('{alpha}')")[0][0]
    assert SECRET.hex() not in shown
    assert "&" in shown


@pytest.mark.parametrize("unit", ["words", "characters"])
def test_an_inline_index_answers_before_the_commit(postgres: dbsim.Database, unit: str) -> None:
    """The trigger makes word signatures too, the same as Python's."""
    articles(postgres.engine, {1: "alpha", 2: "beta gamma"})
    field = Field(columns=("body",), unit=unit, size=2, normaliser="german", false_drops=0.05)
    index = postgres.create_index("articles", table="articles", fields=[field], inline=True, **QUICK)
    index.sync()
    with postgres.engine.begin() as connection:
        connection.exec_driver_sql("INSERT INTO articles VALUES (3, 'Grüße an Alpha'), (4, ''), (5, NULL)")
        connection.exec_driver_sql("UPDATE articles SET body = 'delta' WHERE id = 2")
        assert index.contains("alpha", connection=connection) == [1, 3]
        assert index.contains("gruesse", connection=connection) == [3]
        assert index.contains(none_of="alpha", connection=connection) == [2, 4, 5]
    assert asked(postgres, "articles", ["delta"]) == [2]
    assert index.status().queued == 0
    assert not index.check()
