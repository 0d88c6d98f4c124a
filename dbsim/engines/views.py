"""What people see of an index from SQL, common to both engines: IndexTables → names and expressions for the views."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from dbsim.hashing.error import DEVIATIONS, error_steps
from dbsim.options import Field, IndexOptions
from dbsim.resources import filled
from dbsim.tables.decision_tables import DIFFERENT, NO_TEXT, SAME, UNSURE, decisions_name, sides_of
from dbsim.tables.index_tables import IndexTables
from dbsim.tables.names import identifier, literal, quote

SHORT = 16  # features: what one collision moves the estimate of a shorter text by is more, and so rarer
PAIRS, BUCKETS, STATUS = "pairs", "buckets", "dbsim_status"
# Of the triggers, views and functions of an index: raised when their text changes, so that the next `sync` makes those
# of an earlier dbsim anew. It stands in their own text, because it must go where they go.
REVISION = 9
MARK = f"dbsim revision {REVISION}"
Jaccard = Callable[[Field, int, str, str], str]  # field, its number, two aliases → a SQL expression


def outdated(texts: Iterable[str]) -> bool:
    """Whether one of these definitions was made by an earlier dbsim; those of a later one are left alone."""
    marks = (re.search(r"dbsim revision (\d+)", text) for text in texts)
    return any(mark is None or int(mark[1]) < REVISION for mark in marks)


@dataclass(frozen=True)
class Surface:
    """Names and pieces of SQL; `a` and `b` are the aliases of two rows of the signature table."""

    tables: IndexTables

    @property
    def options(self) -> IndexOptions:
        return self.tables.record.options

    @property
    def threshold(self) -> float:
        """The lowest score to show; of other measures than Jaccard the filters know nothing, so every pair is shown."""
        return self.options.threshold if self.options.hashing.estimated else 0.0

    def name(self, part: str) -> str:
        return identifier("dbsim", self.tables.record.name, part)

    @cached_property
    def key(self) -> list[str]:
        return [quote(name) for name in self.tables.key_names]

    def key_of(self, alias: str) -> str:
        return ", ".join(f"{alias}.{name}" for name in self.key)

    @cached_property
    def pair_names(self) -> list[str]:
        """a and b, or a_<column>, … for a composite key."""
        if len(self.key) == 1:
            return [quote("a"), quote("b")]
        return [quote(identifier(side, name)) for side in "ab" for name in self.tables.key_names]

    @cached_property
    def bucket_keys(self) -> list[str]:
        return [quote(name) for name in self.tables.names.keys]

    def keys_in_common(self, form: str, between: str) -> str:
        """E.g. form "a.{0} = b.{0}", between " OR "."""
        return between.join(form.format(name) for name in self.bucket_keys)

    def candidates(self, branch: str, names: dict[str, str]) -> str:
        """Pairs that share a key: the template for one key, for every key; no key before it may be `shared_before`."""
        parts, before = [], ""
        for key in self.bucket_keys:
            parts.append(filled(branch, {**names, "key": key, "shared_before": before}))
            before += f" AND a.{key} <> b.{key}"
        return union(parts)

    def is_candidate(self, alias: str) -> str:
        """The row of the signature table that is one side of `p`, a candidate pair."""
        names = self.pair_names[: len(self.key)] if alias == "a" else self.pair_names[len(self.key) :]
        return " AND ".join(f"{alias}.{key} = p.{name}" for key, name in zip(self.key, names, strict=True))

    def pair_pieces(self, branch: str, names: dict[str, str]) -> dict[str, str]:
        """What the view of pairs fills in beside `names`."""
        return {
            "candidates": self.candidates(branch, names),
            "candidate_names": ", ".join(f"p.{name} AS {name}" for name in self.pair_names),
            **self.decided(names["decisions"]),
            "a_is_candidate": self.is_candidate("a"),
            "b_is_candidate": self.is_candidate("b"),
        }

    def decided(self, table: str) -> dict[str, str]:
        """Decisions in force: none about a and b in either order; those for "same" in both orders as `d`."""
        sides = [[quote(name) for name in side] for side in sides_of(self.tables.key_names)]
        fingerprint = quote(self.tables.names.fingerprint)
        orders = (("a", "b"), ("b", "a"))

        def about(order: Sequence[str]) -> str:
            """The decision d is about the rows of these aliases, as they are now."""
            parts = [
                f"d.{name} = {alias}.{key}"
                for alias, side in zip(order, sides, strict=True)
                for name, key in zip(side, self.key, strict=True)
            ]
            for alias, then in zip(order, ("fingerprint_a", "fingerprint_b"), strict=True):
                now = f"coalesce({alias}.{fingerprint}, {NO_TEXT})"
                parts.append(f"coalesce(d.{then}, {now}) = {now}")
            return " AND ".join(parts)

        none = (f"NOT EXISTS (SELECT 1 FROM {table} AS d WHERE d.verdict <> '{UNSURE}' AND {about(o)})" for o in orders)
        either = " OR ".join(f"({about(order)})" for order in orders)
        found = f"(SELECT d.verdict FROM {table} AS d WHERE d.verdict <> '{UNSURE}' AND ({either}))"
        return {
            "undecided": " AND ".join(none),
            "verdict": f"CASE WHEN EXISTS (SELECT 1 FROM {table}) THEN {found} END",  # mostly there are none at all
            "decision_sides": ", ".join(itertools.chain(*sides)),
            "decision_sides_reversed": ", ".join(itertools.chain(*reversed(sides))),
            "same": SAME,
            "different": DIFFERENT,
            "decided_in_order": about(orders[0]),
            "decided_in_reverse": about(orders[1]),
            "counts": f"d.verdict <> '{UNSURE}' AND a.{fingerprint} IS NOT NULL AND b.{fingerprint} IS NOT NULL",
            "same_in_order": f"d.verdict = '{SAME}' AND {about(orders[0])}",
            "same_in_reverse": f"d.verdict = '{SAME}' AND {about(orders[1])}",
        }

    def count(self, number: int, alias: str) -> str:
        return f"{alias}.{quote(self.tables.names.counts[number])}"

    def field_score(self, jaccard: Jaccard, number: int, a: str = "a", b: str = "b") -> str:
        """NULL unless both rows have the field."""
        value = jaccard(self.options.fields[number], number, a, b)
        return f"CASE WHEN {self._both(number, a, b)} THEN {value} END"

    def score(self, jaccard: Jaccard, number: Callable[[float], str], a: str = "a", b: str = "b") -> str:
        """`dbsim.search.score` as text: the same sums in the same order, so the same number to the last bit."""
        fields = self.options.fields
        if len(fields) == 1:
            return self.field_score(jaccard, 0, a, b)
        zero = number(0.0)
        values, weights = [zero], [zero]
        for place, field in enumerate(fields):
            weight, both = number(field.weight), self._both(place, a, b)
            values.append(f"CASE WHEN {both} THEN {weight} * {jaccard(field, place, a, b)} ELSE {zero} END")
            weights.append(f"CASE WHEN {both} THEN {weight} ELSE {zero} END")
        return f"({' + '.join(values)}) / NULLIF({' + '.join(weights)}, {zero})"

    def standard_error(self, largest: str, number: Callable[[float], str]) -> str:
        """Of a pair's score, in steps by the longer row; of several fields the largest (`largest` is SQL's maximum)."""
        parts = []
        for place, field in enumerate(self.options.fields):
            threshold = self.threshold if len(self.options.fields) == 1 else None
            if field.filter:  # it is what the filters say, and nothing else
                parts.append(number(0.0))
                continue
            a, b = self.count(place, "a"), self.count(place, "b")
            steps = error_steps(field.bits, threshold, field.sample)
            cases = [f"WHEN {a} <= {count} AND {b} <= {count} THEN {number(error)}" for count, error in steps]
            parts.append(f"CASE {' '.join(cases)} ELSE {number(1.0)} END")
        return parts[0] if len(parts) == 1 else f"{largest}({', '.join(parts)})"

    def step(self, smallest: str, number: Callable[[float], str]) -> str:
        """What one collision moves a pair's score by at the threshold (`smallest` is SQL's minimum): (1-t)/u."""
        if self.options.parted:
            return number(0.0)
        most = number((1 - self.threshold) / SHORT)
        if len(self.options.fields) > 1:
            return most
        features = f"({self.count(0, 'a')} + {self.count(0, 'b')})"  # of both: (1+t)·u
        return f"{smallest}({most}, {number(1 - self.threshold**2)} / {features})"

    def _both(self, number: int, a: str, b: str) -> str:
        return f"{self.count(number, a)} > 0 AND {self.count(number, b)} > 0"

    def common_names(self) -> dict[str, str]:
        """What the templates of both engines fill in."""
        names, key = self.tables.names, self.key
        sides = [f"{side}.{name}" for side in "ab" for name in key]
        return {
            "mark": MARK,
            "signatures": quote(self.tables.signatures.name),
            "queue": quote(self.tables.queue.name),
            "decisions": quote(decisions_name(self.tables.record.name)),
            "queued": quote(names.queued),
            "fingerprint": quote(names.fingerprint),
            "name": literal(self.tables.record.name),
            "pairs_view": quote(self.name(PAIRS)),
            "buckets_view": quote(self.name(BUCKETS)),
            "pair_names": ", ".join(self.pair_names),
            "same_names": ", ".join(f"s.{name}" for name in self.pair_names),
            "pair_columns": ", ".join(f"{c} AS {n}" for c, n in zip(sides, self.pair_names, strict=True)),
            "a_key": self.key_of("a"),
            "b_key": self.key_of("b"),
            "threshold": repr(self.threshold),
            "deviations": repr(DEVIATIONS),
        }


def union(parts: Iterable[str]) -> str:
    return "\nUNION ALL\n".join(part.strip() for part in parts)


def joined_text(columns: Sequence[str]) -> str:
    """The text of a field whose columns were already turned into texts: as `reading.texts` joins them."""
    return " || chr(10) || ".join(columns)
