"""Assembly of formulas by linear algebra (polynomials, rational functions, sums of features), and simplification."""

from __future__ import annotations

from symseed.assembly.assembler import Assembler
from symseed.assembly.laws import first_laws, mean
from symseed.assembly.probes import relevance
from symseed.assembly.simplify import converged, fitted, refitted, simplified
from symseed.assembly.workbench import AssemblySettings

__all__ = [
    "Assembler",
    "AssemblySettings",
    "converged",
    "first_laws",
    "fitted",
    "mean",
    "refitted",
    "relevance",
    "simplified",
]
