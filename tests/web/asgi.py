"""Requests to an ASGI application in this process: Client(app).get(path) → Answer."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, unquote, urlencode


@dataclass
class Answer:
    status_code: int
    headers: dict[str, str]
    text: str


@dataclass
class Client:
    """`headers` go with every request; redirects are not followed, cookies not kept."""

    app: Any
    headers: dict[str, str] = field(default_factory=dict)

    def get(
        self, path: str, params: Mapping[str, str] | None = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        return self.ask("GET", f"{path}?{urlencode(params)}" if params else path, b"", headers)

    def put(self, path: str, headers: Mapping[str, str] | None = None) -> Answer:
        return self.ask("PUT", path, b"", headers)

    def post(self, path: str, data: Mapping[str, str], headers: Mapping[str, str] | None = None) -> Answer:
        body = urlencode(data).encode()
        return self.ask("POST", path, body, {**(headers or {}), "content-length": str(len(body))})

    def ask(self, method: str, target: str, body: bytes, headers: Mapping[str, str] | None) -> Answer:
        path, _, query = target.partition("?")
        sent = {**self.headers, **(headers or {})}
        scope = {
            "type": "http",
            "method": method,
            "path": unquote(path),
            "query_string": quote(query, safe="%=&+;:,./?~!*'()-_").encode(),
            "headers": [(name.lower().encode(), value.encode("latin-1")) for name, value in sent.items()],
            "scheme": "http",
            "server": ("127.0.0.1", 8765),
        }
        found: dict[str, Any] = {"body": b""}
        asked = [{"type": "http.request", "body": body}]

        async def receive() -> dict[str, Any]:
            return asked.pop() if asked else await asyncio.sleep(3600, {"type": "http.disconnect"})

        async def send(message: dict[str, Any]) -> None:
            if message["type"] == "http.response.start":
                found["start"] = message
            else:
                found["body"] += message.get("body", b"")

        asyncio.run(self.app(scope, receive, send))
        kept = {name.decode(): value.decode() for name, value in found["start"]["headers"]}
        return Answer(found["start"]["status"], kept, found["body"].decode())
