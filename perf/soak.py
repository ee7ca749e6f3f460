"""Many fits in one process: `python perf/soak.py --fits 500`. Nothing may pile up.

Memory, descriptors, threads, child processes and temporary files are counted after the tenth fit and after the last.
The fits take turns between one target, several, a template, islands, a user's function, runs on disk and an end by the
callback. Exit code 1 if anything but a little memory was added.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import shutil
import sys
import tempfile
import threading
import time
import warnings
import weakref
from pathlib import Path
from typing import Any

import numpy as np

from symseed import SymbolicRegressor

_WARM = 10
_MOST_MEGABYTES = 32.0
"""Most memory that the process may grow by after the tenth fit: caches of NumPy, the allocator and matplotlib."""
_COMMON: dict[str, Any] = {"method": "nggp-s-1", "constants": True, "max_evals": 2_000, "max_time": None}


def settings(number: int, folder: Path) -> dict[str, Any]:
    """Return the settings of a fit."""
    kinds: list[dict[str, Any]] = [
        {},
        {"output_directory": folder},
        {"islands": 2, "n_jobs": 1},
        {"template": "const * f(x1) + x2"},
        {"unary_operators": ["exp", _own()]},
        {"callback": lambda _: True},
        {"method": "default", "max_evals": 500, "n_jobs": 2},
    ]
    return {**_COMMON, "patience": None, "random_state": number, **kinds[number % len(kinds)]}


_functions: list[weakref.ref[Any]] = []


def _own() -> Any:
    """A function of a user's own, which must not outlive its fit."""

    def squashed(x: Any) -> Any:
        return x / (1.0 + np.abs(x))

    _functions.append(weakref.ref(squashed))
    return squashed


def counted(temporary: Path) -> dict[str, float]:
    """Return what may pile up."""
    gc.collect()
    status = Path("/proc/self/status").read_text()
    resident = next(line for line in status.splitlines() if line.startswith("VmRSS"))
    tasks = [task / "children" for task in Path("/proc/self/task").iterdir()]
    return {
        "megabytes": int(resident.split()[1]) / 1024.0,
        "descriptors": len(os.listdir("/proc/self/fd")),  # noqa: PTH208 - a name each, which may be gone
        "threads": threading.active_count(),
        "native threads": len(tasks),
        "children": sum(len(task.read_text().split()) for task in tasks),
        "temporary files": sum(1 for _ in temporary.rglob("*")),
        "functions": sum(one() is not None for one in _functions),
    }


def main() -> None:
    """Fit, and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fits", type=int, default=500, help="number of fits (default: 500)")
    parser.add_argument("--json", type=Path, help="file for the figures")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    began = time.process_time()
    rng = np.random.default_rng(0)
    found: dict[int, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as own:
        temporary, runs = Path(own) / "temporary", Path(own) / "runs"
        temporary.mkdir()
        tempfile.tempdir = os.environ["TMPDIR"] = str(temporary)
        for number in range(given.fits):
            X = rng.uniform(0.5, 3.0, (40, 2))
            y = X[:, 0] * np.exp(-X[:, 1]) + 0.05 * rng.normal(size=40)
            target = np.stack([y, X[:, 0] + y], axis=1) if number % 11 == 3 and number % 7 != 3 else y
            SymbolicRegressor(**settings(number, runs)).fit(X, target).predict(X)
            shutil.rmtree(runs, ignore_errors=True)
            if number + 1 in (_WARM, given.fits) or not (number + 1) % 50:
                found[number + 1] = counted(temporary)
                print(f"{number + 1} fits, {time.process_time() - began:.0f} CPU s: {found[number + 1]}", flush=True)
        tempfile.tempdir = None
    first, last = found[_WARM], found[given.fits]
    added = {name: last[name] - first[name] for name in first}
    is_more = {name for name, more in added.items() if more > (_MOST_MEGABYTES if name == "megabytes" else 0)}
    print("Nothing piles up." if not is_more else f"More than after the tenth fit: {sorted(is_more)}")
    if given.json is not None:
        given.json.parent.mkdir(parents=True, exist_ok=True)
        figures = {"date": time.strftime("%Y-%m-%d"), "python": sys.version.split()[0], "counted": found}
        given.json.write_text(json.dumps(figures, indent=2) + "\n")
    sys.exit(bool(is_more))


if __name__ == "__main__":
    main()
