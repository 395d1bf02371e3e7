"""# Byzanz

The card game by Emanuele Ornella (2008) for 3 to 6 players: auctions, a market, and sets of goods to sell.
The rules, clause by clause, are in `byzanz_env/games/byzanz/RULES.md`.

| | |
|---|---|
| import | `from byzanz_env import byzanz_v0` |
| registry | `pettingzoo.make("aec", "byzanz_env/byzanz-v0")` (PettingZoo 1.26 and newer) |
| agents | `player_0` .. `player_5`, as many as `num_players` |
| actions | discrete, masked |
| action space | `Discrete(288)` |
| observation space | `Dict(observation=Box(0, 127, (489,), int8), action_mask=Box(0, 1, (288,), int8))` |
| parallel API | no: one agent decides at a time |
| hidden information | yes: dealt cards, removed cards, the order of the pile |
| chance | the deal only |

## Use

    from byzanz_env import byzanz_v0

    env = byzanz_v0.env(num_players=4)
    env.reset(seed=42)
    for agent in env.agent_iter():
        observation, reward, termination, truncation, info = env.last()
        if termination or truncation:
            action = None
        else:
            action = env.action_space(agent).sample(observation["action_mask"])
        env.step(action)

## Arguments

| name | default | meaning |
|---|---|---|
| `num_players` | 4 | 3 to 6 |
| `reward` | `"win"` | `"win"`, `"rank"`, `"margin"` or `"points"`, see below |
| `skip_forced` | False | play decisions with only one legal action without asking |
| `render_mode` | None | `"human"` (prints), `"ansi"` (text of 80 columns) or `"rgb_array"` |
| `perspective` | None | whose eyes `render` uses: a seat, an agent's name or `"all"` |

Without a `perspective`, `render` shows what the deciding seat sees, and all hands when the game is over.

`reset(seed=..., options={"deck": [...]})`: a seed is any integer from 0, the same seed deals the same
game on every machine; a deck is all 112 cards as kinds, in the deck order of clause 2.4. A reset without a
seed deals the next game of the sequence that the last seed began.

## Observation

`observe(agent)` works for every agent at any time and holds exactly what that agent may know (clause 8).
Seats are relative: the observer first, then clockwise; absent seats are zero, so the length is the same for
3 to 6 players. Cards are counted by kind: `4 * type + value - 1`, with the types cloth, spice, wine, wood,
grain, olive; merchants are kind 24. `byzanz_env.games.byzanz.observe.views` gives named views.

| index | name | shape | meaning |
|---|---|---|---|
| 0 .. 24 | `hand` | 25 | own hand, by kind |
| 25 .. 49 | `bundle` | 25 | cards on offer, by kind |
| 50 .. 74 | `market` | 25 | market, by kind |
| 75 .. 99 | `gone` | 25 | shown and out of play: sold, discarded, left over in a market |
| 100 .. 124 | `unseen` | 25 | cards the observer cannot place: pile, removed, unknown in hands |
| 125 .. 149 | `laid` | 25 | cards of the raise that is half laid out (also part of its bid) |
| 150 .. 299 | `bids` | 6 x 25 | bid of each seat |
| 300 .. 424 | `known` | 5 x 25 | cards surely in each other hand (8.2), left first |
| 425 .. 429 | `unknown` | 5 | number of unknown cards in each other hand |
| 430 .. 435 | `hand_size` | 6 | cards in each hand |
| 436 .. 441 | `points` | 6 | profit of each seat so far |
| 442 .. 447 | `bidder_card` | 6 | bidder card won this round, 0 for none |
| 448 .. 453 | `bid_total` | 6 | total value of each bid |
| 454 .. 459 | `in_auction` | 6 | 1 while the seat is in this auction |
| 460 .. 465 | `to_act` | 6 | 1 for the seat that decides |
| 466 .. 471 | `first_passer` | 6 | 1 for the seat that passed first in this auction |
| 472 .. 477 | `phase` | 6 | one-hot: bid, give, pick, trim, final, over |
| 478 .. 481 | `players` | 4 | one-hot: 3, 4, 5, 6 players |
| 482 .. 482 | `round` | 1 | rounds finished |
| 483 .. 483 | `rounds_left` | 1 | rounds to come after this one |
| 484 .. 484 | `auction` | 1 | auctions finished in this round |
| 485 .. 485 | `on_offer` | 1 | bidder card of this auction, 0 in market and final sale |
| 486 .. 486 | `high_bid` | 1 | highest bid of this auction, 0 for none |
| 487 .. 487 | `market_turn` | 1 | market turns begun in this round |
| 488 .. 488 | `pile_left` | 1 | cards left in the pile |

`action_mask` is 1 for each legal action, and all zero for an agent that does not decide.

## Actions

| index | text | meaning |
|---|---|---|
| 0 | `pass` | leave the auction, or stop selling in the final sale |
| 1 | `commit` | the raise laid out so far is the bid |
| 2 .. 25 | `lay cloth2` | lay a card of that kind into one's bid, in ascending order |
| 26 .. 50 | `give wine3` | give that card of the bundle to the market |
| 51 .. 57 | `take wood`, `take merchants` | take all market cards of that type |
| 58 .. 261 | `sell wine 3,1 + merchant` | sell that set |
| 262 | `sell three merchants` | sell that set |
| 263 .. 287 | `discard olive1` | discard a card, over the hand limit |

`byzanz_env.games.byzanz.actions` translates with `to_text` and `from_text`. An action that is not legal, or
no integer, raises `IllegalActionError` (a ValueError) and leaves the game as it was.

## Rewards

Every agent gets its reward at the end, `points` also during the game.

| `reward` | meaning |
|---|---|
| `win` | 1 for the winner, shared among winners; the mean return is the win rate |
| `rank` | from +1 for the first to -1 for the last, linear, ties averaged |
| `margin` | (own score - mean of the other scores) / 10 |
| `points` | each sale's profit when it is made |

`info` always has `seat`, `score` (profit so far) and `win_share` (0 until the end).

## More than the PettingZoo interface

On `env.unwrapped`: `ask(agent)` is the action that an agent of `byzanz_env.agents` would choose now, for
example `load("heuristic")`; `snapshot()` is the whole truth as a plain dict; `save()` and `restore(blob)`
are the running game as bytes; `redeal(seat, seed)` is a copy in which everything the seat cannot know is
dealt anew; `table()` is the position as plain values for somebody's eyes. `copy.deepcopy` and `pickle` of
a running environment keep the game.

## Version history

- v0: first version.
"""

from __future__ import annotations

from pettingzoo import AECEnv
from pettingzoo.utils.wrappers import OrderEnforcingWrapper

from byzanz_env.envs.aec import ByzanzAEC

__all__ = ["env", "raw_env"]

raw_env = ByzanzAEC


def env(
    num_players: int = 4,
    reward: str = "win",
    skip_forced: bool = False,
    render_mode: str | None = None,
    perspective: int | str | None = None,
) -> AECEnv:
    """The environment, with PettingZoo's check that its methods are called in the right order.

    PettingZoo's other usual wrappers are not needed: illegal actions and wrong types already raise.
    """
    return OrderEnforcingWrapper(raw_env(num_players, reward, skip_forced, render_mode, perspective))
