"""The policy against its slow twin: distributions, gradients and Adam; and that it starts as the prior and learns."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import reference
from reference import Lstm
from symseed import DataError, Expression, Library, Population, SearchSpace, SettingsError
from symseed.language.row import Row
from symseed.language.tokens import OPERATORS
from symseed.search.policy import Lesson, LSTMPolicy, PolicySettings
from symseed.space.constraints import PAPER, NoInverses, Repeat
from symseed.space.priors import SoftLength, UniformArity

LIBRARY = Library.of(["add", "sub", "mul", "sin", "cos", "exp", "log", "const"], 2)
SPACE = SearchSpace(LIBRARY, 4, 14, soft_length=SoftLength(7.0, 10.0), uniform_arity=UniformArity())
"""Masks that depend on what came before, and both priors."""
PLAIN = SearchSpace(LIBRARY, 4, 20)
TINY = Library.of(["sin", "sub", "const"], 1)
"""4 tokens, so that every expression can be written down."""
WIDE = SearchSpace(Library.of([*OPERATORS, *range(60), "const"], 80), 4, 20)
"""164 tokens."""

SHAPES = [
    PolicySettings(hidden=hidden, layers=layers, sees_previous=previous, sees_open=open_slots, precision=64)
    for hidden, layers, previous, open_slots in [
        (3, 1, False, False),
        (3, 1, True, False),
        (5, 1, False, True),
        (5, 1, True, True),
        (3, 2, False, False),
        (4, 2, True, True),
        (19, 1, False, False),
        (17, 2, True, False),
    ]
]
"""None of the widths is that of the core's vectors."""


def shape_id(settings: PolicySettings) -> str:
    seen = "+previous" * settings.sees_previous + "+open" * settings.sees_open
    return f"{settings.hidden}x{settings.layers}{seen}"


Blocks = Mapping[str, npt.NDArray[Any]]
every_shape = pytest.mark.parametrize("settings", SHAPES, ids=shape_id)


def flat(blocks: Blocks) -> npt.NDArray[Any]:
    return np.concatenate([block.ravel() for block in blocks.values()])


def real_entries(policy: LSTMPolicy) -> npt.NDArray[np.bool_]:
    """Return which parameters are not padding, (P,)."""
    marks = {name: np.zeros(block.shape, dtype=np.bool_) for name, block in policy.parameters.items()}
    for name, mark in marks.items():
        mark[reference.real_entries(name, mark, policy.settings.hidden, len(policy.space.library))] = True
    return flat(marks)


def set_parameters(policy: LSTMPolicy, parameters: npt.NDArray[np.float64]) -> None:
    policy.state = (np.stack([parameters, np.zeros_like(parameters), np.zeros_like(parameters)]), 0)


def moved(
    space: SearchSpace, settings: PolicySettings | None = None, *, seed: int = 0, scale: float = 0.5
) -> LSTMPolicy:
    """Return a policy whose every parameter is away from zero, as if it had learnt something."""
    policy = LSTMPolicy(space, settings or PolicySettings(precision=64))
    rng = np.random.default_rng(seed)
    size = policy.state[0].shape[1]
    set_parameters(policy, np.where(real_entries(policy), rng.normal(0.0, scale, size), 0.0))
    return policy


def twin(policy: LSTMPolicy) -> Lstm:
    settings = policy.settings
    return Lstm.of(
        policy.space.library,
        policy.parameters,
        hidden=settings.hidden,
        layers=settings.layers,
        sees_previous=settings.sees_previous,
        sees_open=settings.sees_open,
    )


def lesson_of(space: SearchSpace, count: int = 8, *, seed: int = 0, entropy: float = 0.3) -> Lesson:
    """Return different rows with weights of either sign, and an entropy bonus that fades."""
    population = space.sample(count, seed=seed)
    weights = np.random.default_rng(seed).normal(0.0, 1.0, count)
    return Lesson(population, weights, entropy_weight=entropy, entropy_decay=0.7)


def objective(policy: LSTMPolicy, lesson: Lesson) -> float:
    entropies = policy.entropy(lesson.population)
    decay = lesson.entropy_decay ** np.arange(entropies.shape[1])
    bonus = lesson.entropy_weight * float((entropies @ decay).mean())
    return float(lesson.weights @ policy.log_probability(lesson.population)) + bonus


def slope(policy: LSTMPolicy, lesson: Lesson, direction: npt.NDArray[np.float64], step: float = 1e-3) -> float:
    """Return the objective's derivative along a direction by central differences of the fourth order."""
    start = policy.state[0][0]
    values = {}
    for shift in (-2, -1, 1, 2):
        set_parameters(policy, start + shift * step * direction)
        values[shift] = objective(policy, lesson)
    set_parameters(policy, start)
    return (8.0 * (values[1] - values[-1]) - (values[2] - values[-2])) / (12.0 * step)


def all_expressions(space: SearchSpace) -> Population:
    """Return every legal expression, by trying every sequence of tokens."""
    library = space.library
    rows = [
        Expression(library, Row(ids, tuple(1.0 if library.is_constant[i] else np.nan for i in ids)))
        for length in range(1, space.max_length + 1)
        for ids in itertools.product(range(len(library)), repeat=length)
        if reference.is_complete(library, ids)
    ]
    population = Population.from_expressions(rows)
    return population.take(space.violations(population) == -1)


def same_rows(a: Population, b: Population) -> bool:
    return reference.same_bits(a.tokens, b.tokens) and reference.same_bits(a.lengths, b.lengths)


# --- The gradient ----------------------------------------------------------------------------------------------------


@every_shape
def test_the_gradient_is_that_of_finite_differences_in_every_block(settings: PolicySettings) -> None:
    policy, lesson = moved(SPACE, settings, seed=1), lesson_of(SPACE)
    rng = np.random.default_rng(0)
    gradient = policy.gradient(lesson)
    assert list(gradient) == list(policy.parameters)
    assert len(gradient) == 3 * settings.layers + 2
    offset = 0
    for name, block in gradient.items():
        places = offset + np.arange(block.size)
        offset += block.size
        real = np.intersect1d(places, np.flatnonzero(real_entries(policy)))
        largest = float(np.abs(block).max())
        assert largest > 1e-3, name
        # Small blocks entry by entry, of others some entries; and every block along directions in which all move.
        chosen = real if len(real) <= 150 else rng.choice(real, 40, replace=False)
        directions = [np.eye(1, len(flat(gradient)), place)[0] for place in chosen]
        for _ in range(3):
            direction = np.zeros(len(flat(gradient)))
            direction[real] = rng.normal(0.0, 1.0 / np.sqrt(len(real)), len(real))
            directions.append(direction)
        found = np.array([flat(gradient) @ direction for direction in directions])
        expected = np.array([slope(policy, lesson, direction) for direction in directions])
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6 * largest, err_msg=name)
        np.testing.assert_array_equal(np.delete(block.ravel(), real - places[0]), 0.0)


@pytest.mark.parametrize(("weight", "entropy"), [(1.0, 0.0), (0.0, 1.0)])
def test_each_part_of_the_objective_has_its_gradient(weight: float, entropy: float) -> None:
    policy = moved(SPACE, SHAPES[3])
    lesson = Lesson(SPACE.sample(5, seed=3), np.full(5, weight), entropy)
    rng = np.random.default_rng(1)
    gradient = flat(policy.gradient(lesson))
    assert np.abs(gradient).max() > 1e-2
    for _ in range(20):
        direction = np.where(real_entries(policy), rng.normal(0.0, 0.05, len(gradient)), 0.0)
        assert gradient @ direction == pytest.approx(slope(policy, lesson, direction), rel=1e-6, abs=1e-8)


def test_more_rows_than_are_remembered_at_a_time_count_like_one_by_one() -> None:
    space = SearchSpace(Library.of(["add", "mul", "sin"], 2), 15, 40)
    policy = moved(space, PolicySettings(hidden=7, precision=64), scale=0.2)
    rows = policy.sample(500, seed=5, step=0)
    rows = Population.concatenate([rows, rows.take(np.arange(0, 500, 3))])
    prefixes = {
        row[:end].tobytes() for row, length in zip(rows.tokens, rows.lengths, strict=True) for end in range(length)
    }
    assert len(prefixes) > 2 * 4096, "the core remembers 4096 prefixes"
    assert len(prefixes) < 0.9 * rows.lengths.sum(), "some are shared"
    weights = np.random.default_rng(0).normal(0.0, 1.0, len(rows))

    def lesson(part: slice) -> Lesson:
        count = len(weights[part])
        return Lesson(rows.take(np.arange(len(rows))[part]), weights[part], 0.3 * count / len(rows), 0.7)

    whole = flat(policy.gradient(lesson(slice(None))))
    each = [lesson(slice(place, place + 1)) for place in range(len(rows))]
    assert np.abs(whole).max() > 1.0
    np.testing.assert_allclose(whole, sum(flat(policy.gradient(one)) for one in each), rtol=1e-9, atol=1e-10)
    one_by_one = np.concatenate([policy.log_probability(one.population) for one in each])
    assert reference.same_bits(policy.log_probability(rows), one_by_one)


def test_the_gradient_of_a_wide_library_is_that_of_finite_differences() -> None:
    policy = moved(WIDE, PolicySettings(hidden=7, precision=64))
    lesson = lesson_of(WIDE, 6)
    rng = np.random.default_rng(1)
    gradient = flat(policy.gradient(lesson))
    for _ in range(20):
        direction = np.where(real_entries(policy), rng.normal(0.0, 0.03, len(gradient)), 0.0)
        assert gradient @ direction == pytest.approx(slope(policy, lesson, direction), rel=1e-6, abs=1e-8)


@every_shape
def test_the_gradient_in_single_precision_is_that_in_double(settings: PolicySettings) -> None:
    double, lesson = moved(SPACE, settings), lesson_of(SPACE)
    single = LSTMPolicy(SPACE, dataclasses.replace(settings, precision=32))
    single.state = double.state
    found, expected = single.gradient(lesson), double.gradient(lesson)
    for name in expected:
        assert found[name].dtype == np.float32
        assert expected[name].dtype == np.float64
        scale = float(np.abs(expected[name]).max())
        np.testing.assert_allclose(found[name], expected[name], atol=1e-4 * scale, rtol=1e-4)


@every_shape
def test_the_gradient_is_that_of_pytorch(settings: PolicySettings) -> None:
    torch: Any = pytest.importorskip("torch")
    policy, lesson = moved(SPACE, settings, seed=2), lesson_of(SPACE, seed=1)
    network = twin(policy)
    weights = {name: torch.tensor(block, requires_grad=True) for name, block in network.weights.items()}
    total = torch.zeros((), dtype=torch.float64)
    for expression, weight in zip(lesson.population, lesson.weights, strict=True):
        ids = list(expression.ids)
        outputs = torch.tensor(reference.network_inputs(network, ids))
        for layer in range(settings.layers):
            kernel, recurrent, bias = (weights[f"layer{layer}.{part}"] for part in ("input", "recurrent", "bias"))
            hidden = cell = torch.zeros(settings.hidden, dtype=torch.float64)
            found = []
            for x in outputs:
                entry, candidate, forget, out = (x @ kernel + hidden @ recurrent + bias[0]).chunk(4)
                cell = torch.sigmoid(forget + 1.0) * cell + torch.sigmoid(entry) * torch.tanh(candidate)
                hidden = torch.sigmoid(out) * torch.tanh(cell)
                found.append(hidden)
            outputs = torch.stack(found)
        prior = torch.tensor(np.array([SPACE.logits(ids[:position]) for position in range(len(ids))]))
        logits = outputs @ weights["output"] + weights["output.bias"][0] + prior
        logs = torch.log_softmax(logits, dim=1).masked_fill(torch.isinf(prior), 0.0)
        entropies = -(logs.exp() * logs).sum(dim=1)
        decay = torch.tensor(lesson.entropy_decay ** np.arange(len(ids)))
        total = total + weight * logs[torch.arange(len(ids)), torch.tensor(ids)].sum()
        total = total + lesson.entropy_weight / len(lesson.population) * (entropies * decay).sum()
    assert float(total.detach()) == pytest.approx(objective(policy, lesson), rel=1e-12)
    total.backward()
    for name, block in policy.gradient(lesson).items():
        real = block[reference.real_entries(name, block, settings.hidden, len(LIBRARY))]
        expected = weights[name].grad.numpy()
        np.testing.assert_allclose(real, expected, rtol=1e-9, atol=1e-12 * np.abs(expected).max(), err_msg=name)


def test_a_token_that_is_always_forbidden_gets_no_gradient() -> None:
    space = SearchSpace(LIBRARY, 4, 14, constraints=(*PAPER, Repeat(("exp",), 0)))
    policy = moved(space, PolicySettings(hidden=6, precision=64))
    exp = LIBRARY.ids(["exp"])[0]
    gradient = policy.gradient(lesson_of(space, 50))
    np.testing.assert_array_equal(gradient["output"][:, exp], 0.0)
    np.testing.assert_array_equal(gradient["output.bias"][:, exp], 0.0)
    others = np.delete(np.arange(len(LIBRARY)), exp)
    assert np.all(np.abs(gradient["output"][:6, others]) > 0.0)
    assert np.all(np.abs(gradient["output.bias"][:, others]) > 0.0)


def test_rows_that_the_space_does_not_allow_count_as_weight_0() -> None:
    policy = moved(SPACE)
    legal = SPACE.sample(4, seed=0)
    texts = ("exp(log(x1)) + x2", "sin(cos(x1)) + x2", "x1")
    illegal = Population.from_expressions([Expression.parse(text, LIBRARY) for text in texts])
    assert np.all(SPACE.violations(illegal) >= 0)
    both = Population.concatenate([illegal, legal])
    np.testing.assert_array_equal(policy.log_probability(both)[:3], -np.inf)
    assert np.all(np.isfinite(policy.log_probability(both)[3:]))
    assert not policy.entropy(both)[:3].any()
    with_them = policy.gradient(Lesson(both, np.arange(1.0, 8.0), entropy_weight=0.875))
    without = policy.gradient(Lesson(legal, np.arange(4.0, 8.0), entropy_weight=0.5))  # a mean over 7, and over 4
    assert reference.same_bits(flat(with_them), flat(without))
    assert flat(without).any()


# --- The distribution ------------------------------------------------------------------------------------------------


@every_shape
@pytest.mark.parametrize(("precision", "tolerance"), [(64, 1e-12), (32, 1e-4)])
def test_log_probabilities_and_entropies_are_those_of_the_twin(
    settings: PolicySettings, precision: int, tolerance: float
) -> None:
    policy = moved(SPACE, dataclasses.replace(settings, precision=precision))
    network, population = twin(policy), SPACE.sample(40, seed=1)
    log_probability, entropy = policy.log_probability(population), policy.entropy(population)
    assert entropy.shape == population.tokens.shape
    prior = LSTMPolicy(SPACE, policy.settings)
    assert np.abs(log_probability - prior.log_probability(population)).max() > 0.5
    for i, expression in enumerate(population):
        expected = reference.row_log_probability(network, SPACE.logits, expression.ids)
        assert log_probability[i] == pytest.approx(expected, abs=tolerance, rel=tolerance)
        entropies = reference.row_entropies(network, SPACE.logits, expression.ids)
        np.testing.assert_allclose(entropy[i, : len(expression)], entropies, atol=tolerance)
        np.testing.assert_array_equal(entropy[i, len(expression) :], 0.0)


@pytest.mark.parametrize("precision", [32, 64])
def test_a_wide_library_has_the_distribution_of_the_twin(precision: int) -> None:
    policy = moved(WIDE, PolicySettings(precision=precision), scale=0.2)
    population = WIDE.sample(20, seed=1)
    expected = [reference.row_log_probability(twin(policy), WIDE.logits, expression.ids) for expression in population]
    np.testing.assert_allclose(policy.log_probability(population), expected, rtol=1e-12 if precision == 64 else 1e-4)


@pytest.mark.parametrize("precision", [32, 64])
@pytest.mark.parametrize("settings", [SHAPES[0], SHAPES[5]], ids=shape_id)
def test_the_probabilities_of_all_expressions_sum_to_1(settings: PolicySettings, precision: int) -> None:
    for space in (SearchSpace(TINY, 1, 6), SearchSpace(TINY, 3, 6, soft_length=SoftLength(4.0, 2.0), constraints=())):
        policy = moved(space, dataclasses.replace(settings, precision=precision), scale=1.0)
        everything = all_expressions(space)
        assert len(everything) > 50
        probability = np.exp(policy.log_probability(everything))
        assert probability.sum() == pytest.approx(1.0, abs=1e-12 if precision == 64 else 1e-6)
        assert probability.max() > 20.0 * probability.min()


@pytest.mark.parametrize("precision", [32, 64])
def test_rows_are_drawn_as_often_as_their_probability_says(precision: int) -> None:
    space = SearchSpace(TINY, 1, 6)
    policy = moved(space, PolicySettings(hidden=6, precision=precision, sees_previous=True), scale=1.0)
    everything, draws = all_expressions(space), 40_000
    drawn = policy.sample(draws, seed=5, step=0)
    counts = {expression.ids: 0 for expression in everything}
    for expression in drawn:
        counts[expression.ids] += 1
    expected = draws * np.exp(policy.log_probability(everything))
    found = np.array(list(counts.values()))
    common = expected > 5.0
    assert common.sum() > 20
    statistic = float(np.sum((found[common] - expected[common]) ** 2 / expected[common]))
    statistic += (found[~common].sum() - expected[~common].sum()) ** 2 / max(1.0, expected[~common].sum())
    assert statistic < common.sum() + 5.0 * np.sqrt(2.0 * common.sum())
    # The prior's frequencies would not pass.
    prior = draws * np.exp(LSTMPolicy(space).log_probability(everything))
    assert np.sum((found[common] - prior[common]) ** 2 / prior[common]) > 10.0 * common.sum()


def test_distributions_hold_the_probability_of_each_token_that_log_probability_adds_up() -> None:
    policy = moved(SPACE)
    for row in SPACE.sample(20, seed=1):
        shares = policy.distributions(row)
        assert shares.shape == (len(row), len(LIBRARY))
        np.testing.assert_allclose(shares.sum(axis=1), 1.0, rtol=1e-9)
        (together,), entropy = policy.log_probability_and_entropy(Population.from_expressions([row]))
        assert np.log(shares[range(len(row)), row.ids]).sum() == pytest.approx(together, rel=1e-9)
        known = np.where(shares > 0.0, shares, 1.0)
        np.testing.assert_allclose(-(shares * np.log(known)).sum(axis=1), entropy[0, : len(row)], rtol=1e-9, atol=1e-12)


def test_distributions_are_0_behind_a_token_that_is_not_allowed() -> None:
    space = SearchSpace(LIBRARY, 1, 14, constraints=(NoInverses(),))
    shares = LSTMPolicy(space).distributions(Expression.parse("exp(log(x1))", LIBRARY))
    (log,) = LIBRARY.ids(["log"])
    np.testing.assert_allclose(shares[:2].sum(axis=1), 1.0)
    assert shares[1, log] == 0.0
    assert (shares[2:] == 0.0).all()
    long = Expression.parse("+".join(["x1"] * 9), LIBRARY)
    shares = LSTMPolicy(space).distributions(long)
    assert shares.shape == (17, len(LIBRARY))
    assert not shares[14:].any()


def test_the_first_token_is_drawn_from_the_twins_distribution() -> None:
    policy = moved(SPACE, PolicySettings(hidden=6, sees_open=True), scale=1.0)
    first = policy.sample(20_000, seed=1, step=0).tokens[:, 0]
    expected = 20_000 * reference.next_distribution(twin(policy), SPACE.logits, [])
    found = np.bincount(first, minlength=len(LIBRARY))
    allowed = expected > 0.0
    assert 3 < allowed.sum() < len(LIBRARY)
    np.testing.assert_array_equal(found[~allowed], 0)
    assert np.sum((found[allowed] - expected[allowed]) ** 2 / expected[allowed]) < 40.0


@pytest.mark.parametrize("precision", [32, 64])
@pytest.mark.parametrize("layers", [1, 2])
def test_the_first_policy_is_exactly_the_prior(precision: int, layers: int) -> None:
    spaces = [PLAIN, SearchSpace(LIBRARY, 4, 14, uniform_arity=UniformArity())]
    spaces += [SPACE] if precision == 64 else []  # rounded otherwise, its fractions are not quite the prior's
    for space in spaces:
        policy = LSTMPolicy(space, PolicySettings(precision=precision, layers=layers), seed=9)
        assert flat(policy.parameters).any()
        for seed, step in ((0, 0), (0, 7), (3, 0)):
            assert same_rows(policy.sample(300, seed=seed, step=step), space.sample(300, seed=seed, step=step))
        population = space.sample(50, seed=1)
        expected = [
            sum(
                reference.log_softmax(space.logits(expression.ids[:position]))[token]
                for position, token in enumerate(expression.ids)
            )
            for expression in population
        ]
        tolerance = 1e-12 if precision == 64 else 1e-6
        np.testing.assert_allclose(policy.log_probability(population), expected, rtol=tolerance)


@pytest.mark.parametrize("precision", [32, 64])
def test_a_legal_row_that_a_prior_makes_most_unlikely_has_a_finite_log_probability(precision: int) -> None:
    space = SearchSpace(LIBRARY, 4, 60, soft_length=SoftLength())
    long = SearchSpace(LIBRARY, 50, 60).sample(5, seed=0)
    np.testing.assert_array_equal(space.violations(long), -1)
    found = LSTMPolicy(space, PolicySettings(precision=precision)).log_probability(long)
    assert np.all(found < -100.0)
    assert np.all(np.isfinite(found))


def test_the_seed_of_a_policy_draws_its_output_layer() -> None:
    one, same, other = (LSTMPolicy(PLAIN, seed=seed).parameters for seed in (1, 1, 2))
    assert reference.same_bits(flat(one), flat(same))
    assert not np.array_equal(one["output"], other["output"])
    real = one["output"][:32, : len(LIBRARY)]
    bound = np.sqrt(6.0 / (32 + len(LIBRARY)))
    assert np.abs(real).max() <= bound
    assert real.std() == pytest.approx(bound / np.sqrt(3.0), rel=0.1)
    assert not any(block.any() for name, block in one.items() if name != "output")


def test_sampled_rows_are_legal_whatever_the_policy_has_become() -> None:
    space = SearchSpace(LIBRARY, 6, 17, constraints=(*PAPER, Repeat(("const",), 2)), soft_length=SoftLength())
    for seed in range(3):
        policy = moved(space, PolicySettings(sees_open=True), seed=seed, scale=3.0)
        population = policy.sample(500, seed=seed, step=0)
        assert len(population) == 500
        np.testing.assert_array_equal(space.violations(population), -1)
        checked = Population.of(LIBRARY, population.tokens, population.lengths, population.constants)
        assert same_rows(checked, population)
        assert np.all(np.isfinite(policy.log_probability(population)))
        holds = LIBRARY.is_constant[np.minimum(population.tokens, len(LIBRARY) - 1)]
        inside = np.arange(population.tokens.shape[1]) < population.lengths[:, None]
        np.testing.assert_array_equal(population.constants, np.where(holds & inside, 1.0, np.nan))


def test_samples_depend_on_state_seed_and_step_and_on_nothing_else() -> None:
    policy = moved(SPACE)
    population = policy.sample(200, seed=1, step=1)
    policy.sample(10, seed=8, step=8)
    assert same_rows(policy.sample(200, seed=1, step=1), population)
    assert same_rows(policy.sample(50, seed=1, step=1), population.take(np.arange(50)))
    assert same_rows(moved(SPACE).sample(200, seed=1, step=1), population)
    for other in (
        policy.sample(200, seed=1, step=2),
        policy.sample(200, seed=2, step=1),
        moved(SPACE, seed=1).sample(200, seed=1, step=1),
    ):
        assert np.mean(np.all(other.tokens == population.tokens, axis=1)) < 0.3
    assert len(policy.sample(0, seed=0, step=0)) == 0


@pytest.mark.parametrize("precision", [32, 64])
def test_any_number_of_threads_gives_the_same_bits(precision: int) -> None:
    def everything(threads: int) -> list[npt.NDArray[Any]]:
        policy = moved(SPACE, PolicySettings(precision=precision, layers=2, threads=threads))
        lesson = lesson_of(SPACE, 100)
        found: list[npt.NDArray[Any]] = [flat(policy.gradient(lesson))]
        for step in range(3):
            population = policy.sample(333, seed=1, step=step)
            found += [population.tokens, population.lengths, policy.log_probability(population)]
            found.append(policy.entropy(population))
            policy.ascend(lesson)
        return [*found, policy.state[0]]

    expected = everything(1)
    assert len(expected) == 14
    for threads in (2, 8):
        assert all(reference.same_bits(a, b) for a, b in zip(everything(threads), expected, strict=True))


# --- Learning --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("precision", [32, 64])
@pytest.mark.parametrize("layers", [1, 2])
def test_ascending_makes_the_rows_of_a_lesson_more_likely(precision: int, layers: int) -> None:
    policy = LSTMPolicy(PLAIN, PolicySettings(precision=precision, layers=layers, learning_rate=0.01), seed=1)
    lesson = Lesson(PLAIN.sample(1, seed=0), np.array([200.0]))
    found = [float(policy.log_probability(lesson.population)[0])]
    for _ in range(100):
        policy.ascend(lesson)
        found.append(float(policy.log_probability(lesson.population)[0]))
    assert found[1] > found[0]
    assert found[-1] > -1.0 > -10.0 > found[0]
    drawn = policy.sample(100, seed=0, step=0)
    assert sum(row == lesson.population[0] for row in drawn) > 20


def test_a_negative_weight_makes_a_row_less_likely() -> None:
    policy, population = moved(PLAIN), PLAIN.sample(2, seed=0)
    before = policy.log_probability(population)
    for _ in range(5):
        policy.ascend(Lesson(population, np.array([1.0, -1.0])))
    after = policy.log_probability(population)
    assert after[0] > before[0]
    assert after[1] < before[1]


@every_shape
@pytest.mark.parametrize(("precision", "tolerance"), [(64, 1e-12), (32, 1e-5)])
def test_adam_is_that_of_the_twin_over_several_steps(
    settings: PolicySettings, precision: int, tolerance: float
) -> None:
    policy = moved(SPACE, dataclasses.replace(settings, precision=precision, learning_rate=0.01))
    state, steps = policy.state
    adam = reference.Adam(state[0], state[1], state[2], steps)
    for step in range(6):
        lesson = lesson_of(SPACE, seed=step)
        adam = adam.ascend(flat(policy.gradient(lesson)).astype(np.float64), 0.01)
        policy.ascend(lesson)
        found, steps = policy.state
        assert steps == adam.steps == step + 1
        for part, expected in zip(found, (adam.parameters, adam.first, adam.second), strict=True):
            scale = float(np.abs(expected).max())
            np.testing.assert_allclose(part, expected, rtol=tolerance, atol=tolerance * scale)
    assert np.abs(found[0] - state[0]).max() > 0.02
    assert not found[:, ~real_entries(policy)].any()


def test_a_learning_rate_of_0_changes_nothing() -> None:
    policy = moved(SPACE, PolicySettings(learning_rate=0.0))
    before, _ = policy.state
    lesson = lesson_of(SPACE)
    policy.ascend(lesson)
    assert flat(policy.gradient(lesson)).any()
    assert reference.same_bits(policy.state[0], before)


@pytest.mark.parametrize("decay", [1.0, 0.7])
def test_the_entropy_bonus_alone_makes_a_policy_less_certain(decay: float) -> None:
    policy = moved(PLAIN, PolicySettings(learning_rate=0.01), scale=1.0)
    population = policy.sample(50, seed=0, step=0)

    def entropy() -> float:
        weighed = policy.entropy(population) * decay ** np.arange(population.tokens.shape[1])
        return float(weighed.sum(axis=1).mean())

    before = entropy()
    for _ in range(20):
        policy.ascend(Lesson(population, np.zeros(50), entropy_weight=1.0, entropy_decay=decay))
    assert entropy() > before + 0.5


def test_a_lesson_that_weighs_nothing_has_no_gradient() -> None:
    assert not flat(moved(SPACE).gradient(Lesson(SPACE.sample(5, seed=0), np.zeros(5)))).any()


# --- Shorter samples -------------------------------------------------------------------------------------------------


def test_samples_may_be_shorter_than_what_can_be_learnt() -> None:
    """Samples have at most 8 tokens, but rows of up to 20 have a probability, which a lesson raises."""
    policy = LSTMPolicy(PLAIN, PolicySettings(longest_sample=8, learning_rate=0.01), seed=1)
    assert PLAIN.sample(500, seed=0).lengths.max() == 20
    sampled = policy.sample(500, seed=0, step=0)
    assert sampled.lengths.max() == 8
    np.testing.assert_array_equal(PLAIN.violations(sampled), -1)
    long = SearchSpace(LIBRARY, 15, 20).sample(3, seed=0)
    before = policy.log_probability(long)
    assert np.all(np.isfinite(before))
    for _ in range(20):
        policy.ascend(Lesson(long, np.full(3, 10.0)))
    assert np.all(policy.log_probability(long) > before + 2.0)
    assert policy.sample(500, seed=0, step=1).lengths.max() == 8


def test_a_bound_on_samples_changes_nothing_but_the_samples() -> None:
    plain, bounded = (moved(PLAIN, PolicySettings(longest_sample=longest)) for longest in (None, 8))
    lesson = lesson_of(PLAIN, 20)
    assert lesson.population.lengths.max() > 8
    assert reference.same_bits(bounded.log_probability(lesson.population), plain.log_probability(lesson.population))
    assert reference.same_bits(flat(bounded.gradient(lesson)), flat(plain.gradient(lesson)))
    short = SearchSpace(LIBRARY, 4, 8)
    alike = moved(short, PolicySettings())
    assert same_rows(bounded.sample(200, seed=3, step=1), alike.sample(200, seed=3, step=1))
    assert plain.sample(200, seed=3, step=1).lengths.max() > 8


@pytest.mark.parametrize("longest", [None, 20, 30])
def test_a_bound_above_that_of_the_space_is_none(longest: int | None) -> None:
    policy = LSTMPolicy(PLAIN, PolicySettings(longest_sample=longest))
    assert same_rows(policy.sample(100, seed=0, step=0), PLAIN.sample(100, seed=0))


def test_samples_shorter_than_any_row_of_the_space_are_refused() -> None:
    with pytest.raises(SettingsError, match="1 <= min_length <= max_length"):
        LSTMPolicy(PLAIN, PolicySettings(longest_sample=3))


# --- State -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("precision", [32, 64])
def test_a_policy_restored_from_a_state_samples_and_learns_on_as_the_other(precision: int) -> None:
    settings = PolicySettings(precision=precision, layers=2)
    first = moved(SPACE, settings)
    for step in range(3):
        first.ascend(lesson_of(SPACE, seed=step))
    second = LSTMPolicy(SPACE, settings, seed=77)
    second.state = first.state
    for step in range(3, 6):
        assert same_rows(second.sample(100, seed=0, step=step), first.sample(100, seed=0, step=step))
        for policy in (first, second):
            policy.ascend(lesson_of(SPACE, seed=step))
    assert first.state[1] == second.state[1] == 6
    assert reference.same_bits(first.state[0], second.state[0])


def test_what_a_state_and_its_parameters_are_copied_to_is_not_the_policy() -> None:
    policy = moved(SPACE)
    before = policy.state[0]
    policy.state[0][:] = 0.0
    policy.parameters["output"][:] = 0.0
    assert before.any()
    assert reference.same_bits(policy.state[0], before)
    assert reference.same_bits(flat(policy.parameters), before[0])


def test_a_state_of_another_shape_is_refused() -> None:
    policy = LSTMPolicy(SPACE)
    values, steps = policy.state
    with pytest.raises(DataError, match=r"This policy's state is \(3, \d+\), but the one given is \(2, \d+\)\."):
        policy.state = (values[:2], steps)
    with pytest.raises(DataError, match="but the one given is"):
        policy.state = LSTMPolicy(SPACE, PolicySettings(hidden=64)).state
    with pytest.raises(ValueError, match="its steps are from 0 to"):
        policy.state = (values, -1)
    assert reference.same_bits(policy.state[0], values)


def test_rows_of_another_library_are_refused() -> None:
    policy, population = LSTMPolicy(SPACE), SearchSpace(TINY, 1, 6).sample(3, seed=0)
    for call in (policy.log_probability, policy.entropy):
        with pytest.raises(SettingsError, match="The population and the policy must share one library"):
            call(population)
    for teach in (policy.ascend, policy.gradient):
        with pytest.raises(SettingsError, match="The population and the policy must share one library"):
            teach(Lesson(population, np.ones(3)))


def test_a_lesson_needs_one_weight_for_each_row() -> None:
    policy = LSTMPolicy(SPACE)
    for shape in ((4,), (5, 1), (0,)):
        with pytest.raises(DataError, match="A lesson has one weight for each of its 5 rows, but their shape is"):
            policy.ascend(Lesson(SPACE.sample(5, seed=0), np.ones(shape)))
    assert policy.state[1] == 0


@pytest.mark.parametrize(
    "values",
    [
        {"hidden": 0},
        {"hidden": 5000},
        {"layers": 0},
        {"layers": 17},
        {"threads": 0},
        {"threads": 5000},
        {"precision": 16},
        {"learning_rate": -0.1},
        {"learning_rate": np.nan},
        {"learning_rate": np.inf},
        {"longest_sample": 0},
        {"longest_sample": -3},
    ],
    ids=str,
)
def test_settings_out_of_range_are_refused(values: dict[str, float]) -> None:
    with pytest.raises(SettingsError, match=r"must be .* but it is "):
        PolicySettings(**values)  # type: ignore[arg-type]
