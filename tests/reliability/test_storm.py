"""Create, alter, sync, duplicates and drop of one index from many processes: true errors only, nothing left behind."""

from __future__ import annotations

import multiprocessing
import random
import re
import time
from collections import Counter
from collections.abc import Callable
from multiprocessing.synchronize import Event
from typing import Any

import pytest
from sqlalchemy import Connection, inspect

import dbsim
from dbsim.dedupe.options import PairOptions
from dbsim.dedupe.update import Incremental, Update
from dbsim.errors import IndexChanged, UnknownName
from dbsim.progress import quiet
from dbsim.sync.repair import Repair
from dbsim.tables import catalogue
from tests.integration.helpers import QUICK, articles, corpus, execute, fetch
from tests.reliability.harness import Application, size

processes = multiprocessing.get_context("forkserver")
processes.set_forkserver_preload(["dbsim", "tests.reliability.test_storm"])
# what may be said while others create, change and drop the same index
TRUE = re.compile(
    r"there is no index 'articles'|index 'articles' (was changed by somebody else|exists with other options|is not "
    r"filled yet)|the database is locked by another|a table is locked by long"
)
Late = Callable[[], object]


def made(database: dbsim.Database) -> dbsim.Index:
    return database.create_index("articles", table="articles", columns="body", words=3, **QUICK)


@pytest.fixture
def index(database: dbsim.Database) -> dbsim.Index:
    articles(database.engine, corpus(4))
    found = made(database)
    found.sync()
    return found


def views(index: dbsim.Index) -> Late:
    worker = index._worker()
    return lambda: worker.write(Repair(worker)._show)


def triggers(index: dbsim.Index) -> Late:
    worker = index._worker()
    return lambda: worker.write(Repair(worker)._install)


def groups(index: dbsim.Index) -> Late:
    run = index._deduplication(quiet)
    return lambda: run.place.write(run._create)


def pairs(index: dbsim.Index) -> Late:
    run = index._deduplication(quiet)
    run.pairs(PairOptions(threshold=0.8))
    return lambda: run.pairs(PairOptions(threshold=0.9))


def decision(index: dbsim.Index) -> Late:
    book = index._book()
    return lambda: book.decide((1,), (3,), "same", "", "", None, None)


@pytest.mark.parametrize("begin", [views, triggers, groups, pairs, decision])
@pytest.mark.parametrize("anew", [False, True])
def test_whoever_comes_too_late_makes_nothing(
    database: dbsim.Database, index: dbsim.Index, begin: Callable[[dbsim.Index], Late], anew: bool
) -> None:
    """Each has looked up the index when another process drops it, and perhaps makes it again."""
    late = begin(index)
    database.drop_index("articles")
    if anew:
        made(database)
    before = inspect(database.engine).get_table_names()
    with pytest.raises((UnknownName, IndexChanged), match=TRUE.pattern):
        late()
    assert inspect(database.engine).get_table_names() == before
    execute(database.engine, "UPDATE articles SET body = 'the application goes on' WHERE id = 1")
    made(database).sync()


def test_runs_begin_again_when_the_options_change(database: dbsim.Database, index: dbsim.Index) -> None:
    """Stored groups belong to a generation: one that has become another in the middle of a run is noticed."""
    index.duplicates(threshold=0.8)
    late = index._deduplication(quiet)
    execute(database.engine, "UPDATE articles SET body = 'amber brook cedar delta ember fjord' WHERE id = 1")
    other = database.index("articles").alter(keys=5, rows=2)
    other.sync()
    execute(database.engine, "UPDATE articles SET body = 'grove heath islet juniper kelp lagoon' WHERE id = 2")
    worker = other._worker()
    worker.drain()  # so that a change is noted, for the groups of the new generation
    noted = fetch(database.engine, "SELECT count(*) FROM dbsim_articles_changes")
    assert noted[0][0] > 0
    for run in (late.keep_up, lambda: late.pairs(PairOptions(threshold=0.8))):
        with pytest.raises(IndexChanged):
            run()
    assert fetch(database.engine, "SELECT count(*) FROM dbsim_articles_changes") == noted
    index.sync()  # which looks up the index anew
    before = fetch(database.engine, "SELECT * FROM dbsim_articles_groups ORDER BY 1, 2")
    assert index.duplicates(threshold=0.8)
    assert fetch(database.engine, "SELECT * FROM dbsim_articles_groups ORDER BY 1, 2") == before


def test_a_sync_outlives_any_number_of_changes(
    database: dbsim.Database, index: dbsim.Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each time what it has computed belongs to an index that somebody has changed meanwhile."""
    index.duplicates(threshold=0.8)
    computed, times = Incremental.compute, iter(range(8))

    def late(self: Incremental, connection: Connection) -> Update | None:
        found = computed(self, connection)
        if next(times, None) is not None:
            connection.rollback()
            execute(database.engine, "UPDATE dbsim_index SET stamp = stamp || 'x'")
        return found

    monkeypatch.setattr(Incremental, "compute", late)
    execute(database.engine, "UPDATE articles SET body = 'amber brook cedar delta ember fjord' WHERE id = 1")
    index.sync()
    assert next(times, None) is None
    before = fetch(database.engine, "SELECT * FROM dbsim_articles_groups ORDER BY 1, 2")
    assert index.duplicates(threshold=0.8)
    assert fetch(database.engine, "SELECT * FROM dbsim_articles_groups ORDER BY 1, 2") == before


def test_an_index_that_is_made_anew_between_two_looks(
    database: dbsim.Database, index: dbsim.Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No error says that there is no such index and names the same index as what may be meant."""
    generations, times = catalogue.generations, iter(range(3))

    def gone(connection: Connection, name: str, **options: bool) -> list[catalogue.IndexRecord]:
        return [] if next(times, None) is not None else generations(connection, name, **options)

    monkeypatch.setattr(catalogue, "generations", gone)
    execute(database.engine, "UPDATE articles SET body = 'amber brook cedar delta ember fjord' WHERE id = 1")
    assert index.sync().changed == 1
    assert next(times, None) is None


def act(url: str, seed: int, stop: Event, told: Any) -> None:
    """One of everything in random order; what is refused is told, but for what is true."""
    source, odd, done = random.Random(seed), Counter[str](), 0
    verbs = ["alter", "sync", "drop", "create", "sync", "duplicates", "search", "sync", "create"]
    while not stop.is_set():
        verb = source.choice(verbs)
        try:
            with dbsim.open(url) as database:
                if verb == "create":
                    made(database)
                elif verb == "drop":
                    database.drop_index("articles")
                elif verb == "alter":
                    database.alter_index("articles", keys=source.choice([4, 5, 6]), rows=2)
                elif verb == "search":
                    database.index("articles").search("amber brook cedar")
                else:
                    getattr(database.index("articles"), verb)()
            done += 1
        except Exception as error:  # noqa: BLE001  # whatever it is, it is told
            if not (isinstance(error, dbsim.DbsimError) and TRUE.search(str(error))):
                odd[f"{verb}: {type(error).__name__}: {error}"[:300]] += 1
    told.put((done, dict(odd)))


def test_many_processes_create_change_and_drop(url: str, database: dbsim.Database) -> None:
    articles(database.engine, corpus(10))
    made(database).sync()
    stop, told = processes.Event(), processes.Queue()
    actors = [processes.Process(target=act, args=(url, seed, stop, told), daemon=True) for seed in range(size(2, 4))]
    for actor in actors:
        actor.start()
    writes, end = 0, time.monotonic() + size(4, 60)
    with Application(url) as app:
        while time.monotonic() < end:
            app.execute("UPDATE articles SET body = ? WHERE id = ?", f"words of version {writes}", 1 + writes % 40)
            writes += 1
            time.sleep(0.005)
    stop.set()
    found = [told.get(timeout=120) for _ in actors]
    for actor in actors:
        actor.join()
    assert [odd for _, odd in found] == [{}] * len(actors)
    assert sum(done for done, _ in found) > 0
    if "articles" in [index.name for index in database.indexes()]:
        database.drop_index("articles")
    assert not [name for name in inspect(database.engine).get_table_names() if name.startswith("dbsim_articles")]
    index = made(database)
    index.sync()
    assert not index.check()
