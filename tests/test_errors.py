"""What every room says of a setting out of range, and of a name that there is not."""

from __future__ import annotations

import math

import pytest

from symseed.errors import SettingsError, check_at_least, check_between, did_you_mean


@pytest.mark.parametrize("value", [1, 2.5, 4])
def test_a_range_has_both_its_ends(value: float) -> None:
    check_between("depth", value, 1, 4)


@pytest.mark.parametrize("value", [0, 4.5, math.inf, -math.inf, math.nan])
def test_a_value_out_of_its_range_is_refused_with_the_range(value: float) -> None:
    with pytest.raises(SettingsError, match=rf"^`depth` must be from 1 to 4, but it is {value}\.$"):
        check_between("depth", value, 1, 4)


def test_the_least_value_is_allowed_and_what_is_below_is_refused_with_its_owner() -> None:
    check_at_least("size", 1, 1, of="the queue")
    with pytest.raises(SettingsError, match=r"^`size` of the queue must be at least 1, but it is 0\.$"):
        check_at_least("size", 0, 1, of="the queue")
    with pytest.raises(SettingsError, match=r"^`rate` must be at least 0, but it is nan\.$"):
        check_at_least("rate", math.nan, 0)


def test_an_infinite_value_is_told_that_it_must_be_finite() -> None:
    with pytest.raises(SettingsError, match=r"^`rate` must be at least 0 and finite, but it is inf\.$"):
        check_at_least("rate", math.inf, 0)


def test_the_nearest_known_name_is_suggested_whatever_its_capitals() -> None:
    known = ["Nguyen-1", "Nguyen-12", "Korns-1"]
    assert did_you_mean("nguyen-2", known) == " Did you mean `Nguyen-12`?"
    assert did_you_mean("KORNS-1", known) == " Did you mean `Korns-1`?"
    assert did_you_mean("x", known) == did_you_mean(None, known) == ""
