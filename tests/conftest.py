"""What all tests need: Ctrl-C, which a shell takes away from what it starts in the background; no waiting for a disk.

And an operator to add.
"""

from __future__ import annotations

import dataclasses
import os
import signal
import sys
from collections.abc import Iterator

import pytest

from symseed.language import derived
from symseed.language.tokens import OPERATORS, Token
from symseed.recovery import Checker

signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True, scope="session")
def _nothing_waits_for_a_disk() -> Iterator[None]:
    """Only a loss of power shows whether bytes were synced: the calls are made and checked, but wait for nothing."""

    def synced(descriptor: int) -> None:
        os.fstat(descriptor)  # raises where it is none

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", synced)
        yield


@pytest.fixture(scope="session")
def checker() -> Iterator[Checker]:
    """One for all tests: the process that proves takes a second or two to start, when it is first asked."""
    with Checker() as found:
        yield found


@pytest.fixture
def hyper(monkeypatch: pytest.MonkeyPatch) -> Token:
    """An operator of which nothing is said but its expansion; the core knows it as tanh."""
    token = dataclasses.replace(OPERATORS["tanh"], name="hyper")
    expansion = ("div", "sub", "exp", 0, "expneg", 0, "add", "exp", 0, "expneg", 0)
    monkeypatch.setattr(derived, "DERIVED", {**derived.DERIVED, "hyper": expansion})
    for name, module in list(sys.modules.items()):
        if name.startswith("symseed.") and getattr(module, "OPERATORS", None) is OPERATORS:
            monkeypatch.setattr(module, "OPERATORS", {**OPERATORS, "hyper": token})
    return token
