"""Batches of random formulas with tables, drawn by `corpus.cpp` on several threads; nothing is stored.

Forms of the catalogue's problems, but a + b x, are left out of training and of validation: a form is what remains of a
formula if the order of terms and factors, the nesting of products and quotients, the numbers, the signs of a whole sum
and the names of variables make no difference.
"""

from __future__ import annotations

import argparse
import collections
import ctypes
import itertools
import queue
import subprocess
import threading
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from symseed import Expression, benchmarks
from symseed.language.tokens import TokenKind

SYMBOLS = ("add", "sub", "mul", "div", "sqrt", "square", "exp", "log", "sin", "cos", "const")
"""The tokens besides variables, in the order of their ids, which begin at 1."""
ARITY = tuple(2 if name in ("add", "sub", "mul", "div") else 0 if name == "const" else 1 for name in SYMBOLS)
LONGEST = 32
"""Most tokens of a formula."""
COLUMNS = (0.13, 0.14, 0.14, 0.14, 0.13, 0.11, 0.08, 0.07, 0.06)
"""How often a table has one column, two, ..."""
ROWS = {4: 0.02, 6: 0.03, 8: 0.03, 12: 0.04, 16: 0.05, 24: 0.07, 32: 0.08, 64: 0.2, 128: 0.28, 256: 0.2}
"""How often a table has a number of rows."""
MOST = 4096
"""Most tables of a batch."""

_POWERS = {"cube": 3.0, "quartic": 4.0, "inv": -1.0}
"""Operators that are powers."""

Batch = tuple[npt.NDArray[np.float32], npt.NDArray[np.uint8]]


@dataclass(frozen=True)
class Corpus:
    """The native generator, and the forms that it leaves out."""

    native: ctypes.CDLL
    barred: npt.NDArray[np.uint64]

    @classmethod
    def build(cls, folder: Path) -> Corpus:
        """Compile the generator into a folder."""
        folder.mkdir(parents=True, exist_ok=True)
        target = folder / "corpus.so"
        source = Path(__file__).with_name("corpus.cpp")
        command = ["c++", "-std=c++20", "-O3", "-march=native", "-shared", "-fPIC", "-o", str(target), str(source)]
        subprocess.run(command, check=True)
        native = ctypes.CDLL(str(target))
        pointer, whole = ctypes.c_void_p, ctypes.c_int
        native.draw_batch.argtypes = (
            ctypes.c_uint64,
            whole,
            whole,
            whole,
            whole,
            whole,
            pointer,
            ctypes.c_size_t,
            pointer,
            pointer,
        )
        native.draw_batch.restype = ctypes.c_int64
        native.form_of.argtypes, native.form_of.restype = (ctypes.c_char_p, ctypes.c_size_t), ctypes.c_uint64
        line = bytes([1 + len(SYMBOLS)])
        forms = {native.form_of(bytes(ids), len(ids)) for ids in catalogue()} - {native.form_of(line, 1)}
        return cls(native, np.array(sorted(forms), dtype=np.uint64))

    def draw(self, seed: int, columns: int, rows: int, count: int, *, for_validation: bool = False) -> Batch:
        """Draw tables (count, rows, columns + 1), the target last, and ids of formulas (count, LONGEST)."""
        values = np.empty((count, rows, columns + 1), dtype=np.float32)
        ids = np.empty((count, LONGEST), dtype=np.uint8)
        self.native.draw_batch(
            seed,
            columns,
            rows,
            count,
            LONGEST,
            int(for_validation),
            self.barred.ctypes.data,
            len(self.barred),
            values.ctypes.data,
            ids.ctypes.data,
        )
        return values, ids


def catalogue() -> list[list[int]]:
    """Return the formulas of the catalogue that the network could write, as ids."""
    problems = {problem.name: problem for name in benchmarks.SETS for problem in benchmarks.resolve(name)}
    written = [ids_of(problem.target) for problem in problems.values() if problem.target is not None]
    return [ids for ids in written if ids is not None]


def ids_of(expression: Expression) -> list[int] | None:
    """Return a formula as ids; None if it has tokens or variables that the network lacks."""
    rest = iter(expression.tokens)

    def id_of(name: str) -> int:
        return 1 + SYMBOLS.index(name)

    def power(of: list[int], exponent: float) -> list[int] | None:
        if exponent < 0.0:
            inner = power(of, -exponent)
            return None if inner is None else [id_of("div"), id_of("const"), *inner]
        if exponent != int(exponent):
            inner = power(of, 2.0 * exponent) if 2.0 * exponent == int(2.0 * exponent) else None
            return None if inner is None else [id_of("sqrt"), *inner]
        return [id_of("mul")] * (int(exponent) - 1) + of * int(exponent) if 1 <= exponent <= 10 else None

    def part() -> list[int] | None:
        token = next(rest)
        if token.kind is TokenKind.VARIABLE:
            return [1 + len(SYMBOLS) + token.column] if token.column < len(COLUMNS) else None
        if token.kind is not TokenKind.OPERATOR:
            return [id_of("const")]
        if token.name == "pow":
            base, exponent = part(), next(rest)
            is_number = exponent.kind is TokenKind.LITERAL
            return power(base, exponent.value) if base is not None and is_number else None
        parts = [part() for _ in range(token.arity)]
        known = [ids for ids in parts if ids is not None]
        if len(known) < len(parts):
            return None
        if token.name in _POWERS:
            return power(known[0], _POWERS[token.name])
        if token.name == "neg":
            return [id_of("mul"), id_of("const"), *known[0]]
        return [id_of(token.name), *itertools.chain.from_iterable(known)] if token.name in SYMBOLS else None

    return part()


def text(ids: npt.NDArray[np.uint8]) -> str:
    """Show a formula."""
    rest = iter(ids[ids > 0].tolist())

    def part() -> str:
        token = next(rest)
        if token > len(SYMBOLS):
            return f"x{token - len(SYMBOLS)}"
        name = SYMBOLS[token - 1]
        if name == "const":
            return "c"
        if ARITY[token - 1] == 2:
            return f"({part()} {'+-*/'[token - 1]} {part()})"
        return f"{name}({part()})"

    return part()


class Stream:
    """Batches of about one size, drawn ahead on several threads.

    The seed of a batch is its number, so the same training sees the same batches in any order of the threads.
    """

    def __init__(
        self, corpus: Corpus, seed: int, *, numbers: int, threads: int, begin: int = 0, ahead: int = 64
    ) -> None:
        """Draw batches of about `numbers` numbers each, from batch `begin` on."""
        self._corpus, self._seed, self._numbers = corpus, seed, numbers
        self._waiting: queue.Queue[Batch] = queue.Queue(ahead)
        self._next, self._lock = begin, threading.Lock()
        for _ in range(threads):
            threading.Thread(target=self._work, daemon=True).start()

    def __next__(self) -> Batch:
        """Return the next batch."""
        return self._waiting.get()

    def __iter__(self) -> Stream:
        """Give batch after batch, without end."""
        return self

    def _work(self) -> None:
        while True:
            with self._lock:
                index = self._next
                self._next += 1
            rng = np.random.default_rng([self._seed, index])
            columns = 1 + int(rng.choice(len(COLUMNS), p=COLUMNS))
            rows = int(rng.choice(list(ROWS), p=list(ROWS.values())))
            count = min(MOST, max(32, self._numbers // (rows * (columns + 1)) // 8 * 8))
            self._waiting.put(self._corpus.draw(int(rng.integers(2**62)), columns, rows, count))


def main() -> None:
    """Show some formulas of the corpus, and how long drawing takes."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--columns", type=int, default=3)
    parser.add_argument("--rows", type=int, default=64)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--build", type=Path, default=Path("build/neural"))
    asked = parser.parse_args()
    corpus = Corpus.build(asked.build)
    _, ids = corpus.draw(asked.seed, asked.columns, asked.rows, asked.count)
    for formula, count in collections.Counter(map(text, ids)).most_common():
        print(f"{count:4}  {formula}")


if __name__ == "__main__":
    main()
