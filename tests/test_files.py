"""What is written as TOML is read back as it was."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from symseed import files
from symseed.fields import MOST_INTEGER

NAMES = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.recursive(
    st.booleans() | st.integers(-MOST_INTEGER, MOST_INTEGER) | st.floats(allow_nan=False) | NAMES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(NAMES, VALUES, max_size=5))
def test_values_written_as_toml_are_read_back_the_same(values: dict[str, Any]) -> None:
    assert files.toml_values(files.toml_text(values)) == values


def test_a_config_with_its_lists_on_one_line_says_the_same_as_one_with_a_line_for_each() -> None:
    line = 'known = [["x + 1"], []]\n\n[settings]\nunary_operators = ["sin", "exp"]\nconstraints = {sin = 3}\n'
    values = {"known": [["x + 1"], []], "settings": {"unary_operators": ["sin", "exp"], "constraints": {"sin": 3}}}
    assert files.toml_values(line) == files.toml_values(files.toml_text(values)) == values


def test_toml_has_no_halves_of_pairs_which_no_file_can_hold() -> None:
    text = files.toml_text({"source": "caf\udce9.csv", "names": ["\ud800", "λ"]})
    assert files.toml_values(text.encode().decode()) == {"source": "caf?.csv", "names": ["?", "λ"]}
