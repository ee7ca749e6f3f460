"""Settings of the fit of constants, which the core does."""

from __future__ import annotations

from dataclasses import dataclass

from symseed.data.backend import FitMethod
from symseed.errors import check_between


@dataclass(frozen=True, slots=True)
class FitSettings:
    """Levenberg-Marquardt with exact derivatives, from the constants of a row (a new constant is 1), or BFGS."""

    iterations: int = 30
    """Number of steps per start, accepted or rejected. Smooth problems need about ten."""

    restarts: int = 0
    """Number of further starts from random values of size 0.01 to 100 and either sign; the best result is kept. Only
    for Levenberg-Marquardt."""

    method: FitMethod = FitMethod.LEVENBERG_MARQUARDT
    """`BFGS_FROM_ONES` is that of the authors' released code: BFGS on the reward, from constants of 1, so that a row
    keeps nothing of the constants of its parents. Its derivatives are exact, theirs are differences."""

    def __post_init__(self) -> None:
        """Refuse values out of range."""
        check_between("iterations", self.iterations, 0, 1_000_000)
        check_between("restarts", self.restarts, 0, 1_000_000)
