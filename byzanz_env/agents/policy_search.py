"""A policy that looks ahead: `FILE+search:N` plays N short games of its own before it decides.

The candidates are the likeliest actions of the policy; in an auction they are to pass, to sell, and the
policy's best raise as a whole, so that a half laid raise is always continued in the same way. Every
candidate is played in the same re-dealt worlds, all seats by the policy, to the end of the round; there the
outcome head says who will win. The policy's own choice is left only on evidence.

`others` makes it a response to somebody: the other seats play like that agent, and the outcome head is
asked at the searcher's own first decision of the next round.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from byzanz_env._jit import njit
from byzanz_env._random import derive_seed
from byzanz_env.agents.network import MAX_WIDTH, NUM_OUTCOMES, SCRATCH_ROWS, forward_row
from byzanz_env.agents.policy import PolicyAgent, _answer, _CanonicalView
from byzanz_env.agents.scripted import ScriptedAgent
from byzanz_env.decisions import Agent, Decisions
from byzanz_env.games.byzanz.bidding import SHEET
from byzanz_env.games.byzanz.bots import choose_scripted
from byzanz_env.games.byzanz.engine import STATE, State, skip_forced, step, win_shares
from byzanz_env.games.byzanz.observe import OBSERVATION_SIZE, OFFSETS, encode
from byzanz_env.games.byzanz.redeal import redeal
from byzanz_env.games.byzanz.rules import (
    BID,
    COMMIT,
    GIVE_CARD,
    LAY,
    MAX_PLAYERS,
    NUM_ACTIONS,
    NUM_GOODS,
    NUM_KINDS,
    OVER,
)
from byzanz_env.games.byzanz.symmetry import canonicalise, relabel_state
from byzanz_env.games.byzanz.valuation import load_valuation

EVIDENCE: Final = 1.0  # standard errors by which another candidate must be ahead
MAX_CANDIDATES: Final = 4
WORTH_A_LOOK: Final = 0.02  # probability
MAX_SEQUENCE: Final = 16  # cards of a raise and its commit
NO_ACTION: Final = -1
AS_ITSELF, AS_POLICY, AS_SCRIPTED = 0, 1, 2  # how the other seats play in a search


class PolicySearchAgent:
    """A policy as prior, rollout guide and judge of a shallow search."""

    def __init__(
        self, policy: Agent, budget: int, name: str | None = None, others: Agent | None = None
    ) -> None:
        if not isinstance(policy, PolicyAgent):
            raise ValueError(f"{policy.name} is no policy file: only a policy can search with +search")
        architecture = policy.policy.architecture
        if not (architecture.canonical and architecture.outcome):
            raise ValueError(f"{policy.name} has no outcome head to judge positions with: it cannot search")
        self.policy = policy
        self.budget = budget
        self.name = name or f"{policy.name}+search:{budget}"
        self._model = _model_of(policy, others)

    @property
    def sha256(self) -> str:
        return self.policy.sha256

    def act(self, decisions: Decisions) -> np.ndarray:
        """One legal action per row."""
        view = _CanonicalView(decisions)
        logits, _ = self.policy.network.forward(view.observations, view.masks)
        raising = logits[:, LAY:GIVE_CARD].argmax(axis=1) + LAY
        can_raise = view.masks[np.arange(len(decisions)), raising] > 0
        plans = self.policy._plan_raises(view, np.where(can_raise, raising, 0))
        under_way = _raise_is_under_way(decisions.observations)
        chosen = np.where(under_way, raising, 0)
        rows = np.flatnonzero(~under_way)
        if len(rows):
            chosen[rows] = self._search(decisions, view, rows, logits, plans)
        actions = np.empty(len(decisions), dtype=np.int64)
        off_plan = _answer(decisions.observations, view.orders, chosen, plans, actions)
        if off_plan.any():
            self.policy._continue_foreign_raises(decisions, view, np.flatnonzero(off_plan), actions)
        return actions

    def _search(
        self,
        decisions: Decisions,
        view: _CanonicalView,
        rows: np.ndarray,
        logits: np.ndarray,
        plans: np.ndarray,
    ) -> np.ndarray:
        games = decisions.redealt()[rows]
        chosen = np.empty(len(rows), dtype=np.int64)
        network = self.policy.network
        _search_rows(
            games,
            view.orders[rows],
            logits[rows],
            view.masks[rows],
            plans[rows],
            view.seeds[rows],
            self.budget,
            network.parameters,
            network.sizes,
            network.tanh,
            self._others(),
            chosen,
        )
        return chosen

    def _others(self) -> tuple[Any, ...]:
        """How the other seats play, with a sheet for scripts to write on: threads must not share one."""
        return (*self._model, np.zeros(1, dtype=SHEET))

    def evaluate(self, decisions: Decisions) -> tuple[np.ndarray, np.ndarray | None]:
        """Probabilities and chances of the policy itself."""
        return self.policy.evaluate(decisions)


def _model_of(policy: PolicyAgent, others: Agent | None) -> tuple[Any, ...]:
    """For compiled code: how the other seats play, a network, and the weights of a script."""
    network, valuation, kind = policy.network, load_valuation("heuristic"), AS_ITSELF
    if isinstance(others, PolicyAgent) and others.policy.architecture.canonical:
        network, kind = others.network, AS_POLICY
    elif isinstance(others, ScriptedAgent):
        valuation, kind = others.valuation, AS_SCRIPTED
    elif others is not None:
        raise ValueError(f"{others.name} cannot be looked ahead for: only a policy or a scripted agent can")
    return kind, network.parameters, network.sizes, network.tanh, valuation


def _raise_is_under_way(observations: np.ndarray) -> np.ndarray:
    start = OFFSETS["laid"]
    return np.asarray((observations[:, start : start + NUM_KINDS] > 0).any(axis=1))


@njit
def _search_rows(
    games: np.ndarray,
    orders: np.ndarray,
    logits: np.ndarray,
    masks: np.ndarray,
    plans: np.ndarray,
    seeds: np.ndarray,
    budget: int,
    parameters: np.ndarray,
    sizes: np.ndarray,
    tanh: bool,
    others: tuple[Any, ...],
    chosen: np.ndarray,
) -> None:
    candidates = np.empty((MAX_CANDIDATES, MAX_SEQUENCE), dtype=np.int64)
    work = np.zeros(2, dtype=STATE)
    sums = np.zeros(MAX_CANDIDATES)
    squares = np.zeros(MAX_CANDIDATES)
    values = np.zeros(MAX_CANDIDATES)
    desk = _new_desk()
    for row in range(len(games)):
        root = games[row]
        relabel_state(root, orders[row])
        count = _find_candidates(root, logits[row], masks[row], plans[row], candidates)
        chosen[row] = candidates[0, 0]
        if count < 2:
            continue
        seat = int(root.seat)
        worlds = max(2, budget // count)
        sums[:] = 0
        squares[:] = 0
        for world in range(worlds):
            work[0] = games[row]
            redeal(work[0], seat, derive_seed(int(seeds[row]), 77, world))
            for i in range(count):
                work[1] = work[0]
                values[i] = _play_candidate(
                    work[1], candidates[i], seat, parameters, sizes, tanh, others, desk
                )
                gain = values[i] - values[0]
                sums[i] += gain
                squares[i] += gain * gain
        best, best_gain = 0, 0.0
        for i in range(1, count):
            mean = sums[i] / worlds
            spread = np.sqrt(max(squares[i] / worlds - mean * mean, 0.0) / worlds)
            if mean > EVIDENCE * spread and mean > best_gain:
                best, best_gain = i, mean
        chosen[row] = candidates[best, 0]


@njit
def _new_desk() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Observation, mask, logits, outcome and scratch of one simulation."""
    return (
        np.zeros(OBSERVATION_SIZE, dtype=np.int8),
        np.zeros(NUM_ACTIONS, dtype=np.int8),
        np.zeros(NUM_ACTIONS, dtype=np.float32),
        np.zeros(NUM_OUTCOMES, dtype=np.float32),
        np.zeros((SCRATCH_ROWS, MAX_WIDTH), dtype=np.float32),
    )


@njit
def _find_candidates(
    root: State, logits: np.ndarray, mask: np.ndarray, plan: np.ndarray, candidates: np.ndarray
) -> int:
    """The likeliest actions, best first, each with what follows at once; all raises are one candidate."""
    weights = np.zeros(NUM_ACTIONS)
    highest = logits.max()
    total = 0.0
    raise_action = NO_ACTION
    for action in range(NUM_ACTIONS):
        if mask[action]:
            weight = np.exp(logits[action] - highest)
            total += weight
            if root.phase == BID and action >= LAY and action < GIVE_CARD:
                if raise_action == NO_ACTION or logits[action] > logits[raise_action]:
                    if raise_action != NO_ACTION:
                        weights[action] = weights[raise_action]
                        weights[raise_action] = 0
                    raise_action = action
                weights[raise_action] += weight
            else:
                weights[action] = weight
    count = 0
    while count < MAX_CANDIDATES:
        best = 0
        for action in range(NUM_ACTIONS):
            if weights[action] > weights[best]:
                best = action
        if weights[best] <= 0 or (count > 0 and weights[best] < WORTH_A_LOOK * total):
            break
        weights[best] = 0
        _write_sequence(best, best == raise_action, plan, candidates[count])
        count += 1
    return count


@njit
def _write_sequence(action: int, is_raise: bool, plan: np.ndarray, out: np.ndarray) -> None:
    out[:] = NO_ACTION
    if not is_raise:
        out[0] = action
        return
    place = 0
    for kind in range(NUM_GOODS):
        for _ in range(plan[kind]):
            out[place] = LAY + kind
            place += 1
    out[place] = COMMIT


@njit
def _play_candidate(
    s: State,
    sequence: np.ndarray,
    seat: int,
    parameters: np.ndarray,
    sizes: np.ndarray,
    tanh: bool,
    others: tuple[Any, ...],
    desk: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray],
) -> float:
    """Play a candidate, then everybody by a policy to the end of the round; the seat's chance to win."""
    observation, mask, logits, outcome, scratch = desk
    kind, their_parameters, their_sizes, their_tanh, valuation, sheets = others
    this_round = int(s.round_number)
    for action in sequence:
        if action == NO_ACTION:
            break
        step(s, int(action))
    while True:
        skip_forced(s, mask)
        if s.phase == OVER:
            shares = np.zeros(MAX_PLAYERS)
            win_shares(s, shares)
            return float(shares[seat])
        encode(s, int(s.seat), observation)
        if kind == AS_SCRIPTED and s.seat != seat:
            step(s, choose_scripted(observation, mask, valuation, sheets[0]))
            continue
        canonicalise(s, observation, mask)
        if kind == AS_POLICY and s.seat != seat:
            forward_row(
                observation,
                mask,
                their_parameters,
                their_sizes,
                their_tanh,
                False,
                scratch,
                logits,
                outcome,
            )
        else:
            forward_row(observation, mask, parameters, sizes, tanh, True, scratch, logits, outcome)
            if int(s.round_number) > this_round:
                return _chance(outcome, int(s.players), seat - int(s.seat))
        best = 0
        for action in range(NUM_ACTIONS):
            if logits[action] > logits[best]:
                best = action
        step(s, best)


@njit
def _chance(outcome: np.ndarray, players: int, relative: int) -> float:
    highest = outcome[:players].max()
    total = 0.0
    for other in range(players):
        total += np.exp(outcome[other] - highest)
    return float(np.exp(outcome[relative % players] - highest) / total)
