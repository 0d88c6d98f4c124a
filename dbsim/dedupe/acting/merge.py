"""Make one row of each group, a transaction a group: Ranking, GoldenOptions → Goldens, Resolution.

A group is read, locked and read again; its texts must be those that were grouped, or it is left alone. The values that
survive never pass through Python: the database copies them from row to row.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import groupby
from typing import Any

from sqlalchemy import Column, Connection, MetaData, Table, and_, column, delete, insert, select, table, update

from dbsim.dedupe.acting.delete import Deletion
from dbsim.dedupe.acting.golden import Golden, GoldenOptions, survivor
from dbsim.dedupe.acting.keep import Ranking
from dbsim.dedupe.acting.resolve import Resolution
from dbsim.dedupe.store_pairs import Workplace
from dbsim.engines.execute import run
from dbsim.engines.transactions import write_enforced
from dbsim.errors import DbsimError, IndexBehind, InvalidOption, UnknownName
from dbsim.sync import models
from dbsim.tables import group_results
from dbsim.tables.index_tables import PlainType
from dbsim.tables.key_conditions import among
from dbsim.tables.names import quote
from dbsim.tables.source import Key, Unindexable, public_key
from dbsim.text.normalisers.registry import normaliser_of

GROUPS = 200  # read at once
VALUES = "_dbsim_golden"  # a temporary table; `dbsim_golden` is that of an index called golden


@dataclass(frozen=True)
class Member:
    """A row of a group: its place in the ranking (1 stays), the text of its columns, the content it was grouped as."""

    key: Key
    place: int
    content: int | None
    texts: tuple[str, ...]


@dataclass(frozen=True)
class Merging:
    """The groups of a stored result as the records they would become."""

    ranking: Ranking
    options: GoldenOptions
    move: bool = False  # let other tables refer to the row that stays

    # ── what would be ──
    def golden(self) -> Iterator[Golden]:
        """In the order of the groups' representatives."""
        self._read_checked()
        numbers = self.place.read(self._numbers)
        for start in range(0, len(numbers), GROUPS):
            for group in self.place.read(partial(self._groups, numbers=numbers[start : start + GROUPS])):
                yield self._golden(group)

    def run(self, expected: Resolution | None, *, even_if_behind: bool, dry_run: bool) -> Resolution:
        """Nothing if the counts are not as expected; a group whose rows have changed meanwhile is left alone."""
        deletion = Deletion(self.ranking, self.move)
        self._read_checked()
        counted = deletion.run(None, even_if_behind=even_if_behind, dry_run=True)
        if dry_run:
            return counted
        if expected is not None and not counted.same(expected):
            raise IndexBehind("the groups have changed since they were counted: nothing was done, look again")
        deletion.refuse(counted)
        if not even_if_behind:
            self.place.read(deletion.require_current)
        merged = Counter[str]()
        for number in self.place.read(self._numbers):
            self._count(merged, self._merge(number, merged["groups"]))
        return replace(counted, groups=merged["groups"], removed=merged["rows"], left=merged["left"], done=True)

    def _count(self, merged: Counter[str], gone: int | None) -> None:
        merged.update({"left": 1} if gone is None else {"groups": gone > 0, "rows": gone})

    # ── reading ──
    @property
    def place(self) -> Workplace:
        return self.ranking.place

    @cached_property
    def _rules(self) -> dict[str, str]:
        indexed = [name for name in self.place.tables.record.options.columns if name not in self.place.tables.key_names]
        return dict.fromkeys(indexed, self.options.rule) | dict(self.options.rules)

    @property
    def _recent(self) -> list[str]:
        """The column that says how old a row is, if there is one."""
        return [] if self.options.recent is None else [self.options.recent]

    @cached_property
    def _source(self) -> Table:
        tables, named = self.place.tables, [*self._rules, *self.place.tables.record.options.columns]
        more = dict.fromkeys([*named, *self._recent])
        own = [Column(name, PlainType(type_)) for name, type_ in tables.record.primary_key]
        others: list[Column[Any]] = [Column(name) for name in more if name not in tables.key_names]
        return Table(tables.source.name, MetaData(), *own, *others, schema=tables.source.schema)

    @cached_property
    def _columns(self) -> list[str]:
        """Whose texts are read: those of the index for the signer, and those with a rule."""
        return list(dict.fromkeys([*self.place.tables.record.options.columns, *self._rules]))

    def _read_checked(self) -> None:
        """Refuse names that the table does not have."""
        found = self.place.read(Deletion(self.ranking).require_table)
        for name in (*self.options.rules, *self._recent):
            if name not in found.columns:
                raise UnknownName(f"column of table {found.table!r} named", name, found.columns)
        for name in self.options.rules:
            if name in self.place.tables.key_names:
                raise InvalidOption(f"column {name!r} is part of the key, which stays that of the row that stays")
        self.place.read(self.ranking.check)

    def _numbers(self, connection: Connection) -> list[int]:
        """Of the groups, in the order of their representatives."""
        groups = self.place.groups
        result = group_results.find(connection, groups, self.ranking.result)
        contents = groups.contents
        leading = (
            select(contents.c.group_id)
            .where(contents.c.generation == (result.generation if result else -1))
            .where(contents.c.fingerprint == contents.c.group_id)
            .order_by(*(contents.c[name] for name in groups.representative))
        )
        return list(connection.execute(leading).scalars())

    def _groups(self, connection: Connection, numbers: Sequence[int]) -> list[list[Member]]:
        """Rows of a group in the order of their age, from one look at groups, signatures and table together."""
        tables, source = self.place.tables, self._source
        stored, plan = tables.signatures, self.ranking.ranked(numbers).subquery("dbsim_plan")
        keys, width = self.ranking.keys(source), len(tables.key_names)
        kept = [plan.c[f"dbsim_kept{number}"] for number in range(width)]
        joined = source.join(plan, _equal(keys, self.ranking.ranked_keys(plan)))
        joined = joined.join(stored, _equal(keys, self.ranking.keys(stored)))
        recent = [source.c[name] for name in self._recent]
        texts = [one for name in self._columns for one in self.place.backend.text_expressions(source.c[name])]
        named = [one.label(f"dbsim_{number}") for number, one in enumerate(texts)]
        query = (
            select(*keys, *kept, plan.c.dbsim_place, stored.c[tables.names.fingerprint], *named)
            .select_from(joined)
            .where(plan.c.dbsim_rows > 1)
            .order_by(*kept, *(one for age in recent for one in (age.is_not(None), age)), *keys)
        )
        self.place.backend.prepare(connection)
        rows = groupby((tuple(row) for row in connection.execute(query)), lambda row: row[width : 2 * width])
        return [[self._member(row, width) for row in members] for _, members in rows]

    def _member(self, row: tuple[Any, ...], width: int) -> Member:
        place, content, *values = row[2 * width :]
        step = len(values) // len(self._columns)
        return Member(
            row[:width],
            place,
            content,
            tuple(self._text(values[n * step : (n + 1) * step]) for n in range(len(self._columns))),
        )

    def _text(self, values: Sequence[Any]) -> str:
        try:
            return self.place.backend.read_text(values)
        except Unindexable:
            return ""

    # ── choosing ──
    def _golden(self, members: Sequence[Member]) -> Golden:
        names = self.place.tables.key_names
        (stays,) = (number for number, member in enumerate(members) if member.place == 1)
        chosen = self._survivors(members, stays)
        shown = [public_key(names, member.key) for member in members]
        return Golden(
            shown[stays],
            [key for number, key in enumerate(shown) if number != stays],
            {name: members[number].texts[self._columns.index(name)] for name, number in chosen.items()},
            {name: shown[number] for name, number in chosen.items()},
        )

    def _survivors(self, members: Sequence[Member], stays: int) -> dict[str, int]:
        """Of each column with a rule, the number of the row whose value survives."""
        found = {}
        for name, rule in self._rules.items():
            texts = [member.texts[self._columns.index(name)] for member in members]
            found[name] = survivor(rule, texts, self._meant(name, texts), stays)
        return found

    def _meant(self, name: str, texts: Sequence[str]) -> list[Any]:
        for field in self.place.tables.record.options.fields:
            if name in field.columns:
                return [normaliser_of(field.normaliser).fold(text) for text in texts]
        return [text.strip() for text in texts]

    # ── doing ──
    def _merge(self, number: int, before: int) -> int | None:
        """How many rows went, None when the group was left alone."""
        context = self.place.context
        errors: tuple[type[Exception], ...] = (DbsimError, *context.backend.errors)
        try:
            return write_enforced(context.engine, context.backend, partial(self._one, number=number))
        except errors as error:
            said = str(getattr(error, "orig", error)).strip().split("\n")[0]
            raise DbsimError(
                f"{before} groups were merged, and the next one cannot be ({said}): nothing of it was changed; "
                f"see to it and run merge again"
            ) from error

    def _one(self, connection: Connection, number: int) -> int | None:
        before = self._groups(connection, [number])
        if not before:
            return 0
        keys = self.ranking.keys(self._source)
        mine = among(keys, [member.key for member in before[0]])
        connection.execute(select(*keys).where(mine).order_by(*keys).with_for_update()).close()
        now = self._groups(connection, [number])
        if now != before or not self._as_grouped(connection, now[0]):
            return None
        members = now[0]
        (stays,) = (place for place, member in enumerate(members) if member.place == 1)
        kept, gone = members[stays].key, [member.key for member in members if member.place > 1]
        chosen = {name: members[place].key for name, place in self._survivors(members, stays).items() if place != stays}
        self._remember(connection, chosen)
        if self.move:
            self._move(connection, kept, gone)
        connection.execute(delete(self._source).where(among(keys, gone)))
        if connection.execute(select(*keys).where(among(keys, gone))).first() is not None:
            raise DbsimError(
                f"a trigger, a rule or a policy of table {self._source.name!r} keeps rows that were to go: "
                f"let it allow this role to delete them"
            )
        self._restore(connection, kept, list(chosen))
        return len(gone)

    def _as_grouped(self, connection: Connection, members: Sequence[Member]) -> bool:
        """Whether the rows still have the contents that were grouped; the queue may not have reached the index yet."""
        models.require(connection, self.place.tables, self.place.signer)
        places = {name: number for number, name in enumerate(self._columns)}
        texts = [
            ["\n".join(member.texts[places[name]] for name in field.columns) for member in members]
            for field in self.place.tables.record.options.fields
        ]
        signed = self.place.signer.sign(texts)
        found = zip(members, signed.fingerprints.tolist(), signed.present.tolist(), strict=True)
        return all(member.content == (content if present else None) for member, content, present in found)

    def _remember(self, connection: Connection, chosen: dict[str, Key]) -> None:
        """The values that survive, before their rows go: a unique one cannot be in two rows."""
        if not chosen:
            return
        names = ", ".join(map(quote, chosen))
        empty = f"SELECT {names} FROM {quote(self._source.schema, self._source.name)} WHERE 1 = 0"
        run(connection, [f"DROP TABLE IF EXISTS {VALUES}", f"CREATE TEMPORARY TABLE {VALUES} AS {empty}"])
        values = []
        for number, (name, key) in enumerate(chosen.items()):
            row = self._source.alias(f"dbsim_row{number}")
            values.append(select(row.c[name]).where(among(self.ranking.keys(row), [key])).scalar_subquery().label(name))
        target = table(VALUES, *(column(name) for name in chosen))
        connection.execute(insert(target).from_select(list(chosen), select(*values)))

    def _restore(self, connection: Connection, kept: Key, names: Sequence[str]) -> None:
        if not names:
            return
        held = table(VALUES, *(column(name) for name in names))
        values = {self._source.c[name]: select(held.c[name]).scalar_subquery() for name in names}
        connection.execute(update(self._source).where(among(self.ranking.keys(self._source), [kept])).values(values))
        run(connection, [f"DROP TABLE {VALUES}"])

    def _move(self, connection: Connection, kept: Key, gone: Sequence[Key]) -> None:
        """Foreign keys that point to the primary key follow."""
        tables = self.place.tables
        options = tables.record.options
        types = [type_ for _, type_ in tables.record.primary_key]
        source = (options.schema, options.table)
        for reference in self.place.backend.references(connection, source, source):
            if sorted(reference.referred) != sorted(tables.key_names):
                continue
            order = [reference.columns[reference.referred.index(name)] for name in tables.key_names]
            own = [Column(name, PlainType(type_)) for name, type_ in zip(order, types, strict=True)]
            other = Table(reference.table, MetaData(), *own, schema=reference.schema)
            columns = [other.c[name] for name in order]
            moved = update(other).where(among(columns, list(gone)))
            connection.execute(moved.values(dict(zip(columns, kept, strict=True))))


def _equal(one: Sequence[Any], other: Sequence[Any]) -> Any:
    return and_(*(a == b for a, b in zip(one, other, strict=True)))
