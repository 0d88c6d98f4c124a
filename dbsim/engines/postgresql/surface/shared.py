"""What all indexes of a PostgreSQL database share: the type and the functions that sign and compare."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dbsim.engines.postgresql.surface.pieces.kinds import KIND, kind_names, without_country
from dbsim.engines.views import STATUS
from dbsim.hashing.families.registry import family_of
from dbsim.hashing.records.evidence import UNIT
from dbsim.hashing.records.probability import COEFFICIENTS, MOST_BITS
from dbsim.resources import filled, sql, sql_names
from dbsim.tables.index_tables import IndexTables
from dbsim.tables.names import dollar_quoted, literal
from dbsim.tables.versions import v0002
from dbsim.text.arithmetic import MIX_1, MIX_2
from dbsim.text.normalisers.registry import NORMALISERS, full_name, stored_names

MOST_POSITIONS = 2048  # the donor orders of a MinHash are a table of positions × positions numbers
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
    if options.parted:
        return "its filters are partitioned"
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
