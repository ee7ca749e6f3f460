"""Algorithm 1 of NGGP (Mundhenk et al. 2021): sample, score, evolve, train; repeat.

A `Search` is the algorithm, one `Step` per round; `run` follows it to its end. Progress bars, records and checkpoints
observe the steps from outside, and a callback may end it. Between two rounds the search can be saved as a `Snapshot`
and resumed from it.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np

from symseed.completion.completer import Completer, CompletionCounts, CompletionSettings
from symseed.errors import SettingsError
from symseed.language.expression import Expression
from symseed.scoring.task import HasDataset, Scored, Task
from symseed.search.budget import Budget, StopReason
from symseed.search.elite import Elite
from symseed.search.evolution import EvolutionSettings, evolve
from symseed.search.learning import Learner, Part
from symseed.search.ledger import Ledger, Snapshot, Step
from symseed.search.policy import (
    DataPolicyFactory,
    Learnt,
    Policy,
    PolicyFactory,
    PolicySettings,
    StatefulPolicy,
)
from symseed.search.streams import SearchSeeds
from symseed.search.training import OffPolicy, QueueTrainer, Trainer, corrected, first_memory
from symseed.space.space import SearchSpace


class Seeds(enum.Enum):
    """Where evolution's first population comes from."""

    POLICY = "policy"
    """The policy's newest samples: the paper's method."""
    RANDOM = "random"
    """New random trees each time: random restarts."""
    CONTINUE = "continue"
    """Random trees at first, then the last generation: one long run."""
    QUEUE = "queue"
    """The best `elite` different expressions that the policy ever sampled, as in GEGL (Ahn et al. 2020). They also
    replace the newest samples in the training set."""


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """Settings of a search. Defaults are the paper's."""

    batch: int = 500
    """N: number of expressions that the policy samples each step, and that evolve."""

    policy: PolicyFactory | DataPolicyFactory | None = field(default_factory=PolicySettings)
    """Builds the policy, by default the paper's LSTM; None: no policy, evolution only."""

    trainer: Trainer = field(default_factory=QueueTrainer)

    evolution: EvolutionSettings | None = field(default_factory=EvolutionSettings)
    """Settings of evolution; None: no evolution, the policy only."""

    seeds: Seeds = Seeds.POLICY

    heights: tuple[int, int] = (2, 5)
    """Least and greatest height of random trees, for `RANDOM` and `CONTINUE`; see `SearchSpace.random_trees`."""

    elite: int = 1
    """M: number of evolution's best, its seeds included, that train the policy."""

    elite_lasts: bool = False
    """Whether the elite is the best since the search began, not only of the newest round."""

    trains_on_samples: bool = True
    """Whether the policy's own samples are in its training set."""

    trains_on_elite: bool = True
    """Whether evolution's best are in the policy's training set."""

    completion: CompletionSettings | None = None
    """Settings of semantic completion; None: no completion, as in the paper."""

    whole_rounds: bool = False
    """Whether a solution and the end of the budget are noticed at the end of a round only, as in the authors' released
    code. The answer is then the row of the best reward, which must be a solution itself to count as one."""

    off_policy: OffPolicy = OffPolicy.NONE
    """Weight of training rows that evolution made and the policy did not sample."""

    def __post_init__(self) -> None:
        """Refuse what cannot run."""
        if self.batch < 2 or self.elite < 1:
            raise SettingsError(
                f"`batch` must be at least 2 and `elite` at least 1, but they are {self.batch} and {self.elite}."
            )
        if len(self.heights) != 2 or not 1 <= self.heights[0] <= self.heights[1] <= 16:
            raise SettingsError(f"`heights` must be two numbers from 1 to 16, the least first, but is {self.heights}.")
        if self.policy is None and self.evolution is None:
            raise SettingsError("A search needs a policy, evolution or both, but both are None.")
        if self.evolution is None and self.seeds is not Seeds.POLICY:
            raise SettingsError(f"`seeds` is {self.seeds.name}, but there is no evolution to seed.")
        if self.policy is None and self.seeds in (Seeds.POLICY, Seeds.QUEUE):
            raise SettingsError(f"`seeds` is {self.seeds.name}, which needs a policy. Use RANDOM or CONTINUE.")
        if not self.trains_on_samples and not (self.trains_on_elite and self.evolution is not None):
            raise SettingsError("The policy must be trained on its samples, on evolution's best, or on both.")


Callback: TypeAlias = Callable[[Step], object]
"""Called after every round; the search ends if it returns something true."""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What a search found."""

    best: Expression
    reward: float
    reason: StopReason
    history: tuple[Step, ...]
    seed: int
    settings: SearchSettings
    budget: Budget

    @property
    def is_solved(self) -> bool:
        """Whether the task says that `best` solves it."""
        return self.reason is StopReason.SOLVED


def run(
    space: SearchSpace,
    task: Task,
    settings: SearchSettings | None = None,
    *,
    seed: int = 0,
    budget: Budget | None = None,
    policy: Policy | None = None,
    callback: Callback | None = None,
) -> SearchResult:
    """Search until the task is solved or the budget is used up; Ctrl-C ends it with the best so far.

    Args:
        policy: policy to use in place of the one that `settings.policy` builds.
        callback: called with the `Step` of every round; the search ends if it returns something true.

    Raises:
        KeyboardInterrupt: on Ctrl-C before anything was scored.
    """
    chosen, limit = settings or SearchSettings(), budget or Budget()
    history = tuple(Search(space, task, chosen, seed=seed, budget=limit, policy=policy, callback=callback))
    last = history[-1]
    assert last.reason is not None, "the last step says why it is the last"
    return SearchResult(last.best, last.reward, last.reason, history, seed, chosen, limit)


class Search:
    """A search under way: iterate over its steps, of which the last has a reason."""

    def __init__(
        self,
        space: SearchSpace,
        task: Task,
        settings: SearchSettings,
        *,
        seed: int = 0,
        budget: Budget,
        policy: Policy | None = None,
        callback: Callback | None = None,
        watch: Callable[[Scored, Part], None] | None = None,
        begin: Snapshot | None = None,
    ) -> None:
        """Prepare a search.

        Args:
            policy: policy to use in place of the one that `settings.policy` builds.
            callback: called with every step before it is given; the step is the last if it returns something true.
            watch: called with every population after it is scored, and the part that made it.
            begin: snapshot to resume from; the other arguments must be those of the search that gave it.
        """
        self._space, self._task, self._settings = space, task, settings
        self._streams = SearchSeeds.of(seed)
        if policy is None and settings.policy is not None:
            policy = _built(settings.policy, space, task, seed=self._streams.policy)
        self._policy, self._callback = policy, callback
        self._ledger = Ledger(task, budget, watch, begin, ends_late=settings.whole_rounds)
        self._completer = _completer(space, task, settings, begin)
        self._seeder = _Seeder(space, task, settings, self._streams.seeds, begin)
        self._elite = Elite(settings.elite)
        self._memory = first_memory(settings.trainer)
        self._rounds = 0
        if begin is not None:
            self._rounds, self._memory = begin.rounds, begin.memory
            if begin.elite is not None:
                self._elite.add(begin.elite)
            if begin.policy is not None:
                assert isinstance(policy, StatefulPolicy), "snapshots are taken of such policies only"
                policy.restore(begin.policy)

    def __iter__(self) -> Iterator[Step]:
        """Give one `Step` per round of Algorithm 1."""
        while not self._ledger.is_over:
            try:
                self._ledger.begin(self._rounds)
                self._round(self._rounds)
                self._ledger.close()
            except KeyboardInterrupt:
                self._ledger.interrupt()
            self._rounds += 1
            yield self._seen(self._ledger.step(self._completion))

    def _seen(self, step: Step) -> Step:
        """Return the step after a call of the callback, which may end the search."""
        if self._callback is None:
            return step
        try:
            if self._callback(step):
                self._ledger.end(StopReason.CALLBACK)
        except KeyboardInterrupt:
            self._ledger.end(StopReason.INTERRUPTED)
        return replace(step, reason=self._ledger.reason)

    @property
    def learnt(self) -> Learnt | None:
        """What the policy has learnt; None without a policy, and for one without `snapshot`."""
        return self._policy.snapshot() if isinstance(self._policy, StatefulPolicy) else None

    @property
    def learner(self) -> Learner:
        """Knows the statistics of the round, and how the rows came about that `watch` receives."""
        return self._ledger.learner

    def snapshot(self) -> Snapshot:
        """Return what the next round depends on."""
        if self._policy is not None and not isinstance(self._policy, StatefulPolicy):
            raise SettingsError(
                f"A snapshot needs a policy with `snapshot` and `restore`, which {type(self._policy).__name__} lacks."
            )
        step = self._ledger.step(self._completion)
        return Snapshot(
            rounds=self._rounds,
            policy=None if self._policy is None else self._policy.snapshot(),
            memory=self._memory,
            best=self._ledger.best,
            charged=step.charged,
            evaluated=step.evaluated,
            unique=step.unique,
            completion=step.completion,
            seconds=step.seconds,
            elite=self._elite.best if self._settings.elite_lasts else None,
            queue=self._seeder.queue.best,
            last=self._seeder.last if self._settings.seeds is Seeds.CONTINUE else None,
        )

    def _round(self, index: int) -> None:
        settings, ledger, task = self._settings, self._ledger, self._task
        samples = None
        if self._policy is not None:
            samples = task.evaluate(self._policy.sample(settings.batch, seed=self._streams.samples, step=index))
            ledger.learner.sample(samples)
            ledger.note(samples, Part.POLICY, charged=len(samples))
            if self._completer is not None:
                self._completer.add(samples, ledger)
        seeds = None
        if settings.evolution is not None and not ledger.is_over:
            seeds = self._seeder.seeds(samples, index)
            ledger.learner.sample(seeds.scored, seeds.part)
            ledger.note(seeds.scored, Part.RANDOM if seeds.charged else Part.POLICY, charged=seeds.charged)
            self._evolve(settings.evolution, seeds.scored, index)
        if self._policy is not None and not ledger.is_over:
            sources = seeds.scored if seeds is not None and settings.seeds is Seeds.QUEUE else samples
            lesson, self._memory = settings.trainer.lesson(
                self._memory,
                _training_set(settings, sources, self._elite.best),
                seed=self._streams.training,
                step=index,
            )
            if settings.off_policy is OffPolicy.TRUNCATED and samples is not None:
                lesson = corrected(lesson, samples.population, self._policy)
            ledger.learner.teach(self._policy, lesson)
            self._policy.ascend(lesson)

    def _evolve(self, evolution: EvolutionSettings, seeds: Scored, index: int) -> None:
        settings, ledger = self._settings, self._ledger
        self._elite = self._elite if settings.elite_lasts else Elite(settings.elite)
        self._elite.add(seeds)
        threads = settings.policy.threads if isinstance(settings.policy, PolicySettings) else 1
        seed = self._streams.evolution
        for generation in evolve(self._space, self._task, seeds, evolution, seed=seed, run=index, threads=threads):
            self._elite.add(generation.scored)
            self._seeder.last = generation.scored
            ledger.learner.evolve(generation.scored, generation.origin)
            ledger.note(generation.scored, Part.EVOLUTION, charged=generation.charged)
            if self._completer is not None and self._completer.takes_generations:
                self._completer.add(generation.scored, ledger)
            if ledger.is_over:
                break

    @property
    def _completion(self) -> CompletionCounts:
        return CompletionCounts() if self._completer is None else self._completer.counts


def _built(factory: PolicyFactory | DataPolicyFactory, space: SearchSpace, task: Task, *, seed: int) -> Policy:
    """The policy of a search before its first lesson."""
    if not isinstance(factory, DataPolicyFactory):
        return factory.build(space, seed=seed)
    if not isinstance(task, HasDataset):
        raise SettingsError(
            f"`policy` needs a task with data to read, one with a `dataset`, but this is a {type(task).__name__}. Use "
            "another policy."
        )
    return factory.build_for(space, task.dataset, seed=seed)


def _training_set(settings: SearchSettings, samples: Scored | None, elite: Scored | None) -> Scored:
    """The training set of the policy: its samples, evolution's best, or both."""
    parts = []
    if settings.trains_on_elite and elite is not None:
        parts.append(elite)
    if settings.trains_on_samples and samples is not None:
        parts.append(samples)
    return parts[0] if len(parts) == 1 else Scored.concatenate(parts)


def _completer(space: SearchSpace, task: Task, settings: SearchSettings, begin: Snapshot | None) -> _Completed | None:
    if settings.completion is None:
        return None
    if not isinstance(task, HasDataset):
        raise SettingsError(
            f"`completion` needs a task with data to complete rows for, one with a `dataset`, but this is a "
            f"{type(task).__name__}. Leave it None."
        )
    before = CompletionCounts() if begin is None else begin.completion
    return _Completed(task, Completer(space, task.dataset, settings.completion), before)


@dataclass(frozen=True, slots=True)
class _Seeded:
    scored: Scored
    charged: int
    part: Part
    """The part that made it in this round or an earlier one."""


class _Seeder:
    """Makes the first population of evolution."""

    def __init__(
        self, space: SearchSpace, task: Task, settings: SearchSettings, seed: int, begin: Snapshot | None
    ) -> None:
        self._space, self._task, self._seed = space, task, seed
        self._kind, self._batch, self._heights = settings.seeds, settings.batch, settings.heights
        self.queue = Elite(settings.elite)
        self.last: Scored | None = None if begin is None else begin.last  # the newest generation
        if begin is not None and begin.queue is not None:
            self.queue.add(begin.queue)

    def seeds(self, samples: Scored | None, step: int) -> _Seeded:
        if self._kind is Seeds.POLICY and samples is not None:
            return _Seeded(samples, 0, Part.POLICY)
        if self._kind is Seeds.QUEUE and samples is not None:
            self.queue.add(samples)
            assert self.queue.best is not None, "samples were just added"
            return _Seeded(self.queue.best, 0, Part.POLICY)
        if self._kind is Seeds.CONTINUE and self.last is not None:
            return _Seeded(self.last, 0, Part.EVOLUTION)
        trees = self._space.random_trees(self._batch, seed=self._seed, step=step, heights=self._heights)
        return _Seeded(self._task.evaluate(trees), self._batch, Part.RANDOM)


class _Completed:
    """Completes scored rows and scores the results too; the populations of the search stay unchanged."""

    def __init__(self, task: Task, completer: Completer, before: CompletionCounts) -> None:
        self._task, self._completer, self._before = task, completer, before

    @property
    def counts(self) -> CompletionCounts:
        before, now = self._before, self._completer.counts
        return CompletionCounts(before.lookups + now.lookups, before.hits + now.hits, before.splices + now.splices)

    @property
    def takes_generations(self) -> bool:
        return self._completer.settings.generations

    def add(self, scored: Scored, ledger: Ledger) -> None:
        if ledger.is_over:
            return
        rows = np.flatnonzero(scored.computed & (scored.failure == 0))
        completed, parents = self._completer.completions(scored.population, rows)
        if len(completed):
            ledger.learner.complete(completed, parents)
            ledger.note(self._task.evaluate(completed), Part.COMPLETION, charged=len(completed))
