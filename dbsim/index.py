"""One index, as users hold it: sync, search, similar, match, check, status."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, Engine, Subquery

from dbsim.errors import DbsimError, InvalidOption
from dbsim.options import IndexOptions, describe_columns
from dbsim.search.bounds import MAX_CANDIDATES, Bounds
from dbsim.search.buckets import Limits
from dbsim.search.candidates import Where
from dbsim.search.dedupe import Deduplication, limited
from dbsim.search.dedupe_options import GroupOptions, PairOptions
from dbsim.search.duplicates import Duplicates, Pairs
from dbsim.search.engine import SearchEngine
from dbsim.search.explain import Explanation
from dbsim.search.keep import Ranking
from dbsim.search.pairing import Workplace
from dbsim.search.resolve import Resolution, Resolver
from dbsim.search.results import Results
from dbsim.search.tune import TuneReport, Tuning
from dbsim.store import catalogue, models, status
from dbsim.store.backend import Backend
from dbsim.store.compare import Comparison, Differences
from dbsim.store.create import TableHook
from dbsim.store.inline import set_inline
from dbsim.store.source import Key
from dbsim.store.sync import Progress, SyncReport, Worker
from dbsim.store.tables import IndexTables
from dbsim.store.transactions import persistently, read
from dbsim.text.normalise import UNICODE_VERSION

Text = str | Mapping[str, str]
_quiet: Progress = lambda stage, done, total: None  # noqa: E731


class Index:
    """Near-duplicate search over one table. Made by `Database.create_index` or `Database.index`."""

    def __init__(
        self,
        engine: Engine,
        backend: Backend,
        record: catalogue.IndexRecord,
        after_create_table: TableHook | None = None,
    ) -> None:
        if record.unicode_version != UNICODE_VERSION:
            raise DbsimError(
                f"index {record.name!r} was built with Unicode {record.unicode_version}, this dbsim has "
                f"{UNICODE_VERSION}: drop the index and create it again, or install the dbsim that built it"
            )
        self._engine = engine
        self._backend = backend
        self._after_create_table = after_create_table
        self._take(record)

    def _take(self, record: catalogue.IndexRecord) -> None:
        self._tables = IndexTables(record)
        self._signer = record.options.signer(record.secret)
        self._search = SearchEngine(self._engine, self._backend, self._tables, self._signer)

    def __repr__(self) -> str:
        return f"<dbsim index {self.name!r} on {self.options.table!r}>"

    @property
    def name(self) -> str:
        return self._tables.record.name

    @property
    def options(self) -> IndexOptions:
        return self._tables.record.options

    @property
    def key_names(self) -> list[str]:
        """The primary key's columns."""
        return self._tables.key_names

    # ── in step ──
    def sync(self, *, reconcile: bool = False, progress: Progress = _quiet) -> SyncReport:
        """Bring the index, and the groups if they are stored, up to date; `reconcile` compares every row."""
        report = self.worker(progress).run(compare=reconcile)
        self._deduplication(progress).keep_up()
        return report

    def refit(self) -> None:
        """Learn again from the table as it is now (families that learn): a new generation; the next `sync` fills it."""
        models.refit(self._engine, self._backend, self._tables, self._signer)

    def follow(
        self, *, stop: Callable[[], bool] = lambda: False, poll: float = 5.0, progress: Progress = _quiet
    ) -> None:
        """Keep up until `stop()`; PostgreSQL wakes it at once, otherwise it looks after `poll` seconds at most."""
        self.sync(progress=progress)
        while not stop():
            persistently(self._backend, lambda: self._backend.wait(self._engine, self._tables, poll))
            self.sync(progress=progress)

    def set_inline(self, on: bool = True, *, progress: Progress = _quiet) -> SyncReport:
        """PostgreSQL: sign in the writing transaction (True) or through the queue (False), then bring up to date."""
        set_inline(self._engine, self._backend, self.name, on)
        record = read(self._engine, self._backend, lambda c: catalogue.load(c, self.name))
        self._take(record)
        return self.sync(progress=progress)

    def worker(self, progress: Progress = _quiet) -> Worker:
        return Worker(self._engine, self._backend, self._tables, self._signer, progress)

    def check(self, *, sample: int | None = None, repair: bool = False, progress: Progress = _quiet) -> Differences:
        """Recompute signatures and compare, all rows or a sample; rows still in the queue are not differences."""
        if sample is not None and sample < 1:
            raise InvalidOption(f"a sample of {sample} rows is not possible: use 1 or more")
        if not models.ensure(self._engine, self._backend, self._tables, self._signer):
            return Differences()  # nothing is stored before there is something to learn from
        if repair:  # the first filling goes on after the last row stored: a repair must not store one beyond it
            self.worker(progress).fill()
        walk = Comparison(self._engine, self._backend, self._tables, self._signer)
        walk.progress = lambda done, total: progress("checking", done, total)
        found = walk.all(repair=repair) if sample is None else walk.sample(sample, repair=repair)
        if repair or not found:
            return found
        # look again at what differed: it may have changed, or been indexed, while the comparison ran
        return replace(walk.unexplained(found.keys), compared=found.compared)

    def status(self) -> status.Status:
        """Rows, queue, quarantine, fill of the filters, and what needs attention."""

        def work(connection: Connection) -> status.Status:
            tables = IndexTables(catalogue.load(connection, self.name))
            return status.status(connection, self._backend, tables, describe_columns(self.options.fields))

        return read(self._engine, self._backend, work)

    def tune(
        self,
        *,
        families: Sequence[str] = (),
        threshold: float | None = None,
        recall: float | None = None,
        sample: int = 2000,
        probes: int = 0,
        progress: Progress = _quiet,
    ) -> TuneReport:
        """Measure recall, rows ranked and cost of a grid of settings on a sample of the table."""
        texts, rows = read(
            self._engine, self._backend, lambda c: models.sample_of(c, self._backend, self._tables, sample)
        )
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

    # ── search ──
    def search(
        self,
        text: Text,
        *,
        threshold: float | None = None,
        limit: int = 10,
        where: Where = None,
        max_candidates: int = MAX_CANDIDATES,
        probes: int = 0,
        verify: bool | None = None,
        connection: Connection | None = None,
    ) -> Results:
        """Rows similar to a text; for an index of several fields give `{"title": …, "body": …}`.

        `probes` looks into so many neighbouring buckets of each key as well. `verify` recomputes the family's exact
        measure from the texts of the ranked rows and lets it decide; it is on unless that measure is Jaccard, of which
        the filters give an estimate.
        """
        bounds = self._bounds(threshold, limit, max_candidates, probes, verify)
        (query,) = self._search.sign([self._by_field(text)], probes, connection)
        return self._search.search(query, bounds, where, connection)

    def similar(
        self,
        key: Any,
        *,
        threshold: float | None = None,
        limit: int = 10,
        where: Where = None,
        max_candidates: int = MAX_CANDIDATES,
        probes: int = 0,
        verify: bool | None = None,
        connection: Connection | None = None,
    ) -> Results:
        """Rows similar to a row of the table, given by its primary key (a dict or tuple when composite)."""
        bounds = self._bounds(threshold, limit, max_candidates, probes, verify)
        return self._search.similar(self.key(key), bounds, where, connection)

    def search_many(
        self,
        texts: Sequence[Text],
        *,
        threshold: float | None = None,
        limit: int = 10,
        max_candidates: int = MAX_CANDIDATES,
        probes: int = 0,
        verify: bool | None = None,
        connection: Connection | None = None,
    ) -> list[Results]:
        """A batch of searches in one statement (per 200 texts)."""
        if isinstance(texts, str):
            raise InvalidOption("search_many takes a list of texts; for one text use search")
        bounds = self._bounds(threshold, limit, max_candidates, probes, verify)
        queries = self._search.sign([self._by_field(text) for text in texts], probes, connection) if texts else []
        return self._search.search_many(queries, bounds, connection)

    def match(
        self,
        text: Text,
        *,
        threshold: float | None = None,
        limit: int = 1000,
        where: Where = None,
        max_candidates: int = MAX_CANDIDATES,
        probes: int = 0,
    ) -> Subquery:
        """The search as a SQLAlchemy selectable with the key columns and `score`, to join with your own tables.

        Threshold and score are those of the estimated Jaccard similarity, whatever the family's own measure.
        """
        bounds = self._bounds(threshold, limit, max_candidates, probes, verify=False)
        (query,) = self._search.sign([self._by_field(text)], probes)
        return self._search.match(query, bounds, where)

    def explain(self, a: Any, b: Any) -> Explanation:
        """Why two rows are, or are not, near-duplicates: keys and shingles in common, estimate and exact value."""
        return self._search.explain(self.key(a), self.key(b))

    def texts(self, keys: Sequence[Any]) -> list[str | None]:
        """The indexed text of rows of the table, in the order of the keys; None for one that is gone."""
        return self._search.texts([self.key(key) for key in keys])

    # ── the whole table ──
    def pairs(
        self,
        *,
        threshold: float | None = None,
        verify: bool = False,
        limits: Limits | None = None,
        progress: Progress = _quiet,
    ) -> Pairs:
        """All pairs of near-duplicate rows; `verify` compares the texts themselves, so that the score is exact."""
        wanted = self._pair_threshold(threshold)
        deduplication = self._deduplication(progress)
        state = deduplication.pairs(self._pair_options(wanted, verify, limits))
        return Pairs(deduplication.place, wanted, limited(state))

    def duplicates(
        self,
        *,
        by: str = "tight",
        threshold: float | None = None,
        verify: bool = False,
        limits: Limits | None = None,
        progress: Progress = _quiet,
    ) -> Duplicates:
        """Groups of near-duplicate rows, stored in dbsim_<index>_groups and kept up to date by `sync` from then on.

        by="tight": every member reaches the threshold with the group's first row; "components": chains count;
        "majorclust" and "average" lie in between. Asked again, only what changed is computed.
        """
        wanted = self._pair_threshold(threshold)
        deduplication = self._deduplication(progress)
        state = deduplication.groups(GroupOptions(by=by, threshold=wanted), self._pair_options(wanted, verify, limits))
        return Duplicates(deduplication.place, limited(state))

    def resolve(
        self,
        *,
        keep: str = "first",
        delete: bool = False,
        mark: str | None = None,
        expected: Resolution | None = None,
        even_if_behind: bool = False,
        dry_run: bool = True,
    ) -> Resolution:
        """Delete, or mark in a column, all rows but one of each stored group; by default only count them.

        `keep` is first, last, longest, or a SQL expression of which the highest value stays. A boolean column is set
        to true, any other to the key of the row that stays. Give `expected`, the result of a dry run, to have nothing
        done when the counts have changed since.
        """
        if bool(delete) == bool(mark) and not dry_run:
            raise InvalidOption("say either delete=True or mark=column")
        resolver = Resolver(self._ranking(keep))
        if dry_run:
            return resolver.count()
        if mark:
            return resolver.mark(mark, expected, even_if_behind=even_if_behind)
        return resolver.delete(expected, even_if_behind=even_if_behind)

    def kept(self, groups: Sequence[int], *, keep: str = "first") -> set[Key]:
        """The keys, as tuples, of the rows that stay of some stored groups."""
        return read(self._engine, self._backend, lambda c: self._ranking(keep).kept(c, groups))

    def _ranking(self, keep: str) -> Ranking:
        return Ranking(self._deduplication(_quiet).place, keep)

    def _deduplication(self, progress: Progress) -> Deduplication:
        place = Workplace(self._engine, self._backend, self._tables, self._signer, progress)
        return Deduplication(place, self._after_create_table)

    def _pair_options(self, threshold: float, verify: bool, limits: Limits | None) -> PairOptions:
        # pairs from the index's own threshold on are stored, so that asking for higher ones needs no new run
        lowest = min(threshold, self.options.threshold)
        return PairOptions(threshold=lowest, verify=verify, limits=limits or Limits())

    # ── helpers ──
    def key(self, value: Any) -> Key:
        """A primary key in any of the accepted forms, as a tuple."""
        names = self._tables.key_names
        if isinstance(value, Mapping):
            if set(value) != set(names):
                raise InvalidOption(f"the key consists of {', '.join(names)}, not of {', '.join(map(str, value))}")
            return tuple(value[name] for name in names)
        found = tuple(value) if isinstance(value, tuple | list) else (value,)
        if len(found) != len(names):
            raise InvalidOption(f"the key has {len(names)} parts ({', '.join(names)}), not {len(found)}")
        return found

    def _by_field(self, text: Text) -> str | list[str]:
        if isinstance(text, str):
            return text
        fields = self.options.fields
        known = {name for field in fields for name in (*field.columns, field.name)}
        for name in text:
            if name not in known:
                raise InvalidOption(f"index {self.name!r} has no field {name!r}; it has {describe_columns(fields)}")
        return [
            (text[field.name] or "")
            if field.name in text
            else "\n".join(text.get(column) or "" for column in field.columns)
            for field in fields
        ]

    def _pair_threshold(self, threshold: float | None) -> float:
        family = self.options.hashing
        if family.measure != "jaccard" or family.nearest:
            raise InvalidOption(
                f"pairs and groups need a family of buckets that compares sets, not {self.options.family!r}: "
                "create an index with family minhash"
            )
        return self._bounds(threshold, 1, 1, 0, verify=False).threshold

    def _bounds(
        self, threshold: float | None, limit: int, max_candidates: int, probes: int, verify: bool | None
    ) -> Bounds:
        family = self.options.hashing
        if verify is None:
            verify = family.measure != "jaccard"
        if threshold is None:
            # a forest returns the nearest rows, near or not; without verifying no other measure than Jaccard is known
            known = verify or family.measure == "jaccard"
            threshold = self.options.threshold if known and not family.nearest else 0.0
        return Bounds(threshold, limit, max_candidates, probes, verify, family.measure)
