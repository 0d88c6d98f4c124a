"""Groups with all that a report shows of them: Index → Iterator[Shown]."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from dbsim.dedupe.results import Duplicates, Group
from dbsim.index import Index
from dbsim.report.differences import analyser_of
from dbsim.text.features import Analyser

BATCH = 100


@dataclass(frozen=True)
class Shown:
    """A group, whether each member stays, their texts (None for a row that is gone), and how the index reads them."""

    group: Group
    stays: list[bool]
    texts: list[str | None]
    analyser: Analyser

    def to_json(self) -> dict[str, Any]:
        members = [
            {"key": hit.key, "score": hit.score, "keep": stays}
            for hit, stays in zip(self.group.members, self.stays, strict=True)
        ]
        return {**self.group.to_json(), "members": members}


def shown(index: Index, duplicates: Duplicates, keep: str, members: int | None = None) -> Iterator[Shown]:
    """With the texts of at most so many members a group; None for all."""
    groups, analyser = iter(duplicates), analyser_of(index.options)
    while batch := list(islice(groups, BATCH)):
        kept = index.kept([group.id for group in batch], result=duplicates.result, keep=keep)
        keys = [hit.key for group in batch for hit in group.members[:members]]
        texts = iter(index.texts(keys))
        for group in batch:
            stays = [index.key(hit.key) in kept for hit in group.members]
            yield Shown(group, stays, list(islice(texts, len(group.members[:members]))), analyser)
