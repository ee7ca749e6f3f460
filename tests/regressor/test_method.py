"""The method of a fit: the paper's methods run as in the paper, their settings can be set, and learning is seen."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.utils import check_random_state

from symseed import Dataset, SymbolicRegressor, benchmarks, methods
from symseed.data import Dataset as Data
from symseed.errors import SettingsError
from symseed.language import Library
from symseed.language.tokens import OPERATORS
from symseed.methods import METHODS
from symseed.portfolio.pool import SOLVED_NMSE
from symseed.regressor import settings_text
from symseed.regressor.run_log import RunLog
from symseed.regressor.settings import Settings
from symseed.regressor.target import Progress
from symseed.scoring import RegressionSettings, RegressionTask
from symseed.search import Budget, Part, PolicySettings, RiskSeekingTrainer, search

BINARY, UNARY = ("add", "sub", "mul", "div"), ("sin", "cos", "exp", "log")
TRAIN = benchmarks.get("Nguyen-5").datasets()[0]
SMALL: dict[str, Any] = {"method_settings": {"batch": 50, "evolution.generations": 3}}


def paper(**parameters: Any) -> SymbolicRegressor:
    given = {"method": "nggp", "binary_operators": BINARY, "unary_operators": UNARY, "random_state": 3}
    return SymbolicRegressor(**{**given, "max_time": None, "max_evals": 3_000, **parameters})


def ordered(data: Data) -> Dataset:
    """The samples in the order in which a fit searches with them."""
    order = np.argsort(data.X[:, 0])
    return Dataset.of(data.X[order], data.y[order])


# --- The paper's methods ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["nggp", "nggp-complete"])
def test_a_fit_with_a_method_of_the_paper_tries_the_same_formulas_as_the_search_itself(method: str) -> None:
    """In both, six rounds: the samples, the generations and the policy are the same to the last bit."""
    library = Library((*Library.of([], 1).tokens, *(OPERATORS[name] for name in (*BINARY, *UNARY))))
    task = RegressionTask(library, ordered(TRAIN), RegressionSettings(solved_nmse=SOLVED_NMSE))
    chosen = methods.get(method)
    seed = int(check_random_state(3).randint(2**31 - 1))
    steps = search.run(chosen.space(library), task, chosen.settings, seed=seed, budget=Budget(50_000)).history
    model = paper(method=method, max_evals=50_000).fit(TRAIN.X, TRAIN.y)
    seen = [(entry.rounds, entry.learning.sampled) for moment in model._histories[0] for entry in moment.learning]
    rounds = 4 if method == "nggp-complete" else 0  # whose table is emptied after four rounds of a fit
    assert len(seen) >= 4
    for step, (index, sampled) in list(zip(steps, seen, strict=False))[: rounds or None]:
        assert step.index + 1 == index
        assert step.learning.sampled is not None
        assert sampled is not None
        # The cache of scores is emptied too, so that more formulas seem new.
        assert replace(sampled, repeated=0.0) == replace(step.learning.sampled, repeated=0.0)


def test_a_method_of_the_paper_has_no_fitted_constants_unless_asked() -> None:
    model = paper().fit(TRAIN.X, TRAIN.y)
    assert all(np.isnan(equation.expression.constants).all() for equation in model.pareto_front_)
    assert not any(track.constants for track in Settings(method="nggp").plan().settings.tracks)
    fitted = paper(constants=True).fit(TRAIN.X, TRAIN.y)
    assert any(np.isfinite(equation.expression.constants).any() for equation in fitted.pareto_front_)


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_a_target_of_any_size_is_searched_without_constants_that_scale_it(scale: float) -> None:
    model = paper(**SMALL).fit(TRAIN.X * scale, (TRAIN.X[:, 0] ** 2 + TRAIN.X[:, 0] ** 3) * scale)
    assert all(np.isnan(equation.expression.constants).all() for equation in model.pareto_front_)


def test_completion_finds_what_it_looks_up_in_a_fit() -> None:
    seen: list[Progress] = []
    paper(method="nggp-complete", max_evals=60_000, callback=seen.append).fit(TRAIN.X, TRAIN.y)
    assert seen[-1].turn.completion.hits > 0
    assert seen[-1].turn.found_by is Part.COMPLETION


def test_the_default_method_can_do_without_constants() -> None:
    model = SymbolicRegressor(constants=False, max_evals=3_000, max_time=None, random_state=0, **SMALL)
    model.fit(TRAIN.X, TRAIN.y)
    assert all(np.isnan(equation.expression.constants).all() for equation in model.pareto_front_)


def test_a_method_of_the_paper_ends_by_its_budget_and_the_default_by_its_patience_too() -> None:
    assert Settings(method="nggp").plan().patience is None
    assert Settings().plan().patience == 8
    assert Settings(method="nggp", patience=3).plan().patience == 3
    assert Settings(patience=None).plan().patience is None
    with pytest.raises(SettingsError, match="`patience` must be a whole number of at least 1, but it is 'never'"):
        Settings(patience="never").plan()


def test_every_method_runs_in_a_fit_or_says_why_it_does_not() -> None:
    for name, method in METHODS.items():
        changes: dict[str, Any] = {"method_settings": {"batch": 20}}
        model = SymbolicRegressor(method=name, max_evals=60, max_time=None, random_state=0, **changes)
        if not method.is_for_fits:
            with pytest.raises(SettingsError, match="A fit needs another method"):
                model.fit(TRAIN.X, TRAIN.y)
            continue
        assert np.isfinite(model.fit(TRAIN.X, TRAIN.y).predict(TRAIN.X)).all(), name
    with pytest.raises(SettingsError, match="`nggp-pretrained` needs a network, and `network` is None"):
        SymbolicRegressor(method="nggp-pretrained", network=None).fit(TRAIN.X, TRAIN.y)


# --- Its settings ----------------------------------------------------------------------------------------------------


def searches(**parameters: Any) -> list[Any]:
    return [track.settings for track in Settings(**parameters).plan().settings.tracks]


def test_settings_of_the_method_reach_its_search_from_the_estimator_a_file_and_the_command_line(tmp_path: Path) -> None:
    given = {"policy.learning_rate": 0.001, "batch": 100, "trainer": "risk-seeking", "trainer.risk": 0.1}
    (settings,) = searches(method="nggp", method_settings=given)
    assert settings.policy == PolicySettings(learning_rate=0.001)
    assert (settings.batch, settings.trainer) == (100, RiskSeekingTrainer(risk=0.1))
    path = tmp_path / "settings.toml"
    path.write_text(
        'method = "nggp"\n[method_settings]\nbatch = 100\npolicy.learning_rate = 0.001\n'
        'trainer = "risk-seeking"\n"trainer.risk" = 0.1\n'
    )
    assert searches(**settings_text.read_file(str(path))) == [settings]
    typed = [f"{name}={value}" for name, value in {"method": "nggp", **given}.items()]
    assert searches(**settings_text.read_changes(typed)) == [settings]
    both = settings_text.merged(settings_text.read_file(str(path)), settings_text.read_changes(["batch=7"]))
    assert searches(**both) == [replace(settings, batch=7)]


def test_settings_of_the_method_are_kept_by_clones_grids_pickles_and_runs(tmp_path: Path) -> None:
    model = paper(**SMALL, max_evals=300, output_directory=tmp_path)
    assert clone(model).get_params()["method_settings"] == SMALL["method_settings"]
    assert model.set_params(method_settings={"batch": 40}).method_settings == {"batch": 40}
    model.set_params(**SMALL)
    model.fit(TRAIN.X, TRAIN.y)
    assert str(pickle.loads(pickle.dumps(model)).best_) == str(model.best_)
    again = SymbolicRegressor.from_file(str(model.run_directory_))
    assert Settings(**again.get_params()).plan().settings == Settings(**model.get_params()).plan().settings
    grid = {"method_settings": [{"batch": 20}, {"batch": 30}]}
    found = GridSearchCV(paper(max_evals=300), grid, cv=2, error_score=0.0).fit(TRAIN.X, TRAIN.y)
    assert found.best_params_ in [{"method_settings": choice} for choice in grid["method_settings"]]


def test_settings_of_the_default_method_apply_to_each_search_that_has_the_part() -> None:
    before = searches()
    after = searches(method_settings={"completion.longest": 7, "evolution.generations": 3})
    assert all(settings.evolution.generations == 3 for settings in after)
    assert [settings.completion is None for settings in after] == [settings.completion is None for settings in before]
    assert [settings.completion.longest for settings in after if settings.completion] == [7]
    on = Settings(method_settings={"completion": True}).plan().settings.tracks
    assert all((track.settings.completion is None) == track.constants for track in on)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"method_settings": {"learning_rate": 1}}, "Did you mean `policy.learning_rate`"),
        ({"method_settings": 3}, "`method_settings` must be a mapping from names of settings to values, but it is 3"),
        ({"method": "gp", "method_settings": {"policy.hidden": 3}}, "because the search has no policy"),
        ({"constants": "yes"}, "`constants` must be true, false or None, but it is 'yes'"),
        ({"callback": 3}, "`callback` must be a function of the progress, but it is 3"),
    ],
)
def test_what_cannot_be_set_is_refused_with_a_sentence(parameters: dict[str, Any], sentence: str) -> None:
    with pytest.raises(SettingsError, match=sentence):
        Settings(**parameters).plan()


def test_an_unknown_name_on_the_command_line_is_answered_with_the_setting_that_was_meant() -> None:
    with pytest.raises(SettingsError, match=r"Did you mean `policy\.learning_rate`"):
        settings_text.read_changes(["learning_rate=0.1"])
    with pytest.raises(SettingsError, match="There is no setting `niterations`"):
        settings_text.read_changes(["niterations=1"])


# --- Watching it -----------------------------------------------------------------------------------------------------


def test_a_callback_sees_every_turn_and_ends_the_search_by_a_true_value() -> None:
    seen: list[Progress] = []

    def third(progress: Progress) -> bool:
        seen.append(progress)
        return progress.turn.index == 3

    model = paper(**SMALL, max_evals=10**7, callback=third).fit(TRAIN.X, TRAIN.y)
    assert [progress.turn.index for progress in seen] == [0, 1, 2, 3]
    assert model.stop_reason_ == "The callback stopped the search."
    assert not model.interrupted_
    assert seen[-1].front().equations
    assert [entry.rounds for progress in seen for entry in progress.turn.learning] == [1, 2, 3]
    assert clone(model).callback is third


def test_a_callback_ends_the_search_for_its_target_only() -> None:
    outputs: list[int] = []

    def first(progress: Progress) -> bool:
        outputs.append(progress.output)
        return progress.output == 0

    both = np.stack([TRAIN.y, TRAIN.y + TRAIN.X[:, 0]], axis=1)
    model = paper(**SMALL, max_evals=500, callback=first).fit(TRAIN.X, both)
    assert outputs[:2] == [0, 1]
    assert outputs.count(1) > 1
    assert model.stop_reason_[0] == "The callback stopped the search."


def test_an_exception_of_a_callback_leaves_the_best_formulas_so_far() -> None:
    def fail(progress: Progress) -> None:
        if progress.turn.index == 3:
            raise RuntimeError("a bug of the user")

    model = paper(**SMALL, max_evals=10**7, callback=fail)
    with pytest.raises(RuntimeError, match="a bug of the user"):
        model.fit(TRAIN.X, TRAIN.y)
    assert model.predict(TRAIN.X).shape == TRAIN.y.shape


def test_a_run_records_learning_and_what_found_each_choice_and_goes_on_without_its_callback(tmp_path: Path) -> None:
    model = paper(**SMALL, max_evals=2_000, output_directory=tmp_path, callback=lambda progress: False)
    model.fit(TRAIN.X, TRAIN.y)
    folder = Path(str(model.run_directory_))
    assert tuple(RunLog(folder).history(0)) == model._histories[0]
    lines = [json.loads(line) for line in (folder / "events.jsonl").read_text().splitlines()]
    turns = [line for line in lines if line["event"] == "turn"]
    assert turns[0]["found_by"] == "mean"
    assert {turn["found_by"] for turn in turns} & {"policy", "evolution"}
    (entry,) = next(turn["learning"] for turn in turns if turn["turn"] == 1)
    assert set(entry) == {"track", "rounds", "sampled", "evolved", "entropy", "loss"}
    assert entry["sampled"]["count"] == 50
    assert entry["entropy"] > 0.0
    seen: list[Progress] = []
    again = SymbolicRegressor.resume(folder, max_evals=3_000, callback=seen.append)
    assert seen
    before = [replace(moment, seconds=0.0) for moment in model._histories[0][:-1]]
    assert [replace(moment, seconds=0.0) for moment in again._histories[0][: len(before)]] == before
