"""The deliberate breakages can all be made: code that moves takes its breakage along."""

from __future__ import annotations

from tests.mutants.__main__ import main


def test_every_breakage_can_be_made() -> None:
    assert main(["--check"]) == 0
