"""The six goods are interchangeable: show every game to a network with its goods in one canonical order.

No rule tells one good from another, except that a raise is laid out in ascending kind order (9.2), which
is a convention of the action space. So a decision can be relabelled: `canonical_order` sorts the goods by
what the deciding seat sees, and two games that differ only in the names of their goods become the same.

Two users share this file. Whoever owns the game (training, search) relabels the game itself with
`canonicalise`, at any decision outside a half laid raise, and needs no mapping of actions. Whoever sees
only observations (a policy that plays at a table) relabels observation and mask, and plans a raise as a
whole on the relabelled observation (`lay`, `mask_within_raise`), because the order of laying differs there.

May import the engine, the observation and the rules of its own room.
"""

from __future__ import annotations

import numpy as np

from byzanz_env._jit import njit
from byzanz_env.games.byzanz.engine import NOTHING_LAID, State, legal_mask, mask_raise, mask_sales
from byzanz_env.games.byzanz.goods import PLANES
from byzanz_env.games.byzanz.observe import OFFSETS
from byzanz_env.games.byzanz.rules import (
    DISCARD,
    GIVE_CARD,
    LAY,
    MERCHANT,
    NUM_ACTIONS,
    NUM_GOODS,
    NUM_KINDS,
    NUM_SETS,
    NUM_TYPES,
    NUM_VALUES,
    PASS,
    SELL,
    SELL_MERCHANTS,
    TAKE,
)

_HAND = OFFSETS["hand"]
_LAID = OFFSETS["laid"]
_OWN_BID = OFFSETS["bids"]
_BID_TOTAL = OFFSETS["bid_total"]
_HAND_SIZE = OFFSETS["hand_size"]
_HIGH_BID = OFFSETS["high_bid"]


# --- the order ---------------------------------------------------------------------------------------


@njit
def canonical_order(observation: np.ndarray, order: np.ndarray) -> bool:
    """Write into `order[new] = old` how the goods are to be named; True when nothing changes.

    Most of one's own cards first, then the more valuable ones; then every count the seat can see, so
    that two goods are left in place only if no part of the observation tells them apart.
    """
    lead = np.zeros(NUM_TYPES, dtype=np.int64)
    for good in range(NUM_TYPES):
        for value in range(NUM_VALUES):
            kind = good * NUM_VALUES + value
            own = int(observation[_HAND + kind]) + int(observation[_OWN_BID + kind])
            lead[good] += own * (64 + value + 1)
    unchanged = True
    for good in range(NUM_TYPES):
        place = good
        while place > 0 and _precedes(observation, lead, good, int(order[place - 1])):
            order[place] = order[place - 1]
            place -= 1
            unchanged = False
        order[place] = good
    return unchanged


@njit
def _precedes(observation: np.ndarray, lead: np.ndarray, first: int, second: int) -> bool:
    if lead[first] != lead[second]:
        return bool(lead[first] > lead[second])
    for plane in range(len(PLANES)):
        start = PLANES[plane]
        for value in range(NUM_VALUES - 1, -1, -1):
            a = observation[start + first * NUM_VALUES + value]
            b = observation[start + second * NUM_VALUES + value]
            if a != b:
                return bool(a > b)
    return False


# --- relabelling -------------------------------------------------------------------------------------


@njit
def _relabel_cards(cards: np.ndarray, order: np.ndarray) -> None:
    """Rename the goods in one vector of counts that starts with 24 goods, in place."""
    old = np.empty(NUM_GOODS, dtype=np.int8)
    for kind in range(NUM_GOODS):
        old[kind] = cards[kind]
    for good in range(NUM_TYPES):
        source = int(order[good]) * NUM_VALUES
        for value in range(NUM_VALUES):
            cards[good * NUM_VALUES + value] = old[source + value]


@njit
def relabel_observation(observation: np.ndarray, order: np.ndarray) -> None:
    """Rename the goods in an observation, in place."""
    for plane in range(len(PLANES)):
        _relabel_cards(observation[PLANES[plane] :], order)


@njit
def relabel_mask(mask: np.ndarray, order: np.ndarray, out: np.ndarray) -> None:
    """Write the mask with renamed goods into `out`; for an auction turn see `mask_before_raise`."""
    for action in range(NUM_ACTIONS):
        out[action] = mask[original_action(action, order)]


@njit
def original_action(action: int, order: np.ndarray) -> int:
    """The action that means, in the original names, what `action` means in the new ones."""
    if action < LAY or action == SELL_MERCHANTS:
        return action
    if action >= TAKE and action < TAKE + NUM_TYPES:
        return TAKE + int(order[action - TAKE])
    if action >= SELL and action < SELL_MERCHANTS:
        index = action - SELL
        return SELL + int(order[index // NUM_SETS]) * NUM_SETS + index % NUM_SETS
    start = LAY if action < GIVE_CARD else GIVE_CARD if action < TAKE else DISCARD
    kind = action - start
    if kind >= MERCHANT or action == TAKE + NUM_TYPES:
        return action
    return start + int(order[kind // NUM_VALUES]) * NUM_VALUES + kind % NUM_VALUES


@njit
def relabel_state(s: State, order: np.ndarray) -> None:
    """Rename the goods of a whole game, in place; not within a half laid raise."""
    for seat in range(int(s.players)):
        _relabel_cards(s.hands[seat], order)
        _relabel_cards(s.known[seat], order)
        _relabel_cards(s.bids[seat], order)
    _relabel_cards(s.bundle, order)
    _relabel_cards(s.market, order)
    _relabel_cards(s.gone, order)
    _relabel_cards(s.hidden, order)
    renamed = np.empty(NUM_TYPES, dtype=np.int64)
    for good in range(NUM_TYPES):
        renamed[int(order[good])] = good
    for i in range(len(s.deck)):
        kind = int(s.deck[i])
        if kind >= 0 and kind < MERCHANT:
            s.deck[i] = renamed[kind // NUM_VALUES] * NUM_VALUES + kind % NUM_VALUES


@njit
def canonicalise(s: State, observation: np.ndarray, mask: np.ndarray) -> None:
    """Put a game, its observation and its mask into the canonical order of the seat that decides."""
    if s.last_laid != NOTHING_LAID:
        return
    order = np.empty(NUM_TYPES, dtype=np.int64)
    if canonical_order(observation, order):
        return
    relabel_state(s, order)
    relabel_observation(observation, order)
    legal_mask(s, mask)  # not the old one relabelled: which cards may be laid depends on their order (9.3)


@njit
def canonicalise_rows(
    states: np.ndarray, rows: np.ndarray, observations: np.ndarray, masks: np.ndarray
) -> None:
    """`canonicalise` for these rows of a batch."""
    for row in rows:
        canonicalise(states[row], observations[row], masks[row])


# --- a raise as a whole, on an observation -----------------------------------------------------------


@njit
def take_back_raise(observation: np.ndarray) -> None:
    """Turn an observation within a half laid raise into the one from before its first card, in place."""
    for kind in range(NUM_GOODS):
        count = int(observation[_LAID + kind])
        if count > 0:
            _move_own_card(observation, kind, -count)
            observation[_LAID + kind] = 0


@njit
def lay(observation: np.ndarray, kind: int) -> None:
    """Turn the observation of a seat into the one after it has laid a card of `kind`, in place."""
    _move_own_card(observation, kind, 1)
    observation[_LAID + kind] += 1


@njit
def _move_own_card(observation: np.ndarray, kind: int, count: int) -> None:
    observation[_HAND + kind] -= count
    observation[_OWN_BID + kind] += count
    observation[_BID_TOTAL] += count * (kind % NUM_VALUES + 1)
    observation[_HAND_SIZE] -= count


@njit
def mask_before_raise(observation: np.ndarray, mask: np.ndarray) -> None:
    """The mask of an auction turn with no card laid yet, from the observation alone."""
    mask[:] = 0
    hand = observation[_HAND : _HAND + NUM_KINDS]
    total, high_bid = int(observation[_BID_TOTAL]), int(observation[_HIGH_BID])
    mask_raise(hand, total, high_bid, NOTHING_LAID, mask)
    mask_sales(hand, mask)
    mask[PASS] = 1


@njit
def mask_within_raise(observation: np.ndarray, last_laid: int, mask: np.ndarray) -> None:
    """The mask within a half laid raise, from the observation alone."""
    mask[:] = 0
    hand = observation[_HAND : _HAND + NUM_KINDS]
    mask_raise(hand, int(observation[_BID_TOTAL]), int(observation[_HIGH_BID]), last_laid, mask)
