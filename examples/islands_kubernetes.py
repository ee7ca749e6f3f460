"""Islands on the pods of a Kubernetes cluster, by dask-kubernetes. Written, not run.

    pip install 'symseed[cluster]' dask-kubernetes
    python examples/islands_kubernetes.py IMAGE /mounted/table.parquet y

The image has `symseed[cluster]`, and the table is in a volume that all pods mount.
"""

from __future__ import annotations

import sys

from symseed import SymbolicRegressor


def main() -> None:
    """Search a table that all pods can read."""
    try:
        from dask_kubernetes.operator import KubeCluster
        from distributed import Client
    except ImportError:
        raise SystemExit("This example needs dask-kubernetes: pip install dask-kubernetes") from None
    image, path, target = sys.argv[1:]
    with KubeCluster(name="symseed", image=image, n_workers=16) as cluster:
        model = SymbolicRegressor(islands=16, executor=Client(cluster), max_time=3_600).fit(path, target)
    print(model.best_)


if __name__ == "__main__":
    main()
