"""Records of persons: fields → a key for every two of them; probability that two rows are one person.

quantify: the features of each field; reduce: one minimum, two, or the whole value; discretise: they are whole numbers;
combine: two or three fields in one key. The plan (`scheme`) follows from a sample of the table, see hashing/records.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dbsim.hashing.documents import Documents
from dbsim.hashing.family import DECIDED, Decided, Family, Keys, Model, Signed
from dbsim.hashing.keys import Plan
from dbsim.hashing.records.adjusting.labelled import Labels
from dbsim.hashing.records.atoms import FieldAtoms, atoms
from dbsim.hashing.records.evidence import Roles
from dbsim.hashing.records.learning import Learned, learn
from dbsim.hashing.records.levels import Rows, levels
from dbsim.hashing.records.probability import probability
from dbsim.hashing.records.scheme import Scheme
from dbsim.text.arithmetic import combine

WHOLE = "w"  # before the number of a field that is a name with the surname in it
COPY = "copy"  # of a model: evidence of half of the rows for being one person with their exact copy, at most


@dataclass(frozen=True)
class Records(Family):
    """`scheme`: the compound keys; `names`: the numbers of given name and surname, "0.1", or "" without them.

    `own`: "0-2.2-4", fields in which relatives differ, each with the highest level that is different; `echoes`: "8",
    fields that are made of the names, or "1-0", of another field; `place`: "3.4.5", the parts of an address; `called`:
    "0", the given name, or "w0", the whole name, by which twins differ ("": twins are not thought of).
    """

    scheme: str = ""
    names: str = ""
    own: str = ""
    echoes: str = ""
    place: str = ""
    called: str = ""

    measure: ClassVar[str] = "probability"
    learns: ClassVar[bool] = True
    fixed: ClassVar[bool] = True
    rarity: ClassVar[bool] = True
    taught: ClassVar[bool] = True
    sample: ClassVar[int] = 100_000  # rows to learn from: a tenth of a million has a hundredth of its pairs

    @cached_property
    def keys_of(self) -> Scheme:
        return Scheme.parse(self.scheme)

    @cached_property
    def crossed(self) -> tuple[int, int] | None:
        if not self.names:
            return None
        given, surname = map(int, self.names.split("."))
        return given, surname

    @cached_property
    def roles(self) -> Roles:
        parts = [part.split("-") for part in filter(None, self.own.split("."))]
        own = {int(number): int(level) for number, level in parts}
        echoes = [part.split("-") for part in filter(None, self.echoes.split("."))]
        sources = {int(echo): tuple(map(int, names)) or self.crossed or () for echo, *names in echoes}
        called = int(self.called.removeprefix(WHOLE)) if self.called else None
        return Roles(self.crossed, own, sources, _numbers(self.place), called, self.called.startswith(WHOLE))

    def plan(self, threshold: float, recall: float) -> Plan:
        return Plan(1, len(self.keys_of.keys))

    def fit(self, documents: Documents, plan: Plan) -> Model:
        found = self._atoms(documents)
        return self._model(learn(documents, found, self._keys(found), self.roles), documents)

    def fit_decided(self, documents: Documents, plan: Plan, decided: Decided) -> Model:
        learned = self.learned(self.fit(documents, plan))
        left, right = (Rows.of([field.filters for field in side.fields]) for side in (decided.left, decided.right))
        one, two = (learned.rarities(self._atoms(side)) for side in (decided.left, decided.right))
        places = np.arange(len(decided.same))
        found = levels(left, right, places, places, self.crossed)
        labels = Labels(found, learned.frequent(found, one, two), decided.same)
        counts = np.array([decided.same.sum(), (~decided.same).sum()])
        return self._model(learned.taught(labels), documents) | {DECIDED: counts}

    def _model(self, learned: Learned, documents: Documents) -> Model:
        """With what an exact copy of a usual row scores: where that is little, the columns tell little."""
        rows = Rows.of([field.filters for field in documents.fields])
        copies = learned.own(rows, learned.rarities(self._atoms(documents)))
        return dict(learned.to_model()) | {COPY: np.array([int(np.median(copies))])}

    def keys(self, documents: Documents, plan: Plan, model: Model) -> Keys:
        return self._keys(self._atoms(documents))

    def atoms(self, documents: Documents) -> dict[str, FieldAtoms]:
        """All that keys could be planned with."""
        return atoms(documents, self.crossed)

    def _atoms(self, documents: Documents) -> dict[str, FieldAtoms]:
        """Those that its keys are made of."""
        return atoms(documents, self.crossed, again=self.keys_of.again)

    def learned(self, model: Model) -> Learned:
        return Learned.of(model, self.crossed)

    def signed(self, documents: Documents, plan: Plan, model: Model) -> Signed:
        """A row matches nothing when even an exact copy of it would more likely be somebody else: just a surname."""
        found, learned = self._atoms(documents), self.learned(model)
        rarities = learned.rarities(found)
        own = learned.own(Rows.of([field.filters for field in documents.fields]), rarities)
        present = documents.present & (own >= 0)
        return Signed(self._keys(found), present, tuple(rarities.T.astype(np.int64)))

    def similarity(self, left: Documents, right: Documents, model: Model) -> NDArray[np.float64]:
        learned = self.learned(model)
        a, b = (places.reshape(-1) for places in np.indices((len(left), len(right))))
        one, two = (Rows.of([field.filters for field in side.fields]) for side in (left, right))
        rarities = learned.rarities(self._atoms(left)), learned.rarities(self._atoms(right))
        return probability(learned.score(one, two, a, b, rarities)).reshape(len(left), len(right))

    def _keys(self, found: dict[str, FieldAtoms]) -> Keys:
        copies = combine([found[name].exact for name in sorted(found)])
        return self.keys_of.values(found, copies)


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(map(int, filter(None, text.split("."))))
