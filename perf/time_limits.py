"""How well `max_time` holds: fits of several sizes and limits, on a noisy target that no short formula solves.

    python perf/time_limits.py [--seconds 0.5 1 5 20] [--rows 100 10000 1000000] [--columns 1 5 50] [--busy]

Prints a line for each fit: its wall seconds from the call of `fit` to its return, by how many it overran, the CPU
seconds of the process meanwhile, and the wall seconds until the first formula was shown; then the worst of them. Each
fit is a process of its own. Writes build/time_limits.json. On a busy machine the wall is longer than the CPU by the
time in which others ran: compare the two. With `--busy` the clock of a fit is the CPU time of its process, which has
one thread: the figures are those of a machine of one core without other work, and "wall" is that time.
"""

from __future__ import annotations

import argparse
import itertools
import json
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np

ALLOWED_SECONDS = 0.5
ALLOWED_SHARE = 0.05
"""A fit may overrun its limit by the larger of the two."""


def measure(rows: int, columns: int, seconds: float, *, is_busy: bool) -> dict[str, float]:
    """Fit once, in this process."""
    if is_busy:
        time.monotonic = time.process_time  # before symseed, which keeps it as a default, is imported
    from symseed import SymbolicRegressor

    rng = np.random.default_rng(0)
    X = rng.uniform(0.5, 3.0, (rows, columns))
    first, second, third = X[:, 0], X[:, 1 % columns], X[:, 2 % columns]
    y = 2.5 * first * np.exp(-second) + 1.3 * third**2 + np.sin(2.0 * first) + 0.05 * rng.normal(size=rows)
    warnings.simplefilter("ignore")
    SymbolicRegressor(max_evals=100, random_state=0).fit(X[:20], y[:20])  # imports are not part of a fit
    shown: list[float] = []
    model = SymbolicRegressor(
        max_time=seconds,
        patience=None,
        random_state=0,
        n_jobs=1 if is_busy else None,
        callback=lambda _: shown.append(time.monotonic()),
    )
    started, used = time.monotonic(), time.process_time()
    model.fit(X, y)
    wall, cpu = time.monotonic() - started, time.process_time() - used
    return {
        "rows": rows,
        "columns": columns,
        "limit": seconds,
        "wall": wall,
        "over": wall - seconds,
        "cpu": cpu,
        "first": shown[0] - started,
    }


def main() -> None:
    """Measure what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, nargs="+", default=[0.5, 1.0, 5.0, 20.0])
    parser.add_argument("--rows", type=int, nargs="+", default=[100, 10_000, 1_000_000])
    parser.add_argument("--columns", type=int, nargs="+", default=[1, 5, 50])
    parser.add_argument("--busy", action="store_true", help="count CPU seconds of one thread, on a busy machine")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        print(json.dumps(measure(given.rows[0], given.columns[0], given.seconds[0], is_busy=given.busy)))
        return
    found: list[dict[str, float]] = []
    print(f"{'rows':>10} {'columns':>8} {'limit s':>8} {'wall s':>8} {'over s':>8} {'CPU s':>8} {'first s':>8}")
    for rows, columns, seconds in itertools.product(given.rows, given.columns, given.seconds):
        command = [sys.executable, __file__, "--one", "--rows", str(rows), "--columns", str(columns)]
        command += ["--seconds", str(seconds), *(["--busy"] if given.busy else [])]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        one = json.loads(done.stdout)
        found.append(one)
        numbers = " ".join(f"{one[name]:>8.2f}" for name in ("wall", "over", "cpu", "first"))
        print(f"{rows:>10} {columns:>8} {seconds:>8g} {numbers}", flush=True)
    folder = Path("build")
    folder.mkdir(exist_ok=True)
    (folder / "time_limits.json").write_text(json.dumps(found, indent=1))
    late = [one for one in found if one["over"] > max(ALLOWED_SECONDS, ALLOWED_SHARE * one["limit"])]
    worst = max(found, key=lambda one: one["over"])
    print(
        f"worst overrun: {worst['over']:.2f} s ({worst['rows']} rows, {worst['columns']} columns, {worst['limit']:g} s)"
    )
    print(f"latest first formula: {max(one['first'] for one in found):.2f} s")
    print(f"{len(late)} of {len(found)} overran by more than {ALLOWED_SECONDS:g} s and {ALLOWED_SHARE:.0%}")


if __name__ == "__main__":
    main()
