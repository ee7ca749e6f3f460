"""Backfitting: the search for the free parts of a template, one after another (Friedman & Stuetzle 1981).

All parts but one are held, and that one is searched by a portfolio of its own, for the values that it should have
(`parts.py`). What it finds is put into the whole, whose constants are fitted together, and judged by its description
length, as all formulas are (`whole.py`). The passes over the parts end once none of them changes the selected formula.

After the first pass, all that a search depends on is the pool of whole formulas, so that a small `PortfolioState` is
enough to resume from.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from symseed.completion import CompletionCounts
from symseed.data import Dataset
from symseed.language import Expression, Row
from symseed.language.template import Filled, Skeleton
from symseed.portfolio.parts import PartSearch, PartSettings, Stage
from symseed.portfolio.pool import Formula
from symseed.portfolio.portfolio import MOST_RESERVE, RESERVE
from symseed.portfolio.progress import Activity, Turn, announcer
from symseed.portfolio.states import PortfolioState
from symseed.portfolio.track import TrackState
from symseed.portfolio.whole import Whole
from symseed.search import Budget, Part, StopReason, Stream, Timer, derived

_FIRST_PATIENCE = 4
"""Most turns without another choice in the first pass, where the other parts are polynomials: chosen by hand."""
_PASSES = 2
"""Passes over which the budget is divided evenly; later searches have half of what is left each. Chosen by hand."""


@dataclass(frozen=True, slots=True)
class TemplateTask:
    """A template on data: what is searched, and how."""

    skeleton: Skeleton
    dataset: Dataset
    parts: PartSettings
    longest: int
    """Most tokens of a whole formula."""
    seed: int
    patience: int | None
    """Turns without another choice after which the search for a part ends; None: only its budget ends it."""


class Backfitting:
    """The search for the parts of one template; it is followed like a `Portfolio`."""

    def __init__(
        self,
        task: TemplateTask,
        *,
        budget: Budget,
        known: Sequence[Expression] = (),
        begin: PortfolioState | None = None,
        tell: Callable[[Activity], None] | None = None,
    ) -> None:
        """Prepare the search.

        Args:
            known: formulas to begin with; those that the template does not fit over are left out.
            begin: state to resume from; the other arguments must be those of the search that gave it.
            tell: called whenever the search begins to do something else.
        """
        self._task, self._known, self._tell = task, known, tell
        self._timer = Timer(budget, before=0.0 if begin is None else begin.seconds)
        self.begins = announcer(tell, self._timer, lambda: self._charged)
        """Tells what is done next."""
        self._whole = Whole(
            task.skeleton,
            task.dataset,
            task.parts.portfolio,
            longest=task.longest,
            seed=task.seed,
            timer=self._timer,
            begins=self.begins,
        )
        self._stage = Stage.of(task.skeleton, task.dataset)
        self._part: PartSearch | None = None
        self._first = _FirstPass()
        self._charged_before = 0
        self._unchanged = 0
        self._state = begin
        if begin is not None:
            self._unchanged = begin.unchanged
            self._whole.go_on(begin)

    def begin(self) -> Turn:
        """Take in the mean of y, the formulas that are known, and numbers and lines as parts; that takes a moment."""
        self._whole.record.begin()
        self._whole.begin(self._known)
        return self._turn(0, None)

    def turns(self) -> Iterator[Turn]:
        """Give a `Turn` after each turn of a part's search, with the number of that search; the last has a reason."""
        if self._state is None:
            if self.best is None:
                self.begin()
            yield self._turn(0, None)
        for index in itertools.count(1 if self._state is None else self._state.turn + 1):
            before, reason = self.best, None
            try:
                for _ in self._search(index - 1):
                    yield self._turn(index, None)
                self._take_found(index - 1)
            except KeyboardInterrupt:
                if self.best is None:
                    raise
                reason = StopReason.INTERRUPTED
            self._unchanged = self._unchanged + 1 if _is_same(before, self.best) else 0
            reason = reason or self._is_over(index)
            if reason is None and index >= self._count:
                self._state = self._saved(index)
            if reason is not None:
                self.finish()
            yield self._turn(index, reason)
            if reason is not None:
                return

    @property
    def state(self) -> PortfolioState | None:
        """The search as it was after the last part; None in the first pass."""
        return self._state

    @property
    def best(self) -> Formula | None:
        """The selected formula so far; None before the first turn."""
        return self._whole.best

    def front(self) -> tuple[Formula, ...]:
        """Return the best formulas at each length."""
        return self._whole.pool.front()

    @property
    def near(self) -> tuple[Row, ...]:
        """The formulas of the shortest descriptions found so far, of whatever size."""
        return self._whole.pool.near.rows

    def gather(self) -> list[Row]:
        """Take in what the search for a part has found that was interrupted."""
        form, part = self._whole.current(), self._part
        if form is None or part is None:
            return []
        rows = part.rows()
        self._try(form, self._task.skeleton.holes.index(part.hole), rows)
        return rows

    def finish(self) -> None:
        """Try further combinations of what was found, and fit the constants of the front."""
        if not self._whole.pool.is_solved:
            self._whole.combine()
        self._whole.fit_front()

    # --- Searches for parts ------------------------------------------------------------------------------------------

    def _search(self, search: int) -> Iterator[None]:
        """Search for a part; stop after each turn of that."""
        place = search % self._count
        self._whole.record.begin()
        form = self._given(search)
        data = self._stage.wanted(form, place)
        if data is None:
            return
        is_first = search < self._count
        patience = self._task.patience
        self._part = PartSearch(
            self._stage,
            self._task.skeleton.holes[place],
            data,
            self._task.parts,
            seed=derived(self._task.seed, Stream.PART, search),
            budget=self._share(search),
            patience=min(patience, _FIRST_PATIENCE) if patience is not None and is_first else patience,
            known=None if is_first else form.parts[place],
            tell=None if self._tell is None else self._report,
        )
        newest: Formula | None = None
        for turn in self._part.turns():
            if not _is_same(newest, turn.best):
                newest, current = turn.best, self._whole.current()
                if current is not None:
                    self._try(current, place, self._part.rows()[:1])
            if turn.reason is StopReason.INTERRUPTED:
                raise KeyboardInterrupt
            if turn.reason is not None or self._is_over(search + 1) is not None:
                return
            yield

    def _given(self, search: int) -> Filled:
        """What the parts are while one of them is searched."""
        current = self._whole.current() if search >= self._count else None
        if current is not None:
            return current  # as it is: another fit would move its simple numbers
        if self._first.form is None:
            self._first.form = self._stage.smooth()
        return self._first.form

    def _take_found(self, search: int) -> None:
        """Take in what the search for a part has found."""
        place = search % self._count
        rows = [] if self._part is None else self._part.rows()
        form = self._whole.current()
        if form is not None:
            self._try(form, place, rows)
        self._charged_before += 0 if self._part is None else self._part.charged
        self._part = None
        first = self._first.form
        if search < self._count and first is not None:
            self._first.found.append(rows)
            if rows:
                self._first.form = self._stage.best([first.with_part(place, row) for row in rows])
            if len(self._first.found) == self._count and all(self._first.found):
                self._whole.take([self._first.form or first], Part.EVOLUTION)
                self._whole.combine(self._first.found)
        self._whole.strip()

    def _try(self, form: Filled, place: int, rows: Sequence[Row]) -> None:
        """Take in whole formulas with formulas for one of their parts."""
        self._whole.take([form.with_part(place, row) for row in rows], Part.EVOLUTION)

    def _share(self, search: int) -> Budget:
        """The budget of a part's search."""
        left = max(_PASSES * self._count - search, 2)
        budget = self._timer.budget.less(RESERVE, MOST_RESERVE)
        seconds, expressions = budget.seconds, budget.expressions
        return Budget(
            None if expressions is None else max((expressions - self._charged) // left, 1),
            None if seconds is None else max((seconds - self._timer.elapsed) / left, 1e-3),
        )

    # --- Reports ------------------------------------------------------------------------------------------------------

    @property
    def _count(self) -> int:
        """Number of parts."""
        return len(self._task.skeleton.holes)

    @property
    def _charged(self) -> int:
        """Number of formulas tried, of parts and whole."""
        return self._whole.charged + self._charged_before + (0 if self._part is None else self._part.charged)

    def _report(self, activity: Activity) -> None:
        """Report what the search for a part begins to do, with the time and budget of the whole."""
        self.begins(activity.stage)

    def _is_over(self, index: int) -> StopReason | None:
        if self._whole.pool.is_solved:
            return StopReason.SOLVED
        spent = self._timer.limited(self._timer.budget.less(RESERVE, MOST_RESERVE)).spent(self._charged)
        is_done = self._part is None and index >= _PASSES * self._count and self._unchanged >= self._count
        if spent is None and is_done and self._task.patience is not None:
            return StopReason.PATIENCE
        return spent

    def _saved(self, index: int) -> PortfolioState:
        pool, parts = self._whole.pool, self._task.parts.portfolio
        return PortfolioState(
            turn=index,
            unchanged=self._unchanged,
            seconds=self._timer.elapsed,
            charged=self._charged,
            formulas=pool.rows,
            noted=pool.noted,
            near=self.near,
            number=pool.number,
            tracks=tuple(TrackState(None, None) for _ in parts.possible_tracks(self._task.skeleton.library)),
        )

    def _turn(self, index: int, reason: StopReason | None) -> Turn:
        best, charged = self.best, self._charged
        assert best is not None, "the mean of y was put in first"
        return Turn(
            index=index,
            best=best,
            unchanged=self._unchanged,
            charged=charged,
            evaluated=charged,
            unique=charged,
            completion=CompletionCounts(),
            seconds=self._timer.elapsed,
            reason=reason,
            found_by=self._whole.record.finder(best.expression.row),
            lineage=self._whole.record.lineage(best.expression),
        )


@dataclass(slots=True)
class _FirstPass:
    """The first search for each part, in which polynomials stand for the parts that are not found yet."""

    form: Filled | None = None
    """The parts so far; None: not begun."""
    found: list[list[Row]] = field(default_factory=list)
    """The best formulas of each part that was searched."""


def _is_same(one: Formula | None, other: Formula | None) -> bool:
    """Whether two formulas have the same tokens: further digits of constants are no change."""
    return one is not None and other is not None and one.expression.tokens == other.expression.tokens
