"""Figures as text: each way of writing one says what it keeps."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from advisor.costs import amounts


@pytest.mark.parametrize(
    ("form", "figure", "text"),
    [
        (amounts.usd_exact, Decimal("20900.00"), "$20,900"),
        (amounts.usd_exact, Decimal("4.5"), "$4.50"),
        (amounts.usd_whole, Decimal("20900.51"), "$20,901"),
        (amounts.usd_whole, 0.0, "$0"),
        (amounts.usd_and_cents, Decimal("343.561"), "$343.56"),
        (amounts.usd_as_quoted, Decimal("1900.10"), "$1,900.10"),
        (amounts.usd_as_quoted, Decimal("900"), "$900"),
        (amounts.usd_tick, 40_000.0, "$40K"),
        (amounts.usd_tick, 999.6, "$1K"),
        (amounts.usd_tick, 1_000_000.0, "$1M"),
        (amounts.usd_tick, 2_500_000.0, "$2.5M"),
        (amounts.days_exact, 30.0, "30"),
        (amounts.days_exact, 0.125, "0.125"),
        (amounts.days_short, 0.15349, "0.153"),
        (amounts.days_short, 36.34, "36.3"),
        (amounts.days_short, 1992.4, "1992"),
        (amounts.days_to_a_tenth, 34.0, "34"),
        (amounts.days_to_a_tenth, 33.47, "33.5"),
        (amounts.days_to_a_tenth, 1992.4, "1,992"),
        (amounts.days_of_four_digits, 33.514, "33.51"),
    ],
)
def test_one_figure_in_each_way(
    form: Callable[[Any], str], figure: Decimal | float, text: str
) -> None:
    assert form(figure) == text
