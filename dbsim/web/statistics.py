"""Statistics: how scores, buckets and groups are distributed, drawn and as tables."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from dbsim.dedupe.people.histogram import BARS
from dbsim.dedupe.people.history import Entries, entries
from dbsim.evaluate.last import last
from dbsim.web.state import Server

SHOWN, FEWEST = 48, 12  # entries of the groups over time


def page(server: Server, request: Request) -> Response:
    index = server.chosen(request)
    view = server.view(index)
    values: dict[str, Any] = {"buckets": _powers(server.counted(index, "buckets", view.buckets))}
    values |= {"scores": [], "sizes": [], "stored": view.exist()}
    if values["stored"]:
        scores = server.counted(index, "scores", view.scores)
        bars = [f"{place / BARS:.3f} … {(place + 1) / BARS:.3f}" for place in range(BARS)]
        values["scores"] = None if scores is None else list(zip(bars, scores, strict=True))
        values["sizes"] = _powers(server.counted(index, "sizes", view.sizes))
    record = index.context.tables.record
    values["over_time"] = over_time(index.context.read(lambda c: entries(c, record)))
    grown = [(when, groups) for when, groups, *_ in values["over_time"]]
    values["grown"] = [("", 0)] * (FEWEST - len(grown)) + grown  # few bars are as wide as many
    values["evaluated"] = evaluated = index.context.read(lambda c: last(c, record))
    values["evaluated_when"] = "" if evaluated is None else _when(evaluated.when)
    return server.page(request, "statistics.html", index=index, title="Statistics", names=names, **values)


def over_time(found: Entries) -> list[tuple[str, int, int, int]]:
    """(when, groups, rows in them, rows of the largest), the oldest first."""
    return [(_when(when), groups, rows, largest) for when, groups, rows, largest in found[-SHOWN:].tolist()]


def _when(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M")


def _powers(counted: list[tuple[int, int]] | None) -> list[tuple[str, int]] | None:
    return None if counted is None else powers(counted)


def powers(counted: list[tuple[int, int]]) -> list[tuple[str, int]]:
    """Sizes 1, 2, 3–4, 5–8, … and how many have them."""
    found: dict[int, int] = {}
    for size, number in counted:
        found[max(size - 1, 0).bit_length()] = found.get(max(size - 1, 0).bit_length(), 0) + number
    names = {0: "1", 1: "2"}
    last = max(found, default=-1)
    return [(names.get(p, f"{2 ** (p - 1) + 1}–{2**p}"), found.get(p, 0)) for p in range(last + 1)]


def names(values: list[tuple[str, int]] | None) -> list[str]:
    """For the axis."""
    return [name for name, _ in values or ()]
