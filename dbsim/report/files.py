"""Where a report goes: (path, kind) → a file that is new or was a report of dbsim's, whole or not there at all."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from dbsim.errors import InvalidOption

MARK = "generator: dbsim"  # in a comment near the beginning of every page and picture
HEAD = 400  # bytes in which it stands


@dataclass(frozen=True)
class ReportFile:
    """`mark` is what a report of this kind has near its beginning, a table its first line."""

    path: Path
    mark: str = MARK

    def check(self) -> None:
        """Refuse a file that is none of dbsim's reports; called before the work, which may take long."""
        if self._target().is_dir():
            raise InvalidOption(f"{str(self.path)!r} is a folder: name a file in it")
        if self._foreign():
            raise InvalidOption(
                f"{str(self.path)!r} is there already and is no report of this kind: "
                f"choose another name, or remove it first"
            )

    @contextmanager
    def open(self) -> Iterator[TextIO]:
        """Written beside and renamed, so that a run that fails leaves the former report."""
        self.check()
        target = self._target()
        if target.exists() and not target.is_file():  # a pipe or a terminal cannot be replaced
            with target.open("w", encoding="utf-8", newline="") as file:
                yield file
            return
        number, beside = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:100]}.", suffix=".tmp")
        try:
            with os.fdopen(number, "w", encoding="utf-8", errors="replace", newline="") as file:
                yield file
                os.fchmod(file.fileno(), self._mode(target))
            self.check()  # somebody may have put a file there in the meantime
            os.replace(beside, target)
        except BaseException:
            with suppress(FileNotFoundError):
                os.unlink(beside)
            raise

    def write(self, text: str) -> None:
        with self.open() as file:
            file.write(text)

    def _target(self) -> Path:
        """What a link leads to is replaced, not the link."""
        return Path(os.path.realpath(self.path))

    def _foreign(self) -> bool:
        target = self._target()
        if not target.is_file() or not target.stat().st_size:
            return False
        with target.open("rb") as file:
            return self.mark.encode() not in file.read(HEAD)

    def _mode(self, target: Path) -> int:
        with suppress(FileNotFoundError):
            return stat.S_IMODE(target.stat().st_mode)
        return 0o666 & ~_umask()


def _umask() -> int:
    """Which can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
