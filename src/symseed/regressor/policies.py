"""Policies of a run at some of its turns, kept so that what they learnt can be looked at while and after it searches.

The search itself resumes from checkpoints and never reads these files.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError
from safetensors.numpy import load, save

from symseed import files
from symseed.language import Expression, Row
from symseed.language.tokens import Token, TokenKind
from symseed.network import NetworkSettings
from symseed.portfolio import Track, Turn
from symseed.regressor.settings import Plan
from symseed.search import Learnt, LSTMPolicy, PolicySettings
from symseed.space import Constraint, Dimensions, SearchSpace

FOLDER = "policies"
_NAME = re.compile(r"(\d{1,6})-(\d{1,9})\.safetensors")
_GROWTH = 1.25
"""Factor between the turns at which policies are kept: an hour-long search keeps some thirty. Chosen by hand."""
_MOST_BYTES = 2**26
"""Most bytes of a file that are read, far above the usual size."""


@dataclass(frozen=True, slots=True)
class Kept:
    """The policies of one target's searches after a turn."""

    turn: int
    charged: int
    """Number of formulas tried by then."""
    weights: Mapping[int, npt.NDArray[np.float32]]
    """The weights of the policy of each search, by the place of its track."""


class Policies:
    """The folder of policies of a run."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / FOLDER

    def remove_partial(self) -> None:
        """Remove what processes that were killed left half-written."""
        files.remove_partial(self._folder)

    def keep(self, output: int, turn: Turn, policies: Callable[[], Sequence[Learnt | None]]) -> None:
        """Write the policies of a target's searches after a turn, unless the last ones are nearly as new.

        Raises:
            OSError: if they cannot be written.
        """
        last = max((number for at, number in self._names() if at == output), default=0)
        if turn.index < (last + 1 if turn.reason is not None else max(1.0, _GROWTH * last)):
            return
        weights = {
            f"track-{place}": np.ascontiguousarray(learnt["weights"][0], dtype=np.float32)
            for place, learnt in enumerate(policies())
            if learnt is not None and "weights" in learnt
        }
        if weights:
            self._folder.mkdir(exist_ok=True)
            content = save({**weights, "charged": np.array([turn.charged], dtype=np.int64)})
            files.replace(self._folder / f"{output}-{turn.index}.safetensors", content)

    def read(self, output: int) -> list[Kept]:
        """Return the policies of a target's searches, oldest first; files that are damaged are left out."""
        found = []
        for turn in sorted(turn for at, turn in self._names() if at == output):
            try:
                arrays = load(files.read(self._folder / f"{output}-{turn}.safetensors", _MOST_BYTES))
                charged = int(arrays.pop("charged")[0])
                weights = {int(name.removeprefix("track-")): _finite(array) for name, array in arrays.items()}
            except (OSError, ValueError, KeyError, IndexError, SafetensorError):
                continue
            found.append(Kept(turn, charged, weights))
        return found

    def _names(self) -> list[tuple[int, int]]:
        """The target and the turn of each file."""
        try:
            names = [_NAME.fullmatch(path.name) for path in self._folder.iterdir()]
        except OSError:
            return []
        return [(int(name[1]), int(name[2])) for name in names if name is not None]


@dataclass(frozen=True, slots=True)
class Reader:
    """One search of a run whose policy can be asked."""

    place: int
    """Place of the track among those that run."""
    track: int
    """Index of the track in the settings, as the log of a run has it."""
    space: SearchSpace
    settings: PolicySettings

    def policy(self, weights: npt.NDArray[np.float32] | None) -> LSTMPolicy | None:
        """Return the policy with these weights, by default those before the first lesson; None if they do not fit."""
        policy = LSTMPolicy(self.space, self.settings)
        if weights is None:
            return policy
        if weights.shape != policy.state[0][0].shape:
            return None
        policy.state = (np.stack([weights, *np.zeros((2, len(weights)))]), 1)
        return policy

    def written(self, formula: Expression) -> Expression | None:
        """Return a formula in the tokens of this search; None if it lacks one of them."""
        places = {_key(token): place for place, token in enumerate(self.space.library.tokens)}
        ids, constants = [], []
        for token, value in zip(formula.tokens, formula.constants, strict=True):
            number = token.kind in (TokenKind.CONSTANT, TokenKind.LITERAL)
            size = value if token.kind is TokenKind.CONSTANT else token.value
            place = places.get((TokenKind.LITERAL, size)) if number else places.get(_key(token))
            if place is None and number:
                place = places.get((TokenKind.CONSTANT, ""))
            if place is None:
                return None
            ids.append(place)
            constants.append(size if self.space.library[place].kind is TokenKind.CONSTANT else np.nan)
        return Expression(self.space.library, Row(tuple(ids), tuple(constants)))


def readers(plan: Plan, names: Sequence[str], dimensions: Dimensions | None) -> list[Reader]:
    """Return the searches of a target whose policies are networks of this kind.

    Args:
        names: the columns that the search uses.
        dimensions: the constraint that units put on the formulas.
    """
    settings = plan.settings
    constraints: tuple[Constraint, ...] = settings.constraints
    if dimensions is not None:
        constraints = (*constraints, dimensions)
    library = plan.weights.library(names, plan.tokens)
    tracks: list[tuple[int, Track]] = replace(settings, constraints=constraints).possible_tracks(library)
    learners = [_learner(track) for _, track in tracks]
    return [
        Reader(place, index, track.space(library, constraints), learner)
        for place, ((index, track), learner) in enumerate(zip(tracks, learners, strict=True))
        if learner is not None
    ]


def _learner(track: Track) -> PolicySettings | None:
    """The settings of the LSTM of a search; beside a network that has read the data, it is the one that learns."""
    policy = track.settings.policy
    policy = policy.learner if isinstance(policy, NetworkSettings) else policy
    return policy if isinstance(policy, PolicySettings) else None


def _key(token: Token) -> tuple[TokenKind, Any]:
    """What identifies a token in another library."""
    if token.kind is TokenKind.CONSTANT:
        return token.kind, ""
    return token.kind, token.value if token.kind is TokenKind.LITERAL else token.name


def _finite(weights: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    if weights.dtype != np.float32 or weights.ndim != 1 or not np.isfinite(weights).all():
        raise ValueError("Weights must be finite float32 numbers")
    return np.asarray(weights)
