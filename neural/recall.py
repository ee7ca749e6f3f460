"""How often the form of a law is among what the network draws before any search; needs symseed, unlike the training.

    python neural/recall.py src/symseed/network/network.safetensors [OTHER ...] [--sets Feynman] [--noise 0.1]

Each problem of the sets is drawn with each seed, and each network draws samples for the same rows. A form is what
remains of a formula if numbers, order and nesting make no difference (`forms.py`); an outer a + b f is left out.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from corpus import Corpus
from forms import ids_of

from symseed import Library, SearchSpace, benchmarks
from symseed.benchmarks.problem import Problem
from symseed.network import Network
from symseed.network.policy import MOST_COLUMNS, Reading


def rank(problem: Problem, network: Network, corpus: Corpus, noise: float, seed: int, samples: int) -> int | None:
    """Return how many other forms the network thinks more probable than the law's; None if it is not drawn."""
    assert problem.target is not None
    ids = ids_of(problem.target)
    assert ids is not None
    library = Library.of(list(network.tokens), len(problem.names))
    reading = Reading(network, problem.datasets(seed)[0].with_noise(noise, seed=seed), seed=seed)
    drawn, likely = reading.sample(SearchSpace(library, 1, network.shape.longest), samples, seed=seed, step=0)
    if drawn is None:
        return None
    symbols = 1 + network.spoken(library, reading.columns)
    total: dict[int, float] = {}
    for row, value in dict(zip((row.ids for row in drawn.rows), likely, strict=True)).items():
        form = corpus.form([int(one) for one in symbols[list(row)]])
        total[form] = total.get(form, 0.0) + float(np.exp(value))
    own = total.pop(corpus.form(ids), None)
    return None if own is None else sum(other > own for other in total.values())


def known(names: Sequence[str]) -> list[Problem]:
    """Return the problems whose law the network could write."""
    found = {problem.name: problem for name in names for problem in benchmarks.resolve(name)}
    return [
        problem
        for problem in found.values()
        if problem.target is not None and len(problem.names) <= MOST_COLUMNS and ids_of(problem.target) is not None
    ]


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="+", type=Path)
    parser.add_argument("--sets", nargs="+", default=["Feynman"])
    parser.add_argument("--noise", type=float, default=0.1)
    parser.add_argument("--seeds", type=int, default=3, help="draws of each problem")
    parser.add_argument("--samples", type=int, default=500)
    asked = parser.parse_args()
    corpus = Corpus.build(Path("build/neural"))
    problems = known(asked.sets)
    print(f"{'columns':>8}{'draws':>7}  the law's form is drawn, and is the most probable one, by each network")
    networks = [Network.load(path) for path in asked.networks]
    groups: dict[str, list[list[int | None]]] = {}
    for problem in problems:
        name = str(len(problem.names)) if len(problem.names) < 5 else "5 to 9"
        for seed in range(asked.seeds):
            groups.setdefault(name, []).append(
                [rank(problem, network, corpus, asked.noise, seed, asked.samples) for network in networks]
            )
    rows = sorted(groups.items())
    for name, found in [*rows, ("all", [one for _, some in rows for one in some])]:
        cells = []
        for place in range(len(networks)):
            ranks = [one[place] for one in found]
            cells.append(f"{sum(one is not None for one in ranks)}, {sum(one == 0 for one in ranks)}")
        print(f"{name:>8}{len(found):>7}" + "".join(f"{cell:>14}" for cell in cells))


if __name__ == "__main__":
    main()
