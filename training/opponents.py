"""The pool: past selves and named agents that take seats beside the learner.

Who sits where is a function of the game's seed alone, so nothing about it needs to be saved. Members play
on the trainer's own tables: scripted ones in one compiled loop, policies in batches through torch,
everybody else as at any table.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from byzanz_env._jit import njit
from byzanz_env._random import below, derive_seed, seed_generator
from byzanz_env.agents.network import ILLEGAL, Architecture
from byzanz_env.agents.policy import PolicyAgent, PolicyFile, choose
from byzanz_env.agents.scripted import ScriptedAgent
from byzanz_env.decisions import Agent, agent_key, decision_seeds, game_keys
from byzanz_env.envs.batch import BatchEnv
from byzanz_env.games.byzanz.bidding import SHEET
from byzanz_env.games.byzanz.bots import choose_scripted
from byzanz_env.games.byzanz.rules import MAX_PLAYERS
from byzanz_env.games.byzanz.tables import step_rows
from byzanz_env.games.byzanz.valuation import VALUATION, Valuation
from training import kernels
from training.config import Pool
from training.network import fits, infer, make_network

LEARNER = -1
POOL_STREAM = 9_000
SNAPSHOT_TEMPERATURE = 1.0


@dataclass(frozen=True)
class Snapshot:
    """A past self."""

    name: str
    tensors: Mapping[str, np.ndarray]


class Member(Protocol):
    """Somebody who answers at these tables."""

    def answer(self, env: BatchEnv, rows: np.ndarray) -> np.ndarray:
        """One legal action for each of these rows, whose goods are in canonical order."""
        ...


class AnyMember:
    """An agent that is asked as at any table."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self._key = agent_key(agent.name)

    def answer(self, env: BatchEnv, rows: np.ndarray) -> np.ndarray:
        keys = game_keys(env.game_seeds[rows], env.seats[rows], self._key)
        return self.agent.act(env.decisions(rows, keys))


class PolicyMember:
    """A policy with a network of ours: torch answers for it in one pass, as the goods are in order.

    In single precision it plays as its agent does, but for the random numbers within a raise; bfloat16
    rounds, which changes one answer in some hundreds.
    """

    def __init__(self, policy: PolicyFile, temperature: float, bf16: bool) -> None:
        self.network = make_network(policy.architecture)
        self.network.load_tensors(policy.tensors)
        self.temperature = temperature
        self.bf16 = bf16
        self._key = agent_key(policy.name)

    def answer(self, env: BatchEnv, rows: np.ndarray) -> np.ndarray:
        observations = env.observations[rows]
        logits, _ = infer(self.network, observations, self.bf16)
        logits = np.where(env.action_masks[rows] > 0, logits[:, self.network.columns], ILLEGAL)
        keys = game_keys(env.game_seeds[rows], env.seats[rows], self._key)
        seeds = decision_seeds(keys, observations) if self.temperature > 0 else keys
        return choose(logits, seeds, 0, self.temperature)


class OpponentPool:
    """Named agents first, then a ring of snapshots."""

    def __init__(
        self, config: Pool, architecture: Architecture, agents: Sequence[Agent], bf16: bool
    ) -> None:
        self.config = config
        self.architecture = architecture
        self.snapshots: list[Snapshot] = []
        self._past: list[Member] = []  # who plays them
        self._bf16 = bf16
        self.contents = [_contents(agent) for agent in agents]
        self._agents = [self._member(agent) for agent in agents]
        self.is_scripted = np.array([isinstance(agent, ScriptedAgent) for agent in agents], dtype=np.bool_)
        tables = [agent.valuation for agent in agents if isinstance(agent, ScriptedAgent)]
        self.valuations = np.zeros((len(agents), MAX_PLAYERS + 1), dtype=VALUATION)
        for place, table in zip(np.flatnonzero(self.is_scripted), tables, strict=True):
            self.valuations[place] = table
        self._members = list(self._agents)

    def add(self, snapshot: Snapshot) -> None:
        """Let a past self in; the oldest leaves when the ring is full."""
        policy = PolicyFile(snapshot.name, self.architecture, snapshot.tensors)
        player = PolicyMember(policy, SNAPSHOT_TEMPERATURE, self._bf16)
        self.snapshots = [*self.snapshots, snapshot][-self.config.size :]
        self._past = [*self._past, player][-self.config.size :]
        self._members = [*self._agents, *self._past]

    def replace(self, snapshots: list[Snapshot]) -> None:
        """Let these be the past selves."""
        self.snapshots, self._past, self._members = [], [], list(self._agents)
        for snapshot in snapshots:
            self.add(snapshot)

    def _member(self, agent: Agent) -> Member:
        if isinstance(agent, PolicyAgent) and fits(agent.policy.architecture):
            return PolicyMember(agent.policy, agent.temperature, self._bf16)
        return AnyMember(agent)

    def move(
        self,
        env: BatchEnv,
        rows: np.ndarray,
        trained: int,
        slots: np.ndarray,
        ends: np.ndarray,
        finals: np.ndarray,
    ) -> np.ndarray:
        """Let members decide in these rows, scripted ones until it is somebody else's turn, others once.

        Returns the rows where the learner decides now; those where a member was just asked come back with
        the next call. Games that end on the way are noted in `ends` and `finals`, like in a rollout.
        """
        if not self._members or (trained < self.config.start and not self.config.only):
            return rows
        share, alone = (1.0, 1.0) if self.config.only else (self.config.share, self.config.alone)
        owners = np.empty(len(rows), dtype=np.int64)
        play_scripted(
            rows,
            len(self._members),
            share,
            alone,
            self.is_scripted,
            self.valuations,
            np.empty(1, dtype=SHEET),
            slots,
            ends,
            finals,
            owners,
            *env.step_arrays(),
        )
        theirs = owners != LEARNER
        if theirs.any():
            asked = rows[theirs]
            env.canonicalise(asked)
            env.step(self.act(env, asked, owners[theirs]), asked)
            over = asked[env.dones[asked]]
            kernels.note_ends(over, slots, env.winners, env.scores, env.num_players, ends, finals)
        ours: np.ndarray = rows[~theirs]
        return ours

    def act(self, env: BatchEnv, rows: np.ndarray, owners: np.ndarray) -> np.ndarray:
        """The members' answers for these rows."""
        actions = np.empty(len(rows), dtype=np.int64)
        for member in np.unique(owners):
            places = np.flatnonzero(owners == member)
            actions[places] = self._members[member].answer(env, rows[places])
        return actions


def _contents(agent: Agent) -> str:
    """What tells an agent from another of its name."""
    if isinstance(agent, ScriptedAgent):
        return f"{agent.name} {hashlib.sha256(agent.valuation.tobytes()).hexdigest()}"
    return str(getattr(agent, "sha256", agent.name))


@njit
def play_scripted(
    rows: np.ndarray,
    members: int,
    share: float,
    alone: float,
    is_scripted: np.ndarray,  # [agents] bool, of the members that are no snapshots
    valuations: np.ndarray,  # [agents, players] records, zero for those that are not scripted
    sheets: np.ndarray,
    slots: np.ndarray,
    ends: np.ndarray,
    finals: np.ndarray,
    owners: np.ndarray,  # out: who decides in each of `rows` when the scripted members have played
    states: np.ndarray,  # from here on what step_rows works on
    settings: np.ndarray,
    players: np.ndarray,
    game_seeds: np.ndarray,
    observations: np.ndarray,
    masks: np.ndarray,
    seats: np.ndarray,
    games: np.ndarray,
    rewards: np.ndarray,
    dones: np.ndarray,
    scores: np.ndarray,
    winners: np.ndarray,
    last: np.ndarray,
) -> None:
    """Let scripted members play in each row until somebody else decides there."""
    action = np.empty(1, dtype=np.int64)
    for place in range(len(rows)):
        row = rows[place]
        one = rows[place : place + 1]
        while True:
            owner = owner_of(
                int(game_seeds[row]), int(seats[row]), int(players[row]), members, share, alone
            )
            if owner == LEARNER or owner >= len(is_scripted) or not is_scripted[owner]:
                owners[place] = owner
                break
            valuation: Valuation = valuations[owner]
            action[0] = choose_scripted(observations[row], masks[row], valuation, sheets[0])
            step_rows(
                states,
                one,
                action,
                settings,
                players,
                game_seeds,
                observations,
                masks,
                seats,
                games,
                rewards,
                dones,
                scores,
                winners,
                last,
                0,
                1,
            )
            if dones[row]:
                kernels.note_ends(one, slots, winners, scores, players, ends, finals)


@njit
def owner_of(game_seed: int, seat: int, players: int, members: int, share: float, alone: float) -> int:
    """Which member has this seat in the game of this seed; LEARNER if none."""
    rng = np.empty(4, dtype=np.uint32)
    seed_generator(rng, derive_seed(game_seed, POOL_STREAM, 0), 0)
    if below(rng, 1_000_000) >= share * 1_000_000:
        return LEARNER
    guests = 1 + below(rng, players - 1)
    if below(rng, 1_000_000) < alone * 1_000_000:
        guests = players - 1
    member = below(rng, members)
    order = np.empty(MAX_PLAYERS, dtype=np.int64)
    for i in range(players):
        order[i] = i
    for i in range(guests):  # the first `guests` places of a random order
        j = i + below(rng, players - i)
        order[i], order[j] = order[j], order[i]
        if order[i] == seat:
            return member
    return LEARNER
