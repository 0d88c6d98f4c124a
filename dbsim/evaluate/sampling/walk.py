"""Random walks that end uniformly on a graph (WebWalker, Sauerhoff 2008, §2.2): edges, steps → nodes; and how soon.

Edges count in both directions, and every node is padded with self-loops to the same degree d, so that the uniform
distribution is stationary. Loops are not walked: how long the walk stays at a node is drawn at once. The distance to
uniform shrinks by the second eigenvalue a step, so 1/(1 - |λ₂|) steps are what one independent draw costs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy  # whose parts load when they are first used
from numpy.typing import NDArray

SMALL = 500  # nodes up to which all eigenvalues are computed
TINY = 1e-12

Nodes = NDArray[np.int64]


@dataclass(frozen=True)
class Walk:
    """A graph to walk on: neighbours of every node without loops, and the degree d all are padded to."""

    neighbours: scipy.sparse.csr_array
    degree: int

    @staticmethod
    def on(nodes: int, a: Nodes, b: Nodes, degree: int = 0) -> Walk:
        """Undirected, each edge once whatever the number of its mentions; d is twice the highest degree, or more."""
        ends = np.concatenate([a, b]), np.concatenate([b, a])
        matrix = scipy.sparse.csr_array(scipy.sparse.coo_array((np.ones(2 * len(a)), ends), shape=(nodes, nodes)))
        matrix.setdiag(0)
        matrix.eliminate_zeros()
        matrix.data[:] = 1.0
        highest = int(np.diff(matrix.indptr).max(initial=0))
        # from twice the highest degree on a walk stays with probability 1/2 or more: no eigenvalue below zero
        return Walk(matrix, max(degree, 2 * highest, 1))

    def reached(self, start: int) -> Nodes:
        """The nodes that a walk from `start` can come to: only on these is it uniform in the end."""
        _, labels = scipy.sparse.csgraph.connected_components(self.neighbours, directed=False)
        return np.flatnonzero(labels == labels[start]).astype(np.int64)

    def sample(self, start: int, count: int, gap: int, rng: np.random.Generator) -> Nodes:
        """The node of every `gap`-th step, the first after one gap."""
        offsets, others = self.neighbours.indptr, self.neighbours.indices
        found = np.empty(count, np.int64)
        node, step, taken = start, 0, 0
        while taken < count:
            own = int(offsets[node + 1] - offsets[node])
            stay = int(rng.geometric(own / self.degree)) if own else count * gap + 1
            until = min((step + stay - 1) // gap, count)  # draws that fall on this node
            found[taken:until] = node
            taken, step = until, step + stay
            if own:
                node = int(others[offsets[node] + int(rng.integers(own))])
        return found

    def second_eigenvalue(self, start: int) -> float:
        """|λ₂| of the walk's transition matrix on what it reaches; 0 when that is a single node."""
        kept = self.reached(start)
        if len(kept) < 2:
            return 0.0
        inner = scipy.sparse.csr_array(self.neighbours[kept][:, kept])
        loops = self.degree - np.diff(inner.indptr)
        steps = scipy.sparse.csr_array((inner + scipy.sparse.diags_array(loops.astype(float))) / self.degree)
        if len(kept) <= SMALL:
            values = np.sort(np.linalg.eigvalsh(steps.toarray()))
            return float(max(values[-2], abs(values[0])))
        top = np.sort(
            scipy.sparse.linalg.eigsh(
                steps, k=2, which="LA", return_eigenvectors=False, v0=np.linspace(1, 2, len(kept))
            )
        )
        return float(max(top[0], 0.0))  # none is negative: see `on`

    def gap(self, start: int, error: float = 0.01) -> int:
        """Steps after which the distance to uniform is at most `error`: ln(n/error)·1/(1 - |λ₂|)."""
        nodes = len(self.reached(start))
        return max(math.ceil(math.log(nodes / error) / max(1.0 - self.second_eigenvalue(start), TINY)), 1)
