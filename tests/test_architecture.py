"""What the whole package keeps to."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import symseed

PACKAGE = Path(symseed.__file__).parent
MODULES = sorted(info.name for info in pkgutil.iter_modules([str(PACKAGE)]))
SOURCES = sorted(PACKAGE.glob("*.py"))


def test_there_are_modules_to_check() -> None:
    assert {"_core", "library", "space"} <= set(MODULES)
    assert len(SOURCES) > 10


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.name)
def test_modules_import_only_modules_from_the_package_itself(source: Path) -> None:
    for node in ast.walk(ast.parse(source.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module == "symseed":
            assert {alias.name for alias in node.names} <= set(MODULES)


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.name)
def test_nothing_prints_or_runs_text_or_draws_from_a_global_generator(source: Path) -> None:
    for node in ast.walk(ast.parse(source.read_text())):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            assert called not in {"print", "eval", "exec", "compile", "pickle.load", "pickle.loads", "sympify"}
            assert not called.startswith("np.random.") or called.startswith(
                ("np.random.default_rng", "np.random.SeedSequence")
            )


@pytest.mark.parametrize("name", symseed.__all__)
def test_every_public_name_is_documented(name: str) -> None:
    assert getattr(symseed, name).__doc__


@pytest.mark.parametrize("name", MODULES)
def test_every_module_says_what_it_is_for_in_its_first_line(name: str) -> None:
    module = importlib.import_module(f"symseed.{name}")
    assert module.__doc__
    assert len(module.__doc__.splitlines()[0]) > 20


def loaded_by(script: str) -> set[str]:
    script += "; import sys; print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    return set(done.stdout.splitlines()[-1].split())


def test_importing_needs_numpy_and_nothing_heavier() -> None:
    loaded = loaded_by("import symseed")
    assert "numpy" in loaded
    assert not {"torch", "sympy", "pandas", "sklearn", "scipy", "matplotlib", "click"} & loaded


@pytest.mark.parametrize(
    ("arguments", "heavy"),
    [
        (["--version"], ["sympy", "pandas", "sklearn", "rich"]),
        (["evaluate", "planets", "axis_au^1.5", "--target", "period_days"], ["sympy", "pandas", "sklearn", "rich"]),
        (["bench", "list"], ["sympy", "pandas", "sklearn", "rich"]),
        (["--help"], ["sympy", "matplotlib"]),
    ],
    ids=["version", "evaluate", "bench list", "help"],
)
def test_a_command_loads_only_what_it_needs(arguments: list[str], heavy: list[str]) -> None:
    loaded = loaded_by(f"from symseed.cli import commands; commands({arguments!r}, standalone_mode=False)")
    assert {"click", "symseed"} <= loaded
    assert not loaded.intersection(heavy)
