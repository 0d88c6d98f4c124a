"""Overview: every index, how it is doing, and what needs attention with the command to copy."""

from __future__ import annotations

import re
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from dbsim.errors import MissingRight
from dbsim.index import Index
from dbsim.web.state import Server


def page(server: Server, request: Request) -> Response:
    found = [server.opened(name) for name in server.names()]
    shown: list[tuple[Index, Any, list[tuple[str, str | None]]]] = []
    for index in found:
        try:
            status = server.figures.get((index.name, "status"), index.status)
        except MissingRight as error:  # a role that may search may do so
            shown.append((index, None, [(str(error), None)]))
            continue
        problems = [(problem, command(server, index, problem)) for problem in (status.problems if status else ())]
        shown.append((index, status, problems))
    return server.page(request, "overview.html", indexes=shown, title="Overview")


def command(server: Server, index: Index, problem: str) -> str | None:
    """What a problem says to run, with the names filled in."""
    said = re.search(r"`dbsim (\w+)`", problem)
    return None if said is None else server.command(said[1], index)
