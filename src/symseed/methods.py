"""Every method by name: the paper's own, its trainers, its baselines and its ablations, and those beyond the paper.

A method is a set of settings, never its own code. If the paper does not give a value, a comment says which is used.
"""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from symseed.assembly import AssemblySettings
from symseed.completion.completer import CompletionSettings
from symseed.errors import SettingsError, did_you_mean
from symseed.language.library import Library
from symseed.network import NetworkSettings
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
from symseed.structure import Kind, StructureSettings


@dataclass(frozen=True, slots=True)
class Method:
    """A named search: its settings, and its search space."""

    name: str
    description: str
    settings: SearchSettings = field(default_factory=SearchSettings)
    min_length: int = 4
    max_length: int = 30
    constraints: tuple[Constraint, ...] = PAPER
    soft_length: SoftLength | None = None
    budget: Budget = field(default_factory=Budget)
    portfolio: PortfolioSettings | None = None
    """Several searches and assembly. If it is set, `budget` is the only field above that is used."""

    def space(self, library: Library) -> SearchSpace:
        """Return the method's search space over a library."""
        return SearchSpace(
            library,
            min_length=self.min_length,
            max_length=self.max_length,
            constraints=self.constraints,
            soft_length=self.soft_length,
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
"""The methods of the paper's figure of recovery by S, the number of generations; S = 0 is `dsr`, as in the paper."""

_GUIDED = "Neural-guided genetic programming"
_COMPLETED = "Neural-guided genetic programming with semantic completion"
_NETWORK = "A recurrent network that samples formulas, without genetic programming"

_NGGP = SearchSettings()
_EVOLUTION = EvolutionSettings()
_VARIATION = VariationSettings()
_UNIFORM = replace(_VARIATION, weights=(1.0, 0.0, 0.0, 0.0, 0.0, 0.0))
_NO_INVERSE_NO_TRIG: tuple[Constraint, ...] = (NoLoneConstants(), NeedsInput())
# Without genetic programming the paper keeps the values of Petersen et al.: batches of 1,000, rate 0.0005.
_POLICY_ONLY = SearchSettings(batch=1_000, policy=PolicySettings(learning_rate=0.0005), evolution=None)
_EVOLUTION_ONLY = SearchSettings(policy=None, seeds=Seeds.RANDOM)
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


def _varied(variation: VariationSettings) -> SearchSettings:
    return replace(_NGGP, evolution=replace(_EVOLUTION, variation=variation))


def _gegl(name: str, training: str, trainer: Trainer, queue: int) -> Method:
    return Method(
        name,
        "Genetic expert-guided learning (Ahn et al. 2020): one generation without selection on a queue of a network's "
        f"best samples, and training on {training}",
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
            f"{_GUIDED} with {count} generation{'s' if count > 1 else ''} between two training steps, in place of 25.",
            replace(_NGGP, evolution=replace(_EVOLUTION, generations=count)),
        )
        for count, name in GENERATIONS.items()
        if name not in ("dsr", "nggp")
    ]


def _paper() -> list[Method]:
    return [
        Method(
            "nggp",
            f"{_GUIDED} (Mundhenk et al. 2021): a recurrent network samples formulas, 25 generations evolve them, and "
            "the best formulas so far train the network.",
        ),
        Method(
            "nggp-slp-her",
            f"{_GUIDED} with a prior for lengths near 10 tokens, an entropy bonus that decays along a formula, and "
            "up to 100 tokens (Landajuela et al. 2021).",
            replace(_NGGP, trainer=QueueTrainer(entropy=EntropySettings(weight=0.03, decay=0.7))),
            max_length=100,
            soft_length=SoftLength(10.0, 5.0),
        ),
        Method(
            "nggp-vpg",
            f"{_GUIDED} whose network learns from all formulas, weighted by reward: the vanilla policy gradient.",
            replace(_NGGP, trainer=VanillaTrainer()),
        ),
        Method(
            "nggp-rspg",
            f"{_GUIDED} whose network learns from the best 2 % of each step: the risk-seeking policy gradient.",
            replace(_NGGP, trainer=RiskSeekingTrainer(risk=0.02)),
        ),
        Method(
            "nggp-cem",
            f"{_GUIDED} whose network learns from the best 2 % of each step, equally: the cross-entropy method.",
            replace(_NGGP, trainer=CrossEntropyTrainer(risk=0.02)),
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
            f"{_COMPLETED}: a part of a formula is replaced by a known sub-expression that makes the formula exact.",
            replace(_NGGP, completion=CompletionSettings()),
        ),
        Method(
            "nggp-plus",
            f"{_GUIDED}, tuned: two more mutations, ten formulas of each step kept for training, and up to 100 tokens.",
            plus,
            max_length=100,
        ),
        Method(
            "nggp-complete-plus",
            f"{_COMPLETED}, two more mutations, ten formulas of each step kept for training, a prior for lengths near "
            "10 tokens, and up to 100 tokens.",
            replace(plus, policy=PolicySettings(), completion=CompletionSettings()),
            max_length=100,
            soft_length=SoftLength(10.0, 5.0),
        ),
        Method(
            "nggp-pretrained",
            f"{_GUIDED} whose first samples come from a network that was trained on many formulas and reads the data; "
            "it needs the file of one.",
            replace(_NGGP, policy=NetworkSettings()),
        ),
        *_default(plus),
    ]


def _completion_ablations() -> list[Method]:
    def changed(name: str, description: str, settings: SearchSettings) -> Method:
        return Method(f"complete-{name}", description, settings)

    whole = replace(_NGGP, completion=CompletionSettings())
    return [
        changed(
            "longest-7",
            f"{_COMPLETED}, for which sub-expressions of up to 7 tokens are kept.",
            replace(_NGGP, completion=CompletionSettings(longest=7)),
        ),
        changed(
            "longest-15",
            f"{_COMPLETED}, for which sub-expressions of up to 15 tokens are kept.",
            replace(_NGGP, completion=CompletionSettings(longest=15)),
        ),
        changed(
            "table-1mb",
            f"{_COMPLETED} from a table of 1 MiB, in place of 64.",
            replace(_NGGP, completion=CompletionSettings(max_bytes=2**20)),
        ),
        changed(
            "table-16mb",
            f"{_COMPLETED} from a table of 16 MiB, in place of 64.",
            replace(_NGGP, completion=CompletionSettings(max_bytes=2**24)),
        ),
        changed(
            "samples-only",
            f"{_COMPLETED} of the network's samples only, not of what evolution makes.",
            replace(_NGGP, completion=CompletionSettings(generations=False)),
        ),
        changed(
            "lr-0",
            f"{_COMPLETED}, whose network does not learn.",
            replace(whole, policy=PolicySettings(learning_rate=0.0)),
        ),
        changed(
            "no-policy",
            "Genetic programming with semantic completion that restarts from random formulas every 25 generations.",
            replace(whole, policy=None, seeds=Seeds.RANDOM),
        ),
        changed(
            "no-gp",
            "Semantic completion of a network's samples, without genetic programming.",
            replace(_POLICY_ONLY, completion=CompletionSettings()),
        ),
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
    # Data that are not explained after some turns probably have noise. Completion does not help then, and the number of
    # formulas matters more, so these searches fit no constants: the only number is 1.
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
    whole = PortfolioSettings(tracks, structure=StructureSettings(), guide=NetworkSettings())
    budget = Budget(20_000_000, 60.0)
    return [
        Method(
            "default",
            "The default, for data of your own: searches with and without fitted constants take turns, linear algebra "
            "assembles formulas from what they find, and the shortest description of the data is selected.",
            budget=budget,
            portfolio=whole,
        ),
        *(
            Method(f"default-no-{part}", f"The default without {words}.", budget=budget, portfolio=settings)
            for part, (words, settings) in _without_a_part(whole).items()
        ),
    ]


_MOVES = {
    Kind.FUSE: "combinations of two columns",
    Kind.PEEL: "factors and terms that come off the target",
    Kind.DROP: "fewer columns without a replacement",
    Kind.TURN: "logarithms, reciprocals and squares of the target",
    Kind.SCALE: "columns that all else is measured by",
    Kind.SHIFT: "sums of a column and a product or ratio of two others",
}
"""Moves of the search for structure in words, by kind."""


def _without_a_part(whole: PortfolioSettings) -> dict[str, tuple[str, PortfolioSettings]]:
    """The default without each of its parts: by name, what is missing in words, and the settings."""
    plain, fitted, *late = tracks = whole.tracks
    assembly, structure = AssemblySettings(), StructureSettings()
    uncompleted = replace(plain, settings=replace(plain.settings, completion=None))
    unguided = tuple(
        replace(track, settings=replace(track.settings, policy=None, seeds=Seeds.RANDOM)) for track in tracks
    )
    return {
        "completion": ("semantic completion", replace(whole, tracks=(uncompleted, fitted, *late))),
        "fitted-constants": ("the search with fitted constants", replace(whole, tracks=(plain, *late))),
        "late-tracks": ("the two searches that begin after turn 4", replace(whole, tracks=(plain, fitted))),
        "policy": ("networks: its searches begin from random formulas", replace(whole, tracks=unguided, guide=None)),
        "network": ("a network that has read many formulas, if there is one", replace(whole, guide=None)),
        "assembly": ("assembly of formulas by linear algebra", replace(whole, assembly=None)),
        "blocks": (
            "polynomials and rational functions in assembly",
            replace(whole, assembly=replace(assembly, blocks=False)),
        ),
        "probes": (
            "tests of the data for symmetry, sums and products",
            replace(whole, assembly=replace(assembly, probes=False)),
        ),
        "structure": ("the search for structure by evidence", replace(whole, structure=None)),
        **{
            f"{kind.value}-moves": (
                f"moves to {words} in the search for structure",
                replace(whole, structure=replace(structure, kinds=tuple(other for other in Kind if other is not kind))),
            )
            for kind, words in _MOVES.items()
        },
        "plain-numbers": (
            "the replacement of constants by simple numbers such as 2 or 1/3",
            replace(whole, simple_numbers=False),
        ),
    }


def _baselines() -> list[Method]:
    return [
        Method(
            "dsr",
            f"{_NETWORK}, and learns from the best 5 % of each step: deep symbolic regression (Petersen et al. 2021).",
            replace(_POLICY_ONLY, trainer=RiskSeekingTrainer(risk=0.05)),
        ),
        Method(
            "dsr-lr-0.001",
            f"{_NETWORK}, and learns from the best 5 % of each step, at learning rate 0.001 in place of 0.0005.",
            replace(_POLICY_ONLY, policy=PolicySettings(learning_rate=0.001), trainer=RiskSeekingTrainer(risk=0.05)),
        ),
        Method(
            "pqt",
            f"{_NETWORK}, and learns from the ten best so far: priority queue training (Abolafia et al. 2018).",
            replace(_POLICY_ONLY, trainer=QueueTrainer()),
        ),
        Method(
            "vpg",
            f"{_NETWORK}, and learns from all samples, weighted by reward: the vanilla policy gradient.",
            replace(_POLICY_ONLY, trainer=VanillaTrainer()),
        ),
        Method(
            "gp",
            "Genetic programming from random formulas, in one long run, without a network.",
            replace(_EVOLUTION_ONLY, seeds=Seeds.CONTINUE),
        ),
        Method(
            "gp-restarts",
            "Genetic programming that restarts from random formulas every 25 generations, without a network.",
            _EVOLUTION_ONLY,
        ),
        Method(
            "gp-petersen",
            "Genetic programming from random formulas, in one long run, with the settings of Petersen et al. (2021): "
            "1,000 formulas, tournaments of 2, much crossover and little mutation.",
            _PETERSEN,
            min_length=1,
        ),
        Method(
            "gp-restarts-short",
            "Genetic programming that restarts every 25 generations from the short random formulas of Petersen et al. "
            "(2021), without a network.",
            replace(_EVOLUTION_ONLY, heights=_PETERSEN_HEIGHTS),
            min_length=1,
        ),
        _gegl(
            "gegl",
            "one formula drawn from that queue and from a queue of the best children, of 500 formulas each.",
            QueueTrainer(size=2 * _NGGP.batch, pushes=None),
            _NGGP.batch,
        ),
        _gegl(
            "gegl-whole-queue",
            "all of that queue and of a queue of the best children, of 100 formulas each.",
            CrossEntropyTrainer(risk=1.0),
            100,
        ),
    ]


def _ablations() -> list[Method]:
    still = replace(PolicySettings(), learning_rate=0.0)
    return [
        Method(
            "nggp-no-gp-samples",
            f"{_GUIDED} whose network learns from its own samples only.",
            replace(_NGGP, trains_on_elite=False),
        ),
        Method(
            "nggp-no-rnn-samples",
            f"{_GUIDED} whose network learns from evolved formulas only.",
            replace(_NGGP, trains_on_samples=False),
        ),
        Method(
            "nggp-uniform-mutation",
            f"{_GUIDED} with one kind of mutation, which replaces a random part.",
            _varied(_UNIFORM),
        ),
        Method(
            "nggp-no-constraints",
            f"{_GUIDED} that allows an operator below its inverse, and nested sines and cosines.",
            constraints=_NO_INVERSE_NO_TRIG,
        ),
        Method(
            "nggp-uniform-mutation-no-constraints",
            f"{_GUIDED} with one kind of mutation, operators below their inverses, and nested sines and cosines.",
            _varied(_UNIFORM),
            constraints=_NO_INVERSE_NO_TRIG,
        ),
        Method(
            "nggp-entropy-0",
            f"{_GUIDED} without a bonus for the entropy of the network.",
            replace(_NGGP, trainer=QueueTrainer(entropy=EntropySettings(weight=0.0))),
        ),
        Method("nggp-lr-0", f"{_GUIDED} whose network does not learn.", replace(_NGGP, policy=still)),
        Method(
            "nggp-random-seeds",
            f"{_GUIDED} whose evolution begins from random formulas, not from the network's samples.",
            replace(_NGGP, seeds=Seeds.RANDOM),
        ),
        Method(
            "nggp-lr-0-random-seeds",
            f"{_GUIDED} whose network does not learn, and whose evolution begins from random formulas.",
            replace(_NGGP, policy=still, seeds=Seeds.RANDOM),
        ),
    ]


def _further_ablations() -> list[Method]:
    slow = replace(PolicySettings(), learning_rate=0.0005)
    return [
        Method(
            "nggp-pm-0.1",
            f"{_GUIDED} with mutation probability 0.1 in place of 0.5.",
            _varied(replace(_VARIATION, mutation=0.1)),
        ),
        Method(
            "nggp-tournament-3",
            f"{_GUIDED} with tournaments of 3 in place of 5.",
            _varied(replace(_VARIATION, tournament=3)),
        ),
        Method(
            "nggp-batch-1000", f"{_GUIDED} with batches of 1,000 samples in place of 500.", replace(_NGGP, batch=1_000)
        ),
        Method(
            "nggp-lr-0.0005", f"{_GUIDED} with learning rate 0.0005 in place of 0.0025.", replace(_NGGP, policy=slow)
        ),
        *(
            Method(
                f"{name}-corrected",
                f"{_GUIDED} trained by the {words} policy gradient, in which evolved formulas count less if the "
                "network makes them unlikely.",
                replace(_NGGP, trainer=trainer, off_policy=OffPolicy.TRUNCATED),
            )
            for name, words, trainer in (
                ("nggp-vpg", "vanilla", VanillaTrainer()),
                ("nggp-rspg", "risk-seeking", RiskSeekingTrainer(risk=0.02)),
            )
        ),
        Method(
            "nggp-even-seeds",
            f"{_GUIDED} whose first generation draws parents evenly, as the paper's released code does.",
            replace(_NGGP, evolution=replace(_EVOLUTION, selects_seeds=False)),
        ),
        Method(
            "nggp-whole-queue",
            f"{_GUIDED} whose network learns from all of the ten best formulas so far, not from one of them.",
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
            *_further_ablations(),
            *_generations(),
            *_completion_ablations(),
        ]
    }
)
"""All methods by name."""
