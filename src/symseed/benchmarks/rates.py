"""Rates of recovery on unseen problems: by split, family and method, of those that fit the rules and of the others."""

from __future__ import annotations

import functools
import re
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from symseed import benchmarks, methods
from symseed.benchmarks import fits, report
from symseed.benchmarks.families import FAMILIES
from symseed.benchmarks.fits import Fit
from symseed.benchmarks.store import RunRecord
from symseed.benchmarks.unseen import PREFIX

RULES = "nggp"
"""The method whose rules a problem must fit: the paper's tokens, 4 to 30 of them, and its constraints."""
HEADER = ("Method", "Problems", "That fit, recovered", "%", "95 %", "Look-ups charged %", "Others, recovered", "CPU s")

_FAMILY = re.compile(rf"{PREFIX}([\w-]+)/([A-Za-z]+)-\d+")


@dataclass(frozen=True, slots=True)
class Rate:
    """Runs of one method on problems of one family, or of all."""

    method: str
    split: str
    family: str
    """Empty: all families."""
    fitting: tuple[RunRecord, ...]
    """Runs on problems that fit the rules."""
    others: tuple[RunRecord, ...]

    @property
    def percent(self) -> float:
        """Return the rate on problems that fit; without any, NaN."""
        return 100.0 * _recovered(self.fitting) / len(self.fitting) if self.fitting else float("nan")

    @property
    def charged_percent(self) -> float:
        """Return the same rate if a look-up of completion counts as an expression does."""
        within = [run for run in self.fitting if run.charged + run.lookups <= run.expressions]
        return 100.0 * _recovered(within) / len(self.fitting) if self.fitting else float("nan")

    @property
    def cells(self) -> tuple[str, ...]:
        """The rate as a line of a table."""
        low, high = report.wilson(_recovered(self.fitting), len(self.fitting))
        seconds = statistics.fmean(run.cpu_seconds for run in (*self.fitting, *self.others))
        return (
            self.method,
            f"{self.split}, {self.family or 'all families'}",
            _count(self.fitting),
            f"{self.percent:.1f}",
            f"{low:.1f} to {high:.1f}",
            f"{self.charged_percent:.1f}",
            _count(self.others),
            f"{seconds:.2f}",
        )


def rates(records: Iterable[RunRecord]) -> list[Rate]:
    """Return the rates of runs on unseen problems: all families of a split first, then each."""
    groups: dict[tuple[str, str, str], list[RunRecord]] = {}
    for record in map(report.named, report.latest(records)):
        match = _FAMILY.fullmatch(record.problem)
        if match is not None:
            split, family = match.groups()
            for name in ("", family):
                groups.setdefault((split, record.method, name), []).append(record)
    order = ["", *FAMILIES]
    known = list(methods.METHODS)
    keys = sorted(groups, key=lambda key: (key[0], known.index(key[1]) if key[1] in known else len(known), key[1]))
    keys.sort(key=lambda key: (key[0], order.index(key[2])))
    return [_rate(*key, groups[key]) for key in keys]


def _rate(split: str, method: str, family: str, runs: Sequence[RunRecord]) -> Rate:
    holds = {run.problem: fit_of(run.problem).holds for run in runs}
    fitting = tuple(run for run in runs if holds[run.problem])
    return Rate(method, split, family, fitting, tuple(run for run in runs if not holds[run.problem]))


@functools.cache
def fit_of(problem: str) -> Fit:
    """Return whether a problem fits the rules of the paper's method."""
    return fits.fit(benchmarks.get(problem), methods.get(RULES))


def _recovered(runs: Sequence[RunRecord]) -> int:
    return sum(run.is_recovered for run in runs)


def _count(runs: Sequence[RunRecord]) -> str:
    return f"{_recovered(runs)} of {len(runs)}" if runs else "-"
