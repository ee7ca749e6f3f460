"""One run on disk: a folder that survives any end of the process, and from which the run can be resumed.

    config.toml              every setting, the seed, and what the data were
    data.safetensors         the data
    events.jsonl             what happened, a line for each turn; whoever writes to the run holds its lock
    front.csv                the formulas so far; front-2.csv, ... for further targets
    checkpoint/              the last two states of the search, each with a manifest that has its hash

Nothing in it is executed: settings are text, formulas are read by our own parser, arrays are numbers.
"""

from __future__ import annotations

import json
import math
import os
import secrets
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors.numpy import load, save

from symseed import files
from symseed.errors import DataError, SettingsError
from symseed.export import to_text
from symseed.language import Library
from symseed.language.parsing import names_in
from symseed.language.tokens import constant
from symseed.portfolio import Moment, PortfolioSettings, PortfolioState
from symseed.regressor import front_file, settings_text
from symseed.regressor.checkpoints import SCHEMA, Checkpoints
from symseed.regressor.front import EquationFront
from symseed.regressor.prepare import MOST_COLUMNS
from symseed.regressor.run_data import RunData, RunUnits
from symseed.regressor.settings import LIMITS, NAMES, Plan, Settings
from symseed.regressor.target import Progress
from symseed.search import StopReason
from symseed.version import version

CHANGEABLE = (*LIMITS, "model_selection", "n_jobs", "verbosity")
"""Settings that may change when a run is resumed."""

_MOST_TEXT = 2**28
"""Most bytes of a text file that are read: a long run of many columns writes some megabytes."""
_MOST_HEADER = 2**20
"""Most bytes of a safetensors file besides its numbers: far above the usual size, chosen by hand."""

_CONFIG = "config.toml"
_DATA = "data.safetensors"
_EVENTS = "events.jsonl"
_CHECKPOINT = "checkpoint"


@dataclass(frozen=True, slots=True)
class Found:
    """What a run has found for one target."""

    front: EquationFront
    is_final: bool
    """Whether the search ended by itself."""


class Run:
    """A run's folder, open for writing or only for reading."""

    def __init__(
        self, folder: Path, settings: Settings, data: RunData, seed: int, known: Sequence[Sequence[str]]
    ) -> None:
        self.folder, self.settings, self.data, self.seed, self.known = folder, settings, data, seed, known
        self._lines: files.Lines | None = None
        self._has_warned = False
        self._checkpoints = Checkpoints(folder / _CHECKPOINT, self._search_digest)
        self._shown: dict[int, str] = {}

    # --- Making and opening ------------------------------------------------------------------------------------------

    @classmethod
    def create(
        cls, parent: Path, settings: Settings, data: RunData, *, seed: int, known: Sequence[Sequence[str]] = ()
    ) -> Run:
        """Make a new folder below `parent`, with the settings and data of the run, and lock it.

        Raises:
            SettingsError: if the folder cannot be written.
        """
        if not isinstance(settings.random_state, (int, np.integer)):
            settings = replace(settings, random_state=None)  # a generator has moved on; the seed is what counts
        try:
            folder = _new_folder(parent)
            run = cls(folder, settings, data, seed, known)
            content = save({name: np.ascontiguousarray(array) for name, array in data.arrays.items()})
            files.replace(folder / _DATA, content)
            files.replace(folder / _CONFIG, run._config(files.digest(content)).encode())
            (folder / _CHECKPOINT).mkdir()
            run._lines = files.Lines(folder / _EVENTS)
            run._lines.append({"event": "begin", "time": _now(), "version": version()})
        except OSError as error:
            raise SettingsError(
                f"`output_directory` must be a folder that can be written to, but `{parent}` is not: {error}. Choose "
                "another, or None to keep everything in memory."
            ) from error
        return run

    @classmethod
    def read(cls, folder: Path, *, is_to_search: bool = True, **changes: Any) -> Run:
        """Open a run, whether or not it is being written to.

        Args:
            is_to_search: whether the run is to be resumed; if it is only read, a loss or an early stop that was a
                function need not be given.
            changes: settings that do not change what is searched (`CHANGEABLE`), and settings that were functions,
                which no file can hold.

        Raises:
            DataError: if the folder does not hold a run, or the run is damaged or of another version.
            SettingsError: if another setting is to be changed.
        """
        path = folder / _CONFIG
        try:
            content = files.toml_values(files.read(path, _MOST_TEXT).decode())
        except (OSError, ValueError) as error:
            raise DataError(
                f"`{folder}` must be the folder of a run, but its {_CONFIG} cannot be read: {error}"
            ) from error
        if content.get("schema") != SCHEMA:
            raise DataError(
                f"`{path}` must be of version {SCHEMA} of runs, but it is of {content.get('schema')!r}. Use the "
                f"symseed that made it ({content.get('version', 'unknown')})."
            )
        try:
            described = content["data"]
            data = _read_data(folder / _DATA, described)
            given = content["settings"]
            for name in changes:
                if name not in CHANGEABLE and not settings_text.is_function(given.get(name)):
                    raise SettingsError(
                        f"`{name}` of a run cannot be changed: it would be another search. Fit anew; what can be "
                        f"changed is {', '.join(CHANGEABLE)}."
                    )
            unneeded = () if is_to_search else (*LIMITS, "loss")
            kept = {
                name: value
                for name, value in given.items()
                if name not in changes and not (name in unneeded and settings_text.is_function(value))
            }
            settings = Settings.of(settings_text.from_values(kept) | changes)
            return cls(folder, settings, data, int(content["seed"]), content["known"])
        except (KeyError, TypeError, ValueError) as error:
            if isinstance(error, (DataError, SettingsError)):
                raise
            raise DataError(
                f"`{path}` lacks something that every run has: {error}. It was changed or damaged."
            ) from error

    def lock(self) -> None:
        """Begin to write to a run that was read.

        Raises:
            DataError: if another process is writing to it, or the folder cannot be written to.
        """
        try:
            (self.folder / _CHECKPOINT).mkdir(exist_ok=True)
            files.check_folder(self.folder / _CHECKPOINT)
            self._lines = files.Lines(self.folder / _EVENTS)
        except OSError as error:
            raise DataError(
                f"`{self.folder}` must be a run that can be written to, but it is not: {error}. Copy it, or fit anew."
            ) from error
        for folder in (self.folder, self.folder / _CHECKPOINT):
            files.remove_partial(folder)
        self._lines.append({"event": "resume", "time": _now(), "version": version()})

    def close(self) -> None:
        """Stop writing."""
        if self._lines is not None:
            self._lines.close()
            self._lines = None

    def _config(self, digest: str) -> str:
        data = self.data
        head = {
            "schema": SCHEMA,
            "version": version(),
            "created": _now(),
            "seed": self.seed,
            "known": [list(formulas) for formulas in self.known],
        }
        described = {
            "source": data.source,
            "targets": list(data.targets),
            "names": list(data.names),
            "has_labels": data.has_labels,
            "is_multiple": data.is_multiple,
            "rows": len(data.X),
            "units": [] if data.units is None else [list(data.units.columns), list(data.units.targets)],
            "sha256": digest,
        }
        values = {**head, "data": described, "settings": settings_text.to_values(self.settings)}
        return f"# A run of symseed: every setting, with its value.\n{files.toml_text(values)}"

    # --- Writing -----------------------------------------------------------------------------------------------------

    def watch(self, output: int, progress: Progress) -> None:
        """Record a turn."""
        turn = progress.turn
        event = {
            "event": "turn",
            "output": output,
            "turn": turn.index,
            "seconds": turn.seconds,
            "charged": turn.charged,
            "loss": progress.loss,
            "formula": to_text(progress.best),
        }
        self._safely(lambda: self._append(event))
        state = progress.state
        if state is not None and state.turn == turn.index and turn.reason is None:
            self._safely(lambda: self._checkpoints.save(output, state, progress.library))
            if self._shown.get(output) != str(progress.best):
                self._shown[output] = str(progress.best)
                front = progress.front()
                self._safely(lambda: files.replace(self._front_path(output), front_file.to_csv(front).encode()))

    def finish(self, output: int, front: EquationFront) -> None:
        """Record the front of a target."""
        is_final = front.reason is not StopReason.INTERRUPTED

        def write() -> None:
            files.replace(self._front_path(output), front_file.to_csv(front).encode())
            self._append(
                {
                    "event": "found",
                    "output": output,
                    "reason": front.reason.value,
                    "rows": front.rows,
                    "rounding": front.rounding,
                    "is_final": is_final,
                }
            )

        self._safely(write)

    def _append(self, event: Mapping[str, Any]) -> None:
        if self._lines is not None:
            self._lines.append(event)

    def _safely(self, write: Callable[[], None]) -> None:
        """Write; if that fails, the search continues in memory, and a warning says so once."""
        try:
            write()
        except OSError as error:
            if not self._has_warned:
                self._has_warned = True
                warnings.warn(
                    f"`{self.folder}` cannot be written to any more ({error}). The search goes on in memory; what was "
                    "written before is still good.",
                    RuntimeWarning,
                    stacklevel=3,
                )

    # --- Reading -----------------------------------------------------------------------------------------------------

    @property
    def events(self) -> list[dict[str, Any]]:
        """The events in order; a turn repeated after a resume replaces the earlier one."""
        try:
            content = files.read(self.folder / _EVENTS, _MOST_TEXT)
        except FileNotFoundError:
            return []
        except OSError as error:
            raise DataError(f"`{self.folder}` must hold what happened, but that cannot be read: {error}.") from error
        out: dict[Any, dict[str, Any]] = {}
        for place, event in enumerate(files.read_lines(content)):
            if isinstance(event, dict):
                kind = event.get("event")
                key = (kind, event.get("output"), event.get("turn")) if kind == "turn" else (kind, place, None)
                out.pop(key, None)
                out[key] = event
        return list(out.values())

    def history(self, output: int) -> list[Moment]:
        """Return how the choice for a target changed."""
        return [
            Moment(
                seconds=float(event["seconds"]),
                charged=int(event["charged"]),
                loss=math.inf if event["loss"] is None else float(event["loss"]),
                formula=str(event["formula"]),
            )
            for event in self.events
            if event.get("event") == "turn" and event.get("output") == output
        ]

    @property
    def labels(self) -> tuple[str, ...] | None:
        """The columns' own names; None if they had none."""
        return self.data.names if self.data.has_labels else None

    def library(self, plan: Plan, formulas: Sequence[str]) -> Library:
        """Return the tokens of some of the run's formulas; if there are many columns, only those in the formulas."""
        columns = list(range(len(self.data.names)))
        if len(columns) > MOST_COLUMNS:
            longest = max(map(len, self.data.names))
            used = set().union(*(names_in(formula, longest) for formula in formulas))
            columns = [column for column in columns if self.data.names[column] in used]
        named = Library.of([], [self.data.names[column] for column in columns]).tokens if columns else ()
        variables = [replace(token, column=column) for token, column in zip(named, columns, strict=True)]
        return Library((*variables, *plan.operators, constant()))

    def found(self, plan: Plan) -> dict[int, Found]:
        """Return the fronts on disk, by target.

        Raises:
            DataError: if one is damaged.
        """
        ends = {event["output"]: event for event in self.events if event.get("event") == "found"}
        out = {}
        for output in range(self.data.y.shape[1]):
            path = self._front_path(output)
            if not os.path.lexists(path):
                continue
            end = ends.get(output, {"reason": StopReason.NOT_ENDED.value, "is_final": False})
            equations = front_file.read(path, lambda formulas: self.library(plan, formulas))
            rows, rounding = end.get("rows", len(self.data.X)), end.get("rounding", 0.0)
            front = EquationFront(equations, _reason(end["reason"], path), int(rows), float(rounding))
            out[output] = Found(front, bool(end["is_final"]))
        return out

    def state(self, output: int, library: Library, settings: PortfolioSettings) -> PortfolioState | None:
        """Return the newest state of the search for a target; None if no checkpoint can be used."""
        return self._checkpoints.newest(output, library, settings)

    @property
    def _search_digest(self) -> str:
        """The hash of all settings that decide what is searched."""
        values = settings_text.to_values(self.settings)
        decisive = {
            name: values[name] for name in NAMES if name not in (*CHANGEABLE, "random_state", "output_directory")
        }
        return files.digest(json.dumps([self.seed, decisive], sort_keys=True).encode())

    def _front_path(self, output: int) -> Path:
        return self.folder / ("front.csv" if output == 0 else f"front-{output + 1}.csv")


def _read_data(path: Path, described: Mapping[str, Any]) -> RunData:
    cells = int(described["rows"]) * (len(described["names"]) + len(described["targets"]) + 1)
    try:
        content = files.read(path, 8 * cells + _MOST_HEADER)
    except OSError as error:
        raise DataError(f"`{path}` must hold the data of the run, but cannot be read: {error}") from error
    if files.digest(content) != described["sha256"]:
        raise DataError(f"`{path}` does not hold the data that the run began with. Fit anew, or put them back.")
    arrays: dict[str, npt.NDArray[Any]] = load(content)
    names, targets = tuple(described["names"]), tuple(described["targets"])
    return RunData(
        arrays["X"],
        arrays["y"],
        arrays["weights"],
        names,
        has_labels=bool(described["has_labels"]),
        is_multiple=bool(described["is_multiple"]),
        targets=targets,
        source=str(described["source"]),
        units=RunUnits.of(names, targets, *described["units"]) if described["units"] else None,
    )


def _reason(text: str, path: Path) -> StopReason:
    try:
        return StopReason(text)
    except ValueError:
        raise DataError(f"`{path}` must have a reason why its search ended, but it is {text!r}.") from None


def _new_folder(parent: Path) -> Path:
    while True:
        folder = parent / f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(3)}"
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            continue
        return folder


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S%z")
