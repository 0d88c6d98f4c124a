"""dbsim create --records: an index on a table of persons."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from dbsim.cli.common import err, opened, then
from dbsim.errors import InvalidOption
from dbsim.text.kinds.guess import born
from dbsim.text.kinds.registry import kind_names

ALLOWED = ("threshold", "bits", "filter", "secret", "fold", "on_duplicate")  # of the options of other indexes
PERSONAL = {"name", "date", "phone", "email"}  # kinds without which a row hardly is a person's


def create_records(
    db: str, name: str, table: str, columns: tuple[str, ...], no_triggers: bool, options: Mapping[str, Any]
) -> None:
    """`columns` are NAME:KIND; NAME: leaves a column out."""
    refused = [option for option, value in options.items() if value not in (None, False) and option not in ALLOWED]
    if refused:
        raise InvalidOption(f"--records chooses these itself: leave out --{refused[0].replace('_', '-')}")
    kinds = dict(_kind(column) for column in columns)
    database = opened(db)
    index = database.create_records(
        name,
        table=table,
        kinds=kinds,
        threshold=options.get("threshold"),
        bits=options.get("bits"),
        filter=options.get("filter"),
        fold=options.get("fold") or 0,
        secret=options.get("secret"),
        on_duplicate=options.get("on_duplicate"),
        triggers=not no_triggers,
    )
    made = index.options
    guesses = database.guess_records(table, kinds=kinds)
    for one in guesses:
        click.echo(str(one))
    if not {(one.kind or "").partition("@")[0].partition("+")[0] for one in guesses} & PERSONAL:
        err.print(
            f"no column of {table} looks like a name, a date, a telephone number or an e-mail address: if it holds no "
            "persons, drop the index and create one without --records"
        )
    elif not born(guesses):
        err.print(
            f"no column of {table} looks like a date of birth: without one, relatives and namesakes can hardly be told "
            "apart, and who has moved is hardly found; look at what is found before you act on it"
        )
    fields = f"{len(made.fields)} fields" if len(made.fields) > 1 else "1 field"
    click.echo(f"index {name!r} on {made.table}: {fields}, {made.keys} keys; not as you would have it?")
    click.echo(f"drop it and name the kind of a column, as in --column surname:name: {', '.join(kind_names())}")
    click.echo(f"next: {then('sync')}")


def _kind(text: str) -> tuple[str, str]:
    name, colon, kind = text.rpartition(":")
    if not colon:
        raise InvalidOption(f"with --records write --column NAME:KIND, such as {text}:name, or {text}: to leave it out")
    return name, kind
