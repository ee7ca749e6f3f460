"""Users' functions: checked before use, and traced into the core's operators if possible.

A function takes one or two arrays and gives an array of the same shape, element by element. It is first called with a
tracer, which records the operations applied to it. If the recorded operations give the function's values, the core
computes them; otherwise the core calls Python, one block of samples at a time.
"""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn, TypeAlias

import numpy as np
import numpy.typing as npt

from symseed import _core
from symseed.arrays import Floats
from symseed.errors import SettingsError

Expansion: TypeAlias = tuple[str | int | float, ...]
"""A function in prefix order: an operator as its name, an argument as its index (int), a number as a float."""

MOST_STEPS = 64
"""Most tokens of an expansion; the core calls Python for longer ones. Chosen by hand."""

_MODERATE_ARGUMENT = 3.0
"""Largest |argument| at which an expansion must agree closely: larger ones amplify rounding. Chosen by hand."""
_SAME_VALUES = 1e-9
"""Difference, relative and absolute, up to which two calls of a function agree: chosen by hand."""
_AGREEMENT = 1e-12
"""Difference, relative and absolute, up to which an expansion agrees with its function: chosen by hand."""
_SIZES = (1.0, 0.5, 2.0, 0.1, 3.0, 1.7, 10.0, 37.5, 1e-3, 1e3, 1e6, 1e-9, 1e12)
"""Sizes of the arguments at which a function is tried: chosen by hand."""
_PROBE = np.array([0.0, *_SIZES, *(-size for size in _SIZES), 1e-300, 1e300, -1e300, 0.3, -0.3, 0.9, -2.6])
_OTHER = np.concatenate([np.roll(_PROBE, 5)[::-1], _PROBE])  # the second argument; the first is `_PROBE` twice
_OPCODES = {name: code for code, (name, _, _) in enumerate(_core.operators())}


@dataclass(frozen=True, slots=True)
class Function:
    """A checked function; make one with `Function.of`."""

    call: Callable[..., Any]
    name: str
    arity: int
    expansion: Expansion | None
    """The function in the core's operators; None if only Python can compute it."""
    native: _core.Function = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Make the object that the core calls."""
        object.__setattr__(self, "native", _native(self.call, self.name, self.arity, self.expansion))

    def __reduce__(self) -> tuple[Callable[..., Function], tuple[object, ...]]:
        """Pickle the function itself: by its place in a module, as pickle does."""
        return Function, (self.call, self.name, self.arity, self.expansion)

    @classmethod
    def averaged(cls, call: Callable[..., Any], name: str) -> Function | None:
        """Take a function of two arrays that gives one number: the mean or sum, over all elements, of what it returns.

        None if it cannot be traced, or is not such a mean or sum.
        """
        first = _PROBE[np.abs(_PROBE) <= _MODERATE_ARGUMENT]
        arguments = (np.tile(first, 2), np.repeat([0.3, -1.2], len(first)))
        expansion = _written(call, 2)
        if expansion is None:
            return None
        values = _native(call, name, 2, expansion).values(*arguments)
        whole = float(call(*arguments))
        is_meant = any(math.isclose(whole, total, rel_tol=_SAME_VALUES) for total in (values.mean(), values.sum()))
        return cls(call, name, 2, expansion) if is_meant else None

    @classmethod
    def of(cls, call: Callable[..., Any], name: str | None = None, arity: int | None = None) -> Function:
        """Check a function; its name and number of arguments are by default its own.

        Raises:
            SettingsError: saying what a function must do, and what this one did.
        """
        named = _name(call, name)
        count = _arity(call, named) if arity is None else arity
        if count not in (1, 2):
            raise SettingsError(f"`{named}` must be a function of one or two arrays, but it takes {count}.")
        arguments = _probes(count)
        values = _tried(call, named, arguments)
        return cls(call, named, count, _traced(call, named, arguments, values))

    def is_operator(self, name: str) -> bool:
        """Return whether its values equal those of the core's operator of that name, with as many arguments."""
        arguments = _probes(self.arity)
        own, others = (
            _native(self.call, self.name, self.arity, expansion).values(arguments[0], arguments[-1])
            for expansion in (self.expansion, (name, *range(self.arity)))
        )
        return _same(np.where(np.isfinite(own), own, np.nan), np.where(np.isfinite(others), others, np.nan))


def _probes(arity: int) -> tuple[Floats, ...]:
    return (_PROBE,) if arity == 1 else (np.tile(_PROBE, 2), _OTHER)


class Caller:
    """The callable for the core: the function, with exceptions turned into None."""

    def __init__(self, call: Callable[..., Any], name: str) -> None:
        self._call, self._name = call, name
        self._has_warned = False

    def __call__(self, *arguments: Floats) -> Floats | None:
        """Return the function's values, or None if it raises or gives another shape; warn the first time."""
        try:
            return _values(self._call, self._name, arguments)
        except Exception as error:
            if not self._has_warned:
                self._has_warned = True
                warnings.warn(
                    f"{_sentence(self._name, error)} Such formulas fail; this warning is given once.",
                    RuntimeWarning,
                    stacklevel=2,
                )
            return None


def _native(call: Callable[..., Any], name: str, arity: int, expansion: Expansion | None) -> _core.Function:
    if expansion is None:
        return _core.Function.of_callable(arity, Caller(call, name))
    kinds, places, numbers = [], [], []
    for step in expansion:
        is_operator, is_argument = isinstance(step, str), isinstance(step, int)
        kinds.append(_OPCODES[step] if is_operator else _core.VARIABLE if is_argument else _core.LITERAL)  # type: ignore[index]
        places.append(step if is_argument else 0)
        numbers.append(0.0 if is_operator or is_argument else step)
    vocabulary = _core.Vocabulary(
        np.array(kinds, dtype=np.uint8), np.array(places, dtype=np.int32), np.array(numbers, dtype=np.float64)
    )
    return _core.Function.of_expansion(arity, vocabulary)


# --- Trying a function out --------------------------------------------------------------------------------------------


def _name(call: Callable[..., Any], name: str | None) -> str:
    if not callable(call):
        raise SettingsError(f"An operator or a loss of your own must be a function, but it is {call!r}.")
    named = getattr(call, "__name__", "") if name is None else name
    if not isinstance(named, str) or not named.isidentifier():
        raise SettingsError(
            f"An operator of your own needs a name that can be written in a formula, but this one is {named!r}. "
            "Define it by `def`: def bump(x): ..."
        )
    return named


def _arity(call: Callable[..., Any], name: str) -> int:
    if isinstance(call, np.ufunc):
        return call.nin
    try:
        parameters = inspect.signature(call).parameters.values()
    except (TypeError, ValueError):
        raise SettingsError(f"`{name}` does not say how many arguments it takes. Give `arity`.") from None
    if any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters):
        raise SettingsError(f"`{name}` takes any number of arguments. Give `arity`, 1 or 2.")
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(parameter.kind in positional and parameter.default is parameter.empty for parameter in parameters)


def _values(call: Callable[..., Any], name: str, arguments: tuple[Floats, ...]) -> Floats:
    """Call a function with NumPy's warnings off, and return its values as float64."""
    with np.errstate(all="ignore"):
        values = np.asarray(call(*arguments))
    if values.shape != arguments[0].shape:
        raise SettingsError(
            f"`{name}` must give an array of its argument's shape, {arguments[0].shape}, but it gave {values.shape}."
        )
    if values.dtype.kind not in "fiub":
        raise SettingsError(f"`{name}` must give real numbers, but it gave values of type {values.dtype}.")
    return np.ascontiguousarray(values, dtype=np.float64)


def _sentence(name: str, error: Exception) -> str:
    if isinstance(error, SettingsError):
        return str(error)
    return f"`{name}` raised {type(error).__name__}: {error}."


def _tried(call: Callable[..., Any], name: str, arguments: tuple[Floats, ...]) -> Floats:
    """Return the values at the probes, after checks that the function works on each element by itself."""

    def at(chosen: npt.NDArray[np.intp]) -> Floats:
        given = tuple(argument[chosen] for argument in arguments)
        for argument in given:
            argument.setflags(write=False)
        try:
            return _values(call, name, given)
        except Exception as error:
            if "read-only" in str(error):
                raise SettingsError(
                    f"`{name}` must not change the arrays that it is given, but it wrote into one. Begin with a copy: "
                    "x = x.copy()."
                ) from error
            advice = "It must take arrays with any values, and give NaN where it has no value."
            raise SettingsError(f"{_sentence(name, error)} {advice}") from error

    everywhere = np.arange(len(arguments[0]))
    values = at(everywhere)
    if not _same(values, at(everywhere)):
        raise SettingsError(f"`{name}` must give the same values each time, but two calls gave different ones.")
    for chosen in (everywhere[::-1], everywhere[3:14], everywhere[-1:]):
        if not _same(values[chosen], at(chosen)):
            raise SettingsError(
                f"`{name}` must work on each element by itself, but its values changed with the other elements of the "
                "array. It may not use a mean, a sum or an order of what it is given."
            )
    if not np.isfinite(values).any():
        raise SettingsError(f"`{name}` must have a finite value somewhere, but it had none at {len(values)} points.")
    return values


def _same(a: Floats, b: Floats) -> bool:
    return bool(np.allclose(a, b, rtol=_SAME_VALUES, atol=_SAME_VALUES, equal_nan=True))


# --- Tracing ----------------------------------------------------------------------------------------------------------


class _UntraceableError(TypeError):
    """An operation on a tracer that the core's operators cannot express."""


class _Traced:
    """A tracer: stands for an array and records the operations applied to it."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, steps: Expansion) -> None:
        if len(steps) > MOST_STEPS:
            raise _UntraceableError
        self.steps = steps

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> _Traced:
        if method != "__call__" or options or ufunc not in _UFUNCS:
            raise _UntraceableError
        return _UFUNCS[ufunc](*inputs)

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        raise _UntraceableError

    def __bool__(self) -> NoReturn:
        raise _UntraceableError

    def __eq__(self, other: object) -> NoReturn:
        raise _UntraceableError

    def __add__(self, other: Any) -> _Traced:
        return _step("add", self, other)

    def __radd__(self, other: Any) -> _Traced:
        return _step("add", other, self)

    def __sub__(self, other: Any) -> _Traced:
        return _step("sub", self, other)

    def __rsub__(self, other: Any) -> _Traced:
        return _step("sub", other, self)

    def __mul__(self, other: Any) -> _Traced:
        return _step("mul", self, other)

    def __rmul__(self, other: Any) -> _Traced:
        return _step("mul", other, self)

    def __truediv__(self, other: Any) -> _Traced:
        return _step("div", self, other)

    def __rtruediv__(self, other: Any) -> _Traced:
        return _step("inv", self) if _is_number(other) and other == 1 else _step("div", other, self)

    def __pow__(self, other: Any) -> _Traced:
        named = _POWERS.get(float(other)) if _is_number(other) else None
        return _step("pow", self, other) if named is None else _step(named, self)

    def __rpow__(self, other: Any) -> _Traced:
        return _step("pow", other, self)

    def __neg__(self) -> _Traced:
        return _step("neg", self)

    def __pos__(self) -> _Traced:
        return self

    def __abs__(self) -> _Traced:
        return _step("abs", self)

    def __mod__(self, other: Any) -> _Traced:
        return _step("mod", self, other)

    def __gt__(self, other: Any) -> _Traced:
        return _step("greater", self, other)

    def __lt__(self, other: Any) -> _Traced:
        return _step("greater", other, self)

    def mean(self, axis: None = None, dtype: None = None, out: None = None) -> _Traced:
        """Stand for each element, as `Function.averaged` needs; in other uses the check of values rejects the trace."""
        if axis is not None or dtype is not None or out is not None:
            raise _UntraceableError
        return self

    sum = mean

    def clip(self, least: Any, most: Any, out: None = None) -> _Traced:  # noqa: ARG002 - as NumPy calls it
        return _step("min", _step("max", self, least), most)


_POWERS = {2.0: "square", 3.0: "cube", 4.0: "quartic", -1.0: "inv", 0.5: "sqrt"}


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def _step(name: str, *arguments: Any) -> _Traced:
    steps: Expansion = (name,)
    for argument in arguments:
        if isinstance(argument, _Traced):
            steps += argument.steps
        elif _is_number(argument) and math.isfinite(argument):
            steps += (float(argument),)
        else:
            raise _UntraceableError
    return _Traced(steps)


def _named(name: str) -> Callable[..., _Traced]:
    return lambda *arguments: _step(name, *arguments)


_UFUNCS: Mapping[np.ufunc, Callable[..., _Traced]] = {
    np.add: _named("add"),
    np.subtract: _named("sub"),
    np.multiply: _named("mul"),
    np.divide: lambda a, b: a / b if isinstance(a, _Traced) else b.__rtruediv__(a),
    np.power: lambda a, b: a**b if isinstance(a, _Traced) else b.__rpow__(a),
    np.float_power: lambda a, b: a**b if isinstance(a, _Traced) else b.__rpow__(a),
    np.minimum: _named("min"),
    np.maximum: _named("max"),
    np.negative: _named("neg"),
    np.positive: lambda a: a,
    np.absolute: _named("abs"),
    np.fabs: _named("abs"),
    np.square: _named("square"),
    np.reciprocal: _named("inv"),
    np.sqrt: _named("sqrt"),
    np.exp: _named("exp"),
    np.log: _named("log"),
    np.log2: _named("log2"),
    np.log10: _named("log10"),
    np.log1p: _named("log1p"),
    np.expm1: _named("expm1"),
    np.sin: _named("sin"),
    np.cos: _named("cos"),
    np.tan: _named("tan"),
    np.tanh: _named("tanh"),
    np.arcsin: _named("asin"),
    np.arccos: _named("acos"),
    np.arctan: _named("atan"),
    np.arctan2: _named("atan2"),
    np.sinh: _named("sinh"),
    np.cosh: _named("cosh"),
    np.arcsinh: _named("asinh"),
    np.arccosh: _named("acosh"),
    np.arctanh: _named("atanh"),
    np.cbrt: _named("cbrt"),
    np.hypot: _named("hypot"),
    np.sign: _named("sign"),
    np.floor: _named("floor"),
    np.ceil: _named("ceil"),
    np.remainder: _named("mod"),
    np.greater: _named("greater"),
    np.less: lambda a, b: _step("greater", b, a),
}


def _written(call: Callable[..., Any], arity: int) -> Expansion | None:
    """Return the operations that a function applies to tracers, or None if they cannot be expressed."""
    try:
        answer = call(*(_Traced((place,)) for place in range(arity)))
    except Exception:  # a function may raise anything when it meets a tracer
        return None
    return answer.steps if isinstance(answer, _Traced) else None


def _traced(call: Callable[..., Any], name: str, arguments: tuple[Floats, ...], values: Floats) -> Expansion | None:
    """Return the function's expansion, or None if it has none or the expansion has other values."""
    expansion = _written(call, len(arguments))
    if expansion is None:
        return None
    again = _native(call, name, len(arguments), expansion).values(arguments[0], arguments[-1])
    # Large arguments can amplify rounding to any difference, as in sin(exp(x)).
    moderate = np.all([np.abs(argument) <= _MODERATE_ARGUMENT for argument in arguments], axis=0)
    is_close = np.allclose(again[moderate], values[moderate], rtol=_AGREEMENT, atol=_AGREEMENT, equal_nan=True)
    return expansion if is_close else None
