"""What units of measurement are read as."""

from __future__ import annotations

import contextlib
from fractions import Fraction

import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from symseed import SettingsError
from symseed.space.dimensions import BASES, NUMBER, Dimension, UnitLike, dimension, integers, spans

METRE, KILOGRAM, SECOND, AMPERE, KELVIN = (Dimension(((base, Fraction(1)),)) for base in BASES[:5])


def dimensions() -> st.SearchStrategy[Dimension]:
    exponents = st.builds(Fraction, st.integers(-6, 6), st.integers(1, 4))
    bases = st.sampled_from([*BASES, "[USD]", "[a b]"])
    return st.dictionaries(bases, exponents, max_size=5).map(Dimension.of)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("m", METRE),
        ("km", METRE),
        ("kg*m/s^2", KILOGRAM * METRE / SECOND**2),
        ("N", KILOGRAM * METRE / SECOND**2),
        ("mN", KILOGRAM * METRE / SECOND**2),
        ("J/K", KILOGRAM * METRE**2 / SECOND**2 / KELVIN),
        ("m s^-2", METRE / SECOND**2),
        ("m s-2", METRE / SECOND**2),
        ("m/s²", METRE / SECOND**2),
        ("W m⁻² K⁻⁴", KILOGRAM / SECOND**3 / KELVIN**4),
        ("J/(kg K)", METRE**2 / SECOND**2 / KELVIN),
        ("m^0.5", METRE ** Fraction(1, 2)),
        ("m^(-1/2)", METRE ** Fraction(-1, 2)),
        ("m**2", METRE**2),
        ("(m/s)^2", (METRE / SECOND) ** 2),
        ("eV", KILOGRAM * METRE**2 / SECOND**2),
        ("V/A", KILOGRAM * METRE**2 / SECOND**3 / AMPERE**2),
        ("kΩ", KILOGRAM * METRE**2 / SECOND**3 / AMPERE**2),
        ("F*V", AMPERE * SECOND),
        ("°C", KELVIN),
        ("1000 kg", KILOGRAM),
        ("1/s", SECOND**-1),
        ("min", SECOND),
        ("cd", Dimension((("cd", Fraction(1)),))),
        ("[USD]/h", Dimension.of({"[USD]": Fraction(1)}) / SECOND),
        ("", NUMBER),
        ("1", NUMBER),
        ("%", NUMBER),
        ("deg", NUMBER),
        ("rad", NUMBER),
        (None, NUMBER),
        ((0, 1, -2, 0, 0.5, 0, 0), KILOGRAM / SECOND**2 * KELVIN ** Fraction(1, 2)),
    ],
)
def test_a_unit_is_read_as_its_dimension(text: UnitLike, expected: Dimension) -> None:
    assert dimension(text, "v") == expected


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("metr", "`metr`, in the unit 'metr' of `v`, is not a known unit. Did you mean `metre`"),
        ("Kg", "Did you mean `kg`"),
        ("parsnip", r"Write \[parsnip\] for a custom base dimension"),
        ("m/", "a unit was expected"),
        ("m^", "an exponent was expected"),
        ("(m", "a parenthesis is not closed"),
        ("m)", r"`\)` was not expected"),
        ("J/kg K", "is ambiguous"),
        ("m^0.123", "denominator of at most 12"),
        ("m^(1/0)", "other than 0"),
        ("m^30", "at most 20"),
        ("m^1e999", "at most 20"),
        ("(" * 10_000, "longer than 200 characters"),
        ("[ ]", "cannot be read"),
        ("m; import os", "`; import os` was not expected"),
        ((1, 2), "7 exponents of m, kg, s"),
        ((float("nan"),) * 7, "must be a number"),
        (5, "must be a text"),
    ],
)
def test_what_is_no_unit_is_refused_and_the_quantity_named(text: UnitLike, sentence: str) -> None:
    with pytest.raises(SettingsError, match=sentence) as caught:
        dimension(text, "v")
    assert "`v`" in str(caught.value)


@settings(max_examples=50, deadline=None)
@given(dimensions())
def test_a_dimension_is_written_as_a_unit_that_reads_as_it(one: Dimension) -> None:
    assert dimension(str(one), "v") == one


def test_dimensions_are_written_as_one_is_used_to() -> None:
    assert str(dimension("N", "v")) == "kg*m/s^2"
    assert str(dimension("1/m^0.5", "v")) == "1/m^(1/2)"
    assert str(NUMBER) == "1"


@settings(max_examples=50, deadline=None)
@given(st.text(max_size=12))
def test_any_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(SettingsError):
        assert isinstance(dimension(text, "v"), Dimension)


@settings(max_examples=50, deadline=None)
@given(st.lists(dimensions(), min_size=1, max_size=4), st.lists(st.integers(-3, 3), min_size=4, max_size=4))
def test_products_of_powers_span_themselves_and_whole_exponents_multiply_alike(
    given_dimensions: list[Dimension], powers: list[int]
) -> None:
    product = NUMBER
    for one, power in zip(given_dimensions, powers, strict=False):
        product = product * one**power
    assert spans(given_dimensions, product)
    assert not spans(given_dimensions, product * Dimension.of({"[else]": Fraction(1)}))
    try:
        *whole, made = integers([*given_dimensions, product])
    except SettingsError:  # more bases than there is room for
        reject()
    expected = [sum(row[i] * power for row, power in zip(whole, powers, strict=False)) for i in range(len(made))]
    assert list(made) == expected


def test_more_base_dimensions_than_can_be_kept_are_refused() -> None:
    with pytest.raises(SettingsError, match="at most 8 base dimensions"):
        integers([dimension("*".join(f"[{letter}]" for letter in "abcdefghi"), "v")])
