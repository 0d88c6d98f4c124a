"""What every step of the work on bit slices stands on."""

from __future__ import annotations

from functools import cached_property

from dbsim.engines.context import Stage
from dbsim.tables.slice_tables import SliceTables


class SliceStage(Stage):
    """Of one generation."""

    @cached_property
    def sliced(self) -> SliceTables:
        return SliceTables.of(self.tables)
