"""The function `contains` of an index with word signatures on PostgreSQL: PostgreSQLSurface → statements."""

from __future__ import annotations

from dbsim.engines.postgresql.surface.rendered import free
from dbsim.engines.postgresql.surface.views import WORDS, PostgreSQLSurface, normaliser_function, source_text
from dbsim.options import Field
from dbsim.resources import filled, sql
from dbsim.tables.index_tables import IndexTables
from dbsim.tables.names import dollar_tag, literal, quote


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
    names = surface.names | _names(surface)
    doubled = {name: str(value).replace("%", "%%") for name, value in names.items()}  # a text for format()
    names["find"] = literal(filled(sql("postgresql", "index/containing"), doubled))
    names["body"] = dollar_tag(map(str, names.values()))
    return [filled(sql("postgresql", f"index/{part}"), names) for part in WORDS]


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
    """Number, bits, bits a word and the columns of one field's signature."""
    field = _fields(surface.tables)[place]
    columns = ", ".join(map(literal, surface.tables.names.words[place]))
    return f"({place + 1}, {field.word_bits}, {field.word_marks}, ARRAY[{columns}]::text[])"
