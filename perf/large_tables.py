"""A large Parquet table fitted in blocks: its memory, and its formulas beside those of the same table in memory.

    python perf/large_tables.py [--rows 30000000] [--evals 2000] [--folder build/large]

Writes a table of five inputs and a noisy target in blocks, unless it is there. Then two processes fit it with the same
settings, one in blocks and one in memory; each reports its largest resident memory beyond what the interpreter has
after its imports, from before it reads anything. Ends with an error if the formulas differ in a bit.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np

COLUMNS = ("a", "b", "c", "d", "e")
BLOCK = 2**20


def write(path: Path, rows: int) -> None:
    """Write the table, a block at a time."""
    import pyarrow as pa
    from pyarrow import parquet

    random = np.random.default_rng(0)
    schema = pa.schema([(name, pa.float64()) for name in (*COLUMNS, "y")])
    with parquet.ParquetWriter(path, schema) as file:
        for begin in range(0, rows, BLOCK):
            X = random.uniform(0.5, 2.0, (min(BLOCK, rows - begin), len(COLUMNS)))
            y = 1.2345 * X[:, 0] * X[:, 0] / X[:, 1] + 0.678 * np.sin(X[:, 2]) + random.normal(0.0, 0.3, len(X))
            file.write_batch(pa.record_batch([*X.T, y], schema=schema))


def peak() -> float:
    """Return the largest resident memory so far, in GB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9


def fit(path: str, evals: int, *, is_in_blocks: bool) -> None:
    """Fit the table, and print what was found and what it took."""
    import pyarrow as pa
    from pyarrow import parquet

    from symseed import SymbolicRegressor

    before, began = peak(), time.monotonic()
    model = SymbolicRegressor(max_evals=evals, max_time=None, random_state=0)
    if is_in_blocks:
        model.fit(path, "y")
    else:
        table: pa.Table = parquet.read_table(path)
        frame = table.to_pandas(split_blocks=True, self_destruct=True)
        del table
        y = frame.pop("y")
        model.fit(frame, y)
    front = [[str(one.expression), one.loss, one.description] for one in model.pareto_front_]
    spent = {"memory": peak() - before, "imports": before, "seconds": time.monotonic() - began}
    print(json.dumps({**spent, "best": str(model.best_), "front": front}))


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=30_000_000)
    parser.add_argument("--evals", type=int, default=2_000)
    parser.add_argument("--folder", type=Path, default=Path("build/large"))
    parser.add_argument("--only", choices=["blocks", "memory"], help=argparse.SUPPRESS)
    given = parser.parse_args()
    path = given.folder / f"{given.rows}.parquet"
    if given.only is not None:
        warnings.simplefilter("ignore")
        fit(str(path), given.evals, is_in_blocks=given.only == "blocks")
        return
    given.folder.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        write(path.with_suffix(".part"), given.rows)
        path.with_suffix(".part").rename(path)
    fronts = []
    for how in ("blocks", "memory"):
        arguments = ["--rows", str(given.rows), "--evals", str(given.evals), "--folder", str(given.folder)]
        done = subprocess.run(
            [sys.executable, __file__, *arguments, "--only", how], check=True, stdout=subprocess.PIPE, text=True
        )
        found = json.loads(done.stdout)
        fronts.append(found["front"])
        print(
            f"{given.rows:,} rows x {len(COLUMNS)} columns in {how}: {found['memory']:.2f} GB beyond the "
            f"{found['imports']:.2f} GB of the imports, {found['seconds']:.0f} s, load {os.getloadavg()[0]:.1f}; "
            f"{len(found['front'])} formulas, {found['best']}",
            flush=True,
        )
    print(f"formulas, losses and descriptions are {'equal to the bit' if fronts[0] == fronts[1] else 'DIFFERENT'}")
    if fronts[0] != fronts[1]:
        sys.exit(1)


if __name__ == "__main__":
    main()
