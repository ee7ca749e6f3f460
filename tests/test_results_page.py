"""The page of results is what its records give, and its commands can be run."""

from __future__ import annotations

import importlib.util
import re
import shlex
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from symseed import DataError, bench, benchmarks, report
from symseed.bench import RunKey, RunRecord, Store, failed

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
def page() -> str:
    return (FOLDER / "results.md").read_text(encoding="utf-8")


def record(problem: str, seed: int = 0, **values: object) -> RunRecord:
    return replace(failed(RunKey(problem, "nggp", seed), ""), **values)  # type: ignore[arg-type]


def block(page: str, name: str) -> list[list[str]]:
    """Return the lines of a block's table, as cells."""
    content = page.partition(f"<!-- begin {name}: ")[2].partition(f"<!-- end {name} -->")[0]
    return [line[2:-2].split(" | ") for line in content.splitlines() if line.startswith("|")]


def test_every_block_is_what_the_records_give(results: ModuleType, page: str) -> None:
    assert results.update(page, results.Source.of(Store(results.RECORDS).read())) == page, "run docs/results.py"


def test_check_says_whether_the_page_is_up_to_date_and_writes_nothing(
    results: ModuleType, page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = tmp_path / "results.md"
    copy.write_text(page, encoding="utf-8")
    monkeypatch.setattr(results, "PAGE", copy)
    monkeypatch.setattr(sys, "argv", ["results.py", "--check"])
    assert results.main() == 0
    copy.write_text(page.replace("(74.92)", "(75.92)"), encoding="utf-8")
    assert results.main() == 1
    assert "Run `python docs/results.py`" in capsys.readouterr().err
    assert "(75.92)" in copy.read_text(encoding="utf-8")


def test_without_records_there_are_only_the_papers_figures(results: ModuleType, page: str) -> None:
    empty = results.update(page, results.Source.of([]))
    assert block(empty, "table-1")[2] == ["nggp", "recovered", "-", "- (74.92)", "- (92.33)", "- (33.33)", "- (71.09)"]
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
    written = results.update(page, results.Source.of(runs))
    mean = report.build(runs).mean("nggp", "r")
    assert mean is not None
    assert mean.interval is not None
    ours, passed = block(written, "table-1")[2:4]
    assert ours[5] == f"75.00, {mean.interval[0]:.2f} to {mean.interval[1]:.2f} (33.33)"
    assert ours[3] == "- (74.92)"
    assert passed[5] == "100.00"
    assert "symseed bench run Jin --method nggp --seeds 0:25 --store" in written
    assert "--method nggp --seeds 0:4 --store" in written.replace(" \\\n ", "")


def test_errors_are_of_the_test_data_and_times_beside_the_papers(results: ModuleType, page: str) -> None:
    _, test = benchmarks.get("Jin-1").datasets(0)
    runs = [record("Jin-1", seed, test_nmse=(0.0, 0.0, 0.09)[seed], verdict="exact") for seed in range(3)]
    runs += [replace(run, problem="Neat-1") for run in runs]
    runs += [record("R-1", seed, test_nmse=1e-5 * (seed + 1)) for seed in range(3)]
    runs += [record("Nguyen-1", seed, cpu_seconds=seed + 1.0) for seed in range(3)]
    runs += [failed(RunKey("Jin-1", "nggp", 3), "died")]
    written = results.update(page, results.Source.of(runs))
    assert block(written, "jin")[2][:3] == ["Jin-1", "3 of 3", f"{0.1 * test.deviation:.4g}"]
    assert block(written, "neat")[2][:3] == ["Neat-1", "3 of 3", "0"]
    assert block(written, "hard-cases")[3] == ["R-1", "3", "1e-05", "3.55e-05", "-", "-", "0.00274"]
    assert block(written, "runtime")[2] == ["Nguyen-1", "3", "2.000", "27.05", "14"]


def test_every_command_of_the_page_names_problems_and_methods_that_exist(page: str) -> None:
    commands = [
        shlex.split(line) for line in page.replace(" \\\n", " ").splitlines() if line.startswith("symseed bench run")
    ]
    assert len(commands) >= 10
    for command in commands:
        options = command.index("--method")
        names = [command[place + 1] for place, word in enumerate(command) if word == "--method"]
        assert bench.plan(command[3:options], names, [0], draw=0, expressions=None)
        assert command[-4] == "--seeds"
        assert command[-2:] == ["--store", "docs/records"]


def test_the_figures_of_the_page_exist(page: str) -> None:
    shown = re.findall(r"!\[[^\]]*\]\(([^)]*)\)", page)
    assert shown
    for name in shown:
        assert (FOLDER / name).read_text(encoding="utf-8").startswith("<?xml")
