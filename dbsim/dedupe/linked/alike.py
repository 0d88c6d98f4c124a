"""Whether two indexes may be linked: two SearchEngines → one sentence with the remedy, or nothing.

Compared is what makes two signatures speak of the same: the family and its version, what each field is read as and what
it weighs, how its filter is folded, and the secret. What was chosen from each table for itself (how many keys, and of
which fields; the length of filters) may differ, because A's texts are signed as B signs; so may thresholds, which a
link has of its own.
"""

from __future__ import annotations

import hmac
from collections.abc import Sequence

from dbsim.errors import DbsimError, InvalidOption
from dbsim.options import Field, IndexOptions
from dbsim.search.searcher import SearchEngine
from dbsim.tables.catalogue import is_ready


def require_alike(a: SearchEngine, b: SearchEngine) -> None:
    for one in (a, b):
        if not one.read(lambda c, one=one: is_ready(c, one.options.name)):  # type: ignore[misc]
            raise DbsimError(f"index {one.options.name!r} is not filled yet: run `dbsim sync` first")
    _require_options(a.options, b.options)
    _require_one_secret(a, b)


def _require_options(mine: IndexOptions, theirs: IndexOptions) -> None:
    if mine.hashing.rarity != theirs.hashing.rarity:
        raise InvalidOption("an index of persons is linked with another one of persons: create both with --records")
    families = [options.family.partition(":")[0] for options in (mine, theirs)]
    if families[0] != families[1]:
        raise InvalidOption(
            f"the indexes must be of one family, but {mine.name!r} is {families[0]} and {theirs.name!r} {families[1]}: "
            f"create {mine.name!r} anew with --family {families[1].partition('@')[0]}"
        )
    if [_read_as(field) for field in mine.fields] != [_read_as(field) for field in theirs.fields]:
        said = [", ".join(f"{f.name} ({f.normaliser})" for f in options.fields) for options in (mine, theirs)]
        raise InvalidOption(
            f"the indexes must have the same kinds of fields in the same order, but {mine.name!r} has {said[0]} and "
            f"{theirs.name!r} has {said[1]}: create one of them anew with --column NAME:KIND"
        )
    for what, option in ((_folds, "--fold"), (_weights, "the weights of the other, as in --column title:0.3")):
        if what(mine.fields) != what(theirs.fields):
            raise InvalidOption(
                f"the fields of {mine.name!r} and {theirs.name!r} have different {what.__doc__}: "
                f"create one of them anew with {option}"
            )


def _read_as(field: Field) -> tuple[object, ...]:
    return field.normaliser, field.unit, field.size


def _folds(fields: Sequence[Field]) -> list[int]:
    """filters"""
    return [field.fold for field in fields]


def _weights(fields: Sequence[Field]) -> list[float]:
    """weights"""
    total = sum(field.weight for field in fields)
    return [round(field.weight / total, 9) for field in fields]


def _require_one_secret(a: SearchEngine, b: SearchEngine) -> None:
    for one in (a, b):
        if one.signer.missing:
            raise one.signer.missing
        if not one.tables.record.secret:
            raise InvalidOption(
                f"this role may not read the secret of index {one.options.name!r}: link as the owner of dbsim's tables"
            )
    if not hmac.compare_digest(a.tables.record.secret, b.tables.record.secret):
        raise InvalidOption(
            f"indexes {a.options.name!r} and {b.options.name!r} have different secrets, and only those of one secret "
            "are linked: give both the same one (`dbsim alter --secret env:NAME` and `dbsim sync`), or create "
            f"{a.options.name!r} anew with --secret index:{b.options.name} where both are in one database"
        )
