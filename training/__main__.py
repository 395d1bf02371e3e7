"""`python -m training CONFIG`: train, export and evaluate an opponent; `--resume RUN` goes on."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from training.checkpoint import CheckpointError
from training.config import ConfigError, load_config

EXAMPLES = """examples:
  python -m training configs/quick.toml
  python -m training configs/quick.toml --set seed=2 --set ppo.learning_rate=1e-3
  python -m training configs/long.toml --run runs/long --hours 2.5
  python -m training --resume runs/long --hours 2.5
  python -m training --resume runs/long --set decisions=300_000_000 --set ppo.learning_rate=5e-4
"""
OK, FAILED, USAGE, NO_SPACE = 0, 1, 2, 3


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m training",
        description="Train a policy by self-play, export it as an opponent and evaluate it.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("config", nargs="?", help="a TOML file, for example configs/quick.toml")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="change one key")
    parser.add_argument("--run", type=Path, help="folder of the run (default: runs/NAME-DATE-TIME)")
    parser.add_argument("--resume", type=Path, metavar="RUN", help="go on with a run that was stopped")
    parser.add_argument("--hours", type=float, help="stop cleanly after this time")
    parser.add_argument("--debug", action="store_true", help="show the traceback of an error")
    chosen = parser.parse_args(arguments)
    if (chosen.config is None) == (chosen.resume is None):
        parser.error("name a config file, or a run with --resume")
    if chosen.resume and chosen.run:
        parser.error("--resume names the folder of the run already; --run is for new runs")
    if chosen.hours is not None and not chosen.hours > 0:
        parser.error(f"--hours must be above 0, not {chosen.hours}")
    try:
        return _run(chosen)
    except (ConfigError, CheckpointError, RuntimeError, ValueError) as error:
        return _complain(error, chosen.debug, USAGE if isinstance(error, ConfigError) else FAILED)
    except OSError as error:
        return _complain(error, chosen.debug, NO_SPACE)
    except KeyboardInterrupt:
        print("\nstopped at once; --resume goes on from the last checkpoint", file=sys.stderr)
        return 130


def _run(chosen: argparse.Namespace) -> int:
    from training.runs import Run
    from training.train import train

    if chosen.resume:
        run, changes = Run.open(chosen.resume), chosen.set
    else:
        config = load_config(chosen.config, chosen.set)
        folder = chosen.run or Path("runs") / f"{config.name}-{time.strftime('%Y%m%d-%H%M%S')}"
        run, changes = Run.create(folder, config), []
    try:
        run.change(changes)
        print(f"run folder: {run.folder}")
        train(run, chosen.hours)
    finally:
        run.close()
    return OK


def _complain(error: Exception, debug: bool, code: int) -> int:
    if debug:
        raise error
    print(f"error: {error}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
