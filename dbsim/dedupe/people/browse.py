"""Stored groups and pairs for people: the pages of `dbsim serve` and of reports read them through this."""

from __future__ import annotations

from dataclasses import dataclass

from dbsim.dedupe.people.group_pages import GroupPages
from dbsim.dedupe.people.pair_pages import PairPages


@dataclass
class Browser(GroupPages, PairPages):
    """Reads only, of one result."""
