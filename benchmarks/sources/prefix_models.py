"""Seed 000, fig. 4.2 and 4.3: prefix-class models against the vector space model, by clusters and expected density."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.sparse import csr_array
from scipy.spatial.distance import squareform

from benchmarks.sources import texts
from benchmarks.sources.outcome import Outcome, console
from dbsim.dedupe.kernels.grouping.graph import Graph
from dbsim.dedupe.kernels.grouping.kmeans import kmeans
from dbsim.dedupe.kernels.grouping.majorclust import majorclust
from dbsim.dedupe.kernels.grouping.quality import expected_density, f_measure
from dbsim.hashing.families.fuzzy import Fuzzy
from dbsim.hashing.families.shared.prefixes import prefixes
from dbsim.report.plot import Axis, Series, sheet, svg
from dbsim.text.normalise import fold

SIZES = {"small": ((200, 400), 2), "full": ((200, 400, 600, 800, 1000), 10)}
CLASSES = 5
EDGES = 0.1  # the share of pairs, the most similar ones, that make the graph for MajorClust and density
Matrix = NDArray[np.float64]
# model → printed mean deviation of F from the vector space model
PRINTED = {"|ω| = 1": -59, "|ω| = 2": -56, "|ω| = 3": -55, "k = 13": -62, "k = 26": -54, "k = 100": -40, "k = 676": -25}
SETTINGS = {
    "|ω| = 1": Fuzzy(prefix=1, classes=0),
    "|ω| = 2": Fuzzy(prefix=2, classes=0),
    "|ω| = 3": Fuzzy(prefix=3, classes=0),
    "k = 13": Fuzzy(prefix=2, classes=13),
    "k = 26": Fuzzy(prefix=2, classes=26),
    "k = 100": Fuzzy(prefix=2, classes=100),
    "k = 676": Fuzzy(prefix=3, classes=676),
}
CLASSES_OF = dict(zip(SETTINGS, (26, 26**2, 26**3, 13, 26, 100, 676), strict=True))  # model → its classes
BASE = "vector space"


def run(size: str) -> Outcome:
    counts, draws = SIZES[size]
    setting = f"newsgroups, {CLASSES} of 20 groups, {counts[0]} to {counts[-1]} posts, {draws} draws each"
    outcome = Outcome("prefix-models", "seed 000, fig. 4.2 and 4.3", setting, size)
    groups: dict[str, list[str]] = {}
    for _, group, body in texts.newsgroups():
        if len(body) > 400:
            groups.setdefault(group, []).append(body[:8000])
    scores: dict[str, list[float]] = {name: [] for name in (BASE, *SETTINGS)}
    density: dict[str, list[tuple[float, float]]] = {name: [] for name in scores}
    for count in counts:
        made = [draw(groups, count, np.random.default_rng([count, number])) for number in range(draws)]
        for name in scores:
            scores[name] += [one[name][0] for one in made]
            density[name].append((float(count), float(np.mean([one[name][1] for one in made]))))
        console.print(f"  {count} posts: " + ", ".join(f"{n} ρ {density[n][-1][1]:.2f}" for n in scores))
    report(outcome, scores, density)
    return outcome


def draw(groups: dict[str, list[str]], count: int, rng: np.random.Generator) -> dict[str, tuple[float, float]]:
    """Model → mean F of the three algorithms, expected density of the true classes; one group a hierarchy."""
    fields = rng.choice(sorted({group.split(".")[0] for group in groups}), CLASSES, replace=False)
    chosen = [rng.choice([group for group in sorted(groups) if group.split(".")[0] == name]) for name in fields]
    each = count // CLASSES
    posts = [groups[group][n] for group in chosen for n in rng.permutation(len(groups[group]))[:each]]
    truth = np.repeat(np.arange(CLASSES), [min(each, len(groups[group])) for group in chosen])
    clean = texts.without_stop_words(posts)
    models: dict[str, csr_array] = {BASE: texts.tfidf(texts.documents(clean))}
    folded = [fold(text, "text") for text in clean]
    for name, family in SETTINGS.items():
        models[name] = classes(family, folded)
    return {name: judged(matrix, truth) for name, matrix in models.items()}


def classes(family: Fuzzy, folded: list[bytes]) -> csr_array:
    """Deviations of the class shares from the expected ones, rows of unit length."""
    division = family.division(folded)
    document, prefix = prefixes(folded, family.prefix)
    kind = division["classes"].astype(np.int64)[prefix]
    found = np.zeros((len(folded), len(division["masses"])))
    np.add.at(found, (document[kind >= 0], kind[kind >= 0]), 1.0)
    shares = found / np.maximum(found.sum(axis=1, keepdims=True), 1)
    deviations = shares / division["masses"] - 1.0
    return csr_array(deviations / np.maximum(np.linalg.norm(deviations, axis=1, keepdims=True), 1e-12))


def judged(matrix: csr_array, truth: NDArray[np.int64]) -> tuple[float, float]:
    similar = np.clip(np.asarray((matrix @ matrix.T).toarray()), 0.0, 1.0)
    graph = strongest(similar)
    algorithms: tuple[Callable[[], NDArray[np.int64]], ...] = (
        lambda: majorclust(graph),
        lambda: kmeans(matrix, CLASSES).labels,
        lambda: average(similar),
    )
    return float(np.mean([f_measure(find(), truth) for find in algorithms])), expected_density(graph, truth)


def strongest(similar: Matrix) -> Graph:
    """The ε-similarity graph; ε such that every model has the same share of pairs."""
    a, b = np.triu_indices(len(similar), 1)
    weights = similar[a, b]
    kept = weights >= max(float(np.quantile(weights, 1 - EDGES)), 1e-9)
    return Graph(len(similar), a[kept], b[kept], weights[kept])


def average(similar: Matrix) -> NDArray[np.int64]:
    """Group-average link until K groups are left."""
    distance = 1.0 - similar
    np.fill_diagonal(distance, 0.0)
    return np.asarray(fcluster(linkage(squareform(distance, checks=False), "average"), CLASSES, "maxclust"), np.int64)


def report(outcome: Outcome, scores: dict[str, list[float]], density: dict[str, list[tuple[float, float]]]) -> None:
    base = np.array(scores[BASE])
    rows, means = [], {}
    for name in SETTINGS:
        change = (np.array(scores[name]) / base - 1) * 100
        means[name] = float(change.mean())
        rho = float(np.mean([y for _, y in density[name]]))
        rows.append([name, float(PRINTED[name]), means[name], float(change.min()), float(change.max()), rho])
    rho = float(np.mean([y for _, y in density[BASE]]))
    rows.append([BASE, 0.0, 0.0, 0.0, 0.0, rho])
    headings = ["model", "printed mean %", "mean %", "min %", "max %", "expected density"]
    outcome.table(f"F-measure against the vector space model (its mean F {base.mean():.3f})", headings, rows)
    floor = (2 / (CLASSES + 1) / base.mean() - 1) * 100  # one cluster of everything: precision 1/5, recall 1
    outcome.figures["F of the vector space model"], outcome.figures["floor %"] = float(base.mean()), float(floor)
    shown = ", ".join(f"{name} {value:+.0f} %" for name, value in means.items())
    outcome.say(
        "prefix-class models are worse than the vector space model throughout",
        f"{shown}; one cluster of everything would be {floor:+.0f} %",
        _holds(max(means.values()) < 0),
    )
    outcome.say("longer prefixes come closer", shown, _closer(means, ["|ω| = 1", "|ω| = 2", "|ω| = 3"]))
    more = _closer(means, ["k = 13", "k = 26", "k = 100", "k = 676"])
    outcome.say("more combined classes come closer", shown, more)
    single, combined = means["|ω| = 1"], means["k = 26"]
    outcome.say(
        "26 combined classes are better than 26 letters",
        f"{combined:+.0f} % against {single:+.0f} %",
        _holds(combined > single),
    )
    series = [Series(name, points) for name, points in density.items()]
    ys = [y for one in series for _, y in one.points]
    x = Axis("posts", 0, max(x for x, _ in series[0].points))
    title = "Expected density of the true classes"
    step = 0.1
    low, high = np.floor(min(ys) / step) * step, np.ceil(max(ys) / step) * step
    shown_density = svg(series, title=title, x=x, y=Axis("expected density", float(low), float(high)))
    outcome.pictures["prefix-models.svg"] = sheet([deviations(means), shown_density])


def deviations(means: dict[str, float]) -> str:
    """Fig. 4.2: mean deviation of F by the number of classes, as printed and as measured."""
    series = []
    for kind, names in (("prefixes", ["|ω| = 1", "|ω| = 2", "|ω| = 3"]), ("combined", list(CLASSES_OF)[3:])):
        for origin, values in (("printed", PRINTED), ("measured", means)):
            series.append(Series(f"{kind}, {origin}", [(float(CLASSES_OF[n]), float(values[n])) for n in names]))
    x, y = Axis("classes of prefixes", 10, 100_000, log=True), Axis("mean deviation of F (%)", -80, 0)
    return svg(series, title="F-measure against the vector space model (fig. 4.2)", x=x, y=y)


def _holds(it_does: bool) -> str:
    return "holds" if it_does else "does not hold"


def _closer(means: dict[str, float], names: list[str]) -> str:
    """Step by step; less than a point is no difference, draws vary by more."""
    steps = list(pairwise(names))
    kept = [f"{a} → {b}" for a, b in steps if means[b] - means[a] >= 1]
    if len(kept) == len(steps):
        return "holds"
    return f"holds only for {', '.join(kept)}" if kept else "does not hold"
