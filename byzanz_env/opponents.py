"""Which opponents a person is offered, and who is the strongest of them."""

from __future__ import annotations

from collections.abc import Sequence

from byzanz_env.agents import load, names
from byzanz_env.decisions import Agent
from byzanz_env.games.byzanz.rules import MAX_PLAYERS, MIN_PLAYERS

SCRIPTED = ("heuristic", "greedy", "random")
SEARCHES = ("montecarlo:64", "ismcts:200")


def shipped() -> tuple[str, ...]:
    """The policies that come with the package, in the order of `agents.names`; the first is the default."""
    return tuple(name for name in names() if ":" not in name and name not in SCRIPTED)


def choices() -> tuple[str, ...]:
    """What the web page and the help offer; a program may load more (`byzanz_env.agents.load`)."""
    return (*shipped(), *SCRIPTED, *SEARCHES)


def default_opponent(players: int) -> str:
    """The opponent one gets without asking."""
    for name in shipped():
        if plays(load(name), players):
            return name
    return SCRIPTED[0]


def plays(agent: Agent, players: int) -> bool:
    """Whether an agent was made for this number of players."""
    made_for = getattr(getattr(agent, "policy", None), "players", None)
    return made_for is None or players in made_for


def seat_agents(specs: Sequence[str], players: int) -> list[Agent]:
    """One agent per seat, the specs repeated as needed; ValueError for one that cannot play here."""
    if not MIN_PLAYERS <= players <= MAX_PLAYERS:
        raise ValueError(f"Byzanz is for {MIN_PLAYERS} to {MAX_PLAYERS} players, not {players}")
    agents = {spec: load(spec) for spec in dict.fromkeys(specs)}
    for spec, agent in agents.items():
        if not plays(agent, players):
            raise ValueError(f"{spec} was not made for {players} players; choose another opponent")
    return [agents[specs[seat % len(specs)]] for seat in range(players)]
