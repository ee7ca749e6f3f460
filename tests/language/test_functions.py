"""Operators that users write: plain functions of arrays."""

from __future__ import annotations

import dataclasses
import functools
import pickle
import subprocess
import sys
import textwrap
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symseed import (
    Dataset,
    Expression,
    Failure,
    FitSettings,
    Library,
    Population,
    RegressionSettings,
    RegressionTask,
    SearchSpace,
    SettingsError,
    _core,
    evaluate,
    fit,
    portfolio,
    predict,
    search,
)
from symseed.assembly import AssemblySettings
from symseed.assembly.simplify import reduced
from symseed.completion.completer import Completer
from symseed.export import to_latex, to_mathml, to_sympy
from symseed.language import tokens
from symseed.language.functions import MOST_STEPS
from symseed.language.row import Row
from symseed.language.writer import Writer
from symseed.methods import METHODS
from symseed.portfolio.settings import PortfolioSettings
from symseed.portfolio.track import Track
from symseed.recovery.checker import Verdict, check
from symseed.scoring import Validity
from symseed.scoring.task import Scored
from symseed.search.budget import Budget, StopReason
from symseed.space.constraints import PAPER

Array = Any


def bump(x: Array) -> Array:
    return np.exp(-x * x)


def leaky(x: Array) -> Array:
    return np.where(x > 0.0, x, 0.1 * x)


def ratio(a: Array, b: Array) -> Array:
    return a / np.sqrt(1.0 + b**2)


def cosine(x: Array) -> Array:
    """The core's cos once more, known to Python only."""
    return np.cos(np.asarray(x))


LIBRARY = Library.of(["add", "mul", "sin", bump, leaky, ratio], 2, constants=True)
RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 2))


# --- From a function to a token ---------------------------------------------------------------------------------------


def test_a_function_becomes_an_operator_by_its_own_name_and_arguments() -> None:
    token = tokens.custom(ratio)
    assert (token.name, token.arity, token.kind) == ("ratio", 2, tokens.TokenKind.OPERATOR)
    assert token == tokens.custom(ratio) != tokens.custom(bump)
    assert Library.of([ratio], 1) == Library.of([token], 1)
    assert tokens.custom(lambda x: x + 1.0, name="next").name == "next"
    assert tokens.custom(np.exp2).arity == 1  # a ufunc has no signature
    assert tokens.custom(lambda *x: x[0], name="first", arity=2).arity == 2
    assert tokens.custom(functools.partial(np.multiply, 2.0), name="twice", arity=1).name == "twice"


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (np.arctan, "atan"),
        (np.arctan2, "atan2"),
        (np.floor, "floor"),
        (np.power, "pow"),
        (lambda x: np.maximum(x, 0.0), "relu"),
        (lambda x: np.heaviside(x, 0.0), "step"),
        (lambda a, b: np.where(a > b, 1.0, 0.0), "greater"),
    ],
)
def test_a_function_with_the_name_and_the_values_of_an_operator_is_that_operator(
    function: Callable[..., Array], name: str
) -> None:
    given = None if isinstance(function, np.ufunc) else name
    assert tokens.custom(function, name=given) == tokens.OPERATORS[name]
    refused(bump, "is the name of a built-in operator", name=name)


@pytest.mark.parametrize(
    ("function", "expansion"),
    [
        (lambda x: np.arcsinh(x) % 2.0, ("mod", "asinh", 0, 2.0)),
        (lambda a, b: (a < b) * np.hypot(a, b), ("mul", "greater", 1, 0, "hypot", 0, 1)),
        (lambda x: np.log2(x) + np.sign(x) * np.ceil(x), ("add", "log2", 0, "mul", "sign", 0, "ceil", 0)),
    ],
)
def test_numpys_names_of_operators_are_traced(function: Callable[..., Array], expansion: tuple[Any, ...]) -> None:
    assert tokens.custom(function, name="own").expansion == expansion


def test_an_argument_with_a_default_is_none_of_the_operators() -> None:
    def shifted(x: Array, by: float = 2.0) -> Array:
        return x + by

    assert tokens.custom(shifted).arity == 1
    assert tokens.custom(shifted).expansion == ("add", 0, 2.0)


@pytest.mark.parametrize(
    ("function", "expansion"),
    [
        (bump, ("exp", "mul", "neg", 0, 0)),
        (ratio, ("div", 0, "sqrt", "add", 1.0, "square", 1)),
        (lambda x: 1 / x - x**3, ("sub", "inv", 0, "cube", 0)),
        (lambda x: 2**x + x**2.5, ("add", "pow", 2.0, 0, "pow", 0, 2.5)),
        (lambda x: np.maximum(0.0, np.tanh(x)), ("max", 0.0, "tanh", 0)),
        (lambda x: np.exp(np.clip(x, -5, 5)), ("exp", "min", "max", 0, -5.0, 5.0)),
        (lambda x: np.float64(2.0) * abs(+x) - np.sin(x), ("sub", "mul", 2.0, "abs", 0, "sin", 0)),
        (lambda x: np.reciprocal(np.square(x)) + np.power(x, 4), ("add", "inv", "square", 0, "quartic", 0)),
    ],
)
def test_a_function_of_known_operators_is_traced(function: Callable[..., Array], expansion: tuple[Any, ...]) -> None:
    assert tokens.custom(function, name="own").expansion == expansion


@pytest.mark.parametrize(
    "function",
    [
        leaky,
        cosine,
        np.exp2,
        lambda x: np.trunc(x),
        lambda x: x if isinstance(x, np.ndarray) else x + 1.0,  # not the same function of a stand-in
        lambda x: np.rint(x),
        lambda x: x * np.ones(len(x)),
        lambda x: functools.reduce(lambda total, _: total * total, range(8), x),  # 256 factors
    ],
)
def test_any_other_function_is_called(function: Callable[..., Array]) -> None:
    assert tokens.custom(function, name="own").expansion is None
    assert MOST_STEPS < 256


def refused(function: Any, match: str, **options: Any) -> None:
    with pytest.raises(SettingsError, match=match):
        tokens.custom(function, **options)


def test_a_name_that_cannot_stand_in_a_formula_is_refused() -> None:
    refused(lambda x: x, "name that can be written .* but this one is '<lambda>'. Define it by `def`")
    refused(bump, "but this one is '2x'", name="2x")
    refused(functools.partial(np.multiply, 2.0), "but this one is ''")
    refused(bump, "`sin` is the name of a built-in operator. Give that name as text", name="sin")
    refused(bump, "`power` is the name of a built-in operator", name="power", arity=1)
    refused(np.logaddexp, "`where` is the name of a built-in operator", name="where")
    refused(bump, "`const` is the name", name="const")
    refused(3.0, "must be a function, but it is 3.0")
    with pytest.raises(SettingsError, match="`bump` is both an operator of your own and a column"):
        Library.of([bump], ["bump"])
    with pytest.raises(SettingsError, match="`bump` is in the library twice"):
        Library.of([bump, bump], 1)


def mutating(x: Array) -> Array:
    x[x < 0.0] = 0.0
    return x


def raising(x: Array) -> Array:
    if (x < 0.0).any():
        raise ArithmeticError("no roots")
    return np.sqrt(x)


@pytest.mark.parametrize(
    ("function", "match"),
    [
        (raising, "`own` raised ArithmeticError: no roots. It must take arrays with any values, and give NaN"),
        (mutating, "`own` must not change the arrays that it is given, but it wrote into one. Begin with a copy"),
        (lambda x: np.full_like(x, np.nan), "must have a finite value somewhere, but it had none"),
        (lambda x: x[:-1], r"must give an array of its argument's shape, \(\d+,\), but it gave \(\d+,\)"),
        (lambda x: 1.0, r"but it gave \(\)"),
        (lambda x: x + 1j, "must give real numbers, but it gave values of type complex128"),
        (lambda x: x.astype(object), "values of type object"),
        (lambda x: [str(v) for v in x], "values of type <U"),
        (lambda x: None, "it gave"),
        (lambda x: x - x.mean(), "must work on each element by itself, .* may not use a mean"),
        (lambda x: np.cumsum(np.tanh(x)), "must work on each element by itself"),
        (lambda x: x * np.arange(len(x)), "must work on each element by itself"),
        (lambda x: x + np.random.default_rng().normal(), "must give the same values each time"),
        (lambda: 1.0, "one or two arrays, but it takes 0"),
        (lambda a, b, c: a, "one or two arrays, but it takes 3"),
        (lambda *x: x[0], "takes any number of arguments. Give `arity`"),
    ],
)
def test_a_function_that_cannot_be_an_operator_is_refused_early(function: Any, match: str) -> None:
    refused(function, match, name="own")


def test_whole_numbers_and_truth_values_are_taken_as_numbers() -> None:
    library = Library.of([tokens.custom(lambda x: x > 0.0, name="step"), tokens.custom(np.sign)], 1)
    assert Expression.parse("step(x1)", library).evaluate([-1.0, 2.0]).tolist() == [0.0, 1.0]


# --- Values and derivatives -------------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=40))
def test_an_expansion_has_the_functions_own_values_wherever_numpy_has_them(values: list[float]) -> None:
    def nested(x: Array) -> Array:
        return np.maximum(0.1, np.sqrt(x)) / (1.0 + np.exp(x * x))  # an infinite value on the way comes to nothing

    token = tokens.custom(nested)
    assert token.expansion is not None
    x = np.array(values)
    with np.errstate(all="ignore"):
        expected = nested(x)
    assert token.function is not None
    np.testing.assert_allclose(token.function.native.values(x, x), expected, rtol=1e-13)


@pytest.mark.parametrize("samples", [1, 20, 300])
def test_formulas_with_own_operators_have_the_values_that_numpy_gives(samples: int) -> None:
    expression = Expression.parse("bump(x1 * 1.5) + leaky(ratio(x1, x2)) * sin(x2)", LIBRARY)
    a, b = X[:samples].T
    expected = bump(1.5 * a) + leaky(ratio(a, b)) * np.sin(b)
    np.testing.assert_allclose(expression.evaluate(X[:samples]), expected, rtol=1e-14)
    population = Population.from_expressions([expression])
    for validity in (Validity.VALUES, Validity.FLAGS):
        value = predict(population, Dataset.of(X[:samples], b), validity=validity).value[0]
        np.testing.assert_array_equal(value, expression.evaluate(X[:samples]))


def test_every_instruction_set_gives_the_same_bits() -> None:
    row = Population.from_expressions([Expression.parse("bump(ratio(x1, x2)) * leaky(x2)", LIBRARY)])
    samples = Dataset.of(X, X[:, 0]).samples
    values = [
        _core.predictions(
            LIBRARY.vocabulary,
            samples,
            row.tokens,
            row.lengths,
            row.constants,
            validity=Validity.VALUES,
            threads=1,
            instruction_set=name,
        )[0]
        for name in _core.instruction_sets()
    ]
    assert all((value == values[0]).all() for value in values)
    assert np.isfinite(values[0]).all()


def test_a_value_that_is_not_finite_fails_the_row_there() -> None:
    library = Library.of(["add", tokens.custom(np.arcsin), tokens.custom(lambda x: 1.0 / x, name="over")], 1)
    rows = ["arcsin(x1)", "x1 + over(x1)", "arcsin(x1 + x1)"]
    population = Population.from_expressions([Expression.parse(text, library) for text in rows])
    errors = evaluate(population, Dataset.of([[0.0], [0.7]], [1.0, 2.0]))
    assert errors.failure.tolist() == [Failure.NONE, Failure.OVERFLOW, Failure.INVALID]
    assert errors.position.tolist() == [-1, 2, 0]
    assert np.isnan(Expression.parse("over(x1)", library).evaluate([0.0, 2.0])).tolist() == [True, False]


@pytest.mark.parametrize("text", ["bump(x1 * 1.5 + 0.3)", "leaky(x1 + -0.4) * 2.5", "ratio(x1 * 1.5, x2 + 0.7)"])
def test_constants_inside_own_operators_are_fitted(text: str) -> None:
    truth = Expression.parse(text, LIBRARY)
    dataset = Dataset.of(X, truth.evaluate(X))
    start = truth.constants
    moved = tuple(value if np.isnan(value) else value * 0.9 + 0.1 for value in start)
    fitted, errors = fit(
        Population.from_expressions([Expression(LIBRARY, Row(truth.ids, moved))]), dataset, FitSettings(iterations=60)
    )
    assert errors.error[0] < 1e-20
    np.testing.assert_allclose(np.abs(fitted.constants[0]), np.abs(start), rtol=1e-9)


def test_derivatives_are_those_of_the_same_formula_without_own_operators() -> None:
    known = Library.of(["mul", "add", "cos"], 1, constants=True)
    own = Library.of(["mul", "add", cosine], 1, constants=True)
    dataset = Dataset.of(X[:, :1], X[:, 1])
    answers = []
    for library, text in ((known, "cos(x1 * 0.7 + 0.2)"), (own, "cosine(x1 * 0.7 + 0.2)")):
        row = Population.from_expressions([Expression.parse(text, library)])
        answers.append(dataclasses.astuple(dataset.backend.linearise(row)))
    for expected, found in zip(*answers, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-8)


def test_at_the_edge_of_its_domain_a_slope_is_taken_from_one_side() -> None:
    def root(x: Array) -> Array:
        return np.where(x >= 0.0, x * (1.0 + x), np.nan)

    library = Library.of(["mul", root], 1, constants=True)
    dataset = Dataset.of([[0.0], [1.0]], [0.0, 6.0])
    row = Population.from_expressions([Expression.parse("root(x1 * 1.5)", library)])
    assert fit(row, dataset)[1].error[0] < 1e-20


# --- Every part of the system -----------------------------------------------------------------------------------------


def test_text_is_read_back() -> None:
    expression = Expression.parse("bump(ratio(x1, 2.5) + x2)", LIBRARY)
    assert str(expression) == "bump(ratio(x1, 2.5) + x2)"
    assert Expression.parse(str(expression), LIBRARY) == expression
    assert Expression.parse_prefix(expression.prefix, LIBRARY) == expression
    assert expression.complexity == 4 + 1 + 4 + 1 + 1 + 1


def test_libraries_and_expressions_are_pickled_if_their_functions_are() -> None:
    expression = Expression.parse("leaky(bump(x1))", LIBRARY)
    again = pickle.loads(pickle.dumps(expression))
    assert again == expression
    np.testing.assert_array_equal(again.evaluate(X), expression.evaluate(X))
    assert pickle.loads(pickle.dumps(LIBRARY)) == LIBRARY
    local = Library.of([tokens.custom(lambda x: x, name="local")], 1)
    with pytest.raises((pickle.PicklingError, AttributeError), match="lambda"):
        pickle.dumps(local)


def test_what_is_known_of_an_operator_is_written_out_for_others() -> None:
    expression = Expression.parse("bump(x1 + 2.0) * leaky(x2)", LIBRARY)
    expanded = expression.expanded()
    assert str(expanded) == "exp(neg(x1 + 2.0) * (x1 + 2.0)) * leaky(x2)"
    np.testing.assert_allclose(expanded.evaluate(X), expression.evaluate(X), rtol=1e-14)
    assert str(to_sympy(expression)) == "leaky(x2)*exp(-(x1 + 2)**2)".replace("-(x1 + 2)**2", "(-x1 - 2)*(x1 + 2)")
    assert r"\operatorname{leaky}" in to_latex(expression)
    assert "<mi>leaky</mi>" in to_mathml(expression)
    plain = Expression.parse("sin(x1)", LIBRARY)
    assert plain.expanded() is plain


def test_a_formula_that_would_become_too_long_is_not_written_out() -> None:
    def thrice(x: Array) -> Array:
        return x * x * x

    library = Library.of([thrice], 1)
    expression = Expression.parse("thrice(" * 20 + "x1" + ")" * 20, library)
    expanded = expression.expanded()
    assert len(expanded) < 3 * 2_000
    assert expanded.tokens[0].name == "thrice"


def test_recovery_knows_traced_operators_and_refuses_others() -> None:
    test = Dataset.of(X, X[:, 0])
    target = Expression.parse("exp(-x1 * x1)", Library.of(["exp", "neg", "mul"], 2))
    assert check(Expression.parse("bump(x1)", LIBRARY), target, test).verdict is Verdict.EXACT
    assert check(Expression.parse("bump(x2)", LIBRARY), target, test).verdict is Verdict.NO
    with pytest.raises(SettingsError, match="compared to 60 digits, but `leaky` is only known as a function of arrays"):
        check(Expression.parse("leaky(x1)", LIBRARY), target, test)


def test_completion_keeps_own_operators_but_does_not_go_through_them() -> None:
    library = Library.of(["add", "mul", leaky], 1)
    space = SearchSpace(library, 1, 12)
    x = np.linspace(-1.0, 1.0, 20)
    completer = Completer(space, Dataset.of(x[:, None], leaky(x * x) + leaky(x)))
    texts = ["leaky(x1)", "leaky(x1 * x1) + x1", "leaky(x1 + x1)"]
    population = Population.from_expressions([Expression.parse(text, library) for text in texts])
    found = [str(row) for row in completer.complete(population, np.arange(3))]
    assert found == ["leaky(x1 * x1) + leaky(x1)"]


def test_tidying_takes_out_an_own_operator_that_does_nothing() -> None:
    writer = Writer(LIBRARY)
    dataset = Dataset.of(np.abs(X), X[:, 0])
    part = writer.row(Expression.parse("leaky(x1)", LIBRARY))
    assert part is not None
    assert reduced(writer, part, dataset).ids == writer.variable(0).ids


def test_a_search_finds_a_formula_with_own_operators_the_same_on_any_number_of_threads() -> None:
    library = Library.of(["add", "mul", "sin", bump, leaky], 1)
    x = np.linspace(-2.0, 2.0, 20)
    dataset = Dataset.of(x[:, None], bump(x) + leaky(x * x * x))
    space = SearchSpace(library, 3, 12, constraints=PAPER)
    results = []
    for threads in (1, 2):
        task = RegressionTask(library, dataset, RegressionSettings(threads=threads))
        results.append(search.run(space, task, METHODS["nggp"].settings, seed=1, budget=Budget(expressions=8_000)))
    assert str(results[0].best) == str(results[1].best)
    assert results[0].reward == results[1].reward > 0.8
    assert [step.charged for step in results[0].history] == [step.charged for step in results[1].history]


def test_a_portfolio_puts_own_operators_together_with_constants() -> None:
    library = Library.of(["add", "mul", "sin", bump, leaky], 2)
    dataset = Dataset.of(X[:60], 3.0 * bump(X[:60, 0]) + 1.5 * leaky(X[:60, 1]))
    track = Track(METHODS["nggp"].settings, 12, PAPER, True, 1)
    small = PortfolioSettings((track,), AssemblySettings(features=60, matches=4, blocks=False))
    solution = portfolio.run(library, dataset, small, budget=Budget(2_000))
    assert solution.reason is StopReason.SOLVED
    assert {"bump", "leaky"} <= {token.name for token in solution.best.expression.tokens}


# --- Faults -----------------------------------------------------------------------------------------------------------


def population_of(function: Callable[..., Array], *texts: str) -> Population:
    library = Library.of(["add", tokens.custom(function, name="own")], 1)
    return Population.from_expressions([Expression.parse(text, library) for text in texts])


@pytest.mark.parametrize("threads", [1, 2])
def test_a_function_that_raises_later_fails_its_rows_and_says_so_once(threads: int) -> None:
    def picky(x: Array) -> Array:
        if (x == 0.125).any():
            raise ZeroDivisionError("an eighth")
        return np.asarray(x) * 2.0

    population = population_of(picky, "own(x1)", "own(x1 + x1)", "own(x1) + own(x1)")
    dataset = Dataset.of([[0.125], [0.25]], [0.5, 1.0])
    with pytest.warns(
        RuntimeWarning, match="`own` raised ZeroDivisionError: an eighth. Such formulas fail; .* given once"
    ) as warned:
        errors = evaluate(population, dataset, threads=threads)
    assert len(warned) == 1
    assert errors.failure.tolist() == [Failure.NO_ANSWER, Failure.NONE, Failure.NO_ANSWER]
    assert errors.position.tolist() == [0, -1, 3]
    assert errors.error[1] == 0.0
    assert "raised an exception" in Failure.NO_ANSWER.sentence
    evaluate(population, dataset)  # no second warning, which would be an error here


def test_a_function_that_gives_another_shape_later_fails_its_rows() -> None:
    population = population_of(lambda x: np.asarray(x)[:1] if (x == 0.125).any() else np.asarray(x), "own(x1)")
    with pytest.warns(RuntimeWarning, match="must give an array of its argument's shape"):
        errors = evaluate(population, Dataset.of([[0.125], [0.25]], [0.5, 1.0]))
    assert errors.failure.tolist() == [Failure.NO_ANSWER]


def test_a_warning_made_an_error_ends_the_evaluation() -> None:
    def picky(x: Array) -> Array:
        return np.exp2(x) * (1 // int((x != 0.125).all()))

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning, match="ZeroDivisionError"):
            evaluate(population_of(picky, *["own(x1)"] * 4), Dataset.of([[0.125]], [0.5]), threads=2)


def test_a_function_may_keep_and_change_what_it_is_given_later() -> None:
    kept: list[Array] = []

    def keeping(x: Array) -> Array:
        values = np.exp2(x)
        if x.flags.writeable:  # not yet when it is tried out
            kept.append(x)
            x += 1.0
        return values

    population = population_of(keeping, "own(x1) + x1", "own(x1)", "x1")
    dataset = Dataset.of([[1.0], [2.0]], [1.0, 2.0])
    for _ in range(2):
        np.testing.assert_array_equal(predict(population, dataset).value[2], [1.0, 2.0])
        np.testing.assert_array_equal(predict(population, dataset).value[1], np.exp2([1.0, 2.0]))
    assert all(array[0] == 2.0 for array in kept)


def test_a_function_may_print(capsys: pytest.CaptureFixture[str]) -> None:
    def chatty(x: Array) -> Array:
        print("called")  # noqa: T201 - that is the point
        return np.exp2(x)

    population = population_of(chatty, "own(x1)")
    assert evaluate(population, Dataset.of([[1.0]], [np.exp2(1.0)])).error[0] == 0.0
    assert "called" in capsys.readouterr().out


@pytest.mark.parametrize("threads", [1, 2])
def test_a_function_may_itself_search(threads: int) -> None:
    inner = Dataset.of(np.linspace(0.0, 1.0, 10)[:, None], np.linspace(0.0, 1.0, 10))
    calls: list[str] = []

    def searching(x: Array) -> Array:
        if len(calls) < 3:
            library = Library.of(["add", "mul"], 1, constants=True)
            task = RegressionTask(library, inner, RegressionSettings(threads=2))
            space = SearchSpace(library, 1, 6)
            scored: Scored = task.evaluate(space.sample(200, seed=len(calls)))
            calls.append(str(scored.population[int(scored.reward.argmax())]))
        return np.exp2(x)

    population = population_of(searching, *["own(x1)", "own(own(x1))"] * 200)
    calls.clear()
    errors = evaluate(population, Dataset.of([[1.0], [0.5]], np.exp2([1.0, 0.5])), threads=threads)
    assert len(calls) >= 3
    assert (errors.error[::2] == 0.0).all()
    assert (errors.error[1::2] > 0.0).all()


@pytest.mark.parametrize(
    "call",
    [
        "evaluate(population, data, threads=2)",
        "fit(population, data)",
        "completer.complete(population, np.arange(200))",
    ],
)
def test_ctrl_c_ends_a_function_that_sleeps(call: str) -> None:
    script = f"""
        import os, signal, threading, time
        import numpy as np
        from symseed import Dataset, Expression, Library, Population, SearchSpace, evaluate, fit
        from symseed.completion.completer import Completer
        signal.signal(signal.SIGINT, signal.default_int_handler)
        is_slow = False
        def slow(x):
            if is_slow:
                time.sleep(0.05)
            return np.exp2(x)
        library = Library.of(["mul", slow], 1, constants=True)
        data = Dataset.of(np.ones((3, 1)), np.ones(3))
        completer = Completer(SearchSpace(library, 1, 6), data)
        population = Population.from_expressions([Expression.parse("slow(x1 * 2.0)", library)] * 200)
        threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        is_slow = True
        begin = time.monotonic()
        try:
            {call}
            print("finished")
        except KeyboardInterrupt:
            print("interrupted", time.monotonic() - begin)
    """
    answer = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=True, timeout=100
    )
    word, *seconds = answer.stdout.split()
    assert word == "interrupted"
    assert float(seconds[0]) < 5.0


def test_what_a_function_raises_beyond_exceptions_ends_the_call() -> None:
    def leaving(x: Array) -> Array:
        if (x == 0.125).any():
            raise SystemExit(3)
        return np.exp2(x)

    population = population_of(leaving, *["own(x1)"] * 10)
    for threads in (1, 2):
        with pytest.raises(SystemExit):
            evaluate(population, Dataset.of([[0.125]], [0.5]), threads=threads)


@pytest.mark.parametrize(
    ("arity", "kinds", "places"),
    [
        (3, [_core.VARIABLE], [0]),
        (1, [_core.VARIABLE], [1]),
        (1, [0, _core.VARIABLE], [0, 0]),
        (1, [_core.VARIABLE, _core.VARIABLE], [0, 0]),
        (1, [_core.CONSTANT], [0]),
    ],
)
def test_the_core_refuses_an_expansion_that_it_cannot_read(arity: int, kinds: list[int], places: list[int]) -> None:
    vocabulary = _core.Vocabulary(np.array(kinds, np.uint8), np.array(places, np.int32), np.zeros(len(kinds)))
    with pytest.raises(ValueError, match=r"expansion|argument"):
        _core.Function.of_expansion(arity, vocabulary)


def test_the_core_refuses_a_vocabulary_whose_functions_are_not_there() -> None:
    native = LIBRARY[5].function
    assert native is not None
    kind, zero, value = np.array([_core.FUNCTION], np.uint8), np.zeros(1, np.int32), np.zeros(1)
    for functions in ([], [native.native] * 2):
        with pytest.raises(ValueError, match="`functions` must have one for each"):
            _core.Vocabulary(kind, zero, value, functions)
