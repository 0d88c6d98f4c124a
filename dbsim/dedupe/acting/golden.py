"""Which value of each column survives when the rows of a group become one: (rule, values by row) → the row it is of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dbsim.errors import InvalidOption, suggest

FREQUENT, LONGEST, RECENT, KEPT = RULES = ("most-frequent", "longest", "most-recent", "kept")


@dataclass(frozen=True, kw_only=True)
class GoldenOptions:
    """A rule for every indexed column, others by column; `recent` is a column whose highest value is the latest row.

    Columns that are neither indexed nor named keep the value of the row that stays.
    """

    rule: str = FREQUENT
    rules: Mapping[str, str] = field(default_factory=dict)
    recent: str | None = None

    def __post_init__(self) -> None:
        for rule in (self.rule, *self.rules.values()):
            if rule not in RULES:
                raise InvalidOption(f"there is no rule {rule!r}{suggest(rule, RULES)}")


@dataclass(frozen=True)
class Golden:
    """One group as the record it would become: `key` stays with `values`, `others` go.

    `sources` tells of each column the key of the row whose value survives.
    """

    key: Any
    others: list[Any]
    values: dict[str, str]
    sources: dict[str, Any]

    @property
    def changed(self) -> list[str]:
        """Columns that get the value of another row."""
        return [column for column, source in self.sources.items() if source != self.key]

    def to_json(self) -> dict[str, Any]:
        return {"key": self.key, "others": self.others, "values": self.values, "sources": self.sources}


def survivor(rule: str, texts: Sequence[str], meant: Sequence[Any], stays: int) -> int:
    """The place of the row whose value survives; rows are in the order of their age, the latest last.

    `meant` are the values as their kind reads them, so that Müller and Mueller count together; nothing never wins.
    """
    said = [place for place, value in enumerate(meant) if value]
    if not said or (rule == KEPT and stays in said):
        return stays
    counts, spelt = Counter(meant), Counter(texts)
    order = {
        FREQUENT: lambda place: (counts[meant[place]], spelt[texts[place]], place == stays, len(texts[place]), place),
        LONGEST: lambda place: (len(texts[place].strip()), counts[meant[place]], place == stays, place),
    }
    best = max(said, key=order.get(rule, lambda place: (place,)))
    return stays if texts[best] == texts[stays] else best
