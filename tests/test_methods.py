"""Methods: each is settings that differ from another's in what its name says, and in nothing else."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

import reference
from symseed import RegressionSettings, RegressionTask, SymbolicRegressor, benchmarks, methods
from symseed.completion.completer import CompletionSettings
from symseed.errors import SettingsError
from symseed.search.budget import Budget
from symseed.search.evolution import EvolutionSettings
from symseed.search.policy import Lesson, LSTMPolicy, PolicySettings
from symseed.search.search import SearchSettings, run
from symseed.search.training import OffPolicy, QueueTrainer, corrected
from symseed.search.variation import VariationSettings
from symseed.space.constraints import PAPER
from symseed.structure import Kind

STEPS = 3
PROBLEM = benchmarks.get("Nguyen-7")


class WatchedPolicy(LSTMPolicy):
    """Keeps the lessons that it is taught."""

    def __init__(self, name: str) -> None:
        super().__init__(methods.get(name).space(PROBLEM.library), seed=1)
        self.lessons: list[Lesson] = []

    def ascend(self, lesson: Lesson) -> None:
        self.lessons.append(lesson)
        super().ascend(lesson)


def taught(name: str) -> WatchedPolicy:
    """Run a few rounds of a method on Nguyen-7; return its policy."""
    policy = WatchedPolicy(name)
    train, _ = PROBLEM.datasets()
    task = RegressionTask(PROBLEM.library, train, RegressionSettings(solved_nmse=0.0))
    run(policy.space, task, methods.get(name).settings, seed=2, budget=Budget(STEPS * 10_000), policy=policy)
    assert len(policy.lessons) >= STEPS - 1
    return policy


def test_every_method_is_found_by_its_name_and_says_what_it_is() -> None:
    for name, method in methods.METHODS.items():
        assert methods.get(name) is method
        assert method.name == name
        assert method.description.endswith(".")
    with pytest.raises(SettingsError, match="Did you mean `nggp-vpg-corrected`"):
        methods.get("nggp-vpg-correct")


@pytest.mark.parametrize("name", ["nggp-vpg", "nggp-rspg"])
def test_the_corrected_method_differs_by_its_correction_only(name: str) -> None:
    plain, other = methods.get(name).settings, methods.get(f"{name}-corrected").settings
    assert plain.off_policy is OffPolicy.NONE
    assert replace(plain, off_policy=OffPolicy.TRUNCATED) == other


@pytest.mark.parametrize("name", ["nggp-vpg", "nggp-rspg"])
def test_the_corrected_method_teaches_evolution_s_best_with_less_weight(name: str) -> None:
    plain, other = taught(name).lessons[0], taught(f"{name}-corrected").lessons[0]
    # Until the first lesson both have done the same, so only the correction tells them apart.
    assert reference.same_bits(plain.population.tokens, other.population.tokens)
    changed = np.flatnonzero(plain.weights != other.weights)
    assert changed.tolist() == [0], "evolution's best comes first, then the samples"
    assert 0.0 < other.weights[0] < plain.weights[0]
    if name == "nggp-vpg":  # its lesson holds all samples, so the correction can be made again from it
        samples, untaught = plain.population.take(np.arange(1, 501)), WatchedPolicy(name)
        assert reference.same_bits(corrected(plain, samples, untaught).weights, other.weights)


def test_without_a_correction_no_probability_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object) -> None:
        raise AssertionError("log p takes time that the paper's method does not need")

    monkeypatch.setattr(LSTMPolicy, "log_probability", refuse)
    taught("nggp-vpg")
    with pytest.raises(AssertionError, match="takes time"):
        taught("nggp-vpg-corrected")


def test_the_paper_s_method_is_as_the_paper_has_it() -> None:
    nggp = methods.get("nggp")
    assert nggp.settings == SearchSettings()
    assert (nggp.max_length, nggp.constraints, nggp.soft_length, nggp.portfolio) == (30, PAPER, None, None)
    assert nggp.settings.completion is None
    assert nggp.settings.evolution == EvolutionSettings()
    assert nggp.budget == Budget()


def test_the_better_tuned_method_has_macros_pushes_and_longer_formulas() -> None:
    plus, nggp = methods.get("nggp-plus"), methods.get("nggp")
    assert plus.settings.evolution is not None
    assert nggp.settings.evolution is not None
    weights, before = plus.settings.evolution.variation.weights, nggp.settings.evolution.variation.weights
    assert weights[:4] == before[:4]
    assert before[4:] == (0.0, 0.0)
    assert [weight / sum(weights) for weight in weights[4:]] == pytest.approx([0.15, 0.15])
    assert plus.settings.trainer == QueueTrainer(pushes=10)
    assert plus.settings.policy == PolicySettings(longest_sample=30)
    assert (plus.max_length, plus.settings.completion) == (100, None)
    same = replace(plus.settings, trainer=nggp.settings.trainer, policy=nggp.settings.policy)
    assert replace(same, evolution=nggp.settings.evolution) == nggp.settings


def test_the_default_is_a_portfolio_with_a_budget_in_time() -> None:
    default = methods.get("default")
    assert default.portfolio is not None
    assert default.budget.expressions is not None
    assert default.budget.seconds is not None
    assert {track.constants for track in default.portfolio.tracks} == {True, False}
    assert default.portfolio.assembly is not None
    assert any(track.settings.completion == CompletionSettings() for track in default.portfolio.tracks)
    others = [method.name for method in methods.METHODS.values() if method.portfolio is not None]
    assert "default" in others
    assert "nggp" not in others


def test_each_part_of_the_default_is_a_setting_and_has_a_method_without_it() -> None:
    whole = methods.get("default").portfolio
    assert whole is not None
    assert whole.assembly is not None
    without = {
        name.removeprefix("default-no-"): method
        for name, method in methods.METHODS.items()
        if name.startswith("default-no-")
    }
    assert all(method.budget == methods.get("default").budget for method in without.values())
    changed = {name: method.portfolio for name, method in without.items() if method.portfolio is not None}
    assert changed.keys() == without.keys()
    assert changed["assembly"] == replace(whole, assembly=None)
    assert changed["blocks"] == replace(whole, assembly=replace(whole.assembly, blocks=False))
    assert changed["probes"] == replace(whole, assembly=replace(whole.assembly, probes=False))
    assert changed["plain-numbers"] == replace(whole, simple_numbers=False)
    assert whole.structure is not None
    assert changed["structure"] == replace(whole, structure=None)
    for kind in Kind:
        assert changed[f"{kind.value}-moves"] == replace(
            whole, structure=replace(whole.structure, kinds=tuple(other for other in Kind if other is not kind))
        )
    assert whole.guide is not None
    assert changed["network"] == replace(whole, guide=None)
    rest = ("completion", "fitted-constants", "late-tracks", "policy")
    assert all(replace(changed[name], tracks=whole.tracks, guide=whole.guide) == whole for name in rest)
    assert changed["policy"].guide is None
    assert all(track.settings.completion is None for track in changed["completion"].tracks)
    assert not any(track.constants for track in changed["fitted-constants"].tracks)
    assert changed["late-tracks"].tracks == tuple(track for track in whole.tracks if track.first_turn == 1)
    assert all(track.settings.policy is None for track in changed["policy"].tracks)
    assert len(without) == 16


@pytest.mark.parametrize(
    "name", [name for name, method in methods.METHODS.items() if method.portfolio is None and method.is_for_fits]
)
def test_every_single_method_that_is_listed_can_be_asked_of_a_fit(name: str) -> None:
    x = np.linspace(1.0, 2.0, 8)[:, None]
    model = SymbolicRegressor(method=name, max_evals=1, max_time=None, random_state=0, network=None)
    y = 3.0 * x[:, 0] ** 2 + np.log(x[:, 0])
    if name == "nggp-pretrained":
        with pytest.raises(SettingsError, match="needs a network, and `network` is None"):
            model.fit(x, y)
        return
    assert model.fit(x, y).best_.complexity >= 1


def test_each_description_stands_alone_and_only_the_default_says_that_it_is() -> None:
    """No name of another method, no letter of the paper's table: a reader may know neither."""
    for name, method in methods.METHODS.items():
        words = set(re.findall(r"[\w.-]+", method.description.lower()))
        assert not words & (set(methods.METHODS) - {"default"}), name
        assert not re.search(r"\([A-D]\)| PQT|\bGP\b|\bRNN\b", method.description), name
        assert len(re.findall(r"[.:;](?: |$)", re.sub(r"et al\.", "", method.description))) <= 2, name
        assert method.description.startswith("The default") == name.startswith("default"), name
    assert len({method.description for method in methods.METHODS.values()}) == len(methods.METHODS)


def test_methods_that_repeat_other_programs_are_not_for_fits() -> None:
    others = [name for name, method in methods.METHODS.items() if not method.is_for_fits]
    assert "nggp-released" in others
    assert "default" not in others
    x = np.linspace(1.0, 2.0, 8)[:, None]
    for name in others:
        with pytest.raises(SettingsError, match=f"`{name}` scores formulas by rules of other programs"):
            SymbolicRegressor(method=name).fit(x, x[:, 0])


def test_each_difference_of_the_released_code_is_one_setting_and_all_are_in_one_method() -> None:
    nggp, whole = methods.get("nggp"), methods.get("nggp-released")
    flags, bfgs = methods.get("nggp-flags").scoring, methods.get("nggp-bfgs").scoring
    assert replace(flags, validity=nggp.scoring.validity) == nggp.scoring
    assert replace(bfgs, fit=nggp.scoring.fit) == nggp.scoring
    assert whole.scoring == replace(flags, fit=bfgs.fit)
    parent, even, late = (
        methods.get(name).settings for name in ("nggp-random-parent", "nggp-even-seeds", "nggp-whole-rounds")
    )
    assert parent.evolution is not None
    assert even.evolution is not None
    assert whole.settings == replace(
        late, evolution=replace(even.evolution, variation=replace(even.evolution.variation, any_parent=True))
    )
    assert replace(parent.evolution.variation, any_parent=False) == VariationSettings()
    assert replace(late, whole_rounds=False) == nggp.settings
    assert replace(methods.get("nggp-protected"), name="nggp", description=nggp.description, protected=False) == nggp
