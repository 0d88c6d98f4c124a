"""What commands take as processes of their own: seconds, memory, CPU; and the CPU of the server beside them."""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass

import psutil

import dbsim

LOOK = 0.1  # seconds between two looks at the memory


@dataclass(frozen=True)
class Spent:
    """Of a process and its children together: wall time, the largest sum of proportional set sizes seen, CPU."""

    seconds: float
    megabytes: float
    cpu: float


@dataclass(frozen=True)
class Server:
    """A PostgreSQL server on this machine, and the CPU it had used; None of SQLite."""

    process: psutil.Process | None
    before: float = 0.0

    @staticmethod
    def of(database: dbsim.Database) -> Server:
        if database.engine.dialect.name == "sqlite":
            return Server(None)
        with database.engine.connect() as connection:
            own = connection.exec_driver_sql("SELECT pg_backend_pid()").scalar_one()
        postmaster = psutil.Process(own).parent()
        assert postmaster is not None
        return Server(postmaster, _server_seconds(postmaster))

    def since(self) -> float:
        """Seconds of CPU."""
        return 0.0 if self.process is None else _server_seconds(self.process) - self.before


def _server_seconds(postmaster: psutil.Process) -> float:
    """Of those that run and, as the postmaster knows it, of those that have ended."""
    own = postmaster.cpu_times()
    total = own.user + own.system + own.children_user + own.children_system
    for one in postmaster.children(recursive=True):
        try:
            times = one.cpu_times()
        except psutil.Error:  # it has ended since
            continue
        total += times.user + times.system
    return total


def spend(*arguments: str) -> Spent:
    """Of `dbsim …`; exit code 1, nothing found, counts as done."""
    command = [sys.executable, "-c", "from dbsim.cli import main; main()", *arguments]
    return watched(command, f"dbsim {' '.join(arguments[:2])}")


def watched(command: Sequence[str], name: str) -> Spent:
    start, peak, before = time.perf_counter(), 0.0, _children_seconds()
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=said)
        while process.poll() is None:
            peak = max(peak, _memory(process.pid))
            try:
                process.wait(LOOK)
            except subprocess.TimeoutExpired:
                continue
        taken = time.perf_counter() - start
        said.seek(0)
        message = said.read().decode(errors="replace").strip()
    if process.returncode not in (0, 1):
        raise SystemExit(f"{name} ended with exit code {process.returncode}: {message}")
    return Spent(taken, peak, _children_seconds() - before)


def _children_seconds() -> float:
    """CPU of ended children, and of theirs."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _memory(pid: int) -> float:
    """Megabytes of a process and its children; pages that several share count once."""
    total = 0.0
    try:
        process = psutil.Process(pid)
        family = [process, *process.children(recursive=True)]
    except psutil.Error:
        return total
    for one in family:
        try:
            total += one.memory_full_info().pss / 2**20
        except psutil.Error:  # it has ended since
            continue
    return total
