"""The search for one target: a portfolio on prepared data, and its formulas restored to the user's units."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import TypeAlias

from symseed.errors import MALFORMED, brief
from symseed.export import to_text
from symseed.language import Expression, Library
from symseed.network import Guess
from symseed.portfolio import (
    Activity,
    Backfitting,
    IslandProblem,
    Islands,
    Portfolio,
    PortfolioSettings,
    PortfolioState,
    Stage,
    Turn,
)
from symseed.regressor import threads
from symseed.regressor.front import EquationFront
from symseed.regressor.prepare import Prepared
from symseed.regressor.restore import Restorer
from symseed.search import Budget, Learnt, StopReason
from symseed.structure import Finding, findings

Search: TypeAlias = Portfolio | Islands | Backfitting
"""What searches for a target."""


@dataclass(frozen=True, slots=True)
class Progress:
    """The search for one target after a turn, as a callback receives it."""

    output: int
    """Index of the target, from 0."""
    turn: Turn
    """The turn: its index, seconds, counts of formulas, how the searches learnt, what found the selected formula."""
    best: Expression
    """The selected formula, in the user's units, before its last simplification."""
    loss: float
    """Mean loss of the selected formula on the samples that the search uses."""
    state: PortfolioState | None
    """State at the end of the last epoch, from which the search can be resumed."""
    library: Library
    """The library of `state`."""
    front: Callable[[], EquationFront]
    """Computes the front so far, as it would be shown; a slow call."""
    structure: tuple[Finding, ...] = ()
    """What evidence says of the structure of the data, best first; empty until it is sought."""
    prior: tuple[Guess, ...] = ()
    """What a network thought of the data before the searches; empty until it is asked."""
    policies: Callable[[], Sequence[Learnt | None]] = tuple
    """Returns what the policy of each search has learnt; a template has no searches that last."""


class TargetSearch:
    """The search for one target."""

    def __init__(
        self,
        prepared: Prepared,
        *,
        output: int = 0,
        name: str = "y",
        deadline: float | None,
        known: Sequence[Expression] = (),
        watch: Callable[[Progress], bool] | None = None,
        tell: Callable[[Activity], None] | None = None,
        executor: Executor | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Take the prepared data.

        Args:
            output: index of the target.
            name: name of the target.
            deadline: end of the search, by `clock`; None: only the plan's other limits count.
            known: formulas to begin with.
            watch: called once there are first formulas, and after every turn; the search ends if it returns true.
            tell: called whenever the search begins another activity.
            executor: searches the islands; None: processes of this machine.
            clock: by which the seconds of the search count.
        """
        self._executor, self._clock = executor, clock
        self._prepared, self._output, self._deadline, self._watch = prepared, output, deadline, watch
        self._name = name
        self._tell = tell
        self._restorer = Restorer(prepared, executor)
        self._known = prepared.scaled_formulas(known)
        self._portfolio: Search | None = None

    def run(self, *, begin: PortfolioState | None = None, is_at_once: bool = False) -> EquationFront:
        """Search, from the beginning or from the state `begin`.

        Args:
            is_at_once: whether to end after the first formulas: for a search that was interrupted before it began.
        """
        plan = self._prepared.plan
        seconds = None if self._deadline is None else max(self._deadline - self._clock(), 1e-3)
        if seconds is not None:
            seconds -= self._restorer.reserve(seconds)
        settings = self._prepared.settings_for(is_at_once=is_at_once)
        budget = Budget(plan.max_evals, seconds, self._clock)
        try:
            self._portfolio = self._made(settings, budget, begin)
        except MALFORMED as error:
            if begin is None:
                raise
            warnings.warn(
                brief(
                    f"The checkpoint of `{self._name}` is damaged ({error}). The search begins again; the answer is "
                    "the same."
                ),
                RuntimeWarning,
                stacklevel=2,
            )
            self._portfolio = self._made(settings, budget, None)
        reason = self._followed(self._portfolio, is_at_once=is_at_once)
        if reason in (StopReason.EARLY_STOP, StopReason.CALLBACK):
            self._portfolio.finish()
        self._portfolio.begins(Stage.JUDGING)
        return self._restorer.front(self._portfolio, reason, self._is_late)

    def _made(self, settings: PortfolioSettings, budget: Budget, begin: PortfolioState | None) -> Search:
        """The search, prepared."""
        plan = self._prepared.plan
        workers = threads.count(plan.jobs, len(self._prepared.data), constants=plan.settings.constants)
        task = self._prepared.template_task(settings, workers)
        if task is not None:
            return Backfitting(task, budget=budget, known=self._known, begin=begin, tell=self._tell)
        if settings.islands is not None:
            own = self._prepared
            return Islands(
                IslandProblem(own.library, own.scaled, settings, own.seed, budget, own.units),
                patience=plan.patience,
                known=self._known,
                begin=begin,
                tell=self._tell,
                executor=self._executor,
                jobs=threads.processes(plan.jobs),
            )
        return Portfolio(
            self._prepared.library,
            self._prepared.scaled,
            settings,
            seed=self._prepared.seed,
            budget=budget,
            patience=plan.patience,
            known=self._known,
            threads=workers,
            begin=begin,
            tell=self._tell,
            units=self._prepared.units,
        )

    def so_far(self) -> EquationFront | None:
        """Return the front that an interrupted search has found; None if there is no formula."""
        if self._portfolio is None or self._portfolio.best is None:
            return None
        self._portfolio.gather()
        self._portfolio.finish()
        return self._restorer.front(self._portfolio, StopReason.INTERRUPTED, self._is_late)

    def _is_late(self) -> bool:
        return self._deadline is not None and self._clock() >= self._deadline

    def _followed(self, portfolio: Search, *, is_at_once: bool) -> StopReason:
        """Follow the turns to their end, and return its reason."""
        try:
            # Assembly may take seconds, so the formulas before it are reported at once.
            is_slow = portfolio.best is None and self._prepared.settings.assembly is not None
            if self._watch is not None and is_slow and not is_at_once:
                is_stopped = self._watch(self._progress(portfolio, portfolio.begin()))
                if is_stopped:
                    return StopReason.CALLBACK
            for turn in portfolio.turns():
                # A search that ends at once cannot be resumed, so its state must not replace an earlier one.
                is_stopped = False
                if self._watch is not None and not is_at_once:
                    is_stopped = self._watch(self._progress(portfolio, turn))
                if turn.reason is not None:
                    return turn.reason
                if is_at_once:
                    break
                if is_stopped:
                    return StopReason.CALLBACK
                if self._is_enough(portfolio):
                    return StopReason.EARLY_STOP
        except KeyboardInterrupt:
            if portfolio.best is None:
                raise
        return StopReason.INTERRUPTED

    def _progress(self, portfolio: Search, turn: Turn) -> Progress:
        best = self._restorer.shown(turn.best.expression)
        return Progress(
            output=self._output,
            turn=turn,
            best=best,
            loss=self._restorer.loss_of(best),
            state=portfolio.state,
            library=self._prepared.library,
            front=lambda: self._restorer.front(portfolio, StopReason.NOT_ENDED, self._is_late),
            structure=self.structure,
            prior=self._prior,
            policies=portfolio.tracks.learnt if isinstance(portfolio, Portfolio) else tuple,
        )

    @property
    def structure(self) -> tuple[Finding, ...]:
        """What evidence says of the structure of the data so far."""
        if self._portfolio is None or isinstance(self._portfolio, Backfitting):
            return ()
        whole = self._portfolio if isinstance(self._portfolio, Islands) else self._portfolio.reduced
        return findings(whole.structure, self._prepared.writer, self._name, to_text)

    @property
    def _prior(self) -> tuple[Guess, ...]:
        """What a network thought of the data before the searches."""
        if isinstance(self._portfolio, Islands):
            return self._portfolio.prior
        return self._portfolio.tracks.common.record.prior if isinstance(self._portfolio, Portfolio) else ()

    def _is_enough(self, portfolio: Search) -> bool:
        condition = self._prepared.plan.early_stop
        if condition is None:
            return False
        for formula in portfolio.front():
            shown = self._restorer.shown(formula.expression)
            loss = self._restorer.loss_of(shown)
            if condition(loss, shown.size) if callable(condition) else loss <= condition:
                return True
        return False
