"""Sign batches of rows, in this process or in several: Iterator[RecordBatch] → Iterator[Signed], in the rows' order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from dbsim.bulk.reading import texts
from dbsim.crew import Crew
from dbsim.hashing.bloom import Filters
from dbsim.hashing.signer import Signatures, Signer
from dbsim.options import IndexOptions

WORTH = 20_000  # rows from which a second process gains more than its start costs


@dataclass(frozen=True)
class Signed:
    """The rows of a batch that have features; everything has one entry for each of them."""

    size: int  # rows of the batch, also those without features
    rows: NDArray[np.int64]  # their places in the batch
    keys: pa.RecordBatch  # the key's columns; none where rows are told apart by their number
    signatures: Signatures
    texts: list[pa.Array]  # the text of each field


@dataclass(frozen=True)
class Signing:
    """What a process needs to know."""

    options: IndexOptions
    secret: bytes
    key: tuple[str, ...]

    def batches(self, found: Iterable[pa.RecordBatch], workers: int) -> Iterator[Signed]:
        """With more than one worker the batches travel to other processes and their signatures back."""
        found = iter(found)
        first, many = _look(found, WORTH if workers > 1 else 0)
        if workers < 2 or not many:
            yield from map(self.function(), chain(first, found))
            return
        with Crew(workers, "dbsim.bulk.signing:sign_packed", self.options.to_json(), self.secret, self.key) as crew:
            yield from map(_unpacked, crew.map(map(_packed, chain(first, found))))

    def function(self) -> Callable[[pa.RecordBatch], Signed]:
        signer = self.options.signer(self.secret)
        return lambda batch: sign(batch, self.options, signer, self.key)


def _look(found: Iterator[pa.RecordBatch], rows: int) -> tuple[list[pa.RecordBatch], bool]:
    """(the first batches, whether they have so many rows)"""
    first: list[pa.RecordBatch] = []
    seen = 0
    while seen < rows and (batch := next(found, None)) is not None:
        first.append(batch)
        seen += len(batch)
    return first, seen >= rows


def sign(batch: pa.RecordBatch, options: IndexOptions, signer: Signer, key: tuple[str, ...]) -> Signed:
    columns = texts(batch, options.fields)
    found = signer.sign(columns)
    present = found.present.copy()
    for name in key:  # a row whose key is NULL cannot be referred to
        present &= batch.column(name).is_valid().to_numpy(zero_copy_only=False)
    chosen = np.flatnonzero(present)
    return Signed(
        len(batch),
        chosen,
        batch.select(list(key)).take(pa.array(chosen)),
        Signatures(
            np.ones(len(chosen), bool),
            found.fingerprints[chosen],
            found.keys[chosen],
            tuple(Filters(part.bits[chosen], part.counts[chosen], part.marks) for part in found.filters),
        ),
        [pa.array(column, pa.large_string()).take(pa.array(chosen)) for column in columns],
    )


# ── between processes ──
def sign_packed(options: str, secret: bytes, key: tuple[str, ...]) -> Callable[[bytes], Any]:
    """What a process of the crew does with a batch."""
    work = Signing(IndexOptions.from_json(options), secret, key).function()

    def run(message: bytes) -> Any:
        done = work(_batch(message))
        columns = pa.RecordBatch.from_arrays(done.texts, names=[str(number) for number in range(len(done.texts))])
        return done.size, done.rows, _packed(done.keys), done.signatures, _packed(columns)

    return run


def _packed(batch: pa.RecordBatch) -> bytes:
    """By Arrow's own format, which leaves out what lies outside of a slice."""
    out = pa.BufferOutputStream()
    with pa.ipc.new_stream(out, batch.schema) as writer:
        writer.write_batch(batch)
    data: bytes = out.getvalue().to_pybytes()
    return data


def _unpacked(message: Any) -> Signed:
    size, rows, keys, signatures, columns = message
    return Signed(size, rows, _batch(keys), signatures, _batch(columns).columns)


def _batch(data: bytes) -> pa.RecordBatch:
    return pa.ipc.open_stream(data).read_next_batch()
