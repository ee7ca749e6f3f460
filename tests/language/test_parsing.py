"""Text to tokens: the grammar by worked examples, every sentence of its errors, and hostile text."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from strategies import NASTY_NAMES, expressions
from symseed import Expression, Library, ParseError, Population
from symseed.language.parsing import MAX_DIGITS, MAX_TEXT, MAX_TOKENS, numbers_in
from symseed.language.tokens import ALIASES, OPERATORS

ABC = Library.of(list(OPERATORS), ["a", "b", "c"], constants=True)
WHOLE = Library.of([*OPERATORS, 0.0, 1.0, -2.5, 1e-300], NASTY_NAMES, constants=True)
SMALL = Library.of(["add", "sin", 1.0], 2)


def prefix(text: str, library: Library = ABC) -> str:
    return Expression.parse(text, library).prefix


def check_reads_itself(expression: Expression) -> None:
    """A valid expression, whose texts are its own."""
    library = expression.library
    Population.of(library, [expression.ids], [len(expression)], [expression.constants])
    assert Expression.parse(str(expression), library) == expression
    assert Expression.parse_prefix(expression.prefix, library) == expression


@given(expression=expressions())
@settings(max_examples=300, deadline=None)
def test_both_texts_of_an_expression_read_as_that_expression(expression: Expression) -> None:
    check_reads_itself(expression)


@given(expression=expressions(WHOLE))
@settings(max_examples=250, deadline=None)
def test_both_texts_read_back_over_the_whole_table_with_every_nasty_name(expression: Expression) -> None:
    check_reads_itself(expression)


@pytest.mark.parametrize("name", NASTY_NAMES)
def test_a_nasty_name_reads_back_beside_the_operator_or_constant_that_it_resembles(name: str) -> None:
    library = Library.of(list(OPERATORS), [name, "[", *({"("} - {name})], constants=True)
    for words in (
        "add `{}` `[`",
        "add `{}` `(`",
        "sub sin `{}` const(1.5)",
        "pow neg `{}` const(-2.0)",
        "min const(0.0) `{}`",
    ):
        expression = Expression.parse_prefix(words.format(name.replace("`", "``")), library)
        assert 0 in expression.ids
        check_reads_itself(expression)


@pytest.mark.parametrize("value", ["0.0", "-0.0", "1.0", "-2.5", "1e-300", "7.0"])
def test_a_constant_stays_a_constant_where_the_library_has_the_same_literal(value: str) -> None:
    expression = Expression.parse(f"const({value})", WHOLE)
    assert expression.ids == (WHOLE.ids(["const"])[-1],)
    assert repr(expression.constants[0]) == value
    check_reads_itself(expression)


def test_a_number_is_the_literal_of_that_value_or_else_a_constant() -> None:
    library = Library.of(["add", 2.0, -1.5], 1, constants=True)
    assert prefix("2 + 3", library) == "add 2.0 const(3.0)"
    assert prefix("-1.5 + 1.5", library) == "add -1.5 const(1.5)"
    assert prefix("const(2) + const", library) == "add const(2.0) const(1.0)"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a", "a"),
        ("((a))", "a"),
        ("a + b * c", "add a mul b c"),
        ("(a + b) * c", "mul add a b c"),
        ("a - b - c", "sub sub a b c"),
        ("a - (b - c)", "sub a sub b c"),
        ("a - b + c", "add sub a b c"),
        ("a / b / c", "div div a b c"),
        ("a / b * c", "mul div a b c"),
        ("a / (b * c)", "div a mul b c"),
        ("a ^ b ^ c", "pow a pow b c"),
        ("(a ^ b) ^ c", "pow pow a b c"),
        ("2^3^2", "pow const(2.0) pow const(3.0) const(2.0)"),
        ("a ** b ** c", "pow a pow b c"),
        ("a * b ^ c", "mul a pow b c"),
        ("a ^ b * c", "mul pow a b c"),
        ("-a", "neg a"),
        ("--a", "neg neg a"),
        ("- - -a", "neg neg neg a"),
        ("-a ^ b", "neg pow a b"),
        ("-a * b", "mul neg a b"),
        ("-a + b", "add neg a b"),
        ("a ^ -b", "pow a neg b"),
        ("a ^ -b ^ c", "pow a neg pow b c"),
        ("a ^ -b * c", "mul pow a neg b c"),
        ("a - -b", "sub a neg b"),
        ("a * -b", "mul a neg b"),
        ("-2", "const(-2.0)"),
        ("- 2", "const(-2.0)"),
        ("-(2)", "neg const(2.0)"),
        ("--2", "neg const(-2.0)"),
        ("-2^a", "neg pow const(2.0) a"),
        ("(-2)^a", "pow const(-2.0) a"),
        ("-2*a", "mul const(-2.0) a"),
        ("a^-2", "pow a const(-2.0)"),
        ("a^-2^b", "pow a neg pow const(2.0) b"),
        ("a - -1.5", "sub a const(-1.5)"),
        ("a-1.5", "sub a const(1.5)"),
        ("a - - -1.5", "sub a neg const(-1.5)"),
        ("sin(-1)", "sin const(-1.0)"),
        ("min(-1, -a)", "min const(-1.0) neg a"),
        ("sin(a)^2", "pow sin a const(2.0)"),
        ("-sin(a)", "neg sin a"),
        ("max(min(a, b), c)", "max min a b c"),
        ("add(a, mul(b, c))", "add a mul b c"),
        ("neg(a) - b", "sub neg a b"),
        (".5 + 5. + 5e-1 + 5E+1", "add add add const(0.5) const(5.0) const(0.5) const(50.0)"),
        (" \t\na\u00a0+\u3000b ", "add a b"),
        ("`a`+ `b`", "add a b"),
        ("const", "const(1.0)"),
        ("const * a + const(-3)", "add mul const(1.0) a const(-3.0)"),
        ("9**9**9**9", "pow const(9.0) pow const(9.0) pow const(9.0) const(9.0)"),
        ("٣ + a", "add const(3.0) a"),
    ],
)
def test_infix_text_binds_as_in_mathematics(text: str, expected: str) -> None:
    assert prefix(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("+ a b", "add a b"),
        ("- a b", "sub a b"),
        ("- -1 a", "sub const(-1.0) a"),
        ("- 1 a", "sub const(1.0) a"),
        ("-1", "const(-1.0)"),
        ("* / a b ^ a ** b c", "mul div a b pow a pow b c"),
        ("n2 ln a", "square log a"),
        ("add const const(-2.5)", "add const(1.0) const(-2.5)"),
        ("add\n`a`\tx2", "add a b"),
        ("add 1 const ( 2 )", "add const(1.0) const(2.0)"),
    ],
)
def test_prefix_text_reads_aliases_signs_and_valued_constants(text: str, expected: str) -> None:
    assert Expression.parse_prefix(text, ABC).prefix == expected


@pytest.mark.parametrize("alias", [alias for alias in ALIASES if alias.isidentifier()])
def test_an_alias_may_be_called_in_infix_text(alias: str) -> None:
    name = ALIASES[alias]
    arguments = ", ".join("ab"[: OPERATORS[name].arity])
    assert Expression.parse(f"{alias}({arguments})", ABC) == Expression.parse(f"{name}({arguments})", ABC)


@pytest.mark.parametrize("alias", ALIASES)
def test_an_alias_may_stand_in_prefix_text(alias: str) -> None:
    name = ALIASES[alias]
    arguments = " ".join("ab"[: OPERATORS[name].arity])
    assert Expression.parse_prefix(f"{alias} {arguments}", ABC).prefix == f"{name} {arguments}"


def test_x1_x2_are_the_columns_where_no_column_has_that_name() -> None:
    named = Library.of(["sub"], ["mass", "speed"])
    assert Expression.parse("x1 - x2", named) == Expression.parse("mass - speed", named)
    assert Expression.parse_prefix("sub x2 x1", named) == Expression.parse("speed - mass", named)
    crossed = Library.of(["sub"], ["x2", "a"])
    assert prefix("x1 - x2", crossed) == "sub x2 x2"
    with pytest.raises(ParseError, match="a variable"):
        Expression.parse("x3", named)
    with pytest.raises(ParseError, match="a variable"):
        Expression.parse("x0", named)


def test_a_bare_name_in_prefix_text_is_the_operator_and_one_in_backquotes_the_variable() -> None:
    library = Library.of(["sin"], ["sin"])
    assert Expression.parse_prefix("sin `sin`", library).ids == (1, 0)
    assert Expression.parse("sin(sin)", library).ids == (1, 0)
    assert Expression.parse_prefix("sin", Library.of(["cos"], ["sin"])).ids == (0,)


@given(expression=expressions(ABC))
@settings(max_examples=150, deadline=None)
def test_blanks_between_the_parts_of_a_text_mean_nothing(expression: Expression) -> None:
    text = str(expression)
    assert Expression.parse(text.replace(" ", ""), ABC) == expression
    assert Expression.parse(re.sub(r"([(),]|(?<= )[-+*/^])", "\n\\1\t", text), ABC) == expression


@given(expression=expressions(ABC, max_length=25))
@settings(max_examples=200, deadline=None)
def test_no_pair_of_brackets_could_be_left_out(expression: Expression) -> None:
    text = str(expression)
    opened: list[int] = []
    for end, character in enumerate(text):
        if character == "(":
            opened.append(end)
        elif character == ")":
            begin = opened.pop()
            is_call = begin > 0 and text[begin - 1].isalnum()
            if not is_call:
                shorter = text[:begin] + text[begin + 1 : end] + text[end + 1 :]
                assert Expression.parse(shorter, ABC) != expression, shorter


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "Expected a number, a name or `(` at character 1, but found the end"),
        ("   ", "Expected a number, a name or `(` at character 4, but found the end"),
        ("x1 +", "Expected a number, a name or `(` at character 5, but found the end"),
        ("+", "Expected a number, a name or `(` at character 1, but found `+`"),
        ("x1 + * x2", "Expected a number, a name or `(` at character 6, but found `*`"),
        ("x1 x2", "Expected an operator, `)` or the end at character 4, but found `x2`"),
        ("1 2", "Expected an operator, `)` or the end at character 3, but found `2`"),
        ("x1 ? x2", "Expected a number, a name or an operator at character 4, but found `?`"),
        ("x1 + `x2", "Expected a number, a name or an operator at character 6, but found ```"),
        ("(x1", "Expected `)` (for `(` of character 1) at character 4, but found the end"),
        ("x1 + sin(x2", "Expected `)` (for `sin(` of character 6) at character 12, but found the end"),
        ("x1)", "Expected an operator or the end at character 3, but found `)`"),
        ("x1, x2", "Expected an operator or the end at character 3, but found `,`"),
        ("(x1, x2)", "Expected an operator or the end at character 4, but found `,`"),
        ("()", "Expected a number, a name or `(` at character 2, but found `)`"),
        ("sin()", "Expected a number, a name or `(` at character 5, but found `)`"),
        ("sin(x1,)", "Expected a number, a name or `(` at character 8, but found `)`"),
        ("sin(x1, x2)", "`sin` at character 1 takes 1 argument(s), but has 2."),
        ("x1 + add(x2)", "`add` at character 6 takes 2 argument(s), but has 1."),
        ("x1 + y", "Expected a variable (x1, x2) at character 6, but found `y`"),
        ("sin", "Expected a variable (x1, x2) at character 1, but found `sin`"),
        ("x3", "Expected a variable (x1, x2) at character 1, but found `x3`"),
        ("`x 1`", "Expected a variable (x1, x2) at character 2, but found `x 1`"),
        ("x1 + cos(x2)", "`cos` at character 6 is not in the library, which has add, sin."),
        ("x1 - x2", "`sub` at character 4 is not in the library, which has add, sin."),
        ("-x1", "`neg` at character 1 is not in the library, which has add, sin."),
        ("foo(x1)", "`foo` at character 1 is not in the library, which has add, sin."),
        ("x1(x2)", "`x1` at character 1 is not in the library, which has add, sin."),
        ("x1 + 2", "The number 2.0 at character 6 is not in the library (its literals: 1.0; no fitted constants)."),
        ("x1 + -1", "The number -1.0 at character 6 is not in the library (its literals: 1.0; no fitted constants)."),
        ("x1 + const", "`const` at character 6 needs a library with constants."),
        ("const(2)", "`const` at character 1 needs a library with constants."),
        ("const(x1)", f"Expected a number of at most {MAX_DIGITS} characters at character 7, but found `x1`"),
        ("const(1, 1)", "Expected `)` after the constant's value at character 8, but found `,`"),
        ("const(", f"Expected a number of at most {MAX_DIGITS} characters at character 7, but found the end"),
        ("x1 + 1e999", "Expected a number within the range of float64 at character 6, but found `1e999`"),
    ],
)
def test_an_error_in_infix_text_says_where_and_what_was_expected(text: str, sentence: str) -> None:
    with pytest.raises(ParseError, match=re.escape(sentence)):
        Expression.parse(text, SMALL)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "Expected 1 more argument(s) at character 1, but found the end"),
        ("add x1", "Expected 1 more argument(s) at character 7, but found the end"),
        ("add add x1", "Expected 2 more argument(s) at character 11, but found the end"),
        ("sin x1 x2", "Expected the end at character 8, but found `x2`"),
        ("sin(x1)", "Expected an operator of the library or a variable (x1, x2) at character 4, but found `(`"),
        ("add x1, x2", "Expected an operator of the library or a variable (x1, x2) at character 7, but found `,`"),
        ("cos x1", "Expected an operator of the library or a variable (x1, x2) at character 1, but found `cos`"),
        ("- x1 x2", "Expected an operator of the library or a variable (x1, x2) at character 1, but found `-`"),
        ("sin `sin`", "Expected an operator of the library or a variable (x1, x2) at character 6, but found `sin`"),
        ("sin const(2)", "`const` at character 5 needs a library with constants."),
        ("sin const(-)", f"Expected a number of at most {MAX_DIGITS} characters at character 12, but found `)`"),
        ("sin -2", "The number -2.0 at character 5 is not in the library"),
    ],
)
def test_an_error_in_prefix_text_says_where_and_what_was_expected(text: str, sentence: str) -> None:
    with pytest.raises(ParseError, match=re.escape(sentence)):
        Expression.parse_prefix(text, SMALL)


def test_an_error_says_so_where_there_is_nothing_to_name() -> None:
    nothing = Library.of([], 0, constants=True)
    with pytest.raises(ParseError, match=r"Expected a variable \(there is none\) at character 1"):
        Expression.parse("x1", nothing)
    with pytest.raises(ParseError, match="not in the library, which has no operators"):
        Expression.parse("1 + 1", nothing)
    with pytest.raises(ParseError, match=r"its literals: none; no fitted constants"):
        Expression.parse("1", Library.of([], 1))


def test_an_error_names_ten_variables_of_many() -> None:
    many = Library.of([], 50_000)
    with pytest.raises(ParseError, match=r"\(x1, .*, x10, \.\.\.\)") as caught:
        Expression.parse("y", many)
    assert len(str(caught.value)) < 200


HOSTILE = {
    "100 kB of brackets": "(" * 100_000,
    "100 kB of closing brackets": ")" * 100_000,
    "as many brackets as a text may have": "(" * MAX_TEXT,
    "deep brackets without an end": "(" * (MAX_TEXT - 1) + "a",
    "deep calls without an end": "sin(" * (MAX_TEXT // 4),
    "deeper calls than an expression may be": "sin(" * 2500 + "a" + ")" * 2500,
    "100 000 unary minuses": "-" * 100_000 + "a",
    "as many unary minuses as a text may have": "-" * (MAX_TEXT - 1) + "a",
    "a longer sum than an expression may be": "+".join("a" * 5000),
    "a longer tower than an expression may be": "^".join("a" * 5000),
    "code": "__import__('os').system('x')",
    "code without quotes": "__import__(os).system(x)",
    "a lambda": "(lambda: a)()",
    "an attribute": "a.__class__",
    "an index": "a[0]",
    "an assignment": "a = 1",
    "two statements": "a; b",
    "a comment": "a # b",
    "infinite number": "1e999",
    "negative infinite number": "-1e999",
    "10 000 digits": "1" * 10_000,
    "10 000 decimals": "0." + "1" * 10_000,
    "10 000 digits of an exponent": "1e" + "1" * 10_000,
    "hexadecimal": "0x10",
    "underscores": "1_000",
    "nan": "nan",
    "inf": "-inf",
    "imaginary": "1j",
    "two points": "1.5.2",
    "a point": ".",
    "NUL": "\0",
    "NUL inside": "a\0+ b",
    "escape sequence": "\x1b[31m",
    "a surrogate": "\ud800",
    "zero-width blank": "a\u200b+ b",
    "opening bracket": "(",
    "crossed brackets": ")a(",
    "wrong bracket": "[a]",
    "one backquote": "`",
    "two backquotes": "``",
    "an empty name": "`` + a",
    "unbalanced backquote": "`a",
    "three backquotes": "`a``",
    "as many backquotes as a text may have": "`" * MAX_TEXT,
    "odd backquotes": "`" * (MAX_TEXT - 1),
    "empty": "",
    "blanks": " \t\n\u3000" * 4000,
    "blanks, then junk": " " * (MAX_TEXT - 1) + "?",
    **{f"lone {symbol}": symbol for symbol in ("+", "-", "*", "/", "^", "**", ",", "***", "-+", "--")},
    "superscript": "a²",
    "superscript alone": "²",
    "superscript after bracket": "(a)²",
    "fraction": "½",
    "unicode minus": "a − b",
    "unicode times": "a × b",
    "full-width bracket": "sin\uff08a\uff09",
    "trailing comma": "min(a, b,)",
    "leading comma": "min(, a)",
    "double comma": "min(a,, b)",
    "no arguments": "sin()",
    "too many arguments": "sin(a, b)",
    "too few arguments": "min(a)",
    "very many arguments": "min(" + ",".join("a" * 9000) + ")",
    "an unknown name": "d",
    "an unknown function": "sine(a)",
    "a long unknown name": "d" * MAX_TEXT,
    "juxtaposition": "2a",
    "call of a number": "2(a)",
    "call of a bracket": "(a)(b)",
    "call of a quoted name": "`sin`(a)",
    "constant of a constant": "const(const(2))",
    "constant of a name": "const(a)",
    "constant of nothing": "const()",
    "x of a huge column": "x" + "9" * 5000,
    "unicode x": "x\u0661",
}


@pytest.mark.timeout(30)
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_text_is_refused_with_a_short_sentence(text: str) -> None:
    for parse in (Expression.parse, Expression.parse_prefix):
        with pytest.raises(ParseError, match=r"(?s)^(Expected|`.*`|The number|A formula) .*\.$") as caught:
            parse(text, ABC)
        assert len(str(caught.value)) < 500
        assert re.search(r"at character \d+|must have at most \d+ (tokens|characters)", str(caught.value))


def test_long_names_make_room_for_no_more_brackets() -> None:
    library = Library.of(["add"], ["n" * 9_000])
    with pytest.raises(ParseError, match=f"at most {MAX_TEXT} numbers, names and signs, but this text has more"):
        Expression.parse("(" * 2_000_000, library)


def test_limits_are_what_they_say() -> None:
    longest = "a" + " " * (MAX_TEXT - 1)
    assert prefix(longest) == "a"
    with pytest.raises(ParseError, match=f"at most {MAX_TEXT} characters, but this text has {MAX_TEXT + 1}"):
        prefix(longest + " ")
    for parse, minus in ((Expression.parse, "-"), (Expression.parse_prefix, "neg ")):
        largest = parse(minus * (MAX_TOKENS - 1) + "a", ABC)
        assert len(largest) == largest.depth == MAX_TOKENS
        with pytest.raises(ParseError, match=f"at most {MAX_TOKENS} tokens"):
            parse(minus * MAX_TOKENS + "a", ABC)
    assert prefix("0." + "1" * (MAX_DIGITS - 2)).startswith("const(0.1111")
    with pytest.raises(ParseError, match=f"a number of at most {MAX_DIGITS} characters"):
        prefix("0." + "1" * (MAX_DIGITS - 1))


def test_brackets_may_be_as_deep_as_the_text_is_long() -> None:
    depth = (MAX_TEXT - 1) // 2
    assert prefix("(" * depth + "a" + ")" * depth) == "a"


def check_text(text: str, library: Library) -> None:
    """Any text is an expression that reads itself, or a `ParseError`."""
    for parse in (Expression.parse, Expression.parse_prefix):
        try:
            expression = parse(text, library)
        except ParseError:
            continue
        check_reads_itself(expression)


@given(text=st.text())
@settings(max_examples=300, deadline=None)
def test_any_text_is_an_expression_or_a_parse_error(text: str) -> None:
    check_text(text, WHOLE)


PIECES = (
    *("(", ")", ",", "+", "-", "*", "/", "^", "**", " ", "\n", "`", "``", ".", "e", "e-", "_"),
    *("x1", "x2", "`a b`", "sin", "sin(", "min(", "add ", "neg ", "const", "const(", "1", "1.5", "-1", "٣", "²"),
)


@given(text=st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
@example(text="const-1")
@example(text="min(x1`a b`)")
@settings(max_examples=500, deadline=None)
def test_any_text_of_the_grammars_own_parts_is_an_expression_or_a_parse_error(text: str) -> None:
    check_text(text, WHOLE)


@given(
    expression=expressions(WHOLE, max_length=20),
    places=st.tuples(st.integers(0, 200), st.integers(0, 3)),
    piece=st.sampled_from(("", *PIECES)),
)
@settings(max_examples=250, deadline=None)
def test_a_damaged_text_is_an_expression_or_a_parse_error(
    expression: Expression, places: tuple[int, int], piece: str
) -> None:
    for text in (str(expression), expression.prefix):
        begin = places[0] % (len(text) + 1)
        check_text(text[:begin] + piece + text[begin + places[1] :], WHOLE)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x1 + x2", []),
        ("2 * x1 + 3.5 - 2", [2.0, 3.5]),
        ("x1 - 1", [1.0]),
        ("x1 * -1", [-1.0]),
        ("-1 + sin(-2)", [-1.0, -2.0]),
        ("-2 ^ x1", [2.0]),
        ("`3` + x4", []),
        ("const(7)", [7.0]),
    ],
)
def test_the_numbers_of_a_formula_are_listed_once_with_their_signs(text: str, expected: list[float]) -> None:
    assert numbers_in(text) == expected


def test_the_numbers_of_a_formula_make_a_library_that_reads_it() -> None:
    text = "-1.5 * x1 + 2 ^ x1 - 3"
    library = Library.of(["add", "sub", "mul", "pow", *numbers_in(text)], 1)
    assert prefix(text, library) == "sub add mul -1.5 x1 pow 2.0 x1 3.0"


# --- where -----------------------------------------------------------------------------------------------------------

CHOICES = Library.of(["add", "sub", "mul", "greater", "cond", "unless", 2.0], ["x", "y"], constants=True)


def test_where_is_a_sum_of_two_operators_that_choose() -> None:
    text = "where(greater(x, y), 3.5 * x, x - where(y, x, 2))"
    expression = Expression.parse(text, CHOICES)
    assert str(Expression.parse("where(x - 1.5, x, y)", CHOICES)) == "cond(x - 1.5, x) + unless(x - 1.5, y)"
    assert Expression.parse(str(expression), CHOICES) == expression
    X = np.array([[1.0, 2.0], [2.0, 1.0], [-1.0, -2.0], [0.5, -0.5], [0.0, 0.0]])
    x, y = X.T
    assert np.array_equal(expression.evaluate(X), np.where(x > y, 3.5 * x, x - np.where(y > 0.0, x, 2.0)))


@pytest.mark.parametrize(
    ("text", "library", "sentence"),
    [
        ("where(x, y)", CHOICES, "`where` at character 1 takes 3 arguments, but has 2"),
        ("where(x, y, x, y)", CHOICES, "`where` at character 1 takes 3 arguments, but has 4"),
        ("where(x, y, x)", Library.of(["add", "cond"], ["x", "y"]), "`unless` at character 1 is not in the library"),
    ],
)
def test_where_needs_three_arguments_and_its_operators(text: str, library: Library, sentence: str) -> None:
    with pytest.raises(ParseError, match=re.escape(sentence)):
        Expression.parse(text, library)
