"""A worker: its tables, its rollout, and the gradient of its part of every minibatch.

Workers are threads. Compiled code and torch release the interpreter lock, every worker computes with one
torch thread, and all share one set of weights; so two workers use two cores without copies, and the result
depends on their number but never on their timing.
"""

from __future__ import annotations

import copy

import numpy as np
import torch

from byzanz_env._random import seed_generator
from byzanz_env.agents.network import NUM_OUTCOMES
from byzanz_env.envs.batch import BatchEnv
from byzanz_env.games.byzanz.observe import OBSERVATION_SIZE
from byzanz_env.games.byzanz.rules import MAX_PLAYERS, NUM_ACTIONS
from byzanz_env.games.byzanz.tables import random_actions
from training import kernels
from training.config import Config
from training.network import PolicyNetwork, infer
from training.opponents import OpponentPool

CARRIED = MAX_PLAYERS  # rows of the rollout that hold open decisions of the rollout before
NUM_STATISTICS = 8
WORKER_STREAM = 7_000
STAGGER = 200  # decisions, about one game


class Rollout:
    """What a worker has collected: [CARRIED + T, N] decisions and the ends of games between them."""

    def __init__(self, steps: int, tables: int) -> None:
        rows = CARRIED + steps
        self.steps = steps
        self.tables = tables
        self.observations = np.zeros((rows, tables, OBSERVATION_SIZE), dtype=np.int8)
        self.masks = np.zeros((rows, tables, NUM_ACTIONS), dtype=np.int8)
        self.actions = np.zeros((rows, tables), dtype=np.int64)
        self.log_probs = np.zeros((rows, tables), dtype=np.float32)
        self.outcomes = np.zeros((rows, tables, NUM_OUTCOMES), dtype=np.float32)
        self.seats = np.full((rows, tables), -1, dtype=np.int8)
        self.ends = np.zeros((steps + 1, tables), dtype=np.bool_)
        self.finals = np.zeros((steps + 1, tables, NUM_OUTCOMES), dtype=np.float32)
        self.advantages = np.zeros((rows, tables), dtype=np.float32)
        self.targets = np.zeros((rows, tables, NUM_OUTCOMES), dtype=np.float32)
        self.closed = np.zeros((rows, tables), dtype=np.bool_)
        self.still_open = np.full((CARRIED, tables), -1, dtype=np.int64)

    def carried_arrays(self) -> dict[str, np.ndarray]:
        """The open decisions, which are part of a checkpoint."""
        names = ("observations", "masks", "actions", "log_probs", "outcomes", "seats")
        return {name: getattr(self, name)[:CARRIED] for name in names}

    def carry_over(self) -> None:
        """Move every seat's open decision to the front, where the next rollout closes it."""
        seats, tables = np.nonzero(self.still_open >= 0)
        rows = self.still_open[seats, tables]
        kept = {name: getattr(self, name)[rows, tables].copy() for name in self.carried_arrays()}
        self.seats[:] = -1
        for name, values in kept.items():
            getattr(self, name)[seats, tables] = values

    def note_open(self) -> None:
        """The open decisions are those at the front and no others."""
        self.still_open[:] = np.where(self.seats[:CARRIED] >= 0, np.arange(CARRIED)[:, None], -1)


class Worker:
    """Plays and learns on its own tables."""

    def __init__(
        self, index: int, config: Config, network: PolicyNetwork, pool: OpponentPool, bf16: bool
    ) -> None:
        self.index = index
        self.config = config
        self.pool = pool
        self.bf16 = bf16
        tables = config.game.tables // config.workers
        first = index * tables
        players = config.game.players_of_tables(config.game.tables)[first : first + tables]
        self.env = BatchEnv(tables, players, config.seed, skip_forced=True, first_row=first)
        self.env.reset()
        self.players = np.asarray(self.env.num_players)
        self._stagger()
        self.rollout = Rollout(config.ppo.steps, tables)
        self.network = copy.deepcopy(network)
        for own, shared in zip(self.network.parameters(), network.parameters(), strict=True):
            own.data = shared.data
        self.rng = np.empty(4, dtype=np.uint32)
        seed_generator(self.rng, config.seed, WORKER_STREAM + index)
        self._minibatch = _MinibatchBuffers()

    def _stagger(self) -> None:
        """Bring the tables to different points of their games, so that a rollout sees all of them."""
        rng = np.empty(4, dtype=np.uint32)
        seed_generator(rng, self.config.seed, WORKER_STREAM - 1 - self.index)
        actions = np.empty(self.env.num_games, dtype=np.int64)
        for turn in range(STAGGER):
            rows = np.flatnonzero(np.arange(self.env.num_games) % STAGGER > turn)
            random_actions(np.asarray(self.env.action_masks), rng, actions)
            self.env.step(actions[rows], rows)

    # --- collecting -------------------------------------------------------------------------------------

    def collect(self, trained: int) -> None:
        """Play `steps` decisions of the learner at every table; `trained` counts decisions so far.

        No table waits for another: where the learner decides it does so at once, for all such tables in one
        batch, and so do the members of the pool at theirs.
        """
        rollout, env = self.rollout, self.env
        rollout.carry_over()
        rollout.ends[:] = False
        decided = np.zeros(rollout.tables, dtype=np.int64)  # by the learner at each table
        busy = np.arange(rollout.tables)
        while len(busy):
            ours = self.pool.move(env, busy, trained, decided, rollout.ends, rollout.finals)
            if len(ours):
                self._decide(ours, decided)
            busy = busy[decided[busy] < rollout.steps]

    def _decide(self, tables: np.ndarray, decided: np.ndarray) -> None:
        """Draw the learner's action at these tables, store it in the rollout, and play it."""
        rollout, env = self.rollout, self.env
        env.canonicalise(tables)
        observations, masks = env.observations[tables], env.action_masks[tables]
        logits, raw = infer(self.network, observations, self.bf16)
        actions = np.empty(len(tables), dtype=np.int64)
        log_probs = np.empty(len(tables), dtype=np.float32)
        outcomes = np.empty((len(tables), NUM_OUTCOMES), dtype=np.float32)
        kernels.sample_actions(logits, self.network.columns, masks, self.rng, actions, log_probs)
        kernels.predict_outcomes(raw, self.players[tables], outcomes)
        places = (CARRIED + decided[tables], tables)
        rollout.observations[places] = observations
        rollout.masks[places] = masks
        rollout.seats[places] = env.seats[tables]
        rollout.actions[places] = actions
        rollout.log_probs[places] = log_probs
        rollout.outcomes[places] = outcomes
        env.step(actions, tables)
        decided[tables] += 1
        over = tables[env.dones[tables]]
        kernels.note_ends(
            over, decided, env.winners, env.scores, self.players, rollout.ends, rollout.finals
        )

    # --- learning ---------------------------------------------------------------------------------------

    def estimate(self, margin_weight: float) -> tuple[float, float, int]:
        """Compute advantages; return their sum, sum of squares and number for the normalisation."""
        rollout = self.rollout
        kernels.advantages(
            rollout.seats,
            rollout.outcomes,
            rollout.ends,
            rollout.finals,
            self.players,
            self.config.ppo.gae_lambda,
            margin_weight,
            rollout.advantages,
            rollout.targets,
            rollout.closed,
            rollout.still_open,
        )
        values = rollout.advantages[rollout.closed].astype(np.float64)
        self.indices = np.flatnonzero(rollout.closed)
        return float(values.sum()), float((values**2).sum()), len(values)

    def shuffle(self, parts: int, epoch_seed: int) -> None:
        """Deal the closed decisions at random into `parts` minibatch parts."""
        order = np.random.default_rng([epoch_seed, self.index]).permutation(self.indices)
        self.parts = np.array_split(order, parts)

    def gradient(
        self, part: int, mean: float, deviation: float, coefficients: np.ndarray, scale: float
    ) -> np.ndarray:
        """Leave the gradient of one part in this worker's parameters; return the sums of statistics."""
        indices = self.parts[part]
        rollout, buffers = self.rollout, self._minibatch
        buffers.resize(len(indices))
        samples = rollout.observations.shape[0] * rollout.tables
        kernels.gather(
            rollout.observations.reshape(samples, -1),
            rollout.masks.reshape(samples, -1),
            indices,
            buffers.observations,
            buffers.masks,
        )
        advantage = (rollout.advantages.reshape(-1)[indices] - np.float32(mean)) / np.float32(deviation)
        with torch.autocast("cpu", torch.bfloat16, enabled=self.bf16):
            logits, raw = self.network(torch.from_numpy(buffers.observations))
        statistics = np.zeros(NUM_STATISTICS)
        d_logits, d_raw = torch.empty(logits.shape), torch.empty(raw.shape)
        kernels.loss_gradient(
            logits.detach().float().numpy(),
            self.network.columns,
            raw.detach().float().numpy(),
            buffers.masks,
            rollout.actions.reshape(-1)[indices],
            rollout.log_probs.reshape(-1)[indices],
            advantage,
            rollout.targets.reshape(samples, -1)[indices],
            self.players[indices % rollout.tables],
            coefficients,
            scale,
            d_logits.numpy(),
            d_raw.numpy(),
            statistics,
        )
        for parameter in self.network.parameters():
            parameter.grad = None
        torch.autograd.backward([logits, raw], [d_logits.to(logits.dtype), d_raw.to(raw.dtype)])
        return statistics

    # --- checkpoints ------------------------------------------------------------------------------------

    def state(self) -> dict[str, np.ndarray]:
        """Everything the next update depends on, as arrays."""
        arrays = {f"carried.{name}": array for name, array in self._open().items()}
        arrays["rng"] = self.rng
        arrays["tables"] = np.frombuffer(self.env.save(), dtype=np.uint8)
        return arrays

    def _open(self) -> dict[str, np.ndarray]:
        self.rollout.carry_over()
        self.rollout.note_open()
        return self.rollout.carried_arrays()

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        """Go on from `state`."""
        self.rng[:] = arrays["rng"]
        self.env.restore(arrays["tables"].tobytes())
        self.rollout.seats[:] = -1
        for name, array in self.rollout.carried_arrays().items():
            array[:] = arrays[f"carried.{name}"]
        self.rollout.note_open()


class _MinibatchBuffers:
    """Grows to the largest part and is used again."""

    def __init__(self) -> None:
        self._observations = np.empty((0, OBSERVATION_SIZE), dtype=np.int8)
        self._masks = np.empty((0, NUM_ACTIONS), dtype=np.int8)
        self.observations, self.masks = self._observations, self._masks

    def resize(self, size: int) -> None:
        if size > len(self._observations):
            self._observations = np.empty((size, OBSERVATION_SIZE), dtype=np.int8)
            self._masks = np.empty((size, NUM_ACTIONS), dtype=np.int8)
        self.observations, self.masks = self._observations[:size], self._masks[:size]
