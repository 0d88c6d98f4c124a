"""dbsim sample, overlap, walk: rows drawn at random, and what they say about collections and graphs."""

from __future__ import annotations

from typing import Any

import click

from dbsim.cli.common import database_argument, json_option, on_index, opened, print_json, progress_bar
from dbsim.evaluate.sampling.graph import WalkSample
from dbsim.report.evaluation import interval

seed_option = click.option("--seed", type=int, help="The same number draws the same rows.")


@click.command()
@on_index
@click.argument("size", type=int)
@click.option("--distinct", is_flag=True, help="Draw among different contents, not among rows.")
@click.option("--by-words", is_flag=True, help="Draw through random questions for words (needs --signature).")
@seed_option
@json_option
def sample(db: str, name: str, size: int, distinct: bool, by_words: bool, seed: int | None, as_json: bool) -> int:
    """Keys of SIZE rows drawn at random, each with the same chance."""
    index = opened(db).index(name)
    found = index.sample_by_words(size, seed=seed) if by_words else index.sample(size, distinct=distinct, seed=seed)
    _print(found, as_json)
    return 0 if found else 1


@click.command()
@database_argument
@click.argument("a", metavar="INDEX_A")
@click.argument("b", metavar="INDEX_B")
@click.option("--other", metavar="DB", help="Database of INDEX_B, if it is another one.")
@click.option("--sample", type=int, default=1000, show_default=True, help="Rows drawn from each.")
@click.option("--distinct/--rows", default=True, help="Draw among different contents (default), or among rows.")
@click.option("--seed", type=int, default=0, show_default=True, help="Another number draws other rows.")
@json_option
def overlap(db: str, a: str, b: str, other: str | None, sample: int, distinct: bool, seed: int, as_json: bool) -> int:
    """What share of one collection another one holds, and how large they are to one another, from samples.

    Near-duplicates at the threshold count as contained. Brackets: 95 % confidence.
    """
    mine = opened(db)
    theirs = opened(other) if other else mine
    with progress_bar() as progress:
        found = mine.index(a).overlap(theirs.index(b), sample=sample, distinct=distinct, seed=seed, progress=progress)
    if as_json:
        print_json(found.to_json())
        return 0
    click.echo(f"share of {a} in {b}: {interval(found.a_in_b)}, {found.sampled_a} asked")
    click.echo(f"share of {b} in {a}: {interval(found.b_in_a)}, {found.sampled_b} asked")
    counted = "" if found.counted is None else f", counted {found.counted:.3f}"
    click.echo(f"size of {a} to {b}: {interval(found.relative_size)}{counted}")
    return 0


@click.command()
@database_argument
@click.argument("name", metavar="[INDEX]", required=False)
@click.option("--edges", metavar="TABLE:A:B", help="Walk on this table of edges instead, A and B its two columns.")
@click.option("--size", type=int, default=100, show_default=True, help="Nodes to draw.")
@click.option("--start", help="Node to begin at.  [default: one at random]")
@click.option("--gap", type=int, help="Steps between two draws.  [default: enough for independence]")
@click.option("--degree", type=int, help="Edges and loops a node is padded to.  [default: twice the most]")
@seed_option
@json_option
def walk(db: str, name: str | None, edges: str | None, start: str | None, as_json: bool, **options: Any) -> int:
    """Draw nodes by a random walk on near-duplicate pairs, or on any table of edges: uniform over what it reaches."""
    if (name is None) == (edges is None):
        raise click.UsageError("give either an INDEX or --edges TABLE:A:B")
    database = opened(db)
    if name is not None:
        found = database.index(name).walk(start=start, **options)
    else:
        parts = (edges or "").rsplit(":", 2)
        if len(parts) != 3:
            raise click.UsageError("--edges is TABLE:A:B, a table and its two columns")
        found = database.walk(parts[0], (parts[1], parts[2]), start=start, **options)
    _show(found, as_json)
    return 0


def _show(found: WalkSample, as_json: bool) -> None:
    if as_json:
        print_json(found.to_json())
        return
    click.echo(
        f"{found.reached} of {found.nodes} nodes can be reached from {found.start}; second eigenvalue "
        f"{found.second_eigenvalue:.6f}, so {found.convergence:,.0f} steps to converge; {found.gap:,} steps a draw",
        err=True,
    )
    _print(found.drawn, as_json)


def _print(keys: list[Any], as_json: bool) -> None:
    if as_json:
        print_json(keys)
        return
    for key in keys:
        click.echo(key)


COMMANDS = (sample, overlap, walk)
