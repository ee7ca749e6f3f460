"""The page's server: who gets an answer, what it says of runs and tables, and what hostile requests get."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from starlette.testclient import TestClient

from studio_runs import EVIL, make_run, make_store, noisy_table
from symseed import SymbolicRegressor
from symseed.cli import run_names
from symseed.cli.main import commands
from symseed.network import Guess
from symseed.regressor.run_log import RunLog
from symseed.studio import assets, searches, server
from symseed.studio import guard as guards
from symseed.studio.guard import MOST_BODY, UPLOAD, Guard
from symseed.studio.server import Studio

PORT = 8765
HERE = f"http://127.0.0.1:{PORT}"
PATHS = ["/", "/assets/main.js", "/api/runs", "/api/about", "/api/events", UPLOAD, "/api/searches", "/nothing"]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one finished run."""
    folder = tmp_path_factory.mktemp("studio") / "runs"
    make_run(folder)
    return folder


@pytest.fixture
def outputs(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "runs"))


def made_in(folder: Path, outputs: Path) -> Iterator[Studio]:
    """What the page is about; its searches have ended when the test does."""
    folder.mkdir()
    studio = Studio.of(outputs, run_names.newest_first, folder)
    yield studio
    for one in studio.searches._started.values():
        one.process.terminate()
        one.process.wait()


@pytest.fixture
def studio(outputs: Path, tmp_path: Path) -> Iterator[Studio]:
    yield from made_in(tmp_path / "own", outputs)


@pytest.fixture
def another(outputs: Path, tmp_path: Path) -> Iterator[Studio]:
    """A second server for the same runs, which knows nothing of the first."""
    yield from made_in(tmp_path / "another", outputs)


@pytest.fixture
def guard(studio: Studio) -> Guard:
    return Guard(studio.app(), PORT)


@pytest.fixture
def stranger(guard: Guard) -> Iterator[TestClient]:
    """A client without the link."""
    with TestClient(guard, base_url=HERE, headers={"origin": HERE}) as client:
        yield client


@pytest.fixture
def client(guard: Guard, stranger: TestClient) -> TestClient:
    """A client that has opened the link."""
    assert stranger.get("/", params={"token": guard.token}).status_code == 200
    return stranger


def only_run(client: TestClient) -> dict[str, Any]:
    (run,) = client.get("/api/runs").json()
    return dict(run)


def path_of(client: TestClient) -> str:
    return f"/api/runs/{only_run(client)['id']}"


# --- Who gets an answer -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST"])
def test_without_the_link_there_is_no_answer(stranger: TestClient, method: str, path: str) -> None:
    assert stranger.request(method, path).status_code == 401
    assert stranger.request(method, path, params={"token": "x"}).status_code == 401
    stranger.cookies.set(f"symseed-studio-{PORT}", "guessed")
    assert stranger.request(method, path).status_code == 401


def test_the_link_gives_a_cookie_that_scripts_and_other_sites_cannot_use(guard: Guard, stranger: TestClient) -> None:
    answer = stranger.get("/", params={"token": guard.token})
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith(f"symseed-studio-{PORT}=")
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(cookie.split("; "))
    assert guard.token not in cookie
    assert stranger.get("/api/runs").status_code == 200


def test_a_ticket_opens_the_page_once(guard: Guard, stranger: TestClient) -> None:
    ticket = guard.ticket()
    assert stranger.get("/", params={"token": ticket}).status_code == 200
    stranger.cookies.clear()
    assert stranger.get("/", params={"token": ticket}).status_code == 401


def test_the_link_opens_the_page_and_nothing_else(guard: Guard, stranger: TestClient) -> None:
    assert stranger.get("/api/runs", params={"token": guard.token}).status_code == 401
    assert stranger.post("/", params={"token": guard.token}).status_code == 401


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"])
@pytest.mark.parametrize("host", ["evil.example", f"evil.example:{PORT}", "127.0.0.1", f"127.0.0.1:{PORT + 1}", ""])
def test_another_host_is_refused_on_every_method(client: TestClient, method: str, host: str) -> None:
    assert client.request(method, "/api/runs", headers={"host": host}).status_code == 421


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST"])
@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "", f"https://127.0.0.1:{PORT}", f"{HERE}.evil.example"]
)
def test_another_origin_is_refused_on_every_method(client: TestClient, method: str, origin: str) -> None:
    assert client.request(method, "/api/runs", headers={"origin": origin}).status_code == 403


def test_a_post_must_say_where_it_comes_from(client: TestClient) -> None:
    del client.headers["origin"]
    assert client.post("/api/tables/shipped", json={"name": "planets"}).status_code == 403
    assert client.get("/api/runs").status_code == 200


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"])
def test_methods_that_the_page_does_not_use_are_refused(client: TestClient, method: str) -> None:
    assert client.request(method, "/api/runs").status_code == 405


@pytest.mark.parametrize("path", [*PATHS[:4], "/?token=x"])
def test_every_answer_forbids_scripts_and_styles_within_the_page_and_frames(stranger: TestClient, path: str) -> None:
    headers = stranger.get(path).headers
    policy = headers["content-security-policy"]
    assert policy.startswith("default-src 'self';")
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert "access-control-allow-origin" not in headers


def test_the_page_has_no_script_or_style_of_its_own_and_loads_only_its_own_files(client: TestClient) -> None:
    page = client.get("/").text
    assert not re.search(r"<style|style=|<script(?![^>]*src=)|\son\w+=|https?:", page)
    names = re.findall(r'(?:src|href)="/assets/([^"]+)"', page)
    assert {"main.js", "page.css", "studio.css"} <= set(names)
    texts = {name: client.get(f"/assets/{name}") for name in [*names, *assets.KINDS]}
    assert all(answer.status_code == 200 and answer.text for answer in texts.values())
    scripts = "".join(answer.text for name, answer in texts.items() if name.endswith(".js"))
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function", scripts)
    assert set(re.findall(r'from "\./([^"]+)"', scripts)) <= set(assets.KINDS)


# --- Bodies and paths -------------------------------------------------------------------------------------------------


def test_a_body_beyond_its_limit_is_refused_by_its_length_and_by_its_content(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    huge = client.post(UPLOAD, content=b"a", headers={"content-length": str(2**30)})
    assert huge.status_code == 413
    assert "A table must have at most 256 MB" in huge.text
    assert client.post("/api/searches", content=b" " * (MOST_BODY + 1)).status_code == 413
    monkeypatch.setattr(guards, "MOST_BYTES", 1_000)
    parts = (b"1,2\n" * 50 for _ in range(10))  # a generator has no length in advance
    assert client.post(UPLOAD, content=parts).status_code == 413


def test_what_was_sent_beyond_the_limit_does_not_stay_on_the_disk(
    client: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guards, "MOST_BYTES", 1_000)
    client.post(UPLOAD, content=(b"1,2\n" * 50 for _ in range(10)))
    assert list((tmp_path / "own").iterdir()) == []


@pytest.mark.parametrize("length", ["-1", "1e3", "x", "٣"])
def test_a_length_that_is_no_number_is_refused(client: TestClient, length: str) -> None:
    answer = client.post("/api/searches", content=b"{}", headers={b"content-length": length.encode()})
    assert answer.status_code == 400


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b"[" * 100_000, b"\xff", b'{"table": 1}', b'{"table": {}}'])
def test_a_body_that_is_no_order_gets_a_sentence(client: TestClient, body: bytes) -> None:
    answer = client.post("/api/searches", content=body)
    assert answer.status_code == 400
    assert answer.text.endswith(".")


@pytest.mark.parametrize(
    "path",
    [
        "/assets/../server.py",
        "/assets/%2e%2e/server.py",
        "/assets/..%2f..%2f..%2fetc%2fpasswd",
        "/api/runs/../../etc",
        "/api/runs/%2e%2e",
        "/api/runs/latest",
        "/api/runs/x/files/..%2f..%2fevents.jsonl",
        "/assets/main.js%00",
    ],
)
def test_no_path_of_a_client_reaches_a_file(client: TestClient, path: str) -> None:
    assert client.get(path).status_code in (400, 404)


@pytest.mark.parametrize("name", ["events", "data.safetensors", "checkpoint", "..%2fconfig.toml"])
def test_only_named_parts_of_a_run_can_be_downloaded(client: TestClient, name: str) -> None:
    assert client.get(f"{path_of(client)}/files/{name}").status_code in (400, 404)


def test_a_link_in_a_run_folder_is_not_followed(client: TestClient, outputs: Path, tmp_path: Path) -> None:
    path = path_of(client)
    (tmp_path / "secret").write_text("secret")
    (run,) = outputs.iterdir()
    (run / "front.csv").unlink()
    (run / "front.csv").symlink_to(tmp_path / "secret")
    answer = client.get(f"{path}/files/front")
    assert answer.status_code == 400
    assert "secret" not in answer.text


# --- Runs ------------------------------------------------------------------------------------------------------------


def test_the_list_and_the_page_of_a_run_say_what_show_says(client: TestClient, outputs: Path) -> None:
    (folder,) = outputs.iterdir()
    front = SymbolicRegressor.from_file(folder).fronts[0]
    run = only_run(client)
    assert (run["state"], run["problem"], run["name"]) == ("ended", "", folder.name)
    assert str(outputs) not in client.get("/api/runs").text
    values = client.get(f"/api/runs/{run['id']}").json()
    (target,) = values["targets"]
    assert [row["text"] for row in target["front"]] == [item.text for item in front.equations]
    assert [row["loss"] for row in target["front"]] == [item.loss for item in front.equations]
    assert target["chosen"] == front.choice("best")
    assert target["reason"] == front.reason.value
    assert target["noise"] == front.noise.words
    assert target["history"][-1]["charged"] > 0
    assert any(moment["learning"] for moment in target["history"])
    assert [column["name"] for column in values["columns"]] == ["x", EVIL]


def test_what_a_network_expected_is_told_if_one_was_asked(client: TestClient, outputs: Path) -> None:
    path = path_of(client)
    assert client.get(path).json()["targets"][0]["expected"] == []
    log = RunLog(next(iter(outputs.iterdir())))
    log.open("resume", {})
    log.record_told(0, [Guess("const * x ^ 2", 0.25), Guess("sin(x)", 0.001)])
    log.close()
    assert client.get(path).json()["targets"][0]["expected"] == [["const * x ^ 2", "25 %"], ["sin(x)", "0.1 %"]]


def test_a_formula_comes_with_its_points_its_numbers_and_its_text_for_programs(
    client: TestClient, outputs: Path
) -> None:
    (folder,) = outputs.iterdir()
    model = SymbolicRegressor.from_file(folder)
    chosen = model.fronts[0].choice("best")
    values = client.get(f"{path_of(client)}/formula", params={"target": 0, "index": chosen}).json()
    x = np.array(client.get(f"{path_of(client)}/column", params={"target": 0, "column": 0}).json()["values"])
    other = np.array(client.get(f"{path_of(client)}/column", params={"target": 0, "column": 1}).json()["values"])
    table = pd.DataFrame({"x": x, EVIL: other})
    assert np.array_equal(values["predicted"], model.predict(table))
    assert np.allclose(values["measured"], 2.0 * x**2 + 0.01 * np.sin(7.0 * x))
    assert values["rmse"] == pytest.approx(model.fronts[0].equations[chosen].loss ** 0.5)
    assert {"latex", "python", "c", "sympy"} <= set(values["exports"])
    assert values["mathml"][0] == "math"
    assert values["tree"]["label"]
    assert values["constants"] == model.fronts[0].equations[chosen].constants


@pytest.mark.parametrize(
    "query", ["target=0&index=999", "target=9&index=0", "target=x&index=0", "", "target=0&index=-1"]
)
def test_a_formula_that_is_not_there_gets_a_sentence(client: TestClient, query: str) -> None:
    answer = client.get(f"{path_of(client)}/formula?{query}")
    assert answer.status_code == 400
    assert answer.text.endswith(".")


def test_a_damaged_run_is_shown_as_such_and_its_page_says_why(client: TestClient, outputs: Path) -> None:
    (folder,) = outputs.iterdir()
    (folder / "config.toml").write_text("schema = 'x'")
    run = only_run(client)
    assert run["state"] == "damaged"
    values = client.get(f"/api/runs/{run['id']}").json()
    assert "config.toml" in values["problem"]
    assert values["targets"] == []


def test_a_run_that_was_removed_gets_a_sentence(client: TestClient, outputs: Path) -> None:
    path = path_of(client)
    shutil.rmtree(outputs)
    assert client.get("/api/runs").json() == []
    assert client.get(path).text == "There is no such run, or it was removed."


def test_what_has_not_changed_is_not_read_again(client: TestClient, studio: Studio, outputs: Path) -> None:
    (reader,) = studio.runs.readers().values()
    before, version = reader.values(), reader.version
    assert reader.values() is before
    (folder,) = outputs.iterdir()
    with (folder / "events.jsonl").open("a") as log:
        log.write('{"event": "begin"}\n')
    assert reader.version != version
    assert reader.values() is not before


@pytest.mark.parametrize(("name", "beginning"), [("front", "Complexity,"), ("config", "# A run of symseed")])
def test_parts_of_a_run_are_downloaded(client: TestClient, name: str, beginning: str) -> None:
    answer = client.get(f"{path_of(client)}/files/{name}")
    assert answer.text.startswith(beginning)
    assert answer.headers["content-disposition"].startswith("attachment")


def test_the_report_of_a_run_is_downloaded(client: TestClient) -> None:
    answer = client.get(f"{path_of(client)}/files/report")
    assert answer.status_code == 200
    assert "<h2>The front</h2>" in answer.text


# --- Trying things ----------------------------------------------------------------------------------------------------


def test_a_formula_that_is_typed_is_fitted_as_by_evaluate(client: TestClient, tmp_path: Path) -> None:
    answer = client.post(f"{path_of(client)}/try?target=0", json={"formula": "const * x ^ 2 + const"}).json()
    x = np.linspace(1.0, 3.0, 30)
    table = pd.DataFrame({"x": x, "y": 2.0 * x**2 + 0.01 * np.sin(7.0 * x)})
    table.to_csv(tmp_path / "table.csv", index=False)
    command = ["evaluate", str(tmp_path / "table.csv"), "-y", "y", "const * x ^ 2 + const", "--json"]
    (own,) = json.loads(CliRunner().invoke(commands, command).stdout)
    assert answer["rmse"] == pytest.approx(own["rmse"], rel=1e-9)
    assert answer["loss"] == pytest.approx(own["rmse"] ** 2, rel=1e-9)
    assert answer["values"] == pytest.approx([2.0, 0.0], abs=0.01)
    assert 0.0 < answer["errors"][0] < 0.01
    assert answer["complexity"] == 7
    assert "latex" in answer["exports"]


@pytest.mark.parametrize(
    ("formula", "sentence"),
    [
        ("__import__('os')", "__import__"),
        ("x +", "Expected a number"),
        ("log(-x)", "cannot be fitted"),
        ("+".join(["const"] * 21), "at most 20 constants"),
        ("x" * 3_000, "at most 2,000 characters"),
        ("(" * 1_500, "."),
        (None, "must be a text"),
        (["x"], "must be a text"),
    ],
)
def test_a_formula_that_cannot_be_fitted_gets_a_sentence(client: TestClient, formula: Any, sentence: str) -> None:
    answer = client.post(f"{path_of(client)}/try?target=0", json={"formula": formula})
    assert answer.status_code == 400
    assert sentence in answer.text


def test_a_curve_follows_the_constants_and_the_columns_that_stand_still(client: TestClient) -> None:
    typed = f"const * x + const * `{EVIL}`"
    asked = {"typed": typed, "constants": [2.0, 3.0], "column": 0, "at": {"1": 0.5}}
    curve = client.post(f"{path_of(client)}/curve?target=0", json=asked).json()
    assert np.allclose(curve["y"], 2.0 * np.array(curve["x"]) + 1.5)
    assert (curve["x"][0], curve["x"][-1]) == (0.5, 3.5), "a quarter of the range beyond each end"
    x = np.linspace(1.0, 3.0, 30)
    assert np.allclose(curve["predicted"], 2.0 * x + 3.0 * np.cos(5.0 * x))


def test_the_curve_of_a_formula_of_the_front_has_its_own_values(client: TestClient, outputs: Path) -> None:
    (folder,) = outputs.iterdir()
    model = SymbolicRegressor.from_file(folder)
    index = model.fronts[0].choice("best")
    formula = client.get(f"{path_of(client)}/formula", params={"target": 0, "index": index}).json()
    asked = {"index": index, "constants": formula["values"], "column": 0}
    curve = client.post(f"{path_of(client)}/curve?target=0", json=asked).json()
    assert curve["predicted"] == formula["predicted"]


@pytest.mark.parametrize(
    "changed",
    [
        {"column": 9},
        {"column": None},
        {"constants": []},
        {"constants": [1.0, float("1e999")]},
        {"constants": ["x"]},
        {"at": {"7": 1.0}},
        {"at": [1]},
        {"typed": 5, "index": 99},
        {"typed": "x +"},
    ],
)
def test_a_curve_that_cannot_be_drawn_gets_a_sentence(client: TestClient, changed: dict[str, Any]) -> None:
    asked = {"typed": "const * x", "constants": [1.0], "column": 0} | changed
    answer = client.post(f"{path_of(client)}/curve?target=0", content=json.dumps(asked))
    assert answer.status_code == 400
    assert answer.text.endswith(".")


def test_a_curve_of_fitted_constants_has_a_band_and_the_range_of_the_data(client: TestClient, outputs: Path) -> None:
    (folder,) = outputs.iterdir()
    model = SymbolicRegressor.from_file(folder)
    index = model.fronts[0].choice("best")
    formula = client.get(f"{path_of(client)}/formula", params={"target": 0, "index": index}).json()
    asked = {"index": index, "constants": formula["values"], "column": 0, "has_band": True}
    curve = client.post(f"{path_of(client)}/curve?target=0", json=asked).json()
    assert curve["range"] == [1.0, 3.0]
    grid = pd.DataFrame(
        {"x": curve["x"], EVIL: np.quantile(np.cos(5.0 * np.linspace(1.0, 3.0, 30)), 0.5, method="lower")}
    )
    low, high = model.predict_interval(grid, index=index)
    assert np.allclose(curve["low"], low)
    assert np.allclose(curve["high"], high)
    assert "low" not in client.post(f"{path_of(client)}/curve?target=0", json=asked | {"has_band": False}).json()


# --- Understanding ----------------------------------------------------------------------------------------------------


def test_the_policies_are_asked_along_a_formula(client: TestClient) -> None:
    run = client.get(path_of(client)).json()
    (target,) = run["targets"]
    index = next(place for place, row in enumerate(target["front"]) if "x" in row["text"])
    found = client.get(f"{path_of(client)}/learnt", params={"target": 0, "index": index}).json()
    assert any(search["legal"] for search in found)
    for search in found:
        assert search["charged"][0] == 0
        assert search["charged"][-1] == target["history"][-1]["charged"]
        assert all(len(one["values"]) == len(search["charged"]) for one in [*search["root"], *search["along"]])
        for one in search["along"][:1]:
            root = {token["token"]: token["values"] for token in search["root"]}
            assert root.get(one["token"], one["values"]) == one["values"]
            assert all(share > 0.0 for _, share in one["others"])


def test_a_search_that_cannot_write_a_formula_says_so(client: TestClient) -> None:
    (target,) = client.get(path_of(client)).json()["targets"]
    found = client.get(f"{path_of(client)}/learnt", params={"target": 0, "index": len(target["front"]) - 1}).json()
    assert all(search["legal"] == bool(search["along"]) for search in found)


def test_a_run_without_policies_has_none(client: TestClient, outputs: Path) -> None:
    (folder,) = outputs.iterdir()
    shutil.rmtree(folder / "policies")
    assert client.get(f"{path_of(client)}/learnt", params={"target": 0, "index": 0}).json() == []
    assert client.get(f"{path_of(client)}/learnt", params={"target": 0, "index": 99}).status_code == 400


def test_the_history_has_lineages_and_its_formulas_typeset(client: TestClient) -> None:
    (target,) = client.get(path_of(client)).json()["targets"]
    found = [moment for moment in target["history"] if moment["found_by"]]
    assert found
    assert all(moment["lineage"] and moment["lineage"][0]["change"] for moment in found)
    assert all(target["typeset"][moment["formula"]][0] == "math" for moment in found)


# --- Stores -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def store(outputs: Path) -> Path:
    """A store of two runs."""
    folder = outputs / "records"
    make_store(folder)
    return folder


def test_a_store_opens_as_its_recovery_table_with_its_figures(client: TestClient, store: Path) -> None:
    (listed,) = client.get("/api/stores").json()
    assert listed["name"] == "records"
    path = f"/api/stores/{listed['id']}"
    table = client.get(path).json()
    assert table["problems"]["nggp"]["Nguyen-1"]["recovered"] == 1
    assert table["problems"]["nggp"]["Nguyen-1"]["runs"] == 2
    assert table["summary"]["nggp"]["all"] == 50.0
    assert "time" in table["figures"]
    figure = client.get(f"{path}/time.svg")
    assert figure.headers["content-type"] == "image/svg+xml"
    assert b"<svg" in figure.content
    missing = client.get(f"{path}/recovery-by-noise.svg")
    assert (missing.status_code, "needs records of" in missing.text) == (400, True)
    assert client.get(f"{path}/other.svg").status_code == 400
    assert client.get(f"{path}/time.svg", params={"methods": "nggp"}).status_code == 200
    assert client.get(f"{path}/time.svg", params={"methods": "nggp,--output=x"}).status_code == 400
    assert len(client.get("/api/runs").json()) == 1, "a store is no run"


def test_a_store_that_has_grown_is_read_again_and_a_damaged_one_gets_a_sentence(
    client: TestClient, studio: Studio, store: Path
) -> None:
    (own,) = (one["id"] for one in studio.stores.listed())
    before, version = studio.stores.table(own), studio.stores.version()
    assert studio.stores.table(own) is before
    with (store / "records.jsonl").open("a") as file:
        file.write('{"schema": 1}\n')
    assert studio.stores.version() != version
    answer = client.get(f"/api/stores/{own}")
    assert answer.status_code == 400
    assert "damaged" in answer.text


@pytest.mark.parametrize("name", ["x", "..%2f..", "%2e%2e"])
def test_a_store_is_known_by_its_id_only(client: TestClient, store: Path, name: str) -> None:
    assert client.get(f"/api/stores/{name}").status_code in (400, 404)
    assert client.get(f"/api/stores/{name}/time.svg").status_code in (400, 404)


# --- Tables ----------------------------------------------------------------------------------------------------------


def given(client: TestClient, content: bytes, name: str = "table.csv") -> Any:
    return client.post(UPLOAD, params={"name": name}, content=content)


def test_a_table_is_shown_with_the_readers_remarks_and_its_values(client: TestClient) -> None:
    table = given(client, b"id;a;b;word\n1;1,5;2;x\n2;2,5;;y\n3;3,5;8;z\n", "my table.csv").json()
    assert table["source"] == "my_table.csv"
    assert table["rows"] == 3
    assert table["facts"][0].startswith("semicolons between columns")
    columns = {column["name"]: column for column in table["columns"]}
    assert columns["a"]["cells"] == ["1.5", "2.5", "3.5"]
    assert columns["a"]["bars"]["low"] == 1.5
    assert sum(columns["a"]["bars"]["counts"]) == 3
    assert columns["b"]["words"] == "numbers; 1 gap"
    assert [name for name, column in columns.items() if column["is_odd"]] == ["b"]
    assert [name for name, column in columns.items() if column["is_input"]] == ["a", "b"]
    assert not columns["word"]["is_number"]
    assert table["columns"][table["target"]]["name"] == "b"


@pytest.mark.parametrize(
    "name",
    ["t.csv", "t.tsv", "t.txt", "utf16.csv", "latin.csv", "t.xlsx", "t.parquet", "t.feather", "t.json", "t.jsonl"],
)
def test_every_kind_of_table_that_fit_reads_is_read(client: TestClient, tmp_path: Path, name: str) -> None:
    frame = pd.DataFrame({"größe": [1.5, 2.5, 4.0], "y": [2.0, 3.5, 7.25]})
    writes: dict[str, Callable[[Path], Any]] = {
        "t.csv": lambda path: frame.to_csv(path, index=False),
        "t.tsv": lambda path: frame.to_csv(path, index=False, sep="\t"),
        "t.txt": lambda path: path.write_text(frame.to_string(index=False), encoding="utf-8"),
        "utf16.csv": lambda path: frame.to_csv(path, index=False, sep=";", decimal=",", encoding="utf-16"),
        "latin.csv": lambda path: frame.to_csv(path, index=False, encoding="latin-1"),
        "t.xlsx": lambda path: frame.to_excel(path, index=False),
        "t.parquet": frame.to_parquet,
        "t.feather": frame.to_feather,
        "t.json": lambda path: frame.to_json(path, orient="records"),
        "t.jsonl": lambda path: frame.to_json(path, orient="records", lines=True),
    }
    writes[name](tmp_path / name)
    table = given(client, (tmp_path / name).read_bytes(), name).json()
    assert [(column["name"], column["is_input"]) for column in table["columns"]] == [("größe", True), ("y", True)]
    assert table["target"] == 1
    assert [float(cell) for cell in table["columns"][1]["cells"]] == frame["y"].tolist()
    assert [column["bars"]["high"] for column in table["columns"]] == [4.0, 7.25]


def test_a_table_that_ships_is_taken_by_name_and_nothing_else_is(client: TestClient) -> None:
    assert client.post("/api/tables/shipped", json={"name": "planets"}).json()["rows"] == 8
    for name in ["/etc/passwd", "../planets", "", "planets.csv", None]:
        answer = client.post("/api/tables/shipped", json={"name": name})
        assert answer.status_code == 400
        assert answer.text.startswith("The tables that ship are `ac")


@pytest.mark.parametrize(
    "name",
    ["../../evil.csv", "/etc/passwd", "..\\..\\evil", "a\0b.csv", "", ".", "..", ".bashrc", "x" * 5_000, "é.csv"],
)
def test_of_a_files_name_only_letters_and_digits_reach_the_disk(client: TestClient, tmp_path: Path, name: str) -> None:
    assert given(client, b"a,b\n1,2\n3,4\n", name).status_code == 200
    (path,) = [path for path in (tmp_path / "own").rglob("*") if path.is_file()]
    assert path.parent.parent == tmp_path / "own"
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,40}(\.[A-Za-z0-9_-]{1,10})?", path.name)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"a" + b",a" * 10**6 + b"\n" + b"1" + b",1" * 10**6 + b"\n", "100,000 columns"),
        (b"\x00" * 1000, "`table.csv` must be a table"),
        (b"a,b\x00c\n1,2\n3,4\n", "bytes that no text has, in line 1"),
        (b"a,b\n1,\x002\n3,4\n", "bytes that no text has, in line 2"),
        (b"", "is empty"),
        (b"\x7fELF" + bytes(range(256)) * 9, "."),
    ],
    ids=["columns", "NUL", "NUL in a name", "NUL in a cell", "empty", "program"],
)
def test_a_hostile_table_gets_a_sentence_and_is_not_kept(
    client: TestClient, tmp_path: Path, content: bytes, sentence: str
) -> None:
    answer = given(client, content)
    assert answer.status_code == 400
    assert sentence in answer.text
    assert answer.text.endswith(".")
    assert "Traceback" not in answer.text
    assert [path for path in (tmp_path / "own").rglob("*") if path.is_file()] == []


def test_names_that_are_commands_or_scripts_are_shown_as_they_are(client: TestClient) -> None:
    evil = EVIL.replace('"', '""')
    table = given(client, f"=cmd|' /C calc'!A0,\"{evil}\",y\n1,2,3\n4,5,6\n".encode())
    assert table.headers["content-type"] == "application/json"
    assert [column["name"] for column in table.json()["columns"]] == ["=cmd|' /C calc'!A0", EVIL, "y"]


def test_a_gigabyte_is_refused_before_it_is_read(client: TestClient, tmp_path: Path) -> None:
    sent = 0

    def gigabyte() -> Iterator[bytes]:
        nonlocal sent
        for _ in range(1024):
            sent += 1
            yield b"1,2\n" * 2**18

    answer = client.post(UPLOAD, content=gigabyte(), headers={"content-length": str(2**30)})
    assert (answer.status_code, "at most 256 MB" in answer.text) == (413, True)
    assert list((tmp_path / "own").iterdir()) == []


def test_a_table_of_many_columns_is_listed_in_part(client: TestClient) -> None:
    table = given(
        client, (",".join(f"c{i}" for i in range(400)) + "\n" + ",".join(["1.5"] * 400) + "\n").encode()
    ).json()
    assert len(table["columns"]) == 300
    assert "the first 300 of 400 columns" in table["notes"][-1]


def test_old_tables_are_given_up(client: TestClient, tmp_path: Path) -> None:
    tables = [given(client, b"a,b\n1,2\n3,4\n").json()["id"] for _ in range(22)]
    assert len(list((tmp_path / "own").iterdir())) == 20
    order = {"table": tables[0], "target": 0, "inputs": [1], "seconds": 5}
    assert client.post("/api/searches", json=order).text == "The table is not known any more. Give it again."


# --- Searches --------------------------------------------------------------------------------------------------------


def until(question: Callable[[], Any], seconds: float = 60.0) -> Any:
    """Ask until there is an answer; the tests themselves have no time in them, but a process needs some."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        answer = question()
        if answer:
            return answer
        time.sleep(0.05)
    raise AssertionError("there was no answer in time")


def started(client: TestClient, table: str, **order: Any) -> str:
    """Start a search, and return the path of its run."""
    answer = client.post("/api/searches", json={"table": table, "seconds": 600, **order})
    assert answer.status_code == 200, answer.text
    begun = until(lambda: client.get(f"/api/searches/{answer.json()['search']}").json()["run"])
    return f"/api/runs/{begun}"


@pytest.fixture
def noisy(client: TestClient) -> str:
    """A table whose search does not end by itself."""
    return str(given(client, noisy_table(40).encode()).json()["id"])


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_a_search_is_started_stopped_resumed_and_found_by_another_server(
    client: TestClient, another: Studio, noisy: str
) -> None:
    path = started(client, noisy, target=1, inputs=[0], operators="sin,exp", units=[[0, "s"]])
    until(lambda: client.get(path).json()["targets"][0]["history"])
    assert client.get(path).json()["state"] == "searching"
    assert client.get(path).json()["limits"]["seconds"] == 600.0
    second = Guard(another.app(), PORT)
    with TestClient(second, base_url=HERE, headers={"origin": HERE}) as again:
        again.get("/", params={"token": second.token})
        assert again.get(path).json()["state"] == "searching"
        assert again.post(f"{path}/stop").status_code == 200
        until(lambda: again.get(path).json()["state"] == "interrupted")
        assert again.post(f"{path}/pause", json={"is_paused": True}).status_code == 200, "nothing is left to pause"
        for limit in (660.0, 720.0):
            assert again.post(f"{path}/resume", json={"seconds": 60}).status_code == 200, again.get(path).text
            assert again.get(path).json()["state"] == "searching"
            assert again.get(path).json()["limits"]["seconds"] == limit
        again.post(f"{path}/stop")
        until(lambda: again.get(path).json()["state"] == "interrupted")


def test_a_column_of_text_can_be_an_input_as_categories(client: TestClient, studio: Studio) -> None:
    lines = "".join(f"{x},{kind},{2 * x + shift}\n" for x in range(1, 9) for kind, shift in (("a", 0), ("b", 5)))
    table = given(client, f"x,kind,y\n{lines}".encode()).json()
    assert [column["is_text"] for column in table["columns"]] == [False, True, False]
    order = {"table": table["id"], "target": 2, "inputs": [0, 1], "seconds": 600, "formulas": 2_000}
    search = client.post("/api/searches", json=order).json()["search"]
    studio.searches._started[search].process.wait(60)
    run = client.get(f"/api/searches/{search}").json()["run"]
    names = [column["name"] for column in client.get(f"/api/runs/{run}").json()["columns"]]
    assert names[0] == "x"
    assert any("kind" in name for name in names[1:])


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_a_search_is_paused_goes_on_and_is_stopped_in_a_pause(client: TestClient, noisy: str) -> None:
    path = started(client, noisy, target=1, inputs=[0])
    until(lambda: client.get(path).json()["targets"][0]["history"])
    client.post(f"{path}/pause", json={"is_paused": True})
    until(lambda: client.get(path).json()["state"] == "paused")
    (before,) = client.get(path).json()["targets"]
    time.sleep(1.0)
    assert client.get(path).json()["targets"][0]["turns"] == before["turns"]
    client.post(f"{path}/pause", json={"is_paused": False})
    until(lambda: client.get(path).json()["targets"][0]["turns"] > before["turns"])
    assert client.get(path).json()["state"] == "searching"
    client.post(f"{path}/pause", json={"is_paused": True})
    until(lambda: client.get(path).json()["state"] == "paused")
    client.post(f"{path}/stop")
    until(lambda: client.get(path).json()["state"] == "interrupted")


@pytest.mark.parametrize("sent", [{}, {"is_paused": 1}, {"is_paused": "yes"}])
def test_a_pause_must_be_true_or_false(client: TestClient, sent: dict[str, Any]) -> None:
    assert client.post(f"{path_of(client)}/pause", json=sent).text == "`is_paused` must be true or false."


def test_a_search_that_has_ended_before_it_is_asked_for_is_found(client: TestClient, studio: Studio) -> None:
    table = given(client, b"x,y\n" + b"".join(b"%d,%d\n" % (x, 2 * x) for x in range(1, 9))).json()["id"]
    order = {"table": table, "target": 1, "inputs": [0], "seconds": 600}
    search = client.post("/api/searches", json=order).json()["search"]
    studio.searches._started[search].process.wait(60)
    run = client.get(f"/api/searches/{search}").json()["run"]
    assert client.get(f"/api/runs/{run}").json()["state"] == "ended"


def test_what_the_search_refuses_is_said_by_its_own_sentence(client: TestClient, noisy: str) -> None:
    order = {"table": noisy, "target": 1, "inputs": [0], "seconds": 5, "operators": "sine"}
    search = client.post("/api/searches", json=order).json()["search"]
    answer = until(lambda: (got := client.get(f"/api/searches/{search}")).status_code == 400 and got)
    assert "`sine`, which is not an operator" in answer.text


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"target": 5}, "no such column"),
        ({"target": -1}, "no such column"),
        ({"inputs": []}, "at least one input"),
        ({"inputs": [1]}, "not the target"),
        ({"seconds": 1e9}, "`seconds` must be from"),
        ({"seconds": "x"}, "must have target, inputs and seconds"),
        ({"operators": "sin; rm -rf ~"}, "Operators must be names"),
        ({"operators": "--config=x\n"}, "Operators must be names"),
        ({"inputs": "a"}, "must have target"),
        ({"formulas": 0}, "`formulas` must be from"),
        ({"formulas": "x"}, "must have target"),
    ],
)
def test_an_order_that_cannot_be_followed_gets_a_sentence(
    client: TestClient, noisy: str, changed: dict[str, Any], sentence: str
) -> None:
    answer = client.post("/api/searches", json={"table": noisy, "target": 1, "inputs": [0], "seconds": 5} | changed)
    assert answer.status_code == 400
    assert sentence in answer.text


def test_names_of_columns_cannot_become_options_of_the_command(client: TestClient, studio: Studio, noisy: str) -> None:
    table = given(client, b'--in-memory,"a,""1""",-y\n1,2,3\n4,5,6\n').json()["id"]
    order = searches.Order.of({"target": 0, "inputs": [1, 2], "seconds": 5})
    arguments = order.arguments(studio.uploads.find(table), Path("/runs"))
    assert arguments[:3] == ["fit", "--target=--in-memory", '--inputs="a,""1""",-y']
    assert arguments[-2] == "--"


def test_only_so_many_searches_run_at_once(client: TestClient, noisy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searches, "MOST_SEARCHES", 0)
    answer = client.post("/api/searches", json={"table": noisy, "target": 1, "inputs": [0], "seconds": 5})
    assert "At most 0 searches run at once" in answer.text


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_a_log_that_names_a_process_which_does_not_write_to_it_is_not_believed(
    client: TestClient, outputs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder from somebody else may name any process; none is sent a signal."""
    path = path_of(client)
    (folder,) = outputs.iterdir()
    lines = (folder / "events.jsonl").read_text().splitlines()
    begin = json.loads(lines[0])
    assert begin["pid"] == os.getpid()
    (folder / "events.jsonl").write_text("\n".join([json.dumps(begin | {"pid": os.getppid()}), *lines[1:]]) + "\n")
    sent: list[Any] = []
    kill = os.kill
    monkeypatch.setattr(os, "kill", lambda pid, number: kill(pid, number) if number == 0 else sent.append(pid))
    assert client.get(path).json()["state"] == "ended"
    client.post(f"{path}/stop")
    assert sent == []


# --- The whole server ------------------------------------------------------------------------------------------------


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_the_command_prints_a_link_that_works_and_leaves_nothing_behind(
    outputs: Path, tmp_path: Path, ending: signal.Signals
) -> None:
    folder = tmp_path / "temporary"
    folder.mkdir()
    command = [sys.executable, "-m", "symseed", "studio", str(outputs), "--no-browser", "--port", "0"]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipes, env=os.environ | {"TMPDIR": str(folder)}) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        link = line.removeprefix("The page is at ").strip()
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=[\w-]{43}", link)
        with httpx2.Client(base_url=link.partition("?")[0]) as client:
            assert until(lambda: client.get(link).status_code == 200)
            (run,) = client.get("/api/runs").json()
            with client.stream("GET", "/api/events", params={"run": run["id"]}) as stream:
                first = next(line for line in stream.iter_lines() if line.startswith("data: "))
                assert json.loads(first.removeprefix("data: "))["run"]
                assert list(folder.iterdir())
                process.send_signal(ending)
                assert process.wait(20) == 0
        assert process.stderr is not None
        assert "Traceback" not in process.stderr.read()
    assert list(folder.iterdir()) == []


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_connections_are_bounded_and_the_page_answers_again_when_they_close(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "symseed", "studio", str(tmp_path), "--no-browser", "--port", "0"]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
    with subprocess.Popen(command, **pipes) as process, contextlib.ExitStack() as opened:
        assert process.stdout is not None
        link = process.stdout.readline().removeprefix("The page is at ").strip()
        port = int(link.split(":")[2].partition("/")[0])
        for _ in range(server._MOST_CONNECTIONS):
            opened.enter_context(socket.create_connection(("127.0.0.1", port)))
        assert until(lambda: httpx2.get(link).status_code == 503)
        opened.close()
        assert until(lambda: httpx2.get(link).status_code == 200)
        process.terminate()


def test_a_port_that_is_taken_gets_a_sentence(tmp_path: Path) -> None:
    with server._listening(0) as taken:
        taken.listen()
        port = str(taken.getsockname()[1])
        command = [sys.executable, "-m", "symseed", "studio", str(tmp_path), "--no-browser", "--port", port]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 2
    assert f"port {port} is taken" in done.stderr


def test_a_missing_extra_gets_a_sentence(tmp_path: Path) -> None:
    script = "import sys; sys.modules['uvicorn'] = None; from symseed.cli.main import main; main()"
    done = subprocess.run([sys.executable, "-c", script, "studio"], check=False, capture_output=True, text=True)
    assert done.returncode == 2
    assert "pip install 'symseed[studio]'" in done.stderr
