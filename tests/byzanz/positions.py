"""Positions for tests, set up through a deck order (2.4) and played in text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from byzanz_env._jit import njit
from byzanz_env.games.byzanz import engine
from byzanz_env.games.byzanz.actions import from_text, to_text
from byzanz_env.games.byzanz.observe import OBSERVATION_SIZE, encode, views
from byzanz_env.games.byzanz.redeal import redeal
from byzanz_env.games.byzanz.rules import BIDDER_CARDS, NUM_ACTIONS, PHASES, REMOVED, ROUNDS, full_deck
from byzanz_env.games.byzanz.text import parse_cards


def cards(text: str) -> list[int]:
    """Counts by kind."""
    return parse_cards(text)


def kinds(text: str) -> list[int]:
    """The cards one by one, in the order of the text."""
    return [
        kind for word in text.split() for kind, count in enumerate(parse_cards(word)) for _ in range(count)
    ]


def build_deck(
    players: int, hands: Sequence[str] = (), bundles: Sequence[str] = (), removed: str = ""
) -> list[int]:
    """A deck order: what is not named is filled with the cards that are left, spread over the kinds."""
    sizes = [4] * players + [REMOVED[players]] + list(BIDDER_CARDS[players]) * ROUNDS[players]
    zones = [*hands, *[""] * (players - len(hands)), removed, *bundles]
    zones += [""] * (len(sizes) - len(zones))
    left = list(full_deck())
    named = [kinds(zone) for zone in zones]
    for zone in named:
        for kind in zone:
            left.remove(kind)
    left = [left[i] for start in range(7) for i in range(start, len(left), 7)]
    deck: list[int] = []
    for zone, size in zip(named, sizes, strict=True):
        assert len(zone) <= size, "too many cards for this zone"
        deck += zone + [left.pop(0) for _ in range(size - len(zone))]
    return deck


def stride_deck(stride: int) -> list[int]:
    """The stride deck of part 12."""
    cards_in_order = full_deck()
    return [cards_in_order[i * stride % 112] for i in range(112)]


@njit
def _deal_deck(games: np.ndarray, players: int, deck: np.ndarray) -> None:
    engine.deal_deck(games[0], players, deck)


@njit
def _deal(games: np.ndarray, players: int, seed: int) -> None:
    engine.deal(games[0], players, seed)


@njit
def _step(games: np.ndarray, action: int) -> None:
    engine.step(games[0], action)


@njit
def _mask(games: np.ndarray, out: np.ndarray) -> int:
    return engine.legal_mask(games[0], out)


@njit
def _encode(games: np.ndarray, seat: int, out: np.ndarray) -> None:
    encode(games[0], seat, out)


@njit
def _redeal(games: np.ndarray, seat: int, seed: int) -> None:
    redeal(games[0], seat, seed)


@njit
def _win_shares(games: np.ndarray, out: np.ndarray) -> None:
    engine.win_shares(games[0], out)


class Played:
    """One game on the engine, with the questions that tests ask."""

    def __init__(self, players: int, deck: Iterable[int] | None = None, seed: int | None = None) -> None:
        self.players = players
        self.games = np.zeros(1, dtype=engine.STATE)
        self._mask = np.zeros(NUM_ACTIONS, dtype=np.int8)
        if deck is not None:
            _deal_deck(self.games, players, np.array(list(deck), dtype=np.int8))
        else:
            _deal(self.games, players, seed or 0)

    @property
    def state(self) -> np.record:
        return self.games[0]

    @property
    def phase(self) -> str:
        return PHASES[int(self.state.phase)]

    @property
    def seat(self) -> int:
        return int(self.state.seat)

    @property
    def over(self) -> bool:
        return self.phase == "over"

    def legal(self) -> list[int]:
        _mask(self.games, self._mask)
        return [int(index) for index in np.flatnonzero(self._mask)]

    def legal_texts(self) -> list[str]:
        return [to_text(index) for index in self.legal()]

    def play(self, *texts: str) -> None:
        for text in texts:
            assert text in self.legal_texts(), f"{text} is not legal: {self.legal_texts()}"
            _step(self.games, from_text(text))

    def step(self, action: int) -> None:
        _step(self.games, action)

    def play_on(self, choose: Callable[[Played], int], until: Callable[[Played], bool]) -> int:
        """Let `choose` decide until something holds or the game is over; return the number of decisions."""
        decisions = 0
        while not self.over and not until(self):
            self.step(choose(self))
            decisions += 1
        return decisions

    def hand(self, seat: int) -> list[int]:
        return self.state.hands[seat].tolist()

    def known(self, seat: int) -> list[int]:
        return self.state.known[seat].tolist()

    def bid(self, seat: int) -> list[int]:
        return self.state.bids[seat].tolist()

    @property
    def market(self) -> list[int]:
        return self.state.market.tolist()

    @property
    def bundle(self) -> list[int]:
        return self.state.bundle.tolist()

    @property
    def gone(self) -> list[int]:
        return self.state.gone.tolist()

    @property
    def points(self) -> list[int]:
        return self.state.points[: self.players].tolist()

    @property
    def bidder_cards(self) -> list[int]:
        return self.state.bidder_card[: self.players].tolist()

    def observe(self, seat: int) -> np.ndarray:
        out = np.empty(OBSERVATION_SIZE, dtype=np.int8)
        _encode(self.games, seat, out)
        return out

    def views(self, seat: int) -> dict[str, np.ndarray]:
        return views(self.observe(seat))

    def redealt(self, seat: int, seed: int) -> Played:
        twin = self.copy()
        _redeal(twin.games, seat, seed)
        return twin

    def copy(self) -> Played:
        twin = Played.__new__(Played)
        twin.players, twin.games, twin._mask = self.players, self.games.copy(), self._mask.copy()
        return twin

    def win_shares(self) -> list[float]:
        out = np.zeros(6)
        _win_shares(self.games, out)
        return out[: self.players].tolist()

    def total_cards(self) -> list[int]:
        """Every card of the game by kind, from all zones and the rest of the deck."""
        s = self.state
        dealt = 4 * self.players
        unturned = [*s.deck[dealt : dealt + REMOVED[self.players]], *s.deck[int(s.drawn) :]]
        total = np.bincount(np.array(unturned, dtype=np.int64), minlength=25)
        for zone in (s.hands.sum(0), s.bids.sum(0), s.bundle, s.market, s.gone):
            total = total + zone
        return total.tolist()


def meek(game: Played) -> int:
    """A choice that never sells and never bids: pass, give, take or discard the first there is."""
    legal = game.legal()
    for first, last in ((0, 0), (26, 57), (263, 287)):
        for action in legal:
            if first <= action <= last:
                return action
    return legal[0]


def eager(game: Played) -> int:
    """A choice that sells whatever it can, and is meek otherwise."""
    sales = [action for action in game.legal() if 58 <= action <= 262]
    return sales[0] if sales else meek(game)
