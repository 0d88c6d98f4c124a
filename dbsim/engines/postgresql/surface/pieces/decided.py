"""What people decided, for roles and functions on PostgreSQL: PostgreSQLSurface → what the templates fill in.

The view `decided` shows decisions about rows that the caller can see; `verdicts` those about one row, for searches.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dbsim.engines.postgresql.surface.pieces.rendered import free
from dbsim.tables.decision_tables import sides_of
from dbsim.tables.names import literal, quote

if TYPE_CHECKING:
    from dbsim.engines.postgresql.surface.views import PostgreSQLSurface

DECIDED = "decided"


def decided_names(made: PostgreSQLSurface) -> dict[str, str]:
    surface, key = made.surface, made.surface.key
    view = f"{made.home}.{quote(surface.name(DECIDED))}"
    first, second = ([f"d.{quote(name)}" for name in side] for side in sides_of(made.tables.key_names))
    return {
        "decided_view": view,
        "decided_literal": literal(view),
        "decided_a": ", ".join(first),
        "decided_b": ", ".join(second),
        "decided_a_is_argument": _are_arguments(first),
        "decided_b_is_argument": _are_arguments(second),
        "visible_key": surface.key_of("v"),
        "decided_key": surface.key_of("decided"),
        "candidates_key": surface.key_of("candidates"),
        "x_is_row_a": " AND ".join(f"x.{name} = a.{name}" for name in key),
        "y_is_row_b": " AND ".join(f"y.{name} = b.{name}" for name in key),
        "verdict_name": quote(free("verdict", {*made.tables.key_names})),
        **_search_arguments(made),
    }


def _are_arguments(columns: list[str]) -> str:
    return " AND ".join(f"{column} = ${number}" for number, column in enumerate(columns, 1))


def _search_arguments(made: PostgreSQLSurface) -> dict[str, str]:
    """Of the row that a text belongs to: `decided`, or `decided_<column>`, … for a composite key."""
    names, key = made.tables.key_names, made.surface.key
    wanted = [DECIDED] if len(names) == 1 else [f"{DECIDED}_{name}" for name in names]
    arguments = [quote(free(name, made.taken)) for name in wanted]
    own = quote(made.surface.name("search"))
    pairs = list(zip(arguments, made.key_types, key, strict=True))
    return {
        "decided_arguments_open": ", ".join(f"{name} {type_} DEFAULT NULL" for name, type_, _ in pairs),
        "assign_decided": " ".join(f"dbsim_question.{column} := {own}.{name};" for name, _, column in pairs),
    }
