import math
import re
import time
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.benchmark.measurement_request import Request
from advisor.typed_input import (
    InputError,
    parse_budget,
    parse_count,
    parse_decimal,
    parse_lifetime_years,
    parse_max_days,
    parse_money,
    parse_positive,
    parse_price_rule,
    parse_whole,
)
from bench_runner.arguments import parser
from bench_runner.typed_numbers import count_words

WRITTEN = {
    "40000": [
        *("40000", "40k", "40K", "$40,000", " $ 40,000 ", "40 000", "40\u202f000", "40_000"),
        *("4e4", "4.0E4", "USD 40000", "US$40k", "40,000 dollars", "0.04M", ".04m", "40'000"),
        *("40 thousand",),
    ],
    "40000.50": ["$40,000.50", "40\u2019000.50$"],
    "1500000": ["1.5M"],
    "500": ["0.5k"],
    "12.25": ["12.25"],
    "400000": ["0.4 million"],
}


@pytest.mark.parametrize(("usd", "text"), [(usd, text) for usd in WRITTEN for text in WRITTEN[usd]])
def test_amounts_that_people_write_are_understood(usd: str, text: str) -> None:
    assert parse_budget(text) == Decimal(usd)


@pytest.mark.parametrize(
    "text",
    [
        *("", "   ", "0", "$0.00", "-5", "-$5", "−5", "NaN", "inf", "1e400", "40.000", "€40.000"),
        *("40,00", "4,0000", "1,5k", "40kk", "40,000 000", "40_000,000", "40 00", "40__000"),
        *("4e4k", "4e", "1e999", "4e-4", "4e4000", "USD", "$$40", "40 B", "0x40", "1_0", "４０"),
        *("forty", "0.001", "1.2345678k", "٤٠٠٠", "9" * 400, "40000 EUR", "40\n000"),
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


@pytest.mark.parametrize(
    "text",
    [
        *("", "0", "-1", "nan", "inf", "1e400", "1e999", "1e-999", "36501", "x", "٣", "30.000"),
        *("60D8", "8 weeks 2 days", "2 mon ths", "60k", "8ww", "101 years", "d", "1,000,00"),
    ],
)
def test_a_time_limit_is_a_positive_number_of_days(text: str) -> None:
    with pytest.raises(InputError, match="time limit"):
        parse_max_days(text)


def test_three_decimals_are_decimals_where_thousands_would_be_too_many() -> None:
    assert parse_positive("45.000", "time", "minutes", 43_200) == 45
    for text, said in (
        ("1.500", "could mean 1.5 or 1,500 minutes: write 1.5 or 1500"),
        ("1.125", "could mean 1.125 or 1,125 minutes: write 1.1250 or 1125"),
    ):
        with pytest.raises(InputError) as refused:
            parse_positive(text, "time", "minutes", 43_200)
        assert str(refused.value) == f"the time '{text}' {said}"
    assert parse_positive("1.1250", "time", "minutes", 43_200) == 1.125
    # No thousands are written so.
    assert parse_positive("1234.125", "time", "minutes", 9e9) == 1234.125
    assert parse_positive("1,234.125", "time", "minutes", 9e9) == 1234.125
    # What one program hands to another is never in thousands.
    here = Path("here")
    asked = Request(
        recipe="r",
        gpu_count=1,
        records_file=here,
        work_directory=here,
        minutes=45.125,
    )
    words = asked.words()
    read = parser().parse_args(words)
    assert read.minutes == 45.125


def test_days_and_years_are_read() -> None:
    assert parse_max_days("30.5") == 30.5
    assert parse_lifetime_years(" 5 ") == 5.0
    with pytest.raises(InputError, match="lifetime"):
        parse_lifetime_years("51")


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("60d", 60),
        ("60 days", 60),
        ("8w", 56),
        ("1 week", 7),
        ("2 months", 365 / 6),
        ("1y", 365),
        ("36h", 1.5),
        ("6e1", 60),
        ("1,000", 1000),
    ],
)
def test_a_duration_may_have_any_unit(text: str, days: float) -> None:
    assert parse_max_days(text) == pytest.approx(days, rel=1e-12)
    assert parse_max_days(text.upper()) == parse_max_days(text)


def test_a_duration_is_read_in_its_own_unit() -> None:
    assert parse_lifetime_years("18 months") == 1.5
    assert parse_lifetime_years("5y") == 5
    assert parse_positive("2h", "time", "minutes", 1000) == 120
    assert parse_positive("128GiB", "host memory", "GiB", 1e6) == 128
    assert parse_positive("2 TB", "host memory", "GiB", 1e6) == 2048
    with pytest.raises(InputError, match="not a number of GiB"):
        parse_positive("128 days", "host memory", "GiB", 1e6)


SAME = ["300B", "300e9", "3e11", "0.3T", ".3T", "300_000_000_000", "300,000,000,000", "300 b"]


@pytest.mark.parametrize("text", [*SAME, "300 000 000 000", "300 billion", "300B tokens"])
def test_amounts_of_tokens(text: str) -> None:
    assert parse_count(text, "--tokens", "300B", ("tokens",)) == 3e11


@pytest.mark.parametrize(
    "text",
    [
        *("", "B", "-1", "NaN", "nan", "inf", "Infinity", "1e999", "0", "1e-999", "3,0B"),
        *("300.000",),
        *("300,000_000", "٣", "300BB", "300 B B", "1" * 61, "3e11B1", "\n", "300\x00", "1e+", "²"),
    ],
)
def test_what_is_no_amount_is_one_line(text: str) -> None:
    for parse in (
        lambda: parse_count(text, "--tokens", "300B", ("tokens",)),
        lambda: parse_whole(text, "--count"),
    ):
        with pytest.raises(InputError) as caught:
            parse()
        assert str(caught.value).isprintable()
        assert len(str(caught.value)) < 200


@given(
    st.text(st.sampled_from("0123456789.,'_ eEkmbtTB$-+dwyu"), max_size=14) | st.text(max_size=30)
)
def test_any_typed_text_is_a_number_or_one_line(text: str) -> None:
    for parse in (
        lambda: parse_count(text, "--tokens", "300B"),
        lambda: parse_max_days(text),
        lambda: parse_decimal(text, "power", "number"),
        lambda: parse_positive(text, "memory", "GiB", 1e6),
        lambda: parse_budget(text),
    ):
        try:
            value = float(parse())
        except InputError as error:
            assert str(error).isprintable()
        else:
            assert 0 <= value < math.inf


@pytest.mark.parametrize(
    ("amount", "words"),
    [
        (4e11, "400B"),
        (1.28e9, "1.28B"),
        (70_426_624, "70.4M"),
        (999_999, "1M"),
        (14e6, "14M"),
        (3e11, "300B"),
        (1.5e12, "1.5T"),
        (5e15, "5,000T"),
        (12, "12"),
    ],
)
def test_amounts_are_written_as_people_write_them(amount: float, words: str) -> None:
    assert count_words(amount) == words


@given(st.floats(1e3, 1e15))
def test_a_written_amount_reads_back_to_three_digits(amount: float) -> None:
    assert parse_count(count_words(amount), "--tokens", "300B") == pytest.approx(amount, rel=6e-3)


def test_price_rules() -> None:
    assert parse_price_rule("paper") == "paper"
    assert parse_price_rule("latest") == parse_price_rule(" Latest") == "latest"
    assert parse_price_rule("2026-11-01") == date(2026, 11, 1)
    for wrong in ("", "Lately", "2026-13-01", "20261101", "2026-W01-1", "tomorrow"):
        with pytest.raises(InputError, match="paper, latest, or a day"):
            parse_price_rule(wrong)


MONEY = {
    ("100000", "EUR"): ["100kEUR", "€100k", "100 000 €", "eur 100,000", "100k euros"],
    ("80000", "GBP"): ["£80k"],
    ("90000", "CHF"): ["90kCHF", "CHF 90'000", "Fr. 90\u2019000.-", "SFr. 90'000.\u2013"],
    ("50000", "CAD"): ["CAD 50_000"],
    ("1000000", "EUR"): ["1MEUR"],
    ("90000.00", "EUR"): ["€90.000,00", "90 000,00 €", "90.000,- €"],
    ("90000.50", "EUR"): ["90.000,50 €", "90000,50 EUR"],
    ("1234567", "EUR"): ["EUR 1.234.567"],
    ("150000", "CAD"): [
        *("C$150,000", "CA$150k", "CAD$ 150,000", "$150,000 CAD", "150 000 $ CA"),
    ],
    ("5", "GBP"): ["£5 GBP"],
    ("8977.58", "EUR"): [
        *("8 977,58 €", "8\u00a0977,58\u00a0€", "8\u202f977,58 €", "€8.977,58"),
    ],
    ("1200", "CHF"): ["CHF 1'200"],
    ("8000", "EUR"): [
        *("EUR 8,000 ex VAT", "8000 € zzgl. MwSt.", "8000 EUR + VAT", "8000 € HT"),
    ],
    ("8000", "GBP"): ["£8k (excl. VAT)"],
}


@pytest.mark.parametrize(
    ("amount", "code", "text"), [(*meant, text) for meant in MONEY for text in MONEY[meant]]
)
def test_money_in_a_currency_whose_rate_ships(amount: str, code: str, text: str) -> None:
    usd, money = parse_money(text)
    assert money is not None
    assert (money.amount, money.rate.code) == (Decimal(amount), code)
    assert abs(usd - money.amount * money.rate.usd_per_unit) <= Decimal("0.005")
    assert usd == round(usd, 2)


@pytest.mark.parametrize(
    "text",
    [
        *("40000", "40k", "$40,000", "USD 40000", "4e4", "0.04M", "US$40,000", "USD$ 40k"),
        *("40k ex VAT", "$40,000 excl. tax", "40\u202f000 USD", "40k net"),
        *("$40,000 USD", "40.000,00", "$ 40.000,00", "40'000.-", "40000,00", "40 000,00 dollars"),
    ],
)
def test_money_in_us_dollars_is_not_converted(text: str) -> None:
    assert parse_money(text) == (Decimal(40_000), None)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("SEK 100k", "does not ship: write it in USD, CAD, CHF, EUR or GBP, like 40k USD"),
        ("100k SEK", "is in SEK, whose rate does not ship"),
        ("100.000 €", "could mean 100 or 100,000"),
        ("€100k USD", "has two currencies: write it like 40k EUR or 40k USD"),
        ("$5 EUR", "has two currencies"),
        ("€€5", "has its currency twice: write it like 40k EUR"),
        ("EUR €5", "has its currency twice: write it like 40k EUR"),
        ("kEUR 40", "is not an amount: write a plain amount"),
        ("40 TEUR", "is not an amount: write a plain amount"),
        ("90.000 €", "could mean 90 or 90,000"),
        ("90.000.- CHF", "could mean 90 or 90,000"),
        ("€40,5", "has a comma for the decimal point: write 40.5"),
        ("€40,00", "has a comma for the decimal point: write 40.00"),
        ("€1.23.456", "is not an amount"),
        ("€90,000,00", "is not an amount"),
        ("C$", "has no amount: write it like 40k CAD"),
        ("A$50k", "is in AUD, whose rate does not ship"),
        ("kr 50k", "is in SEK or NOK or DKK, whose rate does not ship"),
        ("€-5", "is negative"),
        ("€", "has no amount: write it like 40k EUR"),
        ("₹", "is in INR, whose rate does not ship"),
        ("0 EUR", "is zero"),
        ("NaN EUR", "is not an amount"),
        ("40k€50k", "is not an amount: write a plain amount"),
        ("TBD", "is no price yet: ask for it"),
        ("n/a", "is no price yet"),
        ("on request", "is no price yet"),
        ("8000 EUR incl. VAT", "is with tax: write the amount without it"),
        ("8000 € TTC", "is with tax"),
        ("₹1,20,000", "is in INR, whose rate does not ship"),
        ("1,20,000", "is counted as in India: write 120000, or of rupees"),
        ("€1,20,000", "is counted as in India"),
        ("5 crore", "is counted as in India: write 50000000, or of rupees"),
        ("₹35 lakh", "is in INR, whose rate does not ship"),
        ("4e3 crore INR", "is not an amount"),
        ("¥4000000", "is in JPY or CNY, whose rate does not ship"),
    ],
)
def test_money_that_is_not_understood_is_refused(text: str, why: str) -> None:
    with pytest.raises(InputError, match=re.escape(why)) as caught:
        parse_money(text)
    assert "\n" not in str(caught.value)


def test_an_endless_amount_is_refused_at_once() -> None:
    typed = "4" + " " * 50_000 + "x"
    started = time.process_time()
    for read in (
        parse_budget,
        parse_money,
        lambda text: parse_decimal(text, "price", "price, such as 0.15"),
    ):
        with pytest.raises(InputError) as caught:
            read(typed)
        assert len(str(caught.value)) < 300
    assert time.process_time() - started < 1
