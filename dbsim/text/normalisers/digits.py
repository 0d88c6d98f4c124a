"""Digits 0-9 only, all in one token, for dates and telephone numbers in any format: str → bytes."""

from __future__ import annotations

from dbsim.text.normalisers.mapped import Mapped

_NON_DIGITS = bytes(byte for byte in range(256) if byte not in b"0123456789")


class Digits(Mapped):
    """Decimal digits of every script, as the table of text maps them."""

    def __init__(self) -> None:
        super().__init__("text")

    def fold(self, text: str) -> bytes:
        return self.replaced(text).translate(None, _NON_DIGITS)
