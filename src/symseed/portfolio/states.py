"""The state of a portfolio as plain arrays and numbers, and back: what a checkpoint holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy.typing as npt

from symseed.completion.completer import CompletionCounts
from symseed.language.library import Library
from symseed.language.population import Population
from symseed.language.row import Row
from symseed.language.writer import Writer
from symseed.portfolio.settings import PortfolioSettings
from symseed.portfolio.track import TrackState
from symseed.scoring.task import Scored
from symseed.search.search import Snapshot
from symseed.search.training import Memory

Arrays: TypeAlias = dict[str, npt.NDArray[Any]]

_COUNTS = ("rounds", "charged", "evaluated", "unique", "seconds")
_SCORES = ("reward", "solved", "failure", "position", "computed")


@dataclass(frozen=True, slots=True)
class PortfolioState:
    """A portfolio between two epochs: all that its next turn depends on, beside what it was made with."""

    turn: int
    unchanged: int
    seconds: float
    charged: int
    """Formulas that were no search's."""
    formulas: tuple[Row, ...]
    """The best of each length."""
    number: Row
    """The best mere number."""
    tracks: tuple[TrackState, ...]


def pack(state: PortfolioState, library: Library) -> tuple[Arrays, dict[str, Any]]:
    """Return a state as arrays by name, and as values that JSON can hold."""
    arrays: Arrays = {}
    writer = Writer(library.with_constant())
    _put_population(arrays, "formulas", writer.population([*state.formulas, state.number]))
    return arrays, {
        "turn": state.turn,
        "unchanged": state.unchanged,
        "seconds": state.seconds,
        "charged": state.charged,
        "tracks": [_packed(arrays, f"track{i}", track) for i, track in enumerate(state.tracks)],
    }


def unpack(
    arrays: Mapping[str, npt.NDArray[Any]], values: Mapping[str, Any], library: Library, settings: PortfolioSettings
) -> PortfolioState:
    """Return the state of a portfolio with these tokens and settings.

    Raises:
        Exception: of any kind, where it is the state of another one, or damaged.
    """
    formulas = _population_at(arrays, "formulas", library.with_constant())
    parts = formulas.rows
    return PortfolioState(
        turn=int(values["turn"]),
        unchanged=int(values["unchanged"]),
        seconds=float(values["seconds"]),
        charged=int(values["charged"]),
        formulas=tuple(parts[:-1]),
        number=parts[-1],
        tracks=tuple(
            _unpacked(arrays, f"track{i}", packed, track.library(library))
            for i, ((_, track), packed) in enumerate(
                zip(settings.possible_tracks(library), values["tracks"], strict=True)
            )
        ),
    )


def _packed(arrays: Arrays, name: str, track: TrackState) -> dict[str, Any] | None:
    _put_scored(arrays, f"{name}.front", track.front)
    search = track.search
    if search is None:
        return None
    for field in ("best", "elite", "queue", "last"):
        _put_scored(arrays, f"{name}.{field}", getattr(search, field))
    _put_scored(arrays, f"{name}.memory", search.memory.queue)
    if search.policy is not None:
        arrays[f"{name}.policy"] = search.policy[0]
    completion = search.completion
    return {field: getattr(search, field) for field in _COUNTS} | {
        "baseline": search.memory.baseline,
        "policy": None if search.policy is None else search.policy[1],
        "completion": [completion.lookups, completion.hits, completion.splices],
    }


def _unpacked(arrays: Mapping[str, npt.NDArray[Any]], name: str, values: Any, library: Library) -> TrackState:
    front = _scored_at(arrays, f"{name}.front", library)
    if values is None:
        return TrackState(None, front)
    best = _scored_at(arrays, f"{name}.best", library)
    assert best is not None, "a search that has begun has a best"
    snapshot = Snapshot(
        **{field: values[field] for field in _COUNTS},
        policy=None if values["policy"] is None else (arrays[f"{name}.policy"], int(values["policy"])),
        memory=Memory(values["baseline"], _scored_at(arrays, f"{name}.memory", library)),
        best=best,
        completion=CompletionCounts(*values["completion"]),
        elite=_scored_at(arrays, f"{name}.elite", library),
        queue=_scored_at(arrays, f"{name}.queue", library),
        last=_scored_at(arrays, f"{name}.last", library),
    )
    return TrackState(snapshot, front)


def _put_scored(arrays: Arrays, name: str, scored: Scored | None) -> None:
    if scored is not None:
        _put_population(arrays, name, scored.population)
        arrays.update({f"{name}.{field}": getattr(scored, field) for field in _SCORES})


def _scored_at(arrays: Mapping[str, npt.NDArray[Any]], name: str, library: Library) -> Scored | None:
    if f"{name}.tokens" not in arrays:
        return None
    return Scored(_population_at(arrays, name, library), *(arrays[f"{name}.{field}"] for field in _SCORES))


def _put_population(arrays: Arrays, name: str, population: Population) -> None:
    for field in ("tokens", "lengths", "constants"):
        arrays[f"{name}.{field}"] = getattr(population, field)


def _population_at(arrays: Mapping[str, npt.NDArray[Any]], name: str, library: Library) -> Population:
    return Population.of(library, *(arrays[f"{name}.{field}"] for field in ("tokens", "lengths", "constants")))
