"""Templates: formulas of a known structure with free parts, such as `const * f(x) + g(y)`.

A free part stands in the structure as one more variable, so that the structure is a row like any other: it is fitted,
evaluated and inverted by what does that for all rows. A formula belongs to a template if the structure can be laid over
it; what then lies under the free parts is found by `Skeleton.split`.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from symseed.errors import ParseError, SettingsError, did_you_mean
from symseed.language import categories, parsing
from symseed.language.categories import Categories
from symseed.language.expression import Expression, quoted
from symseed.language.library import Library
from symseed.language.row import Row
from symseed.language.tokens import (
    ALIASES,
    CONSTANT_NAME,
    FAMILIES,
    OPERATORS,
    Token,
    TokenKind,
    constant,
    literal,
    variable,
)
from symseed.text import for_message

_KNOWN = {*OPERATORS, *ALIASES, *FAMILIES, CONSTANT_NAME}


@dataclass(frozen=True, slots=True)
class FreePart:
    """A part of a template that is searched, over columns of its own."""

    name: str
    columns: tuple[str, ...]
    """The columns, as the template names them."""

    @property
    def stand_in(self) -> str:
        """The name of the variable that stands for the part in the structure."""
        return f"{self.name}()"


@dataclass(frozen=True, slots=True)
class Template:
    """A structure with free parts, as a text and what was read from it before any column was known."""

    text: str
    parts: tuple[FreePart, ...]
    structure: str
    """The text with a variable in the place of each free part."""
    length: int
    """Number of tokens of the structure, its free parts not counted."""
    operators: tuple[Token, ...]
    """The operators of the search."""
    added: tuple[Token, ...]
    """Tokens of the structure that the search lacks: operators, and its numbers, which stay as they are."""
    by_category: tuple[str, ...] = ()
    """The columns with a constant for each category, `const[column]`, in the order of the text."""
    written_out: tuple[Categories, ...] = ()
    """Their categories, in the same order; none before the data are known."""

    @classmethod
    def of(cls, text: str, operators: Sequence[Token]) -> Template:
        """Read a template for a search with some operators; its structure may use all others too.

        Until the data are known, one constant stands for all those of a `const[column]`.

        Raises:
            SettingsError: saying what is wrong with it.
        """
        own = {token.name for token in operators}
        try:
            parts, structure = _parts_of(categories.with_plain_constants(text), own)
            names = parsing.names_in(structure) - {CONSTANT_NAME, "pi"}
            numbers = [*parsing.numbers_in(structure), *([math.pi] if "pi" in parsing.names_in(structure) else [])]
            literals = [literal(value) for value in dict.fromkeys(numbers)]
            others = [token for name, token in OPERATORS.items() if name not in own]
            variables = [variable(name, i) for i, name in enumerate(sorted(names - _custom(operators)))]
            library = Library((*variables, *operators, *others, *literals, constant()))
            read = Expression.parse(structure, library).tokens
        except ParseError as error:
            raise SettingsError(f"`template` cannot be read: {error}") from error
        added = (*(token for token in others if token in set(read)), *literals)
        by_category = categories.named_in(text)
        return cls(text, parts, structure, len(read) - len(parts), tuple(operators), added, by_category)

    def with_categories(self, known: Sequence[Categories]) -> Template:
        """Return the template with a sum over the categories in the place of each `const[column]`."""
        if not self.by_category:
            return self
        by_name = {one.column: one for one in known}
        out = Template.of(categories.written_out(self.text, known), self.operators)
        used = tuple(by_name[name] for name in self.by_category)
        return replace(out, text=self.text, by_category=self.by_category, written_out=used)

    def columns(self, names: Sequence[str]) -> list[int]:
        """Return the columns of a table that the template uses, in their own order.

        Raises:
            SettingsError: if it names a column that the table lacks, or a part like a column.
        """
        variables = [variable(name, i) for i, name in enumerate(names)]
        library = Library((*variables, *self.operators, *self.added, constant()))
        skeleton = self.skeleton(library)
        used = {library[i].column for i in skeleton.row.ids if i < len(library) and library[i].kind is _VARIABLE}
        return sorted(used.union(*(hole.columns for hole in skeleton.holes)))

    def parts_of(self, expression: Expression) -> dict[str, Expression]:
        """Return the formula of each free part by name; none if the structure does not fit over the expression."""
        library = expression.library
        skeleton = self.skeleton(library)
        filled = skeleton.split(expression.row)
        if filled is None:
            return {}
        pairs = zip(skeleton.holes, filled.parts, strict=True)
        return {hole.name: Expression(library, part) for hole, part in pairs}

    def constants_of(self, expression: Expression) -> list[tuple[str, list[tuple[str, float]]]]:
        """Return the value and constant of each category for each `const[column]`, in the order of the text."""
        skeleton = self.skeleton(expression.library)
        filled = skeleton.split(expression.row)
        if filled is None:
            return []
        names = [skeleton.wide[i].name for i in filled.frame.ids]
        found = [  # a product of a constant and a column of 0 and 1
            (names[place], filled.frame.constants[place - 1])
            for place in range(1, len(names))
            if not math.isnan(filled.frame.constants[place - 1])
        ]
        out, at = [], 0
        for one in self.written_out:
            ends = range(at + len(one.names), len(found) + 1)
            at = next(end for end in ends if tuple(name for name, _ in found[end - len(one.names) : end]) == one.names)
            numbers = [number for _, number in found[at - len(one.names) : at]]
            out.append((one.column, list(zip(one.values, numbers, strict=True))))
        return out

    def skeleton(self, library: Library) -> Skeleton:
        """Return the structure as a row; the library has a variable for each column, and a fitted constant.

        Raises:
            SettingsError: if it names a column that the library lacks, or a part like a column.
        """
        own = [token.name for token in library.variables]
        self._check_columns(own)
        first = 1 + max((token.column for token in library.variables), default=-1)
        stand_ins = [variable(part.stand_in, first + i) for i, part in enumerate(self.parts)]
        wide = Library((*library.tokens, *stand_ins))
        try:
            row = Expression.parse(self.structure, wide).row
            columns = [tuple(_column(name, library) for name in part.columns) for part in self.parts]
        except ParseError as error:
            raise SettingsError(f"`template` is `{for_message(self.text)}`, which cannot be used: {error}") from error
        holes = [
            Hole(part.name, tuple(dict.fromkeys(places)), len(library) + i, row.ids.index(len(library) + i))
            for i, (part, places) in enumerate(zip(self.parts, columns, strict=True))
        ]
        return Skeleton(library, wide, row, tuple(holes))

    def _check_columns(self, own: Sequence[str]) -> None:
        """Refuse a name that is no column, and a part with the name of one."""
        called = {call.name for call in parsing.calls_in(self.structure)}
        free = {part.stand_in for part in self.parts}
        plain = parsing.names_in(self.structure) - called - free - {CONSTANT_NAME, "pi"}
        for name in (*(column for part in self.parts for column in part.columns), *sorted(plain)):
            if name not in own and not (re.fullmatch(r"x[1-9]\d{0,5}", name) and int(name[1:]) <= len(own)):
                shown = ", ".join(own[:10]) + (", ..." if len(own) > 10 else "")
                raise SettingsError(
                    f"`template` names `{for_message(name)}`, which is no column.{did_you_mean(name, own)} The columns "
                    f"are {for_message(shown)}."
                )
        for part in self.parts:
            if part.name in own:
                raise SettingsError(
                    f"`template` has a free part `{part.name}`, but a column has this name too. Give the part another."
                )


_VARIABLE = TokenKind.VARIABLE


def _custom(operators: Sequence[Token]) -> set[str]:
    """The names of the user's own operators."""
    return {token.name for token in operators if token.function is not None}


def _parts_of(text: str, own: set[str]) -> tuple[tuple[FreePart, ...], str]:
    """The free parts of a template, and its text with a variable in the place of each."""
    parts: dict[str, FreePart] = {}
    structure, end = "", 0
    for call in parsing.calls_in(text):
        if call.name in own or call.name in _KNOWN:
            continue
        place = f"`{for_message(call.name)}` at character {call.begin + 1} of `template`"
        if call.arguments is None:
            raise SettingsError(
                f"{place} must be an operator, or a free part with a list of columns, such as {call.name}(x, y), but "
                f"something else stands in its brackets.{did_you_mean(call.name, _KNOWN)}"
            )
        if not call.arguments:
            raise SettingsError(
                f"{place} is a free part without columns. Name those that it may use, such as {call.name}(x, y); for "
                "one fitted number, write const."
            )
        if call.name in parts:
            raise SettingsError(
                f"{place} stands there for the second time, but a free part may stand in one place only. Give this one "
                "another name."
            )
        parts[call.name] = FreePart(call.name, call.arguments)
        structure += f"{text[end : call.begin]}`{parts[call.name].stand_in}`"
        end = call.end
    if not parts:
        raise SettingsError(
            "`template` must have a free part, a name with columns in brackets such as f(x), but "
            f"`{for_message(text)}` has none."
        )
    return tuple(parts.values()), structure + text[end:]


def _column(name: str, library: Library) -> int:
    """The column that a free part names."""
    (token,) = Expression.parse(quoted(name), library).tokens
    return token.column


# --- Structures ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Hole:
    """A free part of a structure."""

    name: str
    columns: tuple[int, ...]
    """The columns that it may use."""
    token: int
    """Id of the variable that stands for it."""
    place: int
    """Place of that variable in the structure."""


@dataclass(frozen=True, slots=True)
class Filled:
    """A structure with values of its constants, and a formula for each free part."""

    frame: Row
    parts: tuple[Row, ...]

    def with_part(self, index: int, part: Row) -> Filled:
        """Return the same with another formula for a free part."""
        return replace(self, parts=(*self.parts[:index], part, *self.parts[index + 1 :]))


_Leaves = Mapping[int, Row]
"""What stands at some places of a structure."""


@dataclass(frozen=True)
class Skeleton:
    """The structure of a template over one library."""

    library: Library
    """The tokens of formulas, with a fitted constant."""
    wide: Library
    """The same, and a variable for each free part, whose columns come after all others."""
    row: Row
    """The structure, over `wide`."""
    holes: tuple[Hole, ...]

    def written(self, filled: Filled) -> Row:
        """Return the whole formula."""
        row = filled.frame
        for hole, part in sorted(zip(self.holes, filled.parts, strict=True), key=lambda pair: -pair[0].place):
            row = row.spliced(hole.place, hole.place + 1, part)
        return row

    def refilled(self, filled: Filled, whole: Row) -> Filled:
        """Return a filled structure with the constants of its whole formula, which were fitted."""
        frame, parts, shift = list(filled.frame.constants), list(filled.parts), 0
        by_place = {hole.place: i for i, hole in enumerate(self.holes)}
        for place in range(len(frame)):
            begin = place + shift
            if place in by_place:
                i = by_place[place]
                parts[i] = whole.part(begin, begin + len(parts[i]))
                shift += len(parts[i]) - 1
            else:
                frame[place] = whole.constants[begin]
        return Filled(Row(filled.frame.ids, tuple(frame)), tuple(parts))

    def split(self, row: Row) -> Filled | None:
        """Return what lies under the free parts of a formula; None if the structure does not fit over it.

        Simplification may have left out a factor 1, a term 0 or a minus sign: they are put back.
        """
        leaves = self._laid(0, row)
        if leaves is None:
            return None
        values = [leaves[i].constants[0] if i in leaves else math.nan for i in range(len(self.row))]
        holes = {hole.place for hole in self.holes}
        frame = tuple(math.nan if i in holes else value for i, value in enumerate(values))
        return Filled(Row(self.row.ids, frame), tuple(leaves[hole.place] for hole in self.holes))

    def above(self, hole: Hole) -> list[str]:
        """Return the operators that a free part stands below, the outermost first."""
        return [self.wide[self.row.ids[i]].name for i in range(hole.place) if self._ends[i] > hole.place]

    # --- Laying the structure over a formula -------------------------------------------------------------------------

    def _laid(self, at: int, row: Row) -> _Leaves | None:
        """What stands at the free parts and constants of a subtree of the structure if it is laid over a formula."""
        token = self.wide[self.row.ids[at]]
        if at in self._columns:
            used = {self.library[i].column for i in row.ids if self.library[i].kind is _VARIABLE}
            return {at: row} if used <= self._columns[at] else None
        if token.arity == 0:
            number = self._number(row)
            if token.kind is TokenKind.CONSTANT:
                return None if number is None else {at: Row.leaf(self._constant, number)}
            is_same = row.ids == (self.row.ids[at],) or (token.kind is TokenKind.LITERAL and number == token.value)
            return {} if is_same else None
        below = self._below(at)
        arguments = self._arguments(row)
        if row.ids[0] == self.row.ids[at]:
            for order in (below, below[::-1]) if token.name in ("add", "mul") else (below,):
                found = self._all_laid(order, arguments)
                if found is not None:
                    return found
        return self._laid_over_less(token.name, below, row) or self._laid_over_sign(token.name, below, row)

    def _laid_over_less(self, name: str, below: Sequence[int], row: Row) -> _Leaves | None:
        """A sum or product of the structure over one of its arguments alone: the other one is 0 or 1."""
        if name not in _NEUTRAL:
            return None
        for kept, left in ((0, 1), (1, 0)) if name in ("add", "mul") else ((0, 1),):
            rest = self._equal_to(below[left], _NEUTRAL[name])
            found = None if rest is None else self._laid(below[kept], row)
            if rest is not None and found is not None:
                return {**found, **rest}
        return None

    def _laid_over_sign(self, name: str, below: Sequence[int], row: Row) -> _Leaves | None:
        """A sum of the structure over a difference, or the reverse: the second argument has the other sign."""
        other = {"add": "sub", "sub": "add"}.get(name)
        if other is None or self.library[row.ids[0]].name != other:
            return None
        first, second = self._arguments(row)
        for kept, turned in ((first, second), *(((second, first),) if other == "add" else ())):
            opposite = self.negated(turned)
            found = None if opposite is None else self._all_laid(below, (kept, opposite))
            if found is not None:
                return found
        return None

    def _all_laid(self, places: Sequence[int], rows: Sequence[Row]) -> _Leaves | None:
        out: dict[int, Row] = {}
        for place, row in zip(places, rows, strict=True):
            found = self._laid(place, row)
            if found is None:
                return None
            out.update(found)
        return out

    def _equal_to(self, at: int, value: float) -> _Leaves | None:
        """What must stand in a subtree of the structure for it to be 0 or 1; None if that is not known."""
        token = self.wide[self.row.ids[at]]
        if at in self._columns or token.kind is TokenKind.CONSTANT:
            return {at: Row.leaf(self._constant, value)}
        wanted = _ARGUMENTS.get((token.name, value))
        if wanted is None:
            return None
        out: dict[int, Row] = {}
        for place, number in zip(self._below(at), wanted, strict=True):
            found = self._equal_to(place, number)
            if found is None:
                return None
            out.update(found)
        return out

    def negated(self, row: Row) -> Row | None:
        """Return a formula with the other sign, as short as possible; None if the library cannot write it."""
        if not math.isnan(row.constants[0]):
            return row.with_constant(0, -row.constants[0])
        names = {token.name: i for i, token in enumerate(self.library.tokens) if token.kind is TokenKind.OPERATOR}
        if self.library[row.ids[0]].name == "mul" and not math.isnan(row.constants[1]):
            return row.with_constant(1, -row.constants[1])
        if "mul" not in names:
            return None
        return Row.joined((Row.leaf(names["mul"]), Row.leaf(self._constant, -1.0), row))

    def _number(self, row: Row) -> float | None:
        """The number that a formula is; None for others."""
        token = self.library[row.ids[0]]
        return {TokenKind.CONSTANT: row.constants[0], TokenKind.LITERAL: token.value}.get(token.kind)

    def _below(self, at: int) -> list[int]:
        """The places of the arguments of an operator of the structure."""
        places, place = [], at + 1
        for _ in range(self.wide[self.row.ids[at]].arity):
            places.append(place)
            place = self._ends[place]
        return places

    def _arguments(self, row: Row) -> list[Row]:
        """The arguments of the first operator of a formula."""
        out, place = [], 1
        for _ in range(self.library[row.ids[0]].arity):
            end = self.library.end(row.ids, place)
            out.append(row.part(place, end))
            place = end
        return out

    @functools.cached_property
    def _ends(self) -> list[int]:
        return self.wide.ends(self.row.ids)

    @functools.cached_property
    def _columns(self) -> dict[int, set[int]]:
        """The columns of each free part, by its place."""
        return {hole.place: set(hole.columns) for hole in self.holes}

    @property
    def _constant(self) -> int:
        return self.library.ids_of_kind(TokenKind.CONSTANT)[0]


_NEUTRAL: Mapping[str, float] = {"add": 0.0, "sub": 0.0, "mul": 1.0, "div": 1.0}
"""The second argument with which an operator changes nothing."""
_ARGUMENTS: Mapping[tuple[str, float], tuple[float, ...]] = {
    ("add", 0.0): (0.0, 0.0),
    ("add", 1.0): (1.0, 0.0),
    ("sub", 0.0): (0.0, 0.0),
    ("sub", 1.0): (1.0, 0.0),
    ("mul", 0.0): (0.0, 0.0),
    ("mul", 1.0): (1.0, 1.0),
    ("div", 0.0): (0.0, 1.0),
    ("div", 1.0): (1.0, 1.0),
    ("neg", 0.0): (0.0,),
    ("exp", 1.0): (0.0,),
    ("cos", 1.0): (0.0,),
    ("sin", 0.0): (0.0,),
    ("tanh", 0.0): (0.0,),
    ("log", 0.0): (1.0,),
    ("sqrt", 0.0): (0.0,),
    ("sqrt", 1.0): (1.0,),
    ("square", 0.0): (0.0,),
    ("square", 1.0): (1.0,),
}
"""Arguments of an operator that give 0 or 1."""
