"""Structure by evidence: which columns stand in one combination, and which factors and terms come off the target.

If y is a function of fewer columns than the data have, a Gaussian process of those explains the data with greater
evidence, since the same samples fill fewer dimensions; if not, its evidence collapses. Moves to a smaller problem
(`moves.py`) are therefore judged by evidence alone, before any formula is tried. AI Feynman (Udrescu & Tegmark 2020)
asks similar questions of a neural network, one after another; evidence answers them on noisy data too.

Evidence is in the units of y: for a target t(y), log p(y) = log p(t) + sum log |dt/dy|, and the noise of t has the
standard deviation of that of y times |dt/dy| at each row.

The best few sequences of moves are followed side by side, so that a move that only seems right can lose later.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from symseed import arithmetic
from symseed.arrays import Floats
from symseed.data import Dataset
from symseed.errors import check_at_least
from symseed.language import Writer
from symseed.search.budget import IsLate, in_time, never
from symseed.space import Dimensions
from symseed.structure.moves import Move, Moves, is_usable
from symseed.structure.process import factors_of, fitted, scored, spread, standard
from symseed.structure.reduction import Column, Kind, Reduction, Values
from symseed.structure.rows import spread_rows
from symseed.structure.symmetries import further

_FIRST_EVALUATIONS = 40
"""Most evaluations of the likelihood for the original columns: chosen by hand."""
_QUOTAS = {Kind.FUSE: 5, Kind.PEEL: 4, Kind.DROP: 1, Kind.TURN: 2, Kind.SCALE: 5, Kind.SHIFT: 4}
"""Moves of each kind whose hyperparameters are fitted, from one problem: chosen by hand."""
_SETTLED = 3
"""Problems on other ways than the best one's that are compared on more rows: chosen by hand."""
_LEAST_USABLE = 0.9
"""Share of those rows at which a problem must have values: noise may leave a few without a logarithm. By hand."""


@dataclass(frozen=True, slots=True)
class StructureSettings:
    """Settings of the search for structure. Numbers without another reason are chosen by hand."""

    rows: int = 200
    """Rows on which moves are judged."""
    more_rows: int = 300
    """Rows if the noise is strong."""
    judged_rows: int = 600
    """Rows on which the best problems are compared at the end if the noise is strong; wrong last moves are undone."""
    strong_noise: float = 0.005
    """Share of y's variance from which noise is strong."""
    scored_rows: int = 120
    """The first of the rows, on which moves are compared before the best of them are fitted."""
    width: int = 3
    """Number of sequences of moves that are followed side by side."""
    evaluations: int = 10
    """Most evaluations of the likelihood for a move whose hyperparameters are fitted."""
    slack: float = 2.0
    """Nats of evidence that a move may lose: a smaller problem is worth as much."""
    least_rows: int = 40
    """Fewest samples with which structure is sought."""
    least_columns: int = 3
    """Fewest columns with which a portfolio seeks structure."""
    most_columns: int = 12
    """Most columns; a bound on time."""
    kinds: tuple[Kind, ...] = tuple(Kind)
    """Kinds of moves."""

    def __post_init__(self) -> None:
        """Refuse what cannot run."""
        for name in ("rows", "more_rows", "judged_rows", "scored_rows", "least_rows"):
            check_at_least(name, getattr(self, name), 4, of="structure")
        for name in ("width", "evaluations", "least_columns", "most_columns"):
            check_at_least(name, getattr(self, name), 1, of="structure")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A reduced problem and its evidence."""

    reduction: Reduction
    evidence: float
    """Log evidence in the units of y."""
    ratio: float
    """Variance of the noise over that of the process."""
    kinds: tuple[Kind, ...]
    """The moves that lead to it."""


@dataclass(frozen=True, slots=True)
class Structure:
    """What was found: reduced problems, best first, and what they are compared with."""

    candidates: tuple[Candidate, ...]
    """Empty if no move keeps the evidence."""
    first_evidence: float
    """Log evidence of the original columns."""
    evaluations: int
    """Evaluations of a likelihood that the search took."""
    rows: int


@dataclass(slots=True)
class _Node:
    """A problem on the way, with fitted hyperparameters."""

    reduction: Reduction
    values: Values
    scales: Floats
    ratio: float
    evidence: float
    peak: float
    """Largest evidence of this problem and those before it."""
    kinds: tuple[Kind, ...] = ()
    before: _Node | None = field(default=None, repr=False)

    def merit(self, slack: float) -> float:
        """The evidence, and what the columns that are gone are worth."""
        return self.evidence + slack * self.gone

    @property
    def chain(self) -> Iterator[_Node]:
        """This problem and those before it."""
        node: _Node | None = self
        while node is not None:
            yield node
            node = node.before

    @property
    def gone(self) -> int:
        """Number of columns that are gone."""
        return sum(kind is not Kind.TURN for kind in self.kinds)


def find(
    dataset: Dataset,
    writer: Writer,
    settings: StructureSettings,
    *,
    seed: int,
    dimensions: Dimensions | None = None,
    is_late: IsLate = never,
) -> Structure | None:
    """Return what the data say of their structure; None if there are too few samples or too many columns.

    Args:
        dataset: samples in the user's units, so that sums of columns mean something.
        writer: writes formulas; only moves that it can write and undo are tried.
        dimensions: units of the columns and of y, which forbid most sums.
        is_late: once it returns true, the search ends with what it has.
    """
    columns = writer.columns
    varied = [column for column in columns if np.ptp(dataset.X[:, column]) > 0.0]
    if (
        len(dataset) < settings.least_rows
        or not 1 <= len(varied) <= settings.most_columns
        or not is_usable(dataset.y, math.inf)
        or not all(is_usable(dataset.X[:, column]) for column in varied)
    ):
        return None
    with np.errstate(all="ignore"):  # data near the ends of float64 have no evidence
        return _Search(dataset, writer, settings, varied, dimensions, seed, is_late).found()


class _Search:
    """One search for structure."""

    def __init__(
        self,
        dataset: Dataset,
        writer: Writer,
        settings: StructureSettings,
        columns: list[int],
        dimensions: Dimensions | None,
        seed: int,
        is_late: IsLate,
    ) -> None:
        self._dataset, self._settings, self._is_late = dataset, settings, is_late
        self._columns = columns
        self._writer, self._moves = writer, Moves(writer, settings.kinds)
        most = max(settings.rows, settings.more_rows, settings.judged_rows)
        self._order = spread_rows(dataset.X[:, columns], most, seed=seed)
        units = {} if dimensions is None else dict(dimensions.variables)
        names = {token.column: token.name for token in writer.library.variables}
        self._start = Reduction(
            tuple(Column(writer.variable(column), units.get(names[column])) for column in columns),
            dimension=None if dimensions is None else dimensions.target,
        )
        self.evaluations = 0

    def found(self) -> Structure:
        first, noise = self._first(self._settings.rows)
        is_strong = noise > self._settings.strong_noise and len(self._order) > self._settings.rows
        if is_strong:
            first, _ = self._first(self._settings.more_rows)
        if first.evidence == -math.inf:
            return Structure((), first.evidence, self.evaluations, len(first.values.target))
        beam, every = [first], [first]
        seen = {_signature(first.values)}
        while beam and not self._is_late():
            found = [child for node in beam for child in self._children(node, seen)]
            found.sort(key=self._merit)
            beam = found[: self._settings.width]
            every += beam
        every.sort(key=self._merit)
        best = self._distinct(every)
        if is_strong and best and len(self._order) > len(first.values.target) and not self._is_late():
            first, best = self._settled(first, self._distinct(every, others=_SETTLED))
        return Structure(
            tuple(Candidate(node.reduction, node.evidence, node.ratio, node.kinds) for node in best),
            first.evidence,
            self.evaluations,
            len(first.values.target),
        )

    def _merit(self, node: _Node) -> float:
        return -node.merit(self._settings.slack)

    @staticmethod
    def _distinct(ranked: Sequence[_Node], others: int = 1) -> list[_Node]:
        """The best problem, another one before its last moves, and the best on other ways."""
        best = ranked[0]
        if not best.gone:
            return []
        ancestors = [node for node in best.chain if node is not best and node.gone]
        before = [node for node in ancestors if node.reduction.plain != best.reduction.plain]
        on_other_ways = [node for node in ranked[1:] if node.gone and all(node is not own for own in ancestors)]
        return [best, *before[:1], *on_other_ways[:others]]

    def _settled(self, first: _Node, best: Sequence[_Node]) -> tuple[_Node, list[_Node]]:
        """Compare problems on more rows, and undo last moves as long as that is better; some problems, best first.

        Also returns the original problem on these rows: those at which all that are compared have values, since noise
        may leave a few without a logarithm, say.
        """
        every = {id(node): node for leaf in best for node in leaf.chain}
        rows = self._order[: self._settings.judged_rows]
        usable = {key: self._usable(node, rows) for key, node in every.items()}
        rows = rows[np.logical_and.reduce([own for own in usable.values() if own.mean() >= _LEAST_USABLE])]
        judged: dict[int, _Node] = {}

        def on_more_rows(node: _Node) -> _Node:
            if usable[id(node)].mean() < _LEAST_USABLE:
                return replace(node, evidence=-math.inf)
            if id(node) not in judged:
                own = node.reduction.values(self._writer, self._samples(rows))
                judged[id(node)] = self._fitted_to(own, replace(node, values=own), node.scales, node.ratio, rows)
            return judged[id(node)]

        on_more_rows(first)
        for node in best:
            while node.before is not None and self._merit(on_more_rows(node)) >= self._merit(on_more_rows(node.before)):
                node = node.before
        ranked = sorted(judged, key=lambda key: self._merit(judged[key]))
        found = [on_more_rows(node) for node in self._distinct([every[key] for key in ranked])]
        return on_more_rows(first), [node for node in found if node.evidence > -math.inf]

    def _usable(self, node: _Node, rows: npt.NDArray[np.intp]) -> npt.NDArray[np.bool_]:
        """At which rows a problem has values."""
        values = node.reduction.values(self._writer, self._samples(rows))
        every = np.concatenate([values.columns, values.target[None], values.slope[None]])
        return np.asarray(np.isfinite(every).all(axis=0) & (values.slope > 0.0))

    def _samples(self, rows: npt.NDArray[np.intp]) -> Dataset:
        data = self._dataset
        return data.with_samples(data.X[rows], data.y[rows], data.weights[rows])

    def _first(self, count: int) -> tuple[_Node, float]:
        """The original problem on some rows, and the noise's share of y's variance."""
        rows = self._order[:count]
        X, y = self._dataset.X[rows][:, self._columns], self._dataset.y[rows]
        values = Values(np.ascontiguousarray(X.T), y, np.ones(len(y)))
        process = fitted(
            standard(values.columns),
            y,
            self._noise(values.slope),
            evaluations=_FIRST_EVALUATIONS,
            is_late=self._is_late,
        )
        self.evaluations += _FIRST_EVALUATIONS
        evidence, noise = process.log_evidence, process.noise_deviation
        return _Node(self._start, values, process.scales, process.ratio, evidence, evidence), noise * noise / y.var()

    def _children(self, node: _Node, seen: set[bytes]) -> list[_Node]:
        """The best moves from a problem, fitted; if no simple one makes it smaller, the best further ones too."""
        found = [*self._best(node, self._moves.of(node.reduction, node.values), seen)]
        if all(child.kinds[-1] is Kind.TURN for child in found):
            moves = further(self._writer, self._settings.kinds, node.reduction, node.values)
            found += self._best(node, moves, seen)
        return found

    def _best(self, node: _Node, moves: Iterable[Move], seen: set[bytes]) -> Iterator[_Node]:
        """The best of some moves, fitted; those that lose too much evidence are left out."""
        ranked: dict[Kind, list[tuple[float, Move]]] = {kind: [] for kind in Kind}
        for move in in_time(moves, self._is_late):
            ranked[move.kind].append((self._scored(node, move), move))
        for kind, scores in ranked.items():
            scores.sort(key=lambda pair: -pair[0])
            left = _QUOTAS[kind]
            for score, move in in_time(scores, self._is_late):
                if left == 0 or score == -math.inf:
                    break
                signature = _signature(move.values)
                if signature in seen:
                    continue
                seen.add(signature)
                left -= 1
                child = self._fitted(node, move)
                least = node.evidence + self._settings.slack if kind is Kind.TURN else node.peak - self._settings.slack
                if child.evidence >= least:
                    yield child

    def _noise(self, slope: Floats, rows: npt.NDArray[np.intp] | None = None) -> Floats:
        return factors_of(slope, self._dataset.weights[self._order[: len(slope)] if rows is None else rows])

    def _scored(self, node: _Node, move: Move) -> float:
        """The evidence of a move on a few rows, with the hyperparameters at hand."""
        few = slice(0, self._settings.scored_rows)
        slope = move.values.slope[few]
        self.evaluations += 1
        inputs = standard(move.values.columns)[:, few]
        value = scored(
            np.ascontiguousarray(inputs), move.values.target[few], self._noise(slope), _scales(node, move), node.ratio
        )
        value += float(np.sum(arithmetic.log(slope)))
        return value if math.isfinite(value) else -math.inf

    def _fitted(self, node: _Node, move: Move) -> _Node:
        child = replace(node, reduction=move.reduction, values=move.values, kinds=(*node.kinds, move.kind), before=node)
        return self._fitted_to(move.values, child, _scales(node, move), node.ratio)

    def _fitted_to(
        self,
        values: Values,
        node: _Node,
        scales: Floats,
        ratio: float,
        rows: npt.NDArray[np.intp] | None = None,
    ) -> _Node:
        """A problem with hyperparameters and evidence fitted to values, at the first rows or at others."""
        process = fitted(
            standard(values.columns),
            values.target,
            self._noise(values.slope, rows),
            begin=(scales, ratio),
            evaluations=self._settings.evaluations,
            is_late=self._is_late,
        )
        self.evaluations += self._settings.evaluations
        evidence = process.log_evidence + float(np.sum(arithmetic.log(values.slope)))
        return replace(
            node, scales=process.scales, ratio=process.ratio, evidence=evidence, peak=max(node.peak, evidence)
        )


def _scales(node: _Node, move: Move) -> Floats:
    """Length scales to begin with: a combination has the shorter one of its columns."""
    return np.array([min(float(node.scales[place]) for place in places) for places in move.parents])


def _signature(values: Values) -> bytes:
    """Equal for problems of the same content: columns of equal order, up to a reversal, and a proportional target."""
    orders = []
    for column in values.columns:
        order = np.argsort(column, kind="stable").astype(np.int32)
        orders.append(min(order.tobytes(), order[::-1].tobytes()))
    middle, width = spread(values.target)
    target = (values.target - middle) / (width or 1.0)
    target = np.round(target * np.sign(target[np.argmax(np.abs(target))]), 6) + 0.0
    return b"".join([*sorted(orders), target.tobytes()])
