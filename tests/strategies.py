"""Random libraries, expressions and populations for property tests."""

from __future__ import annotations

import math

from hypothesis import strategies as st

from symseed import Expression, Library, Population
from symseed.language.row import Row
from symseed.language.tokens import CONSTANT_NAME, OPERATORS, Token, TokenKind

NASTY_NAMES = (
    *("x1", "x2", "x10", "const", "sin", "add", "power", "n2", "lambda", "__import__", "nan", "inf", "N", "_"),
    *("a b", " ", "\t", "line\nbreak", "\0", "`", "``", "a`b", "`a`", "'q'", '"', "%", "\\", "=cmd|x"),
    *("-", "+", "(", ")", "()", ",", "^", "**", "1", "1.5", "-1", "1e5", ".", "const(2)", "x1 + x2"),
    *("µ", "日本", "e\u0301", "℘", "a·b", "x²", "²", "٣", "\u200b", "🌍", "a" * 40),
)
"""Names of columns that could be taken for something else."""

EXTREME_NUMBERS = (
    *(0.0, -0.0, 1.0, -1.0, 2.0, 0.5, 0.1, -2.5, 10.0, 1e16, 1e22, -1e22, 123456789.125),
    *(1e-5, 1e308, -1.7976931348623157e308, 1e-300, 5e-324, -5e-324, 2.2250738585072014e-308),
)


def numbers() -> st.SearchStrategy[float]:
    """Finite float64 of every magnitude."""
    return st.sampled_from(EXTREME_NUMBERS) | st.floats(allow_nan=False, allow_infinity=False)


def names() -> st.SearchStrategy[str]:
    """Names of columns: nasty ones, and any other text."""
    return st.sampled_from(NASTY_NAMES) | st.text(min_size=1, max_size=8)


@st.composite
def libraries(draw: st.DrawFn, *, max_variables: int = 4) -> Library:
    """Libraries over the whole table of operators, in any order."""
    columns = draw(st.lists(names(), max_size=max_variables, unique=True))
    operators = draw(st.lists(st.sampled_from(list(OPERATORS)), max_size=12, unique=True))
    literals = draw(st.lists(numbers(), max_size=3, unique=True))
    constants = [CONSTANT_NAME] if draw(st.booleans()) or not (columns or literals) else []
    entries: list[str | float] = [*operators, *literals, *constants]
    return Library.of(draw(st.permutations(entries)), columns)


def expressions(library: Library | None = None, *, max_length: int = 60) -> st.SearchStrategy[Expression]:
    """Expressions of a library, or of a random one; constants often equal a literal of the library."""
    # Tokens only: hypothesis keeps arguments to the very end, where the core's objects must be gone.
    return _expressions(library.tokens if library else None, max_length)


@st.composite
def _expressions(draw: st.DrawFn, tokens: tuple[Token, ...] | None, max_length: int) -> Expression:
    library = Library(tokens) if tokens else draw(libraries())
    literals = [token.value for token in library.tokens if token.kind is TokenKind.LITERAL]
    values = numbers() | st.sampled_from(literals) if literals else numbers()
    terminals = [i for i, token in enumerate(library.tokens) if token.arity == 0]
    size = draw(st.integers(1, max_length))
    ids: list[int] = []
    constants: list[float] = []
    open_slots = 1
    while open_slots:
        room = size - len(ids) - open_slots
        operators = [i for i, token in enumerate(library.tokens) if 0 < token.arity <= room]
        wants_operator = bool(operators) and draw(st.integers(0, 9)) < 8  # so that expressions grow
        token_id = draw(st.sampled_from(operators if wants_operator else terminals))
        ids.append(token_id)
        constants.append(draw(values) if library.is_constant[token_id] else math.nan)
        open_slots += library[token_id].arity - 1
    return Expression(library, Row(tuple(ids), tuple(constants)))


def expression_lists(
    library: Library | None = None, *, max_rows: int = 8, max_length: int = 20
) -> st.SearchStrategy[list[Expression]]:
    """Expressions of one library, at least one."""
    chosen = st.just(library.tokens) if library else libraries().map(lambda library: library.tokens)
    return chosen.flatmap(lambda tokens: st.lists(_expressions(tokens, max_length), min_size=1, max_size=max_rows))


def populations(
    library: Library | None = None, *, max_rows: int = 8, max_length: int = 20
) -> st.SearchStrategy[Population]:
    """Populations with at least one row."""
    rows = expression_lists(library, max_rows=max_rows, max_length=max_length)
    return rows.map(Population.from_expressions)
