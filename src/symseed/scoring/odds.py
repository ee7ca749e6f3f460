"""Weights: the probability that the form of a formula is right, for each of the formulas that were found.

By theory, the posterior odds of two formulas are the exponential of the difference of their descriptions in nats
(MacKay 2003, "Information Theory, Inference, and Learning Algorithms", chapter 28). That is too sure, since the best of
thousands of formulas owes a part of its fit to chance, and the law may not be among them. Three numbers correct it;
`perf/weights.py` measures how often formulas of a weight are right. Formulas of one form, which differ only in how they
are written or in rounded constants, count once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from symseed import arithmetic
from symseed.arrays import Floats
from symseed.data import Dataset
from symseed.language import Expression, Population
from symseed.scoring.evaluation import fit_to_convergence, predict

TEMPERATURE = 4.0
"""Nats of description that change the odds by a factor of e: measured, see decision 044."""
HANDICAP = 1.0
"""Nats by which every form but the selected one counts as longer: measured, see decision 044."""
UNKNOWN = 0.15
"""Odds against the shortest form that the law is none of the forms that were found: measured, see decision 044."""
_SAMPLES = 500
"""Most samples on which forms are compared: chosen by hand, a bound on time."""
_SAME = 1e-3
"""Largest difference of two forms' predictions at any sample, in standard deviations of the noise: that of fits that
converged."""
_MOST_FITS = 3
"""Most fits of 100 iterations by which constants are freed: chosen by hand."""


def form_weights(
    descriptions: Sequence[float], forms: Sequence[int], *, selected: int, is_certain: bool
) -> list[float]:
    """Return the probability of each formula's form, from the shortest description of each form.

    Args:
        descriptions: the formulas' nats.
        forms: numbers of their forms, as `forms` returns them.
        selected: index of the formula of the selected form.
        is_certain: whether it is certainly a law, so that no unknown form is considered.
    """
    nats: dict[int, float] = {}
    for description, form in zip(descriptions, forms, strict=True):
        own = description + (0.0 if form == forms[selected] else HANDICAP)
        nats[form] = min(own, nats.get(form, math.inf))
    least = min(nats.values())
    odds = {form: arithmetic.exp((least - length) / TEMPERATURE) for form, length in nats.items()}
    total = math.fsum(odds.values()) + (0.0 if is_certain else UNKNOWN)
    return [odds[form] / total for form in forms]


def forms(expressions: Sequence[Expression], data: Dataset) -> list[int]:
    """Return a number for the form of each formula: equal if they agree on the data, once their constants are fitted.

    Args:
        expressions: formulas of one library, over the columns of the data.
        data: the samples that the formulas were fitted to.
    """
    few = data.take(np.arange(_SAMPLES) * len(data) // _SAMPLES) if len(data) > _SAMPLES else data
    given = Population.from_expressions(expressions)
    freed = fit_to_convergence(given, few, most=_MOST_FITS)[0] if given.library.has_constants else given
    views = [_View.of(population, few) for population in (given, freed)]
    found: list[int] = []
    first: list[int] = []  # the first formula of each form
    for place in range(len(given)):
        same = (form for form, other in enumerate(first) if any(view.agree(place, other) for view in views))
        form = next(same, len(first))
        if form == len(first):
            first.append(place)
        found.append(form)
    return found


@dataclass(frozen=True, eq=False, slots=True)
class _View:
    """Predictions of formulas on some data."""

    values: Floats  # (N, M)
    noise: Floats  # (N,)
    """Root mean squared error of each formula, with rounding."""

    @classmethod
    def of(cls, population: Population, data: Dataset) -> _View:
        predictions = predict(population, data)
        with np.errstate(over="ignore", invalid="ignore"):
            rest = predictions.value - data.y
            mean = np.sum(data.weights * rest * rest, axis=1) / data.total_weight
            return cls(predictions.value, np.sqrt(mean + data.rounding))

    def agree(self, one: int, other: int) -> bool:
        noise = min(self.noise[one], self.noise[other])  # infinite if squares overflow, so that nothing is known
        difference = np.abs(self.values[one] - self.values[other]).max()
        return bool(difference <= _SAME * noise) and math.isfinite(noise)
