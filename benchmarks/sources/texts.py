"""Texts of the experiments: corpora without furniture and stop words → Documents, tf-idf, plagiarised copies."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np
from scipy.sparse import csr_array

from benchmarks import corpora
from dbsim.hashing.documents import Documents
from dbsim.hashing.keys import Plan
from dbsim.hashing.signer import FieldPlan, Signer
from dbsim.hashing.vectors import fit_frequencies, vectors
from dbsim.text.features import Analyser
from dbsim.text.normalise import fold

FURNITURE = re.compile(r"\n[^\n]*\[Page \d+\]\s*\n(\f?\s*\n)*(RFC \d+[^\n]*\n)?")
STOP_WORDS = 199  # as many as seed 003 removes; here the words of most documents, its list is not printed
LONGEST = 60_000  # characters of a text; the few longer ones would take half of the time


def rfc(count: int, seed: int = 1) -> list[str]:
    """A random sample, page headers and footers removed."""
    return [FURNITURE.sub("\n", text)[:LONGEST] for text in _sample("rfc", count, seed)]


def howto(count: int, seed: int = 1) -> list[str]:
    """Revisions of documents, neighbours in time among them."""
    return [text[:LONGEST] for text in _sample("howto", count, seed)]


@cache
def _texts(name: str) -> tuple[str, ...]:
    """Decompressed once for all sizes of an experiment."""
    return tuple(record["text"] for record in corpora.records(name) if len(record["text"]) > 300)


def _sample(name: str, count: int, seed: int) -> list[str]:
    texts = _texts(name)
    chosen = np.random.default_rng(seed).permutation(len(texts))[:count]
    return [texts[number] for number in np.sort(chosen)]


def newsgroups() -> Iterator[tuple[str, str, str]]:
    """(split, group, body): header lines but the subject are left out, they would tell the group."""
    for number, record in enumerate(corpora.records("newsgroups")):
        head, _, body = record["text"].partition("\n\n")
        subject = next((line[8:] for line in head.splitlines() if line.startswith("Subject:")), "")
        group = record.get("group", f"group{number % 20}")
        split = record.get("split", "test" if number % 5 == 0 else "train")
        yield split, group, f"{subject}\n{body}" if body else record["text"]


def without_stop_words(texts: Sequence[str], count: int = STOP_WORDS) -> list[str]:
    """Folded texts without the words that most documents have."""
    folded = [fold(text, "text").decode().split() for text in texts]
    frequency = Counter(word for words in folded for word in set(words))
    stop = {word for word, _ in frequency.most_common(count)}
    return [" ".join(word for word in words if word not in stop) for words in folded]


def documents(texts: Sequence[str], shingle: int = 3) -> Documents:
    return Signer([FieldPlan(Analyser(size=shingle), 1.0, 256, 1)], "minhash", Plan(1, 1), b"sources").documents(
        [texts]
    )


def tfidf(analysed: Documents) -> csr_array:
    """Rows of unit length."""
    return vectors(analysed, fit_frequencies(analysed)).matrix


def plagiarised(originals: Sequence[str], count: int, seed: int = 3) -> list[str]:
    """A collection of `count` texts: a quarter originals, the rest made from them.

    A copy takes 30 to 100 % of the paragraphs of one original, in another order for a third of the copies, replaces up
    to 20 % of the words, and fills up with paragraphs of a second text.
    """
    rng = np.random.default_rng(seed)
    base = [_paragraphs(text) for text in originals[: count // 4]]
    found = [" ".join(parts) for parts in base]
    while len(found) < count:
        own, other = (base[int(rng.integers(len(base)))] for _ in range(2))
        kept = max(round(len(own) * float(rng.uniform(0.3, 1.0))), 1)
        chosen = rng.permutation(len(own))[:kept]
        if rng.random() < 2 / 3:
            chosen.sort()
        parts = [own[place] for place in chosen]
        parts += [other[int(rng.integers(len(other)))] for _ in range(len(own) - kept)]
        found.append(corpora.edited(" ".join(parts), float(rng.uniform(0.0, 0.2)), rng))
    return found


def _paragraphs(text: str) -> list[str]:
    parts = [" ".join(part.split()) for part in re.split(r"\n\s*\n", text)]
    return [part for part in parts if len(part) > 40][:60] or [" ".join(text.split()) or "empty"]
