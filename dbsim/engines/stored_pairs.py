"""The view of stored pairs for people: GroupTables → one SQL text for both engines.

It lists every pair once, as `dbsim duplicates` found it, by columns named after the table (article_a, article_b), and
reads nothing but stored rows: it opens at once in a browser of databases, where the live view of pairs has to compare.
Like the groups, it is its owner's alone: it knows nothing of row-level security.
"""

from __future__ import annotations

import re

from dbsim.engines.views import Surface
from dbsim.resources import filled, sql
from dbsim.tables.decision_tables import decisions_name
from dbsim.tables.group_tables import PUBLISHED, GroupTables
from dbsim.tables.names import identifier, literal, quote

STORED_PAIRS = "duplicate_pairs"
PLURALS = (  # the first that fits
    (r"(?i)ies$", "y"),
    (r"(?i)(ss|sh|ch|x|z)es$", r"\1"),
    (r"(?i)(?<=..)(?<![sui])(?<!\bnew)s$", ""),
)


def stored_pairs_name(groups: GroupTables) -> str:
    return identifier("dbsim", groups.tables.record.name, STORED_PAIRS)


def stored_pairs_view(groups: GroupTables) -> str:
    tables, surface = groups.tables, Surface(groups.tables)
    decisions = quote(decisions_name(tables.record.name))
    decided = surface.decided(decisions)
    names = {
        "keys": _keys(surface),
        "signatures": quote(tables.signatures.name),
        "fingerprint": quote(tables.names.fingerprint),
        "edges": quote(groups.edges.name),
        "published": f"(SELECT r.pairing FROM {quote(groups.results.name)} AS r WHERE r.name = {literal(PUBLISHED)})",
        "decisions": decisions,
        "undecided": decided["undecided"],
        "same_in_order": decided["same_in_order"],
        "a_before_b": f"({surface.key_of('a')}) < ({surface.key_of('b')})",
    }
    return f"CREATE VIEW {quote(stored_pairs_name(groups))} AS {filled(sql('common', 'stored_pairs'), names)}"


def singular(name: str) -> str:
    """articles → article, companies → company, addresses → address; a name that is no plural stays."""
    for ending, one in PLURALS:
        if re.search(ending, name):
            return re.sub(ending, one, name)
    return name


def _keys(surface: Surface) -> str:
    """a.id AS article_a, b.id AS article_b; of a composite key article_a_<column>, …"""
    row, columns = singular(surface.options.table), surface.tables.key_names
    parts = []
    for side in "ab":
        for name in columns:
            shown = identifier(row, side) if len(columns) == 1 else identifier(row, side, name)
            parts.append(f"{side}.{quote(name)} AS {quote(shown)}")
    return ", ".join(parts)
