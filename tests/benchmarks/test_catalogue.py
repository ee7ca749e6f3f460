"""Entries of one's own in the catalogue: what the manual shows is read, and what is malformed gets a sentence."""

from __future__ import annotations

import re

import numpy as np
import pytest

from symseed import SettingsError
from symseed.benchmarks import catalogue, problem, rules
from symseed.benchmarks.rules import Even, Uniform

TOKEN_SETS = catalogue.parse_tokens('Small = ["add", "mul", 2.5]')
ENTRY = """
[[problem]]
name = "Mine"
target = "x1 + 2.5 * x2"
variables = 2
tokens = "Small"
train = ["U(0, 1, 5)", "U(2, 3, 5)"]
test = "E(0, 1, step 0.25)"
"""


def parse(text: str) -> catalogue.Catalogue:
    return catalogue.parse({"mine.toml": text}, TOKEN_SETS)


def test_adding_a_problem_is_adding_an_entry() -> None:
    found = parse('about = "My own."\n[sets]\nAll = ["Mine"]\n' + ENTRY)
    mine = found.problems["Mine"]
    train, test = mine.datasets()
    assert train.X.shape == (5, 2)
    assert train.X[:, 1].min() >= 2.0
    assert test.X.shape == (25, 2)
    assert test.X[:3].tolist() == [[0.0, 0.0], [0.0, 0.25], [0.0, 0.5]]
    np.testing.assert_allclose(train.y, train.X[:, 0] + 2.5 * train.X[:, 1], rtol=1e-15)
    assert [token.name for token in mine.library.tokens] == ["x1", "x2", "add", "mul", "2.5"]
    assert (mine.seed_name, mine.note, mine.source) == ("Mine", "", "My own.")
    assert found.sets == {"All": ("Mine",)}


def examples(manual: str) -> list[str]:
    """Return the indented blocks of a text."""
    blocks = re.split(r"\n(?=\S)", manual)
    return ["\n".join(block.splitlines()[1:]) for block in blocks if re.search(r"^    ", block, re.MULTILINE)]


def test_the_entries_that_the_manual_shows_are_some() -> None:
    assert catalogue.__doc__ is not None
    plain, named, system = examples(catalogue.__doc__.replace(', "Mine-2"', ""))
    token_sets = catalogue.parse_tokens('Koza = ["add"]')
    (mine,) = catalogue.parse({"mine.toml": plain}, token_sets).problems.values()
    assert (mine.seed_name, mine.note, mine.units) == ("mine1", "Where sources differ.", None)
    rest = [line for line in plain.splitlines() if not line.lstrip().startswith(("target =", "variables ="))]
    (mine,) = catalogue.parse({"mine.toml": "\n".join([*rest, named])}, token_sets).problems.values()
    assert (mine.names, mine.units) == (("m", "v"), problem.Units(("kg", "m/s"), "kg*m/s"))
    both = catalogue.parse({"mine.toml": system}, token_sets).problems
    assert list(both) == ["Mine1", "Mine2"]
    assert [len(data) for found in both.values() for data in found.datasets()] == [200] * 4


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ('train = ["U(0, 1, 5)", "U(2, 3, 5)"]', "", r"Problem `Mine` of mine\.toml must have `train`, but it has"),
        ('name = "Mine"', "", r"A problem of mine\.toml must have `name`"),
        ('name = "Mine"', "name = 3", r"`name` of .* must be a non-empty text, but it is 3"),
        ('name = "Mine"', 'name = " "', r"`name` of .* must be a non-empty text"),
        ("variables", "varables", r"has the unknown key `varables`\. Expected function, name, "),
        ("variables = 2", "variables = 0", r"`variables` of problem `Mine` .* from 1 to 1000, but it is 0"),
        ("variables = 2", "variables = true", r"but it is True"),
        ("variables = 2", "variables = 3", r"one for each of the 3 variables, but there are 2"),
        ("* x2", "* x3", r"`target` of .* must be a formula\. Expected a variable \(x1, x2\) at character 12"),
        ("x1 + 2.5", "x1 + + 2.5", r"`target` of .* must be a formula\. Expected a number"),
        ("x1 + 2.5", "sech(x1) + 2.5", r"`sech` at character 1 is not in the library"),
        ('target = "x1 + 2.5 * x2"', "", r"must have either `target` or `function`"),
        ("target =", 'function = "harmonic"\ntarget =', r"must have either `target` or `function`"),
        ('target = "x1 + 2.5 * x2"', 'function = "eval"', r"must be one of harmonic, harmonic32, but it is `eval`"),
        ('"Small"', '"Smal"', r"`tokens` of .* must be a list or one of Small, but it is `Smal`"),
        ('"Small"', '["add", "sech"]', r"`tokens` of .* must make a library\. `sech` is not an operator"),
        ('"Small"', "[]", r"must be a list of operators and numbers, but it is \[\]"),
        ('"Small"', "5", r"must be a list of operators and numbers, but it is 5"),
        ("U(0, 1, 5)", "V(0, 1, 5)", r"`train` of problem `Mine` of mine\.toml cannot be used\. A rule must be"),
        ("U(0, 1, 5)", "U(0, 1, step 5)", r"but it is `U\(0, 1, step 5\)`"),
        ("U(0, 1, 5)", "U(0, 1, 2.5)", r"A rule must be"),
        ("U(0, 1, 5)", "U(1, 1, 5)", r"must begin before it ends, but the rule is `U\(1, 1, 5\)`"),
        ("U(0, 1, 5)", "U(0, 1e999, 5)", r"must begin before it ends"),
        ("U(0, 1, 5)", "U(0, 1, 0)", r"from 1 to 10000000 points, but `U\(0, 1, 0\)` makes 0"),
        ("U(0, 1, 5)", "U(0, 1, 6)", r"the same n for each variable"),
        ("U(0, 1, 5)", "E(0, 1, 5)", r"Either all rules are U or all are E, but they are E\(0, 1, 5\), U\(2, 3, 5\)"),
        ("step 0.25", "step 2", r"`test` of .* at most the interval's width"),
        ("step 0.25", "step -1", r"A step must be positive"),
        ("step 0.25", "step 1e-300", r"from 1 to 10000000 points"),
        ("step 0.25", "100000", r"at most 10000000 rows, but make 10000000000"),
        ('"E(0, 1, step 0.25)"', "7", r"`test` of .* must be a list of texts, but it is 7"),
        ("[[problem]]", "[problem]", r"must be tables `\[\[problem\]\]`"),
        ("[[problem]]", "[[problems]]", r"mine\.toml has the unknown key `problems`\. Expected about, problem, sets"),
        ("[[problem]]", "[[problem", r"mine\.toml must be TOML, but it cannot be read"),
        ("[[problem]]", "sets = 3\n[[problem]]", r"`sets` of mine\.toml must be a table of lists of names"),
        ("[[problem]]", "[sets]\nAll = [1]\n[[problem]]", r"Set `All` of mine\.toml must be a list of texts"),
        ("[[problem]]", '[sets]\nAll = ["Yours"]\n[[problem]]', r"must list problems of .*, but it lists `Yours`"),
        ("[[problem]]", '[sets]\nMine = ["Mine"]\n[[problem]]', r"must name a set or a problem, but it names both"),
    ],
)
def test_a_malformed_entry_gets_a_sentence(old: str, new: str, sentence: str) -> None:
    assert old in ENTRY
    with pytest.raises(SettingsError, match=sentence) as caught:
        parse(ENTRY.replace(old, new, 1))
    assert str(caught.value).endswith((".", ")."))


UNITS = """
[[problem]]
name = "Mine"
target = "m * v"
variables = { m = "kg", v = "m/s" }
unit = "kg*m/s"
tokens = "Small"
train = "U(0, 1, 5)"
"""
SYSTEM = """
[[system]]
name = "Mine"
rates = ["x2", "-x1"]
tokens = "Small"
starts = [[1.0, 0], [2.0, 0.5]]
step = 0.1
points = 10
"""


@pytest.mark.parametrize(
    ("entry", "old", "new", "sentence"),
    [
        (UNITS, 'unit = "kg*m/s"', "", r"Problem `Mine` of mine\.toml must have `unit`, the target's, because its"),
        (
            UNITS,
            '{ m = "kg", v = "m/s" }',
            "2",
            r"has `unit`, so `variables` must be a table of units by name, but .* 2",
        ),
        (UNITS, '"m/s" }', "2 }", r"`v` of `variables` of problem `Mine` of mine\.toml must be a non-empty text"),
        (
            UNITS,
            '"m/s" }',
            '"furlong" }',
            r"The units of problem `Mine` .* cannot be used\. `furlong`.* not a known unit",
        ),
        (UNITS, '"kg*m/s"', '"kg*furlong"', r"The units of problem `Mine` .* `furlong`.* of `y`"),
        (UNITS, '{ m = "kg", v = "m/s" }', "{}", r"`variables` of problem `Mine` of mine\.toml must name a variable"),
        (SYSTEM, "step = 0.1", "", r"System `Mine` of mine\.toml must have `step`, but it has only name, rates,"),
        (
            SYSTEM,
            "step = 0.1",
            "step = 0",
            r"`step` of system `Mine` of mine\.toml must be a positive number, but it is 0",
        ),
        (SYSTEM, "step = 0.1", 'step = "a"', r"must be a positive number, but it is 'a'"),
        (SYSTEM, "points = 10", "points = 0", r"`points` of system `Mine` .* from 1 to 10000, but it is 0"),
        (SYSTEM, ', "-x1"]', "]", r"`rates` of system `Mine` of mine\.toml must be two formulas, but there are 1"),
        (SYSTEM, '"-x1"', '"-x3"', r"`rates` of system `Mine` of mine\.toml must be a formula\. Expected a variable"),
        (SYSTEM, "[2.0, 0.5]", "[2.0]", r"`starts` of system `Mine` .* must be a list of pairs of numbers"),
        (SYSTEM, "[2.0, 0.5]", "[2.0, inf]", r"`starts` of system `Mine` .* must be a list of pairs of numbers"),
        (SYSTEM, "[[system]]", "[system]", r"The systems of mine\.toml must be tables `\[\[system\]\]`"),
    ],
)
def test_units_and_systems_that_are_none_get_a_sentence(entry: str, old: str, new: str, sentence: str) -> None:
    parse(entry)
    assert old in entry
    with pytest.raises(SettingsError, match=sentence) as caught:
        parse(entry.replace(old, new, 1))
    assert str(caught.value).endswith((".", ")."))


def test_names_are_given_once_in_a_file_and_among_files() -> None:
    with pytest.raises(SettingsError, match=r"Problem `Mine` of mine\.toml must have a unique name"):
        parse(ENTRY + ENTRY)
    with pytest.raises(SettingsError, match=r"Problem `Mine` of b\.toml must have a unique name"):
        catalogue.parse({"a.toml": ENTRY, "b.toml": ENTRY}, TOKEN_SETS)
    sets = '[sets]\nAll = ["Mine"]\n'
    with pytest.raises(SettingsError, match=r"Set `All` of b\.toml must have a unique name"):
        catalogue.parse({"a.toml": sets + ENTRY, "b.toml": sets}, TOKEN_SETS)


def test_malformed_token_sets_get_a_sentence() -> None:
    with pytest.raises(SettingsError, match=r"Set `Bad` of tokens\.toml must be a list of operators and numbers"):
        catalogue.parse_tokens("Bad = [true]")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("U(-1, 1, 20)", Uniform(-1.0, 1.0, 20)),
        (" U( .5 ,1e2, 3 ) ", Uniform(0.5, 100.0, 3)),
        ("E(-10, 10, 20)", Even(-10.0, 10.0, 20)),
        ("E(-10, 10, step 20)", Even(-10.0, 10.0, 2)),
        ("E(-5, 5, step 0.4)", Even(-5.0, 5.0, 26)),
        ("E(0.95, 2.05, step 0.1)", Even(0.95, 2.05, 11)),  # the quotient is just below 11 in float64
    ],
)
def test_rules_are_read_as_written(text: str, expected: Uniform | Even) -> None:
    assert rules.parse([text], 1) == (expected,)
    assert rules.parse([str(expected)], 2) == (expected, expected)
