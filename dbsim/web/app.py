"""The pages of `dbsim serve` as one application: Server → ASGI."""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Callable
from functools import partial
from typing import Any

from sqlalchemy.exc import SQLAlchemyError
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from dbsim.errors import Contradiction, DatabaseUnavailable, DbsimError, MissingRight, UnknownKey, UnknownName
from dbsim.report.templating import HERE as REPORT
from dbsim.web import deciding, duplicates, overview, searching, statistics
from dbsim.web.guard import Guard
from dbsim.web.state import HERE, Server, form

Page = Callable[..., Response]
FILES = {"style.css": REPORT / "static" / "style.css", "page.js": HERE / "static" / "page.js"}


def application(server: Server) -> ASGIApp:
    """Every page behind the guard."""
    pages: list[tuple[str, Page, Page | None]] = [
        ("/", overview.page, None),
        ("/search", searching.page, None),
        ("/search/hits", searching.hits, None),
        ("/duplicates", duplicates.page, None),
        ("/duplicates/export", duplicates.export, None),
        ("/group", duplicates.group, None),
        ("/resolve", duplicates.resolve, duplicates.resolved),
        ("/review", deciding.page, deciding.decided),
        ("/decisions", deciding.listed, None),
        ("/statistics", statistics.page, None),
    ]
    routes = [Route(path, _endpoint(server, shown, taken), methods=_methods(taken)) for path, shown, taken in pages]
    routes.append(Route("/static/{name}", _file))
    missing = {404: partial(_missing, server), 405: partial(_missing, server)}
    return Guard(Starlette(routes=routes, exception_handlers=missing), server.doors)


def _methods(taken: Page | None) -> list[str]:
    return ["GET"] if taken is None else ["GET", "POST"]


def _endpoint(server: Server, shown: Page, taken: Page | None) -> Callable[[Request], Any]:
    async def answer(request: Request) -> Response:
        try:
            if request.method != "POST" or taken is None:
                return await run_in_threadpool(shown, server, request)
            fields = await form(request)
            if not hmac.compare_digest(fields.get("csrf", "").encode(), server.doors.csrf.encode()):
                return PlainTextResponse("the form is of another run of this server: load the page again\n", 403)
            return await run_in_threadpool(taken, server, request, fields)
        except (DbsimError, SQLAlchemyError, OSError) as error:
            return _problem(server, request, error)

    return answer


def _problem(server: Server, request: Request, error: Exception) -> Response:
    """What went wrong in words; a database that is away is asked again by the page itself."""
    away = isinstance(error, DatabaseUnavailable | SQLAlchemyError | OSError)
    status = 503 if away else 404 if isinstance(error, UnknownName | UnknownKey) else 409
    if isinstance(error, Contradiction):
        away = False
    if isinstance(error, MissingRight):
        away, status = False, 403
    text = str(error).splitlines()[0] if isinstance(error, DbsimError) else "the database does not answer"
    return server.page(request, "problem.html", status, text=text, away=away)


async def _file(request: Request) -> Response:
    path = FILES.get(request.path_params["name"])
    return PlainTextResponse("there is no such file\n", 404) if path is None else FileResponse(path)


async def _missing(server: Server, request: Request, error: Exception) -> Response:
    return await asyncio.to_thread(server.page, request, "problem.html", 404, text="there is no such page", away=False)
