"""Byzanz as a Python game of OpenSpiel, registered as `python_byzanz`: simulation, MCTS, observations.

    import training.libraries.openspiel_game
    game = pyspiel.load_game("python_byzanz(players=3)")

The deal is one chance node with DEALS outcomes, the seeds 0 .. DEALS - 1: a sampled game, so exact numbers
such as exploitability hold for these deals only. OpenSpiel's C++ bots cannot play Python games; use those
of open_spiel.python.
"""

from __future__ import annotations

import random
import sys
from typing import Any

import numpy as np
import pyspiel
from open_spiel.python.algorithms import mcts
from open_spiel.python.observation import make_observation

from byzanz_env.games.byzanz.actions import to_text
from byzanz_env.games.byzanz.engine import STATE, deal, legal_mask, step, win_shares
from byzanz_env.games.byzanz.observe import OBSERVATION_SIZE, encode
from byzanz_env.games.byzanz.rules import MAX_PLAYERS, MIN_PLAYERS, NUM_ACTIONS, OVER
from training.libraries.common import Clock, Result, finish, read_options, version_of

DEALS = 1000
LONGEST = 2000
GAME_TYPE = pyspiel.GameType(
    short_name="python_byzanz",
    long_name="Byzanz",
    dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
    chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
    information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
    utility=pyspiel.GameType.Utility.CONSTANT_SUM,
    reward_model=pyspiel.GameType.RewardModel.TERMINAL,
    max_num_players=MAX_PLAYERS,
    min_num_players=MIN_PLAYERS,
    provides_information_state_string=False,
    provides_information_state_tensor=False,
    provides_observation_string=True,
    provides_observation_tensor=True,
    provides_factored_observation_string=False,
    parameter_specification={"players": 4},
)


class ByzanzGame(pyspiel.Game):  # type: ignore[misc]
    """The game; `players` is its one parameter."""

    def __init__(self, parameters: dict[str, Any] | None = None) -> None:
        players = int((parameters or {}).get("players", 4))
        info = pyspiel.GameInfo(
            num_distinct_actions=NUM_ACTIONS,
            max_chance_outcomes=DEALS,
            num_players=players,
            min_utility=0.0,
            max_utility=1.0,
            utility_sum=1.0,
            max_game_length=LONGEST,
        )
        super().__init__(GAME_TYPE, info, {"players": players})
        self.players = players

    def new_initial_state(self) -> ByzanzState:
        return ByzanzState(self)

    def make_py_observer(self, kind: Any = None, parameters: Any = None) -> ByzanzObserver:
        return ByzanzObserver()


class ByzanzState(pyspiel.State):  # type: ignore[misc]
    """One record of the engine; a clone is a copy of its bytes."""

    def __init__(self, game: ByzanzGame) -> None:
        super().__init__(game)
        self.players = game.players
        self.games = np.zeros(1, dtype=STATE)
        self.is_dealt = False

    def __deepcopy__(self, memo: dict[int, Any]) -> ByzanzState:
        copy = ByzanzState(self.get_game())
        copy.games[:] = self.games
        copy.is_dealt = self.is_dealt
        return copy

    def current_player(self) -> int:
        if not self.is_dealt:
            return int(pyspiel.PlayerId.CHANCE)
        if self.is_terminal():
            return int(pyspiel.PlayerId.TERMINAL)
        return int(self.games[0].seat)

    def chance_outcomes(self) -> list[tuple[int, float]]:
        return [(seed, 1.0 / DEALS) for seed in range(DEALS)]

    def _legal_actions(self, player: int) -> list[int]:
        mask = np.zeros(NUM_ACTIONS, dtype=np.int8)
        legal_mask(self.games[0], mask)
        found: list[int] = np.flatnonzero(mask).tolist()
        return found if player == self.games[0].seat else []

    def _apply_action(self, action: int) -> None:
        if self.is_dealt:
            step(self.games[0], action)
        else:
            deal(self.games[0], self.players, action)
            self.is_dealt = True

    def _action_to_string(self, player: int, action: int) -> str:
        return f"deal {action}" if player == pyspiel.PlayerId.CHANCE else to_text(action)

    def is_terminal(self) -> bool:
        return self.is_dealt and bool(self.games[0].phase == OVER)

    def returns(self) -> list[float]:
        shares = np.zeros(MAX_PLAYERS)
        if self.is_terminal():
            win_shares(self.games[0], shares)
        found: list[float] = shares[: self.players].tolist()
        return found

    def __str__(self) -> str:
        return (
            f"Byzanz, seat {self.current_player()} decides" if self.is_dealt else "Byzanz, before the deal"
        )


class ByzanzObserver:
    """What a seat sees, as the tensor of byzanz_env and as text."""

    def __init__(self) -> None:
        self.tensor = np.zeros(OBSERVATION_SIZE, dtype=np.float32)
        self.dict = {"observation": self.tensor}

    def set_from(self, state: ByzanzState, player: int) -> None:
        seen = np.zeros(OBSERVATION_SIZE, dtype=np.int8)
        if state.is_dealt:
            encode(state.games[0], player, seen)
        self.tensor[:] = seen

    def string_from(self, state: ByzanzState, player: int) -> str:
        self.set_from(state, player)
        return " ".join(f"{place}:{value:.0f}" for place, value in enumerate(self.tensor) if value)


pyspiel.register_game(GAME_TYPE, ByzanzGame)


def simulate(game: pyspiel.Game, clock: Clock) -> None:
    """Random play with observations."""
    observation, rng = make_observation(game), random.Random(1)
    while not clock.is_up():
        state = game.new_initial_state()
        while not state.is_terminal():
            if not state.is_chance_node():
                observation.set_from(state, state.current_player())
                clock.steps += 1
            state.apply_action(rng.choice(state.legal_actions()))


def play_mcts(game: pyspiel.Game, games: int, simulations: int) -> float:
    """Win share of OpenSpiel's Python MCTS in seat 0 against random play; it searches the true state."""
    rng = np.random.RandomState(1)
    evaluator = mcts.RandomRolloutEvaluator(n_rollouts=1, random_state=rng)
    bot = mcts.MCTSBot(game, uct_c=1.4, max_simulations=simulations, evaluator=evaluator, random_state=rng)
    wins = 0.0
    for _ in range(games):
        state = game.new_initial_state()
        while not state.is_terminal():
            legal = state.legal_actions()
            action = bot.step(state) if state.current_player() == 0 else int(rng.choice(legal))
            if action not in legal:
                raise ValueError(f"MCTS played {action}, which is not legal")
            state.apply_action(action)
        wins += state.returns()[0]
    return wins / games


def main(words: list[str]) -> None:
    options = read_options(__doc__ or "", words)
    game = pyspiel.load_game("python_byzanz(players=3)")
    clock = Clock(options.seconds / 2)
    simulate(game, clock)
    speed = clock.steps / clock.elapsed
    pyspiel.random_sim_test(game, num_sims=2, serialize=False, verbose=False)
    games = 1 if options.short else 4
    share = play_mcts(game, games, simulations=4 if options.short else 16)
    print(f"MCTS wins {share:.2f} of {games} games of 3 players against random play")
    works = "registered game, random simulation, observer, Python MCTS bot"
    finish(Result("OpenSpiel", version_of("open_spiel"), "openspiel_game.py", works, speed))


if __name__ == "__main__":
    main(sys.argv[1:])
