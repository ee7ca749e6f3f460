"""Semantic completion: the desired values of each node of a formula, and sub-expressions that have them."""

from __future__ import annotations

from symseed.completion.completer import Completer, CompletionCounts, CompletionSettings

__all__ = ["Completer", "CompletionCounts", "CompletionSettings"]
