"""Everything dbsim stores of a document, from its text: list[str] per field → Signatures (arrays, one row each)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dbsim.hashing.bloom import Filters, filters
from dbsim.hashing.bloom import folded as fold_filters
from dbsim.hashing.documents import Documents, FieldDocuments
from dbsim.hashing.families.minhash import MinHash
from dbsim.hashing.families.registry import family_of
from dbsim.hashing.family import Decided, Model
from dbsim.hashing.fingerprint import fingerprints
from dbsim.hashing.keys import Plan
from dbsim.hashing.measures import paired_jaccard
from dbsim.hashing.partitioned.parted import Parted
from dbsim.hashing.single import SingleTexts
from dbsim.hashing.word_signatures import Marks, WordSignature, as_numbers
from dbsim.text.features import Analyser, Features
from dbsim.text.tokens import TokenHasher

NO_FILTERS = Filters(np.zeros((0, 0), np.uint8), np.zeros(0, np.int64))
BATCH_BYTES = 1 << 19  # characters signed at once: larger batches fall out of the cache and are slower


@dataclass(frozen=True)
class FieldPlan:
    """How one field is analysed, filtered and weighed."""

    analyser: Analyser
    weight: float
    bits: int
    sample: int = 1
    words: WordSignature | None = None
    fold: int = 0
    parted: Parted | None = None  # filters as in Kampf's sketch …
    several: bool = False  # … of several columns, a line each, merged by OR


@dataclass(frozen=True)
class Signatures:
    """`present[i]` is False for a document without any feature: it has no fingerprint, no keys and matches nothing."""

    present: NDArray[np.bool_]
    fingerprints: NDArray[np.int64]
    keys: NDArray[np.int64]
    filters: tuple[Filters, ...]
    words: tuple[NDArray[np.int64], ...] = ()  # of fields with word signatures: documents × 64-bit words
    rarities: tuple[NDArray[np.int64], ...] = ()  # of records: what equality with each field's value adds to the score

    def __len__(self) -> int:
        return len(self.present)

    def as_tuples(self) -> list[tuple[int | bytes | None, ...]]:
        """One tuple a document: fingerprint, keys, bits and count of every field, rarities; None for what it lacks."""
        return list(zip(*self.as_columns(), strict=True))

    def as_columns(self) -> list[list[Any]]:
        """The same by columns, which takes a fifth of the time: a record of a person has a hundred of them."""
        columns = without(np.vstack([self.fingerprints, self.keys.T]), self.present)
        for part in self.filters:
            bits = np.ascontiguousarray(part.bits).view(f"V{part.bits.shape[1]}").reshape(1, -1)
            columns += [*without(bits, part.counts > 0), part.counts.tolist()]
        return columns + [rarity.tolist() for rarity in self.rarities]

    def part(self, some: slice) -> Signatures:
        """Of some of the documents."""
        return Signatures(
            self.present[some],
            self.fingerprints[some],
            self.keys[some],
            tuple(Filters(one.bits[some], one.counts[some], one.marks) for one in self.filters),
            tuple(one[some] for one in self.words),
            tuple(one[some] for one in self.rarities),
        )

    @staticmethod
    def concatenate(parts: Sequence[Signatures]) -> Signatures:
        if len(parts) == 1:
            return parts[0]
        columns = zip(*(part.filters for part in parts), strict=True)
        words = zip(*(part.words for part in parts), strict=True)
        rarities = zip(*(part.rarities for part in parts), strict=True)
        return Signatures(
            np.concatenate([part.present for part in parts]),
            np.concatenate([part.fingerprints for part in parts]),
            np.concatenate([part.keys for part in parts]),
            tuple(
                Filters(
                    np.concatenate([f.bits for f in column]),
                    np.concatenate([f.counts for f in column]),
                    column[0].marks,
                )
                for column in columns
            ),
            tuple(np.concatenate(column) for column in words),
            tuple(np.concatenate(column) for column in rarities),
        )


def without(columns: NDArray[Any], there: NDArray[np.bool_]) -> list[list[Any]]:
    """A list a column (columns × documents), with None for the documents that have nothing."""
    if not there.all():
        columns = columns.astype(object)
        columns[:, ~there] = None
    found: list[list[Any]] = columns.tolist()
    return found


class Signer:
    """Signs texts for one index; keeps the word cache between calls. A family that learns needs its `model` first."""

    def __init__(
        self, fields: Sequence[FieldPlan], family: str, plan: Plan, secret: bytes, missing: Exception | None = None
    ) -> None:
        """`missing` is raised where somebody wants to sign, because the secret is not there."""
        self.fields = tuple(fields)
        self.family = family_of(family)
        self.plan = plan
        self.model: Model | None = None if self.family.learns else {}
        self.generation = 0  # of the model
        self.missing = missing
        self._key = secret
        self.keyed = bool(secret or missing)  # a role that may not read the secret compares texts, but signs in SQL
        self._tokens = TokenHasher(secret)

    @property
    def _secret(self) -> bytes:
        if self.missing:
            raise self.missing
        return self._key

    @property
    def _hasher(self) -> TokenHasher:
        if self.missing:
            raise self.missing
        return self._tokens

    def sign(self, texts: Sequence[Sequence[str]]) -> Signatures:
        """`texts[field][document]`; a missing value is the empty text."""
        return self.signed(texts)[0]

    def signed(self, texts: Sequence[Sequence[str]]) -> tuple[Signatures, Documents | None]:
        """Also what was signed, for who goes on to compare it; None of texts so long that they are signed in parts."""
        batches = _batches(texts)
        if len(batches) == 1:
            documents = self.documents([column[batches[0]] for column in texts])
            return self._sign(documents), documents
        parts = [self._sign(self.documents([column[part] for column in texts])) for part in batches]
        return Signatures.concatenate(parts), None

    @cached_property
    def single(self) -> SingleTexts | None:
        """The same for one text at a time, where the index is one as most are; None where it is not."""
        field = self.fields[0]
        usual = FieldPlan(field.analyser, 1.0, field.bits, words=field.words)
        if self.fields != (usual,) or field.analyser.unit != "words" or type(self.family) is not MinHash:
            return None
        return SingleTexts(field.analyser, field.bits, self.plan, self._secret, self._hasher.table.looked_up)

    @cached_property
    def marks(self) -> Marks:
        """What questions for words look for."""
        return Marks([plan.words for plan in self.fields], lambda folded: self._hasher.words([folded]).hashes)

    def features(self, field: int, texts: Sequence[str]) -> Features:
        """The features of one field's texts, for exact comparison and for choosing parameters."""
        return self.fields[field].analyser.analyse(texts, self._hasher).features

    def fingerprint(self, texts: Sequence[Sequence[str]]) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
        """(present, fingerprints) alone: what `reconcile` compares, at a fraction of the cost of signing."""
        if self.family.rarity:  # which decides whether a row says enough
            signed = self.sign(texts)
            return signed.present, signed.fingerprints
        tokens = [field.analyser.tokens(column, self._hasher) for field, column in zip(self.fields, texts, strict=True)]
        present = np.logical_or.reduce([part.counts > 0 for part in tokens])
        return present, fingerprints(tokens, self._secret)

    def documents(self, texts: Sequence[Sequence[str]]) -> Documents:
        """The texts as the families see them."""
        return Documents(tuple(self._field(plan, column) for plan, column in zip(self.fields, texts, strict=True)))

    def comparable(self, texts: Sequence[Sequence[str]]) -> Documents:
        """The same for `paired`: without the filters where the measure does not look at them."""
        if self.family.measure != "jaccard":
            return self.documents(texts)
        pairs = zip(self.fields, texts, strict=True)
        return Documents(tuple(self._field(plan, column, filtered=False) for plan, column in pairs))

    def probes(self, texts: Sequence[Sequence[str]], count: int) -> NDArray[np.int64]:
        """documents × keys × (1 + count): the keys of these texts, each with its `count` most likely neighbours."""
        return self.family.probes(self.documents(texts), self.plan, self.fitted, count)

    def fit(self, texts: Sequence[Sequence[str]], decided: Decided | None = None, rows: int = 0) -> Model:
        """Learn from a sample of a table of so many rows, and from what people decided about some pairs."""
        documents = replace(self.documents(texts), drawn_from=rows)
        if decided is None:
            return self.family.fit(documents, self.plan)
        return self.family.fit_decided(documents, self.plan, decided)

    def similarity(self, left: Sequence[Sequence[str]], right: Sequence[Sequence[str]]) -> NDArray[np.float64]:
        """left × right: the family's exact measure."""
        exact = self.family.similarity(self.documents(left), self.documents(right), self.fitted)
        return np.round(exact, 12)  # equal texts are 1, not 1 - 2⁻⁵³

    def paired(
        self, left: Documents, right: Documents, lefts: NDArray[np.int64], rights: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """The same for some pairs only: lefts[i] with rights[i]."""
        if self.family.measure == "jaccard":
            exact = paired_jaccard(left, right, lefts, rights)
        else:
            exact = self.family.similarity(left, right, self.fitted)[lefts, rights]
        return np.round(exact, 12)

    def fingerprints(self, documents: Documents) -> NDArray[np.int64]:
        return fingerprints([field.tokens for field in documents.fields], self._secret)

    @property
    def fitted(self) -> Model:
        if self.model is None:
            raise ValueError("a family that learns must be fitted before it can sign")
        return self.model

    def _field(self, plan: FieldPlan, texts: Sequence[str], *, filtered: bool = True) -> FieldDocuments:
        folded, tokens, features = plan.analyser.analyse(texts, self._hasher)
        return FieldDocuments(
            folded,
            tokens,
            features,
            self._filters(plan, texts, folded, features) if filtered else NO_FILTERS,
            plan.weight,
            plan.analyser.unit == "words",
        )

    def _filters(self, plan: FieldPlan, texts: Sequence[str], folded: Sequence[bytes], features: Features) -> Filters:
        if plan.parted is None:
            return fold_filters(filters(features, plan.bits << plan.fold, plan.sample), plan.fold)
        if plan.several:
            return plan.parted.filters([plan.analyser.fold(text.split("\n")) for text in texts])
        return plan.parted.filters([[value] for value in folded])

    def _sign(self, documents: Documents) -> Signatures:
        signed = self.family.signed(documents, self.plan, self.fitted)
        return Signatures(
            signed.present,
            self.fingerprints(documents),
            signed.keys,
            tuple(field.filters for field in documents.fields),
            tuple(
                self._words(plan, field)
                for plan, field in zip(self.fields, documents.fields, strict=True)
                if plan.words
            ),
            signed.rarities,
        )

    def _words(self, plan: FieldPlan, field: FieldDocuments) -> NDArray[np.int64]:
        """The signature of each document as signed 64-bit numbers, which both databases can AND."""
        assert plan.words is not None
        tokens = field.tokens if field.words else self._hasher.words(field.folded)
        return as_numbers(plan.words.sign(tokens))

    def widened(self, texts: Sequence[Sequence[str]], wider: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """(fingerprints, documents × 64-bit words): word signatures of all fields with 2^`wider` times the bits."""
        fields = [self._field(plan, column, filtered=False) for plan, column in zip(self.fields, texts, strict=True)]
        signed = []
        for plan, field in zip(self.fields, fields, strict=True):
            if plan.words:
                tokens = field.tokens if field.words else self._hasher.words(field.folded)
                signed.append(as_numbers(plan.words.sign(tokens, wider)))
        return self.fingerprints(Documents(tuple(fields))), np.concatenate(signed, axis=1)


def _batches(texts: Sequence[Sequence[str]]) -> list[slice]:
    """Cut the documents into runs of about BATCH_BYTES characters; a longer one is alone, for the sake of memory."""
    if sum(sum(map(len, column)) for column in texts) <= BATCH_BYTES:
        return [slice(None)]
    lengths = np.sum([np.fromiter(map(len, column), np.int64, len(column)) for column in texts], axis=0)
    numbers = (np.cumsum(lengths) - lengths) // BATCH_BYTES
    starts = np.flatnonzero(np.diff(numbers, prepend=-1) | (lengths > BATCH_BYTES))
    return [slice(a, b) for a, b in zip(starts.tolist(), [*starts[1:].tolist(), len(lengths)], strict=True)]
