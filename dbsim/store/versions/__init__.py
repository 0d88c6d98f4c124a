"""One module per version of dbsim's own tables: functions of Alembic's `op`, online and offline."""

from __future__ import annotations

from types import ModuleType

from dbsim.store.versions import v0001

VERSIONS: dict[str, ModuleType] = {"0001": v0001}
CURRENT = max(VERSIONS)
VERSION_TABLE = "dbsim_version"
