"""Files that were damaged or forged: bytes, and values of the wrong shape, type or size, as hypothesis strategies."""

from __future__ import annotations

import contextlib
import copy
import io
import json
import shutil
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from hypothesis import strategies as st
from safetensors.numpy import load, save

from symseed import SymbolicRegressor, SymseedError, files
from symseed.cli import main

_DEEP: list[Any] = []
for _ in range(200):
    _DEEP = [_DEEP]
VALUES: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    -1,
    1,
    2**31,
    2**63,
    10**30,
    1e308,
    -1e-320,
    float("nan"),
    float("inf"),
    "",
    "x",
    "none",
    "inf",
    "\0",
    "é" * 300,
    "a function of your own: f",
    "+ x1",
    "x1 + ",
    "exp(" * 900 + "x1" + ")" * 900,
    [],
    {},
    [1, 2],
    ["a", "a"],
    [[]],
    {"": 0},
    _DEEP,
)
"""Values that a file may hold in place of any other."""

ARRAYS: tuple[Callable[[np.ndarray[Any, Any]], np.ndarray[Any, Any]], ...] = (
    lambda array: array[:0],
    lambda array: array[:1],
    lambda array: array.reshape(-1),
    lambda array: array[None],
    lambda array: np.concatenate([array, array]),
    lambda array: array.astype(np.float32),
    lambda array: array.astype(np.int8),
    lambda array: np.zeros_like(array),
    lambda array: np.full_like(array, -1 if array.dtype.kind in "if" else 1),
    lambda array: (
        np.full_like(array, np.nan) if array.dtype.kind == "f" else np.full_like(array, _largest(array.dtype))
    ),
    lambda array: np.full_like(array, 1e300) if array.dtype == np.float64 else array[..., :0],
    lambda array: np.array(0.0),
)
"""Changes of an array of a safetensors file."""


def _largest(dtype: np.dtype[Any]) -> Any:
    return np.iinfo(dtype).max if dtype.kind in "iu" else 1


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the paths of all values within a value."""
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, part in parts for place in places(part, (*path, key)))]


def forged(draw: st.DrawFn, value: Any) -> Any:
    """Draw the same value with one part removed or replaced."""
    path = draw(st.sampled_from(places(value)))
    other = draw(st.sampled_from([*VALUES, ...]))
    if not path:
        return None if other is ... else other
    out = copy.deepcopy(value)
    inner = out
    for key in path[:-1]:
        inner = inner[key]
    if other is ...:
        del inner[path[-1]]
    else:
        inner[path[-1]] = other
    return out


@st.composite
def damaged(draw: st.DrawFn, content: bytes) -> bytes:
    """Draw the bytes of a file that was cut, changed in places, or replaced."""
    kind = draw(st.sampled_from(["cut", "changed", "inserted", "replaced"]))
    if kind == "replaced":
        return draw(st.binary(max_size=200))
    at = draw(st.integers(0, max(0, len(content) - 1)))
    if kind == "cut":
        return content[:at]
    some = draw(st.binary(min_size=1, max_size=8) | st.sampled_from([b"9" * 5_000, b"[" * 5_000, b"\n", b'"', b"\0"]))
    return content[:at] + some + content[at + (len(some) if kind == "changed" else 0) :]


@st.composite
def forged_json(draw: st.DrawFn, content: bytes) -> bytes:
    """Draw the content of a JSON file with one value replaced."""
    return json.dumps(forged(draw, json.loads(content))).encode()


@st.composite
def forged_lines(draw: st.DrawFn, content: bytes) -> bytes:
    """Draw lines of JSON, in one of which one value is replaced."""
    lines = content.splitlines()
    at = draw(st.integers(0, len(lines) - 1))
    lines[at] = draw(forged_json(lines[at]))
    return b"\n".join(lines) + b"\n"


@st.composite
def forged_toml(draw: st.DrawFn, content: bytes) -> bytes:
    """Draw the content of a TOML file with one value replaced; values that TOML lacks are left out."""
    values = forged(draw, files.toml_values(content.decode()))
    try:
        return files.toml_text(values).encode()
    except (TypeError, AttributeError, RecursionError):
        return b""


@st.composite
def forged_table(draw: st.DrawFn, content: bytes) -> bytes:
    """Draw the content of a CSV file with one cell replaced."""
    lines = [line.split(",") for line in content.decode().splitlines()]
    line = draw(st.sampled_from(lines))
    line[draw(st.integers(0, len(line) - 1))] = str(draw(st.sampled_from(VALUES[:-1])))
    return "\n".join(map(",".join, lines)).encode(errors="replace")


@st.composite
def forged_arrays(draw: st.DrawFn, content: bytes) -> bytes:
    """Draw a safetensors file in which one array is changed, or missing."""
    arrays = load(content)
    name = draw(st.sampled_from(sorted(arrays)))
    change = draw(st.sampled_from([*ARRAYS, None]))
    if change is None:
        del arrays[name]
    else:
        with np.errstate(over="ignore", invalid="ignore"):  # casts to small numbers are part of the damage
            arrays[name] = np.ascontiguousarray(change(arrays[name]))
    return save(arrays)


FORGED: dict[str, Callable[[bytes], st.SearchStrategy[bytes]]] = {
    "config.toml": forged_toml,
    "data.safetensors": forged_arrays,
    "events.jsonl": forged_lines,
    "front.csv": forged_table,
    "near.csv": forged_table,
    "checkpoint/a.json": forged_json,
    "checkpoint/a.safetensors": forged_arrays,
    "checkpoint/b.json": forged_json,
    "checkpoint/b.safetensors": forged_arrays,
}
"""The files of a run, and what each may hold in place of what it holds."""


def killed_run(parent: Path) -> Path:
    """Make a run that was killed after its last turn, so that it has checkpoints and no end."""
    rng = np.random.default_rng(3)
    X = rng.uniform(0.5, 3.0, (20, 2))
    y = np.exp(-X[:, 0]) * np.sin(3.0 * X[:, 1]) + 0.1 * rng.normal(size=20)
    given: dict[str, Any] = {"method": "nggp-s-1", "constants": True, "max_evals": 6_000, "max_time": None}
    model = SymbolicRegressor(**given, patience=None, random_state=1, output_directory=parent).fit(X, y)
    assert model.run_directory_ is not None
    folder = Path(model.run_directory_)
    events = folder / "events.jsonl"
    events.write_bytes(b"".join(line for line in events.read_bytes().splitlines(True) if b'"found"' not in line))
    if not (folder / "near.csv").exists():
        shutil.copy(folder / "front.csv", folder / "near.csv")
    return folder


def copy_with(whole: Path, folder: Path, name: str, content: bytes) -> None:
    """Copy a run with another content of one file; hashes are forged too, so that they do not protect it."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(whole, folder)
    (folder / name).write_bytes(content)
    if name == "data.safetensors":
        config = folder / "config.toml"
        config.write_text(config.read_text().replace(files.digest((whole / name).read_bytes()), files.digest(content)))
    elif name.endswith(".safetensors"):
        manifest = folder / name.replace("safetensors", "json")
        manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"sha256": files.digest(content)}))


def command(*arguments: str) -> tuple[int, str, str]:
    """Run a command in this process, and return its exit code, output and messages."""
    out, err = io.StringIO(), io.StringIO()
    with (
        mock.patch.object(sys, "argv", ["symseed", *arguments]),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("always")
        try:
            main.main()
        except SystemExit as ended:
            return int(ended.code or 0), out.getvalue(), err.getvalue()
    raise AssertionError("`main` ends by an exit")


@contextlib.contextmanager
def may_refuse() -> Iterator[None]:
    """Let symseed refuse what it is given, with a message of ordinary length."""
    try:
        yield
    except SymseedError as error:
        if len(str(error)) > 3_000:
            raise AssertionError(f"A message has {len(str(error))} characters.") from error


def check_sentence(code: int, err: str) -> None:
    """Check that a command ended well, or with a sentence of ordinary length."""
    assert code in (0, 2), err
    assert "fault of symseed" not in err
    assert "Traceback" not in err
    lines = err.splitlines()
    assert all(line.startswith(("symseed: ", "Usage: ", "Try ", "Error: ")) for line in lines if line.strip()), err
    assert max(map(len, lines), default=0) < 2_000, err
