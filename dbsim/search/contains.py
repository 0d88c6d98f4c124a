"""Rows with certain words: Question → Contained, by a scan of the word signatures and a look at what passes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sqlalchemy import Boolean, Connection, literal, select

from dbsim.search.limits import Bounds, Where
from dbsim.search.query import Query
from dbsim.search.results import Results
from dbsim.search.searcher import SearchEngine
from dbsim.search.words import Question
from dbsim.tables.key_conditions import chunks, key_columns
from dbsim.tables.source import Key, public_key


class Contained(list[Any]):
    """Keys of the rows, in key order; `looked` texts were read, of which `false_drops` held no answer."""

    looked: int = 0
    false_drops: int = 0


def contains(
    search: SearchEngine, question: Question, where: Where, limit: int | None, connection: Connection | None
) -> Contained:
    names = search.tables.key_names
    found = Contained()
    with search.context.searching(connection) as own:
        rows = [(tuple(row)[:-1], row[-1]) for row in own.execute(_statement(search, question, where))]
        sure = {key for key, doubtful in rows if not question.wanted and not doubtful}
        keys = ordered([key for key, _ in rows])
        for some in chunks(keys, search.backend.key_batch):
            right = sure | _answers(search, question, own, [key for key in some if key not in sure], found)
            found += [public_key(names, key) for key in some if key in right]
            if limit is not None and len(found) >= limit:
                del found[limit:]
                break
    return found


def search_containing(
    search: SearchEngine,
    query: Query | None,
    bounds: Bounds,
    where: Where,
    question: Question,
    connection: Connection | None,
) -> Results:
    """A search whose statement also asks for the marks; hits without the words themselves are left out."""
    names = search.tables.key_names
    with search.context.searching(connection) as own:
        every = replace(bounds, limit=bounds.max_candidates)  # some of them may be false drops
        found = search.search(query, every, where, own, question.condition())
        keys = [(hit.key,) if len(names) == 1 else tuple(hit.key[name] for name in names) for hit in found]
        right: set[Key] = set()
        for some in chunks(keys, search.backend.key_batch):
            right |= _answers(search, question, own, some, Contained())
    found[:] = [hit for hit, key in zip(found, keys, strict=True) if key in right][: bounds.limit]
    return found


def _statement(search: SearchEngine, question: Question, where: Where) -> Any:
    """Key and whether something unwanted may be there; no ORDER BY, which would lead past the narrow B-tree."""
    condition, doubtful = question.condition(), question.doubtful()
    flag = literal(False, Boolean) if doubtful is None else doubtful
    query = select(*key_columns(search.tables.signatures, search.tables), flag.label("dbsim_doubtful"))
    if condition is not None:
        query = query.where(condition)
    elif where is None:
        where = "1 = 1"  # what is surely an answer is not read, so that a row that is gone has to be seen here
    return query if where is None else query.where(search.statements.fulfils(where))


def _answers(
    search: SearchEngine, question: Question, connection: Connection, keys: list[Key], found: Contained
) -> set[Key]:
    right: set[Key] = set()
    if not keys:
        return right
    for batch in search.source_texts(connection, keys):
        answers = question.answers(batch.columns)
        found.looked += len(answers)
        found.false_drops += answers.count(False)
        right.update(key for key, fits in zip(batch.keys, answers, strict=True) if fits)
    return right


def ordered(keys: list[Key]) -> list[Key]:
    """In key order where Python can tell it, else as text."""
    try:
        return sorted(keys)
    except TypeError:
        return sorted(keys, key=repr)
