"""In a real browser, on both engines: every page and key, two reviewers at once, attacks that stay text, any width."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import dbsim
from tests.integration.helpers import near_copy, sentence
from tests.web.conftest import Served, Shared, serving

PAGES = ("/", "/search?index=articles", "/duplicates", "/review", "/decisions", "/statistics")
Browse = Callable[..., Any]


@pytest.fixture(scope="module")
def server(shared: Shared) -> Any:
    with serving(shared.url, "--allow-resolve") as found:
        yield found


@pytest.fixture
def served(server: Served, index: dbsim.Index) -> Served:
    """After which decisions are gone again."""
    return server


def keys(page: Any) -> tuple[str, str]:
    return page.locator("input[name=a]").input_value(), page.locator("input[name=b]").input_value()


def press(page: Any, key: str) -> None:
    with page.expect_navigation():
        page.keyboard.press(key)


def test_every_page_at_every_width_runs_no_foreign_script(served: Served, browse: Browse) -> None:
    page = browse(1280)
    page.goto(served.address)
    page.goto(served.base + "/duplicates?rows=10")
    group = page.locator("a.item").first.get_attribute("href")
    for path in (*PAGES, f"/search?index=articles&f_title=<script>&f_body={near_copy(90, 1)}", group):
        page.goto(served.base + path)
        for width, scheme in ((360, "dark"), (1280, "light")):
            page.set_viewport_size({"width": width, "height": 844})
            page.emulate_media(color_scheme=scheme)
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (path, width)
            back = page.evaluate("getComputedStyle(document.body).backgroundColor")
            assert (sum(map(int, back.strip("rgb()").split(","))) < 200) == (scheme == "dark"), path
        assert page.evaluate("window.hacked") is None, path
        assert page.locator("main script, main img, main style, [onload], [onerror], [onfocus]").count() == 0
        assert page.locator("h1, h2").count() > 0
    assert page.errors == []


def test_review_by_keys(served: Served, browse: Browse, index: dbsim.Index) -> None:
    page = browse(390)
    page.goto(served.address)
    page.goto(served.base + "/review")
    page.fill("input[name=who]", "ada")
    page.keyboard.type("s d u")  # into the field, where they are letters
    assert list(index.decisions()) == []
    page.fill("input[name=who]", "ada")
    page.keyboard.press("Escape")
    wanted = {}
    for key, verdict in (("s", "same"), ("d", "different"), ("u", "unsure")):
        wanted[keys(page)] = verdict
        press(page, key)
    assert sorted((d.verdict, d.who) for d in index.decisions()) == [
        ("different", "ada"),
        ("same", "ada"),
        ("unsure", "ada"),
    ]
    last = list(wanted)[-1]
    press(page, "z")
    assert len(list(index.decisions())) == 2
    assert keys(page) == last  # and is asked again
    press(page, "k")
    assert keys(page) != last
    assert "2 by you" in page.inner_text("main")
    page.goto(served.base + "/decisions")
    assert page.locator("tr").count() == 3
    assert page.errors == []


def test_several_browsers_review_at_once_on_two_servers(
    served: Served, browse: Browse, url: str, index: dbsim.Index
) -> None:
    with serving(url) as other:
        pages = [browse(), browse(390), browse()]
        for page, server in zip(pages, (served, served, other), strict=True):
            page.goto(server.address)
            page.goto(server.base + "/review")
        seen = []
        for _ in range(2):
            seen += [keys(page) for page in pages]
            for page, key in zip(pages, "uus", strict=True):
                press(page, key)
        assert len(set(seen)) == len(list(index.decisions())) == 6
        last, mine = pages[-1], keys(pages[-1])
    last.goto(served.address)  # when a server has ended, another one goes on with the pair that this browser had
    last.goto(served.base + "/review")
    assert keys(last) == mine


def test_search_while_typing_and_duplicates_by_keys(served: Served, browse: Browse) -> None:
    page = browse()
    page.goto(served.address)
    page.goto(served.base + "/search?index=articles")
    page.fill("#f_body", sentence(3))
    page.wait_for_selector("#live .item")
    assert "k3a" in page.inner_text("#live")
    assert "ms" in page.inner_text("#live")
    page.goto(served.base + "/duplicates")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.name") == "q"
    page.keyboard.press("Escape")
    items = "[...document.querySelectorAll('a.item')].indexOf(document.activeElement)"
    for key, place in (("j", 0), ("ArrowDown", 1), ("j", 2), ("ArrowUp", 1)):
        page.keyboard.press(key)
        assert page.evaluate(items) == place
    with page.expect_navigation():
        page.keyboard.press("Enter")
    assert "/group" in page.url
    page.keyboard.press("Tab")  # the first thing that Tab reaches leads past the menu
    assert page.evaluate("document.activeElement.getAttribute('href')") == "#content"
    with page.expect_navigation():
        page.select_option("#keep", "last")
    assert "keep=last" in page.url
    page.goto(served.base + "/duplicates")
    box = page.locator("[data-drag]").bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.7, box["y"] + 20)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.9, box["y"] + 20)
    with page.expect_navigation():
        page.mouse.up()
    assert "low=0.7" in page.url or "low=0.6" in page.url
    page.evaluate("document.body.insertAdjacentHTML('beforeend', '<a rel=next href=/statistics></a>')")
    press(page, "n")
    assert page.url.endswith("/statistics")
    assert page.errors == []


def test_without_a_token_there_is_nothing(served: Served, browse: Browse) -> None:
    page = browse()
    assert page.goto(served.base + "/").status == 403
    assert page.goto(served.base + "/?token=guess").status == 403
