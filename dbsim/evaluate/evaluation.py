"""Measure an index on a sample of its table: SearchEngine → EvaluateReport.

Sampled rows are asked as a user would ask them, and compared with every row of the table by the exact measure: what the
index promises, what it finds and what the formula says stand side by side.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from sqlalchemy import Connection, func, select

from dbsim.engines.source_rows import source_rows, texts
from dbsim.errors import InvalidOption, NotFitted
from dbsim.evaluate import figures
from dbsim.evaluate.decided import DECISIONS, against_decisions
from dbsim.evaluate.exact import GRAIN, Compared, compare
from dbsim.evaluate.figures import EvaluateReport
from dbsim.evaluate.intervals import clustered_share, mean, share
from dbsim.evaluate.sampling.sample import chance, draw
from dbsim.evaluate.truth import against, labels_of
from dbsim.evaluate.word_filters import WordTrial
from dbsim.options.asking import MAX_CANDIDATES
from dbsim.progress import Progress
from dbsim.search.limits import Search
from dbsim.search.searcher import SearchEngine
from dbsim.sync import models
from dbsim.tables.key_conditions import after, key_columns
from dbsim.tables.source import Key, Texts

PAGE = 2000  # rows of the table read at once


@dataclass
class Asked:
    """The sampled rows as queries, and what searching for them gave."""

    keys: list[Key]
    columns: list[list[str]]
    candidates: dict[Key, list[tuple[int, float]]] = field(default_factory=dict)
    counts: list[int] = field(default_factory=list)
    answers: list[list[Key]] = field(default_factory=list)  # at the index's threshold
    cut: int = 0
    seconds: list[float] = field(default_factory=list)

    @property
    def own(self) -> dict[Key, int]:
        return {key: number for number, key in enumerate(self.keys)}


@dataclass
class Evaluation:
    """One run."""

    search: SearchEngine
    sample: int
    seed: int
    progress: Progress
    max_candidates: int = MAX_CANDIDATES

    def run(self, truth: str | None = None) -> EvaluateReport:
        if self.sample < 1:
            raise InvalidOption(f"a sample of {self.sample} rows is not possible: use 1 or more")
        backend, tables = self.search.backend, self.search.tables
        self.search.read(lambda c: models.require(c, tables, self.search.signer))
        decided = truth == DECISIONS and not self.search.read(self._has_decisions_column)
        known = against_decisions(self.search) if decided else None
        labels = self.search.read(lambda c: labels_of(c, backend, tables, truth)) if truth and not decided else None
        asked = self._ask()
        compared, seconds = self._compare(asked)
        buckets = figures.bucket_sizes(self.search.read(self._buckets))
        if truth and labels:
            known = against(self.search, truth, labels, asked.keys, asked.answers)
        words = WordTrial(self.search, asked.keys, asked.columns).run(chance(self.seed))
        return replace(self._report(asked, compared, seconds, buckets, known), words=words)

    def _has_decisions_column(self, connection: Connection) -> bool:
        """A column of that name is what is asked for."""
        options = self.search.options
        source = self.search.backend.describe(connection, options.table, options.schema)
        return source is not None and DECISIONS in source.columns

    # ── asking ──
    def _ask(self) -> Asked:
        backend, tables = self.search.backend, self.search.tables
        rng = chance(self.seed)
        keys = self.search.read(lambda c: draw(c, backend, tables, self.sample, rng))
        rows = zip(keys, self.search.columns_of(keys), strict=True)
        found = {key: row for key, row in rows if row is not None}
        signed = self.search.sign([list(found[key]) for key in keys if key in found])
        queries = [(key, query) for key, query in zip((k for k in keys if k in found), signed, strict=True) if query]
        if not queries:
            raise NotFitted("the table has no texts to evaluate with: fill it first")
        columns = [list(column) for column in zip(*(found[key] for key, _ in queries), strict=True)]
        asked = Asked([key for key, _ in queries], columns)
        for number, (_, query) in enumerate(queries):
            self.progress("asking", number, len(queries))
            self._search(asked, number, query)
        self.progress("asking", len(queries), len(queries))
        return asked

    def _search(self, asked: Asked, number: int, query: Any) -> None:
        """Once as users do, by the clock, and once for every candidate."""
        options = self.search.options
        usual = Search(limit=self.max_candidates, max_candidates=self.max_candidates).bounds(options)
        start = time.perf_counter()
        answers = self.search.search(query, usual, None, None)
        asked.seconds.append(time.perf_counter() - start)
        every = Search(
            threshold=0.0, limit=self.max_candidates, max_candidates=self.max_candidates, verify=False
        ).bounds(options)
        found = self.search.search(query, every, None, None)
        asked.cut += found.cut
        asked.answers.append([self._key(hit.key) for hit in answers])
        keys = [self._key(hit.key) for hit in found]
        asked.counts.append(len(keys) - (asked.keys[number] in keys))
        for key, hit in zip(keys, found, strict=True):
            asked.candidates.setdefault(key, []).append((number, hit.score))

    def _key(self, public: Any) -> Key:
        names = self.search.tables.key_names
        return (public,) if len(names) == 1 else tuple(public[name] for name in names)

    # ── comparing ──
    def _compare(self, asked: Asked) -> tuple[Compared, float]:
        total = self.search.read(lambda c: c.scalar(select(func.count()).select_from(self.search.tables.source)))
        compared, own, seconds = Compared(len(asked.keys), self.search.options.threshold), asked.own, 0.0
        for batch in self._table():
            start = time.perf_counter()
            rows = (batch.keys, batch.columns)
            compare(compared, self.search.signer, asked.columns, own, rows, asked.candidates)
            seconds += time.perf_counter() - start
            self.progress("comparing", compared.rows, max(total or 0, compared.rows))
        return compared, seconds

    def _table(self) -> Iterator[Texts]:
        """Every row in key order, a page a transaction."""
        last: Key | None = None
        while True:
            page = self.search.read(partial(self._page, last=last))
            if not page:
                return
            yield from page
            last = page[-1].keys[-1]

    def _page(self, connection: Connection, last: Key | None) -> list[Texts]:
        tables = self.search.tables
        keys = key_columns(tables.source, tables)
        start = [key.is_not(None) for key in keys] + ([after(keys, last)] if last else [])
        query = source_rows(self.search.backend, tables).where(*start).order_by(*keys).limit(PAGE)
        return list(texts(connection, self.search.backend, tables, query))

    def _buckets(self, connection: Connection) -> list[tuple[int, int]]:
        stored, found = self.search.tables.signatures, dict[int, int]()
        for number, name in enumerate(self.search.tables.names.keys):
            self.progress("buckets", number, self.search.options.keys)
            key = stored.c[name]
            sizes = select(func.count().label("size")).where(key.is_not(None)).group_by(key).subquery("sizes")
            for size, count in connection.execute(select(sizes.c.size, func.count()).group_by(sizes.c.size)):
                found[size] = found.get(size, 0) + count
        return sorted(found.items())

    # ── reporting ──
    def _report(
        self,
        asked: Asked,
        compared: Compared,
        seconds: float,
        buckets: figures.Buckets,
        truth: figures.Truth | None,
    ) -> EvaluateReport:
        options = self.search.options
        family, queries = options.hashing, len(asked.keys)
        probability = family.collision(options.threshold)
        near = np.array(compared.exact) >= options.threshold - GRAIN
        right = np.bincount(np.array(compared.asked, int), near.astype(float), minlength=queries).astype(int)
        counts = np.array(asked.counts)
        return EvaluateReport(
            index=options.name,
            family=options.family,
            measure=family.measure,
            threshold=options.threshold,
            promised=None if probability is None or family.nearest else options.plan.recall(probability),
            queries=queries,
            table_rows=compared.rows,
            own=share(sum(any(n == q for q, _ in asked.candidates.get(k, ())) for k, n in asked.own.items()), queries),
            curve=figures.curve(compared),
            answers=self._answers(asked, compared),
            candidate_precision=clustered_share(right, counts),
            candidates=mean(counts.astype(float)),
            cut=asked.cut,
            speed_up=compared.rows / max(float(counts.mean()), 1.0),
            score=figures.score_error(compared) if family.estimated else None,
            buckets=buckets,
            milliseconds=tuple(1000 * np.quantile(asked.seconds, [0.5, 0.95])),
            scan_milliseconds=1000 * seconds / queries,
            truth=truth,
        )

    def _answers(self, asked: Asked, compared: Compared) -> figures.Answers:
        """Of searches at the index's threshold, by the exact measure; rows compared with themselves are left out."""
        given = [set(keys) for keys in asked.answers]
        seen = [
            (query, exact >= compared.threshold - GRAIN)
            for key, query, exact in zip(compared.keys, compared.asked, compared.exact, strict=True)
            if key in given[query]
        ]
        return figures.answers(compared.queries, [q for q, _ in seen], [right for _, right in seen], compared.near)
