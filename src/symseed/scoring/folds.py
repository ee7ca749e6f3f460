"""Cross-validation of known formulas: the loss of each on samples that its constants were not fitted to.

Each of ten parts of the samples is left out once, the constants are fitted to the others, and the loss is taken on the
part (Stone 1974, "Cross-validatory choice and assessment of statistical predictions"). The forms were found with all
samples, so the losses are somewhat too small; they compare forms, and do not replace samples that were held out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from symseed.data import Dataset
from symseed.language import Row, Writer
from symseed.scoring.evaluation import evaluate, fit_to_convergence

FOLDS = 10
"""Number of parts that the samples are divided into: the usual number, a compromise between error and time."""
_MOST_FITS = 2
"""Most fits of 100 iterations, which begin from the constants for all samples: chosen by hand."""


@dataclass(frozen=True, slots=True)
class FoldLoss:
    """The loss of a formula on samples that its constants were not fitted to."""

    loss: float
    """Weighted mean over all samples, each left out once; NaN if the formula has no value at one of them, or as many
    constants as there are other samples."""
    error: float
    """Standard error of that mean, from the spread of the parts."""


def cross_validated(
    writer: Writer, rows: Sequence[Row], data: Dataset, *, seed: int, is_late: Callable[[], bool]
) -> list[FoldLoss] | None:
    """Return the loss of each formula on the parts that are left out; None if time was up before.

    Args:
        rows: formulas whose constants are fitted to all samples; all constants are fitted again.
        data: different samples, so that no sample is in two parts. Each part has at least one.
        seed: draws the parts.
    """
    count = min(FOLDS, len(data))
    if count < 2:
        return None
    parts = np.random.default_rng(seed).permutation(len(data)) % count
    given = writer.population(rows)
    constants = np.array([np.count_nonzero(~np.isnan(row.constants)) for row in rows])
    errors, weights = np.zeros((count, len(rows))), np.zeros(count)
    for part in range(count):
        if is_late():
            return None
        rest, left = (data.take(np.flatnonzero(is_in)) for is_in in (parts != part, parts == part))
        freed = fit_to_convergence(given, rest, most=_MOST_FITS)[0] if writer.library.has_constants else given
        # With as many constants as samples a fit stays at the constants that it begins with, which know all samples.
        errors[part] = np.where(constants < len(rest), evaluate(freed, left).error, np.nan)
        weights[part] = left.total_weight
    return [_summary(column, weights) for column in errors.T]


def _summary(errors: np.ndarray, weights: np.ndarray) -> FoldLoss:
    """The mean of losses, and its standard error, from the weighted sums of the parts."""
    loss = float(np.sum(errors) / np.sum(weights))
    spread = float(np.sum((errors - loss * weights) ** 2))
    count = len(errors)
    return FoldLoss(
        loss, math.sqrt(spread * count / (count - 1)) / float(np.sum(weights)) if spread >= 0.0 else math.nan
    )
