"""A network beside the searches of a portfolio: what it is asked, what it gives, and what a user is told of it."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from networks import LIBRARY, SMALL, random_network

from symseed import (
    Budget,
    Dataset,
    Expression,
    FunctionTask,
    Library,
    Population,
    RegressionTask,
    SearchSettings,
    SearchSpace,
    SettingsError,
    SymbolicRegressor,
    methods,
    search,
)
from symseed.cli.main import commands
from symseed.errors import DataError
from symseed.language import Writer
from symseed.network import Network, NetworkSettings, Reading, guesses
from symseed.portfolio import Portfolio, PortfolioSettings
from symseed.portfolio.asked import ask, guide_of
from symseed.regressor.run import Run
from symseed.search import Part
from symseed.search.budget import never
from symseed.search.streams import SearchSeeds

NETWORK = random_network(SMALL)
FAST: dict[str, Any] = {"batch": 40, "evolution.generations": 3}
MOST: dict[str, Any] = {"max_evals": 15_000}
OPERATORS: dict[str, Any] = {"binary_operators": ["+", "*"], "unary_operators": ["sin"]}


def default(network: Network | None) -> PortfolioSettings:
    settings = methods.get("default").portfolio
    assert settings is not None
    return settings.with_network(network)


def noisy(columns: int, rows: int = 60) -> Dataset:
    rng = np.random.default_rng(1)
    X = rng.uniform(0.5, 3.0, (rows, columns))
    return Dataset.of(X, 2.0 + 3.0 * np.sin(X[:, -1]) * X[:, -2] + 0.3 * rng.normal(size=rows))


def test_what_it_draws_is_fitted_with_a_scale_and_an_offset() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(0.5, 3.0, (50, 2))
    data = Dataset.of(X, 2.0 + 3.0 * X[:, 0] * X[:, 1])
    writer = Writer(Library.of(["add", "mul", "sin", "const"], 2))
    settings = default(NETWORK)
    guide = guide_of(settings, writer, data, tuple, seed=3)
    assert guide is not None
    asked = ask(guide, settings, writer, data, never)
    assert asked.charged == len(guide.reading.sample(SearchSpace(writer.library, 1, 12, ()), 500, seed=0, step=0)[1])
    best = Expression(writer.library, asked.rows[0]).evaluate(X)
    assert np.abs(best - data.y).max() < 1e-9
    probabilities = [guess.probability for guess in asked.guesses]
    assert probabilities == sorted(probabilities, reverse=True)
    assert 0.0 < sum(probabilities) <= 1.0
    without = ask(guide, settings.without_constants(), writer, data, never)
    assert (without.rows, without.guesses) == ((), asked.guesses)
    late = ask(guide, settings, writer, data, lambda: True)
    assert late.rows == ()
    assert late.guesses == asked.guesses


def test_writings_of_one_form_are_one_guess() -> None:
    texts = ["x1 * x2 + x3", "x3 + x2 * x1", "x1 + x2 + x3", "x3 + x2 + x1", "x1 * (x2 + x3)"]
    rows = Population.from_expressions([Expression.parse(text, LIBRARY) for text in texts])
    found = guesses(rows, np.log([0.1, 0.2, 0.05, 0.05, 0.25]))
    assert [guess.formula for guess in found] == ["x3 + x2 * x1", "x1 * (x2 + x3)", "x1 + x2 + x3"]
    np.testing.assert_allclose([guess.probability for guess in found], [0.3, 0.25, 0.1])
    assert str(found[0]) == "x3 + x2 * x1 (30 %)"
    turned = Library.of(["sub", "square", "sin"], 2)
    texts = ["square(x1 - x2)", "square(x2 - x1)", "sin(x1 - x2)", "sin(x2 - x1)"]
    signs = Population.from_expressions([Expression.parse(text, turned) for text in texts])
    totals = [guess.probability for guess in guesses(signs, np.log([0.1, 0.2, 0.3, 0.25]))]
    np.testing.assert_allclose(totals, [0.3, 0.3, 0.25])  # a square is even, and a sine is not
    twice = Population.concatenate([rows, rows])  # the same writing again adds nothing
    assert guesses(twice, np.log([0.1, 0.2, 0.05, 0.05, 0.25] * 2)) == found


def test_the_columns_that_matter_are_read_first() -> None:
    data = noisy(12)
    library = Library.of(["add", "mul", "sin"], 12)
    portfolio = Portfolio(library, data, default(NETWORK), seed=0, budget=Budget(1))
    guide = portfolio.tracks.common.guide
    assert guide is not None
    assert len(guide.reading.columns) == 9
    assert {10, 11} <= set(guide.reading.columns)
    writer = Writer(library.with_constant())
    by_evidence = guide_of(default(NETWORK), writer, data, lambda: (11, 10, 9), seed=0)
    assert by_evidence is not None
    assert by_evidence.reading.columns == (0, 1, 2, 3, 4, 5, 9, 10, 11)


@pytest.fixture(scope="module")
def turned() -> Portfolio:
    """A portfolio for data of four columns after the turn in which the network is asked."""
    settings = default(NETWORK).with_search_settings(FAST)
    budget = Budget(300_000)
    portfolio = Portfolio(Library.of(["add", "mul", "sin"], 4), noisy(4), settings, seed=0, budget=budget)
    turns = portfolio.turns()
    next(turns)
    assert portfolio.tracks.common.record.prior == ()  # what needs no search comes first
    next(turns)
    return portfolio


def test_a_portfolio_asks_it_before_its_searches(turned: Portfolio) -> None:
    record = turned.tracks.common.record
    assert record.prior
    assert Part.NETWORK in {record.finder(formula.expression.row) for formula in turned.intake.pool.shortest(50)}


def test_it_reads_the_reduced_problems_too(turned: Portfolio) -> None:
    assert turned.reduced.columns
    inner = [one._solver.tracks.common for one in turned.reduced._searches if one.index > 0]
    assert inner
    for context in inner:
        assert context.guide is not None
        assert context.guide.reading.network is NETWORK
        assert context.record.prior


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("weights") / "own.safetensors"
    NETWORK.save(path)
    return path


def fitted(network: Path | None, folder: Path | None = None, **settings: Any) -> SymbolicRegressor:
    data = noisy(3, rows=30)
    given: dict[str, Any] = {"max_time": None, "patience": None, "random_state": 0, "method_settings": FAST, **MOST}
    model = SymbolicRegressor(
        **OPERATORS, **given | settings, method="default-no-assembly", network=network, output_directory=folder
    )
    return model.fit(data.X, data.y)


def test_a_user_is_told_what_it_thought_and_a_resume_needs_the_same(weights: Path, tmp_path: Path) -> None:
    whole = fitted(weights)
    stopped = fitted(weights, tmp_path / "runs", callback=lambda progress: progress.turn.index >= 4)
    assert stopped.prior_ == whole.prior_ != []
    assert [event["turn"] for event in Run.read(Path(str(stopped.run_directory_))).log.events if "turn" in event][
        -1
    ] == 4
    folder = Path(str(stopped.run_directory_))
    assert len([event for event in Run.read(folder).log.events if event["event"] == "prior"]) == 1
    assert Run.read(folder).log.prior(0) == tuple(stopped.prior_)
    assert SymbolicRegressor.from_file(folder).prior_ == stopped.prior_
    shown = CliRunner().invoke(commands, ["show", str(folder)])
    assert f"Before any search, the network thought of {stopped.prior_[0]}" in shown.stdout.replace("\n", " ")
    CliRunner().invoke(commands, ["report", str(folder)])
    assert stopped.prior_[0].percent in (folder / "report.html").read_text().partition("Before the search")[2][:800]
    random_network(SMALL, seed=1).save(tmp_path / "other.safetensors")
    for other in (None, tmp_path / "other.safetensors"):
        with pytest.raises(SettingsError, match="must be the network that the run began with"):
            SymbolicRegressor.resume(folder, network=other, **MOST)
    moved = weights.rename(weights.with_name("moved.safetensors"))
    with pytest.raises(DataError, match=r"own\.safetensors"):
        SymbolicRegressor.resume(folder, **MOST)
    resumed = SymbolicRegressor.resume(folder, network=moved, **MOST)
    moved.rename(weights)
    assert str(resumed.equations_) == str(whole.equations_)
    assert resumed.prior_ == whole.prior_


def test_a_file_that_is_none_gets_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text("x,y\n1,2\n")
    with pytest.raises(DataError, match=r"table\.csv` must be the file of a network"):
        fitted(tmp_path / "table.csv", tmp_path / "runs")
    assert not (tmp_path / "runs").exists()
    with pytest.raises(SettingsError, match="`network` must be"):
        fitted(3)  # type: ignore[arg-type]


def test_workers_get_the_same_network() -> None:
    data = noisy(3)
    rows = Population.from_expressions([Expression.parse("sin(x1) * x2", LIBRARY)])
    one, other = (Reading(net, data, seed=0) for net in (NETWORK, pickle.loads(pickle.dumps(NETWORK))))
    space = SearchSpace(LIBRARY, 1, 12, ())
    assert one.log_probability(space, rows) == other.log_probability(space, rows)
    assert other.network.checksum == NETWORK.checksum != random_network(SMALL, seed=1).checksum


def test_the_method_of_its_own_reads_the_data_of_a_search() -> None:
    settings = SearchSettings(policy=NetworkSettings(network=NETWORK), batch=40)
    space = SearchSpace(LIBRARY, 1, 12)
    with pytest.raises(SettingsError, match="needs a task with data to read"):
        search.run(space, FunctionTask(LIBRARY, lambda _: 0.0), settings)
    data = noisy(3)
    task = RegressionTask(LIBRARY, data)
    firsts: list[search.Step] = []
    search.run(space, task, settings, seed=2, budget=Budget(100), callback=firsts.append)
    policy = settings.policy
    assert isinstance(policy, NetworkSettings)
    streams = SearchSeeds.of(2)
    drawn = policy.build_for(space, data, seed=streams.policy).sample(40, seed=streams.samples, step=0)
    sampled = firsts[0].learning.sampled
    assert sampled is not None
    assert sampled.length == pytest.approx(drawn.lengths.mean())
