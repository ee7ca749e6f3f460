"""The picture of learning shows each search's statistics, and a mark for each improvement by the part that found it."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from symseed.errors import DataError
from symseed.portfolio import Moment, TrackLearning
from symseed.search import Batch, Learning, Part
from symseed.show.training import plot_training

pytest.importorskip("matplotlib")


def batch(mean: float) -> Batch:
    return Batch(
        count=9, mean=mean, low=mean - 0.1, median=mean, high=mean + 0.1, best=1.0, length=5.0, repeated=0.0, failed=0.0
    )


def moment(charged: int, found_by: Part | None, *tracks: int, entropy: float | None = 1.5) -> Moment:
    entries = [
        TrackLearning(track, charged, Learning(batch(0.1 * track + 0.2), batch(0.6), entropy, 3.0)) for track in tracks
    ]
    return Moment(
        seconds=1.0, charged=charged, loss=1.0 / (1 + charged), formula="x", found_by=found_by, learning=tuple(entries)
    )


HISTORY = [
    moment(0, Part.MEAN),
    moment(10, Part.EVOLUTION, 0),
    moment(20, None, 0, entropy=None),
    moment(30, Part.POLICY, 0, 2),
]


def test_each_search_has_its_rewards_and_its_entropy_and_each_part_its_marks() -> None:
    figure = plot_training(HISTORY)
    improvements, rewards, entropy, later, _ = figure.axes
    marks = {line.get_label(): list(np.asarray(line.get_xdata())) for line in improvements.lines[1:]}
    assert marks == {"mean": [0], "evolution": [10], "policy": [30]}
    lines = {line.get_label(): line for line in rewards.lines}
    assert list(np.asarray(lines["samples"].get_xdata())) == [10, 20, 30]
    assert list(np.asarray(lines["samples"].get_ydata())) == pytest.approx([0.2] * 3)
    assert list(np.asarray(lines["evolved"].get_ydata())) == [0.6] * 3
    assert list(np.asarray(entropy.lines[0].get_xdata())) == [10, 30], "where it was estimated"
    assert (rewards.get_title(loc="left"), later.get_title(loc="left")) == ("search 0", "search 2")


def test_a_search_without_a_policy_or_without_evolution_is_drawn_too() -> None:
    (alone,) = HISTORY[1].learning
    for learning in (
        Learning(batch(0.1), None, None, None),
        Learning(batch(math.nan), batch(0.3), None, None),
    ):
        changed = dataclasses.replace(HISTORY[1], learning=(dataclasses.replace(alone, learning=learning),))
        assert len(plot_training([changed]).axes) == 3


def test_a_history_without_statistics_is_refused_with_a_sentence() -> None:
    with pytest.raises(DataError, match="must hold statistics of a search to be drawn, but it has none"):
        plot_training(HISTORY[:1])
