"""Review: one doubtful pair after the other; what is decided is kept in the database and can be taken back."""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import Connection
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from dbsim.dedupe.people.claims import Claims
from dbsim.dedupe.people.decisions import Book
from dbsim.dedupe.people.pair_pages import Doubtful
from dbsim.errors import Contradiction, DbsimError, InvalidOption
from dbsim.index import Index
from dbsim.web.reviewing import Outdated, Session, identity
from dbsim.web.state import BROWSER, NAME, Server, browser_id, link, sent_key

PAGE = 50
DECISIONS = "decisions"  # the figure that a decision changes
YEAR = 365 * 86400


def page(server: Server, request: Request) -> Response:
    return _shown(server, request, browser_id(request))


def _shown(server: Server, request: Request, mine: str, message: str = "") -> Response:
    index = server.chosen(request)
    view = server.view(index)
    if not view.exist():
        return server.page(request, "no_groups.html", index=index, title="Review")
    desk = server.sessions.desk(view, mine)
    counts, outdated = _figures(server, index)
    pair = None if server.read_only else desk.next(outdated)
    values: dict[str, Any] = {
        "pair": pair,
        "session": desk.session,
        "counts": counts,
        "decided": sum(counts.values()) - counts.get("outdated", 0),
        "total": server.counted(index, "pairs", view.pairs) or 0,
        "message": message,
    }
    if pair is not None:
        values |= _compared(index, pair)
    answer = server.page(request, "review.html", index=index, title="Review", **values)
    answer.set_cookie(BROWSER, mine, max_age=YEAR, httponly=True, samesite="strict")
    return answer


def _figures(server: Server, index: Index) -> tuple[dict[str, int], Outdated]:
    """How many decisions there are of each kind, and some that are outdated."""
    book, view = Book(index.context), server.view(index)

    def count(connection: Connection) -> tuple[dict[str, int], Outdated]:
        found = book.counts(connection)
        return found, view.outdated(connection) if found.get("outdated") else ()

    return server.counted(index, DECISIONS, count) or ({}, ())


def _compared(index: Index, pair: Doubtful) -> dict[str, Any]:
    """Both rows field by field, why they are similar, and what was decided about other texts of theirs."""
    (a, b), explained = index.side_by_side(pair.a, pair.b)
    before = next(iter(index.decisions_among([pair.a, pair.b])), None) if pair.place is None else None
    return {"a": a, "b": b, "explained": explained, "before": before}


def decided(server: Server, request: Request, fields: dict[str, str]) -> Response:
    """A verdict, or one taken back; then the next pair."""
    index, mine = server.chosen(request), browser_id(request)
    if server.read_only:
        raise DbsimError("this server was started with --read-only: nothing can be decided")
    desk = server.sessions.desk(server.view(index), mine)
    session = desk.session
    who = fields.get("who", "").strip()[:200]
    if fields.get("verdict") == "undo":
        desk.begin_again()
        _undo(index, session)
    elif fields.get("verdict") == "skip":
        session.skipped.add(identity(sent_key(fields.get("a")), sent_key(fields.get("b"))))
    else:
        a, b = sent_key(fields.get("a")), sent_key(fields.get("b"))
        before = next(iter(index.decisions_among([a, b])), None)
        row = Book(index.context).stored(index.key(a), index.key(b)) if before is not None and before.outdated else {}
        try:
            index.decide(a, b, fields.get("verdict", ""), who=who, note=fields.get("note", ""))
        except Contradiction as error:
            return _shown(server, request, mine, str(error))
        session.history.append((a, b, row or before))
        session.done += 1
    server.figures.forget((index.name, DECISIONS))
    Claims(index.context).release(mine)
    back = fields.get("back")
    answer = RedirectResponse(link("/group", index, id=back) if back else link("/review", index), 303)
    answer.set_cookie(NAME, who.encode("ascii", "ignore").decode(), max_age=YEAR, samesite="strict")
    answer.set_cookie(BROWSER, mine, max_age=YEAR, httponly=True, samesite="strict")
    return answer


def _undo(index: Index, session: Session) -> None:
    if not session.history:
        return
    a, b, before = session.history.pop()
    if before is None:
        index.undecide(a, b)
    elif isinstance(before, dict):
        Book(index.context).put_back(index.key(a), index.key(b), before)
    else:
        index.decide(a, b, before.verdict, who=before.who, note=before.note)
    session.done = max(session.done - 1, 0)


def listed(server: Server, request: Request) -> Response:
    """Everything that was decided, a page at a time."""
    index = server.chosen(request)
    book = Book(index.context)
    after = request.query_params.get("after")
    last = _place(index, sent_key(after)) if after else None
    verdict = request.query_params.get("verdict") or None
    found = index.context.read(lambda c: book.page(c, last, PAGE + 1, verdict))
    more = found[PAGE - 1][0] if len(found) > PAGE else None
    values: dict[str, Any] = {
        "decisions": [decision for _, decision in found[:PAGE]],
        "next": None if more is None else json.dumps(list(more), default=str),
        "verdict": verdict or "",
        "counts": _figures(server, index)[0],
    }
    return server.page(request, "decisions.html", index=index, title="Decisions", **values)


def _place(index: Index, sent: Any) -> tuple[Any, ...]:
    """Both keys of the last decision on the page before."""
    width = 2 * len(index.context.tables.key_names)
    if not isinstance(sent, list) or len(sent) != width:
        raise InvalidOption("the address names no place in this list: begin at its first page")
    return tuple(sent)
