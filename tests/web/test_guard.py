"""Who is let in: token, cookie, Host, Origin, CSRF; and what every answer carries."""

from __future__ import annotations

import socket

import pytest

import dbsim
from dbsim.web import run
from dbsim.web.app import application
from dbsim.web.figures import Figures
from dbsim.web.guard import MOST_BYTES, Doors
from dbsim.web.state import Server
from tests.web.asgi import Client

TOKEN = "t" * 40
HOST = "127.0.0.1:8765"
DOORS = Doors.of(TOKEN, ("127.0.0.1", "localhost"), 8765)
GOOD = {"host": HOST, "cookie": f"dbsim_8765={TOKEN}"}


@pytest.fixture
def client(index: dbsim.Index, database: dbsim.Database) -> Client:
    return Client(application(Server(database, DOORS, figures=Figures(always=True))))


def test_the_token_becomes_a_cookie(client: Client) -> None:
    assert client.get("/", headers={"host": HOST}).status_code == 403
    assert client.get("/?token=wrong", headers={"host": HOST}).status_code == 403
    answer = client.get(f"//evil.example/?token={TOKEN}&x=1", headers={"host": HOST})
    assert answer.headers["location"].startswith("/")
    assert not answer.headers["location"].startswith("//")
    answer = client.get(f"/search?token={TOKEN}&index=articles", headers={"host": HOST})
    assert (answer.status_code, answer.headers["location"]) == (303, "/search?index=articles")
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert client.get("/", headers=GOOD).status_code == 200
    assert client.get("/static/style.css", headers={"host": HOST}).status_code == 403


@pytest.mark.parametrize("host", ["evil.example:8765", "127.0.0.1:1", "127.0.0.1", "", "127.0.0.1:8765.evil.example"])
def test_another_name_of_this_address_is_refused(client: Client, host: str) -> None:
    assert client.get("/", headers=GOOD | {"host": host}).status_code == 421
    assert client.get(f"/?token={TOKEN}", headers={"host": host}).status_code == 421


def test_a_server_that_listens_everywhere_answers_under_every_address_and_no_foreign_name() -> None:
    doors = Doors.of(TOKEN, ("127.0.0.1", "desk"), 8765, anywhere=True)
    for host in ("192.168.7.9:8765", "[2001:db8::1]:8765", "DESK:8765", "127.0.0.1:8765"):
        assert doors.called(host)
    for host in ("evil.example:8765", "192.168.7.9:80", "192.168.7.9", "192.168.7.9.evil.example:8765", ":8765", ""):
        assert not doors.called(host)
    assert not DOORS.called("192.168.7.9:8765")


def test_only_the_pages_of_this_server_can_decide(client: Client, index: dbsim.Index) -> None:
    path = "/review?index=articles"
    form = {"a": '"k0a"', "b": '"k0c"', "verdict": "same", "csrf": DOORS.csrf, "who": "ada"}
    right = GOOD | {"origin": f"http://{HOST}"}
    for headers in (GOOD, GOOD | {"origin": "http://evil.example"}, GOOD | {"origin": "null"}):
        assert client.post(path, data=form, headers=headers).status_code == 403
    for wrong in ({**form, "csrf": ""}, {**form, "csrf": "é"}, {k: v for k, v in form.items() if k != "csrf"}):
        assert client.post(path, data=wrong, headers=right).status_code == 403
    assert client.post(path, data=form, headers={"host": HOST, "origin": f"http://{HOST}"}).status_code == 403
    assert client.post(path, data=form | {"note": "x" * MOST_BYTES}, headers=right).status_code == 413
    assert list(index.decisions()) == []
    assert client.post(path, data=form, headers=right).status_code == 303
    assert [(d.a, d.b, d.verdict, d.who) for d in index.decisions()] == [("k0a", "k0c", "same", "ada")]


def test_every_answer_is_guarded(client: Client) -> None:
    for path in ("/", "/search", "/nowhere", "/static/page.js", "/static/nothing", "/duplicates/export?as=csv"):
        answer = client.get(path, headers=GOOD)
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"
    assert client.get("/search", headers={"host": HOST}).headers["x-frame-options"] == "DENY"
    assert client.put("/", headers=GOOD).status_code == 405


def test_read_only_and_without_allow_resolve(index: dbsim.Index, database: dbsim.Database) -> None:
    form = {"a": '"k0a"', "b": '"k0c"', "verdict": "same", "csrf": DOORS.csrf}
    headers = GOOD | {"origin": f"http://{HOST}"}
    client = Client(application(Server(database, DOORS, read_only=True, figures=Figures(always=True))))
    assert client.post("/review?index=articles", data=form, headers=headers).status_code == 409
    assert client.get("/resolve?index=articles", headers=GOOD).status_code == 409
    answer = client.post("/resolve?index=articles", data={"csrf": DOORS.csrf, "sure": "yes"}, headers=headers)
    assert answer.status_code == 409
    assert "Read-only" in client.get("/review?index=articles", headers=GOOD).text
    assert list(index.decisions()) == []


SENT = ("", "nothing", "[" * 100_000, "{}", "[[1]]", "NaN", "9" * 5000)
PLACES = (
    "/decisions after",
    "/duplicates after",
    "/duplicates q",
    "/duplicates rows",
    "/group id",
    "/search threshold",
)


def test_what_no_page_has_written_is_refused_in_words(client: Client, index: dbsim.Index) -> None:
    right = GOOD | {"origin": f"http://{HOST}"}
    for sent in SENT:
        form = {"a": sent, "b": '"k0a"', "csrf": DOORS.csrf, "verdict": "same"}
        answer = client.post("/review?index=articles", data=form, headers=right)
        assert answer.status_code in (404, 409), (sent, answer.text)
        for path, name in map(str.split, PLACES):
            answer = client.get(path, {"index": "articles", name: sent}, headers=GOOD)
            assert answer.status_code in (200, 404, 409), (path, name, sent, answer.text)
    assert client.post("/review?index=articles", data={"csrf": DOORS.csrf}, headers=right).status_code == 409
    assert list(index.decisions()) == []


def test_a_length_that_is_none_is_refused(client: Client) -> None:
    for length in ("abc", "-1", "", "\u00b2", "9" * 5000):
        sent = GOOD | {"origin": f"http://{HOST}", "content-length": length}
        assert client.ask("POST", "/review?index=articles", b"", sent).status_code == 413, length


def test_small_answers_are_sent_at_once() -> None:
    """asyncio turns Nagle's algorithm off only for sockets that say they are TCP's; with it a page takes 40 ms more."""
    with run._listen("127.0.0.1", 0) as listening:
        assert listening.proto == socket.IPPROTO_TCP
        assert listening.getsockname()[0] == "127.0.0.1"
