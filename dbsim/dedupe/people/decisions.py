"""What people decided about pairs of rows: decide, take back, list; (key, key, verdict) ↔ dbsim_<index>_decisions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, and_, delete, false, func, insert, not_, or_, select, tuple_

from dbsim.engines.context import Stage
from dbsim.errors import Contradiction, InvalidOption, UnknownKey, suggest
from dbsim.lifecycle import decisions as stored_decisions
from dbsim.lifecycle.create import show
from dbsim.tables import catalogue
from dbsim.tables.decision_tables import DIFFERENT, LONGEST, SAME, UNSURE, VERDICTS, DecisionTables
from dbsim.tables.key_conditions import among, key_columns, listed, listing
from dbsim.tables.source import Key, public_key

PAGE = 1_000  # decisions read at once


@dataclass(frozen=True)
class Decision:
    """Two rows and what somebody said about them; `outdated` when the text of one of them is another now."""

    a: Any
    b: Any
    verdict: str
    who: str
    when: str
    note: str
    score: float | None
    outdated: bool

    def to_json(self) -> dict[str, Any]:
        return dict(self.__dict__)


@dataclass
class Book(Stage):
    """The decisions of one index."""

    @cached_property
    def decided(self) -> DecisionTables:
        return DecisionTables.of(self.tables)

    # ── writing ──
    def decide(
        self, a: Key, b: Key, verdict: str, who: str, note: str, score: float | None, connection: Connection | None
    ) -> Decision:
        """One decision a pair: a new one replaces the former."""
        _require(verdict, who, note)

        def work(own: Connection) -> Decision:
            self._prepare(own)
            (first, one), (second, two) = self._rows(own, a, b)
            if verdict != UNSURE:
                self._require_consistent(own, first, second, verdict)
            self._remove(own, first, second)
            values = {"verdict": verdict, "decided_by": who, "note": note, "score": score}
            keys = dict(zip((*self.decided.sides[0], *self.decided.sides[1]), (*first, *second), strict=True))
            own.execute(insert(self.decided.decisions).values(**values, **keys, fingerprint_a=one, fingerprint_b=two))
            found = self._select().where(self._pair(first, second))
            return self._decision(tuple(own.execute(found).one()))

        return self.write(work) if connection is None else work(connection)

    def undecide(self, a: Key, b: Key, connection: Connection | None) -> bool:
        """Whether there was a decision to take back."""

        def work(own: Connection) -> bool:
            if not stored_decisions.exist(own, self.backend, self.tables):
                return False
            return self._remove(own, a, b) > 0

        return self.write(work) if connection is None else work(connection)

    def stored(self, a: Key, b: Key) -> dict[str, Any]:
        """The row of a decision, with the fingerprints of the texts it was about; {} where there is none."""

        def work(own: Connection) -> dict[str, Any]:
            either = or_(self._pair(a, b), self._pair(b, a))
            row = own.execute(select(self.decided.decisions).where(either)).mappings().first()
            return {} if row is None else dict(row)

        return self.read(work)

    def put_back(self, a: Key, b: Key, row: dict[str, Any]) -> None:
        """An outdated decision as it was: outdated."""

        def work(own: Connection) -> None:
            self._prepare(own)
            self._remove(own, a, b)
            own.execute(insert(self.decided.decisions).values(**row))

        self.write(work)

    def _prepare(self, connection: Connection) -> None:
        """One decides at a time, so that no two decisions contradict each other; a granted role cannot lock."""
        if self.context.reader:
            return
        catalogue.generations(connection, self.tables.record.name, lock=True)
        catalogue.require_unchanged(connection, self.tables.record)
        if not stored_decisions.exist(connection, self.backend, self.tables):
            stored_decisions.create(connection, self.backend, self.tables, self.context.after_create_table)
            show(connection, self.backend, self.tables)  # views of an index made before there were decisions

    def _rows(self, connection: Connection, a: Key, b: Key) -> list[tuple[Key, int]]:
        """Both rows, the smaller key first, as the database orders them: (key, fingerprint)."""
        stored = self.tables.signatures
        columns = key_columns(stored, self.tables)
        query = select(self.decided.fingerprint(stored), *columns).where(among(columns, [a, b])).order_by(*columns)
        rows = [(tuple(key), number) for number, *key in connection.execute(query)]
        if len(rows) == 2:
            return rows
        if a == b or self._count(connection, a, b):  # one row that both keys name, 'A' and 'a'
            raise InvalidOption("a decision is about two rows: name two different keys")
        missing = b if self._count(connection, a) else a
        shown = public_key(self.tables.key_names, missing)
        raise UnknownKey(f"index {self.tables.record.name!r} has no row with the key {shown!r}: run `dbsim sync` first")

    def _count(self, connection: Connection, *keys: Key) -> int:
        """Rows that all of these keys name."""
        stored = self.tables.signatures
        named = (among(key_columns(stored, self.tables), [key]) for key in keys)
        return connection.scalar(select(func.count()).select_from(stored).where(*named)) or 0

    def _pair(self, a: Key, b: Key) -> Any:
        return and_(among(self.decided.keys(0), [a]), among(self.decided.keys(1), [b]))

    def _remove(self, connection: Connection, a: Key, b: Key) -> int:
        either = or_(self._pair(a, b), self._pair(b, a))
        return connection.execute(delete(self.decided.decisions).where(either)).rowcount

    # ── contradictions ──
    def _require_consistent(self, connection: Connection, a: Key, b: Key, verdict: str) -> None:
        """Rows that are the same by a chain of decisions cannot be different, and the other way round."""
        ours, theirs = self._same_as(connection, a, (a, b)), self._same_as(connection, b, (a, b))

        def name(key: Key) -> str:
            return repr(public_key(self.tables.key_names, key))

        if verdict == DIFFERENT and b in ours:
            raise Contradiction(
                f"rows {name(a)} and {name(b)} are the same by earlier decisions, through others: "
                f"take one of those back first (`dbsim decisions` lists them)"
            )
        if verdict == SAME:
            for x, y in self._links(connection, ours, DIFFERENT):
                other = y if x in ours else x
                if other in theirs and {x, y} != {a, b}:
                    raise Contradiction(
                        f"rows {name(a)} and {name(b)} cannot be the same: {name(x)} and {name(y)}, which belong to "
                        f"them by earlier decisions, are different: take one of those back first"
                    )

    def _same_as(self, connection: Connection, key: Key, but: tuple[Key, Key]) -> set[Key]:
        """Everything that is the same as the row by decisions, apart from that about one pair."""
        known, front = {key}, [key]
        while front:
            links = [pair for pair in self._links(connection, front, SAME) if set(pair) != set(but)]
            front = list({end for pair in links for end in pair} - known)
            known.update(front)
        return known

    def _links(self, connection: Connection, keys: Any, verdict: str) -> Iterator[tuple[Key, Key]]:
        wanted, width = list(keys), len(self.tables.key_names)
        for start in range(0, len(wanted), self.backend.key_batch):
            some = wanted[start : start + self.backend.key_batch]
            for side in (0, 1):
                query = self._select().where(
                    self.decided.decisions.c.verdict == verdict, among(self.decided.keys(side), some)
                )
                for row in connection.execute(query):
                    if not row[-1]:
                        yield tuple(row[:width]), tuple(row[width : 2 * width])

    # ── reading ──
    def exist(self, connection: Connection) -> bool:
        """Whether somebody has decided yet; once there is a table for it, it stays as long as the generation."""
        known = self.tables.companions
        if "decisions_exist" not in known and stored_decisions.exist(connection, self.backend, self.tables):
            known["decisions_exist"] = True
        return "decisions_exist" in known

    def __iter__(self) -> Iterator[Decision]:
        """All of them in key order, a page at a time."""
        last: Key | None = None
        while page := self.read(lambda c: self.page(c, last)):  # noqa: B023
            for key, decision in page:
                last = key
                yield decision

    def page(
        self, connection: Connection, last: Key | None = None, size: int = PAGE, verdict: str | None = None
    ) -> list[tuple[Key, Decision]]:
        if not self.exist(connection):
            return []
        keys = [*self.decided.keys(0), *self.decided.keys(1)]
        query = self._select().order_by(*keys).limit(size)
        if last is not None:
            query = query.where(tuple_(*keys) > tuple(last))
        if verdict is not None:
            query = query.where(self.decided.decisions.c.verdict == verdict)
        rows = [tuple(row) for row in connection.execute(query)]
        return [(row[: len(keys)], self._decision(row)) for row in rows]

    def of(self, connection: Connection, keys: Sequence[Key]) -> list[tuple[Key, Key, Decision]]:
        """All decisions between two of these rows."""
        if len(keys) < 2 or not self.exist(connection):
            return []
        known, width = self.tables.companions, len(self.tables.key_names)
        if "decided_among" not in known:
            known["decided_among"] = self._select().where(*(listed(self.decided.keys(side)) for side in (0, 1)))
        rows = [tuple(row) for row in connection.execute(known["decided_among"], listing(keys))]
        return [(row[:width], row[width : 2 * width], self._decision(row)) for row in rows]

    def outdated(self, connection: Connection, limit: int) -> list[tuple[Key, Decision]]:
        """Decisions about texts that have changed since."""
        if not self.exist(connection):
            return []
        keys = [*self.decided.keys(0), *self.decided.keys(1)]
        query = self._select().where(self._outdated).order_by(*keys).limit(limit)
        rows = [tuple(row) for row in connection.execute(query)]
        return [(row[: len(keys)], self._decision(row)) for row in rows]

    def counts(self, connection: Connection) -> dict[str, int]:
        """Verdict → decisions, and how many are outdated."""
        if not self.exist(connection):
            return {}
        found = self._select().subquery("decided")
        query = select(found.c.verdict, found.c.outdated, func.count()).group_by(found.c.verdict, found.c.outdated)
        counted: dict[str, int] = {}
        for verdict, outdated, number in connection.execute(query):
            name = "outdated" if outdated else verdict
            counted[name] = counted.get(name, 0) + number
        return counted

    @property
    def _outdated(self) -> ColumnElement[bool]:
        return self._made[1]

    def _select(self) -> Select[Any]:
        """Both keys, what was decided, whether it is outdated."""
        return self._made[0]

    @property
    def _made(self) -> tuple[Select[Any], ColumnElement[bool]]:
        """Once for the same tables: making the statement takes longer than a short answer to it."""
        known = self.tables.companions
        if "decided" not in known:
            decided, table = self.decided, self.decided.decisions
            a, b = self.tables.signatures.alias("dbsim_a"), self.tables.signatures.alias("dbsim_b")
            outdated = not_(func.coalesce(decided.valid(decided.fingerprint(a), decided.fingerprint(b)), false()))
            what = (table.c[name] for name in ("verdict", "decided_by", "decided_at", "note", "score"))
            query = select(*decided.keys(0), *decided.keys(1), *what, outdated.label("outdated"))
            joined = query.outerjoin_from(table, a, decided.row(0, a)).outerjoin(b, decided.row(1, b))
            known["decided"] = joined, outdated
        found: tuple[Select[Any], ColumnElement[bool]] = known["decided"]
        return found

    def _decision(self, row: tuple[Any, ...]) -> Decision:
        width = len(self.tables.key_names)
        a, b = (public_key(self.tables.key_names, row[start : start + width]) for start in (0, width))
        verdict, who, when, note, score, outdated = row[2 * width :]
        return Decision(a, b, verdict, who, str(when), note, score, bool(outdated))


def _require(verdict: str, who: str, note: str) -> None:
    if verdict not in VERDICTS:
        raise InvalidOption(f"a verdict is {', '.join(VERDICTS)}, not {verdict!r}{suggest(verdict, VERDICTS)}")
    for name, value in (("decided_by", who), ("note", note)):
        if len(value) > LONGEST[name]:
            raise InvalidOption(f"{name} has {len(value)} characters, but at most {LONGEST[name]} are kept")
