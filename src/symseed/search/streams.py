"""Where every seed comes from: one number that the user gives, and a name for each source of chance.

Samples, evolution and so on must not share random numbers, or what is chosen in one would depend on another. A search
draws five independent seeds from its own (NumPy's `SeedSequence`). Whole searches of one fit have seeds that lie a
prime number apart, so that no two of them meet.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

import numpy as np

from symseed.errors import SettingsError


class Stream(enum.Enum):
    """What has a seed of its own; values are how far apart those of one kind lie."""

    TRACK = 7_919
    """The searches of a portfolio."""
    TARGET = 104_729
    """The targets of a fit with several."""
    WARM_START = 15_485_863
    """Fits that go on from the formulas of earlier ones: each searches elsewhere."""


def derived(seed: int, stream: Stream, index: int) -> int:
    """Return the seed of one of the sources of a kind; the first of them has the seed itself."""
    return seed + stream.value * index


@dataclass(frozen=True, slots=True)
class SearchSeeds:
    """Seeds of a search's independent sources of chance."""

    policy: int
    """The network's first weights."""
    samples: int
    seeds: int
    """Random trees with which evolution begins."""
    evolution: int
    training: int

    @classmethod
    def of(cls, seed: int) -> SearchSeeds:
        """Draw them from one.

        Raises:
            SettingsError: where it is negative.
        """
        if seed < 0:
            raise SettingsError(f"`seed` must be at least 0, but it is {seed}.")
        return cls(*(int(word) for word in np.random.SeedSequence(seed).generate_state(5, np.uint64)))
