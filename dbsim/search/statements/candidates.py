"""Rows that share a bucket key with a question: conditions on the signature table, → SELECT."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Integer,
    Select,
    and_,
    bindparam,
    case,
    literal_column,
    not_,
    select,
    tuple_,
    union,
    union_all,
)

from dbsim.engines.backend import Backend, any_equal
from dbsim.hashing.records.learning import Learned
from dbsim.options import IndexOptions
from dbsim.search.limits import Where
from dbsim.search.query import key_parameter_names
from dbsim.search.statements.condition import fulfils
from dbsim.tables.index_tables import IndexTables


@dataclass(frozen=True)
class Candidates:
    """Of one index."""

    backend: Backend
    tables: IndexTables
    learned: Learned | None = None  # of records of persons

    @property
    def options(self) -> IndexOptions:
        return self.tables.record.options

    def candidates(
        self,
        where: Where = None,
        *,
        without_key: bool = False,
        width: int = 1,
        marked: ColumnElement[bool] | None = None,
        alike: bool = False,
    ) -> Select[Any]:
        """Rows that share a key, can reach the threshold, have these marks and fulfil the user's condition."""
        stored, names = self.tables.signatures, self.tables.names
        conditions: list[ColumnElement[bool]] = []
        if len(self.options.fields) == 1 and not names.rarities:
            count = stored.c[names.counts[0]]
            conditions.append(
                count.between(bindparam("dbsim_low", type_=Integer), bindparam("dbsim_high", type_=Integer))
            )
        if without_key:
            conditions.append(not_(self._itself()))
        if marked is not None:
            conditions.append(marked)
        if where is not None:
            conditions.append(fulfils(self.tables, where))
        if self.options.hashing.nearest:
            return self._nearest(conditions)
        wanted = [[bindparam(name, type_=BigInteger) for name in some] for some in self._key_names(width)]
        if alike:
            return self._most_alike(self._shared(wanted), self._agreeing(wanted), conditions)
        return select(*self._ranking_columns()).where(self._shared(wanted), *conditions)

    def _itself(self) -> ColumnElement[bool]:
        """The row of these `self_parameters`."""
        stored = self.tables.signatures
        return and_(*(stored.c[name] == bindparam(f"dbsim_self{i}") for i, name in enumerate(self.tables.key_names)))

    def signature(self) -> Select[Any]:
        """All that is stored of one row."""
        return select(self.tables.signatures).where(self._itself())

    def _most_alike(
        self, shared: ColumnElement[bool], agreeing: ColumnElement[int], conditions: Sequence[ColumnElement[bool]]
    ) -> Select[Any]:
        """Identical contents first, then rows by the keys they share: for questions with too many candidates.

        Identical rows come from their own B-tree, the others from a bounded number that is looked through, so that a
        million rows with a key in common stay bounded work.
        """
        ranked = bindparam("dbsim_ranked", type_=Integer)
        own = self.tables.signatures.c[self.tables.names.fingerprint]
        question = bindparam("dbsim_fingerprint", type_=BigInteger)
        columns = self._ranking_columns()
        same = select(*columns, literal_column(str(self.options.keys + 1), Integer).label("dbsim_agreeing"))
        same = same.where(own == question, *conditions).limit(ranked)
        others = select(*columns, agreeing.label("dbsim_agreeing")).where(shared, own != question, *conditions)
        pool = others.limit(bindparam("dbsim_pool", type_=Integer)).subquery("pool")
        best = select(pool).order_by(pool.c.dbsim_agreeing.desc()).limit(ranked)
        both = union_all(select(same.subquery("same")), select(best.subquery("best"))).subquery("alike")
        return select(*(both.c[column.name] for column in columns)).order_by(both.c.dbsim_agreeing.desc())

    def _agreeing(self, wanted: Sequence[Sequence[ColumnElement[Any]]]) -> ColumnElement[int]:
        """In how many keys a row agrees with the question."""
        columns = [self.tables.signatures.c[name] for name in self.tables.names.keys]
        pairs = zip(columns, wanted, strict=True)
        agree = [case((column.in_(values), 1), else_=0) for column, values in pairs]
        return sum(agree[1:], start=agree[0])

    def _key_names(self, width: int) -> Sequence[Sequence[str]]:
        """Names of the values looked up in each key column."""
        return key_parameter_names(self.options.keys, width)

    def _shared(self, wanted: Sequence[Sequence[ColumnElement[Any]]]) -> ColumnElement[bool]:
        """A key equals its value or one of its neighbours'; codes in pieces must also lie within the radius."""
        columns = [self.tables.signatures.c[name] for name in self.tables.names.keys]
        return and_(any_equal(columns, wanted), *self._within_radius(wanted))

    def _within_radius(self, wanted: Sequence[Sequence[ColumnElement[Any]]]) -> list[ColumnElement[bool]]:
        """Of codes in pieces; the first of the values is the key itself."""
        radius = self.options.hashing.radius
        if radius is None:
            return []
        columns = [self.tables.signatures.c[name] for name in self.tables.names.keys]
        pieces = [self.backend.hamming(column, values[0]) for column, values in zip(columns, wanted, strict=True)]
        return [sum(pieces[1:], start=pieces[0]) <= radius]

    def _nearest(self, conditions: Sequence[ColumnElement[bool]]) -> Select[Any]:
        """The neighbours in the order of each key, on both sides: they share the longest prefixes with the query."""
        stored = self.tables.signatures
        identity = [stored.c[name] for name in self.tables.key_names]
        sides = []
        for number, name in enumerate(self.tables.names.keys):
            column, value = stored.c[name], bindparam(f"dbsim_k{number}", type_=BigInteger)
            for side, order in ((column >= value, column.asc()), (column < value, column.desc())):
                scan = select(*identity).where(side, *conditions).order_by(order, *identity)
                sides.append(select(scan.limit(bindparam("dbsim_near", type_=Integer)).subquery()))
        same = identity[0] if len(identity) == 1 else tuple_(*identity)
        return select(*self._ranking_columns()).where(same.in_(union(*sides)))

    def _ranking_columns(self) -> list[ColumnElement[Any]]:
        """Primary key, fingerprint and filters: what is needed of a candidate."""
        stored, names = self.tables.signatures, self.tables.names
        wanted = (*self.tables.key_names, names.fingerprint, *names.bits, *names.counts, *names.rarities)
        return [stored.c[name] for name in wanted]
