"""`make libraries`: run every script in short mode and the tests of known traps, and write the table.

python -m training.libraries [--only sb3 rllib ...] [--seconds 60]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from training.libraries.common import RESULT, Result

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parents[1]
BEGIN, END = "<!-- table: begin -->", "<!-- table: end -->"
TIMEOUT = 1200


@dataclass(frozen=True)
class Script:
    """A script, the environment it runs in, and the file of its traps."""

    name: str
    venv: str
    traps: str | None
    exports: bool = True


SCRIPTS = (
    Script("sb3", ".venv", None),
    Script("rllib", ".venv-rllib", "test_rllib.py"),
    Script("torchrl_ppo", ".venv-libraries", "test_torchrl.py"),
    Script("tianshou_dqn", ".venv-libraries", "test_tianshou.py"),
    Script("agilerl_dqn", ".venv-agilerl", "test_agilerl.py", exports=False),
    Script("openspiel_game", ".venv-libraries", "test_openspiel.py", exports=False),
)


def _call(script: Script, *words: str) -> str:
    """Run a Python module in the script's environment; its output, or RuntimeError with the end of it."""
    python = str(ROOT / script.venv / "bin" / "python")
    done = subprocess.run(  # noqa: S603 (our own environments)
        [python, "-m", *words], cwd=ROOT, capture_output=True, text=True, timeout=TIMEOUT, check=False
    )
    if done.returncode != 0:
        raise RuntimeError(
            f"{script.name}: {' '.join(words)} failed\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
        )
    return done.stdout


def run(script: Script, seconds: float | None) -> Result:
    """Traps first, then the script itself."""
    if script.traps is not None:
        ini, traps = FOLDER / "pytest.ini", FOLDER / "traps" / script.traps
        print(_call(script, "pytest", "-c", str(ini), str(traps)).strip().splitlines()[-1], flush=True)
    words = ["--short"] if seconds is None else ["--seconds", str(seconds)]
    with tempfile.TemporaryDirectory() as folder:
        if script.exports:
            words += ["--out", str(Path(folder) / f"{script.name}.safetensors")]
        lines = _call(script, f"training.libraries.{script.name}", *words).strip().splitlines()
    for line in lines[:-1]:
        print(line, flush=True)
    return Result(**json.loads(lines[-1].removeprefix(RESULT)))


def table(results: list[Result]) -> str:
    """The results as Markdown."""
    lines = [
        "| library | version tested | script | works | steps/s | wins against random |",
        "|---|---|---|---|--:|---|",
    ]
    for found in results:
        wins = "-"
        if found.win_share is not None and found.interval is not None:
            wins = f"{found.win_share:.2f} +- {found.interval:.2f}"
        script = f"[{found.script}]({FOLDER.relative_to(ROOT).as_posix()}/{found.script})"
        speed = f"{found.steps_per_second:,.0f}"
        lines.append(f"| {found.library} | {found.version} | {script} | {found.works} | {speed} | {wins} |")
    return "\n".join(lines)


def put_into_readme(text: str) -> None:
    path = ROOT / "README.md"
    before, _, rest = path.read_text().partition(BEGIN)
    path.write_text(f"{before}{BEGIN}\n{text}\n{END}{rest.partition(END)[2]}")


def main(words: list[str] | None = None) -> int:
    """Run all scripts; 1 when one of them failed."""
    parser = argparse.ArgumentParser(prog="python -m training.libraries", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=[script.name for script in SCRIPTS])
    parser.add_argument(
        "--seconds", type=float, help="train so long instead of in short mode; writes the README"
    )
    options = parser.parse_args(words)
    results, failures = [], []
    for script in SCRIPTS:
        if options.only is None or script.name in options.only:
            print(f"== {script.name}", flush=True)
            try:
                results.append(run(script, options.seconds))
            except (RuntimeError, subprocess.TimeoutExpired) as error:
                failures.append(script.name)
                print(error, file=sys.stderr)
    print(table(results))
    if options.seconds is not None and options.only is None and not failures:
        put_into_readme(table(results))
    if failures:
        print(f"failed: {', '.join(failures)}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
