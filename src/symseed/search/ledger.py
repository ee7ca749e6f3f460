"""What a search has done: its steps, its snapshots, and the ledger of its budget and its best row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from symseed.completion.completer import CompletionCounts
from symseed.language.expression import Expression
from symseed.scoring.task import Scored, Task
from symseed.search.budget import Budget, StopReason, Timer
from symseed.search.learning import Learner, Learning, Part
from symseed.search.policy import Learnt
from symseed.search.training import Memory


@dataclass(frozen=True, slots=True)
class Step:
    """The search after one round."""

    index: int
    best: Expression
    reward: float
    charged: int
    evaluated: int
    unique: int
    completion: CompletionCounts
    """Counts of completion; all 0 without completion."""
    seconds: float
    learning: Learning
    """Statistics of the round."""
    found_by: Part | None
    """Part that found `best` in this round; None if the best is that of an earlier round."""
    reason: StopReason | None
    """Reason why the search ends here; None if it continues."""

    @property
    def sampled(self) -> float:
        """Mean reward of the policy's samples; without a policy, of evolution's seeds."""
        return np.nan if self.learning.sampled is None else self.learning.sampled.mean

    @property
    def evolved(self) -> float:
        """Mean reward of the last generation; without evolution, equal to `sampled`."""
        return self.sampled if self.learning.evolved is None else self.learning.evolved.mean


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A search between two rounds: all that the next round depends on.

    Caches are not part of it: a search resumed from a snapshot has a new cache of rewards and a new completion table.
    """

    rounds: int
    policy: Learnt | None
    """The policy's learnt values; None without a policy."""
    memory: Memory
    best: Scored
    charged: int
    evaluated: int
    unique: int
    completion: CompletionCounts
    seconds: float
    elite: Scored | None
    queue: Scored | None
    last: Scored | None


class Ledger:
    """Charges the budget, keeps the best row, and decides when the search ends."""

    def __init__(
        self,
        task: Task,
        budget: Budget,
        watch: Callable[[Scored, Part], None] | None,
        begin: Snapshot | None,
        *,
        ends_late: bool,
    ) -> None:
        self._task, self._watch, self._ends_late = task, watch, ends_late
        self._timer = Timer(budget, before=0.0 if begin is None else begin.seconds)
        earlier = (0, 0) if begin is None else (begin.evaluated, begin.unique)
        self._before = earlier[0] - task.counts.evaluated, earlier[1] - task.counts.unique
        self._charged = 0 if begin is None else begin.charged
        self._best: Scored | None = None if begin is None else begin.best
        self._reward = -np.inf if self._best is None else float(self._best.reward[0])
        self.reason: StopReason | None = None
        self._index = 0
        self._found_by: Part | None = None
        self.learner = Learner()

    @property
    def is_over(self) -> bool:
        """Whether the search ends."""
        return self.reason is not None

    @property
    def best(self) -> Scored:
        """The best row so far."""
        assert self._best is not None, "a step has scored something"
        return self._best

    def begin(self, index: int) -> None:
        """Begin a round."""
        self._index = index
        self._found_by = None
        self.learner.begin(index)

    def note(self, scored: Scored, part: Part, *, charged: int) -> None:
        """Record rows that a part of the search made."""
        self._charged += charged
        if self._watch is not None:
            self._watch(scored, part)
        row = int(scored.reward.argmax())
        if scored.reward[row] > self._reward or self._best is None:
            self._take(scored, row, part)
        if self._ends_late:
            return
        if np.count_nonzero(scored.solved):
            # The shortest solution counts, and among equally short ones the best.
            solved = np.flatnonzero(scored.solved)
            order = np.lexsort((-scored.reward[solved], scored.population.lengths[solved]))
            self._take(scored, int(solved[order[0]]), part)
            self.reason = StopReason.SOLVED
        else:
            self.reason = self._timer.spent(self._charged)

    def close(self) -> None:
        """End a round; if nothing may end the search before, see whether it ends here."""
        if self._ends_late:
            self.reason = StopReason.SOLVED if self.best.solved[0] else self._timer.spent(self._charged)

    def _take(self, scored: Scored, row: int, part: Part) -> None:
        self._best = scored.take(np.array([row]))
        self._reward = float(scored.reward[row])
        self._found_by = part

    def interrupt(self) -> None:
        """End the search by Ctrl-C; if there is nothing to answer with, that goes on."""
        if self._best is None:
            raise KeyboardInterrupt
        self.end(StopReason.INTERRUPTED)

    def end(self, reason: StopReason) -> None:
        """End the search, unless it has ended already."""
        self.reason = self.reason or reason

    def step(self, completion: CompletionCounts) -> Step:
        """Return the search as it is now."""
        now = self._task.counts
        return Step(
            index=self._index,
            best=self.best.population[0],
            reward=self._reward,
            charged=self._charged,
            evaluated=self._before[0] + now.evaluated,
            unique=self._before[1] + now.unique,
            completion=completion,
            seconds=self._timer.elapsed,
            learning=self.learner.learning,
            found_by=self._found_by,
            reason=self.reason,
        )
