"""The Pareto front that a user sees, in the user's own units, and the rules that select one formula."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from symseed import arithmetic
from symseed.data import ADDITIVE, Dataset, Noise
from symseed.errors import SettingsError, did_you_mean
from symseed.export import export, from_text, to_latex, to_mathml, to_sympy, to_text
from symseed.language.expression import Expression
from symseed.language.tokens import TokenKind
from symseed.language.typeset import latex_number
from symseed.portfolio.pool import Formula, pareto
from symseed.regressor import front_text
from symseed.scoring import Uncertainty, shortest
from symseed.search.budget import StopReason
from symseed.text import for_html

_LEAST_GAIN = 1e-9
"""Share of the loss by which a longer formula must be better: smaller gains are rounding."""
_NUMBERS = "text-align:right;font-variant-numeric:tabular-nums"
_FORMULA = "text-align:left;font-size:115%"
"""Styles of a page: figures aligned in columns, and formulas a little larger, because fractions are small."""
RULES = ("best", "accuracy", "score", "bic", "mdl")
"""The rules of `model_selection`."""
TABLE = ("equation", "complexity", "loss", "score")
"""The columns of `latex_table`."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A formula in the user's own units, with its loss on all samples."""

    formula: Formula
    loss: float
    test_loss: float | None = None
    """Its loss on the samples that were held out; None if there are none."""


@dataclass(frozen=True, slots=True)
class Equation:
    """One formula of a front."""

    formula: Formula
    """The formula in the user's own units. Formulas are compared by its `mean_square`, whose units are chosen such that
    squares neither overflow nor underflow."""
    loss: float
    """Weighted mean of the squared errors, or other losses, of `predict` on the data that were fitted."""
    score: float
    """Decrease of log(loss) per step of complexity, compared with the formula before; 0 for the first."""
    text: str
    """The formula as people read it: with the digits that the data determine (`export/shown.py`)."""
    test_loss: float | None = None
    """Weighted mean loss on the samples that `test_size` held out from the search; NaN if the formula has no value at
    one of them, and None if no sample was held out."""
    known: Uncertainty | None = field(default=None, compare=False, repr=False)
    """How well the data determine the constants; None until `EquationFront.determined_by`."""

    @property
    def uncertainty(self) -> Uncertainty:
        """How well the data determine the constants, and the spread of predictions."""
        assert self.known is not None, "a fit's fronts know their data"
        return self.known

    def standard_errors(self, level: float) -> pd.DataFrame:
        """Return value, standard error, and the interval of a level of each constant, as a data frame."""
        low, high = self.uncertainty.intervals(level)
        errors = self.uncertainty.standard_errors
        return pd.DataFrame({"value": self.uncertainty.values, "standard_error": errors, "low": low, "high": high})

    @property
    def expression(self) -> Expression:
        """The formula; `str` of it is its text with every digit."""
        return self.formula.expression

    @property
    def complexity(self) -> int:
        """Number of tokens, or the sum of their weights where the fit was given some."""
        return self.formula.expression.size

    @property
    def description(self) -> float:
        """Nats of the formula and of the data given it (minimum description length)."""
        return self.formula.description

    @property
    def shown(self) -> Expression:
        """The formula with the digits of `text`, for notations that people read."""
        return from_text(self.text, self.expression.library)

    def latex(self, precision: int | None = None) -> str:
        """Return the formula as LaTeX; `precision` is the digits of each number, None: as many as are shown."""
        return to_latex(self.shown, None) if precision is None else to_latex(self.expression, precision)

    def export(self, format: str, *, name: str = "formula") -> str:  # noqa: A002 - as `symseed.export.export`
        """Return the formula in a format of `symseed.export.export`: with every digit, or in LaTeX the shown ones."""
        text = export(self.expression, format, name=name)  # it refuses what the format cannot express
        return self.latex() if format == "latex" else text

    def __str__(self) -> str:
        """Return the formula as people read it."""
        return self.text

    def __repr__(self) -> str:
        """Show the formula, its complexity and its loss."""
        return f"<Equation {self.text}: complexity {self.complexity}, loss {self.loss:.4g}>"

    def _repr_latex_(self) -> str:
        """Show the formula typeset in notebooks."""
        return f"${self.latex()}$"


@dataclass(frozen=True, slots=True)
class EquationFront:
    """The Pareto front of one target: formulas of growing complexity, each with a smaller loss than all shorter ones.

    The selected formula is always included.
    """

    equations: tuple[Equation, ...]
    reason: StopReason
    """Why the search ended."""
    rows: int
    """Number of samples that the formulas are judged on."""
    rounding: float
    """Part of the loss that is due to rounding."""
    noise: Noise = ADDITIVE
    """The noise by which formulas were fitted, judged and compared."""

    @classmethod
    def of(
        cls,
        candidates: Sequence[Candidate],
        reason: StopReason,
        *,
        data: Dataset,
        rows: int,
        rounding: float,
        noise: Noise = ADDITIVE,
    ) -> EquationFront:
        """Return the Pareto front of candidates; the formula that `best` selects is on it.

        `data` are all samples that were fitted: they determine how many digits of a formula are shown.
        """
        formulas = [candidate.formula for candidate in candidates]
        choice = candidates[_shortest(formulas)]
        kept = pareto(candidates, choice, lambda candidate: candidate.formula, least_gain=_LEAST_GAIN)
        scores = [0.0]
        for before, after in itertools.pairwise(candidate.formula for candidate in kept):
            fall = _log(before.mean_square, rounding) - _log(after.mean_square, rounding)
            scores.append(fall / (after.expression.size - before.expression.size))
        equations = tuple(
            Equation(
                item.formula,
                loss=item.loss,
                score=score,
                text=to_text(item.formula.expression, data),
                test_loss=item.test_loss,
            )
            for item, score in zip(kept, scores, strict=True)
        )
        return cls(equations, reason, rows, rounding, noise)

    def determined_by(self, sample: Dataset, samples: int) -> EquationFront:
        """Return the front with the uncertainty of each formula, from some or all of the samples that were fitted."""
        found = (
            replace(item, known=Uncertainty.of(item.expression, sample, samples, self.noise)) for item in self.equations
        )
        return replace(self, equations=tuple(found))

    @property
    def has_test(self) -> bool:
        """Whether samples were held out for a test."""
        return any(equation.test_loss is not None for equation in self.equations)

    def choice(self, rule: str) -> int:
        """Return the index of the formula that a rule selects."""
        check_rule(rule)
        if rule == "best":
            return _shortest([equation.formula for equation in self.equations])
        return int(np.argmin([self._cost(equation, rule) for equation in self.equations]))

    def _cost(self, equation: Equation, rule: str) -> float:
        if rule == "accuracy":
            return equation.formula.mean_square
        if rule == "score":
            return -equation.score
        if rule == "bic":
            fitted = sum(token.kind is TokenKind.CONSTANT for token in equation.expression.tokens)
            error = _log(equation.formula.mean_square, self.rounding)
            return self.rows * error + fitted * arithmetic.log(float(self.rows))
        return equation.formula.description

    def frame(self) -> pd.DataFrame:
        """Return the formulas as a data frame: `equation` is as people read it, `expression` has every digit."""
        return pd.DataFrame(
            {
                "complexity": [equation.complexity for equation in self.equations],
                "loss": [equation.loss for equation in self.equations],
                "score": [equation.score for equation in self.equations],
                **({"test_loss": [equation.test_loss for equation in self.equations]} if self.has_test else {}),
                "equation": [equation.text for equation in self.equations],
                "expression": pd.Series([equation.expression for equation in self.equations], dtype=object),
                "sympy_format": pd.Series([to_sympy(equation.expression) for equation in self.equations], dtype=object),
            }
        )

    def text(self, rule: str, width: int | None = None) -> str:
        """Return the formulas as lines of at most `width` characters, with the selected one marked."""
        chosen = self.choice(rule)
        rows = [("", *self.names), *((">>>>" if i == chosen else "", *row) for i, row in enumerate(self.cells))]
        return "\n".join([*front_text.table(rows, width), self.reason.value])

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns of `cells`."""
        return ("complexity", "loss", *(["test loss"] if self.has_test else []), "score", "equation")

    @property
    def cells(self) -> list[tuple[str, ...]]:
        """The formulas and their numbers as text, for tables."""
        return [
            (
                str(equation.complexity),
                f"{equation.loss:.4g}",
                *([] if equation.test_loss is None else [f"{equation.test_loss:.4g}"]),
                f"{equation.score:.3g}",
                str(equation),
            )
            for equation in self.equations
        ]

    def latex_table(
        self, indices: Sequence[int] | None = None, precision: int | None = None, columns: Sequence[str] = TABLE
    ) -> str:
        """Return formulas as a table in LaTeX, for the package booktabs.

        Args:
            indices: rows of the front; None: all.
            precision: digits of numbers; None: as many as are shown, and three for losses and scores.
            columns: some of `TABLE`, in any order.
        """
        cells: dict[str, Callable[[Equation], str]] = {
            "equation": lambda item: item.latex(precision),
            "complexity": lambda item: str(item.complexity),
            "loss": lambda item: latex_number(item.loss, precision or 3),
            "score": lambda item: latex_number(item.score, precision or 3),
        }
        unknown = next((name for name in columns if name not in cells), None)
        if unknown is not None or not columns:
            raise SettingsError(
                f"`columns` must be some of {', '.join(TABLE)}, but it is {list(columns)!r}."
                f"{did_you_mean(unknown, TABLE) if unknown is not None else ''}"
            )
        kept = self.equations if indices is None else [self.equations[place] for place in indices]
        lines = [" & ".join(f"${cells[name](item)}$" for name in columns) + r" \\" for item in kept]
        head = " & ".join(name.capitalize() for name in columns) + r" \\"
        alignment = "".join("l" if name == "equation" else "r" for name in columns)
        begin = [rf"\begin{{tabular}}{{{alignment}}}", r"\toprule", head, r"\midrule"]
        return "\n".join([*begin, *lines, r"\bottomrule", r"\end{tabular}"])

    def _repr_latex_(self) -> str:
        """Show complexity, loss and formula of each row, typeset in notebooks."""
        lines = [f"{item.complexity} & {latex_number(item.loss, 4)} & {item.latex()}" for item in self.equations]
        return r"$\begin{array}{rll}" + r" \\ ".join(lines) + r"\end{array}$"

    def html(self, rule: str) -> str:
        """Return the table in HTML, and the reason why the search ended."""
        return f"{self.table(rule)}<p>{for_html(self.reason.value)}</p>"

    def table(self, rule: str) -> str:
        """Return the formulas as a table in HTML, with the selected one marked; names are escaped."""
        chosen = self.choice(rule)
        rows = []
        for i, (equation, (*numbers, _)) in enumerate(zip(self.equations, self.cells, strict=True)):
            formula = f'<td style="{_FORMULA}">{to_mathml(equation.shown, None)}</td>'
            style = ' style="font-weight:bold"' if i == chosen else ""
            cells = "".join(f"<td>{number}</td>" for number in numbers)
            rows.append(f"<tr{style}><td>{'&#9656;' if i == chosen else ''}</td>{cells}{formula}</tr>")
        *names, last = self.names
        head = "".join(f"<th>{name}</th>" for name in ("", *names)) + f'<th style="{_FORMULA}">{last}</th>'
        return f'<table cellpadding="5" style="{_NUMBERS}"><tr>{head}</tr>{"".join(rows)}</table>'


def _log(mean_square: float, rounding: float) -> float:
    return arithmetic.log(max(mean_square, rounding))


def _shortest(formulas: Sequence[Formula]) -> int:
    return shortest(
        [formula.description for formula in formulas],
        [formula.expression.tokens[0].kind is TokenKind.CONSTANT for formula in formulas],
    )


def check_rule(rule: Any) -> None:
    """Refuse an unknown rule."""
    if rule not in RULES:
        raise SettingsError(
            f"`model_selection` must be one of {', '.join(RULES)}, but it is {rule!r}.{did_you_mean(rule, RULES)}"
        )
