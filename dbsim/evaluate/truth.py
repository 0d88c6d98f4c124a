"""Known duplicates as the measure: a column of labels, answers and stored groups → Truth."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from sqlalchemy import Column, Connection, MetaData, Table, select

from dbsim.engines.backend import Backend
from dbsim.errors import UnknownName
from dbsim.evaluate import figures
from dbsim.evaluate.agreement import Agreement, bcubed, pairwise
from dbsim.lifecycle import groups as stored_groups
from dbsim.search.searcher import SearchEngine
from dbsim.tables.group_tables import GroupTables
from dbsim.tables.index_tables import IndexTables
from dbsim.tables.source import Key

Labels = dict[Key, Any]  # rows with equal labels are duplicates; rows without one say nothing


def labels_of(connection: Connection, backend: Backend, tables: IndexTables, column: str) -> Labels:
    """The labels of all rows that have one."""
    options = tables.record.options
    source = backend.describe(connection, options.table, options.schema)
    known = source.columns if source is not None else {}
    if column not in known:
        raise UnknownName(f"column of table {options.table!r} named", column, known)
    names = list(dict.fromkeys([*tables.key_names, column]))
    table = Table(options.table, MetaData(), *(Column(name) for name in names), schema=options.schema)
    query = select(*(table.c[name] for name in tables.key_names), table.c[column]).where(table.c[column].is_not(None))
    return {tuple(row)[:-1]: row[-1] for row in connection.execute(query)}


def against(
    search: SearchEngine, column: str, labels: Labels, keys: Sequence[Key], answers: Sequence[Sequence[Key]]
) -> figures.Truth:
    """What each query returned, and the stored groups of all labelled rows."""
    sizes = Counter(labels.values())
    wanted = np.array([sizes[labels[key]] - 1 if key in labels else 0 for key in keys], np.int64)
    given = [
        (number, labels[hit] == labels[key])
        for number, (key, hits) in enumerate(zip(keys, answers, strict=True))
        for hit in hits
        if hit != key and hit in labels and key in labels
    ]
    found = figures.answers(len(keys), [number for number, _ in given], [right for _, right in given], wanted)
    pairs, rows = search.read(lambda c: _groups(c, search, labels)) or (None, None)
    return figures.Truth(column, len(labels), found, pairs, rows)


def _groups(connection: Connection, search: SearchEngine, labels: Labels) -> tuple[Agreement, Agreement] | None:
    """Of the stored groups with the labels; a row that is in no group stands alone."""
    groups = GroupTables(search.tables)
    if not stored_groups.exist(connection, search.backend, groups):
        return None
    view = groups.groups
    query = select(*(view.c[name] for name in search.tables.key_names), view.c[groups.shown[0]])
    group = {tuple(row)[:-1]: row[-1] for row in connection.execute(query)}
    if not group:
        return None
    numbers = {label: number for number, label in enumerate(dict.fromkeys(labels.values()))}
    dense: dict[Any, int] = {}  # a row without a group is one by itself
    found = np.array([dense.setdefault(group.get(key, key), len(dense)) for key in labels], np.int64)
    true = np.array([numbers[label] for label in labels.values()], np.int64)
    return pairwise(found, true), bcubed(found, true)
