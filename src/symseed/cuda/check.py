"""A check of the device: whether it can be used here, and whether its values are the core's to the last bit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from symseed.cuda.device import Device, DeviceFacts, find_facts, first_device
from symseed.cuda.faults import DeviceFault, DeviceMissingError
from symseed.cuda.programs import Programs
from symseed.cuda.resident import Samples
from symseed.data.dataset import Dataset
from symseed.language.population import Population


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What `check` found."""

    facts: DeviceFacts | None
    """The device; None: there is none."""
    problem: str | None
    """Why it cannot be used, and what to do; None: it can."""


def check(
    population: Population,
    dataset: Dataset,
    *,
    facts: Callable[[], DeviceFacts] = find_facts,
    device: Callable[[], Device] = first_device,
) -> Diagnosis:
    """Compute a population on the first device and on the processor, and compare.

    A fault of the device is the answer here: the backend would let the processor compute.
    """
    found: DeviceFacts | None = None
    try:
        found = facts()
        opened = device()
        with opened.lock:
            opened.enter()
            programs = Programs(opened, Samples(opened, dataset), population)
            values = programs.predictions(np.arange(len(population), dtype=np.uint32)).value
    except (DeviceMissingError, DeviceFault) as fault:
        return Diagnosis(found, str(fault))
    if not np.array_equal(values, dataset.backend.predict(population).value, equal_nan=True):
        return Diagnosis(found, "Its values differ from the processor's. Set device=cpu, and report it.")
    return Diagnosis(found, None)
