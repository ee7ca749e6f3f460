"""Data: what is taken, what is refused and in which words, and that nothing changes it later."""

from __future__ import annotations

import dataclasses
import datetime
import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from symseed import DataError, Dataset, Expression, Library, Population, SettingsError, evaluate

TABLE = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
TARGET = np.array([1.0, 0.0, 2.0])


def transposed(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return np.ascontiguousarray(array.T).T


def strided(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return np.repeat(array, 2, axis=0)[::2]


def reversed_twice(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return array[::-1].copy()[::-1]


def read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    array = array.copy()
    array.setflags(write=False)
    return array


def check_is_the_table(dataset: Dataset) -> None:
    np.testing.assert_array_equal(dataset.X, TABLE)
    np.testing.assert_array_equal(dataset.y, TARGET)
    for array in (dataset.X, dataset.y, dataset.weights):
        assert array.dtype == np.dtype("=f8")
        assert array.flags.c_contiguous
        assert array.flags.aligned
        assert not array.flags.writeable


@pytest.mark.parametrize(
    "convert",
    [
        np.ndarray.tolist,
        lambda array: tuple(map(tuple, array)) if array.ndim == 2 else tuple(array),
        lambda array: array.astype(int),
        lambda array: array.astype(np.uint8),
        lambda array: array.astype(np.float16),
        lambda array: array.astype(np.float32),
        lambda array: array.astype(np.longdouble),
        lambda array: array.astype(">f8"),
        lambda array: array.astype(">i4"),
        lambda array: array.astype(object),
        lambda array: array.astype(str),
        transposed,
        strided,
        reversed_twice,
        read_only,
        np.ma.asarray,
        np.asmatrix,
    ],
    ids=lambda convert: getattr(convert, "__name__", None),
)
@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
def test_numbers_of_any_type_and_layout_are_taken(convert: Any) -> None:
    target = TARGET[:, None] if convert is np.asmatrix else TARGET
    dataset = Dataset.of(convert(TABLE), convert(target))
    check_is_the_table(dataset)
    assert len(dataset) == 3


def test_booleans_are_zero_and_one() -> None:
    np.testing.assert_array_equal(Dataset.of(TABLE > 2.0, TARGET > 0.0).X, [[0, 0], [1, 1], [1, 1]])
    np.testing.assert_array_equal(Dataset.of(TABLE, TARGET > 0.0).y, [1.0, 0.0, 1.0])


def test_a_memory_mapped_table_is_taken(tmp_path: Path) -> None:
    np.save(tmp_path / "X.npy", TABLE)
    check_is_the_table(Dataset.of(np.load(tmp_path / "X.npy", mmap_mode="r"), TARGET))


def test_one_column_may_be_flat_and_y_may_be_a_column() -> None:
    assert Dataset.of([1.0, 2.0, 3.0], TARGET).X.tolist() == [[1.0], [2.0], [3.0]]
    assert Dataset.of(TABLE, TARGET[:, None]).y.tolist() == TARGET.tolist()


def test_what_is_left_out_is_filled_in() -> None:
    dataset = Dataset.of(TABLE, TARGET)
    assert dataset.weights.tolist() == [1.0, 1.0, 1.0]
    assert dataset.names == ("x1", "x2")
    named = Dataset.of(TABLE, TARGET, weights=[0, 2, 1], names=["a b", "%"])
    assert named.weights.tolist() == [0.0, 2.0, 1.0]
    assert named.names == ("a b", "%")


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize(
    ("array", "what"),
    [("X", "Column `speed` of `X`"), ("y", "`y`"), ("weights", "`weights`")],
    ids=["X", "y", "weights"],
)
def test_a_value_that_is_not_finite_is_named_by_column_and_row(array: str, what: str, bad: float) -> None:
    arguments = {"X": TABLE.copy(), "y": TARGET.copy(), "weights": np.ones(3)}
    place = (slice(1, 3), 1) if array == "X" else slice(1, 3)
    arguments[array][place] = bad
    sentence = (
        f"{what} must be finite, but holds {bad} in row 1 (2 such values in all). Leave those samples out, or fill"
    )
    with pytest.raises(DataError, match=re.escape(sentence)):
        Dataset.of(**arguments, names=["mass", "speed"])


@pytest.mark.parametrize("missing", [None, float("nan"), "nan"])
def test_a_missing_value_in_a_column_of_objects_is_named(missing: Any) -> None:
    table = np.array([[1.0, 2.0], [3.0, missing]], dtype=object)
    with pytest.raises(DataError, match="Column `x2` of `X` must be finite, but holds nan in row 1"):
        Dataset.of(table, [1.0, 2.0])


@pytest.mark.parametrize(
    "values",
    [
        np.array(["1", "two", "3"]),
        np.array([b"1", b"two", b"3"]),
        ["1", "", "3"],
        np.array([1.0, "two", 3.0], dtype=object),
        np.array([1.0, object(), 3.0], dtype=object),
        np.array([1.0, 1j, 3.0], dtype=object),
        np.array([1.0, [2.0], 3.0], dtype=object),
        np.array([datetime.date(2020, 1, day) for day in (1, 2, 3)], dtype=object),
        np.array(["2020-01-01", "2020-01-02", "2020-01-03"], dtype="datetime64[D]"),
        np.array([1, 2, 3], dtype="timedelta64[s]"),
        np.zeros(3, dtype=[("a", float)]),
        [10**400, 1, 2],
        {"a": [1, 2, 3]},
        {1.0, 2.0, 3.0},
        object(),
    ],
    ids=lambda values: f"{type(values).__name__}-{getattr(values, 'dtype', '')}",
)
@pytest.mark.parametrize("array", ["X", "y", "weights"])
def test_what_is_not_numbers_is_refused(array: str, values: Any) -> None:
    arguments: dict[str, Any] = {"X": TABLE, "y": TARGET, "weights": np.ones(3), array: values}
    with pytest.raises(DataError, match=f"`{array}` must hold numbers, but its values are of type"):
        Dataset.of(**arguments)


@pytest.mark.parametrize("array", ["X", "y", "weights"])
def test_complex_numbers_are_refused_even_without_imaginary_parts(array: str) -> None:
    arguments: dict[str, Any] = {"X": TABLE, "y": TARGET, "weights": np.ones(3)}
    arguments[array] = arguments[array].astype(complex)
    with pytest.raises(DataError, match=f"`{array}` must hold real numbers, but its values are complex"):
        Dataset.of(**arguments)


@pytest.mark.parametrize("array", ["X", "y", "weights"])
def test_hidden_values_of_a_masked_array_are_not_brought_to_light(array: str) -> None:
    arguments: dict[str, Any] = {"X": TABLE, "y": TARGET, "weights": np.ones(3)}
    arguments[array] = np.ma.masked_greater(arguments[array], 0.5)
    with pytest.raises(DataError, match=f"`{array}` is a masked array with hidden values. Leave those samples out"):
        Dataset.of(**arguments)


@pytest.mark.parametrize("array", ["X", "y", "weights"])
def test_rows_of_different_lengths_are_refused(array: str) -> None:
    arguments: dict[str, Any] = {"X": TABLE, "y": TARGET, "weights": np.ones(3), array: [[1.0, 2.0], [3.0], [4.0]]}
    with pytest.raises(DataError, match=f"`{array}` must be a table of numbers, but its rows differ in length"):
        Dataset.of(**arguments)


@pytest.mark.parametrize("shape", [(0, 2), (3, 0), (0, 0), (0,), (3, 2, 1)])
def test_a_table_needs_rows_and_columns(shape: tuple[int, ...]) -> None:
    with pytest.raises(DataError, match=r"`X` must be a table of samples by variables.* but its shape is \("):
        Dataset.of(np.zeros(shape), np.zeros(shape[0]))


@pytest.mark.parametrize("shape", [(2,), (4,), (0,), (3, 2), (1, 3), (3, 1, 1), ()])
@pytest.mark.parametrize("array", ["y", "weights"])
def test_y_and_weights_have_one_value_for_each_sample(array: str, shape: tuple[int, ...]) -> None:
    arguments: dict[str, Any] = {"X": TABLE, "y": TARGET, array: np.ones(shape)}
    with pytest.raises(
        DataError, match=f"`{array}` must have one value for each of the 3 samples of `X`, but its shape"
    ):
        Dataset.of(**arguments)


def test_weights_have_a_sum() -> None:
    with pytest.raises(DataError, match="`weights` must have a sum within float64"):
        Dataset.of([1.0, 2.0], [1.0, 2.0], [1e308, 1e308])


@pytest.mark.parametrize("weights", [[1.0, -1e-300, 1.0], [0.0, 0.0, 0.0], [-0.0, 0.0, 0.0], [-1, -1, -1]])
def test_weights_are_not_negative_and_not_all_zero(weights: list[float]) -> None:
    with pytest.raises(DataError, match=r"`weights` must not be negative, and not all 0\. Leave them out to weigh"):
        Dataset.of(TABLE, TARGET, weights)


@pytest.mark.parametrize("names", [[], ["a"], ["a", "b", "c"]])
def test_there_is_a_name_for_each_column(names: list[str]) -> None:
    with pytest.raises(DataError, match=f"`names` must name each of the 2 columns of `X`, but has {len(names)}"):
        Dataset.of(TABLE, TARGET, names=names)


@pytest.mark.parametrize(
    ("X", "y"),
    [
        ([[1.0]], [2.0]),
        ([[1.0], [2.0]], [2.0, 2.0]),
        ([[7.0, 7.0], [7.0, 7.0]], [1.0, 2.0]),
        (np.zeros((2, 5000)), [1.0, 2.0]),
        ([[1e300, 1e-300], [5e-324, -1e300]], [1e-300, 5e-324]),
        ([[2**63 - 1, 2**53 + 1]], [2**64 - 1]),
    ],
    ids=["one row", "constant y", "equal columns and rows", "more columns than rows", "magnitudes", "large integers"],
)
def test_unusual_but_usable_data_is_taken_as_it_is(X: Any, y: Any) -> None:
    dataset = Dataset.of(X, y)
    np.testing.assert_array_equal(dataset.X, np.array(X, dtype=np.float64))
    np.testing.assert_array_equal(dataset.y, np.array(y, dtype=np.float64))


def test_unsigned_and_signed_integers_do_not_wrap() -> None:
    dataset = Dataset.of(np.array([[0], [2**64 - 1]], dtype=np.uint64), np.array([-128, 127], dtype=np.int8))
    assert dataset.X.ravel().tolist() == [0.0, 2.0**64]
    assert dataset.y.tolist() == [-128.0, 127.0]


def test_a_later_change_of_the_callers_arrays_changes_nothing() -> None:
    X, y, weights, names = TABLE.copy(), TARGET.copy(), np.array([1.0, 2.0, 3.0]), ["a", "b"]
    dataset = Dataset.of(X, y, weights, names)
    X[:], y[:], weights[:], names[0] = np.nan, np.nan, np.nan, "c"
    check_is_the_table(dataset)
    assert dataset.weights.tolist() == [1.0, 2.0, 3.0]
    assert dataset.names == ("a", "b")


def test_the_callers_arrays_stay_writeable_and_unchanged() -> None:
    X, y, weights = TABLE.copy(), TARGET.copy(), np.ones(3)
    Dataset.of(X, y, weights)
    assert X.flags.writeable
    assert y.flags.writeable
    assert weights.flags.writeable
    np.testing.assert_array_equal(X, TABLE)


def test_a_dataset_cannot_be_changed() -> None:
    dataset = Dataset.of(TABLE, TARGET)
    with pytest.raises(dataclasses.FrozenInstanceError):
        dataset.y = TARGET  # type: ignore[misc]
    for array in (dataset.X, dataset.y, dataset.weights):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0.0


def test_datasets_may_be_compared_and_put_into_sets() -> None:
    dataset, other = Dataset.of(TABLE, TARGET), Dataset.of(TABLE, TARGET)
    assert dataset == dataset
    assert dataset != other
    assert len({dataset, dataset, other}) == 2


def test_deviation_and_total_weight_by_hand() -> None:
    dataset = Dataset.of(TABLE, [1.0, 3.0, 100.0], weights=[1.0, 3.0, 0.0])
    assert dataset.total_weight == 4.0
    assert dataset.deviation == pytest.approx(((1.0 * 1.5**2 + 3.0 * 0.5**2) / 4.0) ** 0.5)
    assert Dataset.of(TABLE, TARGET).deviation == pytest.approx(np.std(TARGET))


@given(y=st.floats(allow_nan=False, allow_infinity=False), rows=st.integers(1, 40))
@settings(max_examples=150, deadline=None)
def test_a_constant_y_has_no_deviation_at_all(y: float, rows: int) -> None:
    assert Dataset.of(np.zeros(rows + 1), [*[y] * rows, 5.0], [*[0.3] * rows, 0.0]).deviation == 0.0


@given(
    values=arrays(np.float64, st.tuples(st.integers(1, 6), st.integers(2, 4)), elements=st.floats(-1e6, 1e6)),
)
@settings(max_examples=100, deadline=None)
def test_a_pickled_dataset_is_the_same_and_still_read_only(values: npt.NDArray[np.float64]) -> None:
    dataset = Dataset.of(values[:, 1:], values[:, 0], names=[f"`{i}" for i in range(values.shape[1] - 1)])
    assert dataset.samples is dataset.samples
    restored = pickle.loads(pickle.dumps(dataset))
    assert restored.names == dataset.names
    for name in ("X", "y", "weights"):
        original, copy = getattr(dataset, name), getattr(restored, name)
        assert copy.tobytes() == original.tobytes()
        assert not copy.flags.writeable
    assert restored.deviation == dataset.deviation


def test_a_pickled_dataset_scores_as_before() -> None:
    population = Population.from_expressions([Expression.parse("x1 * x2", Library.of(["mul"], 2))])
    dataset = Dataset.of(TABLE, TARGET, weights=[1.0, 2.0, 3.0])
    expected = np.sum([1.0, 2.0, 3.0] * (TABLE[:, 0] * TABLE[:, 1] - TARGET) ** 2)
    for each in (dataset, pickle.loads(pickle.dumps(dataset))):
        assert evaluate(population, each).error[0] == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("scale", [1e-300, 1e-170, 1.0, 1e170, 1e300])
def test_deviation_scales_with_y_however_large_or_small(scale: float) -> None:
    y = np.array([1.0, 2.0, 4.0])
    assert Dataset.of(np.zeros(3), y * scale).deviation == pytest.approx(np.std(y) * scale, rel=1e-12)


@pytest.mark.parametrize("names", [["a", "a"], ["a", ""], ["a", 1]])
def test_columns_need_different_names(names: list[str]) -> None:
    with pytest.raises(DataError, match="`names` must be different texts"):
        Dataset.of(np.zeros((2, 2)), [1.0, 2.0], names=names)


# --- Noise -----------------------------------------------------------------------------------------------------------


def test_noise_has_the_deviation_asked_for_and_touches_y_only() -> None:
    x = np.linspace(-3.0, 3.0, 40_000)
    clean = Dataset.of(x, 5.0 + x, weights=np.where(x < 0.0, 1.0, 2.0), names=["time"])
    noisy = clean.with_noise(0.1, seed=0)
    added = noisy.y - clean.y
    rms = np.sqrt(np.average(clean.y**2, weights=clean.weights))
    assert added.std() == pytest.approx(0.1 * rms, rel=0.02)
    assert abs(added.mean()) < 0.02 * rms
    assert abs(np.corrcoef(added, x)[0, 1]) < 0.02
    assert np.mean(np.abs(added) < 0.1 * rms) == pytest.approx(0.6827, abs=0.01)
    np.testing.assert_array_equal(noisy.X, clean.X)
    np.testing.assert_array_equal(noisy.weights, clean.weights)
    assert noisy.names == ("time",)
    assert clean.y[0] == 2.0, "the data that noise was asked of are as they were"


def test_noise_is_a_function_of_its_seed_and_scales_with_its_level() -> None:
    clean = Dataset.of(TABLE, TARGET)
    first, again, other = (clean.with_noise(0.5, seed=seed).y for seed in (3, 3, 4))
    np.testing.assert_array_equal(first, again)
    assert not np.any(first == other)
    np.testing.assert_array_equal(clean.with_noise(0.0, seed=3).y, clean.y)
    np.testing.assert_allclose(clean.with_noise(1.0, seed=3).y - clean.y, 2.0 * (first - clean.y), rtol=1e-12)


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_noise_is_relative_however_large_or_small_y_is(scale: float) -> None:
    usual = Dataset.of(TABLE, TARGET).with_noise(0.1, seed=1)
    np.testing.assert_allclose(Dataset.of(TABLE, TARGET * scale).with_noise(0.1, seed=1).y, usual.y * scale, rtol=1e-12)
    assert Dataset.of(TABLE, np.zeros(3)).with_noise(0.1, seed=1).y.tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize(("level", "seed"), [(-0.1, 0), (np.nan, 0), (np.inf, 0), (0.1, -1)])
def test_noise_that_cannot_be_is_refused(level: float, seed: int) -> None:
    with pytest.raises(SettingsError, match="`level` and `seed` of noise must be at least 0, but they are"):
        Dataset.of(TABLE, TARGET).with_noise(level, seed=seed)
