"""The native functions with hostile arguments: an answer or an exception of Python's, never a crash.

Coverage of the core is not measured, so that this target changes its arguments blindly; `make sanitize` runs it too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from symseed import Library, _core

CORE: Any = _core
"""The module without its types, for calls that are wrong on purpose."""
LIBRARY = Library.of(["add", "mul", "div", "pow", "sin", "log", "const", 2.0], 2)
T = len(LIBRARY)
_INTEGERS = (0, 1, 2, 3, 5, 17, 64, 300, -1, 2**15, 2**16, 2**31 - 1, 2**31, 2**32, -(2**31), 2**63 - 1, 2**63, 2**64)
_NUMBERS = (0.0, 1.0, -1.0, 0.5, 1e-320, 1e308, -1e308, float("nan"), float("inf"), float("-inf"))
_TYPES = ("f8", "f4", "i8", "i4", "u2", "u1", "c16", ">f8", "?")
_REFUSALS = (ValueError, TypeError, OverflowError, MemoryError, IndexError, RuntimeError)


class Draw:
    """Arguments that bytes choose: usually good ones, or else hostile ones."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def below(self, count: int) -> int:
        """The next byte, as a number below `count`; 0 when there are no more."""
        self._at += 1
        return self._data[self._at - 1] % count if self._at <= len(self._data) else 0

    def integer(self, good: int) -> int:
        """A good number, or one at a limit of some type."""
        return good if self.below(4) else _INTEGERS[self.below(len(_INTEGERS))]

    def number(self, good: float) -> float:
        """A good number, or one that is extreme or not finite."""
        return good if self.below(4) else _NUMBERS[self.below(len(_NUMBERS))]

    def integers(self, good: list[int]) -> list[int]:
        """Good ids, or any."""
        return good if self.below(4) else [self.integer(1) for _ in range(self.below(6))]

    def array(self, good: npt.NDArray[Any]) -> Any:
        """An array: as it should be, or with other values, of another shape, type or layout."""
        kind = self.below(12)
        if kind == 0:
            return good.reshape(-1)[: self.below(9)]
        if kind == 1:
            return np.zeros([self.below(5) for _ in range(self.below(4))], dtype=good.dtype)
        if kind == 2:
            return good.astype(_TYPES[self.below(len(_TYPES))])
        if kind == 3:
            return np.asfortranarray(good)
        if kind == 4:
            return np.concatenate([good, good])[::2]
        if kind in (5, 6) and good.size:
            out = good.copy()
            value = _NUMBERS[self.below(10)] if good.dtype.kind == "f" else _INTEGERS[self.below(12)]
            with np.errstate(all="ignore"):
                out.reshape(-1)[self.below(min(good.size, 256))] = np.array(value).astype(good.dtype)
            return out
        if kind == 7:
            memory = np.zeros(good.nbytes + 1, dtype=np.uint8)[1:]
            memory[:] = np.ascontiguousarray(good).reshape(-1).view(np.uint8)
            return memory.view(good.dtype).reshape(good.shape)
        return good

    def rows(self) -> tuple[Any, Any, Any]:
        """Tokens, lengths and constants of some rows, legal ones or any."""
        count, width = 1 + self.below(6), 1 + self.below(20)
        if self.below(3):
            tokens, lengths = _FREE.sample(count, self.below(256), 0, 100)
        else:
            tokens = np.array([[self.below(T + 1) for _ in range(width)] for _ in range(count)], dtype=np.uint16)
            lengths = np.array([self.below(width + 2) for _ in range(count)], dtype=np.int32)
        constants = np.where(tokens == LIBRARY.ids(["const"])[0], self.number(1.5), np.nan)
        return self.array(tokens), self.array(lengths), self.array(constants)

    def samples(self) -> Any:
        """A dataset of some rows, or none."""
        size = self.below(20)
        X = np.linspace(0.1, 2.0, 2 * size).reshape(size, 2)
        return _core.Samples(self.array(X), self.array(X.sum(axis=1)), self.array(np.ones(size)))

    def matrix(self) -> Any:
        """A matrix of up to 11 rows and columns."""
        shape = (self.below(12), self.below(12))
        return self.array(np.cos(np.arange(shape[0] * shape[1], dtype=np.float64)).reshape(shape))

    def vector(self, size: int) -> Any:
        """A vector."""
        return self.array(np.sin(np.arange(size, dtype=np.float64)))

    def rules(self) -> Any:
        """Rules of every kind."""
        made: list[Any] = []
        for _ in range(self.below(4)):
            kind = self.below(6)
            if kind == 0:
                related = list(_core.Relationship)[self.below(6)]
                made.append(CORE.Relation(related, self.integers([0, 1]), self.integers([2])))
            elif kind == 1:
                made.append(CORE.Limit(self.integers([2, 3]), self.integer(2)))
            elif kind == 2:
                made.append(CORE.Need(self.integers([0])))
            elif kind == 3:
                made.append(CORE.Nest(self.integers([4]), self.integers([4, 5]), self.integer(1)))
            elif kind == 4:
                made.append(CORE.Size(self.integer(2), self.integer(1), self.integer(5)))
            else:
                made.append(CORE.Dimensional(self.array(np.zeros((T + 1, 2), dtype=np.int32)), bool(self.below(2))))
        return CORE.Rules(
            LIBRARY.vocabulary,
            made,
            min_length=self.integer(1),
            max_length=min(self.integer(20), 5_000) if self.below(4) else self.integer(20),
            bias=self.array(np.zeros(T)),
            soft_location=self.number(8.0),
            soft_variance=self.number(0.0),
        )

    def settings(self) -> Any:
        """Settings of variation."""
        weights = [self.number(1.0) for _ in range(6)]
        numbers = (self.number(0.5), self.number(0.5), self.integer(3), self.integer(2), self.integer(2))
        return CORE.VarySettings(*numbers, weights, bool(self.below(2)))

    def method(self) -> Any:
        """A method to fit constants."""
        return list(_core.FitMethod)[self.below(2)]

    def how(self) -> dict[str, Any]:
        """How values are computed."""
        return {"validity": list(_core.Validity)[self.below(3)], "threads": 1 + self.below(2)}


_FREE = _core.Rules(
    LIBRARY.vocabulary, [], min_length=1, max_length=20, bias=np.zeros(T), soft_location=8.0, soft_variance=0.0
)
_LSTM = _core.Lstm(T, 4, 1, True, True, False, 0)


def _score(draw: Draw) -> None:
    cache = CORE.Cache(min(draw.integer(5_000), 2**20), draw.integer(2))
    fit = None if draw.below(2) else (draw.below(4), draw.below(2), draw.below(256), draw.method())
    for _ in range(2):
        cache.score(LIBRARY.vocabulary, draw.samples(), *draw.rows(), fit=fit, **draw.how())


def _complete(draw: Draw) -> None:
    table = CORE.Completion(
        LIBRARY.vocabulary, draw.samples(), min(draw.integer(2**16), 2**20), draw.integer(8), draw.integer(3)
    )
    tokens, lengths, constants = draw.rows()
    table.complete(draw.rules(), tokens, lengths, constants, draw.array(np.arange(len(lengths))))


CALLS: dict[str, Callable[[Draw], Any]] = {
    "squared errors": lambda draw: CORE.squared_errors(LIBRARY.vocabulary, draw.samples(), *draw.rows(), **draw.how()),
    "predictions": lambda draw: CORE.predictions(LIBRARY.vocabulary, draw.samples(), *draw.rows(), **draw.how()),
    "fit constants": lambda draw: CORE.fit_constants(
        LIBRARY.vocabulary,
        draw.samples(),
        *draw.rows(),
        method=draw.method(),
        iterations=draw.below(6),
        restarts=draw.below(3),
        seed=draw.integer(0),
        **draw.how(),
    ),
    "linearise": lambda draw: CORE.linearise(LIBRARY.vocabulary, draw.samples(), *draw.rows()),
    "fingerprints": lambda draw: CORE.fingerprints(LIBRARY.vocabulary, *draw.rows()),
    "score": _score,
    "complete": _complete,
    "logits": lambda draw: draw.rules().logits(draw.rows()[0][0]),
    "logits along": lambda draw: draw.rules().logits_along(*draw.rows()[:2]),
    "violations": lambda draw: draw.rules().violations(*draw.rows()[:2]),
    "sample": lambda draw: draw.rules().sample(draw.below(40), draw.integer(0), draw.integer(0), draw.below(20)),
    "random trees": lambda draw: draw.rules().random_trees(
        draw.below(40), draw.integer(0), draw.integer(0), draw.integer(1), draw.integer(3), draw.below(20)
    ),
    "crossover": lambda draw: CORE.crossover(
        draw.rules(), *draw.rows(), draw.settings(), draw.integer(0), draw.integer(0)
    ),
    "mutate": lambda draw: CORE.mutate(
        draw.rules(),
        *draw.rows(),
        list(_core.Mutation)[draw.below(len(_core.Mutation))],
        draw.settings(),
        draw.integer(0),
        draw.integer(0),
    ),
    "next generation": lambda draw: CORE.next_generation(
        draw.rules(), *draw.rows(), draw.vector(4), draw.settings(), draw.integer(0), draw.integer(0)
    ),
    "tournament": lambda draw: CORE.tournament(
        draw.vector(draw.below(9)), draw.below(30), min(draw.integer(3), 2**16), draw.integer(0), draw.integer(0)
    ),
    "policy": lambda draw: _LSTM.log_probabilities(draw.rules(), *draw.rows()),
    "policy samples": lambda draw: _LSTM.sample(draw.rules(), draw.below(20), draw.integer(0), draw.integer(0), 1),
    "gradient": lambda draw: CORE.Lstm(T, 4, 1, True, True, False, 0).gradient(
        draw.rules(), *draw.rows(), draw.vector(4), draw.vector(4), draw.number(0.9)
    ),
    "state": lambda draw: CORE.Lstm(T, 4, 1, True, True, False, 0).set_state(
        draw.array(_LSTM.state()[0]), draw.integer(3)
    ),
    "product": lambda draw: CORE.product(draw.matrix(), draw.matrix()),
    "dots": lambda draw: CORE.dots(draw.matrix(), draw.vector(draw.below(12))),
    "least squares": lambda draw: CORE.least_squares(draw.matrix(), draw.vector(draw.below(12)), draw.number(1e-12)),
    "normal solution": lambda draw: CORE.normal_solution(draw.matrix(), draw.vector(draw.below(12))),
    "leading errors": lambda draw: CORE.leading_errors(draw.matrix(), draw.vector(draw.below(12))),
    "smallest direction": lambda draw: CORE.smallest_direction(draw.matrix()),
    "eigenvalues": lambda draw: CORE.symmetric_eigen(draw.matrix()),
    "roots": lambda draw: CORE.roots(draw.vector(draw.below(12))),
    "elementwise": lambda draw: CORE.elementwise(draw.integer(1), draw.vector(draw.below(12)), draw.vector(3)),
    "smallest": lambda draw: CORE.smallest(draw.matrix(), draw.integer(2)),
}


def one(data: bytes) -> None:
    """Make the calls that the bytes choose."""
    draw = Draw(data)
    for _ in range(1 + draw.below(4)):
        call = list(CALLS.values())[draw.below(len(CALLS))]
        try:
            call(draw)
        except _REFUSALS:
            continue
