"""From a run to an opponent: a policy file, its evaluation on fresh deals, and a card beside it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from byzanz_env.agents.policy import PolicyAgent, PolicyFile, save_policy
from byzanz_env.files import write_atomically
from training.config import Config, Evaluation, to_table
from training.evaluate import CHOOSE_SEED, REPORT_SEED, WinShare, win_shares


def history(config: Config, origin: Mapping[str, Any], updates: int, seconds: float) -> dict[str, Any]:
    """How a policy came about: decisions and hours of all its parts, this part's settings, those before."""
    before = origin.get("training", {})
    return {
        "config": to_table(config),
        "decisions": updates * config.batch + before.get("decisions", 0),
        "hours": round(seconds / 3600 + before.get("hours", 0), 3),
        "updates": updates,
        **({"began_as": dict(origin)} if origin else {}),
    }


def better_of(candidates: Sequence[PolicyAgent], wanted: Evaluation) -> PolicyAgent:
    """The candidate with the highest win share against the last opponent, on deals kept for choosing."""

    def share(agent: PolicyAgent) -> float:
        judge = wanted.final_opponents[-1:]
        return win_shares(agent, judge, wanted.players, wanted.final_deals, CHOOSE_SEED)[0].share

    return max(candidates, key=share) if len(candidates) > 1 else candidates[0]


def export(path: Path, policy: PolicyFile, wanted: Evaluation) -> list[WinShare]:
    """Evaluate a policy on fresh deals and write it as an opponent file with its card."""
    shares = win_shares(
        PolicyAgent(policy), wanted.final_opponents, wanted.players, wanted.final_deals, REPORT_SEED
    )
    write_with_card(path, policy, shares, path.name)
    return shares


def write_with_card(
    path: Path,
    policy: PolicyFile,
    shares: Sequence[WinShare],
    spec: str,
    responses: Sequence[Mapping[str, Any]] = (),
) -> None:
    """Write a policy with its evaluation, and a card beside it; `spec` is what it is loaded by.

    `responses` are what challengers of it achieved, as training.best_response writes them.
    """
    evaluation: dict[str, Any] = {"seed": REPORT_SEED, "results": [share.table() for share in shares]}
    if responses:
        evaluation["best_responses"] = list(responses)
    policy = dataclasses.replace(policy, evaluation=evaluation)
    policy = dataclasses.replace(policy, sha256=save_policy(path, policy))
    write_atomically(path.with_suffix(".md"), card(policy, spec).encode())


def card(policy: PolicyFile, spec: str) -> str:
    """The model card of a policy file, as Markdown; `spec` is what the policy is loaded by."""
    training = dict(policy.training)
    config, before = training.pop("config", {}), training.pop("began_as", {})
    if "updates" in training and config.get("net", {}).get("start_from"):
        training["updates_of_the_last_part"] = training.pop("updates")
    lines = [
        "---",
        "library_name: byzanz-env",
        "tags: [reinforcement-learning, multi-agent, pettingzoo, card-game]",
        f"license: {policy.licence.lower()}",
        "---",
        f"# {policy.name}",
        "",
        f"An opponent for Byzanz with {_count_list(policy.players)} players. It plays without torch:",
        f'`byzanz_env.agents.load("{spec}")`, or `byzanz play --opponents {spec}`.',
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
    responses = policy.evaluation.get("best_responses", [])
    lines += _responses(responses) if responses else []
    lines += ["", "## Intended use and limits", ""]
    lines += [
        "A sparring partner and a yardstick for other agents. It was trained by self-play and is not proof",
        "against an opponent that studies it; `python -m training.best_response` measures how far"
        f"{'' if responses else ' (not done for this one)'}.",
    ]
    if config:
        lines += ["", "## Configuration", "", "```", *_flat(config), "```"]
    while before:
        training = before["training"]
        lines += ["", f"## Before that: {before['name']}", ""]
        for key in ("decisions", "hours"):
            if key in training:
                lines.append(f"- {key.capitalize()} until then: {_figure(training[key])}")
        lines.append(f"- sha256 of its contents: `{before['sha256']}`")
        if "config" in training:
            lines += ["", "```", *_flat(training["config"]), "```"]
        before = training.get("began_as", {})
    return "\n".join(lines) + "\n"


def _responses(responses: Sequence[Mapping[str, Any]]) -> list[str]:
    """The part of a card that tells how far an opponent gets that studies the policy."""
    lines = [
        "",
        "## How exploitable",
        "",
        "Challengers trained by `python -m training.best_response`, alone among frozen copies. What one",
        "wins above the fair share is a lower bound, as a longer training might find more. Against another",
        "opponent than this policy, it shows what the same training can find (the power check).",
        "",
        "| players | against copies of | minutes | decisions | began with | win share | interval | fair |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for found in responses:
        lines.append(
            f"| {found['players']} | {found['opponent']} | {found['minutes']:.0f} | "
            f"{found['decisions']:,} | {found['start']} | {found['share']:.1%} | "
            f"±{found['half_width']:.1%} | {1 / found['players']:.1%} |"
        )
        if ahead := found.get("looking_ahead"):
            lines.append(
                f"| {found['players']} | {found['opponent']} | | | the same, looking ahead in "
                f"{ahead['budget']} games | {ahead['share']:.1%} | ±{ahead['half_width']:.1%} | "
                f"{1 / found['players']:.1%} |"
            )
    return lines


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
