"""dbsim in an asynchronous application: AsyncEngine → the verbs of Database and Index, awaited.

Short verbs run the same code on the application's own engine (SQLAlchemy's `run_sync`), with whatever driver it has.
Long ones, which compute for seconds, run in a thread with an engine of their own, so that the event loop goes on.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Mapping
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from sqlalchemy import Engine
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlalchemy.util import greenlet_spawn

from dbsim.database import Database
from dbsim.database import open as open_database
from dbsim.dedupe.linked.results import Links
from dbsim.engines.execute import TableHook
from dbsim.engines.urls import asynchronous_url, in_memory, synchronous_url
from dbsim.errors import DbsimError
from dbsim.evaluate.sampling.graph import WalkSample
from dbsim.evaluate.sampling.overlap import Overlap
from dbsim.index import Index
from dbsim.options import IndexOptions
from dbsim.progress import Progress, quiet
from dbsim.tables.source import Key
from dbsim.text.kinds.guess import Guess

P = ParamSpec("P")
R = TypeVar("R")
Worker = Engine | str


def open(
    target: AsyncEngine | str, *, worker: Worker | None = None, after_create_table: TableHook | None = None
) -> AsyncDatabase:
    """A database by AsyncEngine or URL.

    `worker` is the engine, or its URL, for the long verbs; by default one with psycopg or pysqlite to the same URL.
    Give it when your engine has a creator or connect_args of its own.
    """
    if isinstance(target, str):
        target = create_async_engine(asynchronous_url(target))
    if not isinstance(target, AsyncEngine):
        raise DbsimError(
            f"aio.open takes a URL or an AsyncEngine, not {type(target).__name__}: for an Engine use dbsim.open"
        )
    return AsyncDatabase(target, worker, after_create_table)


def _here(method: Callable[Concatenate[Index, P], R]) -> Callable[Concatenate[AsyncIndex, P], Coroutine[Any, Any, R]]:
    """A short verb, on the application's engine."""

    @wraps(method)
    async def awaited(self: AsyncIndex, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return await greenlet_spawn(lambda: method(self.index, *args, **kwargs))

    return awaited


def _apart(method: Callable[Concatenate[Index, P], R]) -> Callable[Concatenate[AsyncIndex, P], Coroutine[Any, Any, R]]:
    """A long verb, in a thread."""

    @wraps(method)
    async def awaited(self: AsyncIndex, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return await self.database.apart(lambda database: method(database.index(self.name), *args, **kwargs))

    return awaited


def _listed(
    method: Callable[Concatenate[Index, P], Any],
) -> Callable[Concatenate[AsyncIndex, P], Coroutine[Any, Any, list[Any]]]:
    """A long verb whose result is read from the database: as a list, so that nothing is read later."""

    @wraps(method)
    async def awaited(self: AsyncIndex, /, *args: P.args, **kwargs: P.kwargs) -> list[Any]:
        return await self.database.apart(lambda database: list(method(database.index(self.name), *args, **kwargs)))

    return awaited


class AsyncIndex:
    """Near-duplicate search over one table. Made by `AsyncDatabase.create_index` or `AsyncDatabase.index`."""

    def __init__(self, database: AsyncDatabase, index: Index) -> None:
        self.database = database
        self.index = index  # on the application's engine: its methods need `run_sync`

    def __repr__(self) -> str:
        return f"<dbsim asynchronous index {self.name!r} on {self.index.options.table!r}>"

    @property
    def name(self) -> str:
        return self.index.name

    search = _here(Index.search)
    search_many = _here(Index.search_many)
    similar = _here(Index.similar)
    contains = _here(Index.contains)
    match = _here(Index.match)
    explain = _here(Index.explain)
    side_by_side = _here(Index.side_by_side)
    keys_in_common = _here(Index.keys_in_common)
    texts = _here(Index.texts)
    refresh = _here(Index.refresh)
    status = _here(Index.status)
    rows = _here(Index.rows)
    values = _here(Index.values)
    units = _here(Index.units)
    grant = _here(Index.grant)
    revoke = _here(Index.revoke)
    check_row = _here(Index.check_row)
    blocked = _here(Index.blocked)
    flagged = _here(Index.flagged)
    add_unless_duplicate = _here(Index.add_unless_duplicate)
    decide = _here(Index.decide)
    undecide = _here(Index.undecide)
    decisions_among = _here(Index.decisions_among)
    kept = _here(Index.kept)
    cluster_of = _here(Index.cluster_of)

    sync = _apart(Index.sync)
    refit = _apart(Index.refit)
    inline = _apart(Index.inline)
    drop = _apart(Index.drop)
    check = _apart(Index.check)
    results = _apart(Index.results)
    delete_duplicates = _apart(Index.delete_duplicates)
    mark_duplicates = _apart(Index.mark_duplicates)
    merge = _apart(Index.merge)
    golden = _listed(Index.golden)
    tune = _apart(Index.tune)
    evaluate = _apart(Index.evaluate)
    sample = _apart(Index.sample)
    sample_by_words = _apart(Index.sample_by_words)
    walk = _apart(Index.walk)
    clusters = _apart(Index.clusters)
    pairs = _listed(Index.pairs)
    duplicates = _listed(Index.duplicates)
    decisions = _listed(Index.decisions)
    labelled_pairs = _listed(Index.labelled_pairs)

    @property
    def options(self) -> IndexOptions:
        """What the index was made with."""
        return self.index.options

    @property
    def secret(self) -> bytes:
        """As `Index.secret`."""
        return self.index.secret

    @property
    def key_names(self) -> list[str]:
        """The primary key's columns."""
        return self.index.key_names

    def key(self, value: Any) -> Key:
        """A primary key in any of the accepted forms, as a tuple."""
        return self.index.key(value)

    @wraps(Index.alter)
    async def alter(self, **options: Any) -> AsyncIndex:
        await greenlet_spawn(lambda: self.index.alter(**options))
        return self

    @wraps(Index.cancel_change)
    async def cancel_change(self) -> AsyncIndex:
        await greenlet_spawn(self.index.cancel_change)
        return self

    @wraps(Index.link)
    async def link(self, other: AsyncIndex | Index, **options: Any) -> Links:
        """With another index of this database."""
        name = other.name
        return await self.database.apart(
            lambda database: database.index(self.name).link(database.index(name), **options)
        )

    @wraps(Index.overlap)
    async def overlap(self, other: AsyncIndex | Index, **options: Any) -> Overlap:
        """Of two indexes of this database."""
        name = other.name

        def work(database: Database) -> Overlap:
            return database.index(self.name).overlap(database.index(name), **options)

        return await self.database.apart(work)

    async def follow(
        self, *, stop: Callable[[], bool] = lambda: False, poll: float = 5.0, progress: Progress = quiet
    ) -> None:
        """Keep up until `stop()` or until the task is cancelled; the thread ends within `poll` seconds of that."""
        cancelled = threading.Event()

        def work(database: Database) -> None:
            database.index(self.name).follow(stop=lambda: cancelled.is_set() or stop(), poll=poll, progress=progress)

        try:
            await self.database.apart(work)
        finally:
            cancelled.set()


class AsyncDatabase:
    """Indexes of one database."""

    def __init__(self, engine: AsyncEngine, worker: Worker | None, after_create_table: TableHook | None) -> None:
        self.engine = engine
        self._hook = after_create_table
        self._database = Database(engine.sync_engine, after_create_table)
        self._worker = worker
        self._apart: Database | None = None

    def __repr__(self) -> str:
        return f"<dbsim asynchronous database {self._database.url}>"

    async def upgrade(self, to: str | None = None) -> str:
        """Create dbsim's own tables or bring them up to this version; safe to repeat. Returns the version."""
        return await greenlet_spawn(self._database.upgrade, to)

    async def downgrade(self, to: str = "base", *, documents: bool | None = None) -> None:
        """Remove dbsim's own tables, or lower their version; the indexes must be dropped before."""
        await greenlet_spawn(lambda: self._database.downgrade(to, documents=documents))

    @property
    def url(self) -> str:
        """As a user would write it, without the password."""
        return self._database.url

    async def index(self, name: str) -> AsyncIndex:
        """An existing index."""
        return AsyncIndex(self, await greenlet_spawn(self._database.index, name))

    async def indexes(self) -> list[AsyncIndex]:
        """All indexes, by name."""
        return [AsyncIndex(self, index) for index in await greenlet_spawn(self._database.indexes)]

    @wraps(Database.create_index)
    async def create_index(self, name: str, **options: Any) -> AsyncIndex:
        await greenlet_spawn(lambda: self._database.create_index(name, **options))
        return await self.index(name)

    @wraps(Database.create_records)
    async def create_records(self, name: str, **options: Any) -> AsyncIndex:
        await greenlet_spawn(lambda: self._database.create_records(name, **options))
        return await self.index(name)

    @wraps(Database.guess_records)
    async def guess_records(self, table: str, **options: Any) -> list[Guess]:
        return await greenlet_spawn(lambda: self._database.guess_records(table, **options))

    async def rename(self, name: str, renames: Mapping[str, str]) -> bool:
        """Tell an index what its table or columns are called now."""
        return await greenlet_spawn(self._database.rename, name, renames)

    @wraps(Database.walk)
    async def walk(self, table: str, ends: tuple[str, str], size: int, **options: Any) -> WalkSample:
        return await self.apart(lambda database: database.walk(table, ends, size, **options))

    @wraps(Database.alter_index)
    async def alter_index(self, name: str, **options: Any) -> AsyncIndex:
        await greenlet_spawn(lambda: self._database.alter_index(name, **options))
        return await self.index(name)

    async def drop_index(self, name: str) -> None:
        """Remove an index with its tables and triggers; the indexed table stays as it is."""
        await greenlet_spawn(self._database.drop_index, name)

    @wraps(Database.import_file)
    async def import_file(self, path: str, **options: Any) -> tuple[str, int]:
        return await self.apart(lambda database: database.import_file(path, **options))

    async def apart(self, work: Callable[[Database], R]) -> R:
        """`work` in a thread, on the worker's engine; a database in memory has no second engine."""
        if self._worker is None and in_memory(self.engine.url):
            return await greenlet_spawn(work, self._database)
        if self._apart is None:
            url = self._worker or synchronous_url(self.engine.url)
            self._apart = open_database(url, after_create_table=self._hook)
        return await asyncio.to_thread(work, self._apart)

    async def close(self) -> None:
        """Of the worker's connections and of the application's."""
        if self._apart is not None:
            await asyncio.to_thread(self._apart.close)
        await self.engine.dispose()


__all__ = ["AsyncDatabase", "AsyncIndex", "open"]
