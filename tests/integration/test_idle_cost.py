"""What a sync costs that finds nothing to do: connections, looks at the catalogue's record, compiled statements."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from sqlalchemy import Engine, event

import dbsim
from dbsim.options import IndexOptions
from dbsim.tables.index_tables import IndexTables
from tests.integration.helpers import QUICK, add, articles, corpus, execute

SYNCS = 100
ONE_CHANGE, FIRST = 9, 13  # connections of a sync with one change and stored groups, of a first filling
STATEMENTS = {"sqlite": 20, "postgresql": 29}  # of an idle sync with stored groups


@pytest.fixture
def index(database: dbsim.Database) -> dbsim.Index:
    articles(database.engine, corpus(3, 4))
    made = database.create_index("articles", table="articles", columns="body", **QUICK)
    made.sync()
    made.duplicates()
    made.sync()
    return made


@contextmanager
def connections(engine: Engine) -> Iterator[list[object]]:
    """Those taken from the engine's pool meanwhile."""
    taken: list[object] = []

    def take(*given: object) -> None:
        taken.append(given)

    event.listen(engine, "checkout", take)
    try:
        yield taken
    finally:
        event.remove(engine, "checkout", take)


def compiled(engine: Engine) -> set[object]:
    return set(engine._compiled_cache or ())


def verbs(database: dbsim.Database) -> list[Callable[[], object]]:
    """Each with an index of its own, as in a web request or a cron job."""
    return [
        lambda: database.index("articles").sync(),
        lambda: database.index("articles").status(),
        lambda: database.index("articles").check(),
        lambda: list(database.index("articles").pairs()),
        lambda: list(database.index("articles").duplicates()),
    ]


def test_few_connections(index: dbsim.Index, database: dbsim.Database) -> None:
    with connections(database.engine) as taken:
        assert index.sync().idle
    assert len(taken) <= 3


def test_few_connections_for_one_change(index: dbsim.Index, database: dbsim.Database) -> None:
    """One look before and one after, the queue, and the groups: not one look a step, which took 27."""
    execute(database.engine, "UPDATE articles SET body = 'another one' WHERE id = 1")
    with connections(database.engine) as taken:
        report = index.sync()
    assert report.changed == 1
    assert len(taken) <= ONE_CHANGE


def test_few_connections_for_a_first_filling(database: dbsim.Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dbsim.sync.filling.fill.AIM", 60.0)  # on a busy machine each B-tree has its own transaction
    articles(database.engine, corpus(3, 4))
    made = database.create_index("articles", table="articles", columns="body", **QUICK)
    with connections(database.engine) as taken:
        assert made.sync().filled == 16
    assert len(taken) <= FIRST


def test_few_statements(index: dbsim.Index, database: dbsim.Database) -> None:
    """Each is a round trip; the source's table is described by one of them."""
    sent: list[str] = []

    def note(connection: object, cursor: object, statement: str, *_: object) -> None:
        sent.append(statement)

    event.listen(database.engine, "before_cursor_execute", note)
    assert index.sync().idle
    event.remove(database.engine, "before_cursor_execute", note)
    assert len(sent) <= STATEMENTS[database.engine.dialect.name], "\n".join(sent)


def test_the_record_is_parsed_once_however_often_it_is_read(
    index: dbsim.Index, database: dbsim.Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed: list[str] = []
    made = IndexOptions.__post_init__

    def note(options: IndexOptions) -> None:
        parsed.append(options.name)
        made(options)

    monkeypatch.setattr(IndexOptions, "__post_init__", note)
    assert index.sync().idle
    assert parsed == []


def test_a_hundred_syncs_compile_nothing(index: dbsim.Index, database: dbsim.Database) -> None:
    database.index("articles").sync()
    before = compiled(database.engine)
    assert len(before) > 10
    for _ in range(SYNCS):
        assert database.index("articles").sync().idle
    assert compiled(database.engine) - before == set()


def test_verbs_that_are_repeated_compile_nothing(index: dbsim.Index, database: dbsim.Database) -> None:
    for verb in verbs(database):
        verb()
    before = compiled(database.engine)
    for verb in verbs(database):
        verb()
        assert compiled(database.engine) - before == set()


def test_syncs_with_something_to_do_compile_nothing_in_the_end(index: dbsim.Index, database: dbsim.Database) -> None:
    """Of one row each: lists of other lengths are other statements."""
    for number in range(3):
        add(database.engine, {100 + number: f"quite another text, number {number}"})
        assert database.index("articles").sync().changed == 1
    before = compiled(database.engine)
    for number in range(3, 6):
        add(database.engine, {100 + number: f"quite another text, number {number}"})
        assert database.index("articles").sync().changed == 1
    assert compiled(database.engine) - before == set()


def test_tables_follow_the_options(index: dbsim.Index, database: dbsim.Database) -> None:
    """What is shared is what options, key and generation say; another of them has tables of its own."""
    old = index._tables
    assert IndexTables(old.record).signatures is old.signatures
    database.alter_index("articles", keys=6, rows=2)
    index.sync()
    new = database.index("articles")._tables
    assert new.signatures.name != old.signatures.name
    assert len(new.names.keys) == 6
    assert len(old.names.keys) == 4
    assert new.queue is not old.queue
    assert IndexTables(new.record, shown=True).signatures.name != new.signatures.name


def test_facts_are_not_shared_between_databases(
    database: dbsim.Database, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Two databases with the same index share the tables' definitions and nothing else."""
    file = tmp_path_factory.mktemp("other") / "other.db"
    with dbsim.open(f"sqlite:///{file}", create=True) as other:
        other.upgrade()
        for one in (database, other):
            articles(one.engine, corpus(1))
            one.create_index("articles", table="articles", columns="body", **QUICK).sync()
        database.index("articles").duplicates()
        database.index("articles").decide(1, 2, "different")
        assert list(other.index("articles").decisions()) == []
        execute(other.engine, "DELETE FROM articles WHERE id > 2")
        other.index("articles").sync()
        assert len(other.index("articles").duplicates()) == 1
        assert [len(group.members) for group in database.index("articles").duplicates()] == [3]
