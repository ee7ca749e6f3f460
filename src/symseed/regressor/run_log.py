"""The log of a run: `events.jsonl`, with one line for each event. The process that writes to a run locks its log."""

from __future__ import annotations

import dataclasses
import math
import os
import platform
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

from symseed import files
from symseed.data import ADDITIVE, Noise
from symseed.errors import MALFORMED, DataError, brief
from symseed.export import to_text
from symseed.fields import Fields
from symseed.network import Guess
from symseed.portfolio import Moment, Step, TrackLearning
from symseed.regressor.front import EquationFront
from symseed.regressor.target import Progress
from symseed.search import Batch, Learning, Part, StopReason
from symseed.structure import Finding
from symseed.version import version

FILE = "events.jsonl"
_Event = TypeVar("_Event")

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

    def open(self, event: str, limits: Mapping[str, float | None]) -> None:
        """Lock the run for writing, and record the event that opens it.

        Args:
            event: whether the search begins or is resumed.
            limits: the `seconds` and the `expressions` that it has in all; None: no limit.

        Raises:
            DataError: if another process is writing to it.
            OSError: if the file cannot be written.
        """
        self._lines = files.Lines(self._path)
        here = {"host": platform.node(), "pid": os.getpid()}
        self._append({"event": event, "time": now(), "version": version(), **here, "limits": dict(limits)})

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
                **({"lineage": [asdict(step) for step in Step.of(turn.lineage)]} if turn.lineage else {}),
            }
        )

    def record_told(self, output: int, told: Sequence[Finding] | Sequence[Guess]) -> None:
        """Record what evidence says of the data of a target, or what a network thought of them."""
        kind, name = ("prior", "guesses") if isinstance(told[0], Guess) else ("structure", "findings")
        self._append({"event": kind, "output": output, name: [asdict(one) for one in told]})

    def record_noise(self, output: int, noise: Noise) -> None:
        """Record the noise by which the search for a target fits formulas."""
        self._append({"event": "noise", "output": output, "noise": noise.values()})

    def record_pause(self, *, begins: bool) -> None:
        """Record that the search stands still, or goes on."""
        self._append({"event": "pause" if begins else "continue", "time": now()})

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
                "is_final": front.reason.is_by_itself,
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
        last = self._last_opening
        pid = last.get("pid")
        return pid if last.get("host") == platform.node() and isinstance(pid, int) and pid > 0 else None

    @property
    def limits(self) -> Mapping[str, Any] | None:
        """The limits by which the run was opened last; None if they are not known, as in runs of earlier versions."""
        limits = self._last_opening.get("limits")
        return limits if isinstance(limits, dict) else None

    @property
    def _last_opening(self) -> Mapping[str, Any]:
        opened = [event for event in self.events if event.get("event") in ("begin", "resume")]
        return opened[-1] if opened else {}

    @property
    def is_paused(self) -> bool:
        """Whether the process that opened the run last lets it stand still."""
        kinds = [event.get("event") for event in self.events]
        opened = [kind for kind in kinds if kind in ("begin", "resume", "pause", "continue")]
        return opened[-1:] == ["pause"]

    def history(self, output: int) -> list[Moment]:
        """Return how the selected formula of a target changed."""
        return [moment for at, moment in self._events_of("turn", _moment) if at == output]

    def structure(self, output: int) -> tuple[Finding, ...]:
        """Return what evidence says of the structure of the data of a target; empty if it was not sought."""
        found = [findings for at, findings in self._events_of("structure", _findings) if at == output]
        return found[-1] if found else ()

    def prior(self, output: int) -> tuple[Guess, ...]:
        """Return what a network thought of the data of a target before the searches; empty if none was asked."""
        found = [guesses for at, guesses in self._events_of("prior", _guesses) if at == output]
        return found[-1] if found else ()

    def noises(self) -> dict[int, Noise]:
        """Return the noise of each target, which is known before the search ends."""
        return dict(self._events_of("noise", _noise))

    def ends(self) -> dict[int, End]:
        """Return the last end of each target's search; a search that was killed has no end."""
        return dict(self._events_of("found", _end))

    def _events_of(self, kind: str, read: Callable[[Fields], _Event]) -> list[tuple[int, _Event]]:
        """The target and the content of each event of a kind; a warning names events that are damaged."""
        out = []
        for event in self.events:
            if event.get("event") == kind:
                try:
                    values = Fields(event, f"an event `{kind}`")
                    out.append((values.integer("output"), read(values)))
                except MALFORMED as error:
                    told = brief(f"`{self._path}` is damaged, and one event is left out: {error}.")
                    warnings.warn(told, RuntimeWarning, stacklevel=2)
        return out


def _moment(event: Fields) -> Moment:
    return Moment(
        seconds=event.number("seconds"),
        charged=event.integer("charged"),
        loss=event.number("loss") if event.has("loss") else math.inf,
        formula=event.text("formula"),
        found_by=Part(event.text("found_by")) if event.has("found_by") else None,
        learning=tuple(map(_learning, event.several("learning"))) if event.has("learning") else (),
        lineage=tuple(map(_step, event.several("lineage"))) if event.has("lineage") else (),
    )


def _step(event: Fields) -> Step:
    return Step(event.text("change"), event.text("formula"), event.texts("others"))


def _findings(event: Fields) -> tuple[Finding, ...]:
    found = [(one.text("target"), one.texts("columns"), one.number("gain")) for one in event.several("findings")]
    if not all(columns for _, columns, _ in found):
        raise ValueError("`columns` of a finding must not be empty")
    return tuple(Finding(*one) for one in found)


def _guesses(event: Fields) -> tuple[Guess, ...]:
    return tuple(Guess(one.text("formula"), one.number("probability")) for one in event.several("guesses"))


def _end(event: Fields) -> End:
    return End(
        StopReason(event.text("reason")),
        event.integer("rows") if event.has("rows") else None,
        event.number("rounding") if event.has("rounding") else 0.0,
        event.flag("is_final"),
        _noise(event) if event.has("noise") else ADDITIVE,
    )


def _noise(event: Fields) -> Noise:
    return Noise.of_values(event.fields("noise").values)


def _in_order(content: bytes) -> list[dict[str, Any]]:
    """The events of a log; the last one of each turn."""
    out: dict[tuple[str, str, str], dict[str, Any]] = {}
    for place, event in enumerate(files.read_lines(content)):
        if isinstance(event, dict):
            kind = event.get("event")
            # A damaged event may have any values here; as texts they are keys all the same.
            turn = (str(event.get("output")), str(event.get("turn")))
            key = ("turn", *turn) if kind == "turn" else (str(place), "", "")
            out.pop(key, None)
            out[key] = event
    return list(out.values())


def _to_values(entry: TrackLearning) -> dict[str, Any]:
    """How a search learnt, as values that JSON can hold; numbers that are not finite become null."""
    return {"track": entry.track, "rounds": entry.rounds, **asdict(entry.learning)}


def _learning(values: Fields) -> TrackLearning:
    sampled, evolved = (_batch(values.fields(name)) if values.has(name) else None for name in ("sampled", "evolved"))
    entropy, loss = (values.number(name) if values.has(name) else None for name in ("entropy", "loss"))
    return TrackLearning(values.integer("track"), values.integer("rounds"), Learning(sampled, evolved, entropy, loss))


def _batch(values: Fields) -> Batch:
    numbers = {
        one.name: values.number(one.name) if values.has(one.name) else math.nan
        for one in dataclasses.fields(Batch)
        if one.name != "count"
    }
    return Batch(count=values.integer("count"), **numbers)


def now() -> str:
    """Return the date and time, in the computer's time zone."""
    return time.strftime("%Y-%m-%dT%H:%M:%S%z")
