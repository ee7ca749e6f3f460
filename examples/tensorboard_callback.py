"""A search watched in TensorBoard: rewards, entropy, training loss, sizes, and what found each improvement.

    pip install tensorboardX tensorboard
    python examples/tensorboard_callback.py
    tensorboard --logdir logs

`symseed.SymbolicRegressor(callback=...)` calls the callback after every turn. Values are drawn against the number of
formulas tried.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from tensorboardX import SummaryWriter

from symseed import SymbolicRegressor
from symseed.regressor import Progress


def values(progress: Progress) -> Iterator[tuple[str, float]]:
    """Give every number of a turn with its name; entropy and loss are estimated in every fourth round."""
    yield "selected/loss", progress.loss
    yield "selected/tokens", len(progress.best)
    for entry in progress.turn.learning:
        learning = entry.learning
        for name, batch in (("samples", learning.sampled), ("evolved", learning.evolved)):
            if batch is not None:
                yield f"search{entry.track}/{name}/mean_reward", batch.mean
                yield f"search{entry.track}/{name}/best_reward", batch.best
                yield f"search{entry.track}/{name}/tokens", batch.length
                yield f"search{entry.track}/{name}/share_seen_before", batch.repeated
        for name, value in (("entropy", learning.entropy), ("training_loss", learning.loss)):
            if value is not None:
                yield f"search{entry.track}/policy/{name}", value


class TensorBoardCallback:
    """Writes every turn to TensorBoard; it never ends the search."""

    def __init__(self, writer: Any) -> None:
        self._writer = writer

    def __call__(self, progress: Progress) -> None:
        """Write a turn."""
        step = progress.turn.charged
        for name, value in values(progress):
            self._writer.add_scalar(name, value, step)
        if progress.turn.found_by is not None:
            text = f"{progress.best} (found by {progress.turn.found_by.value})"
            self._writer.add_text("selected/formula", text, step)


def main(folder: str = "logs", formulas: int = 100_000) -> None:
    """Search for Nguyen-5, sin(x^2) cos(x) - 1, with the paper's method."""
    x = np.random.default_rng(0).uniform(-1.0, 1.0, (20, 1))
    y = np.sin(x[:, 0] ** 2) * np.cos(x[:, 0]) - 1.0
    with SummaryWriter(folder) as writer:
        model = SymbolicRegressor(
            method="nggp", max_evals=formulas, max_time=None, random_state=0, callback=TensorBoardCallback(writer)
        )
        model.fit(x, y)
    print(f"{model.best_}: the curves are in {folder}")


if __name__ == "__main__":
    main()
