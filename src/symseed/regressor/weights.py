"""Complexities of columns and constants, as settings give them: what each adds to the complexity of a formula."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from symseed.errors import SettingsError, did_you_mean, listed
from symseed.language import Library, Token
from symseed.language.tokens import constant
from symseed.regressor.checks import whole


@dataclass(frozen=True, slots=True)
class Weights:
    """What a column and a fitted constant add to the complexity of a formula."""

    column: int
    """Complexity of a column that is not named."""
    named: tuple[tuple[str, int], ...]
    """Complexity of single columns, by name."""
    constant: int

    @classmethod
    def of(cls, variables: Any, constants: Any) -> Weights:
        """Check the settings `complexity_of_variables` and `complexity_of_constants`.

        Raises:
            SettingsError: naming the setting that is out of range.
        """
        own = "complexity_of_variables"
        named = variables.items() if isinstance(variables, Mapping) else ()
        return cls(
            1 if isinstance(variables, Mapping) else whole(variables, own, 1),
            tuple((str(name), whole(weight, f"{own}` of `{name}", 1)) for name, weight in named),
            whole(constants, "complexity_of_constants", 1),
        )

    def check(self, names: Sequence[str]) -> None:
        """Refuse a name that is not that of a column.

        Raises:
            SettingsError: naming it.
        """
        for name, _ in self.named:
            if name not in names:
                raise SettingsError(
                    f"`complexity_of_variables` names `{name}`, but the columns are {listed(names)}."
                    f"{did_you_mean(name, names)}"
                )

    def library(self, names: Sequence[str], operators: Sequence[Token]) -> Library:
        """Return the tokens of formulas: a variable for each name, the operators, and a fitted constant."""
        weights = dict(self.named)
        variables = Library.of([], names).tokens if names else ()
        return Library(
            (
                *(replace(token, weight=weights.get(token.name, self.column)) for token in variables),
                *operators,
                replace(constant(), weight=self.constant),
            )
        )
