"""The function `contains` of an index with word signatures on PostgreSQL: PostgreSQLSurface → statements."""

from __future__ import annotations

from dbsim.engines.postgresql.slices import word_places
from dbsim.engines.postgresql.surface.pieces.rendered import free, source_text
from dbsim.engines.postgresql.surface.shared import normaliser_function
from dbsim.engines.postgresql.surface.views import WORDS, PostgreSQLSurface
from dbsim.options import Field
from dbsim.resources import filled, sql
from dbsim.tables.index_tables import IndexTables
from dbsim.tables.names import dollar_tag, literal, quote
from dbsim.tables.slice_tables import COMPLETE, SliceTables

BITS, LISTED = "\1bits\1", "\1listed\1"  # no identifier contains this character


def why_no_words_in_sql(tables: IndexTables, encoding: str) -> str | None:
    """Why SQL cannot ask this index for words, or None. The family does not matter: words are hashed, not keys."""
    fields = _fields(tables)
    if not fields:
        return "it has no word signatures"
    if tables.record.options.secret:
        return "its secret is kept outside the database"
    if tables.record.options.distributed:
        return "its table is distributed over several nodes"
    for field in fields:
        if normaliser_function(field.normaliser) is None:
            return f"normaliser {field.normaliser!r} has no SQL function"
    return "encoding SQL_ASCII does not tell characters" if encoding == "SQL_ASCII" else None


def word_statements(surface: PostgreSQLSurface) -> list[str]:
    names = surface.names | _names(surface) | _slice_names(surface)
    # texts for format(), which has its own places for what is not known yet
    doubled = {name: _formatted(str(value)) for name, value in names.items()}
    names["find"] = literal(filled(sql("postgresql", "index/containing"), doubled))
    names["find_sliced"] = literal(filled(sql("postgresql", "index/containing_sliced"), doubled))
    names["body"] = dollar_tag(map(str, names.values()))
    return [filled(sql("postgresql", f"index/{part}"), names) for part in WORDS]


def _formatted(text: str) -> str:
    return text.replace("%", "%%").replace(BITS, "%s").replace(LISTED, "%s")


def _slice_names(surface: PostgreSQLSurface) -> dict[str, str]:
    """Of the statement that reads slices; format() puts the bits, the slices and the condition on the tail into it."""
    sliced, home = SliceTables.of(surface.tables), surface.home
    numbered, key = [column.name for column in sliced.keys(sliced.places)], surface.surface.key
    slices, tail = (f"{home}.{quote(table.name)}" for table in (sliced.slices, sliced.tail))
    return {
        "slices_literal": literal(slices),
        "complete": literal(f"SELECT EXISTS (SELECT FROM {slices} WHERE slice = {COMPLETE})"),
        "tail": tail,
        "slice_count": str(sliced.bits),
        "wider": str(sliced.wider),
        "numbered_keys": ", ".join(numbered),
        "word_places": word_places(sliced, BITS, LISTED, home),
        "signatures": surface.names["home_signatures"],
        "signature_is_t": " AND ".join(f"{name} = t.{n}" for name, n in zip(key, numbered, strict=True)),
        "source_is_numbered": " AND ".join(
            f"dbsim_source.{name} = passed.{n}" for name, n in zip(key, numbered, strict=True)
        ),
    }


def _fields(tables: IndexTables) -> list[Field]:
    return [field for field in tables.record.options.fields if field.word_bits]


def _names(surface: PostgreSQLSurface) -> dict[str, str]:
    fields, key = _fields(surface.tables), surface.surface.key
    taken = set(surface.tables.key_names)
    arguments = {f"{name}_argument": quote(free(name, taken)) for name in ("words", "phrase", "none_of")}
    spelled = (
        f"{surface.home}.dbsim_normalise(coalesce(dbsim_term, ''), {literal(field.normaliser)}::text)"
        for field in fields
    )
    return arguments | {
        "spelled": ", ".join(spelled),
        "word_fields": ", ".join(_field_value(surface, place) for place in range(len(fields))),
        "passed_key": surface.surface.key_of("passed"),
        "source_is_passed": " AND ".join(f"dbsim_source.{name} = passed.{name}" for name in key),
        "word_texts": ", ".join(source_text(field, "dbsim_source") for field in fields),
        "profiles": ", ".join(literal(field.normaliser) for field in fields),
    }


def _field_value(surface: PostgreSQLSurface, place: int) -> str:
    """Number, bits, bits a word, columns and first slice of one field's signature."""
    fields = _fields(surface.tables)
    field, first = fields[place], sum(one.word_bits for one in fields[:place])
    columns = ", ".join(map(literal, surface.tables.names.words[place]))
    return f"({place + 1}, {field.word_bits}, {field.word_marks}, ARRAY[{columns}]::text[], {first})"
