"""BatchEnv: thousands of games side by side in preallocated arrays, stepped by compiled code.

    env = BatchEnv(1024, num_players=4, seed=7)
    env.reset()
    while training:
        env.step(choose(env.observations, env.action_masks))  # one action index per row

The arrays are attributes, always the same memory, changed in place by `reset` and `step` and read-only to
everybody else: take a copy of what must outlive the next step. Row r plays one game after the other; where
one ends, `dones[r]` is set, `rewards`, `scores` and `winners` are those of the game that ended, and
everything else shows the first decision of the next one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from byzanz_env.decisions import Decisions
from byzanz_env.envs.arguments import check_flag, check_reward, check_seed
from byzanz_env.envs.batch_file import check_arrays, pack, read_arrays, read_settings
from byzanz_env.envs.crew import Crew
from byzanz_env.envs.rows import check_count, check_rows, check_tables, explain_illegal, put_rows, take_rows
from byzanz_env.errors import IllegalActionError
from byzanz_env.games.byzanz import tables
from byzanz_env.games.byzanz.engine import STATE
from byzanz_env.games.byzanz.observe import OBSERVATION_SIZE
from byzanz_env.games.byzanz.rules import MAX_PLAYERS, NUM_ACTIONS
from byzanz_env.games.byzanz.symmetry import canonicalise_rows

NO_GAME = -1  # in `seats` before the first reset


def _read_only(array: np.ndarray) -> np.ndarray:
    view = array.view()
    view.flags.writeable = False
    return view


class BatchEnv:
    """Many games at once.

    num_games    number of rows N
    num_players  3 to 6, or a sequence with one number per row
    seed         the k-th game (from 0) of row r is dealt from `derive_seed(seed, first_row + r, k)` alone,
                 and is the game that `byzanz_v0.raw_env().reset(seed=env.game_seeds[r])` plays
    reward       "win" (shares of 1), "rank" (1 to -1) or "margin", paid at the end of a game; or "points",
                 paid as they are banked
    skip_forced  play decisions with one legal action inside
    threads      how many threads step the rows; the games do not depend on it
    first_row    number of the first row, so that several batches can be parts of one large one
    """

    observations: np.ndarray  # [N, D] int8, of the seat that decides
    action_masks: np.ndarray  # [N, 288] int8
    seats: np.ndarray  # [N] int64, who decides
    rewards: np.ndarray  # [N, 6] float32, of the game that just ended, else zero; see `reward`
    dones: np.ndarray  # [N] bool, whether the last step of the row ended a game
    scores: np.ndarray  # [N, 6] int64, points of the row's last game that ended
    winners: np.ndarray  # [N, 6] float32, shares of its win: 1 divided among the winners
    game_seeds: np.ndarray  # [N] int64, the seed of the game on each table
    games: np.ndarray  # [N] int64, its number k
    num_players: np.ndarray  # [N] int64
    states: np.ndarray  # [N] records: the whole truth, for trusted tools; agents get `decisions`

    def __init__(
        self,
        num_games: int,
        num_players: int | Sequence[int] | np.ndarray = 4,
        seed: int = 0,
        reward: str = "win",
        skip_forced: bool = False,
        threads: int = 1,
        first_row: int = 0,
    ) -> None:
        self.num_games = check_count("num_games", num_games, 1)
        self.seed = check_seed(seed)
        self.reward = reward
        self.skip_forced = check_flag("skip_forced", skip_forced)
        self.first_row = check_count("first_row", first_row, 0)
        self._reward = check_reward(reward)
        self._started = False
        self._allocate(check_tables(num_players, self.num_games))
        shared = (self._states, self._chosen, self._actions, *self._dealt, *self._shown, *self._kept)
        self._crew = Crew(check_count("threads", threads, 1), shared)

    def _allocate(self, players: np.ndarray) -> None:
        rows = self.num_games
        self._players = players
        self._states = np.zeros(rows, dtype=STATE)
        self._finals = np.zeros(rows, dtype=STATE)  # the last position of the row's last game
        self._games = np.zeros(rows, dtype=np.int64)
        self._game_seeds = np.zeros(rows, dtype=np.int64)
        self._observations = np.zeros((rows, OBSERVATION_SIZE), dtype=np.int8)
        self._masks = np.zeros((rows, NUM_ACTIONS), dtype=np.int8)
        self._seats = np.full(rows, NO_GAME, dtype=np.int64)
        self._rewards = np.zeros((rows, MAX_PLAYERS), dtype=np.float32)
        self._dones = np.zeros(rows, dtype=np.bool_)
        self._scores = np.zeros((rows, MAX_PLAYERS), dtype=np.int64)
        self._winners = np.zeros((rows, MAX_PLAYERS), dtype=np.float32)
        self._all_rows = np.arange(rows)
        self._seen = np.zeros(rows, dtype=np.int8)
        self._actions = np.zeros(rows, dtype=np.int64)
        self._chosen = np.arange(rows)  # the rows at work, one action each
        self._settings = np.zeros(tables.SETTINGS, dtype=np.int64)
        self._dealt = (self._settings, self._players, self._game_seeds)
        self._shown = (self._observations, self._masks, self._seats)
        self._kept = (self._games, self._rewards, self._dones, self._scores, self._winners, self._finals)
        self.observations = _read_only(self._observations)
        self.action_masks = _read_only(self._masks)
        self.seats = _read_only(self._seats)
        self.rewards = _read_only(self._rewards)
        self.dones = _read_only(self._dones)
        self.scores = _read_only(self._scores)
        self.winners = _read_only(self._winners)
        self.game_seeds = _read_only(self._game_seeds)
        self.games = _read_only(self._games)
        self.num_players = _read_only(self._players)
        self.states = _read_only(self._states)

    # --- playing ----------------------------------------------------------------------------------------

    @property
    def threads(self) -> int:
        return self._crew.threads

    def reset(self, seed: int | None = None) -> None:
        """Deal game 0 of every row, of `seed` if given (it replaces the seed of the batch)."""
        if seed is not None:
            self.seed = check_seed(seed)
        for array in (self._games, self._rewards, self._dones, self._scores, self._winners):
            array[...] = 0
        self._finals.view(np.uint8)[:] = 0
        self._settings[:4] = self.seed, self.first_row, self._reward, self.skip_forced
        tables.game_seeds_of(self.seed, self.first_row, self._games, self._game_seeds)
        self._deal(self._all_rows)
        self._started = True

    def step(self, actions: Any, rows: Any = None) -> None:
        """Play one action in every row, or in `rows` alone; the other rows then stay as they are.

        An IllegalActionError or ValueError leaves every row unchanged.
        """
        self._check_started("step")
        chosen = self._all_rows if rows is None else self._check_rows(rows)
        count = len(chosen)
        self._actions[:count] = self._check_actions(actions, chosen.shape)
        self._chosen[:count] = chosen
        self._crew.run(tables.STEP, count)
        if self._settings[tables.ILLEGAL]:
            self._raise_illegal(count)

    def sample_actions(self, seed: int) -> np.ndarray:
        """One legal action per row, each as likely as the others, from the seed and the row alone."""
        self._check_started("sample_actions")
        self._chosen[:] = self._all_rows
        self._settings[tables.CHOICE] = check_seed(seed)
        self._crew.run(tables.CHOOSE, self.num_games)
        return self._actions.copy()

    def deal(self, rows: Any, game_seeds: Any) -> None:
        """Put the games of these seeds on these tables instead of those that are there."""
        self._check_started("deal")
        chosen = self._check_rows(rows)
        seeds = np.asarray(game_seeds)
        if seeds.dtype.kind not in "iu" or seeds.shape != chosen.shape or (seeds < 0).any():
            raise ValueError(f"game_seeds are {len(chosen)} integers from 0, one for each of the rows")
        self._game_seeds[chosen] = seeds
        self._dones[chosen] = False
        self._rewards[chosen] = 0
        self._deal(chosen)

    def _deal(self, rows: np.ndarray) -> None:
        self._chosen[: len(rows)] = rows
        self._crew.run(tables.DEAL, len(rows))

    def close(self) -> None:
        """End the threads; the games stay."""
        self._crew.close()

    def __del__(self) -> None:
        if hasattr(self, "_crew"):
            self._crew.close()

    def canonicalise(self, rows: Any = None) -> None:
        """Rename the goods of every game, or of `rows`, into the canonical order of the deciding seat.

        The games stay what they are but for the names of their goods (games/byzanz/symmetry.py).
        """
        self._check_started("canonicalise")
        chosen = self._all_rows if rows is None else self._check_rows(rows)
        canonicalise_rows(self._states, chosen, self._observations, self._masks)

    # --- looking ----------------------------------------------------------------------------------------

    def decisions(self, rows: Any, keys: np.ndarray) -> Decisions:
        """The pending decisions of `rows` as an agent gets them: without the hidden cards."""
        return Decisions(self._observations[rows], self._masks[rows], keys, take_rows(self._states, rows))

    def final_observations(self, rows: Any, seats: Any) -> np.ndarray:
        """How these seats saw the end of the last game that ended in these rows, [B, D] int8."""
        chosen = self._check_rows(rows)
        who = np.asarray(seats, dtype=np.int64)
        if who.shape != chosen.shape or (who < 0).any() or (who >= self._players[chosen]).any():
            raise ValueError(f"seats are {len(chosen)} seats at these tables, one for each of the rows")
        if (self._finals["players"][chosen] == 0).any():
            raise ValueError("no game has ended yet in one of these rows")
        out = np.empty((len(chosen), OBSERVATION_SIZE), dtype=np.int8)
        tables.encode_rows(self._finals, chosen, who, out)
        return out

    def step_arrays(self) -> tuple[np.ndarray, ...]:
        """What `tables.step_rows` works on besides rows and actions: the batch's own arrays, not copies.

        For compiled loops that play on by themselves: the one way to write to them from outside.
        """
        self._check_started("step_arrays")
        return (self._states, *self._dealt, *self._shown, *self._kept)

    # --- copies -----------------------------------------------------------------------------------------

    def copy_rows(self, source_rows: Any, target_rows: Any) -> None:
        """Put copies of the games of `source_rows` on the tables `target_rows`, say for a search.

        When such a game ends, the row goes on with the next game of its own.
        """
        self._check_started("copy_rows")
        source = self._check_rows(source_rows, repeats=True)
        target = self._check_rows(target_rows)
        if len(source) != len(target):
            raise ValueError(f"{len(source)} source rows cannot go into {len(target)} target rows")
        if (self._players[source] != self._players[target]).any():
            raise ValueError("a game can only be copied to a table with the same number of players")
        for array in self._row_arrays().values():
            put_rows(array, source, target)
        for array in (self._observations, self._masks, self._seats):
            put_rows(array, source, target)

    def keep(self) -> Callable[[], None]:
        """Remember everything as it is; what is returned, called, puts it back."""
        arrays = (*self._row_arrays().values(), self._games, *self._shown, self._settings)
        kept = [(array.view(np.uint8), array.view(np.uint8).copy()) for array in arrays]
        seed, started = self.seed, self._started

        def put_back() -> None:
            for array, copy in kept:
                array[...] = copy
            self.seed, self._started = seed, started

        return put_back

    def _row_arrays(self) -> dict[str, np.ndarray]:
        """All that a row is, but its number of games."""
        return {
            "states": self._states,
            "finals": self._finals,
            "game_seeds": self._game_seeds,
            "rewards": self._rewards,
            "dones": self._dones,
            "scores": self._scores,
            "winners": self._winners,
        }

    def save(self) -> bytes:
        """All games as bytes, to go on from with `restore` or `from_bytes`."""
        self._check_started("save")
        return pack(self._settings_dict(), {**self._row_arrays(), "games": self._games})

    def restore(self, data: bytes) -> None:
        """Go on where `save` was called; this batch must have the settings of the saved one."""
        saved, own = read_settings(data), self._settings_dict()
        for name, value in own.items():
            if saved.get(name) != value and name != "seed":
                raise ValueError(
                    f"the saved batch has another {name}; BatchEnv.from_bytes makes a fitting one"
                )
        like = {**self._row_arrays(), "games": self._games}
        arrays = read_arrays(data, like)
        check_arrays(arrays, self._players)
        seed = check_seed(saved.get("seed"))
        self.reset(seed)
        for name, array in like.items():
            array.view(np.uint8)[...] = arrays[name].view(np.uint8)
        self._dones[:] = arrays["dones"].view(np.uint8) != 0
        tables.show_rows(self._states, self._observations, self._masks, self._seats, self.skip_forced)

    @classmethod
    def from_bytes(cls, data: bytes, threads: int = 1) -> BatchEnv:
        """A batch with the settings and games of saved bytes."""
        settings = read_settings(data)
        try:
            env = cls(threads=threads, **settings)
        except TypeError:
            raise ValueError("the saved batch is damaged: its settings cannot be read") from None
        env.restore(data)
        return env

    def _settings_dict(self) -> dict[str, Any]:
        return {
            "num_games": self.num_games,
            "num_players": self._players.tolist(),
            "seed": self.seed,
            "reward": self.reward,
            "skip_forced": self.skip_forced,
            "first_row": self.first_row,
        }

    def __getstate__(self) -> dict[str, Any]:
        games = self.save() if self._started else None
        return {"settings": self._settings_dict(), "threads": self.threads, "games": games}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(threads=state["threads"], **state["settings"])  # type: ignore[misc]
        if state["games"] is not None:
            self.restore(state["games"])

    # --- what comes in ----------------------------------------------------------------------------------

    def _check_started(self, verb: str) -> None:
        if not self._started:
            raise ValueError(f"no game is dealt yet: call reset() before {verb}()")

    def _check_rows(self, rows: Any, repeats: bool = False) -> np.ndarray:
        return check_rows(rows, self._seen, repeats)

    def _check_actions(self, actions: Any, shape: tuple[int, ...]) -> np.ndarray:
        given = np.asarray(actions)
        if given.shape != shape:
            raise ValueError(f"actions have shape {given.shape}; one per row is {shape}")
        if given.dtype.kind not in "iu" and shape != (0,):
            raise ValueError(f"actions are of type {given.dtype}; they must be integers")
        return given

    def _raise_illegal(self, count: int) -> None:
        """Name the first action at fault; the crew has found one, and no row has moved."""
        rows, actions = self._chosen[:count], self._actions[:count]
        place = tables.find_illegal_rows(self._masks, rows, actions)
        row, phase = int(rows[place]), int(self._states["phase"][rows[place]])
        seat, mask = int(self._seats[row]), self._masks[row]
        raise IllegalActionError(explain_illegal(row, seat, phase, int(actions[place]), mask))
