"""What the commands share: arguments, JSON, progress on stderr."""

from __future__ import annotations

import datetime
import decimal
import errno
import json
import os
import shlex
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

import dbsim
from dbsim.cli.ending import Declined
from dbsim.options.asking import LIMIT, MAX_CANDIDATES, PROBES

LOG_SECONDS = 5.0
MOST_EXACT = 2**53
database_argument = click.argument("db", metavar="DB")
index_argument = click.argument("name", metavar="INDEX")


def on_index(command: Callable[..., Any]) -> Callable[..., Any]:
    """DB INDEX, the first two arguments of most commands."""
    return database_argument(index_argument(command))


json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


class Output(Console):
    """Of rich, which would end the process with exit code 1 when nobody reads its output any more."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))


out = Output(highlight=False, soft_wrap=True)
err = Output(stderr=True, highlight=False)


def opened(db: str, *, create: bool = False) -> dbsim.Database:
    """The database of a command, closed when the command ends."""
    database = dbsim.open(db, create=create)
    click.get_current_context().call_on_close(database.close)
    return database


def then(verb: str) -> str:
    """The command to go on with, on the same index: to be copied into a shell, whatever the names are."""
    given = click.get_current_context().params
    return shlex.join(["dbsim", verb, given["db"], given["name"]])


def require_yes(question: str) -> None:
    """Ask; a no, an empty answer and the end of the input alike, ends the command with exit code 1."""
    try:
        agreed = click.confirm(question, err=True)
    except click.Abort as error:
        if isinstance(error.__context__, EOFError):
            raise Declined from error
        raise
    if not agreed:
        raise Declined


decided_option = click.option(
    "--decided/--undecided",
    default=True,
    help="Without what people decided to be different and with the same, or as the texts say.  [default: decided]",
)


def search_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Options of everything that searches."""
    for option in (
        json_option,
        click.option(
            "--max-candidates", type=int, default=MAX_CANDIDATES, show_default=True, help="Rows ranked at most."
        ),
        click.option(
            "--probes", type=int, default=PROBES, help="Neighbouring buckets of each key to look into as well."
        ),
        click.option(
            "--verify/--estimate",
            default=None,
            help="Compare the texts of all rows, or of none.  [default: near the threshold]",
        ),
        click.option("--where", help="SQL condition on the table, e.g. \"lang = 'de'\"."),
        click.option("--limit", type=int, default=LIMIT, show_default=True, help="Hits at most."),
        click.option("--threshold", type=float, help="Lowest score; the index's own by default."),
    ):
        command = option(command)
    return command


def acting_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Options of everything that changes the rows of groups."""
    for option in (
        click.option("--even-if-behind", is_flag=True, help="Act although the index does not reflect all changes."),
        click.option("--yes", is_flag=True, help="Do not ask."),
        click.option(
            "--keep",
            default="first",
            show_default=True,
            metavar="first|last|longest|SQL",
            help="Which row of a group stays: by key, by length, or that with the highest value of a SQL expression.",
        ),
    ):
        command = option(command)
    return command


def print_json(value: Any) -> None:
    click.echo(json.dumps(exact(value), ensure_ascii=not _any_character(), indent=2, default=_plain))


def print_json_list(values: Iterable[Any]) -> int:
    """A JSON array, an element a line, written as they come; returns how many."""
    count, ascii_only = 0, not _any_character()
    for count, value in enumerate(values, 1):
        written = json.dumps(exact(value), ensure_ascii=ascii_only, default=_plain)
        click.echo(("[\n" if count == 1 else ",\n") + written, nl=False)
    click.echo("\n]" if count else "[]")
    return count


def _any_character() -> bool:
    """Whether the output's encoding has them all; where it has not, JSON writes them as escapes."""
    return (getattr(sys.stdout, "encoding", None) or "utf-8").lower().startswith("utf")


def exact(value: Any) -> Any:
    """Whole numbers that JavaScript, spreadsheets and jq would round become strings: keys of 64 bits, above all."""
    if isinstance(value, dict):
        return {name: exact(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [exact(part) for part in value]
    return str(value) if isinstance(value, int) and abs(value) > MOST_EXACT else value


def _plain(value: Any) -> Any:
    if isinstance(value, datetime.datetime | datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, decimal.Decimal):
        return str(value)
    if isinstance(value, bytes):
        return value.hex()
    return str(value)


@contextmanager
def progress_bar(every: float = LOG_SECONDS) -> Iterator[Callable[[str, int, int], None]]:
    """A progress callback (stage, done, total) that draws on stderr, or prints a line now and then into a log."""
    if not err.is_terminal:
        yield _log_progress(every)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=err, transient=True) as bar:
        tasks: dict[str, Any] = {}

        def show(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bar.add_task(stage, total=total)
            bar.update(tasks[stage], completed=done, total=total)

        yield show


def _log_progress(every: float) -> Callable[[str, int, int], None]:
    last = time.monotonic()

    def show(stage: str, done: int, total: int) -> None:
        nonlocal last
        if time.monotonic() - last > every:
            last = time.monotonic()
            click.echo(f"{stage}: {done} of {total}", err=True)

    return show


verify_option = click.option(
    "--verify/--no-verify",
    default=None,
    help="Compare the texts of all pairs, or of none.  [default: where the estimate's error leaves it open]",
)
