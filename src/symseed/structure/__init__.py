"""Structure of data by evidence: combinations of columns, and factors and terms that come off the target."""

from __future__ import annotations

from symseed.structure.process import Posterior, Process
from symseed.structure.reduction import Column, Kind, Reduction, Step, Values
from symseed.structure.search import Candidate, Structure, StructureSettings, find
from symseed.structure.words import Finding, findings

__all__ = [
    "Candidate",
    "Column",
    "Finding",
    "Kind",
    "Posterior",
    "Process",
    "Reduction",
    "Step",
    "Structure",
    "StructureSettings",
    "Values",
    "find",
    "findings",
]
