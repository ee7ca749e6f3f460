"""Assembly of formulas by linear algebra (polynomials, rational functions, sums of features), and simplification."""

from __future__ import annotations

from symseed.assembly.assembler import Assembler
from symseed.assembly.probes import relevance
from symseed.assembly.simplify import fitted, refitted, simplified
from symseed.assembly.workbench import AssemblySettings

__all__ = ["Assembler", "AssemblySettings", "fitted", "refitted", "relevance", "simplified"]
