"""Field by field: how SQL signs, compares and scores the texts of an index → names for its templates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dbsim.engines.postgresql.surface.pieces.rendered import double, source_text
from dbsim.engines.postgresql.surface.shared import family_function
from dbsim.options import Field
from dbsim.options.asking import MAX_CANDIDATES, MOST_TEXTS, POOL, SPARE
from dbsim.tables.names import literal, quote

if TYPE_CHECKING:
    from dbsim.engines.postgresql.surface.views import PostgreSQLSurface


def field_names(made: PostgreSQLSurface) -> dict[str, Any]:
    surface, names, options = made.surface, made.tables.names, made.tables.record.options
    numbers = range(1, len(options.fields) + 1)
    keys = zip(surface.bucket_keys, range(1, options.keys + 1), strict=True)
    bits = [(quote(name), n, field.bits) for name, n, field in zip(names.bits, numbers, options.fields, strict=True)]
    counts = [(quote(name), n) for name, n in zip(names.counts, numbers, strict=True)]
    several = len(options.fields) > 1
    return {
        "score": made.score_between("a", "b"),
        "score_of_question": made.score_between("candidates", "dbsim_question"),
        "score_name": quote(names.score),
        **made.parameters(),
        "max_candidates": MAX_CANDIDATES,
        "most_alike": POOL,
        "spare": SPARE,
        "most_texts": MOST_TEXTS,
        "exact_name": quote(made.exact_name),
        "near_columns": ", ".join([*surface.key, quote(names.score), quote(made.exact_name)]),
        "agreeing": surface.keys_in_common("coalesce((a.{0} = dbsim_question.{0})::integer, 0)", " + "),
        "standard_error": surface.standard_error("greatest", double),
        "step": surface.step("least", double),
        **_comparison(made),
        "rows": options.rows,
        "keys": options.keys,
        "family": f"{made.home}.{family_function(options.family)}",
        "text_arguments": ", ".join(["text"] * len(options.fields)),
        "text_arguments_open": ", ".join(
            f"{name} text DEFAULT NULL" if several else "text" for name in made.argument_names()
        ),
        "text_numbers": ", ".join(f"${n}" for n in numbers),
        "source_texts": ", ".join(source_text(field, "dbsim_source") for field in options.fields),
        "analysed": ", ".join(_analysed(made.home, field, n) for field, n in zip(options.fields, numbers, strict=True)),
        "no_features": " AND ".join(f"cardinality(fields[{n}].features) = 0" for n in numbers),
        "assign_counts": " ".join(f"result.{name} := coalesce(bit_count(fields[{n}].bits), 0);" for name, n in counts),
        "assign_words": _assign_words(made),
        "assign_keys": " ".join(f"result.{name} := keys[{n}];" for name, n in keys),
        "assign_bits": " ".join(f"result.{name} := fields[{n}].bits::bit({size});" for name, n, size in bits),
        "field_values": ", ".join(_field_value(made, n - 1) for n in numbers),
    }


def _assign_words(made: PostgreSQLSurface) -> str:
    """The word signatures, whose tokens are words whatever the field compares."""
    signed = [(n, field) for n, field in enumerate(made.tables.record.options.fields, 1) if field.word_bits]
    parts = []
    for (n, field), columns in zip(signed, made.tables.names.words, strict=True):
        words = f"{made.home}.dbsim_tokens(string_to_array(fields[{n}].folded, ' '), key)"
        tokens = f"fields[{n}].tokens" if field.unit == "words" else words
        parts.append(f"marks := {made.home}.dbsim_marks({tokens}, {field.word_bits}, {field.word_marks});")
        parts += [f"result.{quote(name)} := marks[{place}];" for place, name in enumerate(columns, 1)]
    return " ".join(parts)


def _analysed(home: str, field: Field, argument: int) -> str:
    """Every argument has the type that is declared, so that no other function of the name fits better."""
    words = str(field.unit == "words")
    rest = f"{literal(field.normaliser)}::text, {words}, {field.size}, {field.bits}, {field.sample}, key"
    return f'{home}.dbsim_analyse(${argument} COLLATE "C", {rest})'


def _comparison(made: PostgreSQLSurface) -> dict[str, str]:
    """What `near` does field by field to compare texts, and whether the caller may read them."""
    options, source = made.tables.record.options, literal(made.source)
    declared, assigned, compared, widths = [], [], [], []
    for number, field in enumerate(options.fields, 1):
        rest = f"{literal(field.normaliser)}, {field.unit == 'words'}, {field.size}"
        declared.append(f"dbsim_q{number} text[];")
        assigned.append(f"dbsim_q{number} := {made.home}.dbsim_shingles(dbsim_texts[{number}], {rest});")
        compared.append(
            f"dbsim_theirs := {made.home}.dbsim_shingles(dbsim_now[{number}], {rest}); "
            f"IF cardinality(dbsim_q{number}) > 0 AND cardinality(dbsim_theirs) > 0 THEN "
            f"dbsim_total := dbsim_total + {double(field.weight)} * "
            f"{made.home}.dbsim_overlap(dbsim_q{number}, dbsim_theirs); "
            f"dbsim_weight := dbsim_weight + {double(field.weight)}; END IF;"
        )
        threshold = "dbsim_least" if len(options.fields) == 1 else "NULL"
        count = f"coalesce(dbsim_question.{quote(made.tables.names.counts[number - 1])}, 0)"
        widths.append(f"SELECT * FROM {made.home}.dbsim_widths({field.bits}, {count}, {threshold}, {field.sample})")
    columns = [f"has_column_privilege(to_regclass({source}), {literal(c)}, 'SELECT')" for c in options.columns]
    decidable = (
        "true" if options.hashing.estimated and not options.hashing.rarity else "false"
    )  # by the Jaccard similarity of shingles
    return {
        "declare_shingles": " ".join(declared),
        "assign_shingles": " ".join(assigned),
        "compare_shingles": " ".join(compared),
        "widths": " UNION ALL ".join(widths),
        "reads_texts": f"coalesce({decidable} AND {' AND '.join(columns)}, false)",
    }


def _field_value(made: PostgreSQLSurface, number: int) -> str:
    field = made.tables.record.options.fields[number]
    values = (
        str(number + 1),
        literal(field.name),
        double(field.weight),
        made.surface.field_score(made.jaccard, number),
        literal(field.normaliser),
        str(field.unit == "words"),
        str(field.size),
    )
    return f"({', '.join(values)})"
