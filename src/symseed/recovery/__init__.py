"""Is this formula the target? By values in high precision, then by symbols."""

from __future__ import annotations

from symseed.recovery.checker import Checker, Recovery, Verdict, check

__all__ = ["Checker", "Recovery", "Verdict", "check"]
