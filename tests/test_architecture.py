"""What the whole package keeps to."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import symseed

PACKAGE = Path(symseed.__file__).parent
MODULES = sorted(info.name for info in pkgutil.walk_packages([str(PACKAGE)], "symseed."))
SOURCES = sorted(PACKAGE.rglob("*.py"))
ROOMS = sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py"))


def name_of(source: Path) -> str:
    return ".".join(("symseed", *source.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")


def test_every_file_is_a_module_that_is_checked() -> None:
    assert len(ROOMS) == 20
    native = {"symseed._core"}
    assert {name_of(source) for source in SOURCES} - {"symseed"} == set(MODULES) - native
    assert len(SOURCES) == len(MODULES) - len(native) + 1 > 70


@pytest.mark.parametrize("source", SOURCES, ids=name_of)
def test_modules_import_only_modules_from_the_package_itself(source: Path) -> None:
    for node in ast.walk(ast.parse(source.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module == "symseed" and source != PACKAGE / "__init__.py":
            assert {f"symseed.{alias.name}" for alias in node.names} <= set(MODULES)


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_says_in_one_sentence_what_it_is_and_names_what_is_public(room: str) -> None:
    package = importlib.import_module(f"symseed.{room}")
    assert package.__doc__
    tree = ast.parse((PACKAGE / room / "__init__.py").read_text())
    exported = {alias.name for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert exported - {"annotations"} <= {*getattr(package, "__all__", ()), *dir(package)}
    for name in getattr(package, "__all__", ()):
        assert getattr(package, name).__doc__ or name.isupper()


@pytest.mark.parametrize("source", SOURCES, ids=name_of)
def test_nothing_prints_or_runs_text_or_draws_from_a_global_generator(source: Path) -> None:
    for node in ast.walk(ast.parse(source.read_text())):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            assert called not in {"print", "eval", "exec", "compile", "pickle.load", "pickle.loads", "sympify"}
            assert not called.startswith("np.random.") or called.startswith(
                ("np.random.default_rng", "np.random.SeedSequence", "np.random.RandomState")
            )


MOST_METHODS, MOST_ATTRIBUTES, MOST_LINES, MOST_IMPORTS = 15, 12, 60, 12
"""Of a class (properties and special methods aside), of an object, of a function without its docstring, of a module."""
LARGE_CLASSES = {"SymbolicRegressor"}
"""scikit-learn's interface is one class."""
KNOWS_MUCH = {
    "symseed",
    "symseed.search.search",
    "symseed.methods.beyond",
    "symseed.cli.searching",
    "symseed.cli.results",
}
"""What puts parts together: the package's names, the rounds of a search, the default method, the command line."""


def imported(source: Path) -> set[str]:
    """Return the modules and rooms of the package that a module imports."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "symseed":
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                found.add(inner if inner in MODULES else str(node.module))
    return found - {"symseed"}


def is_method(node: ast.AST) -> bool:
    """Return whether a part of a class is a method of its own, and not a property or a special method."""
    if not isinstance(node, ast.FunctionDef) or node.name.startswith("__"):
        return False
    return not any("property" in ast.unparse(decorator) for decorator in node.decorator_list)


@pytest.mark.parametrize("source", SOURCES, ids=name_of)
def test_no_module_knows_too_much_and_no_class_or_function_is_too_large(source: Path) -> None:
    if name_of(source) not in KNOWS_MUCH:
        assert len(imported(source)) <= MOST_IMPORTS, sorted(imported(source))
    for node in ast.walk(ast.parse(source.read_text())):
        if isinstance(node, ast.ClassDef) and node.name not in LARGE_CLASSES:
            assert sum(map(is_method, node.body)) <= MOST_METHODS, node.name
            attributes = {
                target.attr
                for target in ast.walk(node)
                if isinstance(target, ast.Attribute)
                and isinstance(target.ctx, ast.Store)
                and ast.unparse(target.value) == "self"
            }
            assert len(attributes) <= MOST_ATTRIBUTES, (node.name, sorted(attributes))
        if isinstance(node, ast.FunctionDef):
            assert node.end_lineno is not None
            docstring = ast.get_docstring(node, clean=False) or ""
            lines = node.end_lineno - node.lineno + 1 - len(docstring.splitlines())
            assert lines <= MOST_LINES, node.name


def test_the_table_of_rooms_is_that_of_the_contract() -> None:
    script = Path(__file__).parent.parent / "docs" / "rooms.py"
    done = subprocess.run([sys.executable, script, "--check"], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


BESIDE_A_FIT = {"benchmarks", "cli", "export", "recovery", "show", "studio"}
"""Rooms that no answer of a search depends on."""
ROUNDED_BY_THE_PROCESSOR = {
    *("np.exp", "np.expm1", "np.log", "np.log1p", "np.log2", "np.log10", "np.sin", "np.cos", "np.tan", "np.tanh"),
    *("np.power", "np.hypot", "np.arctan2", "np.dot", "np.vdot", "np.inner", "np.matmul", "np.einsum", "np.roots"),
    *("np.polyfit", "np.vander", "np.corrcoef", "np.cov", "np.argpartition", "math.exp", "math.log", "math.log1p"),
    *(
        "math.log2",
        "math.log10",
        "math.pow",
        "math.sin",
        "math.cos",
        "math.tan",
        "math.tanh",
        "math.atan2",
        "math.hypot",
    ),
}


@pytest.mark.parametrize("source", [path for path in SOURCES if path.parent.name not in BESIDE_A_FIT], ids=name_of)
def test_what_a_fit_computes_is_rounded_in_one_way(source: Path) -> None:
    tree = ast.parse(source.read_text())
    # Functions of the user's kind are traced, and computed by the core.
    traced = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name in ("_logcosh", "_log1p")]
    exempt = {id(inner) for node in traced for inner in ast.walk(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and id(node) not in exempt:
            called = ast.unparse(node.func)
            assert called not in ROUNDED_BY_THE_PROCESSOR, f"{called}: `symseed.arithmetic` has it"
            assert not called.startswith("np.linalg."), f"{called}: `symseed.arithmetic` has it"
        assert not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult)), "use `arithmetic.product`"


@pytest.mark.parametrize("name", symseed.__all__)
def test_every_public_name_is_documented(name: str) -> None:
    assert getattr(symseed, name).__doc__


@pytest.mark.parametrize("name", MODULES)
def test_every_module_says_what_it_is_for_in_its_first_line(name: str) -> None:
    module = importlib.import_module(name)
    assert module.__doc__
    assert len(module.__doc__.splitlines()[0]) > 20


def loaded_by(script: str) -> set[str]:
    script += "; import sys; print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    return set(done.stdout.splitlines()[-1].split())


def test_importing_needs_nothing_and_the_language_numpy_alone() -> None:
    heavy = {"torch", "sympy", "pandas", "sklearn", "scipy", "matplotlib", "click"}
    assert not {"numpy", *heavy} & loaded_by("import symseed")
    loaded = loaded_by("import symseed; symseed.Library")
    assert "numpy" in loaded
    assert not heavy & loaded


@pytest.mark.parametrize(
    ("arguments", "heavy"),
    [
        (["--version"], ["sympy", "pandas", "sklearn", "rich"]),
        (["evaluate", "planets", "axis_au^1.5", "--target", "period_days"], ["sympy", "sklearn", "rich"]),
        (["bench", "list"], ["sympy", "pandas", "sklearn", "rich"]),
        (["--help"], ["sympy", "pandas", "sklearn", "rich", "scipy", "joblib"]),
        (["fit", "--help"], ["sympy", "pandas", "sklearn", "rich", "scipy", "joblib"]),
        (["completion", "bash"], ["sympy", "pandas", "sklearn", "rich", "scipy", "joblib"]),
    ],
    ids=["version", "evaluate", "bench list", "help", "help of fit", "completion"],
)
def test_a_command_loads_only_what_it_needs(arguments: list[str], heavy: list[str]) -> None:
    loaded = loaded_by(f"from symseed.cli.main import commands; commands({arguments!r}, standalone_mode=False)")
    assert {"click", "symseed"} <= loaded
    assert not loaded.intersection(heavy)


def test_the_version_needs_no_methods_and_no_tables() -> None:
    script = "from symseed.cli.main import commands; commands(['--version'], standalone_mode=False); import sys"
    script += "; print(*sorted(name for name in sys.modules if name.startswith('symseed.')))"
    loaded = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout.split()
    assert "symseed.cli.options" in loaded
    assert not {
        "symseed.methods",
        "symseed.search",
        "symseed.tables",
        "symseed.portfolio",
        "symseed.assembly",
    }.intersection(loaded)


# --- ARCHITECTURE.md and the decision records ------------------------------------------------------------------------

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
INDEX = ROOT / "docs" / "decisions" / "README.md"
RECORDS = sorted(path for path in INDEX.parent.iterdir() if path != INDEX)
NAMED = sorted(
    {name for name in re.findall(r"`([\w./*-]+)`", PAGE) if re.search(r"/$|\*$|\.(py|pyi|hpp|cpp|md|toml)$", name)}
)


def test_the_page_names_files_of_every_kind() -> None:
    assert {"_core.pyi", "search.py", "opcodes.hpp", "module.cpp", "README.md"} <= {Path(name).name for name in NAMED}
    assert {f"{room}/" for room in ROOMS} < set(NAMED)


@pytest.mark.parametrize("name", NAMED)
def test_a_file_that_the_architecture_names_exists(name: str) -> None:
    """A path is one of the repository, of the package or of the core; a star stands for several files."""
    folders = (ROOT, ROOT / "src" / "symseed", ROOT / "src" / "core")
    found = [path for folder in folders for path in folder.glob(name.rstrip("/"))]
    assert any(path.is_dir() if name.endswith("/") else path.is_file() for path in found), name


def test_the_page_says_what_each_native_file_is_for_and_says_it_once() -> None:
    _, _, table = PAGE.partition("| file | responsibility |\n")
    named = [name for row in table.partition("\n\n")[0].splitlines() for name in re.findall(r"`([^`]+)`", row)]
    core = ROOT / "src" / "core"
    assert sorted(path for name in named for path in core.glob(name)) == sorted(core.iterdir())


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.name)
def test_a_decision_record_says_what_was_decided_when_and_why(record: Path) -> None:
    assert re.fullmatch(r"\d{3}(-[a-z0-9]+)+\.md", record.name)
    title, *paragraphs = record.read_text(encoding="utf-8").rstrip("\n").split("\n\n")
    assert re.fullmatch(rf"# {record.name[:3]}\. [^\n]+", title)
    parts = [re.match(r"\*\*(\w+)\.\*\* \S", paragraph) for paragraph in paragraphs]
    named = [part[1] for part in parts if part is not None]
    assert len(named) == len(paragraphs), "every paragraph begins with the name of its part"
    order = ["Status", "Context", "Choice", "Rejected", "Consequence", "Command"]
    optional = {"Rejected", "Command"} - set(named)
    assert named == [part for part in order if part not in optional]
    assert re.search(r"\d{4}-\d{2}-\d{2}", paragraphs[0]), "the status has a date"


def test_the_architecture_leads_to_the_index_of_decisions_and_has_no_second_one() -> None:
    assert re.findall(r"\]\((docs/decisions[^)]*)\)", PAGE) == [INDEX.relative_to(ROOT).as_posix()]


def test_the_index_lists_every_decision_once_by_its_title() -> None:
    numbers = [record.name[:3] for record in RECORDS]
    assert numbers == sorted(set(numbers))  # a number that is missing belongs to work that has not landed
    titles = [record.read_text(encoding="utf-8").partition("\n")[0] for record in RECORDS]
    listed = [
        f"- [{record.name[:3]}]({record.name}) {title.removeprefix(f'# {record.name[:3]}. ')}"
        for record, title in zip(RECORDS, titles, strict=True)
    ]
    lines = INDEX.read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if line.startswith("- [")] == listed


def test_a_link_of_a_decision_leads_to_another() -> None:
    links = [(record, link) for record in RECORDS for link in re.findall(r"\]\(([^)]+)\)", record.read_text())]
    assert links
    for record, link in links:
        assert (record.parent / link).is_file(), f"{record.name} links to {link}"
