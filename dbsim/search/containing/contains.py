"""Rows with certain words: Question → Contained, by slices of the word signatures and a look at what passes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sqlalchemy import Boolean, Connection, literal, select

from dbsim.search.containing.slices import EVERYWHERE, at_once, by_slices, sliced
from dbsim.search.containing.words import Question
from dbsim.search.limits import Bounds, Where
from dbsim.search.query import Query
from dbsim.search.results import Results
from dbsim.search.searcher import SearchEngine
from dbsim.search.statements.condition import fulfils
from dbsim.tables.key_conditions import chunks, key_columns
from dbsim.tables.source import Key, Texts, public_keys


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
        turned = sliced(search, own, joined=connection is not None)
        if connection is None:
            search.backend.make_room(own)
        if turned and question.wanted and where is None and limit is None:
            batch = at_once(search, question, own)
            if batch is not None:
                right = _fitting(question, batch, found)
                found += public_keys(names, ordered(list(right)))
                return found
        keys, sure = (by_slices if turned else by_scan)(search, question, where, own)
        for some in chunks(ordered(keys), search.backend.key_batch):
            right = sure | _answers(search, question, own, [key for key in some if key not in sure], found)
            found += public_keys(names, [key for key in some if key in right])
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


def by_scan(
    search: SearchEngine, question: Question, where: Where, connection: Connection
) -> tuple[list[Key], set[Key]]:
    """Keys of rows that may be answers, and those that surely are: every row's signature is looked at."""
    condition, doubtful = question.condition(), question.doubtful()
    flag = literal(False, Boolean) if doubtful is None else doubtful
    query = select(*key_columns(search.tables.signatures, search.tables), flag.label("dbsim_doubtful"))
    if condition is not None:
        query = query.where(condition)
    elif where is None:
        where = EVERYWHERE
    if where is not None:
        query = query.where(fulfils(search.tables, where))
    rows = [(tuple(row)[:-1], row[-1]) for row in connection.execute(query)]
    sure = {key for key, doubtful in rows if not question.wanted and not doubtful}
    return [key for key, _ in rows], sure


def _answers(
    search: SearchEngine, question: Question, connection: Connection, keys: list[Key], found: Contained
) -> set[Key]:
    right: set[Key] = set()
    if not keys:
        return right
    for batch in search.source_texts(connection, keys):
        right |= _fitting(question, batch, found)
    return right


def _fitting(question: Question, batch: Texts, found: Contained) -> set[Key]:
    """Keys of the answers among rows that were read, and are counted."""
    answers = question.answers(batch.columns)
    found.looked += len(answers)
    found.false_drops += answers.count(False)
    return {key for key, fits in zip(batch.keys, answers, strict=True) if fits}


def ordered(keys: list[Key]) -> list[Key]:
    """In key order where Python can tell it, else as text."""
    try:
        return sorted(keys)
    except TypeError:
        return sorted(keys, key=repr)
