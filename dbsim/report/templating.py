"""Pages from templates: values → HTML, everything escaped; the static report and `dbsim serve` share them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jinja2

from dbsim.report.marks import looks_like_code, marked

HERE = Path(__file__).parent


def environment(*folders: Path) -> jinja2.Environment:
    """Templates of these folders, then those of the report."""
    found = jinja2.Environment(
        loader=jinja2.FileSystemLoader([*folders, HERE / "templates"]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters = {
        "key": shown_key,
        "number": number,
        "of": counted,
        "score": score,
        "marked": marked,
        "is_code": looks_like_code,
    }
    found.filters.update(filters)
    found.globals["bars"] = bars
    return found


def stylesheet() -> str:
    return (HERE / "static" / "style.css").read_text(encoding="utf-8")


def shown_key(key: Any) -> str:
    """A key as people read it; composite ones part by part."""
    if isinstance(key, dict):
        return " · ".join(str(part) for part in key.values())
    return str(key)


def written_key(key: Any) -> str:
    """A key in an address or a form."""
    return json.dumps(key, ensure_ascii=False, default=str)


def number(value: float) -> str:
    return f"{value:,}"


def counted(value: int, thing: str) -> str:
    """1 row, 2 rows"""
    return f"{value:,} {thing}{'' if value == 1 else 's'}"


def score(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def bars(values: list[tuple[str, int]], width: int = 600, height: int = 130) -> list[dict[str, Any]]:
    """Rectangles of a bar chart in a picture of this size, with what each says."""
    most = max((value for _, value in values), default=0) or 1
    step = width / max(len(values), 1)
    return [
        {
            "x": round(place * step + step * 0.08, 2),
            "width": round(step * 0.84, 2),
            "y": round(height - value / most * (height - 6), 2) if value else height,
            "height": round(value / most * (height - 6), 2),
            "name": name,
            "value": value,
        }
        for place, (name, value) in enumerate(values)
    ]
