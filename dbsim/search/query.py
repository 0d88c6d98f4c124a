"""A signed question: text or stored row → parameters of the search statement."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import chain, repeat
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dbsim.hashing.bloom import count_range
from dbsim.hashing.documents import Documents
from dbsim.hashing.signer import Signatures
from dbsim.hashing.single import One
from dbsim.options import IndexOptions
from dbsim.text.short import Shingles


class Query(NamedTuple):
    """Bucket keys, and bits (None for an absent field) and count of every field.

    `lookups` are the values looked up in each key column where they are more than the key itself: the key and its
    neighbours. `texts`, one a field, are there when they were given or had to be read; what was made of them also: the
    `shingles` of a text that was signed by itself, or the documents of a batch and the `place` among them.
    """

    keys: tuple[int, ...]
    bits: tuple[bytes | None, ...]
    counts: tuple[int, ...]
    lookups: tuple[tuple[int, ...], ...] = ()
    texts: tuple[str, ...] = ()
    rarities: tuple[int, ...] = ()  # of records of persons
    fingerprint: int | None = None
    shingles: Shingles | None = None
    documents: Documents | None = None
    place: int = 0

    @staticmethod
    def single(one: One, text: str) -> Query:
        """Of a text that was signed by itself."""
        fingerprint, keys, bits, count, shingles = one
        return Query(keys, (bits,), (count,), texts=(text,), fingerprint=fingerprint, shingles=shingles)

    @staticmethod
    def of(
        signatures: Signatures, texts: Sequence[tuple[str, ...]] | None = None, documents: Documents | None = None
    ) -> list[Query | None]:
        """One query a document; None for one without features, which matches nothing."""
        columns = signatures.as_columns()
        keys, fields, count = signatures.keys.shape[1], len(signatures.filters), len(signatures)
        filters = columns[1 + keys : 1 + keys + 2 * fields]
        parts = [columns[1 : 1 + keys], filters[0::2], filters[1::2], columns[1 + keys + 2 * fields :]]
        made = zip(
            columns[0], *(_rows(part, count) for part in parts), texts or repeat((), count), range(count), strict=True
        )
        return [
            None if fingerprint is None else Query(own, bits, counts, (), text, rare, fingerprint, None, documents, at)
            for fingerprint, own, bits, counts, rare, text, at in made
        ]

    @staticmethod
    def from_row(row: tuple[Any, ...], keys: int, fields: int) -> Query | None:
        """From fingerprint, keys, bits and count of every field, rarities."""
        if row[0] is None:
            return None
        filters, rarities = row[1 + keys : 1 + keys + 2 * fields], row[1 + keys + 2 * fields :]
        found = tuple(row[1 : 1 + keys]), tuple(filters[0::2]), tuple(filters[1::2])
        return Query(*found, rarities=tuple(rarities), fingerprint=row[0])

    @staticmethod
    def nothing(options: IndexOptions, width: int = 1) -> Query:
        """Matches no row."""
        missing: Any = None
        fields = len(options.fields)
        lookups = ((missing,) * width,) * options.keys
        rarities = (0,) * fields if options.hashing.rarity else ()
        return Query((missing,) * options.keys, (None,) * fields, (0,) * fields, lookups, rarities=rarities)

    @property
    def width(self) -> int:
        """Values looked up in each key column."""
        return len(self.lookups[0]) if self.lookups else 1

    def key_parameters(self) -> dict[str, int]:
        values = chain.from_iterable(self.lookups) if self.width > 1 else self.keys
        return dict(zip(_flat_names(len(self.keys), self.width), values, strict=True))

    def count_range(self, options: IndexOptions, threshold: float) -> tuple[int, int]:
        """Popcounts of the first field that can reach the estimate; any when several fields share the score."""
        if len(options.fields) > 1 or not self.counts[0] or options.hashing.rarity or options.parted:
            return 0, options.fields[0].bits
        return count_range(self.counts[0], options.fields[0].bits, threshold)


def as_lookups(values: NDArray[np.int64]) -> tuple[tuple[int, ...], ...]:
    """keys × width; () when there is but the key itself."""
    return tuple(map(tuple, values.tolist())) if values.shape[1] > 1 else ()


def _rows(columns: Sequence[Sequence[Any]], count: int) -> Iterable[tuple[Any, ...]]:
    return zip(*columns, strict=True) if columns else repeat((), count)


@lru_cache(maxsize=64)
def _flat_names(keys: int, width: int) -> tuple[str, ...]:
    return tuple(chain.from_iterable(key_parameter_names(keys, width)))


def key_parameter_names(keys: int, width: int) -> Sequence[Sequence[str]]:
    """For each key column, as in `Query.key_parameters`."""
    return [[f"dbsim_k{i}"] if width == 1 else [f"dbsim_k{i}_{j}" for j in range(width)] for i in range(keys)]
