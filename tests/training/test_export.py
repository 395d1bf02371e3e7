"""What leaves training: ONNX, cards, and the measure of exploitability."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from byzanz_env.agents import Decisions, load
from byzanz_env.agents.policy import PolicyFile, read_policy, save_policy
from byzanz_env.envs.batch import BatchEnv
from training import best_response, ceiling, comparison, export, onnx, ship, snapshot, throughput
from training.checkpoint import load_newest
from training.config import from_table
from training.display import Display
from training.learner import Learner, TrainingError
from training.runs import Run
from training.train import Training


@pytest.fixture(params=[0, 8])
def policy_path(tiny, tmp_path, request):
    learner = Learner(tiny(net={"hidden": [32], "good_units": request.param}))
    learner.update()
    learner.close()
    path = tmp_path / "p.safetensors"
    save_policy(path, PolicyFile("p", learner.architecture, learner.network.to_tensors()))
    return path


def test_onnx_gives_the_same_numbers(policy_path, tmp_path, capsys):
    assert onnx.main([str(policy_path), str(tmp_path / "p.onnx")]) == 0
    assert "largest difference" in capsys.readouterr().out
    assert (tmp_path / "p.onnx").stat().st_size > 1000


def test_onnx_of_a_changed_network_is_noticed(policy_path):
    policy = read_policy(policy_path)
    tensors = {name: tensor.copy() for name, tensor in policy.tensors.items()}
    name = "policy_rest.bias" if policy.architecture.good_units else "policy.bias"
    tensors[name] += 1
    changed = PolicyFile("q", policy.architecture, tensors)
    assert onnx.largest_difference(policy, onnx.to_onnx(changed)) == pytest.approx(1, abs=1e-3)


CHALLENGE = ["--minutes", "0.3", "--deals", "3", "--choose-deals", "2", "--power-check"]


@pytest.fixture
def small_challenges(monkeypatch):
    monkeypatch.setattr(best_response, "_measure_speed", lambda *_: 100.0)
    full = best_response._settings

    def settings(*arguments):
        table = full(*arguments)
        table.update({"precision": "fp32", "game": {**table["game"], "tables": 16}})
        table["ppo"].update({"steps": 32, "minibatch": 128})
        return table

    monkeypatch.setattr(best_response, "_settings", settings)


def results_of(folder):
    return json.loads((folder / "results.json").read_text())


def test_a_challenger_is_trained_and_reported(policy_path, tmp_path, small_challenges, monkeypatch, capsys):
    folder = tmp_path / "challenge"
    assert best_response.main([str(policy_path), *CHALLENGE, "--folder", str(folder)]) == 0
    first, second = results_of(folder)
    assert first["start"] == second["start"] == "the weights of p"
    assert second["target"] == "heuristic"
    assert first["deals"] == second["deals"] == 3
    assert first["above_fair"] == pytest.approx(first["share"] - 0.25, abs=1e-4)
    evaluations = [
        json.loads(line) for line in (folder / "challenger" / "evaluations.jsonl").read_text().splitlines()
    ]
    assert [line["update"] for line in evaluations] == [0, 1, 2, 3, 4]  # what it starts from comes first
    (exported,) = (folder / "challenger" / "export").glob("*.safetensors")
    challenger, target = read_policy(exported), read_policy(policy_path)
    assert challenger.architecture == target.architecture
    assert challenger.training["began_as"]["sha256"] == target.sha256
    assert "power check" in capsys.readouterr().out
    ahead = ["--resume", str(folder), "--search", "8", "--search-deals", "2"]
    for _ in range(2):  # the second time it is known
        assert best_response.main(ahead) == 0
        assert capsys.readouterr().out.count("looking ahead in 8 games") == 2
        monkeypatch.setattr(best_response, "_look_ahead", lambda *_: pytest.fail("measured again"))
    for result in results_of(folder):
        assert (result["looking_ahead"]["budget"], result["looking_ahead"]["deals"]) == (8, 2)
        assert result["looking_ahead"]["opponent"] == result["opponent"]


def test_a_challenge_that_was_stopped_goes_on(policy_path, tmp_path, small_challenges, monkeypatch, capsys):
    """Stopped within each of its runs, it ends with the challengers of one that was not."""
    paths = {name: tmp_path / name for name in ("whole", "stopped")}
    assert best_response.main([str(policy_path), *CHALLENGE, "--folder", str(paths["whole"])]) == 0
    real, begun = best_response.train, []

    def stops_at_first(run, go_on):
        first = run.folder not in begun
        begun.append(run.folder)
        return real(run, 1e-9 if first else None, go_on)

    monkeypatch.setattr(best_response, "train", stops_at_first)
    stopped = str(paths["stopped"])
    assert best_response.main([str(policy_path), *CHALLENGE, "--folder", stopped]) == 0
    assert f"go on with: python -m training.best_response --resume {stopped}" in capsys.readouterr().out
    assert not (paths["stopped"] / "results.json").exists()
    for number_of_results in (1, 2):
        assert best_response.main(["--resume", stopped]) == 0
        assert len(results_of(paths["stopped"])) == number_of_results
    for name in best_response.RUNS:
        found = [load_newest(path / name / "checkpoints") for path in paths.values()]
        whole, resumed = (arrays for arrays, _, _ in found)
        assert whole.keys() == resumed.keys()
        for key, array in whole.items():
            np.testing.assert_array_equal(resumed[key], array)
        assert found[0][1]["updates"] == found[1][1]["updates"] >= 3
    assert best_response.main(["--resume", stopped]) == 0  # says it once more
    assert capsys.readouterr().out.count("best response to heuristic") >= 2


def test_a_best_response_that_fails_keeps_the_results_before(
    policy_path, tmp_path, small_challenges, monkeypatch, capsys
):
    real, folder = best_response.train, tmp_path / "challenge"

    def fails_later(run, go_on):
        if run.folder.name == "power-check":
            raise TrainingError("the loss is not finite")
        return real(run, go_on=go_on)

    with monkeypatch.context() as patch:
        patch.setattr(best_response, "train", fails_later)
        assert best_response.main([str(policy_path), *CHALLENGE, "--folder", str(folder)]) == 1
    assert "error: the loss is not finite" in capsys.readouterr().err
    assert [result["target"] for result in results_of(folder)] == [str(policy_path)]
    assert best_response.main(["--resume", str(folder)]) == 0
    assert [result["target"] for result in results_of(folder)] == [str(policy_path), "heuristic"]


def test_a_wrong_target_start_or_folder_is_an_error_of_one_sentence(policy_path, tmp_path, capsys):
    assert best_response.main(["heuristik"]) == 2
    assert "heuristic" in capsys.readouterr().err
    assert best_response.main(["greedy", "--start", "random"]) == 2
    assert "random is no policy" in capsys.readouterr().err
    assert best_response.main(["--resume", str(tmp_path)]) == 1
    assert "holds no challenge" in capsys.readouterr().err
    (tmp_path / "plan.json").write_text('{"targets": ["greedy"], "hours": 1}')
    assert best_response.main(["--resume", str(tmp_path)]) == 1
    assert "unknown key hours" in capsys.readouterr().err
    assert best_response.main(["greedy", "--folder", str(tmp_path)]) == 1
    assert f"--resume {tmp_path}" in capsys.readouterr().err


def test_an_impossible_challenge_leaves_its_folder_free(tmp_path, capsys):
    for impossible in (["--workers", "3"], ["--seed", "-1"]):
        folder = tmp_path / "challenge"
        assert best_response.main(["greedy", "--folder", str(folder), *impossible]) == 2
        assert impossible[0].strip("-") in capsys.readouterr().err
        assert not folder.exists()


def test_damaged_results_are_named(tmp_path, capsys):
    folder = tmp_path / "challenge"
    best_response.begin(folder, best_response.Plan(("greedy",), 1.0, 4, 1, 2, 2, 2), None)
    (folder / "results.json").write_text("[{")
    assert best_response.main(["--resume", str(folder)]) == 1
    assert "results.json is damaged" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ([], "--resume"),
        (["greedy", "--resume", "a"], "--resume"),
        (["--resume", "a", "--minutes", "5"], "--resume"),
        (["greedy", "--minutes", "inf"], "--minutes"),
        (["greedy", "--minutes", "nan"], "--minutes"),
        (["greedy", "--players", "3", "--power-check"], "games of 4"),
        (["greedy", "--deals", "1"], "--deals"),
    ],
)
def test_contradicting_or_impossible_arguments_of_a_challenge_are_a_usage_error(arguments, word, capsys):
    with pytest.raises(SystemExit) as stop:
        best_response.main(arguments)
    assert stop.value.code == 2
    assert word in capsys.readouterr().err


def test_who_peeks_wins_more_than_who_does_not(capsys):
    """Among copies of itself a policy wins an even share; with the hidden cards before its eyes, more."""
    assert ceiling.main(["quick", "quick", "--deals", "25"]) == 0
    said = capsys.readouterr().out
    assert float(said.partition("wins ")[2].partition("%")[0]) > 32
    agent = ceiling.PeekingAgent(load("quick"), load("heuristic"))
    env = BatchEnv(1, 4, seed=1)
    env.reset()
    blind = Decisions(env.observations, env.action_masks, np.zeros(1, dtype=np.int64))
    with pytest.raises(ValueError, match="nothing to peek at"):
        agent.act(blind)
    assert ceiling.main(["heuristic", "quick"]) == 2
    assert "no policy file" in capsys.readouterr().err


def test_shipping_fails_before_the_games_not_after_them(policy_path, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(ship, "measure", lambda *_: pytest.fail("games were played"))
    (tmp_path / "taken").write_text("")
    arguments = [str(policy_path), "--folder", str(tmp_path / "taken")]
    assert ship.main([*arguments, "name"]) == 3
    assert "taken" in capsys.readouterr().err
    assert ship.main([*arguments, ""]) == 2
    assert ship.main([*arguments, "name", "--opponents", "random", "heuristik"]) == 2
    assert "heuristik" in capsys.readouterr().err


def test_the_policy_of_an_unfinished_run(tiny, tmp_path, capsys):
    run = Run.create(tmp_path / "run", tiny())
    assert snapshot.main([str(tmp_path / "run"), str(tmp_path / "s.safetensors")]) == 1
    assert "no checkpoint yet" in capsys.readouterr().err
    training = Training(run, Display())
    training.learner.update()
    training.save()
    expected = training.learner.network.to_tensors()
    training.learner.close()
    run.close()
    assert snapshot.main([str(tmp_path / "run"), str(tmp_path / "s.safetensors")]) == 0
    policy = read_policy(tmp_path / "s.safetensors")
    assert policy.training["decisions"] == 512
    for name, tensor in expected.items():
        np.testing.assert_allclose(policy.tensors[name], tensor, rtol=1e-6)


def small_settings(workers, epochs, good_units, precision="fp32"):
    game = {"tables": 8 * workers, "share_3": 1.0, "share_4": 0.0, "share_5": 0.0, "share_6": 0.0}
    ppo = {"steps": 16, "minibatch": 64, "epochs": epochs}
    net = {"hidden": [16], "good_units": good_units}
    watched = {"players": 3}
    return {
        "workers": workers,
        "precision": "fp32",
        "game": game,
        "ppo": ppo,
        "net": net,
        "evaluation": watched,
    }


def test_the_comparison_gives_everybody_the_same_work(monkeypatch, capsys):
    monkeypatch.setattr(comparison, "settings", small_settings)
    config = from_table(small_settings(2, 2, 0))
    ours = [("hidden.0.weight", (16, 489)), ("policy.weight", (288, 16))]
    assert [(name, config.architecture.shapes[name]) for name, _ in ours] == ours
    for model in comparison.rivals(config).values():
        model.learn(1)
        assert model.num_timesteps == config.batch
        sizes = [tuple(weight.shape) for weight in model.policy.parameters() if weight.ndim == 2]
        assert sizes == [(16, 489), (288, 16), (1, 16)]
        assert (model.batch_size, model.n_epochs) == (64, 2)
    assert comparison.main(["--rounds", "1"]) == 0
    rows = [
        line
        for line in capsys.readouterr().out.splitlines()
        if "this trainer" in line or "Maskable" in line
    ]
    assert len(rows) == 4
    assert rows[0].endswith("| 1.0 |")


def test_the_profile_adds_up(monkeypatch, capsys):
    monkeypatch.setattr(throughput, "settings", small_settings)
    assert throughput.main(["--updates", "2"]) == 0
    out = capsys.readouterr().out
    assert "2 workers:" in out
    assert len([line for line in out.splitlines() if line.startswith("| ")]) == 2 + len(throughput.PARTS)


def test_a_shipped_policy_has_its_evaluation_its_card_and_a_line_in_the_list(policy_path, tmp_path):
    folder = tmp_path / "checkpoints"
    arguments = [str(policy_path), "small", "--folder", str(folder), "--deals", "3", "--other-deals", "2"]
    assert ship.main([*arguments, "--opponents", "heuristic"]) == 0
    policy = read_policy(folder / "small.safetensors")
    assert policy.name == "small"
    results = policy.evaluation["results"]
    assert [(r["players"], r["direction"]) for r in results] == [
        (n, direction) for n in (3, 4, 5, 6) for direction in ("one against all", "opponent alone")
    ]
    card = (folder / "small.md").read_text()
    assert policy.sha256 in card
    assert '`byzanz_env.agents.load("small")`' in card
    assert "[small](small.md)" in (folder / "README.md").read_text()
    assert ship.main(["absent.safetensors", "x", "--folder", str(folder)]) == 2


def test_what_challengers_achieved_is_added_to_a_card_and_the_rest_is_kept(policy_path, tmp_path, capsys):
    folder, results = tmp_path / "checkpoints", tmp_path / "results.json"
    path = folder / "small.safetensors"
    more = ["small", "--folder", str(folder), "--keep"]
    assert ship.main([str(policy_path), *more]) == 2
    assert "no evaluation that could be kept" in capsys.readouterr().err
    arguments = [str(policy_path), *more[:-1], "--deals", "2", "--other-deals", "2"]
    assert ship.main([*arguments, "--opponents", "random"]) == 0
    before = read_policy(path)
    row = {"target": "small", "minutes": 60.2, "decisions": 12_345_678, "start": "the weights of small"}
    row |= {"opponent": "small", "players": 4, "share": 0.3111, "half_width": 0.009}
    row["looking_ahead"] = {"budget": 64, "share": 0.3333, "half_width": 0.05}
    for content, words in (("{", "Expecting"), ("[]", "no challenger of small")):
        results.write_text(content)
        assert ship.main([str(path), *more, "--responses", str(results)]) == 2
        assert words in capsys.readouterr().err
    assert read_policy(path).sha256 == before.sha256
    results.write_text(json.dumps([row]))
    assert ship.main([str(path), *more, "--responses", str(results)]) == 0
    assert ship.main([str(path), *more]) == 0  # once there, they stay
    after = read_policy(path)
    assert after.evaluation["results"] == before.evaluation["results"]
    assert after.evaluation["best_responses"] == [row]
    line = "| 4 | small | 60 | 12,345,678 | the weights of small | 31.1% | ±0.9% | 25.0% |"
    card = (folder / "small.md").read_text()
    assert line in card
    assert "| the same, looking ahead in 64 games | 33.3% | ±5.0% | 25.0% |" in card
    assert card == export.card(after, "small")


def test_the_cards_and_the_list_of_the_shipped_policies_are_those_of_their_files():
    folder = Path(__file__).parents[2] / "checkpoints"
    paths = sorted(folder.glob("*.safetensors"))
    assert {"quick", "strong"} <= {path.stem for path in paths}
    for path in paths:
        policy = read_policy(path)
        assert policy.name == path.stem
        assert path.with_suffix(".md").read_text() == export.card(policy, path.stem)
    assert (folder / "README.md").read_text() == ship.overview(folder)
