"""The engine beside the reference, move by move: mask, seat, phase, every zone, known cards, results."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np

from byzanz_env._jit import njit
from byzanz_env.games.byzanz import engine
from tests.reference import byzanz as reference

PHASE_NAMES = ("bid", "give", "pick", "trim", "final", "over")
Chooser = Callable[[list[int], random.Random], int]


def _pick_random(legal: list[int], chance: random.Random) -> int:
    return legal[int(chance.random() * len(legal))]


def _pick_raise(legal: list[int], chance: random.Random) -> int:
    """Lays and commits whatever it can: the longest auctions."""
    raises = [action for action in legal if 1 <= action < reference.GIVE]
    return _pick_random(raises or legal, chance)


def _pick_pass(legal: list[int], chance: random.Random) -> int:
    return 0 if legal[0] == 0 else _pick_random(legal, chance)


def _pick_sale(legal: list[int], chance: random.Random) -> int:
    sales = [action for action in legal if reference.SELL <= action <= reference.SELL_MERCHANTS]
    return _pick_random(sales or legal, chance)


def _pick_hoard(legal: list[int], chance: random.Random) -> int:
    """Never sells: discards instead, and passes in the final sale."""
    others = [action for action in legal if not reference.SELL <= action <= reference.SELL_MERCHANTS]
    return _pick_random(others or legal, chance)


def _pick_least(legal: list[int], chance: random.Random) -> int:
    return legal[0]


def _pick_last(legal: list[int], chance: random.Random) -> int:
    return legal[-1]


ADVERSARIES: tuple[Chooser, ...] = (
    _pick_random,
    _pick_raise,
    _pick_pass,
    _pick_sale,
    _pick_hoard,
    _pick_least,
    _pick_last,
)


class Reference(reference.Game):
    """The reference, which works out its legal actions once per decision."""

    _now: list[int] | None = None

    def legal(self) -> list[int]:
        if self._now is None:
            self._now = super().legal()
        return self._now

    def play(self, action: int) -> None:
        super().play(action)
        self._now = None


@njit
def _advance(games: np.ndarray, action: int, mask: np.ndarray, numbers: np.ndarray) -> int:
    """Play an action (-1: none yet); write the next mask and everything in the record; return how much."""
    s = games[0]
    if action >= 0:
        engine.step(s, action)
    engine.legal_mask(s, mask)
    players = int(s.players)
    numbers[0], numbers[1], numbers[2] = s.phase, s.seat, s.round_number
    numbers[3], numbers[4], numbers[5] = s.auction, s.high_bid, 112 - int(s.drawn)
    at = 6
    for kind in range(25):
        numbers[at + kind] = s.bundle[kind]
        numbers[at + 25 + kind] = s.market[kind]
        for seat in range(players):
            numbers[at + 50 + 25 * seat + kind] = s.hands[seat, kind]
            numbers[at + 50 + 25 * (players + seat) + kind] = s.known[seat, kind]
            numbers[at + 50 + 25 * (2 * players + seat) + kind] = s.bids[seat, kind]
    at += 50 + 75 * players
    for seat in range(players):
        numbers[at + seat] = s.points[seat]
        numbers[at + players + seat] = s.bidder_card[seat]
    return at + 2 * players


@njit
def _deal_deck(games: np.ndarray, players: int, deck: np.ndarray) -> None:
    engine.deal_deck(games[0], players, deck)


def _vector(game: Reference) -> list[int]:
    """Everything the reference knows, as numbers."""
    counts = reference.counts
    numbers = [
        PHASE_NAMES.index(game.phase),
        game.seat,
        game.round,
        game.auction,
        game.high_bid,
        len(game.pile),
    ]
    numbers += counts(game.bundle)
    numbers += counts(game.market)
    for zone in (game.hands, game.known, game.bids):
        for cards in zone:
            numbers += counts(cards)
    return numbers + game.scores + game.bidder_cards


def compare_game(players: int, seed: int, adversarial: bool) -> int:
    """Play one random deal on both; return the number of decisions, or raise AssertionError."""
    chance = random.Random(f"{players} {seed} {adversarial}")
    deck = reference.all_cards()
    chance.shuffle(deck)
    choosers = [chance.choice(ADVERSARIES) if adversarial else _pick_random for _ in range(players)]
    plain = Reference(players, deck)
    games = np.zeros(1, dtype=engine.STATE)
    mask = np.zeros(288, dtype=np.int8)
    _deal_deck(games, players, np.array(deck, dtype=np.int8))
    numbers = np.zeros(600, dtype=np.int64)
    size = _advance(games, -1, mask, numbers)
    decisions = 0
    where = f"players {players} seed {seed} adversarial {adversarial}"
    while True:
        legal = plain.legal()
        if mask.nonzero()[0].tolist() != legal:
            raise AssertionError(f"masks differ: {where} decision {decisions}")
        if numbers[:size].tolist() != _vector(plain):
            raise AssertionError(f"positions differ: {where} decision {decisions}")
        if plain.phase == "over":
            break
        action = choosers[plain.seat](legal, chance)
        plain.play(action)
        _advance(games, action, mask, numbers)
        decisions += 1
    shares = np.zeros(6)
    engine.win_shares(games[0], shares)
    if shares.nonzero()[0].tolist() != plain.winners:
        raise AssertionError(f"winners differ: {where} decision {decisions}")
    return decisions
