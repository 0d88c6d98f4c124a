"""Sign before the write lock is taken: batches of Texts → Signatures, reused under the lock for texts still the same.

On SQLite every writer of the application waits while dbsim holds the write lock, and signing is most of the work of a
batch. The rows are read again under the lock, so a change in between costs time, never correctness. A batch may be
a part of what was signed: many rows are signed at once however few are written in one transaction.
"""

from __future__ import annotations

from collections.abc import Iterable

from dbsim.hashing.signer import Signatures, Signer
from dbsim.tables.source import Texts


class SignedAhead:
    """What was signed in advance for one batch."""

    def __init__(self, signer: Signer, batches: Iterable[Texts] = ()) -> None:
        self.signer = signer
        self._generation = signer.generation
        self._take([(batch, signer.sign(batch.columns)) for batch in batches])

    @staticmethod
    def of(signer: Signer, done: Iterable[tuple[Texts, Signatures]]) -> SignedAhead:
        """From what other processes have signed."""
        made = SignedAhead(signer)
        made._take(list(done))
        return made

    def _take(self, done: list[tuple[Texts, Signatures]]) -> None:
        self._done, self._rows = done, sum(len(batch) for batch, _ in done)

    def sign(self, batch: Texts) -> Signatures:
        for whole, signatures in self._done:
            some, entire = _place(whole, batch), len(whole.keys) == len(batch.keys)
            done = whole if entire else whole.part(some)
            same_model = self._generation == self.signer.generation
            if same_model and done.keys == batch.keys and done.columns == batch.columns:
                return signatures if entire else signatures.part(some)
        return self.signer.sign(batch.columns)

    def part(self, place: int, size: int) -> tuple[Texts, Signatures] | None:
        """Some of the rows from that place on; None when they were signed by another model."""
        for batch, signatures in self._done if self._generation == self.signer.generation else ():
            if place < len(batch):
                some = slice(place, place + size)
                return batch.part(some), signatures.part(some)
            place -= len(batch)
        return None

    def __len__(self) -> int:
        return self._rows

    @property
    def characters(self) -> int:
        return sum(sum(map(len, column)) for batch, _ in self._done for column in batch.columns)


def _place(whole: Texts, batch: Texts) -> slice:
    """Where the batch begins in what was signed, if it does."""
    start = whole.keys.index(batch.keys[0]) if batch.keys[0] in whole.keys else 0
    return slice(start, start + len(batch.keys))
