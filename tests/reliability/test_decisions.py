"""Groups follow decisions, edits and deletions: equal to a run from scratch, and no decision is ever violated."""

from __future__ import annotations

import random

import pytest

import dbsim
from dbsim.errors import Contradiction, UnknownKey
from tests.conftest import SECRET
from tests.integration.helpers import articles, execute, near_copy, sentence
from tests.reliability.harness import size
from tests.reliability.people import assert_respected, groups, groups_from_scratch

pytestmark = pytest.mark.long

ROWS = 14
SQL = ("write", "erase", "change")
OPTIONS = {"table": "articles", "columns": ["body"], "threshold": 0.5, "rows": 1, "keys": 6, "secret": SECRET}


def body(chance: random.Random) -> str:
    return near_copy(chance.randrange(3), chance.randrange(1, 9))


def step(chance: random.Random, database: dbsim.Database, index: dbsim.Index) -> None:
    one, two = chance.sample(range(1, ROWS + 1), 2)
    action = chance.choice(["same", "different", "different", "unsure", "undo", "edit", "delete", "insert", *SQL])
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
        elif action in SQL:
            low, high = sorted((one, two))
            insert = f"INSERT INTO dbsim_articles_decisions (a, b, verdict) VALUES ({low}, {high}, 'unsure')"
            rest = chance.choice(["a", "b"]) + f" = {one}"
            delete = f"DELETE FROM dbsim_articles_decisions WHERE {rest}"
            change = f"UPDATE dbsim_articles_decisions SET verdict = 'unsure' WHERE {rest}"
            execute(database.engine, {"write": f"{insert} ON CONFLICT DO NOTHING", "erase": delete}.get(action, change))
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
        assert found == groups_from_scratch(database, index)
        assert_respected(database, index, found)


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


def test_copies_that_are_different(database: dbsim.Database) -> None:
    """Rows of equal content, and what is near to them, through every change of the decision."""
    articles(database.engine, {1: sentence(1), 2: sentence(1), 3: sentence(1), 4: near_copy(1, 2), 5: sentence(50)})
    index = database.create_index("articles", **OPTIONS)
    index.sync()
    assert groups(index) == {frozenset((1, 2, 3, 4))}
    index.decide(1, 3, "different")
    index.decide(2, 3, "same")
    index.sync()
    assert groups(index) == {frozenset((1, 4)), frozenset((2, 3))}
    assert groups(index) == groups_from_scratch(database, index)
    index.decide(2, 3, "different")
    index.decide(3, 5, "same")
    assert groups(index) == {frozenset((1, 2, 4)), frozenset((3, 5))}
    assert {hit.key for group in index.duplicates(by="tight", save="tight") for hit in group.members} == {1, 2, 3, 4, 5}
    execute(database.engine, "DELETE FROM articles WHERE id = 1")
    index.sync()
    assert groups(index) == {frozenset((2, 4)), frozenset((3, 5))}
    execute(database.engine, "DELETE FROM dbsim_articles_decisions")
    assert groups(index) == {frozenset((2, 3, 4))}  # at once, without a sync


def test_decisions_about_copies_that_want_different_things(database: dbsim.Database) -> None:
    """1 and 2 are equal, but 1 is 3 and 2 is not."""
    articles(database.engine, {1: sentence(1), 2: sentence(1), 3: near_copy(1, 2), 4: sentence(50)})
    index = database.create_index("articles", **OPTIONS)
    index.sync()
    index.decide(1, 3, "same")
    index.decide(2, 3, "different")
    index.decide(2, 4, "same")
    assert groups(index) == {frozenset((1, 3)), frozenset((2, 4))}
    assert groups(index) == groups_from_scratch(database, index)


def test_deleting_leaves_copies_that_are_different(database: dbsim.Database) -> None:
    articles(database.engine, {key: sentence(1) for key in (1, 2, 3)})
    index = database.create_index("articles", **OPTIONS)
    index.sync()
    index.decide(1, 2, "different")
    resolution = index.delete_duplicates()
    assert resolution.removed == 1
    index.sync()
    assert groups(index) == set()
