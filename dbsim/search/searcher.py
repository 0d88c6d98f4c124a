"""Run searches on an index: texts or stored keys → Results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from operator import contains
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import BindParameter, ColumnElement, Connection, Select, Subquery, bindparam, not_, select, union_all
from sqlalchemy.sql.visitors import replacement_traverse

from dbsim.engines.stored_keys import stored_key, stored_keys
from dbsim.errors import InvalidOption
from dbsim.hashing.error import DEVIATIONS
from dbsim.hashing.records.waterfall import Waterfall, waterfalls
from dbsim.search.asking import CONVERTING
from dbsim.search.deciding.people import Verdicts, respect, verdicts_of
from dbsim.search.deciding.texts import cut_of
from dbsim.search.explain import Explanation, explain
from dbsim.search.limits import Bounds, Where
from dbsim.search.query import Query, as_lookups
from dbsim.search.results import Results
from dbsim.search.rows import Row, Rows
from dbsim.search.statements.parameters import self_parameters
from dbsim.sync import models
from dbsim.tables.decision_tables import SAME
from dbsim.tables.key_conditions import among, key_columns, listed, listing
from dbsim.tables.source import Key, public_key


@dataclass
class SearchEngine(Rows):
    """The searches of one index."""

    def sign(
        self, texts: Sequence[str | Sequence[str]], probes: int = 0, connection: Connection | None = None
    ) -> list[Query | None]:
        """Each text belongs to every field, unless it is given field by field."""
        if self.signer.family.learns and not self.context.reader:
            with self.context.searching(connection) as own:
                models.require(own, self.tables, self.signer)
        fields = len(self.tables.record.options.fields)
        columns = [[text if isinstance(text, str) else text[number] for text in texts] for number in range(fields)]
        return self._queries(columns, probes, connection)

    def _queries(
        self, columns: Sequence[Sequence[str]], probes: int, connection: Connection | None
    ) -> list[Query | None]:
        if self.context.reader and not (self.options.secret and self.signer.model is not None):
            return self._signed_in_sql(columns, probes, connection)
        if len(columns[0]) == 1 and not probes and self.signer.single is not None:
            one = self.signer.single.sign(columns[0][0])
            if one is not None:
                return [Query.single(one, columns[0][0])]
        signed, documents = self.signer.signed(columns)
        found = Query.of(signed, list(zip(*columns, strict=True)), documents)
        if not probes:
            return found if self.signer.family.radius is None else [query and self._spread(query) for query in found]
        pairs = zip(found, self._neighbours(columns, probes), strict=True)
        return [query and self._spread(query, as_lookups(neighbours)) for query, neighbours in pairs]

    def _signed_in_sql(
        self, columns: Sequence[Sequence[str]], probes: int, connection: Connection | None
    ) -> list[Query | None]:
        """For a role that may not read the secret."""
        if probes:
            raise InvalidOption("probes need the secret of the index, which this role may not read: leave them out")
        with self.context.searching(connection) as own:
            rows = self.backend.sign_in_sql(own, self.tables, columns)
        signed = [self._stored_query(row) for row in rows]
        return [
            query and query._replace(texts=tuple(texts))
            for query, texts in zip(signed, zip(*columns, strict=True), strict=True)
        ]

    def _neighbours(self, columns: Sequence[Sequence[str]], probes: int) -> NDArray[np.int64]:
        try:
            return self.signer.probes(columns, probes)
        except ValueError as error:
            raise InvalidOption(str(error)) from error

    def _spread(self, query: Query, lookups: tuple[tuple[int, ...], ...] = ()) -> Query:
        """With every value to look up, where that is more than the keys."""
        if not lookups and self.signer.family.radius is not None:
            lookups = as_lookups(self.signer.family.spread(np.array([query.keys]), self.signer.plan)[0])
        return query._replace(lookups=lookups) if lookups else query

    def search(
        self,
        query: Query | None,
        bounds: Bounds,
        where: Where,
        connection: Connection | None,
        marked: ColumnElement[bool] | None = None,
    ) -> Results:
        return self._run(query, bounds, where, connection, marked=marked)

    def similar(
        self, key: Key, bounds: Bounds, where: Where, connection: Connection | None, *, decided: bool = True
    ) -> Results:
        with self.context.searching(connection) as own:
            key = stored_key(own, self.backend, self.tables, key)
            query = self.query_of(own, key, bounds)
            verdicts = verdicts_of(self, own, key) if decided else {}
            ask = partial(self._run, query, where=where, connection=own, key=key)
            return respect(self, own, verdicts, bounds, where, lambda: self._row(own, key)[1], ask)

    def search_for(
        self, query: Query | None, bounds: Bounds, where: Where, connection: Connection | None, key: Key
    ) -> Results:
        """The text belongs to this row, which is not found itself: what was decided about it counts."""
        with self.context.searching(connection) as own:
            key = stored_key(own, self.backend, self.tables, key)
            ask = partial(self._run, query, where=where, connection=own, key=key)
            texts = (lambda: query.texts) if query is not None else (lambda: None)
            return respect(self, own, verdicts_of(self, own, key), bounds, where, texts, ask)

    def search_each(
        self,
        queries: Sequence[Query | None],
        keys: Sequence[Key | None],
        bounds: Bounds,
        where: Where,
        own: Connection | None,
    ) -> list[Results]:
        """A batch in which some texts belong to rows."""
        free = iter(
            self.search_many([q for q, key in zip(queries, keys, strict=True) if key is None], bounds, where, own)
        )
        pairs = zip(queries, keys, strict=True)
        return [next(free) if key is None else self.search_for(one, bounds, where, own, key) for one, key in pairs]

    def match(self, query: Query | None, bounds: Bounds, where: Where, key: Key | None = None) -> Subquery:
        """Key columns, score and standard error as a selectable to join with; cut so low that pairs are not lost."""
        query = query or Query.nothing(self.tables.record.options)
        key, verdicts = self._decided(key)
        left_out = None
        if key is not None:
            left_out = not_(among(key_columns(self.tables.signatures, self.tables), [key, *verdicts]))
        rows = self.statements.candidates(where, width=query.width, marked=left_out).limit(bounds.max_candidates)
        ranked = self.statements.ranked(rows.subquery("candidates"))
        same = [other for other, verdict in verdicts.items() if verdict == SAME]
        if same:
            both = union_all(select(ranked.subquery()), self.statements.ranked_anyway(same, where))
            ranked = select(both.subquery("near"))
        columns = ranked.selected_columns
        best_first = [columns[self.tables.names.score].desc(), *(columns[name] for name in self.tables.key_names)]
        ordered = ranked.order_by(*best_first).limit(bounds.limit)
        cut = cut_of(self.options, query.counts, bounds)
        values = self._values(query, cut, bounds, bounds.limit)
        values["dbsim_error"] = round((bounds.threshold - cut.lowest) / DEVIATIONS, 4)
        return cast(Subquery, replacement_traverse(ordered.subquery(), {}, partial(_bound, values)))

    def _decided(self, key: Key | None) -> tuple[Key | None, Verdicts]:
        """The row as it is stored, and what was decided about it."""
        if key is None:
            return None, {}
        with self.context.searching() as own:
            key = stored_key(own, self.backend, self.tables, key)
            return key, verdicts_of(self, own, key)

    def query_of(self, connection: Connection, key: Key, bounds: Bounds) -> Query | None:
        """The stored signature of a row; its text where that is needed, or where it is not indexed yet."""
        models.require(connection, self.tables, self.signer)
        if not bounds.verify and not bounds.probes:
            row = self._signature(connection, key)
            if row is not None:
                return self._stored_query(row[len(key) :])
        for batch in self.source_texts(connection, [key]):
            return self._queries(batch.columns, bounds.probes, connection)[0]
        raise self._unknown(key)

    def _signature(self, connection: Connection, key: Key) -> tuple[Any, ...] | None:
        """The stored row, key and signature; None of a row that is not indexed."""
        if connection.dialect.driver in CONVERTING:
            rows: Sequence[Any] = connection.execute(self._signature_rows(), listing([key])).all()
        else:
            rows = self._compiled.get(connection, "signature", self.statements.signature).rows(
                connection, self_parameters(key)
            )
        return tuple(rows[0]) if rows else None

    def keys_in_common(self, query: Query | None, keys: Sequence[Key]) -> list[int]:
        """In how many bucket keys each row agrees with a question: by these it was found."""
        known, width = self.tables.companions, len(self.tables.key_names)
        if "bucket_keys" not in known:
            table = self.tables.signatures
            own = key_columns(table, self.tables)
            known["bucket_keys"] = select(*own, *(table.c[name] for name in self.tables.names.keys)).where(listed(own))
        with self.context.searching() as connection:
            rows = connection.execute(known["bucket_keys"], listing(keys)).all() if keys and query else []
        sought = query.lookups or [(key,) for key in query.keys] if query else []
        found = {tuple(row[:width]): sum(map(contains, sought, row[width:])) for row in rows}
        return [found.get(key, 0) for key in keys]

    def explain(self, a: Key, b: Key) -> Explanation:
        """What two rows have in common; the signatures are the stored ones."""
        rows, found = self.side_by_side(a, b)
        if found is None:
            raise self._unknown(a if rows[0] is None else b)
        return found

    def side_by_side(self, a: Key, b: Key) -> tuple[list[Row | None], Explanation | None]:
        """The text of every field of both rows, None for one that is gone; what they have in common, if both are there.

        The keys of the explanation are as the table has them: "42" may have been asked for 42.
        """
        with self.context.searching() as own:
            keys = stored_keys(own, self.backend, self.tables, [a, b])
            rows = self._rows(own, keys)
            if rows[0] is None or rows[1] is None:
                return [None if row is None else row[1] for row in rows], None
            stored = self._stored(own, keys)
        shown = [public_key(self.tables.key_names, row[0]) for row in rows if row is not None]
        texts = (rows[0][1], rows[1][1])
        return [*texts], explain(self.options, (shown[0], shown[1]), texts, stored, self._evidence(*texts))

    def _stored(self, connection: Connection, keys: Sequence[Key]) -> list[Query | None]:
        """The stored signatures of rows, read at once; of one that is not indexed yet, or named otherwise, alone."""
        models.require(connection, self.tables, self.signer)
        width = len(self.tables.key_names)
        rows = map(tuple, connection.execute(self._signature_rows(), listing(keys)))
        found = {row[:width]: self._stored_query(row[width:]) for row in rows}
        alone = Bounds(threshold=0.0, verify=False)
        return [found[key] if key in found else self.query_of(connection, key, alone) for key in keys]

    def _signature_rows(self) -> Select[Any]:
        """Of rows whose keys are given when the statement is executed."""
        known, table = self.tables.companions, self.tables.signatures
        if "stored_query" not in known:
            known["stored_query"] = select(table).where(listed(key_columns(table, self.tables)))
        found: Select[Any] = known["stored_query"]
        return found

    def _evidence(self, a: Sequence[str], b: Sequence[str]) -> Waterfall | None:
        """Of two records of persons."""
        if self.learned is None:
            return None
        one, two = (self.signer.sign([[text] for text in texts]) for texts in (a, b))
        return waterfalls(self.learned, [field.name for field in self.options.fields], one, two)[0]

    def _stored_query(self, values: tuple[Any, ...]) -> Query | None:
        options = self.tables.record.options
        query = Query.from_row(values, options.keys, len(options.fields))
        if query is None:
            return None
        bits = tuple(None if value is None else self.backend.read_bits(value) for value in query.bits)
        return self._spread(query._replace(bits=bits))


def _bound(values: dict[str, Any], element: Any, **_: object) -> Any:
    """A parameter with its value and a name of its own, so that several matches can stand in one statement."""
    if isinstance(element, BindParameter) and element.key in values:
        return bindparam(element.key, values[element.key], element.type, unique=True)
    return None
