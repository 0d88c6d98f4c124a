"""Search: rows similar to a text, with the differing words marked, how they were found, and the code for it."""

from __future__ import annotations

import time
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from dbsim.index import Index
from dbsim.tables.decision_tables import sides_of
from dbsim.tables.names import identifier, literal, quote
from dbsim.web.state import Server

SHOWN = 20
LONGEST = 200_000  # characters of a question


def page(server: Server, request: Request) -> Response:
    index = server.chosen(request)
    return server.page(request, "search.html", index=index, title="Search", **_found(server, index, request))


def hits(server: Server, request: Request) -> Response:
    """The part below the form, for the script that asks while one types."""
    index = server.chosen(request)
    return server.page(request, "hits.html", index=index, **_found(server, index, request))


def _found(server: Server, index: Index, request: Request) -> dict[str, Any]:
    names = [field.name for field in index.options.fields]
    asked = {name: request.query_params.get(f"f_{name}", "")[:LONGEST] for name in names}
    text = request.query_params.get("q", "")[:LONGEST]
    if len(names) == 1:
        asked = {names[0]: text or asked[names[0]]}
    threshold = _number(request.query_params.get("threshold"), index.options.threshold)
    persons = index.options.hashing.rarity  # whose fields are short, whatever they are compared by
    long = {field.name: field.unit == "words" and not persons for field in index.options.fields}
    values: dict[str, Any] = {"asked": asked, "long": long, "threshold": threshold, "results": None}
    if not any(part.strip() for part in asked.values()):
        return values
    question: str | dict[str, str] = next(iter(asked.values())) if len(names) == 1 else asked
    began = time.perf_counter()
    found = index.search(question, threshold=threshold, limit=SHOWN)
    milliseconds = (time.perf_counter() - began) * 1000
    keys = [hit.key for hit in found]
    rows, common = index.rows(keys), index.keys_in_common(question, keys)
    return values | {
        "results": list(zip(found, rows, common, strict=True)),
        "found": found,
        "milliseconds": milliseconds,
        "python": _python(server, index, question, threshold),
        "sql": _sql(index, question, threshold),
    }


def _number(text: str | None, otherwise: float) -> float:
    try:
        return min(max(float(text or ""), 0.01), 1.0)
    except ValueError:
        return otherwise


def _python(server: Server, index: Index, question: str | dict[str, str], threshold: float) -> str:
    return (
        f"import dbsim\n\nidx = dbsim.open({server.database.url!r}).index({index.name!r})\n"
        f"for hit in idx.search({question!r}, threshold={threshold:g}, limit={SHOWN}):\n    print(hit.key, hit.score)"
    )


def _sql(index: Index, question: str | dict[str, str], threshold: float) -> str:
    """A function where the database can sign; otherwise the view of pairs, which knows stored rows only."""
    if index.context.backend.searches_in_sql:
        texts = [question] if isinstance(question, str) else list(question.values())
        arguments = ", ".join(map(literal, texts))
        function = quote(identifier("dbsim", index.name, "search"))
        return f"SELECT * FROM {function}({arguments}, threshold => {threshold:g}, hits => {SHOWN});"
    if index.options.hashing.rarity:
        return "-- on SQLite records of persons are compared by dbsim alone: ask from Python or the shell"
    a, b = (", ".join(map(quote, side)) for side in sides_of(index.key_names))
    view = quote(identifier("dbsim", index.name, "pairs"))
    key = f"({a}) = (…)" if len(index.key_names) > 1 else f"{a} = …"
    return (
        f"-- rows similar to a stored row; a new text needs dbsim's functions\n"
        f"SELECT {b}, score FROM {view} WHERE {key} ORDER BY score DESC;"
    )
