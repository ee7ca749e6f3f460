"""Pictures: marks are where the records put them, and what cannot be drawn is said."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from symseed.benchmarks import plots, report
from symseed.benchmarks.execution import failed
from symseed.benchmarks.store import FILE, RunKey, RunRecord
from symseed.errors import SettingsError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

pytest.importorskip("matplotlib")

PLOTS = {plot.name: plot for plot in plots.PLOTS}


def runs(problem: str, method: str, recovered: int, count: int = 5, *, charged: int = 1_000) -> list[RunRecord]:
    """Hold runs, each with more expressions and time than the one before; the first few recover their target."""
    return [
        replace(
            failed(RunKey(problem, method, seed), ""),
            verdict="exact" if seed < recovered else "no",
            charged=charged * (seed + 1) if seed < recovered else 2_000_000,
            cpu_seconds=0.5 * (seed + 1),
        )
        for seed in range(count)
    ]


def everywhere(method: str, recovered: int) -> list[RunRecord]:
    return [record for problem in report.problems_of("all") for record in runs(problem, method, recovered)]


def draw(name: str, records: Sequence[RunRecord], shown: Sequence[str] = ()) -> Figure:
    figure = PLOTS[name].draw(records, shown)
    assert figure is not None
    return figure


def values(data: object) -> tuple[float, ...]:
    return tuple(np.asarray(data, np.float64).tolist())


def points(axes: Axes, marker: str) -> list[tuple[float, float]]:
    """Return where an axes has marks of a kind."""
    lines = [line for line in axes.lines if line.get_marker() == marker]
    return [pair for line in lines for pair in zip(values(line.get_xdata()), values(line.get_ydata()), strict=True)]


def test_a_problems_dot_is_at_its_rate_and_the_papers_mark_at_the_papers() -> None:
    records = [*runs("Livermore-9", "nggp", 2), *runs("Nguyen-12*", "nggp", 1)]
    (axes,) = draw("recovery-by-problem", records).axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["Nguyen-12*", "Livermore-9"]
    assert sorted(points(axes, "o")) == [(20.0, 0.0), (40.0, 1.0)]
    assert sorted(points(axes, "D")) == [(12.0, 0.0), (24.0, 1.0)]
    assert report.wilson(2, 5) in [values(line.get_xdata()) for line in axes.lines]


def test_every_method_has_a_panel_and_they_are_compared_on_problems_that_all_have() -> None:
    records = [*runs("R-1*", "nggp", 1), *runs("R-2*", "nggp", 1), *runs("R-2*", "dsr", 2), *runs("R-2*", "mine", 3)]
    figure = draw("recovery-by-problem", records)
    assert [axes.get_title().splitlines()[0] for axes in figure.axes] == ["nggp", "dsr", "mine"]
    assert [points(axes, "o") for axes in figure.axes] == [[(20.0, 0.0)], [(40.0, 0.0)], [(60.0, 0.0)]]
    alone = draw("recovery-by-problem", records, ["nggp"])
    assert len(points(alone.axes[0], "o")) == 2
    seven = [record for number in range(7) for record in runs("R-1*", f"method-{number}", 1)]
    assert sum(axes.get_visible() for axes in draw("time", seven).axes) == 7


def test_recovery_against_s_has_a_point_for_each_s_that_ran_on_all_problems() -> None:
    records = [*everywhere("dsr", 1), *everywhere("nggp-s-10", 4), *everywhere("nggp", 3)]
    records += runs("Nguyen-1", "nggp-s-50", 5)  # one problem is no mean over 37
    (axes,) = draw("recovery-by-generations", records).axes
    found = dict(points(axes, "o"))
    assert found == pytest.approx({0.0: 20.0, 10.0: 80.0, 25.0: 60.0})
    assert (25.0, 74.92) in points(axes, "D")


def test_recovery_against_expressions_climbs_from_run_to_run_to_the_rate_of_the_tables() -> None:
    records = [*runs("R-1*", "nggp", 4), *runs("R-2*", "nggp", 0, 1), *runs("R-1*", "dsr", 1), *runs("R-2*", "dsr", 0)]
    (axes,) = draw("recovery-by-expressions", records).axes
    nggp, dsr = axes.lines
    assert values(nggp.get_xdata()) == (1_000, 2_000, 3_000, 4_000, 2_000_000)
    assert values(nggp.get_ydata()) == pytest.approx([10.0, 20.0, 30.0, 40.0, 40.0])
    assert values(dsr.get_ydata()) == pytest.approx([10.0, 10.0])
    assert [text.get_text() for text in axes.texts] == ["nggp 40.0", "dsr 10.0"]


def test_a_method_that_recovers_nothing_has_its_label_and_a_run_that_is_recorded_twice_counts_once() -> None:
    records = [*runs("R-1*", "nggp", 4), *runs("R-1*", "nggp", 2), *runs("R-1*", "$m$", 0)]
    (axes,) = draw("recovery-by-expressions", records).axes
    assert [text.get_text() for text in axes.texts] == ["nggp 40.0", "$m$ 0.0"]
    assert values(axes.lines[0].get_xdata()) == (1_000, 2_000, 2_000_000)


def test_labels_of_lines_that_end_together_are_apart_and_in_order() -> None:
    records = [record for number in range(12) for record in runs("R-1*", f"method-{number:02}", 5 - number // 4)]
    (axes,) = draw("recovery-by-expressions", records).axes
    places = [text.get_position()[1] for text in axes.texts]
    assert places == sorted(places, reverse=True)
    assert min(one - other for one, other in itertools.pairwise(places)) >= 5.0 - 1e-9
    assert 0 <= places[-1] < places[0] <= 100


def test_times_are_medians_of_runs_that_ended_beside_the_papers() -> None:
    failure = failed(RunKey("Nguyen-1", "nggp", 9), "MemoryError: none left")
    (axes,) = draw("time", [*runs("Nguyen-1", "nggp", 1), failure]).axes
    assert points(axes, "o") == [(1.5, 0.0)]
    assert points(axes, "D") == [(27.05, 0.0)]
    assert axes.get_xscale() == "log"


def test_one_run_of_no_measurable_time_can_be_drawn() -> None:
    (axes,) = draw("time", [replace(runs("Nguyen-1", "nggp", 1, 1)[0], cpu_seconds=0.0)]).axes
    assert points(axes, "o") == [(0.001, 0.0)]


@pytest.mark.parametrize("name", ["recovery-by-expressions", "time"])
def test_numbers_of_a_short_logarithmic_axis_are_plain(name: str) -> None:
    """matplotlib's own are formulas, which our figures do not typeset."""
    records = [replace(record, expressions=20_000) for record in runs("Nguyen-1", "nggp", 5, charged=3_000)]
    figure = draw(name, records)
    figure.draw_without_rendering()
    for axes in figure.axes:
        labels = [tick.get_text() for tick in (*axes.get_xticklabels(), *axes.get_xticklabels(minor=True))]
        shown = list(filter(None, labels))
        assert len(shown) > 1
        assert all(float(text.replace(",", "")) > 0.0 for text in shown)


def noisy(records: Sequence[RunRecord], level: float) -> list[RunRecord]:
    return [replace(record, noise=level) for record in records]


def test_recovery_against_noise_has_a_line_for_each_method_and_a_panel_for_the_paper_and_the_rest() -> None:
    records = [*runs("R-1*", "nggp", 4), *noisy(runs("R-1*", "nggp", 2), 0.1), *noisy(runs("R-1*", "dsr", 1), 0.1)]
    records += [*runs("R-2*", "nggp", 5), *runs("R-1*", "vpg", 5)]  # never with noise
    records += [*noisy(runs("Jin-1", "nggp", 3), 0.1), *noisy(runs("Jin-1", "nggp", 3), 0.01)]
    paper, rest = draw("recovery-by-noise", records).axes
    assert [axes.get_title() for axes in (paper, rest)] == ["R-1*", "Jin-1"]
    assert [label.get_text() for label in paper.get_xticklabels()] == ["0", "0.01", "0.1"]
    # Marks are at the level's place, a little aside.
    assert [(round(x), y) for x, y in points(paper, "o")] == [(0, 80.0), (2, 40.0)]
    assert [(round(x), y) for x, y in points(paper, "s")] == [(2, 20.0)]
    assert [(round(x), y) for x, y in points(rest, "o")] == [(1, 60.0), (2, 60.0)]
    assert PLOTS["recovery-by-noise"].draw(records, ["vpg"]) is None
    assert PLOTS["recovery-by-noise"].draw(records, ["dsr"]) is None, "one level is no line"


def test_no_two_of_many_lines_look_alike() -> None:
    names = ["nggp", "dsr", "vpg", "pqt", "gp", "gegl", "gp-restarts", "nggp-vpg", "nggp-rspg"]
    records = [record for name in names for level in (0.0, 0.1) for record in noisy(runs("R-1*", name, 3), level)]
    (axes,) = draw("recovery-by-noise", records).axes
    lines = [line for line in axes.get_lines() if str(line.get_marker()) in tuple("os^vDPX")]
    looks = {(line.get_color(), line.get_marker(), line.get_linestyle(), line.get_fillstyle()) for line in lines}
    assert len(lines) == len(looks) == len(names)


def test_a_level_without_all_problems_has_no_point_on_the_line_of_noise() -> None:
    both = [*runs("R-1*", "nggp", 4), *runs("R-2*", "nggp", 2)]
    records = [*both, *noisy(both, 0.01), *noisy(runs("R-1*", "nggp", 5), 0.1)]
    (axes,) = draw("recovery-by-noise", records).axes
    assert axes.get_title() == "2 problems"
    assert [(round(x), y) for x, y in points(axes, "o")] == [(0, 60.0), (1, 60.0)]
    whole = [*everywhere("nggp", 1), *noisy(everywhere("nggp", 1), 0.1)]
    assert draw("recovery-by-noise", whole).axes[0].get_title() == "the paper's 37 problems"


@pytest.mark.parametrize("name", ["recovery-by-problem", "recovery-by-expressions", "time"])
def test_noisy_runs_are_in_no_other_picture(name: str, tmp_path: Path) -> None:
    plain = runs("R-1*", "nggp", 3)
    mixed = [*plain, *noisy(runs("R-1*", "nggp", 1), 0.1), *noisy(runs("R-2*", "dsr", 1), 0.1)]
    first, second = (
        plots.save(PLOTS[name], some, tmp_path / folder, form="svg")
        for some, folder in ((plain, "plain"), (mixed, "mixed"))
    )
    assert first is not None
    assert second is not None
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize("name", PLOTS)
def test_without_records_nothing_is_drawn_and_nothing_written(name: str, tmp_path: Path) -> None:
    assert plots.save(PLOTS[name], [], tmp_path / "new", form="svg") is None
    assert plots.save(PLOTS[name], runs("R-1*", "dsr", 1), tmp_path / "new", shown=["gegl"], form="svg") is None
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("name", PLOTS)
def test_the_same_records_give_the_same_file(name: str, tmp_path: Path) -> None:
    records = [*everywhere("nggp", 3), *everywhere("dsr", 1), *noisy(runs("R-1*", "nggp", 1), 0.1)]
    some = records if name == "recovery-by-generations" else [r for r in records if r.problem.startswith("R-")]
    first, second = (plots.save(PLOTS[name], some, tmp_path / folder, form="svg") for folder in "ab")
    assert first is not None
    assert second is not None
    assert first.read_bytes() == second.read_bytes()
    assert first.read_text(encoding="utf-8").startswith("<?xml")


def test_a_method_that_does_not_exist_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"no method `ngpg`\. Did you mean `nggp`"):
        plots.save(PLOTS["time"], runs("R-1*", "nggp", 1), tmp_path, shown=["ngpg"], form="svg")


def test_without_matplotlib_the_sentence_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(SettingsError, match="Run `pip install matplotlib`"):
        plots.save(PLOTS["time"], runs("R-1*", "nggp", 1), tmp_path, form="svg")


def test_the_command_draws_what_it_can_and_says_what_it_cannot(tmp_path: Path) -> None:
    lines = [json.dumps(asdict(record)) for record in [*runs("R-1*", "nggp", 3), *runs("R-1*", "dsr", 2)]]
    (tmp_path / FILE).write_text("\n".join(lines) + "\n", encoding="utf-8")
    command = [str(Path(sys.executable).parent / "symseed"), "bench", "plot", str(tmp_path)]
    command += ["--output", str(tmp_path / "out"), "--method", "nggp", "--format", "png"]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    names = ["recovery-by-expressions.png", "recovery-by-problem.png", "time.png"]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == names
    assert (tmp_path / "out" / "time.png").read_bytes().startswith(b"\x89PNG")
    assert "recovery-by-generations: skipped, because it needs records of two values of S" in result.stdout
    missing = subprocess.run([*command[:3], str(tmp_path / "out")], capture_output=True, text=True, check=False)
    assert missing.returncode == 2
    assert "must be a folder of records" in missing.stderr


def test_drawing_leaves_matplotlibs_state_alone(tmp_path: Path) -> None:
    script = (
        "import sys\n"
        "from pathlib import Path\n"
        "import matplotlib\n"
        "from symseed.benchmarks import plots\n"
        "from symseed.benchmarks.execution import failed\nfrom symseed.benchmarks.store import RunKey\n"
        "def state():  # to ask for the backend would import pyplot\n"
        "    return {name: matplotlib.rcParams[name] for name in matplotlib.rcParams if name != 'backend'}\n"
        "before = state()\n"
        "record = failed(RunKey('R-1*', 'nggp', 0), '')\n"
        "assert plots.save(plots.PLOTS[0], [record], Path(sys.argv[1]), form='svg')\n"
        "assert state() == before\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=True)
