"""The best of a grid, chosen honestly: on validation data, and reported on seeds that had no part in the choice.

The paper reports the best test error over all learning rates and weight decays (Allen-Zhu and Li 2019, appendix A). That
number is kept too, as what it is: the smallest of many noisy ones.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from hierlib.data.cubes import hypercube
from hierlib.measures.signals import Shares
from hierlib.papers.resnet_kernels.methods import Setting, Task, judge, learn
from hierlib.train.grid import Schedule


class Search(NamedTuple):
    """What a search over a grid has found, for one method at several widths."""

    tested: Shares  # how all runs of the grid do on the test points: every entry (widths, settings x seeds)
    chosen: list[Setting]  # per width, the one with the smallest error on the validation points, in the median over seeds
    validation: Tensor  # that error (widths,)
    fresh: Shares  # the chosen ones again, with fresh seeds, on the test points: every entry (widths, seeds)

    @property
    def best_of_grid(self) -> float:
        """The paper's number: the smallest test error over the grid and the widths."""
        return self.tested.error.min().item()

    @property
    def least(self) -> float:
        """The smallest test error of any network that was trained, for the grid or again."""
        return min(self.best_of_grid, self.fresh.error.min().item())

    @property
    def setting(self) -> Setting:
        """The one that the validation points prefer, over all widths."""
        return self.chosen[int(self.validation.argmin())]

    @property
    def again(self) -> Shares:
        """What that setting does on fresh seeds: every entry (seeds,)."""
        return Shares(*(column[int(self.validation.argmin())] for column in self.fresh))


def search(
    method: str,
    widths: Sequence[int],
    n: int,
    rates: Sequence[float],
    decays: Sequence[float],
    seeds: Sequence[int],
    fresh: Sequence[int],
    task: Task,
    schedule: Schedule,
    alpha: float = 0.3,
    points: int = 10000,
    device: str = "cpu",
) -> Search:
    """Try all rates and decays at every width on `seeds`, choose, and train the chosen ones again on the `fresh` seeds.

    One run says little about a setting where runs scatter; several seeds make the choice a choice.
    """
    if both := sorted(set(seeds) & set(fresh)):
        raise ValueError(f"seed {both[0]} chooses the setting, so it cannot be one of the fresh seeds")
    tried = [Setting(method, m, n, seeds[0], rate, decay, alpha) for m in widths for rate in rates for decay in decays]
    settings = [setting._replace(seed=seed) for setting in tried for seed in seeds]
    results = learn(settings, task, schedule, device, progress="grid")
    validation = judge(settings, results, hypercube(points, task.d, seeds[0], "validation"), task).error
    least = validation.reshape(len(widths), -1, len(seeds)).median(2).values.min(1)
    chosen = [tried[i * len(tried) // len(widths) + int(j)] for i, j in enumerate(least.indices)]
    again = [setting._replace(seed=s) for setting in chosen for s in fresh]
    test = hypercube(points, task.d, seeds[0], "test")
    tested = judge(settings, results, test, task)
    repeated = judge(again, learn(again, task, schedule, device, progress="fresh seeds"), test, task)
    return Search(_rows(tested, len(widths)), chosen, least.values, _rows(repeated, len(widths)))


def _rows(measured: Shares, count: int) -> Shares:
    return Shares(*(torch.reshape(column, (count, -1)) for column in measured))
