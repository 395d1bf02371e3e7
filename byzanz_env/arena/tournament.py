"""Run a match: play what is not finished yet, keep every finished deal, stop when asked to and sure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from byzanz_env.arena.match import WHOLE_WIN, DealResult, Match, Results
from byzanz_env.arena.play import AgentFailureError, Outcome, play_games
from byzanz_env.arena.sequential import SequentialTest
from byzanz_env.arena.store import Store
from byzanz_env.decisions import Agent

Progress = Callable[[int], None]  # told how many deals are finished


@dataclass(frozen=True)
class Ending:
    """The results, and why there are no more of them."""

    results: Results
    test: SequentialTest | None = None
    failure: str | None = None  # set when an agent failed or somebody interrupted the match
    interrupted: bool = False


def deal_value(match: Match, result: DealResult) -> float:
    """The test's value of a deal: the first agent's share, less the fair share or another's."""
    results = Results.of(match, [result])
    shares = results.shares[0, :, :, 0].mean(axis=1) / WHOLE_WIN  # of place 0, the one who is alone
    if match.kind == "against":
        return float(shares[0] - shares[1])
    return float(shares[0] - match.fair_share)


def run(
    match: Match,
    crews: Sequence[Sequence[Agent]],
    deals: int,
    *,
    batch: int | None = None,
    store: Store | None = None,
    margin: float | None = None,
    progress: Progress | None = None,
) -> Ending:
    """Play deals 0 .. deals - 1 of a match; with `margin`, stop early by a sequential test.

    The test looks at the deals in their order and not in the order in which they end: the same seed stops
    at the same deal, whatever the batch.
    """
    if deals < 1:
        raise ValueError(f"{deals} deals cannot be played: choose 1 or more")
    if batch is not None and batch < 1:
        raise ValueError(f"{batch} games at once cannot be played: choose 1 or more")
    test = None if margin is None else SequentialTest(margin)
    if test is not None and not (
        match.kind == "duel" or (match.kind == "against" and len(match.labels) == 3)
    ):
        raise ValueError(
            "an early stop needs a single question: name two agents (with --against, two and it)"
        )
    known = store.finished if store is not None else {}
    finished = {deal: result for deal, result in known.items() if deal < deals}
    judge = _Judge(match, test, finished)
    failure, interrupted = None, False
    if not judge.is_done(deals):
        try:
            _play(match, crews, deals, batch, store, finished, judge, progress)
        except AgentFailureError as error:
            failure = str(error)
        except KeyboardInterrupt:
            failure, interrupted = "the match was interrupted", True
    last = test.deals if test is not None and test.verdict is not None else deals
    return Ending(
        Results.of(match, [r for r in finished.values() if r.deal < last]), test, failure, interrupted
    )


@dataclass
class _Judge:
    """Walks along the finished deals without a gap and asks the test about each."""

    match: Match
    test: SequentialTest | None
    finished: dict[int, DealResult]
    next_deal: int = 0

    def is_done(self, deals: int) -> bool:
        while self.next_deal in self.finished:
            if self.test is not None and self.test.verdict is None:
                self.test.add(deal_value(self.match, self.finished[self.next_deal]))
            self.next_deal += 1
        decided = self.test is not None and self.test.verdict is not None
        return decided or self.next_deal >= deals


def _play(
    match: Match,
    crews: Sequence[Sequence[Agent]],
    deals: int,
    batch: int | None,
    store: Store | None,
    finished: dict[int, DealResult],
    judge: _Judge,
    progress: Progress | None,
) -> None:
    missing = [deal for deal in range(deals) if deal not in finished]
    games_of_a_deal = len(match.lineups(0)) * match.players
    started: dict[int, list[Outcome]] = {}
    outcomes = play_games(crews, match.labels, match.players, match.games(missing), match.seed, batch)
    for outcome in outcomes:
        of_deal = started.setdefault(outcome.game.deal, [])
        of_deal.append(outcome)
        if len(of_deal) < games_of_a_deal:
            continue
        result = DealResult.of(started.pop(outcome.game.deal))
        finished[result.deal] = result
        if store is not None:
            store.add(result)
        if progress is not None:
            progress(len(finished))
        if judge.is_done(deals) and judge.next_deal < deals:
            outcomes.close()  # type: ignore[attr-defined]  # the test has its answer
            return
