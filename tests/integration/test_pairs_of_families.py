"""pairs and duplicates work for every hash family: its exact measure decides, and changes are worked in."""

from __future__ import annotations

import random

import numpy as np
import pytest
from sqlalchemy import text

import dbsim
from dbsim.hashing.families.registry import family_names
from tests.articles import edited, fill, forget_pairs, generated, stored_groups, stored_pairs

THRESHOLDS = {"bitsampling": 0.9}  # Hamming similarity of filters is high for any two texts
FAMILIES = [name for name in family_names() if name != "records"]


@pytest.mark.parametrize("family", [*FAMILIES, "forest:over=hyperplane"])
def test_pairs_of_a_family(database: dbsim.Database, family: str) -> None:
    texts = generated(90, length=40)
    threshold = THRESHOLDS.get(family, 0.7)
    index = fill(database, texts, family=family, threshold=threshold)
    search = index._current.get()
    exact = search.signer.similarity([texts], [texts])
    pairs = {(pair.a, pair.b): pair for pair in index.pairs(verify=True)}
    assert all(pair.exact for pair in pairs.values())
    for (a, b), pair in pairs.items():
        assert pair.score == pytest.approx(exact[a, b], abs=1e-6)  # of copies it is 1
        assert pair.score >= threshold
    truth = {(int(a), int(b)) for a, b in zip(*np.nonzero(np.triu(exact >= threshold, 1)), strict=True)}
    assert len(truth) > 10
    if family in ("fuzzy", "spectral", "linear-spectral"):  # no formula promises a recall: all that searches find
        hits = ((key, hit) for key in range(90) for hit in index.similar(key, limit=90, verify=True))
        assert {(min(key, hit.key), max(key, hit.key)) for key, hit in hits} <= set(pairs)
    else:
        assert len(truth & set(pairs)) >= 0.85 * len(truth)
    for group in index.duplicates(by="complete"):
        keys = [hit.key for hit in group.members]
        assert all(exact[a, b] >= threshold - 1e-9 for a in keys for b in keys)
    rng = random.Random(5)
    with database.engine.begin() as connection:
        for key in range(0, 30, 3):
            body = edited(texts[key], 3, rng) if key % 2 else texts[key + 40]
            connection.execute(text("UPDATE articles SET body = :body WHERE id = :id"), {"id": key, "body": body})
        connection.execute(text("DELETE FROM articles WHERE id IN (2, 5, 7)"))
    index.sync()
    incremental = (stored_groups(database), stored_pairs(database))
    assert incremental[1] != []
    forget_pairs(database)
    index.duplicates(by="complete")
    assert (stored_groups(database), stored_pairs(database)) == incremental
