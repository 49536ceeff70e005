"""Where sellers are and to which countries they deliver, as they state it (vendors.csv), and the
countries with their VAT (countries.csv)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

from price_catalog.csv_table import Reader, Row, read_records, read_rows
from price_catalog.model import TAKEN_OUT, Quote

PATH = Path(__file__).with_name("vendors.csv")
EU = frozenset(
    {
        *("AT", "BE", "BG", "CY", "CZ", "DE", "DK", "EE", "ES", "FI", "FR", "GR", "HR", "HU"),
        *("IE", "IT", "LT", "LU", "LV", "MT", "NL", "PL", "PT", "RO", "SE", "SI", "SK"),
    }
)
Delivery = Literal["delivers", "does not deliver", "not stated", "not known"]
"""``not stated``: a seller abroad who does not say; ``not known``: ask, since it is in no
table, or in the same customs union and does not say."""
COUNTRIES = Path(__file__).with_name("countries.csv")


class Country(NamedTuple):
    name: str
    vat: Decimal | None
    """Its standard rate; None where no source here has it, and where there is none."""


@cache
def load_countries() -> Mapping[str, Country]:
    """The countries of ISO 3166-1. Raises ValueError for a broken row."""
    found: dict[str, Country] = {}
    for row in read_rows(COUNTRIES, ("country", "name", "vat", "source")):
        rate = row.optional("vat")
        vat = None if rate is None else Decimal(rate)
        found[row.text("country")] = Country(row.text("name"), vat)
    return found


def find_country(text: str) -> str:
    """A country by its two letters. Raises ValueError, whose words go behind ``the country``."""
    code = text.strip().upper()
    if code == "UK":
        raise ValueError("'UK' is GB in ISO 3166: write GB")
    if code not in load_countries():
        words = f"{text.strip()!r}"[:40]
        raise ValueError(f"{words} is none of ISO 3166: write its two letters, like US, DE or GB")
    return code


class Vendor(NamedTuple):
    vendor: str
    country: str | None
    """As ISO 3166-1 has it, two letters."""
    delivers_to: frozenset[str]
    """Countries; ``worldwide`` alone for all; empty where the seller does not say."""
    source: str


def _countries(row: Row, column: str) -> frozenset[str]:
    words = frozenset(row.words(column))
    for code in words - {"worldwide", "EU"}:
        if not re.fullmatch("[A-Z]{2}", code):
            raise row.error(column, f"'{code}' is no country: write two letters, like US")
    return words - {"EU"} | (EU if "EU" in words else frozenset())


@cache
def load_vendors(path: Path = PATH) -> dict[str, Vendor]:
    """The sellers by folded name. Raises ValueError for a broken row."""
    readers: dict[str, Reader] = {
        "country": lambda row, column: next(iter(_countries(row, column)), None),
        "delivers_to": _countries,
    }
    vendors = read_records(path, Vendor, readers)
    return {_folded(vendor.vendor): vendor for vendor in vendors}


def _folded(name: str) -> str:
    """Without case, and without what stands behind the name in brackets or after ``and``."""
    return re.sub(r"\s*(\(.*\)|and .*)$", "", name.strip()).casefold()


def find_vendor(name: str) -> Vendor | None:
    return load_vendors().get(_folded(name))


def country_abroad(seller: str, buy_in: str | None) -> str:
    """``, Germany``: the country of a seller, where that is not known to be the buyer's; empty
    where it is, where the seller's name has it, and where the seller is in no table."""
    vendor = find_vendor(seller)
    at = None if vendor is None else vendor.country
    if at is None or at == buy_in or f"({at})" in seller:
        return ""
    return f", {load_countries()[at].name}"


def delivery(name: str, country: str) -> Delivery:
    """Whether a seller delivers to a country (two letters)."""
    vendor = find_vendor(name)
    if vendor is None:
        return "not known"
    if country == vendor.country or vendor.delivers_to & {country, "worldwide"}:
        return "delivers"
    if vendor.delivers_to:
        return "does not deliver"
    return "not known" if {country, vendor.country} <= EU else "not stated"


def before_tax(quote: Quote, vat: Decimal) -> Quote:
    """A quote without the tax that other prices leave out: ``vat`` is what its buyer pays, as a
    share; where that is 0 the tax is of its seller's country. Itself where no rate is known."""
    if not quote.has_tax or TAKEN_OUT in (quote.includes or ""):
        return quote
    vendor = find_vendor(quote.vendor)
    at = None if vendor is None or vendor.country is None else load_countries()[vendor.country]
    rate = vat or (at and at.vat)
    if not rate:
        return quote
    return quote._replace(
        price_usd=round(quote.price_usd / (1 + rate), 2),
        includes=f"{quote.includes} ({float(rate) * 100:g} % {TAKEN_OUT})",
    )
