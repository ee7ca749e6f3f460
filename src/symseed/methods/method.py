"""What a method is, and the settings that methods begin from."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from symseed.language.library import Library
from symseed.language.protected import protected
from symseed.portfolio.settings import PortfolioSettings
from symseed.scoring import RegressionSettings
from symseed.search.budget import Budget
from symseed.search.evolution import EvolutionSettings
from symseed.search.policy import PolicySettings
from symseed.search.search import SearchSettings, Seeds
from symseed.search.variation import VariationSettings
from symseed.space.constraints import PAPER, Constraint, NeedsInput, NoLoneConstants
from symseed.space.priors import SoftLength
from symseed.space.space import SearchSpace


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
    scoring: RegressionSettings = field(default_factory=RegressionSettings)
    """How formulas are scored in `symseed bench`."""
    protected: bool = False
    """Whether operators have a value for every argument, as in older genetic programming, while the search lasts."""
    budget: Budget = field(default_factory=Budget)
    portfolio: PortfolioSettings | None = None
    """Several searches and assembly. If it is set, `budget` is the only field above that is used."""

    @property
    def is_for_fits(self) -> bool:
        """Whether a fit of a user's data may use the method: if it scores formulas as all fits do."""
        return self.scoring == RegressionSettings() and not self.protected

    def space(self, library: Library) -> SearchSpace:
        """Return the method's search space over a library."""
        return SearchSpace(
            protected(library) if self.protected else library,
            min_length=self.min_length,
            max_length=self.max_length,
            constraints=self.constraints,
            soft_length=self.soft_length,
        )


GUIDED = "Neural-guided genetic programming"

COMPLETED = "Neural-guided genetic programming with semantic completion"

NETWORK = "A recurrent network that samples formulas, without genetic programming"

NGGP = SearchSettings()

EVOLUTION = EvolutionSettings()

VARIATION = VariationSettings()

UNIFORM = replace(VARIATION, weights=(1.0, 0.0, 0.0, 0.0, 0.0, 0.0))

NO_INVERSE_NO_TRIG: tuple[Constraint, ...] = (NoLoneConstants(), NeedsInput())

# Without genetic programming the paper keeps the values of Petersen et al.: batches of 1,000, rate 0.0005.
POLICY_ONLY = SearchSettings(batch=1_000, policy=PolicySettings(learning_rate=0.0005), evolution=None)

EVOLUTION_ONLY = SearchSettings(policy=None, seeds=Seeds.RANDOM)


def varied(variation: VariationSettings) -> SearchSettings:
    """Return the paper's settings with another variation."""
    return replace(NGGP, evolution=replace(EVOLUTION, variation=variation))
