"""The whole table, as users ask for it: pairs, duplicates, delete_duplicates, mark_duplicates; a part of Index."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dbsim.dedupe.acting.delete import Deletion
from dbsim.dedupe.acting.keep import Ranking
from dbsim.dedupe.acting.mark import Marking
from dbsim.dedupe.acting.resolve import Resolution
from dbsim.dedupe.answers import below_threshold, grouped, listed
from dbsim.dedupe.kernels.buckets import Limits
from dbsim.dedupe.kernels.grouping.registry import CORRELATION
from dbsim.dedupe.options import GroupOptions, PairOptions, described
from dbsim.dedupe.results import Duplicates, Pairs
from dbsim.dedupe.run import Deduplication
from dbsim.dedupe.store_pairs import Workplace
from dbsim.errors import InvalidOption
from dbsim.index.base import IndexBase
from dbsim.progress import Progress, quiet
from dbsim.tables.group_tables import PUBLISHED
from dbsim.tables.source import Key


class Grouping(IndexBase):
    """Every method is one run of dbsim.dedupe."""

    def pairs(
        self,
        *,
        threshold: float | None = None,
        verify: bool | None = None,
        copies: str | None = None,
        decided: bool = True,
        limits: Limits | None = None,
        progress: Progress = quiet,
    ) -> Pairs:
        """All pairs of near-duplicate rows, as the view dbsim_<index>_pairs has them.

        What lies within the estimate's error of the threshold is decided by the texts and marked `exact`;
        verify=True compares the texts of all pairs, False of none. copies="first" lists rows with equal content
        through the first of them; it is chosen when the full list would have more than a million pairs, with a warning.
        Pairs that were decided to be different are left out, and the same ones are there also below the threshold,
        unless `decided` is False.
        """
        asked = self._pair_options(threshold, verify, limits)

        def work(deduplication: Deduplication) -> Pairs:
            state = deduplication.pairs(asked)
            below = self._below(asked.threshold)
            return listed(deduplication.place, state, asked.threshold, copies, below, decided=decided)

        return self._deduplicated(progress, work)

    def duplicates(
        self,
        *,
        by: str | None = None,
        threshold: float | None = None,
        verify: bool | None = None,
        save: str | None = None,
        publish: bool = False,
        limits: Limits | None = None,
        progress: Progress = quiet,
    ) -> Duplicates:
        """Groups of near-duplicate rows, stored and kept up to date by `sync` from then on.

        by="tight": every member reaches the threshold with the group's first row; "complete": every two members do,
        by exact values; "components": chains count; "majorclust" and "average" lie in between; "correlation": what all
        pairs of a group say together, for and against. The default is tight, of persons correlation, which does not
        chain two persons through a household. The first groups of an index are published: dbsim_<index>_groups shows
        them. Groups made in another way later are not, unless
        `publish` says so; `save` keeps them under a name, otherwise they go after an hour. `verify` as in `pairs`.
        """
        by = by or self._usual
        verify = True if by == "complete" else verify
        pairs = self._pair_options(threshold, verify, limits)
        groups = GroupOptions(by=by, threshold=pairs.threshold)

        def work(deduplication: Deduplication) -> Duplicates:
            name = deduplication.name_for(groups, pairs, save, publish)
            saved = save is not None or name == PUBLISHED
            return grouped(deduplication, groups, pairs, name, saved, self._below(pairs.threshold))

        return self._deduplicated(progress, work)

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

    @property
    def _usual(self) -> str:
        """How groups are made unless somebody says otherwise; measured for persons in docs/persons.md."""
        return CORRELATION if self.options.hashing.rarity else "tight"

    def _exactly(self, by: str, threshold: float | None, progress: Progress) -> tuple[Workplace, str]:
        """Groups decided by the texts alone: what acts on rows of the user's is never an estimate."""
        pairs = self._pair_options(threshold, True, None)
        groups = GroupOptions(by=by, threshold=pairs.threshold)
        deduplication = self._deduplication(progress)
        name = described(groups, pairs)
        deduplication.groups(groups, pairs, name, saved=False)
        return deduplication.place, name

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
        if verify is None and self.options.parted and family.measure == "jaccard":
            verify = False
        # of other measures than Jaccard the filters know nothing
        return PairOptions(
            threshold=asked, verify=True if family.measure != "jaccard" else verify, limits=limits or Limits()
        )

    def _below(self, threshold: float) -> tuple[str, ...]:
        """A warning when less is asked for than the index was made for."""
        return below_threshold(self.options, threshold)
