"""One text asked of an index: with words its answers must contain, or as that of a row that is being edited."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import Connection

from dbsim.search.containing.contains import search_containing
from dbsim.search.containing.words import Question, Words
from dbsim.search.limits import Search, by_field
from dbsim.search.results import Results
from dbsim.search.searcher import SearchEngine
from dbsim.tables.source import Key


def answer(
    search: SearchEngine,
    text: str | Mapping[str, str],
    asked: Search,
    connection: Connection | None,
    *,
    row: Key | None = None,
    containing: Words | None = None,
) -> Results:
    """`row` has the text, and what was decided about it counts; or else `containing` narrows the answers."""
    options = search.options
    bounds = asked.bounds(options)
    (query,) = search.sign([by_field(options, text)], asked.probes, connection)
    if row is not None:
        return search.search_for(query, bounds, asked.where, connection, row)
    if containing is None:
        return search.search(query, bounds, asked.where, connection)
    words = Question(search.tables, search.signer, containing)
    return search_containing(search, query, bounds, asked.where, words, connection)
