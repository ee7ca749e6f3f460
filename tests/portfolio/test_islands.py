"""Islands: the same answer however many workers there are, what they exchange, and when they end."""

from __future__ import annotations

import dataclasses
import itertools
import json
import multiprocessing
import os
import pickle
import signal
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from symseed import Dataset, Library
from symseed.assembly import AssemblySettings
from symseed.completion.completer import CompletionSettings
from symseed.errors import SettingsError
from symseed.language.row import Row
from symseed.portfolio import (
    Exchange,
    IslandProblem,
    Islands,
    IslandSettings,
    PortfolioSettings,
    PortfolioState,
    Track,
    Turn,
    states,
)
from symseed.portfolio.exchange import Migrant, best, received
from symseed.search import Budget, SearchSettings, StopReason
from symseed.search.evolution import EvolutionSettings
from symseed.space.constraints import PAPER
from symseed.workers import Workers, WorkersLostError

KOZA = Library.of(["add", "sub", "mul", "div", "sin", "cos", "exp", "log"], 2)
_SEARCH = SearchSettings(batch=40, evolution=EvolutionSettings(4))
TRACKS = (
    Track(dataclasses.replace(_SEARCH, completion=CompletionSettings(max_bytes=2**16)), 20, PAPER, False, 2),
    Track(_SEARCH, 20, PAPER, True, 1),
)
ASSEMBLY = AssemblySettings(features=40, more_features=60, newer=20, matches=4, blocks=False)
SMALL = PortfolioSettings(TRACKS, ASSEMBLY, parts=2, simplified=2)
"""A turn of some 500 expressions."""


def hard() -> Dataset:
    """A law that these searches do not find, so that they go on."""
    random = np.random.default_rng(1)
    X = random.uniform(0.3, 3.0, (40, 2))
    y = np.sin(X[:, 0] * X[:, 1]) * np.exp(-X[:, 0] / X[:, 1]) + np.log(X[:, 0] + 2.0 * X[:, 1])
    return Dataset.of(X, y + random.normal(0.0, 0.01, 40))


def islands(count: int = 3, budget: int = 9_000, **others: Any) -> Islands:
    own = IslandSettings(count, **{name: others.pop(name) for name in ("exchange", "tracks") if name in others})
    settings = dataclasses.replace(SMALL, islands=own)
    return Islands(IslandProblem(KOZA, hard(), settings, 7, Budget(budget)), **others)


def followed(search: Islands) -> tuple[list[Turn], list[tuple[str, float]], tuple[Row, ...]]:
    """Return the turns without their times, the front, and the formulas near the best."""
    turns = [dataclasses.replace(turn, seconds=0.0) for turn in search.turns()]
    return turns, [(str(one.expression), one.description) for one in search.front()], search.near


@pytest.fixture(scope="module")
def expected() -> tuple[list[Turn], list[tuple[str, float]], tuple[Row, ...]]:
    return followed(islands())


# --- The same answer -------------------------------------------------------------------------------------------------


def test_the_answer_is_the_same_on_one_process_and_on_two(expected: Any) -> None:
    turns, front, _ = expected
    assert turns[-1].reason is StopReason.EXPRESSIONS
    assert len(turns) > 3
    assert len(front) > 3
    assert followed(islands(jobs=2)) == expected


def test_the_answer_is_the_same_on_any_executor(expected: Any) -> None:
    with ThreadPoolExecutor(4) as threads:
        assert followed(islands(executor=threads)) == expected


def test_the_answer_is_the_same_after_a_resume_from_any_epoch(expected: Any) -> None:
    """States pass through their form on disk."""
    search = islands()
    saved: list[PortfolioState] = []
    for turn in itertools.islice(search.turns(), 3):
        assert search.state is not None
        assert search.state.turn == turn.index
        saved.append(search.state)
    settings = dataclasses.replace(SMALL, islands=IslandSettings(3))
    for place, state in enumerate(saved):
        arrays, values = states.pack(state, KOZA)
        begin = states.unpack(arrays, json.loads(json.dumps(values)), KOZA, settings)
        turns, front, near = followed(islands(begin=begin))
        assert [_without_part(turn) for turn in turns] == [_without_part(turn) for turn in expected[0][place + 1 :]]
        assert (front, near) == expected[1:]


def _without_part(turn: Turn) -> Turn:
    return dataclasses.replace(turn, found_by=None)


def test_the_answer_is_the_same_if_a_worker_dies_on_the_way(expected: Any, tmp_path: Path) -> None:
    search = islands(jobs=2)
    turns = []
    for turn in search.turns():
        turns.append(dataclasses.replace(turn, seconds=0.0))
        if turn.index == 2:
            victims = [child for child in _children() if child != os.getpid()]
            os.kill(victims[0], signal.SIGKILL)
    assert turns == expected[0]
    assert [(str(one.expression), one.description) for one in search.front()] == expected[1]


def _children() -> list[int]:
    import multiprocessing

    return [child.pid for child in multiprocessing.active_children() if child.pid is not None]


def test_an_island_is_a_portfolio_of_its_own_with_other_random_numbers() -> None:
    search = islands(count=2)
    last = None
    for turn in itertools.islice(search.turns(), 2):
        last = turn
    assert last is not None
    assert last.index == 2
    assert search.state is not None
    first, second = (island.state for island in search.state.islands)
    assert first.tracks[0].front is not None
    assert second.tracks[0].front is not None
    assert first.tracks[0].front.population != second.tracks[0].front.population
    assert pickle.loads(pickle.dumps(first.formulas)) == first.formulas


def test_islands_may_have_other_searches() -> None:
    search = islands(count=3, tracks=((0,), (0, 1)), budget=1_500)
    for _ in itertools.islice(search.turns(), 2):
        pass
    assert search.state is not None
    assert [len(island.state.tracks) for island in search.state.islands] == [1, 2, 1]
    settings = dataclasses.replace(SMALL, islands=IslandSettings(3, tracks=((0,), (0, 1))))
    arrays, values = states.pack(search.state, KOZA)
    again = states.unpack(arrays, values, KOZA, settings)
    assert [island.places for island in again.islands] == [(0,), (0, 1), (0,)]


def test_islands_share_the_budget(expected: Any) -> None:
    charged = expected[0][-1].charged
    assert 9_000 <= charged < 9_000 + 3 * 600


# --- Exchange --------------------------------------------------------------------------------------------------------


def migrant(token: int, description: float) -> Migrant:
    return Migrant(Row.leaf(token), description)


def test_in_a_ring_an_island_gets_the_formulas_of_the_one_before_it() -> None:
    ring = IslandSettings(3, Exchange.RING, migrants=2)
    assert [ring.sources(place) for place in range(3)] == [(2,), (0,), (1,)]
    sent = {2: [migrant(4, 3.0), migrant(5, 1.0), migrant(6, 2.0)]}
    assert received(ring, 0, sent, []) == (Row.leaf(5), Row.leaf(6))


def test_the_best_of_all_others_arrive_but_none_that_is_known() -> None:
    every = IslandSettings(3, Exchange.BEST, migrants=2)
    assert every.sources(1) == (0, 2)
    sent = {0: [migrant(4, 3.0), migrant(5, 1.0)], 2: [migrant(5, 1.0), migrant(6, 2.0)]}
    assert received(every, 1, sent, [migrant(6, 2.0)]) == (Row.leaf(5), Row.leaf(4))


def test_which_are_the_best_does_not_depend_on_their_order() -> None:
    found = [migrant(4, 1.0), migrant(5, 1.0), migrant(6, 0.5), migrant(7, 2.0)]
    answers = {best(order, 3) for order in itertools.permutations(found)}
    assert answers == {(migrant(6, 0.5), migrant(4, 1.0), migrant(5, 1.0))}


def test_what_one_island_knows_reaches_the_next_after_an_epoch() -> None:
    search = islands(count=3)
    epochs = [search.state for _ in itertools.islice(search.turns(), 3)]
    before, after = epochs[1], epochs[2]
    assert before is not None
    assert after is not None
    shortest = [_shortest(search, island.state) for island in after.islands]
    own = [_shortest(search, island.state) for island in before.islands]
    for place in range(3):
        assert shortest[place] <= own[(place - 1) % 3]


def _shortest(search: Islands, state: PortfolioState) -> float:
    from symseed.portfolio.epochs import migrants_of

    return migrants_of(search._problem, state)[0].description


def test_settings_that_cannot_run_are_refused() -> None:
    with pytest.raises(SettingsError, match="`islands` must be from 1 to 10000, but it is 0"):
        IslandSettings(0)
    with pytest.raises(SettingsError, match="must name at least one search"):
        IslandSettings(2, tracks=((),))
    with pytest.raises(SettingsError, match="`island_tracks` must be from 0 to 1, but it is 2"):
        dataclasses.replace(SMALL, islands=IslandSettings(2, tracks=((2,),)))


# --- Workers ---------------------------------------------------------------------------------------------------------


def plus(value: int, other: int) -> int:
    return value + other


def of_process(value: int, mark: str) -> int:
    """Kill the process the first time."""
    path = Path(mark)
    if not path.exists():
        path.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return value


def results(workers: Workers, count: int) -> dict[int, Any]:
    found = dict(filter(None, (workers.result(60.0) for _ in range(count))))
    assert len(found) == count
    return found


class Counting(Executor):
    """Counts how often the common value is sent."""

    def __init__(self, inner: Executor, value: Any) -> None:
        self.inner, self.value, self.count = inner, value, 0

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.count += self.value in args
        return self.inner.submit(fn, *args, **kwargs)


def test_the_common_value_reaches_a_worker_once() -> None:
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        counting = Counting(pool, 1_000)
        with Workers(1_000, counting) as workers:
            for other in range(6):
                ticket = workers.submit(plus, other)
                assert workers.result(60.0) == (ticket, 1_000 + other)
    assert counting.count == 1


def test_the_task_of_a_worker_that_died_is_repeated(tmp_path: Path) -> None:
    with Workers(5, count=2) as workers:
        tickets = [workers.submit(of_process, str(tmp_path / "mark")), *(workers.submit(plus, i) for i in range(4))]
        found = results(workers, 5)
    assert [found[ticket] for ticket in tickets] == [5, 5, 6, 7, 8]


def test_a_pool_of_the_caller_that_broke_ends_the_work(tmp_path: Path) -> None:
    with ProcessPoolExecutor(1, get_context("spawn")) as pool, Workers(5, pool) as workers:
        workers.submit(of_process, str(tmp_path / "mark"))
        with pytest.raises(WorkersLostError):
            results(workers, 1)


class Elsewhere(Executor):
    """Workers with another version."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(fn("9.9.9", *args[1:], **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


def test_a_worker_of_another_version_is_refused_with_both_versions() -> None:
    with Workers(5, Elsewhere()) as workers:
        workers.submit(plus, 1)
        with pytest.raises(SettingsError, match=r"A worker has symseed \d.*, but the search runs symseed 9\.9\.9"):
            workers.result()


class Dying(Executor):
    """Does some tasks, and is then gone."""

    def __init__(self, tasks: int) -> None:
        self.left = tasks

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.left -= 1
        future: Future[Any] = Future()
        if self.left < 0:
            future.set_exception(ConnectionError("gone"))
        else:
            future.set_result(fn(*args, **kwargs))
        return future


def test_workers_that_are_gone_end_the_search_with_what_was_found(expected: Sequence[Any]) -> None:
    search = islands(executor=Dying(8))
    turns = [dataclasses.replace(turn, seconds=0.0) for turn in search.turns()]
    assert turns[-1].reason is StopReason.LOST
    assert turns[:2] == expected[0][:2]
    assert search.state is not None
    rest, front, _ = followed(islands(begin=search.state))
    assert rest[-1] == expected[0][-1]
    assert front == expected[1]


def test_functions_that_other_processes_cannot_have_are_refused_at_once() -> None:
    with pytest.raises(SettingsError, match="such that other processes can have them"):
        Workers(lambda: 0, count=2)


def _slept(_: int, path: str) -> None:
    Path(path).touch()
    time.sleep(100.0)


def test_workers_that_are_not_needed_any_more_end_at_once(tmp_path: Path) -> None:
    """A process of a pool waits for its task, and the program for the process."""
    before = set(multiprocessing.active_children())
    with Workers(5, count=2) as workers:
        workers.submit(_slept, str(tmp_path / "begun"))
        while not (tmp_path / "begun").exists():
            assert workers.result(0.1) is None
        (process,) = set(multiprocessing.active_children()) - before
    process.join(20.0)
    assert process.exitcode == -signal.SIGKILL
