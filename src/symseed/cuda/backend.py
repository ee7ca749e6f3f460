"""The backend: errors, predictions, fits and linearisations by a device, and by the core where the device cannot.

Both give the same bits, so which of them computes is a matter of speed only: a fit begun here ends the same elsewhere.
"""

from __future__ import annotations

import functools
import threading
import warnings
from collections.abc import Callable
from typing import TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from symseed import _core
from symseed.cuda.device import Device, first_device
from symseed.cuda.faults import DeviceFault, DeviceMemoryFault, DeviceMissingError
from symseed.cuda.programs import PAIRS, Programs, Rows
from symseed.cuda.resident import Samples
from symseed.data.backend import (
    CachedErrors,
    CoreBackend,
    Errors,
    FitMethod,
    FitSteps,
    Linearisation,
    Predictions,
    Scorer,
    Semantics,
    Validity,
)
from symseed.data.dataset import Dataset
from symseed.language.population import Population

LEAST_WORK = 4_000_000
"""Least tokens times samples that a call gives to the device: below it, the core is done before the device has begun.
Chosen by hand."""
_SMALLER = 8
"""If memory is short, launches become this much smaller."""
_LEAST_PAIRS = 1 << 10
"""Smallest launches that are worth the device."""
_ENDED_SHARE = 4
"""If fewer than one row in so many is still being fitted, the others leave the device."""
_ERROR, _LINEARISATION = 1, 2  # `Fitting::Need`

Answer = TypeVar("Answer")
OpenDevice: TypeAlias = Callable[[], Device]


class CudaBackend:
    """A dataset's samples on the first device of the process."""

    def __init__(self, dataset: Dataset, *, device: OpenDevice = first_device, least_work: int = LEAST_WORK) -> None:
        """Remember the dataset; the device gets it when it is first worth its use."""
        self._dataset = dataset
        self._open = device
        self._least_work = least_work
        self._samples: Samples | None = None
        self._pairs = PAIRS
        self._lock = threading.Lock()
        self._is_lost = False

    @functools.cached_property
    def _core(self) -> CoreBackend:
        """The processor on the same samples, of which it makes a copy."""
        return CoreBackend(self._dataset.samples, self._dataset.loss)

    def errors(self, population: Population, *, validity: Validity = Validity.VALUES, threads: int = 1) -> Errors:
        """See `Backend.errors`."""

        def by_core(rows: Population) -> Errors:
            return self._core.errors(rows, validity=validity, threads=threads)

        def on_device(device: Device, samples: Samples) -> Errors:
            programs = Programs(device, samples, population, pairs=self._pairs, threads=threads)
            rows, others = _split(programs.is_possible)
            if not len(rows):
                return by_core(population)
            found = programs.errors(rows)
            if not len(others):
                return found
            out = _blank(len(population))
            _put(out, rows, found)
            _put(out, others, by_core(population.take(others)))
            return out

        return self._try(on_device, lambda: by_core(population), population, validity)

    def predict(self, population: Population, *, validity: Validity = Validity.VALUES, threads: int = 1) -> Predictions:
        """See `Backend.predict`."""

        def by_core(rows: Population) -> Predictions:
            return self._core.predict(rows, validity=validity, threads=threads)

        def on_device(device: Device, samples: Samples) -> Predictions:
            programs = Programs(device, samples, population, pairs=self._pairs, threads=threads)
            rows, others = _split(programs.is_possible)
            if not len(rows):
                return by_core(population)
            found = programs.predictions(rows)
            if not len(others):
                return found
            rest = by_core(population.take(others))
            back = np.argsort(np.concatenate([rows, others]))
            return Predictions(
                *(
                    np.concatenate([getattr(found, name), getattr(rest, name)])[back]
                    for name in ("value", "failure", "position")
                )
            )

        return self._try(on_device, lambda: by_core(population), population, validity, squares_only=False)

    def fit(
        self,
        population: Population,
        *,
        iterations: int,
        restarts: int = 0,
        seed: int = 0,
        method: FitMethod = FitMethod.LEVENBERG_MARQUARDT,
        validity: Validity = Validity.VALUES,
        threads: int = 1,
    ) -> tuple[Population, Errors]:
        """See `Backend.fit`."""
        steps = FitSteps(iterations, restarts, seed, method)

        def by_core(rows: Population) -> tuple[Population, Errors]:
            return self._core.fit(rows, **steps._asdict(), validity=validity, threads=threads)

        def on_device(device: Device, samples: Samples) -> tuple[Population, Errors]:
            programs = Programs(device, samples, population, pairs=self._pairs, threads=threads)
            rows, others = _split(programs.is_possible & programs.is_linearisable)
            constants = population.constants.copy()
            out = _blank(len(population))
            if len(rows):
                fitted, found = _fitted(programs, population, rows, steps, threads)
                constants[rows] = fitted
                _put(out, rows, found)
            if len(others):
                fitted_others, found = by_core(population.take(others))
                constants[others] = fitted_others.constants
                _put(out, others, found)
            return population.with_constants(constants), out

        if method is not FitMethod.LEVENBERG_MARQUARDT:
            return by_core(population)
        return self._try(on_device, lambda: by_core(population), population, validity)

    def linearise(self, population: Population, *, by_loss: bool = False) -> Linearisation:
        """See `Backend.linearise`."""

        def on_device(device: Device, samples: Samples) -> Linearisation:
            programs = Programs(device, samples, population, pairs=self._pairs)
            row = np.zeros(1, dtype=np.uint32)
            if not (programs.is_possible & programs.is_linearisable).all() or programs.errors(row).failure[0]:
                return self._core.linearise(population, by_loss=by_loss)
            sums = programs.linearisations(row)
            constants = int((np.sqrt(8 * len(sums) + 1) - 3) / 2)
            curvature = np.zeros((constants, constants))
            below = np.tril_indices(constants)
            curvature[below] = sums[1 + constants :]
            curvature.T[below] = sums[1 + constants :]
            return Linearisation(float(sums[0]), sums[1 : 1 + constants], curvature)

        if by_loss and self._dataset.loss is not None:
            return self._core.linearise(population, by_loss=True)
        return self._try(
            on_device,
            lambda: self._core.linearise(population, by_loss=by_loss),
            population,
            validity=Validity.VALUES,
            squares_only=False,
        )

    def semantics(self, population: Population) -> Semantics:
        """See `Backend.semantics`: the core's, as one row has fewer values to compute than to copy back."""
        return self._core.semantics(population)

    def scorer(
        self,
        *,
        cache_bytes: int,
        cached_constants: int,
        fit: FitSteps | None = None,
        validity: Validity = Validity.VALUES,
        threads: int = 1,
    ) -> Scorer:
        """See `Backend.scorer`."""
        return _CudaScorer(self, _core.Cache(cache_bytes, cached_constants), fit, validity, threads)

    def _try(
        self,
        on_device: Callable[[Device, Samples], Answer],
        by_core: Callable[[], Answer],
        population: Population,
        validity: Validity,
        *,
        squares_only: bool = True,
    ) -> Answer:
        """The device's answer, or the core's if it is the better one or the only one to be had.

        The core alone has losses other than the square, and rows that are valid by other rules than finite values.
        """
        work = int(population.lengths.sum()) * len(self._dataset)
        if (
            self._is_lost
            or validity is not Validity.VALUES
            or work < self._least_work
            or (squares_only and self._dataset.loss is not None)
        ):
            return by_core()
        while not self._is_lost:
            try:
                with self._lock:
                    device = self._open()
                    with device.lock:
                        return self._on(device, on_device)
            except DeviceMemoryFault as fault:
                self._pairs //= _SMALLER
                if self._pairs < _LEAST_PAIRS:
                    self._leave(str(fault))
            except (DeviceMissingError, DeviceFault) as fault:
                self._leave(str(fault))
        return by_core()

    def _on(self, device: Device, answer: Callable[[Device, Samples], Answer]) -> Answer:
        device.enter()
        try:
            if self._samples is None:
                self._samples = Samples(device, self._dataset)
            return answer(device, self._samples)
        except DeviceMemoryFault:
            # The next attempt takes what is free then.
            device.wait()
            device.forget()
            self._samples = None
            raise

    def _leave(self, reason: str) -> None:
        """Compute on the processor from now on, and say so once."""
        if not self._is_lost:
            self._is_lost = True
            warnings.warn(f"{reason} The processor computes on; the answer is the same.", UserWarning, stacklevel=4)


class _CudaScorer:
    """The core's cache, whose new rows the backend computes."""

    def __init__(
        self, backend: CudaBackend, cache: _core.Cache, fit: FitSteps | None, validity: Validity, threads: int
    ) -> None:
        self._backend = backend
        self._cache = cache
        self._fit = fit
        self._validity = validity
        self._threads = threads

    @property
    def counts(self) -> tuple[int, int, int]:
        """See `Scorer.counts`."""
        return self._cache.counts

    def score(self, population: Population) -> CachedErrors:
        """See `Scorer.score`."""
        vocabulary = population.library.vocabulary
        lookup, tokens, lengths, constants = self._cache.look_up(
            vocabulary, population.tokens, population.lengths, population.constants, fits=self._fit is not None
        )
        fresh = Population.wrap(population.library, tokens, lengths, constants)
        found = _blank(0)
        if len(fresh):
            if self._fit is None:
                found = self._backend.errors(fresh, validity=self._validity, threads=self._threads)
            else:
                fresh, found = self._backend.fit(
                    fresh, **self._fit._asdict(), validity=self._validity, threads=self._threads
                )
        error, failure, position, fitted, computed = self._cache.keep(
            vocabulary, lookup, fresh.constants, found.error, found.failure, found.position
        )
        scored = population if fitted is None else population.with_constants(fitted)
        return CachedErrors(scored, Errors(error, failure, position), computed.view(np.bool_))


def _fitted(
    programs: Programs, population: Population, rows: Rows, steps: FitSteps, threads: int
) -> tuple[npt.NDArray[np.float64], Errors]:
    """The constants of some rows, fitted: the core says what each needs next, and the device computes it for all."""
    chosen = population.take(rows)
    fits = _core.Fittings(
        chosen.library.vocabulary,
        chosen.tokens,
        chosen.lengths,
        chosen.constants,
        iterations=steps.iterations,
        restarts=steps.restarts,
        seed=steps.seed,
        threads=threads,
    )
    places = rows.copy()  # of the chosen rows in `programs`
    while True:
        asked = _where(fits.needs(), _ERROR)
        if not len(asked):
            constants, error, failure, position = fits.best()
            return constants, Errors(error, failure, position)
        if len(asked) * _ENDED_SHARE < len(programs.rows):
            # Those that have ended cost copies, and time to find the others among them.
            programs = programs.of(chosen.take(asked))
            places[asked] = np.arange(len(asked))
        programs.set_constants(places[asked], fits.constants(asked))
        found = programs.errors(places[asked])
        fits.take_errors(asked, found.error, found.failure, found.position)
        asked = _where(fits.needs(), _LINEARISATION)
        if len(asked):
            fits.take_linearisations(asked, programs.linearisations(places[asked]))


def _where(needs: npt.NDArray[np.uint8], need: int) -> Rows:
    return np.flatnonzero(needs == need).astype(np.uint32)


def _split(possible: npt.NDArray[np.bool_]) -> tuple[Rows, Rows]:
    return np.flatnonzero(possible).astype(np.uint32), np.flatnonzero(~possible).astype(np.uint32)


def _blank(count: int) -> Errors:
    return Errors(np.full(count, np.nan), np.zeros(count, dtype=np.uint8), np.full(count, -1, dtype=np.int32))


def _put(to: Errors, rows: Rows, found: Errors) -> None:
    to.error[rows], to.failure[rows], to.position[rows] = found.error, found.failure, found.position
