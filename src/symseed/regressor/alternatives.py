"""Alternatives: formulas that explain the data about equally well, and the measurement that would tell them apart."""

from __future__ import annotations

from dataclasses import dataclass

from symseed.data import Dataset
from symseed.export import to_mathml
from symseed.regressor.front import Equation, EquationFront
from symseed.scoring import Contrast, largest_contrast
from symseed.text import for_html, percent

LEAST_ODDS = 0.1
"""Least weight of an alternative, as a share of the largest weight: about two nats. Chosen by hand."""
_MOST = 5
"""Most formulas that are compared: chosen by hand."""


@dataclass(frozen=True, slots=True)
class Alternatives:
    """The formulas of one target that explain the data about equally well, the most probable first."""

    equations: tuple[Equation, ...]
    """Formulas of different forms; fewer than two if no other formula is nearly as probable as the best."""
    contrast: Contrast | None
    """Where they differ most; None if there are fewer than two, or no place tells them apart."""

    @classmethod
    def of(cls, front: EquationFront, data: Dataset, *, seed: int = 0) -> Alternatives:
        """Compare the most probable formulas of a front, and those beside it.

        Args:
            data: the samples that were fitted.
            seed: draws places between samples.
        """
        weighed = [item for item in (*front.equations, *front.others) if item.weight is not None]
        ranked = sorted(weighed, key=lambda item: (-(item.weight or 0.0), item.description))
        kept: list[Equation] = []
        for item in ranked:
            is_new = all(item.weight != other.weight for other in kept)  # formulas of one form have the same weight
            if is_new and (item.weight or 0.0) >= LEAST_ODDS * (ranked[0].weight or 0.0):
                kept.append(item)
        kept = kept[:_MOST]
        if len(kept) < 2:
            return cls(tuple(kept), None)
        return cls(tuple(kept), largest_contrast([item.uncertainty for item in kept], data, seed=seed))

    @property
    def summary(self) -> str:
        """A sentence: how many formulas there are, and where to measure."""
        if len(self.equations) < 2:
            return "No other formula that was found explains the data nearly as well."
        if len(self.equations) == 2:
            first = "These two formulas explain the data about equally well."
        else:
            first = f"These {len(self.equations)} formulas explain the data about equally well."
        if self.contrast is None:
            return first
        place = ", ".join(f"{name} = {value:.4g}" for name, value in self.contrast.at.items())
        size = f"{self.contrast.deviations:.2g}"
        return f"{first} They differ most at {place}, by {size} standard deviations of a measurement: measure there."

    def __str__(self) -> str:
        """Return the formulas with their weights and predictions, and the sentence."""
        lines = [f"{percent(item.weight or 0.0):>5}  {item}{self._there(i)}" for i, item in enumerate(self.equations)]
        return "\n".join([*(lines if len(lines) > 1 else []), self.summary])

    def _repr_html_(self) -> str:
        """Show the formulas typeset in notebooks."""
        rows = "".join(
            f"<tr><td>{for_html(percent(item.weight or 0.0))}</td><td>{to_mathml(item.shown, None)}</td>"
            f"<td>{for_html(self._there(i))}</td></tr>"
            for i, item in enumerate(self.equations)
        )
        table = f'<table cellpadding="5">{rows}</table>' if len(self.equations) > 1 else ""
        return f"{table}<p>{for_html(self.summary)}</p>"

    def _there(self, place: int) -> str:
        """What a formula predicts where they differ most."""
        return "" if self.contrast is None else f"  ({self.contrast.values[place]:.4g} there)"
