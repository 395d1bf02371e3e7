"""One test per clause of RULES.md, its id in the name; the last test counts them."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import byzanz_env
from byzanz_env.games.byzanz import rules
from byzanz_env.games.byzanz.actions import ACTIONS
from tests.byzanz.positions import Played, build_deck, cards, eager, kinds, meek, stride_deck

pytestmark = pytest.mark.plain

RULES = Path(byzanz_env.__file__).parent / "games" / "byzanz" / "RULES.md"
COUNTS = (3, 4, 5, 6)


def all_pass(game: Played) -> None:
    """Everybody passes in this auction; the first to pass takes the bundle."""
    while game.phase == "bid" and "pass" in game.legal_texts():
        seat, auction = game.seat, int(game.state.auction)
        game.play("pass")
        if int(game.state.auction) != auction or game.phase != "bid":
            return
        assert game.seat != seat


def to_final(game: Played) -> None:
    game.play_on(meek, until=lambda g: g.phase == "final")


# --- 1 cards


def test_1_1_goods_are_6_types_of_16() -> None:
    deck = Counter(rules.full_deck())
    for good in range(6):
        assert [deck[4 * good + value] for value in range(4)] == [6, 5, 3, 2]


def test_1_2_sixteen_merchants_without_value_and_use_in_bids(table) -> None:
    assert rules.full_deck().count(rules.MERCHANT) == 16
    assert rules.VALUE_OF[rules.MERCHANT] == 0
    game = table(hands=["merchant merchant merchant merchant"])
    assert game.legal_texts() == ["pass", "sell three merchants"]


def test_1_3_order_of_types() -> None:
    assert rules.TYPES == ("cloth", "spice", "wine", "wood", "grain", "olive")


def test_1_4_kinds() -> None:
    assert kinds("cloth1 cloth4 spice1 olive4 merchant") == [0, 3, 4, 23, 24]


@pytest.mark.parametrize(
    ("players", "bidder_cards", "removed", "rounds", "pile"),
    [
        (3, (6, 4, 2), 4, 8, 96),
        (4, (5, 4, 3, 2), 12, 6, 84),
        (5, (5, 4, 3, 2, 1), 2, 6, 90),
        (6, (6, 5, 4, 3, 2, 1), 4, 4, 84),
    ],
)
def test_1_5_table_of_players(players, bidder_cards, removed, rounds, pile) -> None:
    assert rules.BIDDER_CARDS[players] == bidder_cards
    assert rules.REMOVED[players] == removed
    assert rules.ROUNDS[players] == rounds
    game = Played(players, deck=stride_deck(45))
    assert 112 - int(game.state.drawn) == pile - bidder_cards[0]  # the first bundle is turned up


# --- 2 set-up


@pytest.mark.parametrize("players", COUNTS)
def test_2_1_four_cards_each_from_all_112(players) -> None:
    game = Played(players, seed=3)
    assert [sum(game.hand(seat)) for seat in range(players)] == [4] * players
    assert game.total_cards() == rules.KIND_COUNTS.tolist()
    assert sorted(game.state.deck) == list(rules.full_deck())


@pytest.mark.parametrize("players", COUNTS)
def test_2_2_pile_is_used_up_exactly(players) -> None:
    game = Played(players, deck=stride_deck(45))
    removed = game.state.deck[4 * players : 4 * players + rules.REMOVED[players]].tolist()
    game.play_on(meek, until=lambda _: False)
    assert int(game.state.drawn) == 112
    left = np.array(rules.KIND_COUNTS) - game.gone - game.state.hands.sum(0)
    assert left.tolist() == np.bincount(removed, minlength=25).tolist()


def test_2_3_seat_0_starts(table) -> None:
    game = table()
    assert (game.seat, game.phase) == (0, "bid")


def test_2_4_deck_order() -> None:
    deck = stride_deck(45)
    game = Played(4, deck=deck)
    for seat in range(4):
        assert game.hand(seat) == np.bincount(deck[4 * seat : 4 * seat + 4], minlength=25).tolist()
    assert game.bundle == np.bincount(deck[16 + 12 : 16 + 12 + 5], minlength=25).tolist()
    all_pass(game)
    assert game.phase == "trim"  # four cards and a bundle of five


# --- 3 auctions


@pytest.mark.parametrize("players", COUNTS)
def test_3_1_as_many_auctions_as_players_from_high_to_low(players) -> None:
    game = Played(players, deck=stride_deck(45))
    game.play_on(meek, until=lambda g: g.phase == "pick" or int(g.state.round_number) == 1)
    # with everybody passing, each seat in turn is first to pass
    assert int(game.state.round_number) == 1 or sorted(game.bidder_cards) == sorted(
        rules.BIDDER_CARDS[players]
    )
    seen = []
    game = Played(players, deck=stride_deck(45))
    while int(game.state.round_number) == 0 and game.phase != "pick":
        if not seen or seen[-1][0] != int(game.state.auction):
            seen.append((int(game.state.auction), sum(game.bundle)))
        game.step(meek(game))
    shown = [size for _, size in seen]
    assert shown == [card for card in rules.BIDDER_CARDS[players] if card > 1]


def test_3_2_bundle_has_as_many_cards_as_the_bidder_card_says(table) -> None:
    game = table(bundles=["wood1 grain3 olive3 cloth2 grain1", "merchant wine2 wine2 wine3"])
    assert game.bundle == cards("wood1 grain3 olive3 cloth2 grain1")
    game.play("pass", "pass", "pass", "pass", "discard cloth2", "discard wood1")
    assert game.bundle == cards("merchant wine2 wine2 wine3")


def test_3_3_starter_opens_and_turns_go_clockwise(table) -> None:
    game = table(hands=["cloth1 cloth2 wine1 wine2", "", "spice4 spice3 olive1 olive2"])
    game.play("lay cloth1", "commit")
    assert game.seat == 1
    game.play("pass")
    assert game.seat == 2
    game.play("lay spice3", "commit", "pass")
    assert game.seat == 0  # 1 and 3 are out
    game.play("lay cloth2", "lay wine1", "commit")
    assert game.seat == 2


def test_3_4_pass_takes_the_bid_back_and_leaves(table) -> None:
    game = table(hands=["cloth1 cloth2 wine1 wine2", "spice4 spice3 olive1 olive2"])
    before = game.hand(0)
    game.play("lay cloth1", "commit", "lay spice3", "commit", "pass", "pass", "pass")
    assert game.hand(0) == before
    assert game.bid(0) == cards("-")
    assert (game.phase, game.seat) == ("give", 1)


def test_3_5_raise_adds_cards_until_above_every_other_bid(table) -> None:
    game = table(hands=["cloth1 cloth2 wine1 merchant", "spice1 spice2 olive1 merchant"])
    game.play("lay cloth2", "commit")
    game.play("lay spice1")  # 1 is not above 2, nor are spice 1 and olive 1
    assert game.legal_texts() == ["lay spice2"]
    game.play("lay spice2")
    assert game.legal_texts() == ["commit", "lay olive1"]


def test_3_5_raise_is_added_to_the_own_bid(table) -> None:
    game = table(hands=["cloth1 cloth2 wine1 merchant", "spice1 spice2 olive1 merchant"])
    game.play("lay cloth1", "commit", "lay spice2", "commit", "pass", "pass", "lay cloth2", "commit")
    assert game.bid(0) == cards("cloth1 cloth2")
    assert int(game.state.high_bid) == 3


def test_3_6_ends_when_all_but_one_have_passed(table) -> None:
    game = table(hands=["cloth1 cloth2 wine1 wine2"])
    game.play("lay cloth1", "commit", "pass", "pass", "pass")
    assert (game.phase, game.seat) == ("give", 0)


def test_3_6_last_one_without_any_bid_still_has_a_turn(table) -> None:
    hands = ["", "", "", "spice1 spice2 olive1 olive2"]
    game = table(hands=hands)
    game.play("pass", "pass", "pass")
    assert (game.phase, game.seat) == ("bid", 3)
    bids, passes = game.copy(), game.copy()
    bids.play("lay olive1", "commit")
    assert (bids.phase, bids.seat, bids.market) == ("give", 3, cards("olive1"))
    passes.play("pass")
    assert passes.bidder_cards == [5, 0, 0, 0]


def test_3_7_winner_pays_and_gives_one_card_of_any_kind(table) -> None:
    bundle = "wood1 grain3 merchant cloth2 grain1"
    game = table(hands=["cloth1 wine1 wine2 olive4"], bundles=[bundle])
    game.play("lay cloth1", "lay wine1", "commit", "pass", "pass", "pass")
    assert game.market == cards("cloth1 wine1")
    given = [text for text in game.legal_texts() if text.startswith("give")]
    assert sorted(given) == ["give cloth2", "give grain1", "give grain3", "give merchant", "give wood1"]
    game.play("give merchant")
    assert game.market == cards("cloth1 wine1 merchant")
    assert game.hand(0) == cards("wine2 olive4 wood1 grain3 cloth2 grain1")


def test_3_8_everyone_passed_first_passer_takes_all(table) -> None:
    game = table(hands=["cloth1 cloth1 spice1 wine1"], bundles=["wood1 grain3 olive3 cloth2 grain1"])
    game.play("pass", "pass", "pass", "pass")
    assert game.hand(0) == cards("cloth1 cloth1 spice1 wine1 wood1 grain3 olive3 cloth2 grain1")
    assert game.market == cards("")
    assert game.bidder_cards == [5, 0, 0, 0]


def test_3_9_last_auction_with_bidder_card_2(table) -> None:
    game = table(players=3, bundles=["", "", "cloth2 spice3"])
    game.play_on(meek, until=lambda g: int(g.state.auction) == 2)
    assert (game.phase, game.seat, game.bidder_cards[2]) == ("give", 2, 2)
    gives = [text for text in game.legal_texts() if text.startswith("give")]
    assert gives == ["give cloth2", "give spice3"]
    before = np.array(game.hand(2))
    game.play("give cloth2")
    assert game.market == cards("cloth2")
    assert (np.array(game.hand(2)) - before).tolist() == cards("spice3")


def test_3_9_last_auction_with_bidder_card_1_needs_no_decision(table) -> None:
    game = table(players=5, bundles=["", "", "", "", "olive4"])
    game.play_on(meek, until=lambda g: int(g.state.auction) == 4)
    assert game.phase == "pick"
    assert game.market == cards("olive4")
    assert game.bidder_cards[game.seat] == 1


def test_3_10_winner_takes_the_bidder_card_and_is_out(table) -> None:
    game = table(hands=["cloth1 wine1 wine2 olive4"])
    game.play("lay cloth1", "commit", "pass", "pass", "pass")
    assert game.bidder_cards == [5, 0, 0, 0]
    game.play(next(text for text in game.legal_texts() if text.startswith("give")))
    assert game.state.in_auction[:4].tolist() == [0, 1, 1, 1]


def test_3_11_next_opener_is_the_first_clockwise_without_a_bidder_card(table) -> None:
    game = table(
        hands=["", "", "", "spice1 spice2 olive1 olive2"], bundles=["wood1 grain3 merchant cloth2 grain1"]
    )
    game.play("pass", "pass", "pass", "lay spice1", "commit", "give wood1")
    assert (int(game.state.auction), game.seat) == (1, 0)  # 3 has won: from there clockwise
    game.play_on(meek, until=lambda g: int(g.state.auction) == 2)
    assert game.seat == 1


# --- 4 the market of Byzanz


def market_of_example(table) -> Played:
    """Example 11.2: seat 0 is Susanne (5), 1 Eva (4), 2 Wilhelm (3), 3 Axel (2)."""
    game = table(
        hands=[
            "wood1 wood1 wood2 olive1",
            "cloth1 cloth1 cloth2 olive1",
            "spice1 olive1 olive2 olive2",
            "olive3 olive3 merchant olive1",
        ],
        bundles=[
            "merchant grain2 grain2 grain3 wine3",
            "wine1 olive2 olive2 grain4",
            "spice2 grain1 grain1",
            "grain1 wine4",
        ],
    )
    game.play("lay wood1", "lay wood1", "lay wood2", "commit", "pass", "pass", "pass", "give merchant")
    game.play("lay cloth1", "lay cloth1", "lay cloth2", "commit", "pass", "pass", "give wine1")
    game.play("lay spice1", "commit", "pass", "give spice2")
    game.play("sell olive 3,3 + merchant", "give grain1")  # or Axel would be over the limit with the wood
    return game


def test_4_1_from_lowest_to_highest_card_one_type_each(table) -> None:
    game = market_of_example(table)
    assert (game.phase, game.seat) == ("pick", 3)
    takes = [text for text in game.legal_texts() if text.startswith("take")]
    assert takes == ["take cloth", "take spice", "take wine", "take wood", "take grain", "take merchants"]
    seats = []
    for text in ("take wood", "take spice", "take cloth", "take merchants"):
        seats.append(game.seat)
        game.play(text)
    assert seats == [3, 2, 1, 0]


def test_4_2_must_take_while_there_is_anything(table) -> None:
    game = market_of_example(table)
    assert "pass" not in game.legal_texts()


def test_4_2_empty_market_gives_nothing(table) -> None:
    game = table(players=3, bundles=["", "", "cloth2 spice3"])
    game.play_on(meek, until=lambda g: int(g.state.auction) == 2)
    game.play("give cloth2")
    assert (game.phase, game.seat) == ("pick", 2)  # the only card, for the lowest bidder card
    game.play("take cloth")
    assert int(game.state.round_number) == 1


def test_4_3_what_is_left_goes_to_the_box(table) -> None:
    game = market_of_example(table)
    assert game.gone == cards("olive3 olive3 merchant")
    game.play("take wood", "take spice", "take cloth", "take merchants")
    assert game.gone == cards("olive3 olive3 merchant wine1 grain1")
    assert game.market == cards("-")


def test_4_4_lowest_bidder_card_starts_the_next_round(table) -> None:
    game = market_of_example(table)
    game.play("take wood", "take spice", "take cloth", "take merchants")
    assert (int(game.state.round_number), game.phase, game.seat) == (1, "bid", 3)


# --- 5 selling


def test_5_1_sets_of_one_type_with_merchants_for_missing_cards(table) -> None:
    game = table(hands=["cloth1 cloth3 merchant merchant"])
    sales = [text for text in game.legal_texts() if text.startswith("sell")]
    assert sales == [
        "sell cloth 1 + 2 merchants",
        "sell cloth 3 + 2 merchants",
        "sell cloth 3,1 + merchant",
    ]


def test_5_1_every_set_is_offered_exactly_when_held() -> None:
    for action in ACTIONS:
        held = np.bincount(action.cards, minlength=25)
        if action.verb == "sell" and (held <= rules.KIND_COUNTS).all():  # there are only two 4s of a type
            game = Played(4, deck=build_deck(4))
            game.games["hands"][0, 0] = held
            assert action.text in game.legal_texts()
            for kind in set(action.cards):
                game.games["hands"][0, 0] = held
                game.games["hands"][0, 0, kind] -= 1
                assert action.text not in game.legal_texts()


def test_5_2_most_valuable_is_profit(table) -> None:
    game = table(hands=["wine1 wine2 wine4 olive1"])
    game.play("sell wine 4,2,1")
    assert game.points[0] == 4
    assert game.gone == cards("wine1 wine2 wine4")  # sold and out of play; the profit counts as points
    assert game.hand(0) == cards("olive1")


def test_5_3_three_merchants_are_worth_5(table) -> None:
    game = table(hands=["merchant merchant merchant olive1"])
    game.play("sell three merchants")
    assert (game.points[0], game.hand(0)) == (5, cards("olive1"))


# --- 6 hand limit


def test_6_1_over_seven_cards_sell_or_discard_at_once(table) -> None:
    game = table(hands=["cloth1 cloth1 cloth2 wine1"], bundles=["wood1 grain3 olive3 cloth2 grain1"])
    game.play("pass", "pass", "pass", "pass")
    assert (game.phase, game.seat) == ("trim", 0)
    texts = game.legal_texts()
    assert "sell cloth 2,1,1" in texts
    assert "discard wood1" in texts
    assert not [text for text in texts if text.split()[0] not in ("sell", "discard")]
    mixed = game.copy()
    mixed.play("discard wood1")
    assert mixed.phase == "trim"  # eight left
    mixed.play("sell cloth 2,1,1")
    assert (mixed.phase, sum(mixed.hand(0))) == ("bid", 5)
    game.play("sell cloth 2,2,1")
    assert (game.phase, sum(game.hand(0))) == ("bid", 6)


def test_6_1_also_at_the_market(table) -> None:
    game = market_of_example(table)
    game.play("take wood", "take spice", "take merchants")
    assert game.seat == 0
    game.play("take cloth")  # five cards and three
    assert (game.phase, game.seat) == ("trim", 0)
    game.play("discard olive1")
    assert (game.phase, int(game.state.round_number)) == ("bid", 1)


# --- 7 end


@pytest.mark.parametrize("players", COUNTS)
def test_7_1_after_the_last_market_everybody_may_sell(players) -> None:
    sellers = 0
    for stride in (45, 31, 71):
        game = Played(players, deck=stride_deck(stride))
        to_final(game)
        while not game.over:
            assert game.phase == "final"
            assert {text.split()[0] for text in game.legal_texts()} == {"pass", "sell"}
            sellers += 1
            game.play("pass")
        assert int(game.state.round_number) == rules.ROUNDS[players] - 1
    assert sellers > 0


@pytest.mark.parametrize(
    ("points", "hand_sizes", "shares"),
    [
        ([5, 9, 7], [7, 0, 3], [0, 1, 0]),
        ([9, 9, 7], [2, 1, 7], [1, 0, 0]),
        ([9, 9, 7], [2, 2, 7], [0.5, 0.5, 0]),
        ([4, 4, 4], [0, 0, 0], [1 / 3, 1 / 3, 1 / 3]),
    ],
)
def test_7_2_highest_profit_then_more_cards_then_shared(points, hand_sizes, shares) -> None:
    game = Played(3, deck=stride_deck(45))
    game.games["points"][0, :3] = points
    game.games["hand_size"][0, :3] = hand_sizes
    assert game.win_shares() == shares


# --- 8 who knows what


def test_8_1_dealt_cards_are_hidden(table) -> None:
    game = table(hands=["cloth1 wine1 wine2 olive4"])
    view = game.views(1)
    assert view["known"].sum() == 0
    assert view["unknown"][:3].tolist() == [4, 4, 4]
    assert view["unseen"].sum() == 112 - 4 - 5  # without the own hand and the bundle


def test_8_2_taken_cards_are_known_and_leave_the_known_first(table) -> None:
    bundle = "wood1 grain3 merchant cloth2 grain1"
    game = table(hands=["cloth1 wood1 wine2 olive4"], bundles=[bundle])
    game.play("lay cloth1", "commit", "pass", "pass", "pass")
    assert game.known(0) == cards("-")
    assert int(game.state.unknown[0]) == 3
    game.play("give merchant")
    assert game.known(0) == cards("wood1 grain3 cloth2 grain1")
    game.play_on(meek, until=lambda g: int(g.state.round_number) == 1 and g.seat == 0 and g.phase == "bid")
    # two wood 1 are in hand, one of them known: the first that leaves is the known one
    assert game.hand(0)[12] == 2
    game.play("lay wood1")
    assert game.known(0)[12] == 0
    unknown = int(game.state.unknown[0])
    game.play("lay wood1")
    assert int(game.state.unknown[0]) == unknown - 1


def test_8_2_cards_back_from_a_bid_are_known(table) -> None:
    game = table(hands=["cloth1 cloth2 wine1 wine2", "spice4 spice3 olive1 olive2"])
    game.play("lay cloth1", "commit", "lay spice3", "commit", "pass", "pass", "pass")
    assert game.known(0) == cards("cloth1")
    assert int(game.state.unknown[0]) == 3


def test_8_3_observation_does_not_depend_on_unseen_cards() -> None:
    deck = build_deck(
        4, hands=["cloth1 wine1 wine2 olive4"], bundles=["wood1 grain3 merchant cloth2 grain1"]
    )
    other = deck[:4] + deck[4:28][::-1] + deck[28:33] + deck[33:][::-1]
    assert deck[4:28] != other[4:28]
    first, second = Played(4, deck=deck), Played(4, deck=other)
    assert first.observe(0).tobytes() == second.observe(0).tobytes()
    assert first.observe(1).tobytes() != second.observe(1).tobytes()


# --- 9 decisions where the sheets are silent or differ


def test_9_1_sale_at_every_own_decision_but_not_in_a_raise(table) -> None:
    game = table(hands=["wine1 wine2 wine4 olive1"], bundles=["wood1 grain3 merchant cloth2 grain1"])
    assert "sell wine 4,2,1" in game.legal_texts()
    game.play("lay olive1")
    assert not [text for text in game.legal_texts() if text.startswith("sell")]
    game.play("commit", "pass", "pass", "pass")
    assert "sell wine 4,2,1" in game.legal_texts()  # give
    game.play("sell wine 4,2,1")
    assert (game.phase, game.seat) == ("give", 0)


def test_9_2_a_raise_is_laid_in_ascending_order(table) -> None:
    game = table(hands=["cloth1 cloth3 wine2 olive4"])
    game.play("lay wine2")
    assert game.legal_texts() == ["commit", "lay olive4"]
    twice = table(hands=["cloth1 cloth1 wine2 olive4"])
    twice.play("lay cloth1")
    assert "lay cloth1" in twice.legal_texts()  # the same kind again


def test_9_3_an_add_is_legal_only_if_the_raise_can_be_finished(table) -> None:
    game = table(hands=["cloth4 cloth2 wine1 wine1", "cloth4 wine3 olive1 olive1"])
    game.play("lay cloth2", "lay cloth4", "commit")
    # seat 1 needs 7: from wine 3 on only 5 can be reached
    assert game.legal_texts() == ["pass", "lay cloth4"]
    game.play("lay cloth4")
    assert game.legal_texts() == ["lay wine3"]  # the olives alone (2) cannot reach 7
    game.play("lay wine3")
    assert "pass" not in game.legal_texts()


def test_9_4_merchants_count_in_the_tie_break(table) -> None:
    game = table(players=3, hands=["merchant merchant olive1 cloth1", "wine1 wine2 wood1 merchant"])
    game.games["points"][0, :3] = [3, 3, 1]
    assert game.win_shares() == [0.5, 0.5, 0]
    game.play("sell olive 1 + 2 merchants")
    game.games["points"][0, :3] = [3, 3, 1]
    assert game.win_shares() == [0, 1, 0]


def test_9_5_a_discard_is_seen(table) -> None:
    game = table(hands=["cloth1 cloth1 cloth2 wine1"], bundles=["wood1 grain3 olive3 cloth2 grain1"])
    game.play("pass", "pass", "pass", "pass", "discard wine1")
    view = game.views(2)
    assert view["gone"].tolist() == cards("wine1")
    assert view["unknown"][1] == 3  # seat 0 is two to the left of seat 2
    assert int(game.state.unknown[0]) == 3


def test_9_6_profit_is_public(table) -> None:
    game = table(hands=["wine1 wine2 wine4 olive1"])
    game.play("sell wine 4,2,1")
    assert game.views(3)["points"].tolist() == [0, 4, 0, 0, 0, 0]


def test_9_7_all_passed_the_first_to_pass_wins(table) -> None:
    game = table(hands=["", "cloth1 wine1 wine2 olive4"])
    game.play("pass", "pass", "pass", "pass")
    assert game.bidder_cards == [5, 0, 0, 0]


def test_9_8_nothing_to_sell_no_decision() -> None:
    skipped = 0
    for stride in (45, 31, 71, 17, 19):
        game = Played(4, deck=stride_deck(stride))
        game.play_on(eager, until=lambda g: g.phase == "final")
        sellers = []
        while not game.over:
            assert [text for text in game.legal_texts() if text.startswith("sell")]
            sellers.append(game.seat)
            game.play("pass")
        skipped += 4 - len(set(sellers))
    assert skipped > 0


def test_9_8_the_turn_ends_with_the_last_set() -> None:
    ended = 0
    for stride in (45, 31, 71, 17, 19):
        game = Played(3, deck=stride_deck(stride))
        to_final(game)
        while not game.over:
            seat = game.seat
            game.step(game.legal()[1])
            if game.over or game.seat != seat:
                ended += 1
    assert ended > 0


@pytest.mark.parametrize("players", COUNTS)
def test_9_9_final_sale_goes_clockwise_from_the_lowest_bidder_card(players) -> None:
    for stride in (45, 31, 71):
        game = Played(players, deck=stride_deck(stride))
        to_final(game)
        first = game.bidder_cards.index(min(game.bidder_cards))
        turns = []
        while not game.over:
            turns.append((game.seat - first) % players)
            game.play("pass")
        assert turns == sorted(set(turns))


# --- 11 worked examples


def test_11_1_eva_wins_the_first_auction(table) -> None:
    game = table(hands=["cloth1 spice2 wine1 olive1"], bundles=["wood1 grain3 olive3 cloth2 grain1"])
    game.play("lay cloth1", "lay spice2", "lay wine1", "commit")
    assert int(game.state.high_bid) == 4
    game.play("pass", "pass", "pass", "give wood1")
    assert game.market == cards("cloth1 spice2 wine1 wood1")
    assert game.hand(0) == cards("olive1 grain3 olive3 cloth2 grain1")
    assert game.bidder_cards[0] == 5


@pytest.mark.parametrize(
    ("rest", "sold"),
    [
        (["take merchants", "sell grain 3,2,2", "take cloth"], "grain3 grain2 grain2"),
        (["take cloth", "take merchants"], "-"),
    ],
)
def test_11_2_market_with_four_players(table, rest, sold) -> None:
    game = market_of_example(table)
    assert game.market == cards(
        "wood1 wood1 wood2 spice1 spice2 merchant cloth1 cloth1 cloth2 wine1 grain1"
    )
    before = np.array(game.gone)
    game.play("take wood", "take spice", *rest)
    assert (game.gone - before - cards(sold)).tolist() == cards("wine1 grain1")
    assert game.hand(3)[12:14] == [2, 1]
    assert game.hand(2)[4:6] == [1, 1]


def test_11_3_cloth_4_1_1(table) -> None:
    game = table(hands=["cloth4 cloth1 cloth1 olive1"])
    game.play("sell cloth 4,1,1")
    assert (game.points[0], game.hand(0)) == (4, cards("olive1"))


def test_11_4_cloth_4_3_and_a_merchant(table) -> None:
    game = table(hands=["cloth4 cloth3 merchant olive1"])
    game.play("sell cloth 4,3 + merchant")
    assert (game.points[0], game.hand(0)) == (4, cards("olive1"))


def test_11_5_two_merchants_and_a_spice(table) -> None:
    game = table(hands=["spice2 merchant merchant olive1"])
    game.play("sell spice 2 + 2 merchants")
    assert (game.points[0], game.hand(0)) == (2, cards("olive1"))


def test_11_6_three_merchants(table) -> None:
    game = table(hands=["merchant merchant merchant merchant"])
    game.play("sell three merchants")
    assert (game.points[0], game.hand(0)) == (5, cards("merchant"))


def test_every_clause_has_a_test() -> None:
    text = RULES.read_text()
    clauses = set(re.findall(r"\*\*(\d+\.\d+)\*\*", text))
    examples = text.split("## 11 ")[1].split("## 12 ")[0]
    clauses |= {f"11.{number}" for number in re.findall(r"^(\d+)\. ", examples, re.MULTILINE)}
    assert len(clauses) == 48
    tested = {
        f"{found[1]}.{found[2]}" for name in globals() if (found := re.match(r"test_(\d+)_(\d+)_", name))
    }
    assert clauses - tested == set(), "clauses without a test"
    assert tested - clauses == set(), "tests of clauses that do not exist"
