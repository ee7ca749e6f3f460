"""Scaling of data by powers of two, which is exact, and of formulas found in scaled data back to the user's units.

Factors of the variables are carried upwards through products, powers and sums until they meet a constant or each other,
and are written there.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from symseed import arithmetic
from symseed.arrays import Floats
from symseed.data.dataset import Dataset
from symseed.language.row import Row
from symseed.language.tokens import TokenKind
from symseed.language.writer import Writer

_UNSCALED = 1_000.0
"""Largest |value| of a column that is not scaled, and one over the smallest: chosen by hand."""
_LARGEST_EXPONENT = 1_000
"""Largest exponent of 2 of a unit: this power and its reciprocal are normal float64."""
_POWERS = {"square": 2, "cube": 3, "quartic": 4}


@dataclass(frozen=True, slots=True)
class Magnitudes:
    """Units of the columns and of y in scaled data: powers of two."""

    columns: tuple[float, ...]
    target: float

    @classmethod
    def of(cls, dataset: Dataset) -> Magnitudes:
        """Choose units in which the largest |value| of a column, or of y, is from 1 to 2, if it is far from that."""
        return cls(tuple(_unit(column) for column in dataset.X.T), _unit(dataset.y))

    @property
    def are_plain(self) -> bool:
        """Whether all units are 1, so that data stay unchanged."""
        return self.target == 1.0 and all(unit == 1.0 for unit in self.columns)

    def scaled(self, dataset: Dataset) -> Dataset:
        """Return data in these units."""
        if self.are_plain:
            return dataset
        X, y = dataset.X / np.array(self.columns), dataset.y / self.target
        loss = None if dataset.loss is None else dataset.loss.in_units(self.target)
        growth = None if dataset.growth is None else dataset.growth.in_units(self.target)
        return dataset.with_samples(X, y, dataset.weights).with_loss(loss).with_growth(growth)

    @property
    def inverse(self) -> Magnitudes:
        """The reciprocal units."""
        return Magnitudes(tuple(1.0 / unit for unit in self.columns), 1.0 / self.target)

    def restored(self, writer: Writer, part: Row) -> Iterator[Row]:
        """Give forms, for unscaled data, of a formula found in scaled data.

        The first is the shortest, but its intermediate values may overflow or underflow; the last has the intermediate
        values of the scaled formula.
        """
        if self.are_plain:
            yield part
            return
        folded = _Folder(writer, self).folded(part)
        if folded is not None:
            yield folded
        yield self._substituted(writer, part)

    def _substituted(self, writer: Writer, part: Row) -> Row:
        pieces = []
        for token_id, value in zip(part.ids, part.constants, strict=True):
            token = writer.library[token_id]
            piece = Row((token_id,), (value,))
            if token.kind is TokenKind.VARIABLE:
                piece = writer.scaled(1.0 / self.columns[token.column], piece)
            pieces.append(piece)
        ids = tuple(token_id for piece in pieces for token_id in piece.ids)
        values = tuple(value for piece in pieces for value in piece.constants)
        return writer.scaled(self.target, Row(ids, values))


def folded(writer: Writer, part: Row) -> Row | None:
    """Return a formula with common factors taken out of its sums; None if it cannot be written."""
    return _Folder(writer, Magnitudes((1.0,) * (1 + max(writer.columns, default=-1)), 1.0)).folded(part)


def _within_range(number: float) -> float:
    """Refuse a number that is not finite, since a division by it would give 0."""
    if not math.isfinite(number):
        raise OverflowError
    return number


def _unit(values: Floats) -> float:
    largest = float(np.abs(values).max())
    if largest == 0.0 or 1.0 / _UNSCALED <= largest <= _UNSCALED:
        return 1.0
    exponent = math.frexp(largest)[1] - 1
    return math.ldexp(1.0, max(-_LARGEST_EXPONENT, min(exponent, _LARGEST_EXPONENT)))


@dataclass(frozen=True, slots=True)
class _Term:
    """A factor times a product, divided by a product."""

    factor: float
    above: tuple[Row, ...] = ()
    below: tuple[Row, ...] = ()

    @property
    def is_number(self) -> bool:
        return not self.above and not self.below

    def times(self, factor: float) -> _Term:
        return _Term(self.factor * factor, self.above, self.below)


_Sum = tuple[_Term, ...]


class _Folder:
    """Rewrites one formula with factors for its variables and for its value."""

    def __init__(self, writer: Writer, units: Magnitudes) -> None:
        self._writer, self._units = writer, units

    def folded(self, part: Row) -> Row | None:
        """Return the formula; None if the operators do not suffice, or a factor overflows or underflows."""
        try:
            terms, _ = self._read(part, 0)
            written = self._written(_scaled(terms, self._units.target))
        except (KeyError, OverflowError, ZeroDivisionError):
            return None
        numbers = [value for value in written.constants if not math.isnan(value)]
        is_writable = all(math.isfinite(value) for value in numbers) and len(numbers) == sum(
            self._writer.library[i].kind is TokenKind.CONSTANT for i in written.ids
        )
        return written if is_writable else None

    def _read(self, part: Row, at: int) -> tuple[_Sum, int]:
        """Return the subtree at a position as a sum, and the position after it."""
        token = self._writer.library[part.ids[at]]
        if token.kind is TokenKind.VARIABLE:
            leaf = Row((part.ids[at],), (math.nan,))
            return (_Term(1.0 / self._units.columns[token.column], (leaf,)),), at + 1
        if token.kind is not TokenKind.OPERATOR:
            return (_Term(part.constants[at] if token.kind is TokenKind.CONSTANT else token.value),), at + 1
        arguments, end = [], at + 1
        for _ in range(token.arity):
            argument, end = self._read(part, end)
            arguments.append(argument)
        return self._applied(token.name, arguments), end

    def _applied(self, name: str, arguments: Sequence[_Sum]) -> _Sum:
        first, last = arguments[0], arguments[-1]
        if name in ("add", "sub"):
            return _merged((*first, *_scaled(last, -1.0 if name == "sub" else 1.0)))
        if name == "neg":
            return _scaled(first, -1.0)
        if name == "mul" and _is_number(first):
            return _scaled(last, first[0].factor)
        if name == "mul" and _is_number(last):
            return _scaled(first, last[0].factor)
        if name == "div" and _is_number(last):
            return _scaled(first, 1.0 / last[0].factor)
        if name in ("mul", "div", "inv"):
            a = _Term(1.0) if name == "inv" else self._term(first)
            b = self._term(last)
            if name == "mul":
                return (_Term(a.factor * b.factor, a.above + b.above, a.below + b.below),)
            return (_Term(a.factor / b.factor, a.above + b.below, a.below + b.above),)
        return self._function(name, arguments)

    def _function(self, name: str, arguments: Sequence[_Sum]) -> _Sum:
        """A function, with the factor of its first argument outside if the function allows it, else inside."""
        sign = {"exp": 1.0, "expneg": -1.0}.get(name)
        added = [term.factor for term in arguments[0] if term.is_number]
        if sign is not None and added and len(arguments[0]) > 1:
            # exp(u + c) is exp(c) exp(u)
            rest = tuple(term for term in arguments[0] if not term.is_number)
            factor = _within_range(arithmetic.exp(sign * added[0]))
            return (_Term(factor, (self._writer.apply(name, self._written(rest)),)),)
        inner = self._term(arguments[0])
        exponent = _POWERS.get(name)
        passed: float | None = None
        if exponent is not None:
            passed = _within_range(arithmetic.power(inner.factor, exponent))
        elif name == "abs":
            passed = abs(inner.factor)
        elif name == "sqrt" and inner.factor > 0.0:
            passed = math.sqrt(inner.factor)
        elif name == "pow" and inner.factor > 0.0 and _is_number(arguments[1]):
            passed = _within_range(arithmetic.power(inner.factor, arguments[1][0].factor))
        others = [self._written(argument) for argument in arguments[1:]]
        if passed is None or inner.is_number:
            return (_Term(1.0, (self._writer.apply(name, self._written(arguments[0]), *others),)),)
        bare = self._written_term(_Term(1.0, inner.above, inner.below))
        return (_Term(passed, (self._writer.apply(name, bare, *others),)),)

    def _term(self, terms: _Sum) -> _Term:
        """A sum as one term: the factor that leaves the shortest sum is taken out."""
        if len(terms) == 1:
            return terms[0]
        options = [
            (self._spread(_scaled(terms, 1.0 / factor)), factor) for factor in dict.fromkeys(t.factor for t in terms)
        ]
        part, factor = min(options, key=lambda option: len(option[0]))
        return _Term(factor, (part,))

    def _written(self, terms: _Sum) -> Row:
        if len(terms) == 1:
            return self._written_term(terms[0])
        return min(self._spread(terms), self._written_term(self._term(terms)), key=len)

    def _spread(self, terms: _Sum) -> Row:
        """Write a sum term by term: one with a plus sign first, a constant formula last."""
        order = sorted(terms, key=lambda term: (term.is_number, term.factor < 0.0))
        part = self._written_term(order[0])
        for term in order[1:]:
            if term.factor < 0.0 and self._writer.has("sub"):
                part = self._writer.apply("sub", part, self._written_term(term.times(-1.0)))
            else:
                part = self._writer.apply("add", part, self._written_term(term))
        return part

    def _written_term(self, term: _Term) -> Row:
        writer = self._writer
        if term.is_number:
            return writer.number(term.factor)
        if not term.below:
            return self._times(term.factor, writer.product(term.above))
        below = writer.product(term.below)
        if not writer.has("div"):
            return self._times(term.factor, writer.product([*term.above, writer.apply("inv", below)]))
        if not term.above:
            return writer.apply("div", writer.number(term.factor), below)
        return writer.apply("div", self._times(term.factor, writer.product(term.above)), below)

    def _times(self, factor: float, part: Row) -> Row:
        if factor == -1.0 and self._writer.has("neg"):
            return self._writer.apply("neg", part)
        return self._writer.scaled(factor, part)


def _is_number(terms: _Sum) -> bool:
    return len(terms) == 1 and terms[0].is_number


def _scaled(terms: _Sum, factor: float) -> _Sum:
    return tuple(term.times(factor) for term in terms)


def _merged(terms: _Sum) -> _Sum:
    """Add up the constant formulas of a sum, at its end; if they add up to 0, nothing is left of them."""
    others = tuple(term for term in terms if not term.is_number)
    number = math.fsum(term.factor for term in terms if term.is_number)
    return (*others, _Term(number)) if number != 0.0 or not others else others
