"""Searches as processes of their own: `symseed fit` and `symseed resume`, which go on when the page or server ends.

The run folder is all that the two share. A search is stopped by SIGTERM, at which it keeps the best formulas so far.
"""

from __future__ import annotations

import contextlib
import csv
import io
import os
import re
import secrets
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from symseed.errors import DataError, SettingsError, check_between, listed
from symseed.regressor.run import set_pause
from symseed.studio.reading import RunReader
from symseed.studio.uploads import Uploaded

MOST_SEARCHES = 8
"""Most searches that a server starts at once, each of which may use every core: chosen by hand."""
MOST_SECONDS = 7 * 86_400.0
"""Longest limit that the page gives a search: chosen by hand."""
MOST_FORMULAS = 10**12
"""Largest number of formulas that the page gives as a limit: far above what a week has time for. Chosen by hand."""
_PATIENCE = 60.0
"""Seconds that a stopped search has to keep its formulas before it is resumed with another limit: chosen by hand."""
_OPERATORS = re.compile(r"[A-Za-z0-9_+*/^, -]{0,400}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What a user asks for: a search of a table."""

    target: int
    """Column to predict, by its place."""
    inputs: tuple[int, ...]
    """Columns that formulas may use, by their places."""
    operators: str
    """Operators as `--ops` takes them; empty: the usual ones."""
    seconds: float
    formulas: int | None = None
    """Most formulas to try; None: as many as the method does."""
    units: tuple[tuple[int, str], ...] = ()
    """Units of columns, by place."""

    @classmethod
    def of(cls, values: Any) -> Order:
        """Read an order that the page sent.

        Raises:
            SettingsError: if something is missing or of another kind.
        """
        try:
            order = cls(
                target=int(values["target"]),
                inputs=tuple(int(place) for place in values["inputs"]),
                operators=str(values.get("operators", "")),
                seconds=float(values["seconds"]),
                formulas=None if values.get("formulas") is None else int(values["formulas"]),
                units=tuple((int(place), str(unit)) for place, unit in values.get("units", ())),
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise SettingsError(f"The order of a search must have target, inputs and seconds: {error!r}.") from None
        check_between("seconds", order.seconds, 1.0, MOST_SECONDS)
        if order.formulas is not None:
            check_between("formulas", order.formulas, 1, MOST_FORMULAS)
        if not _OPERATORS.fullmatch(order.operators):
            raise SettingsError("Operators must be names with commas between them, such as sin, exp.")
        return order

    def arguments(self, table: Uploaded, parent: Path) -> list[str]:
        """Return the command that searches.

        Raises:
            SettingsError: if a column cannot be used.
        """
        names = table.names
        places = [self.target, *self.inputs, *(place for place, _ in self.units)]
        if any(not 0 <= place < len(names) for place in places):
            raise SettingsError("The table has no such column. Load the page again.")
        if not self.inputs or self.target in self.inputs:
            raise SettingsError("Choose at least one input, and not the target.")
        for name in (names[place] for place in places):
            if name != name.strip() or "\n" in name or "\0" in name or "\r" in name:
                raise SettingsError(f"A search from the page cannot use {listed([name])}. Rename the column.")
        line = io.StringIO()
        csv.writer(line, lineterminator="").writerow([names[place] for place in self.inputs])
        options = [f"--target={names[self.target]}", f"--inputs={line.getvalue()}", f"--time={self.seconds:g}"]
        options += [] if self.formulas is None else [f"--set=max_evals={self.formulas}"]
        options += [f"--ops={self.operators}"] if self.operators.strip() else []
        options += [f"--unit={names[place]}={unit}" for place, unit in self.units if unit.strip()]
        return ["fit", *options, f"--output-directory={parent}", "--", table.source]


@dataclass(frozen=True, slots=True)
class _Started:
    """A process that was started, and where its messages go."""

    process: subprocess.Popen[bytes]
    messages: Path
    since: float
    """Time when it was started; ids of processes are used again."""

    @property
    def sentence(self) -> str:
        """The last message of the process, which says why it ended."""
        text = self.messages.read_text(encoding="utf-8", errors="replace") if self.messages.exists() else ""
        lines = [line for line in text.splitlines() if line.strip()]
        said = [line.removeprefix("symseed: ") for line in lines if line.startswith("symseed: ")]
        plain = [line for line in said if not line.startswith("warning: ")]
        return (plain or lines or ["The search ended before it began."])[-1]


class Searches:
    """The searches that this server started; those of an earlier one are known by their folders alone."""

    def __init__(self, parent: Path, folder: Path) -> None:
        self._parent, self._folder = parent, folder
        self._started: dict[str, _Started] = {}
        self._lock = threading.Lock()

    def start(self, order: Order, table: Uploaded) -> str:
        """Start a search, and return an id by which its beginning can be asked for."""
        return self._start(order.arguments(table, self._parent))

    def begun(self, own: str, readers: Sequence[RunReader]) -> RunReader | None:
        """Return the run that a search made; None: it has not made one yet.

        Raises:
            DataError: if the search ended before that; the message is that of the search.
        """
        started = self._started.get(own)
        if started is None:
            raise DataError("The search is not known any more. Look for its run in the list.")
        has_ended = started.process.poll() is not None  # asked before: a search may make its run, and end, meanwhile
        found = next((one for one in readers if one.was_opened_by(started.process.pid, started.since)), None)
        if found is None and has_ended:
            raise DataError(started.sentence)
        return found

    def pause(self, reader: RunReader, *, is_paused: bool) -> None:
        """Ask a search to stand still after its turn, or to go on.

        Raises:
            DataError: if the folder of the run cannot be written to.
        """
        try:
            set_pause(reader.folder, is_paused=is_paused and reader.writer is not None)
        except OSError as error:
            raise DataError(f"The run cannot be paused, because its folder cannot be written to: {error}.") from error

    def stop(self, reader: RunReader) -> None:
        """Ask a search to end; it keeps the best formulas so far."""
        writer = reader.writer
        if writer is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(writer, signal.SIGTERM)

    def resume(self, reader: RunReader, more: float) -> None:
        """Continue a run, for more seconds than it has had or was allowed; one that is searching is stopped first.

        Raises:
            SettingsError: if the seconds are out of range.
            DataError: if the search does not stop, or cannot be resumed.
        """
        check_between("seconds", more, 0.0, MOST_SECONDS)
        self.stop(reader)
        end = time.monotonic() + _PATIENCE
        while reader.writer is not None:
            if time.monotonic() > end:
                raise DataError("The search is still keeping its formulas. Try again in a minute.")
            time.sleep(0.1)
        arguments = ["resume", f"--time={reader.seconds + more:g}"] if more else ["resume"]
        own = self._start([*arguments, "--", str(reader.folder)])
        started = self._started[own]
        while reader.writer != started.process.pid:
            if started.process.poll() is not None:
                if started.process.returncode == 0:
                    return
                raise DataError(started.sentence)
            if time.monotonic() > end:
                raise DataError("The search takes long to begin. Look for it in the list of runs.")
            time.sleep(0.1)

    def close(self) -> None:
        """Wait, for a few seconds at most, until searches that were just started have read their tables."""
        end = time.monotonic() + 5.0
        while time.monotonic() < end and any(self._is_reading(one) for one in self._started.values()):
            time.sleep(0.1)

    def _is_reading(self, started: _Started) -> bool:
        is_fresh = started.process.poll() is None and time.time() - started.messages.stat().st_mtime < 5.0
        return is_fresh and started.messages.stat().st_size == 0

    def _start(self, arguments: list[str]) -> str:
        with self._lock:
            running = sum(one.process.poll() is None for one in self._started.values())
            if running >= MOST_SEARCHES:
                raise SettingsError(f"At most {MOST_SEARCHES} searches run at once. Stop one of them first.")
            own = secrets.token_hex(12)
            since = time.time() - 2.0  # clocks of file systems are coarse
            handle, path = tempfile.mkstemp(dir=self._folder, suffix=".txt")
            with os.fdopen(handle, "wb") as messages:
                # The working folder is on Python's path, so it must be one that nobody else can write to.
                process = subprocess.Popen(  # noqa: S603 - our own program; names of columns stand behind `=`
                    [sys.executable, "-m", "symseed", *arguments],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=messages,
                    cwd=Path(sys.executable).anchor,
                    start_new_session=True,
                )
            self._started[own] = _Started(process, Path(path), since)
            return own
