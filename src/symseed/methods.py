"""Every method by name: the paper's own, its trainers, its baselines and its ablations, and those beyond the paper.

A method is settings, never code of its own. Where the paper leaves a value open, the choice is said beside it.
"""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from symseed.assembly import AssemblySettings
from symseed.completion.completer import CompletionSettings
from symseed.errors import SettingsError, did_you_mean
from symseed.language.library import Library
from symseed.portfolio.settings import PortfolioSettings
from symseed.portfolio.track import Track
from symseed.search.budget import Budget
from symseed.search.evolution import EvolutionSettings
from symseed.search.policy import PolicySettings
from symseed.search.search import SearchSettings, Seeds
from symseed.search.training import (
    CrossEntropyTrainer,
    EntropySettings,
    OffPolicy,
    QueueTrainer,
    RiskSeekingTrainer,
    Trainer,
    VanillaTrainer,
)
from symseed.search.variation import VariationSettings
from symseed.space.constraints import PAPER, Constraint, NeedsInput, NoLoneConstants
from symseed.space.priors import SoftLength
from symseed.space.space import SearchSpace


@dataclass(frozen=True, slots=True)
class Method:
    """A named search: what it searches with, and in which space."""

    name: str
    description: str
    settings: SearchSettings = field(default_factory=SearchSettings)
    max_length: int = 30
    constraints: tuple[Constraint, ...] = PAPER
    soft_length: SoftLength | None = None
    budget: Budget = field(default_factory=Budget)
    portfolio: PortfolioSettings | None = None
    """Several searches and assembly; then the fields above, but for the budget, do not count."""

    def space(self, library: Library) -> SearchSpace:
        """Return the method's search space over a library."""
        return SearchSpace(
            library, max_length=self.max_length, constraints=self.constraints, soft_length=self.soft_length
        )


def get(name: str) -> Method:
    """Return the method of that name."""
    if name not in METHODS:
        raise SettingsError(
            f"There is no method `{name}`.{did_you_mean(name, METHODS)} The methods are {', '.join(METHODS)}."
        )
    return METHODS[name]


GENERATIONS: Mapping[int, str] = types.MappingProxyType(
    {0: "dsr", **{count: "nggp" if count == 25 else f"nggp-s-{count}" for count in (1, 5, 10, 15, 20, 25, 30, 40, 50)}}
)
"""The methods that answer the paper's figure, by S. As the paper says there, none is `dsr`."""

_NGGP = SearchSettings()
_EVOLUTION = EvolutionSettings()
_VARIATION = VariationSettings()
_UNIFORM = replace(_VARIATION, weights=(1.0, 0.0, 0.0, 0.0, 0.0, 0.0))
_NO_INVERSE_NO_TRIG: tuple[Constraint, ...] = (NoLoneConstants(), NeedsInput())
# Without genetic programming the paper keeps the values of Petersen et al.: batches of 1,000, rate 0.0005.
_POLICY_ONLY = SearchSettings(batch=1_000, policy=PolicySettings(learning_rate=0.0005), evolution=None)
_EVOLUTION_ONLY = SearchSettings(policy=None, seeds=Seeds.RANDOM)


def _varied(variation: VariationSettings) -> SearchSettings:
    return replace(_NGGP, evolution=replace(_EVOLUTION, variation=variation))


def _gegl(name: str, training: str, trainer: Trainer, queue: int) -> Method:
    return Method(
        name,
        "Genetic expert-guided learning (Ahn et al. 2020): one generation without selection on a queue of the best "
        f"samples, and training on {training}",
        replace(
            _NGGP,
            trainer=trainer,
            evolution=replace(_EVOLUTION, generations=1, variation=replace(_VARIATION, tournament=0)),
            seeds=Seeds.QUEUE,
            elite=queue,
            elite_lasts=True,
        ),
    )


def _generations() -> list[Method]:
    return [
        Method(
            name,
            f"nggp with S = {count} generations per training step.",
            replace(_NGGP, evolution=replace(_EVOLUTION, generations=count)),
        )
        for count, name in GENERATIONS.items()
        if name not in ("dsr", "nggp")
    ]


def _paper() -> list[Method]:
    return [
        Method(
            "nggp",
            "The paper's method (Mundhenk et al. 2021): an LSTM seeds genetic programming; priority queue training.",
        ),
        Method(
            "nggp-slp-her",
            "nggp with the soft length prior, the hierarchical entropy regulariser, and up to 100 tokens.",
            replace(_NGGP, trainer=QueueTrainer(entropy=EntropySettings(weight=0.03, decay=0.7))),
            max_length=100,
            soft_length=SoftLength(10.0, 5.0),
        ),
        Method("nggp-vpg", "nggp trained by the vanilla policy gradient.", replace(_NGGP, trainer=VanillaTrainer())),
        Method(
            "nggp-rspg",
            "nggp trained by the risk-seeking policy gradient (risk 0.02, as in the released code).",
            replace(_NGGP, trainer=RiskSeekingTrainer(risk=0.02)),
        ),
    ]


def _beyond() -> list[Method]:
    macros = replace(_VARIATION, weights=(1.0, 1.0, 1.0, 1.0, 6 / 7, 6 / 7))  # 15 % of mutations each
    pushes = QueueTrainer(pushes=10)
    short = replace(PolicySettings(), longest_sample=30)
    plus = replace(_NGGP, trainer=pushes, policy=short, evolution=replace(_EVOLUTION, variation=macros))
    return [
        Method(
            "nggp-complete",
            "nggp with semantic completion: rows are completed with sub-expressions seen before.",
            replace(_NGGP, completion=CompletionSettings()),
        ),
        Method(
            "nggp-plus",
            "nggp tuned, without completion: macros as mutations, ten queue pushes, evolution up to 100 tokens.",
            plus,
            max_length=100,
        ),
        Method(
            "nggp-complete-plus",
            "nggp-complete with macros, ten queue pushes, the soft length prior and up to 100 tokens.",
            replace(plus, policy=PolicySettings(), completion=CompletionSettings()),
            max_length=100,
            soft_length=SoftLength(10.0, 5.0),
        ),
        *_default(plus),
    ]


def _completion_ablations() -> list[Method]:
    def changed(name: str, description: str, settings: SearchSettings) -> Method:
        return Method(f"complete-{name}", f"nggp-complete {description}", settings)

    whole = replace(_NGGP, completion=CompletionSettings())
    return [
        changed(
            "longest-7",
            "that keeps sub-expressions of up to 7 tokens.",
            replace(_NGGP, completion=CompletionSettings(longest=7)),
        ),
        changed(
            "longest-15",
            "that keeps sub-expressions of up to 15 tokens.",
            replace(_NGGP, completion=CompletionSettings(longest=15)),
        ),
        changed("table-1mb", "with a table of 1 MiB.", replace(_NGGP, completion=CompletionSettings(max_bytes=2**20))),
        changed(
            "table-16mb", "with a table of 16 MiB.", replace(_NGGP, completion=CompletionSettings(max_bytes=2**24))
        ),
        changed(
            "samples-only",
            "of the policy's samples, not of generations.",
            replace(_NGGP, completion=CompletionSettings(generations=False)),
        ),
        changed("lr-0", "whose policy does not learn.", replace(whole, policy=PolicySettings(learning_rate=0.0))),
        changed("no-policy", "without a policy: random restarts.", replace(whole, policy=None, seeds=Seeds.RANDOM)),
        changed("no-gp", "without genetic programming.", replace(_POLICY_ONLY, completion=CompletionSettings())),
    ]


def _default(plus: SearchSettings) -> list[Method]:
    plain = Track(
        replace(plus, policy=PolicySettings(), completion=CompletionSettings()),
        max_length=100,
        constraints=PAPER,
        constants=False,
        rounds=8,
        soft_length=SoftLength(10.0, 5.0),
    )
    fitted = Track(_NGGP, max_length=30, constraints=PAPER, constants=True, rounds=1)
    # What is still unsolved after some turns has noise, most likely. Then nothing is completed, and to see many
    # formulas counts more: no constants, but the number 1.
    ones = Track(
        plus,
        max_length=30,
        constraints=PAPER,
        constants=False,
        rounds=16,
        soft_length=SoftLength(10.0, 5.0),
        numbers=(1.0,),
        first_turn=5,
    )
    tracks = (plain, fitted, ones, replace(ones, is_scaled=True))
    whole = PortfolioSettings(tracks)
    assembly = AssemblySettings()
    uncompleted = replace(plain, settings=replace(plain.settings, completion=None))
    unguided = tuple(
        replace(track, settings=replace(track.settings, policy=None, seeds=Seeds.RANDOM)) for track in tracks
    )
    parts = {
        "completion": replace(whole, tracks=(uncompleted, *tracks[1:])),
        "fitted-constants": replace(whole, tracks=(plain, *tracks[2:])),
        "late-tracks": replace(whole, tracks=(plain, fitted)),
        "policy": replace(whole, tracks=unguided),
        "assembly": replace(whole, assembly=None),
        "blocks": replace(whole, assembly=replace(assembly, blocks=False)),
        "probes": replace(whole, assembly=replace(assembly, probes=False)),
        "plain-numbers": replace(whole, simple_numbers=False),
    }
    budget = Budget(20_000_000, 60.0)
    return [
        Method(
            "default",
            "A portfolio for data of your own: searches with and without constants, completion, closed-form blocks, "
            "simple numbers, and a choice by description length.",
            budget=budget,
            portfolio=whole,
        ),
        *(
            Method(
                f"default-no-{part}", f"default without {part.replace('-', ' ')}.", budget=budget, portfolio=settings
            )
            for part, settings in parts.items()
        ),
    ]


def _baselines() -> list[Method]:
    return [
        Method(
            "dsr",
            "Deep symbolic regression (Petersen et al. 2021): the policy alone, by risk-seeking gradient (risk 0.05).",
            replace(_POLICY_ONLY, trainer=RiskSeekingTrainer(risk=0.05)),
        ),
        Method(
            "dsr-lr-0.001",
            "dsr with learning rate 0.001, as one of the authors' earlier configurations has it.",
            replace(_POLICY_ONLY, policy=PolicySettings(learning_rate=0.001), trainer=RiskSeekingTrainer(risk=0.05)),
        ),
        Method(
            "pqt",
            "The policy alone, trained by priority queue training (Abolafia et al. 2018).",
            replace(_POLICY_ONLY, trainer=QueueTrainer()),
        ),
        Method(
            "vpg",
            "The policy alone, trained by the vanilla policy gradient.",
            replace(_POLICY_ONLY, trainer=VanillaTrainer()),
        ),
        Method(
            "gp",
            "One long run of genetic programming from random trees.",
            replace(_EVOLUTION_ONLY, seeds=Seeds.CONTINUE),
        ),
        Method(
            "gp-restarts",
            "Genetic programming that begins anew from random trees every 25 generations.",
            _EVOLUTION_ONLY,
        ),
        _gegl(
            "gegl",
            "a draw from the union of that queue and one of the best children. The paper names no sizes: here each "
            "queue is as large as a batch, and a step draws one expression, as the paper's code does for PQT.",
            QueueTrainer(size=2 * _NGGP.batch, pushes=None),
            _NGGP.batch,
        ),
        _gegl(
            "gegl-whole-queue",
            "the whole union of that queue and one of the best children, of 100 each.",
            CrossEntropyTrainer(risk=1.0),
            100,
        ),
    ]


def _ablations() -> list[Method]:
    still = replace(PolicySettings(), learning_rate=0.0)
    slow = replace(PolicySettings(), learning_rate=0.0005)
    return [
        Method("nggp-no-gp-samples", "nggp not trained on GP samples.", replace(_NGGP, trains_on_elite=False)),
        Method("nggp-no-rnn-samples", "nggp trained on GP samples only.", replace(_NGGP, trains_on_samples=False)),
        Method("nggp-uniform-mutation", "nggp with uniform mutation only (A).", _varied(_UNIFORM)),
        Method(
            "nggp-no-constraints",
            "nggp without inverse and trigonometry constraints (B).",
            constraints=_NO_INVERSE_NO_TRIG,
        ),
        Method(
            "nggp-uniform-mutation-no-constraints",
            "nggp with uniform mutation only, without inverse and trigonometry constraints (A and B).",
            _varied(_UNIFORM),
            constraints=_NO_INVERSE_NO_TRIG,
        ),
        Method(
            "nggp-entropy-0",
            "nggp with entropy weight 0.",
            replace(_NGGP, trainer=QueueTrainer(entropy=EntropySettings(weight=0.0))),
        ),
        Method("nggp-lr-0", "nggp with learning rate 0 (C).", replace(_NGGP, policy=still)),
        Method("nggp-random-seeds", "nggp from random trees (D).", replace(_NGGP, seeds=Seeds.RANDOM)),
        Method(
            "nggp-lr-0-random-seeds",
            "nggp with learning rate 0 from random trees (C and D).",
            replace(_NGGP, policy=still, seeds=Seeds.RANDOM),
        ),
        Method("nggp-pm-0.1", "nggp with mutation probability 0.1.", _varied(replace(_VARIATION, mutation=0.1))),
        Method("nggp-tournament-3", "nggp with tournaments of 3.", _varied(replace(_VARIATION, tournament=3))),
        Method("nggp-batch-1000", "nggp with batches of 1,000.", replace(_NGGP, batch=1_000)),
        Method("nggp-lr-0.0005", "nggp with learning rate 0.0005.", replace(_NGGP, policy=slow)),
        *(
            Method(
                f"{name}-corrected",
                f"{name} in which evolution's best count less if the policy makes them unlikely.",
                replace(_NGGP, trainer=trainer, off_policy=OffPolicy.TRUNCATED),
            )
            for name, trainer in (("nggp-vpg", VanillaTrainer()), ("nggp-rspg", RiskSeekingTrainer(risk=0.02)))
        ),
        Method(
            "nggp-even-seeds",
            "nggp whose first generation draws parents evenly, as the released code does.",
            replace(_NGGP, evolution=replace(_EVOLUTION, selects_seeds=False)),
        ),
        Method(
            "nggp-whole-queue",
            "nggp with queue training as the paper states it: every good sample may enter, the whole queue is learnt.",
            replace(_NGGP, trainer=QueueTrainer(pushes=None, draws=None)),
        ),
    ]


METHODS: Mapping[str, Method] = types.MappingProxyType(
    {
        method.name: method
        for method in [
            *_paper(),
            *_beyond(),
            *_baselines(),
            *_ablations(),
            *_generations(),
            *_completion_ablations(),
        ]
    }
)
"""All methods by name."""
