"""The formulas that a user sees: a front of them in the user's own units, and the choice of one by a named rule."""

from __future__ import annotations

import difflib
import html
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from symseed import arithmetic
from symseed.errors import SettingsError
from symseed.export import notation
from symseed.language.expression import Expression
from symseed.language.tokens import TokenKind
from symseed.scoring.description import shortest

_NOTHING = 1e-9  # share of the loss that is not worth a longer formula: often the same one, rounded otherwise
RULES = ("best", "accuracy", "score", "bic", "mdl")
"""The rules of `model_selection`."""


@dataclass(frozen=True, slots=True)
class Equation:
    """One formula of a front."""

    expression: Expression
    """In the user's own units; `str` of it is the formula as text."""
    complexity: int
    """Number of tokens."""
    loss: float
    """Mean of `predict`'s squared errors, or other losses, on the data that were fitted, weighted as they were."""
    score: float
    """By how much the logarithm of the loss falls per token, from the formula before; 0 for the first."""
    description: float
    """Nats of the formula and of the data given it."""
    share: float
    """The loss in units in which squares neither overflow nor vanish: what formulas are compared by."""

    def __str__(self) -> str:
        """Return the formula as text."""
        return str(self.expression)


@dataclass(frozen=True, slots=True)
class EquationFront:
    """What was found for one target: the best formulas of growing complexity."""

    equations: tuple[Equation, ...]
    reason: str
    """Why the search ended, in a sentence."""
    rows: int
    """How many rows spoke for it."""
    rounding: float
    """The share of the loss that is rounding."""

    def choice(self, rule: str) -> int:
        """Return the row that a rule chooses."""
        check_rule(rule)
        if rule == "best":
            return _shortest(self.equations)
        return int(np.argmin([self._cost(equation, rule) for equation in self.equations]))

    def _cost(self, equation: Equation, rule: str) -> float:
        if rule == "accuracy":
            return equation.share
        if rule == "score":
            return -equation.score
        if rule == "bic":
            fitted = sum(token.kind is TokenKind.CONSTANT for token in equation.expression.tokens)
            return self.rows * arithmetic.log(max(equation.share, self.rounding)) + fitted * arithmetic.log(
                float(self.rows)
            )
        return equation.description

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
        return "\n".join([*lines, self.reason])

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
        return f"<table>{head}{''.join(rows)}</table><p>{html.escape(self.reason)}</p>"


def pareto(candidates: Sequence[Equation], rounding: float) -> tuple[Equation, ...]:
    """Return the best of each complexity, none worse than a shorter one, and the one that `best` chooses."""
    choice = candidates[_shortest(candidates)]
    by_size = {choice.complexity: choice}
    for candidate in candidates:
        known = by_size.get(candidate.complexity)
        if known is None or (candidate.description < known.description and known is not choice):
            by_size[candidate.complexity] = candidate
    kept: list[Equation] = []
    least = math.inf
    for size in sorted(by_size):
        equation = by_size[size]
        if equation.share < least * (1.0 - _NOTHING) or equation is choice:
            kept.append(equation)
            least = min(least, equation.share)
    scores = [0.0]
    for before, after in itertools.pairwise(kept):
        fall = arithmetic.log(max(before.share, rounding)) - arithmetic.log(max(after.share, rounding))
        scores.append(fall / (after.complexity - before.complexity))
    return tuple(replace(equation, score=score) for equation, score in zip(kept, scores, strict=True))


def _shortest(equations: Sequence[Equation]) -> int:
    return shortest(
        [equation.description for equation in equations],
        [equation.expression.tokens[0].kind is TokenKind.CONSTANT for equation in equations],
    )


def check_rule(rule: Any) -> None:
    """Refuse a rule that there is not."""
    if rule not in RULES:
        close = difflib.get_close_matches(str(rule), RULES, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise SettingsError(f"`model_selection` must be one of {', '.join(RULES)}, but it is {rule!r}.{hint}")
