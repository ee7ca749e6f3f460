"""Trainers: each lesson is what its formula says, computed here by hand; what is remembered is a value."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference
from symseed import Expression, Library, Population, SearchSpace, SettingsError
from symseed.arrays import Floats
from symseed.language.row import Row
from symseed.scoring.task import Scored
from symseed.search.policy import Lesson, LSTMPolicy
from symseed.search.training import (
    CrossEntropyTrainer,
    EntropySettings,
    Memory,
    QueueTrainer,
    RiskSeekingTrainer,
    Trainer,
    VanillaTrainer,
    corrected,
)

LIBRARY = Library.of(["add", "mul", "sin", "exp"], 2)
SPACE = SearchSpace(LIBRARY, 1, 12, constraints=())


def different_rows(count: int) -> Population:
    """Return rows no two of which are alike: x1, sin(x1), sin(sin(x1)), ..."""
    sin, x1 = LIBRARY.ids(["sin", "x1"])[::-1]
    rows = [Expression(LIBRARY, Row((sin,) * i + (x1,), (math.nan,) * (i + 1))) for i in range(count)]
    return Population.from_expressions(rows)


POOL = different_rows(30)


def scored_as(rewards: list[float], rows: list[int] | None = None) -> Scored:
    return Scored.of(POOL.take(np.array(rows if rows is not None else range(len(rewards)), dtype=np.intp)), rewards)


def row_of(population: Population) -> list[int]:
    """Return which row of the pool each is."""
    return [int(length) - 1 for length in population.lengths]


def same_lessons(a: Lesson, b: Lesson) -> bool:
    return reference.same_bits(a.weights, b.weights) and row_of(a.population) == row_of(b.population)


TRAINERS: list[Trainer] = [
    VanillaTrainer(),
    RiskSeekingTrainer(0.3),
    CrossEntropyTrainer(0.3),
    QueueTrainer(),
    QueueTrainer(size=3, pushes=None, draws=None),
]
every_trainer = pytest.mark.parametrize("trainer", TRAINERS, ids=lambda trainer: type(trainer).__name__)
rewards_lists = st.lists(st.floats(-100.0, 100.0) | st.sampled_from([0.0, 1.0]), min_size=1, max_size=30)


def test_the_rows_of_the_pool_can_be_told_apart() -> None:
    assert len({expression.ids for expression in POOL}) == len(POOL) == 30
    assert row_of(POOL) == list(range(30))


# --- Vanilla policy gradient -----------------------------------------------------------------------------------------


def test_vanilla_weights_are_rewards_above_a_moving_average_that_begins_at_0() -> None:
    trainer, memory = VanillaTrainer(smoothing=0.25), Memory()
    baseline = 0.0
    for step, rewards in enumerate([[1.0, 3.0], [0.0, 0.5, 4.0], [2.0, 2.0]]):
        lesson, memory = trainer.lesson(memory, scored_as(rewards), seed=0, step=step)
        baseline = 0.25 * sum(rewards) / len(rewards) + 0.75 * baseline
        assert memory.baseline == pytest.approx(baseline, rel=1e-15)
        assert lesson.weights.tolist() == pytest.approx([(r - baseline) / len(rewards) for r in rewards], rel=1e-12)
        assert row_of(lesson.population) == list(range(len(rewards)))
    assert baseline == pytest.approx(((0.5 * 0.75) + 0.375) * 0.75 + 0.5)


@settings(max_examples=100, deadline=None)
@given(rewards_lists, st.floats(0.0, 1.0))
def test_vanilla_weights_sum_to_how_far_the_mean_exceeds_the_baseline(rewards: list[float], smoothing: float) -> None:
    lesson, memory = VanillaTrainer(smoothing).lesson(Memory(baseline=2.0), scored_as(rewards), seed=0, step=0)
    assert memory.baseline is not None
    assert memory.baseline == pytest.approx(smoothing * np.mean(rewards) + (1.0 - smoothing) * 2.0, abs=1e-9)
    assert lesson.weights.sum() == pytest.approx(np.mean(rewards) - memory.baseline, abs=1e-9)


# --- Risk-seeking policy gradient, cross-entropy ---------------------------------------------------------------------


def test_risk_seeking_weights_are_rewards_above_the_quantile() -> None:
    rewards = [0.1, 0.9, 0.5, 0.3, 0.7, 0.2, 0.8, 0.4, 0.6, 0.0]
    lesson, memory = RiskSeekingTrainer(0.25).lesson(Memory(), scored_as(rewards), seed=0, step=0)
    # Place 0.75 * 9 = 6.75 of the ten in order, so the next higher: 0.7.
    assert row_of(lesson.population) == [1, 4, 6]
    assert lesson.weights.tolist() == pytest.approx([0.2 / 3, 0.0, 0.1 / 3], abs=1e-15)
    assert memory == Memory()


def test_the_best_11_of_550_are_kept_at_a_risk_of_0_02_and_ties_beside_them() -> None:
    rewards = np.random.default_rng(0).permutation(550) / 550.0
    population = SPACE.sample(550, seed=0)
    for trainer in (RiskSeekingTrainer(0.02), CrossEntropyTrainer(0.02)):
        lesson, _ = trainer.lesson(Memory(), Scored.of(population, rewards), seed=0, step=0)
        assert len(lesson.population) == 11
        rounded = np.minimum(rewards, 530.0 / 550.0)
        lesson, _ = trainer.lesson(Memory(), Scored.of(population, rounded), seed=0, step=0)
        assert len(lesson.population) == 20


@settings(max_examples=100, deadline=None)
@given(rewards_lists, st.floats(0.01, 1.0))
def test_the_best_share_is_what_sorting_says(rewards: list[float], risk: float) -> None:
    place = math.ceil((1.0 - risk) * (len(rewards) - 1))
    quantile = sorted(rewards)[place]
    kept = [i for i, r in enumerate(rewards) if r >= quantile]
    lesson, _ = RiskSeekingTrainer(risk).lesson(Memory(), scored_as(rewards), seed=0, step=0)
    assert row_of(lesson.population) == kept
    np.testing.assert_allclose(lesson.weights, [(rewards[i] - quantile) / len(kept) for i in kept], atol=1e-12)
    assert lesson.weights.min() == 0.0
    lesson, _ = CrossEntropyTrainer(risk).lesson(Memory(), scored_as(rewards), seed=0, step=0)
    assert row_of(lesson.population) == kept
    assert lesson.weights.tolist() == [1.0 / len(kept)] * len(kept)


# --- Priority queue training -----------------------------------------------------------------------------------------


def push(trainer: QueueTrainer, batches: list[list[int]], rewards: list[float]) -> tuple[list[list[int]], Memory]:
    """Train on batches of the pool's rows; return the queue after each, and the memory after the last."""
    memory, queues = Memory(), []
    for step, rows in enumerate(batches):
        _, memory = trainer.lesson(memory, scored_as([rewards[i] for i in rows], rows), seed=0, step=step)
        assert memory.queue is not None
        queues.append(row_of(memory.queue.population))
    return queues, memory


def test_one_push_a_step_queues_the_best_of_each_step() -> None:
    rewards = [0.1, 0.9, 0.5, 0.3, 0.7]
    queues, memory = push(QueueTrainer(size=3), [[0, 2], [3, 0], [2, 3], [4, 1], [4, 0], [0]], rewards)
    # The best again is no second entry; 0.3 goes when a fourth comes; 0.1 is not good enough.
    assert queues == [[2], [2, 3], [2, 3], [1, 2, 3], [1, 4, 2], [1, 4, 2]]
    assert memory.queue is not None
    assert memory.queue.reward.tolist() == [0.9, 0.7, 0.5]


def test_pushing_all_queues_all_that_are_good_enough() -> None:
    rewards = [0.1, 0.9, 0.5, 0.3, 0.7]
    queues, _ = push(QueueTrainer(size=3, pushes=None), [[0, 2, 2], [3, 0], [4, 1, 0]], rewards)
    assert queues == [[2, 0], [2, 3, 0], [1, 4, 2]]
    queues, _ = push(QueueTrainer(size=3, pushes=2), [[0, 2, 3], [4, 1, 3]], rewards)
    assert queues == [[2, 3], [1, 4, 2]]


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.lists(st.integers(0, 11), min_size=1, max_size=8), min_size=1, max_size=8),
    st.lists(st.sampled_from([-1.0, 0.0, 0.5, 1.0]), min_size=12, max_size=12),
    st.integers(1, 5),
    st.sampled_from([1, 2, None]),
)
def test_the_queue_is_the_best_different_of_all_that_was_pushed(
    batches: list[list[int]], rewards: list[float], size: int, pushes: int | None
) -> None:
    pushed: list[int] = []
    for rows, queue in zip(batches, push(QueueTrainer(size, pushes), batches, rewards)[0], strict=True):
        best = sorted(dict.fromkeys(rows), key=lambda row: -rewards[row])
        pushed += best[: size if pushes is None else pushes]
        assert queue == sorted(dict.fromkeys(pushed), key=lambda row: -rewards[row])[:size]


def test_a_lesson_is_the_whole_queue_or_draws_from_it() -> None:
    scored = scored_as([0.1, 0.9, 0.5, 0.3, 0.7])
    whole, _ = QueueTrainer(size=3, pushes=None, draws=None).lesson(Memory(), scored, seed=0, step=0)
    assert row_of(whole.population) == [1, 4, 2]
    assert whole.weights.tolist() == [200.0 / 3] * 3
    one, _ = QueueTrainer(size=3, pushes=None).lesson(Memory(), scored, seed=0, step=0)
    assert len(one.population) == 1
    assert one.weights.tolist() == [200.0]
    many, _ = QueueTrainer(size=3, pushes=None, draws=50, weight=5.0).lesson(Memory(), scored, seed=0, step=0)
    assert set(row_of(many.population)) == {1, 4, 2}
    assert many.weights.tolist() == [0.1] * 50


def test_draws_are_even_and_depend_on_seed_and_step_only() -> None:
    trainer, scored = QueueTrainer(size=4, pushes=None), scored_as([0.1, 0.9, 0.5, 0.3, 0.7])

    def drawn(seed: int) -> list[int]:
        return [row_of(trainer.lesson(Memory(), scored, seed=seed, step=i)[0].population)[0] for i in range(800)]

    assert drawn(1) == drawn(1)
    assert np.mean(np.array(drawn(1)) == np.array(drawn(2))) < 0.4
    counts = np.bincount(drawn(1), minlength=5)
    assert counts[0] == 0
    assert np.all(np.abs(counts[1:] - 200) < 60)  # standard deviation 12


# --- Rows that the policy did not sample -----------------------------------------------------------------------------


class TablePolicy(LSTMPolicy):
    """A policy of known probabilities: those of the pool's rows."""

    def __init__(self, log_probabilities: dict[int, float]) -> None:
        super().__init__(SPACE)
        self.table = log_probabilities

    def log_probability(self, population: Population) -> Floats:
        return np.array([self.table[row] for row in row_of(population)])


def test_rows_of_evolution_count_by_their_probability_per_token_against_the_typical_sample() -> None:
    # Samples are rows 0 to 2, of 1 to 3 tokens: -1, -2 and -3 per token. Row i has i + 1 tokens.
    policy = TablePolicy({0: -1.0, 1: -4.0, 2: -9.0, 3: -16.0, 4: -5.0, 5: -math.inf, 6: -14.0})
    rows = [3, 0, 4, 1, 5, 6]
    weights = np.array([0.5, 0.1, 0.25, -0.2, 2.0, -0.75])
    lesson = Lesson(POOL.take(np.array(rows)), weights, 0.03, 0.7)
    after = corrected(lesson, POOL.take(np.arange(3)), policy)
    # -4 and -1 per token against -2: the first is less likely, the second more, and no row counts more than it did.
    expected = [0.5 * math.exp(-2.0), 0.1, 0.25, -0.2, 0.0, -0.75]
    np.testing.assert_allclose(after.weights, expected, rtol=1e-15)
    assert row_of(after.population) == rows
    assert (after.entropy_weight, after.entropy_decay) == (0.03, 0.7)
    assert weights[0] == 0.5, "the lesson that was given is as it was"


def test_a_lesson_of_samples_alone_is_left_as_it_is_without_asking_the_policy() -> None:
    lesson = Lesson(POOL.take(np.array([2, 0])), np.array([1.0, 2.0]))
    assert corrected(lesson, POOL.take(np.arange(3)), TablePolicy({})) is lesson


# --- All of them -----------------------------------------------------------------------------------------------------


@every_trainer
def test_the_same_memory_twice_gives_the_same_lesson(trainer: Trainer) -> None:
    memory = Memory()
    for step in range(4):
        scored = scored_as(np.random.default_rng(step).random(12).tolist())
        first, after = trainer.lesson(memory, scored, seed=3, step=step)
        again, after_again = trainer.lesson(memory, scored, seed=3, step=step)
        assert same_lessons(first, again)
        assert after.baseline == after_again.baseline
        if after.queue is not None and after_again.queue is not None:
            assert row_of(after.queue.population) == row_of(after_again.queue.population)
        memory = after
    assert isinstance(trainer, (RiskSeekingTrainer, CrossEntropyTrainer)) == (memory == Memory())


@pytest.mark.parametrize("kind", [VanillaTrainer, RiskSeekingTrainer, CrossEntropyTrainer, QueueTrainer])
def test_the_entropy_bonus_goes_into_the_lesson(kind: type) -> None:
    scored = scored_as([0.1, 0.2, 0.3])
    lesson, _ = kind(entropy=EntropySettings(0.03, 0.7)).lesson(Memory(), scored, seed=0, step=0)
    assert (lesson.entropy_weight, lesson.entropy_decay) == (0.03, 0.7)
    lesson, _ = kind().lesson(Memory(), scored, seed=0, step=0)
    assert (lesson.entropy_weight, lesson.entropy_decay) == (0.005, 1.0)


@every_trainer
@pytest.mark.parametrize("worst", [-math.inf, -1e200])
def test_rewards_beyond_measure_leave_a_policy_that_can_be_sampled(trainer: Trainer, worst: float) -> None:
    policy, memory = LSTMPolicy(SPACE), Memory()
    start = policy.state[0][0]
    for step in range(3):
        population = policy.sample(40, seed=0, step=step)
        reward = np.where(np.arange(40) < 39, worst, 1.0)
        lesson, memory = trainer.lesson(memory, Scored.of(population, reward), seed=0, step=step)
        assert np.all(np.isfinite(lesson.weights))
        policy.ascend(lesson)
    assert np.all(np.isfinite(policy.state[0]))
    assert not np.array_equal(policy.state[0][0], start)
    assert len(policy.sample(40, seed=0, step=3)) == 40


@pytest.mark.parametrize("share", [-0.1, 1.1, math.nan, math.inf])
def test_shares_that_are_none_are_refused(share: float) -> None:
    for kind in (RiskSeekingTrainer, CrossEntropyTrainer):
        with pytest.raises(SettingsError, match="`risk` is a share above 0 and up to 1, but it is"):
            kind(share)
        with pytest.raises(SettingsError, match="but it is 0"):
            kind(0.0)
    with pytest.raises(SettingsError, match="`smoothing` must be from 0 to 1, but it is"):
        VanillaTrainer(share)


@pytest.mark.parametrize("values", [{"size": 0}, {"pushes": 0}, {"draws": -1}, {"weight": -1.0}, {"weight": math.nan}])
def test_queues_out_of_range_are_refused(values: dict[str, int]) -> None:
    with pytest.raises(SettingsError, match=r"of the queue must be at least [01], but it is"):
        QueueTrainer(**values)  # type: ignore[arg-type]


@pytest.mark.parametrize("values", [{"weight": -1.0}, {"weight": math.inf}, {"decay": -0.1}, {"decay": 1.5}])
def test_entropy_settings_out_of_range_are_refused(values: dict[str, float]) -> None:
    with pytest.raises(SettingsError, match="`weight` must be at least 0 and its `decay` from 0 to 1, but they are"):
        EntropySettings(**values)
