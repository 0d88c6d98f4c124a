"""Groups of persons by every method against the truth: pairs with probabilities, entities → pairwise and B-cubed F1."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchmarks.report import Report
from dbsim.dedupe.kernels.decide import Decision
from dbsim.dedupe.kernels.grouping.assignment import Contents, Scores, assign
from dbsim.dedupe.kernels.grouping.graph import Graph, Scorer
from dbsim.dedupe.kernels.grouping.registry import CORRELATION, METHODS
from dbsim.evaluate.agreement import Agreement, bcubed, pairwise

Numbers = NDArray[np.int64]


def measure(
    report: Report,
    name: str,
    pairs: tuple[Numbers, Numbers],
    probability: NDArray[np.float64],
    score: Scorer,
    entities: Numbers,
    threshold: float,
) -> None:
    """The default of persons as the figure, the other methods in the note."""
    graph = Graph(len(entities), *pairs, probability).at_least(threshold)
    found = {by: agreement(graph, by, threshold, score, entities) for by in METHODS}
    for place, what in enumerate(("pairwise", "B-cubed")):
        others = ", ".join(f"{by} {both[place].f1:.4f}" for by, both in found.items() if by != CORRELATION)
        chosen = found[CORRELATION][place]
        note = f"precision {chosen.precision:.4f}; {others}"
        report.add(f"{name}: {what} F1 of groups, p ≥ {threshold}", chosen.f1, "", note=note)


def agreement(graph: Graph, by: str, threshold: float, score: Scorer, entities: Numbers) -> tuple[Agreement, Agreement]:
    """As `duplicates` groups: rows are contents of their own here."""
    rows, alone = np.arange(graph.nodes), np.ones(graph.nodes)
    scores = Scores(score, score, Decision((), threshold, verify=False))
    made = assign(Contents(rows, np.ones_like(rows), graph, np.ones(len(graph.a), bool), alone), by, threshold, scores)
    labels = rows.copy()
    labels[made.fingerprints] = made.group_ids
    return pairwise(labels, entities), bcubed(labels, entities)
