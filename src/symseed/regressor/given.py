"""What a user gives to `fit`, read as the data of a run."""

from __future__ import annotations

import numbers
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from symseed.arrays import Floats
from symseed.data import frames
from symseed.errors import DataError, listed
from symseed.regressor import in_blocks
from symseed.regressor.run_data import RunData, checked_errors, checked_weights
from symseed.regressor.settings import Plan
from symseed.search.streams import Stream, derived


@dataclass(frozen=True, eq=False, slots=True)
class Extras:
    """Arguments of `fit` beside X and y; None: not given."""

    sample_weight: Any = None
    y_err: Any = None
    X_err: Any = None


def seed_of(random_state: Any, earlier: int) -> int:
    """Return the seed of a fit; `earlier` is the number of fits before it that it goes on from."""
    return derived(int(check_random_state(random_state).randint(2**31 - 1)), Stream.WARM_START, earlier)


def read(plan: Plan, X: Any, y: Any, extras: Extras, seed: int) -> tuple[RunData, tuple[Hashable, ...] | None]:
    """Return the data, and the labels of the columns.

    Raises:
        DataError: naming the value that cannot be used, and its position.
    """
    if in_blocks.is_large(X):
        table = in_blocks.large_table(X, y, extras.sample_weight, extras.y_err, extras.X_err)
        data = in_blocks.searched(table, seed, has_labels=not isinstance(X, np.memmap))
        return data, data.names if data.has_labels else None
    frame = frames.read(X, categories=() if plan.template is None else plan.template.by_category)
    targets = frames.read_values(y, "y", len(frame.values))
    targets = targets[:, 0] if targets.ndim == 2 and targets.shape[1] == 1 else targets
    data = RunData(
        frame.values.copy(),  # the caller may change the arrays while the search runs
        targets.reshape(len(targets), -1).copy(),
        _weights(extras.sample_weight, len(frame.values)).copy(),
        frame.names,
        are_texts(frame.labels),
        is_multiple=targets.ndim == 2,
        targets=("y",) if targets.ndim == 1 else tuple(f"y{i + 1}" for i in range(targets.shape[1])),
        categories=frame.categories,
        y_errors=_errors(extras.y_err, targets.reshape(len(targets), -1).shape),
        X_errors=_input_errors(extras.X_err, frame.values.shape, frame.names),
    )
    return data, frame.labels


def are_texts(labels: tuple[Hashable, ...] | None) -> bool:
    """Return whether all columns are named by strings, the only names that scikit-learn keeps."""
    return labels is not None and all(type(label) is str for label in labels)


def _errors(values: Any, shape: tuple[int, int]) -> Floats | None:
    """Standard errors of y, for each sample and target."""
    if values is None:
        return None
    errors = frames.read_values(values, "y_err", shape[0])
    errors = np.repeat(errors[:, None], shape[1], axis=1) if errors.ndim == 1 else errors
    if errors.shape != shape:
        raise DataError(f"`y_err` must have one value for each value of y, {shape}, but its shape is {errors.shape}.")
    return checked_errors(errors.copy(), "`y_err`")


def _input_errors(values: Any, shape: tuple[int, int], names: tuple[str, ...]) -> Floats | None:
    """Standard errors of the columns, 0 for those that have none."""
    if values is None:
        return None
    if isinstance(values, Mapping):
        out = np.zeros(shape)
        for name, errors in values.items():
            if name not in names:
                raise DataError(f"`X_err` names `{name}`, but the columns are {listed(names)}.")
            given = np.full(shape[0], errors) if isinstance(errors, numbers.Real) else errors
            out[:, names.index(name)] = frames.read_values(given, f"X_err[{name!r}]", shape[0])
    else:
        out = frames.read_values(values, "X_err", shape[0]).reshape(shape[0], -1).copy()
        if out.shape != shape:
            raise DataError(f"`X_err` must have the shape of X, {shape}, but its shape is {out.shape}.")
    if out.min() < 0.0:
        raise DataError(f"`X_err` must be standard errors of at least 0, but it is {out.min()} in one row.")
    return out


def _weights(values: Any, rows: int) -> Floats:
    if values is None:
        return np.ones(rows)
    if isinstance(values, numbers.Real):
        values = np.full(rows, values)
    weights = frames.read_values(values, "sample_weight", rows)
    if weights.ndim != 1:
        raise DataError(f"`sample_weight` must have one value for each row, but its shape is {weights.shape}.")
    return checked_weights(weights, "`sample_weight`")
