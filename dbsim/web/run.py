"""Listen and answer until stopped: (Database, token, address) → a server in this process."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterable
from typing import Any

import uvicorn
from sqlalchemy import event

from dbsim.database import Database
from dbsim.engines import transactions
from dbsim.engines.registry import backend_of
from dbsim.errors import InvalidOption
from dbsim.web.app import application
from dbsim.web.guard import Doors
from dbsim.web.state import Server

EVERYWHERE = ("0.0.0.0", "::")  # all addresses of the machine
PATIENCE = 2.0  # seconds a page waits for a database that is away before it says so


def run(
    database: Database,
    token: str,
    names: Iterable[str],
    host: str,
    port: int,
    ready: Callable[[int], None],
    **options: Any,
) -> None:
    """`ready` is told the port, which may have been left to the system (0)."""
    if options.get("read_only"):
        keep_from_writing(database)
    transactions.PATIENCE = PATIENCE
    listening = _listen(host, port)
    number = listening.getsockname()[1]
    doors = Doors.of(token, names, number, anywhere=host in EVERYWHERE)
    server = Server(database, doors, **options)
    config = uvicorn.Config(
        application(server), log_level="warning", access_log=False, server_header=False, date_header=False, ws="none"
    )
    ready(number)
    uvicorn.Server(config).run(sockets=[listening])


def keep_from_writing(database: Database) -> None:
    """Every connection refuses to write, whatever asks it to."""
    engine, statement = database.engine, backend_of(database.engine).refuse_writes

    def prepare(connection: Any, _: object) -> None:
        cursor = connection.cursor()
        cursor.execute(statement)
        cursor.close()
        connection.commit()

    engine.dispose()
    event.listen(engine, "connect", prepare)


def _listen(host: str, port: int) -> socket.socket:
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        # by name: of a socket without it asyncio does not send what is small at once, and a page waits 40 ms
        found = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((host, port))
        found.listen(128)
        return found
    except OSError as error:
        raise InvalidOption(f"cannot listen on {host}, port {port}: {error.strerror}; choose another --port") from error
