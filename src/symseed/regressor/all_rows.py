"""All samples of a large table: if a search used a part of them, constants are fitted and formulas judged on all."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace

import numpy as np

from symseed.assembly.simplify import frozen, reduced, simplified
from symseed.data.chunks import ArrayChunks, Chunks
from symseed.language import Expression, Library, Row, Writer
from symseed.language.tokens import TokenKind
from symseed.regressor import threads
from symseed.regressor.prepare import Prepared
from symseed.scoring import simple_numbers
from symseed.scoring.all_samples import AllSamples
from symseed.scoring.description import description_lengths
from symseed.search.budget import IsLate
from symseed.tables.large import TableChunks

_FEW = 500
"""Number of samples that show which tokens of a formula have no effect, as in a search: chosen by hand."""
_STEPS = 20
"""Most passes over all samples that fit a formula: chosen by hand. The constants fit a part of the samples already, so
that three or four are usual."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A formula on all samples, in the user's units."""

    row: Row
    loss: float
    """The mean loss, as the user weighs the samples; NaN if it has no value at some sample."""
    mean: float
    """The mean of the losses by which it was fitted."""
    description: float
    """The description length of the formula and of all samples."""


@dataclass(frozen=True, slots=True)
class AllRows:
    """All samples of a target, with the columns that some formulas use, in the user's units."""

    writer: Writer
    """Writes the same rows as the search's writer, over these columns."""
    samples: AllSamples

    @classmethod
    def of(cls, prepared: Prepared, rows: Sequence[Row], executor: Executor | None = None) -> AllRows:
        """Take the columns that the formulas `rows` of the search's library use.

        Args:
            executor: has the workers that read a large table; None: this process does.

        Raises:
            DataError: if a large table cannot be read any more.
        """
        library = prepared.writer.library
        ids = sorted({i for row in rows for i in row.ids if library[i].kind is TokenKind.VARIABLE})
        places = {i: place for place, i in enumerate(ids)}
        own = [library[i].column for i in ids] or [0]
        tokens = [
            replace(token, column=places.get(i, 0)) if token.kind is TokenKind.VARIABLE else token
            for i, token in enumerate(library.tokens)
        ]
        used = tuple(prepared.columns[column] for column in own)
        chunks = _chunks(prepared, used, executor)
        data = prepared.data
        few = data.take(np.arange(_FEW) * len(data) // _FEW) if len(data) > _FEW else data
        few = few.with_samples(few.X[:, own], few.y, few.weights, chunks.names).with_loss(data.loss)
        return cls(Writer(Library(tuple(tokens))), AllSamples(chunks, few, data.ruler))

    def fitted(self, rows: Sequence[Row], is_late: IsLate) -> list[Row]:
        """Return formulas with their constants fitted, and with simple numbers only if all samples allow them."""
        kept = self._converged(rows, is_late, is_free=False)
        # Simple numbers that fit the search's samples may be wrong for all samples.
        freed = self._converged(kept, is_late, is_free=True)
        if is_late():
            return kept
        lengths = description_lengths(self.writer.population([*kept, *freed]), self.samples)
        return [
            pair[int(own[1] < own[0])]
            for pair, own in zip(zip(kept, freed, strict=True), lengths.reshape(2, -1).T.tolist(), strict=True)
        ]

    def simplified(self, row: Row, is_late: IsLate) -> Row:
        """Return a fitted formula with simple numbers where that shortens its description on all samples."""
        simple = simplified(self.writer, row, self.samples, few=self.samples.few, is_late=is_late)
        (fitted,) = self._converged([simple], is_late, is_free=False)
        lengths = description_lengths(self.writer.population([row, fitted]), self.samples)
        return fitted if lengths[1] < lengths[0] else row

    def judged(self, rows: Sequence[Row]) -> list[Judged]:
        """Judge formulas."""
        found = self.samples.judged([Expression(self.writer.library, row) for row in rows])
        lengths = description_lengths(self.writer.population(rows), self.samples)
        return [
            Judged(row, own.given, own.fitted, length)
            for row, own, length in zip(rows, found, lengths.tolist(), strict=True)
        ]

    def _converged(self, rows: Sequence[Row], is_late: IsLate, *, is_free: bool) -> list[Row]:
        """Formulas fitted, simple numbers too if `is_free`, and without tokens that have no effect."""
        if is_late():
            return list(rows)
        free = [self._places(row, is_free=is_free) for row in rows]
        begun = [frozen(self.writer, *pair)[0] for pair in zip(rows, free, strict=True)]
        fitted = self.samples.fitted(begun, iterations=_STEPS, is_late=is_late)
        out = []
        for row, places, one in zip(rows, free, fitted, strict=True):
            for place in places:
                row = row.with_constant(place, one.row.constants[place])
            out.append(reduced(self.writer, row, self.samples.few))
        return out

    def _places(self, row: Row, *, is_free: bool) -> list[int]:
        """The places of the constants to fit."""
        places = self.writer.library.constant_places(row.ids)
        return [place for place in places if is_free or simple_numbers.cost(row.constants[place]) is None]


def _chunks(prepared: Prepared, columns: tuple[int, ...], executor: Executor | None) -> Chunks:
    """All samples, with some columns of the whole table."""
    jobs = threads.count(prepared.plan.jobs, len(prepared.all), constants=True)
    given, data, table, curve = prepared.all.given, prepared.all.data, prepared.all.large, prepared.all.curve
    if table is None:
        return ArrayChunks(data, given, columns, jobs)
    names = tuple(table.roles.inputs[column] for column in columns)
    chunks = TableChunks(table, names, data.loss, given.loss, jobs, executor)
    if table.roles.errors is not None:
        return chunks.weighed_by(None)
    used = list(prepared.columns)
    return chunks if curve is None else chunks.weighed_by(lambda X: curve.deviations(X[:, used]))
