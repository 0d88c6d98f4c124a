"""Sign rows that the caller names, in the caller's transaction or in one of dbsim's own: keys → how many."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from sqlalchemy import Connection

from dbsim.engines.backend import Backend
from dbsim.engines.stored_keys import stored_keys
from dbsim.sync import models
from dbsim.sync.presign import SignedAhead
from dbsim.sync.refresh import refresh
from dbsim.sync.worker import Worker
from dbsim.tables import catalogue
from dbsim.tables.source import Key


def refresh_given(worker: Worker, keys: Sequence[Key], connection: Connection | None) -> int:
    """Every generation gets them, so that each is as fresh as the one that is searched."""
    if connection is None or _autocommits(connection):
        return worker.write(lambda own: _refresh(worker, own, keys))
    with worker.context.searching(connection) as own, _undisturbed(worker.backend, own):
        return _refresh(worker, own, keys)


def _refresh(worker: Worker, connection: Connection, keys: Sequence[Key]) -> int:
    if worker.tables.record.options.inline:
        return 0
    wanted = list(dict.fromkeys(stored_keys(connection, worker.backend, worker.tables, keys)))
    found = worker.all(connection)
    if not found:
        raise catalogue.unknown(connection, worker.name)
    for tables, signer in found:
        models.current(connection, tables, signer)
        if signer.model is not None:  # before that nothing is stored, and the filling will read all rows
            refresh(connection, worker.backend, tables, SignedAhead(signer), wanted)
    return len(wanted)


def _autocommits(connection: Connection) -> bool:
    """Whether there is no transaction to join."""
    return bool(getattr(connection.connection.dbapi_connection, "autocommit", False) is True)


@contextmanager
def _undisturbed(backend: Backend, connection: Connection) -> Iterator[None]:
    """An error of dbsim's leaves the caller's transaction as it was; so do the settings that the work needs."""
    if not backend.errors_abort:
        yield
        return
    with connection.begin_nested(), backend.all_rows_visible(connection):
        yield
