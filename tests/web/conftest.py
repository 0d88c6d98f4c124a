"""A table with near-duplicates and attacks in it, served by a real `dbsim serve`; a real browser to look at it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from sqlalchemy import text

import dbsim
from tests.conftest import ENGINES, SECRET
from tests.fixtures.databases import created_postgres
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
    """A table, an index on it, and stored groups."""
    database.upgrade()
    execute(database.engine, "CREATE TABLE articles (id VARCHAR(80) PRIMARY KEY, title TEXT, body TEXT)")
    write_rows(database, groups)
    return make_index(database)


def write_rows(database: dbsim.Database, groups: int = 6) -> None:
    """Groups of three (a text, a copy, a near copy), then attacks as keys, texts and names."""
    rows = []
    for number in range(groups):
        texts = (sentence(number), sentence(number), near_copy(number, 1 + 2 * (number % 4)))
        rows += [{"id": f"k{number}{'abc'[i]}", "t": f"title {number}", "b": body} for i, body in enumerate(texts)]
    for number, attack in enumerate(ATTACKS):
        for twin in (0, 1):
            rows.append({"id": f"{number}{twin}{attack}"[:80], "t": attack, "b": f"{attack} {near_copy(90, 1 + twin)}"})
    with database.engine.begin() as connection:
        connection.execute(text("DELETE FROM articles"))
        connection.execute(text("INSERT INTO articles VALUES (:id, :t, :b)"), rows)


def make_index(database: dbsim.Database) -> dbsim.Index:
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


@dataclass
class Shared:
    """One database for all tests of a module, which leave it as it was."""

    url: str
    database: dbsim.Database
    index: dbsim.Index

    def tidy(self) -> None:
        if list(self.index.decisions()):
            execute(self.database.engine, "DELETE FROM dbsim_articles_decisions")
            self.index.sync()
        execute(self.database.engine, "DELETE FROM dbsim_articles_claims")


@pytest.fixture(scope="module", params=ENGINES)
def shared(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    with ExitStack() as stack:
        if request.param == "sqlite":
            url = f"sqlite:///{tmp_path_factory.mktemp('web') / 'test.db'}"
        else:
            url = stack.enter_context(created_postgres(request.getfixturevalue("postgres_url")))
        database = dbsim.open(url, create=True)
        stack.callback(database.close)
        yield Shared(url, database, fill(database))


@pytest.fixture
def url(shared: Shared) -> str:
    return shared.url


@pytest.fixture
def database(shared: Shared) -> dbsim.Database:
    return shared.database


@pytest.fixture
def index(shared: Shared) -> Iterator[dbsim.Index]:
    yield shared.index
    shared.tidy()


@pytest.fixture
def rows_come_back(shared: Shared) -> Iterator[None]:
    """For tests that change the table."""
    yield
    write_rows(shared.database)
    shared.index.sync()


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


@pytest.fixture(scope="module")
def running_browser(chromium: str) -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, headless=True, args=list(FLAGS))
        yield browser
        browser.close()


@pytest.fixture
def browse(running_browser: Any) -> Iterator[Callable[..., Any]]:
    """Somebody with cookies of their own: browse(width=…, scheme=…) → a page that notes what went wrong."""
    with ExitStack() as opened:

        def browse(width: int = 1280, scheme: str = "light") -> Any:
            context = running_browser.new_context(viewport={"width": width, "height": 844}, color_scheme=scheme)
            opened.callback(context.close)
            page = context.new_page()
            page.errors = []
            page.on("pageerror", lambda error: page.errors.append(str(error)))
            page.on("console", lambda line: page.errors.append(line.text) if line.type == "error" else None)
            return page

        yield browse
