"""Databases of the reliability tests: in memory where there is a RAM disk, since waiting for fsync proves nothing."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

MEMORY = Path("/dev/shm")


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """An empty folder."""
    folder = Path(tempfile.mkdtemp(prefix="dbsim-", dir=MEMORY if MEMORY.is_dir() else None))
    yield folder
    shutil.rmtree(folder)
