"""The page of results is what its records give, and its commands can be run."""

from __future__ import annotations

import importlib.util
import json
import re
import shlex
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from symseed import DataError, benchmarks, methods
from symseed.benchmarks import plots, report, runner
from symseed.benchmarks.execution import failed
from symseed.benchmarks.store import RunKey, RunRecord

FOLDER = Path(__file__).parent.parent / "docs"


@pytest.fixture(scope="module")
def results() -> ModuleType:
    spec = importlib.util.spec_from_file_location("results", FOLDER / "results.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["results"] = module  # dataclasses look their module up there
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def page(results: ModuleType) -> str:
    """Return all pages as one text."""
    text: str = results.read_pages()
    return text


@pytest.fixture(scope="module")
def source(results: ModuleType) -> Any:
    """Return all records, which take a second to read."""
    return results.Source.read()


def record(problem: str, seed: int = 0, method: str = "nggp", **values: object) -> RunRecord:
    budget = methods.get(method).budget
    assert budget.expressions is not None
    key = RunKey(problem, method, seed, 0, budget.expressions, budget.seconds)
    return replace(failed(key, ""), **values)  # type: ignore[arg-type]


def written(page: str, name: str) -> str:
    """Return all that a block holds, its commands unfolded."""
    content = page.partition(f"<!-- begin {name}: ")[2].partition(f"<!-- end {name} -->")[0]
    return content.replace(" \\\n ", "")


def block(page: str, name: str) -> list[list[str]]:
    """Return the lines of a block's table, as cells."""
    return [line[2:-2].split(" | ") for line in written(page, name).splitlines() if line.startswith("|")]


def test_every_block_is_what_the_records_give(results: ModuleType, source: Any, page: str) -> None:
    assert results.update(page, source) == page, "run docs/results.py"


def test_check_says_whether_the_page_is_up_to_date_and_writes_nothing(
    results: ModuleType,
    source: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(results.Source, "read", lambda: source)
    copies = tuple(tmp_path / path.name for path in results.PAGES)
    for copy, path in zip(copies, results.PAGES, strict=True):
        copy.write_bytes(path.read_bytes())
    monkeypatch.setattr(results, "PAGES", copies)
    monkeypatch.setattr(sys, "argv", ["results.py", "--check"])
    assert results.main() == 0
    copies[2].write_text(copies[2].read_text(encoding="utf-8").replace("(74.9)", "(75.9)"), encoding="utf-8")
    assert results.main() == 1
    assert "results-paper.md: not what the records give. Run `python docs/results.py`" in capsys.readouterr().err
    assert "(75.9)" in copies[2].read_text(encoding="utf-8")


def test_without_records_there_are_only_the_papers_figures(results: ModuleType, page: str) -> None:
    empty = results.update(page, results.Source.of([]))
    assert block(empty, "table-1")[2] == ["nggp", "recovered", "-", "- (74.9)", "- (92.3)", "- (33.3)", "- (71.1)"]
    assert block(empty, "problems")[2][1] == "- / 100"
    assert block(empty, "jin")[2][:4] == ["Jin-1", "-", "-", "0"]
    assert "0 of 0 figures differ" in empty
    assert results.update(empty, results.Source.of([])) == empty


def test_what_is_written_by_hand_is_kept(results: ModuleType, page: str) -> None:
    edited = page.replace("\n## Jin\n", "\nA sentence.\n\n## Jin\n")
    assert edited != page
    assert "\nA sentence.\n" in results.update(edited, results.Source.of([]))


@pytest.mark.parametrize(
    ("old", "new"),
    [("begin jin:", "begin gin:"), ("<!-- end jin -->", ""), ("begin jin:", "begin neat:")],
)
def test_a_page_without_one_of_its_blocks_is_refused(results: ModuleType, page: str, old: str, new: str) -> None:
    with pytest.raises(DataError, match="jin"):
        results.update(page.replace(old, new), results.Source.of([]))


def test_means_have_their_interval_and_the_rate_by_the_released_test(results: ModuleType, page: str) -> None:
    runs = [
        record(problem, seed, verdict="exact" if seed else "no", passes_reference=True)
        for problem in benchmarks.SETS["R-paper"]
        for seed in range(4)
    ]
    new = results.update(page, results.Source.of(runs))
    mean = report.build(runs).mean("nggp", "r")
    assert mean is not None
    assert mean.interval is not None
    ours, interval, passed = block(new, "table-1")[2:5]
    assert ours[5] == "75.0 (33.3) p"
    assert interval[5] == f"{mean.interval[0]:.1f} to {mean.interval[1]:.1f}"
    assert ours[3] == "- (74.9)"
    assert interval[3] == "-"
    assert passed[5] == "100.0"
    assert "symseed bench run Jin --method nggp --seeds 0:25 --store" in new
    assert "symseed bench run R-paper --method nggp --seeds 0:4 --store" in written(new, "table-1")


def test_each_cell_says_whether_it_agrees_and_else_by_which_switch_it_differs(results: ModuleType, page: str) -> None:
    rates = {"Nguyen-7": 24, "Livermore-5": 25, "Livermore-22": 12, "Nguyen-5": 5, "R-3*": 25}
    runs = [
        record(problem, seed, verdict="exact" if seed < count else "no")
        for problem, count in rates.items()
        for seed in range(25)
    ]
    runs += [record("R-3*", seed, "gegl", verdict="no") for seed in range(25)]
    coded = [replace(record("Nguyen-5", seed), method="nggp/released", verdict="no") for seed in range(25)]
    new = results.update(page, results.Source.of(runs))
    cells = {line[0]: line[1:3] for line in block(new, "problems")}
    assert cells["Nguyen-7"][0] == "96 / 96 ="
    assert cells["Livermore-5"][0] == "100 / 4 f"
    assert cells["Livermore-22"][0] == "48 / 84 ?"
    assert cells["Nguyen-5"][0] == "20 / 100 ?"
    assert cells[r"R-3\*"] == ["100 / 92 =", "0 / 100 p"]
    assert cells["Nguyen-1"][0] == "- / 100"
    assert "- `f`: the released code has another formula than the paper prints" in written(new, "problems")
    assert "- `s`" not in written(new, "problems")
    with_code = results.update(page, results.Source.of([*runs, *coded]))
    assert {line[0]: line[1] for line in block(with_code, "problems")}["Nguyen-5"] == "20 / 100 c"
    counts = {line[0]: line[1:] for line in block(with_code, "overview")}
    assert counts["Problem by problem (tables 5 and 13)"] == ["6", "2", "2", "1", "1"]
    assert counts["All"][0] == str(int(counts["Nguyen (table 1)"][0]) + 6)


def test_every_reason_names_methods_problems_and_sets_that_exist(results: ModuleType) -> None:
    places = {*benchmarks.names(), *results.SET_TITLES, "*"}
    for reason in results.REASONS:
        assert set(reason.where) <= places
        assert set(reason.methods) <= {*methods.METHODS, "*"}
        assert re.fullmatch("[a-z]", reason.mark)
        assert reason.mark != results.CODE_DIFFERS_TOO


def test_unseen_problems_have_rates_by_family_and_what_was_missed(results: ModuleType, page: str) -> None:
    runs = [
        record("unseen:tuning/Nguyen-1", 0, "nggp-complete", verdict="exact", cpu_seconds=1.0),
        record("unseen:tuning/Nguyen-2", 0, "nggp-complete", formula="x1 + x1", test_nmse=0.25, cpu_seconds=3.0),
    ]
    new = results.update(page, results.Source.of([], [], runs))
    whole, family = block(new, "unseen-first")[2], block(new, "unseen")[2]
    assert whole[:4] == ["nggp-complete", "tuning, all families", "1 of 2", "50.0"]
    assert family[:4] == ["nggp-complete", "tuning, Nguyen", "1 of 2", "50.0"]
    target = benchmarks.get("unseen:tuning/Nguyen-2").formula.replace("*", r"\*")
    assert block(new, "not-recovered")[2:] == [
        ["unseen:tuning/Nguyen-2", "nggp-complete", target, "x1 + x1", "2.5e-01"]
    ]


def test_errors_are_of_the_test_data_and_times_beside_the_papers(results: ModuleType, page: str) -> None:
    _, test = benchmarks.get("Jin-1").datasets(0)
    runs = [record("Jin-1", seed, test_nmse=(0.0, 0.0, 0.09)[seed], verdict="exact") for seed in range(3)]
    runs += [replace(run, problem=name) for run in runs[:3] for name in ("Neat-1", "Neat-6/code")]
    runs += [record("R-1", seed, test_nmse=1e-5 * (seed + 1)) for seed in range(3)]
    runs += [record("Nguyen-1", seed, cpu_seconds=seed + 1.0) for seed in range(3)]
    runs += [failed(RunKey("Jin-1", "nggp", 3), "died")]
    new = results.update(page, results.Source.of(runs))
    assert block(new, "jin")[2][:3] == ["Jin-1", "3 of 3", f"{0.1 * test.deviation:.4g}"]
    neat = {line[0]: line[1:] for line in block(new, "neat")[2:]}
    assert neat["Neat-1"][:2] == ["3 of 3", "0"]
    assert neat["Neat-6/code"][:3] == ["3 of 3", "0", neat["Neat-6"][2]], "beside the same figure of the paper"
    assert "Neat-9/code" not in neat
    assert block(new, "hard-cases")[3] == ["R-1", "3", "1e-05", "3.55e-05", "-", "-", "0.00274"]
    assert block(new, "runtime")[2] == ["Nguyen-1", "3", "2.000", "27.05", "14"]


def test_the_papers_tables_are_of_its_data_without_noise_and_of_the_methods_own_budget(
    results: ModuleType, page: str
) -> None:
    runs = [record(problem, verdict="exact") for problem in [*report.problems_of("all"), "Jin-1", "R-1"]]
    others = [replace(run, verdict="no", cpu_seconds=9.0, test_nmse=1.0) for run in runs]
    mixed = [
        *(replace(run, noise=0.01) for run in others),
        *(replace(run, draw=1) for run in others),
        *(replace(run, seconds=5.0) for run in others),
    ]
    without = re.sub("<!-- begin noise: .*?<!-- end noise -->", "", page, flags=re.DOTALL)
    parts = [
        re.sub(
            "<!-- begin noise: .*?<!-- end noise -->",
            "",
            results.update(page, results.Source.of(some)),
            flags=re.DOTALL,
        ).partition("<!-- begin details")  # which are told by draw
        for some in (runs, [*runs, *mixed])
    ]
    assert parts[0][0] != without.partition("<!-- begin details")[0]
    tables = [[line for line in part[0].splitlines() if line.startswith("|")] for part in parts]
    assert tables[0] == tables[1]


def test_completion_is_told_by_draw_with_its_costs_and_with_look_ups_charged(results: ModuleType, page: str) -> None:
    # Seed 0 is just within the budget with its look-ups, seed 1 just beyond; seed 2 fails.
    counts = {0: (1_000, 1_999_000, 10, 2), 1: (3_000, 1_997_001, 20, 4)}
    runs = [
        record(
            problem,
            seed,
            "nggp-complete",
            verdict="exact",
            cpu_seconds=0.5 + seed,
            **dict(zip(("charged", "lookups", "hits", "splices"), values, strict=True)),
        )
        for problem in report.problems_of("all")
        for seed, values in counts.items()
    ]
    runs += [failed(RunKey(problem, "nggp-complete", 2), "died") for problem in report.problems_of("all")]
    runs += [replace(runs[0], draw=1)]
    new = results.update(page, results.Source.of(runs))
    rates, costs = block(new, "completion")[:12], block(new, "completion")[12:]
    rates = [line for line in rates if line[0] != "95 % interval"]
    assert rates[4][:3] == ["nggp-complete", "0", "74 of 111"]
    assert rates[4][3:] == ["66.7", "66.7", "66.7", "66.7", "33.3"]
    assert costs[4] == ["nggp-complete", "0", "1.000", "2,000", "1,998,000", "15", "3"]
    assert rates[5] == ["nggp-complete", "1", "1 of 1", *"-----"]
    assert costs[5] == ["nggp-complete", "1", *"-----"]
    assert rates[2] == ["nggp", "0", "-", *"-----"]
    assert "symseed bench run Nguyen-paper --method nggp-complete --draw 1 --seeds 0:1 --store" in written(
        new, "completion"
    )


def test_intractable_problems_have_medians_and_look_ups(results: ModuleType, page: str) -> None:
    runs = [
        record("R-1", seed, "nggp-complete", verdict="exact", charged=100 * seed, lookups=seed, cpu_seconds=seed)
        for seed in (1, 2, 1_999_999)
    ]
    runs += [record("Nguyen-12", 0, "nggp-complete-plus", draw=2, charged=7)]
    lines = block(results.update(page, results.Source.of(runs)), "intractable")
    assert ["R-1", "nggp-complete", "0", "3 of 3", "2 of 3", "200", "2.00", ""] in lines
    assert ["Nguyen-12", "nggp-complete-plus", "2", "0 of 1", "0 of 1", "7", "0.00", ""] in lines
    assert [line[0] + " " + line[-1] for line in lines if line[1] == "nggp"] == [
        *("Nguyen-12 0", "R-1 0", "R-2 0", "R-3 about 4"),
    ]


def test_ablations_of_completion_have_the_mean_logarithm_where_all_problems_have_runs(
    results: ModuleType, page: str
) -> None:
    runs = [
        record(problem, seed, "complete-lr-0", charged=10 ** (2 + 2 * seed), verdict="exact" if seed else "no")
        for problem in results.HARD
        for seed in range(2)
    ]
    runs += [record("R-1*", seed, "complete-lr-0", charged=10**6) for seed in range(2)]
    runs += [record("R-1*", 0, "complete-no-gp", charged=10)]
    new = results.update(page, results.Source.of(runs))
    lines = {line[0]: line[1:] for line in block(new, "completion-ablations")}
    # Eight problems with 2 and 4, one with 6 and 6.
    assert lines["complete-lr-0"] == ["0 of 2", *["1 of 2"] * 8, f"{(8 * 3 + 6) / 9:.2f}"]
    assert lines["complete-no-gp"] == ["0 of 1", *"---------"]
    assert "symseed bench run 'R-1*' --method complete-no-gp --seeds 0:1 --store" in written(
        new, "completion-ablations"
    )


def test_the_open_track_puts_problems_that_are_always_recovered_on_one_line(results: ModuleType, page: str) -> None:
    runs = [
        record(problem, seed, "default", verdict="exact", cpu_seconds=1.0 + place)
        for place, problem in enumerate(benchmarks.SETS["Jin"])
        for seed in range(2)
    ]
    runs[-1] = replace(runs[-1], verdict="no", cpu_seconds=50.0)
    runs += [record("Keijzer-7", 0, "default", cpu_seconds=3.0), record("Nguyen-1", 0, "default", verdict="exact")]
    runs = [replace(run, test_nmse=0.5 if run.verdict == "no" else 0.0) for run in runs]
    runs += [replace(run, seconds=20.0, seed=7, verdict="no") for run in runs]  # of another budget
    new = results.update(page, results.Source.of(runs))
    lines = block(new, "open-track")
    assert ["The paper's 37", "1 of 1", "0.0", "0.0", "0"] in lines
    assert ["Nguyen, 1 of 12, always recovered", "1 of 1", "0.0", "0.0", "0"] in lines
    assert ["Nguyen, 11 of 12, not run", "-", "-", "-", "-"] in lines
    assert ["Jin, 5 of 6, always recovered", "10 of 10", "3.0", "5.0", "0"] in lines
    assert ["Jin-6", "1 of 2", "28.0", "50.0", "0.25"] in lines
    assert ["Keijzer-7", "0 of 1", "3.0", "3.0", "0.5"] in lines
    assert "bench run Nguyen-paper Keijzer-7 --method default --seeds 0:1 --store" in written(new, "open-track")
    assert "--max-time" not in written(new, "open-track")


def test_parts_of_the_default_are_told_apart_within_their_time_limits(results: ModuleType, page: str) -> None:
    name = "default-no-blocks"
    runs = [record(problem, 0, name, seconds=20.0, verdict="exact", cpu_seconds=2.0) for problem in ("R-1", "Jin-6")]
    runs[1] = replace(runs[1], verdict="no", cpu_seconds=20.0)
    runs += [record("Nguyen-1", 0, name, seconds=7.0, noise=0.01, verdict="exact")]
    runs += [replace(run, seconds=30.0, seed=1) for run in runs]  # of another budget
    new = results.update(page, results.Source.of(runs))
    assert [name, "1 of 2", "11.0", "Jin-6", "1 of 1"] in block(new, "default-parts")
    assert ["default", "-", "-", "", "-"] in block(new, "default-parts")
    commands = written(new, "default-parts")
    assert f"bench run R-1 Jin --method {name} --max-time 20 --seeds 0:1 --store" in commands
    assert f"bench run Nguyen-paper --method {name} --max-time 7 --noise 0.01 --seeds 0:1 --store" in commands
    assert "--max-time 30" not in commands


def test_noise_is_told_by_level_beside_peers(results: ModuleType, page: str, tmp_path: Path) -> None:
    jin = benchmarks.SETS["Jin"]
    runs = [
        replace(record(problem, seed, "default", noise=0.01, cpu_seconds=4.0), verdict="no" if seed else "exact")
        for problem in jin
        for seed in range(4)
    ]
    runs += [replace(run, noise=0.1, seconds=20.0, verdict="no") for run in runs]
    runs += [record("Jin-1", method="default", noise=0.001)]  # not all of Jin
    outcome = {"peer": "some best", "noise": 0.0, "seconds": 30, "formula": "x1", "error": ""}
    outcomes = [{**outcome, "problem": name, "seed": 3, "verdict": "no"} for name in jin]
    outcomes += [{**outcomes[0], "verdict": "exact"}]  # of two with the same key the later one counts
    path = tmp_path / "peers.jsonl"
    path.write_text("\n".join(map(json.dumps, outcomes)) + '\n{"peer": "so', encoding="utf-8")
    new = results.update(page, results.Source.of(runs, results.read_peers(path)))
    lines = block(new, "noise")
    assert ["Jin", "default", "-", "-", "25.0 (6 of 24, 4.0 s)", "-"] in lines
    assert ["Jin", "default, 20 s", "-", "-", "-", "0.0 (0 of 24, 4.0 s)"] in lines
    assert ["Jin", "some best, 30 s", "16.7 (1 of 6, 30.0 s)", "-", "-", "-"] in lines
    assert ["The paper's 37", "nggp", *"----"] in lines
    commands = written(new, "noise")
    assert "bench run Jin --method default --max-time 20 --noise 0.1 --seeds 0:4 --store" in commands
    assert "noise.py Jin --peers some --noise 0 --seeds 3:4 --seconds 30 --out docs/records/peers.jsonl" in commands
    assert results.read_peers(tmp_path / "none") == []


def test_the_figure_of_noise_has_peers_and_the_others_have_no_noise(
    results: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = {}

    def save(plot: plots.Plot, records: list[RunRecord], folder: Path, *, shown: list[str], form: str) -> None:
        drawn[plot.name] = ({(r.method, r.noise, r.draw) for r in records}, shown)

    monkeypatch.setattr(plots, "save", save)
    runs = [record("R-1*"), record("R-1*", noise=0.1), record("R-1*", draw=1)]
    results.draw(results.Source.of(runs, [replace(runs[0], method="peer", seconds=3.0)]))
    assert drawn["time"] == ({("nggp", 0.0, 0)}, list(results.MAIN))
    assert drawn["recovery-by-noise"] == (
        {("nggp", 0.0, 0), ("nggp", 0.1, 0), ("peer", 0.0, 0)},
        [*results.NOISE, "peer"],
    )


def test_off_policy_correction_is_beside_what_it_corrects(results: ModuleType, page: str) -> None:
    runs = [record(name, 0, "nggp-vpg-corrected", verdict="exact") for name in benchmarks.SETS["R-paper"]]
    lines = block(results.update(page, results.Source.of(runs)), "off-policy")
    low = report.mean_over(benchmarks.SETS["R-paper"], report.build(runs).rows, method="nggp-vpg-corrected").interval
    assert low is not None
    assert [line[0] for line in lines[2:10:2]] == list(results.OFF_POLICY)
    assert lines[4][4] == "100.0 (-)"
    assert lines[5][4] == f"{low[0]:.1f} to 100.0"
    assert lines[2][4] == "- (28.0)"


def test_the_released_codes_variants_are_beside_what_the_paper_prints(results: ModuleType, page: str) -> None:
    runs = [
        record("R-1*", seed=0, verdict="exact"),
        record("R-1*/code", seed=0, verdict="no", passes_reference=True),
        record("R-1*/code", seed=1, verdict="exact", passes_reference=True),
        record("Livermore-9", seed=0, verdict="exact"),
        replace(record("Livermore-9", seed=0), draw=3),
        record("Livermore-9", method="nggp-even-seeds", verdict="exact"),
    ]
    new = results.update(page, results.Source.of(runs))
    lines = {tuple(line[:2]): line[2:] for line in block(new, "released-code")}
    assert lines[r"R-1\*", "nggp"] == ["1 of 1", "1 of 2", "2 of 2", "4"]
    assert lines["Livermore-5", "nggp"][:3] == ["-", "-", "-"]
    details = {line[0]: line[1:] for line in block(new, "details")}
    assert details["Livermore-9"] == ["1 of 1", "-", "-", "0 of 1", "1 of 1", "-", "-", "-", "24"]


def test_every_command_of_the_page_names_problems_and_methods_that_exist(page: str) -> None:
    commands = [
        shlex.split(line) for line in page.replace(" \\\n", " ").splitlines() if line.startswith("symseed bench run")
    ]
    assert len(commands) >= 10
    for command in commands:
        options = command.index("--method")
        names = [command[place + 1] for place, word in enumerate(command) if word == "--method"]
        assert runner.plan(command[3:options], names, [0], draw=0, expressions=None)
        assert command[-4] == "--seeds"
        assert command[-2:] == ["--store", "docs/records"]


def test_the_figures_of_the_page_exist(page: str) -> None:
    shown = re.findall(r"!\[[^\]]*\]\(([^)]*)\)", page)
    assert shown
    for name in shown:
        assert (FOLDER / name).read_text(encoding="utf-8").startswith("<?xml")
