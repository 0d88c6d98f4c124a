"""Where writers wait for each other: sign many rows first, then store them in transactions that are short.

Under the lock rows are read again and compared with what was signed, unless nobody has written to the database since
they were read: then nothing has to be looked at any more, which is a fifth of a transaction's time (11 columns).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sqlalchemy import Connection

from dbsim.sync.presign import SignedAhead
from dbsim.sync.refresh import last_stored, store
from dbsim.tables.key_conditions import after

if TYPE_CHECKING:
    from dbsim.sync.filling.fill import Filling

# characters, rows signed at once: a few take twice as long; after many, several transactions only leave each other room
AHEAD, MOST_AHEAD = 1 << 19, 1000


@dataclass
class Ahead:
    """Of one filling: what is signed and not stored yet."""

    filling: Filling
    _signed: SignedAhead = field(init=False)
    _left: int = 0  # rows signed, but not stored
    _next: int = 0  # how many to sign at once
    _ends: bool = False  # whether there were no more
    _seen: object | None = None  # the database as it was when these were read

    def __post_init__(self) -> None:
        self._signed = SignedAhead(self.filling.signer)

    def store(self) -> tuple[int, bool]:
        """The next rows, in a transaction; how many, and whether there may be more."""
        filling = self.filling
        if not self._left:
            self._signed = filling.read(self._sign)
            self._left = len(self._signed)
            self._next = min(max(self._left, 1) * AHEAD // max(self._signed.characters, 1), MOST_AHEAD)
        size = filling.pace.size
        done, self._seen = filling.pace.write(filling.write, lambda c: self._write(c, size))
        self._left = max(self._left - done, 0)
        return done, done > 0 and (self._left > 0 or not self._ends)

    def _sign(self, connection: Connection) -> SignedAhead:
        """The more rows at once the shorter they are, however few a transaction takes."""
        filling = self.filling
        seen = filling.backend.written(connection)  # before anything is read
        unchanged = filling.unfinished(connection) and not filling.parts_exist(connection)
        self._seen = seen if unchanged else None
        last = last_stored(connection, filling.tables)
        start = [] if last is None else [after(filling.tables.source_key, last)]
        size = max(filling.pace.size, self._next)
        signed = SignedAhead(filling.signer, filling.next_rows(connection, start, size))
        self._ends = len(signed) < size
        return signed

    def _write(self, connection: Connection, size: int) -> tuple[int, object | None]:
        """How many rows, and what the database is then like: what is rolled back counts as written, too."""
        filling, backend = self.filling, self.filling.backend
        some = self._signed.part(len(self._signed) - self._left, size) if self._untouched(connection) else None
        if some is None:
            return filling.step(connection, self._signed, size=size), None
        store(connection, backend, filling.tables, *some)
        return len(some[0]), backend.written(connection)

    def _untouched(self, connection: Connection) -> bool:
        return self._seen is not None and self.filling.backend.written(connection) == self._seen
