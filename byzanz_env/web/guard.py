"""The door of the web server: who may ask, how much and how often.

Any page in the browser can send requests to a local port, so loopback alone protects nothing. Every request
must name this server as its Host (against DNS rebinding); every POST must be JSON, come from our own page
(Origin) and carry the secret that only our page can read. No CORS headers are ever sent. Headers are read
from the ASGI scope, never from a URL built of them.
"""

from __future__ import annotations

import hmac
import ipaddress
import json
import time
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from typing import Any

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

SECRET_HEADER = b"x-byzanz-secret"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)


@dataclass(frozen=True)
class Limits:
    """How much one client may ask for."""

    body: int = 16_384
    replay_body: int = 262_144  # requests that bring a replay file along
    requests_per_second: float = 20.0
    burst: int = 60
    games: int = 64
    idle_seconds: float = 3600.0


class RefusedError(Exception):
    """A request that is turned away."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status, self.reason = status, reason


@dataclass
class Bucket:
    """A client's allowance: refills with time, each request takes one."""

    left: float
    at: float


@dataclass
class Guard:
    """ASGI middleware that answers for everything that must not reach the games."""

    app: App
    hosts: frozenset[str]  # allowed Host values, with port
    secret: str
    limits: Limits = field(default_factory=Limits)
    replay_paths: frozenset[str] = frozenset()
    open_port: int | None = None  # when set, any IP address with this port is a Host value of ours too
    clock: Callable[[], float] = time.monotonic
    _buckets: dict[str, Bucket] = field(default_factory=dict)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        guarded = _with_headers(send)
        try:
            self._check(scope)
            body = await self._read(scope, receive) if scope["method"] == "POST" else b""
        except RefusedError as refused:
            await _refuse(guarded, refused)
            return
        await self.app(scope, _replayed(body, receive), guarded)

    def _check(self, scope: Scope) -> None:
        if scope["method"] not in ("GET", "HEAD", "POST"):
            raise RefusedError(405, "only GET and POST are answered")
        host = _one(scope, b"host")
        if host.lower() not in self.hosts and not self._is_own_address(host):
            raise RefusedError(400, "this server does not answer to that host name")
        if scope["method"] != "POST":
            return
        origin = _one(scope, b"origin", optional=True)
        if origin and origin.lower() != f"http://{host.lower()}":
            raise RefusedError(403, "requests from other pages are refused")
        if _one(scope, b"sec-fetch-site", optional=True) not in ("", "same-origin", "none"):
            raise RefusedError(403, "requests from other pages are refused")
        if not hmac.compare_digest(
            _one(scope, SECRET_HEADER, optional=True).encode(), self.secret.encode()
        ):
            raise RefusedError(403, "the page is out of date; load it again")
        if _one(scope, b"content-type", optional=True).split(";")[0].strip().lower() != "application/json":
            raise RefusedError(415, "requests must be application/json")
        self._count(scope)  # last: what another page sends must not use up the allowance of ours

    def _is_own_address(self, host: str) -> bool:
        """A server for every address of the machine cannot know them all; a name is never one of them."""
        if self.open_port is None or not host.endswith(f":{self.open_port}"):
            return False
        address = host.removesuffix(f":{self.open_port}")
        try:
            ipaddress.ip_address(address[1:-1] if address.startswith("[") else address)
        except ValueError:
            return False
        return True

    def _count(self, scope: Scope) -> None:
        client = (scope.get("client") or ("", 0))[0]
        now, limits = self.clock(), self.limits
        if len(self._buckets) > 1000:
            self._buckets.clear()
        bucket = self._buckets.setdefault(client, Bucket(limits.burst, now))
        bucket.left = min(limits.burst, bucket.left + (now - bucket.at) * limits.requests_per_second)
        bucket.at = now
        if bucket.left < 1:
            raise RefusedError(429, "too many requests; wait a moment")
        bucket.left -= 1

    async def _read(self, scope: Scope, receive: Receive) -> bytes:
        limit = self.limits.replay_body if scope["path"] in self.replay_paths else self.limits.body
        declared = _one(scope, b"content-length", optional=True)
        if declared and (not declared.isdigit() or len(declared) > 12):
            raise RefusedError(400, "the content length is not a number")
        if declared and int(declared) > limit:
            raise RefusedError(413, f"a request has at most {limit} bytes")
        body = bytearray()
        while True:
            message = await receive()
            if message["type"] != "http.request":
                raise RefusedError(400, "the request was cut off")
            body += message.get("body", b"")
            if len(body) > limit:
                raise RefusedError(413, f"a request has at most {limit} bytes")
            if not message.get("more_body", False):
                return bytes(body)


def _one(scope: Scope, name: bytes, *, optional: bool = False) -> str:
    """The one value of a header; several are refused, as is none unless it is optional."""
    found = [value for key, value in scope["headers"] if key.lower() == name]
    if len(found) > 1 or (not found and not optional):
        raise RefusedError(400, f"exactly one {name.decode()} header is needed")
    return found[0].decode("latin-1").strip() if found else ""


def _replayed(body: bytes, receive: Receive) -> Receive:
    sent = False

    async def again() -> MutableMapping[str, Any]:
        nonlocal sent
        if sent:
            return await receive()
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


def _with_headers(send: Send) -> Send:
    async def guarded(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", []), *HEADERS]
        await send(message)

    return guarded


async def _refuse(send: Send, refused: RefusedError) -> None:
    body = json.dumps({"error": refused.reason}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": refused.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
