"""What the person says of running costs, as typed, and what that means (pure)."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from advisor.costs.tco import ABOVE_ZERO, PAPER_TERMS, TERM_BOUNDS, CostTerms
from advisor.parse import InputError, parse_decimal, parse_lifetime_years, parse_share, shown

if TYPE_CHECKING:
    from advisor.tui.program.saved_state import State


class TermField(NamedTuple):
    """One figure of running a machine."""

    name: str
    """Of the state's field."""
    label: str
    hint: str
    unit: str
    """For the message where it is not a number."""
    term: str
    """Of `CostTerms`."""
    percent: bool = False


TERM_FIELDS = (
    TermField(
        "electricity",
        "Electricity, $ a kWh",
        "not counted; such as 0.15",
        "price of a kWh, such as 0.15",
        "electricity_usd_per_kwh",
    ),
    TermField("pue", "PUE of the room", "1; such as 1.4", "ratio, such as 1.4", "pue"),
    TermField(
        "hosting",
        "Hosting, $ a rack unit and month",
        "not counted; such as 30",
        "price of a rack unit a month, such as 30",
        "hosting_usd_per_u_month",
    ),
    TermField(
        "staff",
        "Staff, $ a year",
        "not counted; such as 2000",
        "cost a year, such as 2000",
        "staff_usd_per_year",
    ),
    TermField(
        "utilisation",
        "Use of its life, %",
        "100; such as 60",
        "percentage, such as 60",
        "utilisation",
        percent=True,
    ),
    TermField(
        "resale",
        "Resale, % of its price",
        "0; such as 20",
        "percentage, such as 20",
        "resale_share",
        percent=True,
    ),
    TermField(
        "financing",
        "Loan, % a year",
        "no loan; such as 5",
        "percentage, such as 5",
        "financing_rate",
        percent=True,
    ),
)


def read_terms(state: State) -> tuple[CostTerms, dict[str, str]]:
    """The terms as typed, and for each broken field one line; what is broken is not counted."""
    errors: dict[str, str] = {}
    given: dict[str, Decimal] = {}

    def take(field: str, term: str, value: Callable[[], Decimal]) -> None:
        try:
            given[term] = value()
            CostTerms(**{term: given[term]})
        except InputError as error:
            errors[field] = str(error)
        except ValueError as error:
            del given[term]
            errors[field] = str(error)

    for field in TERM_FIELDS:
        text = getattr(state, field.name).strip()
        if text:
            take(field.name, field.term, partial(_inside, field, text))
    take("lifetime", "lifetime_years", partial(_years, state.lifetime))
    return (CostTerms(**given) if given else PAPER_TERMS), errors


def _years(text: str) -> Decimal:
    return Decimal(f"{parse_lifetime_years(text):.6g}")


def _inside(field: TermField, text: str) -> Decimal:
    """The figure, refused in the field's own words and unit where it cannot be."""
    value = _amount(field, text)
    low, high = TERM_BOUNDS[field.term]
    if low <= value <= high and (value or field.term not in ABOVE_ZERO):
        return value
    times = 100 if field.percent else 1
    least = "more than 0" if field.term in ABOVE_ZERO else f"at least {low * times}"
    raise InputError(f"{field.label}: write {least} and at most {high * times:,}")


def _amount(field: TermField, text: str) -> Decimal:
    if not field.percent:
        return parse_decimal(text, field.label, field.unit)
    if text.endswith("%"):
        return parse_share(text, field.label)
    value = parse_decimal(text, field.label, field.unit)
    if 0 < value < 1:
        raise InputError(
            f"{shown(text)} could mean {float(value) * 100:g}% or {float(value):g}%: write which"
        )
    return value / 100
