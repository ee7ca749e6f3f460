"""The paper's ablations, and further ones."""

from __future__ import annotations

from dataclasses import replace

from symseed.methods.method import (
    GUIDED,
    NGGP,
    NO_INVERSE_NO_TRIG,
    UNIFORM,
    VARIATION,
    Method,
    varied,
)
from symseed.search.policy import PolicySettings
from symseed.search.search import Seeds
from symseed.search.training import (
    EntropySettings,
    OffPolicy,
    QueueTrainer,
    RiskSeekingTrainer,
    VanillaTrainer,
)


def ablations() -> list[Method]:
    """Return the ablations of the paper's table 3."""
    still = replace(PolicySettings(), learning_rate=0.0)
    return [
        Method(
            "nggp-no-gp-samples",
            f"{GUIDED} whose network learns from its own samples only.",
            replace(NGGP, trains_on_elite=False),
        ),
        Method(
            "nggp-no-rnn-samples",
            f"{GUIDED} whose network learns from evolved formulas only.",
            replace(NGGP, trains_on_samples=False),
        ),
        Method(
            "nggp-uniform-mutation",
            f"{GUIDED} with one kind of mutation, which replaces a random part.",
            varied(UNIFORM),
        ),
        Method(
            "nggp-no-constraints",
            f"{GUIDED} that allows an operator below its inverse, and nested sines and cosines.",
            constraints=NO_INVERSE_NO_TRIG,
        ),
        Method(
            "nggp-uniform-mutation-no-constraints",
            f"{GUIDED} with one kind of mutation, operators below their inverses, and nested sines and cosines.",
            varied(UNIFORM),
            constraints=NO_INVERSE_NO_TRIG,
        ),
        Method(
            "nggp-entropy-0",
            f"{GUIDED} without a bonus for the entropy of the network.",
            replace(NGGP, trainer=QueueTrainer(entropy=EntropySettings(weight=0.0))),
        ),
        Method("nggp-lr-0", f"{GUIDED} whose network does not learn.", replace(NGGP, policy=still)),
        Method(
            "nggp-random-seeds",
            f"{GUIDED} whose evolution begins from random formulas, not from the network's samples.",
            replace(NGGP, seeds=Seeds.RANDOM),
        ),
        Method(
            "nggp-lr-0-random-seeds",
            f"{GUIDED} whose network does not learn, and whose evolution begins from random formulas.",
            replace(NGGP, policy=still, seeds=Seeds.RANDOM),
        ),
    ]


def further() -> list[Method]:
    """Return those of its table 12, and ablations of what its text and its code say differently."""
    slow = replace(PolicySettings(), learning_rate=0.0005)
    return [
        Method(
            "nggp-pm-0.1",
            f"{GUIDED} with mutation probability 0.1 in place of 0.5.",
            varied(replace(VARIATION, mutation=0.1)),
        ),
        Method(
            "nggp-tournament-3",
            f"{GUIDED} with tournaments of 3 in place of 5.",
            varied(replace(VARIATION, tournament=3)),
        ),
        Method(
            "nggp-batch-1000", f"{GUIDED} with batches of 1,000 samples in place of 500.", replace(NGGP, batch=1_000)
        ),
        Method("nggp-lr-0.0005", f"{GUIDED} with learning rate 0.0005 in place of 0.0025.", replace(NGGP, policy=slow)),
        *(
            Method(
                f"{name}-corrected",
                f"{GUIDED} trained by the {words} policy gradient, in which evolved formulas count less if the "
                "network makes them unlikely.",
                replace(NGGP, trainer=trainer, off_policy=OffPolicy.TRUNCATED),
            )
            for name, words, trainer in (
                ("nggp-vpg", "vanilla", VanillaTrainer()),
                ("nggp-rspg", "risk-seeking", RiskSeekingTrainer(risk=0.02)),
            )
        ),
        Method(
            "nggp-whole-queue",
            f"{GUIDED} whose network learns from all of the ten best formulas so far, not from one of them.",
            replace(NGGP, trainer=QueueTrainer(pushes=None, draws=None)),
        ),
    ]
