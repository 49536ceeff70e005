"""The terms of what owning a machine costs, as flags and fields: how each is called and read."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import NamedTuple

from advisor.costs.cost_of_owning import PAPER_TERMS, CostTerms
from advisor.typed_input import InputError, parse_decimal, parse_lifetime_years, parse_share, shown


class Term(NamedTuple):
    """One term."""

    name: str
    """Of its field, and of its flag unless `FLAGS` has another."""
    term: str
    """Of `CostTerms`."""
    label: str
    """Of its field."""
    hint: str
    """What counts unless it is filled in; such as an example."""
    metavar: str
    help: str
    most: int
    """Beyond, it was typed in another unit. Of a percentage it is per cent."""
    least: int = 0
    above: bool = False
    """Whether it must be more than the least."""
    percent: bool = False


TERMS = (
    Term(
        *("lifetime", "lifetime_years", "Life, years", "5", "Y"),
        "how long the machine serves: 4, 4y or 18 months (default: 5)",
        most=50,
        above=True,
    ),
    Term(
        *("utilisation", "utilisation", "Use of its life, %", "100; such as 60", "SHARE"),
        "share of that time in which it trains: 0.6 or 60%% (default: 1)",
        most=100,
        above=True,
        percent=True,
    ),
    Term(
        *("electricity", "electricity_usd_per_kwh", "Electricity, $ a kWh"),
        *("not counted; such as 0.15", "USD", "US dollars a kWh (default: 0, not counted)"),
        most=10,
    ),
    Term(
        *("pue", "pue", "PUE of the room", "1; such as 1.4", "X"),
        "what the room draws for each watt of the machine (default: 1)",
        most=5,
        least=1,
    ),
    Term(
        *("hosting", "hosting_usd_per_u_month", "Hosting, $ a rack unit and month"),
        *("not counted; such as 30", "USD", "US dollars a rack unit and month (default: 0)"),
        most=100_000,
    ),
    Term(
        *("staff", "staff_usd_per_year", "Staff, $ a year", "not counted; such as 2000", "USD"),
        "US dollars a year, such as 2000 or $40k (default: 0)",
        most=10_000_000,
    ),
    Term(
        *("resale", "resale_share", "Resale, % of its price", "0; such as 20", "SHARE"),
        "what it still brings at the end: 0.2 or 20%% of its price (default: 0)",
        most=100,
        percent=True,
    ),
    Term(
        *("financing", "financing_rate", "Loan, % a year", "no loan; such as 5", "RATE"),
        "yearly interest on a loan over that time: 0.05 or 5%% (default: none)",
        most=100,
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
            given[term.term] = _read(term, text, in_form=in_form)
        except InputError as error:
            errors[term.name] = str(error)
    return (CostTerms(**given) if given else PAPER_TERMS), errors


def _read(term: Term, text: str, *, in_form: bool) -> Decimal:
    what = term.label if in_form else f"--{FLAGS.get(term.name, term.name)}"
    if term.name == "lifetime":
        return Decimal(f"{parse_lifetime_years(text):.6g}")
    if term.percent and (not in_form or text.strip().endswith("%")):
        value = parse_share(text.strip(), what)
    else:
        of_what = "price in US dollars" if "$" in term.label else "number"
        value = parse_decimal(text, what, f"{of_what}, {term.hint.partition('; ')[2]}")
        if term.percent and 0 < value < 1:
            raise InputError(
                f"{shown(text.strip())} could mean {float(value) * 100:g}% or {float(value):g}%: "
                "write which"
            )
        value = value / 100 if term.percent else value
    in_unit = value * 100 if term.percent else value
    if not term.least <= in_unit <= term.most or (term.above and not value):
        least = f"more than {term.least}" if term.above else f"at least {term.least}"
        percent = " %" if term.percent else ""
        raise InputError(
            f"{what} {shown(text.strip())}: write {least} and at most {term.most:,}{percent}"
        )
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
