"""The web server: JSON over POST, one page, no sockets.

All that it tells about a running game comes from `Room`. Starlette routes, our own guard stands in front
(guard.py). Work is done in threads, one move at a time per game.
"""

from __future__ import annotations

import secrets
import sys
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from byzanz_env.advice import Adviser, advise
from byzanz_env.agents import load
from byzanz_env.analysis import analyze
from byzanz_env.decisions import Agent
from byzanz_env.opponents import choices, default_opponent, plays
from byzanz_env.replay import MAX_BYTES, Replay, ReplayError, parse
from byzanz_env.session import Session
from byzanz_env.storyboard import document
from byzanz_env.web import fields
from byzanz_env.web.cards import ladder, model_cards
from byzanz_env.web.guard import App, Guard, Limits, RefusedError
from byzanz_env.web.page import STATIC, index_page
from byzanz_env.web.rooms import Room, Rooms

REPLAY_PATHS = frozenset({"/api/open", "/api/analyze"})
GAME_ID_LENGTH = 32
Answer = dict[str, Any]


@dataclass
class Server:
    """What the routes share."""

    limits: Limits = field(default_factory=Limits)
    preloaded: Replay | None = None
    debug: bool = False
    secret: str = field(default_factory=lambda: secrets.token_hex(16))
    token: str | None = None

    def __post_init__(self) -> None:
        self.rooms = Rooms(self.limits)
        self._thinking = threading.Semaphore(2)  # analyses at once

    # --- the requests, by path ---

    def setup(self, body: bytes) -> Answer:
        fields.decode(body, ())
        offered = {str(n): [c for c in choices() if plays(_agent(c), n)] for n in (3, 4, 5, 6)}
        defaults = {str(n): default_opponent(n) for n in (3, 4, 5, 6)}
        return {"agents": offered, "defaults": defaults, "replay": self.preloaded is not None}

    def new(self, body: bytes) -> Answer:
        content = fields.decode(body, ("players", "seat", "opponents"), ("seed", "forced"))
        players = fields.players(content)
        you = fields.whole(content, "seat", 0, players - 1)
        names = fields.specs(content, "opponents", players - 1, choices())
        agents: list[Agent | None] = [_player(name, players) for name in names]
        agents.insert(you, None)
        forced = fields.flag(content, "forced", True)
        game, room = self.rooms.open(agents, you, fields.seed(content), forced)
        with room.lock:
            state = room.state()
            return {"game": game, **state, **room.advance([], state["view"])}

    def state(self, body: bytes) -> Answer:
        room = self._room(fields.decode(body, ("game",)))
        with room.lock:
            return room.state()

    def act(self, body: bytes) -> Answer:
        content = fields.decode(body, ("game", "turn"), ("action", "raise"))
        action, kinds = fields.move(content)
        room = self._room(content)
        with room.lock:
            if fields.whole(content, "turn", 0, 100_000) != room.turn or not room.session.is_human_turn:
                raise RefusedError(409, "the game has moved on; the page will catch up")
            legal = [one.index for one in room.session.legal()]
            path = room.session.raise_actions(kinds) if action is None else [action]
            if path[0] not in legal:
                raise RefusedError(400, "that is not possible now")
            return room.act(path)

    def hint(self, body: bytes) -> Answer:
        room = self._room(fields.decode(body, ("game",)))
        with room.lock:
            if not room.session.is_human_turn:
                raise RefusedError(409, "there is nothing to decide now")
            advice = advise(room.session, _adviser(default_opponent(room.session.players)))
        return {
            "adviser": advice.adviser,
            "chances": advice.chances,
            "choices": [
                {"text": choice.text, "path": choice.path, "probability": choice.probability}
                for choice in advice.choices
            ],
        }

    def finish(self, body: bytes) -> Answer:
        replay = self._finished(fields.decode(body, ("game",)))
        return {**document(replay), "file": replay.text()}

    def leave(self, body: bytes) -> Answer:
        content = fields.decode(body, ("game",))
        self.rooms.close(fields.text(content, "game", GAME_ID_LENGTH))
        return {}

    def open(self, body: bytes) -> Answer:
        replay = _parsed(fields.decode(body, ("text",)))
        return {**document(replay), "file": replay.text()}

    def preloaded_replay(self, body: bytes) -> Answer:
        fields.decode(body, ())
        if self.preloaded is None:
            raise RefusedError(404, "no replay was given on the command line")
        return {**document(self.preloaded), "file": self.preloaded.text()}

    def analyze(self, body: bytes) -> Answer:
        content = fields.decode(body, (), ("game", "text"))
        replay = self._finished(content) if "game" in content else _parsed(content)
        with self._thinking:
            return analyze(replay, _adviser(default_opponent(replay.players)))

    def watch(self, body: bytes) -> Answer:
        content = fields.decode(body, ("players", "opponents"), ("seed",))
        players = fields.players(content)
        names = fields.specs(content, "opponents", players, choices())
        with self._thinking:
            session = Session([_player(name, players) for name in names], seed=fields.seed(content))
            for _ in session.advance():
                pass
        replay = session.replay()
        return {**document(replay), "file": replay.text()}

    def ladder(self, body: bytes) -> Answer:
        fields.decode(body, ())
        return ladder()

    def models(self, body: bytes) -> Answer:
        fields.decode(body, ())
        return model_cards()

    # --- shared ---

    def _room(self, content: dict[str, Any]) -> Room:
        return self.rooms.find(fields.text(content, "game", GAME_ID_LENGTH))

    def _finished(self, content: dict[str, Any]) -> Replay:
        room = self._room(content)
        with room.lock:
            if not room.session.is_over:
                raise RefusedError(403, "hands are shown when the game is over")
            return room.session.replay()


def _parsed(content: dict[str, Any]) -> Replay:
    if "text" not in content:
        raise RefusedError(400, "the field text is missing")
    try:
        return parse(fields.text(content, "text", MAX_BYTES))
    except ReplayError as problem:
        raise RefusedError(400, f"this replay does not hold: {problem}") from None


@lru_cache(maxsize=64)
def _agent(spec: str) -> Agent:
    return load(spec)


@lru_cache(maxsize=16)
def _adviser(spec: str) -> Adviser:
    return Adviser(_agent(spec))


def _player(spec: str, players: int) -> Agent:
    if not plays(_agent(spec), players):
        raise RefusedError(400, f"{spec} was not made for {players} players")
    return _agent(spec)


def make_app(server: Server, hosts: frozenset[str], open_port: int | None = None) -> App:
    """The ASGI application; `hosts` and `open_port` say to which Host values it answers (guard.py)."""
    routes = [Route("/", _page(server)), Route("/static/{name}", _static)]
    posts: dict[str, Callable[[bytes], Answer]] = {
        "new": server.new,
        "setup": server.setup,
        "state": server.state,
        "act": server.act,
        "hint": server.hint,
        "finish": server.finish,
        "leave": server.leave,
        "open": server.open,
        "preloaded": server.preloaded_replay,
        "analyze": server.analyze,
        "watch": server.watch,
        "ladder": server.ladder,
        "models": server.models,
    }
    routes += [Route(f"/api/{name}", _post(server, work), methods=["POST"]) for name, work in posts.items()]
    routed: Any = Starlette(routes=routes)
    return Guard(routed, hosts, server.secret, server.limits, REPLAY_PATHS, open_port)


def _page(server: Server) -> Callable[[Request], Response]:
    def page(request: Request) -> Response:
        if server.token is not None:
            given = request.query_params.get("token", "")
            if not secrets.compare_digest(given.encode(), server.token.encode()):
                return HTMLResponse(
                    "Add ?token=... to the address, as the program printed it.", status_code=403
                )
        return HTMLResponse(index_page(server.secret))

    return page


def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in STATIC:
        return JSONResponse({"error": "there is no such file"}, status_code=404)
    kind, content = STATIC[name]
    return Response(content, media_type=kind)


def _post(server: Server, work: Callable[[bytes], Answer]) -> Callable[[Request], Any]:
    async def answer(request: Request) -> Response:
        body = await request.body()
        try:
            return JSONResponse(await run_in_threadpool(work, body))
        except RefusedError as refused:
            return JSONResponse({"error": refused.reason}, status_code=refused.status)
        except ValueError as problem:
            return JSONResponse({"error": str(problem)}, status_code=400)
        except Exception:
            if server.debug:
                traceback.print_exc(file=sys.stderr)
            return JSONResponse({"error": "something went wrong in the server"}, status_code=500)

    return answer


def warm_up() -> None:
    """Play and judge one game, so that nobody at the page waits for a compiler."""
    agents = [_agent(default_opponent(3)), _agent("heuristic"), _agent("random")]
    session = Session(agents, seed=0)
    advise(session, _adviser(default_opponent(3)))
    for _ in session.advance():
        pass
    document(parse(session.replay().text()))
