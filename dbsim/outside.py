"""Secrets that the database never sees: `env:NAME` or `file:PATH` → the key of an index and its check value.

Both are drawn from the secret by HMAC, so that the check value, which is stored, tells nothing of the key; who has it
can only try secrets, and a secret of at least LEAST bytes leaves too many to try.
"""

from __future__ import annotations

import hashlib
import hmac
import os
from dataclasses import dataclass
from pathlib import Path

from dbsim.errors import InvalidOption, SecretMissing

LEAST = 16  # bytes
MOST = 1 << 16  # of a file: more is not a secret but a mistake
KEY_BYTES, CHECK_BYTES = 16, 8
MAKE = "`openssl rand -hex 32` makes one"


@dataclass(frozen=True)
class Secret:
    """What is made of it: `key` hashes, `check` is stored."""

    key: bytes
    check: str


def read_secret(place: str) -> Secret:
    """SecretMissing when it is not there, InvalidOption when it is not fit to be one."""
    secret = _bytes(place)
    if len(secret) < LEAST:
        raise InvalidOption(f"the secret in {place} has {len(secret)} bytes, but needs {LEAST} or more: {MAKE}")
    return Secret(_drawn(secret, b"dbsim key")[:KEY_BYTES], _drawn(secret, b"dbsim check")[:CHECK_BYTES].hex())


def key_of(place: str, check: str) -> bytes:
    """The key, if it is the one that the index was made with."""
    found = read_secret(place)
    if not hmac.compare_digest(found.check, check):
        raise SecretMissing(f"the secret in {place} is not the one that the index was made with: put that one there")
    return found.key


def why_missing(place: str, check: str) -> str:
    """In one sentence; "" when the secret is there."""
    try:
        key_of(place, check)
    except (SecretMissing, InvalidOption) as error:
        return str(error)
    return ""


def require_place(place: str) -> None:
    """Refuse what is neither env:NAME nor file:PATH; a secret itself given here must not be repeated in a message."""
    kind, _, name = place.partition(":")
    if kind not in ("env", "file") or not name:
        raise InvalidOption("a secret outside the database is named by its place: env:NAME or file:PATH")


def _bytes(place: str) -> bytes:
    """Without the white space around it, which editors and shells add."""
    require_place(place)
    kind, _, name = place.partition(":")
    if kind == "env":
        value = os.environb.get(os.fsencode(name)) if os.supports_bytes_environ else os.environ.get(name, "").encode()
        if not value:
            raise SecretMissing(
                f"the secret of the index is kept outside the database, but environment variable {name} is not set: "
                f"set it ({MAKE} for a new index)"
            )
        return value.strip()
    try:
        with Path(name).open("rb") as file:
            found = file.read(MOST + 1)
    except OSError as error:
        raise SecretMissing(
            f"the secret of the index is kept outside the database, but file {name} cannot be read "
            f"({error.strerror}): put it there ({MAKE} for a new index)"
        ) from error
    if len(found) > MOST:
        raise InvalidOption(f"file {name} has more than {MOST} bytes, which is no secret: {MAKE}")
    return found.strip()


def _drawn(secret: bytes, what: bytes) -> bytes:
    return hmac.new(secret, what, hashlib.sha256).digest()
