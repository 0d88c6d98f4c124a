"""Who may ask what: an ASGI layer that lets a request through, or answers it with the reason it is refused.

Every request needs the right Host (a page of another site cannot rebind a name to this address) and the token, which
the first address carries and a cookie from then on; one that changes something also needs the page's own Origin and a
second token that only the pages of this server know.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass, field
from urllib.parse import urlencode

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_BYTES = 1_000_000  # of what a form may send
HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",  # "no-referrer" would hide the Origin of forms
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


@dataclass(frozen=True)
class Doors:
    """What is let in: the token, and the names this server may be called by, with the port.

    `anywhere`: it listens on all addresses of the machine and may be called by any of them. No name can be rebound to
    an address that stands in the Host header itself.
    """

    token: str
    hosts: frozenset[str]
    cookie: str = field(default="dbsim")
    anywhere: str = ""  # the port

    @staticmethod
    def of(token: str, names: Iterable[str], port: int, *, anywhere: bool = False) -> Doors:
        hosts = frozenset(f"{name.lower()}:{port}" for name in names)
        return Doors(token, hosts, f"dbsim_{port}", str(port) if anywhere else "")

    def called(self, host: str) -> bool:
        if host.lower() in self.hosts:
            return True
        address, _, port = host.rpartition(":")
        try:
            ipaddress.ip_address(address.removeprefix("[").removesuffix("]"))
        except ValueError:
            return False
        return bool(self.anywhere) and port == self.anywhere

    @property
    def csrf(self) -> str:
        return hmac.new(self.token.encode(), b"csrf", hashlib.sha256).hexdigest()

    def knows(self, token: str | None) -> bool:
        return token is not None and hmac.compare_digest(token.encode(), self.token.encode())


class Guard:
    """Wraps the application."""

    def __init__(self, app: ASGIApp, doors: Doors) -> None:
        self.app = app
        self.doors = doors

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        request = Request(scope)
        answer = self.refusal(request) or self.entrance(request)
        await (answer or self.app)(scope, _limited(receive), _with_headers(send))

    def refusal(self, request: Request) -> Response | None:
        if not self.doors.called(request.headers.get("host", "")):
            return _refused(421, "this server does not answer under that name: open the address it has printed")
        if request.method not in ("GET", "HEAD", "POST"):
            return _refused(405, "only GET and POST are understood")
        if self.doors.knows(request.query_params.get("token")) and request.method == "GET":
            return None  # the entrance
        if not self.doors.knows(request.cookies.get(self.doors.cookie)):
            return _refused(403, "a token is needed: open the address that `dbsim serve` has printed")
        if request.method == "POST":
            if request.headers.get("origin", "").lower() != f"http://{request.headers['host'].lower()}":
                return _refused(403, "the request comes from another page: use the forms of this one")
            length = request.headers.get("content-length", "")
            if not (length.isascii() and length.isdigit()) or int(length[:20]) > MOST_BYTES:
                return _refused(413, f"a form may send {MOST_BYTES} bytes at most")
        return None

    def entrance(self, request: Request) -> Response | None:
        """The address with the token leads to the same one without it; a cookie remembers."""
        if "token" not in request.query_params:
            return None
        rest = [(name, value) for name, value in request.query_params.multi_items() if name != "token"]
        path = "/" + request.url.path.lstrip("/")  # two slashes would name another host
        answer = RedirectResponse(path + (f"?{urlencode(rest)}" if rest else ""), 303)
        answer.set_cookie(self.doors.cookie, self.doors.token, httponly=True, samesite="strict")
        return answer


def _refused(status: int, why: str) -> Response:
    return PlainTextResponse(why + "\n", status)


def _limited(receive: Receive) -> Receive:
    """A body that is longer than it said ends there."""
    left = MOST_BYTES

    async def take() -> Message:
        nonlocal left
        message = await receive()
        left -= len(message.get("body", b""))
        return message if left >= 0 else {"type": "http.disconnect"}

    return take


def _with_headers(send: Send) -> Send:
    async def give(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers[name] = value
        await send(message)

    return give
