"""Is this expression the target? By values in high precision, then by symbols.

Values decide first: one real difference, anywhere in a range wider than the data's, is a "no". Only what agrees
everywhere goes to sympy, in a process (`symbolic.serve`) that is killed when it takes too long.
"""

from __future__ import annotations

import contextlib
import enum
import fractions
import json
import math
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, TypeAlias

import numpy as np

from symseed import evaluation
from symseed.dataset import Dataset, Floats
from symseed.errors import SettingsError, SymseedError
from symseed.expression import Expression
from symseed.tokens import Token, TokenKind

REFERENCE_NMSE = 1e-12
"""Test NMSE below which the authors' released code calls an expression recovered."""
AGREEMENT = 1e-30
"""Relative difference up to which values in high precision count as equal."""
FIT_AGREEMENT = 1e-6
"""The same where a constant was fitted in float64."""
FIT_SCREEN = 1e-3
"""Relative difference beyond which no rounding of fitted constants is tried."""

_FITTED_DIGITS = 7  # a constant of fewer is nothing that a fit would give
_FLOAT64_DIGITS = 15
_WIDENING = 3.0
_POINTS = {"wide": 24, "own": 12, "origin": 12}
_DRAWS_PER_POINT = 8
_ENOUGH_POINTS = 8
_DIGITS, _MORE_DIGITS = 60, 240
_ROUNDING = 1e-100  # what is left of a difference that more digits show to be rounding
_LARGEST_BITS = 16_384  # values beyond 2 to this are out of reach
_START_SECONDS = 120.0
_LONGEST_SECONDS = 86_400.0
_SEED = 0

Value: TypeAlias = Any
"""A number of mpmath, which has no types."""
Word: TypeAlias = tuple[str, str]
"""One token for `symbolic`: an operator and "", or one of the three names below and a column or number."""
VARIABLE, LITERAL, CONSTANT = "variable", "literal", "constant"


class Verdict(enum.Enum):
    """What `check` found, as a sentence."""

    EXACT = "The expression is the target: they agree in high precision, and sympy proves that they are the same."
    NUMERIC_ONLY = "The expression agrees with the target at every point tried, but it is not proved to be the target."
    NO = "The expression is not the target."


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovery:
    """An answer and its evidence."""

    verdict: Verdict
    evidence: str
    """What decided: the step of a proof, or where the two differ."""
    test_nmse: float
    """Mean squared error on the test set over the variance of its y; infinite where the expression has no value."""
    largest_relative_difference: float
    """Between the two, in high precision, over all points tried; NaN where no point could be tried."""
    seconds: float

    @property
    def passes_reference(self) -> bool:
        """Whether the authors' released code would call this recovered; it does not ask what the formula is."""
        return self.test_nmse < REFERENCE_NMSE


def check(expression: Expression, target: Expression, test: Dataset, *, time_limit: float = 10.0) -> Recovery:
    """Say whether an expression is the target; for many of them use one `Checker`, which is much faster."""
    with Checker(time_limit=time_limit) as checker:
        return checker.check(expression, target, test)


class Checker:
    """Says whether expressions are targets; owns a sympy process, started when first needed. Close it after use.

    A variable whose values in the test set all have one sign stands for numbers of that sign only. Constants of the
    expression are taken as fitted, those of the target as exact. Not for use by several threads at once.
    """

    def __init__(self, *, time_limit: float = 10.0) -> None:
        if not 0.0 < time_limit <= _LONGEST_SECONDS:
            raise SettingsError(
                f"`time_limit` must be above 0 and at most {_LONGEST_SECONDS:g} seconds, but it is {time_limit}."
            )
        self._prover = _Prover(time_limit)

    def check(self, expression: Expression, target: Expression, test: Dataset) -> Recovery:
        """Say whether `expression` is `target`, for data like those of `test`; variables are matched by column."""
        started = time.perf_counter()
        for formula in (expression, target):
            evaluation.check_columns(formula.library, test)
        comparison = _compare(expression, target, test)
        verdict, evidence = self._decide(expression, target, comparison)
        return Recovery(
            verdict=verdict,
            evidence=evidence,
            test_nmse=_nmse(expression, test),
            largest_relative_difference=comparison.largest,
            seconds=time.perf_counter() - started,
        )

    def _decide(self, expression: Expression, target: Expression, comparison: _Comparison) -> tuple[Verdict, str]:
        if expression == target:
            return Verdict.EXACT, "the same tokens"
        is_fitted = _is_approximate(expression, _FITTED_DIGITS) or _is_approximate(target, _FLOAT64_DIGITS)
        if not comparison.points or not comparison.largest <= (FIT_SCREEN if is_fitted else AGREEMENT):
            return Verdict.NO, comparison.evidence
        proof, trouble = self._prover.prove(expression, target, comparison)
        if proof:
            return Verdict.EXACT, proof + comparison.condition
        if comparison.largest <= (FIT_AGREEMENT if is_fitted else AGREEMENT):
            return Verdict.NUMERIC_ONLY, f"{trouble}; {comparison.evidence}"
        return Verdict.NO, comparison.evidence

    def close(self) -> None:
        """End the sympy process, if there is one; another check would start it again."""
        self._prover.close()

    def __enter__(self) -> Checker:
        """Return itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """End the sympy process."""
        self.close()


def _nmse(expression: Expression, test: Dataset) -> float:
    """Normalised mean squared error; a constant y counts as deviation 1, as in a search."""
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = (expression.evaluate(test.X) - test.y) / (test.deviation or 1.0)
        counted = test.weights > 0.0
        value = float(np.average(scaled[counted] ** 2, weights=test.weights[counted]))
    return value if math.isfinite(value) else math.inf


def _is_approximate(expression: Expression, constant_digits: int) -> bool:
    """Whether a constant of that many digits stands in it, or a literal that only float64 made what it is."""
    return any(
        (
            token.kind is TokenKind.CONSTANT
            and not _is_whole(value)
            and significant_digits(repr(value)) >= constant_digits
        )
        or (token.kind is TokenKind.LITERAL and significant_digits(repr(token.value)) >= _FLOAT64_DIGITS)
        for token, value in zip(expression.tokens, expression.constants, strict=True)
    )


def _is_whole(value: float) -> bool:
    return value.is_integer() and abs(value) < 10.0**_FLOAT64_DIGITS


def significant_digits(value: str) -> int:
    """Return how many digits a number's text has, zeros at its ends aside."""
    return len(value.lower().partition("e")[0].replace(".", "").strip("-+0"))


# --- Values in high precision -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class _Comparison:
    """Two expressions, point by point."""

    points: list[list[float]]  # where both were compared
    largest: float  # relative difference
    evidence: str
    signs: list[int]  # of the variables: 1 or -1 where only that sign was tried, else 0
    condition: str  # the same in words


class _UndefinedError(Exception):
    """A value that is no real number, such as log(-1) or 1/0."""


class _OutOfReachError(Exception):
    """A value too large to be computed to the last digit."""


def _compare(expression: Expression, target: Expression, test: Dataset) -> _Comparison:
    """Compare where the target has a value: beyond the data's range, within it, and near the origin."""
    comparer = _Comparer(expression, target, test.names)
    domain = _Domain(test)
    rng = np.random.default_rng(_SEED)
    for group, wanted in _POINTS.items():
        box = domain.boxes[group]
        comparer.compare((rng.uniform(*box) for _ in range(_DRAWS_PER_POINT * wanted)), wanted)
    if len(comparer.points) < _ENOUGH_POINTS:
        comparer.compare(iter(test.X), _ENOUGH_POINTS)
    signs = [int(sign) for sign in domain.signs]
    used = sorted({token.column for token in (*expression.tokens, *target.tokens) if token.kind is TokenKind.VARIABLE})
    bounds = [f"{_shown(test.names[i])} {'>' if signs[i] > 0 else '<'} 0" for i in used if signs[i]]
    return _Comparison(
        points=comparer.points,
        largest=comparer.largest if comparer.points else math.nan,
        evidence=comparer.evidence,
        signs=signs,
        condition=f" (for {', '.join(bounds)})" if bounds else "",
    )


class _Domain:
    """Boxes from which points are drawn, as (lower (V,), upper (V,)); a variable keeps its sign if it has one."""

    def __init__(self, test: Dataset) -> None:
        low, high = test.X.min(axis=0), test.X.max(axis=0)
        self.signs = np.where((low >= 0.0) & (high > 0.0), 1, np.where((high <= 0.0) & (low < 0.0), -1, 0))
        middle = low / 2.0 + high / 2.0
        half = high / 2.0 - low / 2.0
        half = np.where(half > 0.0, half, np.where(middle != 0.0, np.abs(middle) / 2.0, 1.0))
        width = np.minimum(_WIDENING * half, np.finfo(np.float64).max / 4.0)
        ones = np.ones_like(low)
        self.boxes = {
            "wide": self._signed(middle - width, middle + width),
            "own": (np.minimum(low, middle - half), np.maximum(high, middle + half)),
            "origin": self._signed(-2.0 * ones, 2.0 * ones),
        }

    def _signed(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        upper = np.where(self.signs < 0, np.minimum(high, 0.0), high)
        return np.where(self.signs > 0, np.maximum(low, 0.0), low), upper


class _Comparer:
    """The state of a comparison: the points so far, and the largest difference among them."""

    def __init__(self, expression: Expression, target: Expression, names: Sequence[str]) -> None:
        import mpmath

        context = mpmath.MPContext()
        self.expression = _Program(expression, context)
        self.target = _Program(target, context)
        self.names = names
        self.used = sorted(self.expression.columns | self.target.columns)
        self.points: list[list[float]] = []
        self.largest = 0.0
        self.worst: list[float] = []

    def compare(self, points: Iterator[Floats], wanted: int) -> None:
        """Compare at some more points, until there are as many as wanted where both can be computed."""
        found = 0
        while found < wanted and (point := next(points, None)) is not None:
            place = [float(x) for x in point]
            difference = self._difference(place)
            if difference is not None:
                found += 1
                self.points.append(place)
                if difference > self.largest:
                    self.largest, self.worst = difference, place

    def _difference(self, point: list[float]) -> float | None:
        """Return the relative difference, infinite where only the expression has no value; None if not to be had."""
        try:
            wanted = self.target.value(point, _DIGITS)
        except (_UndefinedError, _OutOfReachError):
            return None
        try:
            given = self.expression.value(point, _DIGITS)
            relative = _relative(given, wanted)
            if self.largest > AGREEMENT or relative <= AGREEMENT:
                return relative
            return self._confirmed(point, abs(given - wanted))
        except _UndefinedError:
            return math.inf
        except _OutOfReachError:
            return None

    def _confirmed(self, point: list[float], before: Value) -> float:
        """Compute the first difference again with more digits: it may have been rounding."""
        given, wanted = (program.value(point, _MORE_DIGITS) for program in (self.expression, self.target))
        return 0.0 if abs(given - wanted) <= _ROUNDING * before else _relative(given, wanted)

    @property
    def evidence(self) -> str:
        """What was found, in words."""
        if not self.points:
            return "there is no point at which the two can be compared"
        if not self.worst:
            return f"equal at {len(self.points)} points"
        place = ", ".join(f"{_shown(self.names[i])} = {self.worst[i]:.6g}" for i in self.used[:5]) or "every point"
        if math.isinf(self.largest):
            return f"the expression has no value at {place}, where the target has one"
        return f"differs by {self.largest:.1e} (relative) at {place}"


def _shown(name: str) -> str:
    return name if name.isprintable() else ascii(name)


def _relative(a: Value, b: Value) -> float:
    return float(abs(a - b) / max(abs(a), abs(b))) if a != b else 0.0


class _Program:
    """An expression that can be computed to any number of digits."""

    def __init__(self, expression: Expression, context: Any) -> None:
        self.context = context  # of mpmath, which has no types
        self.functions = _functions(context)
        values = zip(expression.tokens, expression.constants, strict=True)
        self.steps = [(token, _fraction(token, value)) for token, value in reversed(list(values))]
        self.columns = {token.column for token in expression.tokens if token.kind is TokenKind.VARIABLE}

    def value(self, point: Sequence[float], digits: int) -> Value:
        """Return the value at one point; intermediate values must be real and within reach, too."""
        self.context.dps = digits
        waiting: list[Value] = []
        for token, number in self.steps:
            if token.kind is TokenKind.VARIABLE:
                waiting.append(self.context.mpf(point[token.column]))
            elif token.kind is TokenKind.OPERATOR:
                result = self.functions[token.name](*(waiting.pop() for _ in range(token.arity)))
                if result and self.context.mag(result) > _LARGEST_BITS:
                    raise _OutOfReachError
                waiting.append(result)
            else:
                waiting.append(self.context.mpf(number.numerator) / number.denominator)
        return waiting[0]


def _fraction(token: Token, value: float) -> fractions.Fraction:
    """Return a number as the decimal fraction that it is written as: 0.1 is 1/10."""
    return fractions.Fraction(repr(value if token.kind is TokenKind.CONSTANT else token.value))


def _functions(context: Any) -> dict[str, Callable[..., Value]]:
    """Each operator of `opcodes.hpp` over real numbers; `context` is mpmath's, without types."""

    def divide(a: Value, b: Value) -> Value:
        if not b:
            raise _UndefinedError
        return a / b

    def logarithm(a: Value) -> Value:
        if a <= 0:
            raise _UndefinedError
        return context.ln(a)

    def root(a: Value) -> Value:
        if a < 0:
            raise _UndefinedError
        return context.sqrt(a)

    def exponential(a: Value) -> Value:
        if a > _LARGEST_BITS:
            raise _OutOfReachError
        return context.exp(a)

    def power(a: Value, b: Value) -> Value:
        if not a or not b:
            if b < 0:
                raise _UndefinedError
            return context.mpf(0 if b else 1)
        if context.isint(b) and abs(b) <= 64:
            return a ** int(b)
        size = exponential(b * context.ln(abs(a)))
        if a > 0:
            return size
        if not context.isint(b):
            raise _UndefinedError
        return -size if int(b) % 2 else size

    def periodic(function: Callable[[Value], Value]) -> Callable[[Value], Value]:
        def bounded(a: Value) -> Value:
            # Of a larger argument too few digits would be left after the whole turns are taken off.
            if a and context.mag(a) > context.prec // 3:
                raise _OutOfReachError
            return function(a)

        return bounded

    return {
        "add": lambda a, b: a + b,
        "sub": lambda a, b: a - b,
        "mul": lambda a, b: a * b,
        "div": divide,
        "pow": power,
        "min": min,
        "max": max,
        "sin": periodic(context.sin),
        "cos": periodic(context.cos),
        "tan": periodic(context.tan),
        "exp": exponential,
        "log": logarithm,
        "sqrt": root,
        "square": lambda a: a * a,
        "cube": lambda a: a * a * a,
        "quartic": lambda a: (a * a) * (a * a),
        "inv": lambda a: divide(1, a),
        "neg": lambda a: -a,
        "abs": abs,
        "tanh": context.tanh,
        "sigmoid": lambda a: 1 / (1 + exponential(-a)),
        "expneg": lambda a: exponential(-a),
        "logabs": lambda a: logarithm(abs(a)),
    }


# --- The process that proves ------------------------------------------------------------------------------------------


class _Prover:
    """Asks `symbolic.serve` in a process of its own, and replaces that process when it hangs or dies.

    A subprocess, not `multiprocessing`: that refuses to work within workers of a pool, and would run the user's main
    script again.
    """

    def __init__(self, time_limit: float) -> None:
        self.time_limit = time_limit
        self.process: subprocess.Popen[str] | None = None
        self.owner = 0  # id of the process that started it: after a fork, the copy must not be used

    def prove(self, expression: Expression, target: Expression, comparison: _Comparison) -> tuple[str, str]:
        """Return a proof, or "" and why there is none."""
        question = json.dumps(
            {
                "expression": _words(expression),
                "target": _words(target),
                "signs": comparison.signs,
                "points": comparison.points[:: max(1, len(comparison.points) // 4)],
                "seconds": self.time_limit,
            }
        )
        for _ in range(2):
            try:
                answer, seconds = _ask(self._running(), question, self.time_limit)
            except BaseException:  # such as Ctrl-C: the answer must not be read as that to the next question
                self.close()
                raise
            if answer:
                return str(json.loads(answer)), "sympy finds no proof"
            self.close()
            if seconds >= self.time_limit:
                return "", f"sympy finds no proof within the time limit of {self.time_limit:g} s"
        return "", "sympy's process died twice"

    def _running(self) -> subprocess.Popen[str]:
        """Return the process, started anew if there is none, or it died, or it belongs to the parent of a fork."""
        if self.process is not None and self.owner == os.getpid() and self.process.poll() is None:
            return self.process
        self.close()
        # The child finds modules where this process does, and orders sympy's terms the same way each time.
        script = f"import sys; sys.path[:] = {sys.path!r}; from symseed import symbolic; symbolic.serve()"
        self.process = subprocess.Popen(  # noqa: S603 - our own script, on our own interpreter
            [sys.executable, "-c", script],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
            env={**os.environ, "PYTHONHASHSEED": "0"},
        )
        self.owner = os.getpid()
        if _ask(self.process, None, _START_SECONDS)[0] != "ready\n":
            self.close()
            raise SymseedError("sympy could not be started. Is it installed? Try `python -c 'import sympy'`.")
        return self.process

    def close(self) -> None:
        """Kill the process, if it is ours, and let go of its pipes."""
        process, self.process = self.process, None
        if process is None:
            return
        if self.owner == os.getpid():
            process.kill()
            process.wait()
        for pipe in (process.stdin, process.stdout):
            assert pipe is not None, "both were asked for"
            with contextlib.suppress(BrokenPipeError):
                pipe.close()


def _words(expression: Expression) -> list[Word]:
    def word(token: Token, value: float) -> Word:
        if token.kind is TokenKind.OPERATOR:
            return token.name, ""
        if token.kind is TokenKind.VARIABLE:
            return VARIABLE, str(token.column)
        if token.kind is TokenKind.LITERAL:
            return LITERAL, repr(token.value)
        return CONSTANT, repr(value)

    return [word(token, value) for token, value in zip(expression.tokens, expression.constants, strict=True)]


def _ask(process: subprocess.Popen[str], question: str | None, time_limit: float) -> tuple[str, float]:
    """Send a line and return the answering one, with the seconds it took; "" if the process was killed or died."""
    assert process.stdin is not None, "both pipes were asked for"
    assert process.stdout is not None, "both pipes were asked for"
    started = time.monotonic()
    timer = threading.Timer(time_limit, process.kill)
    timer.daemon = True
    timer.start()
    try:
        if question is not None:
            process.stdin.write(question + "\n")
            process.stdin.flush()
        answer = process.stdout.readline()
    except (BrokenPipeError, OSError):
        answer = ""
    finally:
        timer.cancel()
    return answer if answer.endswith("\n") else "", time.monotonic() - started
