"""Islands on the processes of an MPI job, by `mpi4py.futures`.

    mpiexec -n 5 python -m mpi4py.futures examples/islands_mpi.py

One of the processes runs the search, and four compute the epochs of its islands.
"""

from __future__ import annotations

import numpy as np

from symseed import SymbolicRegressor


def main() -> None:
    """Search a noisy, damped oscillation by four islands."""
    try:
        from mpi4py.futures import MPIPoolExecutor
    except (ImportError, RuntimeError):  # a RuntimeError: there is no MPI library
        raise SystemExit("This example needs mpi4py and an MPI library: pip install mpi4py") from None
    t = np.linspace(0.0, 6.0, 60)
    y = 1.5 * np.exp(-0.4 * t) * np.cos(3.0 * t) + np.random.default_rng(0).normal(0.0, 0.05, 60)
    with MPIPoolExecutor() as executor:
        model = SymbolicRegressor(islands=4, executor=executor, max_evals=12_000, max_time=None, random_state=0)
        model.fit(t[:, None], y)
    print(model.best_)
    print(model.stop_reason_)


if __name__ == "__main__":
    main()
