"""Guesses: formulas that a user gives to begin with, written in the operators of the search, checked by its rules."""

from __future__ import annotations

from collections.abc import Sequence

from symseed.errors import ParseError, SettingsError, shown
from symseed.export import from_text
from symseed.language import Expression, Library, Row, Writer
from symseed.language.derived import DERIVED, written_out
from symseed.language.tokens import OPERATORS, TokenKind
from symseed.regressor.front import EquationFront
from symseed.regressor.prepare import library_of_texts
from symseed.regressor.run_data import RunData
from symseed.regressor.settings import Plan
from symseed.space import Constraint, SearchSpace

_LARGEST_POWER = 16
"""Largest exponent that is written as a product, where the search has no `^`: chosen by hand."""


_ALONE = {-1.0: "inv", 0.5: "sqrt", 2.0: "square", 3.0: "cube", 4.0: "quartic"}
"""The operators that are a power by themselves, by its exponent."""


class _MissingError(Exception):
    """An operator that a guess needs, and the search lacks."""


def known(plan: Plan, data: RunData, before: Sequence[EquationFront]) -> list[list[Expression]]:
    """Return the formulas that a fit begins with, for each target: its guesses, and those of a fit before.

    Args:
        before: the fronts of the fit before; formulas with other columns are left out, and all with another number of
            targets.
    """
    own = dict(zip(data.names, range(len(data.names)), strict=True))
    guessed = read(plan, data)
    fronts = [front.equations for front in before] if len(before) == len(guessed) else [()] * len(guessed)
    return [
        [
            *texts,
            *(
                equation.expression
                for equation in equations
                if all(own.get(token.name) == token.column for token in equation.expression.library.variables)
            ),
        ]
        for texts, equations in zip(guessed, fronts, strict=True)
    ]


def read(plan: Plan, data: RunData) -> list[list[Expression]]:
    """Return the guesses for each target, over the columns of the whole table.

    A guess may be a formula as it is shown: `x^2` is a square or a product where the search has no `^`.

    Raises:
        SettingsError: naming a guess that cannot be read, or that the search could never find by itself.
    """
    count = data.y.shape[1]
    lists = plan.guesses * count if len(plan.guesses) == 1 else plan.guesses or ((),) * count
    if len(lists) != count:
        raise SettingsError(
            f"`guesses` must have a list for each of {count} target{'s' if count > 1 else ''}, or one list for all of "
            f"them, but it has {len(lists)} lists."
        )
    out = []
    for output, texts in enumerate(lists):
        units = data.dimensions(output)
        rules = (*plan.settings.constraints, *([] if units is None else [units]))
        out.append([_guess(text, plan, data.names, rules) for text in texts])
    return out


def _guess(text: str, plan: Plan, names: Sequence[str], rules: Sequence[Constraint]) -> Expression:
    what = f"`guesses` has `{shown(text, 200)}`"
    try:
        library = library_of_texts(plan, names, [text])
        read_as = from_text(text, library)
    except ParseError as error:
        raise SettingsError(
            f"{what}, which cannot be read. {error} Write columns by their names, and constants as numbers or `const`."
        ) from error
    try:
        row = _written(read_as, Writer(library))
    except _MissingError as error:
        own = ", ".join(token.name for token in plan.operators)
        (name,) = error.args
        setting = "unary_operators" if OPERATORS[name].arity == 1 else "binary_operators"
        raise SettingsError(
            f"{what}, which needs the operator `{name}`, but those of the search are {own}. Add it to `{setting}`, or "
            "write the formula without it."
        ) from None
    expression = Expression(library, row)
    _check_allowed(expression, what, plan, rules)
    return expression


def _check_allowed(expression: Expression, what: str, plan: Plan, rules: Sequence[Constraint]) -> None:
    """Refuse a formula that the search would never try, and so would drop without a word."""
    if expression.constant_places and not plan.settings.constants:
        raise SettingsError(
            f"{what}, which needs a fitted constant, but this search has none. Set `constants` to true, or write the "
            "formula without numbers."
        )
    if expression.size > plan.maxsize:
        raise SettingsError(
            f"{what}, whose complexity in the operators of the search is {expression.size}, but `maxsize` is "
            f"{plan.maxsize}. Raise it, or shorten the formula."
        )
    for rule in rules:
        if not SearchSpace(expression.library, 1, plan.maxsize, (rule,)).allows(expression):
            raise SettingsError(f"{what}, which breaks a rule of the search: {rule.describe()}. Change one of them.")


# --- The operators of the search -------------------------------------------------------------------------------------


def _written(expression: Expression, writer: Writer) -> Row:
    """A formula over all operators, written with those of a writer."""
    variables = {token.name: i for i, token in enumerate(writer.library.tokens) if token.kind is TokenKind.VARIABLE}
    waiting: list[Row] = []
    for token, value in zip(reversed(expression.tokens), reversed(expression.constants), strict=True):
        arguments = [waiting.pop() for _ in range(token.arity)]
        if token.kind is TokenKind.OPERATOR:
            try:
                waiting.append(_applied(writer, token.name, arguments))
            except _MissingError:
                raise _MissingError(token.name) from None  # what the user wrote, not what it is made of
        else:
            is_variable = token.kind is TokenKind.VARIABLE
            waiting.append(Row.leaf(variables[token.name]) if is_variable else writer.number(value))
    return waiting[0]


def _applied(writer: Writer, name: str, arguments: Sequence[Row]) -> Row:
    """An operator and its arguments; an operator that the search lacks is written with others, if that can be."""
    if writer.has(name):
        return writer.apply(name, *arguments)
    exponent = _number(writer.library, arguments[-1])
    if name == "pow" and exponent is not None and abs(exponent) <= _LARGEST_POWER and (2.0 * exponent).is_integer():
        return _power(writer, arguments[0], exponent)
    if name == "sub" and writer.has("add"):
        return writer.apply("add", arguments[0], _applied(writer, "neg", arguments[1:]))
    if name == "div" and writer.has("mul", "inv"):
        return writer.apply("mul", arguments[0], writer.apply("inv", arguments[1]))
    if name in DERIVED:
        return written_out(name, arguments, lambda step, given: _applied(writer, step, given), writer.number)
    raise _MissingError(name)


def _power(writer: Writer, base: Row, exponent: float) -> Row:
    """A power of a whole or half exponent, as products, squares and roots."""
    alone = _ALONE.get(exponent)
    if alone is not None and writer.has(alone):
        return writer.apply(alone, base)
    if not writer.has("mul"):
        raise _MissingError("mul")
    if exponent < 0.0:
        return _applied(writer, "inv", [_power(writer, base, -exponent)])
    count, half = divmod(exponent, 1.0)
    factors = [] if count == 0.0 else [writer.raised(base, int(count))]
    factors += [_applied(writer, "sqrt", [base])] if half else []
    return writer.product(factors)


def _number(library: Library, part: Row) -> float | None:
    """The value of a part that is one number."""
    is_number = len(part) == 1 and library[part.ids[0]].kind is TokenKind.CONSTANT
    return part.constants[0] if is_number else None
