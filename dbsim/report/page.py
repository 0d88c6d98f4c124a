"""The report as one HTML page without scripts: the members of a group side by side, differences marked."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from html import escape
from typing import Any, TextIO

from dbsim.report.differences import CHANGED, compare, excerpt
from dbsim.report.files import MARK
from dbsim.report.rows import Shown
from dbsim.text.features import Analyser

MEMBERS = 12  # shown of a group
CONTEXT = 200  # characters shown before and after a difference
BEGINNING = 2000  # characters of the first row
STYLE = """
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 110rem; padding: 0 1.5rem; }
h1 { font-size: 1.4rem; margin: 0 0 .3rem; } h2 { font-size: 1rem; margin: 2rem 0 .5rem; }
.note { color: #667; }
.members { display: grid; gap: .8rem; grid-template-columns: repeat(auto-fit, minmax(20rem, 1fr)); }
article { border: 1px solid #8886; border-radius: .4rem; padding: .6rem .8rem; overflow-wrap: anywhere; }
article.stays { border-color: #2a7; box-shadow: inset 3px 0 #2a7; }
header { display: flex; gap: .6rem; align-items: baseline; font-size: .85rem; margin-bottom: .3rem; }
header b { font-size: 1rem; } .score { margin-left: auto; font-variant-numeric: tabular-nums; }
p { margin: 0; } ins { background: #2a73; text-decoration: none; border-radius: 2px; }
del { background: #d443; border-radius: 2px; }
"""


def write_page(file: TextIO, title: str, summary: str, groups: Iterable[Shown], total: int) -> int:
    """The number of groups on the page."""
    file.write(f'<!doctype html><!-- {MARK} --><html lang="en"><meta charset="utf-8"><title>{escape(title)}</title>')
    file.write('<meta name="viewport" content="width=device-width, initial-scale=1">')
    file.write(f"<style>{STYLE}</style><h1>{escape(title)}</h1><p>{escape(summary)}</p>")
    file.write(
        '<p class="note">Words marked <ins>like this</ins> are only in that row, <del>like this</del> only in the '
        "group's first row. The row with the bar stays.</p>"
    )
    count = 0
    for shown in groups:
        file.writelines(_group(shown))
        count += 1
    if count < total:
        file.write(f'<p class="note">{total - count} more groups are not on this page: raise --limit to see them.</p>')
    file.write("</html>\n")
    return count


def _group(shown: Shown) -> Iterator[str]:
    group = shown.group
    yield f"<section><h2>{len(group.members)} rows around {_key(group.representative)}"
    yield f' <span class="note">diameter {group.diameter:.3f}</span></h2><div class="members">'
    first = shown.texts[0] or ""
    for number, (hit, stays, text) in enumerate(zip(group.members, shown.stays, shown.texts, strict=False)):
        yield f'<article class="{"stays" if stays else "goes"}"><header><b>{_key(hit.key)}</b>'
        yield f'<span class="note">{"stays" if stays else "goes"}</span>'
        yield f'<span class="score">{hit.score:.3f}</span></header><p>'
        yield _plain(text) if number == 0 or text is None else _marked(first, text, shown.analyser)
        yield "</p></article>"
    yield "</div>"
    if len(group.members) > len(shown.texts):
        yield f'<p class="note">and {len(group.members) - len(shown.texts)} more rows</p>'
    yield "</section>"


def _plain(text: str | None) -> str:
    if text is None:
        return "(deleted)"
    return escape(text if len(text) <= BEGINNING else text[:BEGINNING] + "…")


def _marked(first: str, text: str, analyser: Analyser) -> str:
    parts = []
    for run in excerpt(compare(first, text, analyser), CONTEXT):
        if run.kind == CHANGED:
            parts += [_tagged("del", run.first), _tagged("ins", run.second)]
        else:
            parts.append(escape(run.second))
    return "".join(parts)


def _tagged(tag: str, text: str) -> str:
    """The gap after a word is not marked."""
    word = text.rstrip()
    return f"<{tag}>{escape(word)}</{tag}>{text[len(word) :]}" if text else ""


def _key(key: Any) -> str:
    return escape(json.dumps(key, ensure_ascii=False, default=str) if isinstance(key, dict) else str(key))
