"""Parser of formulas: text to tokens, by a small grammar. No text is ever executed.

    sum     = product {("+" | "-") product}          product = signed {("*" | "/") signed}
    signed  = "-" signed | power                     power   = atom ["^" signed]
    atom    = number | name | `any name` | name "(" sum {"," sum} ")" | "(" sum ")"

`**` is `^`, and `where(c, a, b)` is `cond(c, a) + unless(c, b)`. `const(-2.5)` is a fitted constant of that value,
`const` one of 1. A minus directly before a number belongs to the number, except if `^` follows (`-2^x` is `-(2^x)`).
`pi` is the number if no column has that name.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Sized
from dataclasses import dataclass
from typing import Literal

from symseed.errors import ParseError
from symseed.language.library import Library
from symseed.language.row import Row
from symseed.language.tokens import ALIASES, CONSTANT_NAME, TokenKind
from symseed.text import for_message

MAX_TEXT = 20_000
"""Longest text, in characters; if names are long, `MAX_TOKENS` times the longest name. Chosen by hand."""
MAX_TOKENS = 2_000
"""Largest expression, in tokens: chosen by hand."""
MAX_DIGITS = 60
"""Longest number, in characters: a float64 needs 24. Chosen by hand."""
_LONG_NAME = 100
"""Length of a name, in characters, above which texts may be longer than `MAX_TEXT`: chosen by hand."""

_NAME = re.compile(r"[^\W\d]\w*")
_LEXEME = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"
    rf"|(?P<name>{_NAME.pattern})"
    r"|`(?P<quoted>(?:[^`]|``)*)`"
    r"|(?P<symbol>\*\*|[-+*/^(),]))"
)
_BINDING = {"+": 1, "-": 1, "*": 2, "/": 2, "neg": 3, "^": 4}
_NAMES = {"+": "add", "-": "sub", "*": "mul", "/": "div", "^": "pow", "neg": "neg"}


@dataclass(frozen=True, slots=True)
class _Lexeme:
    kind: Literal["number", "name", "quoted", "symbol", "end"]
    text: str
    place: int

    def is_symbol(self, symbol: str) -> bool:
        """Return whether this is the symbol, and not a variable of that name in backquotes."""
        return self.kind == "symbol" and self.text == symbol


@dataclass(slots=True)
class _Pending:
    """An operator whose right argument is not finished, or an open parenthesis."""

    symbol: str
    place: int
    function: str | None = None
    arguments: int = 0


def parse_infix(text: str, library: Library) -> Row:
    """Return the token ids and constants of an infix formula (Dijkstra's shunting-yard: no recursion to exhaust)."""
    return _Reader(text, library).read()


def parse_prefix(text: str, library: Library) -> Row:
    """Return the token ids and constants of prefix words; a constant is `const` or `const(2.5)`."""
    reader = _Reader(text, library)
    pieces: list[Row] = []
    open_slots = 1
    i = 0
    while reader.lexemes[i].kind != "end":
        if open_slots == 0:
            raise _error(text, reader.lexemes[i], "the end")
        read, token = reader.prefix_word(i)
        pieces.append(token)
        _check_size(pieces)
        open_slots += library[token.ids[0]].arity - 1
        i += read
    if open_slots:
        raise _error(text, reader.lexemes[i], f"{open_slots} more argument(s)")
    return Row.joined(pieces)


def is_plain(name: str) -> bool:
    """Return whether a variable's name needs no backquotes in infix text."""
    return _NAME.fullmatch(name) is not None and name != CONSTANT_NAME


def numbers_in(text: str) -> list[float]:
    """Return the numbers that a formula names, in order, each once, with a minus where it belongs to the number."""
    lexemes = _lex(text)
    found: dict[float, None] = {}
    for i, lexeme in enumerate(lexemes):
        if lexeme.kind == "number":
            value = _number(lexeme, text)
            found[-value if i and _is_negated(lexemes, i - 1) else value] = None
    return list(found)


def names_in(text: str, longest_name: int = 0) -> set[str]:
    """Return every name in a formula: of variables, operators and constants."""
    return {lexeme.text for lexeme in _lex(text, longest_name) if lexeme.kind in ("name", "quoted")}


@dataclass(frozen=True, slots=True)
class Call:
    """A name with brackets after it, as in `f(x, y)`."""

    name: str
    begin: int
    """Place of the name in the text."""
    end: int
    """Place after the closing bracket."""
    arguments: tuple[str, ...] | None
    """The names between the brackets; None if anything else stands there, such as a number or a sum."""


def calls_in(text: str) -> list[Call]:
    """Return every name with brackets after it, in order."""
    lexemes = _lex(text)
    return [
        _call(lexemes, i) for i, lexeme in enumerate(lexemes) if lexeme.kind == "name" and lexemes[i + 1].is_symbol("(")
    ]


def _call(lexemes: list[_Lexeme], i: int) -> Call:
    names: list[str] = []
    end = i + 2
    while lexemes[end].kind in ("name", "quoted"):
        names.append(lexemes[end].text)
        end += 1
        if not lexemes[end].is_symbol(",") or lexemes[end + 1].kind not in ("name", "quoted"):
            break
        end += 1
    if lexemes[end].is_symbol(")"):
        return Call(lexemes[i].text, lexemes[i].place, lexemes[end].place + 1, tuple(names))
    return Call(lexemes[i].text, lexemes[i].place, lexemes[i].place, None)


def _lex(text: str, longest_name: int = 0) -> list[_Lexeme]:
    # Names of columns may have any length, and every formula that symseed writes must be readable.
    most = MAX_TEXT if longest_name <= _LONG_NAME else MAX_TOKENS * longest_name
    if len(text) > most:
        raise ParseError(f"A formula must have at most {most} characters, but this text has {len(text)}.")
    # Long names make a long text, but not more parts: with names of a letter each, it would have at most that length.
    parts = [*itertools.islice(_lexemes(text), MAX_TEXT + 1)]
    if len(parts) > MAX_TEXT:
        raise ParseError(f"A formula must have at most {MAX_TEXT} numbers, names and signs, but this text has more.")
    return [*parts, _Lexeme("end", "", len(text))]


def _lexemes(text: str) -> Iterator[_Lexeme]:
    place = 0
    end = len(text.rstrip())
    while place < end:
        match = _LEXEME.match(text, place)
        if match is None or match.end() == place:
            place += len(text[place:]) - len(text[place:].lstrip())
            raise _error(text, _Lexeme("symbol", text[place], place), "a number, a name or an operator")
        kind = match.lastgroup
        assert kind in ("number", "name", "quoted", "symbol"), "every alternative of the pattern is a named group"
        word = match[kind]
        if kind == "quoted":
            word = word.replace("``", "`")
        elif word == "**":
            word = "^"
        yield _Lexeme(kind, word, match.start(kind))  # type: ignore[arg-type]
        place = match.end()


def _is_negated(lexemes: list[_Lexeme], i: int) -> bool:
    """Whether lexeme `i` is a minus that belongs to the number after it."""
    before = lexemes[i - 1] if i else _Lexeme("symbol", "(", 0)
    is_prefix = before.kind == "symbol" and before.text != ")"
    return (
        lexemes[i].is_symbol("-")
        and is_prefix
        and lexemes[i + 1].kind == "number"
        and not lexemes[i + 2].is_symbol("^")
    )


def _number(lexeme: _Lexeme, text: str) -> float:
    if lexeme.kind != "number" or len(lexeme.text) > MAX_DIGITS:
        raise _error(text, lexeme, f"a number of at most {MAX_DIGITS} characters")
    value = float(lexeme.text)
    if not math.isfinite(value):
        raise _error(text, lexeme, "a number within the range of float64")
    return value


def _check_size(tokens: Sized) -> None:
    if len(tokens) > MAX_TOKENS:
        raise ParseError(f"A formula must have at most {MAX_TOKENS} tokens, but this one has more.")


def _error(text: str, at: _Lexeme, expected: str) -> ParseError:
    found = "the end" if at.kind == "end" else f"`{for_message(at.text[:40])}`"
    around = for_message(text[max(0, at.place - 20) : at.place + 20])
    return ParseError(f"Expected {expected} at character {at.place + 1}, but found {found} (near `{around}`).")


class _Reader:
    """State of a parse: finished operands, and pending operators and parentheses."""

    def __init__(self, text: str, library: Library) -> None:
        self.text = text
        self.library = library
        self.lexemes = _lex(text, max(len(token.name) for token in library.tokens))
        self.operands: list[Row] = []
        self.pending: list[_Pending] = []
        self.variables = {token.name: i for i, token in enumerate(library.tokens) if token.kind is TokenKind.VARIABLE}
        self.columns = sorted(self.variables.values(), key=lambda i: library[i].column)
        self.literals = {token.value: i for i, token in enumerate(library.tokens) if token.kind is TokenKind.LITERAL}
        self.operators = {token.name: i for i, token in enumerate(library.tokens) if token.kind is TokenKind.OPERATOR}
        constants = library.ids_of_kind(TokenKind.CONSTANT)
        self.constant_id = constants[0] if constants else None

    def read(self) -> Row:
        i = 0
        wants_operand = True
        while self.lexemes[i].kind != "end":
            read, wants_operand = self._operand(i) if wants_operand else self._operator(i)
            i += read
        if wants_operand:
            raise _error(self.text, self.lexemes[i], "a number, a name or `(`")
        self._reduce(0)
        if self.pending:
            opened = f"{self.pending[-1].function or ''}(` of character {self.pending[-1].place + 1}"
            raise _error(self.text, self.lexemes[i], f"`)` (for `{opened})")
        (result,) = self.operands
        return result

    def _operand(self, i: int) -> tuple[int, bool]:
        """Read an operand or what may precede one; return the number of lexemes, and whether an operand must follow."""
        lexeme = self.lexemes[i]
        if _is_negated(self.lexemes, i):
            self._push(self.number(-_number(self.lexemes[i + 1], self.text), lexeme))
            return 2, False
        if lexeme.kind == "number":
            self._push(self.number(_number(lexeme, self.text), lexeme))
            return 1, False
        if self._is_valued_constant(i):
            read, operand = self._valued_constant(i)
            self._push(operand)
            return read, False
        if lexeme.kind == "name" and self.lexemes[i + 1].is_symbol("("):
            self.pending.append(_Pending("(", lexeme.place, function=lexeme.text))
            return 2, True
        if lexeme.kind in ("name", "quoted"):
            self._push(self.word(lexeme, only_terminals=True))
            return 1, False
        if lexeme.text == "-":
            self.pending.append(_Pending("neg", lexeme.place))
            return 1, True
        if lexeme.text == "(":
            self.pending.append(_Pending("(", lexeme.place))
            return 1, True
        raise _error(self.text, lexeme, "a number, a name or `(`")

    def _operator(self, i: int) -> tuple[int, bool]:
        lexeme = self.lexemes[i]
        symbol = lexeme.text if lexeme.kind == "symbol" else ""
        if symbol in _BINDING:
            # `^` is right-associative, the others are left-associative.
            self._reduce(_BINDING[symbol] + (symbol == "^"))
            self.pending.append(_Pending(symbol, lexeme.place))
            return 1, True
        if symbol in (")", ","):
            self._reduce(0)
            bracket = self.pending[-1] if self.pending else None
            if bracket is None or (symbol == "," and bracket.function is None):
                raise _error(self.text, lexeme, "an operator or the end")
            bracket.arguments += 1
            if symbol == ",":
                return 1, True
            self.pending.pop()
            if bracket.function is not None:
                self._call(bracket)
            return 1, False
        raise _error(self.text, lexeme, "an operator, `)` or the end")

    def _reduce(self, binding: int) -> None:
        """Apply the pending operators that bind at least this tightly, back to the last open parenthesis."""
        while self.pending and self.pending[-1].symbol != "(" and _BINDING[self.pending[-1].symbol] >= binding:
            done = self.pending.pop()
            self._apply(_NAMES[done.symbol], 1 if done.symbol == "neg" else 2, done.place)

    def _call(self, bracket: _Pending) -> None:
        assert bracket.function is not None, "only calls come here"
        if bracket.function == "where" and "where" not in self.operators:
            self._where(bracket)
            return
        self._apply(ALIASES.get(bracket.function, bracket.function), bracket.arguments, bracket.place)

    def _where(self, bracket: _Pending) -> None:
        """Read `where(c, a, b)` as `cond(c, a) + unless(c, b)`."""
        if bracket.arguments != 3:
            raise ParseError(
                f"`where` at character {bracket.place + 1} takes 3 arguments, but has {bracket.arguments}."
            )
        last = self.operands.pop()
        condition = self.operands[-2]
        self._apply("cond", 2, bracket.place)
        self._push(condition)
        self._push(last)
        self._apply("unless", 2, bracket.place)
        self._apply("add", 2, bracket.place)

    def prefix_word(self, i: int) -> tuple[int, Row]:
        """Read one token of prefix text; return the number of lexemes, and the token."""
        lexeme = self.lexemes[i]
        if self._is_valued_constant(i):
            return self._valued_constant(i)
        if lexeme.kind == "number":
            return 1, self.number(_number(lexeme, self.text), lexeme)
        if lexeme.is_symbol("-"):  # the sign of a number directly after it, otherwise `sub`
            following = self.lexemes[i + 1]
            if following.kind == "number" and following.place == lexeme.place + 1:
                return 2, self.number(-_number(following, self.text), lexeme)
        return 1, self.word(lexeme)

    def _is_valued_constant(self, i: int) -> bool:
        lexeme = self.lexemes[i]
        return lexeme.kind == "name" and lexeme.text == CONSTANT_NAME and self.lexemes[i + 1].is_symbol("(")

    def _valued_constant(self, i: int) -> tuple[int, Row]:
        """Read `const(2.5)`; return the number of lexemes, and the token."""
        is_negative = self.lexemes[i + 2].is_symbol("-")
        place = i + 2 + is_negative
        value = _number(self.lexemes[place], self.text)
        if not self.lexemes[place + 1].is_symbol(")"):
            raise _error(self.text, self.lexemes[place + 1], "`)` after the constant's value")
        return 4 + is_negative, self.constant(-value if is_negative else value, self.lexemes[i])

    def _apply(self, name: str, count: int, place: int) -> None:
        if name not in self.operators:
            raise ParseError(
                f"`{name}` at character {place + 1} is not in the library, which has "
                f"{', '.join(self.operators) or 'no operators'}."
            )
        token_id = self.operators[name]
        if self.library[token_id].arity != count:
            raise ParseError(
                f"`{name}` at character {place + 1} takes {self.library[token_id].arity} argument(s), but has {count}."
            )
        arguments = self.operands[len(self.operands) - count :]
        del self.operands[len(self.operands) - count :]
        self._push(Row.joined((Row.leaf(token_id), *arguments)))

    def _push(self, operand: Row) -> None:
        _check_size(operand)
        self.operands.append(operand)

    def word(self, lexeme: _Lexeme, *, only_terminals: bool = False) -> Row:
        """Return the token that a name stands for; x1, x2, ... are columns by number, unless a column has that name.

        If a name could be an operator or a variable, it is the operator; in backquotes it is the variable.
        """
        name = lexeme.text
        if lexeme.kind == "name" and name == CONSTANT_NAME:
            return self.constant(1.0, lexeme)
        canonical = ALIASES.get(name, name)
        if lexeme.kind != "quoted" and not only_terminals and canonical in self.operators:
            return Row.leaf(self.operators[canonical])
        if lexeme.kind != "symbol" and name in self.variables:
            return Row.leaf(self.variables[name])
        if lexeme.kind == "name" and name == "pi":
            return self.number(math.pi, lexeme)
        place = re.fullmatch(r"x([1-9]\d{0,5})", name)
        if place and int(place[1]) <= len(self.columns):
            return Row.leaf(self.columns[int(place[1]) - 1])
        known = ", ".join(token.name for token in self.library.variables[:10]) or "there is none"
        wanted = "a variable" if only_terminals else "an operator of the library or a variable"
        raise _error(self.text, lexeme, f"{wanted} ({known}{', ...' if len(self.columns) > 10 else ''})")

    def number(self, value: float, lexeme: _Lexeme) -> Row:
        """Return the literal of that value, or a constant if there is no such literal."""
        if value in self.literals:
            return Row.leaf(self.literals[value])
        if self.constant_id is None:
            allowed = ", ".join(repr(number) for number in self.literals) or "none"
            raise ParseError(
                f"The number {value!r} at character {lexeme.place + 1} is not in the library (its literals: {allowed}; "
                "no fitted constants)."
            )
        return self.constant(value, lexeme)

    def constant(self, value: float, lexeme: _Lexeme) -> Row:
        """Return a fitted constant with that value."""
        if self.constant_id is None:
            raise ParseError(f"`{CONSTANT_NAME}` at character {lexeme.place + 1} needs a library with constants.")
        return Row.leaf(self.constant_id, value)
