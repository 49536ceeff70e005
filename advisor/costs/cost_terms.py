"""The terms of what owning a machine costs, as flags and fields: how each is called and read."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import NamedTuple

from advisor.costs.cost_of_owning import ABOVE_ZERO, PAPER_TERMS, TERM_BOUNDS, CostTerms
from advisor.typed_input import InputError, parse_decimal, parse_lifetime_years, parse_share, shown


class Term(NamedTuple):
    """One term."""

    name: str
    """Of its flag and of its field."""
    term: str
    """Of `CostTerms`."""
    label: str
    """Of its field."""
    hint: str
    unit: str
    """For the message where it is not a number."""
    metavar: str
    help: str
    percent: bool = False


TERMS = (
    Term(
        "lifetime",
        "lifetime_years",
        "Life, years",
        "5",
        "years",
        "Y",
        "how long the machine serves: 4, 4y or 18 months (default: 5)",
    ),
    Term(
        "utilisation",
        "utilisation",
        "Use of its life, %",
        "100; such as 60",
        "percentage, such as 60",
        "SHARE",
        "share of that time in which it trains: 0.6 or 60%% (default: 1)",
        percent=True,
    ),
    Term(
        "electricity",
        "electricity_usd_per_kwh",
        "Electricity, $ a kWh",
        "not counted; such as 0.15",
        "price of a kWh, such as 0.15",
        "USD",
        "US dollars a kWh (default: 0, not counted)",
    ),
    Term(
        "pue",
        "pue",
        "PUE of the room",
        "1; such as 1.4",
        "ratio, such as 1.4",
        "X",
        "what the room draws for each watt of the machine (default: 1)",
    ),
    Term(
        "hosting",
        "hosting_usd_per_u_month",
        "Hosting, $ a rack unit and month",
        "not counted; such as 30",
        "price of a rack unit a month, such as 30",
        "USD",
        "US dollars a rack unit and month (default: 0)",
    ),
    Term(
        "staff",
        "staff_usd_per_year",
        "Staff, $ a year",
        "not counted; such as 2000",
        "cost a year, such as 2000",
        "USD",
        "US dollars a year, such as 2000 or $40k (default: 0)",
    ),
    Term(
        "resale",
        "resale_share",
        "Resale, % of its price",
        "0; such as 20",
        "percentage, such as 20",
        "SHARE",
        "what it still brings at the end: 0.2 or 20%% of its price (default: 0)",
        percent=True,
    ),
    Term(
        "financing",
        "financing_rate",
        "Loan, % a year",
        "no loan; such as 5",
        "percentage, such as 5",
        "RATE",
        "yearly interest on a loan over that time: 0.05 or 5%% (default: none)",
        percent=True,
    ),
)
FLAGS = {"lifetime": "lifetime-years", "utilisation": "use"}
"""Where a flag has another name than the field."""


def read_terms(
    typed: Mapping[str, str | None], *, in_form: bool = False
) -> tuple[CostTerms, dict[str, str]]:
    """The terms as typed, by name, and for each broken one a line; what is broken is not counted.

    In a form an empty field is not filled in, and a share is in per cent, as its label says.
    """
    errors: dict[str, str] = {}
    given: dict[str, Decimal] = {}
    for term in TERMS:
        text = typed.get(term.name)
        if text is None or (in_form and not text.strip() and term.name != "lifetime"):
            continue
        try:
            value = _read(term, text, in_form=in_form)
            CostTerms(**{term.term: value})
            given[term.term] = value
        except ValueError as error:  # an InputError is one
            errors[term.name] = str(error)
    return (CostTerms(**given) if given else PAPER_TERMS), errors


def _read(term: Term, text: str, *, in_form: bool) -> Decimal:
    what = term.label if in_form else f"--{FLAGS.get(term.name, term.name)}"
    if term.name == "lifetime":
        return Decimal(f"{parse_lifetime_years(text):.6g}")
    if term.percent and (not in_form or text.strip().endswith("%")):
        value = parse_share(text.strip(), what)
    else:
        value = parse_decimal(text, what, term.unit)
        if term.percent and 0 < value < 1:
            raise InputError(
                f"{shown(text.strip())} could mean {float(value) * 100:g}% or {float(value):g}%: "
                "write which"
            )
        value = value / 100 if term.percent else value
    low, high = TERM_BOUNDS[term.term]
    if in_form and not (low <= value <= high and (value or term.term not in ABOVE_ZERO)):
        times = 100 if term.percent else 1
        least = "more than 0" if term.term in ABOVE_ZERO else f"at least {low * times}"
        raise InputError(f"{what}: write {least} and at most {high * times:,}")
    return value


def stated_terms(terms: CostTerms) -> str:
    """The flags that say again what was said of the terms: `` --electricity 0.15``."""
    words = ""
    for term in TERMS:
        value = getattr(terms, term.term)
        if value != getattr(PAPER_TERMS, term.term):
            number = f"{(value * 100 if term.percent else value).normalize():f}"
            flag = FLAGS.get(term.name, term.name)
            words += f" --{flag} {number}{'%' if term.percent else ''}"
    return words
