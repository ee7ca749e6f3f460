"""One run of the authors' released code, in its own Python: `python inside.py TASK.json ANSWER.json`.

The task has the folder of the package `dso`, and the configuration of the run. The released code is imported and not
changed. The answer has the samples that it used, the best formula, and what the run cost. Standard library only, and
Python 3.7: this file runs beside TensorFlow 1.14.
"""

from __future__ import annotations

import contextlib
import json
import sys
import time
import warnings
from pathlib import Path
from typing import Any


def main(task_path: str, answer_path: str) -> None:
    """Read a task, run it, and write the answer."""
    task = json.loads(Path(task_path).read_text(encoding="utf-8"))
    with contextlib.redirect_stdout(sys.stderr):
        answer = run(task["package"], task["configuration"])
    Path(answer_path).write_text(json.dumps(answer), encoding="utf-8")


def run(package: str, configuration: dict[str, Any]) -> dict[str, Any]:
    """Import the released code and train one model."""
    warnings.simplefilter("ignore")
    sys.path.insert(0, package)
    from dso import DeepSymbolicOptimizer  # type: ignore[import-not-found]  # the released code, in its own Python
    from dso.program import Program  # type: ignore[import-not-found]

    model = DeepSymbolicOptimizer(configuration)
    start = time.process_time()
    result = model.train()
    seconds = time.process_time() - start
    data = Program.task
    return {
        "samples": {name: getattr(data, name).tolist() for name in ("X_train", "y_train", "X_test", "y_test")},
        "tokens": [token.name for token in data.library.tokens],
        "formula": [written(token) for token in result["program"].traversal],
        "success": bool(result["success"]),
        "charged": int(result["n_samples"]),
        "unique": int(result["n_cached"]),
        "steps": int(result["n_epochs"]),
        "cpu_seconds": seconds,
    }


def written(token: Any) -> list[Any]:
    """Return a token's name, and its value if it is a fitted constant."""
    return [token.name, float(token.value[0]) if token.name == "const" else None]


if __name__ == "__main__":
    main(*sys.argv[1:])
