"""One index, as users hold it: sync, search, similar, match, check, status."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, Subquery, select

from dbsim.errors import DbsimError, IndexChanged, InvalidOption, StatementRejected
from dbsim.hashing.signer import Signer
from dbsim.options import IndexOptions, describe_columns
from dbsim.search.candidates import Where
from dbsim.search.engine import MAX_CANDIDATES, Bounds, SearchEngine
from dbsim.search.results import Results
from dbsim.store import catalogue, status
from dbsim.store.backend import Backend
from dbsim.store.compare import Comparison, Differences
from dbsim.store.filling import Progress
from dbsim.store.reading import key_columns
from dbsim.store.source import Key
from dbsim.store.sync import SyncReport, Worker
from dbsim.store.tables import IndexTables
from dbsim.store.transactions import read
from dbsim.text.normalise import UNICODE_VERSION

Text = str | Mapping[str, str]
Result = TypeVar("Result")
FRESH = 2.0  # seconds after which an index looks whether its options changed; the old generation is kept much longer
ATTEMPTS = 10
_quiet: Progress = lambda stage, done, total: None  # noqa: E731


class Index:
    """Near-duplicate search over one table. Made by `Database.create_index` or `Database.index`."""

    def __init__(self, engine: Engine, backend: Backend, record: catalogue.IndexRecord) -> None:
        self._engine = engine
        self._backend = backend
        self._search = self._other = self._made(record)
        self._seen = dict.fromkeys((True, False), time.monotonic())  # by a caller's connection, by one of our own

    def _made(self, record: catalogue.IndexRecord) -> SearchEngine:
        if record.unicode_version != UNICODE_VERSION:
            raise DbsimError(
                f"index {record.name!r} was built with Unicode {record.unicode_version}, this dbsim has "
                f"{UNICODE_VERSION}: drop the index and create it again, or install the dbsim that built it"
            )
        signer = record.options.signer(record.secret)
        return SearchEngine(self._engine, self._backend, IndexTables(record), signer)

    def _look(self, connection: Connection | None = None) -> SearchEngine:
        """The generation the catalogue names now; a caller's transaction may see an older one, which only it uses."""
        own = connection is None
        if connection is not None:
            record = catalogue.load(connection, self.name)
        else:
            record = read(self._engine, self._backend, lambda c: catalogue.load(c, self.name))
        self._seen[own] = time.monotonic()
        if record.stamp == self._search.tables.record.stamp:
            return self._search
        if record.stamp != self._other.tables.record.stamp:
            self._other = self._made(record)
        if own:
            self._search = self._other
        return self._other

    def _current(self, connection: Connection | None = None) -> SearchEngine:
        """As it was a moment ago."""
        stale = time.monotonic() - self._seen[connection is None] > FRESH
        return self._look(connection) if stale else self._search

    def _ask(self, question: Callable[[SearchEngine], Result], connection: Connection | None = None) -> Result:
        """The answer of one generation: when options changed meanwhile, the question is asked once more."""
        engine = self._current(connection)
        for _ in range(ATTEMPTS):
            try:
                return question(engine)
            except IndexChanged:
                engine = self._look(connection)
            except StatementRejected:  # perhaps its table or a column of it is gone
                before = engine
                if connection is not None and self._backend.errors_abort:
                    raise
                engine = self._look(connection)
                if engine is before:
                    raise
        raise IndexChanged(self.name)

    @property
    def _tables(self) -> IndexTables:
        return self._search.tables

    @property
    def _signer(self) -> Signer:
        return self._search.signer

    def __repr__(self) -> str:
        return f"<dbsim index {self.name!r} on {self.options.table!r}>"

    @property
    def name(self) -> str:
        return self._tables.record.name

    @property
    def options(self) -> IndexOptions:
        return self._tables.record.options

    @property
    def key_names(self) -> list[str]:
        """The primary key's columns."""
        return self._tables.key_names

    # ── in step ──
    def sync(self, *, reconcile: bool = False, progress: Progress = _quiet) -> SyncReport:
        """Bring the index up to date; `reconcile` compares every row with the table and needs no triggers."""
        return self.worker(progress).run(compare=reconcile)

    def follow(
        self, *, stop: Callable[[], bool] = lambda: False, poll: float = 5.0, progress: Progress = _quiet
    ) -> None:
        """Keep up until `stop()`; PostgreSQL wakes it at once, otherwise it looks after `poll` seconds at most."""
        worker = self.worker(progress)
        worker.run()
        while not stop():
            self._backend.wait(self._engine, self._tables, poll)
            worker.run()

    def worker(self, progress: Progress = _quiet) -> Worker:
        return Worker(self._engine, self._backend, self._tables, self._signer, progress)

    def check(self, *, sample: int | None = None, repair: bool = False, progress: Progress = _quiet) -> Differences:
        """Recompute signatures and compare, all rows or a sample; rows still in the queue are not differences."""
        if sample is not None and sample < 1:
            raise InvalidOption(f"a sample of {sample} rows is not possible: use 1 or more")
        if repair:
            self.worker(progress).build()
        self._look()
        walk = Comparison(self._engine, self._backend, self._tables, self._signer)
        walk.progress = lambda done, total: progress("checking", done, total)
        found = walk.all(repair=repair) if sample is None else walk.sample(sample, repair=repair)
        return found if repair else self._without_pending(walk, found)

    def _without_pending(self, walk: Comparison, found: Differences) -> Differences:
        """Look again at what differed: it may have changed, or been indexed, while the comparison ran."""
        if not found:
            return found
        again = walk.keys(found.keys)
        columns = key_columns(self._tables.queue, self._tables)
        pending = set(read(self._engine, self._backend, lambda c: [tuple(r) for r in c.execute(select(*columns))]))
        return Differences(
            compared=found.compared,
            missing=[key for key in again.missing if key not in pending],
            orphaned=[key for key in again.orphaned if key not in pending],
            different=[key for key in again.different if key not in pending],
        )

    def status(self) -> status.Status:
        """Rows, queue, quarantine, fill of the filters, and what needs attention."""

        def work(connection: Connection) -> status.Status:
            tables = IndexTables(catalogue.load(connection, self.name))
            return status.status(connection, self._backend, tables, describe_columns(self.options.fields))

        return read(self._engine, self._backend, work)

    # ── search ──
    def search(
        self,
        text: Text,
        *,
        threshold: float | None = None,
        limit: int = 10,
        where: Where = None,
        max_candidates: int = MAX_CANDIDATES,
        connection: Connection | None = None,
    ) -> Results:
        """Rows similar to a text; for an index of several fields give `{"title": …, "body": …}`."""

        def question(engine: SearchEngine) -> Results:
            (query,) = engine.sign([_by_field(engine.options, text)])
            return engine.search(query, _bounds(engine, threshold, limit, max_candidates), where, connection)

        return self._ask(question, connection)

    def similar(
        self,
        key: Any,
        *,
        threshold: float | None = None,
        limit: int = 10,
        where: Where = None,
        max_candidates: int = MAX_CANDIDATES,
        connection: Connection | None = None,
    ) -> Results:
        """Rows similar to a row of the table, given by its primary key (a dict or tuple when composite)."""
        found = self.key(key)

        def question(engine: SearchEngine) -> Results:
            return engine.similar(found, _bounds(engine, threshold, limit, max_candidates), where, connection)

        return self._ask(question, connection)

    def search_many(
        self,
        texts: Sequence[Text],
        *,
        threshold: float | None = None,
        limit: int = 10,
        max_candidates: int = MAX_CANDIDATES,
        connection: Connection | None = None,
    ) -> list[Results]:
        """A batch of searches in one statement (per 200 texts)."""
        if isinstance(texts, str):
            raise InvalidOption("search_many takes a list of texts; for one text use search")

        def question(engine: SearchEngine) -> list[Results]:
            queries = engine.sign([_by_field(engine.options, text) for text in texts]) if texts else []
            return engine.search_many(queries, _bounds(engine, threshold, limit, max_candidates), connection)

        return self._ask(question, connection)

    def match(
        self,
        text: Text,
        *,
        threshold: float | None = None,
        limit: int = 1000,
        where: Where = None,
        max_candidates: int = MAX_CANDIDATES,
    ) -> Subquery:
        """The search as a SQLAlchemy selectable with the key columns and `score`, to join with your own tables.

        Build it anew for each query: it asks one generation of the index, which goes some minutes after a change.
        """

        def question(engine: SearchEngine) -> Subquery:
            (query,) = engine.sign([_by_field(engine.options, text)])
            return engine.match(query, _bounds(engine, threshold, limit, max_candidates), where)

        return question(self._current())

    def texts(self, keys: Sequence[Any]) -> list[str | None]:
        """The indexed text of rows of the table, in the order of the keys; None for one that is gone."""
        return self._search.texts([self.key(key) for key in keys])

    # ── helpers ──
    def key(self, value: Any) -> Key:
        """A primary key in any of the accepted forms, as a tuple."""
        names = self._tables.key_names
        if isinstance(value, Mapping):
            if set(value) != set(names):
                raise InvalidOption(f"the key consists of {', '.join(names)}, not of {', '.join(map(str, value))}")
            return tuple(value[name] for name in names)
        found = tuple(value) if isinstance(value, tuple | list) else (value,)
        if len(found) != len(names):
            raise InvalidOption(f"the key has {len(names)} parts ({', '.join(names)}), not {len(found)}")
        return found


def _by_field(options: IndexOptions, text: Text) -> str | list[str]:
    if isinstance(text, str):
        return text
    fields = options.fields
    known = {name for field in fields for name in (*field.columns, field.name)}
    for name in text:
        if name not in known:
            raise InvalidOption(f"index {options.name!r} has no field {name!r}; it has {describe_columns(fields)}")
    return [
        (text[field.name] or "")
        if field.name in text
        else "\n".join(text.get(column) or "" for column in field.columns)
        for field in fields
    ]


def _bounds(engine: SearchEngine, threshold: float | None, limit: int, max_candidates: int) -> Bounds:
    return Bounds(engine.options.threshold if threshold is None else threshold, limit, max_candidates)
