"""Whether a change of the code left every answer as it was, to the last bit.

    python perf/unchanged.py write BEFORE      # with the code as it was
    python perf/unchanged.py write AFTER       # with the code as it is
    python perf/unchanged.py compare BEFORE AFTER

Five methods run on six problems, without noise and with 1 %, three seeds each, with limits in expressions so that no
clock decides; then one run of `SymbolicRegressor` on disk, and the same one killed and resumed. All fields but seconds
must be equal. `--quick` writes one seed of two problems. What a folder holds already is not run again.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

METHODS = ("nggp", "nggp-complete", "nggp-plus", "gegl", "default")
PROBLEMS = ("Nguyen-5", "Nguyen-12", "R-1", "Livermore-8", "Jin-3", "Neat-8")
QUICK = ("Nguyen-5", "Jin-3")
SECONDS = ("cpu_seconds", "check_seconds")
"""Fields of a record that may differ."""

_FIT = """
import sys
import numpy as np
from symseed import SymbolicRegressor
rng = np.random.default_rng(4)
X = rng.uniform(0.5, 3.0, (60, 3))
y = np.exp(-X[:, 0]) * np.sin(3.0 * X[:, 1]) + 2.5 * X[:, 2] + 0.05 * rng.normal(size=len(X))
settings = dict(max_time=None, patience=None, max_evals=400_000, random_state=1)
SymbolicRegressor(**settings, output_directory=sys.argv[1]).fit(X, y)
"""
_RESUME = "import sys; from symseed import SymbolicRegressor; SymbolicRegressor.resume(sys.argv[1])"


def write(folder: Path, *, is_quick: bool) -> None:
    """Run everything that the folder does not hold yet."""
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "symseed", "bench", "run", *(QUICK if is_quick else PROBLEMS)]
    command += [part for method in METHODS for part in ("--method", method)]
    command += ["--noise", "0,0.01", "--seeds", "0:1" if is_quick else "0:3", "--jobs", "2"]
    command += ["--max-evals", "200000", "--max-time", "100000", "--store", str(folder / "records")]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    if not list((folder / "whole").glob("*/front.csv")):
        subprocess.run([sys.executable, "-c", _FIT, str(folder / "whole")], check=True)
    if not (folder / "killed.csv").exists():
        (folder / "killed.csv").write_bytes(_killed_and_resumed(folder / "killed"))


def _killed_and_resumed(folder: Path) -> bytes:
    """Return the front of a run that was killed once it had a checkpoint, and resumed."""
    process = subprocess.Popen([sys.executable, "-c", _FIT, str(folder)])
    while not list(folder.glob("*/checkpoint/a.json")):
        time.sleep(0.05)
    time.sleep(1.0)
    assert process.poll() is None, "it has more to do than that"
    process.kill()
    process.wait()
    run = max(folder.iterdir())
    subprocess.run([sys.executable, "-c", _RESUME, str(run)], check=True)
    return (run / "front.csv").read_bytes()


def compare(before: Path, after: Path) -> list[str]:
    """Return what differs, a sentence each."""
    old, new = _records(before), _records(after)
    differences = [f"{' '.join(map(str, key))} is missing after" for key in old.keys() - new.keys()]
    differences += [f"{' '.join(map(str, key))} is missing before" for key in new.keys() - old.keys()]
    for key in sorted(old.keys() & new.keys(), key=str):
        fields = [name for name in old[key] if name not in SECONDS and old[key][name] != new[key].get(name)]
        differences += [
            f"{' '.join(map(str, key))}: {name} {old[key][name]} -> {new[key].get(name)}" for name in fields
        ]
    fronts = {name: _fronts(folder) for name, folder in (("before", before), ("after", after))}
    for name, (whole, killed) in fronts.items():
        if whole != killed:
            differences.append(f"the run that was killed and resumed ended differently {name}")
    if fronts["before"][0] != fronts["after"][0]:
        differences.append("the fronts of the run on disk differ")
    return differences


def _records(folder: Path) -> dict[tuple[object, ...], dict[str, object]]:
    lines = (folder / "records" / "records.jsonl").read_text().splitlines()
    records = [json.loads(line) for line in lines]
    return {tuple(record[name] for name in ("method", "problem", "noise", "seed")): record for record in records}


def _fronts(folder: Path) -> tuple[bytes, bytes]:
    (whole,) = (folder / "whole").glob("*/front.csv")
    return whole.read_bytes(), (folder / "killed.csv").read_bytes()


def main() -> None:
    """Write or compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    kinds = parser.add_subparsers(dest="kind", required=True)
    written = kinds.add_parser("write")
    written.add_argument("folder", type=Path)
    written.add_argument("--quick", action="store_true")
    compared = kinds.add_parser("compare")
    compared.add_argument("before", type=Path)
    compared.add_argument("after", type=Path)
    given = parser.parse_args()
    if given.kind == "write":
        write(given.folder, is_quick=given.quick)
        return
    differences = compare(given.before, given.after)
    print("\n".join(differences) or f"nothing differs in {len(_records(given.before))} records and two runs on disk")
    sys.exit(bool(differences))


if __name__ == "__main__":
    main()
