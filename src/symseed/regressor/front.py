"""The Pareto front that a user sees, in the user's own units, and the rules that select one formula."""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from symseed import arithmetic
from symseed.data import ADDITIVE, Dataset, Noise, NoiseKind
from symseed.errors import SettingsError, cut, did_you_mean
from symseed.export import (
    FORMATS,
    export,
    from_text,
    parts_text,
    to_latex,
    to_mathml,
    to_numpy,
    to_onnx,
    to_sympy,
    to_text,
    to_torch,
)
from symseed.language import Expression, Template, TokenKind
from symseed.language.spelling import plus_minus
from symseed.language.typeset import latex_number
from symseed.portfolio.pool import Formula, pareto
from symseed.regressor import front_text
from symseed.scoring import FoldLoss, Uncertainty, evidence, form_weights, shortest
from symseed.search import StopReason
from symseed.text import for_html, percent

_WIDE = 80
"""Fewest characters of a line that has room for the weights: chosen by hand."""
_LEAST = 1e-3
"""Least weight of a further formula that is kept beside the front: chosen by hand."""
_MOST_OTHERS = 20
"""Most further formulas that are kept beside the front: chosen by hand, a bound on time."""
_MOST_BELOW = 4
"""Most constants that stand with their standard errors below a formula that is not selected: chosen by hand, one line
of a page."""
_LEAST_GAIN = 1e-9
"""Share of the loss by which a longer formula must be better: smaller gains are rounding."""
_NUMBERS = "text-align:right;font-variant-numeric:tabular-nums"
_FORMULA = "text-align:left;font-size:115%"
"""Styles of a page: figures aligned in columns, and formulas a little larger, because fractions are small."""
RULES = ("best", "accuracy", "score", "bic", "mdl", "cv")
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
    weight: float | None = None
    """Probability that the form of the formula is right (`scoring/odds.py`); None while the search works, if formulas
    fit to rounding but none is a short law, and in files of earlier versions."""
    cv_loss: float | None = None
    """Mean loss on samples that the constants were not fitted to (`scoring/folds.py`); None unless `model_selection` is
    cv."""
    cv_error: float | None = None
    """Standard error of `cv_loss`."""
    known: Uncertainty | None = field(default=None, compare=False, repr=False)
    """How well the data determine the constants; None until `EquationFront.determined_by`."""

    @property
    def uncertainty(self) -> Uncertainty:
        """How well the data determine the constants, and the spread of predictions."""
        assert self.known is not None, "a fit's fronts know their data"
        return self.known

    @property
    def constants(self) -> list[str]:
        """The constants with their standard errors, such as "2.44 ± 0.06"; a number without an error is exact."""
        known = self.uncertainty
        return [plus_minus(*pair) for pair in zip(known.values.tolist(), known.standard_errors.tolist(), strict=True)]

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
        errors = [constant for constant in self.constants if "±" in constant] if self.known is not None else []
        notes = [f"Constants: {', '.join(self.constants)}".replace("±", "+/-").replace("?", "any")] if errors else []
        text = export(self.expression, format, name=name, notes=notes)  # it refuses what the format cannot express
        return self.latex() if format == "latex" else text

    def exports(self) -> dict[str, str]:
        """Return the formula in every format that can express it, by the name of the format."""
        out = {}
        for name in FORMATS:
            with contextlib.suppress(SettingsError):
                out[name] = self.export(name)
        return out

    def latex_constants(self) -> str:
        """Return the constants with their standard errors as a table in LaTeX, for the package booktabs."""
        rows = [rf"$c_{{{place}}}$ & ${_latex_error(text)}$ \\" for place, text in enumerate(self.constants, start=1)]
        head = [r"\begin{tabular}{ll}", r"\toprule", r"Constant & Value \\", r"\midrule"]
        return "\n".join([*head, *rows, r"\bottomrule", r"\end{tabular}"])

    def sympy(self) -> Any:
        """Return the formula as a sympy object, with every digit."""
        return to_sympy(self.expression)

    def numpy_function(self) -> Any:
        """Return the formula as a function of NumPy arrays."""
        return to_numpy(self.expression)

    def pytorch(self) -> Any:
        """Return the formula as a PyTorch module."""
        return to_torch(self.expression)

    def onnx(self, columns: int) -> Any:
        """Return the formula as an ONNX model of a table with so many columns."""
        return to_onnx(self.expression, columns)

    def parts(self, template: Template) -> dict[str, str]:
        """Return the parts of the formula by name, as people read them, and its constants by category."""
        return parts_text(template, self.expression)

    def __str__(self) -> str:
        """Return the formula as people read it."""
        return self.text

    def __repr__(self) -> str:
        """Show the formula, its complexity and its loss."""
        return f"<Equation {self.text}: complexity {self.complexity}, loss {self.loss:.4g}>"

    def _repr_latex_(self) -> str:
        """Show the formula typeset in notebooks."""
        return f"${self.latex()}$"


_CELLS: Mapping[str, Callable[[Equation], str]] = {
    "complexity": lambda item: str(item.complexity),
    "loss": lambda item: f"{item.loss:.4g}",
    "test_loss": lambda item: "" if item.test_loss is None else f"{item.test_loss:.4g}",
    "cv_loss": lambda item: "" if item.cv_loss is None else f"{item.cv_loss:.4g}",
    "score": lambda item: f"{item.score:.3g}",
    "weight": lambda item: "" if item.weight is None else percent(item.weight),
    "equation": str,
}
"""The columns of tables, by the name of the attribute, each as text."""
_OPTIONAL = frozenset({"test_loss", "cv_loss", "weight"})
"""Columns that not every front has."""


@dataclass(frozen=True, slots=True)
class EquationFront:
    """The Pareto front of one target: formulas of growing complexity, each with a smaller error than all shorter ones.

    Errors are weighed by the noise; the displayed loss is not.

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
    others: tuple[Equation, ...] = ()
    """Further formulas whose descriptions are nearly as short as the shortest, the most probable first."""

    @classmethod
    def of(
        cls,
        candidates: Sequence[Candidate],
        reason: StopReason,
        *,
        data: Dataset,
        samples: int,
        rows: int,
        rounding: float,
        noise: Noise = ADDITIVE,
    ) -> EquationFront:
        """Return the Pareto front of candidates; the formula that `best` selects is on it.

        `data` are samples that were fitted, some of all `samples`: they determine how many digits of a formula are
        shown.
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
                text=to_text(item.formula.expression, data, samples),
                test_loss=item.test_loss,
            )
            for item, score in zip(kept, scores, strict=True)
        )
        return cls(equations, reason, rows, rounding, noise)

    def determined_by(self, sample: Dataset, samples: int) -> EquationFront:
        """Return the front with the uncertainty of each formula, from some or all of the samples that were fitted."""

        def known(items: Sequence[Equation]) -> tuple[Equation, ...]:
            return tuple(
                replace(item, known=Uncertainty.of(item.expression, sample, samples, self.noise)) for item in items
            )

        return replace(self, equations=known(self.equations), others=known(self.others))

    def weighed(
        self,
        others: Sequence[Candidate],
        forms_of: Callable[[Sequence[Expression]], Sequence[int]],
        *,
        data: Dataset,
        samples: int,
    ) -> EquationFront:
        """Return the front with the weight of each formula, unless no formula is likely to be right.

        Args:
            others: further formulas near the best; those of a form that is on the front are left out.
            forms_of: numbers the forms of formulas.
            data: samples that were fitted, as in `of`.
            samples: how many there were.
        """
        if self.reason is StopReason.NO_SHORT_LAW:
            return self
        near = sorted(others, key=lambda item: item.formula.description)
        formulas = [*(item.formula for item in self.equations), *(item.formula for item in near)]
        forms = forms_of([formula.expression for formula in formulas])
        lengths = [formula.description for formula in formulas]
        is_certain = self.reason is StopReason.SOLVED
        shares = form_weights(lengths, forms, selected=self.choice("best"), is_certain=is_certain)
        count = len(self.equations)
        first = {form: place for place, form in reversed([*enumerate(forms)])}
        kept = [place for place in range(count, len(forms)) if first[forms[place]] == place and shares[place] >= _LEAST]
        return replace(
            self,
            equations=tuple(replace(item, weight=shares[place]) for place, item in enumerate(self.equations)),
            others=tuple(
                Equation(
                    near[place - count].formula,
                    loss=near[place - count].loss,
                    score=0.0,
                    text=to_text(near[place - count].formula.expression, data, samples),
                    test_loss=near[place - count].test_loss,
                    weight=shares[place],
                )
                for place in kept[:_MOST_OTHERS]
            ),
        )

    def cross_validated(self, losses: Sequence[FoldLoss] | None) -> EquationFront:
        """Return the front with the loss of each formula on samples left out; None: it was not computed."""
        if losses is None:
            return self
        pairs = zip(self.equations, losses, strict=True)
        return replace(self, equations=tuple(replace(item, cv_loss=of.loss, cv_error=of.error) for item, of in pairs))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of tables of these formulas: test_loss, cv_loss and weight only if they are known."""
        return tuple(
            name
            for name in _CELLS
            if name not in _OPTIONAL or any(getattr(item, name) is not None for item in self.equations)
        )

    def choice(self, rule: str) -> int:
        """Return the index of the formula that a rule selects."""
        check_rule(rule)
        if rule == "best":
            return _shortest([equation.formula for equation in self.equations])
        if rule == "cv":
            return self._least_cv()
        return int(np.argmin([self._cost(equation, rule) for equation in self.equations]))

    def _least_cv(self) -> int:
        """The first formula whose cross-validated loss is at most one standard error above the least one."""
        if self.reason is StopReason.NOT_ENDED:  # so far without cross-validation
            return self.choice("best")
        losses = [math.nan if item.cv_loss is None else item.cv_loss for item in self.equations]
        if not any(map(math.isfinite, losses)):
            raise SettingsError(
                "`model_selection` is cv, but these formulas were not cross-validated, because the fit had another "
                'rule or no time left. Fit again with model_selection="cv".'
            )
        least = int(np.nanargmin(losses))
        error = self.equations[least].cv_error or 0.0
        return next(place for place, loss in enumerate(losses) if loss <= losses[least] + error)

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
                **{name: [getattr(equation, name) for equation in self.equations] for name in self.columns[2:-1]},
                "equation": [equation.text for equation in self.equations],
                "expression": pd.Series([equation.expression for equation in self.equations], dtype=object),
                "sympy_format": pd.Series([equation.sympy() for equation in self.equations], dtype=object),
            }
        )

    def text(self, rule: str, width: int | None = None) -> str:
        """Return the formulas as lines of at most `width` characters, with the selected one marked."""
        chosen = self.choice(rule)
        rows = [("", *self.names), *((">>>>" if i == chosen else "", *row) for i, row in enumerate(self.cells))]
        if "weight" in self.columns and width is not None and width < _WIDE:
            rows = [(*row[:-2], row[-1]) for row in rows]
        return "\n".join([*front_text.table(rows, width), self.reason.value])

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns of `cells`."""
        return tuple(name.replace("_", " ") for name in self.columns)

    @property
    def cells(self) -> list[tuple[str, ...]]:
        """The formulas and their numbers as text, for tables."""
        return [tuple(_CELLS[name](equation) for name in self.columns) for equation in self.equations]

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
                f"`columns` must be some of {', '.join(TABLE)}, but it is {cut(list(columns))}."
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
        noise = "".join(f"<p>{for_html(words)}</p>" for words in self.noise_words)
        return f"{self.table(rule)}{noise}<p>{for_html(self.reason.value)}</p>"

    @property
    def noise_words(self) -> tuple[str, ...]:
        """The noise as a sentence; none if it is additive, which is the usual assumption."""
        return () if self.noise.kind is NoiseKind.ADDITIVE else (self.noise.words,)

    def table(self, rule: str) -> str:
        """Return the formulas as a table in HTML, with the selected one marked; names are escaped.

        Below a formula are its constants with their standard errors, if they are known and not too many.
        """
        chosen = self.choice(rule)
        rows = []
        for i, (equation, (*numbers, _)) in enumerate(zip(self.equations, self.cells, strict=True)):
            errors = _errors_below(equation, _MOST_BELOW if i != chosen else math.inf)
            formula = f'<td style="{_FORMULA}">{to_mathml(equation.shown, None)}{errors}</td>'
            style = ' style="font-weight:bold"' if i == chosen else ""
            cells = "".join(f"<td>{for_html(number)}</td>" for number in numbers)
            rows.append(f"<tr{style}><td>{'&#9656;' if i == chosen else ''}</td>{cells}{formula}</tr>")
        *names, last = self.names
        head = "".join(f"<th>{name}</th>" for name in ("", *names)) + f'<th style="{_FORMULA}">{last}</th>'
        return f'<table cellpadding="5" style="{_NUMBERS}"><tr>{head}</tr>{"".join(rows)}</table>'


def _errors_below(equation: Equation, most: float) -> str:
    """The constants of a formula with their standard errors, as a line below it in a page."""
    if equation.known is None:
        return ""
    errors = [constant for constant in equation.constants if "±" in constant]
    return f"<br><small>{for_html(', '.join(errors))}</small>" if 0 < len(errors) <= most else ""


def _latex_error(text: str) -> str:
    """A number with its standard error, as `plus_minus` writes it, in LaTeX."""
    number, _, power = text.partition(")e")
    return text.replace("±", r"\pm") if not power else rf"{number})".replace("±", r"\pm") + rf" \cdot 10^{{{power}}}"


def _log(mean_square: float, rounding: float) -> float:
    return arithmetic.log(max(mean_square, rounding))


def _shortest(formulas: Sequence[Formula]) -> int:
    return shortest(
        [formula.description for formula in formulas],
        [evidence(formula.expression) for formula in formulas],
    )


def check_rule(rule: Any) -> None:
    """Refuse an unknown rule."""
    if rule not in RULES:
        raise SettingsError(
            f"`model_selection` must be one of {', '.join(RULES)}, but it is {cut(rule)}.{did_you_mean(rule, RULES)}"
        )
