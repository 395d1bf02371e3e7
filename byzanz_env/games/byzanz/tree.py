"""Information-set tree search with a single observer, compiled.

Every move of Byzanz is made in the open, so the tree is one of action sequences; what an action leads to
differs from world to world, and an edge counts how often it was there to be chosen. At the root all
candidates see the same re-dealt worlds, as in search.py; below it every seat chooses for itself (max^n) by
the mean result so far and a prior that favours the scripted policy. A play-out by that policy ends each
iteration.

May import the engine, the re-deal, the bots and the search of its own room.
"""

from __future__ import annotations

import math

import numpy as np

from byzanz_env._jit import njit
from byzanz_env._random import derive_seed
from byzanz_env.games.byzanz.bidding import Sheet
from byzanz_env.games.byzanz.engine import State, step
from byzanz_env.games.byzanz.redeal import redeal
from byzanz_env.games.byzanz.rules import OVER
from byzanz_env.games.byzanz.search import (
    Desk,
    close_world,
    find_candidates,
    open_desk,
    play_out,
    verdict,
    write_results,
)
from byzanz_env.games.byzanz.valuation import Valuation

NONE = -1
EDGES_PER_ITERATION = 8  # room in the tree; when it is full, iterations only play out
MAX_DEPTH = 64
PRIOR_SHARE = 0.9  # of the prior that the scripted policy's action gets, the others share the rest
EXPLORATION = 0.7
EVIDENCE = 1.5  # standard errors by which another action must be better than the prior's
FIRST_LOOK = 0.1  # how much less than the best known an action is thought to be worth at first

EDGE = np.dtype(
    (
        np.record,
        [
            ("action", "i4"),
            ("next", "i4"),  # edge of the same node, NONE at the end
            ("child", "i4"),  # first edge of the node that it leads to
            ("available", "i4"),
            ("visits", "i4"),
            ("total", "f8"),  # results of the seat that chooses it
        ],
    )
)
Edges = np.ndarray  # [capacity] EDGE; edge 0 stands for the root, a node is the list below an edge


@njit
def _find_edge(edges: Edges, node: int, action: int) -> int:
    edge = int(edges[node].child)
    while edge != NONE and edges[edge].action != action:
        edge = int(edges[edge].next)
    return edge


@njit
def _add_edge(edges: Edges, used: int, node: int, action: int) -> int:
    """Put a new edge in place `used` below `node`."""
    edge = edges[used]
    edge.action = action
    edge.next = edges[node].child
    edge.child = NONE
    edge.available = 0
    edge.visits = 0
    edge.total = 0.0
    edges[node].child = used
    return used


@njit
def _select(edges: Edges, node: int, count: int, desk: Desk) -> int:
    """The candidate of this world that looks best to the seat that decides, and note which were there."""
    best_mean = -1.0
    for i in range(count):
        edge = _find_edge(edges, node, int(desk.candidates[i]))
        if edge != NONE:
            edges[edge].available += 1
            best_mean = max(best_mean, edges[edge].total / edges[edge].visits)
    if best_mean == -1.0:
        return 0
    choice, choice_score = 0, -math.inf
    for i in range(count):
        prior = PRIOR_SHARE if i == 0 else (1.0 - PRIOR_SHARE) / (count - 1)
        edge = _find_edge(edges, node, int(desk.candidates[i]))
        if edge == NONE:
            score = best_mean - FIRST_LOOK + EXPLORATION * prior * math.sqrt(float(edges[node].visits))
        else:
            visits = float(edges[edge].visits)
            score = edges[edge].total / visits
            score += EXPLORATION * prior * math.sqrt(float(edges[edge].available)) / (1.0 + visits)
        if score > choice_score:
            choice, choice_score = i, score
    return choice


@njit
def _iterate(
    s: State, edges: Edges, used: int, first: int, path: np.ndarray, v: Valuation, desk: Desk, sheet: Sheet
) -> int:
    """One iteration that begins with the action `first`; returns how many edges are used now."""
    depth = 0
    node = 0
    action = first
    growing = True
    while growing and s.phase != OVER and depth < MAX_DEPTH and used < len(edges):
        count = 1
        if depth > 0:
            count = find_candidates(s, v, desk, sheet)
            action = int(desk.candidates[_select(edges, node, count, desk)])
        edge = _find_edge(edges, node, action)
        if edge == NONE:
            edge = _add_edge(edges, used, node, action)
            edges[edge].available = 1
            used += 1
            growing = count == 1 and depth > 0  # a move without a choice is no discovery
        path[depth, 0], path[depth, 1] = edge, int(s.seat)
        depth += 1
        step(s, action)
        node = edge
    if depth == 0:
        step(s, first)
    play_out(s, v, desk, sheet)
    write_results(s, desk.results)
    edges[0].visits += 1
    for i in range(depth):
        edge = int(path[i, 0])
        edges[edge].visits += 1
        edges[edge].total += desk.results[path[i, 1]]
    return used


@njit
def tree_search_rows(
    games: np.ndarray,
    seeds: np.ndarray,
    budget: int,
    v: Valuation,
    evidence: float,
    desks: np.ndarray,
    sheets: np.ndarray,
    out: np.ndarray,
) -> None:
    """Answer the decision of each re-dealt game by tree search with at most `budget` iterations."""
    work = games[:1].repeat(3)
    desk, sheet = desks[0], sheets[0]
    inner = desks[1]  # for the candidates below the root
    edges = np.empty(1 + EDGES_PER_ITERATION * budget, dtype=EDGE)
    path = np.empty((MAX_DEPTH, 2), dtype=np.int64)
    for row in range(len(games)):
        work[0] = games[row]
        seat = int(work[0].seat)
        open_desk(desk, find_candidates(work[0], v, desk, sheet))
        edges[0].child = NONE
        edges[0].visits = 0
        used = 1
        while desk.count > 1 and desk.spent + desk.living <= budget:
            work[1] = work[0]
            redeal(work[1], seat, derive_seed(int(seeds[row]), int(desk.worlds), 5))
            for i in range(desk.count):
                if desk.alive[i]:
                    work[2] = work[1]
                    used = _iterate(work[2], edges, used, int(desk.candidates[i]), path, v, inner, sheet)
                    desk.values[i] = inner.results[seat]
            close_world(desk, budget)
        out[row] = desk.candidates[verdict(desk, evidence)]
