"""Assembly: formulas put together from sub-expressions and closed-form blocks, with constants that are solved for.

A context is a formula with a hole. What should fill the hole is known by inverting the formula around it, and so is
how much an error there matters (`completion/backsolve.py`). Holes are filled with the nearest sub-expression, scaled
and shifted, with a polynomial or with a rational function (`polynomials.py`); a sum of two fills the root.
Where the data show that the target is a sum or a product of parts with variables of their own (`probes.py`), each part
is put together by itself.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from symseed import arithmetic
from symseed.arrays import Floats
from symseed.assembly import polynomials, probes
from symseed.completion import backsolve
from symseed.data.dataset import Dataset
from symseed.errors import SettingsError
from symseed.language.row import Row
from symseed.language.writer import Writer
from symseed.scoring.description import description_lengths
from symseed.scoring.evaluation import predict
from symseed.search.budget import IsLate, in_time, never

_LARGEST_SMALL = 9
"""Tokens of the largest sub-expression that is known from the start."""
_AT_ONCE = 256
"""Contexts that meet all sub-expressions together: a matter of memory."""
_RATES = tuple(0.5 * arithmetic.power(1.3, float(step)) for step in range(17))
"""Of growth and decay, over a variable's range."""
_MOST_STRUCTURED = 6
"""Variables up to which parities, sums and products are looked for."""
_MOST_SPLITS = 3
"""Ways of writing the target as a sum or product that are tried: each takes about a second."""
_SIDE = 600
"""Sub-expressions that a part of a sum or product is begun with."""


@dataclass(frozen=True, slots=True)
class AssemblySettings:
    """How much is tried at a time."""

    features: int = 2_000
    """Small sub-expressions that are known from the start, shortest first."""
    more_features: int = 12_000
    """How many there are once the first have not sufficed."""
    paired: int = 1_200
    """How many of them, and of newer ones, are tried in sums of two."""
    newer: int = 500
    """Sub-expressions of the search's best formulas beside them."""
    samples: int = 200
    """Samples that are looked at, spread over the data; what is found is fitted and judged on all of them."""
    framed: int = 600
    """Holes with one more operator around them that are tried beside, those of the best formulas first."""
    matches: int = 24
    """Formulas that one round gives of each kind."""
    promising: int = 8
    """Holes that polynomials are solved for in one round."""
    blocks: bool = True
    """Whether holes are filled with polynomials and rational functions too."""
    probes: bool = True
    """Whether swings, parities, sums and products that the data show are made use of."""

    def __post_init__(self) -> None:
        """Refuse what cannot run."""
        at_least_one = ("features", "more_features", "samples")
        for name in (*at_least_one, "paired", "newer", "framed", "matches", "promising"):
            value, least = getattr(self, name), int(name in at_least_one)
            if value < least:
                raise SettingsError(f"`{name}` of assembly must be at least {least}, but it is {value}.")


@dataclass(frozen=True, slots=True)
class Context:
    """A formula with a hole."""

    part: Row
    begin: int
    end: int
    wish: Floats  # (M,): what should fill the hole
    weight: Floats  # (M,): squared error of the whole for a unit of squared error there

    @property
    def rest(self) -> int:
        """Tokens outside the hole."""
        return len(self.part) - (self.end - self.begin)


@dataclass(frozen=True, slots=True)
class _Table:
    """Sub-expressions and their values."""

    parts: list[Row]
    values: Floats  # (K, M)


class Assembler:
    """Knows the sub-expressions of one dataset, and puts formulas together from them."""

    def __init__(
        self,
        writer: Writer,
        dataset: Dataset,
        settings: AssemblySettings,
        *,
        is_enlarged: bool = False,
        is_late: IsLate = never,
    ) -> None:
        """Get sub-expressions to begin with; more, and those of the target's parity, if it `is_enlarged`.

        Once it `is_late`, what is under way is left out, here and in the methods.
        """
        if is_enlarged:
            settings = replace(settings, features=settings.more_features)
        self._writer, self._settings, self._whole, self._is_late = writer, settings, dataset, is_late
        self._wisher = backsolve.Wisher.of(dataset, settings.samples)
        self._data = self._wisher.dataset
        self._parts: list[Row] = []
        self._values: Floats = np.empty((0, len(self._data)))
        self._base = 0
        few = len(writer.columns) <= _MOST_STRUCTURED
        looks = is_enlarged and settings.probes and few
        self._structure = probes.Structure(self._data, writer.columns) if looks else None
        sizes = self._small()
        self._add([*self._waves(), *(part for size in sizes for part in size)], settings.features)
        self._add(self._of_parity(sizes), settings.newer)
        self._base = len(self._parts)
        self._growths = self._table(self._growing())

    def first(self) -> list[Row]:
        """Return the formulas that need no search: blocks and matches in every small context."""
        contexts = self._contexts(self._frames())
        formulas = self._formulas(contexts)
        if self._settings.blocks and self._writer.has("add", "mul", "div") and contexts and contexts[0].rest == 0:
            rationals = sorted(self._rationals(contexts[0]), key=lambda pair: pair[0])
            formulas += [part for _, part in rationals[: self._settings.matches]]
            formulas += self._sums_of_parts() if self._settings.probes and not self._is_late() else []
        return formulas

    def split(self) -> list[Row]:
        """Return sums and products, where the data show some, of parts that were put together each by itself."""
        found: list[tuple[float, Row]] = []
        splits = [] if self._structure is None or self._is_late() else self._structure.splits()[:_MOST_SPLITS]
        for split in in_time(splits, self._is_late):
            name, join = ("mul", np.multiply) if split.is_product else ("add", np.add)
            if not self._writer.has(name):
                continue
            column = self._writer.columns[split.place]
            others = [other for other in self._writer.columns if other != column]
            first = self._side([column], split.first, split.first_weights)
            second = self._side(others, split.second, split.second_weights)
            values = join(first.values[:, None], second.values[None]).reshape(-1, len(self._data))
            error = backsolve.plain_errors(self._data.y[None], self._data.weights[None], values)[0]
            sizes = np.add.outer([*map(len, first.parts)], [*map(len, second.parts)]).ravel()
            length = self._length(error, sizes)
            for flat in np.argsort(length, kind="stable")[: self._settings.matches]:
                i, j = divmod(int(flat), len(second.parts))
                found.append((float(length[flat]), self._writer.apply(name, first.parts[i], second.parts[j])))
        found.sort(key=lambda pair: pair[0])
        return [part for _, part in found[: self._settings.matches]]

    def next(self, best: Sequence[Row]) -> list[Row]:
        """Return formulas made from the best so far: any hole in them, and their own sub-expressions."""
        self._parts, self._values = self._parts[: self._base], self._values[: self._base]
        pieces = {piece: None for part in best for piece in self._pieces(part)}
        self._add(list(itertools.islice(pieces, self._settings.newer)), self._settings.newer)
        holes = [(part, begin) for part in best for begin in range(len(part))]
        holes += itertools.islice(self._framed(holes), self._settings.framed)
        return self._formulas(self._contexts(holes))

    def polynomials(self) -> list[Row]:
        """Return polynomials of the variables, which take no time."""
        root = self._context(self._writer.number(1.0), 0)
        return self._polynomials([root]) if root is not None and self._can_have_blocks else []

    def _formulas(self, contexts: Sequence[Context]) -> list[Row]:
        known = _Table(self._parts, self._values)
        kinds: tuple[Callable[[], list[Row]], ...] = (
            lambda: self._matches(contexts, known),
            lambda: self._matches(contexts, self._growths),
            self._pairs,
            lambda: self._blocks(contexts),
        )
        return list(dict.fromkeys(part for kind in in_time(kinds, self._is_late) for part in kind()))

    # Holes

    def _frames(self) -> Iterator[tuple[Row, int]]:
        """Every formula of one or two operators around a hole, whose place is a number."""
        hole = self._writer.number(1.0)
        single = [*self._around(hole, 0)]
        yield hole, 0
        yield from single
        for part, place in single:
            yield from self._around(part, place)

    def _around(self, part: Row, place: int) -> Iterator[tuple[Row, int]]:
        writer = self._writer
        for name in writer.operators(1):
            yield writer.apply(name, part), place + 1
        for name, column in itertools.product(writer.operators(2), writer.columns[:8]):
            variable = writer.variable(column)
            yield writer.apply(name, part, variable), place + 1
            if name in ("sub", "div", "pow"):
                yield writer.apply(name, variable, part), place + 2
        if writer.has("div") and not writer.has("inv"):
            yield writer.apply("div", writer.number(1.0), part), place + 2

    def _framed(self, holes: Sequence[tuple[Row, int]]) -> Iterator[tuple[Row, int]]:
        """Holes with one more operator around them."""
        frames = [*self._around(self._writer.number(1.0), 0)]
        for (part, begin), (frame, place) in itertools.product(holes, frames):
            yield part.spliced(begin, self._writer.library.end(part.ids, begin), frame), begin + place

    def _contexts(self, holes: Iterable[tuple[Row, int]]) -> list[Context]:
        found = (self._context(part, begin) for part, begin in in_time(holes, self._is_late))
        return [context for context in found if context is not None]

    def _context(self, part: Row, begin: int) -> Context | None:
        wish, weight = (found[begin] for found in self._wisher.wishes(self._writer.population([part])))
        if not (np.isfinite(wish).all() and np.isfinite(weight).all() and weight.max() > 0.0):
            return None
        return Context(part, begin, self._writer.library.end(part.ids, begin), wish, weight)

    # What fills them

    def _small(self) -> list[list[Row]]:
        """The shortest sub-expressions without constants, by size, one for each different set of values."""
        writer = self._writer
        sizes: list[list[Row]] = [[], [writer.variable(column) for column in writer.columns]]
        seen: set[bytes] = set()
        count = 0
        while count < self._settings.features and len(sizes) <= _LARGEST_SMALL and not self._is_late():
            grown = itertools.islice(self._of_size(sizes), 20 * self._settings.features)
            parts = list(grown) if len(sizes) > 2 else [*sizes[1], *grown]
            values = predict(writer.population(parts), self._data).value if parts else np.empty((0, 1))
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
        """Sub-expressions one token longer that have the target's parities, where it has some."""
        if self._structure is None:
            return []
        told = {column: self._structure.parity(place) for place, column in enumerate(self._writer.columns)}
        told = {column: parity for column, parity in told.items() if parity}
        if not told:
            return []
        # What is put together from parts of some parity has one, most often.
        some = [self._with_parities(parts, dict.fromkeys(told, (1, -1))) for parts in sizes]
        longer = list(itertools.islice(self._of_size(some), 10 * self._settings.newer))
        return self._with_parities(longer, {column: (parity,) for column, parity in told.items()})

    def _with_parities(self, parts: list[Row], parities: Mapping[int, tuple[int, ...]]) -> list[Row]:
        """Those of the parts that have one of the parities in each of some variables."""
        for column, options in parities.items():
            if not parts:
                break
            mirrored = self._data.X.copy()
            mirrored[:, column] *= -1.0
            population = self._writer.population(parts)
            here, there = (predict(population, data).value for data in (self._data, Dataset.of(mirrored, self._data.y)))
            with np.errstate(all="ignore"):
                limit = 1e-9 * np.abs(here).max(axis=1)
                has = np.any([np.abs(here - sign * there).max(axis=1) <= limit for sign in options], axis=0)
            parts = [part for part, is_kept in zip(parts, has, strict=True) if is_kept]
        return parts

    def _of_size(self, sizes: list[list[Row]]) -> Iterator[Row]:
        """Every operator over known parts, such that all have as many tokens as there are sizes."""
        writer, total = self._writer, len(sizes)
        for name in writer.operators(1):
            for part in sizes[total - 1]:
                yield writer.apply(name, part)
        for name in writer.operators(2):
            is_symmetric = name in ("add", "mul", "min", "max")
            for left in range(1, total - 1):
                if is_symmetric and left > total - 1 - left:
                    continue
                for a, b in itertools.product(sizes[left], sizes[total - 1 - left]):
                    if not (is_symmetric and left == total - 1 - left and b.ids < a.ids):
                        yield writer.apply(name, a, b)

    def _waves(self) -> list[Row]:
        """Swings that the data show, of each variable, and products of two of them."""
        writer = self._writer
        names = [name for name in ("sin", "cos") if writer.has(name, "mul")]
        if not (names and self._settings.probes):
            return []
        columns = writer.columns[:8]
        own = {column: probes.frequencies(self._whole, column) for column in in_time(columns, self._is_late)}
        columns, seen = list(own), {}
        for column in in_time(columns, self._is_late):
            carriers = [(other, own[other][0]) for other in columns if other != column and own[other]]
            seen[column] = probes.frequencies(self._whole, column, carriers=carriers) if carriers else own[column]
        single: list[list[Row]] = []
        for column, found in seen.items():
            inner = [writer.apply("mul", writer.number(frequency), writer.variable(column)) for frequency in found]
            single.append([writer.apply(name, part) for part in inner for name in names])
        pairs = itertools.combinations(single, 2)
        products = [writer.apply("mul", a, b) for left, right in pairs for a in left for b in right]
        return [part for waves in single for part in waves] + products[: self._settings.features // 2]

    def _growing(self) -> list[Row]:
        """Growth and decay of each variable at rates so close together that fitting finds those between."""
        writer = self._writer
        if not writer.has("exp", "mul"):
            return []
        spans = [(column, float(np.ptp(self._data.X[:, column]))) for column in writer.columns[:8]]
        return [
            writer.apply("exp", writer.apply("mul", writer.number(sign * rate / span), writer.variable(column)))
            for (column, span), rate, sign in itertools.product(spans, _RATES, (-1.0, 1.0))
            if span > 0.0
        ]

    def _table(self, parts: Sequence[Row]) -> _Table:
        """Sub-expressions whose values are ordinary numbers."""
        if not parts:
            return _Table([], np.empty((0, len(self._data))))
        values = predict(self._writer.population(parts), self._data).value
        kept = [i for i, row in enumerate(values) if (np.abs(row) < polynomials.LARGEST_VALUE).all()]
        return _Table([parts[i] for i in kept], values[kept])

    def _pieces(self, part: Row) -> Iterator[Row]:
        for begin in range(len(part)):
            end = self._writer.library.end(part.ids, begin)
            if end - begin > 1:
                yield part.part(begin, end)

    def _add(self, parts: Sequence[Row], most: int) -> None:
        """Take in some sub-expressions, whose values are finite and no scaled and shifted copy of known ones."""
        if not parts:
            return
        values = predict(self._writer.population(parts), self._data).value
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
        self._parts = self._parts + [parts[i] for i in kept]
        self._values = np.concatenate([self._values, values[kept]])

    def _normalised(self) -> Floats:
        centred = self._values - self._values.mean(axis=1)[:, None]
        return np.asarray(centred / arithmetic.norms(centred, axis=1)[:, None]) if len(centred) else centred

    @staticmethod
    def _shapes(rows: Floats) -> list[bytes]:
        """Bytes that are the same for rows that are the same, but for a sign."""
        if not len(rows):
            return []
        largest = np.take_along_axis(rows, np.abs(rows).argmax(axis=1)[:, None], axis=1)
        return [row.tobytes() for row in np.round(rows * np.sign(largest), 8)]

    def _length(self, error: Floats | np.float64, tokens: Floats | np.float64) -> Floats:
        """Description length, but for constants."""
        count = len(self._data)
        length = arithmetic.log(np.asarray(error / self._data.total_weight + self._data.rounding))
        length *= 0.5 * count
        length += tokens * self._writer.library.token_nats
        return length

    def _matches(self, contexts: Sequence[Context], known: _Table) -> list[Row]:
        """The nearest sub-expressions to what the holes want, over all holes and sub-expressions."""
        if not known.parts:
            return []
        sizes = np.array([len(part) for part in known.parts])
        nearest: list[tuple[float, Context, int]] = []
        for begin in in_time(range(0, len(contexts), _AT_ONCE), self._is_late):
            some = contexts[begin : begin + _AT_ONCE]
            wishes = np.stack([context.wish for context in some])
            weights = np.stack([context.weight for context in some])
            rest = np.array([context.rest for context in some])
            length = self._length(backsolve.affine_errors(wishes, weights, known.values), rest[:, None] + sizes)
            for flat in _smallest(length, self._settings.matches, per_row=3):
                c, k = divmod(flat, len(sizes))
                nearest.append((float(length[c, k]), some[c], k))
        nearest.sort(key=lambda found: found[0])
        out = []
        for _, context, k in nearest[: self._settings.matches]:
            offset, factor = backsolve.affine_fit(context.wish, context.weight, known.values[k])
            out.append(self._fill(context, self._affine(offset, factor, known.parts[k])))
        return out

    def _pairs(self) -> list[Row]:
        """Sums of two sub-expressions, each with a factor, and a number."""
        if len(self._parts) < 2 or not self._writer.has("add", "mul"):
            return []
        target, weights = self._data.y, self._data.weights
        # The newest ones, and the shortest of the others.
        newest = np.arange(self._base, len(self._parts))[: self._settings.paired // 2]
        chosen = np.concatenate([np.arange(min(self._base or len(self._parts), self._settings.paired)), newest])
        values = self._values[chosen]
        sizes = np.array([len(self._parts[i]) for i in chosen])
        error = backsolve.pair_errors(target, weights, values)
        length = self._length(error, sizes[:, None] + sizes)
        length[np.tril_indices(len(length))] = np.inf
        out = []
        for flat in _smallest(length, self._settings.matches, per_row=3):
            i, j = divmod(int(flat), len(chosen))
            root = np.sqrt(weights)
            design = np.stack([np.ones(len(target)), values[i], values[j]], axis=1)
            offset, first, second = arithmetic.least_squares(root[:, None] * design, root * target)
            both = self._writer.apply(
                "add",
                self._affine(0.0, first, self._parts[chosen[i]]),
                self._affine(0.0, second, self._parts[chosen[j]]),
            )
            out.append(self._affine(offset, 1.0, both))
        return out

    def _affine(self, offset: float, factor: float, part: Row) -> Row:
        """Scaled and shifted, as far as the library can; what is as good as nothing is left out."""
        size = float(np.abs(self._data.y).max()) or 1.0
        factor = 1.0 if abs(factor - 1.0) < 1e-9 or not self._writer.has("mul") else float(factor)
        offset = 0.0 if abs(offset) < 1e-11 * size or not self._writer.has("add") else float(offset)
        return self._writer.affine(offset, factor, part)

    def _blocks(self, contexts: Sequence[Context]) -> list[Row]:
        """Polynomials in the holes where they describe the data best."""
        if not self._can_have_blocks:
            return []
        return self._polynomials(self._promising(contexts, self._data.X[:, self._writer.columns]))

    @property
    def _can_have_blocks(self) -> bool:
        return self._settings.blocks and self._writer.has("add", "mul")

    def _polynomials(self, contexts: Sequence[Context]) -> list[Row]:
        """Polynomials of all degrees in some holes, those first that describe the data best."""
        X = self._data.X[:, self._writer.columns]
        found: dict[Row, None] = {}
        for context in contexts:
            for degree in polynomials.degrees(X.shape[1], len(X)):
                solved = polynomials.polynomial(self._writer, X, context.wish, context.weight, degree)
                if solved is not None:
                    found[self._fill(context, polynomials.written(self._writer, solved[0]))] = None
        # By the description of the whole: that of a block alone is in the units of its hole.
        parts = list(found)
        if not parts:
            return []
        lengths = description_lengths(self._writer.population(parts), self._data)
        return [parts[i] for i in np.argsort(lengths, kind="stable")[: self._settings.matches]]

    def _promising(self, contexts: Sequence[Context], X: Floats) -> list[Context]:
        """The contexts in which a polynomial of some degree describes the data best."""
        options = list(polynomials.degrees(X.shape[1], len(X)))
        if not options:
            return []
        exponents = polynomials.monomials(X.shape[1], options[-1])
        design = polynomials.design(X, exponents)
        if not np.abs(design).max() < polynomials.LARGEST_VALUE:
            return []
        # Half of what all terms cost: of a polynomial worth having, many are 0, or have a factor of 1.
        prices = 0.5 * np.cumsum([polynomials.token_cost(self._writer, powers) for powers in exponents])
        # By degree: its last monomial.
        last = [max(i for i, powers in enumerate(exponents) if sum(powers) <= degree) for degree in options]
        lengths = []
        for context in in_time(contexts, self._is_late):
            root = np.sqrt(context.weight)
            matrix, goal = root[:, None] * design, root * context.wish
            with np.errstate(over="ignore"):
                errors = arithmetic.leading_errors(matrix / (arithmetic.norms(matrix, axis=0) + 1e-300), goal)
            length = self._length(errors[last], np.float64(context.rest)) + prices[last]
            lengths.append(float(np.min(length)))
        return [contexts[i] for i in np.argsort(lengths, kind="stable")[: self._settings.promising]]

    def _rationals(self, context: Context) -> list[tuple[float, Row]]:
        X = self._data.X[:, self._writer.columns]
        out = []
        for degree, below in in_time(itertools.product(range(1, 7), range(1, 5)), self._is_late):
            solved = polynomials.rational(X, context.wish, context.weight, degree, below)
            if solved is None or not solved[0].exponents or not solved[1].exponents:
                continue
            above, under = (polynomials.written(self._writer, polynomial) for polynomial in solved[:2])
            part = self._fill(context, self._writer.apply("div", above, under))
            terms = len(solved[0].exponents) + len(solved[1].exponents)
            length = float(self._length(np.float64(solved[2]), np.float64(len(part) + terms)))
            out.append((length, part))
        return out

    def _side(self, columns: Sequence[int], values: Floats, weights: Floats) -> _Table:
        """Formulas of some of the variables for what a part of the target should be."""
        weights = weights * self._data.weights
        usable = (np.abs(values) < polynomials.LARGEST_VALUE) & (weights > 0.0)
        if usable.sum() < 2 or np.ptp(values[usable]) == 0.0:
            return self._table([])
        data = Dataset.of(self._data.X[usable], values[usable], weights[usable], self._data.names)
        settings = replace(self._settings, features=min(_SIDE, self._settings.features))
        writer = self._writer.of_columns(columns)
        return self._table(Assembler(writer, data, settings, is_late=self._is_late).first())

    def _sums_of_parts(self) -> list[Row]:
        """A sum of blocks, one of each variable, where the data say that the target is such a sum."""
        parts = probes.sum_of_parts(self._whole)
        if parts is None or len(parts.points) != len(self._writer.columns):
            return []
        terms, offset = [], parts.offset
        for column in self._writer.columns:
            block = self._block_of(column, parts.points[column], parts.values[column])
            if block is None:
                return []
            terms.append(block[0])
            offset -= block[1]
        return [self._writer.apply("add", self._writer.total(terms), self._writer.number(offset))]

    def _block_of(self, column: int, points: Floats, values: Floats) -> tuple[Row, float] | None:
        """The shortest block of one variable that has these values, to rounding, but for a number that it adds."""
        X, ones = points[:, None], np.ones(len(points))
        limit = 1e-20 * arithmetic.dot(values, values)
        writer = self._writer.of_columns([column])
        for total in range(1, 13):
            for below in range(min(total, 5)):
                solved = polynomials.rational(X, values, ones, total - below, below)
                if solved is None or solved[2] > limit or not (solved[0].exponents and solved[1].exponents):
                    continue
                # Adding a number to P / Q changes P only, so one of its terms can be made to vanish.
                factors = [dict(zip(side.exponents, side.coefficients, strict=True)) for side in solved[:2]]
                shifts = {0.0, *(-factors[0].get(power, 0.0) / factor for power, factor in factors[1].items())}
                options = []
                for shift in sorted(shifts):
                    other = polynomials.rational(X, values + shift, ones, total - below, below)
                    if other is not None and other[0].exponents and other[1].exponents:
                        above, under = (polynomials.written(writer, polynomial) for polynomial in other[:2])
                        options.append((writer.apply("div", above, under), shift))
                return min(options, key=lambda option: len(option[0]))
        return None

    def _fill(self, context: Context, filling: Row) -> Row:
        return context.part.spliced(context.begin, context.end, filling)


def _smallest(table: Floats, count: int, *, per_row: int) -> list[int]:
    """Places in the flat table of its smallest values, at most a few of each row, smallest first."""
    few = min(per_row, table.shape[1])
    columns = arithmetic.smallest(table, few)
    values = np.take_along_axis(table, columns, axis=1)
    order = np.argsort(values, axis=None, kind="stable")[:count]
    flat = (np.arange(len(table))[:, None] * table.shape[1] + columns).ravel()
    return [int(flat[i]) for i in order if np.isfinite(values.ravel()[i])]
