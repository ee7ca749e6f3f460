"""Operators: every table that knows them knows them all, and an expansion is what its operator computes."""

from __future__ import annotations

import ast
import math
import re
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import mpmath
import numpy as np
import pytest

import reference
import symseed
from reference import same_bits
from symseed import Expression, Library, Population, SearchSpace, SettingsError, SpaceError, SymbolicRegressor
from symseed.export import libraries
from symseed.export.languages import BY_NUMBER, BY_WHOLE, EXCEL, JULIA, OF_POSITIVE, PYTHON, C
from symseed.language.derived import DERIVED
from symseed.language.functions import Function
from symseed.language.row import Row
from symseed.language.tokens import ALIASES, OPERATORS, Token
from symseed.space.constraints import Dimensions
from symseed.space.dimensions import NUMBER, Dimension

ROOT = Path(__file__).parent.parent
PACKAGE = Path(symseed.__file__).parent
VALUES = (0.0, -0.0, 1.0, -1.0, 0.1, -2.5, 7.3, 1e-8, 1e-300, -40.0, 36.0, 700.0, -750.0, 1e8, -1e103, 1e200, 5e-324)


class Stand:
    """In the place of a library, its objects and functions: nothing is computed with it."""

    def __getattr__(self, name: str) -> Stand:
        return Stand()

    def __call__(self, *_: object) -> Stand:
        return Stand()


def listed(text: str, kind: str) -> set[str]:
    """The operators that a text lists after `kind`, by their names or signs, up to the end of the sentence or line."""
    found = re.search(rf"{kind}_operators`?: ([^.]*?)(?:\.|\n- |\n\n)", text)
    assert found
    return {ALIASES.get(word, word) for word in re.findall(r"[a-z][a-z0-9]*|[-+*/^]", found[1])} & set(OPERATORS)


def listed_in(text: str | None) -> set[str]:
    assert text
    return listed(text, "binary") | listed(text, "unary")


FORMS_OF_POW = {BY_WHOLE, BY_NUMBER, OF_POSITIVE}
LANGUAGES = {"python": PYTHON, "c": C, "julia": JULIA, "excel": EXCEL}
TABLES = {
    **{f"languages.{name}": set(language.operators) - FORMS_OF_POW for name, language in LANGUAGES.items()},
    "libraries.sympy_operators": set(libraries.sympy_operators(Stand(), float)),
    "libraries.torch_operators": set(libraries.torch_operators(Stand())),
    "libraries.onnx_operators": set(libraries.onnx_operators(Stand())),
    "libraries.Reals": set(libraries.Reals(mpmath.MPContext()).operators()),
    "tests/reference.py": set(reference.OPERATORS),
    "SymbolicRegressor's docstring": listed_in(SymbolicRegressor.__doc__),
    "docs/operators.md": listed_in((ROOT / "docs" / "operators.md").read_text(encoding="utf-8")),
}
"""What knows operators, and must know them all."""
POWERS_OF_METRE = {text: Dimension.of({"m": Fraction(text)}) for text in ("1/3", "1/2", "-1", "2", "3", "4")}

DICTIONARIES = {"export/languages.py": 4, "export/libraries.py": 4, "language/derived.py": 1}
"""Where in the package such tables stand, and how many."""
PARTIAL = {
    "benchmarks/writing.py": 1,  # any other operator is an atom, or has a case of its own
    "export/algebra.py": 1,  # any other operator is a call
    "language/typeset.py": 3,  # any other operator is written by its expansion or as a call
    "data/magnitudes.py": 1,  # a factor stays within any other operator
    "language/template.py": 1,  # any other operator has no neutral number
    "language/expression.py": 1,  # any other operator is written as a call
    "show/figures.py": 1,  # any other operator is called by its name
    "structure/reduction.py": 1,  # no other operator takes a column off the target
    "language/protected.py": 1,  # any other operator has a value for every argument, or is not the authors'
}
"""Dictionaries of a few operators, how many, and what holds for the others."""


@pytest.mark.parametrize("table", TABLES)
def test_a_table_knows_every_operator_and_nothing_else(table: str) -> None:
    lacking, foreign = set(OPERATORS) - TABLES[table], TABLES[table] - set(OPERATORS)
    assert not lacking, f"{table} lacks {', '.join(sorted(lacking))}"
    assert not foreign, f"{table} has what is no operator: {', '.join(sorted(foreign))}"


def dictionaries_of_operators(source: Path) -> int:
    """How many dictionaries in a file have operators as keys, more than two."""
    literals = [node for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))) if isinstance(node, ast.Dict)]
    names = [{key.value for key in literal.keys if isinstance(key, ast.Constant)} for literal in literals]
    return sum(len(set(OPERATORS) & keys) > 2 for keys in names)


def test_there_is_no_other_table() -> None:
    counts = {path.relative_to(PACKAGE).as_posix(): dictionaries_of_operators(path) for path in PACKAGE.rglob("*.py")}
    assert {path: count for path, count in counts.items() if count} == DICTIONARIES | PARTIAL


def test_the_recipe_for_an_operator_names_every_table() -> None:
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    recipe = re.search(r"- \*\*An operator\*\*.*?(?=\n- \*\*A)", page, re.DOTALL)
    assert recipe
    sources = {
        path for path in re.findall(r"`([\w/]+\.\w+)`", recipe[0]) if (ROOT / "src" / "symseed" / path).is_file()
    }
    assert "`src/core/opcodes.hpp`" in recipe[0]
    assert sources == {*DICTIONARIES, "regressor/regressor.py"}


def test_two_operators_added_by_the_recipe_change_three_and_four_files() -> None:
    """Their building and testing takes minutes, and is left to `make recipe`."""
    command = [sys.executable, str(ROOT / "perf" / "recipe.py"), "--count"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert re.findall(r"^(\w+): (\d) files of src", done.stdout, re.MULTILINE) == [("twofold", "3"), ("sech", "4")]


# --- The table of the page on operators -------------------------------------------------------------------------------

PAGE_ROW = re.compile(r"^\| `(\w+)` \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)
PAGE = {
    name: (domain, units)
    for name, _, domain, units in PAGE_ROW.findall((ROOT / "docs" / "operators.md").read_text(encoding="utf-8"))
}
GRID = np.array([-3.0, -2.5, -2.0, -1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0])
DOMAINS: dict[str, Callable[..., np.ndarray]] = {
    "all": lambda x, y: x == x,
    "x > 0": lambda x, y: x > 0.0,
    "x >= 0": lambda x, y: x >= 0.0,
    "x >= 1": lambda x, y: x >= 1.0,
    "x > -1": lambda x, y: x > -1.0,
    "x not 0": lambda x, y: x != 0.0,
    "y not 0": lambda x, y: y != 0.0,
    "from -1 to 1": lambda x, y: np.abs(x) <= 1.0,
    "between -1 and 1": lambda x, y: np.abs(x) < 1.0,
    "x not 0, -1, -2, ...": lambda x, y: (x > 0.0) | (x != np.floor(x)),
    "x > 0, or whole y": lambda x, y: (
        (x > 0.0) | ((y == np.floor(y)) & ((x != 0.0) | (y >= 0.0))) | ((x == 0) & (y > 0))
    ),
}
"""What the page says of the arguments for which an operator is defined, as a condition."""


def test_the_page_lists_every_operator_in_their_order() -> None:
    assert list(PAGE) == list(OPERATORS)


@pytest.mark.parametrize("name", PAGE)
def test_an_operator_is_defined_where_the_page_says(name: str) -> None:
    x, y = (values.ravel() for values in np.meshgrid(GRID, GRID))
    found = operator_values(OPERATORS[name], [x, y][: OPERATORS[name].arity])
    np.testing.assert_array_equal(np.isfinite(found), DOMAINS[PAGE[name][0]](x, y))


@pytest.mark.parametrize("name", PAGE)
def test_units_are_what_the_page_says(name: str) -> None:
    """Of one metre, or of two; and of a metre and a second."""
    metre, second = (Dimension.of({base: Fraction(1)}) for base in "ms")
    is_unary = OPERATORS[name].arity == 1

    def has(units: tuple[Dimension, ...], value: Dimension) -> bool:
        library = Library.of([name], ["x", "y"])
        variables = tuple(zip(("x", "y"), units, strict=True))
        rule = Dimensions(variables, value, constants_are_free=False)
        row = Population.of(library, [[2, 0, 1][: 2 if is_unary else 3]], [2 if is_unary else 3])
        try:
            return bool(SearchSpace(library, 1, 3, constraints=(rule,)).violations(row)[0] == -1)
        except SpaceError:
            return False

    alike, mixed = (metre, metre), (metre, second)
    said = PAGE[name][1].split()
    candidates = (NUMBER, metre, second, metre * metre, metre * second, metre / second, *POWERS_OF_METRE.values())
    found = {units: {value for value in candidates if has(units, value)} for units in (alike, mixed)}
    expected: tuple[set[Dimension], set[Dimension]] = {
        "pure": (set(), set()),
        "kept": ({metre}, {metre} if is_unary else set()),
        "compared": ({NUMBER}, {NUMBER} if is_unary else set()),
        "second": ({metre}, {second}),
        "multiplied": ({metre * metre}, {metre * second}),
        "divided": ({NUMBER}, {metre / second}),
        "power": ({POWERS_OF_METRE.get(said[-1], metre)},) * 2,
    }[said[0]]
    assert (found[alike], found[mixed]) == expected


# --- Laws that need an operator ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("binary", "unary", "law", "expected"),
    [
        (["+", "*"], ["erf"], lambda x, y: 3.0 * np.vectorize(math.erf)(x) * y, "erf("),
        (["+", "*"], ["arcsinh"], lambda x, y: 2.0 * np.arcsinh(x * y) + x, "asinh("),
        (["+", "*"], ["floor"], lambda x, y: np.floor(2.0 * x) + 0.5 * y, "floor("),
        (["+", "*", "arctan2"], [], lambda x, y: 2.0 * np.arctan2(x, y) + 1.0, "atan2("),
        (["+", "*", "hypot"], [], lambda x, y: 3.0 * np.hypot(x, y) + x, "hypot("),
        (["+", "*", "greater"], [], lambda x, y: np.where(x > y, 2.5, -1.0), "greater("),
        (["+", "*", "where"], [], lambda x, y: np.where(x > 0.0, 2.0 * y, x), "cond("),
    ],
    ids=lambda value: value[:-1] if isinstance(value, str) else "",
)
def test_a_fit_finds_a_law_that_needs_the_operator(
    binary: list[str], unary: list[str], law: Callable[..., np.ndarray], expected: str
) -> None:
    X = np.random.default_rng(0).uniform(-3.0, 3.0, (60, 2))
    y = law(*X.T)
    model = SymbolicRegressor(
        binary_operators=binary, unary_operators=unary, max_evals=40_000, max_time=None, random_state=0
    ).fit(X, y)
    assert expected in str(model.best_)
    np.testing.assert_allclose(model.predict(X), y, rtol=1e-9, atol=1e-9)


def test_where_stands_for_its_two_operators_and_is_not_one() -> None:
    with pytest.raises(
        SettingsError, match=r"`where` is not one operator\. Give those that it is made of: cond, unless"
    ):
        Library.of(["where"], 1)
    X = np.linspace(-1.0, 1.0, 20)[:, None]
    with pytest.raises(SettingsError, match="has `cond` twice"):
        SymbolicRegressor(binary_operators=["+", "cond", "where"]).fit(X, X[:, 0])


# --- Expansions ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", DERIVED)
def test_an_expansion_is_one_formula_over_operators_that_stand_above_it(name: str) -> None:
    above = list(DERIVED)[: list(DERIVED).index(name)]
    open_ = 1
    for step in DERIVED[name]:
        assert open_ > 0
        open_ -= 1
        if isinstance(step, str):
            assert step in OPERATORS
            assert step not in DERIVED or step in above
            open_ += OPERATORS[step].arity
        else:
            assert isinstance(step, float) or 0 <= step < OPERATORS[name].arity
    assert open_ == 0
    assert {step for step in DERIVED[name] if isinstance(step, int)} == set(range(OPERATORS[name].arity))


def operator_values(token: Token, columns: list[np.ndarray]) -> np.ndarray:
    row = Row((len(columns), *range(token.arity)), (np.nan,) * (1 + token.arity))
    return Expression(Library((*Library.of([], len(columns)).tokens, token)), row).evaluate(np.stack(columns, axis=1))


@pytest.mark.parametrize("name", DERIVED)
def test_an_expansion_has_its_operators_values_to_the_last_bit(name: str) -> None:
    generator = np.random.default_rng(1)
    x = np.concatenate([VALUES, generator.normal(0.0, 3.0, 500), 10.0 ** generator.uniform(-200.0, 200.0, 100)])
    columns = [generator.permutation(x) for _ in range(OPERATORS[name].arity)]
    function = Function(lambda *_: None, name, len(columns), DERIVED[name])
    expanded = function.native.values(columns[0], columns[-1])
    expected = operator_values(OPERATORS[name], columns)
    assert np.isfinite(expected).sum() > 500
    assert same_bits(np.where(np.isfinite(expanded), expanded, np.nan), expected)
