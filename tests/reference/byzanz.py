"""Byzanz in plain Python: the slow second implementation, written from the rules page alone.

Every zone is a list of kinds (1.4); comments name the clause of the rules page they follow.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations_with_replacement

GOODS_TYPES = 6  # 1.3: cloth, spice, wine, wood, grain, olive
COPIES = (6, 5, 3, 2)  # 1.1: cards of value 1, 2, 3, 4 in each type
MERCHANT = 24  # 1.4
MERCHANTS = 16  # 1.2
KINDS = 25
HAND_LIMIT = 7  # 6.1
MERCHANT_PROFIT = 5  # 5.3

# 1.5: players -> (bidder cards from high to low, cards removed unseen, rounds)
TABLE: dict[int, tuple[tuple[int, ...], int, int]] = {
    3: ((6, 4, 2), 4, 8),
    4: ((5, 4, 3, 2), 12, 6),
    5: ((5, 4, 3, 2, 1), 2, 6),
    6: ((6, 5, 4, 3, 2, 1), 4, 4),
}

# 10: where each family of actions starts
PASS = 0
COMMIT = 1
LAY = 2
GIVE = 26
TAKE = 51
SELL = 58
SELL_MERCHANTS = 262
DISCARD = 263

# 10: the 34 sets of a type, as the values of their goods; merchants fill up to three cards
SETS: list[tuple[int, ...]] = [
    values for goods in (1, 2, 3) for values in combinations_with_replacement((1, 2, 3, 4), goods)
]


def kind_of(goods_type: int, value: int) -> int:
    return 4 * goods_type + value - 1  # 1.4


def type_of(kind: int) -> int:
    return kind // 4  # 4.1: merchants are type 6


def value_of(kind: int) -> int:
    return 0 if kind == MERCHANT else kind % 4 + 1  # 1.2, 1.4


def total(cards: Iterable[int]) -> int:
    return sum(value_of(kind) for kind in cards)


def counts(cards: Iterable[int]) -> list[int]:
    vector = [0] * KINDS
    for kind in cards:
        vector[kind] += 1
    return vector


def all_cards() -> list[int]:
    """The 112 cards, sorted by kind (1.1, 1.2)."""
    cards: list[int] = []
    for goods_type in range(GOODS_TYPES):
        for value, copies in enumerate(COPIES, start=1):
            cards += [kind_of(goods_type, value)] * copies
    return cards + [MERCHANT] * MERCHANTS


def set_cards(action: int) -> list[int]:
    """The three cards of a selling action (5.1, 5.3)."""
    if action == SELL_MERCHANTS:
        return [MERCHANT] * 3
    goods_type, number = divmod(action - SELL, len(SETS))
    goods = [kind_of(goods_type, value) for value in SETS[number]]
    return goods + [MERCHANT] * (3 - len(goods))


SALES: dict[int, list[int]] = {a: set_cards(a) for a in range(SELL, SELL_MERCHANTS + 1)}
SALES_FROM = {kind: [a for a, cards in SALES.items() if cards[0] == kind] for kind in range(KINDS)}


def holds(hand: list[int], cards: list[int]) -> bool:
    return all(hand.count(kind) >= cards.count(kind) for kind in cards)


class Game:
    """One game; `phase` and `seat` say which decision is next."""

    def __init__(self, players: int, deck: Sequence[int]) -> None:
        if players not in TABLE:
            raise ValueError(f"3 to 6 players, not {players}")
        if sorted(deck) != all_cards():
            raise ValueError("a deck is all 112 cards of the game, by kind")
        self.players = players
        self.cards_for_sale, removed, self.rounds = TABLE[players]
        # 2.4: four cards to each seat, then the removed cards, then the pile, top card first
        self.hands: list[list[int]] = [list(deck[4 * s : 4 * s + 4]) for s in range(players)]
        dealt = 4 * players
        self.box: list[int] = list(deck[dealt : dealt + removed])
        self.pile: list[int] = list(deck[dealt + removed :])
        self.known: list[list[int]] = [[] for _ in range(players)]  # 8.1, 8.2
        self.profit: list[list[int]] = [[] for _ in range(players)]  # cards kept from sales
        self.bids: list[list[int]] = [[] for _ in range(players)]
        self.bundle: list[int] = []
        self.market: list[int] = []
        self.bidder_cards: list[int] = [0] * players
        self.round = 0
        self.auction = 0
        self.passed: list[int] = []  # seats that passed in this auction, in order
        self.high_bid = 0  # highest committed bid of this auction
        self.laid: list[int] = []  # cards laid in the raise that is going on
        self.visitors: list[int] = []  # seats still to visit the market, the next one first
        self.sellers: list[int] = []  # seats still to come in the final sale
        self.at_market = False
        self.phase = "bid"
        self.seat = 0
        self._start_auction(opener=0)  # 2.3

    # ---- what can be asked

    @property
    def scores(self) -> list[int]:
        # 5.3: a kept merchant can only come from three merchants
        return [total(cards) + MERCHANT_PROFIT * cards.count(MERCHANT) for cards in self.profit]

    @property
    def winners(self) -> list[int]:
        if self.phase != "over":
            return []
        # 7.2, 9.4
        results = [(points, len(hand)) for points, hand in zip(self.scores, self.hands, strict=True)]
        return [seat for seat, result in enumerate(results) if result == max(results)]

    def legal(self) -> list[int]:
        """The legal actions, ascending (10)."""
        actions: list[int] = []
        if self.phase == "over":
            return actions
        hand = self.hands[self.seat]
        if self.phase in ("bid", "final") and not self.laid:
            actions.append(PASS)
        if self.phase == "bid":
            if self.laid and total(self.bids[self.seat]) > self.high_bid:
                actions.append(COMMIT)
            actions += [LAY + kind for kind in range(MERCHANT) if self._can_lay(kind)]
        if self.phase == "give":
            actions += [GIVE + kind for kind in sorted(set(self.bundle))]
        if self.phase == "pick":
            actions += [TAKE + t for t in sorted({type_of(kind) for kind in self.market})]
        if not self.laid:  # 9.1
            actions += self._sales(self.seat)
        if self.phase == "trim":
            actions += [DISCARD + kind for kind in sorted(set(hand))]
        return actions

    def _can_lay(self, kind: int) -> bool:
        hand = self.hands[self.seat]
        if kind not in hand:
            return False
        if self.laid and kind < self.laid[-1]:
            return False  # 9.2: ascending kinds
        reach = total(self.bids[self.seat]) + total(card for card in hand if card >= kind)
        return reach > self.high_bid  # 9.3

    def _sales(self, seat: int) -> list[int]:
        hand = self.hands[seat]
        return sorted(a for kind in set(hand) for a in SALES_FROM[kind] if holds(hand, SALES[a]))

    def copy(self) -> Game:
        twin = Game.__new__(Game)
        for name, value in self.__dict__.items():
            if isinstance(value, list):
                value = [item[:] if isinstance(item, list) else item for item in value]
            setattr(twin, name, value)
        return twin

    def snapshot(self) -> dict[str, object]:
        return {
            "phase": self.phase,
            "seat": self.seat,
            "round": self.round,
            "auction": self.auction,
            "bundle": counts(self.bundle),
            "market": counts(self.market),
            "hands": [counts(hand) for hand in self.hands],
            "bids": [counts(bid) for bid in self.bids],
            "known": [counts(known) for known in self.known],
            "points": self.scores,
            "bidder_cards": list(self.bidder_cards),
            "high_bid": self.high_bid,
            "pile_left": len(self.pile),
            "over": self.phase == "over",
            "scores": self.scores,
            "winners": self.winners,
        }

    # ---- a decision

    def play(self, action: int) -> None:
        if action not in self.legal():
            raise ValueError(f"action {action} is not legal now")
        if SELL <= action <= SELL_MERCHANTS:
            self._sell(action)
        elif action >= DISCARD:
            self.box.append(self._from_hand(self.seat, action - DISCARD))
            self._go_on_when_within_limit()
        elif action >= TAKE:
            self._take_from_market(action - TAKE)
        elif action >= GIVE:
            self._give(action - GIVE)
        elif action >= LAY:
            kind = self._from_hand(self.seat, action - LAY)
            self.bids[self.seat].append(kind)
            self.laid.append(kind)
        elif action == COMMIT:
            self._commit()
        elif self.phase == "final":
            self._next_seller()
        else:
            self._pass()

    # ---- hands and what is known of them

    def _from_hand(self, seat: int, kind: int) -> int:
        self.hands[seat].remove(kind)
        if kind in self.known[seat]:  # 8.2, 9.5
            self.known[seat].remove(kind)
        return kind

    def _to_hand(self, seat: int, cards: list[int]) -> None:
        self.hands[seat] += cards
        self.known[seat] += cards  # 8.2: all cards taken in play are taken in the open

    # ---- auctions

    def _start_auction(self, opener: int) -> None:
        self.passed = []
        size = self.cards_for_sale[self.auction]
        self.bundle, self.pile = self.pile[:size], self.pile[size:]  # 3.2
        self.seat = opener
        self.phase = "bid"
        if self.auction == self.players - 1:  # 3.9: one player left, no bidding
            self._take_bidder_card(opener)
            if size == 1:
                self.market += self.bundle
                self.bundle = []
                self._after_taking(opener)
            else:
                self.phase = "give"

    def _still_in(self) -> list[int]:
        """Seats in this auction that have not passed, clockwise from the deciding seat."""
        clockwise = [(self.seat + step) % self.players for step in range(self.players)]
        return [s for s in clockwise if not self.bidder_cards[s] and s not in self.passed]

    def _pass(self) -> None:
        seat = self.seat
        self._to_hand(seat, self.bids[seat])  # 3.4: never over the limit
        self.bids[seat] = []
        self.passed.append(seat)
        others = self._still_in()
        if not others:  # 3.8: everyone passed, the first to pass wins
            winner = self.passed[0]
            self._take_bidder_card(winner)
            self._take_bundle(winner)
        elif len(others) == 1 and self.bids[others[0]]:
            self._won_by_bid(others[0])  # 3.6
        else:
            self.seat = others[0]  # 3.3

    def _commit(self) -> None:
        self.laid = []
        self.high_bid = total(self.bids[self.seat])
        players_in = self._still_in()
        if len(players_in) == 1:
            self._won_by_bid(self.seat)  # 3.6: a bid of the last one wins at once
        else:
            self.seat = players_in[1]

    def _won_by_bid(self, winner: int) -> None:
        self._take_bidder_card(winner)
        self.market += self.bids[winner]  # 3.7
        self.bids[winner] = []
        self.seat = winner
        self.phase = "give"

    def _take_bidder_card(self, winner: int) -> None:
        self.bidder_cards[winner] = self.cards_for_sale[self.auction]  # 3.10
        self.high_bid = 0  # the bidding is over

    def _give(self, kind: int) -> None:
        self.bundle.remove(kind)  # 3.7
        self.market.append(kind)
        self._take_bundle(self.seat)

    def _take_bundle(self, winner: int) -> None:
        self._to_hand(winner, self.bundle)
        self.bundle = []
        self._after_taking(winner)

    def _next_auction(self, winner: int) -> None:
        if self.auction == self.players - 1:
            self._open_market()
            return
        self.auction += 1
        clockwise = [(winner + step) % self.players for step in range(1, self.players)]
        opener = next(s for s in clockwise if not self.bidder_cards[s])  # 3.11
        self._start_auction(opener)

    # ---- the hand limit

    def _after_taking(self, seat: int) -> None:
        self.seat = seat
        self.phase = "trim"
        self._go_on_when_within_limit()

    def _go_on_when_within_limit(self) -> None:
        if len(self.hands[self.seat]) > HAND_LIMIT:
            return  # 6.1: play waits
        if self.at_market:
            self._next_visitor()
        else:
            self._next_auction(winner=self.seat)

    # ---- the market

    def _lowest_bidder(self) -> int:
        return self.bidder_cards.index(min(self.bidder_cards))

    def _open_market(self) -> None:
        self.at_market = True
        # 4.1: from the lowest bidder card to the highest
        self.visitors = sorted(range(self.players), key=lambda seat: self.bidder_cards[seat])
        self._next_visitor()

    def _next_visitor(self) -> None:
        if self.visitors and self.market:
            self.seat = self.visitors.pop(0)
            self.phase = "pick"
        else:
            self._close_market()  # 4.2

    def _take_from_market(self, card_type: int) -> None:
        taken = [kind for kind in self.market if type_of(kind) == card_type]
        self.market = [kind for kind in self.market if type_of(kind) != card_type]
        self._to_hand(self.seat, taken)
        self._after_taking(self.seat)

    def _close_market(self) -> None:
        self.at_market = False
        self.visitors = []
        self.box += self.market  # 4.3
        self.market = []
        if self.round == self.rounds - 1:
            self._open_final_sale()
            return
        starter = self._lowest_bidder()  # 4.4
        self.bidder_cards = [0] * self.players
        self.round += 1
        self.auction = 0
        self._start_auction(starter)

    # ---- selling

    def _sell(self, action: int) -> None:
        cards = [self._from_hand(self.seat, kind) for kind in SALES[action]]
        kept = max(cards, key=value_of)  # 5.2, 5.3
        cards.remove(kept)
        self.profit[self.seat].append(kept)
        self.box += cards
        if self.phase == "trim":
            self._go_on_when_within_limit()
        elif self.phase == "final" and not self._sales(self.seat):
            self._next_seller()

    def _open_final_sale(self) -> None:
        first = self._lowest_bidder()  # 9.9
        self.sellers = [(first + step) % self.players for step in range(self.players)]
        self.phase = "final"  # 7.1
        self._next_seller()

    def _next_seller(self) -> None:
        while self.sellers:
            self.seat = self.sellers.pop(0)
            if self._sales(self.seat):
                return  # 9.8: no decision without a sale
        self.phase = "over"
        self.seat = -1


# ---- 12: the tools of the test vectors


def stride_deck(stride: int) -> list[int]:
    cards = all_cards()
    return [cards[i * stride % len(cards)] for i in range(len(cards))]


def scripted_action(legal: Sequence[int], t: int, a: int, b: int) -> int:
    return legal[(a * t * t + b * t) % len(legal)]


def perft(game: Game, depth: int) -> int:
    """Number of action sequences of that length; one that ends the game sooner counts once."""
    if depth == 0 or game.phase == "over":
        return 1
    leaves = 0
    for action in game.legal():
        child = game.copy()
        child.play(action)
        leaves += perft(child, depth - 1)
    return leaves


def signature(sig: int, action: int, seat: int) -> int:
    """The signature after one more decision; it starts from 0."""
    return (sig * 1000003 + action * 7 + seat) % (2**61 - 1)
