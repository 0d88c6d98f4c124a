"""Processes of dbsim's own that work for this one: tasks → results, in the tasks' order.

Each process runs `python -m dbsim.crew` and takes pickled tasks from its standard input. So a script that uses dbsim
needs no `if __name__ == "__main__"`, nothing is forked while threads run, and a process whose parent was killed reads
the end of its input and goes, too. What a task is done by is named as "module:function", called once with the crew's
arguments to make the function for all tasks; neither arguments nor tasks appear in a command
line or an environment variable.
"""

from __future__ import annotations

import importlib
import os
import pickle
import queue
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from types import TracebackType
from typing import IO, Any

from dbsim.errors import DbsimError

MOST = 4  # processes by default: memory for each, and most of the work besides is one process's
AHEAD = 2  # tasks in hand for each process


def cores() -> int:
    """Of the machine, as far as this process may use them; at most MOST."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(usable, MOST))


class Crew:
    """`with Crew(2, "module:function", *arguments) as crew: for result in crew.map(tasks): …`"""

    def __init__(self, count: int, function: str, *arguments: Any) -> None:
        self._idle: queue.SimpleQueue[_Hand] = queue.SimpleQueue()
        self._hands = [_Hand(function, arguments) for _ in range(count)]
        for hand in self._hands:
            self._idle.put(hand)
        self._threads = ThreadPoolExecutor(count, thread_name_prefix="dbsim-crew")

    def __enter__(self) -> Crew:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for hand in self._hands:
            hand.leave(now=kind is not None)
        self._threads.shutdown(cancel_futures=True)

    def map(self, tasks: Iterable[Any]) -> Iterator[Any]:
        """Results in the tasks' order; a few tasks are taken ahead, so that no process waits."""
        waiting: deque[Future[Any]] = deque()
        for task in tasks:
            waiting.append(self._threads.submit(self._do, task))
            if len(waiting) > AHEAD * len(self._hands):
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()

    def _do(self, task: Any) -> Any:
        hand = self._idle.get()
        try:
            return hand.do(task)
        finally:
            self._idle.put(hand)


class _Hand:
    """One process."""

    def __init__(self, function: str, arguments: tuple[Any, ...]) -> None:
        path = os.pathsep.join(part or os.getcwd() for part in sys.path)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "dbsim.crew"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"},
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._tasks, self._results = self._process.stdin, self._process.stdout
        self._send((function, arguments))

    def do(self, task: Any) -> Any:
        try:
            self._send(task)
            done, value = pickle.load(self._results)
        except (EOFError, OSError, ValueError, pickle.UnpicklingError) as error:
            raise DbsimError(
                "a worker process has ended before its work was done (killed, or out of memory): "
                "run the command again, with fewer workers if memory is short"
            ) from error
        if not done:
            raise value
        return value

    def _send(self, message: Any) -> None:
        pickle.dump(message, self._tasks, pickle.HIGHEST_PROTOCOL)
        self._tasks.flush()

    def leave(self, *, now: bool) -> None:
        if now:
            self._process.kill()
        with suppress(OSError):  # it may have gone before
            self._tasks.close()
        self._process.wait()
        self._results.close()


def serve(tasks: IO[bytes], results: IO[bytes]) -> None:
    """The life of a process of the crew."""
    function, arguments = pickle.load(tasks)
    module, _, name = function.partition(":")
    work: Callable[[Any], Any] = getattr(importlib.import_module(module), name)(*arguments)
    while True:
        try:
            task = pickle.load(tasks)
        except EOFError:
            return
        try:
            message = pickle.dumps((True, work(task)), pickle.HIGHEST_PROTOCOL)
        except Exception as error:  # noqa: BLE001 (raised again in the process that asked)
            message = _failure(error)
        results.write(message)
        results.flush()


def _failure(error: Exception) -> bytes:
    """The error itself, or its text where it cannot travel."""
    try:
        message = pickle.dumps((False, error), pickle.HIGHEST_PROTOCOL)
        pickle.loads(message)
    except Exception:  # noqa: BLE001 (anything may fail in somebody else's __reduce__)
        message = pickle.dumps((False, DbsimError(f"{type(error).__name__}: {error}")), pickle.HIGHEST_PROTOCOL)
    return message


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group: the parent ends its crew
    results = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints must not get between the results
    serve(sys.stdin.buffer, results)


if __name__ == "__main__":
    main()
