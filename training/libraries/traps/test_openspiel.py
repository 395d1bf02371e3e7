"""OpenSpiel: the registered game is the engine's game; clones are independent; all seats share one win."""

from __future__ import annotations

import numpy as np
import pyspiel
import pytest
from open_spiel.python.observation import make_observation

from byzanz_env import byzanz_v0
from training.libraries import openspiel_game


@pytest.mark.parametrize("players", [3, 4, 5, 6])
def test_it_is_the_game_of_the_pettingzoo_environment(players: int) -> None:
    game = pyspiel.load_game(f"{openspiel_game.GAME_TYPE.short_name}(players={players})")
    state, env = game.new_initial_state(), byzanz_v0.raw_env(num_players=players)
    state.apply_action(17)
    env.reset(seed=17)
    observation, rng = make_observation(game), np.random.default_rng(1)
    while not state.is_terminal():
        seat = state.current_player()
        assert env.agent_selection == f"player_{seat}"
        seen = env.observe(env.agent_selection)
        assert state.legal_actions() == np.flatnonzero(seen["action_mask"]).tolist()
        assert state.legal_actions((seat + 1) % players) == []
        observation.set_from(state, seat)
        assert (observation.tensor == seen["observation"]).all()
        action = int(rng.choice(state.legal_actions()))
        before, copy = state.clone().games.tobytes(), state.clone()
        state.apply_action(action)
        assert copy.games.tobytes() == before
        env.step(action)
    assert state.returns() == pytest.approx([env.rewards[name] for name in env.possible_agents])
    assert sum(state.returns()) == pytest.approx(1)
