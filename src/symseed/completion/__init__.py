"""What a node of a formula should have been, and the sub-expressions that have those values."""

from __future__ import annotations

from symseed.completion.completer import Completer, CompletionCounts, CompletionSettings

__all__ = ["Completer", "CompletionCounts", "CompletionSettings"]
