"""The SB3 script trains, evaluates and exports; the evaluation is fair; the table has all libraries."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from sb3_contrib.common.maskable.distributions import MaskableCategoricalDistribution

from byzanz_env import IllegalActionError
from byzanz_env.agents import load
from byzanz_env.decisions import Decisions
from training.libraries import __main__ as runner
from training.libraries import sb3
from training.libraries.common import RESULT, LogitsAgent, Result, evaluate, read_options


def test_the_sb3_script_trains_evaluates_and_exports(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sb3, "TABLES", 16)
    monkeypatch.setattr(sb3, "ROLLOUT", 2048)
    path = tmp_path / "sb3.safetensors"
    sb3.main(["--short", "--seconds", "1", "--out", str(path)])
    printed = capsys.readouterr().out
    found = json.loads(printed.strip().splitlines()[-1].removeprefix(RESULT))
    assert found["script"] == "sb3.py"
    assert found["steps_per_second"] > 0
    assert 0 <= found["win_share"] <= 1
    assert "95 % interval" in printed
    assert load(str(path)).name == "sb3-maskable-ppo"


def test_the_exported_file_plays_what_the_network_plays(tmp_path: Path) -> None:
    env = sb3.ByzanzVecEnv(4, 4, seed=3)
    env.reset()
    model = sb3.make_model(env)
    path = tmp_path / "policy.safetensors"
    sb3.export_model(model, path)
    batch = env.tables.env
    keys = np.arange(4)
    for _ in range(60):
        decisions: Decisions = batch.decisions(np.arange(4), keys)
        actions = sb3.agent_of(model).act(decisions)
        assert load(str(path)).act(decisions).tolist() == actions.tolist()
        batch.step(actions)


def test_the_quick_distribution_is_that_of_sb3_contrib() -> None:
    rng = torch.Generator().manual_seed(1)
    masks = torch.rand((64, 288), generator=rng) < 0.05
    masks[:, 7] = True
    actions = torch.multinomial(masks.float(), 1, generator=rng).squeeze(1)
    found = []
    for kind in (sb3.QuickDistribution, MaskableCategoricalDistribution):
        logits = (
            (4 * torch.randn((64, 288), generator=torch.Generator().manual_seed(2)))
            .double()
            .requires_grad_()
        )
        distribution = kind(288).proba_distribution(logits)
        everything = distribution.log_prob(actions).detach()  # without a mask
        distribution.apply_masking(masks.numpy())
        log_prob, entropy = distribution.log_prob(actions), distribution.entropy()
        (log_prob.sum() + 3 * entropy.sum()).backward()
        found.append((everything, log_prob, entropy, logits.grad, distribution.mode()))
    for mine, theirs in zip(*found, strict=True):
        assert torch.allclose(mine, theirs, rtol=1e-6, atol=1e-9)


def test_the_quick_distribution_draws_what_its_probabilities_say() -> None:
    torch.manual_seed(3)
    logits = torch.log(torch.tensor([0.1, 0.2, 0.3, 0.4])).repeat(40_000, 1)
    distribution = sb3.QuickDistribution(4).proba_distribution(logits)
    distribution.apply_masking(np.tile([True, False, True, True], (40_000, 1)))
    drawn = torch.bincount(distribution.sample(), minlength=5) / 40_000
    wanted = torch.tensor([1, 0, 3, 4, 0]) / 8
    assert drawn[1] == drawn[4] == 0
    assert (drawn - wanted).abs().max() < 0.0125  # five standard errors


def test_evaluation_is_fair_and_names_who_cheats() -> None:
    share, error = evaluate(load("random"), games=400)
    assert abs(share - 0.25) < 4 * error
    cheat = LogitsAgent("cheat", lambda observations: np.zeros((len(observations), 288)))
    monkey = type(
        "Cheat", (), {"name": "cheat", "act": lambda self, decisions: np.full(len(decisions), 1)}
    )()
    with pytest.raises(IllegalActionError, match="opponent cheat"):
        evaluate(monkey, games=4)
    evaluate(cheat, games=4)  # the mask keeps it honest


def test_options() -> None:
    assert read_options("", []).seconds == 60
    assert read_options("", ["--short"]).seconds == 8
    assert read_options("", ["--seconds", "3"]).seconds == 3


def test_the_table_has_a_row_per_library() -> None:
    text = runner.table(
        [Result("A", "1.0", "a.py", "all", 1234.5, 0.5, 0.03), Result("B", "2", "b.py", "some", 7)]
    )
    assert text.splitlines()[2:] == [
        "| A | 1.0 | [a.py](training/libraries/a.py) | all | 1,234 | 0.50 +- 0.03 |",
        "| B | 2 | [b.py](training/libraries/b.py) | some | 7 | - |",
    ]
    scripts = {path.stem for path in runner.FOLDER.glob("*.py")} - {"__init__", "__main__", "common"}
    assert {script.name for script in runner.SCRIPTS} == scripts
