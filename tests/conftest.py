"""What all tests need: Ctrl-C, which a shell takes away from what it starts in the background; an operator to add."""

from __future__ import annotations

import dataclasses
import signal
import sys

import pytest

from symseed.language import derived
from symseed.language.tokens import OPERATORS, Token

signal.signal(signal.SIGINT, signal.default_int_handler)


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
