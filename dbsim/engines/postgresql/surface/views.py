"""The views and functions of an index on PostgreSQL: IndexTables and the home schema → statements.

Views run with their owner's rights and show a row only to callers who could read it in the indexed table; functions
run with the caller's rights, except the one that needs the secret. Neither depends on the host's table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sqlalchemy import literal_column

from dbsim.engines.backend import FilterColumns
from dbsim.engines.evidence import Comparing, between
from dbsim.engines.postgresql.surface.persons import person_names
from dbsim.engines.postgresql.surface.pieces.decided import DECIDED, decided_names
from dbsim.engines.postgresql.surface.pieces.fields import field_names
from dbsim.engines.postgresql.surface.pieces.rendered import double, free, rendered
from dbsim.engines.postgresql.surface.shared import drop_owned, normaliser_function
from dbsim.engines.postgresql.triggers import DOOR
from dbsim.engines.views import BUCKETS, PAIRS, STATUS, Surface, union
from dbsim.hashing.records.learning import Learned
from dbsim.options import Field
from dbsim.resources import filled, sql, sql_names
from dbsim.tables.catalogue import SHOWN
from dbsim.tables.group_tables import PUBLISHED, GroupTables
from dbsim.tables.index_tables import IndexTables
from dbsim.tables.names import dollar_quoted, dollar_tag, identifier, literal, quote
from dbsim.tables.versions import VERSION_TABLE
from dbsim.text.normalisers.registry import NORMALISERS

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
        names |= self._key_names() | field_names(self) | self._visibility()
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

    def score_between(self, a: str, b: str) -> str:
        """Of two rows by their aliases."""
        if not self.tables.names.rarities:
            return self.surface.score(self.jaccard, double, a, b)
        value = rendered(between(self.comparing, self.tables, self.learned, a, b))
        return value.replace("dbsim_probability(", f"{self.home}.dbsim_probability(")

    def parameters(self) -> dict[str, str]:
        """Names of arguments and variables, moved out of the way of the result's columns."""
        taken = {*self.tables.key_names, self.tables.names.score}
        return {name + "_argument": quote(free(name, taken)) for name in ("threshold", "hits")}

    def argument_names(self) -> list[str]:
        """Named after the fields."""
        taken = {*self.tables.key_names, self.tables.names.score}
        taken |= {free(name, taken) for name in ("threshold", "hits")}
        return [quote(free(field.name, taken)) for field in self.tables.record.options.fields]

    @property
    def taken(self) -> set[str]:
        """Names of arguments and columns of `search` that others must not have."""
        fields = {field.name for field in self.tables.record.options.fields}
        columns = {*self.tables.key_names, self.tables.names.score, self.exact_name}
        return columns | fields | {free(name, columns | fields) for name in ("threshold", "hits")}

    @property
    def exact_name(self) -> str:
        taken = {*self.tables.key_names, self.tables.names.score}
        return free("exact", taken)

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

    def jaccard(self, field: Field, number: int, a: str, b: str) -> str:
        bits = quote(self.tables.names.bits[number])
        one, two = (
            FilterColumns(literal_column(f"{alias}.{bits}"), literal_column(self.surface.count(number, alias)))
            for alias in (a, b)
        )
        return rendered(self.comparing.jaccard(one, two, field.reading))


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
