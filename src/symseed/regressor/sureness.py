"""How sure a fitted estimator is: standard errors, intervals, alternatives, and stability against other samples."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from symseed import show
from symseed.arrays import Floats
from symseed.data import Dataset, frames
from symseed.errors import DataError, SettingsError, check_between
from symseed.language import Expression
from symseed.regressor.alternatives import Alternatives
from symseed.regressor.front import Equation, EquationFront
from symseed.regressor.stability import Stability, refitted, searched

_MOST_ROWS = 10_000
"""Most samples that are drawn again: chosen by hand, a bound on time."""


class Sureness:
    """The part of the estimator that says how sure its formulas are."""

    if TYPE_CHECKING:
        _fronts: tuple[EquationFront, ...]
        _alternatives: tuple[Alternatives, ...]
        _labels: tuple[Hashable, ...] | None
        _is_multiple: bool

        def at(self, index: int | Sequence[int] | None = None) -> list[Equation]:
            """Return the selected formula of each target."""

        predict: Any
        model_selection: str
        _categories: Any
        _settings: Any

        def _one_or_list(self, values: list[Any]) -> Any: ...

    def _compare(self, samples: Sequence[Dataset]) -> None:
        """Compare the formulas of each target on the samples that were fitted."""
        pairs = zip(self._fronts, samples, strict=True)
        self._alternatives = tuple(Alternatives.of(front, data) for front, data in pairs)

    def predict_interval(
        self, X: Any, level: float = 0.95, index: int | Sequence[int] | None = None
    ) -> tuple[Floats, Floats]:
        """Return the lower and upper ends of intervals that hold a new sample of weight 1 with a probability.

        Args:
            X: as for `predict`.
            level: the probability. The intervals assume that the form of the formula is right, and normal errors.
            index: as for `predict`.
        """
        check_between("level", level, 0.0, 1.0)
        values, spread = self.predict(X, index, return_std=True)
        factors = np.array([equation.uncertainty.quantile(level) for equation in self.at(index)])
        width = spread * (factors if self._is_multiple else factors[0])
        return values - width, values + width

    def standard_errors(self, index: int | Sequence[int] | None = None, level: float = 0.95) -> Any:
        """Return the constants of the selected formula with their standard errors, as a data frame; a list for several.

        The columns are `value`, `standard_error`, and `low` and `high`, the ends of the interval of a level. A row is a
        constant, in the order of `best_.expression`. Constants that the data do not determine have infinite errors.

        Args:
            index: the row of `equations_` to use in place of the selected formula; a list if y has several columns.
            level: the probability that an interval holds the true constant, if the form of the formula is right.
        """
        check_between("level", level, 0.0, 1.0)
        return self._one_or_list([equation.standard_errors(level) for equation in self.at(index)])

    def latex_constants(self, index: int | Sequence[int] | None = None) -> Any:
        """Return the constants of the selected formula with their standard errors as a table in LaTeX, for booktabs."""
        return self._one_or_list([equation.latex_constants() for equation in self.at(index)])

    def alternatives(self) -> Any:
        """Return the formulas that explain the data about as well as the most probable one, as `Alternatives`.

        Printed, they say at which values of the columns a further measurement would tell them apart best. The result is
        a list if y has several columns.
        """
        check_is_fitted(self)
        return self._one_or_list(list(self._alternatives))

    def plot_alternatives(self, X: Any, y: Any) -> Any:
        """Draw the alternatives along the column in which they differ most: a matplotlib figure.

        Raises:
            DataError: if there are no alternatives.
        """
        samples = self._samples(X, y, None)
        drawn: list[Any] = []
        for found, data in zip(self._alternatives, samples, strict=True):
            if found.contrast is None:
                raise DataError(f"There must be alternatives to be drawn, but: {found.summary}")
            drawn.append(show.plot_alternatives(found.equations, found.contrast, data))
        return show.together(drawn) if self._is_multiple else drawn[0]

    def stability(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        n: int = 20,
        search: bool = False,
        seed: int = 0,
        **limits: Any,
    ) -> Any:
        """Select again from data whose rows are drawn again with replacement, and return a `Stability`.

        It says how often each formula was selected, and how its constants spread. The result is a list if y has several
        columns. Of a table with more than 10,000 rows, 10,000 are drawn.

        Args:
            X: the columns that were fitted; an estimator does not keep them.
            y: the target that was fitted.
            sample_weight: the weights of the samples, 1/s^2 if their standard errors s were given; None: all alike.
            n: how often rows are drawn.
            search: whether each time is a whole search, which takes n times as long as the fit. If not, the formulas
                that are known are fitted each time, and `model_selection` selects one of them.
            seed: the seed of the draws.
            limits: settings of the repeated searches, such as `max_evals`; the others are those of this estimator.
        """
        samples = self._samples(X, y, sample_weight)
        given = limits if search else None
        return self._one_or_list([self.stability_of(i, data, n, given, seed) for i, data in enumerate(samples)])

    def _samples(self, X: Any, y: Any, sample_weight: Any) -> list[Dataset]:
        """The samples of each target."""
        check_is_fitted(self)
        table = frames.read(X, labels=self._labels, categories=self._categories)
        rows = len(table.values)
        targets = frames.read_values(y, "y", rows).reshape(rows, -1)
        if targets.shape[1] != len(self._fronts):
            raise DataError(f"`y` must have {len(self._fronts)} columns, but it has {targets.shape[1]}.")
        weights = None if sample_weight is None else frames.read_values(sample_weight, "sample_weight", rows)
        return [Dataset.of(table.values, target, weights, table.names) for target in targets.T]

    def alternatives_of(self, output: int) -> Alternatives:
        """Return the alternatives of one target, by its index."""
        return self._alternatives[output]

    def stability_of(
        self, output: int, data: Dataset, n: int = 20, search: dict[str, Any] | None = None, seed: int = 0
    ) -> Stability:
        """Return the stability of one target, by its index, from the samples that were fitted; as `stability` does."""
        data = data.counted().sampled(_MOST_ROWS, seed)
        front, best = self._fronts[output], self.at()[output].expression
        if search is None:
            data = front.noise.weighed(data, best.evaluate(data.X)).dataset.with_loss(self._settings().plan().loss)
            known = [*front.equations, *front.others]
            return refitted(known, data, rule=self.model_selection, times=n, seed=seed)
        return searched(best, data, lambda some, own: self._again(some, own, search), times=n, seed=seed)

    def _again(self, data: Dataset, seed: int, limits: dict[str, Any]) -> Expression:
        """The formula that a search for one target with these settings selects."""
        if self._categories:
            raise SettingsError(
                "Whole searches cannot be repeated with constants by category. Leave `search` out, and the formulas "
                "that are known are fitted again."
            )
        quiet = {"output_directory": None, "verbosity": 0, "warm_start": False, "callback": None, "test_size": None}
        model = clone(self).set_params(**{**quiet, "random_state": seed, **limits})
        X = data.X if self._labels is None else pd.DataFrame(data.X, columns=list(self._labels))
        expression: Expression = model.fit(X, data.y, data.weights).best_.expression
        return expression
