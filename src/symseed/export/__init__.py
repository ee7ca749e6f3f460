"""Exports of formulas: text for people, sympy, LaTeX, MathML, source code, PyTorch and ONNX."""

from __future__ import annotations

from symseed.export.graphs import to_numpy, to_onnx, to_torch
from symseed.export.notation import to_sympy
from symseed.export.parts import parts_text
from symseed.export.shown import from_text, to_text
from symseed.export.source import FORMATS, export
from symseed.language.typeset import to_latex, to_mathml

__all__ = [
    "FORMATS",
    "export",
    "from_text",
    "parts_text",
    "to_latex",
    "to_mathml",
    "to_numpy",
    "to_onnx",
    "to_sympy",
    "to_text",
    "to_torch",
]
