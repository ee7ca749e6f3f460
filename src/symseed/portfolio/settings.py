"""What a portfolio is made of: its tracks, assembly, and how often what was found is taken in."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from symseed.assembly import AssemblySettings
from symseed.errors import SettingsError
from symseed.language import Library, Writer
from symseed.portfolio.track import Track
from symseed.space import Constraint, Dimensions


@dataclass(frozen=True, slots=True)
class PortfolioSettings:
    """What a portfolio is made of."""

    tracks: tuple[Track, ...]
    assembly: AssemblySettings | None = field(default_factory=AssemblySettings)
    """None: no assembly, searches only."""
    every: int = 2
    """Turns after which what the searches have found is taken in.

    Formulas are then put together anew, too, but more and more rarely: after so many turns, twice as many, four times,
    eight times, and so on.
    """
    enlarged: int = 4
    """After which turn assembly gets more sub-expressions to begin with."""
    parts: int = 6
    """Formulas that are taken apart each time: those of the shortest description."""
    simplified: int = 6
    """Formulas that are simplified each time: those of the shortest description."""
    simple_numbers: bool = True
    """Whether their constants become simple numbers, where the data do not tell them from these."""
    epoch: int = 4
    """Turns of an epoch."""
    samples: int = 500
    """Samples that the tracks see, drawn from the data where there are more; formulas are fitted and judged on all."""
    constraints: tuple[Constraint, ...] = ()
    """What no formula may be, whether a search makes it or assembly; a track's own are only that search's."""

    def __post_init__(self) -> None:
        """Refuse what cannot run."""
        if not self.tracks:
            raise SettingsError("A portfolio needs at least one track, but there is none.")
        for name in ("every", "enlarged", "parts", "simplified", "epoch", "samples"):
            if getattr(self, name) < 1:
                raise SettingsError(f"`{name}` of a portfolio must be at least 1, but it is {getattr(self, name)}.")

    def with_max_length(self, longest: int) -> PortfolioSettings:
        """Return the same with formulas of at most so many tokens."""
        tracks = tuple(replace(track, max_length=min(track.max_length, longest)) for track in self.tracks)
        return replace(self, tracks=tracks)

    def possible_tracks(self, library: Library) -> list[tuple[int, Track]]:
        """Return the tracks with their places; where only a constant can have the units of y, those that have some.

        Those that need a + b f are left out where that cannot be written.
        """
        rules = [rule for rule in self.constraints if isinstance(rule, Dimensions)]
        can_scale = Writer(library.with_constant()).has("add", "mul")
        every = [(i, track) for i, track in enumerate(self.tracks) if can_scale or not track.is_scaled]
        return [
            (i, track) for i, track in every if all(rule.is_possible(track.library(library)) for rule in rules)
        ] or every
