"""A fit: the searches for all targets, one after another, and the callbacks after each turn."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Protocol

from symseed.language import Expression
from symseed.portfolio import Activity, Stage
from symseed.regressor import screens
from symseed.regressor.front import EquationFront
from symseed.regressor.history import History, Record
from symseed.regressor.prepare import Prepared, chosen_columns, prepare
from symseed.regressor.run import Run, SavedFront
from symseed.regressor.run_data import RunData
from symseed.regressor.settings import Callback, Plan
from symseed.regressor.target import Progress, TargetSearch
from symseed.search import Budget, Clock, Stream, derived
from symseed.signals import Held


class Screen(Protocol):
    """Shows a fit; the fit enters and leaves it as a context, and reports to it."""

    def __enter__(self) -> object:
        """Begin to show."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the display."""

    def activity(self, output: int, activity: Activity) -> None:
        """Receive the activity that the search for a target begins."""

    def turn(self, progress: Progress) -> object:
        """Receive a turn of the search for a target; like a callback, it may end the search."""

    def end(self, fronts: Sequence[EquationFront]) -> None:
        """Receive the results, after they are stored."""


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
    started: float | None = None
    """Time, by `time.monotonic`, from which `max_time` counts; None: the start of the search."""
    done: Mapping[int, EquationFront] = field(default_factory=dict)
    """Fronts of the targets whose search ended before a resume."""
    screen: Screen | None = None
    """Shows the fit while it works; None: as the setting `verbosity` says."""
    executor: Executor | None = None
    """Searches the islands; None: processes of this machine."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The results of a fit."""

    fronts: tuple[EquationFront, ...]
    records: tuple[Record, ...]
    """What was recorded of the search for each target."""
    is_interrupted: bool
    selected: tuple[tuple[str, ...], ...]
    """Names of the columns that the search for each target used."""


def chosen_names(plan: Plan, data: RunData, seed: int, output: int) -> tuple[str, ...]:
    """Return the names of the columns that the search for a target uses; `seed` is that of the fit."""
    target = derived(seed, Stream.TARGET, output)
    return tuple(data.names[column] for column in chosen_columns(plan, data.dataset(output), seed=target))


def saved_outcome(run: Run, plan: Plan, found: Mapping[int, SavedFront]) -> Outcome:
    """Return the results of a run on disk that has a front for every target."""
    outputs = sorted(found)
    return Outcome(
        tuple(found[output].front for output in outputs),
        tuple(History.of(run.log, output).record for output in outputs),
        not all(item.is_final for item in found.values()),
        tuple(chosen_names(plan, run.data, run.seed, output) for output in outputs),
    )


def search_targets(fit: Fit, keep: Callable[[Outcome], None]) -> None:
    """Search for every target that is not done, and pass the outcome to `keep`.

    If an exception, such as a caller's alarm, ends the search for the last target, `keep` receives what was found so
    far, and the exception propagates.
    """
    plan = fit.plan
    screen = fit.screen or screens.of(plan.verbosity, fit.data.targets, plan.patience, plan.given.model_selection)
    try:
        with contextlib.nullcontext() if screen is None else screen:
            _search_targets(replace(fit, screen=screen), keep)
    finally:
        if fit.run is not None:
            fit.run.close()


def _search_targets(fit: Fit, keep: Callable[[Outcome], None]) -> None:
    count = fit.data.y.shape[1]
    clock = Clock()
    deadlines = _Deadlines(clock, fit.plan.max_time, fit.started)
    histories = [History.of(None if fit.run is None else fit.run.log, output) for output in range(count)]
    found: list[EquationFront] = []
    selected: list[tuple[str, ...]] = []
    is_interrupted = False

    def outcome(*more: EquationFront, is_interrupted: bool) -> Outcome:
        records = tuple(history.record for history in histories)
        return Outcome((*found, *more), records, is_interrupted, tuple(selected))

    for output in range(count):
        if output in fit.done:
            found.append(fit.done[output])
            selected.append(chosen_names(fit.plan, fit.data, fit.seed, output))
            continue
        deadline = deadlines.share(count - output)
        tell = None if fit.screen is None else functools.partial(fit.screen.activity, output)
        if tell is not None:
            tell(Activity(Stage.PREPARING, 0.0, 0, Budget(fit.plan.max_evals, fit.plan.max_time)))
        prepared = _prepared(fit, output)
        selected.append(prepared.data.names)
        watch = _watched([histories[output], *_callbacks(fit, clock)])
        search = TargetSearch(
            prepared,
            output=output,
            name=fit.data.targets[output],
            deadline=deadline,
            known=fit.known[output],
            watch=watch,
            tell=tell,
            executor=fit.executor,
            clock=clock,
        )
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
        is_interrupted |= held.is_interrupted or not front.reason.is_by_itself
    with Held():
        keep(outcome(is_interrupted=is_interrupted))
        if fit.screen is not None:
            fit.screen.end(found)


def _prepared(fit: Fit, output: int) -> Prepared:
    """The data of a target."""
    data = fit.data
    prepared = prepare(
        fit.plan,
        data.dataset(output),
        seed=derived(fit.seed, Stream.TARGET, output),
        dimensions=data.dimensions(output),
        test=data.test(output),
        errors=data.errors(output),
        large=data.large,
    )
    return prepared.with_input_errors(data.input_errors(output))


def _searched(
    search: TargetSearch, prepared: Prepared, run: Run | None, output: int, *, is_at_once: bool
) -> EquationFront:
    """The front of one target; after Ctrl-C, the best formulas so far if there are any."""
    state = None if run is None else run.checkpoints.newest(output, prepared.library, prepared.settings)
    try:
        return search.run(begin=state, is_at_once=is_at_once)
    except KeyboardInterrupt:
        so_far = search.so_far()
        if so_far is None:
            raise
        return so_far


class _Deadlines:
    """Divides the remaining time equally among the remaining targets."""

    def __init__(self, clock: Clock, seconds: float | None, started: float | None) -> None:
        self._clock = clock
        self._end = None if seconds is None else (started or clock()) + seconds

    def share(self, targets: int) -> float | None:
        """Return when the search for the first of `targets` targets must end."""
        now = self._clock()
        return None if self._end is None else now + (self._end - now) / targets


# --- Callbacks -------------------------------------------------------------------------------------------------------


def _watched(callbacks: Sequence[Callback]) -> Callable[[Progress], bool]:
    def tell(progress: Progress) -> bool:
        answers = [callback(progress) for callback in callbacks]  # all are called, whatever one of them says
        return any(answers)

    return tell


def _callbacks(fit: Fit, clock: Clock) -> list[Callback]:
    """What is called after each turn; the user's own comes after ours, so that these are done if it fails."""
    own: list[Callback] = [] if fit.run is None else [fit.run.watch]
    shown = [] if fit.screen is None else [fit.screen.turn]
    given = [] if fit.plan.callback is None else [fit.plan.callback]
    pauses = [] if fit.run is None else [_pausing(fit.run, clock)]
    return [*own, *shown, *given, *pauses]


def _pausing(run: Run, clock: Clock) -> Callback:
    """What lets the search stand still while its run is paused, in time that does not count."""

    def wait(_: Progress) -> None:
        clock.leave_out(run.stand_still())

    return wait
