"""Groups follow decisions, edits and deletions: equal to a run from scratch, and no decision is ever violated."""

from __future__ import annotations

import random

import pytest
from sqlalchemy import text

import dbsim
from dbsim.errors import Contradiction, UnknownKey
from tests.conftest import SECRET
from tests.integration.helpers import articles, execute, near_copy, sentence
from tests.reliability.harness import size

ROWS = 14
OPTIONS = {"table": "articles", "columns": ["body"], "threshold": 0.5, "rows": 1, "keys": 6, "secret": SECRET}


def groups(index: dbsim.Index) -> set[frozenset[int]]:
    return {frozenset(hit.key for hit in group.members) for group in index.duplicates(by="components")}


def body(chance: random.Random) -> str:
    return near_copy(chance.randrange(3), chance.randrange(1, 9))


def scratch(database: dbsim.Database, index: dbsim.Index) -> set[frozenset[int]]:
    """The same table, secret and decisions in a new index."""
    other = database.create_index("scratch", **OPTIONS)
    other.sync()
    with database.engine.begin() as connection:
        for decision in index.decisions():
            if not decision.outdated:
                values = {"a": decision.a, "b": decision.b, "v": decision.verdict}
                insert = "INSERT INTO dbsim_scratch_decisions (a, b, verdict) VALUES (:a, :b, :v)"
                connection.execute(text(insert), values)
    other.sync()
    found = groups(other)
    database.drop_index("scratch")
    return found


def step(chance: random.Random, database: dbsim.Database, index: dbsim.Index) -> None:
    one, two = chance.sample(range(1, ROWS + 1), 2)
    action = chance.choice(["same", "different", "different", "unsure", "undo", "edit", "delete", "insert", "sql"])
    try:
        if action == "undo":
            index.undecide(one, two)
        elif action == "edit":
            execute(database.engine, f"UPDATE articles SET body = '{body(chance)}' WHERE id = {one}")
        elif action == "delete":
            execute(database.engine, f"DELETE FROM articles WHERE id = {one}")
        elif action == "insert":
            insert = f"INSERT INTO articles VALUES ({one}, '{body(chance)}') ON CONFLICT DO NOTHING"
            execute(database.engine, insert)
        elif action == "sql":
            low, high = sorted((one, two))
            insert = f"INSERT INTO dbsim_articles_decisions (a, b, verdict) VALUES ({low}, {high}, 'unsure')"
            execute(database.engine, insert + " ON CONFLICT DO NOTHING")
        else:
            index.decide(one, two, action)
    except (Contradiction, UnknownKey):
        pass


@pytest.mark.parametrize("seed", range(size(2, 60)))
def test_incremental_groups_equal_a_full_run_with_decisions(database: dbsim.Database, seed: int) -> None:
    chance = random.Random(seed)
    articles(database.engine, {key: body(chance) for key in range(1, ROWS + 1)})
    index = database.create_index("articles", **OPTIONS)
    index.sync()
    groups(index)
    for _ in range(size(8, 40)):
        for _ in range(chance.randrange(1, 4)):
            step(chance, database, index)
        index.sync()
        found = groups(index)
        assert found == scratch(database, index)
        together = {frozenset((a, b)) for group in found for a in group for b in group if a != b}
        copies = _bodies(database)
        for decision in index.decisions():
            pair = frozenset((decision.a, decision.b))
            if decision.outdated or copies.get(decision.a) == copies.get(decision.b):
                continue
            assert not (decision.verdict == "different" and pair in together)
            assert not (decision.verdict == "same" and pair not in together)


def _bodies(database: dbsim.Database) -> dict[int, str]:
    with database.engine.connect() as connection:
        return {row[0]: row[1] for row in connection.execute(text("SELECT id, body FROM articles"))}


def test_same_below_the_threshold_and_different_through_a_third_row(database: dbsim.Database) -> None:
    texts = {1: sentence(1), 2: near_copy(1, 3), 3: near_copy(1, 6), 4: sentence(50), 5: sentence(51)}
    articles(database.engine, texts)
    index = database.create_index("articles", **OPTIONS)
    index.sync()
    assert groups(index) == {frozenset((1, 2, 3))}
    index.decide(4, 5, "same")
    index.decide(1, 3, "different")
    index.sync()
    after = groups(index)
    assert frozenset((4, 5)) in after
    assert not any({1, 3} <= group for group in after)
    index.undecide(4, 5)
    index.undecide(1, 3)
    index.sync()
    assert groups(index) == {frozenset((1, 2, 3))}
