"""The shared context of assembly: the data, the tokens, the settings, and the clock."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from symseed import arithmetic
from symseed.arrays import Floats
from symseed.completion.backsolve import Backsolver
from symseed.data import Dataset
from symseed.errors import check_at_least
from symseed.language import Row, Writer
from symseed.search.budget import IsLate


@dataclass(frozen=True, slots=True)
class AssemblySettings:
    """Settings of assembly. Sizes are chosen by hand."""

    features: int = 2_000
    """Number of short sub-expressions at the start, shortest first."""
    more_features: int = 12_000
    """Number of short sub-expressions of an enlarged assembly, after the first one did not suffice."""
    paired: int = 1_200
    """Number of features tried in sums of two."""
    newer: int = 500
    """Most sub-expressions of the search's best formulas that are added to the features."""
    samples: int = 200
    """Number of samples used, spread over the data; formulas found are fitted and judged on all samples."""
    framed: int = 600
    """Number of holes tried with one more operator around them, those of the best formulas first."""
    matches: int = 24
    """Number of formulas of each kind that one round gives."""
    promising: int = 8
    """Number of holes filled with polynomials in one round."""
    blocks: bool = True
    """Whether holes are filled with polynomials and rational functions too."""
    probes: bool = True
    """Whether waves, parities, sums and products detected in the data are used."""

    def __post_init__(self) -> None:
        """Refuse what cannot run."""
        at_least_one = ("features", "more_features", "samples")
        for name in (*at_least_one, "paired", "newer", "framed", "matches", "promising"):
            check_at_least(name, getattr(self, name), int(name in at_least_one), of="assembly")


@dataclass(frozen=True, slots=True)
class Table:
    """Sub-expressions and their values."""

    rows: list[Row]
    values: Floats  # (K, M)


@dataclass(frozen=True, slots=True)
class Workbench:
    """One dataset, and what is needed to put formulas together for it."""

    writer: Writer
    whole: Dataset
    """All samples."""
    backsolver: Backsolver
    """Gives the desired values of nodes, at some of the samples."""
    settings: AssemblySettings
    is_late: IsLate
    """Says whether time is up, after which the remaining work is skipped."""

    @property
    def data(self) -> Dataset:
        """The samples that assembly uses."""
        return self.backsolver.dataset

    @property
    def inputs(self) -> Floats:
        """The columns of the writer's variables, at the samples that assembly uses."""
        return self.data.X[:, self.writer.columns]

    def length(self, error: Floats | np.float64, tokens: Floats | np.float64) -> Floats:
        """Return description lengths, without the cost of constants, from weighted sums of squared errors."""
        length = arithmetic.log(np.asarray(error / self.data.total_weight + self.data.rounding))
        length *= 0.5 * len(self.data)
        length += tokens * self.writer.library.mean_nats
        return length
