"""Pictures of every page of `dbsim serve` and of the report, to be looked at: `python -m tools.screenshots FOLDER`.

390 and 1280 pixels wide, light and dark, from the texts of `dbsim demo`; `--report` renews docs/report.png only. Needs
Chromium and the packages of the extra `test`.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

import dbsim
from dbsim.cli import cli
from dbsim.demo import DATA, SECRET

REPORT = Path(__file__).parents[1] / "docs" / "report.png"
PAGES = {
    "overview": "/",
    "search": "/search?index=articles&threshold=0.2&q={text}",
    "duplicates": "/duplicates?index=articles",
    "group": "",  # the first of the list
    "review": "/review?index=articles",
    "decisions": "/decisions?index=articles",
    "statistics": "/statistics?index=articles",
    "resolve": "/resolve?index=articles",
    "problem": "/group?index=articles&id=1",
}
TEXT = (
    "Harrowmere ferry back in service. The small car ferry across Lake Harrowmere resumes its timetable on Monday "
    "morning at 6.40. Engineers replaced both propeller shafts and repainted the hull during the ten-week break."
)
FLAGS = ["--no-sandbox", "--disable-gpu", "--hide-scrollbars"]


def prepared(folder: Path) -> str:
    """A database with groups, decisions and an evaluation."""
    path = str(folder / "shop.db")
    database = dbsim.open(path, create=True)
    database.import_file(DATA, table="articles")
    database.upgrade()
    index = database.create_index("articles", table="articles", columns=["title", "body"], threshold=0.4, secret=SECRET)
    index.sync()
    for number, group in enumerate(list(index.duplicates())[:6]):
        a, b = (hit.key for hit in group.members[:2])
        note = "a second edition" if number == 1 else ""
        index.decide(a, b, ("same", "different", "unsure")[number % 3], who=("ada", "grace")[number % 2], note=note)
    index.sync()
    index.evaluate(sample=100)
    database.close()
    return path


@contextmanager
def served(path: str) -> Iterator[str]:
    command = [sys.executable, "-m", "dbsim", "serve", path, "--port", "0", "--allow-resolve"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, encoding="utf-8") as process:
        assert process.stdout is not None
        found = re.search(r"open (\S+)", process.stdout.readline())
        assert found
        try:
            yield found[1]
        finally:
            process.terminate()


def photograph(page: Any, address: str, folder: Path, suffix: str) -> None:
    base = address.split("/?")[0]
    page.goto(address)
    for name, path in PAGES.items():
        if name == "group":
            page.goto(base + PAGES["duplicates"])
            path = page.locator("a.item").first.get_attribute("href")
        page.goto(base + path.format(text=TEXT))
        page.screenshot(path=folder / f"{name}-{suffix}.png", full_page=True)
        wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        click.echo(f"{name}-{suffix}: {'too wide by ' + str(wide) if wide > 0 else 'fits'}")


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--report", is_flag=True, help="Only docs/report.png.")
def main(folder: Path, report: bool) -> None:
    from playwright.sync_api import sync_playwright

    folder.mkdir(parents=True, exist_ok=True)
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as playwright:
        path = prepared(Path(temporary))
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        html = Path(temporary) / "report.html"
        cli.main(["duplicates", path, "articles", "--html", str(html)], standalone_mode=False)
        page = browser.new_page(viewport={"width": 1000, "height": 620})
        page.goto(html.as_uri())
        page.screenshot(path=REPORT)
        with served(path) as address:
            for width in () if report else (390, 1280):
                for scheme in ("light", "dark"):
                    page = browser.new_page(viewport={"width": width, "height": 844}, color_scheme=scheme)
                    photograph(page, address, folder, f"{width}-{scheme}")
                    page.goto(html.as_uri())
                    page.screenshot(path=folder / f"report-{width}-{scheme}.png")
        browser.close()


if __name__ == "__main__":
    main()
