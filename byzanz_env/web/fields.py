"""Typed reading of what the page sends: known fields only, each of the right kind, or a refusal."""

from __future__ import annotations

import json
from typing import Any

from byzanz_env.commands.arguments import MAX_SEED
from byzanz_env.games.byzanz.rules import MAX_PLAYERS, MIN_PLAYERS, NUM_ACTIONS, NUM_KINDS
from byzanz_env.web.guard import RefusedError


def decode(body: bytes, required: tuple[str, ...], optional: tuple[str, ...] = ()) -> dict[str, Any]:
    """The fields of a request."""
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        raise RefusedError(400, "this is not JSON") from None
    if not isinstance(content, dict):
        raise RefusedError(400, "a request is a JSON object")
    missing = [name for name in required if name not in content]
    if missing:
        raise RefusedError(400, f"the field {missing[0]} is missing")
    unknown = [name for name in content if name not in (*required, *optional)]
    if unknown:
        raise RefusedError(400, "there is a field that this request does not have")
    return content


def whole(content: dict[str, Any], name: str, low: int, high: int) -> int:
    value = content[name]
    if type(value) is not int or not low <= value <= high:
        raise RefusedError(400, f"{name} must be a whole number from {low} to {high}")
    return value


def players(content: dict[str, Any]) -> int:
    return whole(content, "players", MIN_PLAYERS, MAX_PLAYERS)


def seed(content: dict[str, Any]) -> int | None:
    return None if content.get("seed") is None else whole(content, "seed", 0, MAX_SEED)


def flag(content: dict[str, Any], name: str, default: bool) -> bool:
    value = content.get(name, default)
    if type(value) is not bool:
        raise RefusedError(400, f"{name} must be true or false")
    return value


def text(content: dict[str, Any], name: str, longest: int) -> str:
    value = content[name]
    if not isinstance(value, str) or len(value) > longest:
        raise RefusedError(400, f"{name} must be a text of at most {longest} characters")
    return value


def specs(content: dict[str, Any], name: str, number: int, known: tuple[str, ...]) -> list[str]:
    """Opponents by name: only those on offer, so that no path of a file is ever taken from a request."""
    value = content[name]
    if not isinstance(value, list) or len(value) != number:
        raise RefusedError(400, f"{name} must name {number} opponents")
    if any(not isinstance(spec, str) or spec not in known for spec in value):
        raise RefusedError(400, f"{name} must be among: {', '.join(known)}")
    return value


def move(content: dict[str, Any]) -> tuple[int | None, list[int]]:
    """Either one action or the cards of a raise."""
    if ("action" in content) == ("raise" in content):
        raise RefusedError(400, "a move has either an action or a raise")
    if "action" in content:
        return whole(content, "action", 0, NUM_ACTIONS - 1), []
    kinds = content["raise"]
    if not isinstance(kinds, list) or not 1 <= len(kinds) <= 12:
        raise RefusedError(400, "a raise is a list of 1 to 12 cards")
    if any(type(kind) is not int or not 0 <= kind < NUM_KINDS for kind in kinds):
        raise RefusedError(400, f"a card is a whole number from 0 to {NUM_KINDS - 1}")
    return None, kinds
