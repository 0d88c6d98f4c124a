"""Which tests run and in which order, and the plug-ins that have the fixtures."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

ALL = os.environ.get("DBSIM_TESTS") == "all"
# no test depends on timing: machines are busy. What was found by many examples is kept as an example of its own
settings.register_profile("dbsim", deadline=None, max_examples=100 if ALL else 25)
settings.load_profile("dbsim")

SECRET = b"0123456789abcdef"
ENGINES = ("sqlite", "postgresql")
pytest_plugins = ("tests.fixtures.databases", "tests.fixtures.shell")
pytest.register_assert_rewrite("tests.oracle", "tests.integration.helpers")
FIRST = ("test_spark.py", "test_readme.py")  # files of few tests that take more than a minute


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The longest first, so that no core waits for it at the end; what is marked as long is left out of CI's run."""
    items.sort(key=lambda item: item.path.name not in FIRST)
    if ALL:
        return
    left_out = [item for item in items if item.get_closest_marker("long")]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in set(left_out)]
