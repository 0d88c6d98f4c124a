"""A batch of documents as a hash family may want to see it: words, shingles and filters of each field."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dbsim.hashing.bloom import Filters
from dbsim.text.features import Features
from dbsim.text.tokens import Tokens


@dataclass(frozen=True)
class FieldDocuments:
    """One field of every document."""

    folded: Sequence[bytes]
    tokens: Tokens
    features: Features
    filters: Filters
    weight: float = 1.0
    words: bool = True

    @property
    def terms(self) -> Features:
        """What a vector model counts: the words, or the n-grams where characters are compared."""
        return Features(self.tokens.hashes, self.tokens.offsets) if self.words else self.features


@dataclass(frozen=True)
class Documents:
    """The fields of a batch; all have the same number of documents."""

    fields: tuple[FieldDocuments, ...]
    drawn_from: int = 0  # rows of a larger table, of which these are a sample

    def __len__(self) -> int:
        return len(self.fields[0].features)

    @property
    def features(self) -> tuple[Features, ...]:
        return tuple(field.features for field in self.fields)

    @property
    def weights(self) -> tuple[float, ...]:
        return tuple(field.weight for field in self.fields)

    @property
    def present(self) -> NDArray[np.bool_]:
        """Documents that have a feature in any field; the others have no keys and match nothing."""
        found: NDArray[np.bool_] = np.logical_or.reduce([field.features.counts > 0 for field in self.fields])
        return found
