"""The views and functions of an index on PostgreSQL: IndexTables and the home schema → statements.

Views run with their owner's rights and show a row only to callers who could read it in the indexed table; functions
run with the caller's rights, except the one that needs the secret. Neither depends on the host's table.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sqlalchemy import ColumnElement, literal_column

from dbsim.engines.evidence import Comparing, between
from dbsim.engines.postgresql.surface.decided import DECIDED, decided_names
from dbsim.engines.postgresql.surface.kinds import KIND, kind_names, without_country
from dbsim.engines.postgresql.surface.persons import person_names
from dbsim.engines.postgresql.surface.rendered import free, rendered
from dbsim.engines.postgresql.triggers import DOOR
from dbsim.engines.views import BUCKETS, PAIRS, STATUS, Surface, joined_text, union
from dbsim.hashing.families.registry import family_of
from dbsim.hashing.records.evidence import UNIT
from dbsim.hashing.records.learning import Learned
from dbsim.hashing.records.probability import COEFFICIENTS, MOST_BITS
from dbsim.options import Field
from dbsim.resources import filled, sql, sql_names
from dbsim.tables.catalogue import SHOWN
from dbsim.tables.group_tables import PUBLISHED, GroupTables
from dbsim.tables.index_tables import IndexTables
from dbsim.tables.names import dollar_quoted, dollar_tag, identifier, literal, quote
from dbsim.tables.versions import VERSION_TABLE, v0002
from dbsim.text.arithmetic import MIX_1, MIX_2
from dbsim.text.normalisers.registry import NORMALISERS, full_name, stored_names

MAX_CANDIDATES = 1000  # this and the next as in dbsim.search.limits and statements
POOL, SPARE, MOST_TEXTS = 10_000, 8, 64
MOST_POSITIONS = 2048  # the donor orders of a MinHash are a table of positions × positions numbers
# in this order; dropped with the view
OBJECTS = ("sign", "verdicts", "near", "search", "similar", "explain", "components", "fill", "grant")
MARKED = "visible"  # every index has it, and its body tells which dbsim made all of this
WORDS = ("marked", "sliced", "contains")  # of indexes with word signatures, whatever their family; see words.py
PERSONS = ("evidence", "check")  # of indexes of persons; see persons.py
FUNCTIONS = (MARKED, *OBJECTS, *WORDS, *PERSONS)
FORMER = "sees"  # what `visible` was before version 0003
VIEWS = ("signatures", DECIDED, PAIRS, BUCKETS)
KEPT = (DECIDED, PAIRS, BUCKETS)  # made anew in their place, so that who was granted them still is
GRANTED = (
    *("fold", "mapped", "lowered", "code_point", "letter", "letters", "normalise", "shingles"),
    *("among", "overlap", "widths", "probability", "holds"),
)
FOLDERS = ("shared", "normalisers", "families")  # of functions that all indexes use, in this order
FIELD_TYPE = "shared/field_type"  # which the functions take


def shared_statements(home: str) -> list[str]:
    """The type and the functions that all indexes use: every normaliser and every family that can sign in SQL."""
    names: dict[str, object] = {"home": home, "field_literal": literal(f"{home}.dbsim_field"), "folds": _folds(home)}
    names |= {"mix_1": str(int(MIX_1)), "mix_2": str(int(MIX_2))} | _probability_names() | kind_names()
    order = sorted(_shared_files(), key=lambda name: name != FIELD_TYPE)
    texts = (filled(sql("postgresql", name), names) for name in order)
    # one at a time: asyncpg prepares everything, and what is prepared is one statement
    return [statement for text in texts for statement in re.split(r";\n(?=CREATE )", text)]


def _shared_files() -> list[str]:
    return [name for folder in FOLDERS for name in sql_names("postgresql", folder)]


def _folds(home: str) -> str:
    """A branch for every normaliser that has a twin in SQL, by the name that indexes store."""
    kinds = (name.partition("/")[2] for name in sql_names("postgresql", "normalisers"))
    return " ".join(
        f"WHEN {', '.join(map(literal, stored_names(full)))} THEN RETURN {home}.{function}(given);"
        for full in (*NORMALISERS, *(name for name in kinds if name.startswith(KIND)))
        if (function := normaliser_function(full))
    )


def _probability_names() -> dict[str, object]:
    coefficients = ", ".join(map(repr, reversed(COEFFICIENTS)))
    return {"coefficients": f"ARRAY[{coefficients}]::float8[]", "unit": UNIT, "most_evidence": MOST_BITS * UNIT}


def shared_functions() -> list[str]:
    """Their names, to keep them from PUBLIC and to drop them."""
    found = []
    for name in _shared_files():
        text = sql("postgresql", name)
        found += [part.split("(")[0] for part in text.split("CREATE OR REPLACE FUNCTION {home}.")[1:]]
    return found


def family_function(family: str) -> str | None:
    """The function that makes a family's keys in SQL; None when it has no file or learns from the table."""
    base = family.split(":")[0]
    if not family_of(family).portable or f"families/{base}" not in sql_names("postgresql", "families"):
        return None
    return f"dbsim_{base.replace('@', '_').replace('-', '_')}_keys"


def normaliser_function(stored: str) -> str | None:
    """The function that folds a text in SQL as this normaliser does; None when it has no file."""
    full = without_country(full_name(stored))
    if f"normalisers/{full}" not in sql_names("postgresql", "normalisers"):
        return None
    return f"dbsim_fold_{full.replace('@', '_').replace('-', '_')}"


def why_not_in_sql(tables: IndexTables, encoding: str) -> str | None:
    """Why this index cannot be signed in SQL, or None."""
    options = tables.record.options
    if options.secret:
        return "its secret is kept outside the database"
    if options.distributed:
        return "its table is distributed over several nodes"
    if any(field.fold for field in options.fields):
        return "its filters are folded"
    if options.hashing.rarity:
        if encoding != "UTF8":
            return f"records of persons are signed in SQL in UTF8 only, not in {encoding}"
    elif family_function(options.family) is None:
        return f"family {options.family!r} has no SQL functions"
    if options.family == "minhash@1" and options.plan.positions > MOST_POSITIONS:
        return f"{options.rows} rows times {options.keys} keys are more than {MOST_POSITIONS}"
    for field in options.fields:
        if normaliser_function(field.normaliser) is None:
            return f"normaliser {field.normaliser!r} has no SQL function"
    if encoding == "SQL_ASCII":
        return "in a database of encoding SQL_ASCII the server cannot tell characters from bytes"
    return None


@dataclass(frozen=True)
class PostgreSQLSurface:
    """Statements for one index; `home` is the quoted schema of dbsim's tables."""

    tables: IndexTables
    home: str
    comparing: Comparing  # the backend
    key_types: tuple[str, ...]  # of the key's columns, with their schema unless it is pg_catalog
    learned: Learned | None = None  # of records of persons

    @cached_property
    def surface(self) -> Surface:
        return Surface(self.tables)

    @cached_property
    def source(self) -> str:
        options = self.tables.record.options
        return quote(options.schema, options.table)

    def function(self, part: str) -> str:
        return f"{self.home}.{quote(self.surface.name(part))}"

    # ── views ──
    def view_statements(self) -> list[str]:
        """Functions that a view needs, then the views; grants on pairs and buckets survive."""
        names = self.names
        made = [MARKED, *VIEWS]
        own = [self.surface.name(name) for name in (*OBJECTS, *WORDS, *PERSONS)]
        drop = [drop_owned(own, self.home), f"DROP VIEW IF EXISTS {names['signatures_view']} CASCADE"]
        shown = (filled(self._template(name), names) for name in made)
        return [*drop, *shown, drop_owned([self.surface.name(FORMER)], self.home)]

    def _template(self, name: str) -> str:
        """On Citus some are others."""
        other = f"citus/{name}"
        distributed = self.tables.record.options.distributed and other in sql_names("postgresql", "citus")
        return sql("postgresql", other if distributed else f"index/{name}")

    def function_statements(self, signs: bool) -> list[str]:
        """Where the server cannot sign, roles are granted the views alone."""
        options = self.tables.record.options
        made = [name for name in OBJECTS if name != "fill"] if signs else ["grant"]
        if signs and options.hashing.rarity:
            made = ["sign_person" if name == "sign" else name for name in made] + list(PERSONS)
            made += [DOOR] if options.on_duplicate else []
        return [filled(sql("postgresql", f"index/{name}"), self.names) for name in made]

    def revoke_statement(self, role: str, elsewhere: bool) -> str:
        """Of a role that has been granted another index too, or not."""
        names = self.names | {"role": literal(role), "elsewhere": str(elsewhere)}
        return filled(sql("postgresql", "index/revoke"), names | {"body": dollar_tag(map(str, names.values()))})

    def regrant_statement(self) -> str:
        return filled(sql("postgresql", "index/regrant"), self.names)

    def status_part(self, triggers: Sequence[str]) -> str:
        options = self.tables.record.options
        shown = options.table if options.schema is None else f"{options.schema}.{options.table}"
        names = self.names | {
            "table": literal(shown) + "::text",
            "triggers": "ARRAY[" + ", ".join(map(literal, triggers)) + "]::name[]",
        }
        return filled(self._template("status"), names)

    # ── pieces ──
    @cached_property
    def names(self) -> dict[str, Any]:
        names = self.surface.common_names() | self._own_tables()
        names |= self._key_names() | self._field_names() | self._visibility()
        function_names = {part: self.function(part) for part in (*FUNCTIONS, DOOR)}
        own_names = {f"{part}_name": quote(self.surface.name(part)) for part in OBJECTS}
        names |= function_names | own_names | self._grants(names) | self._buckets(names)
        names |= self.surface.pair_pieces(sql("postgresql", "index/pair"), names) | decided_names(self)
        names |= person_names(self)
        return names | {"body": dollar_tag(map(str, names.values()))}

    def _own_tables(self) -> dict[str, str]:
        """With their schema: nothing is looked for on the path of whoever makes or calls it."""
        found = self.surface.common_names()
        names = ("signatures", "queue", "decisions", "pairs_view", "buckets_view")
        groups = GroupTables(self.tables)
        stored = {"edges": groups.edges, "results": groups.results, "contents": groups.contents}
        own = {name: f"{self.home}.{quote(table.name)}" for name, table in stored.items()}
        return {name: f"{self.home}.{found[name]}" for name in names} | own | {"published": literal(PUBLISHED)}

    def _key_names(self) -> dict[str, str]:
        surface, key, types = self.surface, self.surface.key, self.key_types
        numbers = range(1, len(key) + 1)

        def equal(alias: str, start: int = 0) -> str:
            return " AND ".join(f"{alias}.{name} = ${start + n}" for n, name in zip(numbers, key, strict=True))

        return {
            "home": self.home,
            "home_signatures": f"{self.home}.{quote(self.tables.signatures.name)}",
            "signatures_view": f"{self.home}.{quote(surface.name('signatures'))}",
            "source": self.source,
            "source_literal": literal(self.source),
            "key": ", ".join(key),
            "s_key": surface.key_of("s"),
            "key_types": ", ".join(f"{name} {type_}" for name, type_ in zip(key, types, strict=True)),
            "key_arguments": ", ".join(types),
            "two_keys": ", ".join(types * 2),
            "question_key": surface.key_of("dbsim_question"),
            "a_is_argument": equal("a"),
            "source_is_argument": equal("dbsim_source"),
            "s_is_a": equal("s"),
            "s_is_b": equal("s", len(key)),
            "source_is_a": equal("dbsim_source"),
            "source_is_b": equal("dbsim_source", len(key)),
            "source_is_row": " AND ".join(f"dbsim_source.{name} = dbsim_row.{name}" for name in key),
            "key_from_row": " ".join(f"{name} := dbsim_row.{name};" for name in key),
            "assign_key": " ".join(f"dbsim_question.{name} := ${n};" for n, name in zip(numbers, key, strict=True)),
            "key_is_asked": surface.keys_in_common("a.{0} = dbsim_question.{0}", " OR "),
            "shared_keys": surface.keys_in_common("(a.{0} = b.{0})::integer", " + "),
            "shared_keys_or_zero": surface.keys_in_common("coalesce((a.{0} = b.{0})::integer, 0)", " + "),
            **self._component_names(),
            "pairs_literal": literal(f"{self.home}.{quote(surface.name(PAIRS))}"),
        }

    def _component_names(self) -> dict[str, str]:
        key, width = self.surface.key, len(self.surface.key)
        sides = {"a": self.surface.pair_names[:width], "b": self.surface.pair_names[width:]}
        return {
            "group_name": quote(free("group_number", {*self.tables.key_names})),
            "a_names": ", ".join(sides["a"]),
            "one_key": self.surface.key_of("one"),
            **{
                f"{alias}_is_{side}": " AND ".join(
                    f"{alias}.{name} = p.{other}" for name, other in zip(key, sides[side], strict=True)
                )
                for alias, side in (("x", "a"), ("y", "b"))
            },
        }

    def _field_names(self) -> dict[str, Any]:
        surface, names, options = self.surface, self.tables.names, self.tables.record.options
        numbers = range(1, len(options.fields) + 1)
        keys = zip(surface.bucket_keys, range(1, options.keys + 1), strict=True)
        bits = [
            (quote(name), n, field.bits) for name, n, field in zip(names.bits, numbers, options.fields, strict=True)
        ]
        counts = [(quote(name), n) for name, n in zip(names.counts, numbers, strict=True)]
        several = len(options.fields) > 1
        return {
            "score": self.score_between("a", "b"),
            "score_of_question": self.score_between("candidates", "dbsim_question"),
            "score_name": quote(names.score),
            **self._parameters(),
            "max_candidates": MAX_CANDIDATES,
            "most_alike": POOL,
            "spare": SPARE,
            "most_texts": MOST_TEXTS,
            "exact_name": quote(self._exact_name()),
            "near_columns": ", ".join([*surface.key, quote(names.score), quote(self._exact_name())]),
            "agreeing": surface.keys_in_common("coalesce((a.{0} = dbsim_question.{0})::integer, 0)", " + "),
            "standard_error": surface.standard_error("greatest", _double),
            "step": surface.step("least", _double),
            **self._comparison(),
            "rows": options.rows,
            "keys": options.keys,
            "family": f"{self.home}.{family_function(options.family)}",
            "text_arguments": ", ".join(["text"] * len(options.fields)),
            "text_arguments_open": ", ".join(
                f"{name} text DEFAULT NULL" if several else "text" for name in self._argument_names()
            ),
            "text_numbers": ", ".join(f"${n}" for n in numbers),
            "source_texts": ", ".join(source_text(field, "dbsim_source") for field in options.fields),
            "analysed": ", ".join(self._analysed(field, n) for field, n in zip(options.fields, numbers, strict=True)),
            "no_features": " AND ".join(f"cardinality(fields[{n}].features) = 0" for n in numbers),
            "assign_counts": " ".join(
                f"result.{name} := coalesce(bit_count(fields[{n}].bits), 0);" for name, n in counts
            ),
            "assign_words": self._assign_words(),
            "assign_keys": " ".join(f"result.{name} := keys[{n}];" for name, n in keys),
            "assign_bits": " ".join(f"result.{name} := fields[{n}].bits::bit({size});" for name, n, size in bits),
            "field_values": ", ".join(self._field_value(n - 1) for n in numbers),
        }

    def _assign_words(self) -> str:
        """The word signatures, whose tokens are words whatever the field compares."""
        signed = [(n, field) for n, field in enumerate(self.tables.record.options.fields, 1) if field.word_bits]
        parts = []
        for (n, field), columns in zip(signed, self.tables.names.words, strict=True):
            words = f"{self.home}.dbsim_tokens(string_to_array(fields[{n}].folded, ' '), key)"
            tokens = f"fields[{n}].tokens" if field.unit == "words" else words
            parts.append(f"marks := {self.home}.dbsim_marks({tokens}, {field.word_bits}, {field.word_marks});")
            parts += [f"result.{quote(name)} := marks[{place}];" for place, name in enumerate(columns, 1)]
        return " ".join(parts)

    def _analysed(self, field: Field, argument: int) -> str:
        """Every argument has the type that is declared, so that no other function of the name fits better."""
        words = str(field.unit == "words")
        rest = f"{literal(field.normaliser)}::text, {words}, {field.size}, {field.bits}, {field.sample}, key"
        return f'{self.home}.dbsim_analyse(${argument} COLLATE "C", {rest})'

    def score_between(self, a: str, b: str) -> str:
        """Of two rows by their aliases."""
        if not self.tables.names.rarities:
            return self.surface.score(self._jaccard, _double, a, b)
        value = rendered(between(self.comparing, self.tables, self.learned, a, b))
        return value.replace("dbsim_probability(", f"{self.home}.dbsim_probability(")

    def _parameters(self) -> dict[str, str]:
        """Names of arguments and variables, moved out of the way of the result's columns."""
        taken = {*self.tables.key_names, self.tables.names.score}
        return {name + "_argument": quote(free(name, taken)) for name in ("threshold", "hits")}

    def _argument_names(self) -> list[str]:
        """Named after the fields."""
        taken = {*self.tables.key_names, self.tables.names.score}
        taken |= {free(name, taken) for name in ("threshold", "hits")}
        return [quote(free(field.name, taken)) for field in self.tables.record.options.fields]

    @property
    def taken(self) -> set[str]:
        """Names of arguments and columns of `search` that others must not have."""
        fields = {field.name for field in self.tables.record.options.fields}
        columns = {*self.tables.key_names, self.tables.names.score, self._exact_name()}
        return columns | fields | {free(name, columns | fields) for name in ("threshold", "hits")}

    def _exact_name(self) -> str:
        taken = {*self.tables.key_names, self.tables.names.score}
        return free("exact", taken)

    def _comparison(self) -> dict[str, str]:
        """What `near` does field by field to compare texts, and whether the caller may read them."""
        options, source = self.tables.record.options, literal(self.source)
        declared, assigned, compared, widths = [], [], [], []
        for number, field in enumerate(options.fields, 1):
            rest = f"{literal(field.normaliser)}, {field.unit == 'words'}, {field.size}"
            declared.append(f"dbsim_q{number} text[];")
            assigned.append(f"dbsim_q{number} := {self.home}.dbsim_shingles(dbsim_texts[{number}], {rest});")
            compared.append(
                f"dbsim_theirs := {self.home}.dbsim_shingles(dbsim_now[{number}], {rest}); "
                f"IF cardinality(dbsim_q{number}) > 0 AND cardinality(dbsim_theirs) > 0 THEN "
                f"dbsim_total := dbsim_total + {_double(field.weight)} * "
                f"{self.home}.dbsim_overlap(dbsim_q{number}, dbsim_theirs); "
                f"dbsim_weight := dbsim_weight + {_double(field.weight)}; END IF;"
            )
            threshold = "dbsim_least" if len(options.fields) == 1 else "NULL"
            count = f"coalesce(dbsim_question.{quote(self.tables.names.counts[number - 1])}, 0)"
            widths.append(f"SELECT * FROM {self.home}.dbsim_widths({field.bits}, {count}, {threshold}, {field.sample})")
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

    def _field_value(self, number: int) -> str:
        field = self.tables.record.options.fields[number]
        values = (
            str(number + 1),
            literal(field.name),
            _double(field.weight),
            self.surface.field_score(self._jaccard, number),
            literal(field.normaliser),
            str(field.unit == "words"),
            str(field.size),
        )
        return f"({', '.join(values)})"

    def _visibility(self) -> dict[str, str]:
        """Everything for those who may read the whole table or dbsim's own; else row by row, as the caller."""
        owned = literal(f"{self.home}.{quote(self.tables.signatures.name)}")
        same = " AND ".join(f"o.{name} = v.{name}" for name in self.surface.key)
        everything = (
            f"(SELECT pg_has_role((SELECT c.relowner FROM pg_class c WHERE c.oid = {owned}::regclass), 'USAGE') "
            f"OR coalesce(has_table_privilege(to_regclass({literal(self.source)}), 'SELECT') "
            f"AND NOT row_security_active(to_regclass({literal(self.source)})), false))"
        )
        return {
            "sees_all": everything,
            "source_key": self.surface.key_of("dbsim_source"),
            "numbered_keys": ", ".join(f"({n}, s.{key})" for n, key in enumerate(self.surface.bucket_keys)),
            "source_read": ", ".join(f"dbsim_source.{quote(name)}" for name in self.tables.record.options.columns),
            "visible_rows": f"(SELECT s.* FROM {self.function('visible')}() AS v CROSS JOIN LATERAL ("
            f"SELECT o.* FROM {self.home}.{quote(self.tables.signatures.name)} AS o WHERE {same} OFFSET 0) AS s)",
        }

    def _grants(self, names: dict[str, Any]) -> dict[str, str]:
        shared = [f"{self.home}.{name}" for name in (STATUS, "dbsim_unicode", VERSION_TABLE)]
        shown = f"({', '.join(SHOWN)}) ON {self.home}.dbsim_index"
        columns = [*self.tables.key_names, *self.tables.record.options.columns]
        decided = f"{self.home}.{quote(self.surface.name(DECIDED))}"
        views = [names["signatures_view"], decided, names["pairs_view"], names["buckets_view"]]
        own = [self.surface.name(name) for name in FUNCTIONS if name not in ("grant", "fill")]
        common = [f"dbsim_{name}" for name in GRANTED]
        common += filter(None, map(normaliser_function, NORMALISERS))
        return {
            "grant_catalogue": literal(f"GRANT SELECT {shown} TO "),
            "revoke_catalogue": literal(f"REVOKE SELECT {shown} FROM "),
            "read_columns": ", ".join(map(literal, columns)),
            "grant_deciding": literal(f"GRANT INSERT, UPDATE, DELETE ON {decided} TO "),
            "grant_views": literal(f"GRANT SELECT ON {', '.join([*views, *shared])} TO "),
            "revoke_views": literal(f"REVOKE ALL ON {', '.join(views)} FROM "),
            "revoke_shared": literal(f"REVOKE ALL ON {', '.join(shared)} FROM "),
            "granted_functions": ", ".join(map(literal, [*own, *common])),
            "own_functions": ", ".join(map(literal, own)),
            "home_literal": literal(self.home),
            "grant_literal": literal(f"{self.function('grant')}(regrole, boolean)"),
        }

    def _buckets(self, names: dict[str, Any]) -> dict[str, str]:
        one = self._template("bucket")
        parts = (filled(one, names | {"number": n, "key": key}) for n, key in enumerate(self.surface.bucket_keys))
        return {"buckets": union(parts)}

    def _jaccard(self, field: Field, number: int, a: str, b: str) -> str:
        bits = quote(self.tables.names.bits[number])
        arguments = (f"{a}.{bits}", self.surface.count(number, a), f"{b}.{bits}", self.surface.count(number, b))
        columns: list[ColumnElement[Any]] = [literal_column(text) for text in arguments]
        value = self.comparing.jaccard(columns[0], columns[1], columns[2], columns[3], field.bits)
        return rendered(value)


def drop_statements(name: str) -> list[str]:
    """Of an index, without a look at the database."""
    constants = (
        "BEGIN\n    IF to_regclass('dbsim_constant') IS NOT NULL THEN\n"
        f"        DELETE FROM dbsim_constant WHERE index_name = {literal(name)};\n    END IF;\nEND"
    )
    return [
        f"DROP VIEW IF EXISTS {STATUS}",
        *(f"DROP VIEW IF EXISTS {quote(identifier('dbsim', name, part))} CASCADE" for part in VIEWS),
        drop_owned([identifier("dbsim", name, part) for part in (*FUNCTIONS, FORMER)]),
        f"DO {dollar_quoted(constants)}",
    ]


def drop_functions() -> list[str]:
    """What all indexes use; the tables it reads are dbsim's own, as the catalogue is."""
    return [
        f"DROP VIEW IF EXISTS {STATUS}",
        drop_owned(shared_functions()),
        "DROP TYPE IF EXISTS dbsim_field CASCADE",
    ]


def drop_shared() -> list[str]:
    """The same with the tables."""
    return [*drop_functions(), f"DROP TABLE IF EXISTS {', '.join(v0002.TABLES)}"]


def drop_owned(names: Sequence[str], home: str | None = None) -> str:
    """Functions with these names, whatever their arguments, unless another role has planted them."""
    return _each_owned(names, home, "DROP FUNCTION IF EXISTS %s CASCADE")


def revoke_owned(names: Sequence[str], home: str) -> str:
    return _each_owned(names, home, "REVOKE ALL ON FUNCTION %s FROM PUBLIC")


def _each_owned(names: Sequence[str], home: str | None, statement: str) -> str:
    pieces = {"names": ", ".join(map(literal, names)), "statement": literal(statement)}
    pieces["home"] = "NULL" if home is None else f"{literal(home)}::regnamespace"
    return f"DO {dollar_quoted(filled(sql('postgresql', 'each_owned'), pieces))}"


def source_text(field: Field, alias: str) -> str:
    return joined_text([f"coalesce({alias}.{quote(column)}::text, '')" for column in field.columns])


def _double(value: float) -> str:
    return f"{value!r}::float8"
