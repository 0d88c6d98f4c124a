"""What an index is measured by, as users ask for it: tune, evaluate, sample, overlap, walk; a part of Index."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from dbsim.choosing import unit_in_words
from dbsim.dedupe.results import Pair
from dbsim.engines.source_sample import sample_of
from dbsim.errors import DbsimError, InvalidOption, NotFitted
from dbsim.evaluate.clusters import Clusters, assigned, clusters
from dbsim.evaluate.evaluation import Evaluation
from dbsim.evaluate.figures import EvaluateReport
from dbsim.evaluate.last import keep
from dbsim.evaluate.sampling.asking import Asking
from dbsim.evaluate.sampling.collections import compare_collections
from dbsim.evaluate.sampling.graph import WalkSample, numbered
from dbsim.evaluate.sampling.overlap import Overlap
from dbsim.evaluate.sampling.queries import QuerySampler
from dbsim.evaluate.sampling.sample import chance, draw
from dbsim.evaluate.truth import labels_of
from dbsim.evaluate.tune import TuneReport, Tuning
from dbsim.index.base import IndexBase
from dbsim.lifecycle.create import texts_at_both_ends
from dbsim.options import require_positive
from dbsim.progress import Progress, quiet
from dbsim.search.limits import Text, by_field
from dbsim.sync import models
from dbsim.tables import model_rows
from dbsim.tables.source import public_key

FEW = 20  # rows of each end of a table that show how it is written
CLUSTERS = "clusters."  # how stored centroids are called among the arrays an index learned


class Measuring(IndexBase):
    """Every method is one call into the stage of its name."""

    @abstractmethod
    def pairs(self) -> Iterable[Pair]:
        """All near-duplicate pairs."""

    def units(self) -> list[str]:
        """What is compared in each field, as people say it: "3 words"."""
        sample = self._context.read(lambda c: texts_at_both_ends(c, self._context.backend, self._tables, FEW))
        return [unit_in_words(field, texts) for field, texts in zip(self.options.fields, sample, strict=True)]

    def tune(
        self,
        *,
        families: Sequence[str] | None = None,
        threshold: float | None = None,
        recall: float | None = None,
        sample: int = 2000,
        probes: int = 0,
        progress: Progress = quiet,
    ) -> TuneReport:
        """Measure recall, rows ranked and cost of a grid of settings on a sample of the table."""
        require_positive(sample=sample)
        if families is not None and not families:
            raise InvalidOption("no family to measure: name some, or leave `families` out for the index's own")
        texts, rows = self._context.read(lambda c: sample_of(c, self._context.backend, self._tables, sample))
        tuning = Tuning(
            self._signer,
            texts,
            rows,
            self.options.threshold if threshold is None else threshold,
            self.options.recall if recall is None else recall,
            probes=probes,
        )
        try:
            return tuning.run([self.options.family] if families is None else families, progress)
        except ValueError as error:
            raise InvalidOption(str(error)) from error

    def evaluate(
        self, *, sample: int = 1000, truth: str | None = None, seed: int = 0, progress: Progress = quiet
    ) -> EvaluateReport:
        """Compare what searches find for sampled rows with every row of the table, by the exact measure.

        `truth` names a column of the table: rows with equal values are duplicates, rows without one say nothing; or it
        is "decisions": what people decided.
        """
        search = self._current.look()
        report = Evaluation(search, sample, seed, progress).run(truth)
        with suppress(DbsimError):  # who may only read is not kept from measuring
            search.write(lambda c: keep(c, search.tables.record, report))
        return report

    def clusters(
        self,
        *,
        by: str = "kmeans",
        count: int | None = None,
        threshold: float | None = None,
        rows: int = 5000,
        seed: int = 0,
        save: bool = False,
    ) -> Clusters:
        """Clusters of the table's documents, or of `rows` drawn ones: k-means with `count`, or by the similarity graph.

        `by` is kmeans (over tf-idf vectors), or a method of `duplicates` on the graph of the family's exact measure
        from `threshold` on. `save` keeps the centroids, for `cluster_of`.
        """
        search = self._current.look()
        context = search.context
        context.read(lambda c: models.require(c, context.tables, context.signer))
        rng = chance(seed)
        keys = context.read(lambda c: draw(c, context.backend, context.tables, rows, rng))
        texts = {key: row for key, row in zip(keys, search.columns_of(keys), strict=True) if row is not None}
        found = clusters(
            context.signer,
            [public_key(context.tables.key_names, key) for key in texts],
            [list(column) for column in zip(*texts.values(), strict=True)] or [[] for _ in self.options.fields],
            by=by,
            count=count,
            threshold=self.options.threshold if threshold is None else threshold,
            seed=seed,
        )
        if save and found.model is not None:
            fitted = models.Fitted(found.model, len(texts))
            context.write(lambda c: models.replace_part(c, context.tables.record, CLUSTERS, fitted))
        return found

    def values(self, column: str, keys: Sequence[Any]) -> list[Any]:
        """A column of the table for these rows, such as known classes; None for a row without a value."""
        tables = self._current.look().tables
        found = self._context.read(lambda c: labels_of(c, self._context.backend, tables, column))
        return [found.get(self.key(key)) for key in keys]

    def cluster_of(self, texts: Sequence[Text]) -> list[int]:
        """The number of the nearest stored centroid for each text; after `clusters(by="kmeans", save=True)`."""
        context = self._current.look().context
        record = context.tables.record
        model = context.read(lambda c: model_rows.load(c, record.name, record.generation, CLUSTERS))
        if model is None:
            raise NotFitted(f"index {record.name!r} has no stored clusters: ask for clusters(count=…, save=True)")
        given = [by_field(self.options, text) for text in texts]
        columns = [
            [text if isinstance(text, str) else text[number] for text in given]
            for number in range(len(self.options.fields))
        ]
        return [int(label) for label in assigned(context.signer, columns, model)]

    def sample_by_words(
        self,
        size: int,
        *,
        words: Sequence[str] | None = None,
        first: int = 100,
        uniform: bool = True,
        seed: int | None = None,
    ) -> list[Any]:
        """Keys of rows drawn through random word questions, as for a collection that only answers those.

        Needs word signatures. Words with no answer or with more than `first` are not used; without `words` they come
        from some rows. `uniform=False` is the plain method of Bharat and Broder, which prefers long texts.
        """
        if size < 0:
            raise InvalidOption(f"a sample of {size} rows is not possible: use 0 or more")
        search, rng = self._current.look(), chance(seed)
        asking = Asking(search)
        lexicon = list(dict.fromkeys(words)) if words is not None else asking.lexicon(rng)
        sampler = QuerySampler(lexicon, asking.answers, asking.words_of, first, uniform, rng)
        return [public_key(search.tables.key_names, key) for key in sampler.draw(size)] if size else []

    def sample(self, size: int, *, distinct: bool = False, seed: int | None = None) -> list[Any]:
        """Keys of rows drawn at random, each with the same chance; `distinct` draws among the different contents."""
        if size < 0:
            raise InvalidOption(f"a sample of {size} rows is not possible: use 0 or more")
        rng, tables = chance(seed), self._current.look().tables
        found = self._context.read(lambda c: draw(c, self._context.backend, tables, size, rng, distinct=distinct))
        return [public_key(tables.key_names, key) for key in found]

    def overlap(
        self, other: IndexBase, *, sample: int = 1000, distinct: bool = True, seed: int = 0, progress: Progress = quiet
    ) -> Overlap:
        """What share of this collection another one holds, and the other way round; near-duplicates count.

        The other index may live in another database on another engine. `distinct` draws among different contents.
        """
        mine, theirs = self._current.look(), other._current.look()
        return compare_collections(mine, theirs, sample, seed, distinct=distinct, progress=progress)

    def walk(
        self,
        size: int,
        *,
        start: Any = None,
        degree: int | None = None,
        gap: int | None = None,
        seed: int | None = None,
    ) -> WalkSample:
        """Rows drawn by a random walk on the stored near-duplicate pairs: uniform over what can be reached."""
        pairs = list(self.pairs())
        graph = numbered([self.key(pair.a) for pair in pairs], [self.key(pair.b) for pair in pairs])
        names = [public_key(self._tables.key_names, key) for key in graph.names]
        return replace(graph, names=names).sample(size, start, degree, gap, seed)
