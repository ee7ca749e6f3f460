"""How often `default` chooses a constant in pure noise: `python perf/pure_noise.py [draws] [seconds] [network]`.

`--rows 5 8 14` draws noise of as many samples in turn; by default there are 20, 50 and 200.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from symseed import Budget, Dataset, Library, methods, portfolio
from symseed.language.tokens import TokenKind

OPERATORS = ("add", "sub", "mul", "div", "sqrt", "square", "exp", "log", "sin", "cos")
SAMPLES = (20, 50, 200)


def main() -> None:
    """Search in draws of pure noise, of some numbers of samples in turn."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("draws", type=int, nargs="?", default=100)
    parser.add_argument("seconds", type=float, nargs="?", default=3.0)
    parser.add_argument("network", nargs="?")
    parser.add_argument("--rows", type=int, nargs="+", default=SAMPLES)
    asked = parser.parse_args()
    settings = methods.get("default").portfolio
    assert settings is not None, "`default` is a portfolio"
    if asked.network is not None:
        settings = settings.with_network(asked.network)
    library = Library.of(OPERATORS, 2)
    chosen = 0
    for draw in range(asked.draws):
        rng = np.random.default_rng(1000 + draw)
        samples = asked.rows[draw % len(asked.rows)]
        data = Dataset.of(rng.uniform(0.1, 3.0, (samples, 2)), rng.normal(1.0, 1.0, samples))
        budget = Budget(2_000_000, asked.seconds, time.process_time)
        found = portfolio.run(library, data, settings, seed=draw, budget=budget).best.expression
        is_constant = found.tokens[0].kind is TokenKind.CONSTANT
        chosen += is_constant
        if not is_constant:
            print(f"draw {draw}, {samples} samples: {found}")
    print(f"a constant formula in {chosen} of {asked.draws} draws, {asked.seconds:g} CPU s each")


if __name__ == "__main__":
    main()
