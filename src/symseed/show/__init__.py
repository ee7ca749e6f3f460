"""Figures of one fit, and a report as one HTML page."""

from __future__ import annotations

from symseed.show.alternatives import plot_alternatives
from symseed.show.figures import plot_convergence, plot_fit, plot_front, plot_tree, together
from symseed.show.training import plot_training

__all__ = ["plot_alternatives", "plot_convergence", "plot_fit", "plot_front", "plot_training", "plot_tree", "together"]
