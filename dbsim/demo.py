"""The demonstration behind `dbsim demo`: sample texts → a SQLite file, an index, marked near-duplicates."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console
from rich.text import Text

import dbsim
from dbsim.index import Index
from dbsim.progress import Progress
from dbsim.report.differences import CHANGED, analyser_of, compare, excerpt
from dbsim.text.features import Analyser

DATA = Path(__file__).parent / "demo_articles.jsonl"
SECRET = bytes(16)  # of sample texts there is nothing to hide: every demonstration prints the same
SHOWN = 12
AROUND = 24  # characters of equal text beside a difference


def run(out: Console, progress: Progress) -> None:
    """Import, create, sync, show, each with the command that does the same."""
    folder = Path(tempfile.mkdtemp(prefix="dbsim-demo-"))
    path = folder / "demo.db"
    database = dbsim.open(path, create=True)
    _, rows = database.import_file(DATA, table="articles")
    _command(out, f"dbsim import {path} articles.jsonl --table articles", f"{rows} texts, English and German")
    _command(out, f"dbsim upgrade {path}", f"dbsim's tables at version {database.upgrade()}")
    index = database.create_index("articles", table="articles", columns=["title", "body"], secret=SECRET)
    options = index.options
    found = f"pairs from {options.threshold:g} with recall {options.recall:g}"
    plan = f"{options.keys} keys of {options.rows} values: {found}"
    _command(out, f"dbsim create {path} articles --table articles --column title --column body", plan)
    report = index.sync(progress=progress)
    _command(out, f"dbsim sync {path} articles", f"{report.filled} rows signed")
    pairs = sorted(near_duplicates(index, rows), key=lambda pair: (-pair[2], pair[0]))
    exact = [pair for pair in pairs if pair[2] == 1.0]
    others = [pair for pair in pairs if pair[2] < 1.0]
    out.print(f"\n[bold]{len(pairs)} near-duplicate pairs[/], {len(exact)} of them equal but for case and punctuation.")
    out.print("Some of the others, with the differing words marked:\n")
    for a, b, score in others[:: max(len(others) // SHOWN, 1)][:SHOWN]:
        first, second = (text or "" for text in index.texts([a, b]))
        out.print(f"[bold]{score:.3f}[/]  articles {a} and {b}")
        out.print(marked(first, second, analyser_of(options)))
        out.print()
    out.print("Go on with:")
    program = "dbsim" if shutil.which("dbsim") else sys.argv[0]  # as it was called, when the venv is not activated
    for command in (f"similar {path} articles {others[0][0]}", f'search {path} articles "…" --json', f"status {path}"):
        out.print(f"  {program} {command}", markup=False)


def near_duplicates(index: Index, rows: int) -> Iterator[tuple[int, int, float]]:
    """Each pair once, through the same search that users call."""
    for key in range(1, rows + 1):
        for hit in index.similar(key, limit=100):
            if key < hit.key:
                yield key, hit.key, hit.score


def marked(first: str, second: str, analyser: Analyser) -> Text:
    """The second text, with words that the first lacks in green and words only in the first struck through in red."""
    shown = Text("       ")
    for run in excerpt(compare(first, second, analyser), AROUND):
        if run.kind != CHANGED:
            shown.append(" ".join(run.second.split("\n")))
            continue
        if run.first:
            shown.append(f"[-{run.first.rstrip()}-]", style="red strike")
            shown.append(" ")
        if run.second:
            word = run.second.rstrip()
            shown.append(f"{{+{word}+}}", style="green bold")
            shown.append(run.second[len(word) :])
    return shown


def _command(out: Console, command: str, result: str) -> None:
    out.print(Text.assemble(("$ ", "dim"), (command, "bold")))
    out.print(Text(f"  {result}", style="dim"))
