from __future__ import annotations

from pathlib import Path

import pytest

from price_catalog.load import load_catalog
from price_catalog.vendors import country_abroad, delivery, find_vendor, load_vendors


def test_where_sellers_deliver() -> None:
    assert delivery("tiny corp", "JP") == "delivers"
    assert delivery("Puget Systems", "CA") == "delivers"
    assert delivery("puget systems", "DE") == "does not deliver"
    assert delivery("Thomas-Krenn and shops", "AT") == "delivers"
    assert delivery("Thomas-Krenn", "US") == "does not deliver"
    assert delivery("Kiebel", "DE") == "delivers"
    assert delivery("LDLC.pro (FR)", "US") == delivery("BIZON", "DE") == "not stated"
    assert delivery("Kiebel", "NL") == "not known"  # no customs between them: ask
    assert delivery("a shop", "US") == "not known"


def test_where_a_seller_is_is_said_unless_the_buyer_is_there() -> None:
    assert country_abroad("Kiebel", None) == country_abroad("Kiebel", "US") == ", Germany"
    assert country_abroad("Kiebel", "DE") == country_abroad("a shop", None) == ""
    assert country_abroad("LDLC.pro (FR)", "US") == ""
    assert country_abroad("Exeton", None) == ""  # its country is not stated


def test_each_seller_of_the_table_has_a_price_and_a_page() -> None:
    vendors = {find_vendor(quote.vendor) for quote in load_catalog().quotes}
    assert set(load_vendors().values()) <= vendors
    assert all(vendor.source.startswith("http") for vendor in load_vendors().values())


def test_a_country_is_two_letters(tmp_path: Path) -> None:
    path = tmp_path / "vendors.csv"
    path.write_text("vendor,country,delivers_to,source\na,Germany,,https://a.de\n")
    with pytest.raises(ValueError, match="line 2, column 'country': 'Germany' is no country"):
        load_vendors(path)
