"""Run a piece of work in one transaction, again when the database asks for it: (Engine, work) → its result."""

from __future__ import annotations

import gc
import logging
import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn, TypeVar
from weakref import WeakKeyDictionary

from sqlalchemy import Connection, Engine

from dbsim.engines.backend import Backend
from dbsim.engines.pause import Room, pause
from dbsim.errors import DatabaseUnavailable, InvalidOption

Result = TypeVar("Result")
log = logging.getLogger("dbsim")
ROOMS: WeakKeyDictionary[Engine, Room] = WeakKeyDictionary()
PATIENCE = 60.0  # seconds of busy, deadlocked or restarting database before the user is told
UNSENDABLE = (UnicodeEncodeError, OverflowError)  # lone surrogates; numbers beyond 64 bits on SQLite


def write(
    engine: Engine, backend: Backend, work: Callable[[Connection], Result], patience: float | None = None
) -> Result:
    """All of `work` in one transaction, or nothing."""

    def attempt() -> Result:
        with backend.open(engine) as connection, _begun(engine, backend, connection):
            result = work(connection)
            connection.commit()
            return result

    return persistently(backend, attempt, patience)


def write_enforced(engine: Engine, backend: Backend, work: Callable[[Connection], Result]) -> Result:
    """`write` with foreign keys looked after, whatever the connection's default: for the host's own rows."""

    def attempt() -> Result:
        with (
            backend.open(engine) as connection,
            backend.enforcing_foreign_keys(connection),
            _begun(engine, backend, connection),
        ):
            result = work(connection)
            connection.commit()
            return result

    return persistently(backend, attempt)


@contextmanager
def _begun(engine: Engine, backend: Backend, connection: Connection) -> Iterator[None]:
    """A transaction; where writers wait for each other, others had room for theirs before."""
    if not backend.writers_wait:
        backend.begin(connection)
        yield
        return
    room = ROOMS.setdefault(engine, Room())
    room.leave()
    with no_garbage_collected():
        backend.begin(connection)
        began = time.monotonic()
        try:
            yield
        finally:
            room.held_since(began)


@contextmanager
def no_garbage_collected() -> Iterator[None]:
    """A whole collection takes 0.1 s and more: it can wait, the application should not."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def read(
    engine: Engine, backend: Backend, work: Callable[[Connection], Result], patience: float | None = None
) -> Result:
    """`work` without a write lock that an application could wait for."""

    def attempt() -> Result:
        with backend.open(engine) as connection:
            return work(connection)

    return persistently(backend, attempt, patience)


def persistently(backend: Backend, attempt: Callable[[], Result], patience: float | None = None) -> Result:
    """Deadlock, serialization, busy and lost connection are tried again, other errors explained."""
    deadline = time.monotonic() + (PATIENCE if patience is None else patience)
    wait = 0.01
    while True:
        try:
            return attempt()
        except backend.errors as error:
            if not backend.transient(error) or time.monotonic() > deadline:
                raise_explained(backend, error)
        except UNSENDABLE as error:
            raise InvalidOption(f"the database cannot take a name or value: {error}") from error
        pause(wait * (0.5 + random.random()))
        wait = min(wait * 2, 1.0)


def outlasting(backend: Backend, work: Callable[[], None], stop: Callable[[], bool]) -> None:
    """For those who have all the time: what would pass by itself, such as a server that is away, is waited for."""
    while not stop():
        try:
            work()
        except DatabaseUnavailable as error:
            if error.__cause__ is None or not backend.transient(error.__cause__):
                raise
            log.warning("%s; it is tried again", error)
        else:
            return


def raise_explained(backend: Backend, error: Exception) -> NoReturn:
    """One sentence with the driver's error as its cause, or the driver's error itself, which is not its own cause."""
    explained = backend.explain(error)
    if explained is None:
        raise error
    raise explained from error


@contextmanager
def searching(engine: Engine, backend: Backend, connection: Connection | None = None) -> Iterator[Connection]:
    """The caller's connection, so that its transaction is joined, or one of dbsim's own; able to compute scores."""
    try:
        if connection is not None:
            backend.prepare(connection)
            yield connection
        else:
            with backend.connect(engine) as own:
                backend.prepare(own)
                yield own
    except backend.errors as error:
        raise_explained(backend, error)
    except UNSENDABLE as error:
        raise InvalidOption(f"the database cannot take a name or value: {error}") from error


def at_once(engine: Engine, backend: Backend, statement: str, arguments: Any) -> Sequence[Any] | None:
    """`Backend.at_once`, its errors explained as those of `searching`."""
    try:
        return backend.at_once(engine, statement, arguments)
    except backend.errors as error:
        raise_explained(backend, error)
