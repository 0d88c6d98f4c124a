"""What a hash family is: Documents → bucket keys, a collision probability, and a model where it learns.

Each family shows the four steps of similarity hashing (Potthast 2006, §3.1): quantify (the document model), reduce
(project or condense), discretise (natural numbers) and combine (one key). Its settings are its dataclass fields.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dbsim.hashing.documents import Documents
from dbsim.hashing.keys import LIMIT_KEYS, MAX_ROWS, Plan, aimed, choose_plan, keys_needed

Keys = NDArray[np.int64]
Model = dict[str, NDArray[Any]]
Join = tuple[int, int]  # a key column, and the bits of it that two documents must share
ALL_BITS = -1
DECIDED = "decided"  # of a model: how many pairs called the same and different it was taught with
ESTIMATED = ("jaccard", "probability")  # measures that filters tell


class Signed(NamedTuple):
    """Keys, which documents can match anything, and a field each what equality with its value adds to the score."""

    keys: Keys
    present: NDArray[np.bool_]
    rarities: tuple[NDArray[np.int64], ...] = ()


class Decided(NamedTuple):
    """Pairs that people looked at, left[i] with right[i], and whether they called them the same."""

    left: Documents
    right: Documents
    same: NDArray[np.bool_]


@dataclass(frozen=True)
class Family(ABC):
    """The parts with a default suit a family that learns nothing and finds equal keys only."""

    # the name and version it was asked for by: versions of one class differ in their settings only
    registered: str = field(default="", kw_only=True, repr=False, compare=False)

    measure: ClassVar[str]  # of `threshold`: "jaccard", "cosine", "l1", "l2", "lhalf", "hamming" or "probability"
    learns: ClassVar[bool] = False
    fixed: ClassVar[bool] = False  # rows and keys follow from the settings, not from threshold and recall
    nearest: ClassVar[bool] = False  # looked up by neighbourhood in key order, so that no threshold is needed
    max_rows: ClassVar[int] = MAX_ROWS
    sample: ClassVar[int] = 2000  # rows to learn from
    taught: ClassVar[bool] = False  # whether it learns from what people decided, too
    rarity: ClassVar[bool] = False  # whether how rare a value is belongs to the signature

    @property
    def portable(self) -> bool:
        """Whether keys follow from text and settings alone, so that a function in sql/ may make them."""
        return not self.learns

    @property
    def estimated(self) -> bool:
        """Whether filters estimate its measure for rows found in buckets: what views and stored pairs need."""
        return self.measure in ESTIMATED and not self.nearest

    def settled(self, threshold: float) -> Family:
        """This family with open settings filled in; what is stored with the index."""
        return self

    def collision(self, similarity: float) -> float | None:
        """Probability that one row of two documents with this similarity agrees; None when only measured."""
        return None

    def plan(self, threshold: float, recall: float) -> Plan:
        """Rows and keys that find a pair at the threshold with this recall, and with some to spare where keys allow."""

        def collision(similarity: float) -> float:
            return self.collision(similarity) or 0.0

        try:
            return choose_plan(collision, threshold, aimed(recall), max_rows=self.max_rows)
        except ValueError:
            return choose_plan(collision, threshold, recall, max_rows=self.max_rows)

    def grid(self, threshold: float, recall: float) -> list[tuple[Family, Plan]]:
        """Settings worth measuring: fewer and more rows than the plan's, each with the keys the recall asks for."""
        plan = self.plan(threshold, recall)
        probability = self.collision(threshold)
        if self.fixed or probability is None:
            return [(self, plan)]
        rows = range(max(plan.rows - 4, 1), min(plan.rows + 3, self.max_rows) + 1)
        found = [(row, keys_needed(probability**row, aimed(recall))) for row in rows]
        return [(self, Plan(row, keys)) for row, keys in found if keys <= LIMIT_KEYS]

    def settings(self) -> list[Family]:
        """What to choose from by trial where no formula tells what is found; equal plans have equal models."""
        return [self]

    def fit(self, documents: Documents, plan: Plan) -> Model:
        """Learn from a sample of the table; a ValueError says what the sample lacks."""
        return {}

    def fit_decided(self, documents: Documents, plan: Plan, decided: Decided) -> Model:
        """`fit`, and from what people decided about some pairs; for families that are `taught`."""
        return self.fit(documents, plan)

    @abstractmethod
    def keys(self, documents: Documents, plan: Plan, model: Model) -> Keys:
        """documents × plan.keys; the values of documents without any feature are not used."""

    def signed(self, documents: Documents, plan: Plan, model: Model) -> Signed:
        """Everything of a signature that is the family's own."""
        return Signed(self.keys(documents, plan, model), documents.present)

    def probes(self, documents: Documents, plan: Plan, model: Model, count: int) -> Keys:
        """documents × plan.keys × (1 + count): the key and its most likely neighbours, for multi-probe look-up."""
        raise ValueError(f"family {type(self).__name__.lower()!r} has no neighbouring keys: leave probes at 0")

    def spread(self, keys: Keys, plan: Plan) -> Keys:
        """documents × plan.keys × width: the keys to look up for stored keys; more than one for Hamming balls."""
        return keys[:, :, None]

    def joins(self, plan: Plan, threshold: float, recall: float) -> list[Join]:
        """How whole tables are joined: documents that agree in the bits of one of these are candidates."""
        return [(column, ALL_BITS) for column in range(plan.keys)]

    @property
    def radius(self) -> int | None:
        """Hamming distance of all keys together that a candidate may have at most; None without a limit."""
        return None

    @abstractmethod
    def similarity(self, left: Documents, right: Documents, model: Model) -> NDArray[np.float64]:
        """left × right: the exact measure."""
