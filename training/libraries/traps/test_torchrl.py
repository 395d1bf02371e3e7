"""TorchRL: infos of numbers only, no empty mask, and all seats are paid."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torchrl.envs.utils import check_env_specs
from torchrl.modules import MaskedCategorical

from training.libraries.torchrl_ppo import GROUP, LONGEST, make_actor, make_env, play_game

pytestmark = pytest.mark.filterwarnings("ignore")


def test_the_wrapper_takes_the_environment_and_its_specs_hold() -> None:
    """A string in infos would raise TypeError here."""
    check_env_specs(make_env())


def test_no_mask_is_empty_and_one_seat_acts() -> None:
    played = make_env().rollout(LONGEST, policy=make_actor())
    masks, acted = played[GROUP, "action_mask"], played[GROUP, "mask"]
    assert masks.any(dim=-1).all()
    assert (acted.sum(dim=1) == 1).all()
    assert masks[~acted].all()  # the wrapper's choice for seats that do not act
    chosen = torch.gather(masks, -1, played[GROUP, "action"].unsqueeze(-1)).squeeze(-1)
    assert chosen[acted].all()


def test_an_empty_mask_would_break_the_distribution() -> None:
    """Why environments must not hand one out."""
    empty = torch.zeros(1, 4, dtype=torch.bool)
    with pytest.raises((RuntimeError, ValueError)):
        MaskedCategorical(logits=torch.zeros(1, 4), mask=empty).sample()


def test_every_decision_is_paid_what_its_seat_got() -> None:
    data = play_game(make_env(), make_actor())
    assert len(data) > 50
    paid = np.unique(data["value_target"].numpy())
    assert 2 <= len(paid) <= 4  # the margins of the seats, each the same in all of its rows
