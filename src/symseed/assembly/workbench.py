"""What all of assembly works with: the data, the tokens, the settings, and the clock."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from symseed import arithmetic
from symseed.arrays import Floats
from symseed.completion.backsolve import Backsolver
from symseed.data import Dataset
from symseed.errors import SettingsError
from symseed.language import Row, Writer
from symseed.search.budget import IsLate


@dataclass(frozen=True, slots=True)
class AssemblySettings:
    """How much is tried at a time."""

    features: int = 2_000
    """Small sub-expressions that are known from the start, shortest first."""
    more_features: int = 12_000
    """How many there are once the first have not sufficed."""
    paired: int = 1_200
    """How many of them, and of newer ones, are tried in sums of two."""
    newer: int = 500
    """Sub-expressions of the search's best formulas beside them."""
    samples: int = 200
    """Samples that are looked at, spread over the data; what is found is fitted and judged on all of them."""
    framed: int = 600
    """Holes with one more operator around them that are tried beside, those of the best formulas first."""
    matches: int = 24
    """Formulas that one round gives of each kind."""
    promising: int = 8
    """Holes that polynomials are solved for in one round."""
    blocks: bool = True
    """Whether holes are filled with polynomials and rational functions too."""
    probes: bool = True
    """Whether waves, parities, sums and products that the data show are made use of."""

    def __post_init__(self) -> None:
        """Refuse what cannot run."""
        at_least_one = ("features", "more_features", "samples")
        for name in (*at_least_one, "paired", "newer", "framed", "matches", "promising"):
            value, least = getattr(self, name), int(name in at_least_one)
            if value < least:
                raise SettingsError(f"`{name}` of assembly must be at least {least}, but it is {value}.")


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
    """What nodes should have been, at some of the samples."""
    settings: AssemblySettings
    is_late: IsLate
    """Once time is up, what is under way is left out."""

    @property
    def data(self) -> Dataset:
        """The samples that are looked at."""
        return self.backsolver.dataset

    @property
    def inputs(self) -> Floats:
        """The inputs that the writer knows, at these samples."""
        return self.data.X[:, self.writer.columns]

    def length(self, error: Floats | np.float64, tokens: Floats | np.float64) -> Floats:
        """Return description lengths, without what constants cost, from weighted sums of squared errors."""
        length = arithmetic.log(np.asarray(error / self.data.total_weight + self.data.rounding))
        length *= 0.5 * len(self.data)
        length += tokens * self.writer.library.token_nats
        return length
