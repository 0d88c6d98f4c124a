"""python -m benchmarks NAME [--size small|medium|full]: a table on stderr, JSON on stdout."""

from __future__ import annotations

from importlib import import_module

import click

SIZES = ("small", "medium", "full")
BENCHMARKS = {
    "index": "Signing, sync and its memory, beside datasketch and rensa.",
    "search": "Recall and latency, beside pgvector HNSW and the full scan.",
    "score": "Error of the score over real pairs, beside MinHash.",
    "families": "Recall and precision of every hash family at ten candidates a query.",
    "write": "What the triggers cost the application's writes.",
    "dedupe": "A whole table from texts to stored groups, beside datasketch; growth, memory, worst cases.",
    "insql": "Signing in SQL, inline writes, the view of pairs beside the search.",
    "parity": "Every document of the corpora, signed in Python and in PostgreSQL.",
    "alter": "What a change of options costs the searches that go on.",
    "promise": "Recall, precision and error at the threshold through every door, on templated texts and the corpora.",
    "contains": "Word questions by signatures beside LIKE, FTS5, GIN and bit slices.",
}


@click.group(help=__doc__)
def cli() -> None:
    """See the module."""


def _command(name: str, text: str) -> click.Command:
    module = import_module(f"benchmarks.{name}")

    @click.command(name, help=text)
    @click.option("--size", type=click.Choice(SIZES), default="full", show_default=True, help="How much to measure.")
    @click.option("--part", "parts", type=click.Choice(module.PARTS), multiple=True, help="Only this; repeat it.")
    def command(size: str, parts: tuple[str, ...]) -> None:
        module.run(size, parts or module.PARTS).show()

    return command


def alone(name: str) -> None:
    """python -m benchmarks.<name>"""
    _command(name, BENCHMARKS[name])(prog_name=f"python -m benchmarks.{name}")


for _name, _text in BENCHMARKS.items():
    cli.add_command(_command(_name, _text))

if __name__ == "__main__":
    cli(prog_name="python -m benchmarks")
