"""The kinds of field by name: "name", "date@1", "phone+49" → Kind; user-defined kinds are registered here."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from dbsim.text.kinds.addresses import address
from dbsim.text.kinds.dates import date
from dbsim.text.kinds.emails import email
from dbsim.text.kinds.names import name
from dbsim.text.kinds.numbers import digits, phone
from dbsim.text.kinds.placeholders import missing
from dbsim.text.kinds.positions import from_left, from_right
from dbsim.text.normalise import normalise
from dbsim.text.normalisers.normaliser import Normaliser
from dbsim.text.normalisers.registry import OTHERS

Change = Callable[[str], str]
PREFIX = "kind-"
_NAME = re.compile(r"[a-z][a-z_]*")
_REMEMBERED = 1 << 16  # values of a kind


def _same(text: str) -> str:
    return text


@dataclass(frozen=True, kw_only=True)
class Kind:
    """`normalise` gives the value people mean, `spell` the text whose features are compared.

    Stored values depend on both: another function is another version, never the same one changed.
    """

    name: str
    version: int
    normalise: Change
    spell: Change = _same
    unit: str = "characters"
    size: int = 2

    @property
    def full_name(self) -> str:
        return f"{self.name}@{self.version}"

    @property
    def normaliser(self) -> str:
        """The name of the normaliser that an index stores."""
        return PREFIX + self.full_name

    def value(self, text: str) -> str:
        """The normalised value; empty for nothing, and for what people write when they know nothing."""
        return "" if missing(text) else self.normalise(text)

    def fold(self, text: str) -> bytes:
        return self.spell(self.value(text)).encode()


class KindNormaliser(Normaliser):
    """A kind as a normaliser, with a memory: a register has few different surnames, cities and days of birth."""

    def __init__(self, kind: Kind) -> None:
        self.kind = kind
        self.fold = lru_cache(maxsize=_REMEMBERED)(kind.fold)  # type: ignore[method-assign]

    def fold(self, text: str) -> bytes:  # replaced by one with a memory
        return self.kind.fold(text)


_KINDS: dict[str, Kind] = {}


def register(kind: Kind) -> Kind:
    """Make a kind known under NAME@VERSION; every process that opens an index that uses it must register it."""
    if not _NAME.fullmatch(kind.name) or kind.version < 1:
        raise ValueError(f"a kind is called by lower-case letters and has a version from 1 on, not {kind.full_name!r}")
    if _KINDS.get(kind.full_name, kind) != kind:
        raise ValueError(f"there is a kind {kind.full_name!r} already: register yours with another version")
    _KINDS[kind.full_name] = kind
    return kind


def kind_names() -> list[str]:
    return list(dict.fromkeys(full.split("@")[0] for full in _KINDS))


@lru_cache(maxsize=256)
def _national(number: str, version: int) -> Kind:
    base = _KINDS[f"phone@{version}"]
    return Kind(
        name=f"phone+{number}",
        version=version,
        normalise=lambda text: phone(text, number),
        spell=base.spell,
        unit=base.unit,
        size=base.size,
    )


def kind_of(text: str) -> Kind:
    """NAME[@VERSION]; without a version the newest. phone+49 reads national numbers as German ones."""
    wanted, _, version = text.partition("@")
    base, plus, country = wanted.partition("+")
    known = [kind for kind in _KINDS.values() if kind.name == base and version in ("", str(kind.version))]
    if not known or (plus and not (base == "phone" and country.isdigit())):
        close = difflib.get_close_matches(base, kind_names(), n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"there is {', '.join(kind_names())}"
        raise ValueError(f"no kind of field {text!r}; {hint}")
    found = max(known, key=lambda kind: kind.version)
    return _national(country, found.version) if plus else found


@lru_cache(maxsize=64)
def _normaliser(full: str) -> KindNormaliser | None:
    """For the registry of normalisers, under the name that an index stores: kind-name@1."""
    try:
        return KindNormaliser(kind_of(full.removeprefix(PREFIX))) if full.startswith(PREFIX) else None
    except ValueError:
        return None


OTHERS.append(_normaliser)
register(Kind(name="name", version=1, normalise=name))
register(Kind(name="date", version=1, normalise=date))
register(Kind(name="digits", version=1, normalise=digits, spell=from_left, unit="words", size=1))
register(Kind(name="phone", version=1, normalise=phone, spell=from_right, unit="words", size=1))
register(Kind(name="address", version=1, normalise=address))
register(Kind(name="email", version=1, normalise=email))
register(Kind(name="text", version=1, normalise=normalise))
