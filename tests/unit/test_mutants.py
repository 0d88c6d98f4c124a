"""What CI does not run can be started: the deliberate breakages, whose code may have moved, and the long campaign."""

from __future__ import annotations

from tests.mutants.__main__ import main
from tests.reliability import campaign


def test_every_breakage_can_be_made() -> None:
    assert main(["--check"]) == 0


def test_everybody_in_the_campaign_has_a_part_to_play() -> None:
    assert campaign.CAST.keys() == campaign.SOAKED.keys()
    assert all(callable(getattr(campaign, part)) for part in campaign.CAST)
