"""One whole search, as a process of its own: `python perf/full_run.py PROBLEM`, figures as JSON on standard output.

Time is the process's CPU time from its very start, imports included; no success ends it early. Time inside the core is
taken at the boundary, by wrapping its functions; what is left is Python's: imports and reading the problem, which is
"start-up", and the search's own.
"""

from __future__ import annotations

import itertools
import json
import resource
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any

START = time.perf_counter()

from symseed import RegressionSettings, RegressionTask, _core, benchmarks, methods, search  # noqa: E402  (timed)

IMPORTED = time.perf_counter()
METHOD = "nggp"
EVERY = 32
"""One generation of so many is kept to see what checking it costs."""


class Clock:
    """Seconds by part of the search; asking for CPU time instead would itself take time."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)

    def timed(self, part: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function, with its time added to a part."""

        def call(*arguments: Any, **options: Any) -> Any:
            before = time.perf_counter()
            result = function(*arguments, **options)
            self.seconds[part] += time.perf_counter() - before
            return result

        return call

    def proxy(self, kind: Callable[..., Any], parts: dict[str, str]) -> Callable[..., Any]:
        """Return a stand-in for a class of the core whose methods are timed."""
        clock = self

        class Proxy:
            def __init__(self, *arguments: Any) -> None:
                self._inner = kind(*arguments)

            def __getattr__(self, name: str) -> Any:
                value = getattr(self._inner, name)
                if name not in parts:
                    return value
                timed = clock.timed(parts[name], value)
                setattr(self, name, timed)
                return timed

        return Proxy


def main() -> None:
    """Search, and print what it took."""
    problem, method = benchmarks.get(sys.argv[1]), methods.get(METHOD)
    library, (train, test) = problem.library, problem.datasets()
    space, clock = method.space(library), Clock()
    core: Any = _core
    kept: list[Any] = []
    made = itertools.count()
    next_generation = clock.timed("variation", core.next_generation)

    def keep_some(*arguments: Any) -> Any:
        children = next_generation(*arguments)
        if next(made) % EVERY == 0:
            kept.append(children[:2])
        return children

    core.next_generation = keep_some
    core.Cache = clock.proxy(core.Cache, {"score": "evaluation"})
    core.Lstm = clock.proxy(core.Lstm, {"sample": "sampling", "ascend": "training"})
    task = RegressionTask(library, train, RegressionSettings(solved_nmse=0.0), test=test)
    ready = time.perf_counter()
    steps = iter(search.Search(space, task, method.settings, seed=0, budget=method.budget))
    step = next(steps)
    first_step = time.perf_counter()
    for later in steps:
        step = later
    total, elapsed = time.process_time(), time.perf_counter() - START
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    # Every child is checked about once while it is made; some are here once more, to see what that costs.
    before = time.perf_counter()
    for tokens, lengths in kept:
        space.rules.violations(tokens, lengths)
    constraints = (time.perf_counter() - before) * EVERY
    shares = {part: seconds / elapsed for part, seconds in clock.seconds.items()}
    shares["start-up"] = (ready - START) / elapsed
    shares["python"] = 1.0 - sum(shares.values())
    shares["constraints"] = constraints / elapsed
    shares["variation"] -= shares["constraints"]
    figures = {
        "charged_per_cpu_second": step.charged / total,
        "cpu_seconds": total,
        "charged": step.charged,
        "evaluated": step.evaluated,
        "unique": step.unique,
        "steps": step.index + 1,
        "share": shares,
        "memory_mb": memory,
        "import_seconds": IMPORTED - START,
        "first_step_seconds": first_step - START,
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
