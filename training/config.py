"""What a run is made of: frozen tables with defaults, filled from TOML; an unknown key is an error.

Derived numbers are properties. Schedules count trained decisions, never wall time, so that a resumed run
is the same run.
"""

from __future__ import annotations

import dataclasses
import math
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_type_hints

from byzanz_env.agents.network import Architecture
from byzanz_env.agents.policy_file import MAX_NAME
from byzanz_env.games.byzanz.rules import MAX_PLAYERS, MIN_PLAYERS

PRECISIONS = ("auto", "bf16", "fp32")
MOST_DECISIONS = 8_000_000  # of one update: they are held in memory, about a kilobyte each
LEAST_PART = 16  # decisions of one worker in one minibatch


class ConfigError(ValueError):
    """A configuration that cannot be used; the message says which key and what is possible."""


@dataclass(frozen=True)
class Game:
    """The tables that are played."""

    tables: int = 1024  # in all, shared evenly by the workers
    share_3: float = 0.2  # share of the tables with 3 players, and so on
    share_4: float = 0.4
    share_5: float = 0.2
    share_6: float = 0.2

    @property
    def shares(self) -> dict[int, float]:
        given = {3: self.share_3, 4: self.share_4, 5: self.share_5, 6: self.share_6}
        total = sum(given.values())
        return {players: share / total for players, share in given.items() if share > 0}

    def players_of_tables(self, count: int) -> list[int]:
        """Player counts of `count` tables, spread evenly so that any part has about the same shares."""
        owed = dict.fromkeys(self.shares, 0.0)
        players = []
        for _ in range(count):
            for n, share in self.shares.items():
                owed[n] += share
            richest = max(owed, key=lambda n: owed[n])
            owed[richest] -= 1
            players.append(richest)
        return players


@dataclass(frozen=True)
class Net:
    """The network, of the registry in byzanz_env.agents.network."""

    hidden: tuple[int, ...] = (256, 256)
    good_units: int = 64  # of the encoder and decoder that all goods share; 0 for a plain MLP
    start_from: str = ""  # a policy file to go on from; its hidden layers may be narrower


@dataclass(frozen=True)
class PPO:
    """Proximal policy optimisation."""

    steps: int = 64  # decisions a table plays for one update
    epochs: int = 2
    minibatch: int = 4096  # decisions, over all workers
    learning_rate: float = 1.2e-3
    learning_rate_end: float = 1e-4
    clip: float = 0.2
    entropy: float = 0.02
    entropy_end: float = 0.004
    entropy_floor: float = 0.05  # nats; after an update below it the weight is back at `entropy`
    gae_lambda: float = 0.85  # over a seat's own decisions
    winner_weight: float = 0.5  # of the loss of the predicted winner
    margin_weight: float = 0.25  # of the loss of the predicted margins
    gradient_norm: float = 0.5


@dataclass(frozen=True)
class Reward:
    """What a game pays: the win, plus a share of the margin in tens of points that fades."""

    margin: float = 0.4
    margin_end: float = 0.08
    margin_until: float = 0.5  # part of the run after which `margin_end` holds


@dataclass(frozen=True)
class Pool:
    """Opponents beside the present self: past selves and agents by name."""

    share: float = 0.0  # of the tables, with one to all but one seat given to an opponent
    alone: float = 0.0  # of those tables, at which all but one seat are given to it in any case
    start: int = 10_000_000  # decisions before the pool is used
    every: int = 10_000_000  # decisions between two snapshots
    size: int = 16
    agents: tuple[str, ...] = ()  # agents by name or file, always in the pool
    only: bool = False  # all other seats at every table belong to the pool (a best response)


@dataclass(frozen=True)
class Evaluation:
    """Win shares against fixed opponents: on the way, and at the end on fresh deals.

    The last of `opponents` decides which policy on the way is the best, the last of `final_opponents`
    whether that one or the policy of the end is exported.
    """

    every: int = 4_000_000  # decisions
    deals: int = 60
    players: int = 4
    opponents: tuple[str, ...] = ("heuristic",)
    final_deals: int = 500
    final_opponents: tuple[str, ...] = ("random", "greedy", "heuristic")


@dataclass(frozen=True)
class Config:
    """A whole run."""

    name: str = "run"
    seed: int = 1
    decisions: int = 16_000_000  # to train on, in all
    workers: int = 2  # threads, each with its own tables
    precision: str = "auto"  # "bf16", "fp32", or bf16 where the processor computes with it
    save_minutes: float = 2.0
    game: Game = field(default_factory=Game)
    net: Net = field(default_factory=Net)
    ppo: PPO = field(default_factory=PPO)
    reward: Reward = field(default_factory=Reward)
    pool: Pool = field(default_factory=Pool)
    evaluation: Evaluation = field(default_factory=Evaluation)

    def __post_init__(self) -> None:
        game, ppo, reward, pool = self.game, self.ppo, self.reward, self.pool
        evaluation = self.evaluation
        if not MIN_PLAYERS <= evaluation.players <= MAX_PLAYERS:
            raise ConfigError("evaluation.players must be 3 to 6")
        given = (game.share_3, game.share_4, game.share_5, game.share_6)
        checks = (
            (
                bool(self.name) and self.name == Path(self.name).name and not self.name.startswith("."),
                f"name must do as the name of a file, not {self.name!r}",
            ),
            (
                self.name.isprintable() and len(self.name) <= MAX_NAME,
                f"name must be printable and of at most {MAX_NAME} characters",
            ),
            (self.decisions > 0, "decisions must be above 0"),
            (0 <= self.seed < 2**31, "seed must lie in 0 .. 2**31 - 1"),
            (1 <= self.workers <= 64, "workers must be 1 to 64"),
            (self.precision in PRECISIONS, f"precision must be one of {', '.join(PRECISIONS)}"),
            (game.tables >= self.workers, "game.tables must be at least the number of workers"),
            (game.tables % max(1, self.workers) == 0, "game.tables must be a multiple of workers"),
            (min(given) >= 0 and sum(given) > 0, "the shares of game must be 0 or more, one above 0"),
            (ppo.steps >= 8, "ppo.steps must be at least 8"),
            (ppo.epochs >= 1, "ppo.epochs must be at least 1"),
            (self.batch <= MOST_DECISIONS, f"game.tables x ppo.steps must be at most {MOST_DECISIONS:,}"),
            (
                LEAST_PART * self.workers <= ppo.minibatch <= self.batch,
                f"ppo.minibatch must be {LEAST_PART} x workers to game.tables x ppo.steps",
            ),
            (ppo.learning_rate > 0, "ppo.learning_rate must be above 0"),
            (ppo.learning_rate_end >= 0, "ppo.learning_rate_end must be 0 or more"),
            (ppo.entropy >= 0 and ppo.entropy_end >= 0, "ppo.entropy and .entropy_end must be 0 or more"),
            (ppo.entropy_floor >= 0, "ppo.entropy_floor must be 0 or more"),
            (ppo.winner_weight >= 0 and ppo.margin_weight >= 0, "the weights of ppo must be 0 or more"),
            (ppo.gradient_norm > 0, "ppo.gradient_norm must be above 0"),
            (reward.margin >= 0 and reward.margin_end >= 0, "the margins of reward must be 0 or more"),
            (0 <= reward.margin_until <= 1, "reward.margin_until must lie between 0 and 1"),
            (0 < ppo.clip < 1, "ppo.clip must lie between 0 and 1"),
            (0 <= ppo.gae_lambda <= 1, "ppo.gae_lambda must lie between 0 and 1"),
            (0 <= pool.share <= 1, "pool.share must lie between 0 and 1"),
            (0 <= pool.alone <= 1, "pool.alone must lie between 0 and 1"),
            (pool.every > 0 and pool.size > 0, "pool.every and pool.size must be above 0"),
            (not pool.only or bool(pool.agents), "pool.only needs pool.agents to play against"),
            (
                given[evaluation.players - MIN_PLAYERS] > 0,
                f"evaluation.players is {evaluation.players}, and no table has that many (game.share_*)",
            ),
            (evaluation.every > 0, "evaluation.every must be above 0"),
            (
                min(evaluation.deals, evaluation.final_deals) >= 2,
                "evaluation.deals and .final_deals must be at least 2: one deal gives no interval",
            ),
            (bool(evaluation.opponents), "evaluation.opponents must name at least one opponent"),
            (bool(evaluation.final_opponents), "evaluation.final_opponents must name at least one"),
            (self.save_minutes > 0, "save_minutes must be above 0"),
        )
        for holds, sentence in checks:
            if not holds:
                raise ConfigError(sentence)
        try:
            _ = self.architecture
        except ValueError as error:
            raise ConfigError(f"net: {error}") from None

    @property
    def batch(self) -> int:
        """Decisions collected for one update."""
        return self.game.tables * self.ppo.steps

    @property
    def architecture(self) -> Architecture:
        return Architecture(hidden=self.net.hidden, good_units=self.net.good_units)

    @property
    def updates(self) -> int:
        return max(1, -(-self.decisions // self.batch))


def load_config(path: Path | str, changes: list[str] | None = None) -> Config:
    """Read a TOML file over the defaults, then apply `section.key=value` changes."""
    path = Path(path)
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is not valid TOML: {error}") from None
    for change in changes or []:
        _apply_change(table, change)
    return from_table(table)


def changed(config: Config, changes: list[str]) -> Config:
    """A configuration with some `key=value` changes."""
    table = to_table(config)
    for change in changes:
        _apply_change(table, change)
    return from_table(table)


def from_table(table: dict[str, Any]) -> Config:
    """A configuration from nested tables, as TOML or JSON give them."""
    return fill(Config, table)  # type: ignore[no-any-return]


def to_table(config: Config) -> dict[str, Any]:
    """The nested tables of a configuration; `from_table` reads them back."""
    return dataclasses.asdict(config)


def _apply_change(table: dict[str, Any], change: str) -> None:
    key, found, text = change.partition("=")
    if not found:
        raise ConfigError(f"--set wants key=value, not {change!r}")
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        value = text
    *sections, last = key.strip().split(".")
    for section in sections:
        table = table.setdefault(section, {})
        if not isinstance(table, dict):
            raise ConfigError(f"--set {key}: {section} is not a section")
    table[last] = value


def fill(kind: type, table: Any, where: str = "") -> Any:
    """A frozen table from plain ones; a wrong key or value is an error that names it."""
    if not isinstance(table, dict):
        raise ConfigError(f"[{where.rstrip('.')}] must be a section of keys")
    hints = get_type_hints(kind)
    unknown = sorted(set(table) - set(hints))
    if unknown:
        raise ConfigError(f"unknown key {where}{unknown[0]}; known here: {', '.join(sorted(hints))}")
    return kind(**{key: _convert(hints[key], value, where + key) for key, value in table.items()})


def _convert(kind: Any, value: Any, key: str) -> Any:
    if dataclasses.is_dataclass(kind):
        return fill(kind, value, key + ".")  # type: ignore[arg-type]
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if kind in (int, float, str, bool):
        if type(value) is not kind:
            raise ConfigError(f"{key} must be of type {kind.__name__}, not {value!r}")
        if kind is float and not math.isfinite(value):
            raise ConfigError(f"{key} must be a finite number, not {value!r}")
        return value
    item = kind.__args__[0]
    if not isinstance(value, list | tuple) or not all(type(entry) is item for entry in value):
        raise ConfigError(f"{key} must be a list of {item.__name__}, not {value!r}")
    return tuple(value)
