"""One server and one browser for all tests of the page."""

from __future__ import annotations

import shutil
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import uvicorn
from playwright.sync_api import Browser, Page, Request, sync_playwright

from byzanz_env.commands.web import allowed_hosts
from byzanz_env.web.app import Server, make_app, warm_up
from tests.web.doors import GENEROUS

CHROMIUM = shutil.which("chromium")
FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update"),
)
PATIENCE = 60_000  # milliseconds; the machine may be busy


@dataclass
class House:
    """The running server."""

    server: Server
    address: str


@pytest.fixture(scope="session")
def house() -> Iterator[House]:
    warm_up()
    server = Server(limits=GENEROUS)
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    config = uvicorn.Config(
        make_app(server, allowed_hosts("127.0.0.1", port)), log_level="error", ws="none"
    )
    running = uvicorn.Server(config)
    thread = threading.Thread(target=running.run, kwargs={"sockets": [listener]})
    thread.start()
    yield House(server, f"http://127.0.0.1:{port}")
    running.should_exit = True
    thread.join(30)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.fail(
            "chromium is not installed; `make browser` installs it (as root: apt-get install chromium)"
        )
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield started
        started.close()


@dataclass
class Watcher:
    """Notes everything that must not happen on a page."""

    address: str
    problems: list[str] = field(default_factory=list)

    def watch(self, page: Page) -> None:
        page.on("console", lambda message: self._note(message.type in ("error", "warning"), message.text))
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.on("request", self._request)
        page.on("requestfailed", self._failed)

    def _note(self, bad: bool, text: str) -> None:
        if bad:
            self.problems.append(text)

    def _request(self, request: Request) -> None:
        own = request.url.startswith((self.address + "/", "data:", "blob:" + self.address))
        self._note(not own, f"a request to {request.url}")

    def _failed(self, request: Request) -> None:
        # A request that the page itself gave up, because it was left, is no failure.
        self._note(request.failure != "net::ERR_ABORTED", f"{request.url}: {request.failure}")


@pytest.fixture
def open_page(browser: Browser, house: House):
    """Open the page; at the end of the test nothing may have gone wrong on it but what is `allowed`."""
    opened = []

    def start(target: str = "/", width: int = 1280, height: int = 800, **options) -> Page:
        context = browser.new_context(viewport={"width": width, "height": height}, **options)
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        watcher = Watcher("file://" if target.startswith("file:") else house.address)
        watcher.watch(page)
        opened.append((context, watcher))
        page.goto(target if target.startswith("file:") else house.address + target)
        return page

    start.allowed = []  # type: ignore[attr-defined]
    yield start
    for context, watcher in opened:
        context.close()
        assert [problem for problem in watcher.problems if problem not in start.allowed] == []


@pytest.fixture
def kept() -> Path:
    return Path(__file__).parents[1] / "data" / "byzanz-replay-1.jsonl"
