"""python -m benchmarks NAME [--size small|medium|full]: a table on stderr, JSON on stdout; `all` writes README.md."""

from __future__ import annotations

import signal
import sys
from importlib import import_module
from pathlib import Path

import click

from benchmarks import everything
from benchmarks.report import NOT_INSTALLED, console

SIZES = ("small", "medium", "full")
BENCHMARKS = {
    "startup": "CPU time of `dbsim --version` and `import dbsim`, beside sqlite-utils.",
    "index": "Signing, sync and its memory, beside datasketch and rensa.",
    "search": "Recall and latency, beside pgvector HNSW and the full scan.",
    "score": "Error of the score over real pairs, beside MinHash.",
    "families": "Recall and precision of every hash family at ten candidates a query.",
    "write": "What the triggers cost the application's writes.",
    "waiting": "SQLite: the longest wait of an application's write, in every phase of an index's life.",
    "dedupe": "A whole table from texts to stored groups, beside datasketch; growth, memory, worst cases.",
    "scale": "Bulk and `sync --workers`: time and memory, beside datasketch.",
    "insql": "Signing in SQL, inline writes, the view of pairs beside the search.",
    "parity": "Every document of the corpora, signed in Python and in PostgreSQL.",
    "alter": "What a change of options costs the searches that go on.",
    "promise": "Recall, precision and error at the threshold through every door, on templated texts and the corpora.",
    "persons": "Records of persons: F1, precision, recall and candidates of the keys, beside Splink.",
    "web": "Every page of `dbsim serve`: time to the first byte beside a search, memory of the server.",
    "contains": "Word questions by signatures beside LIKE, FTS5 and GIN.",
}
PAGE = Path(__file__).parent / "README.md"


class MissingPeer(click.ClickException):
    """What is measured beside dbsim is not there; `all` tells it from a failure by the exit code."""

    exit_code = NOT_INSTALLED


class Benchmarks(click.Group):
    """Imports a benchmark when it is asked for: without datasketch the others still run."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*BENCHMARKS, *super().list_commands(ctx)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        known = super().get_command(ctx, cmd_name)
        if known or cmd_name not in BENCHMARKS:
            return known
        return _command(cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([*BENCHMARKS.items(), ("all", "Each in its own process, then a page with all tables.")])


def _command(name: str) -> click.Command:
    try:
        module = import_module(f"benchmarks.{name}")
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package in ("benchmarks", "dbsim", "tests"):
            raise
        raise MissingPeer(f"{package} is not installed: pip install -e '.[benchmark]'") from error

    @click.command(name, help=BENCHMARKS[name])
    @click.option("--size", type=click.Choice(SIZES), default="full", show_default=True, help="How much to measure.")
    @click.option("--part", "parts", type=click.Choice(module.PARTS), multiple=True, help="Only this; repeat it.")
    def command(size: str, parts: tuple[str, ...]) -> None:
        module.run(size, parts or module.PARTS).show()

    return command


def alone(name: str) -> None:
    """python -m benchmarks.<name>"""
    _command(name)(prog_name=f"python -m benchmarks.{name}")


@click.group(cls=Benchmarks, help=__doc__)
def cli() -> None:
    """See the module."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that servers are stopped and files removed


@cli.command("all", help="Every benchmark in its own process, one after another; then a page with all tables.")
@click.option("--size", type=click.Choice(SIZES), default="medium", show_default=True, help="How much to measure.")
@click.option("--minutes", type=float, default=60, show_default=True, help="Time limit of each benchmark.")
@click.option("--only", type=click.Choice(list(BENCHMARKS)), multiple=True, help="Only this one; repeat it.")
@click.option("--keep", type=click.Path(file_okay=False, path_type=Path), help="Keep reports here, take those there.")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), default=PAGE, help="[default: README.md here]")
def all_(size: str, minutes: float, only: tuple[str, ...], keep: Path | None, out: Path) -> None:
    names = [name for name in BENCHMARKS if not only or name in only]
    if keep:
        keep.mkdir(parents=True, exist_ok=True)
    outcomes = everything.run(names, size, minutes * 60, keep)
    out.write_text(everything.page(outcomes, BENCHMARKS, size), encoding="utf-8")
    console.print(f"wrote {out}")


if __name__ == "__main__":
    cli(prog_name="python -m benchmarks")
