"""Addresses of e-mail: str → local part and domain, lower case, without tags."""

from __future__ import annotations

from functools import lru_cache

from dbsim.text.normalise import normalise

SAME = {"googlemail com": "gmail com"}


def email(text: str) -> str:
    local, at, domain = text.strip().strip("<>").rpartition("@")
    if not at:
        return normalise(text)
    return f"{normalise(local.split('+')[0])} {_where(domain)}".strip()


@lru_cache(maxsize=1 << 12)
def _where(domain: str) -> str:
    """Most addresses are of a few domains."""
    found = normalise(domain)
    return SAME.get(found, found)
