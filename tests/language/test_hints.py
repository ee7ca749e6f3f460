"""What a user is told about the name of an unknown operator."""

from __future__ import annotations

import pytest

from symseed.language.hints import operator_hint

FEW = ("+", "add", "sin", "cos", "tan", "tanh", "sigmoid", "abs", "inv", "cube", "sqrt", "min")
MORE = (*FEW, "atan", "mod", "sign", "where")


@pytest.mark.parametrize(
    ("name", "meant"),
    [("Sin", "sin"), ("np.sin", "sin"), ("Abs", "abs"), ("absolute", "abs"), ("reciprocal", "inv"), ("pow3", "cube")],
)
def test_a_name_of_another_tool_is_answered_with_ours(name: str, meant: str) -> None:
    assert operator_hint(name, FEW) == f" Did you mean `{meant}`?"


@pytest.mark.parametrize(
    ("name", "meant"), [("arctan", "atan"), ("remainder", "mod"), ("sgn", "sign"), ("cond", "where")]
)
def test_a_name_of_numpy_or_pysr_is_answered_once_we_have_the_operator(name: str, meant: str) -> None:
    assert operator_hint(name, MORE) == f" Did you mean `{meant}`?"
    assert "function of arrays" in operator_hint(name, FEW)


@pytest.mark.parametrize("name", ["asin", "atan", "sign", "mod", "erf", "sinh", "relu", "hypot", "greater"])
def test_a_function_that_is_not_ours_is_no_slip_for_one_that_is(name: str) -> None:
    hint = operator_hint(name, FEW)
    assert "Did you mean" not in hint
    assert hint.startswith(" From Python, a function of arrays can be given in place of a name, such as ")


def test_the_function_of_numpy_is_named_where_there_is_one() -> None:
    assert operator_hint("arctan", FEW).endswith("such as np.arctan.")
    assert operator_hint("relu", FEW).endswith("such as def relu(x): return ...")


@pytest.mark.parametrize(
    ("name", "meant"), [("sine", "sin"), ("sqroot", "sqrt"), ("sigmod", "sigmoid"), ("minn", "min")]
)
def test_a_slip_is_answered_with_what_is_near(name: str, meant: str) -> None:
    assert operator_hint(name, FEW) == f" Did you mean `{meant}`?"


@pytest.mark.parametrize("name", ["zzz", "", ["sin"], 3])
def test_what_is_like_nothing_gets_no_hint(name: object) -> None:
    assert operator_hint(name, ("qqq",)) == ""
