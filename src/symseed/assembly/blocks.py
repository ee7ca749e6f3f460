"""Holes filled with polynomials and rational functions solved by linear algebra (`polynomials.py`)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np

from symseed import arithmetic
from symseed.assembly import polynomials
from symseed.assembly.holes import Context
from symseed.assembly.polynomials import Polynomial
from symseed.assembly.workbench import Workbench
from symseed.language import Row
from symseed.scoring.description import description_lengths
from symseed.search.budget import in_time

_PATIENCE = 6
"""Degrees in a row that explain the data no better, after which no higher one is tried: even and odd functions have
every second one only. Chosen by hand."""
_BETTER = 0.5 * arithmetic.log(2.0)
"""Nats a sample by which an error must fall to be better, here by half: it always falls a little. Chosen by hand."""
_WITHIN = 3
"""Highest sum of the degrees of a rational function within other operators: chosen by hand, a bound on time."""
_COMPARED = 12
"""Highest degree of the polynomials by which holes are compared: chosen by hand, a bound on time."""


class Blocks:
    """Fills holes with polynomials and rational functions."""

    def __init__(self, bench: Workbench) -> None:
        self._bench = bench

    def in_best(self, contexts: Sequence[Context]) -> list[Row]:
        """Polynomials and small rational functions in the holes where polynomials describe the data best."""
        if not self.are_possible:
            return []
        return self.polynomials(self._promising(contexts), are_quotients_tried=self._bench.writer.has("div"))

    @property
    def are_possible(self) -> bool:
        """Whether polynomials are enabled, and the library can write them."""
        return self._bench.settings.blocks and self._bench.writer.has("add", "mul")

    def polynomials(self, contexts: Sequence[Context], *, are_quotients_tried: bool = False) -> list[Row]:
        """Polynomials of rising degrees in some holes, and quotients of small ones, shortest description first."""
        X = self._bench.inputs
        found: dict[Row, None] = {}
        for context in contexts:
            progress = _Progress()
            for degree in polynomials.degrees(X.shape[1], len(X)):
                solved = polynomials.polynomial(self._bench.writer, X, context.desired, context.weight, degree)
                if solved is not None:
                    found[context.filled(polynomials.written(self._bench.writer, solved[0]))] = None
                if progress.has_ended(math.inf if solved is None else solved[1]):
                    break
            # A formula that is a rational function as a whole has its own turn (`rationals` of the empty context).
            if are_quotients_tried and context.rest > 0:
                found |= dict.fromkeys(row for _, row in self.rationals(context, _WITHIN))
        # Whole formulas are compared, because the error of a block alone is in the units of its hole.
        parts = list(found)
        if not parts:
            return []
        lengths = description_lengths(self._bench.writer.population(parts), self._bench.data)
        return [parts[i] for i in np.argsort(lengths, kind="stable")[: self._bench.settings.matches]]

    def _promising(self, contexts: Sequence[Context]) -> list[Context]:
        """The contexts in which a polynomial of some degree describes the data best."""
        X = self._bench.inputs
        options = list(itertools.islice(polynomials.degrees(X.shape[1], len(X)), _COMPARED))
        if not options:
            return []
        exponents = polynomials.monomials(X.shape[1], options[-1])
        design = polynomials.design(X, exponents)
        if not np.abs(design).max() < polynomials.LARGEST_VALUE:
            return []
        # Half the cost of all terms: many terms of a useful polynomial are 0 or have a factor of 1.
        prices = 0.5 * np.cumsum([polynomials.token_cost(self._bench.writer, powers) for powers in exponents])
        # For each degree, the index of its last monomial.
        last = [max(i for i, powers in enumerate(exponents) if sum(powers) <= degree) for degree in options]
        lengths = []
        for context in in_time(contexts, self._bench.is_late):
            root = np.sqrt(context.weight)
            matrix, goal = root[:, None] * design, root * context.desired
            with np.errstate(over="ignore"):
                errors = arithmetic.leading_errors(matrix / (arithmetic.norms(matrix, axis=0) + 1e-300), goal)
            length = self._bench.length(errors[last], np.float64(context.rest)) + prices[last]
            lengths.append(float(np.min(length)))
        return [contexts[i] for i in np.argsort(lengths, kind="stable")[: self._bench.settings.promising]]

    def rationals(self, context: Context, most: float = math.inf) -> list[tuple[float, Row]]:
        """Return rational functions in a hole, each with its approximate description length.

        The sums of their degrees rise from 2 to `most`, or until they explain the data no better. The most exact one
        of each sum returns with fewer terms too.
        """
        writer, inputs, data = self._bench.writer, self._bench.inputs, self._bench.data
        found: list[tuple[Polynomial, Polynomial, float]] = []
        progress = _Progress(_BETTER * len(data))
        for pairs in polynomials.rational_degrees(inputs.shape[1], len(data)):
            dense = []
            for degree, below in in_time(pairs, self._bench.is_late):
                solved = polynomials.rational(inputs, context.desired, context.weight, degree, below)
                if solved is not None and solved[0].exponents and solved[1].exponents:
                    dense.append(solved)
            found += dense
            best = min(dense, key=lambda solved: solved[2], default=None)
            if best is not None and not self._bench.is_late():
                sparse = polynomials.sparse_rational(writer, inputs, context.desired, context.weight, *best[:2])
                found += [] if sparse is None or not sparse[0].exponents else [sparse]
            nats = math.inf if best is None else float(self._bench.length(np.float64(best[2]), np.float64(0.0)))
            if progress.has_ended(nats) or sum(pairs[0]) >= most:
                break
        return [self._quotient(context, *solved) for solved in found]

    def _quotient(self, context: Context, above: Polynomial, under: Polynomial, error: float) -> tuple[float, Row]:
        """A quotient in a hole, and its approximate description length, given its weighted squared error."""
        row = context.filled(polynomials.written_quotient(self._bench.writer, above, under))
        terms = len(above.exponents) + len(under.exponents)
        return float(self._bench.length(np.float64(error), np.float64(len(row) + terms))), row


class _Progress:
    """The best of blocks of rising degrees, in nats, and how long ago it was."""

    def __init__(self, least: float = 0.0) -> None:
        """Take the nats that a better block must gain."""
        self._best, self._least, self._since = math.inf, least, 0

    def has_ended(self, nats: float) -> bool:
        """Take the next degree; return whether none of the last few was better than one before them."""
        if nats < self._best - self._least:
            self._best, self._since = nats, 0
        else:
            self._since += 1
        return self._since >= _PATIENCE
