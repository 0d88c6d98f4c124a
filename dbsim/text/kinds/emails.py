"""Addresses of e-mail: str → local part and domain, lower case, without tags."""

from __future__ import annotations

from dbsim.text.normalise import normalise

SAME = {"googlemail com": "gmail com"}


def email(text: str) -> str:
    local, at, domain = text.strip().strip("<>").rpartition("@")
    if not at:
        return normalise(text)
    where = normalise(domain)
    return f"{normalise(local.split('+')[0])} {SAME.get(where, where)}".strip()
