"""Settings of a portfolio: its tracks, assembly, and how often found formulas are taken in."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from symseed.assembly import AssemblySettings
from symseed.errors import SettingsError, check_at_least
from symseed.language import Library, Writer
from symseed.portfolio.track import Track
from symseed.space import Constraint, Dimensions


@dataclass(frozen=True, slots=True)
class PortfolioSettings:
    """Settings of a portfolio. Numbers without another reason are chosen by hand."""

    tracks: tuple[Track, ...]
    assembly: AssemblySettings | None = field(default_factory=AssemblySettings)
    """None: no assembly, searches only."""
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
    samples: int = 500
    """Most samples that the tracks see, drawn at random; formulas are fitted and judged on all samples."""
    constraints: tuple[Constraint, ...] = ()
    """Constraints on every formula, of searches and of assembly; a track's own constraints bind that track only."""

    def __post_init__(self) -> None:
        """Refuse what cannot run."""
        if not self.tracks:
            raise SettingsError("A portfolio needs at least one track, but there is none.")
        for name in ("every", "enlarged", "parts", "simplified", "epoch", "samples"):
            check_at_least(name, getattr(self, name), 1, of="a portfolio")

    def with_max_length(self, longest: int) -> PortfolioSettings:
        """Return these settings with formulas of at most `longest` tokens."""
        tracks = tuple(replace(track, max_length=min(track.max_length, longest)) for track in self.tracks)
        return replace(self, tracks=tracks)

    def possible_tracks(self, library: Library) -> list[tuple[int, Track]]:
        """Return the tracks that can run, with their places.

        A track without constants cannot run where only a constant can have the units of y, and a scaled track cannot
        run where the library cannot write a + b f.
        """
        rules = [rule for rule in self.constraints if isinstance(rule, Dimensions)]
        can_scale = Writer(library.with_constant()).has("add", "mul")
        every = [(i, track) for i, track in enumerate(self.tracks) if can_scale or not track.is_scaled]
        return [
            (i, track) for i, track in every if all(rule.is_possible(track.library(library)) for rule in rules)
        ] or every
