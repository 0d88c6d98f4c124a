"""Create, find and drop the tables of stored pairs and groups: GroupTables → the tables and the views.

The view of stored pairs is for people: every pair once, by columns named after the table (article_a, article_b). It
reads stored rows only, so that it opens at once in a browser of databases, where the live view of pairs has to compare.
Like the groups, it is its owner's alone: it knows nothing of row-level security.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sqlalchemy import Connection, column, select, table
from sqlalchemy.schema import CreateTable

from dbsim.engines.backend import Backend
from dbsim.engines.execute import TableHook, run
from dbsim.engines.views import PAIRS, Surface
from dbsim.lifecycle.statements import after_table, drop_groups
from dbsim.resources import filled, sql
from dbsim.tables import group_results, group_state
from dbsim.tables.decision_tables import decisions_name
from dbsim.tables.group_tables import PUBLISHED, GroupTables
from dbsim.tables.names import identifier, literal, quote

STORED_PAIRS = "duplicate_pairs"
PLURALS = (  # the first that fits
    (r"(?i)ies$", "y"),
    (r"(?i)(ss|sh|ch|x|z)es$", r"\1"),
    (r"(?i)(?<=..)(?<![sui])(?<!\bnew)s$", ""),
)
RENEW = "renew"  # in the place of a run's token: the next sync seeks these pairs


def exist(connection: Connection, backend: Backend, groups: GroupTables) -> bool:
    return backend.has_table(connection, groups.results.name)


@dataclass(frozen=True)
class Standing:
    """What is stored of pairs and groups: what waits to be done, or how an earlier dbsim made them, or nothing."""

    work: group_results.Work | None = None
    former: tuple[str, str] | None = None


def standing(connection: Connection, backend: Backend, groups: GroupTables) -> Standing:
    if exist(connection, backend, groups):
        return Standing(group_results.work(connection, groups))
    if not backend.has_table(connection, groups.state.name):
        return Standing()
    if exist(connection, backend, groups):  # they appeared between the two looks: those of today, not former ones
        return Standing(group_results.work(connection, groups))
    return Standing(former=_former(connection, groups))


def _former(connection: Connection, groups: GroupTables) -> tuple[str, str] | None:
    """How pairs and groups of version 0002, which knew one result only, were made: JSON of both, '' without groups."""
    old = table(groups.state.name, column("pairing"), column("grouping"), column("generation"))
    row = connection.execute(select(old)).first()
    return None if row is None or not row.pairing else (row.pairing, row.grouping if row.generation else "")


def create(connection: Connection, backend: Backend, groups: GroupTables, after_create_table: TableHook | None) -> None:
    """Safe to repeat. No worker is in the middle of a change meanwhile, so none is missed from here on."""
    backend.lock_all(connection, groups.tables)
    if exist(connection, backend, groups):
        return
    drop(connection, groups)  # those of version 0002
    for made in groups.all:
        connection.execute(CreateTable(made))
        run(connection, after_table(backend, groups.tables, made, after_create_table))
    for index in groups.indexes():
        connection.execute(index)
    run(connection, backend.table_settings([made.name for made in groups.all]))
    show(connection, backend, groups)


def show(connection: Connection, backend: Backend, groups: GroupTables) -> None:
    """The views, where there are none."""
    run(connection, [*groups.views(), *backend.table_settings([groups.groups.name, groups.saved_groups.name])])
    _show_pairs(connection, backend, groups)


def complete_views(connection: Connection, backend: Backend, groups: GroupTables) -> None:
    """Groups that an earlier dbsim has stored have no view of their pairs, or one that says of copies of persons 1."""
    if exist(connection, backend, groups):
        _show_pairs(connection, backend, groups)


def _show_pairs(connection: Connection, backend: Backend, groups: GroupTables) -> None:
    """Not where the view of pairs itself reads what is stored; an old index has no decisions before the first sync."""
    record = groups.tables.record
    if not record.options.distributed and backend.has_table(connection, decisions_name(record.name)):
        name = stored_pairs_name(groups)
        made = backend.view_made_anew(name, _stored_pairs(connection, backend, groups))
        run(connection, [*made, *backend.table_settings([name])])


def renew(connection: Connection, backend: Backend, groups: GroupTables, after_create_table: TableHook | None) -> None:
    """Empty tables for another generation of the index, in which stands what the next `sync` has to make again."""
    if not exist(connection, backend, groups):
        drop(connection, groups)
        return
    pairings = group_state.all_states(connection, groups)
    results = group_results.complete(connection, groups)
    drop(connection, groups)
    create(connection, backend, groups, after_create_table)
    for old in pairings:
        made = group_state.add(connection, groups, old.pairing)
        group_state.save(connection, groups, made.id, token=RENEW)
        for result in results:
            if result.pairing == old.id:
                values = {"pairing": made.id, "grouping": result.grouping, "saved": result.saved}
                group_results.put(connection, groups, result.name, **values)


def drop(connection: Connection, groups: GroupTables) -> None:
    name = groups.tables.record.name
    if groups.tables.record.options.distributed:  # where the view of pairs reads what is stored of them
        run(connection, [f"DROP VIEW IF EXISTS {quote(identifier('dbsim', name, PAIRS))}"])
    run(connection, drop_groups(name))


# ── the view of stored pairs ──
def stored_pairs_name(groups: GroupTables) -> str:
    return identifier("dbsim", groups.tables.record.name, STORED_PAIRS)


def _stored_pairs(connection: Connection, backend: Backend, groups: GroupTables) -> str:
    tables, surface = groups.tables, Surface(groups.tables)
    decisions = quote(decisions_name(tables.record.name))
    decided = surface.decided(decisions)
    published = f"(SELECT r.pairing FROM {quote(groups.results.name)} AS r WHERE r.name = {literal(PUBLISHED)})"
    names = {
        "keys": _keys(surface),
        "signatures": quote(tables.signatures.name),
        "fingerprint": quote(tables.names.fingerprint),
        "edges": quote(groups.edges.name),
        "published": published,
        "decisions": decisions,
        "undecided": decided["undecided"],
        "same_in_order": decided["same_in_order"],
        "a_before_b": f"({surface.key_of('a')}) < ({surface.key_of('b')})",
        "copy_score": "1.0",
        "copy_exact": "1 = 1",
        "enough": "",
    }
    if score := backend.score_of_copies(connection, tables):
        least = backend.json_number("g.pairing", "threshold")
        sought = f"(SELECT {least} FROM {quote(groups.state.name)} AS g WHERE g.id = {published})"
        names |= {"copy_score": score, "copy_exact": "1 = 0", "enough": f" AND {score} >= {sought}"}
    return filled(sql("common", "stored_pairs"), names)


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
