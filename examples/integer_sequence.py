"""Find a closed form for an integer sequence, with a custom task that uses exact fractions.

The pentagonal numbers 1, 5, 12, 22, 35, ... are the partial sums of 1, 4, 7, 10, 13, ... The reward uses the first few
terms only. The task is solved when a formula gives all terms, including those without a reward.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from statistics import fmean
from typing import TypeAlias

from symseed import Budget, Expression, Library, Population, Scored, SearchResult, SearchSpace, search
from symseed.language import TokenKind
from symseed.scoring import Counts

Number: TypeAlias = int | Fraction

OPERATIONS: Mapping[str, Callable[[Number, Number], Number]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": Fraction,
}
TERMS = tuple(accumulate(range(1, 60, 3)))
REWARDED = 8
"""Number of terms that the reward uses."""


def value(expression: Expression, n: int) -> Number | None:
    """Return the exact value of the formula at n, or None if it divides by zero."""
    waiting: list[Number] = []
    for token in reversed(expression.tokens):
        if token.kind is TokenKind.VARIABLE:
            waiting.append(n)
        elif token.kind is TokenKind.LITERAL:
            waiting.append(int(token.value))
        else:
            try:
                waiting.append(OPERATIONS[token.name](waiting.pop(), waiting.pop()))
            except ZeroDivisionError:
                return None
    return waiting[0]


def matches(expression: Expression, terms: Sequence[int]) -> bool:
    """Return whether the formula gives exactly these terms, starting at n = 1."""
    return all(value(expression, n) == term for n, term in enumerate(terms, start=1))


def closeness(found: Number | None, term: int) -> float:
    """Return 1 for the exact term, less for values further away, and 0 for no value."""
    return 0.0 if found is None else 1.0 / (1.0 + abs(float(found) / term - 1.0))


@dataclass(frozen=True, slots=True)
class Answer:
    """The score of a formula."""

    reward: float
    is_solved: bool


class SequenceTask:
    """Scores formulas in n by their distance from the first terms of a sequence; each formula is scored once.

    The terms start at n = 1 and must not be 0.
    """

    def __init__(self, terms: Sequence[int], rewarded: int) -> None:
        self._terms, self._rewarded = terms, rewarded
        self._known: dict[tuple[int, ...], Answer] = {}
        self._asked = 0

    @property
    def counts(self) -> Counts:
        """The counts since the task was created."""
        return Counts(self._asked, evaluated=len(self._known), unique=len(self._known))

    def evaluate(self, population: Population) -> Scored:
        """Score each row."""
        answers = [self._answer(expression) for expression in population]
        self._asked += len(answers)
        return Scored.of(population, [answer.reward for answer in answers], [answer.is_solved for answer in answers])

    def _answer(self, expression: Expression) -> Answer:
        if expression.ids not in self._known:
            rewarded = self._terms[: self._rewarded]
            reward = fmean(closeness(value(expression, n), term) for n, term in enumerate(rewarded, start=1))
            self._known[expression.ids] = Answer(reward, matches(expression, self._terms))
        return self._known[expression.ids]


def find(terms: Sequence[int] = TERMS, *, seed: int = 0, budget: Budget | None = None) -> SearchResult:
    """Search for a closed form of a sequence."""
    library = Library.of([*OPERATIONS, 1, 2, 3], variables=["n"])
    space = SearchSpace(library, min_length=1, max_length=11)
    return search.run(space, SequenceTask(terms, REWARDED), seed=seed, budget=budget)


def main() -> None:
    """Run the search and print the formula."""
    result = find()
    print(f"Terms:    {', '.join(map(str, TERMS[:REWARDED]))}, ...")
    print(f"Formula:  {result.best}")
    print(f"Verdict:  {'exact' if matches(result.best, TERMS) else 'not exact'} for all {len(TERMS)} terms")
    last = result.history[-1]
    print(f"Effort:   {last.unique} different formulas in {last.seconds:.1f} seconds")


if __name__ == "__main__":
    main()
