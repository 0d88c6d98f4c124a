"""The hash families by name: "minhash@1" → Family. A family is one module; adding one touches only this registry."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dbsim.hashing import minhash
from dbsim.hashing.keys import Plan
from dbsim.text.features import Features


class Family(Protocol):
    """What a module must offer to be a family."""

    def collision(self, similarity: float) -> float:
        """Probability that one row of two documents with this similarity agrees."""

    def keys(self, fields: Sequence[Features], weights: Sequence[float], plan: Plan) -> NDArray[np.int64]:
        """documents × plan.keys; the values of documents without any feature are not used."""


FAMILIES: dict[str, Family] = {"minhash@1": minhash.MinHash()}


def resolve(name: str) -> str:
    """The full name with its version; without one, the newest."""
    versions = sorted(full for full in FAMILIES if full == name or full.split("@")[0] == name)
    if versions:
        return versions[-1]
    known = sorted({full.split("@")[0] for full in FAMILIES})
    close = difflib.get_close_matches(name, known, n=1)
    hint = f"; did you mean {close[0]!r}?" if close else f"; there is {', '.join(known)}"
    raise ValueError(f"no hash family {name!r}{hint}")
