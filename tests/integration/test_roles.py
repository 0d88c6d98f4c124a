"""A role that was granted an index searches from Python, the shell and SQL without ever seeing the secret (#13)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import select

import dbsim
from dbsim.errors import DatabaseUnavailable, DbsimError, InvalidOption, NotInPlace, UnknownName
from tests.fixtures.shell import Command
from tests.integration.helpers import execute, url_of
from tests.integration.sql_helpers import documents, indexed, make_people, make_table


@pytest.fixture
def reader(owned: dbsim.Database, role: str) -> Iterator[dbsim.Database]:
    with dbsim.open(url_of(owned, role)) as opened:
        yield opened


def granted(owned: dbsim.Database, role: str, **options: object) -> dbsim.Index:
    index = indexed(owned, threshold=0.5, **options)
    execute(owned.engine, f'GRANT SELECT ON articles TO "{role}"')
    assert index.grant(role) == []
    return index


def test_searches_equal_those_of_the_owner(owned: dbsim.Database, role: str, reader: dbsim.Database) -> None:
    mine = granted(owned, role)
    theirs = reader.index("articles")
    texts = list(documents(40).values())
    for number in (0, 1, 7, 40):
        for options in ({}, {"threshold": 0.2, "limit": 50}, {"verify": True}, {"where": "id % 2 = 0"}):
            assert theirs.search(texts[number], **options) == mine.search(texts[number], **options)
            assert theirs.similar(number, **options) == mine.similar(number, **options)
    assert theirs.search_many(texts[:5]) == mine.search_many(texts[:5])
    assert theirs.explain(0, 1) == mine.explain(0, 1)
    asked = "database index " + texts[3]
    with reader.engine.connect() as connection, owned.engine.connect() as own:
        query = [connection.execute(select(index.match(asked)).order_by("id")).all() for index in (theirs,)]
        assert query == [own.execute(select(mine.match(asked)).order_by("id")).all()]
        assert theirs.search(asked, connection=connection) == mine.search(asked, connection=own)


def test_a_row_that_is_not_indexed_yet(owned: dbsim.Database, role: str, reader: dbsim.Database) -> None:
    mine = granted(owned, role)
    execute(owned.engine, "INSERT INTO articles SELECT 1000, body || ' more' FROM articles WHERE id = 2")
    assert reader.index("articles").similar(1000) == mine.similar(1000)
    assert [hit.key for hit in reader.index("articles").similar(1000)]


def test_several_fields_and_a_composite_key(owned: dbsim.Database, role: str, reader: dbsim.Database) -> None:
    mine = make_people(owned)
    execute(owned.engine, f'GRANT SELECT ON people TO "{role}"')
    assert mine.grant(role) == []
    theirs = reader.index(mine.name)
    question = {"name": "John Smith", "town": "New York"}
    assert theirs.search(question, threshold=0.1) == mine.search(question, threshold=0.1) != []


def test_row_level_security_decides(owned: dbsim.Database, role: str, reader: dbsim.Database) -> None:
    mine = granted(owned, role)
    execute(owned.engine, "ALTER TABLE articles ENABLE ROW LEVEL SECURITY")
    execute(owned.engine, "CREATE POLICY even ON articles USING (id % 4 < 2)")
    theirs = reader.index("articles")
    for key in (0, 4, 9):
        expected = [hit for hit in mine.similar(key, limit=100) if hit.key % 4 < 2]
        assert theirs.similar(key, limit=100) == expected


def test_the_secret_stays_secret(owned: dbsim.Database, role: str, reader: dbsim.Database) -> None:
    granted(owned, role)
    index = reader.index("articles")
    assert index.secret == b""
    with psycopg.connect(url_of(owned, role), autocommit=True) as connection:
        assert connection.execute("SELECT name, source_table FROM dbsim_index").fetchall() == [("articles", "articles")]
        for statement in (
            "SELECT secret FROM dbsim_index",
            "SELECT * FROM dbsim_index",
            "SELECT i FROM dbsim_index i",
            "SELECT * FROM dbsim_articles",
            "SELECT numbers FROM dbsim_constant",
            "SELECT dbsim_articles_grant('pg_monitor')",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(statement)
        assert connection.execute("SELECT count(*) FROM dbsim_articles_search('a b c d')").fetchone() is not None
    assert owned.index("articles").status().problems == ()


def test_what_a_reader_cannot_do(owned: dbsim.Database, role: str, reader: dbsim.Database) -> None:
    granted(owned, role)
    index = reader.index("articles")
    for verb in (index.sync, index.duplicates, index.drop, index.status, lambda: index.grant(role)):
        with pytest.raises(DatabaseUnavailable, match=r"permission denied for \w+ dbsim_.*connect as the owner"):
            verb()
    with pytest.raises(InvalidOption, match="probes need the secret"):
        index.search("a b c", probes=2)


def test_the_missing_right_is_named(owned: dbsim.Database, role: str, reader: dbsim.Database) -> None:
    with pytest.raises(DatabaseUnavailable, match=r"permission denied for table dbsim_version.*`dbsim grant DB INDEX"):
        reader.index("articles")
    execute(owned.engine, "CREATE SCHEMA host")
    index = indexed(owned)
    execute(owned.engine, "ALTER TABLE articles SET SCHEMA host")
    owned.rename("articles", {"articles": "host.articles"})
    lacking = owned.index("articles").grant(role)
    assert lacking == [f'GRANT USAGE ON SCHEMA host TO "{role}"', f'GRANT SELECT ON host.articles TO "{role}"']
    theirs = reader.index("articles")
    with pytest.raises(DatabaseUnavailable, match=r"schema host.*`GRANT USAGE ON SCHEMA host TO …`"):
        theirs.similar(1)
    execute(owned.engine, lacking[0])
    with pytest.raises(DatabaseUnavailable, match=r"table articles.*`GRANT SELECT ON articles TO …`"):
        theirs.similar(1)
    execute(owned.engine, lacking[1])
    assert theirs.similar(1) == owned.index("articles").similar(1)
    assert index.name == "articles"


def test_the_right_outlives_changes(owned: dbsim.Database, role: str, reader: dbsim.Database) -> None:
    mine = granted(owned, role)
    theirs = reader.index("articles")
    mine.alter(threshold=0.4)
    mine.sync()
    assert reader.index("articles").similar(3) == mine.similar(3)
    make_table(owned, documents(6), "others")
    owned.create_index("others", table="others", columns="body", words=2)
    owned.drop_index("others")
    assert theirs.similar(3) == mine.similar(3)
    assert status_as(owned, role) == ["articles"]
    execute(owned.engine, "ALTER TABLE articles RENAME COLUMN body TO content")
    owned.rename("articles", {"body": "content"})
    assert reader.index("articles").similar(3) == mine.similar(3)
    execute(owned.engine, "DROP VIEW dbsim_articles_signatures CASCADE")  # sync makes all of it anew
    owned.index("articles").sync()
    assert owned.upgrade()
    assert reader.index("articles").search(documents(40)[3]) == owned.index("articles").search(documents(40)[3])
    assert status_as(owned, role) == ["articles"]


def status_as(database: dbsim.Database, role: str) -> list[str]:
    with psycopg.connect(url_of(database, role)) as connection:
        return [name for (name,) in connection.execute("SELECT index_name FROM dbsim_status")]


def test_taken_back(owned: dbsim.Database, role: str, reader: dbsim.Database, shell: Command) -> None:
    mine = granted(owned, role)
    make_table(owned, documents(6), "others")
    other = owned.create_index("others", table="others", columns="body", words=2)
    other.sync()
    other.grant(role)
    code, out, _ = shell("revoke", owned.url, "articles", role)
    assert (code, out) == (0, f"role {role!r} may no longer search index 'articles'\n")
    with pytest.raises(DatabaseUnavailable, match="lacks a right"):
        reader.index("articles").similar(3)
    execute(owned.engine, f'GRANT SELECT ON others TO "{role}"')
    assert reader.index("others").similar(2) == other.similar(2)  # what both share is still there
    assert other.revoke(role)
    assert not mine.revoke(role)
    code, out, _ = shell("revoke", owned.url, "articles", role)
    assert code == 1
    assert "has not been granted" in out
    with psycopg.connect(url_of(owned, role), autocommit=True) as connection:
        for asked in (
            "dbsim_status",
            "dbsim_others_pairs",
            "dbsim_articles_signatures",
            "dbsim_unicode",
            "dbsim_version",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(f"SELECT * FROM {asked}")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("SELECT name FROM dbsim_index")
        grantee = "a.grantee = quote_ident(current_user)::regrole"
        left = connection.execute(f"SELECT count(*) FROM pg_proc p, aclexplode(p.proacl) a WHERE {grantee}")
        assert left.fetchone() == (0,)


def test_a_family_without_sql(owned: dbsim.Database, role: str, reader: dbsim.Database) -> None:
    granted(owned, role, family="hyperplane")
    with pytest.raises(InvalidOption, match=r"cannot be signed in SQL.*only its views"):
        reader.index("articles").search("a b c d")
    with psycopg.connect(url_of(owned, role)) as connection:
        connection.execute("SELECT * FROM dbsim_articles_pairs")


def test_from_the_shell(owned: dbsim.Database, role: str, shell: Command) -> None:
    indexed(owned, threshold=0.5)
    code, out, _ = shell("grant", owned.url, "articles", role)
    assert code == 0
    first, second = out.splitlines()
    assert first == f"role {role!r} may search index 'articles', once it has these rights too:"
    assert second == f'  GRANT SELECT ON public.articles TO "{role}";'
    execute(owned.engine, second)
    code, out, _ = shell("similar", url_of(owned, role), "articles", "0")
    assert (code, shell("similar", owned.url, "articles", "0")[1]) == (0, out)
    code, _, err = shell("grant", owned.url, "articles", role[:-1])
    assert code == 2
    assert f"there is no role {role[:-1]!r}; did you mean {role!r}?" in err
    code, _, err = shell("sync", url_of(owned, role), "articles")
    assert code == 2
    assert err.count("\n") == 1


def test_unknown_and_too_early(owned: dbsim.Database, role: str) -> None:
    index = indexed(owned)
    with pytest.raises(UnknownName, match="there is no role 'nobody here'"):
        index.grant("nobody here")
    execute(owned.engine, "DROP FUNCTION dbsim_articles_grant")
    with pytest.raises(NotInPlace, match="run `dbsim sync` first"):
        index.grant(role)
    index.sync()
    index.grant(role)


def test_sqlite_has_no_roles(tmp_path: Path, shell: Command) -> None:
    with dbsim.open(tmp_path / "shop.db", create=True) as database:
        database.upgrade()
        index = indexed(database)
        with pytest.raises(DbsimError, match="SQLite has no roles"):
            index.grant("reader")
    code, _, err = shell("grant", str(tmp_path / "shop.db"), "articles", "reader")
    assert code == 2
    assert err.startswith("dbsim: SQLite has no roles: whoever may read the file")
