"""A search recorded in MLflow, and ended by the callback once the loss is small enough.

    pip install mlflow-skinny sqlalchemy alembic
    python examples/mlflow_callback.py
    mlflow ui --backend-store-uri sqlite:///mlflow.db    # with all of mlflow

`symseed.SymbolicRegressor(callback=...)` calls the callback after every turn, and ends the search if it returns true.
"""

from __future__ import annotations

import mlflow
import numpy as np

from symseed import SymbolicRegressor
from symseed.regressor import Progress


class MLflowCallback:
    """Records every turn as metrics of the active run, and ends the search at a loss."""

    def __init__(self, good_enough: float) -> None:
        self.good_enough = good_enough

    def __call__(self, progress: Progress) -> bool:
        """Record a turn; return whether the search is to end."""
        metrics: dict[str, float] = {"loss": progress.loss, "tokens": len(progress.best)}
        for entry in progress.turn.learning:
            learning = entry.learning
            numbers = {
                "samples_reward": None if learning.sampled is None else learning.sampled.mean,
                "evolved_reward": None if learning.evolved is None else learning.evolved.mean,
                "entropy": learning.entropy,  # estimated in every fourth round
                "training_loss": learning.loss,
            }
            metrics |= {f"search{entry.track}_{name}": value for name, value in numbers.items() if value is not None}
        mlflow.log_metrics(metrics, step=progress.turn.charged)
        if progress.turn.found_by is not None:
            mlflow.set_tag(f"found_by.{progress.turn.index}", progress.turn.found_by.value)
        return progress.loss <= self.good_enough


def main(database: str = "mlflow.db", formulas: int = 100_000) -> str:
    """Search for Nguyen-5, sin(x^2) cos(x) - 1, until the loss is below 0.01; return the id of the run."""
    x = np.random.default_rng(0).uniform(-1.0, 1.0, (20, 1))
    y = np.sin(x[:, 0] ** 2) * np.cos(x[:, 0]) - 1.0
    mlflow.set_tracking_uri(f"sqlite:///{database}")
    with mlflow.start_run() as run:
        model = SymbolicRegressor(
            method="nggp", max_evals=formulas, max_time=None, random_state=0, callback=MLflowCallback(good_enough=0.01)
        )
        model.fit(x, y)
        mlflow.log_params({"method": model.method, "max_evals": model.max_evals, "random_state": 0})
        mlflow.log_text(model.equations_.to_csv(index=False), "front.csv")
    print(f"{model.best_}: {model.stop_reason_}")
    return str(run.info.run_id)


if __name__ == "__main__":
    main()
