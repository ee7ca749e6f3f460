"""Whether the recipe for an operator in ARCHITECTURE.md is true: two are added by it to a copy of the source.

    python perf/recipe.py              # count the files, build the copy, run the tests of operators in it
    python perf/recipe.py --count      # count the files only

`twofold` is an expansion of other operators, `sech` is not. Building takes minutes, and needs what `make` installs.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
MOST_FILES = {"twofold": 3, "sech": 4}
"""Files of `src` that each may change."""
TESTS = (
    *("test_operators.py", "export", "language", "recovery", "show", "scoring/test_evaluation.py"),
    *("scoring/test_fitting.py", "completion/test_completion.py", "space/test_dimensions.py"),
    "core/test_threads_and_instruction_sets.py",
)


@dataclass(frozen=True)
class Edit:
    """A text that stands in a file once, and what takes its place."""

    path: str
    old: str
    new: str


def after(path: str, line: str, *lines: str) -> Edit:
    """Add lines after one."""
    return Edit(path, f"{line}\n", "".join(f"{each}\n" for each in (line, *lines)))


def struct(name: str, body: str) -> tuple[Edit, Edit]:
    """Add an operator to the core."""
    header, title = "src/core/opcodes.hpp", name.title()
    end_of_structs, end_of_list = "// The structs in the order of their opcodes.\n", "\n// clang-format on"
    declared = f'struct {title} {{\n  static constexpr const char* name = "{name}";\n{body}}};\n'
    return (
        Edit(header, end_of_structs, f"{declared}\n{end_of_structs}"),
        Edit(header, end_of_list, f" X({title}){end_of_list}"),
    )


def listed(name: str, last: str, row: str) -> tuple[Edit, Edit, Edit]:
    """Add an operator of one argument to what users read; its row of the page's table follows that of `last`."""
    page = "docs/operators.md"
    return (
        Edit("src/symseed/regressor/regressor.py", "sin cos tan exp", f"{name} sin cos tan exp"),
        Edit(page, "sin cos tan exp", f"{name} sin cos tan exp"),
        after(page, last, row),
    )


def twin(name: str, operator: str) -> Edit:
    """Add an operator's twin in NumPy."""
    return after("tests/reference.py", "OPERATORS: dict[str, Operator] = {", f'    "{name}": Operator({operator}),')


LANGUAGES, LIBRARIES = "src/symseed/export/languages.py", "src/symseed/export/libraries.py"
LAST, TWOFOLD = "| `unless` | 0 for x > 0, else y | all | second kept |", "| `twofold` | 2x | all | kept |"
"""Rows of the page's table."""
EDITS = {
    "twofold": (
        *struct(
            "twofold",
            "  static constexpr int arity = 1, complexity = 1;\n"
            "  static constexpr Action action = to_the(1);\n"
            "  static Vec value(Vec a) { return a + a; }\n"
            "  static Vec slope(Vec, Vec) { return splat(2.0); }\n",
        ),
        after(
            "src/symseed/language/derived.py", '        "square": ("mul", 0, 0),', '        "twofold": ("add", 0, 0),'
        ),
        *listed("twofold", LAST, TWOFOLD),
        twin("twofold", "lambda a: a + a, (_constant(2.0),)"),
        after("tests/reference.py", '    "square": 2,', '    "twofold": 1,'),
    ),
    "sech": (
        *struct(
            "sech",
            "  static constexpr int arity = 1, complexity = 4;\n"
            "  static constexpr Action action = kPure;\n"
            "  static Vec value(Vec a) { return 1.0 / cosh(a); }\n"
            "  static double exact(double a) { return 1.0 / elementary::cosh(a); }\n"
            "  static Vec slope(Vec a, Vec f) { return -f * tanh(a); }\n",
        ),
        after(LANGUAGES, '        "abs": Form("fabs({a})"),', '        "sech": Form("1.0 / cosh({a})", PRODUCT),'),
        after(LANGUAGES, '        "abs": Form("np.abs({a})"),', '        "sech": Form("1.0 / np.cosh({a})", PRODUCT),'),
        after(LANGUAGES, '        "abs": Form("abs({a})"),', '        "sech": Form("1.0 / cosh({a})", PRODUCT),'),
        after(LANGUAGES, '        "abs": Form("ABS({a})"),', '        "sech": Form("SECH({a})"),'),
        after(LIBRARIES, '        "abs": sympy.Abs,', '        "sech": sympy.sech,'),
        after(LIBRARIES, '        "abs": torch.abs,', '        "sech": lambda a: 1.0 / torch.cosh(a),'),
        after(
            LIBRARIES,
            '        "abs": node("Abs"),',
            '        "sech": lambda a: divide(graph.number(1.0), graph("Cosh", a)),',
        ),
        after(LIBRARIES, '            "abs": abs,', '            "sech": self._context.sech,'),
        *listed("sech", TWOFOLD, "| `sech` | 1/cosh(x) | all | pure |"),
        twin("sech", "lambda a: 1.0 / np.cosh(a), (lambda a: -np.tanh(a) / np.cosh(a),)"),
        Edit("tests/notations.py", '"TANH": np.tanh}', '"TANH": np.tanh, "SECH": lambda a: 1.0 / np.cosh(a)}'),
        Edit("tests/export/test_exporting.py", '"im", "atan2"', '"im", "sech", "atan2"'),
        Edit("tests/scoring/test_evaluation.py", '("tan", "tanh", "sigmoid"', '("tan", "tanh", "sigmoid", "sech"'),
    ),
}


def copied(folder: Path) -> None:
    """Copy the source, without what was built."""
    built = shutil.ignore_patterns(".*", "*.so", "__pycache__", "build", "dist")
    shutil.copytree(ROOT, folder, ignore=built, dirs_exist_ok=True)


def add(operator: str, folder: Path) -> set[str]:
    """Add an operator, and return the files of `src` that changed."""
    for edit in EDITS[operator]:
        text = (folder / edit.path).read_text(encoding="utf-8")
        assert text.count(edit.old) == 1, f"{edit.old!r} stands {text.count(edit.old)} times in {edit.path}"
        (folder / edit.path).write_text(text.replace(edit.old, edit.new), encoding="utf-8")
    return {edit.path for edit in EDITS[operator] if edit.path.startswith("src/")}


def main() -> None:
    """Add both operators, count, build and test."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", action="store_true", help="neither build nor test")
    is_counting = parser.parse_args().count
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        copied(folder)
        for operator, most in MOST_FILES.items():
            changed = add(operator, folder)
            sys.stdout.write(f"{operator}: {len(changed)} files of src, {', '.join(sorted(changed))}\n")
            assert len(changed) <= most, f"{operator} should need no more than {most}"
        if is_counting:
            return
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--no-deps"]
        subprocess.run([*pip, "--no-build-isolation", "--target", str(folder / "site"), "."], cwd=folder, check=True)
        tests = [str(folder / "tests" / test) for test in TESTS]
        # Not this script once more; and onnxruntime, where it is installed, has no Cosh of float64.
        chosen = ["-k", "not by_the_recipe and not onnxruntime"]
        command = [sys.executable, "-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider", *chosen, *tests]
        environment = {**os.environ, "PYTHONPATH": str(folder / "site")}
        sys.exit(subprocess.run(command, cwd=folder, env=environment, check=False).returncode)


if __name__ == "__main__":
    main()
