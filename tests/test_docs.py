"""Every Python block of README and the other pages runs, and prints what the page says it prints."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
BLOCK = re.compile(r"^```python\n(?P<code>.*?)^```\n(?:\n```text\n(?P<output>.*?)^```$)?", re.MULTILINE | re.DOTALL)
EXAMPLES = [
    pytest.param(
        match["code"], match["output"], id=f"{page.name}:{page.read_text()[: match.start()].count(chr(10)) + 1}"
    )
    for page in PAGES
    for match in BLOCK.finditer(page.read_text(encoding="utf-8"))
]


def test_the_readme_has_an_example() -> None:
    assert any("README.md" in str(example.id) for example in EXAMPLES)


@pytest.mark.parametrize(("code", "output"), EXAMPLES)
def test_an_example_runs_and_prints_what_the_page_shows(
    code: str, output: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    exec(compile(code, "example", "exec"), {"__name__": "__main__"})  # noqa: S102  (our own pages)
    printed = capsys.readouterr().out
    if output is not None:
        assert printed == output


def test_the_readme_names_only_make_targets_that_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for page in PAGES:
        for target in re.findall(r"`?make ([a-z]+)", page.read_text(encoding="utf-8")):
            assert re.search(rf"^{target}:", makefile, re.MULTILINE), f"{page.name} names `make {target}`"
