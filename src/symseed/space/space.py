"""A search space: the library, length bounds, constraints and priors, compiled for one walker."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from symseed import _core
from symseed.errors import SettingsError, SpaceError, check_at_least
from symseed.language.expression import Expression
from symseed.language.library import Library, TokenIds
from symseed.language.population import Lengths, Population
from symseed.space.constraints import PAPER, Constraint, Dimensional
from symseed.space.priors import SoftLength, UniformArity

_PREFIXES_TRIED = 20_000
"""Most prefixes examined before a space is called empty: chosen by hand."""
_WALKS = 1_000
"""Most restarts of a walk that met a dead end: chosen by hand."""


@dataclass(frozen=True)
class SearchSpace:
    """The set of legal expressions. Defaults are the paper's.

    Raises:
        SpaceError: if no expression at all is allowed; it shows which constraint forbids what.
    """

    library: Library
    min_length: int = 4
    max_length: int = 30
    constraints: tuple[Constraint, ...] = PAPER
    soft_length: SoftLength | None = None
    uniform_arity: UniformArity | None = None

    def __post_init__(self) -> None:
        """Check bounds, and that there is something to find."""
        if not 1 <= self.min_length <= self.max_length <= 32_767:
            raise SettingsError(
                f"`min_length` and `max_length` must satisfy 1 <= min_length <= max_length <= 32767, but they are "
                f"{self.min_length} and {self.max_length}."
            )
        dead_end = self._find_dead_end()
        if dead_end is not None:
            raise SpaceError(self._explain(dead_end))

    @functools.cached_property
    def rules(self) -> _core.Rules:
        """The rules as the core reads them."""
        return self._compile(self.constraints, self.min_length, self.max_length)

    def _compile(self, constraints: Sequence[Constraint], min_length: int, max_length: int) -> _core.Rules:
        rules = [rule for constraint in constraints for rule in constraint.rules(self.library)]
        bias = np.zeros(len(self.library)) if self.uniform_arity is None else self.uniform_arity.bias(self.library)
        dimensional = sum(isinstance(rule, Dimensional) for rule in rules)
        if dimensional > 1:
            raise SettingsError(f"A space has at most one `Dimensions`, but {dimensional} were given.")
        return _core.Rules(
            self.library.vocabulary,
            [rule.native for rule in rules],
            min_length=min_length,
            max_length=max_length,
            bias=bias,
            soft_location=self.soft_length.location if self.soft_length else 0.0,
            soft_variance=self.soft_length.variance if self.soft_length else 0.0,
        )

    def allowed(self, prefix: Sequence[int]) -> npt.NDArray[np.bool_]:
        """Return which tokens may come after the beginning of an expression, (T,)."""
        return ~np.isneginf(self.logits(prefix))

    def logits(self, prefix: Sequence[int]) -> npt.NDArray[np.float64]:
        """Return what the priors add to each token's logit after a beginning, -inf where it is forbidden, (T,)."""
        return self.rules.logits(np.array(prefix, dtype=np.uint16))

    def logits_along(self, population: Population) -> npt.NDArray[np.float64]:
        """Return `logits` before each token of each legal row, (N, L, T): what a custom policy adds to its own logits.

        After a row's end they are 0.
        """
        population.check_library(self.library, "search space")
        return self.rules.logits_along(population.tokens, population.lengths)

    def violations(self, population: Population) -> npt.NDArray[np.int32]:
        """Return the first position of each row that is not allowed, -1 for a legal row, (N,)."""
        population.check_library(self.library, "search space")
        return self.rules.violations(population.tokens, population.lengths)

    def allows(self, expression: Expression) -> bool:
        """Return whether an expression is legal."""
        return bool(self.violations(Population.from_expressions([expression]))[0] == -1)

    def sample(self, count: int, *, seed: int, step: int = 0) -> Population:
        """Draw legal expressions from the priors alone: token by token, in proportion to exp(logits)."""
        check_at_least("count", count, 0)
        return self.drawn(*self.rules.sample(count, seed, step, _WALKS))

    def random_trees(self, count: int, *, seed: int, step: int = 0, heights: tuple[int, int] = (2, 5)) -> Population:
        """Draw legal trees as initial populations of genetic programming: "ramped half and half" (Koza 1992).

        The height of each is drawn evenly from `heights`. Half of them are full; in the others, each token below the
        root is an operator or a terminal. A tree that breaks a rule is drawn again; after 100 tries, the row is drawn
        from the priors instead.
        """
        least, most = heights
        if count < 0 or not 1 <= least <= most <= 16:
            raise SettingsError(
                f"`count` must be at least 0 and heights from 1 to 16, but they are {count}, {heights}."
            )
        return self.drawn(*self.rules.random_trees(count, seed, step, least, most, _WALKS))

    def drawn(self, tokens: TokenIds, lengths: Lengths) -> Population:
        """Make a population of rows that the core drew.

        Raises:
            SpaceError: if a row has length 0: the core found no legal expression.
        """
        if len(lengths) and lengths.min() == 0:
            raise SpaceError(
                f"Drawing at random found no way through the constraints in {_WALKS} tries, though legal expressions "
                "exist. Loosen the constraints or raise `max_length`."
            )
        constants = np.full(tokens.shape, np.nan)
        if self.library.has_constants:
            constants[np.append(self.library.is_constant, False)[np.minimum(tokens, len(self.library))]] = 1.0
        return Population.wrap(self.library, tokens, lengths, constants)

    def _find_dead_end(self) -> list[int] | None:
        """Search for a legal expression, at random and by arity; return the longest dead end, None on success."""
        _, lengths = self.rules.sample(1, 0, 0, _WALKS)
        if lengths[0] > 0:
            return None
        order = np.argsort(self.library.arities, kind="stable")
        longest: list[int] = []
        waiting: list[list[int]] = [[]]
        for _ in range(_PREFIXES_TRIED):
            if not waiting:
                return longest
            prefix = waiting.pop()
            if sum(int(self.library.arities[i]) - 1 for i in prefix) == -1:
                return None
            longest = prefix if len(prefix) > len(longest) else longest
            allowed = self.allowed(prefix)
            waiting.extend([*prefix, int(i)] for i in order[::-1] if allowed[i])
        return longest

    def _explain(self, prefix: list[int]) -> str:
        names = [token.name for token in self.library.tokens]
        begun = " ".join(names[i] for i in prefix) or "the start"
        lines = [
            "The search space admits no expression: after "
            f"`{begun}` every token is forbidden, and every other beginning that was tried ends the same way.",
            "What each constraint forbids there:",
        ]
        parts: list[tuple[str, _core.Rules]] = [
            (
                f"length from {self.min_length} to {self.max_length}",
                self._compile((), self.min_length, self.max_length),
            )
        ]
        parts += [(part.describe(), self._compile((part,), 1, 32_767)) for part in self.constraints]
        for label, rules in parts:
            banned = np.isneginf(rules.logits(np.array(prefix, dtype=np.uint16)))
            lines.append(f"  {label}: {', '.join(n for n, b in zip(names, banned, strict=True) if b) or 'nothing'}")
        lines.append("Loosen one of them, or add tokens to the library.")
        return "\n".join(lines)
