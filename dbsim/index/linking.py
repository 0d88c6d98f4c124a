"""Rows of this index that are rows of another one: link; a part of Index."""

from __future__ import annotations

from dbsim.dedupe.linked.results import LinkOptions, Links
from dbsim.dedupe.linked.run import Linking
from dbsim.index.base import IndexBase
from dbsim.progress import Progress, quiet


class Linked(IndexBase):
    """Needs `_current`, as Index has it."""

    def link(
        self,
        other: IndexBase,
        *,
        threshold: float | None = None,
        one_to_one: bool = False,
        into: str | None = None,
        progress: Progress = quiet,
    ) -> Links:
        """Every indexed row of this table against another index, also of another database: who is in both?

        The result is stored in the table dbsim_<index>_links_<other>, or `into`, of this database: keys, score (of
        persons the probability by the other index's model), evidence as JSON and a column `decision` that is yours:
        same or different, respected by the next run. The rest is what a run from nothing gives, but only what changed
        since the last run, on either side, is compared. With `one_to_one` every row has one partner at most, chosen so
        that the scores add up to the most. Both indexes must read their fields alike, and have the same secret.
        """
        options = LinkOptions(threshold=threshold, one_to_one=one_to_one, into=into)
        return Linking(self._current.look(), other._current.look(), options, progress).run()
