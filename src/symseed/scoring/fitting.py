"""How constants are fitted: settings of the core's Levenberg-Marquardt."""

from __future__ import annotations

from dataclasses import dataclass

from symseed.errors import check_between


@dataclass(frozen=True, slots=True)
class FitSettings:
    """Levenberg-Marquardt with exact derivatives, from the constants that a row has (a fresh one is 1)."""

    iterations: int = 30
    """Steps per start, taken or refused. Smooth problems need about ten."""

    restarts: int = 0
    """Further starts from random values between 0.01 and 100 of either sign; the best end is kept."""

    def __post_init__(self) -> None:
        """Refuse what cannot be counted."""
        check_between("iterations", self.iterations, 0, 1_000_000)
        check_between("restarts", self.restarts, 0, 1_000_000)
