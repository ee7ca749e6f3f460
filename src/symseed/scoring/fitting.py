"""How constants are fitted: settings of the core's Levenberg-Marquardt."""

from __future__ import annotations

from dataclasses import dataclass

from symseed.errors import SettingsError


@dataclass(frozen=True, slots=True)
class FitSettings:
    """Levenberg-Marquardt with exact derivatives, from the constants that a row has (a fresh one is 1)."""

    iterations: int = 30
    """Steps per start, taken or refused. Smooth problems need about ten."""

    restarts: int = 0
    """Further starts from random values between 0.01 and 100 of either sign; the best end is kept."""

    def __post_init__(self) -> None:
        """Refuse what cannot be counted."""
        for name, least in (("iterations", 0), ("restarts", 0)):
            if not least <= getattr(self, name) <= 1_000_000:
                raise SettingsError(f"`{name}` must be from {least} to 1,000,000, but it is {getattr(self, name)}.")
