"""The search space: lengths, constraints, priors and physical dimensions, compiled for one native walker."""

from __future__ import annotations

from symseed.space.constraints import (
    PAPER,
    ArgumentSizes,
    Constraint,
    Dimensions,
    NeedsInput,
    Nesting,
    NoInverses,
    NoLoneConstants,
    NoNestedTrigonometry,
    Relational,
    Relationship,
    Repeat,
)
from symseed.space.dimensions import Dimension, dimension
from symseed.space.priors import SoftLength, UniformArity
from symseed.space.space import SearchSpace

__all__ = [
    "PAPER",
    "ArgumentSizes",
    "Constraint",
    "Dimension",
    "Dimensions",
    "NeedsInput",
    "Nesting",
    "NoInverses",
    "NoLoneConstants",
    "NoNestedTrigonometry",
    "Relational",
    "Relationship",
    "Repeat",
    "SearchSpace",
    "SoftLength",
    "UniformArity",
    "dimension",
]
