"""Who else is at work: how busy the cores that a benchmark may use were in the second before it began."""

from __future__ import annotations

import os
import time
from pathlib import Path

STATISTICS = Path("/proc/stat")
SECOND = 1.0


def cores() -> set[int]:
    """Those that this process may run on: `taskset -c 0` leaves the other to somebody else."""
    return os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set(range(os.cpu_count() or 1))


def busy() -> float:
    """Share of their time, 0 … 1; where the system does not say, the load a core."""
    if not STATISTICS.exists():
        return os.getloadavg()[0] / (os.cpu_count() or 1)
    used, idle = _spent()
    time.sleep(SECOND)
    used_then, idle_then = _spent()
    passed = used_then + idle_then - used - idle
    return (used_then - used) / passed if passed else 0.0


def _spent() -> tuple[int, int]:
    """Ticks of these cores at work and at rest since the machine began."""
    used = idle = 0
    own = {f"cpu{core}" for core in cores()}
    for line in STATISTICS.read_text().splitlines():
        name, *ticks = line.split()
        if name in own:
            numbers = [int(tick) for tick in ticks[:8]]  # guests are counted among users
            idle += numbers[3] + numbers[4]
            used += sum(numbers) - numbers[3] - numbers[4]
    return used, idle
