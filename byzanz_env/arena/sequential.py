"""A sequential test on per-deal values: stop as soon as the question is answered.

Two of Wald's sequential probability ratio tests run side by side on the mean of the values: "no difference"
against "better by the margin", and against "worse by the margin", each with the log likelihood ratio of a
normal mean whose variance is estimated from the deals so far. If the agents are equal, a wrong "better" or
"worse" comes in at most 5 % of all matches (2.5 % each); if they differ by the margin, "level" comes in at
most 5 %.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

FALSE_ALARM = 0.025  # on each side
MISS = 0.05
UPPER = math.log((1 - MISS) / FALSE_ALARM)
LOWER = math.log(MISS / (1 - FALSE_ALARM))
FIRST_LOOK = 50  # deals before the estimated variance is trusted
LEAST_VARIANCE = 1e-4


@dataclass
class SequentialTest:
    """Feed it one value per deal, in the order of the deals; it says when it knows enough."""

    margin: float
    deals: int = 0
    mean: float = 0.0
    verdict: str | None = None  # better, worse or level
    _squares: float = field(default=0.0, repr=False)

    def __post_init__(self) -> None:
        if not 0 < self.margin < 1:
            raise ValueError(f"the margin {self.margin} makes no sense: choose a share between 0 and 1")

    @property
    def ratios(self) -> tuple[float, float]:
        """The log likelihood ratios for better and for worse, each against no difference."""
        if self.deals < 2:
            return 0.0, 0.0
        variance = max(self._squares / (self.deals - 1), LEAST_VARIANCE)
        drift, penalty = self.margin * self.mean, self.margin**2 / 2
        return self.deals * (drift - penalty) / variance, self.deals * (-drift - penalty) / variance

    def add(self, value: float) -> str | None:
        """Take the value of the next deal; return the verdict once there is one."""
        if self.verdict is not None:
            return self.verdict
        self.deals += 1
        step = value - self.mean
        self.mean += step / self.deals
        self._squares += step * (value - self.mean)
        if self.deals >= FIRST_LOOK:
            better, worse = self.ratios
            if better >= UPPER:
                self.verdict = "better"
            elif worse >= UPPER:
                self.verdict = "worse"
            elif better <= LOWER and worse <= LOWER:
                self.verdict = "level"
        return self.verdict
