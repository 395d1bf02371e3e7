"""What a person may type at the table, turned into actions.

`bid cloth2 wine1` lays the cards in ascending order and commits; `sell wood` sells when there is one way to
do so and asks otherwise; everything else is the text of an action or its number in the list.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from byzanz_env.advice import path_text
from byzanz_env.errors import IllegalActionError
from byzanz_env.games.byzanz.actions import ACTIONS, from_text
from byzanz_env.games.byzanz.rules import COMMIT, LAY, MERCHANT, NUM_GOODS, TYPES
from byzanz_env.games.byzanz.text import parse_cards
from byzanz_env.narration import profit_of
from byzanz_env.session import Session, cards

OFFERED_RAISES = 3
HELP = """You collect goods and sell them in sets of three; the best card of a set is your profit.
What you can type:
  bid cloth2 wine1    add these cards to your bid (also: b); they go to the market if you win
  pass                leave this auction and take your bid back (also: p); in the final sale: stop
  give wine3          you won: one card of the bundle goes to the market, you keep the rest
  take wood           take all cards of one type from the market; also: take merchants
  sell wood           sell three cards of one type; merchants stand in for missing ones
  sell wine 3,1 + merchant      the same, exactly
  discard olive1      only when you hold more than seven cards
  1, 2, 3 ...         the numbered choices
  hint                what the strongest opponent would do here, and the chances to win (also: h)
  log, table, rules   what happened, the table again, the rules in short
  quit                stop; the game so far is kept as a replay (also: q, Ctrl-C, Ctrl-D)"""
RULES = """Byzanz in short. 96 goods in six types, values 1 to 4, and 16 merchants (jokers, never bid).
A round is one auction per player, for 6 cards down to 1: the bidder card says how many. Everybody wins one.
The winner's bid and one card of the bundle go to the market; the winner keeps the rest of the bundle.
When all pass, the first to pass gets the bundle for nothing.
Then the market: from the lowest bidder card up, each player takes all cards of one type.
Sell three of a type whenever you decide: the best card is kept as profit, the other two are gone.
Three merchants bring 5. You may never keep more than seven cards. Most profit wins; a tie goes to the one
with more cards in hand."""


def offered(session: Session) -> list[tuple[int, ...]]:
    """The numbered choices: every single action, and the cheapest raises as wholes."""
    paths: list[tuple[int, ...]] = [
        (action.index,) for action in session.legal() if action.verb not in ("lay", "commit")
    ]
    raises = cheap_raises(session)
    return paths[:1] + raises + paths[1:] if session.view(session.seat).phase == "bid" else paths


def cheap_raises(session: Session) -> list[tuple[int, ...]]:
    """The lowest totals that would lead, each with as few cards as can be."""
    table = session.view(session.seat)
    if table.phase != "bid":
        return []
    goods = [kind for kind in cards(table.seats[session.seat].hand) if kind < NUM_GOODS]
    need = table.high_bid - table.seats[session.seat].bid_total
    cheapest: dict[int, tuple[int, ...]] = {}
    for size in range(1, len(goods) + 1):
        for chosen in combinations(sorted(goods), size):
            total = sum(kind % 4 + 1 for kind in chosen)
            if total > need:
                cheapest.setdefault(total, chosen)
    return [(*(LAY + kind for kind in cheapest[t]), COMMIT) for t in sorted(cheapest)[:OFFERED_RAISES]]


def describe(path: Sequence[int]) -> str:
    """A numbered choice, as it is listed."""
    action = ACTIONS[path[0]]
    text = path_text(path)
    if path[-1] == COMMIT:
        return f"{text}  (adds {sum((a - LAY) % 4 + 1 for a in path[:-1])})"
    return f"{text}  (+{profit_of(action)})" if action.verb == "sell" else text


def understand(session: Session, text: str) -> tuple[int, ...]:
    """The actions that a typed line stands for; ValueError says what is wrong with it."""
    words = text.lower().split()
    if len(words) == 1 and words[0].isascii() and words[0].isdigit():
        choices = offered(session)
        if not 1 <= int(words[0]) <= len(choices):
            raise ValueError(f"there are choices 1 to {len(choices)}")
        return choices[int(words[0]) - 1]
    if words[0] in ("bid", "b", "raise", "add"):
        return tuple(session.raise_actions(cards(tuple(parse_cards(" ".join(words[1:]) or "-")))))
    if words[0] in ("lay", "commit"):
        raise ValueError("name all cards of the raise at once, such as: bid cloth2 wine1")
    if words[0] in ("p", "pass", "stop"):
        return (_legal(session, from_text("pass")),)
    if words[0] == "sell" and len(words) <= 2:
        return (_sale(session, words[1] if len(words) == 2 else ""),)
    return (_legal(session, from_text(text)),)


def _sale(session: Session, word: str) -> int:
    """The one sale of a type; when there are several, say which."""
    good = len(TYPES) if word.startswith("merchant") else TYPES.index(word) if word in TYPES else None
    sales = [a for a in session.legal() if a.verb == "sell" and (not word or a.good == good)]
    if word and good is None:
        raise ValueError(f"there is no type {word!r}; types are {', '.join(TYPES)} and merchants")
    if not sales:
        raise IllegalActionError(f"you cannot sell {word or 'now'}: a sale takes three cards of one type")
    if len(sales) > 1:
        raise ValueError("say which: " + " | ".join(action.text for action in sales))
    return sales[0].index


def _legal(session: Session, index: int) -> int:
    if index in (action.index for action in session.legal()):
        return index
    raise IllegalActionError(_why_not(session, index))


def _why_not(session: Session, index: int) -> str:
    action, table = ACTIONS[index], session.view(session.seat)
    hand = table.seats[session.seat].hand or ()
    if action.verb == "sell" and any(hand[kind] < action.cards.count(kind) for kind in action.cards):
        return f"you do not hold the cards to {action.text}"
    if action.verb == "discard" and table.phase == "trim":
        return f"you hold no {action.text.split()[1]}"
    if action.verb == "give" and table.phase == "give":
        return "that card is not in the bundle"
    if action.verb == "take" and table.phase == "pick":
        return f"there is no {action.text.removeprefix('take ')} in the market"
    wanted = {"bid": "bid or pass", "give": "give a card", "pick": "take a type", "trim": "sell or discard"}
    if action.verb == "lay" and action.cards[0] == MERCHANT:
        return "merchants cannot be bid"
    return f"you cannot {action.verb} now: {wanted.get(table.phase, 'sell or stop')}"
