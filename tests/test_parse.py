from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.parse import (
    InputError,
    parse_budget,
    parse_lifetime_years,
    parse_max_days,
    parse_price_rule,
)


@pytest.mark.parametrize(
    ("text", "usd"),
    [
        ("40000", "40000"),
        ("40k", "40000"),
        ("40K", "40000"),
        ("$40,000", "40000"),
        (" $ 40,000 ", "40000"),
        ("$40,000.50", "40000.50"),
        ("1.5M", "1500000"),
        ("0.5k", "500"),
        ("12.25", "12.25"),
    ],
)
def test_amounts_that_people_write_are_understood(text: str, usd: str) -> None:
    assert parse_budget(text) == Decimal(usd)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "0",
        "$0.00",
        "-5",
        "-$5",
        "−5",
        "NaN",
        "inf",
        "1e400",
        "1e5",
        "40.000",
        "€40.000",
        "40,00",
        "4,0000",
        "1,5k",
        "40 000",
        "40kk",
        "forty",
        "0.001",
        "1.2345678k",
        "٤٠٠٠",
        "9" * 400,
        "40000 EUR",
        "40\n000",
    ],
)
def test_amounts_that_could_be_misread_are_refused_in_one_line(text: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_budget(text)
    message = str(caught.value)
    assert "budget" in message
    assert "\n" not in message
    assert len(message) < 200


@given(st.integers(1, 99_999_999_999))
def test_what_is_written_with_separators_reads_back_to_the_cent(cents: int) -> None:
    amount = Decimal(cents) / 100
    assert parse_budget(f"${amount:,.2f}") == amount
    assert parse_budget(str(amount.quantize(Decimal("0.01")))) == amount


@given(st.text(max_size=30))
def test_any_text_is_an_amount_or_one_line(text: str) -> None:
    try:
        amount = parse_budget(text)
    except InputError as error:
        assert "\n" not in str(error)
        assert str(error).isprintable()
    else:
        assert 0 < amount <= Decimal(1_000_000_000)
        assert amount == amount.quantize(Decimal("0.01"))


@pytest.mark.parametrize("text", ["", "0", "-1", "nan", "inf", "1e400", "1e1", "36501", "x", "٣"])
def test_a_time_limit_is_a_positive_number_of_days(text: str) -> None:
    with pytest.raises(InputError, match="time limit"):
        parse_max_days(text)


def test_days_and_years_are_read() -> None:
    assert parse_max_days("30.5") == 30.5
    assert parse_lifetime_years(" 5 ") == 5.0
    with pytest.raises(InputError, match="lifetime"):
        parse_lifetime_years("51")


def test_price_rules() -> None:
    assert parse_price_rule("paper") == "paper"
    assert parse_price_rule("latest") == "latest"
    assert parse_price_rule("2026-11-01") == date(2026, 11, 1)
    for wrong in ("", "Latest", "2026-13-01", "20261101", "2026-W01-1", "tomorrow"):
        with pytest.raises(InputError, match="paper, latest, or a day"):
            parse_price_rule(wrong)
