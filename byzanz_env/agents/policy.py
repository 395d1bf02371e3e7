"""A policy file as an agent: it answers from observations and masks, for any number of games at once.

A canonical policy sees the goods in canonical order (games/byzanz/symmetry.py). A raise is then one plan:
the network lays cards on the relabelled observation until it commits, and the plan is laid out at the
table in the order that the rules want. Every answer is computed anew from what the seat sees, so the agent
has no memory: within a half laid raise it takes the raise back in thought and arrives at the same plan.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from byzanz_env._jit import njit
from byzanz_env._random import next_word, seed_generator
from byzanz_env.agents.network import Network, win_chances
from byzanz_env.agents.policy_file import PolicyFile, PolicyFileError, read_policy, save_policy
from byzanz_env.decisions import Decisions, decision_seeds
from byzanz_env.games.byzanz.observe import OFFSETS
from byzanz_env.games.byzanz.rules import (
    BID,
    COMMIT,
    GIVE_CARD,
    LAY,
    MIN_PLAYERS,
    NUM_ACTIONS,
    NUM_GOODS,
    NUM_TYPES,
    NUM_VALUES,
)
from byzanz_env.games.byzanz.symmetry import (
    canonical_order,
    lay,
    mask_before_raise,
    mask_within_raise,
    original_action,
    relabel_mask,
    relabel_observation,
    take_back_raise,
)

__all__ = ["PolicyAgent", "PolicyFile", "PolicyFileError", "load_policy", "read_policy", "save_policy"]

_PHASE = OFFSETS["phase"]
_LAID = OFFSETS["laid"]
_PLAYERS = OFFSETS["players"]


def load_policy(path: Path | str, temperature: float = 0.0) -> PolicyAgent:
    """Load a policy file as an agent; temperature 0 plays the likeliest action, 1 samples."""
    return PolicyAgent(read_policy(path), temperature)


class PolicyAgent:
    """Plays a policy file."""

    def __init__(self, policy: PolicyFile, temperature: float = 0.0) -> None:
        if temperature < 0:
            raise ValueError(f"a temperature is 0 or more, not {temperature}")
        self.policy = policy
        self.name = policy.name
        self.network = Network(policy.architecture, policy.tensors)
        self.temperature = temperature

    @property
    def sha256(self) -> str:
        return self.policy.sha256

    def act(self, decisions: Decisions) -> np.ndarray:
        """One legal action per row."""
        if not self.policy.architecture.canonical:
            logits, _ = self.network.forward(decisions.observations, decisions.masks)
            return choose(logits, decisions.seeds(), 0, self.temperature)
        view = _CanonicalView(decisions)
        logits, _ = self.network.forward(view.observations, view.masks)
        chosen = choose(logits, view.seeds, 0, self.temperature)
        plans = self._plan_raises(view, chosen)
        actions = np.empty(len(decisions), dtype=np.int64)
        off_plan = _answer(decisions.observations, view.orders, chosen, plans, actions)
        if off_plan.any():
            self._continue_foreign_raises(decisions, view, np.flatnonzero(off_plan), actions)
        return actions

    def _plan_raises(self, view: _CanonicalView, chosen: np.ndarray) -> np.ndarray:
        """For every row that starts a raise: which cards it lays until it commits, [B, 24] counts."""
        plans = np.zeros((len(chosen), NUM_GOODS), dtype=np.int64)
        rows = np.flatnonzero((chosen >= LAY) & (chosen < GIVE_CARD))
        kinds = chosen[rows] - LAY
        observations = view.observations[rows]
        masks = np.empty((len(rows), NUM_ACTIONS), dtype=np.int8)
        depth = 0
        while len(rows):
            depth += 1
            plans[rows, kinds] += 1
            _lay_rows(observations, kinds, masks)
            logits, _ = self.network.forward(observations, masks)
            actions = choose(logits, view.seeds[rows], depth, self.temperature)
            more = actions != COMMIT
            rows, kinds, observations = rows[more], actions[more] - LAY, observations[more]
            masks = masks[more]
        return plans

    def _continue_foreign_raises(
        self, decisions: Decisions, view: _CanonicalView, rows: np.ndarray, actions: np.ndarray
    ) -> None:
        """Somebody else began these raises: go on card by card, within what is legal now."""
        observations, masks = decisions.observations[rows].copy(), decisions.masks[rows].copy()
        _relabel_rows(observations, masks, view.orders[rows])
        logits, _ = self.network.forward(observations, masks)
        for row, action in zip(rows, choose(logits, view.seeds[rows], 99, self.temperature), strict=True):
            actions[row] = original_action(int(action), view.orders[row])

    def evaluate(self, decisions: Decisions) -> tuple[np.ndarray, np.ndarray | None]:
        """Probabilities [B, A] of the next action, and chances to win [B, 6] from the observer's seat on.

        Within an auction turn the probability of laying a card stands for the raises that the policy
        begins with it, in canonical order. Chances are None for a policy without an outcome head.
        """
        observations, masks = decisions.observations.copy(), decisions.masks.copy()
        orders = np.tile(np.arange(NUM_TYPES), (len(decisions), 1))
        if self.policy.architecture.canonical:
            orders = _CanonicalView(decisions).orders
            _relabel_rows(observations, masks, orders)
        logits, outcomes = self.network.forward(observations, masks)
        weights = np.exp(logits - logits.max(axis=1, keepdims=True)) * masks
        relabelled = weights / weights.sum(axis=1, keepdims=True)
        probabilities = np.zeros_like(relabelled)
        for row in range(len(decisions)):
            for action in np.flatnonzero(masks[row]):
                probabilities[row, original_action(int(action), orders[row])] = relabelled[row, action]
        if not self.policy.architecture.outcome:
            return probabilities, None
        return probabilities, win_chances(outcomes, players_of(observations))


def players_of(observations: np.ndarray) -> np.ndarray:
    """The number of players of each observation."""
    count: np.ndarray = observations[:, _PLAYERS : _PLAYERS + 4].argmax(axis=1) + MIN_PLAYERS
    return count


class _CanonicalView:
    """A batch of decisions before any card of a raise was laid, with the goods in canonical order."""

    def __init__(self, decisions: Decisions) -> None:
        self.observations = decisions.observations.copy()
        self.masks = np.empty((len(decisions), NUM_ACTIONS), dtype=np.int8)
        self.orders = np.empty((len(decisions), NUM_TYPES), dtype=np.int64)
        _canonical_rows(self.observations, decisions.masks, self.masks, self.orders)
        self.seeds = decision_seeds(decisions.keys, self.observations)


@njit
def _canonical_rows(
    observations: np.ndarray, masks: np.ndarray, out: np.ndarray, orders: np.ndarray
) -> None:
    for row in range(len(observations)):
        observation = observations[row]
        take_back_raise(observation)
        canonical_order(observation, orders[row])
        relabel_observation(observation, orders[row])
        if observation[_PHASE + BID]:
            mask_before_raise(observation, out[row])
        else:
            relabel_mask(masks[row], orders[row], out[row])


@njit
def _relabel_rows(observations: np.ndarray, masks: np.ndarray, orders: np.ndarray) -> None:
    for row in range(len(observations)):
        relabel_observation(observations[row], orders[row])
        old = masks[row].copy()
        relabel_mask(old, orders[row], masks[row])


@njit
def _lay_rows(observations: np.ndarray, kinds: np.ndarray, masks: np.ndarray) -> None:
    for row in range(len(observations)):
        lay(observations[row], int(kinds[row]))
        mask_within_raise(observations[row], int(kinds[row]), masks[row])


@njit
def _answer(
    observations: np.ndarray, orders: np.ndarray, chosen: np.ndarray, plans: np.ndarray, actions: np.ndarray
) -> np.ndarray:
    """Turn canonical choices and plans into actions; mark rows whose raise does not follow the plan."""
    off_plan = np.zeros(len(chosen), dtype=np.bool_)
    plan = np.empty(NUM_GOODS, dtype=np.int64)
    for row in range(len(chosen)):
        laid = observations[row, _LAID : _LAID + NUM_GOODS]
        under_way = False
        for kind in range(NUM_GOODS):
            under_way = under_way or laid[kind] > 0
            good = int(orders[row, kind // NUM_VALUES])
            plan[good * NUM_VALUES + kind % NUM_VALUES] = plans[row, kind]
        starts_raise = chosen[row] >= LAY and chosen[row] < GIVE_CARD
        if not starts_raise:
            actions[row] = original_action(int(chosen[row]), orders[row])
            off_plan[row] = under_way
            continue
        actions[row] = COMMIT
        for kind in range(NUM_GOODS - 1, -1, -1):
            if plan[kind] > laid[kind]:
                actions[row] = LAY + kind
        for kind in range(NUM_GOODS):
            later = actions[row] != COMMIT and kind > actions[row] - LAY
            if laid[kind] > plan[kind] or (later and laid[kind] > 0):
                off_plan[row] = True
    return off_plan


@njit
def choose(logits: np.ndarray, seeds: np.ndarray, stream: int, temperature: float) -> np.ndarray:
    """The likeliest action of each row, or one sampled at a temperature with the row's own seed."""
    actions = np.empty(len(logits), dtype=np.int64)
    rng = np.empty(4, dtype=np.uint32)
    for row in range(len(logits)):
        best = 0
        for action in range(NUM_ACTIONS):
            if logits[row, action] > logits[row, best]:
                best = action
        actions[row] = best
        if temperature > 0:
            seed_generator(rng, int(seeds[row]), 16 + stream)
            point = next_word(rng) / 4294967296.0
            total = 0.0
            for action in range(NUM_ACTIONS):
                total += np.exp((logits[row, action] - logits[row, best]) / temperature)
            for action in range(NUM_ACTIONS):
                point -= np.exp((logits[row, action] - logits[row, best]) / temperature) / total
                if point < 0:
                    actions[row] = action
                    break
    return actions
