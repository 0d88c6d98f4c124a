"""Engines with every driver that dbsim supports: run the same program under each."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from sqlalchemy import Engine, create_engine, make_url
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlalchemy.util import greenlet_spawn

POSTGRESQL = ("psycopg", "psycopg2", "psycopg_async", "asyncpg")
SQLITE = ("pysqlite", "aiosqlite")
ASYNCHRONOUS = ("psycopg_async", "asyncpg", "aiosqlite")


def url_for(driver: str, postgres: str, folder: Any) -> str:
    """The URL of an empty database for this driver."""
    if driver in SQLITE:
        return f"sqlite+{driver}:///{folder / 'test.db'}"
    return make_url(postgres).set(drivername=f"postgresql+{driver}").render_as_string(hide_password=False)


def under(url: str, program: Callable[[Engine], Any]) -> Any:
    """`program` with an engine, inside `run_sync` where the driver is asynchronous."""
    driver = make_url(url).drivername.split("+")[1]
    if driver not in ASYNCHRONOUS:
        engine = create_engine(url)
        try:
            return program(engine)
        finally:
            engine.dispose()
    return asynchronously(url, lambda engine: greenlet_spawn(program, engine.sync_engine))


def asynchronously(url: str, program: Callable[[AsyncEngine], Any]) -> Any:
    """A coroutine function of an AsyncEngine, in a loop of its own."""

    async def work() -> Any:
        engine = create_async_engine(url)
        try:
            return await program(engine)
        finally:
            await engine.dispose()

    return asyncio.run(work())
