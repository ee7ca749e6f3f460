"""Formulas for others: sympy, LaTeX, MathML, program text, PyTorch and ONNX."""

from __future__ import annotations

from symseed.export.source import export

__all__ = ["export"]
