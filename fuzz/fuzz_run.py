"""One file of a run's folder, damaged by a few bytes or replaced: shown and resumed, or refused with a sentence."""

from __future__ import annotations

import tempfile
from pathlib import Path

import hostile
from damage import damaged
from symseed import Library
from symseed.language.tokens import TokenKind
from symseed.regressor.run import Run

_PLACE = Path(tempfile.mkdtemp(prefix="symseed-fuzz-"))
_WHOLE = hostile.killed_run(_PLACE / "whole")
_GOOD = {name: (_WHOLE / name).read_bytes() for name in sorted(hostile.FORGED)}
_NAMES = sorted(_GOOD)


def one(data: bytes) -> None:
    """Damage the file that the first byte chooses; its hash is forged, so that it does not protect the file."""
    name = _NAMES[int.from_bytes(data[:1], "little") % len(_NAMES)]
    folder = _PLACE / "damaged"
    hostile.copy_with(_WHOLE, folder, name, damaged(_GOOD[name], list(_GOOD.values()), data[1:]))
    code, _, err = hostile.command("show", str(folder))
    hostile.check_sentence(code, err)
    with hostile.may_refuse():
        run = Run.read(folder)
        plan = run.settings.plan()
        searched = [token for token in run.library(plan, []).tokens if token.kind is not TokenKind.CONSTANT]
        run.checkpoints.newest(0, Library(tuple(searched)), plan.settings)
