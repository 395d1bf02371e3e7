"""A game with people and agents at one table: what the terminal, the web page and recordings play on.

The record of the game stays in here. What goes out is the view of a seat, made from that seat's observation
alone (`games/byzanz/view.py`), and the log, made from public facts (`narration.py`). All hands are shown
only when the game is over.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from byzanz_env.decisions import Agent, Decisions, agent_key, game_keys
from byzanz_env.errors import IllegalActionError
from byzanz_env.games.byzanz import engine
from byzanz_env.games.byzanz.actions import ACTIONS, Action, legal_actions, to_text
from byzanz_env.games.byzanz.engine import STATE
from byzanz_env.games.byzanz.observe import OBSERVATION_SIZE, encode
from byzanz_env.games.byzanz.rules import COMMIT, LAY, MERCHANT, NUM_ACTIONS, NUM_KINDS
from byzanz_env.games.byzanz.view import Counts, Table, seen_by, seen_by_all
from byzanz_env.narration import YOU, Narrator
from byzanz_env.replay import Recorder, Replay

NAMES = ("Theodora", "Basil", "Irene", "Leon", "Zoe", "Manuel")
HUMAN = "human"


@dataclass(frozen=True)
class Step:
    """One decision that was taken, and how it reads in the log."""

    seat: int
    action: Action
    lines: tuple[str, ...]


def display_names(agents: Sequence[str]) -> list[str]:
    """What the seats are called at the table: a lone human is You, the others have names of the time."""
    lone = list(agents).count(HUMAN) == 1
    return [YOU if agent == HUMAN and lone else NAMES[seat] for seat, agent in enumerate(agents)]


def shuffled_deck(players: int, seed: int) -> list[int]:
    """The deck order that a seed deals."""
    games = np.zeros(1, dtype=STATE)
    engine.deal(games[0], players, seed)
    return [int(kind) for kind in games[0].deck]


def agent_label(agent: Agent | None) -> dict[str, str]:
    """Name and hash of an agent, for the header of a replay."""
    if agent is None:
        return {"name": HUMAN, "hash": ""}
    known = getattr(agent, "sha256", "")
    name = agent.name[:200]
    return {"name": name, "hash": str(known)[:16] or hashlib.sha256(name.encode()).hexdigest()[:16]}


class Session:
    """One game; `agents` has None for every seat that a person plays."""

    def __init__(
        self,
        agents: Sequence[Agent | None],
        *,
        seed: int | None = None,
        deck: Sequence[int] | None = None,
    ) -> None:
        players = len(agents)
        self.seed = secrets.randbits(63) if seed is None else seed
        cards = shuffled_deck(players, self.seed) if deck is None else list(deck)
        self.agents = list(agents)
        labels = [agent_label(agent) for agent in agents]
        self.names = display_names([label["name"] for label in labels])
        self.agent_names = [label["name"] for label in labels]
        self._recorder = Recorder(players, cards, labels, self.seed if deck is None else None)
        self._narrator = Narrator(self.names)
        self.log: list[str] = self._narrator.opening(self.view(0))
        self._keys = [self.key(seat) for seat in range(players)]

    def key(self, seat: int) -> int:
        """The seed of the random numbers of whoever sits there."""
        agent = self.agents[seat]
        name = agent.name if agent is not None else HUMAN
        return int(game_keys(np.array([self.seed]), np.array([seat]), agent_key(name))[0])

    # --- what may be seen ---

    @property
    def players(self) -> int:
        return self._recorder.players

    @property
    def is_over(self) -> bool:
        return self._recorder.is_over

    @property
    def seat(self) -> int:
        """Who decides; -1 when the game is over."""
        return int(self._recorder.games[0].seat)

    @property
    def decisions_taken(self) -> int:
        return len(self._recorder.actions)

    @property
    def is_human_turn(self) -> bool:
        return not self.is_over and self.agents[self.seat] is None

    def _observation(self, seat: int) -> np.ndarray:
        observation = np.empty(OBSERVATION_SIZE, dtype=np.int8)
        encode(self._recorder.games[0], seat, observation)
        return observation

    def view(self, seat: int) -> Table:
        """The table as a seat sees it."""
        return seen_by(self._observation(seat), seat)

    def open_view(self) -> Table:
        """The table with all hands face up; only when the game is over."""
        if not self.is_over:
            raise PermissionError("hands are shown when the game is over")
        return seen_by_all([self._observation(seat) for seat in range(self.players)])

    def legal(self) -> list[Action]:
        """What the deciding seat may do."""
        return legal_actions(self._mask())

    def _mask(self) -> np.ndarray:
        mask = np.zeros(NUM_ACTIONS, dtype=np.int8)
        engine.legal_mask(self._recorder.games[0], mask)
        return mask

    def decisions(self) -> Decisions:
        """The decision that is due, for an agent: what its seat may know, and no more."""
        seat = self.seat
        keys = np.array([self._keys[seat]], dtype=np.int64)
        return Decisions(self._observation(seat)[None], self._mask()[None], keys, self._recorder.games)

    def board(self) -> np.ndarray:
        """A copy of the game [1] for agents that re-deal it; it must not be shown to anyone."""
        return self._recorder.games.copy()

    def scores(self) -> dict[str, list[float]]:
        """Points, cards in hand and shares of the win."""
        game, shares = self._recorder.games[0], np.zeros(6)
        if self.is_over:
            engine.win_shares(game, shares)
        return {
            "points": [int(n) for n in game.points[: self.players]],
            "hand_sizes": [int(n) for n in game.hand_size[: self.players]],
            "shares": [round(float(share), 4) for share in shares[: self.players]],
        }

    def replay(self) -> Replay:
        """The game so far, as it would stand in a replay file."""
        return self._recorder.finish()

    # --- what may be done ---

    def act(self, action: int, eyes: int = 0) -> Step:
        """Take the decision that is due; IllegalActionError leaves the game as it was."""
        seat, before = self.seat, self.view(eyes)
        try:
            self._recorder.add(action)
        except ValueError:
            text = to_text(action) if 0 <= action < NUM_ACTIONS else f"action {action}"
            raise IllegalActionError(f"{text!r} is not possible now ({before.phase})") from None
        lines = tuple(self._narrator.tell(before, ACTIONS[action], self.view(eyes)))
        self.log += lines
        return Step(seat, ACTIONS[action], lines)

    def raise_actions(self, kinds: Sequence[int]) -> list[int]:
        """The path of actions that adds these cards to the bid and commits it (9.2), checked as a whole."""
        table = self.view(self.seat)
        if table.phase != "bid":
            raise IllegalActionError("there is no auction to bid in now")
        hand = table.seats[self.seat].hand or ()
        if not kinds:
            raise IllegalActionError("choose at least one card to bid")
        for kind in kinds:
            if not 0 <= kind < NUM_KINDS or hand[kind] < list(kinds).count(kind):
                raise IllegalActionError("these cards are not in your hand")
        if MERCHANT in kinds:
            raise IllegalActionError("merchants cannot be bid")
        total = table.seats[self.seat].bid_total + sum(kind % 4 + 1 for kind in kinds)
        if total <= table.high_bid:
            raise IllegalActionError(f"that makes {total}, and the highest bid is {table.high_bid}")
        return [LAY + kind for kind in sorted(kinds)] + [COMMIT]

    def agent_action(self) -> int:
        """What the agent at the deciding seat wants to do."""
        agent = self.agents[self.seat]
        if agent is None:
            raise ValueError(f"a person decides at seat {self.seat}")
        return int(agent.act(self.decisions())[0])

    def advance(self, eyes: int = 0, *, forced: bool = False) -> Iterator[Step]:
        """Let the agents play until a person decides or the game is over.

        With `forced`, decisions of persons without a choice are played too.
        """
        while not self.is_over:
            if not self.is_human_turn:
                yield self.act(self.agent_action(), eyes)
            elif forced and len(legal := self.legal()) == 1:
                yield self.act(legal[0].index, eyes)
            else:
                return


def cards(counts: Counts | None) -> list[int]:
    """Counts by kind as a list of kinds."""
    return [kind for kind, count in enumerate(counts or ()) for _ in range(count)]


def seat_view(table: Table) -> dict[str, Any]:
    """A view of the table as JSON: cards are lists of kinds, `hand` is null where it is not seen."""
    return {
        "phase": table.phase,
        "to_act": table.to_act,
        "round": table.round,
        "rounds": table.rounds,
        "auction": table.auction,
        "on_offer": table.on_offer,
        "high_bid": table.high_bid,
        "pile": table.pile_left,
        "bundle": cards(table.bundle),
        "market": cards(table.market),
        "gone": len(cards(table.gone)),
        "laid": cards(table.laid),
        "seats": [
            {
                "hand": None if seat.hand is None else cards(seat.hand),
                "known": cards(seat.known),
                "unknown": seat.unknown,
                "hand_size": seat.hand_size,
                "points": seat.points,
                "bidder_card": seat.bidder_card,
                "bid": cards(seat.bid),
                "bid_total": seat.bid_total,
                "in_auction": seat.in_auction,
            }
            for seat in table.seats
        ],
    }
