"""The parts of a formula that a template has, as text for people: its free parts, and its constants by category."""

from __future__ import annotations

from collections import Counter

from symseed.export.shown import to_text
from symseed.language import Expression, Template
from symseed.language.spelling import DIGITS, decimal


def parts_text(template: Template, expression: Expression) -> dict[str, str]:
    """Return each free part by name, and each constant by category as `const[column]`; none if it does not fit."""
    out = {name: to_text(part) for name, part in template.parts_of(expression).items()}
    times: Counter[str] = Counter()
    for column, numbers in template.constants_of(expression):
        times[column] += 1
        again = f" ({times[column]})" if times[column] > 1 else ""
        out[f"const[{column}]{again}"] = ", ".join(f"{value} {decimal(number, DIGITS)}" for value, number in numbers)
    return out
