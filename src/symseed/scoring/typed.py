"""Formulas that a user types: read over the columns of some data, and their constants fitted."""

from __future__ import annotations

from collections.abc import Sequence

from symseed.data.backend import Errors
from symseed.data.dataset import Dataset
from symseed.errors import SettingsError
from symseed.language.expression import Expression
from symseed.language.library import Library
from symseed.language.parsing import numbers_in
from symseed.language.population import Population
from symseed.language.tokens import OPERATORS
from symseed.scoring.evaluation import fit, fit_to_convergence
from symseed.scoring.fitting import FitSettings

_MOST_FITS = 200
"""Most fits of a formula, each of 100 iterations, because redundant constants need thousands: chosen by hand."""
_MOST_CONSTANTS = 200
"""Most constants of a formula, whose fit takes time by the square of their number: chosen by hand."""


def read(formulas: Sequence[str], names: Sequence[str]) -> list[Expression]:
    """Return formulas over columns of these names: numbers stay fixed, and `const` is a constant to fit.

    Raises:
        ParseError: if a text is no formula.
        SettingsError: if one has too many constants.
    """
    numbers = dict.fromkeys(number for formula in formulas for number in numbers_in(formula))
    library = Library.of([*OPERATORS, *numbers], names, constants=True)
    out = [Expression.parse(formula, library) for formula in formulas]
    constants = max((len(expression.constant_places) for expression in out), default=0)
    if constants > _MOST_CONSTANTS:
        raise SettingsError(
            f"A formula must have at most {_MOST_CONSTANTS} constants to fit, but one has {constants:,}. Write numbers "
            "in their place, which stay fixed."
        )
    return out


def fitted(expressions: Sequence[Expression], dataset: Dataset, restarts: int) -> tuple[Population, Errors]:
    """Return formulas with fitted constants, and their errors; each fit has so many random starts."""
    population, _ = fit(
        Population.from_expressions(expressions), dataset, FitSettings(iterations=100, restarts=restarts)
    )
    return fit_to_convergence(population, dataset, most=_MOST_FITS)
