"""Julia and Excel once more, as far as exports use them: small evaluators that know the languages and not the exporter.

Precedence is each language's own. In Excel a unary minus binds tighter than ^, and ^ takes from the left, so -2^2 is 4
and 2^3^2 is 64; in Julia -2^2 is -4, and ^ takes from the right. Excel stops with an error at a value that is not
finite (its sine ends at 2^27 and it reads 15 digits of a number: that is not done here). Julia has IEEE values, and
throws where a function is not defined.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

Value: TypeAlias = Any
Scope: TypeAlias = dict[str, Value]
Node: TypeAlias = Callable[[Scope], Value]

_LEXEME = re.compile(
    r"\s*(?:(?P<number>\d+\.?\d*(?:[eE][+-]?\d+)?)|(?P<name>[A-Za-z_]\w*)|(?P<sign>\|\||&&|!=|==|[-+*/^(),<>=?:!]))"
)


class ExcelError(Exception):
    """What a cell shows as #NUM!, #DIV/0! or #VALUE!."""


class DomainError(Exception):
    """What Julia throws."""


@dataclass
class _Reader:
    """The lexemes of a text, one after the other."""

    lexemes: list[tuple[str, str]]
    at: int = 0

    @classmethod
    def of(cls, text: str) -> _Reader:
        found, end = [], 0
        while text[end:].strip():
            match = _LEXEME.match(text, end)
            assert match, f"not of the language: {text[end:]!r}"
            assert match.lastgroup
            found.append((match.lastgroup, match[match.lastgroup]))
            end = match.end()
        return cls(found)

    def take(self, *signs: str) -> str:
        """Return the next sign if it is one of these, else nothing."""
        if self.at < len(self.lexemes) and self.lexemes[self.at] in [("sign", sign) for sign in signs]:
            self.at += 1
            return self.lexemes[self.at - 1][1]
        return ""

    def need(self, sign: str) -> None:
        assert self.take(sign), f"{sign} expected at {self.lexemes[self.at :]}"

    def leaf(self) -> tuple[str, str]:
        self.at += 1
        return self.lexemes[self.at - 1]

    def arguments(self, read: Callable[[], Node]) -> list[Node]:
        nodes: list[Node] = []
        while not self.take(")"):
            nodes.append(read())
            if not self.take(","):
                self.need(")")
                break
        return nodes

    def finished(self, node: Node) -> Node:
        assert self.at == len(self.lexemes), f"left over: {self.lexemes[self.at :]}"
        return node


def _left(read: Callable[[], Node], reader: _Reader, signs: Mapping[str, Callable[[Value, Value], Value]]) -> Node:
    """Read operators that take from the left."""
    node = read()
    while sign := reader.take(*signs):
        left, right, function = node, read(), signs[sign]
        node = _binary(function, left, right)
    return node


def _binary(function: Callable[[Value, Value], Value], left: Node, right: Node) -> Node:
    return lambda scope: function(left(scope), right(scope))


# --- Excel -----------------------------------------------------------------------------------------------------------


def _finite(value: Value) -> Value:
    if isinstance(value, str) or not np.isfinite(value):
        raise ExcelError
    return np.float64(value)


def _excel_arithmetic(function: Callable[..., Value]) -> Callable[..., Value]:
    return lambda *values: _finite(function(*(_finite(value) for value in values)))


def _excel_power(a: Value, b: Value) -> Value:
    if a == 0.0 and b <= 0.0:
        raise ExcelError
    if a < 0.0 and b != np.floor(b) and (1.0 / b) % 2.0 == 1.0:
        return -np.power(-a, b)  # (-8)^(1/3) is -2
    return np.power(a, b)


def _gamma(a: Value) -> Value:
    try:
        return math.gamma(a)
    except (ValueError, OverflowError):
        return np.nan


_EXCEL_PLAIN: dict[str, Callable[..., Value]] = {
    **{"SIN": np.sin, "COS": np.cos, "TAN": np.tan, "EXP": np.exp, "LN": np.log, "SQRT": np.sqrt, "TANH": np.tanh},
    **{"ASIN": np.arcsin, "ACOS": np.arccos, "ATAN": np.arctan, "SINH": np.sinh, "COSH": np.cosh, "ASINH": np.arcsinh},
    **{"ACOSH": np.arccosh, "ATANH": np.arctanh, "LOG10": np.log10, "SIGN": np.sign, "MOD": np.mod},
    "LOG": lambda a, base: np.log2(a) if base == 2.0 else np.log(a) / np.log(base),
    "ATAN2": lambda x, y: np.arctan2(y, x) if x != 0.0 or y != 0.0 else np.nan,
    "ERF": math.erf,
    "GAMMA": lambda a: _gamma(a),
    **{"ABS": np.abs, "INT": np.floor, "+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide},
    "^": _excel_power,
}
_EXCEL_FUNCTIONS = {name: _excel_arithmetic(function) for name, function in _EXCEL_PLAIN.items()}


def excel(formula: str) -> Callable[[Mapping[str, float | str]], float]:
    """Return a formula as a function of cells, such as {"A2": 1.5}; an error is NaN."""
    assert formula[0] == "="
    reader = _Reader.of(formula[1:])

    def some(*signs: str) -> dict[str, Callable[..., Value]]:
        return {sign: _EXCEL_FUNCTIONS[sign] for sign in signs}

    def compared() -> Node:
        return _left(total, reader, {"=": lambda a, b: a == b, "<": np.less, ">": np.greater})

    def total() -> Node:
        return _left(product, reader, some("+", "-"))

    def product() -> Node:
        return _left(power, reader, some("*", "/"))

    def power() -> Node:
        return _left(unary, reader, some("^"))

    def unary() -> Node:
        if reader.take("-"):
            inner = unary()
            return lambda scope: -_finite(inner(scope))
        return primary()

    def primary() -> Node:
        if reader.take("("):
            inner = compared()
            reader.need(")")
            return inner
        kind, text = reader.leaf()
        if kind == "number":
            return lambda scope: np.float64(text)
        assert kind == "name", text
        if not reader.take("("):
            assert re.fullmatch(r"[A-Z]{1,3}2", text), text
            return lambda scope: scope[text]
        return _excel_call(text, reader, compared)

    node = reader.finished(compared())

    def value(cells: Mapping[str, float | str]) -> float:
        try:
            with np.errstate(all="ignore"):
                return float(_finite(node(dict(cells))))
        except ExcelError:
            return float("nan")

    return value


def _excel_call(name: str, reader: _Reader, read: Callable[[], Node]) -> Node:
    if name in ("MIN", "MAX"):
        is_cell = []
        nodes = []
        while True:
            begin = reader.at
            nodes.append(read())
            is_cell.append(reader.at == begin + 1 and reader.lexemes[begin][0] == "name")
            if not reader.take(","):
                break
        reader.need(")")

        def extreme(scope: Scope) -> Value:
            values = [node(scope) for node in nodes]
            kept = [value for value, cell in zip(values, is_cell, strict=True) if not (cell and isinstance(value, str))]
            return (min if name == "MIN" else max)(_finite(value) for value in kept)

        return extreme
    nodes = reader.arguments(read)
    if name == "IF":
        condition, then, otherwise = nodes
        return lambda scope: then(scope) if condition(scope) else otherwise(scope)
    function = _EXCEL_FUNCTIONS[name]
    return lambda scope: function(*(node(scope) for node in nodes))


# --- Julia -----------------------------------------------------------------------------------------------------------


def _defined(function: Callable[[Value], Value], is_undefined: Callable[[Value], Value]) -> Callable[[Value], Value]:
    def checked(value: Value) -> Value:
        if is_undefined(value):
            raise DomainError
        return function(value)

    return checked


def _julia_power(a: Value, b: Value) -> Value:
    if a < 0 and np.isfinite(b) and b != np.floor(b):
        raise DomainError
    return np.power(np.float64(a), b)


_JULIA_GLOBALS: Scope = {
    **{"NaN": np.float64("nan"), "float": np.float64, "exp": np.exp, "tanh": np.tanh, "abs": np.abs},
    **{"min": np.minimum, "max": np.maximum, "isnan": np.isnan, "isinf": np.isinf},
    "isinteger": lambda value: np.isfinite(value) and value == np.floor(value),
    "sin": _defined(np.sin, np.isinf),
    "cos": _defined(np.cos, np.isinf),
    "tan": _defined(np.tan, np.isinf),
    "log": _defined(np.log, lambda value: value < 0),
    "sqrt": _defined(np.sqrt, lambda value: value < 0),
    **{"sinh": np.sinh, "cosh": np.cosh, "asinh": np.arcsinh, "expm1": np.expm1, "cbrt": np.cbrt, "hypot": np.hypot},
    **{"floor": np.floor, "ceil": np.ceil, "sign": np.sign, "mod": np.mod, ":erf": math.erf, ":tgamma": _gamma},
    "atan": lambda *values: np.arctan(*values) if len(values) == 1 else np.arctan2(*values),
    "asin": _defined(np.arcsin, lambda value: abs(value) > 1),
    "acos": _defined(np.arccos, lambda value: abs(value) > 1),
    "acosh": _defined(np.arccosh, lambda value: value < 1),
    "atanh": _defined(np.arctanh, lambda value: abs(value) > 1),
    "log2": _defined(np.log2, lambda value: value < 0),
    "log10": _defined(np.log10, lambda value: value < 0),
    "log1p": _defined(np.log1p, lambda value: value < -1),
}


def _julia_expression(text: str) -> Node:
    reader = _Reader.of(text)

    def ternary() -> Node:
        condition = either()
        if not reader.take("?"):
            return condition
        then = ternary()
        reader.need(":")
        otherwise = ternary()
        return lambda scope: then(scope) if condition(scope) else otherwise(scope)

    def either() -> Node:
        node = both()
        while reader.take("||"):
            left, right = node, both()
            node = lambda scope, left=left, right=right: left(scope) or right(scope)  # type: ignore[misc] # noqa: E731
        return node

    def both() -> Node:
        node = compared()
        while reader.take("&&"):
            left, right = node, compared()
            node = lambda scope, left=left, right=right: left(scope) and right(scope)  # type: ignore[misc] # noqa: E731
        return node

    def compared() -> Node:
        return _left(total, reader, {"<": np.less, ">": np.greater})

    def total() -> Node:
        return _left(product, reader, {"+": np.add, "-": np.subtract})

    def product() -> Node:
        return _left(unary, reader, {"*": np.multiply, "/": np.divide})

    def unary() -> Node:
        if sign := reader.take("-", "!"):
            inner = unary()
            return lambda scope: -inner(scope) if sign == "-" else not inner(scope)
        return power()

    def power() -> Node:
        base = primary()
        return _binary(_julia_power, base, unary()) if reader.take("^") else base

    def primary() -> Node:
        if reader.take("("):
            inner = ternary()
            reader.need(")")
            return inner
        kind, text = reader.leaf()
        if kind == "number":
            return lambda scope: np.float64(text)
        assert kind == "name", text
        if not reader.take("("):
            return lambda scope: scope[text]
        nodes = reader.arguments(ternary)
        return lambda scope: scope[text](*(node(scope) for node in nodes))

    return reader.finished(ternary())


def julia(source: str) -> Callable[..., float]:
    """Return the one function that Julia source defines, of numbers."""
    lines = [line.strip() for line in source.split("\n")]
    lines = [line for line in lines if line and not line.startswith("#")]
    head = re.fullmatch(r"function (\w+)\((.*)\)", lines[0])
    assert head, lines[0]
    assert lines[-1] == "end"
    names = head[2].split(", ") if head[2] else []
    steps = [_julia_step(line) for line in lines[1:-1]]

    def function(*values: float) -> float:
        scope = {**_JULIA_GLOBALS, **dict(zip(names, values, strict=True))}
        with np.errstate(all="ignore"):
            for step in steps:
                step(scope)
        return float(scope["return"])

    return function


def _julia_step(line: str) -> Callable[[Scope], None]:
    if foreign := re.fullmatch(r"(\w+)\(a\) = ccall\(\((:\w+), Base.Math.libm\), Float64, \(Float64,\), a\)", line):
        return lambda scope: scope.update({foreign[1]: scope[foreign[2]]})
    if helper := re.fullmatch(r"(\w+)\(([a-z, ]+)\) = (.*)", line):
        name, names, body = helper[1], helper[2].split(", "), _julia_expression(helper[3])
        return lambda scope: scope.update({name: _closure(names, body, scope)})
    step = re.fullmatch(r"(?:(\w+) = |return )(.*)", line)
    assert step, line
    target, node = step[1] or "return", _julia_expression(step[2])
    return lambda scope: scope.update({target: node(scope)})


def _closure(names: Sequence[str], body: Node, scope: Scope) -> Callable[..., Value]:
    return lambda *values: body({**scope, **dict(zip(names, values, strict=True))})
