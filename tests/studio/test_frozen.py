"""The report: what its script asks for is in it, and it is the page's own script."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from studio_runs import EVIL, make_run
from symseed.cli.main import commands
from symseed.studio import assets


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("frozen") / "runs"
    make_run(folder)
    (run,) = folder.iterdir()
    done = CliRunner().invoke(commands, ["report", str(run)], catch_exceptions=False)
    return Path(done.stdout.strip()).read_text(encoding="utf-8")


def answers(report: str) -> dict[str, object]:
    held = re.search('<script type="application/json" id="frozen">(.*?)</script>', report, re.DOTALL)
    assert held is not None
    return dict(json.loads(held[1]))


def names(script: str) -> Iterator[str]:
    """What a module names outside its functions."""
    for line in script.splitlines():
        found = re.match(r"(?:async )?(?:const|let|class|function) (?:\[(.*?)\]|(\w+))", line)
        if found is not None:
            yield from (found[1] or found[2]).replace(" ", "").split(",")


def test_a_report_has_every_formula_with_its_points_curves_and_policies(report: str) -> None:
    held = answers(report)
    run = held["/api/runs/report"]
    assert isinstance(run, dict)
    (target,) = run["targets"]
    for index in range(len(target["front"])):
        formula = held[f"/api/runs/report/formula?target=0&index={index}"]
        assert isinstance(formula, dict)
        assert len(formula["predicted"]) == len(formula["measured"]) == 30
        assert f"/api/runs/report/learnt?target=0&index={index}" in held
        for column in formula["used"]:
            curve = held[f"/api/runs/report/curve?target=0&index={index}&column={column}"]
            assert isinstance(curve, dict)
            assert len(curve["x"]) == len(curve["y"]) == len(curve["low"]) == len(curve["high"]) == 80
    assert {f"/api/runs/report/column?target=0&column={place}" for place in (0, 1)} <= set(held)


def test_a_report_holds_the_pages_modules_without_their_imports_and_each_name_once(report: str) -> None:
    script = assets.frozen_script()
    assert f'<script type="module">{script}</script>' in report
    assert not re.search("^(import|export) ", script, re.MULTILINE)
    assert "</script" not in script
    repeated = [name for name, count in Counter(names(script)).items() if count > 1]
    assert repeated == []
    assert len(set(names(script))) > 40


def test_the_modules_of_a_report_import_only_from_each_other() -> None:
    found: set[str] = set()
    for name in assets._FROZEN:
        text = assets.content(name).decode()
        imports = set(re.findall(r'from "\./([^"]+)"', text))
        assert imports <= found, "each stands behind those that it uses"
        found.add(name)


def test_a_name_of_a_column_stays_text_in_a_report(report: str) -> None:
    assert EVIL not in report
    assert EVIL in json.dumps(answers(report)).replace('\\"', '"')


def test_a_run_without_a_front_gets_a_sentence(tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    make_run(folder)
    (run,) = folder.iterdir()
    (run / "front.csv").unlink()
    done = CliRunner().invoke(commands, ["report", str(run)])
    assert done.exit_code != 0
