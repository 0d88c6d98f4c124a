"""The hash families by name: "minhash", "gauss:width=0.5" → Family. A family is one module and a line here."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import Field, fields, replace
from functools import lru_cache
from typing import Any

from dbsim.hashing.families.bitsampling import BitSampling
from dbsim.hashing.families.forest import Forest
from dbsim.hashing.families.fuzzy import Fuzzy
from dbsim.hashing.families.hyperplane import Hyperplane
from dbsim.hashing.families.linear_spectral import LinearSpectral
from dbsim.hashing.families.minhash import MinHash
from dbsim.hashing.families.rabin_minhash import RabinMinHash
from dbsim.hashing.families.spectral import Spectral
from dbsim.hashing.families.stable import Cauchy, Gauss, Levy
from dbsim.hashing.family import Family
from dbsim.hashing.records.family import Records

FAMILIES: dict[str, Family] = {  # each with its usual settings
    "minhash@1": MinHash(),
    "rabin-minhash@1": RabinMinHash(),
    "bitsampling@1": BitSampling(),
    "gauss@1": Gauss(),
    "cauchy@1": Cauchy(),
    "levy@1": Levy(),
    "hyperplane@1": Hyperplane(),
    "fuzzy@1": Fuzzy(),
    # the sign of a deviation is worth more than anything else: recall from cosine 0.8 of 1,500 RFCs 0.44 instead of
    # 0.13, of 1,500 HOWTOs 0.75 instead of 0.52, with 0.8 and 6 candidates a query (benchmarks/sources)
    "fuzzy@2": Fuzzy(deviation="signed", classes=18, schemes=3),
    "spectral@1": Spectral(),
    "linear-spectral@1": LinearSpectral(),
    "forest@1": Forest(),
    "records@1": Records(),
}


def family_names() -> list[str]:
    return list(dict.fromkeys(full.split("@")[0] for full in FAMILIES))


@lru_cache(maxsize=256)
def family_of(text: str) -> Family:
    """NAME[@VERSION][:SETTING=VALUE…], e.g. fuzzy:classes=13:schemes=3; without a version the newest."""
    name, *settings = text.split(":")
    usual = FAMILIES[resolve(name)]
    known = {field.name: field for field in _settings(usual)}
    values: dict[str, Any] = {}
    for setting in settings:
        key, equals, value = setting.partition("=")
        if key not in known or not equals:
            hint = f"it has {', '.join(known)}" if known else "it has none"
            raise ValueError(f"{setting!r} is no setting of family {name!r}; {hint}")
        values[key] = _value(known[key], value)
    return replace(usual, registered=resolve(name), **values)


def described(family: Family) -> str:
    """The text that makes this family again, with its version and the settings that are not the usual ones."""
    name = family.registered or next(full for full in reversed(_by_version()) if type(FAMILIES[full]) is type(family))
    usual = FAMILIES[name]
    own = [(field.name, getattr(family, field.name)) for field in _settings(family)]
    return ":".join([name, *(f"{key}={value}" for key, value in own if value != getattr(usual, key))])


def _settings(family: Family) -> list[Field[Any]]:
    return [field for field in fields(family) if field.name != "registered"]


def _by_version() -> list[str]:
    """All families, the newest version last: 10 comes after 2."""
    return sorted(FAMILIES, key=lambda full: int(full.split("@")[1]))


def resolve(name: str) -> str:
    """With its version."""
    versions = [full for full in _by_version() if full == name or full.split("@")[0] == name]
    if versions:
        return versions[-1]
    raise ValueError(f"no hash family {name!r}{_hint(name, family_names())}")


def _hint(name: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, known, n=1)
    return f"; did you mean {close[0]!r}?" if close else f"; there is {', '.join(known)}"


def _value(field: Field[Any], text: str) -> Any:
    kind: type = type(field.default)
    try:
        return kind(text)
    except ValueError as error:
        raise ValueError(f"{field.name}={text} is not possible: it must be {kind.__name__}") from error
