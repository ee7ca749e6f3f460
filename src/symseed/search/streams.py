"""Random seeds: all are derived from the user's seed, each by the name of its use.

Sampling, evolution and so on must not share random numbers, or their results would be correlated. A search draws five
independent seeds from its own (NumPy's `SeedSequence`). Seeds of the searches of one fit differ by multiples of a
prime number, so that no two are equal.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

import numpy as np

from symseed.errors import check_at_least


class Stream(enum.Enum):
    """Kinds of searches with their own seeds; values are the distances between seeds of one kind."""

    TRACK = 7_919
    """The searches of a portfolio."""
    TARGET = 104_729
    """The targets of a fit with several."""
    PART = 1_299_709
    """The searches for the parts of a template."""
    REDUCED = 86_028_121
    """The portfolios that search the reduced problems of another."""
    ISLAND = 122_949_823
    """The portfolios of a search by islands."""
    NETWORK = 141_650_939
    """Formulas that a network draws for the pool of a portfolio."""
    TEST = 32_452_843
    """The samples that are held out for a test."""
    FOLDS = 49_979_687
    """The parts of the samples for cross-validation."""
    RESAMPLE = 67_867_967
    """Samples drawn again for stability, and the points at which alternatives are compared."""
    WARM_START = 15_485_863
    """Fits that continue from the formulas of earlier fits: each has other random numbers."""


def derived(seed: int, stream: Stream, index: int) -> int:
    """Return the seed of the source `index` of a kind; source 0 has the given seed."""
    return seed + stream.value * index


@dataclass(frozen=True, slots=True)
class SearchSeeds:
    """Seeds of a search's independent random streams."""

    policy: int
    """The network's first weights."""
    samples: int
    seeds: int
    """Random trees with which evolution begins."""
    evolution: int
    training: int

    @classmethod
    def of(cls, seed: int) -> SearchSeeds:
        """Draw the seeds from one seed.

        Raises:
            SettingsError: if it is negative.
        """
        check_at_least("seed", seed, 0)
        return cls(*(int(word) for word in np.random.SeedSequence(seed).generate_state(5, np.uint64)))
