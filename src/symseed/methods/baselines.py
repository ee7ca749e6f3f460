"""What the paper compares its method with."""

from __future__ import annotations

from dataclasses import replace

from symseed.methods.method import (
    EVOLUTION,
    EVOLUTION_ONLY,
    NETWORK,
    NGGP,
    POLICY_ONLY,
    VARIATION,
    Method,
)
from symseed.search.evolution import EvolutionSettings
from symseed.search.policy import PolicySettings
from symseed.search.search import SearchSettings, Seeds
from symseed.search.training import (
    CrossEntropyTrainer,
    QueueTrainer,
    RiskSeekingTrainer,
    Trainer,
    VanillaTrainer,
)
from symseed.search.variation import VariationSettings

# Petersen et al. (2021), from whom the paper copied its figures of genetic programming alone: their released code has
# these settings. Its initial trees have as few as two tokens, so there is no least length.
_PETERSEN_HEIGHTS = (1, 2)

_PETERSEN = SearchSettings(
    batch=1_000,
    policy=None,
    seeds=Seeds.CONTINUE,
    heights=_PETERSEN_HEIGHTS,
    evolution=EvolutionSettings(
        variation=VariationSettings(
            crossover=0.95, mutation=0.03, tournament=2, new_depth=2, weights=(1.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        )
    ),
)


def baselines() -> list[Method]:
    """Return policies without genetic programming, genetic programming without a policy, and the two in turns."""
    return [
        Method(
            "dsr",
            f"{NETWORK}, and learns from the best 5 % of each step: deep symbolic regression (Petersen et al. 2021).",
            replace(POLICY_ONLY, trainer=RiskSeekingTrainer(risk=0.05)),
        ),
        Method(
            "dsr-lr-0.001",
            f"{NETWORK}, and learns from the best 5 % of each step, at learning rate 0.001 in place of 0.0005.",
            replace(POLICY_ONLY, policy=PolicySettings(learning_rate=0.001), trainer=RiskSeekingTrainer(risk=0.05)),
        ),
        Method(
            "pqt",
            f"{NETWORK}, and learns from the ten best so far: priority queue training (Abolafia et al. 2018).",
            replace(POLICY_ONLY, trainer=QueueTrainer()),
        ),
        Method(
            "vpg",
            f"{NETWORK}, and learns from all samples, weighted by reward: the vanilla policy gradient.",
            replace(POLICY_ONLY, trainer=VanillaTrainer()),
        ),
        *_evolution(),
        _gegl(
            "gegl",
            "one formula drawn from that queue and from a queue of the best children, of 500 formulas each.",
            QueueTrainer(size=2 * NGGP.batch, pushes=None),
            NGGP.batch,
        ),
        _gegl(
            "gegl-whole-queue",
            "all of that queue and of a queue of the best children, of 100 formulas each.",
            CrossEntropyTrainer(risk=1.0),
            100,
        ),
    ]


def _gegl(name: str, training: str, trainer: Trainer, queue: int) -> Method:
    return Method(
        name,
        "Genetic expert-guided learning (Ahn et al. 2020): one generation without selection on a queue of a network's "
        f"best samples, and training on {training}",
        replace(
            NGGP,
            trainer=trainer,
            evolution=replace(EVOLUTION, generations=1, variation=replace(VARIATION, tournament=0)),
            seeds=Seeds.QUEUE,
            elite=queue,
            elite_lasts=True,
        ),
    )


def _evolution() -> list[Method]:
    return [
        Method(
            "gp",
            "Genetic programming from random formulas, in one long run, without a network.",
            replace(EVOLUTION_ONLY, seeds=Seeds.CONTINUE),
        ),
        Method(
            "gp-restarts",
            "Genetic programming that restarts from random formulas every 25 generations, without a network.",
            EVOLUTION_ONLY,
        ),
        Method(
            "gp-petersen",
            "Genetic programming from random formulas, in one long run, with the settings of Petersen et al. (2021): "
            "1,000 formulas, tournaments of 2, much crossover and little mutation.",
            _PETERSEN,
            min_length=1,
        ),
        Method(
            "gp-petersen-protected",
            "Genetic programming with the settings of Petersen et al. (2021), and operators that have a value for "
            "every argument, such as 1 for a division by 0.",
            _PETERSEN,
            min_length=1,
            protected=True,
        ),
        Method(
            "gp-restarts-short",
            "Genetic programming that restarts every 25 generations from the short random formulas of Petersen et al. "
            "(2021), without a network.",
            replace(EVOLUTION_ONLY, heights=_PETERSEN_HEIGHTS),
            min_length=1,
        ),
    ]
