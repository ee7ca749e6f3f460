"""What all tests need: Ctrl-C, which a shell takes away from what it starts in the background."""

from __future__ import annotations

import signal

signal.signal(signal.SIGINT, signal.default_int_handler)
