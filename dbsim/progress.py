"""How far a long piece of work is: what every verb that takes more than a second reports."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[str, int, int], None]  # stage, done, total


def quiet(stage: str, done: int, total: int) -> None:
    """Report nothing."""
