"""Which names an index can have: those of its tables must not be taken for dbsim's own or another index's."""

from __future__ import annotations

import re

from dbsim.errors import InvalidOption
from dbsim.tables.catalogue.tables import metadata

GROUP_TABLES = ("edges", "contents", "changes", "grouping", "results", "apart", "respected", "claims")
GROUP_VIEWS = ("groups", "saved_groups", "duplicate_pairs")
SUFFIXES = (*GROUP_TABLES, *GROUP_VIEWS)
PARTS = (
    *("queue", "parts", "flagged", "changed_up_to", "linked", "word_(slices|places|tail)", "decisions", "decided"),
    *("pairs", "buckets", "signatures", "fingerprint", "pkey", r"k\d+", r"g\d+"),
)
BTREES = ("contents_(group|group_rows|lowest|diameter)", "edges_(b|score)", "decisions_b", "word_places_key")
DERIVED = re.compile(rf"_({'|'.join((*PARTS, *SUFFIXES, *BTREES))})$")  # dbsim_a_k0 belongs to index a
LONGEST_NAME = 500  # characters: PostgreSQL's B-tree of names takes 2,700 bytes
RESERVED = {name.removeprefix("dbsim_") for name in metadata.tables} | {"version", "status"}


def check_name(name: str) -> None:
    """Refuse names whose tables would be taken for dbsim's own or another index's."""
    if not name or name.lower() in RESERVED or DERIVED.search(name.lower()):
        raise InvalidOption(f"an index cannot be called {name!r}: dbsim needs that name itself, choose another")
    if "\0" in name:
        raise InvalidOption("an index name cannot contain a NUL character")
    if len(name) > LONGEST_NAME:
        raise InvalidOption(
            f"an index name has {LONGEST_NAME} characters at most, not {len(name)}: choose a shorter one"
        )
