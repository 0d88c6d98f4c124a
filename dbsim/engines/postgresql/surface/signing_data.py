"""Data that signing in SQL reads, computed here once and never in SQL: the Unicode table, orders, primes → tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any

from sqlalchemy import Connection

from dbsim.engines.execute import ask
from dbsim.hashing.families.bitsampling import BitSampling, sample_positions
from dbsim.hashing.families.fuzzy import Fuzzy
from dbsim.hashing.families.minhash import donor_order, field_order
from dbsim.hashing.families.rabin_minhash import RabinMinHash, primes
from dbsim.hashing.fingerprint import random_primes
from dbsim.hashing.records.learning import Learned
from dbsim.options import IndexOptions
from dbsim.resources import filled as filled_in
from dbsim.resources import sql
from dbsim.tables.catalogue import IndexRecord
from dbsim.tables.names import dollar_quoted, literal
from dbsim.text.normalisers.unicode_table import FILES, UNICODE_VERSION, Replaced, replaced_ranges

Constant = tuple[list[int], list[float]]
UNICODE_MARK = f"unicode {UNICODE_VERSION} {' '.join(FILES)}"


def fill(connection: Connection, record: IndexRecord, learned: Learned | None = None) -> None:
    """What this index needs and is not there yet (PostgreSQL)."""
    _fill_unicode(connection)
    _set(connection, record.name, "primes", list(random_primes(record.secret)))
    for name, (numbers, reals) in _of_options(record.options).items():
        _set(connection, record.name, name, numbers, reals)
    for number, table in enumerate(learned.frequencies if learned is not None else ()):
        _set(connection, record.name, f"rare{number}", table.values.tolist(), table.added.astype(float).tolist())
    if record.options.family == "minhash@1":
        _fill_donors(connection, record.options.plan.positions)


def statements(record: IndexRecord, home: str) -> list[str]:
    """The same without a connection, for a database in UTF-8; the primes come from the secret that it has drawn."""
    name, positions = literal(record.name), record.options.plan.positions
    found = [f"DO {dollar_quoted(filled_in(sql('postgresql', 'primes'), {'home': home, 'name': name}))}"]
    for constant, (numbers, reals) in _of_options(record.options).items():
        found.append(_insert(home, name, constant, numbers, reals))
    marked = f"FROM {home}.dbsim_constant WHERE index_name = '' AND name = {literal(UNICODE_MARK)}"
    found.append(_insert_unless(f"{home}.dbsim_unicode", [_values(row) for row in _unicode_rows(utf8=True)], marked))
    found.append(_insert(home, "''", UNICODE_MARK, [1], []))
    if record.options.family == "minhash@1" and positions > 1:
        rows = [f"({positions}, {part}, ARRAY{order})" for part, order in _donors(positions)]
        found.append(
            _insert_unless(f"{home}.dbsim_donor", rows, f"FROM {home}.dbsim_donor WHERE positions = {positions}")
        )
    return found


def _insert(home: str, index: str, name: str, numbers: Sequence[int], reals: Sequence[float]) -> str:
    arrays = f"ARRAY{list(numbers)}::bigint[], ARRAY{list(reals)}::float8[]"
    return (
        f"INSERT INTO {home}.dbsim_constant (index_name, name, numbers, reals) "
        f"VALUES ({index}, {literal(name)}, {arrays}) "
        "ON CONFLICT (index_name, name) DO UPDATE SET numbers = excluded.numbers, reals = excluded.reals"
    )


def _insert_unless(table: str, rows: Sequence[str], there: str) -> str:
    listed = ",\n".join(rows)
    return f"INSERT INTO {table} SELECT * FROM (VALUES\n{listed}\n) AS added WHERE NOT EXISTS (SELECT {there})"


def _values(row: tuple[Any, ...]) -> str:
    profile, first, last, prefix, shift, suffix = row
    shown = "NULL::integer" if shift is None else str(shift)
    return f"({literal(profile)}, {first}, {last}, {literal(prefix)}, {shown}, {literal(suffix)})"


def _of_options(options: IndexOptions) -> dict[str, Constant]:
    found = _of_family(options)
    if len(options.fields) > 1:
        order = field_order(tuple(field.weight for field in options.fields), options.plan)
        found["choices"] = (order.ravel().tolist(), [])
    return found


def _of_family(options: IndexOptions) -> dict[str, Constant]:
    """Numbers that only one family's function reads."""
    positions, family = options.plan.positions, options.hashing
    if isinstance(family, RabinMinHash):
        return {"sketch": (list(primes(positions)), [])}
    if isinstance(family, BitSampling):
        places = [place for field in options.fields for place in sample_positions(positions, field.bits).tolist()]
        return {"sample": (places, [])}
    if isinstance(family, Fuzzy) and family.portable:
        return _of_fuzzy(family) | {"weights": ([], [field.weight for field in options.fields])}
    return {}


def _of_fuzzy(family: Fuzzy) -> dict[str, Constant]:
    model = family.division()
    settings = [family.prefix, family.intervals, int(family.deviation == "absolute"), family.digits]
    return {
        "settings": (settings, []),
        "classes": (model["classes"].tolist(), model["masses"].tolist()),
        "borders": ([], [border for borders in family.borders for border in borders.tolist()]),
    }


def forget(connection: Connection, name: str) -> None:
    ask(connection, "DELETE FROM dbsim_constant WHERE index_name = :name", name=name)


def filled(connection: Connection, name: str) -> bool:
    statement = "SELECT count(*) FROM dbsim_constant WHERE (index_name, name) IN ((:name, 'primes'), ('', :mark))"
    return bool(ask(connection, statement, name=name, mark=UNICODE_MARK).scalar_one() == 2)


def _set(connection: Connection, index: str, name: str, numbers: list[int], reals: Sequence[float] = ()) -> None:
    ask(
        connection,
        "INSERT INTO dbsim_constant VALUES (:index, :name, CAST(:numbers AS bigint[]), CAST(:reals AS float8[])) "
        "ON CONFLICT (index_name, name) DO UPDATE SET numbers = excluded.numbers, reals = excluded.reals",
        index=index,
        name=name,
        numbers=numbers,
        reals=list(reals),
    )


def _fill_unicode(connection: Connection) -> None:
    marked = ask(
        connection, "SELECT 1 FROM dbsim_constant WHERE index_name = '' AND name = :mark", mark=UNICODE_MARK
    ).first()
    if marked is not None:
        return
    utf8 = connection.exec_driver_sql("SELECT current_setting('server_encoding')").scalar_one() == "UTF8"
    types = ("text", "integer", "integer", "text", "integer", "text")
    columns = {f"c{n}": column for n, column in enumerate(_unicode_columns(utf8))}
    arrays = ", ".join(f"CAST(CAST(:{name} AS text) AS {type_}[])" for name, type_ in zip(columns, types, strict=True))
    connection.exec_driver_sql("DELETE FROM dbsim_unicode")
    ask(connection, f"INSERT INTO dbsim_unicode SELECT * FROM unnest({arrays})", **columns)
    connection.exec_driver_sql("ANALYZE dbsim_unicode")
    _set(connection, "", UNICODE_MARK, [1])


@cache
def _unicode_columns(utf8: bool) -> list[str]:
    """As PostgreSQL writes arrays: the same in every database, so it is written once."""
    return [_array(column) for column in zip(*_unicode_rows(utf8), strict=True)]


def _array(values: Iterable[object]) -> str:
    """Quoted, whatever the values are, except NULL."""
    escaped = (None if value is None else str(value).replace("\\", "\\\\").replace('"', '\\"') for value in values)
    return "{" + ",".join("NULL" if value is None else f'"{value}"' for value in escaped) + "}"


def _unicode_rows(utf8: bool) -> Iterator[tuple[Any, ...]]:
    for found in replaced_ranges():
        prefix = found.prefix if utf8 else _escaped(found)
        yield found.profile, found.first, found.last, prefix, found.shift, found.suffix


def _escaped(found: Replaced) -> str:
    """UTF-8 as the server's encode(…, 'escape') writes it, for encodings that lack the character."""
    return "".join(chr(byte) if byte < 128 else f"\\{byte:03o}" for byte in found.prefix.encode())


def _fill_donors(connection: Connection, positions: int) -> None:
    there = ask(connection, "SELECT 1 FROM dbsim_donor WHERE positions = :positions LIMIT 1", positions=positions)
    if there.first() is None and positions > 1:
        ask(
            connection,
            "INSERT INTO dbsim_donor SELECT :positions, part, CAST(donors AS integer[]) "
            "FROM unnest(CAST(:donors AS text[])) WITH ORDINALITY AS one (donors, part)",
            positions=positions,
            donors=[_array(order) for _, order in _donors(positions)],
        )


def _donors(positions: int) -> list[tuple[int, list[int]]]:
    return list(enumerate((donor_order(positions) + 1).tolist(), 1))
