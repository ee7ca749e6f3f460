"""Every method by name: the paper's own, its trainers, its baselines and its ablations, and those beyond the paper.

A method is a set of settings, never its own code. If the paper does not give a value, a comment says which is used.
"""

from __future__ import annotations

import types
from collections.abc import Mapping

from symseed.errors import SettingsError, did_you_mean
from symseed.methods.ablations import ablations, further
from symseed.methods.baselines import baselines
from symseed.methods.beyond import beyond, completion_ablations
from symseed.methods.method import Method
from symseed.methods.paper import GENERATIONS, generations, paper
from symseed.methods.replications import replications

__all__ = ["GENERATIONS", "METHODS", "Method", "get"]


def get(name: str) -> Method:
    """Return the method of that name."""
    if name not in METHODS:
        raise SettingsError(
            f"There is no method `{name}`.{did_you_mean(name, METHODS)} The methods are {', '.join(METHODS)}."
        )
    return METHODS[name]


METHODS: Mapping[str, Method] = types.MappingProxyType(
    {
        method.name: method
        for method in [
            *paper(),
            *beyond(),
            *baselines(),
            *ablations(),
            *further(),
            *replications(),
            *generations(),
            *completion_ablations(),
        ]
    }
)
"""All methods by name."""
