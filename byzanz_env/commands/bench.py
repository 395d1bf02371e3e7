"""`byzanz bench`: the speed of the engine on this machine."""

from __future__ import annotations

import argparse
from importlib import import_module
from typing import Any


def _bench() -> Any:
    return import_module("byzanz_env.bench.command")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    _bench().add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    return int(_bench().run(arguments) or 0)
