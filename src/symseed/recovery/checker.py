"""Recovery check: whether an expression equals the target, by values in high precision and then by symbolic proof.

Values decide first: one difference, anywhere in a range wider than the data's, is a "no". Only expressions that agree
everywhere go to sympy, in a process (`proof.serve`) that is killed when it takes too long.
"""

from __future__ import annotations

import contextlib
import enum
import json
import math
import os
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from types import TracebackType

import numpy as np

from symseed.arrays import Floats
from symseed.data.dataset import Dataset
from symseed.errors import SettingsError, SymseedError
from symseed.language.expression import Expression
from symseed.language.library import Library
from symseed.language.population import Population
from symseed.language.row import Row
from symseed.language.tokens import TokenKind, literal
from symseed.language.words import words
from symseed.recovery.precision import AGREEMENT, Comparison, compare
from symseed.scoring import evaluation
from symseed.scoring.fitting import FitSettings

REFERENCE_NMSE = 1e-12
"""Test NMSE below which the authors' released code calls an expression recovered."""
FIT_AGREEMENT = 1e-6
"""Relative difference up to which values agree if a constant was fitted in float64."""
FIT_SCREEN = 1e-3
"""Relative difference beyond which no rounding of fitted constants is tried."""

_FITTED_DIGITS = 7
"""Fewest significant digits of a constant that counts as fitted: a fit hardly ever gives fewer."""
_FLOAT64_DIGITS = 15
"""Decimal digits that float64 always preserves."""
_REFIT_SAMPLES = 1_000
"""Most samples of a refit: a bound on time, chosen by hand."""
_ITERATIONS = 200
"""Levenberg-Marquardt steps of a refit: chosen by hand."""
_RESTARTS = 8
"""Random restarts of a refit that did not reach the target: chosen by hand."""
_FITS_NMSE = 1e-16
"""NMSE below which a refitted form equals the target: rounding, with a margin for stiff problems."""
_DRAWS = 3
"""Random draws of constants at which the rank of the derivatives is measured: chosen by hand."""
_NEARBY = 0.1
"""Relative distance of these draws from the fitted constants: chosen by hand."""
_STEP = 1e-4
"""Relative step of the numerical derivatives: chosen by hand."""
_INDEPENDENT = 1e-6
"""Singular value of the normalised derivatives above which it counts towards the rank: chosen by hand."""
_VANISHES = 1e-8
"""Share of a sum below which one of its terms is negligible: chosen by hand."""
_START_SECONDS = 120.0
"""Seconds that sympy may take to start: generous, for a busy machine."""
_LONGEST_SECONDS = 86_400.0
"""Longest time limit of a proof: a day."""


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
    """Mean squared error on the test set over the variance of its y; infinite if the expression fails."""
    largest_relative_difference: float
    """Largest relative difference between expression and target, in high precision; NaN if no point could be tried."""
    seconds: float

    @property
    def passes_reference(self) -> bool:
        """Whether the authors' released code would call this recovered; it does not ask what the formula is."""
        return self.test_nmse < REFERENCE_NMSE


def check(
    expression: Expression, target: Expression, test: Dataset, *, time_limit: float = 10.0, refit: bool = False
) -> Recovery:
    """Return whether an expression is the target; for many expressions one `Checker` is much faster."""
    with Checker(time_limit=time_limit) as checker:
        return checker.check(expression, target, test, refit=refit)


class Checker:
    """Decides whether expressions are targets; owns a sympy process, started when first needed. Close it after use.

    A variable whose values in the test set all have one sign stands for numbers of that sign only. Constants of the
    expression count as fitted, those of the target as exact. Several threads must not share a checker.
    """

    def __init__(self, *, time_limit: float = 10.0) -> None:
        if not 0.0 < time_limit <= _LONGEST_SECONDS:
            raise SettingsError(
                f"`time_limit` must be above 0 and at most {_LONGEST_SECONDS:g} seconds, but it is {time_limit}."
            )
        self._prover = _Prover(time_limit)

    def check(self, expression: Expression, target: Expression, test: Dataset, *, refit: bool = False) -> Recovery:
        """Return whether `expression` is `target`, for data like those of `test`; variables are matched by column.

        With `refit` only the form must be the target's: noise moves constants, so they are first fitted to the target
        itself, at the inputs of `test`. A form with an extra term, which then becomes 0, is not the target's.
        `test_nmse` remains that of the given expression.
        """
        started = time.perf_counter()
        expression, target = expression.expanded(), target.expanded()
        for formula in (expression, target):
            evaluation.check_columns(formula.library, test)
        form = _refitted(expression, target, test) if refit and expression != target else _Form(expression)
        comparison = compare(form.expression, target, test)
        verdict, evidence = self._decide(form.expression, target, comparison)
        if form.superfluous and verdict is not Verdict.NO:
            verdict, evidence = Verdict.NO, form.superfluous
        return Recovery(
            verdict=verdict,
            evidence=evidence,
            test_nmse=_nmse(expression, test),
            largest_relative_difference=comparison.largest,
            seconds=time.perf_counter() - started,
        )

    def _decide(self, expression: Expression, target: Expression, comparison: Comparison) -> tuple[Verdict, str]:
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
    """Whether it holds a constant of at least that many digits, or a literal rounded to float64."""
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
    """Return the number of digits of a number's text, without leading and trailing zeros."""
    return len(value.lower().partition("e")[0].replace(".", "").strip("-+0"))


# --- The form, whatever its constants ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Form:
    """A formula whose constants have been fitted to the target."""

    expression: Expression
    superfluous: str = ""
    """The part that the target lacks; empty if there is none."""


def _refitted(expression: Expression, target: Expression, test: Dataset) -> _Form:
    """Fit the constants to the target, remove redundant ones, and look for superfluous terms.

    A constant that can be 0 while the others compensate is redundant, not superfluous, if the formula keeps its degrees
    of freedom: `a*x + b*x` is one term written as two, but `x + a - b` has a term that becomes 0.
    """
    data = _noiseless(target, test)
    for place in expression.constant_places:
        if expression.constants[place] == 0.0:  # a literal 0, as in 0 - x, was not fitted
            expression = _fixed(expression, place, 0.0)
    if data is None or not expression.constant_places:
        return _Form(expression)
    form = _fit(expression, data)
    if not _fits(form, data):
        return _Form(form)
    freedom = _freedom(form, data)
    for value in (0.0, 1.0):  # then 1: a redundant factor
        for place in form.constant_places:
            other = _fit(_fixed(form, place, value), data)
            if _fits(other, data) and _freedom(other, data) == freedom:
                form = other
    for place in form.constant_places:
        if _fits(_fit(_fixed(form, place, 0.0), data), data):
            shown = f"{form.constants[place]:.3g}, fitted to the target,"
            return _Form(form, f"the constant {shown} is superfluous: 0 in its place makes the target, too")
    return _Form(form, _vanishing_term(form, data))


def _noiseless(target: Expression, test: Dataset) -> Dataset | None:
    """The target's own values at inputs of the test set; None if it has none."""
    X = test.X[:_REFIT_SAMPLES]
    y = target.evaluate(X)
    defined = np.isfinite(y)
    return test.with_samples(X[defined], y[defined]) if defined.any() else None


def _fit(expression: Expression, data: Dataset) -> Expression:
    """Fit from the given constants, and with random restarts if that does not suffice."""
    row = Population.from_expressions([expression])
    for restarts in (0, _RESTARTS):
        row, _ = evaluation.fit(row, data, FitSettings(_ITERATIONS, restarts))
        if _fits(row[0], data):
            break
    return row[0]


def _fits(expression: Expression, data: Dataset) -> bool:
    return _nmse(expression, data) <= _FITS_NMSE


def _fixed(expression: Expression, place: int, value: float) -> Expression:
    """Return the expression with a number in place of a constant."""
    library = expression.library
    token = literal(value)
    if token not in library.tokens:
        library = Library((*library.tokens, token))
    return Expression(library, expression.row.with_token(place, library.tokens.index(token)))


def _freedom(expression: Expression, data: Dataset) -> int:
    """Degrees of freedom of the constants: the rank of the derivatives of the values by the constants.

    The derivatives are taken near the fitted constants, because the rank may be smaller exactly there.
    """
    rng = np.random.default_rng(0)
    return max((_rank(expression, data, rng) for _ in range(_DRAWS)), default=0)


def _rank(expression: Expression, data: Dataset, rng: np.random.Generator) -> int:
    places = expression.constant_places
    if not places:
        return 0
    values = np.array(expression.constants)[places]
    values += _NEARBY * np.maximum(np.abs(values), _NEARBY) * rng.uniform(-1.0, 1.0, len(values))
    steps = _STEP * np.maximum(np.abs(values), _NEARBY)

    def at(constants: Floats) -> Floats:
        moved = list(expression.constants)
        for place, value in zip(places, constants, strict=True):
            moved[place] = float(value)
        return Expression(expression.library, Row(expression.ids, tuple(moved))).evaluate(data.X)

    slopes = np.stack([at(values + step) - at(values - step) for step in np.diag(steps)], axis=1)  # (M, constants)
    slopes = slopes[np.isfinite(slopes).all(axis=1)]
    sizes = np.linalg.norm(slopes, axis=0)
    if not len(slopes) or not sizes.any():
        return 0
    return int(np.linalg.matrix_rank(slopes[:, sizes > 0.0] / sizes[sizes > 0.0], tol=_INDEPENDENT))


def _vanishing_term(expression: Expression, data: Dataset) -> str:
    """Say which term of a sum is negligible beside the rest, if that term holds a constant."""
    library, row = expression.library, expression.row
    ends = library.ends(row.ids)
    for place, token in enumerate(expression.tokens):
        if token.name not in ("add", "sub") or token.kind is not TokenKind.OPERATOR:
            continue
        first, second = (place + 1, ends[place + 1]), (ends[place + 1], ends[place])
        for term, other in ((first, second), (second, first)):
            part, rest = (Expression(library, row.part(*span)) for span in (term, other))
            if not part.constant_places:
                continue
            size, scale = (np.abs(each.evaluate(data.X)).max() for each in (part, rest))
            if size <= _VANISHES * scale:
                return f"the term `{part}` is superfluous: fitted to the target, it vanishes"
    return ""


# --- The proof --------------------------------------------------------------------------------------------------------


class _Prover:
    """Runs `proof.serve` in another process, and replaces that process when it hangs or dies.

    A subprocess, not `multiprocessing`: that refuses to work within workers of a pool, and would run the user's main
    script again.
    """

    def __init__(self, time_limit: float) -> None:
        self.time_limit = time_limit
        self.process: subprocess.Popen[str] | None = None
        self.owner = 0  # id of the process that started it: after a fork, the copy must not be used

    def prove(self, expression: Expression, target: Expression, comparison: Comparison) -> tuple[str, str]:
        """Return a proof, or "" and the reason why there is none."""
        question = json.dumps(
            {
                "expression": words(expression),
                "target": words(target),
                "signs": comparison.signs,
                "points": comparison.points[:: max(1, len(comparison.points) // 4)],
                "seconds": self.time_limit,
            }
        )
        for _ in range(2):
            try:
                answer, seconds = _ask(self._running(), question, self.time_limit)
            except BaseException:  # such as Ctrl-C: the pending answer must not be read as the next one
                self.close()
                raise
            if answer:
                return str(json.loads(answer)), "sympy finds no proof"
            self.close()
            if seconds >= self.time_limit:
                return "", f"sympy finds no proof within the time limit of {self.time_limit:g} s"
        return "", "sympy's process died twice"

    def _running(self) -> subprocess.Popen[str]:
        """Return the process; a new one if there is none, if it died, or if it belongs to the parent of a fork."""
        if self.process is not None and self.owner == os.getpid() and self.process.poll() is None:
            return self.process
        self.close()
        # The child finds modules where this process does, and orders sympy's terms the same way each time.
        script = f"import sys; sys.path[:] = {sys.path!r}; from symseed.recovery import proof; proof.serve()"
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
