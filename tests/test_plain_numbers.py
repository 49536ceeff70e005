"""No number that a person reads has an exponent."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.costs.amount_words import (
    days_exact,
    days_of_four_digits,
    days_rounded,
    days_short,
    minutes_words,
    usd_rounded,
    usd_tick,
)
from advisor.tables.table_formats import render_rows
from advisor.tui.widgets.plot.scale import compact
from bench_runner.typed_numbers import count_words, flops_words, plain

WRITTEN = (
    *(days_exact, days_of_four_digits, days_rounded, days_short),
    *(minutes_words, usd_rounded, usd_tick, compact, count_words, plain, flops_words),
)
EXPONENT = re.compile(r"\de[+-]?\d", re.IGNORECASE)


@pytest.mark.parametrize("write", WRITTEN)
@given(number=st.floats(1e-9, 1e21))
def test_no_number_has_an_exponent(write: Callable[[float], str], number: float) -> None:
    assert not EXPONENT.search(write(number))


@given(number=st.floats(1e-9, 1e21))
def test_no_table_has_one(number: float) -> None:
    assert not EXPONENT.search(render_rows([{"number": number}], "table", None, width=80))


@pytest.mark.parametrize(
    ("number", "digits", "written"),
    [
        (0.15321, 3, "0.153"),
        (36.34, 3, "36.3"),
        (1992.4, 4, "1992"),
        (12_345.0, 4, "12,340"),
        (120.0, 2, "120"),
        (0.0000123, 2, "0.000012"),
        (1e6, 6, "1,000,000"),
        (float("inf"), 3, "inf"),
    ],
)
def test_a_plain_number(number: float, digits: int, written: str) -> None:
    assert plain(number, digits) == written


def test_operations_of_a_training_are_a_power_of_ten() -> None:
    assert flops_words(1.2e21) == "1.2 × 10^21 FLOPs"
    assert flops_words(2e22) == "2 × 10^22 FLOPs"
