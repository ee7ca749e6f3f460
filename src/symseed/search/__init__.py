"""Algorithm 1 of NGGP (Mundhenk et al. 2021): a policy samples, populations evolve, the best train the policy."""

from __future__ import annotations

from symseed.search.budget import Budget, StopReason, Timer
from symseed.search.evolution import EvolutionSettings
from symseed.search.policy import Lesson, LSTMPolicy, Policy, PolicyFactory, PolicySettings, StatefulPolicy
from symseed.search.search import Search, SearchResult, SearchSettings, Seeds, Snapshot, Step, run
from symseed.search.training import (
    CrossEntropyTrainer,
    EntropySettings,
    Memory,
    OffPolicy,
    QueueTrainer,
    RiskSeekingTrainer,
    Trainer,
    VanillaTrainer,
)
from symseed.search.variation import Mutation, VariationSettings

__all__ = [
    "Budget",
    "CrossEntropyTrainer",
    "EntropySettings",
    "EvolutionSettings",
    "LSTMPolicy",
    "Lesson",
    "Memory",
    "Mutation",
    "OffPolicy",
    "Policy",
    "PolicyFactory",
    "PolicySettings",
    "QueueTrainer",
    "RiskSeekingTrainer",
    "Search",
    "SearchResult",
    "SearchSettings",
    "Seeds",
    "Snapshot",
    "StatefulPolicy",
    "Step",
    "StopReason",
    "Timer",
    "Trainer",
    "VanillaTrainer",
    "VariationSettings",
    "run",
]
