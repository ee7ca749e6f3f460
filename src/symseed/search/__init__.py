"""Algorithm 1 of NGGP (Mundhenk et al. 2021): a policy samples, populations evolve, the best train the policy."""

from __future__ import annotations

from symseed.search.budget import Budget, Clock, StopReason, Timer
from symseed.search.evolution import EvolutionSettings
from symseed.search.learning import Batch, HasEntropy, Learning, Part
from symseed.search.ledger import Snapshot, Step
from symseed.search.lineage import Ancestor, Change, Lineage
from symseed.search.policy import Learnt, Lesson, LSTMPolicy, Policy, PolicyFactory, PolicySettings, StatefulPolicy
from symseed.search.search import Search, SearchResult, SearchSettings, Seeds, run
from symseed.search.streams import Stream, derived
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
    "Ancestor",
    "Batch",
    "Budget",
    "Change",
    "Clock",
    "CrossEntropyTrainer",
    "EntropySettings",
    "EvolutionSettings",
    "HasEntropy",
    "LSTMPolicy",
    "Learning",
    "Learnt",
    "Lesson",
    "Lineage",
    "Memory",
    "Mutation",
    "OffPolicy",
    "Part",
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
    "Stream",
    "Timer",
    "Trainer",
    "VanillaTrainer",
    "VariationSettings",
    "derived",
    "run",
]
