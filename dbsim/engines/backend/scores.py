"""Filters and keys compared by the database."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import CTE, ColumnElement, Connection, Double, Engine, FromClause, Select, func, or_

from dbsim.hashing.bloom import Reading


@dataclass(frozen=True)
class FilterColumns:
    """A filter in SQL: its bits, and how many of them are set."""

    bits: ColumnElement[Any]
    count: ColumnElement[Any]


@dataclass(frozen=True)
class Asked:
    """What every question of a batch has: values to look up in each key column, numbers, filters and their bytes."""

    keys: Sequence[Sequence[str]]
    integers: Sequence[str]
    reals: Sequence[str]
    filters: Mapping[str, int]


class Questions(NamedTuple):
    """A batch of questions in SQL: which stored rows share a key with one, and what that one has, by name."""

    shared: ColumnElement[bool]
    columns: Mapping[str, ColumnElement[Any]]


def any_equal(
    columns: Sequence[ColumnElement[Any]], wanted: Sequence[Sequence[ColumnElement[Any]]]
) -> ColumnElement[bool]:
    """Some column has one of its values; one is compared as such: not every planner takes a list of one for that."""
    pairs = zip(columns, wanted, strict=True)
    return or_(*(column == values[0] if len(values) == 1 else column.in_(values) for column, values in pairs))


class Scores(ABC):
    """How filters and keys are compared in SQL."""

    def connect(self, engine: Engine) -> Connection:
        """A connection of dbsim's own to search with, at the least cost."""
        return engine.connect()

    def at_once(self, engine: Engine, statement: str, arguments: Any) -> Sequence[Any] | None:
        """The rows of a statement by itself, read on a connection of the pool that has searched before.

        None where it is to be executed as every other is: where somebody observes the engine's statements
        (`unobserved`), or the connection turns out to be lost. Any other error is raised as SQLAlchemy would: a
        statement that waited for its timeout is not sent again. SQLAlchemy's Connection takes as long as the statement.
        """
        return None

    @abstractmethod
    def prepare(self, connection: Connection) -> None:
        """Make `jaccard` work on this connection."""

    @abstractmethod
    def jaccard(self, one: FilterColumns, two: FilterColumns, reading: Reading) -> ColumnElement[float]:
        """The similarity of two filters; both counts are above zero."""

    @abstractmethod
    def level(self, one: FilterColumns, two: FilterColumns, reading: Reading) -> ColumnElement[int]:
        """How alike two filters are, in the steps of `dbsim.hashing.records.levels`; both counts are above zero."""

    def probability(self, evidence: ColumnElement[int]) -> ColumnElement[float]:
        """`dbsim.hashing.records.probability` of so much evidence, equal to the last bit."""
        return func.dbsim_probability(evidence, type_=Double)

    @abstractmethod
    def larger(self, one: ColumnElement[int], two: ColumnElement[int]) -> ColumnElement[int]:
        """Of two numbers."""

    @abstractmethod
    def hamming(self, key: ColumnElement[Any], other: ColumnElement[Any]) -> ColumnElement[int]:
        """How many bits of two keys differ."""

    def computed_once(self, query: Select[Any]) -> Select[Any]:
        """A query in FROM whose values are computed once, however often what is around it uses them."""
        return query

    def one_step(self, query: Select[Any], name: str) -> CTE:
        """A query that is carried out as it stands, not merged into the one that reads it."""
        return query.cte(name)

    def can_read(self, connection: Connection, table: str) -> bool:
        """Whether this connection may read a table of dbsim's."""
        return True

    @abstractmethod
    def questions(
        self, asked: Asked, keys: Sequence[ColumnElement[Any]], identity: Sequence[ColumnElement[Any]]
    ) -> Questions:
        """A batch of any number as parameters, those of `asked_values`; `keys` and `identity` are stored columns.

        Among the columns is dbsim_number: the place of a question in the batch.
        """

    @abstractmethod
    def asked_values(self, asked: Asked, values: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
        """The parameters, from a list for each name, in the order of the questions; a missing filter is None."""

    @abstractmethod
    def json_rows(self, parameter: str, integers: Sequence[str]) -> FromClause:
        """The objects of a JSON array, bound as `parameter`, as rows with these columns."""
