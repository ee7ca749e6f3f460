"""Expressions: one formula with its library, for text, depth, complexity and values."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from symseed import _core
from symseed.arrays import floats
from symseed.errors import DataError
from symseed.language import parsing
from symseed.language.library import Library
from symseed.language.row import Row
from symseed.language.tokens import ALIASES, CONSTANT_NAME, OPERATORS, Token, TokenKind, literal
from symseed.language.typeset import to_latex

_INFIX = {"add": ("+", 1), "sub": ("-", 1), "mul": ("*", 2), "div": ("/", 2), "pow": ("^", 4)}
_OPERATOR_NAMES = {*OPERATORS, *ALIASES}
_NEGATIVE = 3  # how tightly a leading minus binds
_ATOM = 5


@dataclass(frozen=True, eq=False)
class Expression:
    """A row with the library that gives its tokens a meaning.

    Two expressions are equal if they have the same tokens and constants, whatever else their libraries hold.
    """

    library: Library
    row: Row

    @classmethod
    def parse(cls, text: str, library: Library) -> Expression:
        """Read infix text, such as `sin(x1 ^ 2) + 3.5`.

        A number is the library's literal of that value if there is one, else a constant. Text is never run as code.

        Raises:
            ParseError: saying where in the text, and what was expected there.
        """
        return cls(library, parsing.parse_infix(text, library))

    @classmethod
    def parse_prefix(cls, text: str, library: Library) -> Expression:
        """Read prefix text, such as `add sin x1 const(3.5)`."""
        return cls(library, parsing.parse_prefix(text, library))

    @property
    def ids(self) -> tuple[int, ...]:
        """The tokens' ids in prefix order, (L,)."""
        return self.row.ids

    @property
    def constants(self) -> tuple[float, ...]:
        """The values of fitted constants, (L,); NaN where the token is not one."""
        return self.row.constants

    @property
    def tokens(self) -> tuple[Token, ...]:
        """The tokens in prefix order."""
        return tuple(self.library[i] for i in self.ids)

    def __len__(self) -> int:
        """Return the number of tokens."""
        return len(self.row)

    @property
    def constant_places(self) -> list[int]:
        """The places of fitted constants."""
        return self.library.constant_places(self.ids)

    @property
    def size(self) -> int:
        """Sum of the tokens' weights, which is the number of tokens unless a user weighs them: a front's complexity."""
        return self.library.size(self.ids)

    @property
    def complexity(self) -> int:
        """Sum of the tokens' complexities."""
        return sum(token.complexity for token in self.tokens)

    @property
    def depth(self) -> int:
        """Number of tokens on the longest path from the root to a leaf."""
        waiting: list[int] = []
        for token in reversed(self.tokens):
            below = [waiting.pop() for _ in range(token.arity)]
            waiting.append(1 + max(below, default=0))
        return waiting[0]

    @property
    def prefix(self) -> str:
        """Prefix text; `parse_prefix` reads it back."""
        words = []
        for token, value in zip(self.tokens, self.constants, strict=True):
            is_constant = token.kind is TokenKind.CONSTANT
            words.append(
                f"{CONSTANT_NAME}({value!r})" if is_constant else written_name(token, reserved=_OPERATOR_NAMES)
            )
        return " ".join(words)

    def __str__(self) -> str:
        """Return infix text with no more brackets than needed; `parse` reads it as an equal expression."""
        literals = {token.value for token in self.library.tokens if token.kind is TokenKind.LITERAL}
        waiting: list[tuple[str, int]] = []  # text, and how tightly its outermost operator binds
        for token, value in zip(reversed(self.tokens), reversed(self.constants), strict=True):
            arguments = [waiting.pop() for _ in range(token.arity)]
            waiting.append(_infix(token, value, arguments, literals))
        return waiting[0][0]

    @property
    def form(self) -> str:
        """Infix text with `const` in the place of each fitted constant."""
        return str(replace(self, row=Row(self.ids, (math.nan,) * len(self))))

    def __repr__(self) -> str:
        """Show the formula."""
        return f"<Expression {self}>"

    def _repr_latex_(self) -> str:
        """Typeset the formula in notebooks, with numbers to a few digits."""
        return f"${to_latex(self)}$"

    def _key(self) -> tuple[tuple[Token, ...], tuple[str, ...]]:
        return self.tokens, tuple(value.hex() for value in self.constants)

    def __eq__(self, other: object) -> bool:
        """Compare tokens, and constants bit by bit."""
        return isinstance(other, Expression) and self._key() == other._key()

    def __hash__(self) -> int:
        """Hash what is compared."""
        return hash(self._key())

    def expanded(self) -> Expression:
        """Return the same formula with the user's operators replaced by their expansions, if these are known.

        An operator whose expansion would make the formula longer than `parsing.MAX_TOKENS` stays as it is.
        """
        steps = [step for token in self.tokens for step in token.expansion or ()]
        if not steps:
            return self
        # An int is an index of an argument, everything else a token.
        meant = {
            step: OPERATORS[step] if isinstance(step, str) else literal(step) for step in steps if type(step) is not int
        }
        library = Library(tuple(dict.fromkeys((*self.library.tokens, *meant.values()))))
        waiting: list[Row] = []
        for token, token_id, value in zip(*map(reversed, (self.tokens, self.ids, self.constants)), strict=True):
            arguments = [waiting.pop() for _ in range(token.arity)]
            pieces = [
                arguments[step] if isinstance(step, int) else Row.leaf(library.tokens.index(meant[step]))
                for step in token.expansion or ()
            ]
            if not pieces or sum(map(len, pieces)) > parsing.MAX_TOKENS:
                pieces = [Row.leaf(token_id, value), *arguments]
            waiting.append(Row.joined(pieces))
        return Expression(library, waiting[0])

    def evaluate(self, X: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Return the formula's values at the rows of `X` (M, V), as (M,); one column may be given as (M,).

        The value is NaN at rows where the formula is not finite; all other values are the same as in a search.
        """
        table = floats(X, "X")
        table = table[:, None] if table.ndim == 1 else table
        needed = 1 + max((token.column for token in self.library.variables), default=-1)
        if table.ndim != 2 or table.shape[1] < needed:
            raise DataError(f"`X` must be (M, V) with V at least {needed}, but its shape is {table.shape}.")
        finite = np.isfinite(table).all(axis=1)
        if finite.all() and len(table):
            return self._values(table)
        values = np.full(len(table), np.nan)
        if finite.any():
            values[finite] = self._values(table[finite])
        return values

    def _values(self, table: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Values at finite rows; NaN at those where a token's value is not finite."""
        zeros, ones = np.zeros(len(table)), np.ones(len(table))
        prediction, failure, _ = _core.predictions(
            self.library.vocabulary,
            _core.Samples(table, zeros, ones),
            np.array([self.ids], dtype=np.uint16),
            np.array([len(self)], dtype=np.int32),
            np.array([self.constants]),
            validity=_core.Validity.VALUES,
            threads=1,
        )
        if not failure[0] or len(table) == 1:
            return np.asarray(prediction[0])
        if all(token.function is None for token in self.tokens):
            return self._stepwise(table)
        # Rows at which a function of the user's own fails stand alone in the end.
        middle = len(table) // 2
        return np.concatenate([self._values(table[:middle]), self._values(table[middle:])])

    def _stepwise(self, table: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """The same values one token after another, in a time that does not depend on the number of rows that fail."""
        is_good = np.ones(len(table), dtype=np.bool_)
        stack: list[npt.NDArray[np.float64]] = []
        for token, number in zip(reversed(self.tokens), reversed(self.constants), strict=True):
            if token.kind is TokenKind.VARIABLE:
                stack.append(np.ascontiguousarray(table[:, token.column]))
            elif token.arity == 0:
                stack.append(np.full(len(table), number if token.kind is TokenKind.CONSTANT else token.value))
            else:
                first = stack.pop()
                value = _core.elementwise(token.code, first, stack.pop() if token.arity == 2 else first)
                is_good &= np.isfinite(value)
                stack.append(np.where(is_good, value, 1.0))  # 1: any number; the row is NaN in the end
        return np.where(is_good, stack[0], np.nan)


def written_name(token: Token, reserved: Collection[str] = ()) -> str:
    """Return a token's name as the parser reads it: unusual or reserved names of variables are in backquotes."""
    is_plain = parsing.is_plain(token.name) and token.name not in reserved
    if token.kind is not TokenKind.VARIABLE or is_plain:
        return token.name
    return quoted(token.name)


def quoted(name: str) -> str:
    """Return the name of a column in backquotes, as the parser reads any name."""
    return "`" + name.replace("`", "``") + "`"


def _infix(token: Token, value: float, arguments: list[tuple[str, int]], literals: set[float]) -> tuple[str, int]:
    if token.arity == 0:
        number = value if token.kind is TokenKind.CONSTANT else token.value
        if token.kind is TokenKind.VARIABLE:
            return written_name(token), _ATOM
        if token.kind is TokenKind.CONSTANT and math.isnan(number):
            return CONSTANT_NAME, _ATOM
        if token.kind is TokenKind.CONSTANT and number in literals:
            return f"{CONSTANT_NAME}({number!r})", _ATOM
        return repr(number), _NEGATIVE if math.copysign(1.0, number) < 0.0 else _ATOM
    if token.name in _INFIX:
        symbol, binding = _INFIX[token.name]
        (left, left_binding), (right, right_binding) = arguments
        # Only `^` is right-associative: equally tight operators need brackets on its left, and on the right of others.
        is_pow = token.name == "pow"
        left = left if left_binding >= binding + is_pow else f"({left})"
        right = right if right_binding >= (_NEGATIVE if is_pow else binding + 1) else f"({right})"
        return f"{left} {symbol} {right}", binding
    if token.name == "neg" and arguments[0][1] > _NEGATIVE and not arguments[0][0][0].isdigit():
        return f"-{arguments[0][0]}", _NEGATIVE
    return f"{token.name}({', '.join(text for text, _ in arguments)})", _ATOM
