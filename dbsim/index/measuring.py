"""What an index is measured by, as users ask for it: tune, evaluate, sample, overlap, walk; a part of Index."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dbsim.context import DatabaseContext
from dbsim.dedupe.results import Pair
from dbsim.errors import InvalidOption
from dbsim.evaluate.collections import compare_collections
from dbsim.evaluate.evaluation import Evaluation
from dbsim.evaluate.figures import EvaluateReport
from dbsim.evaluate.graph import WalkSample, numbered
from dbsim.evaluate.overlap import Overlap
from dbsim.evaluate.sample import draw
from dbsim.evaluate.tune import TuneReport, Tuning
from dbsim.hashing.signer import Signer
from dbsim.options import IndexOptions
from dbsim.progress import Progress, quiet
from dbsim.search.generation import Current
from dbsim.sync import models
from dbsim.tables.index_tables import IndexTables
from dbsim.tables.source import Key, public_key


class Measuring(ABC):
    """Every method is one call into the stage of its name."""

    _context: DatabaseContext
    _current: Current

    @property
    @abstractmethod
    def _tables(self) -> IndexTables:
        """Of the generation that is searched."""

    @property
    @abstractmethod
    def _signer(self) -> Signer:
        """Of the same generation."""

    @property
    @abstractmethod
    def options(self) -> IndexOptions:
        """What the index was made with."""

    @abstractmethod
    def key(self, value: Any) -> Key:
        """A primary key in any of the accepted forms, as a tuple."""

    @abstractmethod
    def pairs(self) -> Iterable[Pair]:
        """All near-duplicate pairs."""

    def tune(
        self,
        *,
        families: Sequence[str] = (),
        threshold: float | None = None,
        recall: float | None = None,
        sample: int = 2000,
        probes: int = 0,
        progress: Progress = quiet,
    ) -> TuneReport:
        """Measure recall, rows ranked and cost of a grid of settings on a sample of the table."""
        texts, rows = self._context.read(lambda c: models.sample_of(c, self._context.backend, self._tables, sample))
        tuning = Tuning(
            self._signer,
            texts,
            rows,
            self.options.threshold if threshold is None else threshold,
            self.options.recall if recall is None else recall,
            probes=probes,
        )
        try:
            return tuning.run(families or [self.options.family], progress)
        except ValueError as error:
            raise InvalidOption(str(error)) from error

    def evaluate(
        self, *, sample: int = 1000, truth: str | None = None, seed: int = 0, progress: Progress = quiet
    ) -> EvaluateReport:
        """Compare what searches find for sampled rows with every row of the table, by the exact measure.

        `truth` names a column of the table: rows with equal values are duplicates, rows without one say nothing.
        """
        return Evaluation(self._current.look(), sample, seed, progress).run(truth)

    def sample(self, size: int, *, distinct: bool = False, seed: int | None = None) -> list[Any]:
        """Keys of rows drawn at random, each with the same chance; `distinct` draws among the different contents."""
        if size < 0:
            raise InvalidOption(f"a sample of {size} rows is not possible: use 0 or more")
        rng, tables = np.random.default_rng(seed), self._current.look().tables
        found = self._context.read(lambda c: draw(c, self._context.backend, tables, size, rng, distinct=distinct))
        return [public_key(tables.key_names, key) for key in found]

    def overlap(
        self, other: Measuring, *, sample: int = 1000, distinct: bool = True, seed: int = 0, progress: Progress = quiet
    ) -> Overlap:
        """What share of this collection another one holds, and the other way round; near-duplicates count.

        The other index may live in another database on another engine. `distinct` draws among different contents.
        """
        mine, theirs = self._current.look(), other._current.look()
        return compare_collections(mine, theirs, sample, seed, distinct=distinct, progress=progress)

    def walk(
        self, size: int, *, start: Any = None, degree: int = 0, gap: int = 0, seed: int | None = None
    ) -> WalkSample:
        """Rows drawn by a random walk on the stored near-duplicate pairs: uniform over what can be reached."""
        pairs = list(self.pairs())
        graph = numbered([self.key(pair.a) for pair in pairs], [self.key(pair.b) for pair in pairs])
        names = [public_key(self._tables.key_names, key) for key in graph.names]
        return replace(graph, names=names).sample(size, start, degree, gap, seed)
