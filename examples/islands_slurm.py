"""Islands on the nodes of a Slurm cluster, by dask-jobqueue; PBS and LSF have classes of their own there.

    pip install 'symseed[cluster]'
    python examples/islands_slurm.py /shared/table.parquet y

Started on the login node, it asks Slurm for 64 jobs of one core, and searches with what comes.
"""

from __future__ import annotations

import sys

from symseed import SymbolicRegressor


def main() -> None:
    """Search a table that all nodes can read."""
    try:
        from dask_jobqueue import SLURMCluster
        from distributed import Client
    except ImportError:
        raise SystemExit("This example needs dask-jobqueue: pip install 'symseed[cluster]'") from None
    path, target = sys.argv[1:]
    cluster = SLURMCluster(cores=1, processes=1, memory="4GB", walltime="02:00:00")
    cluster.scale(jobs=64)
    model = SymbolicRegressor(islands=64, executor=Client(cluster), output_directory="runs", max_time=3_600)
    model.fit(path, target)
    print(model.best_)


if __name__ == "__main__":
    main()
