"""Simplification: removes tokens without effect, and replaces constants by simple numbers where the data allow it.

A change is kept if the description length does not grow (minimum description length; Bartlett, Desmond & Ferreira 2023;
`scoring/description.py`).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from symseed import arithmetic
from symseed.data.dataset import Measured
from symseed.data.magnitudes import folded
from symseed.language import Library, Population, Row, Writer
from symseed.language.tokens import TokenKind, literal
from symseed.scoring import FitSettings, evaluate, fit, simple_numbers
from symseed.scoring.description import data_lengths, description_lengths, deviations, free_deviations
from symseed.search.budget import IsLate, in_time, never

_MOST_STEPS = 200
"""Most steps: more than any formula needs, as each removes a constant, a token or a minus sign."""
_MOST_TIED = 10
"""Most pairs of constants that are made one in a step; each takes milliseconds, and a dense polynomial has hundreds of
pairs. Chosen by hand."""
_EQUAL_VALUES = 1e-12
"""Share of their scale by which two values may differ and count as equal: rounding."""
_EQUAL_STEPS = 1e-9
"""Share of a step by which steps may differ and count as equal: rounding of tables, chosen by hand."""
_FIRST_SAMPLES = 32
"""Samples at which values are compared first."""

_NEAR = 2.5
"""Standard errors within which simple numbers are tried first: a little more than `simple_numbers.MOST_MISFIT` is."""
_MOST_FITS = 20
"""Most fits of a formula to convergence, which is slow if constants are redundant: chosen by hand."""
_LEAST_GAIN = 1e-5
"""Share of the error that a fit must remove for another fit to follow: chosen by hand."""


def reduced(writer: Writer, part: Row, dataset: Measured) -> Row:
    """Return a formula of fewer tokens with the same values.

    A subtree with one value at all samples becomes that number; a subtree with the values of a subtree below it becomes
    that one. Of waves with the same values at samples in equal steps, the slowest stays (Nyquist 1928).
    """
    while True:
        values = dataset.backend.semantics(writer.population([part])).values
        with np.errstate(over="ignore"):  # two values near the largest number, of different signs, differ
            shorter = _shortened(writer, part, values)
        if shorter is None:
            return _slowed(writer, part, values)
        part = shorter


def _slowed(writer: Writer, part: Row, values: np.ndarray) -> Row:
    for begin, token in enumerate(part.ids):
        name = writer.library[token].name
        if name not in ("sin", "cos"):
            continue
        for number, column in _frequencies(writer, part, begin + 1):
            step = _step(values[column])
            if step > 0.0:
                turn = 2.0 * math.pi / step
                slow = math.remainder(part.constants[number], turn)
                if abs(slow) < (1.0 - _EQUAL_STEPS) * abs(part.constants[number]):
                    is_alone = name == "cos" and begin + 1 == min(number, column) - 1
                    part = part.with_constant(number, abs(slow) if is_alone else slow)
    return part


def _frequencies(writer: Writer, part: Row, begin: int) -> Iterator[tuple[int, int]]:
    """The places of c and x for each product c x that is a term of the argument which begins there."""
    name, second = writer.library[part.ids[begin]].name, 0
    if name in ("add", "sub", "mul"):
        second = writer.library.end(part.ids, begin + 1)
    if name in ("add", "sub"):
        yield from _frequencies(writer, part, begin + 1)
        yield from _frequencies(writer, part, second)
    if name == "mul":
        for number, column in ((begin + 1, second), (second, begin + 1)):
            is_column = writer.library[part.ids[column]].kind is TokenKind.VARIABLE
            if is_column and not math.isnan(part.constants[number]):
                yield number, column


def _step(values: np.ndarray) -> float:
    """The step of which all values are multiples; 0 if there is none."""
    gaps = np.diff(np.unique(values))
    step = float(gaps[gaps > _EQUAL_STEPS * np.abs(values).max()].min(initial=math.inf))
    if not math.isfinite(step):
        return 0.0
    turns = values / step
    return step if float(np.abs(turns - np.rint(turns)).max()) <= _EQUAL_STEPS * len(values) else 0.0


def _shortened(writer: Writer, part: Row, values: np.ndarray) -> Row | None:
    if np.isnan(values).any():
        return None
    first = values[:, :_FIRST_SAMPLES]
    for begin in range(len(part)):
        end = writer.library.end(part.ids, begin)
        if end - begin < 2:
            continue
        most = _EQUAL_VALUES * np.abs(values[begin]).max()
        # What differs at the first samples differs; few subtrees are left to be compared at all of them.
        if len(values[begin]) > 1 and _spread(first[begin]) <= most and _spread(values[begin]) <= most:
            middle = float(np.sort(values[begin])[len(values[begin]) // 2])
            return part.spliced(begin, end, writer.number(middle))
        alike = begin + 1 + np.flatnonzero(np.abs(first[begin + 1 : end] - first[begin]).max(axis=1) <= most)
        same = [at for at in alike.tolist() if np.abs(values[at] - values[begin]).max() <= most]
        inner = [(writer.library.end(part.ids, at) - at, at) for at in same]
        if inner:
            length, at = min(inner)
            kept = part.part(at, at + length)
            return part.spliced(begin, end, kept)
    return None


def _spread(values: np.ndarray) -> float:
    return float(values.max() - values.min())


def fitted(population: Population, dataset: Measured) -> Population:
    """Return rows with their constants fitted."""
    if not population.library.has_constants:
        return population
    return fit(population, dataset, FitSettings(iterations=100))[0]


def simplified(
    writer: Writer, part: Row, dataset: Measured, *, few: Measured | None = None, is_late: IsLate = never
) -> Row:
    """Return a formula reduced, fitted, and with simple numbers where that does not lengthen the description.

    Once `is_late` returns true, the formula simplified so far is returned.

    Args:
        few: samples that show which tokens have no effect; None: all.
    """
    few = few or dataset
    part = reduced(writer, part, few)
    if is_late():
        return part
    part = fitted(writer.population([part]), dataset).row(0)
    part = reduced(writer, part, few)  # a constant may have become 1 or 0
    length, nats = _lengths(writer, part, dataset)
    for _ in range(_MOST_STEPS):
        if not math.isfinite(length):
            break
        steps = _steps(writer, part, dataset, is_late)
        trials = [refitted(writer, step.row, dataset, few=few) for step in in_time(steps, is_late)]
        found = [_lengths(writer, trial, dataset) for trial in trials]
        lengths = [
            total if total <= length - step.gain and data <= nats + step.misfit else math.inf
            for step, (total, data) in zip(steps, found, strict=False)  # time may be up before the last
        ]
        best = int(np.argmin(lengths)) if lengths else 0
        if not lengths or math.isinf(lengths[best]):
            break
        part, (length, nats) = trials[best], found[best]
    return part


def _lengths(writer: Writer, part: Row, dataset: Measured) -> tuple[float, float]:
    """The description length of a formula, and the part of it that the data take."""
    population = writer.population([part])
    nats = data_lengths(population, dataset, dataset.mean_squares(evaluate(population, dataset).error))
    return float(description_lengths(population, dataset)[0]), float(nats[0])


@dataclass(frozen=True, slots=True)
class _Step:
    """A simpler formula, not fitted yet."""

    row: Row
    misfit: float = math.inf
    """Most nats that it may add to the data."""
    gain: float = 0.0
    """Least nats by which it must shorten the description."""


def _steps(writer: Writer, part: Row, dataset: Measured, is_late: IsLate) -> list[_Step]:
    """The formula with one constant made a simple number, or two made one, within the precision of the data."""
    population = writer.population([part])
    mean_square = float(dataset.mean_squares(evaluate(population, dataset).error)[0])
    places = writer.library.constant_places(part.ids)
    if not math.isfinite(mean_square) or not places:
        return []
    alone = deviations(population, 0, dataset, mean_square)
    followed = free_deviations(population, 0, dataset, mean_square)
    reach, near = {}, {}
    for place, width, free in zip(places, alone, followed, strict=True):
        value = part.constants[place]
        if simple_numbers.cost(value) is None and math.isfinite(width):
            # If other constants can replace this one, its free deviation is infinite: no scale. Factors by hand.
            free = free if math.isfinite(free) else 0.0
            reach[place] = max(20.0 * width, 4.0 * free, simple_numbers.EQUAL * abs(value))
            near[place] = max(_NEAR * width, _NEAR * free, simple_numbers.EQUAL * abs(value))
    rewritten = [*_one_wave(writer, part), *_without_minus(writer, part), *_tied(writer, part, reach, is_late)]
    out = [_Step(row) for row in rewritten]
    for place, width in reach.items():
        value = part.constants[place]
        found = sorted(simple_numbers.candidates(value, width), key=lambda found: found[1])
        # A fit that has not converged yet may be far from its number, so two of the farther ones are tried as well.
        closest = [each for each in found if abs(each[0] - value) <= near[place]][:2]
        for number, _ in dict.fromkeys([*closest, *found[:2]]):
            is_equal = abs(number - value) <= simple_numbers.EQUAL * abs(value)
            misfit = math.inf if is_equal else simple_numbers.MOST_MISFIT
            out.append(_Step(part.with_constant(place, number), misfit, simple_numbers.LEAST_GAIN))
        if abs(value) <= width:
            out.append(_Step(part.with_constant(place, 0.0)))
    return out


def _tied(writer: Writer, part: Row, reach: dict[int, float], is_late: IsLate) -> list[Row]:
    """The formula with two constants made equal or opposite, if they can then be written as one factor.

    Of many pairs, those are tried that are nearest to each other, in units of their precision.
    """
    pairs = []
    for first, second in itertools.combinations(reach, 2):
        value = math.copysign(part.constants[first], part.constants[second])
        gap, width = abs(value - part.constants[second]), reach[first] + reach[second]
        if gap <= width:
            pairs.append((gap / width if width > 0.0 else 0.0, second, value))
    pairs.sort(key=lambda pair: pair[0])
    out = []
    for _, second, value in in_time(pairs[:_MOST_TIED], is_late):
        tied = folded(writer, part.with_constant(second, value))
        if tied is not None and len(tied) < len(part):
            out.append(tied)
    return out


def _one_wave(writer: Writer, part: Row) -> list[Row]:
    """The formula with a sin(u) + b cos(u) as one sine or cosine of a shifted u, in the four ways to write it."""
    if not writer.has("add", "mul", "sin", "cos"):
        return []
    out = []
    for name, begin, middle, end in _sums(writer, part):
        first, second = _wave(writer, part, begin + 1, middle), _wave(writer, part, middle, end)
        if {first.kind, second.kind} != {"sin", "cos"} or not first.has_argument_of(second):
            continue
        sign = -1.0 if name == "sub" else 1.0
        a, b = first.factor, sign * second.factor
        if first.kind == "cos":
            a, b = b, a
        for kind, phase in (("sin", arithmetic.atan2(b, a)), ("cos", arithmetic.atan2(-a, b))):
            for size, shift in ((1.0, phase), (-1.0, phase - math.copysign(math.pi, phase))):
                moved = writer.apply(kind, writer.apply("add", first.argument, writer.number(shift)))
                out.append(part.spliced(begin, end, writer.scaled(size * math.sqrt(a * a + b * b), moved)))
    return out


def _without_minus(writer: Writer, part: Row) -> list[Row]:
    """The formula with a negative number or factor made positive, and the sum made a difference or the reverse.

    (-c u) - v becomes c u + v, its negative: an even function around it has the same values.
    """
    if not writer.has("add", "sub"):
        return []
    out = []
    for name, begin, middle, end in _sums(writer, part):
        first, second = part.part(begin + 1, middle), part.part(middle, end)
        left, right = _negated(writer, first), _negated(writer, second)
        forms = []
        if right is not None:
            forms.append(writer.apply("sub" if name == "add" else "add", first, right))
        if left is not None:
            forms.append(writer.apply("sub", second, left) if name == "add" else writer.apply("add", left, second))
        out += [part.spliced(begin, end, form) for form in forms]
    return out


def _sums(writer: Writer, part: Row) -> Iterator[tuple[str, int, int, int]]:
    """Each sum or difference of a formula: its name, its begin, the begin of its second argument, its end."""
    for begin, token in enumerate(part.ids):
        name = writer.library[token].name
        if name in ("add", "sub"):
            yield name, begin, writer.library.end(part.ids, begin + 1), writer.library.end(part.ids, begin)


def _negated(writer: Writer, part: Row) -> Row | None:
    """A negative number, or a product that begins or ends with one, without its minus sign; None for others."""
    places = [0]
    if writer.library[part.ids[0]].name == "mul":
        places = [1, writer.library.end(part.ids, 1)]
    for place in places:
        if part.constants[place] < 0.0:
            return part.with_constant(place, -part.constants[place])
    return None


@dataclass(frozen=True, slots=True)
class _Wave:
    """A term that is a number times a function."""

    kind: str
    factor: float
    argument: Row

    def has_argument_of(self, other: _Wave) -> bool:
        return self.argument == other.argument


def _wave(writer: Writer, part: Row, begin: int, end: int) -> _Wave:
    factor = 1.0
    if writer.library[part.ids[begin]].name == "mul":
        second = writer.library.end(part.ids, begin + 1)
        for place, other in ((begin + 1, (second, end)), (second, (begin + 1, second))):
            if not math.isnan(part.constants[place]):
                factor, (begin, end) = part.constants[place], other
                break
    return _Wave(writer.library[part.ids[begin]].name, factor, part.part(begin + 1, end))


def refitted(writer: Writer, part: Row, dataset: Measured, *, few: Measured | None = None, iterations: int = 30) -> Row:
    """Return a formula with its constants fitted, except simple numbers, and without tokens that have no effect.

    Args:
        few: samples that show which tokens have no effect; None: all.
    """
    free = [i for i in writer.library.constant_places(part.ids) if simple_numbers.cost(part.constants[i]) is None]
    if free:
        fitted = fit(frozen(writer, part, free), dataset, FitSettings(iterations=iterations))[0]
        constants = list(part.constants)
        for i in free:
            constants[i] = float(fitted.constants[0, i])
        part = Row(part.ids, tuple(constants))
    return reduced(writer, part, few or dataset)


def converged(
    writer: Writer,
    part: Row,
    dataset: Measured,
    *,
    few: Measured | None = None,
    iterations: int = 30,
    is_late: IsLate = never,
) -> Row:
    """Return a formula refitted until that gains nothing, or until time is up; see `refitted`."""
    error = math.inf
    for _ in in_time(range(_MOST_FITS), is_late):
        part = refitted(writer, part, dataset, few=few, iterations=iterations)
        before, error = error, float(evaluate(writer.population([part]), dataset).error[0])
        if not error < before * (1.0 - _LEAST_GAIN):
            break
    return part


def freely_fitted(writer: Writer, part: Row, dataset: Measured, *, iterations: int) -> Row:
    """Return a formula with all its constants fitted, simple numbers too."""
    if not writer.library.constant_places(part.ids):
        return part
    return fit(writer.population([part]), dataset, FitSettings(iterations=iterations))[0].row(0)


def frozen(writer: Writer, part: Row, free: list[int]) -> Population:
    """The formula over a library in which all constants but the free ones are literals."""
    fixed = [i for i in writer.library.constant_places(part.ids) if i not in free]
    known = {token.value for token in writer.library.tokens if token.kind is TokenKind.LITERAL}
    added = [literal(value) for value in dict.fromkeys(part.constants[i] for i in fixed) if value not in known]
    library = Library(writer.library.tokens + tuple(added))
    literals = {token.value: t for t, token in enumerate(library.tokens) if token.kind is TokenKind.LITERAL}
    ids, constants = list(part.ids), list(part.constants)
    for i in fixed:
        ids[i], constants[i] = literals[constants[i]], math.nan
    length = np.array([len(ids)], dtype=np.int32)
    return Population.wrap(library, np.array([ids], dtype=np.uint16), length, np.array([constants]))
