"""Deduplication that is killed, disturbed or run twice ends with the groups of a run from nothing."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import threading
from typing import Any

import pytest
from sqlalchemy import event, text

import dbsim
from dbsim.dedupe import store_groups as grouping
from dbsim.dedupe import store_pairs as pairing
from dbsim.dedupe.kernels import pairs
from dbsim.progress import quiet
from dbsim.tables import group_results, group_state
from tests.articles import edited, fill, forget_pairs, generated, stored_groups, stored_pairs
from tests.reliability import processes  # noqa: F401 (says what the fork server loads)

FULL = os.environ.get("DBSIM_RELIABILITY") == "full"
KILLS = 60 if FULL else 5
CONTEXT = multiprocessing.get_context("forkserver")  # with dbsim loaded, see processes.py


SMALL_STEPS = ((pairs, "BLOCK", 40), (pairing, "BATCH", 15), (grouping, "BATCH", 10))


@pytest.fixture(autouse=True)
def _small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many transactions for few rows, so that there are many points to be interrupted at."""
    for module, name, value in SMALL_STEPS:
        monkeypatch.setattr(module, name, value)


def killed_at(url: str, statement: int) -> bool:
    """Run `duplicates` in a process that kills itself before its n-th statement; False if it came to the end."""
    process = CONTEXT.Process(target=run_and_die, args=(url, statement))
    process.start()
    process.join()
    assert process.exitcode in (0, -signal.SIGKILL)
    return process.exitcode != 0


def run_and_die(url: str, statement: int) -> None:
    for module, name, value in SMALL_STEPS:
        setattr(module, name, value)
    database = dbsim.open(url)
    left = [statement]

    @event.listens_for(database.engine, "before_cursor_execute")
    def count(*_: Any) -> None:
        left[0] -= 1
        if left[0] < 0:
            os.kill(os.getpid(), signal.SIGKILL)

    database.index("articles").duplicates()
    database.close()


def full_run(database: dbsim.Database) -> tuple[Any, Any]:
    forget_pairs(database)
    database.index("articles").duplicates()
    return stored_groups(database), stored_pairs(database)


def change(database: dbsim.Database, rng: random.Random, texts: list[str], writer: int = 0) -> None:
    key = rng.randrange(len(texts) // 2 + 10) * 2 + writer  # two writers do not meet at one key
    with database.engine.begin() as connection:
        connection.execute(text("DELETE FROM articles WHERE id = :id"), {"id": key})
        if rng.random() < 0.8:
            body = edited(rng.choice(texts), rng.choice([0, 1, 3]), rng)
            connection.execute(text("INSERT INTO articles VALUES (:id, :body)"), {"id": key, "body": body})


@pytest.mark.long
def test_killed_anywhere_and_run_again(database: dbsim.Database, url: str) -> None:
    index = fill(database, generated(150))
    database.engine.dispose()
    length = 1
    while killed_at(url, length):  # how many statements a whole run has
        length *= 2
        database.drop_index("articles")
        database.create_index("articles", table="articles", columns=["body"], secret=b"0" * 16).sync()
        database.engine.dispose()
    index.duplicates()
    expected = full_run(database)
    rng = random.Random(7)
    resumed = 0
    for _ in range(KILLS):
        forget_pairs(database)
        database.engine.dispose()
        while killed_at(url, rng.randrange(5, length)):
            with database.engine.connect() as connection:
                state = connection.execute(text("SELECT reached, paired FROM dbsim_articles_grouping")).one()
            resumed += state.reached is not None and not state.paired
            database.engine.dispose()
        assert (stored_groups(database), stored_pairs(database)) == expected
        database.engine.dispose()
    assert resumed > 0


def test_changes_while_it_runs(database: dbsim.Database) -> None:
    """The result is that of the moment of the last step: of all that was synced before it ended."""
    texts = generated(150)
    index = fill(database, texts)
    rng = random.Random(3)
    stages: set[str] = set()

    def disturb(stage: str, done: int, total: int) -> None:
        stages.add(stage)
        for _ in range(3):
            change(database, rng, texts)
        database.index("articles").sync()  # another worker, in the middle of the run

    index.duplicates(progress=disturb)
    result = (stored_groups(database), stored_pairs(database))
    assert len(stages) == 4
    assert full_run(database) == result


def test_the_application_never_waits(url: str, tmp_path: Any) -> None:
    """Between any two steps a writer without patience gets through."""
    database = dbsim.open(url, create=True)
    database.upgrade()
    index = fill(database, generated(100))
    other = dbsim.open(url)
    written = 0

    def write(stage: str, done: int, total: int) -> None:
        nonlocal written
        with other.engine.connect() as connection:
            if connection.dialect.name == "sqlite":
                connection.exec_driver_sql("PRAGMA busy_timeout = 0")
            else:
                connection.exec_driver_sql("SET lock_timeout = '1ms'")
            connection.execute(text("UPDATE articles SET body = body || ' x' WHERE id = :id"), {"id": written})
            connection.commit()
        written += 1

    index.duplicates(progress=write)
    assert written > 5
    other.close()
    database.close()


@pytest.mark.parametrize("back", ["grouping", "storing groups"])
def test_rows_changed_and_changed_back_while_they_are_compared(database: dbsim.Database, url: str, back: str) -> None:
    """Nothing is signed anew, so nothing but the run itself can know that it has read other texts."""
    index = fill(database, generated(100))
    other = dbsim.open(url)

    def write(statement: str) -> None:
        with other.engine.begin() as connection:
            connection.execute(text(statement))

    def disturb(stage: str, done: int, total: int) -> None:
        if stage == "comparing" and stage not in disturbed:
            write("CREATE TABLE kept AS SELECT id, body FROM articles")
            write("UPDATE articles SET body = 'something else ' || id")
        if stage == back and stage not in disturbed:
            write("UPDATE articles SET body = (SELECT body FROM kept WHERE kept.id = articles.id)")
        disturbed.append(stage)

    disturbed: list[str] = []
    index.duplicates(progress=disturb)
    assert back in disturbed
    index.sync()
    result = (stored_groups(database), stored_pairs(database))
    assert any(pair[-1] for pair in result[1])  # decided by the texts
    assert full_run(database) == result
    other.close()


def test_workers_and_runs_at_once(database: dbsim.Database, url: str) -> None:
    """Writers, a following worker and two runs after each other at the same time."""
    texts = generated(120)
    fill(database, texts).duplicates()
    stop = threading.Event()
    failures: list[BaseException] = []

    def work(seed: int) -> None:
        own = dbsim.open(url)
        rng = random.Random(seed)
        try:
            while not stop.is_set():
                if seed < 2:
                    change(own, rng, texts, seed)
                    stop.wait(0.02)
                else:
                    own.index("articles").sync()
        except BaseException as error:  # noqa: BLE001 (shown by the test)
            failures.append(error)
        finally:
            own.close()

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    try:
        for by in ("components", "tight", "majorclust", "tight"):
            database.index("articles").duplicates(by=by)
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert not failures
    database.index("articles").sync()
    result = (stored_groups(database), stored_pairs(database))
    assert full_run(database) == result


def test_a_second_run_takes_over_one_that_gives_no_sign(
    database: dbsim.Database, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the first, when it goes on, uses what the second made: both succeed."""
    monkeypatch.setattr(group_state, "STALLED", 0)
    index = fill(database, generated(100))
    other = dbsim.open(url)
    taken = []

    def again(stage: str, done: int, total: int) -> None:
        if stage == "comparing" and done < total and not taken:
            taken.append(other.index("articles").duplicates())

    found = index.duplicates(progress=again)
    assert [group.id for group in found] == [group.id for group in taken[0]]
    result = (stored_groups(database), stored_pairs(database))
    assert full_run(database) == result
    other.close()


def test_runs_at_once_all_succeed(database: dbsim.Database, url: str) -> None:
    """With the same and with other options; none replaces what another has made."""
    fill(database, generated(120)).duplicates()
    published = stored_groups(database)
    forget_pairs(database)
    options: list[dict[str, Any]] = [{}, {}, {"threshold": 0.9}, {"by": "components"}, {"verify": True}]
    found: dict[int, int] = {}
    failures: list[BaseException] = []

    def work(number: int) -> None:
        own = dbsim.open(url)
        try:
            found[number] = len(own.index("articles").duplicates(**options[number]))
        except BaseException as error:  # noqa: BLE001 (shown by the test)
            failures.append(error)
        finally:
            own.close()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(len(options))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert stored_groups(database) == published
    for number, chosen in enumerate(options):
        assert len(database.index("articles").duplicates(**chosen)) == found[number]


@pytest.mark.parametrize("stage", ["comparing", "grouping", "storing groups", "storing groups, twice"])
def test_nothing_of_a_deleted_row_stays_after_a_run_was_stopped(database: dbsim.Database, stage: str) -> None:
    """Neither its fingerprint nor its keys, once it is synced; and the run can be repeated."""
    stage, _, twice = stage.partition(", ")
    texts = generated(80)
    index = fill(database, texts)
    index.duplicates()
    forget_pairs(database)

    def stop(now: str, done: int, total: int) -> None:
        if now == stage and (stage == "grouping" or done >= total // 2):
            raise KeyboardInterrupt

    for _ in range(2 if twice else 1):
        with pytest.raises(KeyboardInterrupt):
            index.duplicates(progress=stop)
    with database.engine.begin() as connection:
        gone = connection.execute(text("SELECT * FROM dbsim_articles WHERE id < 40")).all()
        left = set(connection.execute(text("SELECT fingerprint FROM dbsim_articles WHERE id >= 40")).scalars())
        connection.execute(text("DELETE FROM articles WHERE id < 40"))
    (problem,) = index.status().problems
    assert "was stopped" in problem
    index.sync()
    traces = {row.fingerprint for row in gone} - left - {None}
    with database.engine.connect() as connection:
        for table in ("edges", "contents", "changes"):
            rows = connection.execute(text(f"SELECT * FROM dbsim_articles_{table}")).all()
            assert not traces & {value for row in rows for value in row}
    index.duplicates()
    result = (stored_groups(database), stored_pairs(database))
    assert full_run(database) == result
    assert index.status().problems == ()


def test_a_change_of_generation_keeps_what_is_wanted(database: dbsim.Database) -> None:
    """Killed right after the switch: the next sync makes the groups again, whoever runs it."""
    index = fill(database, generated(80))
    index.duplicates(by="components")
    index.duplicates(threshold=0.9, save="strict")
    index.alter(keys=12, rows=3)
    index._worker().run()  # the worker alone, without what `sync` does afterwards
    assert stored_groups(database) == []
    assert "groups are to be made again" in " ".join(index.status().problems)
    database.index("articles").sync()
    result = (stored_groups(database), stored_pairs(database))
    assert [one["name"] for one in index.results()] == ["published", "strict"]
    assert result[0] != []
    forget_pairs(database)
    index.duplicates(by="components")
    index.duplicates(threshold=0.9, save="strict")
    assert (stored_groups(database), stored_pairs(database)) == result


def removed_at_once(database: dbsim.Database) -> list[int]:
    """How many stored pairs each statement from now on removes."""
    found: list[int] = []

    @event.listens_for(database.engine, "after_cursor_execute")
    def count(_: Any, cursor: Any, statement: str, *__: Any) -> None:
        if statement.startswith("DELETE FROM dbsim_articles_edges"):
            found.append(cursor.rowcount)

    return found


def edges_of(database: dbsim.Database) -> dict[int, int]:
    with database.engine.connect() as connection:
        rows = connection.execute(text("SELECT pairing, count(*) FROM dbsim_articles_edges GROUP BY pairing"))
        return {row[0]: row[1] for row in rows}


@pytest.mark.parametrize("why", ["anew", "stopped", "no longer needed"])
def test_pairs_are_removed_in_steps(database: dbsim.Database, why: str) -> None:
    """330,000 at once keep the application's writes on SQLite out for 2 s of CPU."""
    index = fill(database, generated(300))
    index.pairs(threshold=0.6) if why == "no longer needed" else index.duplicates(threshold=0.6)

    def stop(now: str, *_: int) -> None:
        if now == "storing groups":
            raise KeyboardInterrupt

    with database.engine.begin() as connection:
        if why == "no longer needed":
            connection.execute(text("UPDATE dbsim_articles_grouping SET seen = 1"))
        else:
            connection.execute(text("UPDATE dbsim_articles_grouping SET token = 'renew'"))
    before = sum(edges_of(database).values())
    assert before > 2 * pairing.BATCH
    removed = removed_at_once(database)
    if why == "stopped":
        with pytest.raises(KeyboardInterrupt):
            index.sync(progress=stop)
        with database.engine.begin() as connection:
            connection.execute(text("DELETE FROM articles WHERE id = 1"))
    index.sync()
    assert sum(removed) >= before
    assert max(removed) <= pairing.BATCH
    assert bool(edges_of(database)) is (why == "anew")
    result = list(index.pairs(threshold=0.6))
    forget_pairs(database)
    assert list(index.pairs(threshold=0.6)) == result


def test_pairs_that_are_asked_for_while_they_are_removed(database: dbsim.Database) -> None:
    index = fill(database, generated(150))
    expected = list(index.pairs(threshold=0.6))
    with database.engine.begin() as connection:
        connection.execute(text("UPDATE dbsim_articles_grouping SET seen = 1"))
    place = index._deduplication(quiet).place
    for more in (True, False):
        with database.engine.begin() as connection:
            assert group_results.remove_pairing(connection, place.groups, 1, 10) is more
        assert list(index.pairs(threshold=0.6)) == expected


def test_two_followers_do_not_take_a_run_from_each_other(database: dbsim.Database) -> None:
    """Both have seen that pairs are to be sought again; each that lost them would begin again, and so for ever."""
    index = fill(database, generated(150))
    index.duplicates()
    with database.engine.begin() as connection:
        connection.execute(text("UPDATE dbsim_articles_grouping SET token = 'renew', paired = false"))
    late = index._deduplication(quiet)
    seen = late.state(1)
    runs: set[str] = set()

    def meet(stage: str, *_: int) -> None:
        runs.add(late.state(1).token)
        if stage in ("comparing", "grouping"):
            assert late._keep_up(seen, 0) == 0

    index.sync(progress=meet)
    assert len(runs) == 1
    assert late.state(1).paired
