"""Protected operators: values as the authors' code defines them, and none that fails."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import reference
from symseed import Dataset, Expression, Failure, Library, Population, evaluate
from symseed.arrays import Floats
from symseed.language.protected import OPERATORS, protected
from symseed.space import NoInverses

EDGES = np.array(
    [0.0, 1e-300, 0.000999, 0.001, 0.0010001, 0.5, 1.0, 2.0, 99.9, 100.0, 100.1, 999_999.0, 1e6, 1e7, 1e300]
)
EDGES = np.concatenate([EDGES, -EDGES])


def twin(name: str, a: float, b: float) -> float:
    """The definitions, number by number."""
    magnitude = abs(a)
    definitions: dict[str, Callable[[], float]] = {
        "div": lambda: a / b if abs(b) > 0.001 else 1.0,
        "log": lambda: np.log(magnitude) if magnitude > 0.001 else 0.0,
        "logabs": lambda: np.log(magnitude) if magnitude > 0.001 else 0.0,
        "exp": lambda: np.exp(a) if a < 100.0 else 0.0,
        "expneg": lambda: np.exp(-a) if a > -100.0 else 0.0,
        "sigmoid": lambda: 1.0 / (1.0 + (np.exp(-a) if a > -100.0 else 0.0)),
        "sqrt": lambda: np.sqrt(magnitude),
        "inv": lambda: 1.0 / a if magnitude > 0.001 else 0.0,
        "square": lambda: a**2 if magnitude < 1e6 else 0.0,
        "cube": lambda: a**3 if magnitude < 1e6 else 0.0,
        "quartic": lambda: a**4 if magnitude < 1e6 else 0.0,
    }
    return float(definitions[name]())


def values(name: str, a: Floats, b: Floats) -> Floats:
    library = protected(Library.of([name], 2))
    arity = library.arities[-1]
    expression = Expression.parse_prefix(" ".join([name, "x1", "x2"][: arity + 1]), library)
    return expression.evaluate(np.stack([a, b], axis=1))


@pytest.mark.parametrize("name", OPERATORS)
def test_protected_operators_have_the_values_that_define_them(name: str) -> None:
    a, b = (side.ravel() for side in np.meshgrid(EDGES, EDGES))
    expected = np.array([twin(name, *pair) for pair in zip(a.tolist(), b.tolist(), strict=True)])
    kept = np.isfinite(expected)  # 1e300 / 0.002 overflows
    assert values(name, a, b)[kept] == pytest.approx(expected[kept], rel=1e-14, abs=0.0)
    assert kept.mean() > 0.9


@pytest.mark.parametrize("name", OPERATORS)
def test_the_function_in_numpy_is_that_of_the_core(name: str) -> None:
    call, _ = OPERATORS[name]
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 500)) * 10.0 ** rng.integers(-4, 4, (2, 500))
    own = call(*(a, b)[: protected(Library.of([name], 2)).arities[-1]])
    assert values(name, a, b) == pytest.approx(own, rel=1e-13)


def test_a_protected_library_has_the_same_ids_names_and_rules() -> None:
    plain = Library.of(["add", "div", "sin", "exp", "log", 2.0], 2)
    safe = protected(plain)
    assert [token.name for token in safe.tokens] == [token.name for token in plain.tokens]
    assert [token.function is not None for token in safe.tokens] == [
        token.name in ("div", "exp", "log") for token in plain.tokens
    ]
    assert NoInverses().rules(safe) == NoInverses().rules(plain)
    assert len(NoInverses().rules(safe)) == 2


def test_protected_rows_fail_by_overflow_alone() -> None:
    plain = Library.of(["add", "sub", "mul", "div", "sin", "cos", "exp", "log", "sqrt", "inv", "square"], 1)
    rng = np.random.default_rng(2)
    population = reference.random_population(rng, plain, 200, 20)
    data = Dataset.of(np.linspace(-2.0, 2.0, 21), np.ones(21) + np.arange(21))
    unsafe = evaluate(population, data).failure
    safe = evaluate(Population.of_rows(protected(plain), [row.row for row in population]), data).failure
    assert (unsafe != Failure.NONE).mean() > 0.3
    assert not {Failure.INVALID, Failure.DIVIDE_BY_ZERO} & {Failure(int(value)) for value in safe}
    assert (safe == Failure.NONE).mean() > 0.9
