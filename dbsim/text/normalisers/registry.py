"""The normalisers by name: "text", "symbols@1" → Normaliser. A normaliser is one module and a line here."""

from __future__ import annotations

import difflib
from collections.abc import Callable

from dbsim.text.normalisers.digits import Digits
from dbsim.text.normalisers.mapped import Mapped
from dbsim.text.normalisers.normaliser import Normaliser
from dbsim.text.normalisers.symbols import Symbols

NORMALISERS: dict[str, Normaliser] = {
    "text@1": Mapped("text"),
    "german@1": Mapped("german"),  # also ä → ae, ö → oe, ü → ue
    "digits@1": Digits(),
    "symbols@1": Symbols(),
}
OTHERS: list[Callable[[str], Normaliser | None]] = []  # find what is made on demand: kinds of field, the users' own
FIRST = "@1"  # was stored without its version before there were versions, and still is


def normaliser_names() -> list[str]:
    return list(dict.fromkeys(full.split("@")[0] for full in NORMALISERS))


def normaliser_of(stored: str) -> Normaliser:
    """By the name an index is stored with."""
    full = full_name(stored)
    return NORMALISERS[full] if full in NORMALISERS else next(filter(None, (find(full) for find in OTHERS)))


def full_name(stored: str) -> str:
    """With its version, which is the first when none is named: a stored name never changes its meaning."""
    full = stored if "@" in stored else stored + FIRST
    if full in NORMALISERS or any(find(full) for find in OTHERS):
        return full
    close = difflib.get_close_matches(stored, [*normaliser_names(), *NORMALISERS], n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"there is {', '.join(normaliser_names())}"
    raise ValueError(f"there is no normaliser {stored!r}; {hint}")


def stored_names(full: str) -> tuple[str, ...]:
    """All names that mean this version."""
    return (full.removesuffix(FIRST), full) if full.endswith(FIRST) else (full,)


def newest(asked: str) -> str:
    """The name to store for what a user asks for now: of the newest version unless one is named."""
    versions = [full for full in NORMALISERS if asked in (full, full.split("@")[0])]
    found = max(versions, key=lambda full: int(full.split("@")[1])) if versions else full_name(asked)
    return found.removesuffix(FIRST)
