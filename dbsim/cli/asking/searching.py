"""dbsim search, similar: questions to an index."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

import click
from rich.markup import escape

from dbsim.cli.common import (
    decided_option,
    err,
    json_option,
    on_index,
    opened,
    out,
    print_json,
    search_options,
)
from dbsim.errors import InvalidOption
from dbsim.index import Index
from dbsim.report.differences import analyser_of, differing_part
from dbsim.search.explain import Explanation
from dbsim.search.results import Results

SHINGLES = 6  # shown of each kind
SHOWN = 100  # characters of a text


@click.command()
@on_index
@click.argument("text", required=False)
@click.option("--field", "fields", multiple=True, metavar="NAME=TEXT", help="Text of one field, instead of TEXT.")
@click.option("--decided", metavar="KEY", help="The row that the text belongs to: what was decided about it counts.")
@search_options
def search(
    db: str, name: str, text: str | None, fields: tuple[str, ...], decided: str | None, as_json: bool, **options: Any
) -> int:
    """Find rows similar to TEXT (- reads standard input). Exit code 1: nothing found."""
    if (text is None) == (not fields):
        raise InvalidOption("give TEXT, - for standard input, or --field NAME=TEXT")
    index = opened(db).index(name)
    if text is None:
        question: str | dict[str, str] = dict(_field(pair) for pair in fields)
    elif text == "-":
        question = sys.stdin.buffer.read().decode("utf-8", "replace")
    else:
        question = text
    asked = question if isinstance(question, str) else " ".join(question.values())
    row = None if decided is None else written_key(index, decided)
    return show(index, index.search(question, decided=row, **options), as_json, asked)


def _field(pair: str) -> tuple[str, str]:
    name, equals, value = pair.partition("=")
    if not equals:
        raise InvalidOption(f"write --field NAME=TEXT, not {pair!r}")
    return name, value


@click.command()
@on_index
@click.argument("key")
@decided_option
@search_options
def similar(db: str, name: str, key: str, as_json: bool, **options: Any) -> int:
    """Find rows similar to the row with this primary KEY (a JSON object when composite). Exit code 1: nothing found."""
    index = opened(db).index(name)
    key_asked = written_key(index, key)
    found = index.similar(key_asked, **options)
    asked = None if as_json else index.texts([key_asked])[0]
    return show(index, found, as_json, asked or "")


@click.command()
@on_index
@click.argument("a", metavar="KEY")
@click.argument("b", metavar="KEY")
@json_option
def explain(db: str, name: str, a: str, b: str, as_json: bool) -> int:
    """Show why two rows are, or are not, near-duplicates. Exit code 1: a search would not find the pair."""
    index = opened(db).index(name)
    found = index.explain(written_key(index, a), written_key(index, b))
    if as_json:
        print_json(found.to_json())
    else:
        for line in explained(found):
            click.echo(line)
    return 0 if found.found else 1


def explained(found: Explanation) -> Iterator[str]:
    """The score, then each field with its shingles; of persons the evidence."""
    if found.evidence is not None:
        yield from found.evidence.lines()
        return
    verdict = "found" if found.found else "not found"
    yield f"score {_number(found.score)} (exact {_number(found.exact)}), threshold {found.threshold:g}: {verdict}"
    numbers = ", ".join(map(str, found.shared_keys)) or "none"
    yield f"bucket keys in common: {len(found.shared_keys)} of {found.keys} ({numbers})"
    for field in found.fields:
        yield f"{field.field}, weight {field.weight:g}: {_number(field.estimate)} (exact {_number(field.exact)})"
        for title, shingles in (("in both", field.shared), ("only in a", field.only_a), ("only in b", field.only_b)):
            if shingles:
                more = f" | … {len(shingles) - SHINGLES} more" if len(shingles) > SHINGLES else ""
                yield f"  {title:<9} {len(shingles):>4}: " + " | ".join(shingles[:SHINGLES]) + more


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def written_key(index: Index, text: str) -> Any:
    """A key as it is given on the command line."""
    if len(index.key_names) == 1:
        return text
    try:
        value = json.loads(text)
    except json.JSONDecodeError:
        value = None
    if not isinstance(value, dict):
        example = json.dumps(dict.fromkeys(index.key_names, "…"), ensure_ascii=False)
        raise InvalidOption(f"the key has several parts: write it as {example}")
    return value


def show(index: Index, results: Results, as_json: bool, asked: str) -> int:
    if not results.complete:
        err.print("[yellow]the index is not filled yet, so rows may be missing: run `dbsim sync`")
    if results.cut:
        err.print(f"[yellow]only {results.candidates} candidates were ranked: raise --max-candidates to see all")
    for warning in results.warnings:
        err.print(f"[yellow]{escape(warning)}")
    if as_json:
        print_json(results.to_list())
    elif results:
        for line in lines(results, index, asked):
            click.echo(line)
    if not results:
        click.echo("nothing similar found" + _closest(results), err=True)
    return 0 if results else 1


def _closest(results: Results) -> str:
    """The best row below the threshold, where one was ranked."""
    best = results.closest
    return "" if best is None else f"; closest: {best.score:.3f} (key {shown_key(best.key)})"


def shown_key(key: Any) -> str:
    return json.dumps(key, ensure_ascii=False, default=str) if isinstance(key, dict) else str(key)


def lines(results: Results, index: Index, asked: str) -> Iterator[str]:
    """Score, key and the part of the text that differs from what was asked for, as wide as the terminal."""
    keys = [shown_key(hit.key) for hit in results]
    width = max(map(len, keys))
    room = max(out.width - width - 9, 20) if out.is_terminal else SHOWN
    for hit, key, text in zip(results, keys, index.texts([hit.key for hit in results]), strict=True):
        shown = "" if text is None else differing_part(asked, text, analyser_of(index.options), room)
        shown = "(changed since it was indexed) " + shown if hit.stale else shown
        yield f"{hit.score:.3f}  {key:<{width}}  {shown if len(shown) <= room else shown[: room - 1] + '…'}"


@click.command()
@on_index
@click.argument("words", nargs=-1)
@click.option("--phrase", multiple=True, help="These words in a row; repeat it.")
@click.option("--not", "none_of", multiple=True, help="Leave out rows with this word or phrase; repeat it.")
@click.option("--where", help="SQL condition on the table, e.g. \"lang = 'de'\".")
@click.option("--limit", type=click.IntRange(min=0), help="Rows at most.  [default: all]")
@json_option
def contains(db: str, name: str, words: tuple[str, ...], as_json: bool, **options: Any) -> int:
    """Keys of the rows with all WORDS and phrases, exactly; the index needs --signature.

    Exit code 1: there are none.
    """
    found = opened(db).index(name).contains(*words, **options)
    if as_json:
        print_json(list(found))
    else:
        for key in found:
            click.echo(shown_key(key))
    return 0 if found else 1


COMMANDS = (contains, search, similar, explain)
