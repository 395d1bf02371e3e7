"""Who is let in: hosts, origins, secrets, sizes, rates, and what every answer carries."""

from __future__ import annotations

import pytest

from byzanz_env.web.app import Server, make_app
from byzanz_env.web.guard import Limits
from tests.web.doors import LEFT_OUT, Client, Page

FOREIGN_HOSTS = (
    *("", "evil.example", "127.0.0.1", "127.0.0.1:8001", "localhost", "127.0.0.1:8000.evil.example"),
    *(
        "evil.example:8000",
        "127.0.0.1:8000@evil.example",
        "0.0.0.0:8000",
        "127.1:8000",
        "[::1]",
        "2130706433:8000",
    ),
    *("127.0.0.1:08000", "127.0.0.1 :8000", "127.0.0.1:8000/", "127.0.0.1:8000, evil.example", "null", "*"),
    "2130706433:8000",
)
FOREIGN_ORIGINS = (
    *("https://127.0.0.1:8000", "http://evil.example", "http://127.0.0.1", "http://127.0.0.1:8001", "null"),
    *(
        "http://127.0.0.1:8000.evil.example",
        "http://evil.example:8000",
        "file://",
        "http://127.0.0.1:8000/",
    ),
)


@pytest.fixture(scope="module")
def page() -> Page:
    return Page()


@pytest.mark.parametrize("host", FOREIGN_HOSTS)
def test_another_host_name_is_refused(page: Page, host: str) -> None:
    assert page.post("setup", host=host).status == 400
    assert page.get("/", host=host).status == 400


@pytest.mark.parametrize("origin", FOREIGN_ORIGINS)
def test_another_origin_is_refused(page: Page, origin: str) -> None:
    assert page.post("setup", origin=origin).status == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site", "strange"])
def test_the_browser_says_it_is_another_site(page: Page, site: str) -> None:
    assert page.post("setup", sec_fetch_site=site).status == 403


@pytest.mark.parametrize("secret", ["", LEFT_OUT, "0" * 32, "ä", "x" * 5000])
def test_the_secret_is_needed(page: Page, secret: str) -> None:
    answer = page.post("setup", x_byzanz_secret=secret)
    assert answer.status == 403
    assert answer.json()["error"] == "the page is out of date; load it again"


def test_without_an_origin_the_secret_is_enough(page: Page) -> None:
    """Programs send no Origin; browsers always do with a POST."""
    assert page.post("setup", origin=LEFT_OUT).status == 200


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", LEFT_OUT]
)
def test_only_json_is_read(page: Page, kind: str) -> None:
    assert page.post("setup", content_type=kind).status == 415


@pytest.mark.parametrize("name", ["host", "origin", "x-byzanz-secret", "content-type"])
def test_a_header_that_comes_twice_is_refused(page: Page, name: str) -> None:
    pairs = [*page.headers.items(), (name, page.headers[name])]
    assert page.client.request("POST", "/api/setup", b"{}", pairs).status == 400


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"])
def test_other_methods_are_refused(page: Page, method: str) -> None:
    assert page.client.request(method, "/api/setup", headers=page.headers).status == 405
    assert page.get("/api/setup").status == 405


def test_large_bodies_are_refused(page: Page) -> None:
    for size, code in ((16_384, 400), (16_385, 413), (3_000_000, 413)):
        assert page.send("act", b"[" + b" " * (size - 2) + b"]").status == code
    assert page.send("act", (b" " * 1000 for _ in range(100))).status == 413  # without a length
    assert page.send("act", b"{}", content_length="99999999").status == 413
    assert page.send("act", b"{}", content_length="many").status == 400
    assert page.send("open", b"[" + b" " * 262_142 + b"]").status == 400
    assert page.send("open", b"[" + b" " * 262_143 + b"]").status == 413


@pytest.mark.parametrize("path", ["/", "/static/style.css", "/static/nothing.js", "/nowhere", "/api/setup"])
def test_every_answer_carries_the_headers(page: Page, path: str) -> None:
    headers = page.get(path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["x-frame-options"] == "DENY"
    assert not any(name.startswith("access-control") for name in headers)


@pytest.mark.parametrize("path", ["/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2fapp.py"])
def test_there_is_no_way_to_other_files(page: Page, path: str) -> None:
    answer = page.get(path)
    assert answer.status == 404
    assert "import" not in answer.text


def test_too_many_requests() -> None:
    page = Page(Server(limits=Limits(requests_per_second=2, burst=5)))
    now = [0.0]
    page.app.clock = lambda: now[0]  # type: ignore[attr-defined]
    assert [page.post("ladder").status for _ in range(7)] == [200] * 5 + [429] * 2
    now[0] += 1.0
    assert [page.post("ladder").status for _ in range(3)] == [200, 200, 429]


def test_other_pages_cannot_use_up_our_allowance() -> None:
    page = Page(Server(limits=Limits(requests_per_second=2, burst=5)))
    for _ in range(50):
        assert page.post("ladder", origin="http://evil.example").status == 403
        assert page.post("ladder", x_byzanz_secret="guessed").status == 403
    assert page.post("ladder").status == 200


def test_too_many_games_and_idle_ones() -> None:
    page = Page(Server(limits=Limits(requests_per_second=1e6, burst=10**6, games=3, idle_seconds=60)))
    now = [0.0]
    page.server.rooms._clock = lambda: now[0]
    new = {"players": 3, "seat": 0, "opponents": ["random", "random"]}
    games = [page.ask("new", new)["game"] for _ in range(3)]
    assert len(set(games)) == 3
    assert all(len(game) == 32 for game in games)
    assert page.post("new", new).status == 429
    now[0] = 50.0
    page.ask("state", {"game": games[0]})
    now[0] = 100.0
    page.ask("new", new)
    assert page.post("state", {"game": games[1]}).status == 404
    page.ask("state", {"game": games[0]})
    page.ask("leave", {"game": games[0]})
    assert page.post("state", {"game": games[0]}).status == 404


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("192.168.1.5:8000", 200),
        ("[fe80::1]:8000", 200),
        ("192.168.1.5:8001", 400),
        ("192.168.1.5", 400),
        ("evil.example:8000", 400),
        ("192.168.1.5.evil.example:8000", 400),
    ],
)
def test_a_server_for_all_addresses_answers_to_addresses_only(host: str, status: int) -> None:
    page = Page(Server(token="a-long-enough-token"))
    client = Client(make_app(page.server, frozenset(), 8000))
    headers = page.headers | {"host": host, "origin": f"http://{host}"}
    assert client.request("POST", "/api/ladder", b"{}", headers).status == status
    headers["origin"] = "http://192.168.1.6:8000"
    assert client.request("POST", "/api/ladder", b"{}", headers).status in (400, 403)


def test_with_a_token_the_page_needs_it() -> None:
    page = Page(Server(token="a-long-enough-token"))
    assert page.get("/").status == 403
    assert page.get("/?token=wrong").status == 403
    assert page.server.secret not in page.get("/?token=").text
    assert page.server.secret in page.get("/?token=a-long-enough-token").text
