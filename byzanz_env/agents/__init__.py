"""Opponents by name: `load("heuristic")`, `load("montecarlo:256")`, `load("my_policy.safetensors")`.

A spec is the name of a scripted opponent, a search with its budget in iterations, a policy file, the name
of a shipped policy, or either of the last two with `+search:N`.
"""

from __future__ import annotations

import difflib

from byzanz_env.decisions import Agent, Decisions

__all__ = ["Agent", "Decisions", "load", "names"]

SCRIPTED = ("random", "greedy", "heuristic")
SEARCHES = ("montecarlo", "ismcts")
POLICY_SUFFIX = ".safetensors"
POLICY_SEARCH = "search"
MAX_BUDGET = 1_000_000


def names() -> tuple[str, ...]:
    """What `load` knows by name; N stands for a number of iterations."""
    searches = tuple(f"{name}:N" for name in SEARCHES)
    return (*SCRIPTED, *searches, *_shipped_names())


def load(spec: str) -> Agent:
    """Make the agent that `spec` describes; ValueError says what is wrong with a bad one."""
    spec = spec.strip()
    base, plus, search = spec.rpartition("+")
    if plus and search.partition(":")[0] == POLICY_SEARCH:
        from byzanz_env.agents.policy_search import PolicySearchAgent

        return PolicySearchAgent(_policy(base), _budget(spec, search))
    if spec.endswith(POLICY_SUFFIX) or spec in _shipped_names():
        return _policy(spec)
    if spec in SCRIPTED:
        return _scripted(spec)
    name, colon, _ = spec.partition(":")
    if name in SEARCHES:
        if not colon:
            raise ValueError(f"{spec!r} needs a number of iterations: for example {name}:200")
        return _search(name, _budget(spec, spec))
    raise ValueError(_unknown(spec))


def _scripted(name: str) -> Agent:
    from byzanz_env.agents.scripted import RandomAgent, ScriptedAgent

    return RandomAgent() if name == "random" else ScriptedAgent(name)


def _search(name: str, budget: int) -> Agent:
    from byzanz_env.agents.searching import SearchAgent

    return SearchAgent(name, budget)


def _policy(spec: str) -> Agent:
    from byzanz_env.agents.policy import load_policy

    if spec.endswith(POLICY_SUFFIX):
        return load_policy(spec)
    if spec in SCRIPTED or spec.partition(":")[0] in SEARCHES:
        shipped = ", ".join(_shipped_names())
        raise ValueError(
            f"{spec} is no policy: +search needs a policy file or a shipped policy ({shipped})"
        )
    if spec not in _shipped_names():
        raise ValueError(_unknown(spec))
    from byzanz_env.agents.shipped import path_of

    return load_policy(str(path_of(spec)))


def _shipped_names() -> tuple[str, ...]:
    from byzanz_env.agents.shipped import shipped_names

    return shipped_names()


def _budget(spec: str, search: str) -> int:
    """The number behind the colon."""
    text = search.partition(":")[2]
    if not (text.isascii() and text.isdigit()) or not 1 <= int(text) <= MAX_BUDGET:
        raise ValueError(
            f"{spec!r} needs a whole number of iterations from 1 to {MAX_BUDGET} after the colon"
        )
    return int(text)


def _unknown(spec: str) -> str:
    known = names()
    near = difflib.get_close_matches(spec.partition(":")[0], [name.partition(":")[0] for name in known])
    shown = [name for name in known if name.partition(":")[0] in near]
    hint = f"did you mean {' or '.join(shown)}?" if shown else f"known are {', '.join(known)}."
    return f"there is no agent {spec!r}; {hint} A policy file ends in {POLICY_SUFFIX}."
