"""The portfolio: several searches that take turns, and assembly from what they find; the method `default`.

Each track is a search (`track.py`), with or without fitted constants. Every few turns, assembly builds new formulas
from sub-expressions of the best ones (`assembly/assembler.py`). Every formula found is fitted, simplified and judged by
its description length (`intake.py`, `pool.py`). The answer is a Pareto front with one selected formula.

Several turns make an epoch. Only a small `PortfolioState` survives the end of an epoch: caches and completion tables
are emptied, whether the portfolio continues or is restored from that state later. A resumed run therefore gives the
same answer, bit for bit.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from symseed.assembly import Assembler, fitted, mean, relevance
from symseed.data import Dataset, Magnitudes
from symseed.language import Expression, Library, Row, Writer
from symseed.portfolio.asked import ask, guide_of, is_wide
from symseed.portfolio.intake import Intake, IntakeSettings
from symseed.portfolio.pool import Formula, best_of_each_size, check_target
from symseed.portfolio.progress import Activity, Stage, Turn, announcer
from symseed.portfolio.reduced import ReducedSearch
from symseed.portfolio.settings import PortfolioSettings
from symseed.portfolio.states import PortfolioState
from symseed.portfolio.track import Counts, TrackContext, Tracks
from symseed.search import Budget, Part, StopReason, Timer

RESERVE = 0.1
"""Share of the time kept for fitting, simplifying and judging the last formulas: chosen by hand."""
MOST_RESERVE = 1.0
"""Most seconds kept for the last formulas: chosen by hand."""
FURTHER = 4
"""Turns of the search for a shorter formula, where the selected one fits to rounding but is not certainly a law. The
enlarged assembly after turn 4 is among them."""


class Portfolio:
    """The searches of one dataset, and what they have found."""

    def __init__(
        self,
        library: Library,
        dataset: Dataset,
        settings: PortfolioSettings,
        *,
        seed: int,
        budget: Budget,
        patience: int | None = None,
        known: Sequence[Expression] = (),
        threads: int = 1,
        begin: PortfolioState | None = None,
        tell: Callable[[Activity], None] | None = None,
        units: Magnitudes | None = None,
    ) -> None:
        """Prepare the searches.

        Args:
            patience: number of turns without a new selected formula after which the search ends; None: no such limit.
            known: formulas to begin with; formulas with tokens that the library lacks are left out.
            threads: number of threads that score. The answer does not depend on it.
            begin: state to resume from; the other arguments must be those of the portfolio that gave it.
            tell: called whenever the portfolio begins another activity.
            units: by which the user's data were divided, since structure is sought in the user's units; None: by 1.
        """
        dataset = dataset.counted()
        check_target(dataset)
        self._dataset, self._settings, self._known, self._patience = dataset, settings, known, patience
        self._timer = Timer(budget, before=0.0 if begin is None else begin.seconds)
        self.begins = announcer(tell, self._timer, lambda: self._charged)
        """Announces the next activity."""
        order = np.argsort(-relevance(dataset), kind="stable")  # for assembly, which considers a limited number
        whole = Writer(library.with_constant())
        writer = whole.of_columns([int(column) for column in order if column in whole.columns])
        sample = dataset.sampled(settings.samples, seed)
        context = TrackContext(
            library=library,
            writer=writer,
            sample=sample,
            constraints=settings.constraints,
            timer=self._timer.limited(budget.less(RESERVE, MOST_RESERVE)),
            threads=threads,
            guide=guide_of(settings, writer, sample, lambda: self.reduced.columns, seed=seed),
        )
        states = None if begin is None else begin.tracks
        self.tracks = Tracks(settings.possible_tracks(library), context, seed=seed, begin=states)
        plain = Magnitudes((1.0,) * dataset.X.shape[1], 1.0)
        self.reduced = ReducedSearch(Portfolio, context, dataset, settings, units=units or plain, seed=seed)
        """The searches of reduced problems, which begin in a turn."""
        self._intake = Intake(
            context.writer,
            dataset,
            self._timer,
            context.record,
            IntakeSettings(
                longest=max(track.max_length for track in settings.tracks),
                longest_known=max(map(len, known), default=0),
                constraints=settings.constraints,
                reduced=settings.simplified,
                simple_numbers=settings.simple_numbers,
                constants=settings.constants,
            ),
            sample=context.sample,
            begins=self.begins,
        )
        self._assembler: Assembler | None = None
        self._unchanged = 0
        self._state = begin
        if begin is not None:
            self._go_on(begin)

    def begin(self) -> Turn:
        """Take in the mean of y, the known formulas, and a line, a power law and an exponential.

        This is fast. Returns turn 0 so far; `turns` continues from there.
        """
        self.tracks.common.record.begin()
        constant = mean(self._writer, self._dataset)
        self.tracks.common.record.found([constant], Part.MEAN)
        if self._settings.constants:
            self._intake.keep([constant])
        self._intake.pool.fall_back_on(constant)
        known = self._known_rows
        if known:
            rows = fitted(self._writer.population(known), self._dataset).rows
            self._intake.pool.add(self.tracks.common.record.found(rows, Part.KNOWN))
        self._intake.begin()
        return self._turn(0, None)

    def turns(self) -> Iterator[Turn]:
        """Give one `Turn` after another; the last has a reason."""
        reason: StopReason | None = None
        for index in itertools.count(0 if self._state is None else self._state.turn + 1):
            before = None if index == 0 else self.best
            try:
                self._take_turn(index)
            except KeyboardInterrupt:
                if self.best is None:
                    raise
                reason = StopReason.INTERRUPTED
            self._unchanged = self._unchanged + 1 if before is not None and before == self.best else 0
            reason = reason or self._is_over()
            if reason is None and self._intake.pool.is_exact and self._unchanged >= FURTHER:
                reason = StopReason.NO_SHORT_LAW
            if reason is None and self._patience is not None and self._unchanged >= self._patience:
                reason = StopReason.PATIENCE
            if reason is None and index % self._settings.epoch == 0:
                self._state = self.end_epoch(index)
            if reason is not None:
                self.finish()
            yield self._turn(index, reason)
            if reason is not None:
                return

    @property
    def settings(self) -> PortfolioSettings:
        """The settings of the portfolio."""
        return self._settings

    @property
    def intake(self) -> Intake:
        """What takes formulas in, with all that were kept."""
        return self._intake

    @property
    def state(self) -> PortfolioState | None:
        """The portfolio as it was at the end of the last epoch; None before the first turn."""
        return self._state

    @property
    def best(self) -> Formula | None:
        """The selected formula so far; None before the first turn."""
        return self._intake.pool.best

    def front(self) -> tuple[Formula, ...]:
        """Return the best formulas at each length."""
        return self._intake.pool.front()

    @property
    def near(self) -> tuple[Row, ...]:
        """The formulas of the shortest descriptions found so far, of whatever size."""
        return self._intake.pool.near.rows

    def gather(self) -> list[Row]:
        """Take in, and return, the best formulas that the searches have found; note the best of each length."""
        ranked = self.tracks.ranked()
        found = [formula.expression.row for formulas in ranked for formula in formulas[: self._settings.parts]]
        found += self.tracks.common.record.found(self.reduced.rows(self._settings.parts), Part.STRUCTURE)
        self._intake.take(found)
        self._intake.note(best_of_each_size(itertools.chain.from_iterable(ranked)))
        return found

    def finish(self) -> None:
        """Note the best formula of each length that the searches have found, then fit the constants of the front."""
        self._intake.note(best_of_each_size(itertools.chain.from_iterable(self.tracks.ranked())))
        self._intake.fit_front()

    # --- Turns -------------------------------------------------------------------------------------------------------

    def _take_turn(self, index: int) -> None:
        if index == 0:
            if self.best is None:
                self.begin()
            self._intake.take(self.tracks.common.record.found(self._known_rows, Part.KNOWN))
            self._assembler = self._assembler_of(is_enlarged=False)
            if self._assembler is not None:
                made = self._assembler.first() or self._assembler.polynomials()
                self._intake.take(self.tracks.common.record.found(made, Part.ASSEMBLY))
            return
        self.tracks.common.record.begin()
        guide = self.tracks.common.guide if index == 1 else None
        wide = is_wide(self._writer)  # structure, which takes a second or more, says which columns are read
        if guide is not None and guide.is_early and not wide:
            self._ask()
        if index == self._structured:
            self.begins(Stage.ASSEMBLING)
            self.reduced.start(())
        if guide is not None and guide.is_early and wide:
            self._ask()
        if guide is None or self._is_over() is None:
            self.begins(Stage.SEARCHING)
            reduced = self.reduced.turn(self._charged - self.reduced.counts.charged)
            self._intake.take(self.tracks.common.record.found(reduced, Part.STRUCTURE))
        if index == 1 and self._assembler is not None and self._is_over() is None:
            self.begins(Stage.ASSEMBLING)
            self._intake.take(self.tracks.common.record.found(self._assembler.split(), Part.ASSEMBLY))
        for place, track in enumerate(self.tracks):
            if self._is_over() is not None:
                break
            self.begins(Stage.SEARCHING)
            self._intake.take(track.turn(index, self._is_spent))
            if guide is not None and not guide.is_early and place == 0 and self._is_over() is None:
                self._ask()
        is_over = self._is_over() is not None
        if is_over or index % self._settings.every == 0:
            found = self.gather()
            periods = index // self._settings.every
            if is_over or periods & (periods - 1) == 0:
                self._assemble(found)
        if index == self._settings.enlarged and self._is_over() is None:
            self._enlarge()

    def _ask(self) -> None:
        """Take in what the network draws that has read the data."""
        self.begins(Stage.SEARCHING)
        common = self.tracks.common
        assert common.guide is not None, "there is a network"
        asked = ask(common.guide, self._settings, common.writer, common.sample, common.timer.is_late)
        common.record.prior = asked.guesses
        self._intake.charged += asked.charged
        self._intake.take(common.record.found(asked.rows, Part.NETWORK))

    def _go_on(self, begin: PortfolioState) -> None:
        """Take in the formulas of a state."""
        self._intake.charged, self._unchanged = begin.charged, begin.unchanged
        self._intake.pool.fall_back_on(begin.number)
        number = self._intake.possible([begin.number]) if self._settings.constants else []
        self._intake.pool.add([*begin.formulas, *number])
        self._intake.note(begin.noted)
        self._intake.recall(begin.near)
        if self._structured is not None and begin.turn >= self._structured:
            self.reduced.start(begin.reduced)
        self._assembler = self._assembler_of(begin.turn >= self._settings.enlarged)

    def _assembler_of(self, is_enlarged: bool) -> Assembler | None:
        settings = self._settings.assembly
        if settings is None or self._dataset.deviation == 0.0:
            return None
        self.begins(Stage.ASSEMBLING)
        is_late = self.tracks.common.timer.is_late
        return Assembler(self._writer, self._dataset, settings, is_enlarged=is_enlarged, is_late=is_late)

    def _assemble(self, found: Sequence[Row]) -> None:
        # Assembly takes seconds; once time is up, it is skipped.
        done = (StopReason.SOLVED, StopReason.SECONDS, StopReason.INTERRUPTED)
        if self._assembler is not None and self._is_over() not in done:
            self.begins(Stage.ASSEMBLING)
            best = [formula.expression.row for formula in self._intake.pool.shortest(self._settings.parts)]
            donors = [*best, *found[: self._settings.parts]]
            self.tracks.common.record.gave(donors)
            made = self._assembler.next(donors)
            self._intake.take(self.tracks.common.record.found(made, Part.ASSEMBLY))

    def _enlarge(self) -> None:
        """Assemble from more sub-expressions, and from some of the target's parity."""
        self._assembler = self._assembler_of(is_enlarged=True)
        if self._assembler is not None:
            self._intake.take(self.tracks.common.record.found(self._assembler.first(), Part.ASSEMBLY))

    def end_epoch(self, index: int) -> PortfolioState:
        """End an epoch after a turn: restart all searches from their state, and return it."""
        return PortfolioState(
            turn=index,
            unchanged=self._unchanged,
            seconds=self._timer.elapsed,
            charged=self._intake.charged,
            formulas=self._intake.pool.rows,
            noted=self._intake.pool.noted,
            near=self.near,
            number=self._intake.pool.number,
            tracks=self.tracks.next_epoch(),
            reduced=self.reduced.end_epoch(),
        )

    # --- When it is over ---------------------------------------------------------------------------------------------

    def _is_over(self) -> StopReason | None:
        if self._intake.pool.is_solved:
            return StopReason.SOLVED
        if self.tracks.is_interrupted:
            return StopReason.INTERRUPTED
        return self.tracks.common.timer.spent(self._charged)

    def _is_spent(self) -> bool:
        """Whether a limit is reached; a track asks after each of its rounds."""
        self.begins(Stage.SEARCHING)
        return self.tracks.common.timer.spent(self._charged) is not None

    @property
    def _known_rows(self) -> list[Row]:
        """The formulas to begin with that can be written here, and that the constraints allow."""
        return self._intake.possible([row for row in map(self._writer.row, self._known) if row is not None])

    @property
    def counts(self) -> Counts:
        """Numbers of expressions so far."""
        made, reduced = self._intake.charged, self.reduced.counts
        return Counts(
            made + self.tracks.charged + reduced.charged,
            made + self.tracks.evaluated + reduced.evaluated,
            made + self.tracks.unique + reduced.unique,
        )

    @property
    def _charged(self) -> int:
        return self.counts.charged

    @property
    def _structured(self) -> int | None:
        """The turn in which the structure of the data is found; None if it is not sought."""
        return self._settings.structured_turn(len(self._writer.columns))

    @property
    def _writer(self) -> Writer:
        return self.tracks.common.writer

    def _turn(self, index: int, reason: StopReason | None) -> Turn:
        assert self.best is not None, "the mean of y was added first"
        counts = self.counts
        return Turn(
            index=index,
            best=self.best,
            unchanged=self._unchanged,
            charged=counts.charged,
            evaluated=counts.evaluated,
            unique=counts.unique,
            completion=self.tracks.completion,
            seconds=self._timer.elapsed,
            reason=reason,
            found_by=None if self._unchanged else self.tracks.common.record.finder(self.best.expression.row),
            lineage=() if self._unchanged else self.tracks.common.record.lineage(self.best.expression),
            learning=self.tracks.common.record.learning,
        )
