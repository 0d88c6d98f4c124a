"""status: what an index covers, how far it is and what needs attention."""

from __future__ import annotations

import json

import dbsim
from tests.conftest import SECRET
from tests.fixtures.shell import Command
from tests.integration.helpers import QUICK, add, articles, corpus, execute, sentence


def test_the_life_of_an_index_in_numbers(database: dbsim.Database) -> None:
    articles(database.engine, corpus(2))
    index = database.create_index("articles", table="articles", columns="body", secret=SECRET)
    status = index.status()
    assert (status.state, status.rows, status.indexed, status.queued, status.quarantined) == ("filling", 8, 0, 0, 0)
    assert status.problems == ("not filled yet: run `dbsim sync`",)
    assert status.fill == {"body": 0.0}
    assert (status.family, status.keys, status.rows_per_key) == ("minhash@1", 22, 5)
    assert (status.threshold, status.recall, status.generation) == (0.7, 0.95, 1)
    add(database.engine, {100: sentence(5), 101: ""})
    status = index.status()
    assert (status.rows, status.queued) == (10, 2)
    assert status.oldest_queued is not None
    index.sync()
    status = index.status()
    assert (status.state, status.rows, status.indexed, status.queued, status.oldest_queued) == (
        "ready",
        10,
        10,
        0,
        None,
    )
    assert status.problems == ()
    assert 0.02 < status.fill["body"] < 0.05  # 28 shingles in 1,024 bits
    assert status.saturated == {"body": 0.0}
    execute(database.engine, "DELETE FROM articles WHERE id < 5")
    status = index.status()
    assert (status.rows, status.indexed, status.queued) == (6, 10, 4)


def test_a_saturated_filter_is_named(database: dbsim.Database) -> None:
    articles(database.engine, {n: sentence(n, 400) for n in range(3)})
    index = database.create_index("articles", table="articles", columns="body", bits=64, **QUICK)
    index.sync()
    (problem,) = index.status().problems
    assert problem == (
        "100% of the rows are too long for the filters of 'body' and are compared by their texts: "
        "`dbsim alter` it to more bits"
    )
    assert index.status().saturated == {"body": 1.0}


def test_status_in_the_shell(database: dbsim.Database, shell: Command) -> None:
    url = database.engine.url.render_as_string(hide_password=False)
    assert shell("status", url) == (0, "no index yet: create one with `dbsim create`\n", "")
    assert json.loads(shell("status", url, "--json")[1]) == []
    articles(database.engine, corpus(2))
    database.create_index("articles", table="articles", columns="body", **QUICK).sync()
    database.create_index("more", table="articles", columns={"body": 0.5}, **QUICK)
    add(database.engine, {100: None})
    code, out, err = shell("status", url)
    assert (code, err) == (0, "")
    table = "articles" if database.engine.dialect.name == "sqlite" else "public.articles"
    for part in (
        f"{table} (body)",
        "minhash@1, 4 keys of 2 values",
        "pairs from jaccard 0.7 with recall 0.95",
        "ready, 8 of 9 rows indexed",
        "filling, 0 of 9 rows indexed",
        "1, oldest ",
        "not filled yet: run `dbsim sync`",
    ):
        assert part in out
    code, out, err = shell("status", url, "--json")
    assert (code, err) == (0, "")
    first, second = json.loads(out)
    expected = [index.status().to_json() for index in database.indexes()]
    assert [first, second] == expected
    assert (first["index"], first["rows"], first["indexed"], first["queued"]) == ("articles", 9, 8, 1)
    assert json.loads(shell("status", url, "more", "--json")[1]) == [second]
    code, out, err = shell("status", url, "articles")
    assert (code, err) == (0, "")
    assert "ready, 8 of 9 rows indexed" in out
    assert "filling" not in out
    unknown = "dbsim: there is no index 'artikles'; did you mean 'articles'?\n"
    assert shell("status", url, "artikles") == (2, "", unknown)
    assert second["problems"] == ["not filled yet: run `dbsim sync`"]
