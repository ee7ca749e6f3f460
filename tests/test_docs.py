"""Every page does what it shows: Python and console blocks run, in order, and print what stands below them.

The kinds of block, by the word after the fence:

    python     is run. The blocks of a page share their names, so that a page is read, and run, from top to bottom.
    text       directly after a Python block is what that prints.
    console    lines that begin with `$ ` are run in the same folder as the rest of the page; the others are what they
               print to stdout. `symseed` is called as the installed command would be.
    sh         is never run: what takes long, or changes the machine. Its commands must exist, with their options.

In what is shown, `...` stands for anything within a line, and alone on a line for any number of lines.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import io
import itertools
import re
import shlex
import signal
import subprocess
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import pytest

import symseed
from symseed import errors, files, tables
from symseed.cli.main import commands

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), ROOT / "examples" / "README.md"])
BLOCK = re.compile(r"^(?P<fence>```+)(?P<kind>[^\n]*)\n(?P<text>.*?)^(?P=fence)$(?P<gap>\n*)", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block of a page, and what the page says that it prints."""

    kind: str
    text: str
    line: int
    shown: str | None


def blocks(page: Path) -> Iterator[Block]:
    text = page.read_text(encoding="utf-8")
    found = list(BLOCK.finditer(text))
    for match, following in itertools.zip_longest(found, found[1:]):
        is_shown = following is not None and following["kind"] == "text" and following.start() == match.end()
        shown = following["text"] if following is not None and is_shown else None
        yield Block(match["kind"], match["text"], text[: match.start()].count("\n") + 2, shown)


def run_page(page: Path) -> Iterator[tuple[str, str, str | None]]:
    """Run what a page has to be run, in the current folder: where it stands, what it printed, what is shown."""
    names: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks(page):
        place = f"{page.name}:{block.line}"
        if block.kind == "python":
            with contextlib.redirect_stdout(io.StringIO()) as output:
                exec(compile(block.text, place, "exec"), names)  # noqa: S102  (our own pages)
            yield place, output.getvalue(), block.shown
        elif block.kind == "console":
            for command, shown in typed(block.text):
                yield f"{place} {command}", run_command(command), shown


def typed(text: str) -> Iterator[tuple[str, str]]:
    """Return what is typed in a console block, and what is shown below it."""
    first, *parts = re.split(r"^\$ ", text, flags=re.MULTILINE)
    assert not first, "a console block begins with `$ `"
    for part in parts:
        lines = part.splitlines(keepends=True)
        last = next(place for place, line in enumerate(lines) if not line.endswith("\\\n"))
        yield "".join(lines[: last + 1]).replace("\\\n", " ").strip(), "".join(lines[last + 1 :])


def run_command(command: str) -> str:
    words = shlex.split(command)
    if words[0] != "symseed":
        return subprocess.run(command, shell=True, check=True, capture_output=True, text=True).stdout  # noqa: S602
    arguments = [name for word in words[1:] for name in expanded(word)]
    (entry,) = importlib.metadata.entry_points(group="console_scripts", name="symseed")
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(io.StringIO()) as output:
        patch.setattr(sys, "argv", ["symseed", *arguments])
        patch.setattr(warnings, "showwarning", warnings.showwarning)  # which the command replaces
        patch.setattr(sys, "unraisablehook", sys.unraisablehook)  # likewise
        before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            with pytest.raises(SystemExit) as ended:  # which click always ends by
                entry.load()()
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
    assert not ended.value.code, f"`{command}` ended with exit code {ended.value.code}"
    return output.getvalue()


def expanded(word: str) -> list[str]:
    """Return the files that a pattern stands for, as a shell does."""
    return [str(path) for path in sorted(Path().glob(word))] or [word] if word.endswith("/*") else [word]


def agrees(printed: str, shown: str) -> bool:
    """Compare line by line, long numbers to six digits; spaces at the end of a line do not count."""
    pattern = "".join(
        r"(?:.*\n)*" if line == "..." else ".*".join(map(re.escape, re.split(r" *\.\.\. *", line.rstrip()))) + r" *\n"
        for line in rounded(shown).splitlines()
    )
    return re.fullmatch(pattern, rounded(printed)) is not None


def rounded(text: str) -> str:
    """Round fitted constants: their last digits are those of the machine's linear algebra."""
    return re.sub(r"\d+\.\d{7,}(?:e[+-]\d+)?", lambda match: f"{float(match[0]):.6g}", text)


def pictures(page: Path, folder: Path) -> list[tuple[Path, Path]]:
    """Return the pictures that a page drew in a folder, each with the one that the page shows, if it shows them."""
    shown = ROOT / "docs" / "figures" / page.stem
    return [(path, shown / path.name) for path in sorted(folder.glob("*.svg"))] if shown.is_dir() else []


def words(picture: Path) -> list[str]:
    """Return the formulas, names and numbers in a picture, which do not depend on fonts and versions of matplotlib."""
    return re.findall(r"<!-- (.*?) -->", picture.read_text(encoding="utf-8")) if picture.exists() else []


RUN = [page for page in PAGES if any(block.kind in {"python", "console"} for block in blocks(page))]


def test_the_readme_and_the_first_page_are_run() -> None:
    assert {"README.md", "first-five-minutes.md"} <= {page.name for page in RUN}


@pytest.mark.parametrize("page", RUN, ids=lambda page: page.name)
def test_a_page_prints_what_it_shows(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for place, printed, shown in run_page(page):
        if shown is not None:
            assert agrees(printed, shown), f"{place} printed\n{printed}\nbut the page shows\n{shown}"
    for drawn, picture in pictures(page, tmp_path):
        assert words(drawn) == words(picture), f"{picture.name} is not what {page.name} draws: docs/shown.py"


def test_a_command_of_a_page_leaves_signals_to_the_tests() -> None:
    before = (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM), sys.unraisablehook)
    assert run_command("symseed --version").startswith("symseed, version ")
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM), sys.unraisablehook) == before


def test_what_differs_from_a_page_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = tmp_path / "page.md"
    page.write_text("```python\nprint(1)\n```\n\n```text\n2\n```\n\n```console\n$ echo a b\na ...\n```\n")
    assert [(printed, shown) for _, printed, shown in run_page(page)] == [("1\n", "2\n"), ("a b\n", "a ...\n")]
    assert not agrees("1\n", "2\n")
    assert agrees("a b\n", "a ...\n")
    assert agrees("a\nb\nc\n", "a\n...\nc\n")
    assert not agrees("a\nb\nd\n", "a\n...\nc\n")
    assert agrees("0.333333333334 * x\n", "0.333333333333 * x\n")
    assert not agrees("0.333343333333 * x\n", "0.333333333333 * x\n")


def test_every_picture_of_the_gallery_has_words_and_is_on_the_page() -> None:
    page = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    shown = sorted((ROOT / "docs" / "figures" / "gallery").iterdir())
    assert len(shown) == page.count("figures/gallery/") >= 10
    for picture in shown:
        assert f"(figures/gallery/{picture.name})" in page
        assert words(picture)


# --- What is shown and not run ----------------------------------------------------------------------------------------


def shell_commands() -> Iterator[Any]:
    for page in PAGES:
        for block in blocks(page):
            if block.kind == "sh":
                for line in block.text.replace("\\\n", " ").splitlines():
                    words = shlex.split(line, comments=True)
                    if words:
                        yield pytest.param(words, id=f"{page.name}: {shlex.join(words)[:60]}")


@pytest.mark.parametrize("words", list(shell_commands()))
def test_a_command_that_is_not_run_exists(words: list[str]) -> None:
    project = files.toml_values((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    match words:
        case ["symseed", *arguments]:
            check_arguments(arguments)
        case ["make", target]:
            assert target in make_targets()
        case ["python" | ".venv/bin/python", script, *_]:
            assert (ROOT / script).is_file()
        case ["pip", "install", package]:
            name, _, extras = package.rstrip("]").partition("[")
            assert name in {project["name"], "."}
            assert set(filter(None, extras.split(","))) <= set(project["optional-dependencies"])
        case _:
            assert words == [".ci/run"]


def check_arguments(arguments: list[str]) -> None:
    """Let click read the arguments of a command; it raises where it does not know one, or misses one."""
    command: click.Command = commands
    while isinstance(command, click.Group):
        command, arguments = found(command, arguments[0]), arguments[1:]
    command.make_context(command.name, arguments)


def found(group: click.Group, name: str) -> click.Command:
    command = group.get_command(click.Context(group), name)
    assert command is not None, name
    return command


def test_a_command_in_a_sentence_exists_with_its_options() -> None:
    seen = 0
    for page in PAGES:
        for text in re.findall(r"`symseed ([^`]+)`", page.read_text(encoding="utf-8").replace("\n", " ")):
            command: click.Command = commands
            words = shlex.split(text)
            while words and isinstance(command, click.Group) and not words[0].startswith("--"):
                command = found(command, words.pop(0))
            options = {name for parameter in command.params for name in parameter.opts}
            assert {word for word in words if word.startswith("--")} <= options, f"{page.name}: `symseed {text}`"
            seen += 1
    assert seen > 10


def make_targets() -> set[str]:
    return set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


def test_the_pages_name_only_make_targets_that_exist() -> None:
    for page in PAGES:
        for target in re.findall(r"`make ([a-z-]+)", page.read_text(encoding="utf-8")):
            assert target in make_targets(), f"{page.name} names `make {target}`"


def test_every_table_that_ships_says_where_it_comes_from() -> None:
    sources = (ROOT / "src" / "symseed" / "tables" / "shipped" / "README.md").read_text(encoding="utf-8")
    for name in tables.shipped():
        assert f"| `{name}.csv` |" in sources


def test_the_tables_of_other_tools_are_what_the_estimator_answers() -> None:
    script = ROOT / "docs" / "coming_from.py"
    done = subprocess.run([sys.executable, script, "--check"], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", sorted(set(symseed.__all__) - {"search"} - set(dir(errors))))
def test_the_api_has_every_public_name(name: str) -> None:
    assert f":: symseed.{name}\n" in (ROOT / "docs" / "api.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("page", "figure"),
    [("noise.md", "27 of 37"), ("noise.md", "31 of 37"), ("how-it-works.md", "81.7"), ("how-it-works.md", "100.0")],
)
def test_a_figure_that_a_page_quotes_is_one_of_the_results(page: str, figure: str) -> None:
    pages = sorted((ROOT / "docs").glob("results*.md"))
    assert figure in (ROOT / "docs" / page).read_text(encoding="utf-8")
    assert any(figure in other.read_text(encoding="utf-8") for other in pages)
