"""An application's own driver: every verb works on its engine, with the same answers whatever the driver."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import Engine, create_engine, select, text
from sqlalchemy.orm import Session, scoped_session, sessionmaker

import dbsim
from dbsim.errors import DbsimError, InvalidOption
from tests.applications.drivers import under
from tests.integration.helpers import QUICK, articles, corpus
from tests.oracle import assert_in_step

TEXTS = corpus(5, 5)


def indexed(engine: Engine) -> dbsim.Index:
    database = dbsim.open(engine)
    database.upgrade()
    articles(engine, TEXTS)
    index = database.create_index("articles", table="articles", columns=["body"], **QUICK)
    index.sync()
    return index


def keys(found: Any) -> list[Any]:
    return [hit.key for hit in found]


def test_every_verb(driver_url: str) -> None:
    def program(engine: Engine) -> None:
        index = indexed(engine)
        assert keys(index.search(TEXTS[1])) == [1, 2, 3, 4]
        assert keys(index.similar(5)) == [6, 7, 8]
        assert keys(index.search(TEXTS[1], where="id > 2")) == [3, 4]
        assert [keys(found) for found in index.search_many([TEXTS[1], TEXTS[5]], limit=2)] == [[1, 2], [5, 6]]
        assert index.explain(1, 2).found
        assert index.texts([25]) == [TEXTS[25]]
        with engine.begin() as connection:
            connection.execute(text("UPDATE articles SET body = 'entirely other words now' WHERE id = 2"))
            connection.execute(text("DELETE FROM articles WHERE id = 3"))
        assert index.sync().changed == 2
        assert keys(index.search(TEXTS[1])) == [1, 4]
        assert len(list(index.duplicates())) == 5
        assert index.status().problems == ()
        assert_in_step(dbsim.open(engine), "articles")

    under(driver_url, program)


def test_match_in_the_applications_own_statements(driver_url: str) -> None:
    def program(engine: Engine) -> None:
        index = indexed(engine)
        found = index.match(TEXTS[1])
        with engine.connect() as connection:
            assert [row.id for row in connection.execute(select(found).order_by(found.c.id))] == [1, 2, 3, 4]

    under(driver_url, program)


def test_match_on_an_engine_that_only_registered(tmp_path: Any) -> None:
    url = f"sqlite:///{tmp_path / 'test.db'}"
    indexed(create_engine(url))
    other = create_engine(url)
    dbsim.register(other)
    found = dbsim.open(url).index("articles").match(TEXTS[1])
    with other.connect() as connection:
        assert connection.execute(select(found.c.id).order_by(found.c.id)).scalars().all() == [1, 2, 3, 4]


def test_a_session_is_a_connection(driver_url: str) -> None:
    def program(engine: Engine) -> None:
        index = indexed(engine)
        with Session(engine) as session:
            session.execute(text("INSERT INTO articles (id, body) VALUES (99, :body)"), {"body": TEXTS[1]})
            assert index.refresh([99], connection=session) == 1
            assert 99 in keys(index.search(TEXTS[1], connection=session))
            assert 99 in keys(index.search_many([TEXTS[1]], connection=session)[0])
            assert keys(index.similar(99, connection=session)) == [1, 2, 3, 4]
        assert 99 not in keys(index.search(TEXTS[1]))  # rolled back with the session
        scoped = scoped_session(sessionmaker(engine))
        assert keys(index.search(TEXTS[1], connection=scoped)) == [1, 2, 3, 4]
        scoped.remove()

    under(driver_url, program)


@pytest.mark.parametrize("given", ["engine", 7])
def test_what_is_no_connection_is_refused(database: dbsim.Database, given: Any) -> None:
    articles(database.engine, TEXTS)
    index = database.create_index("articles", table="articles", columns=["body"], **QUICK)
    with pytest.raises(InvalidOption, match=r"takes a SQLAlchemy Connection or Session, not (an Engine|int)"):
        index.search("x", connection=database.engine if given == "engine" else given)


def test_a_session_without_an_engine_is_refused(database: dbsim.Database) -> None:
    articles(database.engine, TEXTS)
    index = database.create_index("articles", table="articles", columns=["body"], **QUICK)
    with Session() as session, pytest.raises(InvalidOption, match="bound to no engine"):
        index.search("x", connection=session)


def test_a_driver_dbsim_does_not_know() -> None:
    engine = create_engine("postgresql+pg8000://", module=__import__("types").SimpleNamespace(paramstyle="format"))
    with pytest.raises(DbsimError, match="works with the drivers psycopg, psycopg2, asyncpg, not with pg8000"):
        dbsim.open(engine)


@pytest.mark.parametrize("written", ["postgresql+asyncpg", "postgresql+psycopg2", "postgres"])
def test_the_applications_url_is_taken_as_it_is(new_postgres: str, written: str) -> None:
    address = new_postgres.replace("postgresql", written, 1)
    extra = "prepared_statement_cache_size=0" if "asyncpg" in written else "prepare_threshold=none"
    database = dbsim.open(address + ("&" if "?" in address else "?") + extra)
    assert database.upgrade() == "0003"
    database.close()
