"""8.3: no agent sees what its seat cannot know. Twins of a game differ in that alone, zone by zone."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from byzanz_env.agents import load, names
from byzanz_env.agents.shipped import path_of, shipped_names
from byzanz_env.decisions import Agent, Decisions
from byzanz_env.games.byzanz.engine import State
from byzanz_env.games.byzanz.rules import DEALT, MAX_PLAYERS, MIN_PLAYERS, NUM_KINDS, REMOVED
from tests.agents.decide import decisions_of, positions
from tests.byzanz.positions import Played

ZONES = ("hands", "removed", "pile", "past")
PLAYERS = range(MIN_PLAYERS, MAX_PLAYERS + 1)


def all_specs() -> list[str]:
    """Whatever the registry knows, and every policy also as a file and with a search."""
    named = [name.replace(":N", ":24") for name in names()]
    policies = [spec for name in shipped_names() for spec in (str(path_of(name)), f"{name}+search:16")]
    return [*named, *policies]


# --- twins -------------------------------------------------------------------------------------------


def unknown_cards(state: State, seat: int) -> list[int]:
    """The cards of a hand that the other seats cannot know, kind by kind."""
    secret = state.hands[seat].astype(np.int64) - state.known[seat]
    return np.repeat(np.arange(NUM_KINDS), secret).tolist()


def removed_of(state: State) -> slice:
    return slice(DEALT * int(state.players), DEALT * int(state.players) + REMOVED[int(state.players)])


def twin_of(game: Played, zone: str, rng: np.random.Generator) -> Played:
    """The same game for the seat that decides, with other cards in one zone that it cannot see.

    Cards of other hands change places with removed ones, removed ones with the pile, the pile is put into
    another order; the past is the deal as the deck remembers it, and the generator that shuffled it.
    """
    twin = game.copy()
    state = twin.games[0]
    removed, pile = removed_of(state), slice(int(state.drawn), None)
    if zone == "hands":
        others = [seat for seat in range(game.players) if seat != game.seat]
        held = [unknown_cards(state, seat) for seat in others]
        pool = rng.permutation(np.concatenate([*held, state.deck[removed]]).astype(np.int64))
        for seat, count in zip(others, map(len, held), strict=True):
            drawn, pool = pool[:count], pool[count:]
            state.hands[seat] = state.known[seat] + np.bincount(drawn, minlength=NUM_KINDS)
        state.deck[removed] = pool
    elif zone == "removed":
        pool = rng.permutation([*state.deck[removed], *state.deck[pile]])
        state.deck[removed], state.deck[pile] = np.split(pool, [REMOVED[game.players]])
    elif zone == "pile":
        state.deck[pile] = rng.permutation(state.deck[pile])
    else:
        state.deck[: removed.start] = rng.permutation(state.deck[: removed.start])
        state.rng[:] = rng.integers(1, 2**32, size=4, dtype=np.uint32)
    return twin


@cache
def pairs(players: int, zone: str) -> list[tuple[Played, Played]]:
    """Positions of every phase, each with a twin that differs from it."""
    rng = np.random.default_rng([players, ZONES.index(zone)])
    games = positions(players, 6, every=3)
    found = [(game, twin_of(game, zone, rng)) for game in games]
    return [(game, twin) for game, twin in found if game.games.tobytes() != twin.games.tobytes()]


def told_apart(agent: Agent, players: int, zone: str) -> int:
    """How many twins an agent tells apart."""
    games, twins = zip(*pairs(players, zone), strict=True)
    return int((agent.act(decisions_of(games)) != agent.act(decisions_of(twins))).sum())


@pytest.mark.parametrize("players", PLAYERS)
@pytest.mark.parametrize("zone", ZONES)
def test_twins_look_the_same_to_the_seat_that_decides(zone: str, players: int) -> None:
    found = pairs(players, zone)
    assert len(found) > 25
    for game, twin in found:
        assert game.observe(game.seat).tobytes() == twin.observe(game.seat).tobytes()
        assert game.legal() == twin.legal()
        assert game.total_cards() == twin.total_cards()


# --- agents ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("players", PLAYERS)
@pytest.mark.parametrize("spec", all_specs(), ids=lambda spec: spec.rpartition("/")[2])
def test_8_3_no_agent_tells_twins_apart(spec: str, players: int) -> None:
    agent = load(spec)
    assert {zone: told_apart(agent, players, zone) for zone in ZONES} == dict.fromkeys(ZONES, 0)


class Peeking:
    """Lets its choice depend on a card of one zone, as an agent that reads the true game would."""

    name = "peeking"

    def __init__(self, zone: str) -> None:
        self.zone = zone

    def act(self, decisions: Decisions) -> np.ndarray:
        assert decisions._states is not None
        chosen = [self._secret(state) for state in decisions._states]
        legal = map(np.flatnonzero, decisions.masks)
        return np.array([mine[card % len(mine)] for mine, card in zip(legal, chosen, strict=True)])

    def _secret(self, state: State) -> int:
        if self.zone == "hands":
            others = [seat for seat in range(int(state.players)) if seat != int(state.seat)]
            return sum(card for seat in others for card in unknown_cards(state, seat))
        if self.zone == "removed":
            return int(state.deck[removed_of(state)].sum())
        if self.zone == "pile":
            return int(state.deck[int(state.drawn)]) if state.drawn < len(state.deck) else 0
        return int(state.deck[0])


@pytest.mark.parametrize("players", PLAYERS)
@pytest.mark.parametrize("zone", ZONES)
def test_an_agent_that_peeks_is_found_out(zone: str, players: int) -> None:
    assert told_apart(Peeking(zone), players, zone) > 0
