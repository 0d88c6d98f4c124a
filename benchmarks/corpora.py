"""Texts to measure with: from the corpora folder when it is there, else generated from a seed."""

from __future__ import annotations

import json
import lzma
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

ENVIRONMENT = "DBSIM_CORPORA"
SEED = 20240607
PROSE = ("rfc", "newsgroups", "howto")
FRAGMENT = 150  # characters: documents of any length are made of such pieces of running text
POOL = 400_000  # fragments drawn from


def folder() -> Path | None:
    """$DBSIM_CORPORA, or the folder that lies beside a checkout of the project."""
    given = os.environ.get(ENVIRONMENT)
    path = Path(given) if given else Path(__file__).resolve().parents[2] / "shared" / "corpora"
    return path if path.is_dir() else None


def origin() -> str:
    """For the report: where the texts come from."""
    return "corpora" if folder() else f"generated, seed {SEED}"


def records(name: str) -> Iterator[dict[str, Any]]:
    """The objects of one corpus; of a generated one without the folder."""
    found = folder()
    if found is None:
        yield from _GENERATORS[name]()
        return
    with lzma.open(found / f"{name}.jsonl.xz", "rt", encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            record["text"] = record["text"].replace("\0", " ")  # a few old RFCs; PostgreSQL cannot store it
            yield record


def passages(count: int, length: int) -> list[str]:
    """Distinct stretches of running text of `length` characters, cut at a space, blanks squeezed."""
    found: dict[str, None] = {}
    for text in _passages(length):
        found[text] = None
        if len(found) == count:
            return list(found)
    raise SystemExit(f"the corpora hold only {len(found)} texts of {length} characters, not {count}")


def _passages(length: int) -> Iterator[str]:
    for text in _prose():
        start = 0
        while start + length < len(text):
            end = text.rfind(" ", start, start + length)
            end = end if end > start else start + length
            yield text[start:end]
            start = end + 1


def _prose() -> Iterator[str]:
    """All texts of all corpora in turn, so that a small sample has some of each; of a HOWTO its newest revision."""
    sources = [_newest() if name == "howto" else (record["text"] for record in records(name)) for name in PROSE]
    while sources:
        for source in list(sources):
            text = next(source, None)
            if text is None:
                sources.remove(source)
            else:
                yield " ".join(text.split())


def _newest() -> Iterator[str]:
    newest = {record["doc"]: record["text"] for record in records("howto")}
    yield from newest.values()


@cache
def fragments(count: int = POOL) -> list[str]:
    return passages(count, FRAGMENT)


def documents(count: int, length: int, seed: int = SEED) -> Iterator[str]:
    """Any number of documents of about `length` characters, each of random fragments: unrelated, but not wordless."""
    pool = fragments(min(POOL, max(1000, count * 4)))
    rng = np.random.default_rng(seed)
    each = max(round(length / FRAGMENT), 1)
    for start in range(0, count, 10_000):
        for row in rng.integers(0, len(pool), (min(10_000, count - start), each)).tolist():
            yield " ".join([pool[number] for number in row])


def edited(text: str, share: float, rng: np.random.Generator) -> str:
    """A copy in which a share of the words is replaced: one run of words, or single words all over the text."""
    words = text.split()
    changed = round(share * len(words))
    if rng.random() < 0.5:
        start = int(rng.integers(0, len(words) - changed + 1))
        places = range(start, start + changed)
    else:  # one word takes three shingles with it
        places = rng.choice(len(words), max(changed // 3, 1), replace=False).tolist()
    for place in places:
        words[place] = f"new{int(rng.integers(0, 10**9))}"
    return " ".join(words)


def paragraphs(count: int, length: int, copies: float, near: float) -> Iterator[str]:
    """Unrelated documents with a share of copies, exact and edited, of some of the last thousand."""
    rng = np.random.default_rng(SEED)
    recent: list[str] = []
    for fresh in documents(count, length):
        draw = rng.random()
        made = fresh
        if recent and draw < copies + near:
            made = recent[int(rng.integers(0, len(recent)))]
            if draw >= copies:
                made = edited(made, float(rng.uniform(0, 0.1)), rng)
        recent = [*recent[-999:], made] if rng.random() < 0.1 else recent
        yield made


@dataclass(frozen=True)
class Planted:
    """Families of near-copies for a table of `count` rows: stored members by row id, and one unstored query each."""

    stored: dict[int, str]
    queries: list[str]
    members: list[list[int]]  # family → row ids

    def rows(self, count: int, length: int) -> Iterator[tuple[int, str]]:
        """The whole table: the families at their places, unrelated documents around them."""
        for number, text in enumerate(documents(count, length), 1):
            yield number, self.stored.get(number, text)


def plant(count: int, length: int, families: int, copies: int = 2) -> Planted:
    """`families` × (an original, `copies` edited copies), and an edited copy of each original to ask with."""
    rng = np.random.default_rng(SEED + 1)
    places = (rng.choice(count, families * (1 + copies), replace=False) + 1).reshape(families, -1).tolist()
    stored: dict[int, str] = {}
    queries = []
    for original, family in zip(documents(families, length, SEED + 2), places, strict=True):
        stored[family[0]] = original
        for place in family[1:]:
            stored[place] = edited(original, float(rng.uniform(0, 0.2)), rng)
        queries.append(edited(original, float(rng.uniform(0, 0.2)), rng))
    return Planted(stored, queries, places)


# ── without the folder ──
def _generated(count: int, words: int, seed: int) -> Iterator[str]:
    """Texts of made-up words whose frequencies fall as in a language."""
    rng = np.random.default_rng(seed)
    letters = np.array(list("etaoinshrdlucmfwypvbgk"))
    vocabulary = ["".join(rng.choice(letters, rng.integers(2, 11))) for _ in range(20_000)]
    weights = 1 / np.arange(5, len(vocabulary) + 5)
    weights /= weights.sum()
    for _ in range(count):
        size = max(int(rng.normal(words, words / 4)), 5)
        yield " ".join([vocabulary[number] for number in rng.choice(len(vocabulary), size, p=weights).tolist()])


def _generated_prose(seed: int) -> Iterator[dict[str, Any]]:
    for text in _generated(4000, 8000, seed):
        yield {"text": text}


def _generated_howto() -> Iterator[dict[str, Any]]:
    rng = np.random.default_rng(SEED + 5)
    for number, text in enumerate(_generated(1500, 4000, SEED + 5)):
        for revision in range(3):
            yield {"doc": f"doc{number}", "rev": revision, "text": text}
            text = edited(text, float(rng.uniform(0, 0.15)), rng)


def _generated_debian() -> Iterator[dict[str, Any]]:
    """Two releases of 62,000 short descriptions; most stay as they are, and every fifth package has near-copies."""
    rng = np.random.default_rng(SEED + 6)
    originals = list(_generated(50_000, 60, SEED + 6))
    originals += [edited(originals[i % 500], float(rng.uniform(0, 0.2)), rng) for i in range(12_000)]
    rng.shuffle(originals)
    for suite in ("first", "second"):
        for number, text in enumerate(originals):
            changed = suite == "second" and rng.random() < 0.05
            shown = edited(text, float(rng.uniform(0, 0.3)), rng) if changed else text
            yield {"suite": suite, "package": f"package{number}", "text": shown}


_GENERATORS = {
    "rfc": lambda: _generated_prose(SEED + 3),
    "newsgroups": lambda: _generated_prose(SEED + 4),
    "howto": _generated_howto,
    "debian": _generated_debian,
}
