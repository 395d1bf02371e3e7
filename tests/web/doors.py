"""What the tests of the web server share: a server in this process, and tables set up on purpose."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import unquote

import numpy as np

from byzanz_env.games.byzanz.rules import FULL_DECK
from byzanz_env.games.byzanz.text import parse_cards
from byzanz_env.session import Session, cards
from byzanz_env.web.app import Server, make_app
from byzanz_env.web.guard import Limits

HOST = "127.0.0.1:8000"
LEFT_OUT = "(left out)"
GENEROUS = Limits(requests_per_second=1e6, burst=10**6, games=10_000)


class Passer:
    """Passes whenever it can, and takes the first legal action when it cannot."""

    name = "passer"

    def act(self, decisions) -> np.ndarray:
        return decisions.masks.argmax(axis=1).astype(np.int64)


def deck_of(*parts: str) -> list[int]:
    """A deck that begins with these cards; the rest follows sorted."""
    top = [kind for part in parts for kind in cards(tuple(parse_cards(part)))]
    rest = FULL_DECK.tolist()
    for kind in top:
        rest.remove(kind)
    return top + rest


def table(server: Server, *hands: str) -> str:
    """A game of three against two who pass, dealt from these hands; returns its id."""
    session = Session([None, Passer(), Passer()], deck=deck_of(*hands))
    return server.rooms.add(session, 0, True)[0]


@cache
def event_loop() -> asyncio.AbstractEventLoop:
    """A loop in a thread of its own: the one of this thread may belong to the browser."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()
    return loop


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    headers: dict[str, str]
    text: str

    def json(self) -> Any:
        return json.loads(self.text)


class Client:
    """Speaks ASGI to an application, with full control over every byte of a request."""

    def __init__(self, app: Any) -> None:
        self.app = app

    def request(
        self,
        method: str,
        target: str,
        body: bytes | Iterable[bytes] = b"",
        headers: Mapping[str, str] | Iterable[tuple[str, str]] = (),
    ) -> Answer:
        pairs = list(headers.items() if isinstance(headers, Mapping) else headers)
        pieces = [body] if isinstance(body, bytes) else list(body)
        if isinstance(body, bytes) and "content-length" not in dict(pairs):
            pairs.append(("content-length", str(len(body))))
        path, _, query = target.partition("?")
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": unquote(path),
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "root_path": "",
            "headers": [(name.encode(), value.encode("utf-8")) for name, value in pairs],
            "client": ("127.0.0.1", 50_000),
            "server": ("127.0.0.1", 8000),
        }
        return asyncio.run_coroutine_threadsafe(self._run(scope, pieces), event_loop()).result()

    async def _run(self, scope: dict[str, Any], pieces: list[bytes]) -> Answer:
        sent: list[Any] = []
        left = [
            {"type": "http.request", "body": piece, "more_body": at < len(pieces) - 1}
            for at, piece in enumerate(pieces)
        ]

        async def receive() -> Any:
            return left.pop(0) if left else {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            sent.append(message)

        await self.app(scope, receive, send)
        headers = {name.decode().lower(): value.decode() for name, value in sent[0]["headers"]}
        text = b"".join(message.get("body", b"") for message in sent[1:]).decode()
        return Answer(sent[0]["status"], headers, text)


class Page:
    """A client that behaves like our page."""

    def __init__(self, server: Server | None = None) -> None:
        self.server = server or Server(limits=GENEROUS)
        self.app = make_app(self.server, frozenset({HOST}))
        self.client = Client(self.app)
        self.headers = {
            "host": HOST,
            "origin": f"http://{HOST}",
            "content-type": "application/json",
            "x-byzanz-secret": self.server.secret,
        }
        self.seen: list[str] = []

    def get(self, target: str, **headers: str) -> Answer:
        return self.client.request("GET", target, headers={"host": HOST} | headers)

    def send(self, name: str, body: bytes | Iterable[bytes], **headers: str) -> Answer:
        """Post raw bytes; a header given as LEFT_OUT is not sent."""
        chosen = self.headers | {key.replace("_", "-"): value for key, value in headers.items()}
        chosen = {key: value for key, value in chosen.items() if value != LEFT_OUT}
        return self.client.request("POST", f"/api/{name}", body, chosen)

    def post(self, name: str, content: Any = None, **headers: str) -> Answer:
        answer = self.send(name, json.dumps(content or {}).encode(), **headers)
        self.seen.append(answer.text)
        return answer

    def ask(self, name: str, content: Any = None) -> Any:
        answer = self.post(name, content)
        assert answer.status == 200, answer.text
        return answer.json()
