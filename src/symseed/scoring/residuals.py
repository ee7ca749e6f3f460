"""Remarks on residuals: trends and slow waves along a column, growth with the value, and outliers, in words.

Each is a test by ranks or signs that assumes no distribution: Spearman's correlation of residuals or their sizes (its
logarithmic transform: Fieller, Hartley & Pearson 1957), and the number of runs of one sign (Wald & Wolfowitz 1940).
Limits are strict, because several tests are made of every fit.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from symseed.arrays import Floats
from symseed.data.dataset import Dataset
from symseed.data.noise import Noise, NoiseKind
from symseed.errors import shown

_LIMIT = 4.0
"""Standard deviations beyond which a test is remarked on: by chance once in 15,000."""
_FEWEST = 12
"""Fewest samples whose residuals are tested: chosen by hand."""
_OUTLIER = 6.0
"""Robust standard deviations beyond which a residual is an outlier: chosen by hand."""
_MEDIAN = 1.4826
"""Standard deviation of normal errors, in units of their median size."""
_ROUNDING = 1e-9
"""Share of y's size below which residuals are rounding: chosen by hand."""
_SMALL = 0.4
"""Chi-square per degree of freedom below which errors were given too large: chosen by hand."""
_FIELLER, _ALMOST_ONE = 1.06, 1.0 - 1e-9
"""Variance of Fisher's transform of a rank correlation, times n - 3 (Fieller, Hartley & Pearson 1957), and the largest
correlation that is transformed."""
_MOST_NAMED = 3
"""Most outliers that are named: chosen by hand."""


def remarks(
    values: Floats,
    dataset: Dataset,
    noise: Noise,
    rows: npt.NDArray[np.intp],
    *,
    errors: Floats | None = None,
    constants: int = 0,
) -> tuple[str, ...]:
    """Return sentences about the residuals of a formula.

    Args:
        values: (M,), of the formula.
        dataset: the samples that were fitted, with the user's weights.
        noise: the noise by which the formula was fitted.
        rows: (M,), numbers of the samples in the user's data.
        errors: (M,), standard errors that were given.
        constants: number of constants that were fitted.
    """
    counted = np.flatnonzero(np.isfinite(values) & (dataset.weights > 0.0))
    y, fitted = dataset.y[counted], values[counted]
    unit = float(np.abs(y).max(initial=0.0)) or 1.0
    rest = (y - fitted) / unit
    if len(counted) < _FEWEST or np.sqrt(np.mean(rest**2)) < _ROUNDING:
        return ()
    sizes = noise.growth(fitted) if errors is None else errors[counted]
    least = float(np.sort(sizes)[len(sizes) // 10])
    scaled = rest / np.maximum(sizes, 0.1 * least if least > 0.0 else 1.0)
    names = rows[counted]
    columns = {f"`{shown(name)}`": dataset.X[counted, place] for place, name in enumerate(dataset.names)}
    columns["the order of the rows"] = counted.astype(np.float64)
    growth = _growth(scaled, fitted, noise)
    rising = [name for name, column in columns.items() if abs(_trend(scaled, column)) > _LIMIT]
    others = {name: column for name, column in columns.items() if name not in rising}
    # Where residuals grow, the largest are no outliers.
    found = [growth, _trends(rising), _waves(scaled, others), "" if growth else _outliers(scaled, names, noise)]
    if errors is not None:
        found.append(_chi_square((y - fitted) / errors[counted], len(counted) - constants))
    return tuple(sentence for sentence in found if sentence)


def _growth(scaled: Floats, fitted: Floats, noise: Noise) -> str:
    """Say whether residuals are larger where the value is."""
    trend = _correlation(np.abs(scaled), np.abs(fitted)) * math.sqrt(len(scaled) - 1)
    if trend > _LIMIT and noise.kind in (NoiseKind.ADDITIVE, NoiseKind.ROBUST):
        return "The residuals grow with the value: fit again with noise `relative` or `floor`."
    if trend > _LIMIT:
        return "The residuals grow with the value more than the noise model says."
    if trend < -_LIMIT and noise.kind in (NoiseKind.RELATIVE, NoiseKind.FLOOR):
        return "The residuals grow with the value less than the noise model says: fit again with noise `additive`."
    if trend < -_LIMIT:
        return "The residuals are larger where the value is small."
    return ""


def _trends(names: Sequence[str]) -> str:
    """Say along which columns residuals rise or fall."""
    if not names:
        return ""
    return (
        f"The residuals rise or fall along {', '.join(names[:_MOST_NAMED])}, which chance hardly does: the formula "
        "misses a part. See the longer formulas of the front, and the alternatives."
    )


def _trend(values: Floats, column: Floats) -> float:
    """Return how many standard deviations Spearman's correlation is from 0."""
    transformed = math.atanh(max(min(_correlation(values, column), _ALMOST_ONE), -_ALMOST_ONE))
    return transformed * math.sqrt((len(values) - 3) / _FIELLER)


def _waves(scaled: Floats, columns: Mapping[str, Floats]) -> str:
    """Say along which columns residuals keep their sign for long."""
    names = [name for name, column in columns.items() if _runs(scaled[np.argsort(column, kind="stable")]) < -_LIMIT]
    if not names:
        return ""
    some = ", ".join(names[:_MOST_NAMED])
    return (
        f"The residuals form slow waves along {some}: the formula misses a part, or neighbouring measurements have a "
        "common error."
    )


def _outliers(scaled: Floats, rows: npt.NDArray[np.intp], noise: Noise) -> str:
    """Say which residuals are far larger than usual."""
    usual = _MEDIAN * float(np.median(np.abs(scaled)))
    found = np.flatnonzero(np.abs(scaled) > _OUTLIER * usual) if usual > 0.0 else np.empty(0, dtype=np.intp)
    if len(found) == 0:
        return ""
    worst = found[np.argsort(-np.abs(scaled[found]), kind="stable")][:_MOST_NAMED]
    places = ", ".join(str(row) for row in sorted(rows[worst]))
    many = f"{len(found)} residuals are" if len(found) > 1 else "One residual is"
    cure = "" if noise.kind is NoiseKind.ROBUST else ", or fit again with noise `robust`"
    named = "row" if len(worst) == 1 else "rows" if len(worst) == len(found) else "the largest in rows"
    return f"{many} more than {_OUTLIER:.0f} times the usual ({named} {places}, counted from 0): check them{cure}."


def _correlation(first: Floats, second: Floats) -> float:
    """Spearman's rank correlation."""
    a, b = (_ranks(values) for values in (first, second))
    spread = math.sqrt(float(np.sum(a * a)) * float(np.sum(b * b)))
    return float(np.sum(a * b)) / spread if spread > 0.0 else 0.0


def _ranks(values: Floats) -> Floats:
    """Ranks of mean 0; equal values share theirs."""
    _, place, times = np.unique(values, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(times) - 0.5 * (times + 1))[place]
    return np.asarray(ranks - ranks.mean())


def _runs(ordered: Floats) -> float:
    """Return how many standard deviations there are more runs of one sign than by chance."""
    signs = ordered > 0.0
    above, count = int(np.count_nonzero(signs)), len(signs)
    below = count - above
    if min(above, below) < 2:
        return 0.0
    expected = 1.0 + 2.0 * above * below / count
    variance = (expected - 1.0) * (expected - 2.0) / (count - 1.0)
    runs = 1 + int(np.count_nonzero(signs[1:] != signs[:-1]))
    return (runs - expected) / math.sqrt(variance)


def _chi_square(scaled: Floats, freedom: int) -> str:
    """Say whether residuals are as large as the standard errors that were given."""
    if freedom < 1:
        return ""
    ratio = float(np.sum(scaled * scaled)) / freedom
    off = (ratio - 1.0) / math.sqrt(2.0 / freedom)
    if off > _LIMIT:
        return (
            f"Chi-square is {ratio:.2g} per degree of freedom: the errors are larger than given, or the formula misses "
            "a part."
        )
    if ratio < _SMALL:
        return f"Chi-square is {ratio:.2g} per degree of freedom: the errors are smaller than given."
    return ""
