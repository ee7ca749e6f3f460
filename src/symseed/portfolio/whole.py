"""Whole formulas of a template: parts are put together, fitted, simplified and judged, as all formulas are."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

from symseed.assembly import mean
from symseed.data import Dataset
from symseed.errors import SettingsError
from symseed.language import Expression, Row, Writer
from symseed.language.template import Filled, Skeleton
from symseed.portfolio.intake import Intake, IntakeSettings
from symseed.portfolio.pool import Formula, Pool
from symseed.portfolio.record import TurnRecord
from symseed.portfolio.settings import PortfolioSettings
from symseed.portfolio.states import PortfolioState
from symseed.search import Part, Timer
from symseed.space import Dimensions

_MOST_COMBINATIONS = 64
"""Most combinations of formulas of all parts that are tried: chosen by hand."""
_MOST_STRIPPED = 4
"""Most rounds in which offsets and factors that parts do not need are taken away: chosen by hand."""


class Whole:
    """The whole formulas found so far, each of which the structure fits over."""

    def __init__(
        self,
        skeleton: Skeleton,
        dataset: Dataset,
        settings: PortfolioSettings,
        *,
        longest: int,
        seed: int,
        timer: Timer,
        begins: Callable[[Any], None],
    ) -> None:
        """Begin with no formula; `longest` is the most tokens of one."""
        self.skeleton, self.record = skeleton, TurnRecord()
        self._dataset, self._is_late = dataset, timer.is_late
        self._writer = Writer(skeleton.library)
        self._intake = Intake(
            self._writer,
            dataset,
            timer,
            self.record,
            IntakeSettings(
                longest=longest,
                longest_known=longest,
                constraints=tuple(rule for rule in settings.constraints if isinstance(rule, Dimensions)),
                reduced=settings.simplified,
                simple_numbers=settings.simple_numbers,
                constants=True,
                is_allowed=lambda row: skeleton.split(row) is not None,
            ),
            sample=dataset.sampled(settings.samples, seed),
            begins=begins,
        )

    @property
    def pool(self) -> Pool:
        """The best formula of each length."""
        return self._intake.pool

    @property
    def _plainest(self) -> Filled:
        """The structure with a number for each part."""
        return Filled(self.skeleton.row, (self._writer.number(1.0),) * len(self.skeleton.holes))

    @property
    def charged(self) -> int:
        """Number of whole formulas tried."""
        return self._intake.charged

    def begin(self, known: Sequence[Expression]) -> None:
        """Take in the mean of y, formulas that are known, and the structure with a number or a line for each part."""
        if not self._intake.possible([self.skeleton.written(self._plainest)]):
            raise SettingsError(
                "No formula of `template` can have the units of the target, whatever its free parts and constants are. "
                "Correct the units or the template; const takes every unit, numbers are pure."
            )
        constant = mean(self._writer, self._dataset)
        self.record.found([constant], Part.MEAN)
        self._intake.keep([constant])
        self.pool.fall_back_on(constant)
        rows = [row for row in map(self._writer.row, known) if row is not None]
        self._intake.take(self.record.found(rows, Part.KNOWN))
        first = [self._plainest]
        if self._writer.has("add", "mul"):
            lines = [
                self._writer.affine(1.0, 0.5, self._writer.total([self._writer.variable(i) for i in hole.columns]))
                for hole in self.skeleton.holes
            ]
            first.append(Filled(self.skeleton.row, tuple(lines)))
        self.take(first, Part.ASSEMBLY)

    def go_on(self, state: PortfolioState) -> None:
        """Take in the formulas of a state."""
        self._intake.charged = state.charged
        self.pool.fall_back_on(state.number)
        self.pool.add([*state.formulas, *self._intake.possible([state.number])])
        self._intake.note(state.noted)
        self._intake.recall(state.near)

    def take(self, forms: Sequence[Filled], part: Part) -> None:
        """Fit whole formulas, and simplify and keep the best of them."""
        self._intake.take(self.record.found([self.skeleton.written(form) for form in forms], part))

    @property
    def best(self) -> Formula | None:
        """The selected formula so far."""
        return self.pool.best

    def current(self) -> Filled | None:
        """Return the parts of the selected formula; None if the structure does not fit over it, as over a mean."""
        best = self.best
        return None if best is None else self.skeleton.split(best.expression.row)

    def strip(self) -> None:
        """Take away offsets and factors of parts that the rest of the structure has too: `f(x) + g(y)` needs one."""
        for _ in range(_MOST_STRIPPED):
            form, before = self.current(), self.best
            if form is None or self._is_late():
                return
            forms = [form.with_part(i, shorter) for i, part in enumerate(form.parts) for shorter in self._shorter(part)]
            self.take(forms, Part.ASSEMBLY)
            if self.best == before:
                return

    def combine(self, found: Sequence[Sequence[Row]] = ()) -> None:
        """Try combinations of the parts of all formulas so far, the shortest of each, and of others that were found."""
        form = self.current()
        if form is None or self._is_late():
            return
        parts: list[dict[tuple[int, ...], Row]] = [{} for _ in form.parts]
        rows = [*self.pool.rows, *self.pool.noted]
        known = [filled.parts for filled in map(self.skeleton.split, rows) if filled is not None]
        for i, own in enumerate(parts):
            for part in (form.parts[i], *(found[i] if found else ()), *(each[i] for each in known)):
                own.setdefault(part.ids, part)
        most = max(2, math.floor(_MOST_COMBINATIONS ** (1.0 / len(parts)) + 1e-9))
        shortest = [sorted(own.values(), key=len)[:most] for own in parts]
        every = itertools.islice(itertools.product(*shortest), _MOST_COMBINATIONS)
        self.take([Filled(form.frame, chosen) for chosen in every], Part.ASSEMBLY)

    def fit_front(self) -> None:
        """Fit the constants of the front."""
        self._intake.fit_front()

    def _shorter(self, part: Row) -> list[Row]:
        """A part without its offset, or without its factor, which is an offset below `exp`."""
        name = self.skeleton.library[part.ids[0]].name
        if name == "exp":
            return [part.spliced(1, len(part), shorter) for shorter in self._shorter(part.part(1, len(part)))]
        if name not in ("add", "sub", "mul"):
            return []
        middle = self.skeleton.library.end(part.ids, 1)
        arguments = [part.part(1, middle), part.part(middle, len(part))]
        numbers = [len(argument) == 1 and not math.isnan(argument.constants[0]) for argument in arguments]
        if name == "sub":
            opposite = self.skeleton.negated(arguments[1]) if numbers[0] else None
            return arguments[:1] if numbers[1] else [] if opposite is None else [opposite]
        return [other for other, is_number in zip(reversed(arguments), numbers, strict=True) if is_number]
