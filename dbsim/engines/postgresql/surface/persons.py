"""Functions of an index of persons on PostgreSQL: sign, evidence, check, and the trigger that rejects or flags.

PostgreSQLSurface → what their templates fill in.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import literal_column

from dbsim.engines.evidence import Side, crossed
from dbsim.engines.postgresql.surface.pieces.rendered import free, rendered
from dbsim.engines.postgresql.triggers import unless_trigger
from dbsim.engines.postgresql.wire.plain import door_salt
from dbsim.hashing.records.evidence import UNIT
from dbsim.hashing.records.family import Records
from dbsim.hashing.records.levels import COUNT, CROSSED, EQUAL
from dbsim.hashing.records.probability import CERTAIN
from dbsim.hashing.records.waterfall import ELSEWHERE, MOVED, agreement
from dbsim.tables.names import identifier, literal, quote

if TYPE_CHECKING:
    from dbsim.engines.postgresql.surface.views import PostgreSQLSurface

REJECT, FLAG = "reject", "flag"
DUPLICATE, UNSEEN = "DS001", "DS002"  # SQLSTATE of a rejected row, and of what cannot be checked
MOST_WAITING, MOST_FLAGGED = 1000, 10
ROW_LIMIT = 10_000  # rows of one statement that are checked
# with some forty keys and ten levels a field, planning takes three times as long as what is planned, and JIT far longer
PLANNED_ONCE = "SET plan_cache_mode = 'force_generic_plan' SET jit = off"
ATOMS = {"a": 1, "b": 2, "e": 3, "c": 7, "d": 8, "f": 9}  # places in what dbsim_atoms returns


def flagged_name(index: str) -> str:
    return identifier("dbsim", index, "flagged")


def person_names(surface: PostgreSQLSurface) -> dict[str, Any]:
    family = surface.tables.record.options.hashing
    if not isinstance(family, Records):
        return {"planned_once": ""}
    return {"planned_once": PLANNED_ONCE, **_signing(surface, family), **_evidence(surface), **_door(surface)}


def _signing(surface: PostgreSQLSurface, family: Records) -> dict[str, Any]:
    names, home = surface.tables.names, surface.home
    count = len(names.rarities)
    made = [f"atoms_{number} := {home}.dbsim_atoms(fields[{number + 1}].features);" for number in range(count)]
    fields = [str(number) for number in range(count)]
    if family.crossed is not None:
        given, last = family.crossed
        made.append(f"atoms_n := {home}.dbsim_atoms_of_names(atoms_{given}, atoms_{last});")
        fields.append("n")
    compounds = []
    for number, (name, parts) in enumerate(zip(names.keys, family.keys_of.keys, strict=True), 1):
        listed = ", ".join(f"atoms_{field}[{ATOMS[kind]}]" for field, kind in parts)
        compounds.append(f"result.{quote(name)} := {home}.dbsim_compound(ARRAY[{listed}], copies, {number});")
    return {
        "declare_atoms": " ".join(f"atoms_{field} bigint[];" for field in fields),
        "assign_atoms": " ".join(made),
        "exact_atoms": ", ".join(f"atoms_{field}[3]" for field in sorted(fields)),
        "assign_compounds": " ".join(compounds),
        **_learned(surface),
    }


def _learned(surface: PostgreSQLSurface) -> dict[str, str]:
    """Nothing is known before the first sync: then nothing is signed."""
    learned, rarities = surface.learned, surface.tables.names.rarities
    if learned is None:
        return {"fitted": "false", "assign_rarities": "", "own_evidence": "0"}
    name, assigned = literal(surface.tables.record.name), []
    for number, (column, table) in enumerate(zip(rarities, learned.frequencies, strict=True)):
        arguments = f"atoms_{number}[3], {name}, {literal(f'rare{number}')}, {table.other}"
        assigned.append(f"result.{quote(column)} := {surface.home}.dbsim_rarity({arguments});")
    own = [_copy(surface, kind) for kind in range(len(learned.evidence.priors))]
    return {"fitted": "true", "assign_rarities": " ".join(assigned), "own_evidence": ", ".join(own)}


def _copy(surface: PostgreSQLSurface, kind: int) -> str:
    """What an exact copy would score against strangers (0) or relatives."""
    assert surface.learned is not None
    evidence = surface.learned.evidence

    def sums(kind: int, place: bool) -> str:
        parts = ["0"] if place else [str(int(evidence.priors[kind]))]
        for number, column in enumerate(surface.tables.names.rarities):
            if (number in evidence.place) == place:
                rare = f" + result.{quote(column)}" if kind == 0 else ""
                weight = int(evidence.weights[kind, number, EQUAL])
                parts.append(f"CASE WHEN atoms_{number}[3] <> 0 THEN {weight}{rare} ELSE 0 END")
        return " + ".join(f"({part})" for part in parts)

    if not evidence.place:
        return f"({sums(kind, False)})::bigint"
    moved = evidence.moved if kind == 0 else 0
    here = f"CASE WHEN {sums(0, True)} < {evidence.moved} THEN {moved} ELSE {sums(kind, True)} END"
    return f"({sums(kind, False)} + ({here}))::bigint"


def _evidence(surface: PostgreSQLSurface) -> dict[str, Any]:
    learned, options, names = surface.learned, surface.tables.record.options, surface.tables.names
    if learned is None:
        return {"crossing": "RETURN NULL;", "weights": "'{}'", "priors": "'{}'", "levels": "0", "rare_values": "0"} | {
            "against_count": 0,
            "agreements": "'{}'",
            "field_names": "'{}'",
            "equal": EQUAL,
            "unit": UNIT,
            "score_of_a_and_b": "NULL",
            **_moving((), 0),
        }
    left, right = (_sides(surface, alias) for alias in ("a", "b"))
    levels, rare = [], []
    for number, field in enumerate(options.fields):
        one, two = left[number], right[number]
        level = surface.comparing.level(one, two, field.reading)
        both = " AND ".join(f"{alias}.{quote(names.counts[number])} > 0" for alias in "ab")
        levels.append(f"CASE WHEN {both} THEN {rendered(level)} ELSE 0 END")
        rarity = quote(names.rarities[number])
        rare.append(f"least(a.{rarity}, b.{rarity})")
    crossing = ""
    if learned.crossed is not None:
        given, last = learned.crossed
        over = rendered(crossed(surface.comparing, options.fields[given].reading, left, right, given, last))
        crossing = f"IF ({over}) THEN levels[{given + 1}] := {CROSSED}; levels[{last + 1}] := 0; END IF;"
    return {
        "levels": ", ".join(levels),
        "rare_values": ", ".join(rare),
        "crossing": crossing,
        "weights": f"ARRAY{learned.evidence.weights.tolist()}::bigint[]",
        "priors": f"ARRAY{learned.evidence.priors.tolist()}::bigint[]",
        "against_count": len(learned.evidence.priors),
        "field_names": _texts(field.name for field in options.fields),
        "agreements": _texts(agreement(level) for level in range(COUNT)),
        "equal": EQUAL,
        "unit": UNIT,
        "score_of_a_and_b": surface.score_between("a", "b"),
        **_moving(learned.evidence.place, learned.evidence.moved),
    }


def _moving(place: Sequence[int], moved: int) -> dict[str, Any]:
    return {
        "place_fields": f"ARRAY[{', '.join(str(number + 1) for number in place)}]::integer[]",
        "moved": moved,
        "moved_field": literal(MOVED),
        "moved_words": literal(ELSEWHERE),
    }


def _door(surface: PostgreSQLSurface) -> dict[str, Any]:
    record, key = surface.tables.record, surface.surface.key
    options = record.options
    plain = surface.home[1:-1].replace('""', '"')
    taken = {*surface.tables.key_names, surface.tables.names.score}
    found = " || ', ' || ".join(f"coalesce(dbsim_found.{name}::text, '')" for name in key)
    return {
        "evidence_column": quote(free("evidence", taken)),
        "row_texts_of_json": ", ".join(_json_text(field.columns) for field in options.fields),
        "near_key": ", ".join(f"near.{name}" for name in key),
        "s_is_near": " AND ".join(f"s.{name} = near.{name}" for name in key),
        "check_name": quote(surface.surface.name("check")),
        "rejects": str(options.on_duplicate == REJECT).lower(),
        "table_name": literal(options.table),
        "table_literal": literal(options.table),
        "unless_literal": literal(unless_trigger(record.name)),
        "unseen_state": UNSEEN,
        "duplicate_state": DUPLICATE,
        "row_limit": ROW_LIMIT,
        "generation": record.generation,
        "new_key_of_source": surface.surface.key_of("dbsim_source"),
        "row_texts": ", ".join(f"dbsim_row.dbsim_texts[{n}]" for n in range(1, len(options.fields) + 1)),
        "s_is_row": " AND ".join(f"s.{name} = dbsim_row.{name}" for name in key),
        "question_key_from_row": " ".join(f"dbsim_question.{name} := dbsim_row.{name};" for name in key),
        "other_key_from_row": " ".join(f"dbsim_other.{name} := dbsim_row.{name};" for name in key),
        "salt": door_salt(plain, record.name, record.generation),
        "s_bucket_keys": ", ".join(f"s.{name}" for name in surface.surface.bucket_keys),
        "q_no_key": " AND ".join(f"q.{name} IS NULL" for name in key),
        "source_is_k": " AND ".join(f"dbsim_source.{name} = k.{name}" for name in key),
        "source_is_a_row": " AND ".join(f"dbsim_source.{name} = a.{name}" for name in key),
        "most_waiting": MOST_WAITING,
        "most_flagged": MOST_FLAGGED,
        "certain": f"{CERTAIN!r}::float8",
        "found_key_text": found,
        "found_key": surface.surface.key_of("dbsim_found"),
        "flagged": f"{surface.home}.{quote(flagged_name(record.name))}",
        "queue_literal": literal(f"{surface.home}.{quote(surface.tables.queue.name)}"),
    }


def flagged_statement(surface: PostgreSQLSurface) -> str:
    """The table that people read, and empty as they see fit."""
    types = list(surface.key_types) * 2
    columns = ", ".join(
        f"{name} {type_} NOT NULL" for name, type_ in zip(surface.surface.pair_names, types, strict=True)
    )
    return (
        f"CREATE TABLE IF NOT EXISTS {surface.home}.{quote(flagged_name(surface.tables.record.name))} ({columns}, "
        "probability double precision NOT NULL, flagged_at timestamptz NOT NULL DEFAULT now(), "
        f"PRIMARY KEY ({', '.join(surface.surface.pair_names)}))"
    )


def _sides(surface: PostgreSQLSurface, alias: str) -> list[Side]:
    names = surface.tables.names
    columns = zip(names.bits, names.counts, names.rarities, strict=True)
    return [Side(*(literal_column(f"{alias}.{quote(name)}") for name in field)) for field in columns]


def _json_text(columns: Sequence[str]) -> str:
    return " || chr(10) || ".join(f"coalesce($1 ->> {literal(column)}, '')" for column in columns)


def _texts(values: Any) -> str:
    return f"ARRAY[{', '.join(map(literal, values))}]::text[]"
