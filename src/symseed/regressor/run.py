"""One run on disk: a folder from which the run can be resumed, however the process ended.

    config.toml              every setting, the seed, and a description of the data
    data.safetensors         the data
    events.jsonl             the log, a line for each turn; the process that writes to the run holds its lock
    front.csv                the formulas so far; front-2.csv, ... for further targets
    near.csv                 further formulas that explain the data nearly as well as the best; near-2.csv, ...
    checkpoint/              the last two states of the search, each with a manifest that has its hash
    policies/                the weights of the searches' policies at some turns, to be looked at
    pause                    if there is a file of this name, the search stands still after its turn until it is removed

Nothing in it is executed: settings are text, formulas are read by symseed's parser, arrays are numbers.
"""

from __future__ import annotations

import contextlib
import functools
import math
import os
import secrets
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from symseed import files
from symseed.errors import MALFORMED, DataError, SettingsError
from symseed.language import Expression, Library
from symseed.regressor import front_file, run_config
from symseed.regressor.checkpoints import Checkpoints
from symseed.regressor.front import EquationFront
from symseed.regressor.prepare import library_of_texts
from symseed.regressor.run_data import RunData
from symseed.regressor.run_log import NOT_ENDED, RunLog
from symseed.regressor.settings import Plan, Settings
from symseed.regressor.target import Progress

_DATA = "data.safetensors"
_CHECKPOINT = "checkpoint"
_PAUSE = "pause"
_LOOK_SECONDS = 0.1
"""Seconds between two looks whether a pause is over: chosen by hand."""
_MOST_SHARE = 0.01
"""Most of its thread's CPU time that a search gives to renewing the front on disk: chosen by hand."""


@dataclass(frozen=True, slots=True)
class SavedFront:
    """The front of a run for one target, as it is on disk."""

    front: EquationFront
    is_final: bool
    """Whether the search ended by itself."""


@dataclass(frozen=True, slots=True)
class _Shown:
    """A front as it was written."""

    best: str
    """The selected formula."""
    text: str
    """The content of the file."""
    until: float
    """CPU seconds of the thread before which it is renewed only at a checkpoint."""


class Run:
    """A run's folder, open for writing or only for reading."""

    def __init__(
        self,
        folder: Path,
        settings: Settings,
        data: RunData,
        seed: int,
        known: Sequence[Sequence[str]],
        network: str = "",
    ) -> None:
        self.folder, self.settings, self.data, self.seed, self.known = folder, settings, data, seed, known
        self._network = network  # the checksum of the network that reads the data
        self.log = RunLog(folder)
        self.checkpoints = Checkpoints(folder / _CHECKPOINT, run_config.search_digest(settings, seed))
        self._has_warned = False
        self._told: set[tuple[str, int]] = set()  # what is in the log, of which target
        self._shown: dict[int, _Shown] = {}  # what the front on disk was written for, by target

    # --- Making and opening ------------------------------------------------------------------------------------------

    @classmethod
    def create(
        cls,
        parent: Path,
        settings: Settings,
        data: RunData,
        *,
        seed: int,
        known: Sequence[Sequence[str]] = (),
        network: str = "",
    ) -> Run:
        """Make a new folder in `parent`, with the settings and data of the run, and lock it.

        Args:
            network: checksum of the network that reads the data; empty: none does.

        Raises:
            SettingsError: if the folder cannot be written.
        """
        if not isinstance(settings.random_state, (int, np.integer)):
            settings = replace(settings, random_state=None)  # the generator has changed since; the seed decides
        if settings.network not in (None, "auto"):
            settings = replace(settings, network=str(Path(settings.network).resolve()))  # as seen from anywhere
        name = f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(3)}"

        def fill(begun: Path) -> None:
            content = data.packed()
            files.replace(begun / _DATA, content)
            described = data.described | {"sha256": files.digest(content)}
            text = run_config.to_text(settings, seed, known, described, network)
            files.replace(begun / run_config.FILE, text.encode())
            (begun / _CHECKPOINT).mkdir()

        try:
            files.make_folder(parent / name, fill)
            run = cls(parent / name, settings, data, seed, known, network)
            try:
                run.log.open("begin", _limits(settings))
            except OSError:
                files.remove_folder(run.folder)
                raise
        except (OSError, ValueError) as error:  # a ValueError: the name has a character that no name may have
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
            changes: settings that do not change what is searched (`run_config.CHANGEABLE`), and settings that were
                functions, which no file can hold.

        Raises:
            DataError: if the folder does not hold a run, or the run is damaged or of another version.
            SettingsError: if another setting is to be changed.
        """
        path = folder / run_config.FILE
        content = run_config.read(path)
        try:
            data = RunData.read(folder / _DATA, content["data"])
            settings = run_config.settings_of(content["settings"], changes, is_to_search=is_to_search)
            seed = int(content["seed"])
            data = data.with_test(settings.test_size, seed)
            return cls(folder, settings, data, seed, content["known"], content.get("network", ""))
        except MALFORMED as error:
            if isinstance(error, (DataError, SettingsError)):
                raise
            raise DataError(
                f"`{path}` must have every key of a run, but it was changed or damaged: {error}. Restore the file, or "
                "start a new fit."
            ) from error

    def lock(self) -> None:
        """Begin to write to a run that was read.

        Raises:
            DataError: if another process is writing to it, or the folder cannot be written to.
        """
        try:
            (self.folder / _CHECKPOINT).mkdir(exist_ok=True)
            files.check_folder(self.folder / _CHECKPOINT)
            self.log.open("resume", _limits(self.settings))
        except OSError as error:
            raise DataError(
                f"`{self.folder}` must be a run that can be written to, but it is not: {error}. Copy it, or start a "
                "new fit."
            ) from error
        set_pause(self.folder, is_paused=False)
        files.remove_partial(self.folder)
        self.checkpoints.remove_partial()

    def close(self) -> None:
        """Stop writing."""
        self.log.close()

    # --- Writing -----------------------------------------------------------------------------------------------------

    def watch(self, progress: Progress) -> None:
        """Record a turn."""
        output, turn = progress.output, progress.turn
        for kind, told in (("structure", progress.structure), ("prior", progress.prior)):
            if told and (kind, output) not in self._told:
                self._told.add((kind, output))
                self._safely(functools.partial(self.log.record_told, output, told))
        self._safely(lambda: self.log.record_turn(output, progress))
        self._safely(lambda: self.checkpoints.policies.keep(output, turn, progress.policies))
        if turn.reason is not None:
            return
        state, shown = progress.state, self._shown.get(output)
        is_kept = state is not None and state.turn == turn.index
        if state is not None and is_kept:
            self._safely(lambda: self.checkpoints.save(output, state, progress.library))
        if shown is None or (is_kept and shown.best != str(progress.best)) or time.thread_time() >= shown.until:
            self._renew(output, progress)

    def _renew(self, output: int, progress: Progress) -> None:
        """Write the front so far, unless it is on disk already."""
        began = time.thread_time()  # other programs do not make it seem slow
        front = progress.front()
        text = front_file.to_csv(front.equations)
        if ("noise", output) not in self._told:
            self._told.add(("noise", output))
            self._safely(lambda: self.log.record_noise(output, front.noise))
        if output not in self._shown or self._shown[output].text != text:
            self._safely(lambda: front_file.write(self.folder, output, front))
        ended = time.thread_time()
        self._shown[output] = _Shown(str(progress.best), text, ended + (ended - began) / _MOST_SHARE)

    def stand_still(self) -> float:
        """Wait while the run is paused, and return the seconds of it."""
        if not self.is_to_pause:
            return 0.0
        began = time.monotonic()
        self._safely(lambda: self.log.record_pause(begins=True))
        while self.is_to_pause:
            time.sleep(_LOOK_SECONDS)
        self._safely(lambda: self.log.record_pause(begins=False))
        return time.monotonic() - began

    def finish(self, output: int, front: EquationFront) -> None:
        """Record the front of a target."""

        def write() -> None:
            front_file.write(self.folder, output, front)
            self.log.record_end(output, front)

        self._safely(write)

    def _safely(self, write: Callable[[], None]) -> None:
        """Write; if that fails, the search continues in memory, and a warning says so once."""
        try:
            write()
        except OSError as error:
            if not self._has_warned:
                self._has_warned = True
                warnings.warn(
                    f"`{self.folder}` cannot be written to any more ({error}). The search continues in memory; the "
                    "files that were written before are still good.",
                    RuntimeWarning,
                    stacklevel=3,
                )

    # --- Reading -----------------------------------------------------------------------------------------------------

    @property
    def is_to_pause(self) -> bool:
        """Whether the search should stand still."""
        return os.path.lexists(self.folder / _PAUSE)

    @property
    def labels(self) -> tuple[str, ...] | None:
        """The columns' own names; None if they had none."""
        return self.data.given_names if self.data.has_labels else None

    def plan(self) -> Plan:
        """Return the checked settings, for the categories of the data."""
        return self.settings.plan().with_categories(self.data.categories)

    def check_network(self, plan: Plan) -> None:
        """Refuse to go on with another network than the run began with.

        Raises:
            SettingsError: if it is another one.
            DataError: if the run is of another version, whose network is another one too.
        """
        if plan.checksum != self._network:
            self.checkpoints.check_version()
            began = f"one of checksum {self._network[:12]}" if self._network else "none"
            found = f"it is one of checksum {plan.checksum[:12]}" if plan.checksum else "there is none"
            raise SettingsError(
                f"`network` must be the network that the run began with, {began}, but {found}; another one would give "
                "another answer. Give the file of that network, or start a new fit."
            )

    def library(self, plan: Plan, formulas: Sequence[str]) -> Library:
        """Return the tokens of some of the run's formulas; if there are many columns, only those in the formulas."""
        return library_of_texts(plan, self.data.names, formulas)

    def known_formulas(self, plan: Plan) -> list[list[Expression]]:
        """Return the formulas that the run began with, for each target."""
        return [[Expression.parse(text, self.library(plan, texts)) for text in texts] for texts in self.known]

    def found(self, plan: Plan) -> dict[int, SavedFront]:
        """Return the fronts on disk, by target.

        Raises:
            DataError: if one is damaged.
        """
        ends, noises = self.log.ends(), self.log.noises()
        out = {}
        for output in range(self.data.y.shape[1]):
            path = front_file.path(self.folder, output)
            if os.path.lexists(path):
                begun = replace(NOT_ENDED, noise=noises[output]) if output in noises else NOT_ENDED
                end = ends.get(output, begun)
                equations = front_file.read(path, lambda formulas: self.library(plan, formulas))
                others = front_file.read_others(self.folder, output, lambda formulas: self.library(plan, formulas))
                rows = len(self.data.dataset(output)) if end.rows is None else end.rows
                front = EquationFront(equations, end.reason, rows, end.rounding, end.noise, others)
                out[output] = SavedFront(front, end.is_final)
        return out


def set_pause(folder: Path, *, is_paused: bool) -> None:
    """Ask the search of a run to stand still after its turn, or to go on.

    Raises:
        OSError: if the folder cannot be written to.
    """
    if is_paused:
        with contextlib.suppress(FileExistsError), (folder / _PAUSE).open("x"):  # a link is not followed
            pass
    else:
        (folder / _PAUSE).unlink(missing_ok=True)


def _limits(settings: Settings) -> dict[str, float | None]:
    """The limits of a search as its log has them."""
    seconds = settings.max_time
    return {"seconds": None if seconds is None or math.isinf(seconds) else seconds, "expressions": settings.max_evals}
