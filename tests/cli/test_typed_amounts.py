"""Amounts, shares and durations as people type them: every flag and field reads them alike."""

from __future__ import annotations

from argparse import Namespace
from decimal import Decimal
from types import SimpleNamespace
from typing import Any, cast
from unittest import mock

import pytest

from advisor.cli.command_parser import build_parser
from advisor.cli.money import prices_reports
from advisor.costs.cost_terms import read_terms
from advisor.typed_input import InputError

COST = ["prices", "cost", "--model", "pythia-1b", "--gpu", "A6000"]
TERMS = {
    "lifetime_years": (
        "lifetime",
        {"5": "5", "5y": "5", "18 months": "1.5", "60mo": "5", "5 years": "5"},
        ["0", "5 tokens", "-1", "1e99", "nan", "", "½"],
    ),
    "electricity_usd_per_kwh": (
        "electricity",
        {"0.15": "0.15", "$0.15": "0.15", ".15": "0.15", "15e-2": "0.15"},
        ["15c", "1,5", "€0.15", "inf", "-0.1", "99"],
    ),
    "staff_usd_per_year": (
        "staff",
        {"2k": "2000", "$2,000": "2000", "2 000": "2000", "2_000": "2000", ".04M": "40000"},
        ["€2k", "2.000.000", "two", "0x10", "1e12"],
    ),
    "hosting_usd_per_u_month": ("hosting", {"30": "30", "$30": "30"}, ["30/U", "−3"]),
    "utilisation": ("utilisation", {"60%": "0.6", "60 %": "0.6"}, ["%", "120%", "0", "60%%"]),
    "resale_share": ("resale", {"20%": "0.2"}, ["101 %", "a fifth"]),
    "financing_rate": ("financing", {"5%": "0.05", "5.5 %": "0.055"}, ["200%"]),
    "pue": ("pue", {"1.4": "1.4"}, ["0.9", "1.4x"]),
}
"""Of each term: its field on screen, what is typed and means, and what is refused."""
FLAGS = {"lifetime": "lifetime-years", "utilisation": "use"}


def read_request(options: Namespace) -> Any:
    """What `advisor prices cost` asks for, by what was typed."""
    with mock.patch.object(prices_reports, "costs_asked") as asked:
        prices_reports._costs(options, cast(Any, None))
    return SimpleNamespace(**asked.call_args.kwargs)


def by_command(flag: str, text: str) -> Any:
    words = [*COST, "--count", "4", f"--{FLAGS.get(flag, flag)}={text}"]
    return read_request(build_parser(words).parse_args(words)).terms


@pytest.mark.parametrize("term", TERMS)
def test_a_term_means_the_same_on_the_command_line_and_on_screen(term: str) -> None:
    field, meant, refused = TERMS[term]
    for text, value in meant.items():
        terms, errors = read_terms({field: text}, in_form=True)
        assert errors == {}, text
        assert getattr(terms, term) == getattr(by_command(field, text), term) == Decimal(value)
    for text in refused:
        with pytest.raises(InputError) as caught:
            by_command(field, text)
        assert "\n" not in str(caught.value)
        if text:  # an empty field is one that was not filled in
            assert field in read_terms({field: text}, in_form=True)[1], text


def test_a_share_without_its_sign_is_never_misread() -> None:
    assert by_command("utilisation", "0.6").utilisation == Decimal("0.6")
    with pytest.raises(InputError, match="more than the whole"):
        by_command("utilisation", "60")
    assert read_terms({"utilisation": "60"}, in_form=True)[0].utilisation == Decimal("0.6")
    assert "60% or 0.6%" in read_terms({"utilisation": "0.6"}, in_form=True)[1]["utilisation"]


@pytest.mark.parametrize(
    ("flag", "texts", "attribute", "value"),
    [
        ("count", ["4", " 4 ", "4.0", "4e0"], "gpu_count", 4),
        ("power", ["310", "310 W", "310W", "0.31kW", "310 watts"], "power_w", 310.0),
        ("rack-units", ["4", "4U", "4 u"], "rack_units", Decimal(4)),
    ],
)
def test_counts_watts_and_rack_units(
    flag: str, texts: list[str], attribute: str, value: object
) -> None:
    for text in texts:
        words = [*COST, f"--{flag}={text}", *([] if flag == "count" else ["--count", "4"])]
        assert getattr(read_request(build_parser(words).parse_args(words)), attribute) == value
    for text in ("0x4", "four", "-1", "4 apples", "nan"):
        words = [*COST, "--count", "4", f"--{flag}={text}"]
        with pytest.raises(InputError):
            read_request(build_parser(words).parse_args(words))
