"""A fit: the search for every target in turn, and its observers."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from symseed.export import notation
from symseed.language import Expression
from symseed.portfolio import Moment
from symseed.regressor.front import EquationFront
from symseed.regressor.prepare import Prepared, prepare
from symseed.regressor.run import Run
from symseed.regressor.run_data import RunData
from symseed.regressor.settings import Plan
from symseed.regressor.target import Progress, TargetSearch
from symseed.search import StopReason
from symseed.search.streams import Stream, derived
from symseed.signals import Held

Observer: TypeAlias = Callable[[int, Progress], None]
"""Called after every turn with the index of the target and the progress of its search. It may raise `KeyboardInterrupt`
to end the fit with the best formulas so far."""


@dataclass(frozen=True, slots=True)
class Fit:
    """The inputs of a fit."""

    plan: Plan
    data: RunData
    seed: int
    known: Sequence[Sequence[Expression]]
    """Formulas to begin with, for each target."""
    run: Run | None = None
    """Folder on disk that records the fit; None: nothing is written."""
    observers: tuple[Observer, ...] = ()
    started: float | None = None
    """Time, by `time.monotonic`, from which `max_time` counts; None: the start of the search."""
    done: Mapping[int, EquationFront] = field(default_factory=dict)
    """Fronts of the targets whose search ended before a resume."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The results of a fit."""

    fronts: tuple[EquationFront, ...]
    histories: tuple[tuple[Moment, ...], ...]
    is_interrupted: bool


def search_targets(fit: Fit, keep: Callable[[Outcome], None]) -> None:
    """Search for every target that is not done, and pass the outcome to `keep`.

    If an exception, such as a caller's alarm, ends the search for the last target, `keep` receives what was found so
    far, and the exception propagates.
    """
    try:
        _search_targets(fit, keep)
    finally:
        if fit.run is not None:
            fit.run.close()


def _search_targets(fit: Fit, keep: Callable[[Outcome], None]) -> None:
    count = fit.data.y.shape[1]
    clock = _Clock(fit.plan.max_time, fit.started)
    histories = [_History([] if fit.run is None else fit.run.history(output)) for output in range(count)]
    found: list[EquationFront] = []
    is_interrupted = False

    def outcome(*more: EquationFront, is_interrupted: bool) -> Outcome:
        return Outcome((*found, *more), tuple(history.moments for history in histories), is_interrupted)

    for output in range(count):
        if output in fit.done:
            found.append(fit.done[output])
            continue
        dataset, seed = fit.data.dataset(output), derived(fit.seed, Stream.TARGET, output)
        deadline = clock.share(count - output)
        prepared = prepare(fit.plan, dataset, seed=seed, dimensions=fit.data.dimensions(output))
        watch = _observed(output, (histories[output], *_observers(fit)))
        search = TargetSearch(prepared, deadline=deadline, known=fit.known[output], watch=watch)
        try:
            front = _searched(search, prepared, fit.run, output, is_at_once=is_interrupted)
        except Exception:
            so_far = search.so_far()
            if so_far is not None and output == count - 1:
                keep(outcome(so_far, is_interrupted=True))
            raise
        with Held() as held:
            found.append(front)
            if fit.run is not None:
                fit.run.finish(output, front)
        is_interrupted |= held.is_interrupted or front.reason is StopReason.INTERRUPTED
    with Held():
        keep(outcome(is_interrupted=is_interrupted))


def _searched(
    search: TargetSearch, prepared: Prepared, run: Run | None, output: int, *, is_at_once: bool
) -> EquationFront:
    """The front of one target; after Ctrl-C, the best formulas so far if there are any."""
    state = None if run is None else run.state(output, prepared.library, prepared.settings)
    try:
        return search.run(begin=state, is_at_once=is_at_once)
    except KeyboardInterrupt:
        so_far = search.so_far()
        if so_far is None:
            raise
        return so_far


class _Clock:
    """Divides the remaining time equally among the remaining targets."""

    def __init__(self, seconds: float | None, started: float | None) -> None:
        self._end = None if seconds is None else (started or time.monotonic()) + seconds

    def share(self, targets: int) -> float | None:
        """Return when the search for the first of `targets` targets must end."""
        now = time.monotonic()
        return None if self._end is None else now + (self._end - now) / targets


# --- Observers -------------------------------------------------------------------------------------------------------


def _observed(output: int, observers: Sequence[Observer]) -> Callable[[Progress], None]:
    def tell(progress: Progress) -> None:
        for observer in observers:
            observer(output, progress)

    return tell


def _observers(fit: Fit) -> list[Observer]:
    own: list[Observer] = [] if fit.run is None else [fit.run.watch]
    return [*own, *fit.observers, *([_say] if fit.plan.is_talking else [])]


class _History:
    """Records how the choice changed."""

    def __init__(self, before: Sequence[Moment]) -> None:
        """Continue the history from before a resume."""
        self._moments = list(before)

    def __call__(self, _output: int, progress: Progress) -> None:
        turn = progress.turn
        while self._moments and self._moments[-1].charged >= turn.charged:  # turns repeated after a resume
            self._moments.pop()
        formula = notation.to_text(progress.best)
        self._moments.append(Moment(seconds=turn.seconds, charged=turn.charged, loss=progress.loss, formula=formula))

    @property
    def moments(self) -> tuple[Moment, ...]:
        return tuple(self._moments)


def _say(_output: int, progress: Progress) -> None:
    """Write a line for each new choice to stderr."""
    if progress.turn.unchanged:
        return
    try:
        sys.stderr.write(f"{progress.turn.seconds:7.1f} s  {progress.turn.charged:>10,} formulas  {progress.best}\n")
    except (OSError, ValueError):
        return  # stderr is closed; the search continues
