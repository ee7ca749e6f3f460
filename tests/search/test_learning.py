"""What a search shows of its learning: the statistics are those of its populations, and a callback may end it."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from symseed import Dataset, Expression, FunctionTask, Library, RegressionSettings, RegressionTask, SearchSpace
from symseed.completion import CompletionSettings
from symseed.language import Population
from symseed.scoring import Scored
from symseed.search import (
    Batch,
    Budget,
    EvolutionSettings,
    Learning,
    Lesson,
    LSTMPolicy,
    Part,
    PolicySettings,
    Search,
    SearchSettings,
    Seeds,
    Step,
    StopReason,
    VanillaTrainer,
    run,
)

LIBRARY = Library.of(["add", "sub", "mul", "div", "sin", "exp"], 1)
SPACE = SearchSpace(LIBRARY)
SMALL = SearchSettings(batch=50, evolution=EvolutionSettings(4))


def task() -> RegressionTask:
    x = np.random.default_rng(0).uniform(0.0, 2.0, 20)
    return RegressionTask(LIBRARY, Dataset.of(x, np.log(x + 1.0)), RegressionSettings(solved_nmse=0.0))


class Watched(LSTMPolicy):
    """Keeps each of its lessons, with the entropies and probabilities at that time."""

    def __init__(self) -> None:
        super().__init__(SPACE, PolicySettings(precision=64), seed=1)
        self.samples: list[Population] = []
        self.entropies: list[float] = []
        self.losses: list[float] = []

    def sample(self, count: int, *, seed: int, step: int) -> Population:
        self.samples.append(super().sample(count, seed=seed, step=step))
        return self.samples[-1]

    def ascend(self, lesson: Lesson) -> None:
        few = self.samples[-1].take(np.array([0, 13, 26, 39]))
        self.entropies.append(self.entropy(few).sum() / few.lengths.sum())
        bonus = self.entropy(lesson.population) @ lesson.entropy_decay ** np.arange(lesson.population.tokens.shape[1])
        objective = lesson.weights @ self.log_probability(lesson.population) + lesson.entropy_weight * bonus.mean()
        self.losses.append(-objective)
        super().ascend(lesson)


def searched(settings: SearchSettings = SMALL, **more: object) -> tuple[list[Step], list[tuple[Scored, Part]]]:
    seen: list[tuple[Scored, Part]] = []
    search = Search(
        SPACE,
        task(),
        settings,
        budget=Budget(2_000),
        watch=lambda scored, part: seen.append((scored, part)),
        **more,  # type: ignore[arg-type]
    )
    return list(search), seen


def test_a_batch_summarises_rewards_lengths_repeats_and_failures() -> None:
    population = Population.from_expressions([Expression.parse(text, LIBRARY) for text in ["x1", "x1 + x1"] * 5])
    scored = dataclasses.replace(
        Scored.of(population, np.arange(10.0)[::-1]),
        computed=np.array([True] * 2 + [False] * 8),
        failure=np.array([1] + [0] * 9, dtype=np.uint8),
    )
    assert Batch.of(scored) == Batch(
        count=10, mean=4.5, low=0.0, median=4.0, high=8.0, best=9.0, length=2.0, repeated=0.8, failed=0.1
    )


def test_a_step_summarises_the_samples_and_the_last_generation_of_its_round() -> None:
    steps, seen = searched()
    for step in steps[:-1]:
        samples, *others = seen[6 * step.index : 6 * step.index + 6]  # samples, as seeds too, and four generations
        assert samples[1] is Part.POLICY
        assert step.learning.sampled == Batch.of(samples[0])
        assert step.learning.evolved == Batch.of(others[-1][0])
        assert others[-1][1] is Part.EVOLUTION
    assert len(steps) > 3


def test_entropy_and_loss_are_those_of_the_policy_before_its_training_step_in_every_fourth_round() -> None:
    policy = Watched()
    steps, _ = searched(policy=policy)
    measured = [step for step in steps[:-1] if step.learning.entropy is not None]
    assert [step.index for step in measured] == list(range(0, len(steps) - 1, 4))
    assert len(measured) > 1
    for step in measured:
        assert step.learning.entropy == pytest.approx(policy.entropies[step.index])
        assert step.learning.loss == pytest.approx(policy.losses[step.index])
    assert measured[0].learning.entropy != measured[1].learning.entropy


def test_the_loss_of_a_large_lesson_is_estimated_on_a_few_of_its_rows() -> None:
    policy = Watched()
    steps, _ = searched(dataclasses.replace(SMALL, trainer=VanillaTrainer()), policy=policy)
    estimate, loss = steps[0].learning.loss, policy.losses[0]
    assert estimate is not None
    assert estimate != loss
    assert 0.05 < estimate / loss < 20.0


def test_a_policy_that_tells_no_entropy_and_a_search_without_a_policy_have_none() -> None:
    class Silent:
        def __init__(self) -> None:
            self.inner = LSTMPolicy(SPACE, seed=1)
            self.sample, self.log_probability = self.inner.sample, self.inner.log_probability
            self.ascend = self.inner.ascend

    for steps, _ in (
        searched(policy=Silent()),
        searched(dataclasses.replace(SMALL, policy=None, seeds=Seeds.RANDOM)),
    ):
        assert all(step.learning.entropy is None and step.learning.loss is None for step in steps)
        assert all(step.learning.sampled is not None for step in steps)


def test_without_evolution_nothing_evolves() -> None:
    steps, _ = searched(dataclasses.replace(SMALL, evolution=None))
    assert all(step.learning.evolved is None and step.evolved == step.sampled for step in steps)


def test_each_improvement_names_the_part_that_found_it() -> None:
    steps, seen = searched()
    best = -math.inf
    for step in steps[:-1]:
        found = None
        for scored, part in seen[6 * step.index : 6 * step.index + 6]:
            if scored.reward.max() > best:
                best, found = float(scored.reward.max()), part
        assert step.found_by is found
        assert step.reward == best
    assert steps[0].found_by is not None
    assert None in {step.found_by for step in steps}


def test_completion_and_random_trees_are_parts_of_their_own() -> None:
    completed = dataclasses.replace(SMALL, completion=CompletionSettings())
    assert {part for _, part in searched(completed)[1]} >= {Part.POLICY, Part.EVOLUTION}
    x = np.linspace(0.5, 2.0, 20)
    easy = RegressionTask(LIBRARY, Dataset.of(x, np.sin(x * x) + x * x / np.exp(x)))
    last = run(SPACE, easy, completed, seed=0, budget=Budget(50_000)).history[-1]
    assert (last.reason, last.found_by) == (StopReason.SOLVED, Part.COMPLETION)
    unguided = dataclasses.replace(SMALL, policy=None, seeds=Seeds.RANDOM)
    assert {part for _, part in searched(unguided)[1]} == {Part.RANDOM, Part.EVOLUTION}


# --- Callbacks -------------------------------------------------------------------------------------------------------


def test_a_callback_sees_every_step_and_ends_the_search_by_a_true_value() -> None:
    seen: list[Step] = []

    def third(step: Step) -> bool:
        seen.append(step)
        return step.index == 2

    result = run(SPACE, task(), SMALL, budget=Budget(1_000_000), callback=third)
    assert result.reason is StopReason.CALLBACK
    assert [step.index for step in result.history] == [0, 1, 2]
    assert [step.reason for step in result.history] == [None, None, StopReason.CALLBACK]
    assert seen == [dataclasses.replace(step, reason=None) for step in result.history]
    assert all(isinstance(step.learning, Learning) for step in seen)


def test_a_callback_that_only_looks_changes_nothing() -> None:
    plain = run(SPACE, task(), SMALL, budget=Budget(1_000))
    watched = run(SPACE, task(), SMALL, budget=Budget(1_000), callback=lambda _: None)
    assert [dataclasses.replace(step, seconds=0.0) for step in plain.history] == [
        dataclasses.replace(step, seconds=0.0) for step in watched.history
    ]


def test_a_search_that_has_ended_keeps_its_reason_whatever_the_callback_says() -> None:
    solved = FunctionTask(LIBRARY, lambda expression: -len(expression), solved_at=-4.0)
    result = run(SearchSpace(LIBRARY, 4, 4), solved, SMALL, budget=Budget(1_000), callback=lambda _: True)
    assert result.is_solved


def test_an_exception_of_a_callback_goes_on_and_ctrl_c_in_it_ends_the_search() -> None:
    def fail(_: Step) -> None:
        raise RuntimeError("a bug of the user")

    def interrupt(_: Step) -> None:
        raise KeyboardInterrupt

    with pytest.raises(RuntimeError, match="a bug of the user"):
        run(SPACE, task(), SMALL, budget=Budget(1_000), callback=fail)
    result = run(SPACE, task(), SMALL, budget=Budget(1_000), callback=interrupt)
    assert result.reason is StopReason.INTERRUPTED
    assert len(result.history) == 1
