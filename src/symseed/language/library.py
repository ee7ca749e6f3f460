"""A library: the ordered tokens of a problem. A token's id is its index."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from symseed import _core, arithmetic
from symseed.arrays import Floats
from symseed.errors import SettingsError, check_between
from symseed.language import tokens
from symseed.language.tokens import Token, TokenKind
from symseed.text import is_number

TokenIds: TypeAlias = npt.NDArray[np.uint16]

MAX_TOKENS = 65_534
"""Most tokens of a library: ids are 16-bit, and one value is kept for padding."""


@dataclass(frozen=True)
class Library:
    """Ordered, immutable tokens; build one with `Library.of`."""

    tokens: tuple[Token, ...]

    def __post_init__(self) -> None:
        """Refuse ambiguous names, and tokens that cannot form an expression."""
        if not 1 <= len(self.tokens) <= MAX_TOKENS:
            raise SettingsError(f"A library has from 1 to {MAX_TOKENS} tokens, but {len(self.tokens)} were given.")
        seen: set[tuple[TokenKind, str]] = set()
        for token in self.tokens:
            if (token.kind, token.name) in seen:
                raise SettingsError(f"`{token.name}` is in the library twice. Name each token once.")
            seen.add((token.kind, token.name))
        for token in self.tokens:
            if token.function is not None and (TokenKind.VARIABLE, token.name) in seen:
                raise SettingsError(f"`{token.name}` is both an operator of your own and a column. Rename one of them.")
        if not any(token.arity == 0 for token in self.tokens):
            raise SettingsError("A library needs a variable or a number, but only operators were given.")

    @classmethod
    def of(
        cls,
        operators: Iterable[str | float | Token | Callable[..., Any]],
        variables: int | Sequence[str],
        *,
        constants: bool = False,
    ) -> Library:
        """Build a library: the variables first, then `operators` as listed.

        Args:
            operators: operators by name or alias; a number is a literal, and "const" a fitted constant; a function of
                one or two arrays is an operator of your own (`tokens.custom`).
            variables: names of the columns, or how many there are (then they are x1, x2, ...).
            constants: add a fitted constant at the end.
        """
        for argument, value in {"operators": operators, "variables": variables}.items():
            if isinstance(value, str):
                raise SettingsError(f"`{argument}` must be a list of names, but it is the text {value!r}.")
        if isinstance(variables, (int, np.integer)):
            check_between("variables", int(variables), 0, MAX_TOKENS)
            names = [f"x{i + 1}" for i in range(variables)]
        else:
            names = list(variables)
        built = [tokens.variable(name, column) for column, name in enumerate(names)]
        for entry in operators:
            if isinstance(entry, Token):
                built.append(entry)
            elif callable(entry):
                built.append(tokens.custom(entry))
            elif entry == tokens.CONSTANT_NAME:
                built.append(tokens.constant())
            elif isinstance(entry, str) and not is_number(entry):
                built.append(tokens.operator(entry))
            else:
                built.append(tokens.literal(entry))
        if constants:
            built.append(tokens.constant())
        return cls(tuple(built))

    def __len__(self) -> int:
        """Return T."""
        return len(self.tokens)

    def __getitem__(self, token_id: int) -> Token:
        """Return the token of an id."""
        return self.tokens[token_id]

    @property
    def pad(self) -> int:
        """The value that fills a row after its end; never a token's id."""
        return MAX_TOKENS + 1

    @functools.cached_property
    def arities(self) -> npt.NDArray[np.int32]:
        """Arity of each token, (T,)."""
        return np.array([token.arity for token in self.tokens], dtype=np.int32)

    @functools.cached_property
    def complexities(self) -> npt.NDArray[np.int32]:
        """Complexity of each token, (T,)."""
        return np.array([token.complexity for token in self.tokens], dtype=np.int32)

    @functools.cached_property
    def is_constant(self) -> npt.NDArray[np.bool_]:
        """Whether each token is a fitted constant, (T,)."""
        return np.array([token.kind is TokenKind.CONSTANT for token in self.tokens])

    @functools.cached_property
    def variables(self) -> tuple[Token, ...]:
        """The variables, in the order of their columns."""
        return tuple(sorted(self._of(TokenKind.VARIABLE), key=lambda token: token.column))

    @functools.cached_property
    def has_constants(self) -> bool:
        """Whether expressions may hold fitted constants."""
        return bool(self.is_constant.any())

    @functools.cached_property
    def token_nats(self) -> Floats:
        """Code length of each token, in nats, (T,): half the probability for leaves, half for operators.

        These are lengths of a complete code for trees: the first token of two kinds says whether a branch ends here.
        """
        is_leaf = self.arities == 0
        leaves = int(is_leaf.sum())
        counts = np.where(is_leaf, leaves, len(self) - leaves)
        return np.asarray(arithmetic.log(2.0 * counts))

    @functools.cached_property
    def mean_nats(self) -> float:
        """Code length of a token on average, in nats, where each second one is a leaf, as in a sum of products."""
        is_leaf = self.arities == 0
        parts = [float(self.token_nats[kind][0]) for kind in (is_leaf, ~is_leaf) if kind.any()]
        return sum(parts) / len(parts)

    def with_constant(self) -> Library:
        """Return this library with one fitted constant, at its end: its own, if it has one."""
        own = self._of(TokenKind.CONSTANT) or [tokens.constant()]
        return Library((*self._unfitted, own[0]))

    def without_constants(self) -> Library:
        """Return this library without fitted constants."""
        return Library(self._unfitted)

    @property
    def _unfitted(self) -> tuple[Token, ...]:
        return tuple(token for token in self.tokens if token.kind is not TokenKind.CONSTANT)

    def ids(self, names: Iterable[str]) -> list[int]:
        """Return the ids of tokens by name or alias; names that are not in the library are left out."""
        own = {token.name for token in self.tokens}
        wanted = {name if name in own else tokens.ALIASES.get(name, name) for name in names}
        return [i for i, token in enumerate(self.tokens) if token.name in wanted]

    def ids_of_kind(self, kind: TokenKind) -> list[int]:
        """Return the ids of all tokens of a kind."""
        return [i for i, token in enumerate(self.tokens) if token.kind is kind]

    def size(self, ids: Sequence[int]) -> int:
        """Return the size of a formula: the sum of its tokens' weights, which are 1 unless a user gives others."""
        return sum(self.tokens[i].weight for i in ids)

    def ends(self, ids: Sequence[int]) -> list[int]:
        """Return, for each token of a prefix, one past the last place of the subtree that begins there."""
        out = [0] * len(ids)
        waiting: list[int] = []
        for place in reversed(range(len(ids))):
            end = place + 1
            for _ in range(self.tokens[ids[place]].arity):
                end = waiting.pop()
            waiting.append(end)
            out[place] = end
        return out

    def end(self, ids: Sequence[int], begin: int) -> int:
        """Return one past the last place of one subtree."""
        place, open_ = begin, 1
        while open_ > 0:
            open_ += self.tokens[ids[place]].arity - 1
            place += 1
        return place

    def constant_places(self, ids: Sequence[int]) -> list[int]:
        """Return the places of fitted constants in a prefix."""
        return [place for place, token in enumerate(ids) if self.tokens[token].kind is TokenKind.CONSTANT]

    def _of(self, kind: TokenKind) -> list[Token]:
        return [token for token in self.tokens if token.kind is kind]

    @functools.cached_property
    def vocabulary(self) -> _core.Vocabulary:
        """The library as the core reads it."""
        return _core.Vocabulary(
            np.array([token.code for token in self.tokens], dtype=np.uint8),
            np.array([token.column for token in self.tokens], dtype=np.int32),
            np.array([token.value for token in self.tokens], dtype=np.float64),
            [token.function.native for token in self.tokens if token.function is not None],
        )

    def __getstate__(self) -> tuple[Token, ...]:
        """Pickle the tokens; the core's vocabulary is built again."""
        return self.tokens

    def __setstate__(self, state: tuple[Token, ...]) -> None:
        """Restore the tokens."""
        object.__setattr__(self, "tokens", state)
