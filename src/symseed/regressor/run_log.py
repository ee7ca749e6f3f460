"""The log of a run: `events.jsonl`, with one line for each event. The process that writes to a run locks its log."""

from __future__ import annotations

import math
import os
import platform
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from symseed import files
from symseed.data import ADDITIVE, Noise
from symseed.errors import DataError
from symseed.export import to_text
from symseed.portfolio import Moment, TrackLearning
from symseed.regressor.front import EquationFront
from symseed.regressor.target import Progress
from symseed.search import Batch, Learning, Part, StopReason
from symseed.structure import Finding
from symseed.version import version

FILE = "events.jsonl"

_MOST_BYTES = 2**28
"""Most bytes of a log that are read: a long run of many columns writes some megabytes."""


@dataclass(frozen=True, slots=True)
class End:
    """The end of the search for one target, as the log has it."""

    reason: StopReason
    rows: int | None
    """Number of samples; None: the log does not say."""
    rounding: float
    is_final: bool
    """Whether the search ended by itself."""
    noise: Noise = ADDITIVE


NOT_ENDED = End(StopReason.NOT_ENDED, rows=None, rounding=0.0, is_final=False)
"""The end of a search that is still running, or was killed."""


class RunLog:
    """The events of a run, in order."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        self._lines: files.Lines | None = None
        self._read: tuple[Any, list[dict[str, Any]]] | None = None  # the file's state, and its events then

    # --- Writing -----------------------------------------------------------------------------------------------------

    def open(self, event: str) -> None:
        """Lock the run for writing, and record the event that opens it.

        Raises:
            DataError: if another process is writing to it.
            OSError: if the file cannot be written.
        """
        self._lines = files.Lines(self._path)
        here = {"host": platform.node(), "pid": os.getpid()}
        self._append({"event": event, "time": now(), "version": version(), **here})

    def close(self) -> None:
        """Stop writing, and release the lock."""
        if self._lines is not None:
            self._lines.close()
            self._lines = None

    def record_turn(self, output: int, progress: Progress) -> None:
        """Record a turn of the search for a target."""
        turn = progress.turn
        self._append(
            {
                "event": "turn",
                "output": output,
                "turn": turn.index,
                "seconds": turn.seconds,
                "charged": turn.charged,
                "evaluated": turn.evaluated,
                "unique": turn.unique,
                "loss": progress.loss,
                "formula": to_text(progress.best),
                "found_by": None if turn.found_by is None else turn.found_by.value,
                "learning": [_to_values(learning) for learning in turn.learning],
            }
        )

    def record_structure(self, output: int, structure: Sequence[Finding]) -> None:
        """Record what evidence says of the structure of the data of a target."""
        self._append({"event": "structure", "output": output, "findings": [asdict(finding) for finding in structure]})

    def record_noise(self, output: int, noise: Noise) -> None:
        """Record the noise by which the search for a target fits formulas."""
        self._append({"event": "noise", "output": output, "noise": noise.values()})

    def record_end(self, output: int, front: EquationFront) -> None:
        """Record the end of the search for a target."""
        self._append(
            {
                "event": "found",
                "output": output,
                "reason": front.reason.value,
                "rows": front.rows,
                "rounding": front.rounding,
                "noise": front.noise.values(),
                "is_final": front.reason is not StopReason.INTERRUPTED,
            }
        )

    def _append(self, event: Mapping[str, Any]) -> None:
        if self._lines is not None:
            self._lines.append(event)

    # --- Reading -----------------------------------------------------------------------------------------------------

    @property
    def events(self) -> list[dict[str, Any]]:
        """The events in order; a turn repeated after a resume replaces the earlier one.

        The file is read again only if it has changed.

        Raises:
            DataError: if the file cannot be read.
        """
        try:
            found = self._path.lstat()
            state = found.st_ino, found.st_size, found.st_mtime_ns
            if self._read is not None and self._read[0] == state:
                return self._read[1]
            content = files.read(self._path, _MOST_BYTES)
        except FileNotFoundError:
            return []
        except OSError as error:
            raise DataError(f"`{self._path}` must be the log of a run, but it cannot be read: {error}.") from error
        self._read = state, _in_order(content)
        return self._read[1]

    def is_written_by(self, pid: int) -> bool:
        """Return whether a process, which has opened the run, is still writing to it; False if that is not known."""
        if os.name != "posix":
            return False
        try:
            os.kill(pid, 0)  # whether there is such a process; the lock says whether it is the one that writes
            return files.is_locked(self._path)
        except OSError:
            return False

    @property
    def opener(self) -> int | None:
        """The id of the process of this computer that was the last to open the run for writing; None if unknown."""
        opened = [event for event in self.events if event.get("event") in ("begin", "resume")]
        last = opened[-1] if opened else {}
        pid = last.get("pid")
        return pid if last.get("host") == platform.node() and isinstance(pid, int) and pid > 0 else None

    def history(self, output: int) -> list[Moment]:
        """Return how the selected formula of a target changed."""
        return [
            Moment(
                seconds=float(event["seconds"]),
                charged=int(event["charged"]),
                loss=math.inf if event["loss"] is None else float(event["loss"]),
                formula=str(event["formula"]),
                found_by=None if event.get("found_by") is None else Part(event["found_by"]),
                learning=tuple(map(_from_values, event.get("learning", ()))),
            )
            for event in self.events
            if event.get("event") == "turn" and event.get("output") == output
        ]

    def structure(self, output: int) -> tuple[Finding, ...]:
        """Return what evidence says of the structure of the data of a target; empty if it was not sought."""
        found = [event for event in self.events if event.get("event") == "structure" and event.get("output") == output]
        return tuple(
            Finding(str(finding["target"]), tuple(map(str, finding["columns"])), float(finding["gain"]))
            for finding in (found[-1]["findings"] if found else ())
        )

    def noises(self) -> dict[int, Noise]:
        """Return the noise of each target, which is known before the search ends."""
        return {
            event["output"]: Noise.of_values(event["noise"]) for event in self.events if event.get("event") == "noise"
        }

    def ends(self) -> dict[int, End]:
        """Return the last end of each target's search; a search that was killed has no end.

        Raises:
            DataError: if a reason is unknown.
        """
        return {event["output"]: self._end(event) for event in self.events if event.get("event") == "found"}

    def _end(self, event: Mapping[str, Any]) -> End:
        try:
            reason = StopReason(event["reason"])
        except ValueError:
            known = ", ".join(reason.value for reason in StopReason)
            raise DataError(
                f"`{self._path}` must say why a search ended ({known}), but it says {event['reason']!r}."
            ) from None
        rows = event.get("rows")
        return End(
            reason,
            None if rows is None else int(rows),
            float(event.get("rounding", 0.0)),
            bool(event["is_final"]),
            Noise.of_values(event["noise"]) if "noise" in event else ADDITIVE,
        )


def _in_order(content: bytes) -> list[dict[str, Any]]:
    """The events of a log; the last one of each turn."""
    out: dict[Any, dict[str, Any]] = {}
    for place, event in enumerate(files.read_lines(content)):
        if isinstance(event, dict):
            kind = event.get("event")
            key = (kind, event.get("output"), event.get("turn")) if kind == "turn" else (kind, place, None)
            out.pop(key, None)
            out[key] = event
    return list(out.values())


def _to_values(entry: TrackLearning) -> dict[str, Any]:
    """How a search learnt, as values that JSON can hold; numbers that are not finite become null."""
    return {"track": entry.track, "rounds": entry.rounds, **asdict(entry.learning)}


def _from_values(values: Mapping[str, Any]) -> TrackLearning:
    sampled, evolved = (
        None if values[name] is None else Batch(**{key: _number(value) for key, value in values[name].items()})
        for name in ("sampled", "evolved")
    )
    learning = Learning(sampled, evolved, values["entropy"], values["loss"])
    return TrackLearning(int(values["track"]), int(values["rounds"]), learning)


def _number(value: Any) -> Any:
    return math.nan if value is None else value


def now() -> str:
    """Return the date and time, in the computer's time zone."""
    return time.strftime("%Y-%m-%dT%H:%M:%S%z")
