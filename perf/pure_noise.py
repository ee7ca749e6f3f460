"""How often `default` chooses a constant in pure noise: `python perf/pure_noise.py [draws] [seconds] [network]`."""

from __future__ import annotations

import sys
import time

import numpy as np

from symseed import Budget, Dataset, Library, methods, portfolio

OPERATORS = ("add", "sub", "mul", "div", "sqrt", "square", "exp", "log", "sin", "cos")
SAMPLES = (20, 50, 200)


def main() -> None:
    """Search in draws of pure noise, of 20, 50 and 200 samples in turn."""
    draws = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 3.0
    settings = methods.get("default").portfolio
    assert settings is not None, "`default` is a portfolio"
    if len(sys.argv) > 3:
        settings = settings.with_network(sys.argv[3])
    library = Library.of(OPERATORS, 2)
    chosen = 0
    for draw in range(draws):
        rng = np.random.default_rng(1000 + draw)
        samples = SAMPLES[draw % len(SAMPLES)]
        data = Dataset.of(rng.uniform(0.1, 3.0, (samples, 2)), rng.normal(1.0, 1.0, samples))
        budget = Budget(2_000_000, seconds, time.process_time)
        found = portfolio.run(library, data, settings, seed=draw, budget=budget).best.expression
        chosen += len(found) == 1
        if len(found) > 1:
            print(f"draw {draw}, {samples} samples: {found}")
    print(f"a constant formula in {chosen} of {draws} draws, {seconds:g} CPU s each")


if __name__ == "__main__":
    main()
