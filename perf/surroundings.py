"""Compare whole fits between processors, to the bit: `python perf/surroundings.py [--json FILE]`.

Other processors are simulated by variables of the environment that OpenBLAS, NumPy, the C library and the core read
when they start, so each surroundings has a process of its own. Front, further formulas and checkpoint are compared.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

_OLD_LIBRARY = "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4,-AVX,-AVX512F,-AVX512VL,-AVX512DQ"
_OLD_NUMPY = "X86_V4 X86_V3 AVX512F AVX512_SKX AVX2 FMA3"
SURROUNDINGS: Mapping[str, Mapping[str, str]] = {
    **{
        f"BLAS for {core}": {"OPENBLAS_CORETYPE": core}
        for core in ("Prescott", "Core2", "Nehalem", "Barcelona", "Sandybridge", "Haswell", "Zen", "SkylakeX")
    },
    "BLAS with 1 thread": {"OPENBLAS_NUM_THREADS": "1"},
    "NumPy without AVX-512": {"NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512F AVX512_SKX"},
    "NumPy without AVX": {"NPY_DISABLE_CPU_FEATURES": _OLD_NUMPY},
    "C library without AVX-512": {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX512DQ"},
    "C library without FMA": {"GLIBC_TUNABLES": _OLD_LIBRARY},
    "core for AVX2": {"SYMSEED_INSTRUCTION_SET": "avx2"},
    "core for any processor": {"SYMSEED_INSTRUCTION_SET": "portable"},
    "other hash seed": {"PYTHONHASHSEED": "12345"},
    "everything old": {
        "OPENBLAS_CORETYPE": "Prescott",
        "NPY_DISABLE_CPU_FEATURES": _OLD_NUMPY,
        "GLIBC_TUNABLES": _OLD_LIBRARY,
        "SYMSEED_INSTRUCTION_SET": "portable",
    },
}
"""Variables of the environment of each surroundings; this machine as it is comes first, as "here"."""


def problems() -> dict[str, tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], dict[str, Any]]]:
    """Return inputs, targets and settings of each fit."""
    rng = np.random.default_rng(21)
    wide, one = rng.uniform(0.5, 3.0, (60, 5)), rng.uniform(-2.0, 2.0, (50, 1))
    x = np.linspace(0.1, 2.0, 40)[:, None]
    noise = 0.02 * rng.normal(size=60)
    return {
        "clean": (x, np.log(x[:, 0] + 1.0) + np.log(x[:, 0] ** 2 + 1.0), {}),
        "noisy": (one, 1.37 * np.exp(-0.8 * one[:, 0]) + np.sin(2.3 * one[:, 0]) + 0.05 * rng.normal(size=50), {}),
        "five columns": (wide, wide[:, 0] * wide[:, 1] / (1.0 + wide[:, 2] ** 2) + np.cos(wide[:, 3]) + noise, {}),
        "power law": (wide[:, :3], 3.7 * wide[:, 0] ** 1.5 / wide[:, 1] * (1.0 + noise), {}),
        "nggp": (one, one[:, 0] ** 3 + np.sin(one[:, 0]), {"method": "nggp"}),
    }


def fits(data: Path, expressions: int) -> dict[str, dict[str, str]]:
    """Fit every problem, and return the bits of what each leaves on the disk, by problem and file."""
    from symseed import SymbolicRegressor, files

    out = {}
    for name, (_, _, own) in problems().items():
        arrays = np.load(data / f"{name}.npz")
        with tempfile.TemporaryDirectory() as folder:
            settings = {"max_evals": expressions, "max_time": None, "patience": None, "random_state": 1, **own}
            model = SymbolicRegressor(**settings, output_directory=folder)
            model.fit(arrays["X"], arrays["y"])
            assert model.run_directory_ is not None
            run = Path(model.run_directory_)
            assert (run / "front.csv").is_file()
            found = {path.name: files.digest(path.read_bytes()) for path in sorted(run.glob("*.csv"))}
            for path in sorted((run / "checkpoint").iterdir()):
                content = path.read_bytes()
                if path.suffix == ".json":
                    content = json.dumps(_timeless(json.loads(content)), sort_keys=True).encode()
                found[f"checkpoint {path.name}"] = files.digest(content)
            out[name] = found
    return out


def _timeless(value: Any) -> Any:
    """The same values without times, which differ from fit to fit."""
    if isinstance(value, dict):
        return {name: _timeless(part) for name, part in value.items() if name != "seconds"}
    return [_timeless(part) for part in value] if isinstance(value, list) else value


def _elsewhere(data: Path, expressions: int, variables: Mapping[str, str]) -> tuple[dict[str, dict[str, str]], float]:
    """The bits of the fits in changed surroundings, and their CPU seconds."""
    known = {name for one in SURROUNDINGS.values() for name in one}
    environment = {name: value for name, value in os.environ.items() if name not in known} | dict(variables)
    command = [sys.executable, "-W", "ignore", __file__, "--child", str(data), "--expressions", str(expressions)]
    before = os.times()
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    after = os.times()
    if done.returncode:
        sys.exit(f"A fit failed:\n{done.stderr}")
    seconds = after.children_user + after.children_system - before.children_user - before.children_system
    return json.loads(done.stdout), seconds


def main() -> None:
    """Run all comparisons; exit code 1 if a bit differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, help="file for the figures")
    parser.add_argument("--expressions", type=int, default=4_000, help="expressions of each fit (default: 4,000)")
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child is not None:
        print(json.dumps(fits(given.child, given.expressions)))
        return
    with tempfile.TemporaryDirectory() as folder:
        for name, (X, y, _) in problems().items():
            np.savez(Path(folder) / f"{name}.npz", X=X, y=y)
        here, seconds = _elsewhere(Path(folder), given.expressions, {})
        print(f"here: {sum(map(len, here.values()))} files, {seconds:.0f} CPU s", flush=True)
        different: dict[str, dict[str, list[str]]] = {}
        for name, variables in SURROUNDINGS.items():
            there, seconds = _elsewhere(Path(folder), given.expressions, variables)
            different[name] = {
                problem: sorted(file for file in {**own, **there[problem]} if own.get(file) != there[problem].get(file))
                for problem, own in here.items()
                if own != there[problem]
            }
            print(f"{name}: {different[name] or 'the same bits'}, {seconds:.0f} CPU s", flush=True)
    count = sum(map(len, different.values()))
    total = len(SURROUNDINGS) * len(here)
    print(f"{count} of {total} fits differ")
    if given.json is not None:
        given.json.parent.mkdir(parents=True, exist_ok=True)
        figures = {
            "date": time.strftime("%Y-%m-%d"),
            "machine": platform.machine(),
            "numpy": np.__version__,
            "expressions": given.expressions,
            "files": {problem: sorted(own) for problem, own in here.items()},
            "different": different,
            "fits": total,
            "fits_different": count,
        }
        given.json.write_text(json.dumps(figures, indent=2) + "\n")
    sys.exit(count > 0)


if __name__ == "__main__":
    main()
