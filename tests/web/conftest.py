"""A table with near-duplicates and attacks in it, served by a real `dbsim serve`; a real browser to look at it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

import dbsim
from tests.conftest import SECRET
from tests.integration.helpers import execute, near_copy, sentence

FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
)
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
ATTACKS = (
    "<script>window.hacked = 1</script>",
    "<img src=x onerror='window.hacked=1'>",
    '"><svg onload=window.hacked=1>',
    "' autofocus onfocus=window.hacked=1 x='",
    "</textarea></title></style><script>window.hacked=1</script>",
    "javascript:window.hacked=1",
    "{{ 7 * 7 }} {% raw %} ${7*7} <%= 7*7 %>",
    "\u202e<b>bold</b>\u2028\u0000"[:-1],
)


def fill(database: dbsim.Database, groups: int = 6) -> dbsim.Index:
    """Groups of three (a text, a copy, a near copy), then attacks as keys, texts and names."""
    database.upgrade()
    execute(database.engine, "CREATE TABLE articles (id VARCHAR(80) PRIMARY KEY, title TEXT, body TEXT)")
    rows = []
    for number in range(groups):
        texts = (sentence(number), sentence(number), near_copy(number, 1 + 2 * (number % 4)))
        rows += [{"id": f"k{number}{'abc'[i]}", "t": f"title {number}", "b": body} for i, body in enumerate(texts)]
    for number, attack in enumerate(ATTACKS):
        for twin in (0, 1):
            rows.append({"id": f"{number}{twin}{attack}"[:80], "t": attack, "b": f"{attack} {near_copy(90, 1 + twin)}"})
    with database.engine.begin() as connection:
        connection.execute(text("INSERT INTO articles VALUES (:id, :t, :b)"), rows)
    index = database.create_index(
        "articles",
        table="articles",
        columns={"title": 0.1, "body": 0.9},
        threshold=0.5,
        words=3,
        rows=1,
        keys=6,
        secret=SECRET,
    )
    index.sync()
    index.duplicates()
    return index


@dataclass(frozen=True)
class Served:
    """A running server: its address with the token, and without."""

    address: str
    process: subprocess.Popen[str]

    @property
    def base(self) -> str:
        return self.address.split("/?")[0]

    @property
    def token(self) -> str:
        return self.address.split("token=")[1]


@contextmanager
def serving(url: str, *options: str) -> Iterator[Served]:
    command = [sys.executable, "-m", "dbsim", "serve", url, "--port", "0", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, encoding="utf-8") as process:
        assert process.stdout is not None
        found = re.search(r"open (\S+)", process.stdout.readline())
        assert found, "the server prints its address"
        try:
            yield Served(found[1], process)
        finally:
            process.terminate()
            process.wait(300)


@pytest.fixture
def index(database: dbsim.Database) -> dbsim.Index:
    return fill(database)


@pytest.fixture(scope="session")
def chromium() -> str:
    """The browser's path; a machine without one skips, CI does not."""
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        reason = f"no browser ({', '.join(BROWSERS)}): apt-get install chromium"
        if os.environ.get("DBSIM_BROWSER") == "required":
            pytest.fail(reason)
        pytest.skip(reason)
    return path


@pytest.fixture
def browse(chromium: str, tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """A new browser with a profile of its own: browse(width=…, scheme=…) → a page that notes what went wrong."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = []

        def browse(width: int = 1280, scheme: str = "light") -> Any:
            context = playwright.chromium.launch_persistent_context(
                tmp_path / f"profile{len(opened)}",
                executable_path=chromium,
                headless=True,
                args=list(FLAGS),
                viewport={"width": width, "height": 844},
                color_scheme=scheme,
            )
            opened.append(context)
            page = context.new_page()
            page.errors = []
            page.on("pageerror", lambda error: page.errors.append(str(error)))
            page.on("console", lambda line: page.errors.append(line.text) if line.type == "error" else None)
            return page

        yield browse
        for context in opened:
            context.close()
