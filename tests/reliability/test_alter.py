"""Options change while searches, writes and kills go on (promise 10)."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import count

import numpy as np
import pytest
from alembic.migration import MigrationContext
from alembic.operations import Operations
from sqlalchemy import Connection, inspect, text

import dbsim
import dbsim.migrate
from dbsim.errors import InvalidOption, UnknownName
from dbsim.lifecycle import retire
from dbsim.sync.compare import Comparison
from dbsim.tables import catalogue
from dbsim.tables.index_tables import IndexTables
from tests.conftest import SECRET
from tests.integration.helpers import execute, fetch
from tests.migration.harness import KILLED, killed_after
from tests.reliability.harness import size

pytestmark = pytest.mark.long

WORDS = [f"word{number}" for number in range(400)]
Answer = list[dbsim.Hit]


def body(key: int, version: int = 0) -> str:
    """Texts in families of five, so that every search finds something."""
    source = random.Random(key // 5)
    words = source.choices(WORDS, k=40)
    own = random.Random(f"{key} {version}")
    for _ in range(4 + version % 3):
        words[own.randrange(40)] = own.choice(WORDS)
    return " ".join(words)


def fill_table(connection: Connection, rows: int) -> None:
    connection.execute(text("CREATE TABLE articles (id INTEGER PRIMARY KEY, body TEXT)"))
    connection.execute(
        text("INSERT INTO articles VALUES (:id, :body)"), [{"id": key, "body": body(key)} for key in range(rows)]
    )


@pytest.fixture
def make(database: dbsim.Database) -> Callable[[int], dbsim.Index]:
    """An index over so many rows, in step."""

    def made(rows: int) -> dbsim.Index:
        with database.engine.begin() as connection:
            fill_table(connection, rows)
        index = database.create_index(
            "articles", table="articles", columns="body", words=1, bits=256, threshold=0.7, secret=SECRET
        )
        index.sync()
        return index

    return made


def alter(database: dbsim.Database) -> None:
    database.alter_index("articles", threshold=0.4, bits=512)


def differences(index: dbsim.Index) -> dict[int, bool]:
    """Generation → whether it differs from a fresh build of the table."""
    worker = index._worker()
    found = worker.read(worker.all)
    return {
        tables.record.generation: bool(Comparison(worker.context.of(tables.record, signer)).all(repair=False))
        for tables, signer in found
    }


class Searcher(threading.Thread):
    """Asks the same questions over and over and keeps every answer with its time."""

    def __init__(self, index: dbsim.Index, questions: list[int]) -> None:
        super().__init__()
        self.index, self.questions = index, questions
        self.answers: list[tuple[float, float, int, Answer]] = []
        self.errors: list[BaseException] = []
        self.stop = threading.Event()

    def run(self) -> None:
        for question in iter(lambda: self.questions[len(self.answers) % len(self.questions)], None):
            if self.stop.is_set():
                return
            start = time.perf_counter()
            try:
                answer = list(self.index.similar(question) if question % 2 else self.index.search(body(question)))
            except Exception as error:  # noqa: BLE001 - counted
                self.errors.append(error)
                return
            self.answers.append((start, time.perf_counter() - start, question, answer))


def test_every_answer_is_that_of_one_generation(
    database: dbsim.Database,
    make: Callable[[int], dbsim.Index],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("dbsim.search.generation.FRESH", 0.1)
    shared = make(2500)
    questions = list(range(0, 400, 13))

    def answers() -> dict[int, Answer]:
        index = database.index("articles")
        return {q: list(index.similar(q) if q % 2 else index.search(body(q))) for q in questions}

    old = answers()
    searchers = [Searcher(shared if n % 2 else database.index("articles"), questions[n:]) for n in range(8)]
    for searcher in searchers:
        searcher.start()
    time.sleep(0.7)
    begin = time.perf_counter()
    alter(database)
    report = database.index("articles").sync()
    end = time.perf_counter()
    time.sleep(0.5)
    for searcher in searchers:
        searcher.stop.set()
        searcher.join()
    new = answers()
    assert report.switched
    assert [searcher.errors for searcher in searchers] == [[]] * 8
    assert all(old[question] != new[question] for question in questions)
    mixed, seen = 0, {"old": 0, "new": 0}
    for searcher in searchers:
        kinds = []
        for _, _, question, answer in searcher.answers:
            kinds.append("old" if answer == old[question] else "new" if answer == new[question] else "mixed")
        mixed += kinds.count("mixed")
        assert kinds == sorted(kinds, key=["old", "new", "mixed"].index), "a searcher went back"
        seen = {kind: seen[kind] + kinds.count(kind) for kind in seen}
    assert mixed == 0
    assert min(seen.values()) > 5  # how many is a matter of the machine
    took = [(start, seconds) for searcher in searchers for start, seconds, _, _ in searcher.answers]
    before = [seconds for start, seconds in took if start < begin]
    during = [seconds for start, seconds in took if begin <= start <= end]
    ratio = np.quantile(during, 0.99) / np.quantile(before, 0.99)
    with capsys.disabled():
        print(f"\n{seen} answers, 0 mixed, 0 errors; p99 during / before: {ratio:.1f}")


def test_writes_reach_both_generations(database: dbsim.Database, make: Callable[[int], dbsim.Index]) -> None:
    index = make(1500)
    stop, failures = threading.Event(), []

    def write() -> None:
        source = random.Random(7)
        try:
            for version in count(1):
                if stop.is_set():
                    return
                with database.engine.begin() as connection:
                    key = source.randrange(2000)
                    connection.execute(text("DELETE FROM articles WHERE id = :id"), {"id": key})
                    if version % 3:
                        row = {"id": key, "body": body(key, version)}
                        connection.execute(text("INSERT INTO articles VALUES (:id, :body)"), row)
                time.sleep(0.01)
        except Exception as error:  # noqa: BLE001 - counted
            failures.append(error)

    writer = threading.Thread(target=write)
    writer.start()
    alter(database)
    workers = [threading.Thread(target=database.index("articles").sync) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    stop.set()
    writer.join()
    index.sync()
    assert failures == []
    assert index.status().generation == 2
    assert differences(index) == {1: False, 2: False}


def test_killed_at_any_point_it_goes_on(database: dbsim.Database, url: str, make: Callable[[int], dbsim.Index]) -> None:
    """`sync` is killed after some statements, each time after a few more, until one run comes to its end."""
    index = make(200)
    old = list(index.similar(1))
    alter(database)

    def sync() -> None:
        opened = dbsim.open(url)
        worker = opened.index("articles")._worker()
        type(worker.backend).fill_batch = 40  # of this process, which ends with it
        worker.run()

    kills, statements = 0, 1
    while code := killed_after(statements, sync):
        assert code == KILLED
        kills, statements = kills + 1, statements + size(13, 3)
        with database.engine.begin() as connection:
            row = {"id": 103, "body": body(103, kills)}
            connection.execute(text("UPDATE articles SET body = :body WHERE id = :id"), row)
            connection.execute(text("DELETE FROM articles WHERE id = :id"), {"id": 199 - kills})
        assert (list(index.similar(1)) == old) == (database.index("articles").status().generation == 1)
    index.sync()
    assert kills > 3
    assert differences(index) == {1: False, 2: False}


def test_an_old_index_object_outlives_its_tables(database: dbsim.Database, make: Callable[[int], dbsim.Index]) -> None:
    make(50)
    stale = [database.index("articles") for _ in range(4)]
    alter(database)
    for _ in range(2):  # those who search keep what they know for a while
        database.index("articles").sync()
        assert inspect(database.engine).has_table("dbsim_articles")
    worker = database.index("articles")._worker()
    worker.keep = 0.0
    worker.run()
    assert not inspect(database.engine).has_table("dbsim_articles")
    expected = list(database.index("articles").similar(1))
    assert expected
    assert list(stale[0].similar(1)) == expected
    assert stale[1].search_many([body(1)])[0][0].key == 1
    for index in stale[2:]:
        index._current._seen = 0.0  # idle for a while
    with database.engine.connect() as connection:
        assert list(stale[2].similar(1, connection=connection)) == expected
        assert connection.execute(stale[3].match(body(1)).select()).all()


def test_a_transaction_goes_on_with_what_it_saw(new_postgres: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In REPEATABLE READ the old generation answers until the transaction ends, also after others went over."""
    monkeypatch.setattr("dbsim.search.generation.FRESH", 0.0)
    database = dbsim.open(new_postgres)
    database.upgrade()
    with database.engine.begin() as connection:
        fill_table(connection, 50)
    index = database.create_index("articles", table="articles", columns="body", words=1, bits=256, secret=SECRET)
    index.sync()
    with database.engine.connect().execution_options(isolation_level="REPEATABLE READ") as connection:
        old = list(index.similar(1, connection=connection))
        alter(database)
        database.index("articles").sync()
        new = list(index.similar(1))
        assert new != old
        assert list(index.similar(1, connection=connection)) == old
    assert list(index.similar(1)) == new
    database.close()


def test_changing_ones_mind(database: dbsim.Database, make: Callable[[int], dbsim.Index]) -> None:
    index = make(50)
    alter(database)
    assert index.status().change is not None
    database.alter_index("articles")  # as it is
    assert index.status().change is None
    assert not index.sync().switched
    alter(database)
    index.sync()
    assert index.status().generation == 2
    index.similar(1)
    database.alter_index("articles", threshold=0.7, bits=256)  # still there, so nothing is built
    report = index.sync()
    assert (report.filled, report.switched, report.generation) == (0, True, 1)
    database.alter_index("articles", threshold=0.6)
    database.alter_index("articles", threshold=0.5)
    assert index.sync().generation == 4
    assert database.index("articles").options.threshold == 0.5
    database.drop_index("articles")
    assert not [name for name in inspect(database.engine).get_table_names() if name.startswith("dbsim_articles")]
    with pytest.raises(UnknownName):
        index.similar(1)


def test_an_inline_index_changes_too(new_postgres: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """While two generations are there its triggers queue; afterwards they sign for the new one."""
    monkeypatch.setattr("dbsim.sync.build.GRACE", 0.1)
    database = dbsim.open(new_postgres)
    database.upgrade()
    with database.engine.begin() as connection:
        fill_table(connection, 60)
    index = database.create_index(
        "articles", table="articles", columns="body", words=1, bits=256, inline=True, secret=SECRET
    )
    index.sync()
    with pytest.raises(InvalidOption, match="family 'hyperplane@1' has no SQL functions"):
        database.alter_index("articles", family="hyperplane")
    options = replace(index.options, family="hyperplane@1", rows=0, keys=0)
    with pytest.raises(InvalidOption, match="no SQL functions"), database.engine.begin() as connection:
        dbsim.migrate.alter_index(Operations(MigrationContext.configure(connection)), options)
    alter(database)
    with database.engine.begin() as connection:
        row = {"id": 3, "body": body(3, 1)}
        connection.execute(text("UPDATE articles SET body = :body WHERE id = :id"), row)
    assert index.status().queued == 1
    report = index.sync()
    assert (report.switched, report.generation) == (True, 2)
    assert differences(index) == {2: False}
    with database.engine.begin() as connection:
        row = {"id": 3, "body": body(3, 2)}
        connection.execute(text("UPDATE articles SET body = :body WHERE id = :id"), row)
    assert index.status().queued == 0
    assert differences(index) == {2: False}
    assert database.index("articles").search(body(3, 2))[0].key == 3
    database.close()


def test_groups_and_views_follow(database: dbsim.Database, make: Callable[[int], dbsim.Index]) -> None:
    index = make(60)
    count = text("SELECT count(*) FROM dbsim_articles_pairs")
    assert len(index.duplicates(by="components", threshold=0.7))
    with database.engine.connect() as connection:
        few = connection.scalar(count) or 0
    alter(database)
    assert database.index("articles").sync().switched
    with database.engine.connect() as connection:
        assert (connection.scalar(count) or 0) > few
        stored = connection.execute(text("SELECT * FROM dbsim_articles_groups ORDER BY id")).all()
    made = index.status().groups
    index.pairs(verify=True)  # other pairs, so that the groups are made again
    again = index.duplicates(by="components", threshold=0.7)
    with database.engine.connect() as connection:
        assert connection.execute(text("SELECT * FROM dbsim_articles_groups ORDER BY id")).all() == stored != []
    assert made == len(again) > 0
    assert len(list(database.index("articles").duplicates())) == 12
    assert index.status().problems == ()


def test_a_generation_half_emptied_is_filled_again(
    database: dbsim.Database, make: Callable[[int], dbsim.Index]
) -> None:
    """On SQLite a replaced generation goes bit by bit; whoever wants it back in the middle of that gets all of it."""
    index = make(30)
    before = index.options
    alter(database)
    index.sync()
    worker = index._worker()
    (old,) = [record for record in worker.read(lambda c: catalogue.generations(c, "articles")) if not record.searched]
    tables = IndexTables(old)
    name = str(tables.indexes[0].element.name)
    worker.write(lambda c: retire._without(c, old, f"DROP INDEX {name}", allowed=lambda _: True))
    assert worker.write(lambda c: retire._without_last(c, tables, 20, allowed=lambda _: True))
    assert fetch(database.engine, f"SELECT max(id), count(*) FROM {tables.signatures.name}") == [(9, 10)]
    database.alter_index("articles", threshold=before.threshold, bits=256, rows=before.rows, keys=before.keys)
    execute(database.engine, f"UPDATE articles SET body = '{body(3)} and more' WHERE id IN (3, 25)")
    assert index.sync().generation == old.generation
    assert differences(index)[old.generation] is False
    assert name in [found["name"] for found in inspect(database.engine).get_indexes(tables.signatures.name)]
