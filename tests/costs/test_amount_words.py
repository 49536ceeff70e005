"""Figures as text: each way of writing one says what it keeps."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from advisor.costs import amount_words


@pytest.mark.parametrize(
    ("form", "figure", "text"),
    [
        (amount_words.usd_exact, Decimal("20900.00"), "$20,900"),
        (amount_words.usd_exact, Decimal("4.5"), "$4.50"),
        (amount_words.usd_whole, Decimal("20900.51"), "$20,901"),
        (amount_words.usd_whole, 0.0, "$0"),
        (amount_words.usd_and_cents, Decimal("343.561"), "$343.56"),
        (amount_words.usd_as_quoted, Decimal("1900.10"), "$1,900.10"),
        (amount_words.usd_as_quoted, Decimal("900"), "$900"),
        (amount_words.usd_tick, 40_000.0, "$40K"),
        (amount_words.usd_tick, 999.6, "$1K"),
        (amount_words.usd_tick, 1_000_000.0, "$1M"),
        (amount_words.usd_tick, 2_500_000.0, "$2.5M"),
        (amount_words.days_exact, 30.0, "30"),
        (amount_words.days_exact, 0.125, "0.125"),
        (amount_words.days_short, 0.15349, "0.153"),
        (amount_words.days_short, 36.34, "36.3"),
        (amount_words.days_short, 1992.4, "1992"),
        (amount_words.days_of_four_digits, 33.514, "33.51"),
    ],
)
def test_one_figure_in_each_way(
    form: Callable[[Any], str], figure: Decimal | float, text: str
) -> None:
    assert form(figure) == text
