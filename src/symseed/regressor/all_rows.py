"""All samples of a large table: if a search used a part of them, constants are fitted and formulas judged on all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from symseed.arrays import Floats
from symseed.assembly.simplify import converged, freely_fitted, simplified
from symseed.data import Dataset
from symseed.language import Expression, Library, Row, Writer
from symseed.language.tokens import TokenKind
from symseed.regressor.prepare import Prepared
from symseed.scoring.description import description_lengths
from symseed.search.budget import IsLate

_FEW = 500
"""Number of samples that show which tokens of a formula have no effect, as in a search: chosen by hand."""
_STEPS = 5
"""Iterations of a fit between two checks of the time: each takes up to 0.1 s on a million samples."""


@dataclass(frozen=True, slots=True)
class AllRows:
    """All samples of a target, with the columns that some formulas use, in the user's units."""

    writer: Writer
    """Writes the same rows as the search's writer, over these columns."""
    X: Floats
    """The columns at all samples, (M, V)."""
    data: Dataset
    """The different samples of positive weight."""
    few: Dataset

    @classmethod
    def of(cls, prepared: Prepared, rows: Sequence[Row]) -> AllRows:
        """Take the columns that the formulas `rows` of the search's library use."""
        library = prepared.writer.library
        ids = sorted({i for row in rows for i in row.ids if library[i].kind is TokenKind.VARIABLE})
        places = {i: place for place, i in enumerate(ids)}
        used = [prepared.columns[library[i].column] for i in ids] or [prepared.columns[0]]
        tokens = [
            replace(token, column=places.get(i, 0)) if token.kind is TokenKind.VARIABLE else token
            for i, token in enumerate(library.tokens)
        ]
        whole = prepared.whole
        X, names = whole.X[:, used], [whole.names[column] for column in used]
        first, weights = distinct(whole)
        data = whole.with_samples(X if len(first) == len(X) else X[first], whole.y[first], weights, names)
        few = data.take(np.arange(_FEW) * len(data) // _FEW) if len(data) > _FEW else data
        return cls(Writer(Library(tuple(tokens))), X, data.with_loss(whole.loss), few.with_loss(whole.loss))

    def fitted(self, row: Row, *, is_thorough: bool, is_late: IsLate) -> Row:
        """Return a formula with its constants fitted, and with simple numbers only if all samples allow them.

        Args:
            is_thorough: whether other simple numbers are tried too, which takes seconds on a million samples.
        """
        kept = self._converged(row, is_late)
        if is_late():
            return kept
        # Simple numbers that fit the search's samples may be wrong for all samples.
        freed = self._converged(freely_fitted(self.writer, kept, self.data, iterations=_STEPS), is_late)
        forms = [kept, freed]
        if is_thorough and not is_late():
            simple = simplified(self.writer, freed, self.data, few=self.few, is_late=is_late)
            forms.append(self._converged(simple, is_late))
        lengths = description_lengths(self.writer.population(forms), self.data)
        return forms[int(np.argmin(lengths))]

    def predicted(self, row: Row) -> Floats:
        """Return the values of a formula at all samples, NaN where it has no value."""
        return Expression(self.writer.library, row).evaluate(self.X)

    def description(self, row: Row) -> float:
        """Return the description length of a formula and of all samples."""
        return float(description_lengths(self.writer.population([row]), self.data)[0])

    def _converged(self, row: Row, is_late: IsLate) -> Row:
        return converged(self.writer, row, self.data, few=self.few, iterations=_STEPS, is_late=is_late)


def distinct(dataset: Dataset) -> tuple[npt.NDArray[np.intp], Floats]:
    """Return the index of one sample of each group of equal samples of positive weight, and the groups' weights."""
    rows = np.flatnonzero(dataset.weights > 0.0)
    if (np.diff(np.sort(dataset.y[rows])) > 0.0).all():  # the common case
        return rows, dataset.weights[rows]
    label = np.unique(dataset.y[rows], return_inverse=True)[1]
    for column in range(dataset.X.shape[1]):
        # Only samples that are equal so far are compared further: few real numbers are equal.
        tied = np.flatnonzero(np.bincount(label)[label] > 1)
        if len(tied) == 0:
            break
        values = dataset.X[rows[tied], column]
        order = np.lexsort((values, label[tied]))
        label_, values = label[tied][order], values[order]
        is_new = np.r_[True, (label_[1:] != label_[:-1]) | (values[1:] != values[:-1])]
        label[tied[order]] = label.max() + np.cumsum(is_new)
        label = np.unique(label, return_inverse=True)[1]
    _, first, place = np.unique(label, return_index=True, return_inverse=True)
    weights = np.bincount(place, dataset.weights[rows])
    order = np.argsort(first, kind="stable")
    return rows[first[order]], np.asarray(weights[order], dtype=np.float64)
