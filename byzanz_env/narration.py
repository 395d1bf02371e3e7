"""A game in words: what just happened at the table, said with public facts only.

Every line is made from two views of the table, before and after an action, and of these only what everybody
sees: bids, the bundle, the market, bidder cards, points. A card that was dealt is never named before it is
shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from byzanz_env.games.byzanz.actions import Action
from byzanz_env.games.byzanz.rules import (
    MERCHANT,
    NUM_SETS,
    NUM_VALUES,
    SELL,
    SELL_MERCHANTS,
    SET_PROFIT,
    THREE_MERCHANTS_PROFIT,
    TYPES,
)
from byzanz_env.games.byzanz.view import Counts, Table

YOU = "You"


def cards_in_words(counts: Sequence[int]) -> str:
    """`cloth 1 and 3, wine 2, two merchants`."""
    words = []
    for good, name in enumerate(TYPES):
        values = [str(v + 1) for v in range(NUM_VALUES) for _ in range(int(counts[NUM_VALUES * good + v]))]
        if values:
            words.append(f"{name} {_listed(values)}")
    merchants = int(counts[MERCHANT])
    if merchants:
        words.append("a merchant" if merchants == 1 else f"{merchants} merchants")
    return ", ".join(words) or "nothing"


def kinds_in_words(kinds: Sequence[int]) -> str:
    return cards_in_words([list(kinds).count(kind) for kind in range(MERCHANT + 1)])


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _does(name: str, verb: str) -> str:
    if name == YOU:
        return f"{name} {verb}"
    return f"{name} {verb}es" if verb.endswith("s") else f"{name} {verb}s"


def profit_of(action: Action) -> int:
    """What a sale brings (5.2, 5.3)."""
    if action.index == SELL_MERCHANTS:
        return THREE_MERCHANTS_PROFIT
    return int(SET_PROFIT[(action.index - SELL) % NUM_SETS])


def _points(number: int) -> str:
    return "1 point" if number == 1 else f"{number} points"


@dataclass
class Narrator:
    """Tells a game action by action."""

    names: Sequence[str]
    _market_is_open: bool = False

    def opening(self, table: Table) -> list[str]:
        """What is said before the first decision."""
        return [f"Round 1 of {table.rounds} begins. {self._offer(table)}"]

    def tell(self, before: Table, action: Action, after: Table) -> list[str]:
        """The lines for one action of the seat that decided in `before`; none while a raise is laid out."""
        assert before.to_act is not None
        lines = [self._deed(before, action), *self._wins(before, action, after)]
        lines += self._changes(before, after)
        return [line for line in lines if line]

    def _deed(self, before: Table, action: Action) -> str:
        seat = before.to_act or 0
        name = self.names[seat]
        if action.verb == "pass":
            return _does(name, "pass") + "." if before.phase == "bid" else _does(name, "stop") + " selling."
        if action.verb == "commit":
            cards = cards_in_words(before.laid)
            total = before.seats[seat].bid_total
            return f"{_does(name, 'add')} {cards} and {'bid' if name == YOU else 'bids'} {total}."
        if action.verb == "give":
            rest = _without(before.bundle, action.cards[0])
            return (
                f"{_does(name, 'give')} {kinds_in_words(action.cards)} to the market"
                f" and {'take' if name == YOU else 'takes'} {cards_in_words(rest)}."
            )
        if action.verb == "take":
            return f"{_does(name, 'take')} {cards_in_words(_of_type(before.market, action.good or 0))}."
        if action.verb == "sell":
            return f"{_does(name, 'sell')} {kinds_in_words(action.cards)} for {_points(profit_of(action))}."
        if action.verb == "discard":
            return f"{_does(name, 'discard')} {kinds_in_words(action.cards)}."
        return ""

    def _wins(self, before: Table, action: Action, after: Table) -> list[str]:
        if after.round != before.round:
            return []
        winners = [
            now
            for seat, now in zip(before.seats, after.seats, strict=True)
            if now.bidder_card and not seat.bidder_card
        ]
        winners.sort(key=lambda now: -now.bidder_card)
        return [self._win(before, action, after, now.seat, now.bidder_card) for now in winners]

    def _win(self, before: Table, action: Action, after: Table, seat: int, card: int) -> str:
        name = self.names[seat]
        if before.phase != "bid" or card != before.on_offer:  # 3.9
            line = f"{_does(name, 'get')} bidder card {card} without an auction"
            if card > 1:
                return line + "."
            given = _without(before.market, action.cards[0], -1) if action.verb == "give" else before.market
            return line + (
                f"; {cards_in_words(_gain(given, after.market))} goes to the market." if card == 1 else "."
            )
        if action.verb == "commit" or before.high_bid > 0:
            total = before.seats[seat].bid_total
            return f"{_does(name, 'win')} the bundle and bidder card {card} with {total}."
        bundle = cards_in_words(before.bundle)  # 3.8
        return f"Everyone passed: {_does(name, 'take')} {bundle} and bidder card {card} for nothing."

    def _changes(self, before: Table, after: Table) -> list[str]:
        lines = []
        if after.phase == "trim" and before.phase != "trim" and after.to_act is not None:
            name = self.names[after.to_act]
            held = after.seats[after.to_act].hand_size
            lines.append(f"{_does(name, 'hold')} {held} cards and must come down to seven.")
        if after.phase == "pick" and not self._market_is_open:
            self._market_is_open = True
            lines.append(f"The market opens: {cards_in_words(after.market)}.")
        if after.round != before.round:
            self._market_is_open = False
            lines.append(f"Round {after.round + 1} of {after.rounds} begins. {self._offer(after)}")
        elif after.auction != before.auction and after.phase in ("bid", "give"):
            lines.append(self._offer(after))
        if after.phase == "final" and before.phase != "final":
            lines.append("The last market is over: everyone may sell once more.")
        if after.phase == "over":
            lines.append(self._result(after))
        return lines

    def _offer(self, table: Table) -> str:
        return f"On offer with bidder card {table.on_offer}: {cards_in_words(table.bundle)}."

    def _result(self, table: Table) -> str:
        best = max((seat.points, seat.hand_size) for seat in table.seats)
        winners = [self.names[s.seat] for s in table.seats if (s.points, s.hand_size) == best]
        if len(winners) == 1:
            return f"The game is over: {_does(winners[0], 'win')} with {_points(best[0])}."
        return f"The game is over: {_listed(winners)} share the win with {_points(best[0])}."


def _without(cards: Counts, kind: int, number: int = 1) -> list[int]:
    return [count - number * (at == kind) for at, count in enumerate(cards)]


def _gain(before: Sequence[int], after: Counts) -> list[int]:
    return [max(0, b - a) for a, b in zip(before, after, strict=True)]


def _of_type(cards: Counts, good: int) -> list[int]:
    return [count if kind // NUM_VALUES == good else 0 for kind, count in enumerate(cards)]
