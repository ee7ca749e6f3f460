"""Recovery: whether a formula equals the target, by values in high precision and then by symbolic proof."""

from __future__ import annotations

from symseed.recovery.checker import Checker, Recovery, Verdict, check

__all__ = ["Checker", "Recovery", "Verdict", "check"]
