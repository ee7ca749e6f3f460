"""Assembly: formulas built from sub-expressions and closed-form blocks, with constants solved by least squares.

A context is a formula with a hole. Inverting the formula around the hole gives the desired values of the hole and the
weight of an error there (semantic backpropagation, Pawlak, Wieloch & Krawiec 2015; `completion/backsolve.py`). A hole
is filled with the nearest sub-expression, scaled and shifted, with a polynomial or with a rational function
(`polynomials.py`); the root is also filled with a sum of two sub-expressions. If the data show that the target is a sum
or a product of parts with separate variables (`structure/parts.py`), each part is assembled alone.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from symseed import arithmetic
from symseed.arrays import Floats
from symseed.assembly import polynomials
from symseed.assembly.blocks import Blocks
from symseed.assembly.features import Features
from symseed.assembly.holes import Context, Holes
from symseed.assembly.workbench import AssemblySettings, Table, Workbench
from symseed.completion import backsolve
from symseed.data import Dataset
from symseed.language import Row, Writer
from symseed.search.budget import IsLate, in_time, never
from symseed.structure.parts import Parts, Split

_AT_ONCE = 256
"""Contexts compared with all features in one matrix product: a bound on memory."""
_MOST_SPLITS = 3
"""Most splits of the target into a sum or product that are tried: each takes about a second."""
_SIDE_FEATURES = 600
"""Most features to begin with for one part of a sum or product: chosen by hand."""
_PER_CONTEXT = 3
"""Fillings of one context that are kept: further ones mostly differ by rounding."""


class Assembler:
    """Builds formulas for one dataset."""

    def __init__(
        self,
        writer: Writer,
        dataset: Dataset,
        settings: AssemblySettings,
        *,
        is_enlarged: bool = False,
        is_late: IsLate = never,
    ) -> None:
        """Compute the first features: more of them, and features of the target's parity, if `is_enlarged`.

        Once `is_late` returns true, the constructor and the methods skip the remaining work.
        """
        if is_enlarged:
            settings = replace(settings, features=settings.more_features)
        backsolver = backsolve.Backsolver.of(dataset, settings.samples)
        self._bench = Workbench(writer, dataset, backsolver, settings, is_late)
        self._holes, self._blocks = Holes(self._bench), Blocks(self._bench)
        self._parts = Parts(self._bench.data, writer.columns, is_late=is_late) if settings.probes else None
        self._features = Features(self._bench, self._parts if is_enlarged else None)

    def first(self) -> list[Row]:
        """Return formulas that need no search: blocks and matches in every small context."""
        contexts = self._holes.contexts(self._holes.frames())
        formulas = self._formulas(contexts)
        if (
            self._bench.settings.blocks
            and self._bench.writer.has("add", "mul", "div")
            and contexts
            and contexts[0].rest == 0
        ):
            rationals = sorted(self._blocks.rationals(contexts[0]), key=lambda pair: pair[0])
            formulas += [part for _, part in rationals[: self._bench.settings.matches]]
        return formulas

    def split(self, most: int = _MOST_SPLITS) -> list[Row]:
        """Return sums and products detected in the data, of parts that are assembled separately.

        Args:
            most: most splits that are tried.
        """
        found: dict[Row, float] = {}
        splits = [] if self._parts is None else self._parts.splits()[:most]
        for split in in_time(splits, self._bench.is_late):
            if self._bench.writer.has("mul" if split.is_product else "add"):
                found |= self._joined(split)
        return sorted(found, key=lambda row: found[row])[: self._bench.settings.matches]

    def _joined(self, split: Split) -> dict[Row, float]:
        """Formulas for both parts of a split, in pairs, with their approximate description lengths.

        They are the most exact ones of each size: parts hold each other's error, so the most exact ones of all describe
        that too.
        """
        name, join = ("mul", np.multiply) if split.is_product else ("add", np.add)
        own = [self._bench.writer.columns[place] for place in split.group]
        others = [column for column in self._bench.writer.columns if column not in own]
        first = self._side(own, split.first, split.first_weights)
        second = self._side(others, split.second, split.second_weights)
        values = join(first.values[:, None], second.values[None]).reshape(-1, len(self._bench.data))
        error = backsolve.plain_errors(self._bench.data.y[None], self._bench.data.weights[None], values)[0]
        sizes = np.add.outer([*map(len, first.rows)], [*map(len, second.rows)]).ravel()
        length = self._bench.length(error, sizes)
        out, least = {}, math.inf
        for flat in np.lexsort((error, sizes)):
            if error[flat] < least:
                i, j = divmod(int(flat), len(second.rows))
                out[self._bench.writer.apply(name, first.rows[i], second.rows[j])] = float(length[flat])
                least = float(error[flat])
        return out

    def next(self, best: Sequence[Row]) -> list[Row]:
        """Return formulas made from the best so far, by filling any hole in them and using their sub-expressions."""
        self._features.take(best)
        holes = [(part, begin) for part in best for begin in range(len(part))]
        holes += itertools.islice(self._holes.framed(holes), self._bench.settings.framed)
        return self._formulas(self._holes.contexts(holes))

    def polynomials(self) -> list[Row]:
        """Return polynomials of the variables, which are fast to compute."""
        root = self._holes.context(self._bench.writer.number(1.0), 0)
        return self._blocks.polynomials([root]) if root is not None and self._blocks.are_possible else []

    def _formulas(self, contexts: Sequence[Context]) -> list[Row]:
        kinds: tuple[Callable[[], list[Row]], ...] = (
            lambda: self._matches(contexts, self._features.known),
            lambda: self._matches(contexts, self._features.growths),
            self._pairs,
            lambda: self._blocks.in_best(contexts),
        )
        return list(dict.fromkeys(part for kind in in_time(kinds, self._bench.is_late) for part in kind()))

    def _matches(self, contexts: Sequence[Context], known: Table) -> list[Row]:
        """The formulas of shortest description, over all holes and all sub-expressions that may fill them."""
        if not known.rows:
            return []
        sizes = np.array([len(part) for part in known.rows])
        nearest: list[tuple[float, Context, int]] = []
        for begin in in_time(range(0, len(contexts), _AT_ONCE), self._bench.is_late):
            some = contexts[begin : begin + _AT_ONCE]
            desired = np.stack([context.desired for context in some])
            weights = np.stack([context.weight for context in some])
            rest = np.array([context.rest for context in some])
            length = self._bench.length(backsolve.affine_errors(desired, weights, known.values), rest[:, None] + sizes)
            for flat in _smallest(length, self._bench.settings.matches, per_row=_PER_CONTEXT):
                c, k = divmod(flat, len(sizes))
                nearest.append((float(length[c, k]), some[c], k))
        nearest.sort(key=lambda found: found[0])
        out = []
        for _, context, k in nearest[: self._bench.settings.matches]:
            offset, factor = backsolve.affine_fit(context.desired, context.weight, known.values[k])
            out.append(context.filled(self._affine(offset, factor, known.rows[k])))
        return out

    def _pairs(self) -> list[Row]:
        """Formulas a + b u + c v of two features u and v."""
        features = self._features
        if len(features.rows) < 2 or not self._bench.writer.has("add", "mul"):
            return []
        target, weights = self._bench.data.y, self._bench.data.weights
        # The newest features, and the shortest of the others.
        newest = np.arange(features.base, len(features.rows))[: self._bench.settings.paired // 2]
        chosen = np.concatenate(
            [np.arange(min(features.base or len(features.rows), self._bench.settings.paired)), newest]
        )
        values = features.values[chosen]
        sizes = np.array([len(features.rows[i]) for i in chosen])
        error = backsolve.pair_errors(target, weights, values)
        length = self._bench.length(error, sizes[:, None] + sizes)
        length[np.tril_indices(len(length))] = np.inf
        out = []
        for flat in _smallest(length, self._bench.settings.matches, per_row=_PER_CONTEXT):
            i, j = divmod(int(flat), len(chosen))
            root = np.sqrt(weights)
            design = np.stack([np.ones(len(target)), values[i], values[j]], axis=1)
            offset, first, second = arithmetic.least_squares(root[:, None] * design, root * target)
            both = self._bench.writer.apply(
                "add",
                self._affine(0.0, first, features.rows[chosen[i]]),
                self._affine(0.0, second, features.rows[chosen[j]]),
            )
            out.append(self._affine(offset, 1.0, both))
        return out

    def _affine(self, offset: float, factor: float, part: Row) -> Row:
        """The part scaled and shifted, if the library can write it; a factor of 1 and an offset of 0 are left out."""
        size = float(np.abs(self._bench.data.y).max()) or 1.0
        factor = 1.0 if abs(factor - 1.0) < 1e-9 or not self._bench.writer.has("mul") else float(factor)
        offset = 0.0 if abs(offset) < 1e-11 * size or not self._bench.writer.has("add") else float(offset)
        return self._bench.writer.affine(offset, factor, part)

    def _side(self, columns: Sequence[int], values: Floats, weights: Floats) -> Table:
        """Formulas of some variables for the desired values of one part of the target."""
        weights = weights * self._bench.data.weights
        usable = (np.abs(values) < polynomials.LARGEST_VALUE) & (weights > 0.0)
        if usable.sum() < 2 or np.ptp(values[usable]) == 0.0:
            return self._features.table([])
        data = self._bench.data.with_samples(self._bench.data.X[usable], values[usable], weights[usable])
        settings = replace(self._bench.settings, features=min(_SIDE_FEATURES, self._bench.settings.features))
        writer = self._bench.writer.of_columns(columns)
        side = Assembler(writer, data, settings, is_late=self._bench.is_late)
        return self._features.table(list(dict.fromkeys([*side.first(), *side.split(1)])))


def _smallest(table: Floats, count: int, *, per_row: int) -> list[int]:
    """Flat indices of the table's smallest values, at most `per_row` of each row, smallest first."""
    columns = arithmetic.smallest(table, min(per_row, table.shape[1]))
    values = np.take_along_axis(table, columns, axis=1)
    order = np.argsort(values, axis=None, kind="stable")[:count]
    flat = (np.arange(len(table))[:, None] * table.shape[1] + columns).ravel()
    return [int(flat[i]) for i in order if np.isfinite(values.ravel()[i])]
