"""All signed rows, out of memory: Iterator[Signed] → Gathered (contents, rows, keys, texts).

Keys, filters, key columns and texts lie in unnamed temporary files (TMPDIR), which vanish with the process. In memory
are some 30 bytes a row.
"""

from __future__ import annotations

import mmap
import tempfile
import weakref
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from dbsim.bulk.reading import ROW
from dbsim.bulk.signing import Signed
from dbsim.dedupe.kernels.collection import Collection
from dbsim.dedupe.kernels.decide import FieldScore
from dbsim.dedupe.kernels.spill import Spill
from dbsim.hashing.signer import Signatures
from dbsim.options import IndexOptions
from dbsim.progress import Progress

Numbers = NDArray[np.int64]


@dataclass
class TextStore:
    """The text of each content, by the order in which contents were first seen."""

    spill: Spill = field(default_factory=Spill)
    ends: list[Numbers] = field(default_factory=lambda: [np.zeros(1, np.int64)])
    _all: Numbers | None = None

    def append(self, texts: pa.Array) -> None:
        data = texts.buffers()[2]
        offsets = np.frombuffer(texts.buffers()[1], np.int64)[texts.offset : texts.offset + len(texts) + 1]
        if len(texts) and data is not None:
            self.spill.append(np.frombuffer(data, np.uint8)[offsets[0] : offsets[-1]])
        self.ends.append(offsets[1:] - offsets[0] + self.ends[-1][-1])

    def read(self, places: Numbers) -> list[str]:
        if self._all is None:
            self._all = np.concatenate(self.ends)
            self.ends = [self._all[-1:]]
        starts, sizes = self._all[places].tolist(), (self._all[places + 1] - self._all[places]).tolist()
        return [
            str(self.spill.read(start, size, np.uint8).data, "utf-8") for start, size in zip(starts, sizes, strict=True)
        ]


@dataclass(frozen=True)
class Gathered:
    """Rows with features, in the order of the source, and their contents."""

    collection: Collection
    size: int  # rows of the source, also those without features
    rows: Numbers  # each row's place in the source
    fingerprints: Numbers  # of each row
    keys: pa.Table
    texts: list[TextStore]  # of each field

    def content(self) -> NDArray[np.int64]:
        """The number of each row's content."""
        place, _ = self.collection.find(self.fingerprints)
        return place

    def key_order(self) -> Numbers | None:
        """Each row's place in the order of the keys; None when that is the order they came in."""
        columns = self.keys.columns
        if len(columns) == 1 and _ascending(columns[0]):
            return None
        order = pc.sort_indices(self.keys, [(name, "ascending") for name in self.keys.column_names]).to_numpy()
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        return place


def gather(signed: Iterable[Signed], key: Sequence[str], options: IndexOptions, progress: Progress) -> Gathered:
    keys, texts = _KeyFile(), [TextStore() for _ in options.fields]
    rows: list[Numbers] = [np.empty(0, np.int64)]
    fingerprints: list[Numbers] = [np.empty(0, np.int64)]
    size, batch_texts = 0, list[pa.Array]()

    def blocks() -> Iterator[Signatures]:
        nonlocal size
        for batch in signed:
            rows.append(batch.rows + size)
            numbered = pa.RecordBatch.from_arrays([pa.array(rows[-1])], names=[ROW])
            keys.append(batch.keys if batch.keys.num_columns else numbered)
            fingerprints.append(batch.signatures.fingerprints)
            size += batch.size
            batch_texts[:] = batch.texts
            yield batch.signatures
            progress("signing", size, size)

    def keep(new: Numbers) -> None:
        for store, column in zip(texts, batch_texts, strict=True):
            store.append(column.take(pa.array(new)))

    fields = [
        FieldScore(part.bits, part.weight, part.sample, part.reading if part.filter else None)
        for part in options.fields
    ]
    joins = options.hashing.joins(options.plan, options.threshold, options.recall)
    collection = Collection.of(fields, joins, blocks(), keep)
    table = keys.table(key)
    return Gathered(collection, size, np.concatenate(rows), np.concatenate(fingerprints), table, texts)


class _KeyFile:
    """Key columns in Arrow's file format, mapped into memory to be read: pages the system can drop."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 (closed by the next line, whatever happens)
        weakref.finalize(self, self._file.close)
        self._writer: Any = None

    def append(self, batch: pa.RecordBatch) -> None:
        if self._writer is None:
            self._writer = pa.ipc.new_file(self._file, batch.schema)
        self._writer.write_batch(batch)

    def table(self, names: Sequence[str]) -> pa.Table:
        """These columns, also of a source without a single batch."""
        if self._writer is None:
            return pa.table({name: pa.array([], pa.int64()) for name in names})
        self._writer.close()
        self._file.flush()
        mapped = mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ)
        return pa.ipc.open_file(pa.py_buffer(mapped)).read_all()


def _ascending(column: pa.ChunkedArray) -> bool:
    last = None
    for chunk in column.chunks:
        if not len(chunk):
            continue
        if last is not None and not pc.less(last, chunk[0]).as_py():
            return False
        if len(chunk) > 1 and not pc.all(pc.less(chunk.slice(0, len(chunk) - 1), chunk.slice(1))).as_py():
            return False
        last = chunk[-1]
    return True
