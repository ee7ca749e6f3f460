"""A network that reads the data of several searches, and seeds each of them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from symseed.network.policy import NetworkSettings, Reading, Seeding
from symseed.search.policy import PolicySettings
from symseed.search.search import SearchSettings


@dataclass(frozen=True, slots=True)
class Guide:
    """A network that has read the data of some searches."""

    reading: Reading
    settings: NetworkSettings
    seed: int
    """Seed of the formulas that it draws for all searches together."""
    is_early: bool
    """Whether it is asked before the first search has had a turn."""

    def guided(self, settings: SearchSettings, *, is_scaled: bool, begins: int) -> SearchSettings:
        """Return the settings of a search with the network beside its policy, if it has one.

        Args:
            is_scaled: whether a formula f is scored as the best a + b f, which need not be written then.
            begins: rounds of the search before the network takes part.
        """
        if not isinstance(settings.policy, PolicySettings):
            return settings
        own = replace(self.settings, learner=settings.policy, has_scale=not is_scaled, begins=begins)
        return replace(settings, policy=Seeding(self.reading, own))
