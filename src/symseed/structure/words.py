"""Structure in words: what a user is told of it, also where no formula is found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from symseed.language import Expression, Writer
from symseed.structure.search import Candidate, Structure


@dataclass(frozen=True, slots=True)
class Finding:
    """What evidence says of the data: a target that depends only on some combinations of the columns."""

    target: str
    """The target, or what is left of it once factors and terms are taken off."""
    columns: tuple[str, ...]
    """The combinations that it depends on."""
    gain: float
    """Nats by which the evidence for this exceeds that for a function of all columns."""

    def __str__(self) -> str:
        """Return a sentence."""
        *others, last = self.columns
        listed = f"{', '.join(others)} and {last}" if others else last
        return f"{self.target} depends only on {listed}"


def findings(
    structure: Structure | None, writer: Writer, target: str, spelt: Callable[[Expression], str] = str
) -> tuple[Finding, ...]:
    """Return what was found, best first, with the names of the writer's columns.

    Args:
        target: name of the target.
        spelt: writes a formula as text.
    """
    if structure is None:
        return ()

    def told(candidate: Candidate) -> Finding:
        plain = candidate.reduction.plain
        columns = (spelt(Expression(writer.library, column.row)) for column in plain.columns)
        return Finding(
            spelt(plain.target(writer, target)), tuple(columns), candidate.evidence - structure.first_evidence
        )

    return tuple(dict.fromkeys(map(told, structure.candidates)))
