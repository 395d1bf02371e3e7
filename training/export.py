"""From a run to an opponent: a policy file, its evaluation on fresh deals, and a card beside it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from byzanz_env.agents import load
from byzanz_env.agents.network import Architecture
from byzanz_env.agents.policy import PolicyAgent, PolicyFile, save_policy
from training.config import Config, to_table
from training.evaluate import CHOOSE_SEED, REPORT_SEED, WinShare, win_share, win_shares


def better_of(
    candidates: Mapping[str, PolicyAgent], opponents: Sequence[str], players: int, deals: int
) -> str:
    """The candidate with the highest win share against the last opponent, on deals kept for choosing."""
    opponent = load(opponents[-1])
    shares = {
        name: win_share(agent, opponent, players, deals, CHOOSE_SEED).share
        for name, agent in candidates.items()
    }
    return max(shares, key=lambda name: shares[name])


def export(
    path: Path,
    name: str,
    config: Config,
    architecture: Architecture,
    tensors: Mapping[str, np.ndarray],
    summary: Mapping[str, Any],
) -> tuple[PolicyFile, list[WinShare]]:
    """Evaluate a policy on fresh deals and write it as an opponent file with its card."""
    counts = tuple(config.game.shares)
    training = {"config": to_table(config), **summary}
    policy = PolicyFile(name, architecture, tensors, counts, training)
    wanted = config.evaluation
    shares = win_shares(
        PolicyAgent(policy), wanted.final_opponents, wanted.players, wanted.final_deals, REPORT_SEED
    )
    evaluation = {"seed": REPORT_SEED, "results": [share.table() for share in shares]}
    policy = dataclasses.replace(policy, evaluation=evaluation)
    digest = save_policy(path, policy)
    policy = dataclasses.replace(policy, sha256=digest)
    path.with_suffix(".md").write_text(card(policy, path.name), encoding="utf-8")
    return policy, shares


def card(policy: PolicyFile, file_name: str) -> str:
    """The model card of a policy file, as Markdown."""
    training = dict(policy.training)
    config = training.pop("config", {})
    lines = [
        "---",
        "library_name: byzanz-env",
        "tags: [reinforcement-learning, multi-agent, pettingzoo, card-game]",
        f"license: {policy.licence.lower()}",
        "---",
        f"# {policy.name}",
        "",
        f"An opponent for Byzanz with {_count_list(policy.players)} players. It plays without torch:",
        f'`byzanz_env.agents.load("{file_name}")`, or `byzanz play --opponents {file_name}`.',
        "",
        f"- Network: {policy.architecture}",
        *(f"- {key.replace('_', ' ').capitalize()}: {_figure(value)}" for key, value in training.items()),
        f"- Licence: {policy.licence}",
        f"- sha256 of its contents: `{policy.sha256}`",
        "",
        "## Evaluation",
        "",
        "Every deal in every seat (duplicate), ties split, 95 % interval clustered by deal.",
        "",
        "| players | direction | opponent | deals | win share | interval | fair | mean score |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for result in policy.evaluation.get("results", []):
        lines.append(
            f"| {result['players']} | {result['direction']} | {result['opponent']} | {result['deals']} | "
            f"{result['share']:.1%} | ±{result['half_width']:.1%} | {1 / result['players']:.1%} | "
            f"{result['score']:.1f} |"
        )
    lines += ["", "## Intended use and limits", ""]
    lines += [
        "A sparring partner and a yardstick for other agents. It was trained by self-play and is not proof",
        "against an opponent that studies it; `python -m training.best_response` measures how far.",
    ]
    if config:
        lines += ["", "## Configuration", "", "```", *_flat(config), "```"]
    return "\n".join(lines) + "\n"


def _count_list(players: Sequence[int]) -> str:
    return ", ".join(map(str, players))


def _figure(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:,.2f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _flat(table: Mapping[str, Any], prefix: str = "") -> list[str]:
    lines = []
    for key, value in table.items():
        if isinstance(value, Mapping):
            lines += _flat(value, f"{prefix}{key}.")
        else:
            lines.append(f"{prefix}{key} = {list(value) if isinstance(value, tuple) else value}")
    return lines
