"""Worker processes that can be killed, forked from a server that has dbsim loaded: a start takes milliseconds."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.process import BaseProcess
from multiprocessing.synchronize import Event
from typing import Any

import dbsim

_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(["dbsim", "tests.reliability.harness"])


@contextmanager
def running(work: Callable[..., object], *arguments: Any) -> Iterator[BaseProcess]:
    """A process that has begun its `work(begun, …)` and is killed in the end, whatever happened."""
    begun = _context.Event()
    process = _context.Process(target=work, args=(begun, *arguments), daemon=True)
    process.start()
    try:
        assert begun.wait(300)
        yield process
    finally:
        process.kill()
        process.join()
        process.close()


def follow(begun: Event, url: str) -> None:
    """A worker that never stops by itself."""
    index = dbsim.open(url).index("articles")
    begun.set()
    index.follow(poll=0.02)
