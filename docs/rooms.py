"""The table of rooms in ARCHITECTURE.md, from the import contract in pyproject.toml and the rooms' own docstrings.

python docs/rooms.py           # write it
python docs/rooms.py --check   # check that it is up to date
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "symseed"
PAGE = ROOT / "ARCHITECTURE.md"
BEGIN, END = "<!-- begin rooms: python docs/rooms.py -->\n", "<!-- end rooms -->"


def layers() -> list[list[str]]:
    """Return the rooms and top files of each layer, from the highest down."""
    content = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (contract,) = (item for item in content["tool"]["importlinter"]["contracts"] if item["type"] == "layers")
    return [[name.strip() for name in layer.split("|")] for layer in contract["layers"]]


def table() -> str:
    """Return a row for each room and top file."""
    lines = ["| layer | room | what it is | modules |", "|---|---|---|---|"]
    found = layers()
    for height, names in zip(range(len(found), 0, -1), found, strict=True):
        lines += [f"| {height} | {' | '.join(_row(name))} |" for name in names]
    return "\n".join(lines) + "\n"


def _row(name: str) -> tuple[str, str, str]:
    folder = PACKAGE / name
    if not folder.is_dir():
        return f"`{name}.py`", _sentence(PACKAGE / f"{name}.py"), ""
    modules = sorted(path.stem for path in folder.glob("*.py") if path.stem != "__init__")
    return f"`{name}/`", _sentence(folder / "__init__.py"), " ".join(f"`{module}`" for module in modules)


def _sentence(path: Path) -> str:
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    assert docstring is not None, f"{path} says what it is for"
    return docstring.split("\n\n")[0].replace("\n", " ")


def main() -> None:
    """Write the table, or check it."""
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    written = f"{before}{BEGIN}\n{table()}\n{END}{after}"
    if "--check" in sys.argv[1:]:
        sys.exit(written != page and "ARCHITECTURE.md is out of date: python docs/rooms.py")
    PAGE.write_text(written, encoding="utf-8")


if __name__ == "__main__":
    main()
