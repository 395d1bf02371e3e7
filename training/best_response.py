"""How exploitable is an opponent? Train a challenger against frozen copies of it and see how far it gets.

`python -m training.best_response FILE --minutes 60` prints the challenger's win share above fair: a lower
bound, because a longer or better training could find more. What it starts with is a candidate too, so that
training cannot make the bound worse by more than chance. The challenger starts from the target's weights
if it is a policy, from `--start POLICY` if that is given, or from scratch. While it trains, copies of a
policy answer in the precision of the training (bfloat16 rounds); the share is against the policy itself.
With `--power-check` the same training from the same start is also turned on the scripted `heuristic`; if it
does not get far there, the first number says nothing.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from byzanz_env.agents import load
from byzanz_env.agents.policy import PolicyAgent, PolicyFile, save_policy
from byzanz_env.decisions import Agent
from byzanz_env.files import write_atomically
from training.config import Config, from_table
from training.evaluate import CHOOSE_SEED, REPORT_SEED, WinShare, win_share
from training.learner import Learner
from training.network import fits

CHECKPOINTS = 5
WARM_UP_UPDATES = 3
POWER_TARGET = "heuristic"
POWER_SHARE = 0.65  # what the challenger must reach against the heuristic in games of four


@dataclass(frozen=True)
class Response:
    """What a challenger achieved against copies of `target`."""

    target: str
    start: str
    minutes: float
    decisions: int
    result: WinShare

    @property
    def above_fair(self) -> float:
        return self.result.share - 1 / self.result.players

    def table(self) -> dict[str, Any]:
        return {
            "target": self.target,
            "start": self.start,
            "minutes": round(self.minutes, 2),
            "decisions": self.decisions,
            "above_fair": round(self.above_fair, 5),
            **self.result.table(),
        }


@dataclass(frozen=True)
class Plan:
    """How a challenger is trained, chosen and judged."""

    minutes: float
    players: int
    seed: int
    workers: int
    choose_deals: int
    report_deals: int


def challenge(target: str, start: PolicyFile | None, plan: Plan) -> tuple[Response, PolicyAgent]:
    """Train against copies of `target`; choose among checkpoints on some deals, report on others."""
    opponent = load(target)
    settings = _settings(opponent.name, start, plan)
    speed = _measure_speed(settings, opponent, start)
    decisions = max(1, int(speed * plan.minutes * 60))
    config = from_table({**settings, "decisions": decisions})
    learner = _learner(config, opponent, start)
    best, best_share = _player(learner), -1.0
    begun = time.monotonic()
    try:
        for part in range(CHECKPOINTS + 1):
            while learner.updates < config.updates * part // CHECKPOINTS:
                learner.update()
            player = _player(learner)
            share = win_share(player, opponent, plan.players, plan.choose_deals, CHOOSE_SEED).share
            print(f"after {learner.trained:,} decisions: {share:.1%} of the wins", flush=True)
            if share > best_share:
                best, best_share = player, share
    finally:
        learner.close()
    spent = (time.monotonic() - begun) / 60
    result = win_share(best, opponent, plan.players, plan.report_deals, REPORT_SEED)
    origin = f"the weights of {start.name}" if start else "scratch"
    return Response(target, origin, spent, learner.trained, result), best


def _settings(name: str, start: PolicyFile | None, plan: Plan) -> dict[str, Any]:
    shape = start.architecture if start else None
    ppo: dict[str, Any] = {"epochs": 1, "learning_rate": 1e-3, "learning_rate_end": 2e-5}
    if shape:  # with less entropy than from scratch: more would first unlearn what it starts from
        ppo |= {"learning_rate": 3e-4, "learning_rate_end": 1e-5, "minibatch": 8192}
        ppo |= {"entropy": 0.006, "entropy_end": 0.001}
    return {
        "name": f"against-{Path(name).name}",
        "seed": plan.seed,
        "workers": plan.workers,
        "game": {f"share_{n}": float(n == plan.players) for n in (3, 4, 5, 6)},
        "net": {"hidden": list(shape.hidden), "good_units": shape.good_units} if shape else {},
        "ppo": ppo,
        "reward": {"margin": 0.04, "margin_end": 0.0} if shape else {},
        "pool": {"only": True, "agents": ["random"]},  # replaced by the target itself below
        "evaluation": {"players": plan.players},
    }


def _learner(config: Config, opponent: Agent, start: PolicyFile | None) -> Learner:
    learner = Learner(config)
    learner.pool.seat([opponent])
    if start:
        learner.network.load_tensors(start.tensors)
    return learner


def _measure_speed(settings: Mapping[str, Any], opponent: Agent, start: PolicyFile | None) -> float:
    """Decisions per second, so that the schedules fit the time."""
    learner = _learner(from_table(dict(settings)), opponent, start)
    learner.update()
    begun = time.monotonic()
    for _ in range(WARM_UP_UPDATES):
        learner.update()
    speed = WARM_UP_UPDATES * learner.config.batch / (time.monotonic() - begun)
    learner.close()
    return speed


def _start(spec: str) -> PolicyFile | None:
    """The policy of an agent if a challenger can start from its weights."""
    agent = load(spec)
    if isinstance(agent, PolicyAgent) and fits(agent.policy.architecture):
        return agent.policy
    return None


def _player(learner: Learner) -> PolicyAgent:
    tensors, players = learner.network.to_tensors(), tuple(learner.config.game.shares)
    return PolicyAgent(PolicyFile("challenger", learner.architecture, tensors, players))


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m training.best_response", description=__doc__)
    parser.add_argument("target", help="a policy file or an agent by name")
    parser.add_argument("--minutes", type=float, default=60.0, help="of training (default 60)")
    parser.add_argument("--players", type=int, default=4, choices=(3, 4, 5, 6))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--deals", type=int, default=2500, help="of the report (default 2500)")
    parser.add_argument("--choose-deals", type=int, default=500, help="to choose the checkpoint on")
    parser.add_argument("--workers", type=int, default=2, help="threads (default 2)")
    origin = parser.add_mutually_exclusive_group()
    origin.add_argument("--start", help="a policy to start from (default: the target, if it is one)")
    origin.add_argument("--from-scratch", action="store_true", help="start from random weights")
    parser.add_argument("--power-check", action="store_true", help=f"also challenge {POWER_TARGET}")
    parser.add_argument("--json", type=Path, help="write the results here")
    parser.add_argument("--export", type=Path, help="write the challenger as a policy file here")
    chosen = parser.parse_args(arguments)
    if not chosen.minutes > 0 or chosen.workers < 1:
        parser.error("--minutes and --workers must be above 0")
    if min(chosen.deals, chosen.choose_deals) < 2:
        parser.error("--deals and --choose-deals must be at least 2: one deal gives no interval")
    targets = [chosen.target, *([POWER_TARGET] if chosen.power_check else [])]
    plan = Plan(
        chosen.minutes, chosen.players, chosen.seed, chosen.workers, chosen.choose_deals, chosen.deals
    )
    tables = []
    try:
        start = None if chosen.from_scratch else _start(chosen.start or chosen.target)
        if chosen.start and start is None:
            raise ValueError(f"{chosen.start} is no policy that training could go on from")
        for target in targets:
            response, challenger = challenge(target, start, plan)
            tables.append(response.table())
            _report(response)
            if chosen.json:  # after each, so that a stop in the second hour does not lose the first
                write_atomically(chosen.json, (json.dumps(tables, indent=2) + "\n").encode())
            if chosen.export and target == chosen.target:
                save_policy(chosen.export, challenger.policy)
    except ValueError as error:
        return _complain(error, 2)
    except (RuntimeError, OSError) as error:
        return _complain(error, 1)
    except KeyboardInterrupt:
        return _complain("stopped; a best response cannot be resumed", 130)
    return 0


def _complain(error: object, code: int) -> int:
    print(f"error: {error}", file=sys.stderr)
    return code


def _report(response: Response) -> None:
    result = response.result
    print(
        f"best response to {response.target} after {response.minutes:.0f} minutes "
        f"({response.decisions:,} decisions, from {response.start}): wins {result.share:.1%} "
        f"±{result.half_width:.1%} of games with {result.players} players, "
        f"{response.above_fair:+.1%} against an even share"
    )
    if response.target == POWER_TARGET and result.players == 4:
        missed = "MISSED: a low share against another target may only mean a weak training"
        verdict = "holds" if result.share >= POWER_SHARE else missed
        print(f"power check ({POWER_SHARE:.0%} against {POWER_TARGET}): {verdict}")


if __name__ == "__main__":
    sys.exit(main())
