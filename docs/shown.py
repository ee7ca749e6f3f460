"""Update the shown output of the blocks of pages: `python docs/shown.py PAGE ...`.

The pictures that a page draws are copied into its folder of `docs/figures`, if it has one.

`tests/test_docs.py` defines which blocks are run and how they are compared; lines with `...` that still match are kept.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests"))

import test_docs  # noqa: E402  (found by the line above)

VARYING = re.compile(r"\b\d{8}-\d{6}-[0-9a-f]{6}\b|(?<=^  )  \d\.\d(?= s )", re.MULTILINE)
"""Text that differs between runs: names of run folders, and seconds."""


def update(page: Path) -> int:
    """Run a page in an empty folder, update it, and return the number of changed blocks and pictures."""
    text, changed, place = page.read_text(encoding="utf-8"), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for _, printed, shown in test_docs.run_page(page):
            if not shown:
                continue
            place = text.index(f"\n{shown}", place) + 1
            if not test_docs.agrees(printed, shown):
                printed = VARYING.sub("...", printed)
                text = text[:place] + printed + text[place + len(shown) :]
                place += len(printed)
                changed += 1
            else:
                place += len(shown)
        os.chdir(ROOT)
        for drawn, picture in test_docs.pictures(page, Path(folder)):
            if test_docs.words(drawn) != test_docs.words(picture):
                shutil.copyfile(drawn, picture)
                changed += 1
    page.write_text(text, encoding="utf-8")
    return changed


if __name__ == "__main__":
    for page in [Path(name).resolve() for name in sys.argv[1:]]:
        print(f"{page.name}: {update(page)} changed")
