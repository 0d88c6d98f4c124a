"""Spectral hashing (Weiss, Torralba and Fergus 2008; Bodó 2012): tf-idf vectors → r-bit codes; cosine.

quantify: tf-idf; reduce: principal directions of a sample; discretise: signs of the eigenfunctions of the Laplacian on
the box the sample fills, those with the smallest eigenvalues; combine: the bits, in pieces (codes.py).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dbsim.hashing.documents import Documents
from dbsim.hashing.families.shared.codes import Code
from dbsim.hashing.families.shared.learned import directions, fit_space, on_normals, projections, stored
from dbsim.hashing.family import Model
from dbsim.hashing.keys import Plan


@dataclass(frozen=True)
class Spectral(Code):
    """Bit j is the sign of cos(k·π·t), t the place of a projection between the sample's lowest and highest."""

    def fit(self, documents: Documents, plan: Plan) -> Model:
        model, matrix = fit_space(documents)
        if matrix.shape[0] < 2:
            raise ValueError("one text is not enough to learn from: fill the table before the first sync")
        normals, _ = directions(matrix, min(self.bits, min(matrix.shape) - 1) or 1, centre=True)
        places = on_normals(matrix, stored(normals).astype(np.int64))
        lows, highs = places.min(axis=0), places.max(axis=0)
        wide = highs - lows > 1e-6
        if not wide.any():
            raise ValueError("all sampled texts are equal, there is nothing to learn from: use another family")
        modes = _modes(highs[wide] - lows[wide], self.bits)
        model |= {
            "normals": stored(normals[:, wide]),
            "lows": lows[wide],
            "widths": highs[wide] - lows[wide],
            "modes": modes,
        }
        return model

    def code(self, documents: Documents, model: Model) -> NDArray[np.int64]:
        places = (projections(documents, model) - model["lows"]) / model["widths"]
        direction, mode = model["modes"].astype(np.int64)
        # cos(kπt) > 0 exactly when the whole number nearest to k·t is even: arithmetic only, the same on any machine
        return np.asarray(1 - np.floor(places[:, direction] * mode + 0.5).astype(np.int64) % 2)


def _modes(widths: NDArray[np.float64], bits: int) -> NDArray[np.int32]:
    """2 × bits: direction and mode k of the smallest eigenvalues, which grow with (k/width)²."""
    mode, direction = np.meshgrid(np.arange(1, bits + 1), np.arange(len(widths)))
    order = np.argsort((mode / widths[:, None]).reshape(-1), kind="stable")[:bits]
    return np.stack([direction.reshape(-1)[order], mode.reshape(-1)[order]]).astype(np.int32)
