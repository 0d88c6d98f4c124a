"""Statements that an engine of dbsim's keeps compiled: those of generations that are gone are forgotten."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from sqlalchemy import Engine

from dbsim.engines.urls import origin

_NEWEST: WeakKeyDictionary[Engine, dict[str, int]] = WeakKeyDictionary()  # generation of each index


def seen(engine: Engine, index: str, generation: int) -> None:
    """A process works with this generation. The statements of earlier ones are about 80 kB each, and never asked again.

    An engine of the application's keeps its own statements: its cache is as large as the application made it.
    """
    newest = _NEWEST.setdefault(engine, {})
    if generation > newest.get(index, generation) and origin(engine) is not None:
        engine.clear_compiled_cache()
    newest[index] = max(generation, newest.get(index, 0))
