"""Rows that may have certain words, by the bit slices of their signatures: Question → keys.

One statement reads the slices, the places that are left and the tail, because a row may move from one to the other.
"""

from __future__ import annotations

from sqlalchemy import Connection, literal_column, select

from dbsim.engines.backend import RAW
from dbsim.engines.source_rows import held, source_rows
from dbsim.lifecycle.words import slices
from dbsim.search.containing.words import Question
from dbsim.search.limits import Condition, Where
from dbsim.search.searcher import SearchEngine
from dbsim.search.statements.condition import fulfils
from dbsim.tables.key_conditions import among, chunks, key_columns
from dbsim.tables.names import quote, raw_sql
from dbsim.tables.slice_tables import SliceTables
from dbsim.tables.source import Key, Texts

AT_ONCE = 2000  # texts that are read in the statement that finds their rows
PLACE = "(dbsim_keys)"  # of the statement for keys in that for texts
EVERYWHERE = "1 = 1"  # what is surely an answer is not read, so that a row that is gone has to be seen by its condition


def sliced(search: SearchEngine, connection: Connection, *, joined: bool) -> bool:
    """Whether the slices are complete; a caller's transaction may see a moment when they were not."""
    known = search.tables.companions
    if joined or not known.get("sliced"):
        known["sliced"] = slices.exist(connection, search.backend, search.tables) and slices.complete(
            connection, search.tables
        )
    return bool(known["sliced"])


def by_slices(
    search: SearchEngine, question: Question, where: Where, connection: Connection
) -> tuple[list[Key], set[Key]]:
    """Keys of rows that may be answers, and those that surely are."""
    if question.wanted:
        keys = _passing(search, question, connection)
        return keys if where is None else _fulfilling(search, where, connection, keys), set()
    columns = key_columns(search.tables.signatures, search.tables)
    query = select(*columns).where(fulfils(search.tables, EVERYWHERE if where is None else where))
    every = [tuple(row) for row in connection.execute(query)]
    # after the rows themselves: one that comes in between and has the word is not among them
    return every, {*every}.difference(_passing(search, question, connection))


def at_once(search: SearchEngine, question: Question, connection: Connection) -> Texts | None:
    """The texts of rows that may have everything wanted, in the statement that finds them; None for very many."""
    known = search.tables.companions
    if "at_once" not in known:
        known["at_once"] = _source_statement(search)
    if known["at_once"] is None:
        return None
    found = connection.exec_driver_sql(known["at_once"].replace(PLACE, _keys(search, question)), execution_options=RAW)
    rows = found.cursor.fetchall()
    return None if len(rows) > AT_ONCE else held(search.backend, search.tables, rows)


def _source_statement(search: SearchEngine) -> str | None:
    """Made once: most of the time of a short question would go into it. None where it would take a scan."""
    columns = [quote(name) for name in search.tables.key_names]
    condition = search.backend.found_by([f"{quote(search.tables.source.name)}.{name}" for name in columns], PLACE)
    if condition is None:
        return None
    query = source_rows(search.backend, search.tables).where(literal_column(condition)).limit(AT_ONCE + 1)
    return raw_sql(query, search.backend.dialect)


def _passing(search: SearchEngine, question: Question, connection: Connection) -> list[Key]:
    """Rows that may have everything wanted; without that, those that may have something unwanted."""
    rows = connection.exec_driver_sql(_keys(search, question), execution_options=RAW).cursor.fetchall()
    return list(dict.fromkeys(map(tuple, rows)))


def _keys(search: SearchEngine, question: Question) -> str:
    """The statement for those rows, some of them perhaps twice."""
    every, tables = bool(question.wanted), SliceTables.of(search.tables)
    terms = question.wanted or question.unwanted
    keys = [column.name for column in tables.keys(tables.tail)]
    same = (f"s.{quote(name)} = t.{key}" for name, key in zip(search.tables.key_names, keys, strict=True))
    # OFFSET keeps PostgreSQL from a join that would read all signatures
    row = f"SELECT 1 FROM {quote(search.tables.words.name)} AS s WHERE {' AND '.join(same)}"
    changed = (
        f"SELECT {', '.join(f't.{key}' for key in keys)} FROM {quote(tables.tail.name)} AS t "
        f"WHERE EXISTS ({row} AND ({question.as_text(terms, every=every)}) LIMIT 1 OFFSET 0)"
    )
    wide = question.slices(terms, wide=True) if tables.wider else None
    placed = search.backend.word_places(tables, question.slices(terms), wide, every=every)
    return f"SELECT * FROM (\n{placed}) AS placed UNION ALL {changed}"


def _fulfilling(search: SearchEngine, where: Condition, connection: Connection, keys: list[Key]) -> list[Key]:
    columns = key_columns(search.tables.signatures, search.tables)
    found: list[Key] = []
    for some in chunks(keys, search.backend.key_batch):
        query = select(*columns).where(among(columns, some), fulfils(search.tables, where))
        found += [tuple(row) for row in connection.execute(query)]
    return found
