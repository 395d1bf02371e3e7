"""The PettingZoo door: one game of Byzanz, one agent deciding at a time.

`ByzanzAEC` only converts: the compiled engine decides what is legal, what happens and who has won. One
compiled call per step writes mask and observation of the next decision into one buffer; `observe` hands
out copies of it. The documentation of the environment is the docstring of `byzanz_env.byzanz_v0`.
"""

from __future__ import annotations

import copy
import reprlib
import secrets
from typing import Any, ClassVar, Final

import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv

from byzanz_env._random import derive_seed
from byzanz_env.decisions import Agent, Decisions, agent_key, game_keys
from byzanz_env.envs.arguments import (
    SEED_LIMIT,
    check_flag,
    check_options,
    check_players,
    check_reward,
    check_seed,
    is_integer,
)
from byzanz_env.envs.one_game import (
    BANKED,
    ENDED,
    FRAME_SIZE,
    advance,
    deal_order,
    deal_seed,
    explain_illegal,
    look,
    redeal_game,
    show_again,
    snapshot_of,
    win_shares_of,
)
from byzanz_env.envs.saves import Save, pack, unpack
from byzanz_env.errors import IllegalActionError
from byzanz_env.games.byzanz.engine import STATE
from byzanz_env.games.byzanz.observe import OBSERVATION_SIZE
from byzanz_env.games.byzanz.rules import MAX_PLAYERS, NUM_ACTIONS, OVER
from byzanz_env.games.byzanz.tables import REWARDS
from byzanz_env.games.byzanz.view import Table, seen_by, seen_by_all

RENDER_MODES: Final = ("human", "ansi", "rgb_array")
AGENTS: Final = tuple(f"player_{seat}" for seat in range(MAX_PLAYERS))
ALL: Final = "all"

Observation = dict[str, np.ndarray]


class ByzanzAEC(AECEnv):  # type: ignore[misc]
    """One game of Byzanz as a PettingZoo AEC environment; see `byzanz_env.byzanz_v0`."""

    metadata: ClassVar[dict[str, Any]] = {
        "name": "byzanz_v0",
        "render_modes": list(RENDER_MODES),
        "is_parallelizable": False,
        "render_fps": 2,
    }

    def __init__(
        self,
        num_players: int = 4,
        reward: str = "win",
        skip_forced: bool = False,
        render_mode: str | None = None,
        perspective: int | str | None = None,
    ) -> None:
        super().__init__()
        self.num_players = check_players(num_players)
        self._reward = check_reward(reward)
        self._forced = check_flag("skip_forced", skip_forced)
        if render_mode is not None and render_mode not in RENDER_MODES:
            raise ValueError(
                f"render_mode is {render_mode!r}; possible are None, {', '.join(RENDER_MODES)}"
            )
        self.render_mode = render_mode
        self.possible_agents = list(AGENTS[: self.num_players])
        self.perspective = self._check_eyes(perspective)
        self.observation_spaces = {agent: _observation_space() for agent in self.possible_agents}
        self.action_spaces = {agent: spaces.Discrete(NUM_ACTIONS) for agent in self.possible_agents}
        self.agents: list[str] = []
        self.agent_selection: str = AGENTS[0]
        self.rewards: dict[str, float] = {}
        self.terminations: dict[str, bool] = {}
        self.truncations: dict[str, bool] = {}
        self.infos: dict[str, dict[str, Any]] = {}
        self._cumulative_rewards: dict[str, float] = {}
        self._skip_agent_selection: str | None = None
        self._over = True  # until the first reset
        self._has_rewards = False
        self._base_seed: int | None = None
        self._resets = 0
        self._game_seed = 0  # of the random numbers of agents that are asked
        self._games = np.zeros(1, dtype=STATE)
        self._paid = np.zeros(MAX_PLAYERS)
        self._frame = np.zeros(FRAME_SIZE, dtype=np.int8)
        self._name_buffers()

    def _name_buffers(self) -> None:
        self._mask = self._frame[:NUM_ACTIONS]
        self._observation = self._frame[NUM_ACTIONS:]

    # --- the game ------------------------------------------------------------------------------------

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Deal a new game: from `seed`, from `options={"deck": [...]}`, or the next one by itself.

        The same seed deals the same game. Without a seed the games go on from the last seed that was
        given, or from one that the system's randomness gave.
        """
        number = None if seed is None else check_seed(seed)
        deck = check_options(options)
        if number is not None:
            self._base_seed, self._resets = number, 0
        elif self._base_seed is None:
            self._base_seed = number = secrets.randbelow(SEED_LIMIT)
        else:
            self._resets += 1
            number = int(derive_seed(self._base_seed, self._resets, 0))
        self._game_seed = number
        if deck is None:
            first = deal_seed(self._games, self.num_players, number, self._forced, self._frame)
        else:
            first = deal_order(self._games, self.num_players, deck, self._forced, self._frame)
        self._begin(first)

    def _begin(self, first: int) -> None:
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self._write_infos()
        self._skip_agent_selection = None
        self._over = self._has_rewards = False
        self.agent_selection = AGENTS[first]
        if self.render_mode == "human":
            self.render()

    def step(self, action: Any) -> None:
        """Play `action` for `agent_selection`; an action that is not legal raises IllegalActionError."""
        if self._over:
            self._take_leave(action)
            return
        index = action if type(action) is int else _index_of(action)
        if not (0 <= index < NUM_ACTIONS and self._mask[index]):
            raise self._illegal(action)
        code = advance(self._games, index, self._forced, self._reward, self._frame, self._paid)
        if self._has_rewards:
            self._clear_rewards()
            self._has_rewards = False
        self._cumulative_rewards[self.agent_selection] = 0.0
        if code < BANKED:
            self.agent_selection = AGENTS[code]
        else:
            self._pay(code)
        if self.render_mode == "human":
            self.render()

    def _pay(self, code: int) -> None:
        """Hand out what the last step brought, and end the game if it is over."""
        for seat, agent in enumerate(self.possible_agents):
            self.rewards[agent] = float(self._paid[seat])
        self._accumulate_rewards()
        self._has_rewards = True
        self._over = code >= ENDED
        self._write_infos()
        if self._over:
            self.terminations = dict.fromkeys(self.agents, True)
            self.agent_selection = self.agents[0]
        else:
            self.agent_selection = AGENTS[code - BANKED]

    def _take_leave(self, action: Any) -> None:
        """The last step of each agent, after the end: the only action is None."""
        if not self.agents:
            raise IllegalActionError("there is no game to play in: call reset() first")
        if action is not None:
            raise IllegalActionError(
                f"the game is over for {self.agent_selection}: its only action is None, not "
                f"{reprlib.repr(action)}"
            )
        self._was_dead_step(None)
        self._has_rewards = False

    def _write_infos(self) -> None:
        points = self._games[0].points
        shares = win_shares_of(self._games)
        self.infos = {
            agent: {"seat": seat, "score": int(points[seat]), "win_share": float(shares[seat])}
            for seat, agent in enumerate(self.possible_agents)
            if agent in self.agents
        }

    def _illegal(self, action: Any) -> IllegalActionError:
        return IllegalActionError(explain_illegal(self._games, action, _index_of(action), self._mask))

    # --- what agents see -----------------------------------------------------------------------------

    def observe(self, agent: str) -> Observation:
        """What an agent may know now; its mask is all zero unless it decides."""
        if agent == self.agent_selection and not self._over:
            return {"observation": self._observation.copy(), "action_mask": self._mask.copy()}
        self._need_game()
        seat = self._seat_of(agent)
        observation = np.empty(OBSERVATION_SIZE, dtype=np.int8)
        look(self._games, seat, observation)
        return {"observation": observation, "action_mask": np.zeros(NUM_ACTIONS, dtype=np.int8)}

    def observation_space(self, agent: str) -> spaces.Space:
        """The same for every agent and every number of players."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space:
        """Discrete(288)."""
        return self.action_spaces[agent]

    def _seat_of(self, agent: Any) -> int:
        if agent in self.possible_agents:
            return self.possible_agents.index(agent)
        raise ValueError(f"{agent!r} is no agent; agents are {', '.join(self.possible_agents)}")

    def _check_seat(self, seat: Any) -> int:
        if isinstance(seat, str):
            return self._seat_of(seat)
        if not is_integer(seat) or not 0 <= int(seat) < self.num_players:
            raise ValueError(f"seat is {seat!r}; seats are 0 .. {self.num_players - 1}")
        return int(seat)

    def ask(self, agent: Agent) -> int:
        """What an agent of `byzanz_env.agents` would do now; it sees no more than its seat may know."""
        if self._over:
            raise ValueError("nobody decides now: call reset() first, or the game is over")
        seats = self._games["seat"].astype(np.int64)
        keys = game_keys(np.array([self._game_seed]), seats, agent_key(agent.name))
        seen = Decisions(self._observation[None].copy(), self._mask[None].copy(), keys, self._games.copy())
        return int(agent.act(seen)[0])

    # --- the whole truth -----------------------------------------------------------------------------

    def snapshot(self) -> dict[str, Any]:
        """Everything about the game as a plain dict, hidden cards included; zones are counts by kind."""
        self._need_game()
        return snapshot_of(self._games)

    def save(self) -> bytes:
        """The running game as bytes, with the rewards that are due."""
        self._need_game()
        padding = (0.0,) * (MAX_PLAYERS - self.num_players)
        return pack(
            Save(
                game=self._games,
                reward=self._reward,
                skip_forced=self._forced,
                present=tuple(agent in self.agents for agent in self.possible_agents),
                rewards=tuple(self.rewards.get(agent, 0.0) for agent in self.possible_agents) + padding,
                due=tuple(self._cumulative_rewards.get(agent, 0.0) for agent in self.possible_agents)
                + padding,
            )
        )

    def restore(self, blob: bytes) -> None:
        """Go on with a saved game of the same settings; a blob that is not one changes nothing."""
        saved = unpack(blob)
        theirs = (int(saved.game[0].players), REWARDS[saved.reward], saved.skip_forced)
        if theirs != (self.num_players, REWARDS[self._reward], self._forced):
            raise ValueError(
                f"this saved game has num_players={theirs[0]}, reward={theirs[1]!r}, skip_forced="
                f"{theirs[2]}: make an environment with these settings to restore it"
            )
        self._games = saved.game
        show_again(self._games, self._frame)
        self.agents = [
            agent for agent, there in zip(self.possible_agents, saved.present, strict=False) if there
        ]
        self._over = bool(self._games[0].phase == OVER)
        self.rewards = {agent: saved.rewards[self._seat_of(agent)] for agent in self.agents}
        self._cumulative_rewards = {agent: saved.due[self._seat_of(agent)] for agent in self.agents}
        self._has_rewards = any(self.rewards.values())
        self.terminations = dict.fromkeys(self.agents, self._over)
        self.truncations = dict.fromkeys(self.agents, False)
        self._skip_agent_selection = None
        self._write_infos()
        if not self._over:
            self.agent_selection = AGENTS[int(self._games[0].seat)]
        elif self.agents:
            self.agent_selection = self.agents[0]

    def redeal(self, seat: int | str, seed: int) -> ByzanzAEC:
        """A copy of this environment in which all that `seat` cannot know is dealt anew at random."""
        self._need_game()
        number, chosen = self._check_seat(seat), check_seed(seed)
        twin = copy.deepcopy(self)
        redeal_game(twin._games, number, chosen)
        show_again(twin._games, twin._frame)
        return twin

    def __getstate__(self) -> dict[str, Any]:
        return {
            name: value for name, value in self.__dict__.items() if name not in ("_mask", "_observation")
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._name_buffers()

    # --- for people ----------------------------------------------------------------------------------

    def table(self, perspective: int | str | None = None) -> Table:
        """The table as `perspective` sees it (default: that of the environment)."""
        self._need_game()
        eyes = self._check_eyes(self.perspective if perspective is None else perspective)
        if eyes is None:
            eyes = ALL if self._games[0].phase == OVER else int(self._games[0].seat)
        observations = [self.observe(agent)["observation"] for agent in self.possible_agents]
        if isinstance(eyes, str):
            return seen_by_all(observations)
        return seen_by(observations[eyes], eyes)

    def render(self) -> str | np.ndarray | None:
        """Show the table in the way of `render_mode`, for the eyes of `perspective`."""
        from byzanz_env import render

        if self.render_mode is None:
            raise ValueError(
                f"this environment was made without render_mode; possible are {', '.join(RENDER_MODES)}"
            )
        table = self.table()
        winners = np.flatnonzero(win_shares_of(self._games)).tolist()
        if self.render_mode == "rgb_array":
            return render.draw(table, winners)
        text = render.write(table, winners)
        if self.render_mode == "ansi":
            return text
        print(text)
        return None

    def close(self) -> None:
        """Nothing to release."""

    def _check_eyes(self, perspective: Any) -> int | str | None:
        if perspective is None or (isinstance(perspective, str) and perspective == ALL):
            return perspective
        if isinstance(perspective, str) and perspective in self.possible_agents:
            return self.possible_agents.index(perspective)
        if is_integer(perspective) and 0 <= int(perspective) < self.num_players:
            return int(perspective)
        raise ValueError(
            f"perspective is {perspective!r}; possible are a seat 0 .. {self.num_players - 1}, an agent's "
            "name, 'all', or None for the seat that decides"
        )

    def _need_game(self) -> None:
        if self._games[0].players == 0:
            raise ValueError("there is no game yet: call reset() first")


def _observation_space() -> spaces.Dict:
    return spaces.Dict(
        {
            "observation": spaces.Box(0, 127, (OBSERVATION_SIZE,), np.int8),
            "action_mask": spaces.Box(0, 1, (NUM_ACTIONS,), np.int8),
        }
    )


def _index_of(action: Any) -> int:
    """The index that an action names; -1 if its type names none."""
    if type(action) is np.int64:
        return int(action)
    return int(action) if is_integer(action) else -1
