"""docs/api.md from the classes themselves, with an example for every method: `python -m tools.make_api`."""

from __future__ import annotations

import inspect
import re
import textwrap
from pathlib import Path
from typing import Any

import dbsim
from tools.api_examples import EXAMPLES, FIRST

PAGE = Path(__file__).parents[1] / "docs" / "api.md"
CLASSES = (dbsim.Database, dbsim.Index)
WIDTH = 118


def page() -> str:
    """The whole page."""
    parts = [f"# Reference\n\n{INTRODUCTION}\n", f"```python\n{FIRST}```\n"]
    parts += [section(one) for one in CLASSES]
    parts.append("## What is returned\n\n" + "\n".join(map(returned, RETURNED)) + "\n")
    return "\n".join(parts)


INTRODUCTION = (
    "Made by `python -m tools.make_api` from the docstrings; the examples are run by the tests, one after another, on "
    "SQLite and on PostgreSQL. `None` always means “not given”."
)
RETURNED = [
    name for name in dbsim.__all__ if isinstance(getattr(dbsim, name), type) and name not in ("Database", "Index")
]


def public_methods(one: type) -> dict[str, Any]:
    """In the order of their definition, parts of the class after the class itself."""
    found: dict[str, Any] = {}
    for origin in one.__mro__:
        if origin.__module__.startswith("dbsim"):
            for name, value in vars(origin).items():
                if not name.startswith("_") and (inspect.isfunction(value) or isinstance(value, property)):
                    found.setdefault(name, getattr(one, name))
    return found


def section(one: type) -> str:
    lines = [f"## {one.__name__}\n", f"{inspect.getdoc(one)}\n"]
    for name, value in public_methods(one).items():
        lines.append(entry(one, name, value))
    return "\n".join(lines)


def entry(one: type, name: str, value: Any) -> str:
    function = value.fget if isinstance(value, property) else value
    shown = name if isinstance(value, property) else f"{name}{signature(function)}"
    text = f"### `{shown}`\n\n{inspect.getdoc(function) or ''}\n"
    example = EXAMPLES.get(f"{one.__name__}.{name}")
    return text + (f"\n```python\n{textwrap.dedent(example).strip()}\n```\n" if example else "")


def signature(function: Any) -> str:
    """Without `self`, and with the short names of types."""
    found = inspect.signature(function)
    named = (parameter for name, parameter in found.parameters.items() if name != "self")
    parameters = [parameter.replace(annotation=Bare(parameter.annotation)) for parameter in named]
    text = str(found.replace(parameters=parameters, return_annotation=inspect.Signature.empty))
    return re.sub(r"<.*? at 0x[0-9a-f]+>", "…", text)


class Bare(str):
    """An annotation, shown without the quotes of a text."""

    def __repr__(self) -> str:
        return str(self)


def returned(name: str) -> str:
    one = getattr(dbsim, name)
    return f"- **`{name}`**: {(inspect.getdoc(one) or '').splitlines()[0]}"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
