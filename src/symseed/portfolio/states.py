"""Serialisation of a portfolio's state to arrays and JSON values, and back, for checkpoints."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from symseed.completion.completer import CompletionCounts
from symseed.fields import Fields, check_plain
from symseed.language.library import Library
from symseed.language.population import Population
from symseed.language.row import Row
from symseed.language.tokens import TokenKind
from symseed.portfolio.settings import PortfolioSettings
from symseed.portfolio.track import Counts, Track, TrackState
from symseed.scoring.task import Scored
from symseed.search import Part, Snapshot, StopReason
from symseed.search.training import first_memory

Arrays: TypeAlias = dict[str, npt.NDArray[Any]]

_COUNTS = ("rounds", "charged", "evaluated", "unique")
_PARTS = tuple(Part)
_SCORED = ("best", "elite", "queue", "last")
"""Fields of a snapshot that hold scored rows."""
_MOST_REDUCED = 1_000
"""Most columns of a reduced problem, far above the twelve that there may be: a bound on memory."""


@dataclass(frozen=True, slots=True)
class PortfolioState:
    """A portfolio between two epochs: all that its next turn depends on besides the constructor's arguments."""

    turn: int
    unchanged: int
    seconds: float
    charged: int
    """Number of formulas charged outside the searches: those of assembly, and those that the user gave."""
    formulas: tuple[Row, ...]
    """The best formula of each length."""
    noted: tuple[Row, ...]
    """Further formulas of the front, which assembly does not use."""
    near: tuple[Row, ...]
    """The formulas of the shortest descriptions, of whatever size."""
    number: Row
    """The best constant formula."""
    tracks: tuple[TrackState, ...]
    reduced: tuple[ReducedState, ...] = ()
    """The searches of reduced problems that have begun."""
    islands: tuple[IslandState, ...] = ()
    """The islands, if several portfolios search beside each other; the other fields then say what they have in common.
    """


@dataclass(frozen=True, slots=True)
class ReducedState:
    """The search of a reduced problem between two epochs; the problem itself is found again from the data."""

    place: int
    """Index of the reduced problem among those that the data suggest."""
    columns: int
    """Number of its columns."""
    places: tuple[int, ...]
    """Indices of its tracks among those of the method."""
    state: PortfolioState
    is_over: bool
    """Whether the search has ended."""


@dataclass(frozen=True, slots=True)
class IslandState:
    """An island between two epochs."""

    places: tuple[int, ...]
    """Indices of its tracks among those of its settings."""
    state: PortfolioState
    reason: StopReason | None
    """Why its search has ended; None: it has not."""


def counts_of(several: Sequence[PortfolioState]) -> Counts:
    """Return the numbers of expressions of some portfolios, with those of their reduced problems."""
    every = [inner for state in several for inner in (state, *(one.state for one in state.reduced))]
    made = sum(state.charged for state in every)
    searches = [track.search for state in every for track in state.tracks if track.search is not None]
    return Counts(
        made + sum(one.charged for one in searches),
        made + sum(one.evaluated for one in searches),
        made + sum(one.unique for one in searches),
    )


def completion_of(several: Sequence[PortfolioState]) -> CompletionCounts:
    """Return what completion did in the searches of some portfolios."""
    counts = [track.search.completion for state in several for track in state.tracks if track.search is not None]
    return CompletionCounts(
        sum(one.lookups for one in counts), sum(one.hits for one in counts), sum(one.splices for one in counts)
    )


def reduced_library(library: Library, columns: int) -> Library:
    """Return the tokens of a reduced problem: a variable for each column, and all but the variables of a library."""
    names = [f"u{place + 1}" for place in range(columns)]
    others = [token for token in library.tokens if token.kind is not TokenKind.VARIABLE]
    return Library((*Library.of([], names).tokens, *others))


def pack(state: PortfolioState, library: Library) -> tuple[Arrays, dict[str, Any]]:
    """Return a state as arrays by name, and as values that JSON can hold."""
    arrays: Arrays = {}
    formulas = Population.of_rows(library.with_constant(), [*state.noted, *state.near, *state.formulas, state.number])
    _put(arrays, "formulas", formulas.to_arrays())
    reduced = []
    for one in state.reduced:
        own, values = pack(one.state, reduced_library(library, one.columns))
        _put(arrays, f"reduced{one.place}", own)
        numbers = {"place": one.place, "columns": one.columns, "places": list(one.places), "is_over": one.is_over}
        reduced.append(numbers | {"state": values})
    islands = []
    for place, island in enumerate(state.islands):
        own, values = pack(island.state, library)
        _put(arrays, f"island{place}", own)
        reason = "" if island.reason is None else island.reason.name
        islands.append({"places": list(island.places), "reason": reason, "state": values})
    return arrays, {
        "turn": state.turn,
        "unchanged": state.unchanged,
        "seconds": state.seconds,
        "charged": state.charged,
        "noted": len(state.noted),
        "near": len(state.near),
        "tracks": [_packed(arrays, f"track{i}", track) for i, track in enumerate(state.tracks)],
        "reduced": reduced,
        "islands": islands,
    }


def unpack(
    arrays: Mapping[str, npt.NDArray[Any]], values: Mapping[str, Any], library: Library, settings: PortfolioSettings
) -> PortfolioState:
    """Return the state of a portfolio with these tokens and settings.

    Raises:
        Exception: of any kind, if the state is damaged or belongs to another portfolio.
    """
    return _state_of(arrays, values, library, settings, [place for place, _ in settings.possible_tracks(library)])


def _state_of(
    arrays: Mapping[str, npt.NDArray[Any]],
    values: Mapping[str, Any],
    library: Library,
    settings: PortfolioSettings,
    places: Sequence[int],
) -> PortfolioState:
    """The state of a portfolio with the tracks at some places of the settings."""
    rows = Population.from_arrays(_below(arrays, "formulas"), library.with_constant()).rows
    own = Fields(values, "a state")
    noted = own.integer("noted")
    others = noted + (own.integer("near") if own.has("near") else 0)  # runs of version 0.1.0 have none
    if others >= len(rows):
        raise ValueError("a state must have a formula of one constant")
    pairs = zip([settings.tracks[place] for place in places], values["tracks"], strict=True)
    return PortfolioState(
        turn=own.integer("turn"),
        unchanged=own.integer("unchanged"),
        seconds=_seconds(own),
        charged=own.integer("charged"),
        formulas=tuple(rows[others:-1]),
        noted=tuple(rows[:noted]),
        near=tuple(rows[noted:others]),
        number=rows[-1],
        tracks=tuple(
            _unpacked(_below(arrays, f"track{i}"), packed, track, track.library(library))
            for i, (track, packed) in enumerate(pairs)
        ),
        reduced=tuple(
            _reduced_of(_below(arrays, f"reduced{one.integer('place')}"), one, library, settings)
            for one in (own.several("reduced") if own.has("reduced") else ())
        ),
        islands=tuple(
            _island_of(_below(arrays, f"island{place}"), one, library, settings.of_island(place))
            for place, one in enumerate(own.several("islands") if own.has("islands") else ())
        ),
    )


def _island_of(arrays: Arrays, values: Fields, library: Library, settings: PortfolioSettings) -> IslandState:
    places, reason = tuple(map(int, values.values["places"])), values.text("reason")
    state = _state_of(arrays, values.fields("state").values, library, settings, places)
    return IslandState(places, state, StopReason[reason] if reason else None)


def _reduced_of(arrays: Arrays, values: Fields, library: Library, settings: PortfolioSettings) -> ReducedState:
    columns, places = values.integer("columns", 1, _MOST_REDUCED), tuple(map(int, values.values["places"]))
    inner = values.fields("state").values
    state = _state_of(arrays, inner, reduced_library(library, columns), settings, places)
    return ReducedState(values.integer("place"), columns, places, state, values.flag("is_over"))


def _seconds(values: Fields) -> float:
    seconds = values.number("seconds")
    if not 0.0 <= seconds < math.inf:
        raise ValueError("`seconds` of a state must be finite and at least 0")
    return seconds


def _packed(arrays: Arrays, name: str, track: TrackState) -> dict[str, Any] | None:
    if track.front is not None:
        _put(arrays, f"{name}.front", track.front.to_arrays())
        arrays[f"{name}.parts"] = np.array([_PARTS.index(part) for part in track.parts], dtype=np.uint8)
    search = track.search
    if search is None:
        return None
    for field in _SCORED:
        scored = getattr(search, field)
        if scored is not None:
            _put(arrays, f"{name}.{field}", scored.to_arrays())
    _put(arrays, f"{name}.memory", search.memory.to_arrays())
    _put(arrays, f"{name}.policy", search.policy or {})
    completion = search.completion
    return {field: getattr(search, field) for field in (*_COUNTS, "seconds")} | {
        "has_policy": search.policy is not None,
        "completion": [completion.lookups, completion.hits, completion.splices],
    }


def _unpacked(arrays: Arrays, values: Any, track: Track, library: Library) -> TrackState:
    front = _scored(arrays, "front", library)
    parts = () if front is None else tuple(_PARTS[place] for place in arrays["parts"].tolist())
    if front is not None and len(parts) != len(front):
        raise ValueError("`parts` must name the part that found each formula")
    if values is None:
        return TrackState(None, front, parts)
    own = Fields(values, "a search")
    best, elite, queue, last = (_scored(arrays, field, library) for field in _SCORED)
    if best is None or len(best) != 1:
        raise ValueError("a search that has begun must have one best formula")
    memory = type(first_memory(track.settings.trainer)).from_arrays(_below(arrays, "memory"), library)
    completion = values["completion"]
    snapshot = Snapshot(
        **{field: own.integer(field) for field in _COUNTS},
        seconds=_seconds(own),
        policy=_policy(_below(arrays, "policy")) if own.flag("has_policy") else None,
        memory=memory,
        best=best,
        completion=CompletionCounts(*check_plain([int(count) for count in completion])),
        elite=elite,
        queue=queue,
        last=last,
    )
    return TrackState(snapshot, front, parts)


def _policy(arrays: Arrays) -> Arrays:
    """The learnt values of a policy, whose shapes the policy checks."""
    for name, array in arrays.items():
        if not np.isfinite(array).all():
            raise ValueError(f"`{name}` of a policy must be finite")
    return arrays


def _scored(arrays: Arrays, name: str, library: Library) -> Scored | None:
    own = _below(arrays, name)
    return Scored.from_arrays(own, library) if own else None


def _put(arrays: Arrays, name: str, own: Mapping[str, npt.NDArray[Any]]) -> None:
    arrays.update({f"{name}.{key}": array for key, array in own.items()})


def _below(arrays: Mapping[str, npt.NDArray[Any]], name: str) -> Arrays:
    """The arrays whose names begin with `name` and a dot, by the rest of their names."""
    return {key.removeprefix(f"{name}."): array for key, array in arrays.items() if key.startswith(f"{name}.")}
