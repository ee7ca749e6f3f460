"""Operators: every table that knows them knows them all, and an expansion is what its operator computes."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import mpmath
import numpy as np
import pytest

import reference
import symseed
from reference import same_bits
from symseed import Expression, Library, SymbolicRegressor
from symseed.export import libraries
from symseed.export.languages import BY_NUMBER, BY_WHOLE, EXCEL, JULIA, OF_POSITIVE, PYTHON, C
from symseed.language.derived import DERIVED
from symseed.language.functions import Function
from symseed.language.row import Row
from symseed.language.tokens import ALIASES, OPERATORS, Token

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
    return {ALIASES.get(word, word) for word in re.findall(r"[a-z]+|[-+*/^]", found[1])} & set(OPERATORS)


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

DICTIONARIES = {"export/languages.py": 4, "export/libraries.py": 4, "language/derived.py": 1}
"""Where in the package such tables stand, and how many."""
PARTIAL = {
    "data/magnitudes.py": "a factor stays within any other operator",
    "language/expression.py": "any other operator is written as a call",
    "show/figures.py": "any other operator is called by its name",
}
"""Dictionaries of a few operators, and what holds for the others."""


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
    assert {path: count for path, count in counts.items() if count} == DICTIONARIES | dict.fromkeys(PARTIAL, 1)


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
    assert re.findall(r"^(\w+): (\d) files of src", done.stdout, re.MULTILINE) == [("twofold", "3"), ("atan", "4")]


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
