"""Near-duplicate search inside the SQLite or PostgreSQL database you already have."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dbsim.database import Database, open
    from dbsim.dedupe.acting.golden import Golden
    from dbsim.dedupe.acting.resolve import Resolution
    from dbsim.dedupe.kernels.buckets import Limits
    from dbsim.dedupe.linked.results import Link, Links
    from dbsim.dedupe.people.decisions import Decision
    from dbsim.dedupe.results import Duplicates, Group, Pair, Pairs
    from dbsim.engines.registry import register
    from dbsim.errors import DbsimError, InvalidOption
    from dbsim.evaluate.clusters import Clusters
    from dbsim.evaluate.figures import EvaluateReport
    from dbsim.evaluate.sampling.graph import WalkSample
    from dbsim.evaluate.sampling.overlap import Overlap
    from dbsim.evaluate.tune import TuneReport
    from dbsim.index import Index
    from dbsim.lifecycle.status import Status
    from dbsim.options import Field, IndexOptions
    from dbsim.search.containing.contains import Contained
    from dbsim.search.containing.words import Words
    from dbsim.search.door import Admission, Match
    from dbsim.search.explain import Explanation
    from dbsim.search.flagged import Flagged
    from dbsim.search.limits import Search
    from dbsim.search.results import Hit, Results
    from dbsim.sync.compare import Differences
    from dbsim.sync.worker import SyncReport
    from dbsim.text.kinds.guess import Guess

__version__ = "0.1.0"
__all__ = [
    "Admission",
    "Clusters",
    "Contained",
    "Database",
    "DbsimError",
    "Decision",
    "Differences",
    "Duplicates",
    "EvaluateReport",
    "Explanation",
    "Field",
    "Flagged",
    "Golden",
    "Group",
    "Guess",
    "Hit",
    "Index",
    "IndexOptions",
    "InvalidOption",
    "Limits",
    "Link",
    "Links",
    "Match",
    "Overlap",
    "Pair",
    "Pairs",
    "Resolution",
    "Results",
    "Search",
    "Status",
    "SyncReport",
    "TuneReport",
    "WalkSample",
    "Words",
    "open",
    "register",
]

# loaded when first used: an application that only imports dbsim pays nothing at its start
_HOMES = {
    "Admission": "search.door",
    "Clusters": "evaluate.clusters",
    "Contained": "search.containing.contains",
    "Database": "database",
    "DbsimError": "errors",
    "Decision": "dedupe.people.decisions",
    "Differences": "sync.compare",
    "Duplicates": "dedupe.results",
    "EvaluateReport": "evaluate.figures",
    "Explanation": "search.explain",
    "Field": "options",
    "Flagged": "search.flagged",
    "Golden": "dedupe.acting.golden",
    "Group": "dedupe.results",
    "Guess": "text.kinds.guess",
    "Hit": "search.results",
    "Index": "index",
    "IndexOptions": "options",
    "InvalidOption": "errors",
    "Limits": "dedupe.kernels.buckets",
    "Link": "dedupe.linked.results",
    "Links": "dedupe.linked.results",
    "Match": "search.door",
    "Overlap": "evaluate.sampling.overlap",
    "Pair": "dedupe.results",
    "Pairs": "dedupe.results",
    "Resolution": "dedupe.acting.resolve",
    "Results": "search.results",
    "Search": "search.limits",
    "Status": "lifecycle.status",
    "SyncReport": "sync.worker",
    "TuneReport": "evaluate.tune",
    "WalkSample": "evaluate.sampling.graph",
    "Words": "search.containing.words",
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
