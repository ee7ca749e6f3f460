"""Templates: what is read, what is refused, and which formulas a structure fits over."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from symseed import Expression, Library, SearchSpace, SettingsError
from symseed.language import Row
from symseed.language.template import Filled, Skeleton, Template
from symseed.language.tokens import OPERATORS, constant

NAMES = ("x", "y", "z")
SEARCHED = tuple(OPERATORS[name] for name in ("add", "sub", "mul", "div", "sin", "square"))


def skeleton_of(text: str) -> Skeleton:
    template = Template.of(text, SEARCHED)
    variables = Library.of([], NAMES).tokens
    return template.skeleton(Library((*variables, *SEARCHED, *template.added, constant())))


def parts_of(text: str, formula: str) -> dict[str, str]:
    library = skeleton_of(text).library
    found = Template.of(text, SEARCHED).parts_of(Expression.parse(formula, library))
    return {name: str(part) for name, part in found.items()}


@pytest.mark.parametrize(
    ("template", "formula", "parts"),
    [
        ("const * f(x) + g(y)", "2.5 * sin(x) + y * y", {"f": "sin(x)", "g": "y * y"}),
        ("const * f(x) + g(y)", "y * y + sin(x) * 2.5", {"f": "sin(x)", "g": "y * y"}),
        ("const * f(x) + g(y)", "sin(x) + y", {"f": "sin(x)", "g": "y"}),
        ("const * f(x) + g(y)", "y", {"f": "0.0", "g": "y"}),
        ("const * f(x) + g(y)", "2.5 * sin(x) - y", {"f": "sin(x)", "g": "-1.0 * y"}),
        ("f(x) - g(y)", "x + 3.5 * y", {"f": "x", "g": "-3.5 * y"}),
        ("f(x) * exp(-g(y))", "square(x)", {"f": "square(x)", "g": "0.0"}),
        ("f(x) / g(y)", "x", {"f": "x", "g": "1.0"}),
        ("f(x) + x * g(x, y)", "sin(x) + x * (x + y)", {"f": "sin(x)", "g": "x + y"}),
        ("2 * f(x)", "2 * sin(x)", {"f": "sin(x)"}),
        ("f(x) * g(y)", "x + y", {}),
        ("f(x) + g(y)", "sin(x * y)", {}),
        ("2 * f(x)", "3 * x", {}),
        ("x + f(y)", "y", {}),
    ],
)
def test_the_parts_of_a_formula_lie_under_the_structure(template: str, formula: str, parts: dict[str, str]) -> None:
    assert parts_of(template, formula) == parts


TEMPLATES = ["const * f(x) + g(y)", "f(x, z) * exp(-g(y))", "f(x) - 2 * g(y) / (1 + h(z))", "sin(f(x)) + const"]


@given(st.sampled_from(TEMPLATES), st.integers(0, 10_000))
def test_a_structure_fits_over_every_formula_that_it_was_filled_to(template: str, seed: int) -> None:
    skeleton = skeleton_of(template)
    parts = []
    for i, hole in enumerate(skeleton.holes):
        own = Library.of([*SEARCHED, "const"], [NAMES[column] for column in hole.columns])
        drawn = SearchSpace(own, 1, 9).sample(1, seed=seed, step=i)[0]
        parts.append(Expression.parse_prefix(drawn.prefix, skeleton.library).row)
    filled = Filled(skeleton.row, tuple(parts))
    whole = skeleton.written(filled)
    again = skeleton.split(whole)
    assert again is not None
    X = np.random.default_rng(seed).uniform(0.5, 2.0, (5, 3))
    before, after = (Expression(skeleton.library, row).evaluate(X) for row in (whole, skeleton.written(again)))
    np.testing.assert_allclose(after, before, rtol=1e-12)
    for hole, part in zip(skeleton.holes, again.parts, strict=True):
        used = {token.column for token in Expression(skeleton.library, part).tokens if token.name in NAMES}
        assert used <= set(hole.columns)


def test_fitted_constants_go_back_to_where_they_stand() -> None:
    skeleton = skeleton_of("const * f(x) + const * g(y)")
    parts = [Expression.parse(text, skeleton.library).row for text in ("1.5 + x", "sin(y * 2.5)")]
    filled = Filled(skeleton.row, (parts[0], parts[1]))
    whole = skeleton.written(filled)
    fitted = Row(whole.ids, tuple(10.0 * value for value in whole.constants))
    assert skeleton.written(skeleton.refilled(filled, fitted)) == fitted


def test_the_structure_has_operators_and_numbers_that_the_search_lacks() -> None:
    template = Template.of("2.5 * exp(-f(x)) + pi", SEARCHED)
    assert {token.name for token in template.added} == {"exp", "neg", "2.5", repr(np.pi)}
    assert template.length == 6
    assert template.columns(["z", "x"]) == [1]


def test_columns_are_those_of_the_parts_and_of_the_structure_also_by_number() -> None:
    template = Template.of("f(`two words`, x1) * c", SEARCHED)
    assert template.columns(["a", "b", "c", "two words"]) == [0, 2, 3]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("2 * x", "must have a free part"),
        ("f()", "`f` at character 1 of `template` is a free part without columns"),
        ("f(x) + f(y)", "`f` at character 8 of `template` stands there for the second time"),
        ("sinn(x + 1)", "`sinn` at character 1 .* Did you mean `sin`"),
        ("f(g(x))", "`f` at character 1 of `template` must be an operator, or a free part with a list of columns"),
        ("f(x) +", "cannot be read: Expected a number"),
        ("f(x,", "`f` at character 1 of `template` must be an operator, or a free part with a list of columns"),
        ("f(x) + g(x, y,", "`g` at character 8 of `template` must be an operator, or a free part with a list"),
        ("f(x) $ 2", r"but found `\$`"),
        ("sin(x, y) + f(x)", "`sin` at character 1 takes 1 argument"),
    ],
)
def test_a_text_that_is_no_template_gets_a_sentence(text: str, sentence: str) -> None:
    with pytest.raises(SettingsError, match=sentence):
        Template.of(text, SEARCHED)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("f(zz)", "names `zz`, which is no column. .*The columns are x, y, z"),
        ("f(x) + q", "names `q`, which is no column"),
        ("f(x, x4)", "names `x4`, which is no column"),
        ("x(y) + 1", "free part `x`, but a column has this name too"),
    ],
)
def test_a_template_for_other_columns_gets_a_sentence(text: str, sentence: str) -> None:
    with pytest.raises(SettingsError, match=sentence):
        Template.of(text, SEARCHED).columns(NAMES)
