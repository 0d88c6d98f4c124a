"""Texts with near-duplicates for the tests of deduplication: generated, or from the corpora where they are there."""

from __future__ import annotations

import json
import lzma
import os
import random
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from sqlalchemy import text

import dbsim
from dbsim.text.features import Features
from tests.conftest import SECRET

CORPORA = Path(os.environ.get("DBSIM_CORPORA", Path(__file__).parents[2] / "shared" / "corpora"))
WORDS = [f"{a}{b}{c}" for a in "bdfglmnprstvk" for b in ("a", "ei", "o", "u") for c in ("n", "st", "ra", "lo", "mik")]


def generated(count: int, seed: int = 1, length: int = 60) -> list[str]:
    """Unrelated texts, exact copies and families of edited copies, shuffled."""
    rng = random.Random(seed)
    found: list[str] = []
    while len(found) < count:
        words = rng.choices(WORDS, k=length)
        found.append(" ".join(words))
        draw = rng.random()
        if draw < 0.1:
            found.append(" ".join(words).upper())
        elif draw < 0.4:
            found += [edited(" ".join(words), rng.randint(1, length // 6), rng) for _ in range(rng.randint(1, 4))]
    found = found[:count]
    rng.shuffle(found)
    return found


def edited(original: str, changes: int, rng: random.Random) -> str:
    words = original.split()
    for _ in range(changes):
        words[rng.randrange(len(words))] = rng.choice(WORDS)
    return " ".join(words)


def corpus(name: str, count: int) -> list[str]:
    """The first texts of a corpus, or enough generated ones to have pairs at every threshold."""
    path = CORPORA / f"{name}.jsonl.xz"
    if not path.exists():
        return generated(1500, seed=len(name), length=400)
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line)["text"].replace("\0", " ") for line in islice(lines, count)]


def fill(database: dbsim.Database, texts: list[str], **options: Any) -> dbsim.Index:
    """A table articles (id, body) and an index on it, filled."""
    with database.engine.begin() as connection:
        connection.execute(text("CREATE TABLE articles (id INTEGER PRIMARY KEY, body TEXT)"))
        rows = [{"id": number, "body": body} for number, body in enumerate(texts)]
        if rows:
            connection.execute(text("INSERT INTO articles VALUES (:id, :body)"), rows)
    index = database.create_index("articles", table="articles", columns=["body"], secret=SECRET, **options)
    index.sync()
    return index


def stored_groups(database: dbsim.Database) -> list[tuple[Any, ...]]:
    """What users see of the groups, sorted."""
    with database.engine.connect() as connection:
        return sorted(tuple(row) for row in connection.execute(text("SELECT * FROM dbsim_articles_groups")))


def stored_pairs(database: dbsim.Database) -> list[tuple[Any, ...]]:
    with database.engine.connect() as connection:
        return sorted(
            tuple(row)
            for row in connection.execute(text("SELECT pairing, a, b, score, exact FROM dbsim_articles_edges"))
        )


def forget_pairs(database: dbsim.Database) -> None:
    """So that the next run starts from nothing."""
    with database.engine.begin() as connection:
        connection.execute(
            text("UPDATE dbsim_articles_grouping SET token = '', reached = NULL, bucket = 0, paired = false")
        )


def exact_jaccard(features: Features) -> NDArray[np.float64]:
    """All pairs: one product of the documents' feature matrix with itself."""
    _, columns = np.unique(features.hashes, return_inverse=True)
    matrix = coo_array(
        (np.ones(len(columns)), (features.documents, columns)), shape=(len(features), len(columns))
    ).tocsr()
    matrix.data[:] = 1  # repeats were added up
    common = (matrix @ matrix.T).toarray()
    sizes = common.diagonal()
    union = sizes[:, None] + sizes[None, :] - common
    return np.triu(common / np.maximum(union, 1), 1)
