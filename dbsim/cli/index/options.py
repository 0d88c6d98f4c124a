"""Options that define an index on the command line: --column, --words, … → Fields."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from dbsim.errors import InvalidOption
from dbsim.hashing.families.registry import family_names
from dbsim.options import Field, require_positive
from dbsim.text.normalisers.registry import normaliser_names

UNITS = ("words", "characters")
FIELD_OPTIONS = {*UNITS, "normaliser", "bits"}


def parse_column(text: str) -> tuple[str, float | None, dict[str, Any]]:
    """NAME[:WEIGHT][:option=value…], e.g. surname:0.2:characters=2:normaliser=german."""
    name, *rest = text.split(":")
    weight, options = None, {}
    while rest:
        part = rest[0]
        key, equals, value = part.partition("=")
        if equals and key in FIELD_OPTIONS:
            options[key] = value
        elif weight is None and _number(part) is not None:
            weight = _number(part)
        elif not options and weight is None:  # a colon inside the column's name
            name += ":" + part
        else:
            raise InvalidOption(
                f"{part!r} in --column {text!r} is neither a weight nor one of {', '.join(sorted(FIELD_OPTIONS))}"
            )
        rest = rest[1:]
    return name, weight, options


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def fields_of(columns: tuple[str, ...], common: dict[str, Any]) -> list[Field]:
    """Without weights one joined text, with weights a field for each column."""
    parsed = [parse_column(column) for column in columns]
    weighted = [weight is not None for _, weight, _ in parsed]
    if any(weighted) and not all(weighted):
        raise InvalidOption("give every --column a weight (title:0.3), or none to join them to one text")
    if not any(weighted):
        options = dict(common)
        for _, _, own in parsed:
            options = _over(options, own)
        return [Field(columns=tuple(name for name, _, _ in parsed), **_field_options(options))]
    return [
        Field(columns=(name,), weight=weight or 0.0, **_field_options(_over(common, own)))
        for name, weight, own in parsed
    ]


def _over(common: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    """A column's own options go before those of all: its unit, too."""
    units = UNITS if any(unit in own for unit in UNITS) else ()
    return {name: value for name, value in common.items() if name not in units} | own


def _field_options(options: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for unit in UNITS:
        if options.get(unit) is not None:
            if "unit" in found:
                raise InvalidOption("give words or characters, not both")
            size = _integer(unit, options[unit])
            if size < 1:
                raise InvalidOption(f"{size} {unit} in a row is out of range: use 1 to 32")
            found |= {"unit": unit, "size": size}
    found["normaliser"] = options.get("normaliser") or ""
    if options.get("bits") is not None:
        found["bits"] = _integer("bits", options["bits"])
        require_positive(bits=found["bits"])
    if options.get("false_drops") is not None:
        found["false_drops"] = options["false_drops"]
    if options.get("filter"):
        found["filter"] = options["filter"]
    return found


def _integer(name: str, value: Any) -> int:
    try:
        return int(value)
    except ValueError as error:
        raise InvalidOption(f"{name} must be a whole number, not {value!r}") from error


table_option = click.option("--table", required=True, help="The table to index; [schema.]table on PostgreSQL.")
COLUMN = "C[:WEIGHT][:OPTION=VALUE…]"
COLUMN_HELP = (
    "A text column; repeat it. Without weights the columns are joined to one text, with weights each is "
    f"compared for itself. Options: words=N, characters=N, normaliser={'|'.join(normaliser_names())}, bits=N."
)


def index_options(*, required: bool) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Options of everything that defines an index; `required` when there is none yet."""

    def default(value: str) -> str:
        return f"  [default: {value}]" if required else ""

    found = [
        click.option("--column", "columns", multiple=True, metavar=COLUMN, help=COLUMN_HELP),
        click.option("--family", help=f"{', '.join(family_names())}, with :SETTING=VALUE…{default('minhash')}"),
        click.option("--threshold", type=float, help=f"Similarity from which rows count.{default('0.7')}"),
        click.option("--recall", type=float, help=f"Share of such pairs that must be found.{default('0.95')}"),
        click.option("--keys", type=int, help="Bucket keys, instead of those that follow from the recall."),
        click.option("--rows", type=int, help="Values a key is made of (the band size), together with --keys."),
        click.option("--words", type=int, help="Compare runs of so many words."),
        click.option("--characters", type=int, help="Compare runs of so many characters."),
        click.option("--normaliser", help=f"One of {', '.join(normaliser_names())}.{default('by the texts')}"),
        click.option("--bits", type=int, help="Length of the filters."),
        click.option(
            "--filter",
            metavar="partitioned[:SETTING=VALUE…]",
            help="Filters of Kampf's sketch, which have no secret: characters=30, rate=0.01, "
            "similarity=cardinality|raw|corrected.",
        ),
        click.option(
            *("--signature", "--false-drops", "false_drops"),
            is_flag=False,
            flag_value=0.01,
            type=float,
            metavar="[RATE]",
            help="Word signatures, for `dbsim contains`: share of rows read in vain.  [0.01]",
        ),
    ]

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(found):
            command = option(command)
        return command

    return add


def take_fields(columns: tuple[str, ...], options: dict[str, Any]) -> list[Field]:
    """The fields that --column, --words, … describe; the latter are taken out of the options."""
    names = (*sorted(FIELD_OPTIONS), "false_drops", "filter")
    return fields_of(columns, {name: options.pop(name) for name in names})
