"""Structure by evidence: combinations and factors that the data have are found, others are not, and formulas return."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symseed import DataError, Dataset, Expression, Library, SettingsError
from symseed.arrays import Floats
from symseed.language import Row, Writer
from symseed.space import Dimensions
from symseed.structure import Candidate, Column, Kind, Reduction, Step, Structure, StructureSettings, Values, find
from symseed.structure.moves import Moves
from symseed.structure.process import Metric, fitted, scored, standard
from symseed.structure.rows import spread_rows
from symseed.structure.symmetries import further

OPERATORS = ["add", "sub", "mul", "div", "square", "sqrt", "exp", "log", "const"]
FEW = StructureSettings(rows=80, more_rows=120, judged_rows=120, scored_rows=60)


def drawn(text: str, names: str, *, noise: float = 0.01, rows: int = 200, seed: int = 0) -> tuple[Dataset, Writer]:
    columns = names.split()
    library = Library.of(OPERATORS, columns)
    X = np.random.default_rng(seed).uniform(1.0, 4.0, (rows, len(columns)))
    y = Expression.parse(text, library).evaluate(X)
    return Dataset.of(X, y, names=columns).with_noise(noise, seed=seed + 1), Writer(library)


def found(data: Dataset, writer: Writer, own: StructureSettings = FEW, **more: object) -> Structure:
    structure = find(data, writer, own, seed=0, **more)  # type: ignore[arg-type]
    assert structure is not None
    return structure


def words(candidate: Candidate, writer: Writer) -> tuple[str, set[str]]:
    plain = candidate.reduction.plain
    return str(plain.target(writer, "y")), {str(Expression(writer.library, column.row)) for column in plain.columns}


# --- Processes -------------------------------------------------------------------------------------------------------


def test_a_process_knows_which_column_matters_and_how_large_the_noise_is() -> None:
    rng = np.random.default_rng(0)
    inputs = rng.normal(size=(2, 120))
    process = fitted(inputs, np.sin(2.0 * inputs[0]) + 0.1 * rng.normal(size=120))
    assert process.scales[0] < 2.0 < 10.0 < process.scales[1]
    assert 0.07 < process.noise_deviation < 0.14
    points = rng.uniform(-1.5, 1.5, (2, 50))
    posterior = process.predicted(points)
    assert np.abs(posterior.mean - np.sin(2.0 * points[0])).max() < 0.2
    assert (np.abs(posterior.mean - np.sin(2.0 * points[0])) < 4.0 * posterior.deviation).all()
    errors = (process.left_out().mean - process.goal) / process.left_out().deviation
    assert 0.7 < errors.std() < 1.3


def test_fitting_climbs_and_more_evaluations_climb_higher() -> None:
    rng = np.random.default_rng(1)
    inputs = rng.normal(size=(3, 60))
    goal = inputs[0] * inputs[1] + 0.1 * rng.normal(size=60)
    begin = (np.full(3, 2.0), 0.1)
    values = [fitted(inputs, goal, begin=begin, evaluations=count).log_evidence for count in (1, 4, 30)]
    assert values[0] == scored(inputs, goal, np.ones(60), *begin)
    assert values[0] < values[1] < values[2]


def test_a_process_without_a_row_for_each_value_is_refused() -> None:
    with pytest.raises(DataError, match="shapes"):
        fitted(np.zeros((2, 5)), np.zeros(4))
    with pytest.raises(DataError, match="smallest factor"):
        fitted(np.zeros((1, 3)), np.zeros(3), np.array([1.0, 0.0, 1.0]))


def test_columns_are_measured_in_units_of_their_spread_and_by_logarithms_where_that_is_less_skewed() -> None:
    even, steep = np.linspace(-3.0, 5.0, 9), 10.0 ** np.linspace(-4.0, 4.0, 9)
    columns = np.stack([even, steep, -steep, np.full(9, 7.0), 1e300 * even])
    metric = Metric.of(columns)
    assert metric.are_logs == (False, True, True, False, False)
    scaled = standard(columns)
    np.testing.assert_allclose(scaled.mean(axis=1), 0.0, atol=1e-12)
    np.testing.assert_allclose(scaled.std(axis=1), [1.0, 1.0, 1.0, 0.0, 1.0], rtol=1e-12)
    np.testing.assert_allclose(metric.scaled(columns[:, ::-1]), scaled[:, ::-1])
    np.testing.assert_allclose(scaled[4], scaled[0], rtol=1e-12)


def test_rows_are_spread_and_any_start_of_them_is_spread() -> None:
    X = np.random.default_rng(0).normal(size=(500, 2)) ** 3
    rows = spread_rows(X, 60, seed=0)
    assert len(set(rows.tolist())) == 60
    np.testing.assert_array_equal(spread_rows(X, 20, seed=0), rows[:20])
    assert (spread_rows(X, 20, seed=1) != rows[:20]).any()
    assert len(spread_rows(X[:7], 60, seed=0)) == 7

    def gap(some: Floats) -> float:
        ranks = some.argsort(axis=0).argsort(axis=0) if len(some) == 500 else some
        far = np.abs(ranks[:, None] - ranks[None]).sum(axis=2) + 1e9 * np.eye(len(ranks))
        return float(far.min(axis=1).mean())

    places = X.argsort(axis=0).argsort(axis=0).astype(float)
    assert gap(places[rows[:20]]) > 1.3 * gap(places[np.random.default_rng(0).permutation(500)[:20]])


# --- Moves -----------------------------------------------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.lists(st.integers(0, 10_000), min_size=1, max_size=4))
def test_a_move_s_formulas_have_its_values_and_its_steps_can_be_undone(seed: int, choices: list[int]) -> None:
    data, writer = drawn("a + b*c*d", "a b c d", rows=12, seed=seed)
    reduction = Reduction(tuple(Column(writer.variable(i)) for i in range(4)))
    values = Values(np.ascontiguousarray(data.X.T), data.y, np.ones(12))
    moves = Moves(writer, tuple(Kind))
    for choice in choices:
        every = [*moves.of(reduction, values), *further(writer, tuple(Kind), reduction, values)]
        if not every:
            break  # one column is left, and the target was turned
        move = every[choice % len(every)]
        assert len(move.parents) == len(move.reduction.columns) == len(move.values.columns)
        reduction, values = move.reduction, move.values
    again = reduction.values(writer, data)
    np.testing.assert_allclose(again.columns, values.columns, rtol=1e-12)
    np.testing.assert_allclose(again.target, values.target, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(again.slope, values.slope, rtol=1e-9)
    # y itself comes back from the target after the steps.
    library = Library((*Library.of([], ["u1"]).tokens, *writer.library.tokens[4:]))
    wide = Writer(Library((*writer.library.tokens, dataclasses.replace(library[0], name="t", column=4))))
    as_it_is = dataclasses.replace(reduction, columns=(Column(wide.variable(4)),))
    row = as_it_is.restored(wide, Row.leaf(0), library)
    table = np.concatenate([data.X, values.target[:, None]], axis=1)
    np.testing.assert_allclose(Expression(wide.library, row).evaluate(table), data.y, rtol=1e-6, atol=1e-6)


def test_units_forbid_sums_of_metres_and_seconds() -> None:
    data, writer = drawn("a + b*c*d", "a b c d", rows=12)
    values = Values(np.ascontiguousarray(data.X.T), data.y, np.ones(12))
    units = Dimensions.of(["a", "b", "c", "d"], ["m", "s", "m/s", "1"], "m")
    start = Reduction(
        tuple(Column(writer.variable(i), dimension) for i, (_, dimension) in enumerate(units.variables)),
        dimension=units.target,
    )
    free = Reduction(tuple(Column(writer.variable(i)) for i in range(4)))
    every = [*Moves(writer, (Kind.FUSE, Kind.PEEL)).of(start, values)]
    sums = [
        str(Expression(writer.library, move.reduction.columns[-1].row))
        for move in every
        if move.kind is Kind.FUSE and writer.library[move.reduction.columns[-1].row.ids[0]].name in ("add", "sub")
    ]
    assert sums == []
    terms = [move for move in every if move.kind is Kind.PEEL and move.reduction.steps[-1].name in ("add", "sub")]
    assert {move.reduction.steps[-1].part for move in terms} == {writer.variable(0)}
    speeds = [move for move in every if str(move.reduction.columns[-1].dimension) == "m"]
    assert len(speeds) > 0
    assert len(every) < len([*Moves(writer, (Kind.FUSE, Kind.PEEL)).of(free, values)])
    shifts = [
        str(Expression(writer.library, move.reduction.columns[-1].row))
        for move in further(writer, (Kind.SHIFT,), start, values)
    ]
    assert set(shifts) == {
        f"{a} {sign} {b}" for a, b in [("a", "b * c"), ("b", "a / c"), ("c", "a / b")] for sign in "+-"
    }
    assert len(shifts) == 12  # either one of the product or ratio is kept
    assert {*shifts, "a - c / b", "d - a * c"} <= {
        str(Expression(writer.library, move.reduction.columns[-1].row))
        for move in further(writer, (Kind.SHIFT,), free, values)
    }


def test_scaling_leaves_a_column_out_and_knows_the_units_of_what_stays() -> None:
    data, writer = drawn("a + b*c", "a b c", rows=12)
    units = Dimensions.of(["a", "b", "c"], ["m", "s", "m/s"], "m")
    start = Reduction(
        tuple(Column(writer.variable(i), dimension) for i, (_, dimension) in enumerate(units.variables)),
        dimension=units.target,
    )
    values = Values(np.ascontiguousarray(data.X.T), data.y, np.ones(12))
    scaled = [*further(writer, (Kind.SCALE,), start, values)]
    told = {
        (str(move.reduction.target(writer, "y")), *sorted(str(Expression(writer.library, c.row)) for c in own)): own
        for move in scaled
        for own in [move.reduction.columns]
    }
    assert all(len(move.reduction.columns) == 2 for move in scaled)
    both = told["y / a", "b / a", "c / a"]
    assert {str(column.dimension) for column in both} == {"s/m", "1/s"}
    assert ("y / a^2", "b * a", "c") in told or ("y / (a * a)", "b * a", "c") in told or len(told) > 50


def test_what_the_library_cannot_write_is_not_tried() -> None:
    data, _ = drawn("a + b*c*d", "a b c d", rows=12)
    writer = Writer(Library.of(["add", "mul", "const"], ["a", "b", "c", "d"]))
    values = Values(np.ascontiguousarray(data.X.T), data.y, np.ones(12))
    start = Reduction(tuple(Column(writer.variable(i)) for i in range(4)))
    moves = [*Moves(writer, tuple(Kind)).of(start, values)]
    assert {step.name for move in moves for step in move.reduction.steps} <= {"div", "sub"}
    assert {writer.library[i].name for move in moves for i in move.reduction.columns[-1].row.ids} <= {
        *("a", "b", "c", "d", "add", "mul")
    }


# --- The search ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "names", "kind"),
    [
        ("(a - b*c)/sqrt(1 + square(b))", "a b c", Kind.SHIFT),  # y / (a - b c) of b
        ("sqrt(square(a) + square(b) - a*b)*c", "a b c", Kind.SCALE),  # y / (a c) of b / a
    ],
)
def test_laws_in_which_no_pair_of_columns_stands_together_are_reduced(text: str, names: str, kind: Kind) -> None:
    data, writer = drawn(text, names)
    best = found(data, writer).candidates[0]
    assert kind in best.kinds
    assert len(best.reduction.columns) <= 2
    without = dataclasses.replace(FEW, kinds=tuple(other for other in Kind if other is not kind))
    others = found(data, writer, without)
    assert not others.candidates or len(others.candidates[0].reduction.columns) > len(best.reduction.columns)
    assert all(kind not in candidate.kinds for candidate in others.candidates)


def test_a_sum_of_three_squares_is_one_column() -> None:
    squares = "(square(a) + square(b) + square(c))"
    data, writer = drawn(f"{squares}*exp(0 - {squares}/9)", "a b c")
    (column,) = words(found(data, writer).candidates[0], writer)[1]
    assert column.count("square") == 3


def test_strong_noise_is_judged_on_more_rows() -> None:
    """Of 120 rows with a noise of 20 %, a wrong sum has the greater evidence; of 400, the right one has."""
    data, writer = drawn("a*sqrt(square(b) + square(c) + square(d))", "a b c d", noise=0.2, rows=600, seed=4)
    few, more = (found(data, writer, dataclasses.replace(FEW, judged_rows=count)) for count in (120, 400))
    assert more.evaluations > few.evaluations
    (column,) = words(more.candidates[0], writer)[1]
    assert column.count("square") == 3
    assert words(few.candidates[0], writer)[1] != {column}


def test_a_row_without_a_logarithm_leaves_the_others() -> None:
    """Noise makes y negative at one of the many rows, so that a logarithm that served on the few has no value there."""
    data, writer = drawn("a*exp(b*c)", "a b c", noise=0.001, rows=600)
    y = np.abs(data.y)
    y[spread_rows(data.X, 400, seed=0)[300]] = -0.1
    data = data.with_samples(data.X, y, data.weights)
    best = found(data, writer, dataclasses.replace(FEW, judged_rows=400, strong_noise=0.0)).candidates[0]
    assert Kind.TURN in best.kinds
    assert np.isfinite(best.evidence)
    assert words(best, writer) in (("y / a", {"b * c"}), ("y / a", {"c * b"}))


@pytest.mark.parametrize("noise", [0.0, 0.01, 0.1])
def test_factors_and_a_ratio_are_found(noise: float) -> None:
    data, writer = drawn("a*exp(0 - b/c)", "a b c", noise=noise)
    best = found(data, writer).candidates[0]
    target, columns = words(best, writer)
    assert target == "y / a"
    assert columns in ({"b / c"}, {"c / b"})
    assert best.kinds.count(Kind.FUSE) == 1


def test_a_distance_is_found() -> None:
    data, writer = drawn("sqrt(square(a - b) + square(c - d))", "a b c d")
    (columns,) = [words(found(data, writer).candidates[0], writer)[1]]
    assert len(columns) == 1
    inner = columns.pop()
    assert {"a - b", "b - a"} & {inner[8:13], inner[-6:-1]} or "a - b" in inner
    assert "c - d" in inner or "d - c" in inner


def test_a_column_without_effect_is_dropped() -> None:
    data, writer = drawn("sin1*b/(1 + b)".replace("sin1", "2"), "a b c")
    target, columns = words(found(data, writer).candidates[0], writer)
    assert target == "y"
    assert columns == {"b"}


def test_columns_that_cannot_be_fused_stay() -> None:
    """(u + v) / (1 + u v): every pair stands in more than one combination."""
    data, writer = drawn("(a + b)/(1 + a*b)", "a b")
    assert found(data, writer).candidates == ()


def test_a_reduction_gains_evidence_and_its_cost_is_told() -> None:
    data, writer = drawn("a*b/c", "a b c")
    structure = found(data, writer)
    assert structure.candidates[0].evidence > structure.first_evidence
    assert structure.rows == 80
    assert 100 < structure.evaluations < 2_000
    assert found(data, writer) == structure


def test_strong_noise_gets_more_rows() -> None:
    data, writer = drawn("a*b/c", "a b c", noise=0.3)
    assert found(data, writer).rows == 120


def test_a_target_with_far_tails_is_reduced_until_it_has_none() -> None:
    rng = np.random.default_rng(0)
    X = np.exp(rng.normal(0.0, 1.2, (900, 3)))
    X = X[(np.abs(X - X.mean(axis=0)) < 8.0 * X.std(axis=0)).all(axis=1)]
    y = X[:, 0] ** 2 * X[:, 1] ** 2 / (1.0 + X[:, 2])
    data = Dataset.of(X, y, names=["a", "b", "c"])
    assert np.abs(y - y.mean()).max() > 15.0 * y.std()
    best = found(data, Writer(Library.of(OPERATORS, ["a", "b", "c"]))).candidates[0]
    assert len(best.reduction.columns) == 1


def test_rows_of_small_weight_may_be_far_off() -> None:
    data, writer = drawn("a*exp(0 - b/c)", "a b c")
    is_bad = np.arange(len(data)) % 4 == 0
    y = np.where(is_bad, data.y + 3.0 * np.sin(1e4 * data.X[:, 0]), data.y)
    weighed = data.with_samples(data.X, y, np.where(is_bad, 1e-5, 1.0))
    assert words(found(weighed, writer).candidates[0], writer)[0] == "y / a"
    best = found(weighed.with_samples(data.X, y), writer).candidates
    assert not best or best[0].evidence < found(weighed, writer).candidates[0].evidence - 50.0


def test_each_kind_of_move_is_left_out_where_the_settings_say_so() -> None:
    data, writer = drawn("a*exp(0 - b/c)", "a b c")
    for kind in (Kind.FUSE, Kind.PEEL):
        own = dataclasses.replace(FEW, kinds=tuple(other for other in Kind if other is not kind))
        structure = found(data, writer, own)
        assert all(kind not in candidate.kinds for candidate in structure.candidates)


def test_a_search_that_is_late_ends_with_what_it_has() -> None:
    data, writer = drawn("a*b/c", "a b c")
    questions = itertools.count()
    structure = found(data, writer, is_late=lambda: next(questions) > 3)
    assert structure.evaluations < 200
    assert found(data, writer, is_late=lambda: True).candidates == ()


def test_data_on_which_it_cannot_be_sought_have_no_structure() -> None:
    data, writer = drawn("a*b", "a b", rows=39)
    assert find(data, writer, FEW, seed=0) is None
    data, writer = drawn("a*b", "a b")
    assert find(data, writer, dataclasses.replace(FEW, most_columns=1), seed=0) is None
    flat = data.with_samples(data.X, np.ones(len(data)))
    assert find(flat, writer, FEW, seed=0) is None


def test_settings_that_cannot_run_are_refused() -> None:
    with pytest.raises(SettingsError, match="rows"):
        StructureSettings(rows=1)
    with pytest.raises(SettingsError, match="width"):
        StructureSettings(width=0)


@pytest.mark.parametrize("size", [1e-300, 1e-160, 1e160, 1e300])
def test_data_near_the_ends_of_float64_do_no_harm(size: float) -> None:
    data, writer = drawn("a*b/c", "a b c")
    large = data.with_samples(data.X * np.array([size, 1.0, 1.0]), data.y, data.weights)
    found_ = [find(large, writer, FEW, seed=0), find(data.with_samples(data.X, data.y * size), writer, FEW, seed=0)]
    for structure in found_:
        assert structure is None or all(np.isfinite(candidate.evidence) for candidate in structure.candidates)


def test_a_library_that_can_hardly_write_anything_is_enough() -> None:
    data, _ = drawn("a + b", "a b c")
    for operators in (["sub", "const"], ["sin", "const"], ["add", "const"]):
        writer = Writer(Library.of(operators, ["a", "b", "c"]))
        assert find(data, writer, FEW, seed=0) is not None


def test_a_step_is_told_as_one_quotient() -> None:
    _, writer = drawn("a*b/c", "a b c")
    a, b, c = (writer.variable(i) for i in range(3))
    reduction = Reduction((Column(c),), (Step("div", a), Step("div", b), Step("sub", c), Step("log")))
    assert str(reduction.target(writer, "y")) == "log(y / (a * b) - c)"
    assert str(reduction.plain.target(writer, "y")) == "y / (a * b) - c"
