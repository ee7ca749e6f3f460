"""Batches of random formulas with tables, drawn by `corpus.cpp` on several threads; nothing is stored.

    python neural/corpus.py --columns 3          # shows formulas
    python neural/corpus.py --speed              # how many tables a core draws in a second
    python neural/corpus.py --portable           # compiles corpus.so for a machine without a compiler

It needs NumPy and a C++ compiler, but not symseed: training runs where neither is installed from a registry. Forms of
the catalogue's problems (`barred.txt`, which `forms.py` writes) are left out of training and of validation.
"""

from __future__ import annotations

import argparse
import collections
import ctypes
import queue
import shutil
import subprocess
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

SYMBOLS = ("add", "sub", "mul", "div", "sqrt", "square", "exp", "log", "sin", "cos", "const")
"""The tokens besides variables, in the order of their ids, which begin at 1."""
ARITY = tuple(2 if name in ("add", "sub", "mul", "div") else 0 if name == "const" else 1 for name in SYMBOLS)
LONGEST = 32
"""Most tokens of a formula."""
COLUMNS = (0.13, 0.14, 0.14, 0.14, 0.13, 0.11, 0.08, 0.07, 0.06)
"""How often a table has one column, two, ..."""
ROWS = {(4, 19): 0.17, (20, 47): 0.14, (48, 95): 0.2, (96, 191): 0.27, (192, 256): 0.22}
"""How often a table has a number of rows, from the first to the last of a pair."""
MOST = 1024
"""Most tables of a batch: with more, those of few rows take most of the time of a training."""
BARRED = Path(__file__).with_name("barred.txt")
"""Forms that are left out, as hexadecimal numbers."""

Batch = tuple[npt.NDArray[np.float32], npt.NDArray[np.uint8]]


@dataclass(frozen=True)
class Corpus:
    """The native generator, and the forms that it leaves out."""

    native: ctypes.CDLL
    barred: npt.NDArray[np.uint64]

    @classmethod
    def build(cls, folder: Path, *, is_portable: bool = False) -> Corpus:
        """Compile the generator into a folder; without a compiler, take the one that is there.

        Args:
            is_portable: whether it is for another machine, of which only the last ten years' instructions are known.
        """
        folder.mkdir(parents=True, exist_ok=True)
        target = folder / "corpus.so"
        compiler = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
        if compiler is not None:
            kind = ["-march=x86-64-v3", "-static-libgcc", "-static-libstdc++"] if is_portable else ["-march=native"]
            source = str(Path(__file__).with_name("corpus.cpp"))
            subprocess.run([compiler, "-std=c++20", "-O3", *kind, "-shared", "-fPIC", "-o", target, source], check=True)
        elif not target.exists():
            raise SystemExit(f"There is no C++ compiler here. Compile with --portable elsewhere, and bring {target}.")
        native = ctypes.CDLL(str(target.resolve()))
        pointer, whole, size = ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t
        seed = ctypes.c_uint64
        native.draw_batch.argtypes = (seed, whole, whole, whole, whole, whole, pointer, size, pointer, pointer)
        native.draw_batch.restype = ctypes.c_int64
        native.form_of.argtypes, native.form_of.restype = (ctypes.c_char_p, size), ctypes.c_uint64
        native.is_validation.argtypes, native.is_validation.restype = (ctypes.c_uint64,), whole
        lines = BARRED.read_text(encoding="utf-8").split() if BARRED.exists() else []
        return cls(native, np.array(sorted(int(line, 16) for line in lines), dtype=np.uint64))

    def form(self, ids: Sequence[int]) -> int:
        """Return the form of a formula, as a number."""
        return int(self.native.form_of(bytes(ids), len(ids)))

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
        self.waited = 0.0
        """Seconds for which the training has waited for a batch."""
        for _ in range(threads):
            threading.Thread(target=self._work, daemon=True).start()

    def __next__(self) -> Batch:
        """Return the next batch."""
        began = time.monotonic()
        batch = self._waiting.get()
        self.waited += time.monotonic() - began
        return batch

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
            first, last = list(ROWS)[int(rng.choice(len(ROWS), p=list(ROWS.values())))]
            rows = int(rng.integers(first, last + 1))
            count = min(MOST, max(32, self._numbers // (rows * (columns + 1)) // 8 * 8))
            self._waiting.put(self._corpus.draw(int(rng.integers(2**62)), columns, rows, count))


def speed(corpus: Corpus) -> None:
    """Print how many tables of each size a core draws in a second, and of the sizes of training on average."""
    seconds = 0.0
    print(f"{'columns':>8}{'rows':>6}{'tables a second':>17}")
    for columns, share in enumerate(COLUMNS, 1):
        for (first, last), part in ROWS.items():
            count, began = 200, time.process_time()
            corpus.draw(0, columns, (first + last) // 2, count)
            each = (time.process_time() - began) / count
            seconds += share * part * each
            print(f"{columns:>8}{(first + last) // 2:>6}{1.0 / each:>17,.0f}")
    print(f"on average {1.0 / seconds:,.0f} tables a second")


def main() -> None:
    """Show some formulas of the corpus, or how fast it is drawn."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--columns", type=int, default=3)
    parser.add_argument("--rows", type=int, default=64)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--build", type=Path, default=Path("build/neural"))
    parser.add_argument("--speed", action="store_true")
    parser.add_argument("--portable", action="store_true")
    asked = parser.parse_args()
    corpus = Corpus.build(asked.build, is_portable=asked.portable)
    if asked.speed:
        speed(corpus)
        return
    _, ids = corpus.draw(asked.seed, asked.columns, asked.rows, asked.count)
    for formula, count in collections.Counter(map(text, ids)).most_common():
        print(f"{count:4}  {formula}")


if __name__ == "__main__":
    main()
