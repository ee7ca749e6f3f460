"""Formulas by linear algebra: polynomials, rational functions and sums of sub-expressions, made simple."""

from __future__ import annotations

from symseed.assembly.assembler import Assembler, AssemblySettings

__all__ = ["Assembler", "AssemblySettings"]
