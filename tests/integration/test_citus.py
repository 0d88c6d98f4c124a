"""An index of a distributed table: dbsim's tables beside it, no triggers, and no statement that Citus refuses."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import text

import dbsim
from dbsim.errors import IndexBehind, InvalidOption
from tests import citus
from tests.conftest import SECRET
from tests.fixtures.shell import Command
from tests.integration.helpers import corpus, execute, fetch

SPREAD = ["dbsim_articles", "dbsim_articles_g2", "articles"]


@pytest.fixture
def url(new_postgres: str) -> str:
    return new_postgres


@pytest.fixture
def distributed(database: dbsim.Database) -> dbsim.Database:
    """With a table whose rows lie where their tenant does."""
    citus.pretend(database.engine)
    texts = corpus(12, 40)
    with database.engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE articles (tenant int, id int, body text, PRIMARY KEY (tenant, id))")
        values = [{"t": number % 3, "id": number, "body": body} for number, body in texts.items()]
        connection.execute(text("INSERT INTO articles VALUES (:t, :id, :body)"), values)
        connection.exec_driver_sql("SELECT create_distributed_table('articles', 'tenant')")
    return database


def create(database: dbsim.Database, name: str = "articles", **options: Any) -> dbsim.Index:
    made = {"columns": "body", "secret": SECRET, "threshold": 0.6, **options}
    return database.create_index(name, table="articles", **made)


def groups_of(index: dbsim.Index) -> list[Any]:
    return [(group.representative, group.diameter, group.members) for group in index.duplicates()]


def test_the_whole_life_of_an_index(distributed: dbsim.Database) -> None:
    """Nothing is sent that a distributed planner refuses, and what comes out is what one machine finds."""
    one_machine = create(distributed, "plain", distributed=False, triggers=False)
    one_machine.sync()
    expected = groups_of(one_machine)
    with citus.recorded() as sent:
        distributed.upgrade()
        index = create(distributed)
        assert (index.options.distributed, index.options.triggers) == (True, False)
        index.sync()
        assert groups_of(index) == expected
        pairs = {(tuple(p.a.values()), tuple(p.b.values())): p.score for p in index.pairs()}
        assert index.similar({"tenant": 1, "id": 1})
        asked = list(corpus(3).values())
        assert all(index.search_many(asked))
        assert index.search_many(asked) == [index.search(one) for one in asked]
        execute(distributed.engine, "UPDATE articles SET body = 'gone now' WHERE id = 5")
        execute(distributed.engine, "DELETE FROM articles WHERE id = 6")
        assert index.sync().repaired == 2
        shown = {(row[:2], row[2:4]): row[4] for row in fetch(distributed.engine, "SELECT * FROM dbsim_articles_pairs")}
        assert not index.check()
        index.decide({"tenant": 1, "id": 1}, {"tenant": 0, "id": 3}, "different")
        index.alter(threshold=0.5)
        index.sync()
        index.duplicates()
        with pytest.raises(IndexBehind, match="without triggers"):
            index.delete_duplicates()
        index.delete_duplicates(even_if_behind=True)
        index.sync()
        status = fetch(distributed.engine, "SELECT index_name, rows, queued FROM dbsim_status ORDER BY index_name")
        assert status[0] == ("articles", index.status().rows, 0)
        assert fetch(distributed.engine, "SELECT count(*) FROM dbsim_articles_buckets")[0][0] > 0
    assert citus.broken(sent, SPREAD, ["tenant", "id"]) == []
    kept = {pair: score for pair, score in pairs.items() if not {5, 6} & {pair[0][1], pair[1][1]}}
    both = kept | {(b, a): score for (a, b), score in kept.items()}
    assert {pair: score for pair, score in shown.items() if not {5, 6} & {pair[0][1], pair[1][1]}} == both
    distributed.drop_index("articles")


def test_the_view_of_pairs_respects_decisions(distributed: dbsim.Database) -> None:
    """Different pairs are left out, the same ones are there also below the threshold, in both directions."""
    index = create(distributed)
    index.sync()
    index.duplicates()
    with citus.recorded() as sent:
        before = shown_pairs(distributed)
        (one, two), *_ = sorted(before)
        far = next(key for key in fetch(distributed.engine, "SELECT tenant, id FROM articles ORDER BY id DESC"))
        assert not any(far in pair for pair in before)
        index.decide(named(one), named(two), "different")
        index.decide(named(one), named(far), "same")
        index.decide(named(two), named(far), "unsure")
        after = shown_pairs(distributed)
        assert after.keys() == before.keys() - {(one, two), (two, one)} | {(one, far), (far, one)}
        assert {after[one, far][1], after[far, one][1]} == {"same"}
        execute(distributed.engine, f"UPDATE articles SET body = 'gone now' WHERE id = {far[1]}")
        index.sync()  # the decision is outdated: it counts no more
        assert shown_pairs(distributed).keys() == after.keys() - {(one, far), (far, one)}
    assert citus.broken(sent, SPREAD, ["tenant", "id"]) == []


def shown_pairs(database: dbsim.Database) -> dict[tuple[Any, Any], tuple[float, str | None]]:
    rows = fetch(database.engine, "SELECT * FROM dbsim_articles_pairs")
    return {(row[:2], row[2:4]): (row[4], row[-1]) for row in rows}


def named(key: Any) -> dict[str, Any]:
    return {"tenant": key[0], "id": key[1]}


def test_where_the_tables_lie(distributed: dbsim.Database) -> None:
    distributed.upgrade()
    with citus.recorded() as sent:
        index = create(distributed)
        index.sync()
        index.duplicates()
    placed = dict(fetch(distributed.engine, "SELECT logicalrelid::text, partkey FROM pg_dist_partition"))
    assert placed.pop("dbsim_articles") == placed.pop("articles") == "tenant"
    named = {"version", "index", "generation", "quarantine", "model", "cardinality", "unicode", "donor", "constant"}
    parts = ("decisions", "edges", "contents", "changes", "grouping", "results", "apart", "respected", "claims")
    stored = {f"articles_{part}" for part in parts}
    assert placed == dict.fromkeys(f"dbsim_{part}" for part in named | stored)
    spread = next(n for n, statement in enumerate(sent) if "create_distributed_table" in statement)
    typed = [n for n, statement in enumerate(sent[: spread + 20]) if "CREATE TYPE" in statement]
    assert typed
    assert typed[0] < spread, "a type cannot be made once a table of the transaction is distributed"
    assert fetch(distributed.engine, "SELECT count(*) FROM pg_trigger WHERE NOT tgisinternal") == [(0,)]


def test_reference_tables_and_ordinary_ones(distributed: dbsim.Database) -> None:
    execute(
        distributed.engine,
        "CREATE TABLE lookup (id int PRIMARY KEY, body text)",
        "CREATE TABLE local (id int PRIMARY KEY, body text)",
        "SELECT create_reference_table('lookup')",
    )
    for name, expected in (("lookup", True), ("local", False)):
        index = distributed.create_index(name, table=name, columns="body", secret=SECRET)
        assert (index.options.distributed, index.options.triggers) == (expected, not expected)
        index.sync()
    placed = dict(fetch(distributed.engine, "SELECT logicalrelid::text, partmethod FROM pg_dist_partition"))
    assert placed["dbsim_lookup"] == "n"
    assert "dbsim_local" not in placed


def test_said_from_the_shell(
    distributed: dbsim.Database, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = Command(monkeypatch, capsys)
    url = distributed.engine.url.render_as_string(hide_password=False)
    asked = ("create", url, "articles", "--table", "articles", "--column", "body")
    assert "Citus has no triggers there: every `dbsim sync` compares all rows" in run(*asked)[1]
    assert run(*asked, "--citus")[0] == 0  # once more changes nothing
    execute(distributed.engine, "CREATE TABLE local (id int PRIMARY KEY, body text)")
    with pytest.raises(InvalidOption, match="'local' is not distributed: leave out --citus, or distribute it first"):
        distributed.create_index("local", table="local", columns="body", distributed=True)
    with pytest.raises(InvalidOption, match="leave out inline"):
        create(distributed, "other", inline=True)


def test_without_citus(database: dbsim.Database) -> None:
    execute(database.engine, "CREATE TABLE t (id int PRIMARY KEY, body text)")
    with pytest.raises(InvalidOption, match="no Citus in this database"):
        database.create_index("t", table="t", columns="body", distributed=True)


def test_what_it_cannot_do_is_explained(database: dbsim.Database) -> None:
    for state in citus_states():
        statement = f"DO $$ BEGIN RAISE 'no such plan' USING ERRCODE = '{state}'; END $$"
        with pytest.raises(Exception, match="no such plan") as caught, database.engine.begin() as connection:
            connection.exec_driver_sql(statement)
        found = database._backend.explain(caught.value)
        assert found is not None
        assert "(no such plan): on a replica, connect to the primary; on Citus, to the coordinator" in str(found)


def citus_states() -> tuple[str, ...]:
    return ("0A000", "XX000")


def test_the_checker_finds_each_rule_broken() -> None:
    """So that an empty list means something."""
    for statement in (
        "INSERT INTO x VALUES (1) ON CONFLICT (a) DO UPDATE SET b = now()",
        "CREATE TABLE dbsim_x (id int REFERENCES articles)",
        "SELECT reltuples FROM pg_class",
        "COPY (SELECT a FROM (SELECT a FROM dbsim_articles ORDER BY id) AS s) TO STDOUT",
        "SELECT * FROM dbsim_articles CROSS JOIN LATERAL (SELECT 1) AS x",
        "SELECT 1 FROM articles WHERE id IN (1) FOR UPDATE",
        "CREATE TRIGGER t AFTER INSERT ON articles EXECUTE FUNCTION f()",
        "UPDATE dbsim_articles SET id = 3",
        "SELECT 1 FROM dbsim_articles AS a JOIN dbsim_articles AS b ON a.k0 = b.k0",
    ):
        assert len(citus.broken([statement], SPREAD, ["tenant", "id"])) == 1, statement
    assert citus.broken(["SELECT 1 FROM dbsim_articles_queue FOR UPDATE SKIP LOCKED"], SPREAD, ["id"]) == []


def test_made_by_a_migration(distributed: dbsim.Database) -> None:
    """Which leaves views to the first sync; offline the statements are the same."""
    from alembic.migration import MigrationContext
    from alembic.operations import Operations

    import dbsim.migrate

    field = dbsim.Field(columns=("body",), unit="words", size=3, bits=1024)
    options = dbsim.IndexOptions(name="articles", table="articles", fields=(field,), triggers=False, distributed=True)
    with distributed.engine.begin() as connection:
        dbsim.migrate.create_index(Operations(MigrationContext.configure(connection)), options.with_plan())
    index = distributed.index("articles")
    index.sync()
    assert list(index.duplicates())
    assert fetch(distributed.engine, "SELECT count(*) FROM dbsim_articles_pairs")[0][0] > 0
