"""Islands on the processes of loky, which joblib uses too: any `concurrent.futures.Executor` will do.

The processes stay when the fit is over, so that a second one begins at once.
"""

from __future__ import annotations

import numpy as np

from symseed import SymbolicRegressor


def main() -> None:
    """Search a noisy, damped oscillation by two islands."""
    try:
        from loky import get_reusable_executor
    except ImportError:
        raise SystemExit("This example needs loky: pip install loky") from None
    t = np.linspace(0.0, 6.0, 60)
    y = 1.5 * np.exp(-0.4 * t) * np.cos(3.0 * t) + np.random.default_rng(0).normal(0.0, 0.05, 60)
    model = SymbolicRegressor(
        islands=2,
        executor=get_reusable_executor(2),
        max_evals=6_000,
        max_time=None,
        random_state=0,
    )
    model.fit(t[:, None], y)
    print(model.best_)
    print(model.stop_reason_)


if __name__ == "__main__":
    main()
