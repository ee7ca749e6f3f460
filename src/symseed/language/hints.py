"""Hints for unknown names of operators: a name in another tool, a typing error, or a function that can be given."""

from __future__ import annotations

import math
import re
import types
from collections.abc import Iterable, Mapping

import numpy as np

from symseed.errors import did_you_mean

_PREFIX = re.compile(r"(?:np|numpy|jnp|torch|math|sympy|sp)\.")

_OURS: Mapping[str, str] = types.MappingProxyType(
    {
        **{
            "plus": "+",
            "subtract": "-",
            "minus": "-",
            "multiply": "*",
            "times": "*",
            "divide": "/",
            "true_divide": "/",
        },
        **{"arcsin": "asin", "arccos": "acos", "arctan": "atan", "arctan2": "atan2"},
        **{"arcsinh": "asinh", "arccosh": "acosh", "arctanh": "atanh", "cosine": "cos", "sine": "sin"},
        **{
            "absolute": "abs",
            "fabs": "abs",
            "reciprocal": "inv",
            "heaviside": "step",
            "remainder": "mod",
            "fmod": "mod",
        },
        **{"sqr": "square", "pow2": "square", "pow3": "cube", "fmin": "min", "fmax": "max"},
        **{"signum": "sign", "sgn": "sign", "tgamma": "gamma", "cond": "where", "ifelse": "where", "loge": "log"},
    }
)
"""Names in NumPy, PySR, gplearn, pyoperon and TuringBot of operators that have another name here."""
_FUNCTIONS = frozenset(
    ("relu", "step", "erf", "erfc", "erfi", "gamma", "lgamma", "cond", "where", "greater", "less", "aq", "cbrt", "logb")
)
"""Names of functions that `numpy` and `math` lack, or have by another name."""


def operator_hint(name: object, known: Iterable[str]) -> str:
    """Return advice on an unknown name, with a space before it; an empty text if there is none.

    Case is ignored, and so is a prefix such as `np.`. The name of a function that is not an operator here is never
    taken for a typing error: if `atan` is unknown, the advice is not `tan`.
    """
    names = {other.lower(): other for other in known}
    folded = _PREFIX.sub("", str(name).strip().lower()).removeprefix("safe_").removesuffix("()")
    meant = names.get(folded) or names.get(_OURS.get(folded, ""))
    if meant is not None:
        return f" Did you mean `{meant}`?"
    if folded in _OURS or folded in _FUNCTIONS or callable(getattr(np, folded, getattr(math, folded, None))):
        return f" From Python, a function of arrays can be given in place of a name, such as {_example(folded)}"
    return did_you_mean(folded, names.values())


def _example(name: str) -> str:
    return f"np.{name}." if isinstance(getattr(np, name, None), np.ufunc) else f"def {name}(x): return ..."
