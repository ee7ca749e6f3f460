"""How much of a search's time its statistics take: rewards, sizes, entropy and loss of every round.

    python perf/watching.py

Two equal searches, one of which computes no statistics, take turns of four rounds, so that other work on the machine
meets both alike. Printed are the medians of their CPU times, and, for scale, the same of two searches without.
"""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Iterator

from symseed import Budget, RegressionSettings, RegressionTask, benchmarks, methods
from symseed.search import Learning, Search, Step
from symseed.search.learning import Learner

TURNS, ROUNDS = 100, 4
CASES = (("nggp", "Livermore-8"), ("nggp", "Nguyen-12"), ("dsr", "Nguyen-12"), ("nggp-vpg", "Nguyen-12"))


class _Blind(Learner):
    """Computes nothing."""

    def teach(self, *_: object) -> None:
        """Do nothing."""

    @property
    def learning(self) -> Learning:
        """No statistics."""
        return Learning()


def _search(method_name: str, problem_name: str, *, is_watched: bool) -> Iterator[Step]:
    method, problem = methods.get(method_name), benchmarks.get(problem_name)
    task = RegressionTask(problem.library, problem.datasets()[0], RegressionSettings(solved_nmse=0.0))
    budget = Budget(100_000_000)
    search = Search(method.space(problem.library), task, method.settings, seed=0, budget=budget)
    if not is_watched:
        search._ledger.learner = _Blind()
    return iter(search)


def _seconds(steps: Iterator[Step]) -> float:
    start = time.process_time()
    for _ in itertools.islice(steps, ROUNDS):
        pass
    return (time.process_time() - start) / ROUNDS


def _compared(method: str, problem: str, *, is_watched: bool) -> tuple[float, float]:
    """The medians of two searches' microseconds per round; the second search computes no statistics."""
    pair = _search(method, problem, is_watched=is_watched), _search(method, problem, is_watched=False)
    times: tuple[list[float], list[float]] = ([], [])
    for turn in range(TURNS):
        for place in (0, 1) if turn % 2 else (1, 0):
            times[place].append(_seconds(pair[place]))
    return 1e6 * statistics.median(times[0]), 1e6 * statistics.median(times[1])


def main() -> None:
    """Compare."""
    for method, problem in CASES:
        seen, unseen = _compared(method, problem, is_watched=True)
        same, other = _compared(method, problem, is_watched=False)
        print(
            f"{method:10} {problem:12} {seen:8.0f} us a round, {unseen:8.0f} without: {seen / unseen - 1.0:+.1%} "
            f"(without and without: {same / other - 1.0:+.1%})"
        )


if __name__ == "__main__":
    main()
