"""One run on disk: a folder that survives whatever ends the process, and from which the run can go on.

    config.toml              every setting, the seed, and what the data were
    data.safetensors         the data
    events.jsonl             what happened, a line for each turn; whoever writes to the run holds its lock
    front.csv                the formulas so far; front-2.csv, ... for further targets
    checkpoint/              the last two states of the search, each with a manifest that has its hash

Nothing in it is ever run: settings are text, formulas are read by our own parser, arrays are plain numbers.
"""

from __future__ import annotations

import csv
import io
import json
import math
import os
import secrets
import sys
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError
from safetensors.numpy import load, save

from symseed import files
from symseed.arrays import Floats
from symseed.errors import DataError, SettingsError
from symseed.export import notation
from symseed.language.expression import Expression
from symseed.language.library import Library
from symseed.language.parsing import names_in
from symseed.language.tokens import constant
from symseed.portfolio import states
from symseed.portfolio.portfolio import PortfolioSettings, PortfolioState
from symseed.portfolio.progress import Moment
from symseed.regressor import settings_text
from symseed.regressor.front import Equation, EquationFront
from symseed.regressor.settings import LIMITS, NAMES, Plan, Settings
from symseed.regressor.target import MOST_COLUMNS, Progress
from symseed.search.budget import StopReason
from symseed.space.constraints import Dimensions
from symseed.space.dimensions import Dimension, UnitLike
from symseed.version import version

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

SCHEMA = 1
"""Of the folder; one that is of another is refused."""

CHANGEABLE = (*LIMITS, "model_selection", "n_jobs", "verbosity")
"""Settings of a run that may be others when it goes on."""

_MOST_TEXT = 2**28
"""Bytes of a text file of a run: a long run of many columns writes some megabytes."""
_MOST_STATE = 2**30
"""Bytes of a checkpoint's arrays: a network's weights, and the best formulas."""
_MOST_HEADER = 2**20
"""Bytes of a safetensors file beside its numbers."""

_CONFIG, _DATA, _EVENTS, _CHECKPOINT = "config.toml", "data.safetensors", "events.jsonl", "checkpoint"


@dataclass(frozen=True, slots=True)
class RunData:
    """What a run searches in."""

    X: Floats  # (M, V)
    y: Floats  # (M, K)
    weights: Floats  # (M,)
    names: tuple[str, ...]
    """Of the columns."""
    has_labels: bool
    """Whether the columns' names were the user's own."""
    is_multiple: bool
    """Whether y came as a table."""
    targets: tuple[str, ...]
    """Names of y's columns."""
    source: str = ""
    """Where the data came from, for people."""
    units: tuple[tuple[str, ...], tuple[str, ...]] | None = None
    """Units of the columns and of the targets; None: there are none."""

    def with_units(self, X_units: Any, y_units: Any) -> RunData:
        """Return the same data with units, as `SymbolicRegressor.fit` takes them.

        Raises:
            SettingsError: naming the quantity whose unit cannot be read.
        """
        if X_units is None and y_units is None:
            return self
        targets = [y_units] * len(self.targets) if isinstance(y_units, str) or not self.is_multiple else y_units
        if not isinstance(targets, Sequence) or len(targets) != len(self.targets):
            raise SettingsError(
                f"`y_units` must have a unit for each of {len(self.targets)} targets, but is {y_units!r}."
            )
        rules = [
            Dimensions.of(self.names, X_units or {}, unit, target_name=name)
            for name, unit in zip(self.targets, targets, strict=True)
        ]
        given = X_units or {}
        listed = [given.get(name) for name in self.names] if isinstance(given, Mapping) else given
        columns = tuple(_unit_text(unit, at) for unit, (_, at) in zip(listed, rules[0].variables, strict=True))
        own = tuple(_unit_text(unit, rule.target) for unit, rule in zip(targets, rules, strict=True))
        return replace(self, units=(columns, own))

    def units_of(self, output: int) -> dict[str, str]:
        """Return the units of the columns and of a target, by name."""
        if self.units is None:
            return {}
        columns, targets = self.units
        texts = zip((*self.names, self.targets[output]), (*columns, targets[output]), strict=True)
        return {name: "" if text == "1" else text for name, text in texts}

    def dimensions(self, output: int) -> Dimensions | None:
        """Return what units say of the formulas for a target."""
        if self.units is None:
            return None
        columns, targets = self.units
        return Dimensions.of(self.names, columns, targets[output], target_name=self.targets[output])

    @property
    def arrays(self) -> dict[str, Floats]:
        """The numbers."""
        return {"X": self.X, "y": self.y, "weights": self.weights}


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
        self._slot = "a"  # of the next checkpoint
        self._shown: dict[int, str] = {}

    # --- Making and opening ------------------------------------------------------------------------------------------

    @classmethod
    def create(
        cls, parent: Path, settings: Settings, data: RunData, *, seed: int, known: Sequence[Sequence[str]] = ()
    ) -> Run:
        """Make a new folder below `parent`, with all that the run needs, and lock it.

        Raises:
            SettingsError: where that cannot be written.
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
            is_to_search: whether it is to go on; else it is only looked at, and functions that say what errors cost or
                when to end need not be given.
            changes: settings that do not change what is searched (`CHANGEABLE`), and those that were functions, which
                no file can hold.

        Raises:
            DataError: where it is no run, one of another version, or damaged.
            SettingsError: where another setting is to be changed.
        """
        path = folder / _CONFIG
        try:
            content = tomllib.loads(files.read(path, _MOST_TEXT).decode())
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
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
            DataError: where another process does, or the folder cannot be written to.
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
        head = {"schema": SCHEMA, "version": version(), "created": _now(), "seed": self.seed}
        described = {
            "source": data.source,
            "targets": list(data.targets),
            "names": list(data.names),
            "has_labels": data.has_labels,
            "is_multiple": data.is_multiple,
            "rows": len(data.X),
            "units": [] if data.units is None else [list(part) for part in data.units],
            "sha256": digest,
        }
        head["known"] = [list(formulas) for formulas in self.known]
        return "\n".join(
            [
                "# A run of symseed: every setting, with its value.",
                *settings_text.toml(head),
                "\n[data]",
                *settings_text.toml(described),
                "\n[settings]",
                *settings_text.toml(settings_text.to_values(self.settings)),
                "",
            ]
        )

    # --- Writing -----------------------------------------------------------------------------------------------------

    def watch(self, output: int, progress: Progress) -> None:
        """Take note of a turn."""
        turn = progress.turn
        event = {
            "event": "turn",
            "output": output,
            "turn": turn.index,
            "seconds": turn.seconds,
            "charged": turn.charged,
            "loss": progress.loss,
            "formula": notation.to_text(progress.best),
        }
        self._safely(lambda: self._append(event))
        state = progress.state
        if state is not None and state.turn == turn.index and turn.reason is None:
            self._safely(lambda: self._save_state(output, state, progress.library))
            if self._shown.get(output) != str(progress.best):
                self._shown[output] = str(progress.best)
                front = progress.front()
                self._safely(lambda: files.replace(self._front_path(output), _csv(front).encode()))

    def finish(self, output: int, front: EquationFront) -> None:
        """Keep what was found for a target."""
        is_final = front.reason != StopReason.INTERRUPTED.value

        def write() -> None:
            files.replace(self._front_path(output), _csv(front).encode())
            self._append(
                {
                    "event": "found",
                    "output": output,
                    "reason": front.reason,
                    "rows": front.rows,
                    "rounding": front.rounding,
                    "is_final": is_final,
                }
            )

        self._safely(write)

    def _append(self, event: Mapping[str, Any]) -> None:
        if self._lines is not None:
            self._lines.append(event)

    def _save_state(self, output: int, state: PortfolioState, library: Library) -> None:
        arrays, values = states.pack(state, library)
        content = save({name: np.ascontiguousarray(array) for name, array in arrays.items()})
        # The older of the two gives way. The manifest comes last: with an old one the arrays are of no use.
        name, self._slot = self._slot, _other(self._slot)
        manifest = {
            "schema": SCHEMA,
            "version": version(),
            "settings": self._search_digest,
            "output": output,
            "sha256": files.digest(content),
            "state": values,
        }
        folder = self.folder / _CHECKPOINT
        files.replace(folder / f"{name}.safetensors", content)
        files.replace(folder / f"{name}.json", json.dumps(manifest).encode())

    def _safely(self, write: Callable[[], None]) -> None:
        """Write; where that fails the search goes on in memory, and a warning says so once."""
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
        """What happened, in order; a turn that was taken again after a resume stands for its earlier one."""
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
        """The columns' own names; None where they had none."""
        return self.data.names if self.data.has_labels else None

    def library(self, plan: Plan, formulas: Sequence[str]) -> Library:
        """Return the tokens of some of the run's formulas: of many columns, only those that are in them."""
        columns = list(range(len(self.data.names)))
        if len(columns) > MOST_COLUMNS:
            longest = max(map(len, self.data.names))
            used = set().union(*(names_in(formula, longest) for formula in formulas))
            columns = [column for column in columns if self.data.names[column] in used]
        named = Library.of([], [self.data.names[column] for column in columns]).tokens if columns else ()
        variables = [replace(token, column=column) for token, column in zip(named, columns, strict=True)]
        return Library((*variables, *plan.operators, constant()))

    def found(self, plan: Plan) -> dict[int, Found]:
        """Return the fronts that are on the disk, by target.

        Raises:
            DataError: where one is damaged.
        """
        ends = {event["output"]: event for event in self.events if event.get("event") == "found"}
        out = {}
        for output in range(self.data.y.shape[1]):
            path = self._front_path(output)
            if not os.path.lexists(path):
                continue
            end = ends.get(output, {"reason": "The search has not ended.", "is_final": False})
            equations = _read_csv(path, lambda formulas: self.library(plan, formulas))
            rows, rounding = end.get("rows", len(self.data.X)), end.get("rounding", 0.0)
            front = EquationFront(equations, str(end["reason"]), int(rows), float(rounding))
            out[output] = Found(front, bool(end["is_final"]))
        return out

    def state(self, output: int, library: Library, settings: PortfolioSettings) -> PortfolioState | None:
        """Return where the search for a target was; None where there is nothing to go on from."""
        best: PortfolioState | None = None
        for name in "ab":
            state = self._state_at(name, output, library, settings)
            if state is not None and (best is None or state.turn > best.turn):
                best, self._slot = state, _other(name)
        return best

    def _state_at(self, name: str, output: int, library: Library, settings: PortfolioSettings) -> PortfolioState | None:
        folder = self.folder / _CHECKPOINT
        if not os.path.lexists(folder / f"{name}.json"):
            return None
        try:
            manifest = json.loads(files.read(folder / f"{name}.json", _MOST_TEXT))
            kind = (manifest["schema"], manifest["version"], manifest["settings"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            self._warn_of(folder / name, error)
            return None
        if kind[:2] != (SCHEMA, version()):
            raise DataError(
                f"The checkpoint in `{folder}` is of symseed {kind[1]}, and this is {version()}: it would "
                "not go on to the same answer. Use that version, or fit anew."
            )
        if kind[2] != self._search_digest:
            raise DataError(
                f"The checkpoint in `{folder}` is of other settings than those in {_CONFIG}: it would not go on to the "
                "same answer. Put these back, or fit anew."
            )
        try:
            if manifest["output"] != output:
                return None
            content = files.read(folder / f"{name}.safetensors", _MOST_STATE)
            if files.digest(content) != manifest["sha256"]:
                raise ValueError("its hash is another")
            return states.unpack(load(content), manifest["state"], library, settings)
        except (OSError, ValueError, KeyError, TypeError, AssertionError, SafetensorError) as error:
            self._warn_of(folder / name, error)
            return None

    @property
    def _search_digest(self) -> str:
        """The hash of all that decides what is searched."""
        values = settings_text.to_values(self.settings)
        decisive = {
            name: values[name] for name in NAMES if name not in (*CHANGEABLE, "random_state", "output_directory")
        }
        return files.digest(json.dumps([self.seed, decisive], sort_keys=True).encode())

    def _warn_of(self, path: Path, error: Exception) -> None:
        warnings.warn(
            f"The checkpoint `{path}` is damaged ({error}). The run goes on from the one before it, or from the start: "
            "the answer is the same.",
            RuntimeWarning,
            stacklevel=4,
        )

    def _front_path(self, output: int) -> Path:
        return self.folder / ("front.csv" if output == 0 else f"front-{output + 1}.csv")


# --- Formulas and data as files --------------------------------------------------------------------------------------

_COLUMNS = ("Complexity", "Loss", "Score", "Equation", "Description", "Share")


def _csv(front: EquationFront) -> str:
    buffer = io.StringIO()
    # Before Python 3.13 a carriage return alone does not make `csv` quote a field, and would end the line.
    has_returns = any("\r" in str(item) for item in front.equations)
    writer = csv.writer(buffer, lineterminator="\n", quoting=csv.QUOTE_ALL if has_returns else csv.QUOTE_MINIMAL)
    writer.writerow(_COLUMNS)
    for item in front.equations:
        numbers = [repr(float(value)) for value in (item.loss, item.score, item.description, item.share)]
        writer.writerow([item.complexity, *numbers[:2], str(item), *numbers[2:]])
    return buffer.getvalue()


def _read_csv(path: Path, library_of: Callable[[list[str]], Library]) -> tuple[Equation, ...]:
    try:
        rows = list(csv.DictReader(io.StringIO(files.read(path, _MOST_TEXT).decode(), newline="")))
        if not rows:
            raise ValueError("it has no formula")
        library = library_of([row["Equation"] for row in rows])
        return tuple(
            Equation(
                Expression.parse(row["Equation"], library),
                int(row["Complexity"]),
                float(row["Loss"]),
                float(row["Score"]),
                float(row["Description"]),
                float(row["Share"]),
            )
            for row in rows
        )
    except (OSError, KeyError, TypeError, ValueError, csv.Error) as error:
        raise DataError(f"`{path}` must hold a front of formulas, but cannot be read: {error}") from error


def _read_data(path: Path, described: Mapping[str, Any]) -> RunData:
    cells = int(described["rows"]) * (len(described["names"]) + len(described["targets"]) + 1)
    try:
        content = files.read(path, 8 * cells + _MOST_HEADER)
    except OSError as error:
        raise DataError(f"`{path}` must hold the data of the run, but cannot be read: {error}") from error
    if files.digest(content) != described["sha256"]:
        raise DataError(f"`{path}` does not hold the data that the run began with. Fit anew, or put them back.")
    arrays: dict[str, npt.NDArray[Any]] = load(content)
    return RunData(
        arrays["X"],
        arrays["y"],
        arrays["weights"],
        tuple(described["names"]),
        bool(described["has_labels"]),
        bool(described["is_multiple"]),
        tuple(described["targets"]),
        str(described["source"]),
        (tuple(described["units"][0]), tuple(described["units"][1])) if described["units"] else None,
    )


def _unit_text(unit: UnitLike, dimension: Dimension) -> str:
    """A unit as it was given; its dimension where that was no text."""
    return unit if isinstance(unit, str) else str(dimension)


def _other(slot: str) -> str:
    return "b" if slot == "a" else "a"


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
