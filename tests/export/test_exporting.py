"""An exported formula is the same function, in every notation, whatever its columns are called.

How values are compared: two libraries of functions differ in the last digits, and a formula may make that difference
larger (the sine of 1e10 has lost ten digits). So each formula's error is followed from token to token, as far as
derivatives tell: four units in the last place for every operator, times the slopes above it. An export may differ by
1e-12 of the value, and by four times that error. Points where the error is no longer small beside every intermediate
value are left out; a test says how few they are, and at how few of the others the allowance matters.
"""

from __future__ import annotations

import ast
import contextlib
import copy
import ctypes
import importlib.util
import itertools
import pickle
import re
import shutil
import string
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from operator import add, mul, sub, truediv
from pathlib import Path
from types import ModuleType
from typing import Any

import mpmath
import numpy as np
import numpy.typing as npt
import pytest
import sympy
from hypothesis import example, given, settings

import notations
import reference
from reference import same_bits
from strategies import NASTY_NAMES, names
from symseed import Expression, Library, SearchSpace, SettingsError, SymbolicRegressor
from symseed.arrays import Floats
from symseed.errors import DataError
from symseed.export import libraries, to_mathml, to_sympy
from symseed.export import source as exporter
from symseed.export.graphs import to_numpy, to_onnx, to_torch
from symseed.export.languages import BY_NUMBER, BY_WHOLE, EXCEL, JULIA, OF_POSITIVE, PYTHON, C, Form, Language, Piece
from symseed.export.source import FORMATS, export
from symseed.language import derived
from symseed.language.derived import DERIVED
from symseed.language.functions import Expansion
from symseed.language.row import Row
from symseed.language.tokens import OPERATORS, Token, TokenKind
from symseed.text import for_comment

EDGES = (0.0, -0.0, 1.0, -1.0, 0.5, -2.0, 3.0, 1e-8, -1e-8, 1e-300, 7.3, -40.0, 710.0, -750.0, 1e8, -1e8, 1e150, -1e300)
LIBRARY = Library.of([*OPERATORS, 2.0, -0.5, "const"], ["x1", "x2", "x3"])

LANGUAGES = {"python": PYTHON, "c": C, "julia": JULIA, "excel": EXCEL}
HOSTILE = (
    *NASTY_NAMES,
    *('"""', "'''", '"""\nopen("pwned", "w")\n"""', "'); open('pwned', 'w'); ('", "x\nimport os", "x\rimport os"),
    *(
        "x\u2028import os",
        "x\u2029y",
        "x\u0085y",
        "x\x0by",
        "x\x0cy",
        "x\x1cy",
        "x\x1ey",
        "\x00",
        "\x1a",
        "\x7f",
        "\ufeff",
    ),
    *(
        "*/ int pwned(void) { return 1; } /*",
        "*/",
        "/*",
        "//",
        "??/",
        "??/\n*/",
        "x\\",
        "\\\nx",
        "\\u002a/",
        "%:",
        "<:",
    ),
    *("=#", "#=", "$(run(`touch pwned`))", "$x", "`touch pwned`", '""" * string(run(`id`)) * """', "\\N{BULLET}"),
    *("=cmd|' /C calc'!A0", "+1+1", "-1+1", "@SUM(A1)", "\t=1+1", "\r=1", "a\t=1", "a,=1", "a;=1", "a|b", "=A1", " =1"),
    *("\u202e\u2066x", "\u200f", "\u061c", "\u2069", "\ud800", "\udfff", "\U000e0041", "%n%s", "{a}", "{0.__class__}"),
    *("\\input{/etc/passwd}", "}$", "$", "^^M", "\\end{document}", "_", "__", "_a", "a__b", "&", "#1", "~"),
    *("t1", "t2", "x2", "x3", "formula", "np", "pow", "NAN", "linux", "for", "end", "def", "sin", "pi", "in", "isa"),
    *(
        "print",
        "double",
        "NaN",
        "M_PI",
        "_pow",
        "_sin",
        "A2",
        "float",
        "a b",
        "a_b",
        "a.b",
        "A_B",
        "x1_",
        "ß",
        "x" * 500,
    ),
)


# --- What is compared ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """A formula at points: its values, what an export may differ by, and where it must not have any value."""

    expression: Expression
    X: Floats
    value: Floats
    allowed: Floats
    is_compared: npt.NDArray[np.bool_]
    has_no_value: npt.NDArray[np.bool_]

    def check(self, found: npt.ArrayLike) -> None:
        values = np.broadcast_to(np.asarray(found, dtype=np.float64), self.value.shape)
        with np.errstate(all="ignore"):
            is_wrong = self.is_compared & ~(np.abs(values - self.value) <= self.allowed)
        is_wrong |= self.has_no_value & np.isfinite(values)
        first = np.flatnonzero(is_wrong)[:1]
        assert not len(first), (
            f"{self.expression} at {self.X[first]}: {values[first]}, not {self.value[first]} +- {self.allowed[first]}"
        )

    @property
    def used(self) -> list[int]:
        return sorted({token.column for token in self.expression.tokens if token.kind is TokenKind.VARIABLE})

    @property
    def columns(self) -> list[Floats]:
        return [self.X[:, column] for column in self.used]

    @property
    def points(self) -> list[list[float]]:
        return [[float(row[column]) for column in self.used] for row in self.X]


STEPPED = ("sign", "step", "floor", "ceil", "greater", "cond", "unless", "mod", "atan2")


def has_step(
    operator: reference.Operator, arguments: Sequence[Floats], errors: Sequence[Floats], allowed: Floats
) -> npt.NDArray[np.bool_]:
    """Say where a step of an operator is within the errors of its arguments, or hangs on the sign of 0."""
    middle = operator.value(*arguments)
    moved = [
        operator.value(
            *(a + sign * (2.0 * error + 1e-320) for a, error, sign in zip(arguments, errors, signs, strict=True))
        )
        for signs in itertools.product((-1.0, 1.0), repeat=len(arguments))
    ]
    found: npt.NDArray[np.bool_] = np.any([~(np.abs(value - middle) <= 4.0 * allowed) for value in moved], axis=0)
    return found


def case_of(expression: Expression, X: Floats, *, unit: float = 2.0**-52, relative: float = 1e-12) -> Case:
    """Follow the error of a formula; `unit` is that of the last place, which float32's inputs have lost already."""
    is_double = unit < 1e-12
    waiting: list[tuple[Floats, Floats]] = []
    is_ill, is_lost, is_large = np.zeros((3, len(X)), dtype=bool)
    with np.errstate(all="ignore"):
        for token, number in zip(reversed(expression.tokens), reversed(expression.constants), strict=True):
            if token.arity == 0:
                given = number if token.kind is TokenKind.CONSTANT else token.value
                value = X[:, token.column] if token.kind is TokenKind.VARIABLE else np.full(len(X), given)
                error = np.zeros(len(X)) if is_double else np.abs(value) * unit
            else:
                arguments, errors = zip(*(waiting.pop() for _ in range(token.arity)), strict=True)
                operator = reference.OPERATORS[token.name]
                value = operator.value(*arguments)
                error = 4.0 * (unit * np.abs(value) + 5e-324)
                if token.name == "gamma":  # which some libraries have by its logarithm only
                    error = error * (1.0 + np.abs(np.log(np.abs(value) + 5e-324)))
                for slope, given_error in zip(operator.slopes, errors, strict=True):
                    error = error + np.where(given_error > 0.0, np.abs(slope(*arguments)) * given_error, 0.0)
                if token.name in STEPPED:
                    is_ill |= has_step(operator, arguments, errors, error)
                if token.name == "pow":  # of a negative number by one that is whole but for rounding
                    is_ill |= (arguments[0] - errors[0] <= 0.0) & (errors[1] > 0.0)
            is_lost |= np.isinf(value)
            is_ill |= np.isfinite(value) & ~(error <= np.maximum(1e-3 * np.abs(value), 1e-320))
            is_large |= (value != 0.0) & ~((np.abs(value) < 1e30) & (np.abs(value) > 1e-30))
            waiting.append((value, error))
    values = expression.evaluate(X)
    is_ill |= is_large & (not is_double)
    allowed = relative * np.abs(values) + 4.0 * waiting[0][1]
    return Case(expression, X, values, allowed, np.isfinite(values) & ~is_ill, np.isnan(values) & ~is_lost & ~is_ill)


def random_expressions() -> list[Expression]:
    """200 formulas over the whole table, with constants of every kind."""
    generator = np.random.default_rng(7)
    space = SearchSpace(LIBRARY, min_length=2, max_length=22, constraints=())
    population = space.sample(200, seed=3)
    kinds = [
        generator.normal(0.0, 2.0, population.tokens.shape),
        generator.integers(-3, 5, population.tokens.shape).astype(float),
        generator.choice([1e-7, -0.0, 1e5, 123456789.123, 0.1, 1 / 3, -2.5, 700.0, 1e200], population.tokens.shape),
    ]
    constants = np.choose(generator.choice(3, population.tokens.shape, p=[0.6, 0.3, 0.1]), kinds)
    constants[np.isnan(population.constants)] = np.nan
    return list(population.with_constants(constants))


def single_operators() -> list[Expression]:
    """Each operator of variables, and pow with numbers."""
    found = [
        Expression(LIBRARY, Row((LIBRARY.ids([name])[0], *range(token.arity)), (np.nan,) * (1 + token.arity)))
        for name, token in OPERATORS.items()
    ]
    texts = [f"x1 ^ const({power})" for power in (0.0, 1.0, 2.0, -3.0, 0.5, -2.5, 1 / 3, 0.2)]
    texts += [f"const({base}) ^ x1" for base in (0.0, 1.0, 2.0, 0.5, -2.0, -8.0)]
    # What gets lost easily: NaN in min, max and pow; minus signs beside powers; powers of powers; sums in products.
    texts += ["min(log(x1), x2)", "min(x1, log(x2))", "max(sqrt(x1), x2)", "max(x2, sqrt(x1))", "log(x1) ^ const(0)"]
    texts += ["const(1) ^ log(x1)", "log(x1) ^ (x2 - x2)", "-(x1 ^ 2)", "(-x1) ^ 2", "(x1 ^ 2) ^ 3", "x1 ^ (2 ^ x2)"]
    texts += [
        "x1 ^ (-x2)",
        "-(-x1)",
        "x1 - (x2 - x3)",
        "x1 - (-x2)",
        "x1 / (x2 / x3)",
        "x1 / (x2 * x3)",
        "1 / (x1 - 1)",
    ]
    texts += [
        "-(x1 + x2)",
        "square(x1 + x2)",
        "cube(-x1)",
        "quartic(x1 - 3)",
        "square(-2)",
        "-2 ^ x1",
        "x1 * -3",
        "x1 - -3",
    ]
    texts += [
        "inv(x1 * x2)",
        "sigmoid(x1 - x2)",
        "expneg(x1 + x2)",
        "log(const(-1)) + x1",
        "x1 + 1 / const(0)",
        "const(2)",
    ]
    texts += ["(const(3) ^ x1) ^ 2", "1 / (x1 - 1)", "x1 - -3", "const(2)", "const(1) / const(3) * x1"]
    texts += ["min(x1, const(3))", "max(min(x1, x2), x3)", "tan(x1) ^ min(x2, const(2))"]
    return found + [Expression.parse(text, LIBRARY) for text in texts]


def points() -> Floats:
    generator = np.random.default_rng(1)
    grid = np.array([[a, b, c] for a in EDGES for b, c in [(a, 0.5), (2.0, a), (-3.0, -1.0), (0.0, a), (1e8, -2.0)]])
    return np.concatenate([generator.normal(0.0, 2.0, (15, 3)), generator.uniform(0.1, 3.0, (15, 3)), grid])


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    X = points()
    singles = [case_of(expression, X) for expression in single_operators()]
    few = np.concatenate([X[:30:2], X[30::4]])
    return singles + [case_of(expression, few) for expression in random_expressions()]


def load(path: Path, source: str) -> ModuleType:
    path.write_text(source, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def compiled(folder: Path, sources: Sequence[str], *flags: str) -> Any:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    number = len(list(folder.glob("*.so")))  # a library of the same path would not be loaded again
    file, library = folder / "formulas.c", folder / f"formulas{number}.so"
    file.write_text("".join(sources), encoding="utf-8")
    subprocess.run(
        [
            *(compiler, "-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", "-pedantic", *flags, "-shared", "-fPIC"),
            *("-o", str(library), str(file), "-lm"),
        ],
        check=True,
    )
    return ctypes.CDLL(str(library))


def called(function: Any, rows: Sequence[Sequence[float]]) -> Floats:
    function.restype = ctypes.c_double
    function.argtypes = [ctypes.c_double] * len(rows[0])
    return np.array([function(*row) for row in rows])


# --- The same function in every format --------------------------------------------------------------------------------


def test_the_comparison_leaves_out_few_points_and_allows_more_at_few(cases: list[Case]) -> None:
    finite = sum(int(np.isfinite(case.value).sum()) for case in cases)
    compared = sum(int(case.is_compared.sum()) for case in cases)
    strict = sum(int((case.is_compared & (case.allowed <= 2e-12 * np.abs(case.value))).sum()) for case in cases)
    without = sum(int(case.has_no_value.sum()) for case in cases)
    assert len(cases) > 223
    assert finite > 6_000
    assert compared > 0.9 * finite
    assert strict > 0.85 * compared
    assert without > 1_000
    for name in OPERATORS:
        having = [case for case in cases if name in {token.name for token in case.expression.tokens}]
        assert len(having) >= 5, name
        assert sum(case.is_compared.sum() for case in having) > 80, name


@pytest.mark.parametrize("name", LANGUAGES)
def test_the_forms_of_a_language_have_their_operators_arguments(name: str) -> None:
    for operator, form in LANGUAGES[name].forms.items():
        arity = OPERATORS[operator].arity if operator in OPERATORS else 2
        assert operator in OPERATORS or operator in {BY_WHOLE, BY_NUMBER, OF_POSITIVE}
        assert set(re.findall(r"\{(\w)", form.template)) == set("ab"[:arity])


def test_the_numpy_function_has_the_very_values_of_the_formula(cases: list[Case]) -> None:
    for case in cases:
        function = to_numpy(case.expression)
        found = function(*case.columns)
        assert found.shape in ((), case.value.shape)
        assert same_bits(np.broadcast_to(found, case.value.shape).copy(), case.value)
    assert same_bits(pickle.loads(pickle.dumps(function))(*case.columns), found)


def test_the_numpy_function_broadcasts_and_says_which_arrays_it_wants() -> None:
    expression = Expression.parse("c - a", Library.of(["sub"], ["a", "b", "c"]))
    function = to_numpy(expression)
    assert function.names == ("a", "c")
    assert function(np.arange(3.0)[:, None], [10.0, 20.0]).tolist() == [[10.0, 20.0], [9.0, 19.0], [8.0, 18.0]]
    assert function(1, 3).shape == ()
    assert np.isnan(function(1.0, np.inf))
    assert to_numpy(Expression(Library.of(["const"], 0), Row((0,), (2.5,))))() == 2.5
    with pytest.raises(DataError, match=r"Expected 2 arrays, for a, c, but 3 were given\."):
        function(1.0, 2.0, 3.0)


def test_python_source_has_the_formulas_values(cases: list[Case], tmp_path: Path) -> None:
    for i, case in enumerate(cases):
        module = load(tmp_path / f"formula_{i}.py", export(case.expression, "python", name="f"))
        case.check(module.f(*case.columns))
        if i % 10 == 0 and case.used:
            case.check([module.f(*row) for row in case.points])


def test_c_source_has_the_formulas_values(cases: list[Case], tmp_path: Path) -> None:
    sources = [export(case.expression, "c", name=f"f{i}") for i, case in enumerate(cases)]
    library = compiled(tmp_path, sources)
    for i, case in enumerate(cases):
        case.check(called(getattr(library, f"f{i}"), case.points))


def test_julia_source_has_the_formulas_values_and_throws_nothing(cases: list[Case]) -> None:
    for case in cases:
        function = notations.julia(export(case.expression, "julia"))
        case.check([function(*row) for row in case.points])


def cells(case: Case) -> list[dict[str, float]]:
    return [dict(zip(["A2", "B2", "C2"], map(float, row), strict=True)) for row in case.X]


def test_excel_formulas_have_the_formulas_values(cases: list[Case]) -> None:
    written = 0
    for case in cases:
        with contextlib.suppress(SettingsError):  # a few are too long, where an argument stands several times
            function = notations.excel(export(case.expression, "excel").splitlines()[0])
            case.check([function(row) for row in cells(case)])
            written += 1
    assert written >= 0.98 * len(cases)


def test_excel_formulas_have_the_same_values_by_another_evaluator(cases: list[Case]) -> None:
    formulas: Any = pytest.importorskip("formulas")
    for case in cases[::20]:
        text = export(case.expression, "excel").splitlines()[0]
        compiled_formula = formulas.Parser().ast(text)[1].compile()
        kept = np.flatnonzero(case.is_compared)[:8]
        found = np.full(len(case.X), np.nan)
        for row in kept:
            given = dict(zip(["A2", "B2", "C2"], case.X[row], strict=True))
            with np.errstate(all="ignore"):
                found[row] = float(compiled_formula(*(given[cell] for cell in compiled_formula.inputs)))
        with np.errstate(all="ignore"):
            assert (np.abs(found - case.value) <= case.allowed)[kept].all(), text


def test_sympys_text_has_the_formulas_values(cases: list[Case]) -> None:
    """Read by a small evaluator with 40 digits; sympy rewrites formulas, so a value may be missing or have more."""
    for case in cases[::3]:
        if np.isnan(case.value).all():  # which sympy refuses to write, if it has to compare complex numbers
            continue
        tree = ast.parse(export(case.expression, "sympy"), mode="eval").body
        kept = np.flatnonzero(case.is_compared)[:2]
        for row in kept:
            found = _sympy_value(tree, {f"x{i + 1}": float(value) for i, value in enumerate(case.X[row])})
            assert abs(found - case.value[row]) <= case.allowed[row], (case.expression, case.X[row])


def _sympy_value(node: ast.expr, scope: dict[str, float]) -> Any:
    functions: dict[str, Callable[..., Any]] = {
        "Min": lambda *values: min(mpmath.re(value) for value in values),
        "Max": lambda *values: max(mpmath.re(value) for value in values),
        "Abs": abs,
        "Heaviside": lambda a, at_zero: 1 if a > 0 else at_zero if a == 0 else 0,
        "Mod": lambda a, b: a - b * mpmath.floor(a / b),
        "ceiling": mpmath.ceil,
        **{name: getattr(mpmath, name) for name in ("sin", "cos", "tan", "exp", "log", "sqrt", "tanh", "sinh", "cosh")},
        **{name: getattr(mpmath, name) for name in ("asin", "acos", "atan", "asinh", "acosh", "atanh", "erf", "gamma")},
        **{name: getattr(mpmath, name) for name in ("sign", "floor", "re", "im", "atan2")},
    }
    signs: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
        ast.Add: add,
        ast.Sub: sub,
        ast.Mult: mul,
        ast.Div: truediv,
        ast.Pow: lambda a, b: mpmath.power(a, b) if a != 0 or b != 0 else 1,
    }
    with mpmath.workdps(40):
        if isinstance(node, ast.Constant):
            return mpmath.mpf(node.value)
        if isinstance(node, ast.Name):
            known = {"E": mpmath.e, "pi": mpmath.pi, "I": mpmath.mpc(0, 1), **scope}
            return known[node.id] * mpmath.mpf(1)
        if isinstance(node, ast.UnaryOp):
            assert isinstance(node.op, ast.USub)
            return -_sympy_value(node.operand, scope)
        if isinstance(node, ast.BinOp):
            return signs[type(node.op)](_sympy_value(node.left, scope), _sympy_value(node.right, scope))
        assert isinstance(node, ast.Call)
        assert isinstance(node.func, ast.Name)
        name = node.func.id
        return functions[name](*(_sympy_value(argument, scope) for argument in node.args))


# --- Derived operators -----------------------------------------------------------------------------------------------

SOURCES = {"python": "PYTHON", "c": "C", "julia": "JULIA", "excel": "EXCEL"}


def values_in(notation: str, expression: Expression, X: Floats, folder: Path) -> Floats:
    """A formula's values in a notation; its variables are the columns of X, and all occur."""
    text = export(expression, notation) if notation in FORMATS else ""
    if notation == "python":
        return np.asarray(load(folder / f"formula_{len(list(folder.glob('*.py')))}.py", text).formula(*X.T))
    if notation == "c":
        return called(compiled(folder, [text]).formula, X.tolist())
    if notation == "julia":
        return np.array([notations.julia(text)(*row) for row in X])
    if notation == "excel":
        formula = notations.excel(text.splitlines()[0])
        return np.array([formula(dict(zip(["A2", "B2"], row, strict=False))) for row in X.tolist()])
    if notation == "sympy":
        tree = ast.parse(text, mode="eval").body
        return np.array([float(_sympy_value(tree, dict(zip(["x1", "x2"], row, strict=False)))) for row in X.tolist()])
    if notation == "torch":
        torch: Any = pytest.importorskip("torch")
        return np.asarray(to_torch(expression)(torch.tensor(X)).detach().numpy())
    assert notation == "onnx"
    evaluator: Any = pytest.importorskip("onnx.reference").ReferenceEvaluator
    return np.asarray(evaluator(to_onnx(expression)).run(None, {"X": X})[0])


def without_forms_of_derived_operators(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave every notation the forms of primitive operators only."""
    for name, constant in SOURCES.items():
        forms = {operator: form for operator, form in LANGUAGES[name].forms.items() if operator not in DERIVED}
        monkeypatch.setattr(exporter, constant, replace(LANGUAGES[name], forms=forms))

    def with_expansions(own: Any, number: Any) -> Any:
        return derived.with_expansions({name: form for name, form in own.items() if name not in DERIVED}, number)

    monkeypatch.setattr(libraries, "with_expansions", with_expansions)


@pytest.mark.parametrize("notation", [*SOURCES, "sympy", "torch", "onnx"])
def test_a_derived_operator_without_a_form_is_written_by_its_expansion(
    notation: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    without_forms_of_derived_operators(monkeypatch)
    library = Library.of([*DERIVED, "sub", "mul", "log"], 2)
    X = np.random.default_rng(2).uniform([0.6, -3.0], [4.0, 3.0], (12, 2))
    for name in DERIVED:
        second = ", x2 * x1" if OPERATORS[name].arity == 2 else ""
        for text in (f"{name}(x1 - x2{second})", f"{name}(log(x1){second}) * x2 - {name}(x1 * x2{second})"):
            expression = Expression.parse(text, library)
            found = values_in(notation, expression, X, tmp_path)
            np.testing.assert_allclose(found, expression.evaluate(X), rtol=1e-12, err_msg=f"{text} in {notation}")


@pytest.mark.parametrize("notation", [*SOURCES, "sympy", "torch", "onnx"])
def test_an_operator_that_has_only_an_expansion_is_exported(notation: str, hyper: Token, tmp_path: Path) -> None:
    library = Library((*Library.of(["sub", "mul", "neg"], 2).tokens, hyper))
    X = np.random.default_rng(2).uniform([0.5, 0.1], [2.0, 0.4], (12, 2))
    for text in ("hyper(x1 - x2)", "hyper(hyper(x1)) - x2 * hyper(-x2)"):
        expression = Expression.parse(text, library)
        assert np.isfinite(expression.evaluate(X)).all()
        found = values_in(notation, expression, X, tmp_path)
        np.testing.assert_allclose(found, expression.evaluate(X), rtol=1e-12, err_msg=f"{text} in {notation}")


def test_an_operator_that_has_only_an_expansion_is_written_as_that(hyper: Token) -> None:
    library = Library((*Library.of(["sub"], ["x", "y"]).tokens, hyper))
    expression = Expression.parse("hyper(x - y)", library)
    assert "t1 = x - y\n" in export(expression, "python"), "its argument is computed once"
    assert "return (np.exp(t1) - np.exp(-t1)) / (np.exp(t1) + np.exp(-t1))\n" in export(expression, "python")
    assert "return (exp(t1) - exp(-t1)) / (exp(t1) + exp(-t1));\n" in export(expression, "c")
    assert export(expression, "excel").startswith("=(EXP(A2-B2)-EXP(-(A2-B2)))/(EXP(A2-B2)+EXP(-(A2-B2)))\n")
    assert "e^{" in export(expression, "latex")
    assert "<mi>x</mi>" in to_mathml(expression)


def test_a_form_made_of_others_brings_what_they_need() -> None:
    """Definitions of Julia's, brackets, and +0 after a cell in Excel's MIN."""
    x = Piece("x")

    def written(language: Language, expansion: Expansion) -> Form:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(derived, "DERIVED", {"toy": expansion})
            return language.form("toy", [x, x])

    both = written(LANGUAGES["julia"], ("add", "log", 0, "mul", "sin", 1, "log", 1))
    assert both.template == "_log({a}) + _sin({b}) * _log({b})"
    assert {helper.split("(")[0] for helper in both.helpers} == {"_log", "_sin"}
    assert written(LANGUAGES["excel"], ("min", 0, "add", 1, -2.5)).template == "MIN({a:v},{b:1}+-2.5)"
    assert written(LANGUAGES["c"], ("sub", 0, "sub", -1.0, 1)).template == "{a:1} - (-1.0 - {b:2})"
    assert written(LANGUAGES["python"], ("pow", "add", 0, 1, 2.0)).template == "({a:1} + {b:2}) ** 2.0"
    assert written(LANGUAGES["c"], ("pow", 0, 1)) == LANGUAGES["c"].forms["pow"]


def test_what_is_written_by_expansions_reads_as_it_did() -> None:
    library = Library.of([*DERIVED, "add"], ["x", "y"])

    def value(text: str, notation: str) -> str:
        return re.search("return (.*)|^=(.*)", export(Expression.parse(text, library), notation), re.M)[0]  # type: ignore[index]

    assert value("sigmoid(x + y)", "python") == "return 1.0 / (1.0 + np.exp(-(x + y)))"
    assert value("logabs(x) + expneg(y)", "python") == "return np.log(np.abs(x)) + np.exp(-y)"
    assert value("inv(x + y)", "julia") == "return 1.0 / (x + y)"
    assert value("logabs(x)", "julia") == "return log(abs(x))"
    assert value("logabs(x) + expneg(y)", "excel") == "=LN(ABS(A2))+EXP(-B2)"
    assert value("inv(x)", "excel") == "=1/A2"
    assert value("square(x)", "python") == "return x ** 2"
    assert value("square(x)", "c") == "return x * x;"
    assert value("cube(x)", "c") == "return x * x * x;"
    assert value("quartic(x)", "c") == "return x * x * (x * x);"


# --- PyTorch and ONNX ------------------------------------------------------------------------------------------------


@pytest.fixture
def torch() -> Any:
    module: Any = pytest.importorskip("torch")
    module.set_num_threads(1)
    return module


def test_torch_modules_have_the_formulas_values(cases: list[Case], torch: Any) -> None:
    for case in cases:
        with torch.no_grad():
            found = to_torch(case.expression)(torch.tensor(case.X))
        assert found.dtype == torch.float64
        assert found.shape == (len(case.X),)
        case.check(found.detach().numpy())


def test_torch_modules_of_float32_have_the_formulas_values_to_its_precision(cases: list[Case], torch: Any) -> None:
    compared = 0
    for case in cases:
        rough = case_of(case.expression, case.X, unit=2.0**-23, relative=1e-6)
        with torch.no_grad():
            found = to_torch(case.expression, dtype=torch.float32)(torch.tensor(case.X))
        assert found.dtype == torch.float32
        values = found.detach().numpy().astype(float)
        with np.errstate(all="ignore"):
            assert (np.abs(values - rough.value) <= rough.allowed)[rough.is_compared].all(), case.expression
        compared += int(rough.is_compared.sum())
    assert compared > 3_000


def test_a_torch_modules_constants_can_be_trained_and_saved(torch: Any) -> None:
    library = Library.of(["add", "mul", "sin", 2.0, "const"], ["a", "b"])
    module = to_torch(Expression.parse("const(1) * sin(b) + const(0.5) * a + 2.0", library))
    X = torch.tensor(np.random.default_rng(0).normal(size=(50, 2)))
    target = 3.0 * torch.sin(X[:, 1]) - 0.25 * X[:, 0] + 2.0
    assert module.constants.tolist() == [1.0, 0.5], "in the formula's order, and without the literal"
    optimizer = torch.optim.LBFGS(module.parameters(), max_iter=100, line_search_fn="strong_wolfe")

    def closure() -> Any:
        optimizer.zero_grad()
        loss = ((module(X) - target) ** 2).mean()
        loss.backward()
        return loss

    optimizer.step(closure)
    np.testing.assert_allclose(module.constants.detach().numpy(), [3.0, -0.25], rtol=1e-5)
    for twin in (copy.deepcopy(module), pickle.loads(pickle.dumps(module))):
        assert torch.equal(twin(X), module(X))
        twin.constants.data += 1.0
        assert not torch.equal(twin(X), module(X)), "a copy is no second name"
    assert not copy.deepcopy(module.requires_grad_(False)).constants.requires_grad
    assert module(X.reshape(5, 10, 2)).shape == (5, 10)
    assert "sin(b)" in repr(module)


def test_onnx_models_have_the_formulas_values(cases: list[Case]) -> None:
    evaluator: Any = pytest.importorskip("onnx.reference").ReferenceEvaluator
    for case in cases:
        with np.errstate(all="ignore"):
            (found,) = evaluator(to_onnx(case.expression)).run(None, {"X": case.X})
        assert found.dtype == np.float64
        assert found.shape == (len(case.X),)
        case.check(found)


def test_onnx_models_run_in_onnxruntime_unless_it_lacks_their_operators(cases: list[Case]) -> None:
    runtime: Any = pytest.importorskip("onnxruntime")
    lacking: set[str] = set()
    for case in cases[::2]:
        model = to_onnx(case.expression)
        try:
            session = runtime.InferenceSession(model.SerializeToString())
        except runtime.capi.onnxruntime_pybind11_state.NotImplemented as error:
            lacking |= {node.op_type for node in model.graph.node if f"{node.op_type}(" in str(error)}
            continue
        case.check(session.run(None, {"X": case.X})[0])
    # Its kernels of these are for float32 alone; the page on operators says so.
    assert lacking <= {"Asin", "Acos", "Atan", "Sinh", "Cosh", "Asinh", "Acosh", "Atanh"}


@pytest.mark.parametrize(("function", "package"), [(to_torch, "torch"), (to_onnx, "onnx")])
def test_a_package_that_is_missing_is_asked_for(
    function: Callable[[Expression], Any], package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(SettingsError, match=rf"`{package}` is not installed\. Install it: pip install {package}\."):
        function(single_operators()[0])


# --- Text ------------------------------------------------------------------------------------------------------------


PLAIN = Expression.parse(
    "const(2.5) * mass ^ const(-1.5) + sin(speed) - 0.1",
    Library.of(["add", "sub", "mul", "pow", "sin", 0.1, "const"], ["time", "mass", "speed"]),
)


def test_python_source_is_a_module_with_one_function() -> None:
    assert (
        export(PLAIN, "python", name="law")
        == '''"""A formula found by symseed."""

import numpy as np


def law(mass, speed):
    """Return the formula's value at numbers or arrays.

    mass: column 2, mass
    speed: column 3, speed
    """
    mass = np.asarray(mass, dtype=np.float64)
    speed = np.asarray(speed, dtype=np.float64)
    with np.errstate(all="ignore"):
        return 2.5 * mass ** (-1.5) + np.sin(speed) - 0.1
'''
    )


def test_c_source_is_one_function_of_doubles() -> None:
    assert (
        export(PLAIN, "c")
        == """\
/* A formula found by symseed, in C99. Link with -lm; do not compile with -ffast-math.
   mass: column 2, mass
   speed: column 3, speed
*/
#include <math.h>

double formula(double mass, double speed)
{
    return 2.5 * pow(mass, -1.5) + sin(speed) - 0.1;
}
"""
    )
    assert "double formula(void)" in export(Expression.parse("0.1", PLAIN.library), "c")


def test_julia_source_is_one_function_of_numbers() -> None:
    assert (
        export(PLAIN, "julia")
        == """\
# A formula found by symseed. For arrays: formula.(mass, speed)
# mass: column 2, mass
# speed: column 3, speed
function formula(mass, speed)
    _pow(a, b) = isnan(a) || isnan(b) || (a < 0 && !isinteger(b)) ? NaN : a^b
    _sin(a) = isinf(a) ? NaN : sin(a)
    mass = float(mass)
    speed = float(speed)
    return 2.5 * _pow(mass, -1.5) + _sin(speed) - 0.1
end
"""
    )


def test_an_excel_formula_stands_in_the_first_line_and_the_others_say_which_cell_is_which() -> None:
    assert export(PLAIN, "excel") == ("=2.5*SQRT(B2)^(2*-1.5)+SIN(C2)-0.1\nB2: column 2, mass\nC2: column 3, speed\n")
    library = Library.of(["add"], 16_385)
    for column, cell in [(0, "A2"), (25, "Z2"), (26, "AA2"), (701, "ZZ2"), (702, "AAA2"), (16_383, "XFD2")]:
        assert export(Expression(library, Row((column,), (np.nan,))), "excel").startswith(f"={cell}\n")
    with pytest.raises(SettingsError, match="A sheet has 16384 columns, but the formula uses column 16385"):
        export(Expression(library, Row((16_384,), (np.nan,))), "excel")


def test_an_excel_formula_does_not_skip_a_cell_that_holds_text() -> None:
    library = Library.of(["min", "sigmoid", "pow", 3.0], ["a", "b"])
    for text in ("min(a, 3.0)", "sigmoid(a)", "min(min(a, b), 3.0)", "a ^ b", "b ^ a"):
        formula = notations.excel(export(Expression.parse(text, library), "excel").splitlines()[0])
        assert np.isfinite(formula({"A2": 1.0, "B2": 2.0}))
        assert np.isnan(formula({"A2": "n/a", "B2": 2.0})), text
    assert notations.excel("=MIN(A2,3)")({"A2": "n/a"}) == 3.0, "as Excel does"


def test_the_test_evaluators_have_each_languages_own_precedence() -> None:
    assert notations.excel("=-2^2")({}) == 4.0
    assert notations.excel("=2^3^2")({}) == 64.0
    assert notations.excel("=1-2^2-1")({}) == -4.0
    assert notations.excel("=(-8)^(1/3)")({}) == -2.0
    assert np.isnan(notations.excel("=0^0")({}))
    assert np.isnan(notations.excel("=1/EXP(710)")({}))
    assert notations.julia("function f(x)\nreturn -x^2\nend")(2.0) == -4.0
    assert notations.julia("function f(x)\nreturn x^3^2 + 2 * -x\nend")(2.0) == 508.0
    with pytest.raises(notations.DomainError):
        notations.julia("function f(x)\nreturn log(x)\nend")(-1.0)


def test_numbers_keep_every_digit() -> None:
    values = (0.1, 1 / 3, -2.2250738585072014e-308, 5e-324, 123456789.12345679, -1e22, 9.87654321e300)
    library = Library.of(["add", "const"], ["x"])
    for value in values:
        expression = Expression(library, Row((1, 2, 0), (np.nan, value, np.nan)))
        for notation in LANGUAGES:
            text = export(expression, notation).lower()
            assert repr(abs(value)) in text, notation
        assert float(sympy.sympify(export(expression, "sympy")).subs("x", 0)) == value


def test_long_formulas_are_written_in_steps_and_too_long_ones_are_refused_by_excel(tmp_path: Path) -> None:
    library = Library.of(["add", "sin", "mul", "square"], ["x"])
    nested = Expression(library, Row((*(2,) * 3_000, 0), (np.nan,) * 3_001))
    assert library[2].name == "sin"
    total = Expression(library, Row((*(1,) * 3_000, *(0,) * 3_001), (np.nan,) * 6_001))
    powers = Expression(library, Row((*(4,) * 40, 0), (np.nan,) * 41))
    for i, expression in enumerate((nested, total, powers)):
        X = np.array([[0.3]])
        expected = expression.evaluate(X)
        module = load(tmp_path / f"long_{i}.py", export(expression, "python"))
        np.testing.assert_allclose(module.formula(X[:, 0]), expected, rtol=1e-11)
        library_c = compiled(tmp_path, [export(expression, "c", name=f"long_{i}")])
        np.testing.assert_allclose(called(getattr(library_c, f"long_{i}"), [[0.3]]), expected, rtol=1e-11)
        np.testing.assert_allclose(notations.julia(export(expression, "julia"))(0.3), expected, rtol=1e-11)
    tower = Expression(Library.of(["pow"], ["x"]), Row((*(1,) * 60, *(0,) * 61), (np.nan,) * 121))
    for expression in (nested, total, tower):
        with pytest.raises(SettingsError, match=r"The text of an Excel formula has at most 8191 characters, but this"):
            export(expression, "excel")
    with pytest.raises(SettingsError, match="has at most 64 brackets within each other, but this one has 65"):
        export(Expression(library, Row((*(2,) * 65, 0), (np.nan,) * 66)), "excel")
    assert export(Expression(library, Row((*(2,) * 64, 0), (np.nan,) * 65)), "excel").startswith("=SIN(SIN(")
    with pytest.raises(SettingsError, match="Excel reads numbers up to"):
        export(Expression(Library.of(["const"], 0), Row((0,), (1.5e308,))), "excel")


def test_an_unknown_format_is_answered_with_a_suggestion() -> None:
    assert tuple(FORMATS) == ("text", "sympy", "latex", "python", "c", "julia", "excel")
    with pytest.raises(SettingsError, match=r"but it is 'Pyton'\. Did you mean `python`\?"):
        export(PLAIN, "Pyton")
    with pytest.raises(SettingsError, match=r"must be one of text, sympy, latex, .*, but it is 'fortran'\.$"):
        export(PLAIN, "fortran")


def test_what_sympy_cannot_write_is_said_in_a_sentence() -> None:
    expression = Expression.parse("min(log(sqrt(-0.5)), x1)", LIBRARY)
    with pytest.raises(SettingsError, match=r"sympy cannot write `min\(log\(sqrt\(-0.5\)\), x1\)`: .* not compar"):
        export(expression, "sympy")


@pytest.mark.parametrize("name", ["", "2x", "a b", "for", "a(", "é", "f\n", "_f"])
@pytest.mark.parametrize("notation", ["python", "c", "julia"])
def test_a_function_has_a_name_that_is_one(name: str, notation: str) -> None:
    with pytest.raises(SettingsError, match="`name` must be a word of letters"):
        export(PLAIN, notation, name=name)


@pytest.mark.parametrize("notation", [*FORMATS, "torch", "onnx"])
def test_operators_of_ones_own_and_constants_that_are_no_numbers_are_refused(notation: str) -> None:
    def write(expression: Expression) -> None:
        if notation in FORMATS:
            export(expression, notation)
        else:
            pytest.importorskip(notation)
            (to_torch if notation == "torch" else to_onnx)(expression)

    own = Library((*Library.of([], ["x"]).tokens, Token("bump", TokenKind.OPERATOR, 1, 1, OPERATORS["sin"].code)))
    if notation != "text":
        with pytest.raises(
            SettingsError, match=r"`bump` is an operator of your own, which .* cannot express; write"
        ) as found:
            write(Expression(own, Row((1, 0), (np.nan, np.nan))))
        (method,) = re.findall(r"by `SymbolicRegressor\.(\w+)`", str(found.value))
        assert hasattr(SymbolicRegressor, method)
    with pytest.raises(SettingsError, match="must be finite numbers, but one of them is nan"):
        write(Expression(Library.of(["const"], 0), Row((0,), (np.nan,))))


# --- Names -----------------------------------------------------------------------------------------------------------


def with_names(first: str, second: str) -> Expression:
    library = Library.of(["add", "sub", "pow", "min", "log", "sin", "const"], [first, second])
    return Expression(library, Row((2, 8, 4, 0, 5, 6, 1, 7, 1), (np.nan, 2.5, *(np.nan,) * 7)))


BENIGN = with_names("x1", "x2")
POINT = (2.0, 3.0)
EXPECTED = float(BENIGN.evaluate([POINT])[0])


def other(name: str) -> str:
    """A second column, of a name that is like the first or easily mixed up with it."""
    return {"x1": "x 1", "t1": "x1"}.get(name, name + "_" if len(name) % 2 else "x1")


def shape(source: str) -> list[str]:
    """What a parser sees of Python source: nodes without names and without documentation."""
    return [
        type(node).__name__ + (repr(node.value) if isinstance(node, ast.Constant) and node.value != doc else "")
        for doc in [ast.get_docstring(ast.parse(source).body[-1], clean=False)]  # type: ignore[arg-type]
        for node in ast.walk(ast.parse(source))
    ]


def code(source: str) -> str:
    """C source without its one comment, and with arguments called x1, x2."""
    assert source.count("/*") == source.count("*/") == 1
    text = source[source.index("*/") :]
    found = re.search(r"formula\w*\(double (\w+), double (\w+)\)", text)
    assert found
    assert len(set(found.groups())) == 2
    head, body = text[: found.start()], text[found.start() :]  # a name may be that of a word in `#include <math.h>`
    for place, word in enumerate(found.groups()):
        body = re.sub(rf"\b{word}\b", f"\0{place}", body)
    return head + re.sub(r"formula\w*", "formula", body.replace("\0000", "x1").replace("\0001", "x2"))


@pytest.mark.parametrize("notation", LANGUAGES)
def test_hostile_names_stay_in_their_lines_and_are_shown_with_harmless_characters(notation: str) -> None:
    safe = set(string.ascii_letters + string.digits + " .:()[]/%^-_<>+,*=;{}\"'#?!|&~\n")
    lines = export(BENIGN, notation).splitlines()
    for name in HOSTILE:
        source = export(with_names(name, other(name)), notation)
        assert len(source.splitlines()) == len(lines), repr(name)
        assert all(character in safe or (character.isalnum() and notation != "c") for character in source), repr(name)
        legend = [line for line in source.splitlines() if re.match(r"\W*\w+: column 1, ", line)]
        assert len(legend) == 1
        text = legend[0].partition(": column 1, ")[2]
        assert not set(text) & set("\"'`\\#$=|*?@{},;!&~\t\r"), repr(name)
        assert not text.startswith(("=", "+", "-", "@"))
        assert re.sub(r"<U\+([0-9A-F]+)>", lambda match: chr(int(match[1], 16)), text) == name, "it can be read back"


@given(first=names(), second=names())
@settings(max_examples=100, deadline=None)
@example("a b", "a_b")
@example("x2", "x1")
@example("formula", "np")
@example("math", "h")
def test_any_two_names_give_the_same_program(first: str, second: str) -> None:
    expression = with_names(first, second if second != first else second + "'")
    python = export(expression, "python")
    assert shape(python) == shape(export(BENIGN, "python"))
    assert code(export(expression, "c")) == code(export(BENIGN, "c"))
    assert notations.julia(export(expression, "julia"))(*POINT) == EXPECTED
    assert export(expression, "excel").splitlines()[0] == export(BENIGN, "excel").splitlines()[0]
    assert for_comment(first) != for_comment(second) or first == second


def test_hostile_names_have_no_effect_in_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    expected = shape(export(BENIGN, "python"))
    for i, name in enumerate(HOSTILE):
        source = export(with_names(name, other(name)), "python")
        assert shape(source) == expected, repr(name)
        module = load(tmp_path / f"hostile_{i}.py", source)
        assert module.formula(*POINT) == pytest.approx(EXPECTED, rel=1e-14)
        assert {word for word in vars(module) if not word.startswith("__")} == {"np", "formula"}
    assert not (tmp_path / "pwned").exists()


def test_hostile_names_have_no_effect_in_c(tmp_path: Path) -> None:
    sources = [export(with_names(name, other(name)), "c", name=f"formula{i}") for i, name in enumerate(HOSTILE)]
    for source in sources:
        assert code(source) == code(export(BENIGN, "c"))
    for flags in (["-trigraphs", "-Wtrigraphs", "-Wcomment"], ["-std=gnu17"]):
        library = compiled(tmp_path, sources, *flags)
        for i in range(len(sources)):
            assert called(getattr(library, f"formula{i}"), [POINT])[0] == pytest.approx(EXPECTED, rel=1e-14)
        assert not hasattr(library, "pwned")


def test_hostile_names_have_no_effect_in_julia_excel_sympy_and_onnx() -> None:
    for name in HOSTILE:
        expression = with_names(name, other(name))
        source = export(expression, "julia")
        head, body = source.split("function formula(")
        assert all(line.startswith("# ") for line in head.splitlines())
        assert not set(body) & set("\"'`$#@\\;")
        assert notations.julia(source)(*POINT) == EXPECTED
        formula, *legend = export(expression, "excel").splitlines()
        assert formula == export(BENIGN, "excel").splitlines()[0]
        assert [line.partition(":")[0] for line in legend] == ["A2", "B2"]
        text = export(expression, "sympy")
        calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
        called_names = {ast.unparse(call.func) for call in calls}
        assert called_names <= {"Symbol", "Min", "log", "sin"}
        quoted = {ast.literal_eval(call.args[0]) for call in calls if ast.unparse(call.func) == "Symbol"}
        words = {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)} - called_names
        assert quoted | words == {name, other(name)}
        assert all(re.fullmatch("[A-Za-z][A-Za-z0-9_]*", word) and not hasattr(sympy, word) for word in words)
        assert sympy.sympify(text) == to_sympy(expression)


def test_hostile_names_have_no_effect_in_onnx() -> None:
    evaluator: Any = pytest.importorskip("onnx.reference").ReferenceEvaluator
    for name in HOSTILE:
        model = to_onnx(with_names(name, other(name)))
        assert evaluator(model.SerializeToString()).run(None, {"X": np.array([POINT])})[0][0] == pytest.approx(EXPECTED)
        assert model.graph.input[0].doc_string.splitlines()[0] == f"column 1: {for_comment(name)}"


TEX_TEXT = re.compile(r"\\text\{((?:[^\\{}$&%#_^~<>]|\\text[a-z]+\{\}|\\[{}$&%#_])+)\}")
TEX_SYMBOL = re.compile(r"(?:\\[A-Za-z]+|[A-Za-z]|\\text\{[A-Za-z]+\})(?:_\{(?:[0-9]+|\\mathrm\{[A-Za-z0-9]+\})\})?")


@pytest.mark.parametrize(
    ("name", "tex"),
    [
        ("x", "x"),
        ("x1", "x_{1}"),
        ("x_12", "x_{12}"),
        ("v_max", r"v_{\mathrm{max}}"),
        ("mu", r"\mu"),
        ("theta_0", r"\theta_{0}"),
        ("mass", r"\text{mass}"),
        ("mass2", r"\text{mass}_{2}"),
        ("period_days", r"\text{period\_days}"),
        ("AABS", r"\text{AABS}"),
        ("xprime", r"\text{xprime}"),
        ("λ", r"\text{λ}"),
    ],
)
def test_names_in_latex(name: str, tex: str) -> None:
    assert export(Expression(Library.of([], [name]), Row((0,), (np.nan,))), "latex") == tex


def test_names_of_several_letters_do_not_run_together() -> None:
    library = Library.of(["mul"], ["mass", "v"])

    assert export(Expression(library, Row((2, 0, 1), (np.nan,) * 3)), "latex") == r"\text{mass} \cdot v"


@given(name=names())
@settings(max_examples=100, deadline=None)
def test_any_name_is_text_or_a_symbol_in_latex(name: str) -> None:
    check_latex(name)


def test_hostile_names_are_text_or_a_symbol_in_latex() -> None:
    for name in HOSTILE:
        check_latex(name)
    tex = export(with_names("\\input{x}", "$_"), "latex")
    assert r"\text{\textbackslash{}input\{x\}}" in tex
    assert r"\text{\$\_}" in tex
    assert export(Expression(Library.of([], ["a__b"]), Row((0,), (np.nan,))), "latex") == r"\text{a\_\_b}", "no power"
    assert (
        export(Expression(Library.of([], ["\t"]), Row((0,), (np.nan,))), "latex")
        == r"\text{\textless{}U+0009\textgreater{}}"
    )


def check_latex(name: str) -> None:
    tex = export(Expression(Library.of([], [name]), Row((0,), (np.nan,))), "latex")
    found = TEX_TEXT.fullmatch(tex)
    assert found or TEX_SYMBOL.fullmatch(tex), (name, tex)
    assert tex.isprintable()
    bare = re.sub(r"\\[{}]", "", tex)
    assert bare.count("{") == bare.count("}")
    if found:
        assert found[1].strip(), "something can be seen"


def test_arguments_are_called_as_the_columns_where_that_is_safe() -> None:
    columns = ["mass", "speed (m/s)", "for", "Größe", "t1", "x1", "mass ", "np", "x8", "a-b", "a_b", "2nd", "x" * 41]
    library = Library.of(["add"], columns)
    count = len(columns)
    expression = Expression(library, Row((*(count,) * (count - 1), *range(count)), (np.nan,) * (2 * count - 1)))
    head = next(line for line in export(expression, "python").splitlines() if line.startswith("def "))
    assert head == "def formula(mass, speed_m_s, x3, x4, x5, x6, x7, x8, x9, a_b, x11, x12, x13):"


def test_there_are_enough_hostile_names() -> None:
    assert len(set(HOSTILE)) > 100
