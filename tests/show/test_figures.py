"""Pictures of one fit: marks are where the values put them, texts are apart, and no name is more than a text."""

from __future__ import annotations

import base64
import io
import itertools
import math
import pickle
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings

from strategies import NASTY_NAMES, expressions
from symseed import Expression, Library, SymbolicRegressor
from symseed.errors import DataError, SettingsError
from symseed.export import to_text
from symseed.language.row import Row
from symseed.language.tokens import TokenKind
from symseed.portfolio.progress import Moment
from symseed.show import figures as pictures
from symseed.show import style
from symseed.show.picture import Pictures

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Text

matplotlib = pytest.importorskip("matplotlib")

LIBRARY = Library.of(["add", "sub", "mul", "div", "sqrt", "square", "sin", "log", "inv", "const"], ["a", "b"])
HOSTILE = (
    "$a_1^2$",
    "$",
    r"\frac{1}{0}$\undefined$",
    "two\nlines",
    "日本",
    "🌍",
    "\u202eright",
    "\ud800",
    "\0",
    "x" * 10_000,
)


@dataclass(frozen=True)
class Shown:
    """A formula of a front, with nothing but what a picture may ask for."""

    expression: Expression
    complexity: int
    loss: float
    score: float = 0.0
    test_loss: float | None = None
    cv_loss: float | None = None
    weight: float | None = None

    @property
    def text(self) -> str:
        return to_text(self.expression)


def formula(text: str, library: Library = LIBRARY) -> Expression:
    return Expression.parse(text, library)


def front(*losses: float) -> list[Shown]:
    return [Shown(formula(" + ".join(["a"] * (i + 1))), 2 * i + 1, loss) for i, loss in enumerate(losses)]


def values(data: object) -> list[float]:
    return [float(value) for value in np.asarray(data, np.float64)]


def marks(axes: Axes, size: float | None = None) -> list[tuple[float, float]]:
    """Return where there are round marks, of a size where one is asked for."""
    lines = [line for line in axes.lines if line.get_marker() == "o" and size in (None, line.get_markersize())]
    return [pair for line in lines for pair in zip(values(line.get_xdata()), values(line.get_ydata()), strict=True)]


def texts(figure: Figure) -> list[Text]:
    from matplotlib.text import Text

    return [text for text in figure.findobj(Text) if isinstance(text, Text) and text.get_text()]


def drawn(figure: Figure) -> bytes:
    """Render a figure; warnings are errors."""
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=40)
    return file.getvalue()


def are_apart(figure: Figure, some: Sequence[Text]) -> bool:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.text import Text

    renderer = FigureCanvasAgg(figure).get_renderer()  # type: ignore[no-untyped-call]
    # The extent of an annotation alone would contain its line.
    boxes = [Text.get_window_extent(text, renderer) for text in some]
    return not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))


# --- The front -------------------------------------------------------------------------------------------------------


def test_the_front_is_a_step_through_the_formulas_at_powers_of_ten() -> None:
    (axes,) = pictures.plot_front(front(100.0, 1.0, 0.01)).axes
    assert marks(axes) == [(1.0, 2.0), (3.0, 0.0), (5.0, -2.0)]
    assert axes.lines[0].get_drawstyle() == "steps-post"
    labels = dict(zip(axes.get_yticks(), (label.get_text() for label in axes.get_yticklabels()), strict=True))
    assert labels == {-2.0: "0.01", -1.0: "0.1", 0.0: "1", 1.0: "10", 2.0: "100"}
    assert [text.get_text() for text in axes.texts] == ["a", "2*a", "3*a"]


def test_the_choice_is_marked_and_the_others_are_not() -> None:
    (axes,) = pictures.plot_front(front(100.0, 1.0, 0.01), 1).axes
    assert marks(axes, 9) == [(3.0, 0.0)]
    assert [text.get_color() == style.COLOURS[1] for text in axes.texts] == [False, True, False]
    (axes,) = pictures.plot_front(front(100.0, 1.0)).axes
    assert marks(axes, 9) == []


def test_a_loss_of_zero_stands_below_all_others_at_a_tick_that_says_so() -> None:
    (axes,) = pictures.plot_front(front(10.0, 1e-3, 0.0), 2).axes
    lowest = marks(axes, 9)[0][1]
    assert lowest < -3.0
    labels = dict(zip(axes.get_yticks(), (label.get_text() for label in axes.get_yticklabels()), strict=True))
    assert labels[lowest] == "0"
    assert list(labels.values()).count("0") == 1


@pytest.mark.parametrize(
    "losses",
    [(0.0,), (1e-300, 0.0), (5e-324,), (1.7e308, 1e-320), (3.0,), (3.0, 3.0), (0.00869, 0.00868), (math.nan,)],
)
def test_any_losses_can_be_drawn(losses: Sequence[float]) -> None:
    figure = pictures.plot_front(front(*losses), 0)
    assert drawn(figure)
    low, high = figure.axes[0].get_ylim()
    assert all(low < height < high for _, height in marks(figure.axes[0]))
    assert len(marks(figure.axes[0], 4.5)) == np.isfinite(losses).sum()


def test_a_formula_without_a_finite_loss_is_left_out_and_the_picture_says_so() -> None:
    figure = pictures.plot_front(front(1.0, math.inf, 0.1), 1)
    assert len(marks(figure.axes[0])) == 2
    assert "1 of 3 formulas have no finite loss" in [text.get_text() for text in texts(figure)]


def test_formulas_beside_a_crowded_front_are_apart_in_order_and_not_too_many() -> None:
    rows = [Shown(formula(f"{i}.5 * a"), i + 1, 1.0 - i * 1e-6, score=float(i)) for i in range(40)]
    figure = pictures.plot_front(rows, 3)
    labels = figure.axes[0].texts
    named = [text.get_text() for text in labels]
    assert len(named) == pictures.MOST_LABELS
    assert "3.5*a" in named, "the choice has its formula, however low its score"
    assert "39.5*a" in named
    assert are_apart(figure, labels)
    heights = [text.get_position()[1] for text in labels]
    assert heights == sorted(heights, reverse=True)


def test_numbers_of_a_formula_have_four_digits_and_a_long_one_is_clipped() -> None:
    (axes,) = pictures.plot_front([Shown(formula("a * 0.123456789"), 3, 1.0)]).axes
    assert axes.texts[0].get_text() == "0.1235*a"
    (axes,) = pictures.plot_front([Shown(formula(" + ".join(["a", "b"] * 50)), 199, 1.0)]).axes
    assert len(axes.texts[0].get_text()) == 36


def test_nothing_to_draw_or_no_such_choice_is_refused() -> None:
    with pytest.raises(DataError, match="at least one formula"):
        pictures.plot_front([])
    with pytest.raises(SettingsError, match="`chosen` must be from 0 to 1, but it is 2"):
        pictures.plot_front(front(1.0, 0.1), 2)
    with pytest.raises(DataError, match="at least one moment"):
        pictures.plot_convergence([])


# --- Convergence -----------------------------------------------------------------------------------------------------


def history(*losses: float, formulas: str = "abcdefgh") -> list[Moment]:
    return [
        Moment(seconds=float(i), charged=1_000 * i, loss=loss, formula=name)
        for i, (loss, name) in enumerate(zip(losses, formulas, strict=False))
    ]


def test_convergence_is_one_line_with_a_formula_wherever_the_choice_changed() -> None:
    (axes,) = pictures.plot_convergence(history(100.0, 10.0, 10.0, 0.1, formulas="abbc")).axes
    assert values(axes.lines[0].get_xdata()) == [0.0, 1.0, 2.0, 3.0]
    assert values(axes.lines[0].get_ydata()) == pytest.approx([2.0, 1.0, 1.0, -1.0])
    assert marks(axes, 4.5) == [(0.0, 2.0), (1.0, 1.0), (3.0, -1.0)]
    assert marks(axes, 9) == [(3.0, -1.0)]
    assert [text.get_text() for text in axes.texts] == ["a", "b", "c"]


def test_convergence_is_drawn_against_formulas_where_asked() -> None:
    (axes,) = pictures.plot_convergence(history(100.0, 10.0), against="charged").axes
    assert marks(axes, 4.5) == [(0.0, 2.0), (1_000.0, 1.0)]
    assert axes.get_xlabel() == "formulas tried"
    with pytest.raises(SettingsError, match="`against` must be 'seconds' or 'charged', but it is 'steps'"):
        pictures.plot_convergence(history(1.0), against="steps")  # type: ignore[arg-type]


def test_any_history_can_be_drawn() -> None:
    for losses in [(0.0,), (math.nan,), (math.inf, 1.0, 0.0), (1.0, 2.0, 1.0)]:
        figure = pictures.plot_convergence(history(*losses))
        assert drawn(figure)
        assert len(marks(figure.axes[0], 4.5)) == np.isfinite(losses).sum()
    wide = [Moment(seconds=10.0**i, charged=i, loss=1.0, formula=f"{i}" * 100) for i in range(-3, 4)]
    figure = pictures.plot_convergence(wide)
    assert figure.axes[0].get_xscale() == "log"
    assert are_apart(figure, figure.axes[0].texts)


# --- Data and formula ------------------------------------------------------------------------------------------------


def test_a_formula_of_one_variable_is_drawn_against_it_with_residuals_below() -> None:
    X = np.array([[1.0, 9.0], [2.0, 9.0], [4.0, 9.0]])
    upper, lower = pictures.plot_fit(formula("square(a)"), X, [1.5, 4.0, 15.0], target="t", units={"a": "m"}).axes
    assert marks(upper) == [(1.0, 1.5), (2.0, 4.0), (4.0, 15.0)]
    assert marks(lower) == [(1.0, 0.5), (2.0, 0.0), (4.0, -1.0)]
    curve = next(line for line in upper.lines if line.get_label() == "formula")
    x, y = np.asarray(curve.get_xdata()), np.asarray(curve.get_ydata())
    assert (x.min(), x.max()) == (1.0, 4.0)
    assert np.allclose(y, x**2)
    assert len(x) > 100
    assert (lower.get_xlabel(), upper.get_ylabel(), lower.get_ylabel()) == ("a (m)", "t", "residual")
    assert upper.get_xlim() == lower.get_xlim()


def test_a_model_names_the_axis_after_the_series_that_it_is_given() -> None:
    X, y = np.linspace(1, 2, 8).reshape(-1, 1), np.linspace(2, 4, 8)
    model = SymbolicRegressor(max_evals=100, random_state=0).fit(X, y)
    assert model.plot_fit(X, pd.Series(y, name="speed")).axes[0].get_ylabel() == "speed"
    assert model.plot_fit(X, y).axes[0].get_ylabel() == "y"


def test_a_formula_of_several_variables_is_drawn_as_measured_against_predicted() -> None:
    X = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 5.0]])
    upper, lower = pictures.plot_fit(formula("a + b"), X, [3.5, 7.0, 9.0], target="t").axes
    assert marks(upper) == [(3.0, 3.5), (7.0, 7.0), (10.0, 9.0)]
    assert marks(lower) == [(3.0, 0.5), (7.0, 0.0), (10.0, -1.0)]
    diagonal = next(line for line in upper.lines if line.get_label() == "formula")
    assert values(diagonal.get_xdata()) == values(diagonal.get_ydata())
    assert lower.get_xlabel() == "t, by the formula"


def test_values_over_many_sizes_are_on_logarithmic_axes_and_even_ones_are_not() -> None:
    x = np.geomspace(0.1, 1_000.0, 20)
    library = Library.of(["mul", "const"], ["a"])
    upper, lower = pictures.plot_fit(formula("2.0 * a", library), x, 2 * x).axes
    assert [upper.get_xscale(), upper.get_yscale(), lower.get_yscale()] == ["log", "log", "linear"]
    upper, _ = pictures.plot_fit(formula("2.0 * a", library), np.linspace(0.0001, 10, 50), np.ones(50)).axes
    assert [upper.get_xscale(), upper.get_yscale()] == ["linear", "linear"]


def test_many_rows_are_drawn_as_a_density_of_all_of_them_and_the_picture_says_so() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5_000, 2))
    figure = pictures.plot_fit(formula("a + b"), X, X.sum(axis=1) + rng.normal(size=5_000))
    for axes in figure.axes:
        assert marks(axes) == []
        (density,) = axes.collections
        counts = density.get_array()
        assert counts is not None
        assert counts.sum() == 5_000
    assert any("5,000 samples drawn as a density" in text.get_text() for text in texts(figure))


def test_rows_without_a_value_are_left_out_and_the_picture_says_how_many() -> None:
    X = np.array([[-1.0, 0.0], [1.0, 0.0], [math.nan, 0.0], [2.0, 0.0]])
    figure = pictures.plot_fit(formula("log(a)"), X, [0.0, 0.0, 0.0, math.inf])
    assert marks(figure.axes[0]) == [(1.0, 0.0)]
    assert "3 samples without a finite value left out" in [text.get_text() for text in texts(figure)]


def test_a_curve_is_broken_at_a_pole() -> None:
    x = np.array([-2.0, -1.0, 1.0, 2.0])
    upper = pictures.plot_fit(formula("inv(a)", Library.of(["inv"], ["a"])), x, 1 / x).axes[0]
    curve = next(line for line in upper.lines if line.get_label() == "formula")
    y = np.asarray(curve.get_ydata())
    low, high = upper.get_ylim()
    assert np.isnan(y).sum() == 1
    assert not any(one < low and other > high for one, other in itertools.pairwise(y))


@pytest.mark.parametrize(
    ("text", "x", "y"),
    [
        ("a", [1.0], [2.0]),
        ("a", [0.0], [0.0]),
        ("3.0", [1.0, 2.0], [3.0, 3.0]),
        ("a * 1e300", [-1e8, 1e8], [-1e308, 1e308]),
        ("a", [-1.7e308, 1.7e308], [1.7e308, -1.7e308]),
        ("a", [5e-324, 1e-310], [1e-320, 5e-324]),
        ("a", [1e-200, 1.0, 1e200], [1e-200, 1.0, 1e200]),
        ("a", [1e16, 1e16 + 2], [1e16, 1e16 + 2]),
        ("log(a)", [-1.0, -2.0], [1.0, 2.0]),
    ],
)
def test_any_data_can_be_drawn(text: str, x: list[float], y: list[float]) -> None:
    library = Library.of(["mul", "log", "const"], ["a"])
    assert drawn(pictures.plot_fit(formula(text, library), x, y))


def test_data_of_another_length_are_refused() -> None:
    with pytest.raises(DataError, match=r"`y` must have one value for each sample of `X`, but its shape is \(2,\)"):
        pictures.plot_fit(formula("a"), np.ones((3, 2)), [1.0, 2.0])


# --- The tree --------------------------------------------------------------------------------------------------------


def test_a_tree_has_signs_numbers_of_four_digits_and_names() -> None:
    (axes,) = pictures.plot_tree(formula("sqrt(a) * -1.23456789 + square(b)")).axes
    assert [text.get_text() for text in axes.texts] == ["+", "×", "√", "a", "−1.235", "(·)²", "b"]
    # Each node but the root hangs on one line.
    assert len(axes.lines) == 6


def test_an_upright_tree_has_arguments_below_in_their_order() -> None:
    (axes,) = pictures.plot_tree(formula("a - b")).axes
    (x, y), (left, first), (right, second) = (text.get_position() for text in axes.texts)
    assert left < x < right
    assert x == pytest.approx((left + right) / 2)
    assert first == second < y


@settings(max_examples=20, deadline=None)
@given(expressions(max_length=60))
def test_no_two_nodes_of_a_tree_touch_and_parents_stand_amid_their_arguments(expression: Expression) -> None:
    figure = pictures.plot_tree(expression)
    (axes,) = figure.axes
    assert len(axes.texts) == len(expression)
    places = np.array([text.get_position() for text in axes.texts])
    waiting: list[int] = []
    for place in reversed(range(len(expression))):
        arguments = [waiting.pop() for _ in range(expression.tokens[place].arity)]
        waiting.append(place)
        if arguments:
            middle = places[arguments].mean(axis=0)
            # Upright: as far left as the middle; lying: as high.
            assert np.isclose(middle, places[place], atol=1e-6).any()
    assert are_apart(figure, axes.texts)
    assert drawn(figure)


def test_a_wide_tree_lies_with_its_root_on_the_left() -> None:
    text = "a"
    for _ in range(5):
        text = f"({text}) + sin({text})"
    figure = pictures.plot_tree(formula(text))
    (axes,) = figure.axes
    root = axes.texts[0].get_position()
    assert len(axes.texts) >= 90
    assert root[0] == min(text.get_position()[0] for text in axes.texts)
    assert are_apart(figure, axes.texts)
    width, height = figure.get_size_inches()
    assert width < 12
    assert height < 12


# --- Names and state -------------------------------------------------------------------------------------------------


def test_no_name_is_read_as_mathematics_or_breaks_a_picture() -> None:
    names = list(dict.fromkeys([*HOSTILE, *NASTY_NAMES]))
    library = Library.of(["add"], names)
    (add,) = library.ids_of_kind(TokenKind.OPERATOR)
    ids = list(itertools.chain(*((add, i) for i in range(len(names) - 1)), [len(names) - 1]))
    rows = [Shown(Expression(library, Row((i,), (math.nan,))), 1 + i, 1.0) for i in range(len(names))]
    table = np.arange(2.0 * len(names)).reshape(2, -1)
    figures = [
        pictures.plot_tree(Expression(library, Row(tuple(ids), (math.nan,) * len(ids)))),
        *(pictures.plot_front(rows[i : i + pictures.MOST_LABELS]) for i in range(0, len(rows), pictures.MOST_LABELS)),
        *(
            pictures.plot_fit(rows[i].expression, table, [1.0, 2.0], target=name, units={name: name})
            for i, name in enumerate(HOSTILE)
        ),
        pictures.plot_convergence([Moment(seconds=1.0, charged=1, loss=1.0, formula=name) for name in HOSTILE]),
    ]
    for figure in figures:
        assert drawn(figure)
        assert not any(text.get_parse_math() or text.get_usetex() for text in texts(figure))
        assert all(len(text.get_text()) <= 80 and "\n" not in text.get_text() for text in texts(figure))
    assert [text.get_text() for text in figures[0].axes[0].texts[1:4:2]] == ["$a_1^2$", "$"]


def test_a_name_keeps_what_can_be_drawn_and_shows_what_cannot() -> None:
    assert style.label("Größe  µ\n²", 20) == "Größe µ ²"
    assert style.label("a\u202eb\0", 20) == "a□b□"
    assert style.label("abcdef", 4) == "abc…"
    assert style.label(" ", 4) == "□"


def test_a_font_that_is_installed_is_asked_for_what_the_first_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    from matplotlib import font_manager

    def known(name: str) -> set[int]:
        return set(font_manager.get_font(font_manager.findfont(name)).get_charmap())

    lacking = next(chr(code) for code in sorted(known("STIXGeneral") - known("DejaVu Sans")) if chr(code).isprintable())
    assert style.label(lacking, 4) == "□"
    monkeypatch.setattr(style, "_OTHER_FONTS", ("No Such Font", "STIXGeneral"))
    assert style.label(lacking, 4) == lacking
    library = Library.of([], [lacking])
    assert drawn(pictures.plot_tree(Expression(library, Row((0,), (math.nan,)))))


def test_the_same_values_give_the_same_picture() -> None:
    assert drawn(pictures.plot_front(front(1.0, 0.1), 1)) == drawn(pictures.plot_front(front(1.0, 0.1), 1))
    assert drawn(pictures.plot_tree(formula("a + b"))) == drawn(pictures.plot_tree(formula("a + b")))


def test_a_users_own_settings_change_neither_texts_nor_are_changed() -> None:
    with matplotlib.rc_context({"text.usetex": True, "font.size": 30, "axes.formatter.use_mathtext": True}):
        before = dict(matplotlib.rcParams)
        figure = pictures.plot_fit(formula("a * b"), [[1.0, 1.0], [2.0, 3.0]], [1.0, 6.0])
        assert dict(matplotlib.rcParams) == before
        assert drawn(figure)
        assert not any(text.get_usetex() or float(text.get_fontsize()) > 10 for text in texts(figure))


def test_without_matplotlib_the_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(SettingsError, match="Run `pip install matplotlib`"):
        pictures.plot_tree(formula("a"))


def test_drawing_does_not_load_pyplot() -> None:
    script = (
        "import sys\n"
        "from symseed import Expression, Library\nfrom symseed.show import figures as pictures\n"
        "assert 'matplotlib' not in sys.modules\n"
        "pictures.plot_tree(Expression.parse('a', Library.of([], ['a'])))\n"
        "assert 'matplotlib.figure' in sys.modules\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_convergence_ends_with_what_was_chosen_in_the_end() -> None:
    history = [Moment(seconds=1.0, charged=10, loss=714.7, formula="0.5013*a")]
    (axes,) = pictures.plot_convergence(history, Shown(formula("0.5 * a"), 3, 727.6)).axes
    marked = axes.texts[-1]
    assert marked.get_text() == "a/2"
    assert [text.get_text() for text in axes.texts] == ["0.5013*a", "a/2"]


def test_a_picture_is_shown_by_a_notebook_that_knows_nothing_of_matplotlib() -> None:
    figure = pictures.plot_tree(formula("a * b + 2.0"))
    assert isinstance(figure, matplotlib.figure.Figure)
    png, size = figure._repr_png_()
    assert png.startswith(b"\x89PNG")
    width, height = (int.from_bytes(png[place : place + 4], "big") for place in (16, 20))
    # Twice as many pixels as the size on the page, but for a fraction of a pixel.
    assert abs(width - 2 * size["width"]) <= 1
    assert abs(height - 2 * size["height"]) <= 1
    shown = Pictures([figure, figure])._repr_html_()
    assert shown.count("<img ") == shown.count(base64.b64encode(png).decode()) == 2


def test_a_picture_can_be_pickled_and_is_still_one() -> None:
    figure = pickle.loads(pickle.dumps(pictures.plot_front(front(1.0, 0.1), 1)))
    assert figure._repr_png_()[0].startswith(b"\x89PNG")
