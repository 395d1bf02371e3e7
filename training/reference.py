"""Plain twins of training/kernels.py: slow, readable, and what the tests hold the compiled code to."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from byzanz_env.games.byzanz.rules import MAX_PLAYERS


def seat_advantages(
    values: Sequence[float], rewards: Sequence[float], last_value: float, gae_lambda: float
) -> list[float]:
    """GAE (gamma 1) of one seat's own decisions in a row.

    `rewards[t]` is what the seat gets between its decisions t and t + 1; `last_value` is its value at the
    decision after the last one here, 0 if the game ended.
    """
    advantages: list[float] = []
    following_value, following_advantage = last_value, 0.0
    for value, reward in zip(reversed(values), reversed(rewards), strict=True):
        delta = reward + following_value - value
        following_advantage = delta + gae_lambda * following_advantage
        following_value = value
        advantages.append(following_advantage)
    return advantages[::-1]


def ppo_loss(
    logits: torch.Tensor,
    raw_outcomes: torch.Tensor,
    masks: torch.Tensor,
    actions: torch.Tensor,
    old_log_probs: torch.Tensor,
    advantage: torch.Tensor,
    targets: torch.Tensor,
    players: torch.Tensor,
    coefficients: np.ndarray,
) -> torch.Tensor:
    """The mean loss of a minibatch: clipped surrogate, entropy, winner cross entropy, margins."""
    clip, entropy_weight, winner_weight, margin_weight = (float(value) for value in coefficients)
    log_probs = torch.log_softmax(logits.masked_fill(masks == 0, -torch.inf), dim=1)
    probs = log_probs.exp()
    entropy = -(probs * log_probs.masked_fill(masks == 0, 0)).sum(dim=1)
    ratio = (log_probs.gather(1, actions[:, None])[:, 0] - old_log_probs).exp()
    surrogate = torch.minimum(ratio * advantage, ratio.clamp(1 - clip, 1 + clip) * advantage)
    present = torch.arange(MAX_PLAYERS)[None, :] < players[:, None]
    chances = torch.log_softmax(raw_outcomes[:, :MAX_PLAYERS].masked_fill(~present, -torch.inf), dim=1)
    winner = -(targets[:, :MAX_PLAYERS] * chances.masked_fill(~present, 0)).sum(dim=1)
    errors = (raw_outcomes[:, MAX_PLAYERS:] - targets[:, MAX_PLAYERS:]).masked_fill(~present, 0)
    margin = (errors**2).sum(dim=1) / 2
    loss = -surrogate - entropy_weight * entropy + winner_weight * winner + margin_weight * margin
    return loss.mean()
