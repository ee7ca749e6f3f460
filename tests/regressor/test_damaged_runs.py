"""A run folder with any bytes in any of its files: every command that reads it says a sentence, or the right answer."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import hostile


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return hostile.killed_run(tmp_path_factory.mktemp("whole"))


@pytest.fixture(scope="module")
def folder(whole: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The place of the copies that are damaged."""
    return tmp_path_factory.mktemp("damaged") / "run"


@st.composite
def damage(draw: st.DrawFn, whole: Path) -> tuple[str, bytes]:
    name = draw(st.sampled_from(sorted(hostile.FORGED)))
    content = (whole / name).read_bytes()
    return name, draw(hostile.damaged(content) | hostile.FORGED[name](content))


FEW = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
)


@FEW
@given(st.data())
def test_a_damaged_run_is_shown_or_gets_a_sentence(whole: Path, folder: Path, data: st.DataObject) -> None:
    hostile.copy_with(whole, folder, *data.draw(damage(whole)))
    code, _, err = hostile.command("show", str(folder))
    hostile.check_sentence(code, err)
    code, _, err = hostile.command("runs", str(folder.parent))
    hostile.check_sentence(code, err)
    assert code == 0


@pytest.mark.parametrize("noise", ['"\\u0000"', "[]", "{}", '{"kind": 3, "floor": "x"}', "null"])
def test_a_run_whose_log_has_no_noise_worth_the_name_is_shown(whole: Path, folder: Path, noise: str) -> None:
    event = f'{{"event": "noise", "output": 0, "noise": {noise}}}\n'.encode()
    hostile.copy_with(whole, folder, "events.jsonl", (whole / "events.jsonl").read_bytes() + event)
    code, _, err = hostile.command("show", str(folder))
    hostile.check_sentence(code, err)
    assert code == 0


@pytest.mark.parametrize("categories", ["1e308", "true", '"red"', "{a = 1}", "[1]", '[["a"]]', '[["a", "xy"]]'])
def test_a_run_whose_categories_are_none_gets_a_sentence(whole: Path, folder: Path, categories: str) -> None:
    good = (whole / "config.toml").read_bytes()
    bad = re.sub(rb"^categories = \[\n?\]$", f"categories = {categories}".encode(), good, flags=re.MULTILINE)
    assert bad != good
    hostile.copy_with(whole, folder, "config.toml", bad)
    code, _, err = hostile.command("show", str(folder))
    hostile.check_sentence(code, err)
    assert "`categories` must have a column and its values, each a text" in err


@pytest.mark.parametrize("weight", ["inf", "nan", "-0.5", "2"])
def test_a_weight_that_is_none_gets_a_sentence(whole: Path, folder: Path, weight: str) -> None:
    head, first, *others = (whole / "front.csv").read_text().splitlines()
    assert head.endswith(",Weight")
    front = "\n".join([head, f"{first.rpartition(',')[0]},{weight}", *others])
    hostile.copy_with(whole, folder, "front.csv", front.encode())
    code, _, err = hostile.command("show", str(folder))
    hostile.check_sentence(code, err)
    assert f"`Weight` must be from 0 to 1, but it is {float(weight)}" in err


@settings(FEW, max_examples=6)
@given(st.data())
def test_a_damaged_run_is_reported_or_gets_a_sentence(whole: Path, folder: Path, data: st.DataObject) -> None:
    hostile.copy_with(whole, folder, *data.draw(damage(whole)))
    code, _, err = hostile.command("report", str(folder))
    hostile.check_sentence(code, err)


@settings(FEW, max_examples=15)
@given(st.data())
def test_a_damaged_run_resumes_to_the_right_answer_or_gets_a_sentence(
    whole: Path, folder: Path, data: st.DataObject
) -> None:
    name, content = data.draw(damage(whole))
    hostile.copy_with(whole, folder, name, content)
    code, _, err = hostile.command("resume", str(folder), "--set", "max_evals=6000", "--set", "max_time=none")
    hostile.check_sentence(code, err)
    is_protected = name == "events.jsonl" or not name.endswith((".toml", ".safetensors", "a.json", "b.json"))
    if code == 0 and is_protected:
        assert (folder / "front.csv").read_bytes() == (whole / "front.csv").read_bytes()
