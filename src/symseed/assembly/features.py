"""Features: short sub-expressions and their values, from which assembly builds formulas."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from symseed import arithmetic
from symseed.arrays import Floats
from symseed.assembly import polynomials, probes
from symseed.assembly.holes import MOST_VARIABLES
from symseed.assembly.workbench import Table, Workbench
from symseed.language import Row
from symseed.scoring import predict
from symseed.search.budget import in_time
from symseed.structure.parts import Parts

_LARGEST_SMALL = 9
"""Most tokens of a feature that is computed at the start: chosen by hand."""
_RATES = tuple(0.5 * 1.3**step for step in range(17))
"""Rates of growth and decay, per range of a variable: close enough together that fitting finds the rates between."""


class Features:
    """The features of one dataset: short sub-expressions, detected waves, growth, and parts of the best formulas."""

    def __init__(self, bench: Workbench, parts: Parts | None) -> None:
        """Compute the first features, and features of the target's parity if `parts` can tell it."""
        self._bench = bench
        self.rows: list[Row] = []
        self.values: Floats = np.empty((0, len(bench.data)))
        self.base = 0
        """Number of features at the start."""
        self._parts = parts
        sizes = self._small()
        self._add([*self._waves(), *(part for size in sizes for part in size)], bench.settings.features)
        self._add(self._of_parity(sizes), bench.settings.newer)
        self.base = len(self.rows)
        self.growths = self.table(self._growing())

    @property
    def known(self) -> Table:
        """All features."""
        return Table(self.rows, self.values)

    def take(self, best: Sequence[Row]) -> None:
        """Replace the features taken from earlier formulas by the sub-expressions of these."""
        self.rows, self.values = self.rows[: self.base], self.values[: self.base]
        pieces = {piece: None for part in best for piece in self._pieces(part)}
        newer = self._bench.settings.newer
        self._add(list(itertools.islice(pieces, newer)), newer)

    def _small(self) -> list[list[Row]]:
        """The shortest sub-expressions without constants, by size, one for each different set of values."""
        writer = self._bench.writer
        sizes: list[list[Row]] = [[], [writer.variable(column) for column in writer.columns]]
        seen: set[bytes] = set()
        count = 0
        while count < self._bench.settings.features and len(sizes) <= _LARGEST_SMALL and not self._bench.is_late():
            grown = itertools.islice(self._of_size(sizes), 20 * self._bench.settings.features)
            parts = list(grown) if len(sizes) > 2 else [*sizes[1], *grown]
            values = predict(writer.population(parts), self._bench.data).value if parts else np.empty((0, 1))
            scale = np.abs(values).max(axis=1, initial=0.0)
            usable = np.flatnonzero(np.isfinite(scale) & (scale > 0.0) & (scale < polynomials.LARGEST_VALUE))
            shapes = np.round(values[usable] / scale[usable, None], 10)
            scales = np.round(arithmetic.log(scale[usable]), 9)
            fresh = []
            for i, row, size in zip(usable, shapes, scales, strict=True):
                shape = row.tobytes() + size.tobytes()
                if shape not in seen:
                    seen.add(shape)
                    fresh.append(parts[i])
            if len(sizes) == 2:
                sizes[1] = [part for part in fresh if len(part) == 1]
                fresh = [part for part in fresh if len(part) > 1]
            sizes.append(fresh)
            count += len(fresh)
        return sizes

    def _of_parity(self, sizes: list[list[Row]]) -> list[Row]:
        """Sub-expressions one token longer that have the target's parities, if the target has any."""
        if self._parts is None:
            return []
        parities = {column: self._parts.parity(place) for place, column in enumerate(self._bench.writer.columns)}
        parities = {column: parity for column, parity in parities.items() if parity}
        if not parities:
            return []
        # An operator over even or odd parts is mostly even or odd itself.
        even_or_odd = [self._with_parities(parts, dict.fromkeys(parities, (1, -1))) for parts in sizes]
        longer = list(itertools.islice(self._of_size(even_or_odd), 10 * self._bench.settings.newer))
        return self._with_parities(longer, {column: (parity,) for column, parity in parities.items()})

    def _with_parities(self, parts: list[Row], parities: Mapping[int, tuple[int, ...]]) -> list[Row]:
        """The parts that have, in each given variable, one of the parities given for it."""
        for column, options in parities.items():
            if not parts:
                break
            mirrored = self._bench.data.X.copy()
            mirrored[:, column] *= -1.0
            population = self._bench.writer.population(parts)
            here, there = (
                predict(population, data).value
                for data in (self._bench.data, self._bench.data.with_samples(mirrored, self._bench.data.y))
            )
            with np.errstate(all="ignore"):
                limit = 1e-9 * np.abs(here).max(axis=1)
                has = np.any([np.abs(here - sign * there).max(axis=1) <= limit for sign in options], axis=0)
            parts = [part for part, is_kept in zip(parts, has, strict=True) if is_kept]
        return parts

    def _of_size(self, sizes: list[list[Row]]) -> Iterator[Row]:
        """Every operator over known parts, for a total of as many tokens as there are sizes."""
        writer, total = self._bench.writer, len(sizes)
        for name in writer.operators(1):
            for part in sizes[total - 1]:
                yield writer.apply(name, part)
        for name in writer.operators(2):
            is_symmetric = name in ("add", "mul", "min", "max", "hypot")
            for left in range(1, total - 1):
                if is_symmetric and left > total - 1 - left:
                    continue
                for a, b in itertools.product(sizes[left], sizes[total - 1 - left]):
                    if not (is_symmetric and left == total - 1 - left and b.ids < a.ids):
                        yield writer.apply(name, a, b)

    def _waves(self) -> list[Row]:
        """Sines and cosines of each variable at the frequencies found in the data, and products of two."""
        writer = self._bench.writer
        names = [name for name in ("sin", "cos") if writer.has(name, "mul")]
        if not (names and self._bench.settings.probes):
            return []
        columns = writer.columns[:MOST_VARIABLES]
        own = {
            column: probes.frequencies(self._bench.whole, column) for column in in_time(columns, self._bench.is_late)
        }
        columns, seen = list(own), {}
        for column in in_time(columns, self._bench.is_late):
            carriers = [(other, own[other][0]) for other in columns if other != column and own[other]]
            seen[column] = probes.frequencies(self._bench.whole, column, carriers=carriers) if carriers else own[column]
        single: list[list[Row]] = []
        for column, found in seen.items():
            inner = [writer.apply("mul", writer.number(frequency), writer.variable(column)) for frequency in found]
            single.append([writer.apply(name, part) for part in inner for name in names])
        pairs = itertools.combinations(single, 2)
        products = [writer.apply("mul", a, b) for left, right in pairs for a in left for b in right]
        return [part for waves in single for part in waves] + products[: self._bench.settings.features // 2]

    def _growing(self) -> list[Row]:
        """Growth and decay of each variable at the rates `_RATES`."""
        writer = self._bench.writer
        if not writer.has("exp", "mul"):
            return []
        spans = [(column, float(np.ptp(self._bench.data.X[:, column]))) for column in writer.columns[:MOST_VARIABLES]]
        return [
            writer.apply("exp", writer.apply("mul", writer.number(sign * rate / span), writer.variable(column)))
            for (column, span), rate, sign in itertools.product(spans, _RATES, (-1.0, 1.0))
            if span > 0.0
        ]

    def table(self, parts: Sequence[Row]) -> Table:
        """The sub-expressions whose values are finite and whose squares do not overflow, with these values."""
        if not parts:
            return Table([], np.empty((0, len(self._bench.data))))
        values = predict(self._bench.writer.population(parts), self._bench.data).value
        kept = [i for i, row in enumerate(values) if (np.abs(row) < polynomials.LARGEST_VALUE).all()]
        return Table([parts[i] for i in kept], values[kept])

    def _pieces(self, part: Row) -> Iterator[Row]:
        for begin in range(len(part)):
            end = self._bench.writer.library.end(part.ids, begin)
            if end - begin > 1:
                yield part.part(begin, end)

    def _add(self, parts: Sequence[Row], most: int) -> None:
        """Add sub-expressions whose values are finite and not a scaled and shifted copy of known values."""
        if not parts:
            return
        values = predict(self._bench.writer.population(parts), self._bench.data).value
        values = np.where(np.abs(values) < polynomials.LARGEST_VALUE, values, np.nan)
        with np.errstate(all="ignore"):
            centred = values - values.mean(axis=1)[:, None]
            centred = centred / arithmetic.norms(centred, axis=1)[:, None]
            spread = np.ptp(values, axis=1) / np.abs(values).max(axis=1)
        seen = set(self._shapes(self._normalised()))
        kept: list[int] = []
        usable = np.flatnonzero(np.isfinite(centred).all(axis=1) & (spread > 1e-9))
        for i, shape in zip(usable, self._shapes(centred[usable]), strict=True):
            if shape not in seen and len(kept) < most:
                seen.add(shape)
                kept.append(int(i))
        self.rows = self.rows + [parts[i] for i in kept]
        self.values = np.concatenate([self.values, values[kept]])

    def _normalised(self) -> Floats:
        centred = self.values - self.values.mean(axis=1)[:, None]
        return np.asarray(centred / arithmetic.norms(centred, axis=1)[:, None]) if len(centred) else centred

    @staticmethod
    def _shapes(rows: Floats) -> list[bytes]:
        """Bytes that are equal for rows that are equal up to a sign."""
        if not len(rows):
            return []
        largest = np.take_along_axis(rows, np.abs(rows).argmax(axis=1)[:, None], axis=1)
        return [row.tobytes() for row in np.round(rows * np.sign(largest), 8)]
