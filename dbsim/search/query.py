"""A signed question: text or stored row → parameters of the search statement."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dbsim.hashing.bloom import count_range
from dbsim.hashing.signer import Signatures
from dbsim.options import IndexOptions


@dataclass(frozen=True)
class Query:
    """Bucket keys, and bits (None for an absent field) and count of every field."""

    keys: tuple[int, ...]
    bits: tuple[bytes | None, ...]
    counts: tuple[int, ...]

    @staticmethod
    def of(signatures: Signatures) -> list[Query | None]:
        """One query a document; None for one without features, which matches nothing."""
        return [Query.from_row(row, signatures.keys.shape[1]) for row in signatures.as_tuples()]

    @staticmethod
    def from_row(row: tuple[Any, ...], keys: int) -> Query | None:
        """From fingerprint, keys, then bits and count of every field."""
        if row[0] is None:
            return None
        tail = row[1 + keys :]
        return Query(tuple(row[1 : 1 + keys]), tuple(tail[0::2]), tuple(tail[1::2]))

    def count_range(self, options: IndexOptions, threshold: float) -> tuple[int, int]:
        """Popcounts of the first field that can reach the threshold; any when several fields share the score."""
        if len(options.fields) > 1:
            return 0, options.fields[0].bits
        return count_range(self.counts[0], options.fields[0].bits, threshold)
