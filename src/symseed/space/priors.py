"""Priors: soft preferences of sampling, which are added to logits and forbid nothing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from symseed import arithmetic
from symseed.errors import SettingsError
from symseed.language.library import Library


@dataclass(frozen=True, slots=True)
class SoftLength:
    """The soft length prior of Landajuela et al. (2021).

    After t tokens, some logits are lowered by (t - location)^2 / (2 variance): before `location` those of terminals
    that would end the expression, from there on those of operators. The first token is free.
    """

    location: float = 10.0
    variance: float = 5.0

    def __post_init__(self) -> None:
        """Refuse values that do not define a distribution."""
        if not self.variance > 0.0:
            raise SettingsError(f"`variance` of the soft length prior must be above 0, but it is {self.variance}.")
        if not np.isfinite(self.location):
            raise SettingsError(f"`location` of the soft length prior must be finite, but it is {self.location}.")


@dataclass(frozen=True, slots=True)
class UniformArity:
    """Makes each arity equally likely, however many tokens have it."""

    def bias(self, library: Library) -> npt.NDArray[np.float64]:
        """Return -ln(number of tokens of the same arity) for each token, (T,)."""
        counts = np.bincount(library.arities)
        return -arithmetic.log(counts[library.arities].astype(np.float64))
