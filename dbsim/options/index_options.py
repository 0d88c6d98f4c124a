"""What an index is, as a frozen value: IndexOptions ↔ JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from dataclasses import field as detail
from functools import cached_property, lru_cache

from dbsim.errors import InvalidOption, SecretMissing
from dbsim.hashing.families.registry import described, family_of
from dbsim.hashing.family import Family
from dbsim.hashing.keys import LIMIT_KEYS, LIMIT_ROWS, Plan, bucket_plan
from dbsim.hashing.signer import Signer
from dbsim.options.fields import Field, describe_columns
from dbsim.outside import read_secret, require_place, why_missing
from dbsim.text.kinds import registry as _kinds  # noqa: F401  # worker processes know the fields of persons by it

ON_DUPLICATE = ("", "reject", "flag")
EPSILON = 1.0  # with a bucket size: rows twice as far as the threshold count as far


@dataclass(frozen=True, kw_only=True)
class Planned:
    """What rows and keys were chosen by: the table's rows then, the rows below the threshold that a search ranks.

    `recall` is the measured one of families that have no formula.
    """

    rows: int
    candidates: float
    alike: float = 0.0  # rows that reach the threshold for a usual row
    recall: float | None = None


@dataclass(frozen=True, kw_only=True)
class IndexOptions:
    """Everything that decides what is stored, except the secret (`secret` is its place, if that is outside)."""

    name: str
    table: str
    schema: str | None = None
    fields: tuple[Field, ...]
    family: str = "minhash@1"
    threshold: float = 0.7
    recall: float = 0.95
    rows: int = 0
    keys: int = 0
    triggers: bool = True
    inline: bool = False  # PostgreSQL: the trigger signs, in the transaction that writes
    on_duplicate: str = ""  # of persons: a trigger that lets "reject" or "flag" those that are there already
    changed: str = ""  # without triggers: a column that grows with every change of a row, so that sync looks at few
    tablespace: str = ""  # PostgreSQL: where dbsim's tables of this index lie
    secret: str = ""  # its place outside the database: env:NAME or file:PATH
    secret_check: str = ""  # by which it is recognised; the secret itself is stored nowhere
    distributed: bool = False  # Citus: the table lies on several nodes, and dbsim's tables beside it
    planned: Planned | None = detail(default=None, compare=False)  # what the plan was chosen by; stores nothing else

    def __post_init__(self) -> None:
        if not self.fields:
            raise InvalidOption("an index needs at least one column")
        names = [field.name for field in self.fields]
        if len(set(names)) < len(names):
            raise InvalidOption(f"a column is named twice among {', '.join(names)}: name each column once")
        if not 0 < self.threshold <= 1:
            raise InvalidOption(f"threshold is {self.threshold}, but must be above 0 and at most 1")
        if not 0 < self.recall < 1:
            raise InvalidOption(f"recall is {self.recall}, but must lie between 0 and 1, both excluded")
        if not 0 <= self.keys <= LIMIT_KEYS:
            raise InvalidOption(f"{self.keys} keys are not possible: use 1 to {LIMIT_KEYS}")
        if not 0 <= self.rows <= (most := self._most_rows()):
            raise InvalidOption(f"{self.rows} values a key (rows) are not possible: use 1 to {most}")
        if bool(self.rows) != bool(self.keys):
            raise InvalidOption("give both rows and keys, or neither to have them follow from threshold and recall")
        if self.inline and not self.triggers:
            raise InvalidOption("an inline index is kept by its triggers: leave out inline or allow triggers")
        if self.on_duplicate not in ON_DUPLICATE:
            raise InvalidOption(f"on_duplicate is {self.on_duplicate!r}, but must be 'reject' or 'flag'")
        if self.on_duplicate and not (self.triggers and self.family.startswith("records")):
            raise InvalidOption(
                "what to do with duplicates is a matter of triggers on a table of persons: leave it out"
            )
        if self.secret:
            require_place(self.secret)
        if self.secret and self.inline:
            raise InvalidOption(
                "an inline index signs in the database, which never sees a secret kept outside: "
                "leave out inline, or the secret"
            )
        if self.changed and self.triggers:
            raise InvalidOption("triggers tell of every change, a changed column of some: say triggers=False with it")
        if self.family.startswith("records") and any(
            field.parted and field.parted.similarity != "cardinality" for field in self.fields
        ):
            raise InvalidOption(
                "the probability of persons is learned from the similarity by cardinality: leave out similarity, or "
                "create an index of weighted fields, without --records"
            )
        if any(field.fold for field in self.fields) and not self.family.startswith("records"):
            raise InvalidOption("folded filters are for records of persons: leave out fold")
        if self.distributed and self.tablespace:
            raise InvalidOption("Citus has no tablespaces for distributed tables: leave out the tablespace")
        if self.distributed and self.triggers:
            raise InvalidOption("Citus has no triggers on distributed tables: leave out inline, and say triggers=False")

    def _most_rows(self) -> int:
        """What the family allows; a name that is no family is refused by `with_plan`."""
        try:
            return max(self.hashing.max_rows, LIMIT_ROWS)
        except InvalidOption:
            return LIMIT_ROWS

    def with_plan(self, bucket: int = 0, documents: int = 0) -> IndexOptions:
        """Family name completed, rows and keys filled in unless they were given.

        They follow from threshold and recall, or, with a bucket size, from that and the number of documents.
        """
        try:
            family = family_of(self.family).settled(self.threshold)
            if self.rows and family.fixed and self.plan != family.plan(self.threshold, self.recall):
                raise InvalidOption(f"family {self.family!r} takes rows and keys from its settings: leave them out")
            if bucket:
                plan = self._bucket_plan(family, bucket, documents)
            else:
                plan = self.plan if self.rows else family.plan(self.threshold, self.recall)
        except ValueError as error:
            raise InvalidOption(str(error)) from error
        if not plan.keys:
            raise InvalidOption(
                f"family {self.family!r} is chosen by create_records (dbsim create --records): use that"
            )
        return replace(self, family=described(family), rows=plan.rows, keys=plan.keys)

    def _bucket_plan(self, family: Family, bucket: int, documents: int) -> Plan:
        if bucket < 0 or self.rows:
            raise InvalidOption("a bucket size is a positive number and takes the place of rows and keys")
        near = family.collision(self.threshold)
        far = family.collision(max(1.0 - (1.0 - self.threshold) * (1.0 + EPSILON), 0.0))
        if near is None or far is None or family.fixed:
            raise InvalidOption(f"family {self.family!r} has no formula for a bucket size: leave it out")
        plan = bucket_plan(near, far, documents, bucket)
        if plan.keys > LIMIT_KEYS or plan.rows > self._most_rows():
            raise InvalidOption(
                f"buckets of {bucket} rows would need {plan.keys} keys of {plan.rows} values, "
                f"more than {LIMIT_KEYS} keys or {self._most_rows()} values a key: "
                "use larger buckets or a higher threshold"
            )
        return plan

    def with_secret(self) -> IndexOptions:
        """With the check value of a secret that is kept outside."""
        if not self.secret or self.secret_check:
            return self
        return replace(self, secret_check=read_secret(self.secret).check)

    @cached_property  # asked for several times a search, as are the others
    def hashing(self) -> Family:
        try:
            return family_of(self.family)
        except ValueError as error:
            raise InvalidOption(str(error)) from error

    @property
    def plan(self) -> Plan:
        return Plan(self.rows, self.keys)

    @cached_property
    def parted(self) -> bool:
        """Whether filters are those of Kampf's sketch: then they say the score, and texts only when they are asked."""
        return any(field.filter for field in self.fields)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(column for field in self.fields for column in field.columns))

    def signer(self, secret: bytes) -> Signer:
        lost = self.secret and not secret
        missing = SecretMissing(why_missing(self.secret, self.secret_check)) if lost else None
        return Signer([field.plan() for field in self.fields], self.family, self.plan, secret, missing)

    def to_json(self) -> str:
        data = asdict(self)
        for name in (
            "inline",
            "changed",
            "tablespace",
            "distributed",
            "secret",
            "secret_check",
            "on_duplicate",
        ):  # who signs, when and where: what is stored stays
            if not data[name]:
                del data[name]
        if self.planned is None:
            del data["planned"]
        for field in data["fields"]:
            if not field["false_drops"]:  # as it was before there were signatures
                for name in ("false_drops", "word_bits", "word_marks"):
                    del field[name]
            for name in ("fold", "filter"):
                if not field[name]:
                    del field[name]
        return json.dumps(data, ensure_ascii=False, sort_keys=True)

    @staticmethod
    @lru_cache(256)  # the same few texts are read by every transaction
    def from_json(text: str) -> IndexOptions:
        data = json.loads(text)
        data["fields"] = tuple(Field(**{**field, "columns": tuple(field["columns"])}) for field in data["fields"])
        if data.get("planned"):
            data["planned"] = Planned(**data["planned"])
        return IndexOptions(**data)

    def differences(self, asked: IndexOptions, given: Sequence[str]) -> list[str]:
        """What `asked` wants otherwise; only options the user named (`given`) count, the rest was chosen for them."""
        found = []
        for name in (
            "table",
            "schema",
            "family",
            "threshold",
            "recall",
            "rows",
            "keys",
            "triggers",
            "inline",
            "changed",
            "tablespace",
            "secret",
            "on_duplicate",
        ):
            mine, theirs = getattr(self, name), getattr(asked, name)
            if name == "family" and ":" not in theirs:  # its settings were left to be chosen
                mine = mine.split(":")[0]
            if name in given and theirs is not None and mine != theirs:
                found.append(f"{name} is {mine!r}, not {theirs!r}")
        if "secret" in given and self.secret == asked.secret and self.secret_check != asked.secret_check:
            found.append(f"the secret in {asked.secret} is another one")
        return found + self._field_differences(asked)

    def changes(self, new: IndexOptions) -> list[str]:
        """What is otherwise in `new`, for messages."""
        names = ("family", "threshold", "recall", "rows", "keys")
        found = [
            f"{name} {getattr(self, name)} → {getattr(new, name)}"
            for name in names
            if getattr(self, name) != getattr(new, name)
        ]
        if self.secret_check != new.secret_check:
            found.append(f"secret {self.secret or 'in the database'} → {new.secret}")
        if [field.columns for field in self.fields] != [field.columns for field in new.fields]:
            return [*found, f"columns {describe_columns(self.fields)} → {describe_columns(new.fields)}"]
        return found + [
            f"{option.name} of {old.name} {getattr(old, option.name)} → {getattr(other, option.name)}"
            for old, other in zip(self.fields, new.fields, strict=True)
            for option in fields(Field)
            if getattr(old, option.name) != getattr(other, option.name)
        ]

    def _field_differences(self, asked: IndexOptions) -> list[str]:
        mine = [(field.columns, field.weight) for field in self.fields]
        theirs = [(field.columns, field.weight) for field in asked.fields]
        if mine != theirs:
            return [f"columns are {describe_columns(self.fields)}, not {describe_columns(asked.fields)}"]
        return [
            f"{option.name} of {old.name!r} is {getattr(old, option.name)!r}, not {getattr(new, option.name)!r}"
            for old, new in zip(self.fields, asked.fields, strict=True)
            for option in fields(Field)
            if getattr(new, option.name) and getattr(new, option.name) != getattr(old, option.name)
            if option.name != "filter" or not (old.parted and new.parted and old.parted.has(new.parted))
        ]
