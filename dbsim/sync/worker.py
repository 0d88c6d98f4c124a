"""Keep an index in step with its table: repair, build, drain, compare, in this order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from dbsim.engines.pause import Pace
from dbsim.errors import DbsimError, IndexChanged
from dbsim.lifecycle import decisions
from dbsim.lifecycle.words import slices
from dbsim.progress import Progress, quiet
from dbsim.sync import models
from dbsim.sync.build import KEEP, Build
from dbsim.sync.compare import Comparison, Differences
from dbsim.sync.drain import After, Drain
from dbsim.sync.feed import Feed
from dbsim.sync.generations import Generations
from dbsim.sync.presign import SignedAhead
from dbsim.sync.repair import Repair, Survey
from dbsim.sync.slicing.turning import Slicing
from dbsim.sync.slicing.widening import Widening
from dbsim.tables import catalogue


@dataclass
class SyncReport:
    """What a run did."""

    filled: int = 0
    changed: int = 0
    compared: int = 0
    repaired: int = 0
    triggers_restored: list[str] = field(default_factory=list)
    views_restored: list[str] = field(default_factory=list)
    renewed: bool = False  # whether triggers, views and functions were those of an earlier dbsim
    generation: int = 1
    switched: bool = False  # whether a new generation is searched now
    idle: bool = False  # whether there was nothing to do


@dataclass(frozen=True)
class Left:
    """What is still to be done once everything is signed."""

    markers: Sequence[Any]  # of rows of the queue that ask to compare everything
    incomplete: bool  # decisions
    unsliced: bool  # rows that are not in the bit slices of their word signatures


def _layout(found: list[catalogue.IndexRecord]) -> list[tuple[int, str]]:
    """What changes when the index gets or loses a generation or is made anew."""
    return [(record.generation, record.stamp) for record in found]


@dataclass
class Worker(Generations):
    """Follows the generations of its index; any number of workers may work on one index at once."""

    progress: Progress = quiet
    keep: float = KEEP
    workers: int | None = None  # processes of a first filling; None: as many as pay
    gentle: bool = False  # a first filling in short transactions only
    after: After = lambda rows, waited: None  # called after each batch of the queue
    _pace: Pace = field(init=False)
    _began: list[tuple[int, str]] = field(default_factory=list)  # what the index consisted of at the first look

    def __post_init__(self) -> None:
        super().__post_init__()
        self._pace = Pace(self.backend.queue_batch, self.backend.writers_wait)

    @property
    def _word_signatures(self) -> bool:
        return bool(self.tables.names.words)

    @property
    def _repair(self) -> Repair:
        return Repair(self)

    @property
    def _drain(self) -> Drain:
        return Drain(self, self.progress, self._pace, self.after)

    @property
    def _build(self) -> Build:
        return Build(self, self.progress, self.batch, self.keep, self.workers, self.gentle)

    def run(self, *, compare: bool = False) -> SyncReport:
        """Restore triggers, fill, work off the queue; with `compare` also look at every row of the table.

        Again when somebody else changed what the index consists of, so that a table in use was not there any more.
        """
        while True:
            self._began = []
            try:
                return self._run(compare=compare)
            except IndexChanged:  # since this run has looked at it: the next one sees it as it is now
                continue
            except (DbsimError, SQLAlchemyError):
                if not self._began or _layout(self.read(self.there)) == self._began:
                    raise

    def _look(self, connection: Connection, *, compare: bool) -> tuple[Survey, bool]:
        """The first look, on one connection at everything that may have to be done; and whether there is nothing."""
        found = self.there(connection)
        self._began = _layout(found)
        survey = self._repair.look(connection, found)
        return survey, not compare and self._repair.idle(connection, survey)

    def _left(self, connection: Connection) -> Left:
        """The last look, once everything is signed."""
        return Left(
            self.backend.markers(connection, self.tables),
            decisions.incomplete(connection, self.backend, self.tables),
            self._word_signatures and slices.due(connection, self.backend, self.tables),
        )

    def _run(self, *, compare: bool) -> SyncReport:
        survey, idle = self.read(partial(self._look, compare=compare))
        if idle:
            return SyncReport(generation=self.tables.record.generation, idle=True)
        report = SyncReport()
        if self.tables.record.options.secret:
            self._build.tidy()  # generations that a secret was replaced in cannot be kept in step
        survey = self._repair.mend(survey, triggers=not compare)
        if self.tables.record.ready:  # a migration leaves the views to the first run
            report.views_restored = list(survey.surface.missing)
        if not compare:
            report.triggers_restored = list(survey.triggers.missing)
            report.renewed = survey.surface.outdated or survey.triggers.outdated
        built = self._build.run(survey.found)
        if built is None:
            return report  # nothing to learn from and nothing to sign: changes wait in the queue
        report.filled, report.switched = built.filled, built.switched
        report.generation = self.tables.record.generation
        report.changed = self.drain()
        if self.tables.record.options.inline:  # what was written while triggers had to queue is still to come
            self._build.resume_inline()
            self.backend.settle(self.context.engine)
            report.changed += self.drain()
        left = self.read(self._left)
        if compare or left.markers or not self.tables.record.options.triggers:
            report.compared, report.repaired = self.catch_up(everything=compare or bool(left.markers))
            self.write(lambda c: self.backend.remove_markers(c, self.tables, left.markers))
            left = self.read(self._left)
        if left.incomplete:
            self._repair.complete_decisions()
        if len(built.found) > 1:
            self._build.tidy()
        if self._word_signatures:
            if left.unsliced:
                Slicing(self.context, self.progress).run()
            Widening(self.context, self.progress).run()
        return report

    def build(self) -> tuple[int, bool] | None:
        """Fill the generation that is asked for, then search it."""
        built = self._build.run(self.read(self.there))
        return None if built is None else (built.filled, built.switched)

    def drain(self) -> int:
        """Until the queue is empty."""
        return self._drain.run()

    def batch(self) -> int:
        """One batch of the queue."""
        return self._drain.batch()

    def step(self, connection: Connection, signed_ahead: dict[int, SignedAhead] | None = None) -> int:
        """One batch of the queue, in the caller's transaction."""
        return self._drain.step(connection, signed_ahead)

    def catch_up(self, *, everything: bool) -> tuple[int, int]:
        """By the column that grows with every change, where the index has one and has seen a value of it."""
        feed = Feed(self)
        if not self.tables.record.options.changed:
            return self.reconcile()
        newest, since = self.read(feed.newest), self.read(feed.since)
        if everything or since is None:
            done = self.reconcile()
        else:
            pages = [self._compared(partial(Comparison.keys, keys=page, repair=True)) for page in feed.keys(since)]
            done = sum(page[0] for page in pages), sum(page[1] for page in pages)
        self.write(lambda c: feed.note(c, newest))
        return done

    def reconcile(self) -> tuple[int, int]:
        """Compare content fingerprints of all rows and repair what differs; needs no triggers."""
        return self._compared(lambda walk: walk.all(repair=True))

    def _compared(self, work: Callable[[Comparison], Differences]) -> tuple[int, int]:
        """(rows compared, rows repaired) in all generations."""
        compared = repaired = 0
        for tables, signer in self.read(self.all):
            context = self.context.of(tables.record, signer)
            if not models.ensure(context):
                continue
            walk = Comparison(context, fingerprints_only=True)
            walk.progress = lambda done, total: self.progress("comparing", done, total)
            found = work(walk)
            compared, repaired = max(compared, found.compared), repaired + found.repaired
        return compared, repaired
