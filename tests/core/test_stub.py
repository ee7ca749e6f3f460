"""The stub `_core.pyi` says what the native module really has: the same names, parameters and defaults.

`mypy.stubtest` cannot see through nanobind's functions, so this reads the signatures that nanobind records.
"""

from __future__ import annotations

import ast
import copy
import enum
import pickle
import re
from importlib.resources import files
from typing import Any, NamedTuple

import pytest

from symseed import _core


class Signature(NamedTuple):
    positional: list[str]
    keyword_only: list[str]
    defaults: int


def signature_of(node: ast.FunctionDef) -> Signature:
    arguments = node.args
    return Signature(
        [argument.arg for argument in arguments.posonlyargs + arguments.args if argument.arg not in ("self", "cls")],
        [argument.arg for argument in arguments.kwonlyargs],
        len(arguments.defaults) + sum(default is not None for default in arguments.kw_defaults),
    )


def runtime_signature(function: Any) -> Signature:
    text = function.__nb_signature__[0][0]
    # nanobind writes array types and default values in a form that is not Python.
    text = re.sub(r"\\\d+", "None", re.sub(r"ndarray\[[^\]]*\]", "object", text))
    node = ast.parse(f"{text}: ...").body[0]
    assert isinstance(node, ast.FunctionDef)
    return signature_of(node)


def stub_functions() -> dict[str, Signature]:
    """Every function and method of the stub by its dotted name."""
    tree = ast.parse((files("symseed") / "_core.pyi").read_text())
    found = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            found[node.name] = signature_of(node)
        elif isinstance(node, ast.ClassDef):
            for member in node.body:
                if isinstance(member, ast.FunctionDef) and not member.decorator_list:
                    found[f"{node.name}.{member.name}"] = signature_of(member)
    return found


def runtime_functions() -> dict[str, Any]:
    found = {}
    for name, value in vars(_core).items():
        if type(value).__name__ == "nb_func":
            found[name] = value
        elif isinstance(value, type):
            for member, function in vars(value).items():
                if type(function).__name__ == "nb_method" and (member == "__init__" or not member.startswith("_")):
                    found[f"{name}.{member}"] = function
    return found


def test_the_stub_names_every_native_function_and_no_other() -> None:
    assert set(stub_functions()) == set(runtime_functions())


@pytest.mark.parametrize("name", sorted(stub_functions()))
def test_the_stub_has_the_native_parameters(name: str) -> None:
    assert stub_functions()[name] == runtime_signature(runtime_functions()[name])


def test_the_stub_names_every_constant() -> None:
    tree = ast.parse((files("symseed") / "_core.pyi").read_text())
    declared = {node.target.id for node in tree.body if isinstance(node, ast.AnnAssign) and hasattr(node.target, "id")}
    assert declared == {name for name, value in vars(_core).items() if isinstance(value, int)}


CODES: dict[str, type[enum.Enum]] = {
    name: value for name, value in vars(_core).items() if isinstance(value, type) and issubclass(value, enum.Enum)
}


def test_the_stub_lists_the_codes_of_every_native_enum_and_no_other() -> None:
    tree = ast.parse((files("symseed") / "_core.pyi").read_text())
    declared = {}
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and any(isinstance(base, ast.Attribute) for base in node.bases):
            assigned = [member for member in node.body if isinstance(member, ast.Assign)]
            kind = ast.unparse(node.bases[0])
            declared[node.name] = (
                kind,
                {ast.unparse(each.targets[0]): ast.literal_eval(each.value) for each in assigned},
            )
    found = {
        name: (f"enum.{codes.__bases__[0].__name__}", {code.name: code.value for code in codes})
        for name, codes in CODES.items()
    }
    assert set(found) == {"Relationship", "Mutation", "Failure", "FitMethod", "Validity"}
    assert declared == found


@pytest.mark.parametrize("name", sorted(CODES))
def test_codes_can_be_copied_sent_to_other_processes_and_written_like_those_of_any_enum(name: str) -> None:
    codes = CODES[name]
    twin = getattr(enum, codes.__bases__[0].__name__)(name, {code.name: code.value for code in codes})
    for code in codes:
        assert pickle.loads(pickle.dumps(code)) is code
        assert copy.deepcopy(code) is code
        assert codes(code.value) is code
        assert codes[code.name] is code
        same = twin[code.name]
        assert (repr(code), str(code), f"{code}", hash(code)) == (repr(same), str(same), f"{same}", hash(same))


def test_every_failure_has_a_sentence_of_its_own() -> None:
    sentences = {failure.sentence for failure in _core.Failure}
    assert len(sentences) == len(_core.Failure)
    assert all(sentence[0].isupper() and sentence.endswith(".") for sentence in sentences)
    assert _core.Failure.OVERFLOW.sentence == "A value of the expression is too large for float64 at some sample."
