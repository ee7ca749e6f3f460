"""Each example finds what it says it finds."""

from __future__ import annotations

import gc
import importlib.util
import signal
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import ModuleType

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
import sympy
from sklearn.base import clone
from sklearn.preprocessing import StandardScaler
from sympy.parsing.sympy_parser import parse_expr

import symseed
from symseed import Budget, Expression, Library, Population, SearchSpace
from symseed.search.policy import Lesson
from test_docs import agrees

FOLDER = Path(__file__).parent.parent / "examples"


def load(name: str, monkeypatch: pytest.MonkeyPatch, folder: Path = FOLDER) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, folder / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, name, module)  # dataclasses look their module up there
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def sequence(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    return load("integer_sequence", monkeypatch)


@pytest.fixture
def cartpole(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    pytest.importorskip("gymnasium")
    return load("cartpole", monkeypatch)


@pytest.fixture
def torch_policy(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    pytest.importorskip("torch").set_num_threads(1)  # two would wait for each other, and for other tests
    return load("torch_policy", monkeypatch)


@pytest.mark.parametrize(("name", "package"), [("cartpole", "gymnasium"), ("torch_policy", "torch")])
def test_an_example_names_the_package_that_it_misses(name: str, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(SystemExit, match=rf"needs {package}: run `pip install {package}"):
        load(name, monkeypatch)


def test_the_pentagonal_formula_holds_far_beyond_the_terms_it_was_found_from(
    sequence: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    result = sequence.find(budget=Budget(expressions=300_000))
    assert result.is_solved
    assert [sequence.value(result.best, n) for n in range(1, 101)] == [n * (3 * n - 1) // 2 for n in range(1, 101)]
    sequence.main()
    printed = capsys.readouterr().out
    assert str(result.best) in printed
    assert "exact for all 20 terms" in printed


def test_another_sequence_is_found_as_well(sequence: ModuleType) -> None:
    pieces_of_a_cake_after_n_cuts = [(n * n + n + 2) // 2 for n in range(1, 21)]
    result = sequence.find(pieces_of_a_cake_after_n_cuts, budget=Budget(expressions=300_000))
    assert result.is_solved
    assert sequence.value(result.best, 1_000) == 500_501


def test_rewarded_terms_alone_do_not_solve_a_sequence(sequence: ModuleType) -> None:
    library = Library.of(["mul"], variables=["n"])
    population = Population.from_expressions([Expression.parse(text, library) for text in ("n", "n * n")])
    task = sequence.SequenceTask([1, 4, 9, 17], 3)
    scored = task.evaluate(population)
    assert scored.reward[0] < scored.reward[1] == 1.0
    assert not scored.solved.any()
    assert sequence.SequenceTask([1, 4, 9, 16], 3).evaluate(population).solved.tolist() == [False, True]
    task.evaluate(population)
    assert (task.counts.asked, task.counts.evaluated) == (4, 2)


def test_sequence_terms_are_exact_and_division_by_zero_has_no_value(sequence: ModuleType) -> None:
    library = Library.of(["add", "sub", "div", 1, 3], variables=["n"])
    assert sequence.value(Expression.parse("n / 3 - 1", library), 1) == Fraction(-2, 3)
    undefined = Expression.parse("1 / (n - 3)", library)
    assert sequence.value(undefined, 3) is None
    assert sequence.closeness(None, 7) == 0


def test_a_formula_balances_the_pole_in_episodes_that_it_was_not_found_from(
    cartpole: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    environment = cartpole.gymnasium.make("CartPole-v1")
    result = cartpole.find(environment, budget=Budget(expressions=2_000))
    assert result.is_solved
    assert cartpole.mean_return(environment, result.best, cartpole.TESTING) >= 475.0
    cartpole.main()
    assert f"where {result.best} > 0" in capsys.readouterr().out


def test_a_controller_has_the_values_of_its_formula(cartpole: ModuleType) -> None:
    space = SearchSpace(Library.of(cartpole.OPERATIONS, variables=cartpole.OBSERVATION), max_length=15)
    points = np.random.default_rng(0).normal(size=(5, 4))
    for expression in space.sample(50, seed=0):
        control = cartpole.controller(expression)
        assert [control(point.tolist()) for point in points] == expression.evaluate(points).tolist()


def test_a_bad_formula_lets_the_pole_fall(cartpole: ModuleType) -> None:
    environment = cartpole.gymnasium.make("CartPole-v1")
    library = Library.of(cartpole.OPERATIONS, variables=cartpole.OBSERVATION)
    always_left = Expression.parse("x - x", library)
    assert cartpole.mean_return(environment, always_left, cartpole.TRAINING) < 15.0


def test_the_gru_learns_and_solves_the_first_of_nguyens_problems(
    torch_policy: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    result = torch_policy.find(budget=Budget(expressions=40_000))
    assert result.is_solved
    x = np.linspace(-2.0, 2.0, 40)
    np.testing.assert_allclose(result.best.evaluate(x), x**3 + x**2 + x, rtol=1e-9)
    assert result.history[-1].sampled > 2.0 * result.history[0].sampled
    again = torch_policy.find(budget=Budget(expressions=40_000))
    assert [replace(step, seconds=0.0) for step in again.history] == [
        replace(step, seconds=0.0) for step in result.history
    ]
    torch_policy.main()
    assert str(result.best) in capsys.readouterr().out


def test_the_gru_samples_what_the_space_allows_as_often_as_it_says(torch_policy: ModuleType) -> None:
    library = Library.of(["add", "sin", "cos"], variables=["x"])
    space = SearchSpace(library, min_length=2, max_length=4)
    policy = torch_policy.GRUPolicy(space, seed=1)
    samples = policy.sample(4_000, seed=0, step=0)
    assert (space.violations(samples) == -1).all()
    texts = [expression.prefix for expression in samples]
    different = sorted(set(texts))
    population = Population.from_expressions([Expression.parse_prefix(text, library) for text in different])
    probability = np.exp(policy.log_probability(population))
    assert probability.sum() == pytest.approx(1.0, abs=1e-5)
    share = np.array([texts.count(text) for text in different]) / len(texts)
    np.testing.assert_allclose(share, probability, atol=0.03)


def test_a_lesson_makes_its_rows_more_likely_and_forbidden_rows_stay_impossible(torch_policy: ModuleType) -> None:
    library = Library.of(["add", "sin", "cos"], variables=["x"])
    space = SearchSpace(library, min_length=2, max_length=8)
    policy = torch_policy.GRUPolicy(space)
    texts = ("x + sin(x)", "cos(x)", "sin(cos(x))", "x")
    population = Population.from_expressions([Expression.parse(text, library) for text in texts])
    before = policy.log_probability(population)
    policy.ascend(Lesson(population.take([0]), np.ones(1)))
    after = policy.log_probability(population)
    assert after[0] > before[0]
    assert np.isfinite(after[1])
    assert np.isneginf(before[2:]).all()
    assert np.isneginf(after[2:]).all()


# --- SRBench ---------------------------------------------------------------------------------------------------------

NAMES = ["N", "lambda_1", "E", "beta", "x2", "größe", "S"]


class AlarmError(Exception):
    """SRBench's, where a fit takes too long."""


def standardised() -> tuple[pd.DataFrame, npt.NDArray[np.float64]]:
    values = np.random.default_rng(0).normal(size=(60, len(NAMES)))
    target = 2.5 * values[:, 0] * values[:, 2] + np.cos(values[:, 5]) + values[:, 4]
    frame = pd.DataFrame(StandardScaler().fit_transform(values), columns=NAMES)
    return frame, StandardScaler().fit_transform(target[:, None])[:, 0]


def values_of(text: str, frame: pd.DataFrame) -> npt.NDArray[np.float64]:
    symbols = {name: sympy.Symbol(name) for name in frame.columns}
    form = parse_expr(text, local_dict=symbols)  # as SRBench does; the text is our own
    assert form.free_symbols <= set(symbols.values())
    rows = [form.subs({symbols[name]: row[name] for name in symbols}) for _, row in frame.iterrows()]
    return np.array([float(value) for value in rows])


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="a signal of POSIX systems")
@pytest.mark.parametrize(("max_time", "alarm"), [(1.0, 60.0), (60.0, 2.0)])
def test_srbench_gets_a_formula_in_its_own_names_in_time_or_when_its_alarm_rings(
    max_time: float, alarm: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    method = load("regressor", monkeypatch, FOLDER / "srbench")
    est = clone(method.est).set_params(**method.hyper_params[0]).set_params(**method.eval_kwargs["test_params"])
    est.random_state, est.max_time, est.max_evals, est.patience = 7, max_time, None, None
    frame, target = standardised()

    def ring(*_: object) -> None:
        raise AlarmError

    before = signal.signal(signal.SIGALRM, ring)
    gc.disable()  # an error raised within a callback of the collector (Hypothesis has one) is printed and lost
    signal.setitimer(signal.ITIMER_REAL, alarm)
    try:
        est.fit(frame, target)
    except AlarmError:
        pass
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
        gc.enable()
    assert est.interrupted_ == (alarm < max_time)
    for fitted in (est, method.get_best_solution(est), *method.get_population(est)):
        np.testing.assert_allclose(values_of(method.model(fitted, frame), frame), fitted.predict(frame), rtol=1e-9)


def test_srbenchs_folder_asks_for_this_version() -> None:
    assert (FOLDER / "srbench" / "requirements.txt").read_text() == f"symseed=={symseed.__version__}\n"


@pytest.mark.filterwarnings("default::DeprecationWarning")  # of the other library
def test_a_search_is_watched_in_tensorboard(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("tensorboardX")
    load("tensorboard_callback", monkeypatch).main(str(tmp_path), 30_000)
    assert "the curves are in" in capsys.readouterr().out
    (file,) = tmp_path.glob("events.out.tfevents.*")
    content = file.read_bytes()
    for name in ("selected/loss", "search0/samples/mean_reward", "search0/evolved/tokens", "search0/policy/entropy"):
        assert name.encode() in content
    assert b"found by evolution" in content


@pytest.mark.filterwarnings("default::DeprecationWarning")  # of the other library
def test_a_search_is_recorded_in_mlflow_and_ended_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    mlflow = pytest.importorskip("mlflow")
    pytest.importorskip("sqlalchemy")
    pytest.importorskip("alembic")
    monkeypatch.chdir(tmp_path)
    run = mlflow.get_run(load("mlflow_callback", monkeypatch).main())
    assert "The callback stopped the search." in capsys.readouterr().out
    assert run.data.metrics["loss"] <= 0.01
    assert {"search0_samples_reward", "search0_evolved_reward", "search0_entropy"} <= set(run.data.metrics)
    assert run.data.tags["found_by.0"] == "mean"


@pytest.mark.parametrize("name", ["planets", "hubble", "diabetes"])
def test_a_table_gives_what_its_page_shows(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    load(name, monkeypatch).main()
    page = (FOLDER.parent / "docs" / "tables.md").read_text(encoding="utf-8")
    section = page[page.index(f"../examples/{name}.py") :]
    assert agrees(capsys.readouterr().out, section.split("```text\n")[1].split("```")[0])
