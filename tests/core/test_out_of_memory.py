"""Memory that runs out in native code, at each allocation in turn, is a MemoryError and never ends the process."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

# Takes the place of the C++ library's `operator new`: the n-th call from now on fails, and those after it do not.
_FAILING_NEW = """
#include <atomic>
#include <cstdlib>
#include <new>
static std::atomic<long> left{-1};
extern "C" void fail_at(long n) { left = n; }
extern "C" long still_left() { return left; }
static void* taken(std::size_t size) {
  if (left >= 0 && left.fetch_sub(1) == 0) throw std::bad_alloc();
  void* out = std::malloc(size ? size : 1);
  if (!out) throw std::bad_alloc();
  return out;
}
void* operator new(std::size_t size) { return taken(size); }
void* operator new[](std::size_t size) { return taken(size); }
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t) noexcept { std::free(p); }
"""

_CALLS = """
import ctypes, sys
import numpy as np
from symseed import Library, Population, Expression, _core

failing = ctypes.CDLL(sys.argv[1])
failing.fail_at.argtypes, failing.still_left.restype = [ctypes.c_long], ctypes.c_long
library = Library.of(["add", "mul", "sin", "const"], 2)
ids = list(range(len(library)))
rows = Population.from_expressions([Expression.parse("x1 + sin(x2 * const)", library)] * 300)
samples = _core.Samples(np.ones((40, 2)), np.ones(40), np.ones(40))
vary = _core.VarySettings(0.5, 0.5, 5, 3, 5, [1.0, 1.0, 1.0, 1.0, 1.0, 1.0], True)
bias = np.zeros(len(library))

def rules():
    kinds = [_core.Limit(ids[:3], 2), _core.Need(ids[:1]), _core.Nest([2], [2], 1),
             _core.Relation(_core.Relationship.CHILD, ids[:2], ids[2:])]
    return _core.Rules(library.vocabulary, kinds, min_length=1, max_length=20, bias=bias,
                       soft_location=10.0, soft_variance=0.0)

free = _core.Rules(library.vocabulary, [], min_length=1, max_length=20, bias=bias, soft_location=1.0, soft_variance=0.0)
packed = (rows.tokens, rows.lengths, rows.constants)
calls = {
    "rules": rules,
    "sample": lambda: free.sample(50, 1, 2, 3),
    "random trees": lambda: free.random_trees(50, 1, 2, 0, 3, 3),
    "generation": lambda: _core.next_generation(free, *packed, np.ones(300), vary, 1, 2),
    "values": lambda: _core.predictions(library.vocabulary, samples, *packed, validity=_core.Validity.FLAGS, threads=4),
}
for name, call in calls.items():
    call()
    failed = 0
    for n in range(3_000):
        failing.fail_at(n)
        try:
            call()
        except MemoryError:
            failed += 1
        is_done = failing.still_left() >= 0
        failing.fail_at(-1)
        if is_done:
            break
    print(name, n, failed, flush=True)
    assert n and (failed or name == "values"), name
"""


@pytest.mark.skipif(sys.platform != "linux", reason="`operator new` is replaced by the loader of Linux")
@pytest.mark.skipif(shutil.which("c++") is None, reason="needs a C++ compiler")
def test_each_allocation_that_fails_is_a_memory_error(tmp_path: Path) -> None:
    source, library = tmp_path / "new.cpp", tmp_path / "new.so"
    source.write_text(_FAILING_NEW)
    subprocess.run(["c++", "-O1", "-shared", "-fPIC", "-o", str(library), str(source)], check=True)
    command = [sys.executable, "-c", _CALLS, str(library)]
    done = subprocess.run(command, env={"LD_PRELOAD": str(library)}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.returncode}: {done.stdout}{done.stderr}"
    assert len(done.stdout.splitlines()) == 5
