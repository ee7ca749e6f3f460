"""Stability of a result: what would have been selected, and with which constants, if other samples had been drawn.

The samples are drawn again with replacement, as many as there are (the bootstrap, Efron & Tibshirani 1993, "An
Introduction to the Bootstrap"). Each time, either the known formulas are fitted and one of them is selected again, or
a whole search is repeated.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from symseed.arrays import Floats
from symseed.assembly.simplify import converged, freely_fitted
from symseed.data import Dataset
from symseed.errors import DataError, check_at_least, check_between
from symseed.export import to_mathml, to_text
from symseed.language import Expression, Row, TokenKind, Writer
from symseed.portfolio.pool import Formula, judged
from symseed.regressor.front import Candidate, Equation, EquationFront
from symseed.regressor.prepare import distinct
from symseed.scoring import FoldLoss, cross_validated, evidence, forms, shortest
from symseed.search import StopReason, Stream, derived
from symseed.text import for_html, percent

_STEPS = 50
"""Iterations of a fit of constants, which begins from those for the original samples: chosen by hand."""

Search = Callable[[Dataset, int], Expression]
"""Searches some samples with a seed, and returns the selected formula."""


@dataclass(frozen=True, slots=True)
class Times:
    """A formula, and how often it was selected."""

    text: str
    """The formula as people read it, with its constants for the original samples."""
    expression: Expression
    count: int
    constants: pd.DataFrame
    """A row for each constant: `value` for the original samples, and `low`, `median` and `high`: the middle 95 % of the
    resamples at which it was fitted."""


@dataclass(frozen=True, eq=False, slots=True)
class Stability:
    """What was selected from resampled data."""

    formulas: tuple[Times, ...]
    """The formulas that were selected at least once, the most frequent first."""
    selected: tuple[Expression, ...]
    """The formula that was selected each time, with its constants then."""
    is_searched: bool
    """Whether each time was a whole search."""

    @property
    def frame(self) -> pd.DataFrame:
        """The formulas and the share of the times that each was selected."""
        total = len(self.selected)
        return pd.DataFrame(
            {
                "selected": [item.count / total for item in self.formulas],
                "equation": [item.text for item in self.formulas],
            }
        )

    def predict_interval(self, X: Floats, level: float = 0.95) -> tuple[Floats, Floats]:
        """Return the middle share of the values of the selected formulas at each row of X, (M,) each.

        It holds the value of the law, not a new measurement: the noise is not in it.

        Args:
            X: (M, V) numbers, the columns in the order of the fit.
            level: the share.
        """
        check_between("level", level, 0.0, 1.0)
        values = np.stack([expression.evaluate(np.asarray(X, dtype=np.float64)) for expression in self.selected])
        low, high = np.nanquantile(values, [0.5 - 0.5 * level, 0.5 + 0.5 * level], axis=0)
        return low, high

    def __str__(self) -> str:
        """Return the formulas with their shares, and the spread of the constants of the most frequent."""
        total = len(self.selected)
        what = "whole searches" if self.is_searched else "resamples"
        lines = [f"Selected in {total} {what} of the rows:"]
        lines += [f"{percent_of(item.count, total):>6}  {item.text}" for item in self.formulas]
        first = self.formulas[0]
        if len(first.constants):
            lines.append(f"Constants of {first.text}, and the middle 95 % of the times it was fitted:")
            lines += [
                f"  {row.value:.6g}  from {row.low:.6g} to {row.high:.6g}"
                for row in first.constants.itertuples(index=False)
            ]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """Show the formulas typeset in notebooks."""
        total = len(self.selected)
        rows = "".join(
            f"<tr><td>{for_html(percent_of(item.count, total))}</td><td>{to_mathml(item.expression)}</td></tr>"
            for item in self.formulas
        )
        what = "whole searches" if self.is_searched else "resamples"
        return f'<p>Selected in {total} {what} of the rows:</p><table cellpadding="5">{rows}</table>'


def percent_of(count: int, total: int) -> str:
    """Return a share as percent; all and none are exact."""
    return "100 %" if count == total else percent(count / total)


def refitted(known: Sequence[Equation], data: Dataset, *, rule: str, times: int, seed: int) -> Stability:
    """Fit known formulas to resampled data, and select one of them each time by a rule of `model_selection`."""
    check_at_least("n", times, 1)
    fits: list[list[_Fit | None]] = []
    chosen: list[int] = []
    for sample, own in _resamples(data, times, seed):
        found = [_fitted(item.expression, sample) for item in known]
        if all(fit is None for fit in found):
            raise DataError("No formula has a value at some resampled rows. Fit more rows.")
        chosen.append(_selected(found, sample, rule, own))
        fits.append(found)
    formulas = []
    for place, item in enumerate(known):
        free = [row[place] for row in fits]
        spread = _spread(item.expression, [fit.free for fit in free if fit is not None])
        formulas.append(Times(item.text, item.expression, chosen.count(place), spread))
    selected = [row[place] for row, place in zip(fits, chosen, strict=True)]
    return _result(formulas, [item.formula.expression for item in selected if item is not None], is_searched=False)


def searched(first: Expression, data: Dataset, search: Search, *, times: int, seed: int) -> Stability:
    """Search resampled data; formulas count as the same if they agree on the original data, once they are fitted.

    Args:
        first: the formula that was selected for the original data.
    """
    check_at_least("n", times, 1)
    selected = [search(sample, own) for sample, own in _resamples(data, times, seed)]
    numbers = _forms([first, *selected], data)
    formulas = []
    for form in dict.fromkeys(numbers):
        own = [item for item, number in zip(selected, numbers[1:], strict=True) if number == form]
        if own:
            shown = first if form == numbers[0] else own[0]
            same = [item for item in own if item.row.ids == shown.row.ids]
            formulas.append(Times(to_text(shown, data), shown, len(own), _spread(shown, same)))
    return _result(formulas, selected, is_searched=True)


def _resamples(data: Dataset, times: int, seed: int) -> list[tuple[Dataset, int]]:
    """Samples drawn with replacement, each with a seed of its own."""
    out = []
    for index in range(times):
        own = derived(seed, Stream.RESAMPLE, index + 1)
        rows = np.sort(np.random.default_rng(own).integers(len(data), size=len(data)))
        out.append((data.take(rows), own % 2**32))
    return out


@dataclass(frozen=True, slots=True)
class _Fit:
    """A formula fitted to samples."""

    formula: Formula
    """With its simple numbers, or without if that is shorter."""
    free: Expression
    """With all its constants fitted."""


def _fitted(expression: Expression, sample: Dataset) -> _Fit | None:
    """A formula fitted to samples; None if it has no value there."""
    if TokenKind.CONSTANT not in {token.kind for token in expression.library.tokens}:
        forms_of = [expression.row]
        writer = Writer(expression.library.with_constant())
    else:
        writer = Writer(expression.library)
        kept = converged(writer, expression.row, sample, iterations=_STEPS)
        forms_of = [
            _same_tokens(kept, expression.row),
            freely_fitted(writer, expression.row, sample, iterations=_STEPS),
        ]
    found = judged(writer, forms_of, sample)
    if not found:
        return None
    best = min(found, key=lambda item: item.description)
    return _Fit(best, Expression(writer.library, forms_of[-1]))


def _selected(found: Sequence[_Fit | None], sample: Dataset, rule: str, seed: int) -> int:
    """The place of the formula that a rule selects from those that were fitted to some samples."""
    formulas = [None if fit is None else fit.formula for fit in found]
    if rule == "best":  # it needs no front, whose formulas are written out
        lengths = [np.inf if formula is None else formula.description for formula in formulas]
        return shortest(lengths, [1.0 if formula is None else evidence(formula.expression) for formula in formulas])
    candidates = [Candidate(formula, formula.mean_square) for formula in formulas if formula is not None]
    front = EquationFront.of(
        candidates,
        StopReason.EXPRESSIONS,
        data=sample,
        samples=len(sample),
        rows=len(sample),
        rounding=sample.rounding,
    )
    if rule == "cv":
        front = front.cross_validated(_left_out(front, sample, seed))
    return formulas.index(front.equations[front.choice(rule)].formula)


def _left_out(front: EquationFront, sample: Dataset, seed: int) -> list[FoldLoss]:
    """The loss of each formula of a front on samples left out; a sample that was drawn twice is in one part."""
    data = distinct(sample.counted()).with_loss(sample.loss)
    losses = []
    for expression in (item.expression for item in front.equations):
        found = cross_validated(Writer(expression.library), [expression.row], data, seed=seed, is_late=lambda: False)
        losses += [FoldLoss(np.nan, np.nan)] if found is None else found
    return losses


def _same_tokens(row: Row, given: Row) -> Row:
    """A fitted row, or the row as it was given if the fit removed tokens without effect."""
    return row if row.ids == given.ids else given


def _spread(expression: Expression, fits: Sequence[Expression]) -> pd.DataFrame:
    """The constants of a formula, and how they spread over fits to resampled data."""
    places = expression.constant_places
    table = np.array([[fit.constants[place] for place in places] for fit in fits]).reshape(len(fits), len(places))
    low, middle, high = (
        np.quantile(table, level, axis=0) if table.size else np.full(len(places), np.nan)
        for level in (0.025, 0.5, 0.975)
    )
    values = [expression.constants[place] for place in places]
    return pd.DataFrame({"value": values, "low": low, "median": middle, "high": high})


def _forms(expressions: Sequence[Expression], data: Dataset) -> list[int]:
    """Number the forms of formulas; those over other tokens, because other columns were selected, are forms of text."""
    if functools.reduce(lambda same, item: same and item.library == expressions[0].library, expressions, True):
        return forms(expressions, data)
    texts = [to_text(item) for item in expressions]
    return [texts.index(text) for text in texts]


def _result(formulas: Sequence[Times], selected: Sequence[Expression], *, is_searched: bool) -> Stability:
    kept = sorted((item for item in formulas if item.count), key=lambda item: -item.count)
    return Stability(tuple(kept), tuple(selected), is_searched)
