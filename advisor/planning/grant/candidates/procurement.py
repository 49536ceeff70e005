"""What an institution's procurement lets through: sellers, countries, whole machines, quotes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import date

from advisor.costs.amount_words import day_words
from advisor.planning.grant.candidates.prices_from_parts import is_summed
from advisor.planning.grant.grant_keys import Procurement
from advisor.planning.grant.grant_record import months_later
from advisor.planning.solver.problem import Machine
from price_catalog.model import OWN_QUOTE, Quote
from price_catalog.vendors import delivery, find_vendor

_YEARS = re.compile(r"(\d+(?:\.\d+)?)[ -]?years?")


def warranty_years(words: str | None) -> list[float]:
    """The years that a warranty names, the shortest first: of labour and of parts."""
    return sorted(float(years) for years in _YEARS.findall(words or ""))


def seller_of(vendor: str) -> str:
    """A vendor without the mark of a quote of one's own."""
    return vendor.removesuffix(f" ({OWN_QUOTE})")


def refused(
    rules: Procurement, machine: Machine, quotes: Mapping[str, Quote], today: date
) -> str | None:
    """Why a machine may not be bought; None where it may."""
    if machine.share_of is not None:
        return None
    if rules.whole_machines and machine.upgrade_of is None and is_summed(machine):
        return "no seller quotes it as a whole, and procurement wants whole machines"
    for line in machine.lines:
        seller = seller_of(line.vendor)
        why = _seller(rules, seller)
        if why is not None:
            return why
        quote = quotes.get(line.quote_id)
        until = rules.quote_months and months_later(line.quoted_on, int(rules.quote_months))
        if until and until < today:
            return f"{seller}'s quote is of {day_words(line.quoted_on)}, which is too old"
        years = warranty_years(None if quote is None else quote.warranty)
        if rules.warranty_years and years and years[-1] < rules.warranty_years:
            return f"{seller} gives a warranty of {years[-1]:g} year{'s' * (years[-1] != 1)}"
    return None


def _seller(rules: Procurement, seller: str) -> str | None:
    if rules.vendors is not None and not is_among(seller, rules.vendors):
        return f"{seller} is not one of the accepted sellers"
    if is_among(seller, rules.vendors_refused or ()):
        return f"{seller} is refused"
    if rules.country is None:
        return None
    to = delivery(seller, rules.country)
    vendor = find_vendor(seller)
    if to == "does not deliver":
        return f"{seller} does not deliver to {rules.country}"
    if to == "not stated" and vendor is not None:
        where = f" ({vendor.country})" if vendor.country else ""
        return f"{seller}{where} does not say that it delivers to {rules.country}"
    return None


def is_among(seller: str, names: Iterable[str]) -> bool:
    """Whether a seller's name has one of these in it."""
    return any(name.casefold() in seller.casefold() for name in names)


def to_ask(
    rules: Procurement, machines: Iterable[Machine], quotes: Mapping[str, Quote]
) -> list[str]:
    """What no quote says and procurement wants to know, in sentences. Whom you have a quote of
    delivers to you."""
    found: dict[str, None] = {}
    for machine in machines:
        for line in machine.lines if machine.share_of is None else ():
            seller, quote = seller_of(line.vendor), quotes.get(line.quote_id)
            mine = quote is not None and quote.origin == "local"
            if rules.country and not mine and delivery(seller, rules.country) == "not known":
                found[f"Ask {seller} whether it delivers to {rules.country}."] = None
            stated = None if quote is None else quote.warranty
            years = warranty_years(stated)
            if rules.warranty_years and (not years or years[0] < rules.warranty_years):
                words = f"Ask {seller} for a warranty of {rules.warranty_years:f} years: its quote"
                found[f"{words} states {stated if years else 'none'}."] = None
    return list(found)
