"""The Pareto front that a user sees, in the user's own units, and the choice of one formula by a named rule."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from symseed import arithmetic
from symseed.errors import SettingsError, did_you_mean
from symseed.export import notation
from symseed.language.expression import Expression
from symseed.language.tokens import TokenKind
from symseed.portfolio.pool import Formula, pareto
from symseed.scoring.description import shortest
from symseed.search.budget import StopReason
from symseed.text import for_html

_LEAST_GAIN = 1e-9
"""Share of the loss by which a longer formula must be better: smaller gains are rounding."""
RULES = ("best", "accuracy", "score", "bic", "mdl")
"""The rules of `model_selection`."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A formula in the user's own units, with its loss on all samples."""

    formula: Formula
    loss: float


@dataclass(frozen=True, slots=True)
class Equation:
    """One formula of a front."""

    formula: Formula
    """The formula in the user's own units. Formulas are compared by its `mean_square`, whose units are chosen such that
    squares neither overflow nor underflow."""
    loss: float
    """Weighted mean of the squared errors, or other losses, of `predict` on the data that were fitted."""
    score: float
    """Fall of the logarithm of the loss per token, from the formula before; 0 for the first."""

    @property
    def expression(self) -> Expression:
        """The formula; `str` of it is its text."""
        return self.formula.expression

    @property
    def complexity(self) -> int:
        """Number of tokens."""
        return len(self.formula.expression)

    @property
    def description(self) -> float:
        """Nats of the formula and of the data given it (minimum description length)."""
        return self.formula.description

    def __str__(self) -> str:
        """Return the formula as text."""
        return str(self.expression)


@dataclass(frozen=True, slots=True)
class EquationFront:
    """What was found for one target: the best formulas of growing complexity."""

    equations: tuple[Equation, ...]
    reason: StopReason
    """Why the search ended."""
    rows: int
    """Number of samples that the search used."""
    rounding: float
    """Part of the loss that is due to rounding."""

    @classmethod
    def of(cls, candidates: Sequence[Candidate], reason: StopReason, *, rows: int, rounding: float) -> EquationFront:
        """Return the Pareto front of candidates, with the one that `best` chooses on it."""
        formulas = [candidate.formula for candidate in candidates]
        choice = candidates[_shortest(formulas)]
        kept = pareto(candidates, choice, lambda candidate: candidate.formula, least_gain=_LEAST_GAIN)
        scores = [0.0]
        for before, after in itertools.pairwise(candidate.formula for candidate in kept):
            fall = _log(before.mean_square, rounding) - _log(after.mean_square, rounding)
            scores.append(fall / (len(after.expression) - len(before.expression)))
        pairs = zip(kept, scores, strict=True)
        return cls(tuple(Equation(item.formula, item.loss, score) for item, score in pairs), reason, rows, rounding)

    def choice(self, rule: str) -> int:
        """Return the index of the formula that a rule chooses."""
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
        """Return the formulas as a data frame."""
        return pd.DataFrame(
            {
                "complexity": [equation.complexity for equation in self.equations],
                "loss": [equation.loss for equation in self.equations],
                "score": [equation.score for equation in self.equations],
                "equation": [str(equation) for equation in self.equations],
                "sympy_format": pd.Series(
                    [notation.to_sympy(equation.expression) for equation in self.equations], dtype=object
                ),
            }
        )

    def text(self, rule: str) -> str:
        """Return the formulas as lines, with the choice marked."""
        chosen = self.choice(rule)
        lines = [f"     {'complexity':>10}  {'loss':>10}  {'score':>8}  equation"]
        for i, equation in enumerate(self.equations):
            mark = ">>>>" if i == chosen else "    "
            text = str(equation) if len(str(equation)) <= 100 else f"{str(equation)[:97]}..."
            lines.append(f"{mark} {equation.complexity:>10}  {equation.loss:>10.4g}  {equation.score:>8.3g}  {text}")
        return "\n".join([*lines, self.reason.value])

    def html(self, rule: str) -> str:
        """Return the formulas as a table in HTML, with the choice marked; every name in it is escaped."""
        chosen = self.choice(rule)
        rows = []
        for i, equation in enumerate(self.equations):
            numbers = f"<td>{equation.complexity}</td><td>{equation.loss:.4g}</td><td>{equation.score:.3g}</td>"
            formula = f'<td style="text-align:left">{notation.to_mathml(equation.expression)}</td>'
            style = ' style="font-weight:bold"' if i == chosen else ""
            rows.append(f"<tr{style}><td>{'&#9656;' if i == chosen else ''}</td>{numbers}{formula}</tr>")
        head = "<tr><th></th><th>complexity</th><th>loss</th><th>score</th><th>equation</th></tr>"
        return f"<table>{head}{''.join(rows)}</table><p>{for_html(self.reason.value)}</p>"


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
