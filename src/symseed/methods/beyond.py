"""Methods beyond the paper: semantic completion, the default, and each without its parts."""

from __future__ import annotations

from dataclasses import replace

from symseed.assembly import AssemblySettings
from symseed.completion.completer import CompletionSettings
from symseed.methods.method import (
    COMPLETED,
    EVOLUTION,
    GUIDED,
    NGGP,
    POLICY_ONLY,
    VARIATION,
    Method,
)
from symseed.network import NetworkSettings
from symseed.portfolio.settings import PortfolioSettings
from symseed.portfolio.track import Track
from symseed.search.budget import Budget
from symseed.search.policy import PolicySettings
from symseed.search.search import SearchSettings, Seeds
from symseed.search.training import (
    QueueTrainer,
)
from symseed.space.constraints import PAPER
from symseed.space.priors import SoftLength
from symseed.structure import Kind, StructureSettings


def beyond() -> list[Method]:
    """Return the methods with completion or more mutations, and the default."""
    macros = replace(VARIATION, weights=(1.0, 1.0, 1.0, 1.0, 6 / 7, 6 / 7))  # 15 % of mutations each
    pushes = QueueTrainer(pushes=10)
    short = replace(PolicySettings(), longest_sample=30)
    plus = replace(NGGP, trainer=pushes, policy=short, evolution=replace(EVOLUTION, variation=macros))
    return [
        Method(
            "nggp-complete",
            f"{COMPLETED}: a part of a formula is replaced by a known sub-expression that makes the formula exact.",
            replace(NGGP, completion=CompletionSettings()),
        ),
        Method(
            "nggp-plus",
            f"{GUIDED}, tuned: two more mutations, ten formulas of each step kept for training, and up to 100 tokens.",
            plus,
            max_length=100,
        ),
        Method(
            "nggp-complete-plus",
            f"{COMPLETED}, two more mutations, ten formulas of each step kept for training, a prior for lengths near "
            "10 tokens, and up to 100 tokens.",
            replace(plus, policy=PolicySettings(), completion=CompletionSettings()),
            max_length=100,
            soft_length=SoftLength(10.0, 5.0),
        ),
        Method(
            "nggp-pretrained",
            f"{GUIDED} whose first samples come from a network that was trained on many formulas and reads the data; "
            "it needs the file of one.",
            replace(NGGP, policy=NetworkSettings()),
        ),
        *_default(plus),
    ]


def completion_ablations() -> list[Method]:
    """Return `nggp-complete` with one of its parts changed."""

    def changed(name: str, description: str, settings: SearchSettings) -> Method:
        return Method(f"complete-{name}", description, settings)

    whole = replace(NGGP, completion=CompletionSettings())
    return [
        changed(
            "longest-7",
            f"{COMPLETED}, for which sub-expressions of up to 7 tokens are kept.",
            replace(NGGP, completion=CompletionSettings(longest=7)),
        ),
        changed(
            "longest-15",
            f"{COMPLETED}, for which sub-expressions of up to 15 tokens are kept.",
            replace(NGGP, completion=CompletionSettings(longest=15)),
        ),
        changed(
            "table-1mb",
            f"{COMPLETED} from a table of 1 MiB, in place of 64.",
            replace(NGGP, completion=CompletionSettings(max_bytes=2**20)),
        ),
        changed(
            "table-16mb",
            f"{COMPLETED} from a table of 16 MiB, in place of 64.",
            replace(NGGP, completion=CompletionSettings(max_bytes=2**24)),
        ),
        changed(
            "samples-only",
            f"{COMPLETED} of the network's samples only, not of what evolution makes.",
            replace(NGGP, completion=CompletionSettings(generations=False)),
        ),
        changed(
            "lr-0",
            f"{COMPLETED}, whose network does not learn.",
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
            replace(POLICY_ONLY, completion=CompletionSettings()),
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
    fitted = Track(NGGP, max_length=30, constraints=PAPER, constants=True, rounds=1)
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
