"""One index, as users hold it: sync, search, similar, match, check, status."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, Subquery

from dbsim.context import DatabaseContext, IndexContext
from dbsim.dedupe.acting.delete import Deletion
from dbsim.dedupe.acting.keep import Ranking
from dbsim.dedupe.acting.mark import Marking
from dbsim.dedupe.acting.resolve import Resolution
from dbsim.dedupe.answers import below_threshold, grouped, listed
from dbsim.dedupe.decisions import Book, Decision
from dbsim.dedupe.kernels.buckets import Limits
from dbsim.dedupe.options import GroupOptions, PairOptions, described
from dbsim.dedupe.results import Duplicates, Pairs
from dbsim.dedupe.run import Deduplication
from dbsim.dedupe.store_pairs import Workplace
from dbsim.engines.callers import Caller, connection_of
from dbsim.engines.transactions import outlasting, persistently
from dbsim.errors import InvalidOption
from dbsim.hashing.signer import Signer
from dbsim.index.changing import Changing
from dbsim.index.door import AtTheDoor
from dbsim.index.measuring import Measuring
from dbsim.lifecycle import status
from dbsim.options import IndexOptions, describe_columns, require_positive
from dbsim.progress import Progress, quiet
from dbsim.search.contains import Contained, contains, search_containing
from dbsim.search.explain import Explanation
from dbsim.search.generation import Current
from dbsim.search.limits import MAX_CANDIDATES, Text, bounds_of, by_field
from dbsim.search.results import Results
from dbsim.search.searcher import SearchEngine
from dbsim.search.statements import Where
from dbsim.search.words import Question, Words
from dbsim.sync import models
from dbsim.sync.compare import Comparison, Differences
from dbsim.sync.given import refresh_given
from dbsim.sync.worker import SyncReport, Worker
from dbsim.sync.worklog import WorkLog
from dbsim.tables import catalogue
from dbsim.tables.group_tables import PUBLISHED
from dbsim.tables.index_tables import IndexTables
from dbsim.tables.source import Key


class Index(Measuring, Changing, AtTheDoor):
    """Near-duplicate search over one table. Made by `Database.create_index` or `Database.index`."""

    def __init__(self, context: DatabaseContext, record: catalogue.IndexRecord) -> None:
        self._context = context
        self._current = Current(context, record)

    @property
    def _search(self) -> SearchEngine:
        return self._current.search

    @property
    def _tables(self) -> IndexTables:
        return self._search.tables

    @property
    def _signer(self) -> Signer:
        return self._search.signer

    @property
    def context(self) -> IndexContext:
        """What work on the generation that is searched now needs."""
        return self._current.get().context

    def __repr__(self) -> str:
        return f"<dbsim index {self.name!r} on {self.options.table!r}>"

    @property
    def name(self) -> str:
        return self._tables.record.name

    @property
    def options(self) -> IndexOptions:
        return self._tables.record.options

    @property
    def secret(self) -> bytes:
        """With the options it makes `dbsim.bulk` find the very groups of this index; keep it so."""
        return self._tables.record.secret

    @property
    def key_names(self) -> list[str]:
        """The primary key's columns."""
        return self._tables.key_names

    # ── in step ──
    def sync(self, *, reconcile: bool = False, workers: int | None = None, progress: Progress = quiet) -> SyncReport:
        """Bring the index, and the groups if they are stored, up to date; `reconcile` compares every row.

        A first filling takes `workers` processes: by default the machine's cores, at most 4, if the table is large and
        the engine is dbsim's own; give a number to have processes connect by the URL of an engine of yours.
        """
        require_positive(workers=workers)
        waiting = self._deduplication(progress).look()
        report = self._worker(progress, workers).run(compare=reconcile)
        if not report.idle or waiting:
            self._deduplication(progress).keep_up()
        return report

    def follow(
        self, *, stop: Callable[[], bool] = lambda: False, poll: float = 5.0, progress: Progress = quiet
    ) -> None:
        """Keep up until `stop()`; PostgreSQL wakes it at once, otherwise it looks after `poll` seconds at most.

        A database that is away or busy for long is waited for; whatever else goes wrong is raised. What it does is told
        to the logger `dbsim`, a line a minute at most.
        """
        backend, told = self._context.backend, WorkLog(self.name)

        def wait() -> None:
            backend.wait(self._context.engine, self._tables, poll)

        try:
            outlasting(backend, lambda: told.add(self.sync(progress=progress)), stop)
            while not stop():
                outlasting(backend, lambda: persistently(backend, wait), stop)
                outlasting(backend, lambda: told.add(self.sync(progress=progress)), stop)
        finally:
            told.tell()

    def _worker(self, progress: Progress = quiet, workers: int | None = None) -> Worker:
        return Worker(self._search.context, progress=progress, workers=workers)

    def refresh(self, keys: Sequence[Any], *, connection: Caller = None) -> int:
        """Sign these rows now; in the caller's transaction they are found before it commits, and rolled back with it.

        The queue keeps them for the next `sync`, which finds nothing left to do. Until the transaction ends, workers
        wait for these rows, and other callers of `refresh` may. An inline index has signed them already.
        """
        wanted = [self.key(key) for key in keys]
        return refresh_given(self._worker(), wanted, connection_of(connection))

    def check(self, *, sample: int | None = None, repair: bool = False, progress: Progress = quiet) -> Differences:
        """Recompute signatures and compare, all rows or a sample; rows still in the queue are not differences."""
        if sample is not None and sample < 1:
            raise InvalidOption(f"a sample of {sample} rows is not possible: use 1 or more")
        if repair:
            self._worker(progress).build()
        self._current.look()
        if not models.ensure(self._search.context):
            return Differences()  # nothing is stored before there is something to learn from
        walk = Comparison(self._search.context)
        walk.progress = lambda done, total: progress("checking", done, total)
        found = walk.all(repair=repair) if sample is None else walk.sample(sample, repair=repair)
        if repair or not found:
            return found
        # look again at what differed: it may have changed, or been indexed, while the comparison ran
        return replace(walk.unexplained(found.keys), compared=found.compared)

    def status(self) -> status.Status:
        """Rows, queue, quarantine, fill of the filters, and what needs attention."""

        def work(connection: Connection) -> status.Status:
            tables = IndexTables(self._context.load(connection, self.name))
            return status.status(
                connection, self._context.backend, tables, describe_columns(tables.record.options.fields)
            )

        return self._context.read(work)

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
        containing: Words | str | None = None,
        connection: Caller = None,
    ) -> Results:
        """Rows similar to a text; for an index of several fields give `{"title": …, "body": …}`.

        `probes` looks into so many neighbouring buckets of each key as well. `verify` says whose texts decide: by
        default those of rows within the estimate's error of the threshold, with True of all ranked rows, with False of
        none; measures other than Jaccard have no estimate, so all. `containing` leaves rows out that lack a word, in
        the same statement.
        """
        wanted = Words(all=(containing,)) if isinstance(containing, str) else containing
        own = connection_of(connection)

        def question(search: SearchEngine) -> Results:
            bounds = bounds_of(search.options, threshold, limit, max_candidates, probes, verify)
            (query,) = search.sign([by_field(search.options, text)], probes, own)
            if wanted is None:
                return search.search(query, bounds, where, own)
            words = Question(search.tables, search.signer, wanted)
            return search_containing(search, query, bounds, where, words, own)

        return self._current.ask(question, own)

    def contains(
        self,
        *words: str,
        phrase: str | Sequence[str] = (),
        none_of: str | Sequence[str] = (),
        where: Where = None,
        limit: int | None = None,
        connection: Caller = None,
    ) -> Contained:
        """Keys of the rows that have all these words and phrases and none of those, exactly; needs word signatures.

        A word is one of the normalised text: "Straße" finds "STRASSE". `phrase` and `none_of` are one text or several.
        """
        asked, own = Words.of(words, phrase, none_of), connection_of(connection)

        def question(search: SearchEngine) -> Contained:
            return contains(search, Question(search.tables, search.signer, asked), where, limit, own)

        return self._current.ask(question, own)

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
        connection: Caller = None,
    ) -> Results:
        """Rows similar to a row of the table, given by its primary key (a dict or tuple when composite)."""
        found, own = self.key(key), connection_of(connection)

        def question(search: SearchEngine) -> Results:
            bounds = bounds_of(search.options, threshold, limit, max_candidates, probes, verify)
            return search.similar(found, bounds, where, own)

        return self._current.ask(question, own)

    def search_many(
        self,
        texts: Sequence[Text],
        *,
        threshold: float | None = None,
        limit: int = 10,
        max_candidates: int = MAX_CANDIDATES,
        probes: int = 0,
        verify: bool | None = None,
        connection: Caller = None,
    ) -> list[Results]:
        """A batch of searches in one statement (per 200 texts)."""
        if isinstance(texts, str):
            raise InvalidOption("search_many takes a list of texts; for one text use search")
        own = connection_of(connection)

        def question(search: SearchEngine) -> list[Results]:
            bounds = bounds_of(search.options, threshold, limit, max_candidates, probes, verify)
            fields = [by_field(search.options, text) for text in texts]
            return search.search_many(search.sign(fields, probes, own) if texts else [], bounds, own)

        return self._current.ask(question, own)

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
        """The search as a SQLAlchemy selectable: key columns, `score`, `standard_error`, to join with your own tables.

        Threshold and score are those of the estimated Jaccard similarity, whatever the family's own measure; rows down
        to 2.5 standard errors below the threshold are there too, as no text is looked at. Build it anew for each
        query: it asks one generation of the index, which goes some minutes after a change of options.
        """
        search = self._current.get()
        verify = None if search.options.hashing.measure == "jaccard" else False
        bounds = bounds_of(search.options, threshold, limit, max_candidates, probes, verify)
        (query,) = search.sign([by_field(search.options, text)], probes)
        return search.match(query, bounds, where)

    def explain(self, a: Any, b: Any) -> Explanation:
        """Why two rows are, or are not, near-duplicates: keys and shingles in common, estimate and exact value."""
        return self._current.ask(lambda search: search.explain(self.key(a), self.key(b)))

    def texts(self, keys: Sequence[Any]) -> list[str | None]:
        """The indexed text of rows of the table, in the order of the keys; None for one that is gone."""
        return self._search.texts([self.key(key) for key in keys])

    def rows(self, keys: Sequence[Any]) -> list[dict[str, str] | None]:
        """The text of every field of rows of the table, in the order of the keys; None for one that is gone."""
        names = [field.name for field in self.options.fields]
        found = self._search.columns_of([self.key(key) for key in keys])
        return [None if texts is None else dict(zip(names, texts, strict=True)) for texts in found]

    # ── the whole table ──
    def pairs(
        self,
        *,
        threshold: float | None = None,
        verify: bool | None = None,
        copies: str | None = None,
        limits: Limits | None = None,
        progress: Progress = quiet,
    ) -> Pairs:
        """All pairs of near-duplicate rows, as the view dbsim_<index>_pairs has them.

        What lies within the estimate's error of the threshold is decided by the texts and marked `exact`;
        verify=True compares the texts of all pairs, False of none. copies="first" lists rows with equal content
        through the first of them; it is chosen when the full list would have more than a million pairs, with a warning.
        """
        asked = self._pair_options(threshold, verify, limits)
        deduplication = self._deduplication(progress)
        state = deduplication.pairs(asked)
        return listed(deduplication.place, state, asked.threshold, copies, self._below(asked.threshold))

    def duplicates(
        self,
        *,
        by: str = "tight",
        threshold: float | None = None,
        verify: bool | None = None,
        save: str | None = None,
        publish: bool = False,
        limits: Limits | None = None,
        progress: Progress = quiet,
    ) -> Duplicates:
        """Groups of near-duplicate rows, stored and kept up to date by `sync` from then on.

        by="tight": every member reaches the threshold with the group's first row; "complete": every two members do,
        by exact values; "components": chains count; "majorclust" and "average" lie in between. The first groups of an
        index are published: dbsim_<index>_groups shows them. Groups made in another way later are not, unless
        `publish` says so; `save` keeps them under a name, otherwise they go after an hour. `verify` as in `pairs`.
        """
        verify = True if by == "complete" else verify
        pairs = self._pair_options(threshold, verify, limits)
        groups = GroupOptions(by=by, threshold=pairs.threshold)
        deduplication = self._deduplication(progress)
        name = deduplication.name_for(groups, pairs, save, publish)
        return grouped(
            deduplication, groups, pairs, name, save is not None or name == PUBLISHED, self._below(pairs.threshold)
        )

    def results(self) -> list[dict[str, Any]]:
        """The stored groups: name, how they were made, whether they are kept."""
        return self._deduplication(quiet).described()

    def delete_duplicates(
        self,
        *,
        threshold: float | None = None,
        keep: str = "first",
        dry_run: bool = False,
        expected: Resolution | None = None,
        even_if_behind: bool = False,
        progress: Progress = quiet,
    ) -> Resolution:
        """Delete all rows but one of each group of rows that are all alike: by="complete", exact values.

        `keep` is first, last, longest, or a SQL expression of which the highest value stays. Foreign keys hold: rows of
        other tables that would go too, or lose their reference, are counted; `dry_run` only counts. Give `expected`,
        the result of a dry run, to have nothing done when the counts have changed since.
        """
        place, result = self._exactly("complete", threshold, progress)
        return Deletion(Ranking(place, result, keep)).run(expected, even_if_behind=even_if_behind, dry_run=dry_run)

    def mark_duplicates(
        self,
        column: str,
        *,
        by: str = "complete",
        threshold: float | None = None,
        keep: str = "first",
        overwrite: bool = False,
        dry_run: bool = False,
        expected: Resolution | None = None,
        even_if_behind: bool = False,
        progress: Progress = quiet,
    ) -> Resolution:
        """Write into a column which rows could go: true where it is boolean, else the key of the row that stays.

        Rows that stay get false or NULL; rows in no group are not touched. Other values that the column holds in rows
        of groups are replaced only with `overwrite`. The rest as in `delete_duplicates`.
        """
        place, result = self._exactly(by, threshold, progress)
        marking = Marking(Ranking(place, result, keep), column, overwrite)
        return marking.run(expected, even_if_behind=even_if_behind, dry_run=dry_run)

    def kept(self, groups: Sequence[int], *, result: str = PUBLISHED, keep: str = "first") -> set[Key]:
        """The keys, as tuples, of the rows that stay of some stored groups."""
        ranking = Ranking(self._deduplication(quiet).place, result, keep)
        return self._context.read(lambda c: ranking.kept(c, groups))

    # ── decisions ──
    def decide(
        self, a: Any, b: Any, verdict: str, *, who: str = "", note: str = "", connection: Caller = None
    ) -> Decision:
        """Say of two rows that they are the "same", "different", or that you are "unsure"; kept in the database.

        Groups have rows that are the same together, also below the threshold, and different ones never, also not
        through a third row. When the text of a row changes, the decision is outdated and asked again.
        """
        one, two = self.key(a), self.key(b)
        score = self._current.ask(lambda search: search.explain(one, two)).exact
        return self._book().decide(one, two, verdict, who, note, score, connection_of(connection))

    def undecide(self, a: Any, b: Any, *, connection: Caller = None) -> bool:
        """Take the decision about two rows back; whether there was one."""
        return self._book().undecide(self.key(a), self.key(b), connection_of(connection))

    def decisions(self) -> Iterator[Decision]:
        """Everything that was decided, in key order, read a page at a time."""
        return iter(self._book())

    def decisions_among(self, keys: Sequence[Any]) -> list[Decision]:
        """What was decided about any two of these rows."""
        wanted = [self.key(key) for key in keys]
        book = self._book()
        return [decision for _, _, decision in self._context.read(lambda c: book.of(c, wanted))]

    def labelled_pairs(self) -> Iterator[tuple[Decision, list[float | None]]]:
        """Every decision with the exact similarity of each field as the texts are now: data to fit and judge with."""
        for decision in self.decisions():
            yield decision, [field.exact for field in self.explain(decision.a, decision.b).fields]

    def _book(self) -> Book:
        return Book(self._current.look().context)

    def _exactly(self, by: str, threshold: float | None, progress: Progress) -> tuple[Workplace, str]:
        """Groups decided by the texts alone: what acts on rows of the user's is never an estimate."""
        pairs = self._pair_options(threshold, True, None)
        groups = GroupOptions(by=by, threshold=pairs.threshold)
        deduplication = self._deduplication(progress)
        name = described(groups, pairs)
        deduplication.groups(groups, pairs, name, saved=False)
        return deduplication.place, name

    def _deduplication(self, progress: Progress) -> Deduplication:
        return Deduplication(Workplace(self._current.look().context, progress))

    def _pair_options(self, threshold: float | None, verify: bool | None, limits: Limits | None) -> PairOptions:
        family = self.options.hashing
        asked = self.options.threshold if threshold is None else threshold
        if family.rarity:  # evidence is read off the filters, there is no other
            return PairOptions(threshold=asked, verify=False, limits=limits or Limits())
        if verify is False and family.measure != "jaccard":
            raise InvalidOption(
                f"family {family.registered or self.options.family!r} compares by {family.measure}, which nothing "
                "but the texts can tell: leave verify open"
            )
        # of other measures than Jaccard the filters know nothing
        return PairOptions(
            threshold=asked, verify=True if family.measure != "jaccard" else verify, limits=limits or Limits()
        )

    def _below(self, threshold: float) -> tuple[str, ...]:
        """A warning when less is asked for than the index was made for."""
        return below_threshold(self.options, threshold)

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
