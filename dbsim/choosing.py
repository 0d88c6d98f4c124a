"""What was left open about a field, chosen from a sample of its texts: (Field, texts) → Field (no database)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from dbsim.hashing.filter_size import choose_size
from dbsim.hashing.word_signatures import choose_signature
from dbsim.options import MOST_WORD_BITS, Field
from dbsim.text.normalisers.choose import choose_normaliser
from dbsim.text.tokens import TokenHasher

SHORT = 12  # words: in shorter texts one changed word spoils most 3-word shingles, so characters are compared


def resolve(field: Field, sample: Sequence[str], threshold: float) -> Field:
    """Normaliser, unit, size, bits and sampling that suit these texts."""
    hasher = TokenHasher(b"")
    if not field.normaliser:
        field = replace(field, normaliser=choose_normaliser(sample)[0])
    if field.unit is None:
        words = replace(field, unit="words", size=1).analyser().tokens(sample, hasher).counts
        short = len(words) > 0 and float(np.median(words)) < SHORT
        field = replace(field, unit="characters" if short else "words")
    field = replace(field, size=field.size or 3)
    analyser = field.analyser()
    bits, step = choose_size(analyser.features(analyser.tokens(sample, hasher)).counts, threshold)
    field = replace(field, bits=field.bits or bits, sample=field.sample or (1 if field.bits else step))
    return _with_signature(field, sample, hasher) if field.false_drops and not field.word_bits else field


def _with_signature(field: Field, sample: Sequence[str], hasher: TokenHasher) -> Field:
    """A word signature for the numbers of different words that these texts have."""
    tokens = hasher.words(field.analyser().fold(sample))
    different = [len(set(tokens.hashes[a:b].tolist())) for a, b in pairwise(tokens.offsets.tolist())]
    chosen = choose_signature(np.array(different, np.int64), field.false_drops, MOST_WORD_BITS)
    return replace(field, word_bits=chosen.bits, word_marks=chosen.per_word)
