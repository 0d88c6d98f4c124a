"""Linear spectral hashing (Bodó 2012): tf-idf vectors → r-bit codes; cosine.

quantify: tf-idf; reduce: project on the hyperplane normals g₂ … g₍r₊₁₎ with which spectral clustering cuts the sample;
discretise: the sign; combine: the bits, in pieces (codes.py). The normals are the eigenvectors u of Φ·D⁻¹·Φ', that is
the right singular vectors of D^(-½)·X without the first: a new document costs r products, no kernel with the sample.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy  # whose parts load when they are first used
from numpy.typing import NDArray

from dbsim.hashing.documents import Documents
from dbsim.hashing.families.shared.codes import Code
from dbsim.hashing.families.shared.learned import directions, fit_space, projections, stored
from dbsim.hashing.family import Model
from dbsim.hashing.keys import Plan


@dataclass(frozen=True)
class LinearSpectral(Code):
    """Bit j is the side of the j-th hyperplane."""

    def fit(self, documents: Documents, plan: Plan) -> Model:
        model, matrix = fit_space(documents)
        if min(matrix.shape) < self.bits + 1:
            raise ValueError(
                f"{self.bits} bits cannot be learned from {matrix.shape[0]} texts with {matrix.shape[1]} words: "
                "ask for fewer bits, or fill the table before the first sync"
            )
        degree = matrix @ np.asarray(matrix.sum(axis=0)).reshape(-1)  # row sums of W = X·X'
        scaled = scipy.sparse.csr_array(scipy.sparse.diags_array(1.0 / np.sqrt(degree)) @ matrix)
        normals, _ = directions(scaled, self.bits + 1, centre=False)
        if normals.shape[1] < self.bits + 1:
            raise ValueError(
                f"the sampled texts span only {normals.shape[1]} directions, too few for {self.bits} bits: "
                "ask for fewer bits"
            )
        model["normals"] = stored(normals[:, 1:])
        return model

    def code(self, documents: Documents, model: Model) -> NDArray[np.int64]:
        return (projections(documents, model) >= 0).astype(np.int64)
