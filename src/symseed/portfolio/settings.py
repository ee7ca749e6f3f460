"""Settings of a portfolio: its tracks, assembly, and how often found formulas are taken in."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from symseed.assembly import AssemblySettings
from symseed.errors import SettingsError, check_at_least, check_between
from symseed.language import Library, Writer
from symseed.network import Network, NetworkSettings
from symseed.portfolio.exchange import IslandSettings
from symseed.portfolio.track import Track
from symseed.search import changes as named
from symseed.space import Constraint, Dimensions
from symseed.structure import StructureSettings


@dataclass(frozen=True, slots=True)
class PortfolioSettings:
    """Settings of a portfolio. Numbers without another reason are chosen by hand."""

    tracks: tuple[Track, ...]
    assembly: AssemblySettings | None = field(default_factory=AssemblySettings)
    """None: no assembly, searches only."""
    structure: StructureSettings | None = None
    """None: the data are not reduced to fewer columns first."""
    guide: NetworkSettings | None = None
    """How a network that reads the data seeds the pool and the searches, if there is one; None: none does."""
    guided: int = 500
    """Formulas that the network draws for the pool."""
    structured: int = 1
    """Turn in which the structure of the data is found, before its searches; data that need no search are solved."""
    structured_few: int = 3
    """The same for data of fewer columns than `many_columns`: most of them need no more than the turns before."""
    many_columns: int = 4
    """Columns from which structure is found early, and the network is asked before the searches."""
    every: int = 2
    """Number of turns between two intakes of the formulas that the searches found.

    Assembly runs at intakes too, but ever more rarely: after this many turns, twice, four times, eight times as many.
    """
    enlarged: int = 4
    """Turn after which assembly begins with more sub-expressions."""
    parts: int = 6
    """Number of formulas whose sub-expressions assembly uses: those of the shortest description."""
    simplified: int = 6
    """Number of formulas simplified at each intake: those of the shortest description."""
    simple_numbers: bool = True
    """Whether constants are replaced by simple numbers where the data cannot distinguish the two."""
    epoch: int = 4
    """Number of turns in an epoch."""
    samples: int | None = 500
    """Most samples that the tracks see, drawn at random; None: all. Formulas are fitted and judged on all samples."""
    constants: bool = True
    """Whether formulas may hold fitted constants. If not, they are kept as the tracks found them."""
    constraints: tuple[Constraint, ...] = ()
    """Constraints on every formula, of searches and of assembly; a track's own constraints bind that track only."""
    islands: IslandSettings | None = None
    """None: one portfolio alone."""

    def __post_init__(self) -> None:
        """Refuse what cannot run."""
        if not self.tracks:
            raise SettingsError("A portfolio needs at least one track, but there is none.")
        for name in (
            "guided",
            "structured",
            "structured_few",
            "many_columns",
            "every",
            "enlarged",
            "parts",
            "simplified",
            "epoch",
        ):
            check_at_least(name, getattr(self, name), 1, of="a portfolio")
        for place in (place for own in (self.islands.tracks if self.islands else ()) for place in own):
            check_between("island_tracks", place, 0, len(self.tracks) - 1)
        if self.samples is not None:
            check_at_least("samples", self.samples, 1, of="a portfolio")
        if not self.constants and (
            self.assembly is not None
            or self.structure is not None
            or any(track.constants or track.is_scaled for track in self.tracks)
        ):
            raise SettingsError(
                "A portfolio without fitted constants has no assembly, no search for structure, and no track with "
                "constants or of scaled formulas, but this one has. Use `without_constants`."
            )

    def with_max_length(self, longest: int) -> PortfolioSettings:
        """Return these settings with formulas of at most `longest` tokens."""
        tracks = tuple(replace(track, max_length=min(track.max_length, longest)) for track in self.tracks)
        return replace(self, tracks=tracks)

    def with_network(self, given: Network | str | os.PathLike[str] | None) -> PortfolioSettings:
        """Return these settings with a network, with that of a file, or without any.

        Raises:
            DataError: if the file cannot be read, or is not that of a network.
        """
        network = given if given is None or isinstance(given, Network) else Network.load(given)

        def own(track: Track) -> Track:
            policy = track.settings.policy
            if not isinstance(policy, NetworkSettings):
                return track
            return replace(track, settings=replace(track.settings, policy=replace(policy, network=network)))

        guide = None if self.guide is None or network is None else replace(self.guide, network=network)
        return replace(self, guide=guide, tracks=tuple(map(own, self.tracks)))

    @property
    def network(self) -> Network | None:
        """The network that reads the data; None: none does."""
        used = [self.guide, *self._policies]
        return next((settings.available for settings in used if settings is not None), None)

    @property
    def needs_network(self) -> bool:
        """Whether the policy of a search is a network."""
        return bool(self._policies)

    @property
    def _policies(self) -> list[NetworkSettings]:
        """The settings of searches whose policy is a network."""
        policies = [track.settings.policy for track in self.tracks]
        return [policy for policy in policies if isinstance(policy, NetworkSettings)]

    def with_search_settings(self, changes: Mapping[str, Any]) -> PortfolioSettings:
        """Return these settings with other settings of every search, by dotted names (`search/changes.py`).

        A search without a part ignores the settings of that part, as long as another search has the part.
        Completion is not switched on in searches with fitted constants, which it cannot complete.

        Raises:
            SettingsError: if a name is unknown, a value is out of range, or no search has the part.
        """
        named.check_names(changes)

        def is_used(name: str, track: Track) -> bool:
            part, dot, _ = name.partition(".")
            if track.constants and part == "completion" and changes.get(part, False):
                return False
            if not dot or part in changes:
                return True
            every = [named.has_part(other.settings, name) for other in self.tracks]
            return named.has_part(track.settings, name) or not any(every)

        def own(track: Track) -> dict[str, Any]:
            return {name: value for name, value in changes.items() if is_used(name, track)}

        tracks = tuple(replace(track, settings=named.changed(track.settings, own(track))) for track in self.tracks)
        return replace(self, tracks=tracks)

    def without_constants(self) -> PortfolioSettings:
        """Return these settings without everything that fits constants: assembly, and tracks that need constants.

        If every track fits constants, all tracks stay, without constants.
        """
        plain = tuple(track for track in self.tracks if not track.constants and not track.is_scaled)
        every = tuple(replace(track, constants=False, is_scaled=False) for track in self.tracks)
        return replace(self, constants=False, assembly=None, structure=None, tracks=plain or every)

    def of_island(self, place: int) -> PortfolioSettings:
        """Return the settings of one island: its own searches, and its epochs."""
        own = self.islands
        if own is None:
            return self
        tracks = tuple(self.tracks[track] for track in own.tracks[place % len(own.tracks)]) if own.tracks else None
        return replace(self, tracks=tracks or self.tracks, epoch=own.turns, islands=None)

    def structured_turn(self, columns: int) -> int | None:
        """Return the turn in which the structure of data of some columns is found; None if it is not sought."""
        if self.structure is None or columns < self.structure.least_columns:
            return None
        return self.structured if columns >= self.many_columns else self.structured_few

    def possible_tracks(self, library: Library) -> list[tuple[int, Track]]:
        """Return the tracks that can run, with their indices.

        A track without constants cannot run if only a constant can have the units of y, and a scaled track cannot run
        if the library cannot write a + b f.
        """
        rules = [rule for rule in self.constraints if isinstance(rule, Dimensions)]
        can_scale = Writer(library.with_constant()).has("add", "mul")
        every = [(i, track) for i, track in enumerate(self.tracks) if can_scale or not track.is_scaled]
        return [
            (i, track) for i, track in every if all(rule.is_possible(track.library(library)) for rule in rules)
        ] or every
