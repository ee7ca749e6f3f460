"""How long the network takes to read a table and to draw samples, on each instruction set.

    python perf/network.py [--columns 1 3 6 9] [--rows 256] [--samples 500] [--network FILE]

Without a file the parameters are random, and samples then share few prefixes: the time of sampling is that of the worst
case. The last column has the different prefixes that the decoder computed.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

from symseed import Library, SearchSpace, _core
from symseed.network import Network, Shape

TOKENS = ("add", "sub", "mul", "div", "sqrt", "square", "exp", "log", "sin", "cos", "const")


def random_network() -> Network:
    """Return a network of the usual size with random parameters."""
    rng = np.random.default_rng(0)
    shape = Shape(symbols=len(TOKENS))
    blocks = {
        name: (float(name.endswith("norm")) + 0.02 * rng.normal(size=(rows, columns))).astype(np.float32)
        for name, rows, columns in shape.native().blocks()
    }
    return Network(shape, TOKENS, blocks)


def main() -> None:
    """Read the command line, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--columns", type=int, nargs="+", default=[1, 3, 6, 9])
    parser.add_argument("--rows", type=int, default=256)
    parser.add_argument("--samples", type=int, default=500)
    parser.add_argument("--network", type=Path)
    asked = parser.parse_args()
    network = random_network() if asked.network is None else Network.load(asked.network)
    print(f"{'columns':>8}{'instruction set':>17}{'reading, CPU s':>16}{'sampling, CPU s':>17}{'prefixes':>10}")
    for columns in asked.columns:
        rng = np.random.default_rng(columns)
        X = rng.uniform(1.0, 3.0, (asked.rows, columns))
        values = np.column_stack([X, X.prod(axis=1) / (1.0 + X[:, 0])])
        library = Library.of([*TOKENS], columns)
        space = SearchSpace(library, 1, network.shape.longest)
        spoken = network.spoken(library, range(columns))
        for name in _core.instruction_sets():
            began = time.process_time()
            reading = network.native.read(values, instruction_set=name)
            read = time.process_time()
            tokens, lengths, _ = reading.sample(space.rules, spoken, asked.samples, seed=0, step=0)
            ended = time.process_time()
            prefixes = len({tuple(row[:n]) for row, length in zip(tokens, lengths, strict=True) for n in range(length)})
            print(f"{columns:>8}{name:>17}{read - began:>16.3f}{ended - read:>17.3f}{prefixes:>10}")


if __name__ == "__main__":
    main()
