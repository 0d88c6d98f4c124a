"""What every page needs: the database, the templates, the doors; one value for the whole server."""

from __future__ import annotations

import json
import secrets
import shlex
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode

import jinja2
from sqlalchemy import Connection
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from dbsim.database import Database
from dbsim.dedupe.people.browse import Browser
from dbsim.errors import InvalidOption, UnknownName
from dbsim.index import Index
from dbsim.report.marks import analysers_of
from dbsim.report.templating import environment, written_key
from dbsim.web.figures import Figures
from dbsim.web.guard import Doors
from dbsim.web.reviewing import Sessions

HERE = Path(__file__).parent
NAME = "dbsim_name"  # cookies: who reviews, and which browser it is
BROWSER = "dbsim_browser"


@dataclass(frozen=True)
class Server:
    """`read_only`: no decisions; `allow_resolve`: rows may be deleted from the page, after a question."""

    database: Database
    doors: Doors
    index: str | None = None
    read_only: bool = False
    allow_resolve: bool = False
    sessions: Sessions = field(default_factory=Sessions)
    figures: Figures = field(default_factory=Figures)
    indexes: dict[str, Index] = field(default_factory=dict)
    views: dict[str, Browser] = field(default_factory=dict)
    templates: jinja2.Environment = field(default_factory=lambda: environment(HERE / "templates"))

    def names(self) -> list[str]:
        return [self.index] if self.index else [index.name for index in self.database.indexes()]

    def chosen(self, request: Request) -> Index:
        return self.opened(self.index or request.query_params.get("index") or next(iter(self.names()), ""))

    def opened(self, name: str) -> Index:
        """The same one for all requests, with its compiled statements; it follows changes by itself."""
        try:
            index = self.indexes[name] if name in self.indexes else self.database.index(name)
            assert index.context.name == name  # a look, from time to time, whether it is still there
        except UnknownName:
            self.indexes.pop(name, None)
            raise
        return self.indexes.setdefault(name, index)

    def view(self, index: Index) -> Browser:
        """Likewise, as long as the index has the same generation."""
        context = index.context
        if index.name not in self.views or self.views[index.name].context is not context:
            self.views[index.name] = Browser(context)
        return self.views[index.name]

    def counted(self, index: Index, what: str, count: Callable[[Connection], Any], *more: Any) -> Any:
        """A figure about the whole index, as last counted; None while it is counted for the first time."""
        return self.figures.get((index.name, what, *more), lambda: index.context.read(count))

    def command(self, verb: str, index: Index | None = None) -> str:
        """What to type in a shell, whatever the names."""
        return shlex.join(["dbsim", verb, self.database.url, *([] if index is None else [index.name])])

    def page(self, request: Request, template: str, status: int = 200, **values: Any) -> Response:
        """A whole page, or the part of one that a script has asked for."""
        index = values.get("index")
        common = {
            "csrf": self.doors.csrf,
            "database": self.database.url,
            "read_only": self.read_only,
            "allow_resolve": self.allow_resolve,
            "path": request.url.path,
            "index": index,
            "analysers": {} if index is None else analysers_of(index.options),
            "link": link,
            "command": self.command,
            "written_key": written_key,
            "who": request.cookies.get(NAME, ""),
        }
        text = self.templates.get_template(template).render(**(common | values))
        return HTMLResponse(text, status)


def link(path: str, index: Index | None = None, **values: Any) -> str:
    """An address of this server; a value that is None is left out."""
    given = {"index": index.name if index is not None else None, **values}
    query = urlencode({name: value for name, value in given.items() if value is not None and value != ""})
    return f"{path}?{query}" if query else path


async def form(request: Request) -> dict[str, str]:
    """The fields of a form, each once."""
    text = (await request.body()).decode("utf-8", "replace")
    return {name: values[-1] for name, values in parse_qs(text, keep_blank_values=True).items()}


def sent_key(text: str | None) -> Any:
    """A primary key as the pages write it, in JSON; InvalidOption for anything else that somebody sends."""
    try:
        found = json.loads(text or "")
    except (ValueError, RecursionError) as error:
        raise InvalidOption("the address or form names no row: go back to the page and load it again") from error
    return found


def browser_id(request: Request) -> str:
    return request.cookies.get(BROWSER) or secrets.token_hex(8)
