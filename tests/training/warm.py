"""Imported by the process that kill_runs forks from: loads all that is compiled, once.

No gradient is computed here: torch refuses to go on with its autograd threads after a fork.
"""

import torch.utils.tensorboard  # noqa: F401

from tests.training.conftest import TINY
from training.config import from_table
from training.learner import Learner

_learner = Learner(from_table({**TINY, "workers": 1}))
_learner.workers[0].collect(10**9)
_learner.workers[0].estimate(0.1)
