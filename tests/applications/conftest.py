"""The URL of an empty database, once for every driver."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.applications.drivers import ASYNCHRONOUS, POSTGRESQL, SQLITE, url_for


def _url(request: pytest.FixtureRequest, folder: Path) -> str:
    postgres = "" if request.param in SQLITE else str(request.getfixturevalue("new_postgres"))
    return url_for(request.param, postgres, folder)


@pytest.fixture(params=[*SQLITE, *POSTGRESQL])
def driver_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return _url(request, tmp_path)


@pytest.fixture(params=ASYNCHRONOUS)
def async_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return _url(request, tmp_path)
