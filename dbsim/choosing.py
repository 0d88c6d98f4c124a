"""What was left open, chosen from a sample of texts (pure): (Field, texts) → Field; (IndexOptions, texts) → plan."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from dbsim.errors import InvalidOption
from dbsim.hashing.choosing.filter_size import choose_size
from dbsim.hashing.choosing.planning import FEWEST, FEWEST_TRIED, MANY, choose
from dbsim.hashing.families.registry import described
from dbsim.hashing.word_signatures import choose_signature
from dbsim.options import Field, IndexOptions, Planned
from dbsim.options.fields import MOST_WORD_BITS
from dbsim.text.normalisers.choose import choose_normaliser
from dbsim.text.normalisers.registry import newest
from dbsim.text.spans import spans
from dbsim.text.tokens import TokenHasher

OUTGROWN = 2  # times the rows that the plan was made for
OUTGROWN_PERSONS, FEW_PERSONS = (
    4,
    250,
)  # times as many rows, of at least so many: other keys of persons are cheapest then
ENOUGH = 300  # characters of a text, to see how it is written
USUAL_LENGTH, SHORT_VALUE = 30, 12  # characters of a value: where there is none to look at; of which digrams are made
SHORT = 12  # words: in shorter texts one changed word spoils most 3-word shingles, so characters are compared


@dataclass(frozen=True)
class WordSample:
    """Texts that tell how long those of a field are, of all over the table: few long ones drop more than all others.

    `share` of the table they are, and the bits that there is room for beside other fields' signatures.
    """

    texts: Sequence[str]
    share: float = 0.0
    most: int = MOST_WORD_BITS


def resolve(field: Field, sample: Sequence[str], threshold: float, spread: WordSample | None = None) -> Field:
    """Normaliser, unit, size, bits and sampling that suit these texts, and a word signature for those of `spread`."""
    if field.filter:
        return _with_parts(field, sample)
    hasher = TokenHasher(b"")
    if not field.normaliser:
        field = replace(field, normaliser=choose_normaliser(sample)[0])
    if field.unit is None:
        words = replace(field, unit="words", size=1).analyser().tokens(sample, hasher).counts
        short = len(words) > 0 and float(np.median(words)) < SHORT
        field = replace(field, unit="characters" if short else "words")
    field = replace(field, size=field.size or 3)
    analyser = field.analyser()
    bits, step = choose_size(analyser.analyse(sample, hasher).features.counts, threshold)
    field = replace(field, bits=field.bits or bits, sample=field.sample or (1 if field.bits else step))
    if field.false_drops and not field.word_bits:
        return _with_signature(field, spread or WordSample(sample), hasher)
    return field


def _with_parts(field: Field, sample: Sequence[str]) -> Field:
    """As in Kampf's sketch: ä is ae; trigrams of longer values, digrams of short ones; room for nine of ten values."""
    if field.unit == "words":
        raise InvalidOption("partitioned filters are made of n-grams of characters: say characters=2 or 3, not words")
    assert field.parted is not None
    field = replace(field, normaliser=field.normaliser or newest("german"), unit="characters", sample=1)
    values = [len(value) for value in field.analyser().fold(sample)]
    length = int(np.quantile(values, 0.9)) if values else USUAL_LENGTH
    size = field.size or (2 if length < SHORT_VALUE else 3)
    return parted_for(replace(field, size=size), length, size)


def parted_for(field: Field, length: int, size: int) -> Field:
    """With a partitioned filter for values of this length."""
    assert field.parted is not None
    made = field.parted.for_texts(max(length, 1), size)
    return replace(field, filter=str(made), bits=made.bits, sample=1)


def unit_in_words(field: Field, sample: Sequence[str]) -> str:
    """What is compared, as people say it: a word of Chinese, written without spaces, is a character."""
    unit = field.unit
    if unit == "words":
        found = [span for text in sample for span in spans(text[:ENOUGH], field.analyser())]
        alone = sum(len(span.token) == 1 and not span.token.isascii() for span in found)
        unit = "characters" if 2 * alone > len(found) else unit
    return f"{field.size} {unit}"


def planned(
    options: IndexOptions, sample: Sequence[Sequence[str]], count: Callable[[], int], *, free: bool = False
) -> IndexOptions:
    """Rows and keys by what they cost on this table; those of a small one follow from threshold and recall alone.

    `free`: nobody named settings of the family, so that a trial may choose them where there is no formula.
    """
    known = options.hashing.collision(options.threshold) is not None
    if len(sample[0]) < (FEWEST if known else FEWEST_TRIED):  # all of it: a larger one is sampled from both ends
        return options
    rows = count()
    choice = choose(options.signer(b""), sample, rows, options.threshold, options.recall, free=free)
    if not choice.rows:
        return options
    chosen = Planned(rows=rows, candidates=round(choice.candidates, 2), alike=round(choice.alike, 2))
    chosen = replace(chosen, recall=choice.recall)
    family = described(choice.family) if choice.family else options.family
    return replace(options, family=family, rows=choice.plan.rows, keys=choice.plan.keys, planned=chosen)


def why(options: IndexOptions) -> list[str]:
    """What `create` says of the plan it chose: a sentence or two."""
    chosen, family = options.planned, options.family.split("@")[0]
    if chosen is None:
        return []
    found = [f"chosen on a sample for {chosen.rows:,} rows: a search ranks about {chosen.candidates:.1f} rows in vain"]
    if chosen.recall is not None:
        found.append(
            f"family {family} has no formula: {chosen.recall:.0%} of the pairs in a trial were found, "
            f"{options.recall:.0%} were asked for"
        )
        if ":" in options.family:
            found.append(f"its settings are {options.family}")
    if chosen.candidates + chosen.alike > MANY:
        found.append(
            f"family {family} does not separate this table: {chosen.alike:.0f} rows reach {options.threshold:g} for a "
            "usual row; raise the threshold, or compare families with `dbsim tune`"
        )
    return found


def outgrown(options: IndexOptions, rows: int) -> str | None:
    """What `status` says when the table has become too large for the plan; None while it has not."""
    chosen = options.planned
    again = f"`dbsim alter DB {options.name} --replan` plans again"
    if chosen is not None and options.hashing.rarity:
        if rows <= OUTGROWN_PERSONS * max(chosen.rows, FEW_PERSONS):
            return None
        return f"the table has grown from {chosen.rows:,} rows to {rows:,} since its keys were planned: {again}"
    if chosen is None or rows <= OUTGROWN * chosen.rows:
        return None
    ranked = chosen.candidates * rows / chosen.rows
    if ranked <= MANY:
        return None
    grown = f"the table has grown from {chosen.rows:,} rows to {rows:,}"
    return f"{grown}, a search ranks about {ranked:.0f} rows in vain: {again}"


def open_signatures(options: IndexOptions) -> int:
    """How many fields get a word signature whose size is not known yet."""
    return sum(1 for field in options.fields if field.false_drops and not field.word_bits)


def word_samples(options: IndexOptions, columns: Sequence[Sequence[str]], rows: int) -> list[WordSample]:
    """Of each field, from a sample of a table of so many rows."""
    taken = sum(field.word_bits for field in options.fields)
    most = max((MOST_WORD_BITS - taken) // max(open_signatures(options), 1) // 64 * 64, 64)
    share = min(len(columns[0]) / max(rows, 1), 1.0)
    return [WordSample([text for text in column if text.strip()], share, most) for column in columns]


def _with_signature(field: Field, spread: WordSample, hasher: TokenHasher) -> Field:
    """A word signature for the numbers of different words that these texts have."""
    tokens = hasher.words(field.analyser().fold(spread.texts))
    different = [len(set(tokens.hashes[a:b].tolist())) for a, b in pairwise(tokens.offsets.tolist())]
    chosen = choose_signature(np.array(different, np.int64), field.false_drops, spread.most, spread.share)
    return replace(field, word_bits=chosen.bits, word_marks=chosen.per_word)
