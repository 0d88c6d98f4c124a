"""The ways to ask one index for near-duplicates, and what groups put together: Index → pairs with their scores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from typing import NamedTuple

from sqlalchemy import Connection, text

import dbsim
from dbsim.search.deciding.texts import Cut, cut_of
from dbsim.search.limits import Bounds
from dbsim.search.query import Query
from dbsim.search.statements.statement import Look
from tests.integration.promise_texts import Pairs

LIMIT = 500  # hits of a search: more than any text has near-duplicates here
GROUPINGS = ("tight", "complete", "components")
SMALLEST = 0.1  # what lies below is not in the truth


class Purity(NamedTuple):
    """Of pairs in a group those at the threshold; of pairs at the threshold those in a group; the least similar one."""

    purity: float
    together: float
    smallest: float


def doors(index: dbsim.Index, texts: Sequence[str]) -> dict[str, Callable[[], Pairs]]:
    found: dict[str, Callable[[], Pairs]] = {
        "search": lambda: searched(index, texts, None),
        "search, estimates only": lambda: searched(index, texts, False),
        "pairs": lambda: {ordered(pair.a, pair.b): pair.score for pair in index.pairs()},
        "view": lambda: rows(index, "SELECT a, b, score FROM dbsim_articles_pairs WHERE a < b"),
    }
    if index._context.engine.dialect.name == "postgresql":
        asked = "SELECT q.id, s.id, s.score FROM articles q, LATERAL dbsim_articles_search(q.body, hits => 500) s"
        found["function"] = lambda: rows(index, f"{asked} WHERE q.id <> s.id")
    return found


def searched(index: dbsim.Index, texts: Sequence[str], verify: bool | None) -> Pairs:
    return {
        ordered(number, hit.key): hit.score
        for number, hits in enumerate(index.search_many(list(texts), limit=LIMIT, verify=verify))
        for hit in hits
        if hit.key != number
    }


def rows(index: dbsim.Index, statement: str) -> Pairs:
    with index._context.engine.connect() as connection:
        return {ordered(a, b): score for a, b, score in connection.execute(text(statement))}


def ordered(a: int, b: int) -> tuple[int, int]:
    return (a, b) if a < b else (b, a)


def purity(groups: Iterable[dbsim.Group], truth: Pairs, wanted: set[tuple[int, int]]) -> Purity:
    together = right = 0
    smallest = 1.0
    for group in groups:
        members = sorted(hit.key for hit in group.members)
        pairs = list(combinations(members, 2))
        together += len(pairs)
        right += sum(pair in wanted for pair in pairs)
        smallest = min(smallest, *(truth.get(pair, SMALLEST) for pair in pairs))
    return Purity(right / max(together, 1), right / max(len(wanted), 1), smallest)


def with_texts(index: dbsim.Index, texts: Sequence[str], verify: bool | None) -> None:
    for one in texts:
        index.search(one, verify=verify)


def without_look(index: dbsim.Index, texts: Sequence[str]) -> tuple[Callable[[], None], Callable[[], None]]:
    """The search statement for these texts as it is, and one that ranks by scores and looks nothing up."""
    engine = index._search
    queries = [query for query in engine.sign(list(texts)) if query is not None]
    bounds = Bounds(index.options.threshold)
    statements = engine.statements
    rows = statements.candidates().limit(bounds.max_candidates).subquery("candidates")
    ranked = statements.ranked(rows)
    bare = ranked.order_by(ranked.selected_columns[engine.tables.names.score].desc()).limit(bounds.limit)
    whole = statements.search(look=Look(texts=True, queue=True))

    def run(shape: str, statement: object) -> None:
        with index._context.engine.connect() as connection:
            compiled = engine._compiled.get(connection, f"benchmark {shape}", lambda: statement)
            for query in queries:
                values = _values(engine, query, cut_of(engine.options, query.counts, bounds), bounds, connection)
                connection.exec_driver_sql(compiled.sql, compiled.arguments(values)).all()

    return lambda: run("whole", whole), lambda: run("bare", bare)


def _values(engine: object, query: Query, cut: Cut, bounds: Bounds, connection: Connection) -> dict[str, object]:
    values: dict[str, object] = engine._values(query, cut, bounds, bounds.limit)  # type: ignore[attr-defined]
    return values | {"dbsim_error": 0.0}
