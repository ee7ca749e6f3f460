"""Settings of a search by name: every field can be reached, nothing else, and values are checked as the fields are."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from symseed.completion import CompletionSettings
from symseed.errors import SettingsError
from symseed.methods import METHODS
from symseed.network import NetworkSettings
from symseed.search import (
    EntropySettings,
    EvolutionSettings,
    PolicySettings,
    QueueTrainer,
    RiskSeekingTrainer,
    SearchSettings,
    Seeds,
    VariationSettings,
)
from symseed.search.changes import changed, flattened, names, values


def test_names_are_given_with_dots_or_as_mappings_of_mappings() -> None:
    assert flattened({"batch": 5, "policy": {"hidden": 3}, "trainer.entropy": {"weight": 0.1}}) == {
        "batch": 5,
        "policy.hidden": 3,
        "trainer.entropy.weight": 0.1,
    }
    with pytest.raises(SettingsError, match=r"`policy.hidden` must be given once"):
        flattened({"policy.hidden": 1, "policy": {"hidden": 3}})


def test_each_setting_of_every_method_has_a_name_and_can_be_set_to_its_own_value() -> None:
    for method in METHODS.values():
        own = values(method.settings)
        assert set(own) <= set(names())
        assert changed(method.settings, own) == method.settings


def test_the_settings_of_a_policy_of_two_parts_are_those_of_the_one_that_learns() -> None:
    settings = changed(METHODS["nggp-pretrained"].settings, {"policy.learning_rate": 0.5})
    policy = METHODS["nggp-pretrained"].settings.policy
    assert isinstance(policy, NetworkSettings)
    assert settings.policy == replace(policy, learner=PolicySettings(learning_rate=0.5))


def test_a_change_reaches_its_field_and_no_other() -> None:
    settings = changed(
        SearchSettings(),
        {
            "batch": 100,
            "policy.learning_rate": 1,
            "evolution.variation.weights": [1, 0, 0, 0, 0, 0],
            "trainer.entropy.weight": 0.1,
            "trainer.pushes": None,
            "seeds": "random",
        },
    )
    weights = VariationSettings(weights=(1.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    assert settings == SearchSettings(
        batch=100,
        policy=PolicySettings(learning_rate=1.0),
        evolution=EvolutionSettings(variation=weights),
        trainer=QueueTrainer(entropy=EntropySettings(weight=0.1), pushes=None),
        seeds=Seeds.RANDOM,
    )


def test_parts_are_switched_on_and_off_and_a_trainer_keeps_the_entropy_settings() -> None:
    entropy = EntropySettings(weight=0.1)
    begun = SearchSettings(trainer=QueueTrainer(entropy=entropy))
    assert changed(begun, {"trainer": "risk-seeking", "trainer.risk": 0.2}) == replace(
        begun, trainer=RiskSeekingTrainer(risk=0.2, entropy=entropy)
    )
    assert changed(begun, {"trainer": "queue"}) == begun
    whole = changed(begun, {"completion": True, "completion.longest": 7})
    assert whole == replace(begun, completion=CompletionSettings(longest=7))
    assert changed(whole, {"completion": False}) == begun
    assert changed(begun, {"policy": False, "seeds": "random"}).policy is None


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"learning_rate": 0.1}, r"There is no method setting `learning_rate`\. Did you mean `policy.learning_rate`\?"),
        ({"policy.hiden": 1}, r"Did you mean `policy.hidden`\?"),
        ({"generations": 1}, "Did you mean `evolution.generations` or `completion.generations`"),
        ({"nonsense_": 1}, r"The method settings are batch, policy, policy.hidden"),
        ({"policy.hidden": 3.5}, r"`policy.hidden` must be a whole number, but it is 3\.5\."),
        ({"policy.hidden": True}, r"`policy.hidden` must be a whole number, but it is True\."),
        ({"policy.learning_rate": "x"}, r"`policy.learning_rate` must be a number, but it is 'x'\."),
        ({"policy.learning_rate": -1.0}, r"`learning_rate` must be at least 0, but it is -1\.0\."),
        ({"elite_lasts": 1}, r"`elite_lasts` must be true or false, but it is 1\."),
        ({"trainer.pushes": "all"}, r"`trainer.pushes` must be a whole number or none, but it is 'all'\."),
        ({"seeds": "x"}, r"`seeds` must be one of policy, random, continue, queue, but it is 'x'\."),
        ({"trainer": "pqt"}, r"`trainer` must be one of queue, risk-seeking, vanilla, cross-entropy"),
        ({"trainer.risk": 0.1}, r"`trainer.risk` has no effect, because the trainer is a QueueTrainer"),
        ({"completion.longest": 3}, r"`completion.longest` has no effect, because the search has no completion\."),
        ({"completion": "yes"}, r"`completion` must be true or false, but it is 'yes'\."),
        ({"evolution.variation.weights": 1.0}, r"must be a list of numbers, but it is 1\.0\."),
        ({"policy": False}, r"`seeds` is POLICY, which needs a policy\."),
    ],
)
def test_what_cannot_be_set_is_refused_with_a_sentence(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(SettingsError, match=sentence):
        changed(SearchSettings(), changes)
