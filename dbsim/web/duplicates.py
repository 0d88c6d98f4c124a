"""Duplicates: groups by size, diameter or score, one group side by side, export of what is filtered, and deleting."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import Any

from sqlalchemy import Connection
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse

from dbsim.dedupe.acting.keep import CHOICES, Ranking
from dbsim.dedupe.people.browse import Browser
from dbsim.dedupe.people.decisions import Book, Decision
from dbsim.dedupe.people.group_pages import SORTS, Filter, Summary
from dbsim.dedupe.people.histogram import BARS
from dbsim.dedupe.store_pairs import Workplace
from dbsim.errors import DbsimError, InvalidOption, UnknownKey
from dbsim.index import Index
from dbsim.report.table import COLUMNS, write_rows
from dbsim.tables.source import Key
from dbsim.web.reviewing import identity
from dbsim.web.state import Server, link

PAGE = 25
MEMBERS = 24  # of one group, side by side
FEW = 2000  # groups that are sorted in less time than it takes to find a page of them among many others
EXPORTED = 200  # groups read at once


def page(server: Server, request: Request) -> Response:
    index = server.chosen(request)
    view, asked = server.view(index), request.query_params
    if not view.exist():
        return server.page(request, "no_groups.html", index=index, title="Duplicates")
    wanted, sort = _filter(index, request), _sort(request)
    after = _after(asked.get("after"))
    count = server.counted(index, "groups", lambda c: view.count(c, wanted), wanted)
    few = count is not None and count[0] <= FEW
    groups = index.context.read(lambda c: view.page(c, wanted, sort, after, PAGE + 1, few=few))
    more = groups[PAGE - 1] if len(groups) > PAGE else None
    groups = groups[:PAGE]
    values: dict[str, Any] = {
        "groups": list(zip(groups, _texts(index, groups), strict=True)),
        "next": None if more is None else f"{getattr(more, SORTS[sort][0])}:{more.id}",
        "first_page": after is None,
        "sort": sort,
        "q": asked.get("q", ""),
        "low": wanted.low,
        "high": wanted.high,
        "rows": wanted.rows,
    }
    if after is None:  # what is true of all pages is computed for the first
        values["count"] = count
        whole = Filter(rows=wanted.rows, among=wanted.among)  # whatever the range of scores
        values["histogram"] = server.counted(index, "histogram", lambda c: view.histogram(c, whole), whole)
        values["no_bars"] = [0] * BARS
    return server.page(request, "duplicates.html", index=index, title="Duplicates", labelled=labelled, **values)


def group(server: Server, request: Request) -> Response:
    """One group side by side, and which row would stay under a rule."""
    index = server.chosen(request)
    keep = request.query_params.get("keep", "first")
    if keep not in CHOICES:
        raise InvalidOption(f"rows are kept by {', '.join(CHOICES)} here, not by {keep!r}")
    number = _integer(request.query_params.get("id"))
    view = server.view(index)
    members, found, said, kept = index.context.read(lambda c: _of_group(c, index, view, number, keep))
    if not members or not found:
        raise UnknownKey("this group is no more: its rows have changed, look at the list again")
    rows = index.rows([key for key, _ in members])
    first = rows[0]
    decided = {identity(d.a, d.b): d for d in said}
    shown = [
        {
            "key": key,
            "score": score,
            "stays": index.key(key) in kept,
            "row": row,
            "decision": decided.get(identity(members[0][0], key)),
        }
        for (key, score), row in zip(members, rows, strict=True)
    ]
    values: dict[str, Any] = {"group": found[0], "members": shown, "first": first, "keep": keep, "choices": CHOICES}
    return server.page(request, "group.html", index=index, title="Group", **values)


def _of_group(
    connection: Connection, index: Index, view: Browser, number: int, keep: str
) -> tuple[list[tuple[Any, float]], list[Summary], list[Decision], set[Key]]:
    """Its first rows with their scores, its figures, what was decided about those rows, and which one would stay."""
    members = view.members(connection, number, MEMBERS)
    found = view.page(connection, Filter(rows=1, among=(number,)), "size", None, 1)
    said = Book(view.context).of(connection, [index.key(key) for key, _ in members])
    kept = Ranking(Workplace(view.context), keep=keep).kept(connection, [number])
    return members, found, [decision for _, _, decision in said], kept


def export(server: Server, request: Request) -> Response:
    """All groups that the filter leaves, streamed a page at a time."""
    index = server.chosen(request)
    wanted, sort = _filter(index, request), _sort(request)
    as_json = request.query_params.get("as") == "json"
    parts = _json(index, wanted, sort) if as_json else _csv(index, wanted, sort)
    kind = "application/json" if as_json else "text/csv; charset=utf-8"
    name = "duplicates.json" if as_json else "duplicates.csv"
    return StreamingResponse(parts, media_type=kind, headers={"content-disposition": f'attachment; filename="{name}"'})


def resolve(server: Server, request: Request) -> Response:
    """Count first: what would go under this rule."""
    index = server.chosen(request)
    _require_allowed(server)
    keep = request.query_params.get("keep", "first")
    counted = index.delete_duplicates(keep=keep, dry_run=True)
    return server.page(request, "resolve.html", index=index, title="Delete duplicates", counted=counted, keep=keep)


def resolved(server: Server, request: Request, fields: dict[str, str]) -> Response:
    index = server.chosen(request)
    _require_allowed(server)
    if fields.get("sure") != "yes":
        return RedirectResponse(link("/resolve", index, keep=fields.get("keep")), 303)
    keep = fields.get("keep", "first")
    expected = index.delete_duplicates(keep=keep, dry_run=True)
    if (expected.groups, expected.removed) != (_integer(fields.get("groups")), _integer(fields.get("removed"))):
        raise DbsimError("the groups have changed since they were counted: nothing was done, look again")
    done = index.delete_duplicates(keep=keep, expected=expected)
    return server.page(request, "resolve.html", index=index, title="Delete duplicates", counted=done, keep="")


def _require_allowed(server: Server) -> None:
    if not server.allow_resolve or server.read_only:
        raise DbsimError("rows are deleted only by a server that was started with --allow-resolve")


def labelled(counts: list[int]) -> list[tuple[str, int]]:
    return [(f"{place / BARS:g} … {(place + 1) / BARS:g}", number) for place, number in enumerate(counts)]


# ── filters ──
def _filter(index: Index, request: Request) -> Filter:
    asked = request.query_params
    low, high = _share(asked.get("low"), 0.0), _share(asked.get("high"), 1.0)
    text = asked.get("q", "").strip()
    return Filter(low=low, high=high, rows=max(_integer(asked.get("rows") or "2"), 2), among=_among(index, text))


def _among(index: Index, text: str) -> tuple[int, ...] | None:
    """Groups with a row of this key, or with rows similar to this text."""
    if not text:
        return None
    view = Browser(index.context)
    keys = [index.key(hit.key) for hit in index.search(text, threshold=0.1, limit=100)]
    try:
        keys += [index.key(hit.key) for hit in index.similar(_key(text), threshold=0.1, limit=100)]
        keys.append(index.key(_key(text)))
    except (DbsimError, TypeError):
        pass  # no row has that key, or it is none
    try:
        return index.context.read(lambda c: view.of_rows(c, keys)) if keys else ()
    except DbsimError:  # the text cannot be a key of this type
        return index.context.read(lambda c: view.of_rows(c, keys[:-1])) if keys[:-1] else ()


def _key(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _sort(request: Request) -> str:
    sort = request.query_params.get("sort", "size")
    return sort if sort in SORTS else "size"


def _after(text: str | None) -> tuple[float, int] | None:
    try:
        value, _, number = (text or "").partition(":")
        return float(value), int(number)
    except ValueError:
        return None


def _share(text: str | None, otherwise: float) -> float:
    try:
        return min(max(float(text or ""), 0.0), 1.0)
    except ValueError:
        return otherwise


def _integer(text: str | None) -> int:
    try:
        return int(text or "")
    except ValueError as error:
        raise InvalidOption(f"{text!r} is no whole number") from error


# ── texts ──
def _texts(index: Index, groups: list[Summary]) -> list[str]:
    """The beginning of each representative."""
    rows = index.texts([group.representative for group in groups])
    return ["(deleted)" if text is None else " ".join(text[:2000].split())[:300] for text in rows]


def _walk(index: Index, wanted: Filter, sort: str) -> Iterator[tuple[Summary, list[tuple[Any, float, str | None]]]]:
    view, after = Browser(index.context), None
    while True:
        place = after
        groups = index.context.read(lambda c: view.page(c, wanted, sort, place, EXPORTED))  # noqa: B023
        for found in groups:
            members = index.context.read(lambda c: view.members(c, found.id, 10_000))  # noqa: B023
            texts = index.texts([key for key, _ in members])
            yield found, [(key, score, text) for (key, score), text in zip(members, texts, strict=True)]
        if len(groups) < EXPORTED:
            return
        after = (float(getattr(groups[-1], SORTS[sort][0])), groups[-1].id)


def _csv(index: Index, wanted: Filter, sort: str) -> Iterator[str]:
    def written(rows: list[list[Any]], head: bool) -> str:
        file = io.StringIO(newline="")
        write_rows(file, COLUMNS, rows)
        text = file.getvalue()
        return text if head else text.split("\r\n", 1)[1]

    yield written([], head=True)
    for found, members in _walk(index, wanted, sort):
        kept = index.kept([found.id])
        head = [str(found.id), found.representative, f"{found.diameter:.6f}"]
        yield written(
            [
                [
                    *head,
                    key,
                    f"{score:.6f}",
                    "yes" if index.key(key) in kept else "no",
                    " ".join((text or "").split())[:200],
                ]
                for key, score, text in members
            ],
            head=False,
        )


def _json(index: Index, wanted: Filter, sort: str) -> Iterator[str]:
    before = "["
    for found, members in _walk(index, wanted, sort):
        value = {
            "group": str(found.id),
            "representative": found.representative,
            "diameter": found.diameter,
            "members": [{"key": key, "score": score, "text": text} for key, score, text in members],
        }
        yield before + "\n" + json.dumps(value, ensure_ascii=False, default=str)
        before = ","
    yield "[]" if before == "[" else "\n]"
