"""dbsim decide, decisions: what people said about pairs of rows."""

from __future__ import annotations

import getpass
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from dbsim.cli.asking.searching import shown_key, written_key
from dbsim.cli.common import json_option, on_index, opened, print_json, print_json_list, then
from dbsim.dedupe.people.decisions import Decision
from dbsim.errors import InvalidOption
from dbsim.index import Index
from dbsim.report.files import ReportFile
from dbsim.report.table import first_line, write_rows
from dbsim.tables.decision_tables import VERDICTS

COLUMNS = ("a", "b", "verdict", "outdated", "who", "when", "note", "score")


@click.command()
@on_index
@click.argument("a", metavar="KEY")
@click.argument("b", metavar="KEY")
@click.argument("verdict", metavar="same|different|unsure", required=False)
@click.option("--undo", is_flag=True, help="Take the decision about these rows back.")
@click.option("--by", "who", help="Who decides.  [default: your login name]")
@click.option("--note", default="", help="Why.")
@json_option
def decide(
    db: str, name: str, a: str, b: str, verdict: str | None, undo: bool, who: str | None, note: str, as_json: bool
) -> int:
    """Say that two rows are the same, different, or that you are unsure; groups respect it from then on.

    Exit code 1: --undo, but nothing was decided about these rows.
    """
    if undo == (verdict is not None):
        raise InvalidOption(f"give a verdict ({', '.join(VERDICTS)}) or --undo")
    index = opened(db).index(name)
    one, two = written_key(index, a), written_key(index, b)
    if verdict is None:
        taken = index.undecide(one, two)
        click.echo("taken back" if taken else "nothing was decided about these rows", err=not taken)
        return 0 if taken else 1
    made = index.decide(one, two, verdict, who=getpass.getuser() if who is None else who, note=note)
    if as_json:
        print_json(made.to_json())
    else:
        click.echo(f"{_line(made)}; next: {then('sync')}, to bring stored groups up to date")
    return 0


@click.command()
@on_index
@click.option("--csv", "csv_file", type=click.Path(path_type=Path), help="Write them with the score of every field.")
@json_option
def decisions(db: str, name: str, csv_file: Path | None, as_json: bool) -> int:
    """List what was decided. Exit code 1: nothing yet."""
    index = opened(db).index(name)
    if csv_file is not None:
        return _write(index, csv_file)
    if as_json:
        return 0 if print_json_list(decision.to_json() for decision in index.decisions()) else 1
    count = 0
    for decision in index.decisions():
        click.echo(_line(decision))
        count += 1
    if not count:
        click.echo("nothing is decided yet", err=True)
    return 0 if count else 1


def _write(index: Index, path: Path) -> int:
    file = ReportFile(path, first_line(COLUMNS))
    columns = (*COLUMNS, *(f"score of {field.name}" for field in index.options.fields))
    count = 0

    def rows() -> Iterator[Sequence[Any]]:
        nonlocal count
        for decision, scores in index.labelled_pairs():
            values = decision.to_json()
            count += 1
            yield [*(values[name] for name in COLUMNS), *scores]

    with file.open() as text:
        write_rows(text, columns, rows())
    click.echo(f"{count} decisions written: {path}")
    return 0 if count else 1


def _line(decision: Decision) -> str:
    parts = [f"{shown_key(decision.a)}\t{shown_key(decision.b)}\t{decision.verdict}", decision.who, decision.when]
    return "\t".join([*parts, *(["outdated: a text has changed"] if decision.outdated else []), decision.note]).rstrip()


COMMANDS = (decide, decisions)
