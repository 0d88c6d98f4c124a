"""What people decided about a row, in what is found for it: Results → without different rows, with the same ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from sqlalchemy import Connection, select

from dbsim.hashing.records.waterfall import waterfalls
from dbsim.search.asking import Asker
from dbsim.search.limits import Bounds, Where
from dbsim.search.results import Hit, Results
from dbsim.search.statements.condition import fulfils
from dbsim.search.statements.parameters import self_parameters
from dbsim.tables.decision_tables import DIFFERENT, SAME
from dbsim.tables.key_conditions import among, key_columns
from dbsim.tables.source import Key, public_key

Verdicts = dict[Key, str]


def verdicts_of(search: Asker, connection: Connection, key: Key) -> Verdicts:
    """The rows that a decision in force names together with this one."""
    if not search.knows_decisions(connection):
        return {}
    return {tuple(other): verdict for *other, verdict in search.verdicts(connection, self_parameters(key))}


def respect(
    search: Asker,
    connection: Connection,
    verdicts: Verdicts,
    bounds: Bounds,
    where: Where,
    question: Callable[[], Sequence[str] | None],
    ask: Callable[[Bounds], Results],
) -> Results:
    """`ask` again for as many more as are left out; `question` is the text of every field, if it is needed."""
    if not verdicts:
        return ask(bounds)
    names = search.tables.key_names
    different = [public_key(names, key) for key, verdict in verdicts.items() if verdict == DIFFERENT]
    same = {repr(public_key(names, key)): key for key, verdict in verdicts.items() if verdict == SAME}
    found = ask(replace(bounds, limit=bounds.limit + len(different)))
    hits = [replace(hit, decided=SAME) if repr(hit.key) in same else hit for hit in found if hit.key not in different]
    for hit in hits:
        same.pop(repr(hit.key), None)
    texts = question() if same else None
    if texts:
        hits += _below(search, connection, texts, list(same.values()), where)
    found[:] = sorted(hits, key=lambda hit: -hit.score)[: bounds.limit]
    if found or found.closest is None or found.closest.key in different:
        found.closest = None
    return found


def _below(
    search: Asker, connection: Connection, question: Sequence[str], keys: Sequence[Key], where: Where
) -> list[Hit]:
    """Rows that are the same by decision, whatever their score."""
    stored = search.tables.signatures
    columns = key_columns(stored, search.tables)
    query = select(*columns).where(among(columns, keys))
    if where is not None:
        query = query.where(fulfils(search.tables, where))
    wanted = [tuple(row) for row in connection.execute(query)]
    found: list[Hit] = []
    for batch in search.source_texts(connection, wanted) if wanted else ():
        scores = _scores(search, question, batch.columns)
        found += [
            Hit(public_key(search.tables.key_names, key), score, exact=True, decided=SAME)
            for key, score in zip(batch.keys, scores, strict=True)
        ]
    return found


def _scores(search: Asker, question: Sequence[str], columns: Sequence[Sequence[str]]) -> list[float]:
    """As a search gives them: of persons the probability, else the family's measure of the texts."""
    signer, one = search.signer, [[text] for text in question]
    if search.learned is not None:
        names = [field.name for field in search.options.fields]
        return [made.probability for made in waterfalls(search.learned, names, signer.sign(one), signer.sign(columns))]
    rows = np.arange(len(columns[0]))
    values = signer.paired(signer.comparable(one), signer.comparable(columns), np.zeros_like(rows), rows)
    return [float(value) for value in values]
