"""python -m benchmarks.sources NAME [--size SIZE] [--plots FOLDER]: an experiment of the sources, run again."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import click

from benchmarks.sources import readme

EXPERIMENTS = {
    "prefix-models": "Seed 000, fig. 4.2 and 4.3: prefix-class models against the vector space model.",
    "fuzzy-stable": "Seed 000, fig. 4.4 to 4.6: fuzzy-fingerprints against α-stable hashing.",
    "growth": "Seed 000, fig. 4.7: hits a query against the size of the collection.",
    "fuzzy-recall": "Seed 002, fig. 3: recall at similarity and comparisons saved.",
    "codes": "Seed 003: hyperplane, spectral and linear spectral codes.",
    "bloom": "Seed 004: similarity, collisions and false positives of Bloom filters.",
    "sampling": "Seed 001: Rabin's fingerprint, min-hash, relative size and overlap.",
}
PLOTS = Path(__file__).parent / "plots"


@click.command(help=__doc__)
@click.argument("name", type=click.Choice([*EXPERIMENTS, "all", "readme"]))
@click.argument("folder", type=click.Path(path_type=Path, exists=True), required=False)
@click.option("--size", type=click.Choice(["small", "medium", "full"]), default="full", show_default=True)
@click.option("--plots", type=click.Path(path_type=Path), default=PLOTS, help="Folder for the pictures.")
def main(name: str, folder: Path | None, size: str, plots: Path) -> None:
    if name == "readme":
        readme.write(folder or Path.cwd(), list(EXPERIMENTS))
        return
    for one in EXPERIMENTS if name == "all" else (name,):
        module = import_module(f"benchmarks.sources.{one.replace('-', '_')}")
        between = size == "medium" and size not in getattr(module, "SIZES", ())  # which only the longest has
        module.run("full" if between else size).show(plots)


if __name__ == "__main__":
    main(prog_name="python -m benchmarks.sources")
