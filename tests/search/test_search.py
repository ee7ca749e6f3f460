"""The whole search: it stops where it should, repeats itself, learns from what it says, and finds formulas."""

from __future__ import annotations

import dataclasses
import itertools
import math
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import reference
from symseed import (
    DataError,
    Dataset,
    Expression,
    Library,
    Population,
    RegressionSettings,
    RegressionTask,
    SearchSpace,
    SettingsError,
    benchmarks,
    evaluate,
    methods,
)
from symseed.arrays import Floats
from symseed.completion.completer import Completer, CompletionCounts, CompletionSettings
from symseed.scoring.task import Counts, FunctionTask, Scored, Task
from symseed.search.budget import Budget, StopReason
from symseed.search.evolution import EvolutionSettings
from symseed.search.ledger import Step
from symseed.search.policy import Lesson, LSTMPolicy, PolicySettings
from symseed.search.search import Search, SearchResult, SearchSettings, Seeds, run
from symseed.search.training import (
    CrossEntropyTrainer,
    Memory,
    QueueTrainer,
    RiskSeekingTrainer,
    Trainer,
    VanillaTrainer,
)
from symseed.search.variation import VariationSettings
from symseed.space.priors import SoftLength

KOZA = Library.of(["add", "sub", "mul", "div", "sin", "cos", "exp", "log"], 1)
SPACE = SearchSpace(KOZA)
SMALL = SearchSettings(batch=50, evolution=EvolutionSettings(4))
"""A round of some 200 expressions."""
FROZEN = EvolutionSettings(2, VariationSettings(crossover=0.0, mutation=0.0))
"""Evolution that selects and changes nothing, so that where its rows come from can be seen."""
WHOLE = dataclasses.replace(SMALL, whole_rounds=True)
every_seeds = pytest.mark.parametrize("seeds", Seeds, ids=lambda seeds: seeds.name)


def nguyen7(*, solved_nmse: float = 1e-12, threads: int = 1) -> RegressionTask:
    x = np.random.default_rng(0).uniform(0.0, 2.0, 20)
    data = Dataset.of(x, np.log(x + 1.0) + np.log(x * x + 1.0))
    return RegressionTask(KOZA, data, RegressionSettings(solved_nmse=solved_nmse, threads=threads))


def easy() -> RegressionTask:
    """y = x^3 + x^2 + x, which evolution soon finds, and which no sample is."""
    x = np.random.default_rng(0).uniform(-1.0, 1.0, 20)
    return RegressionTask(KOZA, Dataset.of(x, x**3 + x**2 + x))


def unending(expression: Expression) -> float:
    """Reward short rows; nothing solves it."""
    return -float(len(expression))


def height(node: reference.Node) -> int:
    return 1 + max(map(height, node.children)) if node.children else 0


def timeless(history: tuple[Step, ...]) -> list[Step]:
    return [dataclasses.replace(step, seconds=0.0) for step in history]


def keys(population: Population) -> list[bytes]:
    return [row.tobytes() for row in population.fingerprints]


class RecordingTask:
    """Keeps every population that it scores, and may do something before each."""

    def __init__(self, inner: Task, before: Callable[[int], None] = lambda call: None) -> None:
        self.inner, self.before = inner, before
        self.asked: list[Scored] = []

    @property
    def counts(self) -> Counts:
        return self.inner.counts

    def evaluate(self, population: Population) -> Scored:
        self.before(len(self.asked))
        self.asked.append(self.inner.evaluate(population))
        return self.asked[-1]


class RecordingTrainer:
    """Keeps what a trainer is given and gives."""

    def __init__(self, inner: Trainer) -> None:
        self.inner = inner
        self.given: list[Scored] = []
        self.lessons: list[Lesson] = []
        self.memories: list[Memory] = []

    def lesson(self, memory: Memory, scored: Scored, *, seed: int, step: int) -> tuple[Lesson, Memory]:
        assert step == len(self.given)
        self.given.append(scored)
        self.memories.append(memory)
        lesson, after = self.inner.lesson(memory, scored, seed=seed, step=step)
        self.lessons.append(lesson)
        return lesson, after


class PriorPolicy:
    """A policy of another kind: it samples from the priors, and writes down what it is taught."""

    def __init__(self, space: SearchSpace) -> None:
        self.space = space
        self.samples: list[Population] = []
        self.lessons: list[Lesson] = []

    def sample(self, count: int, *, seed: int, step: int) -> Population:
        assert step == len(self.samples)
        self.samples.append(self.space.sample(count, seed=seed, step=step))
        return self.samples[-1]

    def log_probability(self, population: Population) -> Floats:
        return np.zeros(len(population))

    def ascend(self, lesson: Lesson) -> None:
        self.lessons.append(lesson)


# --- The same again --------------------------------------------------------------------------------------------------


@every_seeds
def test_the_same_seed_gives_the_same_search(seeds: Seeds) -> None:
    settings = dataclasses.replace(SMALL, seeds=seeds)

    def found(seed: int) -> SearchResult:
        return run(SPACE, nguyen7(), settings, seed=seed, budget=Budget(1500))

    first, again, other = found(3), found(3), found(4)
    assert len(first.history) > 5
    assert timeless(again.history) == timeless(first.history)
    assert (again.best, again.reward, again.reason) == (first.best, first.reward, first.reason)
    assert [step.sampled for step in other.history] != [step.sampled for step in first.history]


def test_the_number_of_threads_does_not_show() -> None:
    def found(threads: int) -> SearchResult:
        settings = dataclasses.replace(SMALL, policy=PolicySettings(threads=threads))
        return run(SPACE, nguyen7(threads=threads), settings, seed=1, budget=Budget(2000))

    one, two = found(1), found(2)
    assert len(one.history) > 5
    assert timeless(one.history) == timeless(two.history)
    assert one.best == two.best


def test_pauses_between_steps_do_not_show() -> None:
    expected = run(SPACE, nguyen7(), SMALL, seed=5, budget=Budget(1500)).history
    found = []
    others = iter(Search(SPACE, nguyen7(), SMALL, seed=6, budget=Budget(10_000)))
    for step in Search(SPACE, nguyen7(), SMALL, seed=5, budget=Budget(1500)):
        found.append(step)
        next(others)  # another search in between
        time.sleep(0.002)
    assert timeless(tuple(found)) == timeless(expected)


def test_a_search_says_what_it_was() -> None:
    result = run(SPACE, nguyen7(), SMALL, seed=5, budget=Budget(500))
    assert (result.seed, result.settings, result.budget) == (5, SMALL, Budget(500))
    assert [step.index for step in result.history] == list(range(len(result.history)))
    assert all(step.reason is None for step in result.history[:-1])
    last = result.history[-1]
    assert (last.best, last.reward, last.reason) == (result.best, result.reward, result.reason)
    scored = nguyen7().evaluate(Population.from_expressions([result.best]))
    assert scored.reward[0] == result.reward


def test_steps_count_up_and_the_best_never_gets_worse() -> None:
    task = RecordingTask(nguyen7())
    history = run(SPACE, task, SMALL, seed=2, budget=Budget(2000)).history
    for before, after in itertools.pairwise(history):
        assert after.charged > before.charged
        assert after.reward >= before.reward
        assert after.seconds >= before.seconds
        assert after.evaluated >= before.evaluated
    assert history[-1].reward == max(scored.reward.max() for scored in task.asked)
    assert (history[-1].evaluated, history[-1].unique) == (task.counts.evaluated, task.counts.unique)
    assert 0 < history[-1].evaluated < history[-1].charged
    # Each full round asks about the samples, then about each of the generations.
    for index, step in enumerate(history[:-1]):
        asked = task.asked[5 * index : 5 * index + 5]
        assert step.sampled == asked[0].reward.mean()
        assert step.evolved == asked[-1].reward.mean()


def test_counts_are_those_of_this_search_though_the_task_was_used_before() -> None:
    task = nguyen7()
    task.evaluate(SPACE.sample(300, seed=99))
    before = task.counts
    last = run(SPACE, task, SMALL, budget=Budget(500)).history[-1]
    assert last.evaluated == task.counts.evaluated - before.evaluated > 0
    assert last.unique == task.counts.unique - before.unique > 0


# --- When it stops ---------------------------------------------------------------------------------------------------


def test_a_solution_ends_the_search_inside_its_round() -> None:
    settings = SearchSettings(batch=200)
    result = run(SPACE, easy(), settings, seed=0, budget=Budget(100_000))
    assert result.is_solved
    assert result.reason is StopReason.SOLVED
    assert result.reason.value == "The task is solved."
    x = np.linspace(-3.0, 3.0, 50)
    np.testing.assert_allclose(result.best.evaluate(x[:, None]), x**3 + x**2 + x, atol=1e-8)
    charged = [0, *(step.charged for step in result.history)]
    assert 200 < charged[-1] - charged[-2] < 200 + 25 * 0.7 * 200
    # With generations at hand one by one, the last that was asked for is the one with the solution.
    task = RecordingTask(easy())
    run(SPACE, task, settings, seed=0, budget=Budget(100_000))
    assert task.asked[-1].solved.any()
    assert not any(scored.solved.any() for scored in task.asked[:-1])


def test_a_sample_that_solves_the_task_ends_the_search_before_evolution() -> None:
    task = RecordingTask(FunctionTask(KOZA, unending, solved_at=-4.0))
    result = run(SearchSpace(KOZA, 4, 4), task, SMALL, budget=Budget(10_000))
    assert result.is_solved
    assert len(task.asked) == len(result.history) == 1
    assert result.history[0].charged == 50
    assert result.history[0].evolved == result.history[0].sampled == -4.0


def test_of_the_rows_that_solve_the_shortest_is_the_best_even_if_others_have_more_reward() -> None:
    class Odd:
        counts = Counts()

        def evaluate(self, population: Population) -> Scored:
            return Scored.of(population, np.arange(len(population)), np.arange(len(population)) % 9 == 5)

    policy = PriorPolicy(SearchSpace(KOZA, soft_length=SoftLength()))  # of rows of many lengths
    result = run(SPACE, Odd(), SMALL, seed=1, budget=Budget(10_000), policy=policy)
    assert result.is_solved
    lengths = policy.samples[0].lengths
    solved = [row for row in range(50) if row % 9 == 5]
    row = max(solved, key=lambda row: (-lengths[row], row))  # the reward is the row's number
    assert lengths[row] < lengths[solved].max()
    assert result.reward == row < 49
    assert result.best == policy.samples[0][row]


@pytest.mark.parametrize("expressions", [1, 49, 50, 333, 1000, 1234])
def test_a_budget_of_expressions_is_kept_to_within_one_generation(expressions: int) -> None:
    result = run(SPACE, nguyen7(), SMALL, budget=Budget(expressions))
    assert result.reason is StopReason.EXPRESSIONS
    assert result.reason.value == "The budget of expressions is used up."
    assert not result.is_solved
    assert expressions <= result.history[-1].charged < expressions + 50
    assert all(step.charged < expressions for step in result.history[:-1])


def test_a_budget_of_seconds_is_kept_to() -> None:
    begin = time.monotonic()
    result = run(SPACE, nguyen7(solved_nmse=0.0), SMALL, budget=Budget(None, seconds=0.3))
    assert result.reason is StopReason.SECONDS
    assert result.reason.value == "The time is up."
    assert 0.3 <= result.history[-1].seconds <= time.monotonic() - begin < 10.0
    assert len(result.history) > 1


def test_of_two_budgets_the_first_to_be_used_up_counts() -> None:
    assert run(SPACE, nguyen7(), SMALL, budget=Budget(300, seconds=100.0)).reason is StopReason.EXPRESSIONS
    slow = RecordingTask(nguyen7(), lambda call: time.sleep(0.02))
    assert run(SPACE, slow, SMALL, budget=Budget(10_000_000, seconds=0.1)).reason is StopReason.SECONDS


def test_a_budget_without_limits_is_refused() -> None:
    with pytest.raises(SettingsError, match="A budget limits `expressions`, `seconds` or both, but neither was given"):
        Budget(None)


def test_a_budget_may_have_a_clock_of_its_own() -> None:
    slow = RecordingTask(nguyen7(solved_nmse=0.0), lambda call: time.sleep(0.02))
    result = run(SPACE, slow, SMALL, budget=Budget(500, 0.1, time.process_time))
    assert result.reason is StopReason.EXPRESSIONS, "it slept for longer than 0.1 s, but asleep it used no CPU time"
    ticks = itertools.count()
    result = run(SPACE, nguyen7(solved_nmse=0.0), SMALL, budget=Budget(None, 30.0, lambda: float(next(ticks))))
    assert result.reason is StopReason.SECONDS


@pytest.mark.parametrize(
    "values",
    [
        {"expressions": 0},
        {"seconds": 0.0},
        {"seconds": -1.0},
        {"expressions": -5},
        {"expressions": None, "seconds": math.inf},
        {"expressions": None, "seconds": math.nan},
    ],
)
def test_a_budget_of_nothing_is_refused(values: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match="A budget must be above 0 and come to an end, but"):
        Budget(**values)


# --- Ctrl-C ----------------------------------------------------------------------------------------------------------


def interrupting(at: int) -> RecordingTask:
    def before(call: int) -> None:
        if call == at:
            raise KeyboardInterrupt

    return RecordingTask(nguyen7(), before)


@pytest.mark.parametrize("at", [1, 3, 5, 12])
def test_an_interrupted_search_gives_the_best_so_far(at: int) -> None:
    """Calls 0, 5, 10, ... score samples, those between them generations."""
    task = interrupting(at)
    result = run(SPACE, task, SMALL, seed=1, budget=Budget(1_000_000))
    assert result.reason is StopReason.INTERRUPTED
    assert result.reason.value == "The search was interrupted; this is the best so far."
    assert not result.is_solved
    assert len(task.asked) == at
    assert len(result.history) == at // 5 + 1
    assert result.reward == max(scored.reward.max() for scored in task.asked)
    assert task.inner.evaluate(Population.from_expressions([result.best])).reward[0] == result.reward
    last = result.history[-1]
    assert math.isnan(last.sampled) == math.isnan(last.evolved) == (at % 5 == 0)
    # What came before is as without the interruption.
    whole = run(SPACE, nguyen7(), SMALL, seed=1, budget=Budget(1000)).history
    assert timeless(result.history[:-1]) == timeless(whole[: at // 5])


def test_an_interruption_before_anything_was_scored_goes_on() -> None:
    with pytest.raises(KeyboardInterrupt):
        run(SPACE, interrupting(0), SMALL, budget=Budget(1000))


def test_an_interruption_while_the_policy_learns_gives_the_best_so_far() -> None:
    class Interrupted(PriorPolicy):
        def ascend(self, lesson: Lesson) -> None:
            super().ascend(lesson)
            if len(self.lessons) == 3:
                raise KeyboardInterrupt

    result = run(SPACE, nguyen7(), SMALL, budget=Budget(1_000_000), policy=Interrupted(SPACE))
    assert result.reason is StopReason.INTERRUPTED
    assert len(result.history) == 3
    assert not math.isnan(result.history[-1].evolved)


def test_other_exceptions_are_not_swallowed() -> None:
    def before(call: int) -> None:
        if call == 4:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run(SPACE, RecordingTask(nguyen7(), before), SMALL, budget=Budget(1000))


def test_ctrl_c_prints_the_best_so_far() -> None:
    script = """
        import os, signal, threading, time
        import numpy as np
        from symseed import Dataset, Library, RegressionSettings, RegressionTask, SearchSpace
        from symseed.search.budget import Budget
        from symseed.search.search import run
        signal.signal(signal.SIGINT, signal.default_int_handler)
        library = Library.of(["add", "sub", "mul", "div", "sin", "cos", "exp", "log"], 1)
        x = np.linspace(0.0, 2.0, 20)
        data = Dataset.of(x, np.log(x + 1.0) + np.log(x * x + 1.0))
        task = RegressionTask(library, data, RegressionSettings(solved_nmse=0.0))
        threading.Timer(0.7, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        begin = time.monotonic()
        result = run(SearchSpace(library), task, budget=Budget(None, seconds=60.0))
        print(result.reason.name, time.monotonic() - begin, result.reward, len(result.history), result.best, sep="|")
    """
    command = [sys.executable, "-c", textwrap.dedent(script)]
    answer = subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)
    assert answer.returncode == 0, answer.stderr
    reason, seconds, reward, rounds, best = answer.stdout.strip().split("|")
    assert reason == "INTERRUPTED"
    assert 0.6 < float(seconds) < 5.0
    assert float(reward) > 0.5
    assert int(rounds) > 1
    assert Expression.parse(best, KOZA).ids


# --- What it is made of ----------------------------------------------------------------------------------------------


def rounds(
    settings: SearchSettings, count: int, policy: PriorPolicy | None = None
) -> tuple[list[list[Scored]], SearchResult]:
    """Run so many rounds of frozen evolution; return what each of them scored, in order."""
    task = RecordingTask(nguyen7())
    found: list[list[Scored]] = []
    last: list[Step] = []
    for step in Search(SPACE, task, settings, seed=3, budget=Budget(1_000_000), policy=policy):
        found.append(task.asked[sum(map(len, found)) :])
        last.append(step)
        if len(found) == count:
            break
    return found, SearchResult(
        last[-1].best, last[-1].reward, StopReason.EXPRESSIONS, tuple(last), 3, settings, Budget()
    )


def assert_from(rows: list[Scored], source: set[bytes]) -> None:
    """The rows were selected from the source, and not all of it was."""
    for scored in rows:
        assert set(keys(scored.population)) < source


def test_evolution_begins_with_the_newest_samples() -> None:
    settings = SearchSettings(batch=100, evolution=FROZEN, seeds=Seeds.POLICY)
    policy = PriorPolicy(SPACE)
    found, result = rounds(settings, 4, policy)
    for index, scored in enumerate(found):
        assert len(scored) == 3
        assert keys(scored[0].population) == keys(policy.samples[index])
        assert_from(scored[1:], set(keys(policy.samples[index])))
    assert [step.charged for step in result.history] == [100, 200, 300, 400]


@pytest.mark.parametrize("has_policy", [True, False])
def test_evolution_begins_with_new_random_trees_each_time(has_policy: bool) -> None:
    settings = SearchSettings(batch=100, evolution=FROZEN, seeds=Seeds.RANDOM)
    if not has_policy:
        settings = dataclasses.replace(settings, policy=None)
    found, result = rounds(settings, 4)
    trees = [scored[1 if has_policy else 0].population for scored in found]
    for scored, seeds in zip(found, trees, strict=True):
        assert len(scored) == (4 if has_policy else 3)
        assert_from(scored[-2:], set(keys(seeds)))
        assert seeds.lengths.mean() < 20.0  # samples have nearly all the greatest length
    assert len({tuple(keys(seeds)) for seeds in trees}) == 4
    assert [step.charged for step in result.history] == [(200 if has_policy else 100) * i for i in (1, 2, 3, 4)]
    assert result.history[2].sampled == found[2][0].reward.mean()


@pytest.mark.parametrize("heights", [(1, 1), (1, 2), (3, 3)])
def test_random_trees_have_the_heights_that_were_asked_for(heights: tuple[int, int]) -> None:
    space = SearchSpace(SPACE.library, min_length=1, max_length=100)
    settings = SearchSettings(batch=100, policy=None, evolution=FROZEN, seeds=Seeds.RANDOM, heights=heights)
    drawn: list[Population] = []
    search = Search(
        space, nguyen7(), settings, budget=Budget(100), watch=lambda scored, part: drawn.append(scored.population)
    )
    next(iter(search))
    trees = [
        reference.tree(space.library, row[:length].tolist())
        for row, length in zip(drawn[0].tokens, drawn[0].lengths, strict=True)
    ]
    found = {height(root) for root in trees}
    assert (min(found), max(found)) == heights


def test_whole_rounds_end_with_the_best_reward_of_the_round_that_has_the_solution() -> None:
    early, late = (run(SPACE, easy(), settings, seed=3) for settings in (SMALL, WHOLE))
    assert early.is_solved
    assert late.is_solved
    assert len(early.history) == len(late.history)
    assert early.history[-1].charged < late.history[-1].charged
    assert late.reward >= early.reward
    full = np.diff([0, *(step.charged for step in late.history)])
    assert full.min() > 50 + 4 * 50 * 0.5  # samples, and of each generation about three quarters


def test_whole_rounds_use_up_the_round_in_which_the_budget_ends() -> None:
    early, late = (run(SPACE, nguyen7(), settings, budget=Budget(60)) for settings in (SMALL, WHOLE))
    assert early.history[-1].charged < 120
    assert late.history[-1].charged > 150
    assert (len(early.history), len(late.history)) == (1, 1)
    assert early.reason is late.reason is StopReason.EXPRESSIONS


def test_whole_rounds_answer_with_the_best_reward_even_beside_a_solution() -> None:
    """Of two rows that reach the threshold on the data, the test data refuse the better one."""
    task = FunctionTask(KOZA, lambda expression: 2.0 if len(expression) > 20 else 1.0 if len(expression) > 10 else 0.0)

    class Picky:
        """Solved by the second best reward only."""

        counts = task.counts

        def evaluate(self, population: Population) -> Scored:
            scored = task.evaluate(population)
            return dataclasses.replace(scored, solved=scored.reward == 1.0)

    early, late = (run(SPACE, Picky(), settings, budget=Budget(60)) for settings in (SMALL, WHOLE))
    assert (early.is_solved, early.reward) == (True, 1.0)
    assert (late.is_solved, late.reward) == (False, 2.0)


@pytest.mark.parametrize("has_policy", [True, False])
def test_evolution_goes_on_where_it_was(has_policy: bool) -> None:
    settings = SearchSettings(batch=100, evolution=FROZEN, seeds=Seeds.CONTINUE)
    if not has_policy:
        settings = dataclasses.replace(settings, policy=None, evolution=dataclasses.replace(FROZEN, generations=1))
    generations = 2 if has_policy else 1
    found, _ = rounds(settings, 3 if has_policy else 2)
    assert len(found[0]) == has_policy + 1 + generations  # samples, random trees, generations
    last = found[0][-1]
    for scored in found[1:]:
        assert len(scored) == has_policy + generations
        assert set(keys(scored[has_policy].population)) <= set(keys(last.population))
        last = scored[-1]


def test_continued_evolution_without_a_policy_is_one_long_run_and_is_charged_for_what_it_touches() -> None:
    settings = SearchSettings(batch=100, policy=None, seeds=Seeds.CONTINUE, evolution=EvolutionSettings(5))
    result = run(SPACE, nguyen7(solved_nmse=0.0), settings, budget=Budget(5000))
    per_round = np.diff([step.charged for step in result.history[:-1]])
    assert len(per_round) > 8
    assert np.mean(per_round) == pytest.approx(5 * 75, rel=0.05)
    assert result.history[-1].evolved > result.history[0].sampled + 0.2


def test_evolution_begins_with_the_best_that_was_ever_sampled_and_trains_on_them() -> None:
    trainer = RecordingTrainer(CrossEntropyTrainer(1.0))
    settings = SearchSettings(
        batch=100, evolution=FROZEN, seeds=Seeds.QUEUE, elite=15, trainer=trainer, trains_on_elite=False
    )
    found, result = rounds(settings, 5, PriorPolicy(SPACE))
    sampled: list[Scored] = []
    for scored, given in zip(found, trainer.given, strict=True):
        assert len(scored) == 3
        sampled.append(scored[0])
        best = Scored.concatenate(sampled).best(15)
        assert_from(scored[1:], set(keys(best.population)))
        assert len(scored[1]) == len(best) == 15
        assert keys(given.population) == keys(best.population)
    assert set(keys(best.population)) - set(keys(found[-1][0].population))  # some are of earlier rounds
    assert [step.charged for step in result.history] == [100, 200, 300, 400, 500]


def test_without_evolution_the_policy_alone_searches() -> None:
    task = RecordingTask(nguyen7())
    settings = dataclasses.replace(SMALL, evolution=None)
    result = run(SPACE, task, settings, budget=Budget(500))
    assert [step.charged for step in result.history] == list(range(50, 501, 50))
    assert len(task.asked) == 10
    assert all(step.sampled == step.evolved for step in result.history)


def test_without_a_policy_nothing_is_learnt() -> None:
    trainer = RecordingTrainer(QueueTrainer())
    settings = SearchSettings(
        batch=50, policy=None, seeds=Seeds.RANDOM, evolution=EvolutionSettings(4), trainer=trainer
    )
    result = run(SPACE, nguyen7(), settings, budget=Budget(1000))
    assert len(result.history) > 3
    assert not trainer.given


# --- What it learns from ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("samples", "elite"), [(True, True), (True, False), (False, True)])
@pytest.mark.parametrize(("size", "lasts"), [(1, False), (7, False), (1, True), (7, True)])
def test_lessons_come_from_samples_and_elite_as_settings_say(
    samples: bool, elite: bool, size: int, lasts: bool
) -> None:
    trainer = RecordingTrainer(CrossEntropyTrainer(1.0))
    settings = SearchSettings(
        batch=50,
        evolution=EvolutionSettings(4),
        trainer=trainer,
        elite=size,
        elite_lasts=lasts,
        trains_on_samples=samples,
        trains_on_elite=elite,
    )
    policy, task = PriorPolicy(SPACE), RecordingTask(nguyen7())
    result = run(SPACE, task, settings, seed=1, budget=Budget(1500), policy=policy)
    assert len(trainer.given) == len(policy.lessons) == len(result.history) - 1 > 3
    for index, given in enumerate(trainer.given):
        asked = task.asked[5 * index : 5 * index + 5]
        eligible = task.asked[: 5 * index + 5] if lasts else asked
        expected = [Scored.concatenate(eligible).best(size)] if elite else []
        expected += [asked[0]] if samples else []
        joined = Scored.concatenate(expected)
        assert keys(given.population) == keys(joined.population)
        assert reference.same_bits(given.reward, joined.reward)
        assert policy.lessons[index] is trainer.lessons[index]


def test_evolutions_best_may_be_one_of_its_seeds() -> None:
    trainer, task = RecordingTrainer(QueueTrainer()), RecordingTask(nguyen7())
    blind = EvolutionSettings(1, VariationSettings(crossover=1.0, mutation=1.0, tournament=1))
    settings = SearchSettings(batch=50, evolution=blind, trainer=trainer, trains_on_samples=False)
    run(SPACE, task, settings, budget=Budget(2000), policy=PriorPolicy(SPACE))
    are_seeds = []
    for given, samples, children in zip(trainer.given, task.asked[::2], task.asked[1::2], strict=False):
        assert given.reward.tolist() == [max(samples.reward.max(), children.reward.max())]
        are_seeds.append(samples.reward.max() > children.reward.max())
    assert 3 < sum(are_seeds) < len(are_seeds)


def test_a_trainers_memory_is_handed_from_step_to_step() -> None:
    trainer = RecordingTrainer(QueueTrainer())
    run(SPACE, nguyen7(), dataclasses.replace(SMALL, trainer=trainer), budget=Budget(2000))
    assert trainer.memories[0] == Memory()
    sizes = [len(memory.queue) for memory in trainer.memories[1:] if memory.queue is not None]
    assert len(sizes) == len(trainer.memories) - 1
    assert sizes == sorted(sizes)
    assert sizes[-1] > 2
    # The best of each round is one of evolution's, which no policy sampled.
    assert any(memory.queue.reward[0] > 0.6 for memory in trainer.memories if memory.queue is not None)


@pytest.mark.parametrize(
    "trainer",
    [VanillaTrainer(), RiskSeekingTrainer(), CrossEntropyTrainer(), QueueTrainer(), QueueTrainer(5, None, None)],
    ids=lambda trainer: type(trainer).__name__,
)
def test_every_trainer_changes_the_policy(trainer: Trainer) -> None:
    policy = LSTMPolicy(SPACE, seed=0)
    start = policy.state[0][0]
    result = run(SPACE, nguyen7(), dataclasses.replace(SMALL, trainer=trainer), budget=Budget(1000), policy=policy)
    values, count = policy.state
    assert count == len(result.history) - 1 > 2  # the last round ended before its lesson
    assert np.all(np.isfinite(values))
    assert np.abs(values[0] - start).max() > 1e-3


def test_a_policy_of_another_kind_takes_the_place_of_the_lstm() -> None:
    policy, task = PriorPolicy(SPACE), RecordingTask(nguyen7())
    result = run(SPACE, task, SMALL, budget=Budget(800), policy=policy)
    assert len(policy.samples) == len(result.history)
    assert all(keys(task.asked[5 * i].population) == keys(rows) for i, rows in enumerate(policy.samples))
    assert len(policy.lessons) == len(result.history) - 1


@pytest.mark.parametrize("seed", [1, 2])
def test_learning_makes_samples_better_on_nguyen_7(seed: int) -> None:
    def gain(rate: float) -> float:
        settings = SearchSettings(policy=PolicySettings(learning_rate=rate))
        search = iter(Search(SPACE, nguyen7(solved_nmse=0.0), settings, seed=seed, budget=Budget(10_000_000)))
        sampled = [step.sampled for step in itertools.islice(search, 40)]
        assert len(sampled) == 40
        return float(np.mean(sampled[-10:]) - np.mean(sampled[:10]))

    assert gain(0.0025) > 0.03
    assert abs(gain(0.0)) < 0.01


# --- Other tasks -----------------------------------------------------------------------------------------------------


def test_a_plain_function_is_searched_and_solved() -> None:
    asked: list[Expression] = []

    def reward(expression: Expression) -> float:
        asked.append(expression)
        names = [token.name for token in expression.tokens]
        return 1.0 - abs(names.count("sin") - 3) / 3.0 - abs(names.count("exp") - 2) / 2.0

    space = SearchSpace(KOZA, 4, 20, constraints=())
    result = run(space, FunctionTask(KOZA, reward, solved_at=1.0), SearchSettings(batch=100), budget=Budget(50_000))
    assert result.is_solved
    assert result.reward == 1.0
    names = [token.name for token in result.best.tokens]
    assert (names.count("sin"), names.count("exp")) == (3, 2)
    assert len(asked) == len(set(asked)) == result.history[-1].evaluated == result.history[-1].unique


def test_a_reward_that_is_no_number_is_refused() -> None:
    task = FunctionTask(KOZA, lambda expression: math.nan if "exp" in str(expression) else 0.0)
    with pytest.raises(DataError, match=r"A reward must be a number, but row \d+, `.*exp.*`, has NaN\."):
        run(SPACE, task, SMALL, budget=Budget(1000))


@every_seeds
@pytest.mark.parametrize("samples", [True, False])
def test_a_task_of_which_everything_fails_is_searched_to_its_end(seeds: Seeds, samples: bool) -> None:
    task = FunctionTask(KOZA, lambda expression: -math.inf)
    settings = dataclasses.replace(SMALL, seeds=seeds, trains_on_samples=samples, elite=3)
    result = run(SPACE, task, settings, budget=Budget(600))
    assert result.reason is StopReason.EXPRESSIONS
    assert result.reward == -math.inf
    assert SPACE.allows(result.best)


def test_rewards_of_the_wrong_shape_are_refused() -> None:
    population = SPACE.sample(3, seed=0)
    with pytest.raises(DataError, match=r"one reward for each of the 3 rows, but the shapes are \(2,\) and \(3,\)"):
        Scored.of(population, [1.0, 2.0])
    with pytest.raises(DataError, match=r"the shapes are \(3,\) and \(1,\)"):
        Scored.of(population, [1.0, 2.0, 3.0], [True])


def test_fitted_constants_are_those_of_the_best() -> None:
    library = Library.of(["add", "mul", "const"], 1)
    x = np.linspace(-1.0, 1.0, 15)
    task = RegressionTask(library, Dataset.of(x, 3.7 * x * x - 1.3))
    result = run(SearchSpace(library, 4, 12), task, SearchSettings(batch=100), budget=Budget(50_000))
    assert result.is_solved
    np.testing.assert_allclose(result.best.evaluate(np.array([[2.0], [5.0]])), [13.5, 91.2], rtol=1e-6)


# --- Completion ------------------------------------------------------------------------------------------------------


def with_method(problem: str, method: str, seed: int, budget: int) -> SearchResult:
    """Run one of the methods on one of the problems."""
    chosen, how = benchmarks.get(problem), methods.get(method)
    train, test = chosen.datasets()
    task = RegressionTask(chosen.library, train, test=test)
    return run(how.space(chosen.library), task, how.settings, seed=seed, budget=Budget(budget))


@pytest.mark.parametrize("seed", range(3))
def test_completion_finds_what_the_same_search_without_it_does_not(seed: int) -> None:
    plain, completed = (with_method("Livermore-5", name, seed, 15_000) for name in ("nggp", "nggp-complete"))
    assert plain.reason is StopReason.EXPRESSIONS
    assert completed.is_solved
    assert completed.history[-1].charged < 15_000
    x = np.random.default_rng(9).uniform(-3.0, 3.0, (50, 2))
    expected = x[:, 0] ** 4 - x[:, 0] ** 3 + x[:, 0] ** 2 - x[:, 1]
    np.testing.assert_allclose(completed.best.evaluate(x), expected, atol=1e-7)
    # The counters go on from step to step, and nothing is found without looking.
    for before, after in itertools.pairwise(completed.history):
        assert after.completion.lookups > before.completion.lookups
    counts = completed.history[-1].completion
    assert counts.lookups > counts.hits >= counts.splices > 0


def test_without_completion_nothing_is_counted() -> None:
    result = run(SPACE, nguyen7(), SMALL, budget=Budget(1000))
    assert SMALL.completion is None
    assert {step.completion for step in result.history} == {CompletionCounts(0, 0, 0)}


def test_each_splice_is_scored_and_charged_and_the_search_goes_on_as_without() -> None:
    """Nothing solves the task here, so all three score the same rows, and two of them their splices too."""

    def found(completion: CompletionSettings | None) -> list[Step]:
        settings = dataclasses.replace(SMALL, completion=completion)
        x = np.linspace(-1.0, 1.0, 20)
        task = RegressionTask(KOZA, Dataset.of(x, x * x + x), RegressionSettings(solved_nmse=0.0))
        search = iter(Search(SPACE, task, settings, seed=3, budget=Budget(1_000_000)))
        return list(itertools.islice(search, 30))

    plain, of_samples, of_all = found(None), found(CompletionSettings(generations=False)), found(CompletionSettings())
    for search in (of_samples, of_all):
        for without, step in zip(plain, search, strict=True):
            assert (step.sampled, step.evolved) == (without.sampled, without.evolved)
            assert step.charged == without.charged + step.completion.splices
            assert without.evaluated <= step.evaluated <= without.evaluated + step.completion.splices
            assert step.reward >= without.reward
        assert search[-1].completion.splices > 0
    # Generations have two to three times as many new rows as the samples they began with.
    assert of_all[-1].completion.lookups > 2 * of_samples[-1].completion.lookups > 0


def test_rows_are_completed_where_they_are_new_and_have_a_value(monkeypatch: pytest.MonkeyPatch) -> None:
    """A row that was known, or that failed, is not looked at again."""
    given: list[set[bytes]] = []
    native = Completer.completions

    def watched(self: Completer, population: Population, rows: npt.NDArray[np.intp]) -> Any:
        given.append(set(keys(population.take(rows))))
        assert len(given[-1]) == len(rows)
        assert not evaluate(population.take(rows), nguyen7().dataset).failure.any()
        return native(self, population, rows)

    monkeypatch.setattr(Completer, "completions", watched)
    settings = dataclasses.replace(SMALL, completion=CompletionSettings())
    run(SPACE, nguyen7(solved_nmse=0.0), settings, budget=Budget(1500))
    assert len(given) > 20
    assert sum(map(len, given)) == len(set().union(*given)) > 100


def test_completion_needs_a_task_with_data() -> None:
    settings = dataclasses.replace(SMALL, completion=CompletionSettings())
    task = FunctionTask(KOZA, unending)
    sentence = (
        "`completion` needs a task with data to complete rows for, one with a `dataset`, but this is a FunctionTask"
    )
    with pytest.raises(SettingsError, match=sentence):
        run(SPACE, task, settings, budget=Budget(100))
    assert task.counts == Counts()


# --- Settings --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"batch": 1}, "`batch` must be at least 2 and `elite` at least 1, but they are 1 and 1"),
        ({"elite": 0}, "`batch` must be at least 2 and `elite` at least 1, but they are 500 and 0"),
        ({"policy": None, "evolution": None, "seeds": Seeds.RANDOM}, "needs a policy, evolution or both, but both are"),
        ({"policy": None}, "`seeds` is POLICY, which needs a policy. Use RANDOM or CONTINUE"),
        ({"policy": None, "seeds": Seeds.QUEUE}, "`seeds` is QUEUE, which needs a policy"),
        ({"evolution": None, "seeds": Seeds.RANDOM}, "`seeds` is RANDOM, but there is no evolution to seed"),
        ({"heights": (0, 2)}, r"`heights` must be two numbers from 1 to 16, the least first, but is \(0, 2\)"),
        ({"heights": (1, 2, 3)}, r"`heights` must be two numbers from 1 to 16"),
        ({"heights": (3, 2)}, r"`heights` must be two numbers from 1 to 16, the least first, but is \(3, 2\)"),
        ({"trains_on_samples": False, "trains_on_elite": False}, "must be trained on its samples, on evolution's best"),
        ({"trains_on_samples": False, "evolution": None}, "must be trained on its samples, on evolution's best"),
    ],
    ids=lambda value: ", ".join(value) if isinstance(value, dict) else "",
)
def test_contradictory_settings_are_refused(values: dict[str, object], sentence: str) -> None:
    with pytest.raises(SettingsError, match=sentence):
        SearchSettings(**values)  # type: ignore[arg-type]


def test_a_negative_seed_is_refused() -> None:
    with pytest.raises(SettingsError, match="`seed` must be at least 0, but it is -1"):
        run(SPACE, nguyen7(), SMALL, seed=-1, budget=Budget(100))


def test_defaults_are_the_papers() -> None:
    settings = SearchSettings()
    assert settings.batch == 500
    assert settings.policy == PolicySettings(hidden=32, layers=1, learning_rate=0.0025)
    assert settings.trainer == QueueTrainer(size=10, pushes=1, draws=1)
    assert settings.evolution is not None
    assert settings.evolution.generations == 25
    assert settings.evolution.variation == VariationSettings(crossover=0.5, mutation=0.5, tournament=5)
    assert (settings.seeds, settings.elite) == (Seeds.POLICY, 1)
    assert Budget().expressions == 2_000_000
