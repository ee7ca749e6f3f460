"""The engines that are compared: each evaluates the same expressions on the same data, with one thread.

Each is given what suits it: its own kind of tree, built before any clock runs, and data in the order that it reads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

import symseed
from bare import Bare
from expressions import OPERATORS, Workload
from symseed.arrays import Floats

BLOCKS = (128, 256, 512)


class Engine(Protocol):
    """Expressions and data, made ready for one library."""

    def run(self) -> None:
        """Evaluate every expression once."""

    def answers(self) -> Floats:
        """Return what `run` computes: errors (N,) or predictions (N, M)."""


@dataclass(frozen=True)
class Peer:
    """How to make an engine, and how near to symseed's its answers must be."""

    prepare: Callable[[Workload], Engine]
    """Raises ImportError or RuntimeError where it cannot be had."""
    tolerance: float
    """Largest relative difference of the median answer of an expression."""
    share: float = 1.0
    """Row of the expressions that it is timed on."""
    from_points: int = 0
    """Fewest points that it is timed on."""


class Symseed:
    """The package as a user calls it."""

    def __init__(self, workload: Workload, *, threads: int = 1) -> None:
        """Take the expressions as they are."""
        self._workload = workload
        self._threads = threads
        workload.dataset.backend  # noqa: B018 - the core's copy is made at the first use

    def run(self) -> None:
        """Compute the sum of squared errors of every expression."""
        symseed.evaluate(self._workload.population, self._workload.dataset, threads=self._threads)

    def answers(self) -> Floats:
        """Return the errors, (N,)."""
        return symseed.evaluate(self._workload.population, self._workload.dataset).error


class Pyoperon:
    """Batches of pyoperon's `EvaluateTrees`: predictions in float32, not errors."""

    _TREES_AT_ONCE = 500
    _VALUES_AT_ONCE = 4_000_000  # results of a batch stay near the processor; one large batch is slower

    def __init__(self, workload: Workload) -> None:
        """Build trees and batches of them."""
        import pyoperon

        self._evaluate = pyoperon.EvaluateTrees
        self._points = len(workload.dataset)
        self._range = pyoperon.Range(0, self._points)
        self._dataset = pyoperon.Dataset(np.asfortranarray(workload.dataset.X))
        self._trees = self._build(pyoperon, workload.population)
        batch = max(1, min(self._TREES_AT_ONCE, self._VALUES_AT_ONCE // self._points))
        self._batches = [self._trees[i : i + batch] for i in range(0, len(self._trees), batch)]
        self._result = np.empty((batch, self._points), dtype=np.float32)

    def _build(self, pyoperon: Any, population: symseed.Population) -> list[Any]:  # Any: it has no types
        """Turn rows round: pyoperon stores a tree with the operator last and its first argument just before it."""
        kinds = [getattr(pyoperon.NodeType, name.capitalize()) for name in OPERATORS]
        hashes = [v.Hash for v in sorted(self._dataset.Variables, key=lambda v: v.Index)]

        def node(token: int) -> Any:
            if token >= len(hashes):
                return pyoperon.Node(kinds[token - len(hashes)])
            leaf = pyoperon.Node(pyoperon.NodeType.Variable, hashes[token])
            leaf.Value = 1.0
            return leaf

        trees = [pyoperon.Tree([node(token) for token in reversed(row)]) for row in _rows(population)]
        for tree in trees:
            tree.UpdateNodes()
        return trees

    def run(self) -> None:
        """Predict by every expression, batch after batch into one place."""
        for batch in self._batches:
            self._evaluate(batch, self._dataset, self._range, self._result[: len(batch)], 1)

    def answers(self) -> Floats:
        """Return the predictions, (N, M)."""
        result = np.empty((len(self._trees), self._points), dtype=np.float32)
        self._evaluate(self._trees, self._dataset, self._range, result, 1)
        return result.astype(np.float64)


class Gplearn:
    """gplearn's `_Program.execute` with NumPy's own functions, none of them protected: predictions, not errors."""

    def __init__(self, workload: Workload) -> None:
        """Build programs."""
        from gplearn._program import _Program
        from gplearn.functions import _Function

        functions = [_Function(ufunc, name, ufunc.nin) for name, ufunc in _UFUNCS.items()]
        self._X = np.asfortranarray(workload.dataset.X)
        variables = self._X.shape[1]
        self._programs = [
            _Program(
                function_set=functions,
                arities={},
                init_depth=(2, 6),
                init_method="grow",
                n_features=variables,
                const_range=None,
                metric=None,
                p_point_replace=0.0,
                parsimony_coefficient=0.0,
                random_state=None,
                program=[token if token < variables else functions[token - variables] for token in row],
            )
            for row in _rows(workload.population)
        ]

    def run(self) -> None:
        """Predict by every expression."""
        for program in self._programs:
            program.execute(self._X)

    def answers(self) -> Floats:
        """Return the predictions, (N, M)."""
        return np.array([program.execute(self._X) for program in self._programs])


class Numpy:
    """The least that Python can do: a stack of arrays and NumPy's functions."""

    def __init__(self, workload: Workload) -> None:
        """Look up the functions of every token."""
        self._columns = list(np.ascontiguousarray(workload.dataset.X.T))
        self._y = workload.dataset.y
        functions = list(_UFUNCS.values())
        variables = len(self._columns)
        # From the last token to the first: a number is a column, the others are functions.
        self._rows = [
            [token if token < variables else functions[token - variables] for token in reversed(row)]
            for row in _rows(workload.population)
        ]

    def run(self) -> None:
        """Compute the sum of squared errors of every expression."""
        for row in self._rows:
            self._error(row)

    def answers(self) -> Floats:
        """Return the errors, (N,)."""
        return np.array([self._error(row) for row in self._rows])

    def _error(self, row: list[Any]) -> float:  # Any: ufuncs of either arity, and columns
        waiting: list[Floats] = []
        for step in row:
            if isinstance(step, int):
                waiting.append(self._columns[step])
            elif step.nin == 1:
                waiting.append(step(waiting.pop()))
            else:
                waiting.append(step(waiting.pop(), waiting.pop()))
        difference = waiting[0] - self._y
        return float(difference @ difference)


_UFUNCS = dict(
    zip(OPERATORS, (np.add, np.subtract, np.multiply, np.divide, np.sin, np.cos, np.exp, np.log), strict=True)
)


def _rows(population: symseed.Population) -> list[list[int]]:
    return [row[:length].tolist() for row, length in zip(population.tokens, population.lengths, strict=True)]


def _bare(kernels: str, block: int) -> Peer:
    # Below a block's size all blocks are the same, so only the smallest is timed there.
    from_points = 0 if block == min(BLOCKS) else block
    return Peer(lambda workload: Bare(workload, kernels=kernels, block=block), tolerance=1e-9, from_points=from_points)


PEERS = {
    "symseed": Peer(Symseed, tolerance=0.0),
    "pyoperon": Peer(Pyoperon, tolerance=1e-3),
    "gplearn": Peer(Gplearn, tolerance=1e-9, share=0.1),
    "numpy": Peer(Numpy, tolerance=1e-9, share=0.1),
}

LIMITS = {
    "bare": {f"bare {block}": _bare("libmvec", block) for block in BLOCKS},
    "stripped": {f"stripped {block}": _bare("own", block) for block in BLOCKS},
}
"""Two limits, each the fastest of its forms: a bare loop over the compiler's vector library, and one over our kernels
without any check, with fused multiply-adds and without the way out for large arguments."""
