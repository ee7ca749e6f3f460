"""The network that reads tables: against its twins, and what a reading may be relied on for."""

from __future__ import annotations

import dataclasses
import itertools
import sys
from pathlib import Path

import numpy as np
import pytest
from networks import LIBRARY, SMALL, TOKENS, random_network
from twin import Twin

import reference
from symseed import Dataset, Expression, Library, Population, SearchSpace, _core
from symseed.arrays import Floats
from symseed.network import Network, Reading, Shape
from symseed.space.constraints import Repeat

SPACE = SearchSpace(LIBRARY, 1, 40, constraints=())
"""Nothing is forbidden to formulas that are far shorter."""
SHORT = SearchSpace(LIBRARY, 1, SMALL.longest, constraints=())
"""Formulas of at most as many tokens as the network writes."""


def table(rows: int, columns: int, seed: int = 0) -> Dataset:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns)) * [0.1, 3.0, 40.0][:columns] + 1.0
    return Dataset.of(X, X[:, 0] * np.sin(X[:, -1]) - 2.0)


def short(seed: int, count: int = 8) -> Population:
    rng = np.random.default_rng(seed)
    return reference.random_population(rng, LIBRARY, count=count, max_length=9)


def twin_log_probability(network: Network, data: Dataset, population: Population) -> Floats:
    values = np.column_stack([data.X, data.y])
    spoken = network.spoken(LIBRARY, range(data.X.shape[1]))
    out = []
    for tokens, length in zip(population.tokens, population.lengths, strict=True):
        ids = tokens[:length].astype(int)
        logits = Twin(network.shape, network.parameters).logits(
            values, spoken[ids].tolist(), LIBRARY.arities[ids].tolist()
        )
        likely = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
        out.append(likely[np.arange(length), spoken[ids]].sum())
    return np.array(out)


@pytest.mark.parametrize(
    "shape",
    [
        SMALL,
        Shape(16, 1, 2, 1, 0, 1, 12, 4),
        Shape(48, 3, 0, 2, 2, 1, 12, 4),
        Shape(64, 2, 1, 5, 1, 3, 12, 4),
    ],
)
@pytest.mark.parametrize("rows", [1, 7, 70])
def test_probabilities_are_those_of_the_twin(shape: Shape, rows: int) -> None:
    network, data, population = random_network(shape), table(rows, 3), short(rows)
    found = Reading(network, data, seed=0).log_probability(SPACE, population)
    np.testing.assert_allclose(found, twin_log_probability(network, data, population), atol=2e-3, rtol=1e-4)


def test_probabilities_are_those_of_pytorch() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    sys.path.insert(0, str(Path(__file__).parents[2] / "neural"))
    try:
        from model import Reader
        from model import Shape as ModelShape
    finally:
        sys.path.pop(0)
    network, data, population = random_network(SMALL), table(30, 3), short(1)
    model = Reader(ModelShape(**dataclasses.asdict(SMALL)), [2, 2, 1, 0])
    assert {name: tuple(value.shape) for name, value in model.named_parameters()} == {
        name: (rows, columns) for name, rows, columns in SMALL.native().blocks()
    }
    model.load_state_dict({name: torch.from_numpy(block) for name, block in network.parameters.items()})
    values = torch.from_numpy(np.column_stack([data.X, data.y]).astype(np.float32))[None]
    spoken = network.spoken(LIBRARY, range(3))
    found = Reading(network, data, seed=0).log_probability(SPACE, population)
    for row in range(len(population)):
        ids = spoken[population.tokens[row, : population.lengths[row]].astype(int)] + 1
        with torch.no_grad():
            nats = float(model(values, torch.from_numpy(ids.astype(np.int64))[None]).sum())
        assert found[row] == pytest.approx(-nats, abs=2e-3)


def test_same_bits_on_every_instruction_set() -> None:
    network, data = random_network(SMALL), table(50, 3)
    values = np.column_stack([data.X, data.y])
    spoken = network.spoken(LIBRARY, range(3))
    found = []
    for name in _core.instruction_sets():
        reading = network.native.read(values, instruction_set=name)
        tokens, lengths, likely = reading.sample(SPACE.rules, spoken, 40, seed=3, step=1)
        found.append(tokens.tobytes() + lengths.tobytes() + likely.tobytes())
    assert len(set(found)) == 1


def test_the_order_of_columns_does_not_matter() -> None:
    network, data, population = random_network(SMALL), table(40, 3), short(2)
    expected = Reading(network, data, seed=0).log_probability(SPACE, population)
    for order in itertools.permutations(range(3)):
        found = Reading(network, data, seed=0, columns=order).log_probability(SPACE, population)
        np.testing.assert_allclose(found, expected, atol=1e-3)


def test_the_data_matter() -> None:
    network, population = random_network(SMALL), short(3)
    one, other = (Reading(network, table(40, 3, seed), seed=0) for seed in (0, 1))
    assert np.abs(one.log_probability(SPACE, population) - other.log_probability(SPACE, population)).max() > 0.05


def test_a_sample_has_the_probability_that_is_said() -> None:
    reading = Reading(random_network(SMALL), table(40, 3), seed=0)
    population, likely = reading.sample(SHORT, 300, seed=1, step=0)
    assert population is not None
    assert len(population) == 300
    np.testing.assert_allclose(reading.log_probability(SHORT, population), likely, atol=1e-9)


def test_samples_are_as_frequent_as_they_are_probable() -> None:
    space = SearchSpace(LIBRARY, 1, 2, constraints=())  # a column, a constant, or a sine of one
    reading = Reading(random_network(SMALL), table(40, 3), seed=0)
    population, likely = reading.sample(space, 20_000, seed=1, step=0)
    assert population is not None
    assert {len(expression) for expression in population} == {1, 2}
    texts = np.array([str(expression) for expression in population])
    probability = {text: float(np.exp(likely[texts == text][0])) for text in set(texts)}
    assert sum(probability.values()) == pytest.approx(1.0, abs=1e-6)
    for text, expected in probability.items():
        assert np.mean(texts == text) == pytest.approx(expected, abs=4 * np.sqrt(expected / 20_000) + 1e-4)


def test_a_row_is_the_same_among_any_number_of_rows() -> None:
    reading = Reading(random_network(SMALL), table(40, 3), seed=0)
    many, _ = reading.sample(SHORT, 700, seed=5, step=2)
    few, _ = reading.sample(SHORT, 30, seed=5, step=2)
    other, _ = reading.sample(SHORT, 30, seed=5, step=3)
    assert many is not None
    assert few is not None
    assert other is not None
    assert list(map(str, many))[:30] == list(map(str, few))
    assert list(map(str, few)) != list(map(str, other))


def test_temperature_divides_the_logarithms_of_probabilities() -> None:
    space = SearchSpace(LIBRARY, 1, 1, constraints=())  # a column or a constant
    reading = Reading(random_network(SMALL), table(40, 3), seed=0)
    population, likely = reading.sample(space, 20_000, seed=1, step=0, temperature=3.0)
    assert population is not None
    texts = np.array([str(expression) for expression in population])
    weight = {text: float(np.exp(likely[texts == text][0] / 3.0)) for text in set(texts)}
    for text, expected in weight.items():
        assert np.mean(texts == text) == pytest.approx(expected / sum(weight.values()), abs=0.02)


def test_rules_hold_and_unknown_tokens_are_left_out() -> None:
    library = Library.of(["add", "mul", "sin", "cos", 2, "const"], 3)
    space = SearchSpace(library, 3, 12, constraints=(Repeat(("add",), most=1),))
    population, _ = Reading(random_network(SMALL), table(40, 3), seed=0).sample(space, 200, seed=0, step=0)
    assert population is not None
    assert (space.violations(population) == -1).all()
    texts = " ".join(map(str, population))
    assert "cos" not in texts
    assert "2" not in texts.replace("x2", "")


def test_nothing_is_drawn_where_every_formula_needs_an_unknown_token() -> None:
    space = SearchSpace(Library.of(["cos", "exp"], 3), 2, 12)
    population, likely = Reading(random_network(SMALL), table(40, 3), seed=0).sample(space, 20, seed=0, step=0)
    assert population is None
    assert len(likely) == 0


def test_what_cannot_be_drawn_has_probability_0() -> None:
    reading = Reading(random_network(SMALL), table(40, 3), seed=0, columns=[0, 1])
    library = Library.of([*TOKENS, "cos"], 3)
    space = SearchSpace(library, 1, 40, constraints=())
    rows = [Expression.parse(text, library) for text in ("cos(x1)", "x3 + x1", "sin(x1)")]
    found = reading.log_probability(space, Population.from_expressions(rows))
    assert (found[:2] == -np.inf).all()
    assert np.isfinite(found[2])
    long = Expression.parse(" + ".join(["x1"] * 8), library)  # 15 tokens, of which the network writes 12
    assert reading.log_probability(space, Population.from_expressions([long]))[0] == -np.inf


def test_many_rows_are_read_as_some_of_them() -> None:
    data = table(5_000, 3)
    network, population = random_network(SMALL), short(4)
    one, same, other = (Reading(network, data, seed=seed).log_probability(SPACE, population) for seed in (0, 0, 1))
    assert (one == same).all()
    assert np.abs(one - other).max() > 0.0


@pytest.mark.parametrize("values", [np.full((3, 2), np.nan), np.ones((0, 2)), np.ones((3, 1))])
def test_a_table_that_cannot_be_read_is_refused(values: Floats) -> None:
    with pytest.raises(ValueError, match="values"):
        random_network(SMALL).native.read(values)
