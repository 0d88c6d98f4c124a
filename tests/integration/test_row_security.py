"""Nobody sees through dbsim what the table would not show (promise 13); PostgreSQL."""

from __future__ import annotations

import random
import uuid
from collections import Counter
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from sqlalchemy import make_url

import dbsim
from tests.conftest import SECRET
from tests.integration.sql_helpers import documents, make_table


@pytest.fixture
def database(new_postgres: str) -> Iterator[dbsim.Database]:
    opened = dbsim.open(new_postgres)
    opened.upgrade()
    yield opened
    opened.close()


@pytest.fixture
def role(postgres_url: str, database: dbsim.Database) -> Iterator[str]:
    """A role with rights on nothing; dropped with all it was granted."""
    name = f"r_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {name} LOGIN")
    yield name
    with connected(database) as connection:
        connection.execute(f"DROP OWNED BY {name} CASCADE")
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(f"DROP ROLE {name}")


def connected(database: dbsim.Database) -> psycopg.Connection[tuple[Any, ...]]:
    url = database.engine.url.set(drivername="postgresql").render_as_string(hide_password=False)
    return psycopg.connect(url, autocommit=True)


def as_role(database: dbsim.Database, role: str) -> psycopg.Connection[tuple[Any, ...]]:
    connection = connected(database)
    connection.execute(f"SET SESSION AUTHORIZATION {role}")
    return connection


def secured(database: dbsim.Database, role: str, visible: set[int]) -> dbsim.Index:
    make_table(database, documents(40))
    index = database.create_index("articles", table="articles", columns=["body"], words=2, threshold=0.3, secret=SECRET)
    index.sync()
    with connected(database) as connection:
        connection.execute("ALTER TABLE articles ENABLE ROW LEVEL SECURITY")
        connection.execute("CREATE TABLE allowed (id INTEGER PRIMARY KEY)")
        connection.cursor().executemany("INSERT INTO allowed VALUES (%s)", [(key,) for key in visible])
        connection.execute("CREATE POLICY own ON articles USING (id IN (SELECT a.id FROM allowed a))")
        connection.execute(f"GRANT SELECT ON articles, allowed TO {role}")
        connection.execute("SELECT dbsim_articles_grant(%s::regrole)", (role,))
    return index


@pytest.mark.parametrize("seed", range(6))
def test_random_policies(database: dbsim.Database, role: str, seed: int) -> None:
    rng = random.Random(seed)
    visible = {key for key in range(42) if rng.random() < (0.0, 0.1, 0.3, 0.5, 0.8, 1.0)[seed]}
    index = secured(database, role, visible)
    expected, decided = (
        {
            (key, hit.key): hit.score
            for key in visible
            for hit in index.similar(key, limit=1000, verify=verify)
            if hit.key in visible
        }
        for verify in (False, None)
    )
    with connected(database) as connection:
        stored = {row[0]: row for row in connection.execute("SELECT * FROM dbsim_articles")}
        bodies = dict(connection.execute("SELECT id, coalesce(body, '') FROM articles"))
    with as_role(database, role) as connection:
        pairs = connection.execute("SELECT a, b, score FROM dbsim_articles_pairs").fetchall()
        assert {row[:2]: row[2] for row in pairs if row[2] >= index.options.threshold} == expected
        assert {key for row in pairs for key in row[:2]} <= visible
        shown = connection.execute("SELECT * FROM dbsim_articles_signatures").fetchall()
        assert {row[0]: row for row in shown} == {key: stored[key] for key in visible}
        buckets = connection.execute("SELECT key_number, bucket, size FROM dbsim_articles_buckets").fetchall()
        assert {row[:2]: row[2] for row in buckets} == dict(
            Counter(
                (number, stored[key][2 + number])
                for key in visible
                for number in range(index.options.keys)
                if stored[key][2 + number] is not None
            )
        )
        for key in range(42):
            similar = connection.execute("SELECT id, score FROM dbsim_articles_similar(%s)", (key,)).fetchall()
            assert dict(similar) == {b: score for (a, b), score in decided.items() if a == key}
            found = connection.execute(
                "SELECT id, score FROM dbsim_articles_search(%s, 0.3, 1000)", (bodies[key],)
            ).fetchall()
            everything = index.search(bodies[key], limit=1000)
            assert dict(found) == {hit.key: hit.score for hit in everything if hit.key in visible}
            why = connection.execute("SELECT * FROM dbsim_articles_explain(%s, %s)", (key, (key + 1) % 42)).fetchall()
            assert bool(why) == ({key, (key + 1) % 42} <= visible)
        assert connection.execute("SELECT * FROM dbsim_status").fetchall() == []
        one = rng.randrange(42)
        filtered = connection.execute("SELECT b FROM dbsim_articles_pairs WHERE a = %s", (one,)).fetchall()
        assert {row[0] for row in filtered} == {b for a, b in expected if a == one}


def test_a_leaking_condition_sees_no_more(database: dbsim.Database, role: str) -> None:
    """A cheap function in WHERE that tells what it is given is called for visible rows only."""
    visible = set(range(0, 42, 3))
    secured(database, role, visible)
    with connected(database) as connection:
        connection.execute(f"CREATE SCHEMA mine AUTHORIZATION {role}")
    with as_role(database, role) as connection:
        told: list[int] = []
        connection.add_notice_handler(lambda diagnostic: told.append(int(diagnostic.message_primary or -1)))
        connection.execute(
            "CREATE FUNCTION mine.tell(integer) RETURNS boolean LANGUAGE plpgsql IMMUTABLE COST 0.0001 AS "
            "$$ BEGIN RAISE NOTICE '%', $1; RETURN true; END $$"
        )
        connection.execute("SELECT a FROM dbsim_articles_pairs WHERE mine.tell(a) AND mine.tell(b)")
        connection.execute("SELECT id FROM dbsim_articles_signatures WHERE mine.tell(id)")
        connection.execute("SELECT size FROM dbsim_articles_buckets WHERE mine.tell(-size::integer)")
        connection.execute("SELECT id FROM dbsim_articles_similar(0) WHERE mine.tell(id)")
    assert {key for key in told if key >= 0} == visible
    assert min(told) < 0


def test_rights_of_the_table_decide(database: dbsim.Database, role: str) -> None:
    secured(database, role, set(range(42)))
    with connected(database) as connection:
        connection.execute(f"REVOKE SELECT ON articles FROM {role}")
    with as_role(database, role) as connection:
        for question in (
            "SELECT * FROM dbsim_articles_pairs",
            "SELECT * FROM dbsim_articles_buckets",
            "SELECT * FROM dbsim_articles_signatures",
            "SELECT * FROM dbsim_articles_similar(1)",
            "SELECT * FROM dbsim_articles_explain(1, 2)",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(question)
        assert connection.execute("SELECT * FROM dbsim_status").fetchall() == []


def test_whole_table_readers_see_everything(database: dbsim.Database, role: str) -> None:
    index = secured(database, role, set())
    with connected(database) as connection:
        connection.execute("ALTER TABLE articles DISABLE ROW LEVEL SECURITY")
    with as_role(database, role) as connection:
        assert dict(connection.execute("SELECT id, score FROM dbsim_articles_similar(0)").fetchall()) == {
            hit.key: hit.score for hit in index.similar(0)
        }
        assert connection.execute("SELECT index_name, rows FROM dbsim_status").fetchall() == [("articles", 42)]


def test_nothing_without_a_grant(database: dbsim.Database, role: str) -> None:
    make_table(database, documents(4))
    database.create_index("articles", table="articles", columns=["body"], secret=SECRET, inline=True).sync()
    with connected(database) as connection:
        connection.execute(f"GRANT SELECT ON articles TO {role}")
        relations = connection.execute(
            "SELECT oid::regclass::text FROM pg_class WHERE relname LIKE 'dbsim%' AND relkind IN ('r', 'v')"
        ).fetchall()
        public = connection.execute(
            "SELECT oid::regprocedure::text FROM pg_proc WHERE proname LIKE 'dbsim%%' "
            "AND has_function_privilege(%s, oid, 'EXECUTE')",
            (role,),
        ).fetchall()
        definers = connection.execute(
            "SELECT proname, proconfig FROM pg_proc WHERE prosecdef AND pronamespace = 'public'::regnamespace"
        ).fetchall()
        unpinned = connection.execute(
            "SELECT proname FROM pg_proc WHERE proname LIKE 'dbsim%' AND NOT EXISTS "
            "(SELECT FROM unnest(proconfig) AS setting WHERE setting LIKE 'search_path=pg_catalog,%pg_temp')"
        ).fetchall()
    assert public == []
    assert {name for name, _ in definers} == {"dbsim_articles_sign", "dbsim_articles_changed"}
    for name, settings in definers:
        assert any(setting.startswith("search_path=pg_catalog,") for setting in settings), name
    assert unpinned == []
    assert len(relations) >= 10
    with as_role(database, role) as connection:
        for (relation,) in relations:
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(f"SELECT * FROM {relation}")


def test_grants_show_no_table_of_dbsim(database: dbsim.Database, role: str) -> None:
    """What _grant gives are views and functions; the secret, the queue and the signatures of all rows stay closed."""
    secured(database, role, {1, 2})
    with as_role(database, role) as connection:
        for relation in ("dbsim_index", "dbsim_articles", "dbsim_articles_queue", "dbsim_constant", "dbsim_quarantine"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(f"SELECT * FROM {relation}")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("SELECT dbsim_tokens(ARRAY['a'], 'x')")


def test_shadowed_names_change_nothing(database: dbsim.Database, role: str) -> None:
    """Functions, operators and tables of the caller's own, first in its search_path."""
    index = secured(database, role, set(range(42)))
    with connected(database) as connection:
        connection.execute(f"CREATE SCHEMA mine AUTHORIZATION {role}")
        connection.execute(f"GRANT TEMPORARY ON DATABASE {make_url(index._context.engine.url).database} TO {role}")
    with as_role(database, role) as connection:
        connection.execute("SET search_path = mine, pg_catalog, public")
        connection.execute("CREATE TABLE mine.articles AS SELECT 1 AS id, 'stolen' AS body")
        connection.execute("CREATE TEMPORARY TABLE dbsim_unicode (profile text, first integer, last integer)")
        connection.execute("CREATE FUNCTION mine.sha256(bytea) RETURNS bytea LANGUAGE sql AS $$ SELECT $1 $$")
        connection.execute("CREATE FUNCTION mine.bit_count(bit) RETURNS bigint LANGUAGE sql AS $$ SELECT 0::bigint $$")
        connection.execute("CREATE FUNCTION mine.no(bigint, bigint) RETURNS boolean LANGUAGE sql AS $$ SELECT true $$")
        connection.execute("CREATE OPERATOR mine.= (FUNCTION = mine.no, LEFTARG = bigint, RIGHTARG = bigint)")
        body = connection.execute("SELECT body FROM public.articles WHERE id = 3").fetchone()
        assert body is not None
        found = connection.execute("SELECT id, score FROM public.dbsim_articles_search(%s)", body).fetchall()
    assert found == [(hit.key, hit.score) for hit in index.search(body[0])]


def test_grants_survive_a_repair(database: dbsim.Database, role: str) -> None:
    index = secured(database, role, set(range(42)))
    with connected(database) as connection:
        connection.execute("DROP VIEW dbsim_articles_signatures CASCADE")
    assert index.sync().views_restored
    with as_role(database, role) as connection:
        assert connection.execute("SELECT count(*) FROM dbsim_articles_similar(0)").fetchone() == (1,)


def test_plans_tell_nothing_of_hidden_rows(database: dbsim.Database, role: str) -> None:
    """EXPLAIN ANALYZE counts the rows that a filter removes: the same for a hidden text and for one nobody wrote."""
    secured(database, role, {1, 2})
    with connected(database) as connection:
        hidden = connection.execute(
            "SELECT body FROM articles JOIN dbsim_articles USING (id) "
            "WHERE k0 NOT IN (SELECT k0 FROM dbsim_articles WHERE id IN (1, 2)) ORDER BY id LIMIT 1"
        ).fetchone()
    assert hidden is not None
    with as_role(database, role) as connection:
        plans = []
        for asked in (hidden[0], "a text that is nowhere in the table at all"):
            keys = connection.execute("SELECT k0 FROM dbsim_articles_sign(%s)", (asked,)).fetchone()
            assert keys is not None
            for view, condition in (
                ("dbsim_articles_signatures", f"k0 = {keys[0]}"),
                ("dbsim_articles_buckets", f"bucket = {keys[0]}"),
                ("dbsim_articles_pairs", "a = 3"),
            ):
                plan = connection.execute(
                    f"EXPLAIN (ANALYZE, COSTS off, TIMING off, SUMMARY off, BUFFERS off) "
                    f"SELECT * FROM {view} WHERE {condition}"
                )
                plans.append("\n".join(row[0] for row in plan).replace(str(keys[0]), "KEY"))
    assert plans[:3] == plans[3:]


def test_a_hidden_column_gives_no_score(database: dbsim.Database, role: str) -> None:
    secured(database, role, set(range(42)))
    with connected(database) as connection:
        connection.execute("ALTER TABLE articles DISABLE ROW LEVEL SECURITY")
        connection.execute(f"REVOKE SELECT ON articles FROM {role}")
        connection.execute(f"GRANT SELECT (id) ON articles TO {role}")
    with as_role(database, role) as connection:
        for question in (
            "dbsim_articles_pairs",
            "dbsim_articles_signatures",
            "dbsim_articles_search('some text here')",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(f"SELECT * FROM {question}")
