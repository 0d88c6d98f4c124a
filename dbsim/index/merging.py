"""Groups as one record each: golden, merge; a part of Index."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dbsim.dedupe.acting.golden import FREQUENT, Golden, GoldenOptions
from dbsim.dedupe.acting.keep import Ranking
from dbsim.dedupe.acting.merge import Merging
from dbsim.dedupe.acting.resolve import Resolution
from dbsim.hashing.records.probability import CERTAIN
from dbsim.index.grouping import Grouping
from dbsim.progress import Progress, quiet


class Uniting(Grouping):
    """Every method is one run of dbsim.dedupe.acting.merge."""

    def golden(
        self,
        *,
        rule: str = FREQUENT,
        rules: Mapping[str, str] | None = None,
        recent: str | None = None,
        keep: str = "first",
        by: str = "complete",
        threshold: float | None = None,
        progress: Progress = quiet,
    ) -> Iterator[Golden]:
        """Each group as the record it would become: which row stays, and of each column which row's value survives.

        A rule is most-frequent (spellings of one value count together), longest, most-recent or kept (the row that
        stays, unless it has nothing there); `rules` has one by column, `rule` is for the indexed columns that it does
        not name, other columns stay as they are. `recent` is a column whose highest value is the latest row, by default
        the key. From 0.9 on for persons, else from the index's threshold on; `keep` as in `delete_duplicates`.
        """
        yield from self._merging(rule, rules, recent, keep, by, threshold, False, progress).golden()

    def merge(
        self,
        *,
        rule: str = FREQUENT,
        rules: Mapping[str, str] | None = None,
        recent: str | None = None,
        keep: str = "first",
        by: str = "complete",
        threshold: float | None = None,
        move_references: bool = False,
        dry_run: bool = False,
        expected: Resolution | None = None,
        even_if_behind: bool = False,
        progress: Progress = quiet,
    ) -> Resolution:
        """Make of each group the one row that `golden` shows: it gets the values that survive, the others are deleted.

        A transaction a group; one whose rows have changed since they were grouped is left alone and counted in `left`.
        With `move_references` foreign keys of other tables follow to the row that stays; otherwise they do what they
        say, as in `delete_duplicates`, whose `dry_run`, `expected` and `even_if_behind` these are.
        """
        merging = self._merging(rule, rules, recent, keep, by, threshold, move_references, progress)
        return merging.run(expected, even_if_behind=even_if_behind, dry_run=dry_run)

    def _merging(
        self,
        rule: str,
        rules: Mapping[str, str] | None,
        recent: str | None,
        keep: str,
        by: str,
        threshold: float | None,
        move: bool,
        progress: Progress,
    ) -> Merging:
        options = GoldenOptions(rule=rule, rules=dict(rules or {}), recent=recent)
        if threshold is None and self.options.hashing.rarity:
            threshold = max(CERTAIN, self.options.threshold)
        place, result = self._exactly(by, threshold, progress)
        return Merging(Ranking(place, result, keep), options, move)
