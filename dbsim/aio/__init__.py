"""dbsim in an asynchronous application: AsyncEngine → the verbs of Database and Index, awaited.

Short verbs run the same code on the application's own engine (SQLAlchemy's `run_sync`), with whatever driver it has.
Long ones, which compute for seconds, run in a thread with an engine of their own, so that the event loop goes on.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from sqlalchemy import Engine
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlalchemy.util import greenlet_spawn

from dbsim.database import Database
from dbsim.database import open as open_database
from dbsim.engines.execute import TableHook
from dbsim.engines.urls import asynchronous_url, in_memory, synchronous_url
from dbsim.errors import DbsimError
from dbsim.index import Index
from dbsim.progress import Progress, quiet

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
    texts = _here(Index.texts)
    refresh = _here(Index.refresh)
    status = _here(Index.status)

    sync = _apart(Index.sync)
    refit = _apart(Index.refit)
    inline = _apart(Index.inline)
    drop = _apart(Index.drop)
    check = _apart(Index.check)
    results = _apart(Index.results)
    delete_duplicates = _apart(Index.delete_duplicates)
    mark_duplicates = _apart(Index.mark_duplicates)
    tune = _apart(Index.tune)
    evaluate = _apart(Index.evaluate)
    sample = _apart(Index.sample)
    pairs = _listed(Index.pairs)
    duplicates = _listed(Index.duplicates)

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

    async def downgrade(self, to: str = "base") -> None:
        """Remove dbsim's own tables, or lower their version; the indexes must be dropped before."""
        await greenlet_spawn(self._database.downgrade, to)

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
