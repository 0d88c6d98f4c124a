"""Near-duplicate search inside the SQLite or PostgreSQL database you already have."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dbsim.database import Database, open
    from dbsim.engines.registry import register
    from dbsim.errors import DbsimError
    from dbsim.index import Index
    from dbsim.options import Field, IndexOptions
    from dbsim.search.explain import Explanation
    from dbsim.search.results import Hit, Results

__version__ = "0.1.0"
__all__ = [
    "Database",
    "DbsimError",
    "Explanation",
    "Field",
    "Hit",
    "Index",
    "IndexOptions",
    "Results",
    "open",
    "register",
]

# loaded when first used: an application that only imports dbsim pays nothing at its start
_HOMES = {
    "Database": "database",
    "DbsimError": "errors",
    "Explanation": "search.explain",
    "Field": "options",
    "Hit": "search.results",
    "Index": "index",
    "IndexOptions": "options",
    "Results": "search.results",
    "open": "database",
    "register": "engines.registry",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
