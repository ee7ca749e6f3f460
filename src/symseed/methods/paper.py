"""The paper's own method with its trainers, and numbers of generations."""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import replace

from symseed.methods.method import (
    EVOLUTION,
    GUIDED,
    NGGP,
    Method,
)
from symseed.search.training import (
    CrossEntropyTrainer,
    EntropySettings,
    QueueTrainer,
    RiskSeekingTrainer,
    VanillaTrainer,
)
from symseed.space.priors import SoftLength

GENERATIONS: Mapping[int, str] = types.MappingProxyType(
    {0: "dsr", **{count: "nggp" if count == 25 else f"nggp-s-{count}" for count in (1, 5, 10, 15, 20, 25, 30, 40, 50)}}
)
"""The methods of the paper's figure of recovery by S, the number of generations; S = 0 is `dsr`, as in the paper."""


def paper() -> list[Method]:
    """Return the paper's method with each of its trainers."""
    return [
        Method(
            "nggp",
            f"{GUIDED} (Mundhenk et al. 2021): a recurrent network samples formulas, 25 generations evolve them, and "
            "the best formulas so far train the network.",
        ),
        Method(
            "nggp-slp-her",
            f"{GUIDED} with a prior for lengths near 10 tokens, an entropy bonus that decays along a formula, and "
            "up to 100 tokens (Landajuela et al. 2021).",
            replace(NGGP, trainer=QueueTrainer(entropy=EntropySettings(weight=0.03, decay=0.7))),
            max_length=100,
            soft_length=SoftLength(10.0, 5.0),
        ),
        Method(
            "nggp-vpg",
            f"{GUIDED} whose network learns from all formulas, weighted by reward: the vanilla policy gradient.",
            replace(NGGP, trainer=VanillaTrainer()),
        ),
        Method(
            "nggp-rspg",
            f"{GUIDED} whose network learns from the best 2 % of each step: the risk-seeking policy gradient.",
            replace(NGGP, trainer=RiskSeekingTrainer(risk=0.02)),
        ),
        Method(
            "nggp-cem",
            f"{GUIDED} whose network learns from the best 2 % of each step, equally: the cross-entropy method.",
            replace(NGGP, trainer=CrossEntropyTrainer(risk=0.02)),
        ),
    ]


def generations() -> list[Method]:
    """Return the paper's method with other numbers of generations."""
    return [
        Method(
            name,
            f"{GUIDED} with {count} generation{'s' if count > 1 else ''} between two training steps, in place of 25.",
            replace(NGGP, evolution=replace(EVOLUTION, generations=count)),
        )
        for count, name in GENERATIONS.items()
        if name not in ("dsr", "nggp")
    ]
