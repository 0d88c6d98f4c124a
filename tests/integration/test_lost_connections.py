"""A server that ends connections on its own account: nothing is lost, and nothing of it is written to a log."""

from __future__ import annotations

import time

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

import dbsim
from dbsim.tables.names import quote
from tests.integration.helpers import QUICK, articles, execute, sentence

SECRET_WORDS = "unmistakable confidential words"


def limited(url: str, setting: str) -> None:
    """An indexed table in a database with this setting for everybody who comes from now on."""
    with dbsim.open(url) as database:
        database.upgrade()
        articles(database.engine, {number: sentence(number) for number in range(30)})
        database.create_index("articles", table="articles", columns="body", **QUICK).sync()
        execute(database.engine, f"ALTER DATABASE {quote(str(database.engine.url.database))} SET {setting}")


@pytest.mark.parametrize("url", ["postgresql"], indirect=True)
@pytest.mark.parametrize("setting", ["idle_in_transaction_session_timeout = 100", "idle_session_timeout = 100"])
def test_a_connection_that_the_server_has_ended_leaves_no_word(
    url: str, setting: str, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    limited(url, setting)
    with dbsim.open(url) as database:
        index = database.index("articles")
        connection = database.engine.raw_connection()
        connection.cursor().execute("SELECT 1")  # which begins a transaction
        time.sleep(0.6)
        connection.close()
        assert [hit.key for hit in index.search(sentence(3), limit=1)] == [3]
        time.sleep(0.6)
        assert [hit.key for hit in index.search(sentence(3), limit=1)] == [3]
    assert caplog.records == []
    assert capfd.readouterr() == ("", "")


def test_errors_of_an_engine_of_dbsims_have_no_values(url: str) -> None:
    with dbsim.open(url, create=True) as database:
        database.upgrade()
        for parameters in ({"name": SECRET_WORDS}, [{"name": SECRET_WORDS}] * 2):
            with pytest.raises(DBAPIError) as raised, database.engine.begin() as connection:
                connection.execute(text("INSERT INTO nowhere VALUES (:name)"), parameters)
            assert SECRET_WORDS not in str(raised.value)
