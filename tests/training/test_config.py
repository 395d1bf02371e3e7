"""Configurations: typed, strict, and clear about what is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from training.config import Config, ConfigError, from_table, load_config, to_table

CONFIGS = sorted((Path(__file__).parents[2] / "configs").glob("*.toml"))


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_every_shipped_configuration_loads(path):
    assert load_config(path).name == path.stem


def test_there_are_shipped_configurations():
    assert {"quick", "standard", "long"} <= {path.stem for path in CONFIGS}


def test_tables_round_trip():
    config = from_table({"seed": 5, "ppo": {"clip": 0.1}, "pool": {"agents": ["greedy"]}})
    assert from_table(to_table(config)) == config


def test_changes_override_the_file(tmp_path):
    (tmp_path / "a.toml").write_text('name = "a"\n[ppo]\nclip = 0.3\n')
    config = load_config(tmp_path / "a.toml", ["ppo.clip=0.1", "name=b", "net.hidden=[32, 16]"])
    assert (config.ppo.clip, config.name, config.net.hidden) == (0.1, "b", (32, 16))


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"sead": 1}, "unknown key sead; known here"),
        ({"ppo": {"lerning_rate": 1.0}}, "unknown key ppo.lerning_rate"),
        ({"ppo": 3}, r"\[ppo\] must be a section"),
        ({"seed": "one"}, "seed must be of type int"),
        ({"seed": True}, "seed must be of type int"),
        ({"net": {"hidden": "wide"}}, "net.hidden must be a list of int"),
        ({"net": {"hidden": []}}, "net: a network has 1 to 4 hidden layers"),
        ({"net": {"good_units": -1}}, "net: the goods share 0 to 256 units, not -1"),
        ({"workers": 3}, "multiple of workers"),
        ({"workers": 0}, "workers must be 1 to 64"),
        ({"decisions": 0}, "decisions must be above 0"),
        ({"precision": "fp8"}, "precision must be one of"),
        ({"ppo": {"clip": 1.5}}, "ppo.clip"),
        ({"ppo": {"minibatch": 10**9}}, "ppo.minibatch"),
        ({"game": {"share_3": 0, "share_4": 0, "share_5": 0, "share_6": 0}}, "shares of game"),
        ({"pool": {"only": True}}, "pool.only needs"),
        ({"pool": {"alone": 1.5}}, "pool.alone must lie between 0 and 1"),
        ({"evaluation": {"players": 7}}, "evaluation.players must be 3 to 6"),
        ({"evaluation": {"players": 3}, "game": {"share_3": 0}}, "no table has that many"),
        ({"evaluation": {"final_deals": 1}}, "evaluation.deals and .final_deals must be at least 2"),
        ({"name": "../x"}, "name must do as the name of a file, not '../x'"),
        ({"name": ".."}, "name must do"),
        ({"name": ""}, "name must do"),
        ({"game": {"tables": 10**9}}, "game.tables x ppo.steps must be at most 8,000,000"),
        ({"game": {"share_3": float("inf")}}, "game.share_3 must be a finite number, not inf"),
        ({"save_minutes": float("inf")}, "save_minutes must be a finite number"),
        ({"ppo": {"minibatch": 31}}, "ppo.minibatch must be 16 x workers"),
        ({"ppo": {"learning_rate": float("nan")}}, "ppo.learning_rate must be a finite number, not nan"),
        ({"ppo": {"learning_rate_end": -1}}, "ppo.learning_rate_end"),
        ({"ppo": {"entropy": -5}}, "ppo.entropy"),
        ({"ppo": {"entropy_floor": -1}}, "ppo.entropy_floor"),
        ({"ppo": {"winner_weight": -1}}, "the weights of ppo"),
        ({"ppo": {"gradient_norm": 0}}, "ppo.gradient_norm must be above 0"),
        ({"reward": {"margin": -1}}, "the margins of reward"),
        ({"reward": {"margin_until": -3}}, "reward.margin_until must lie"),
    ],
)
def test_what_cannot_be_is_refused_with_its_key(table, words):
    with pytest.raises(ConfigError, match=words):
        from_table(table)


def test_broken_toml_and_missing_files_are_named(tmp_path):
    (tmp_path / "broken.toml").write_text("name = \n")
    with pytest.raises(ConfigError, match=r"broken\.toml is not valid TOML"):
        load_config(tmp_path / "broken.toml")
    with pytest.raises(ConfigError, match=r"cannot read .*absent\.toml"):
        load_config(tmp_path / "absent.toml")


def test_tables_are_spread_over_the_player_counts():
    game = Config().game
    players = game.players_of_tables(1000)
    for n, share in game.shares.items():
        assert players.count(n) == pytest.approx(1000 * share, abs=2)
        assert players[:100].count(n) == pytest.approx(100 * share, abs=2)
