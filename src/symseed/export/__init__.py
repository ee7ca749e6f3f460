"""Formulas for others: sympy, LaTeX, MathML, program text, PyTorch and ONNX."""

from __future__ import annotations

from symseed.export.graphs import to_numpy, to_onnx, to_torch
from symseed.export.notation import to_latex, to_mathml, to_sympy, to_text
from symseed.export.source import export

__all__ = ["export", "to_latex", "to_mathml", "to_numpy", "to_onnx", "to_sympy", "to_text", "to_torch"]
