"""What owning and renting cost, as rows of amounts."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from advisor.answers.prices.ownership import Ownership
from advisor.answers.prices.rented_alone import offer_cells
from advisor.costs.amounts import usd_and_cents, usd_as_quoted
from advisor.costs.rental import BreakEven, rented_usd, reserved_usd
from bench_runner.typed_numbers import percent


def cost_rows(owned: Ownership) -> list[dict[str, Any]]:
    """Every term over the life, a year and, where there is a time, a training run."""
    own, days = owned.own, owned.training_days
    years, busy = own.terms.lifetime_years, own.busy_days

    def row(term: str, life: Decimal | None, how: str) -> dict[str, Any]:
        each = None
        if life is not None and days is not None:
            each = life * Decimal(str(days)) / busy
        return {
            "term": term,
            "life_usd": _cents(life),
            "year_usd": _cents(None if life is None else life / years),
            "experiment_usd": _cents(each),
            "how": how,
        }

    terms = own.terms
    watts = owned.watts_words or "power not known"
    kwh = _kwh_words(terms.electricity_usd_per_kwh)
    use, resale, rate = (
        f"{share * 100:g} %"
        for share in map(float, (terms.utilisation, terms.resale_share, terms.financing_rate))
    )
    rows = [
        row("hardware", own.hardware_usd, f"over {years} years at {use} use"),
        row("resale", own.resale_usd, f"{resale} of the price comes back"),
        row("financing", own.financing_usd, f"{rate} a year, monthly parts"),
        row(
            "hosting",
            own.hosting_usd,
            f"{usd_as_quoted(terms.hosting_usd_per_u_month)} a rack unit and month",
        ),
        row("staff", own.staff_usd, f"{usd_as_quoted(terms.staff_usd_per_year)} a year"),
        row(
            "electricity",
            own.electricity_usd,
            f"{watts} × PUE {terms.pue} × {kwh} a kWh; {owned.power}",
        ),
        row("whole", own.life_usd, "everything above"),
    ]
    if days is not None:
        rows[-1]["experiment_usd"] = own.experiment_usd(days)
    return rows


def _cents(amount: Decimal | None) -> Decimal | None:
    return None if amount is None else amount.quantize(Decimal("0.01"))


def rent_row(
    owned: Ownership, even: BreakEven, days: float, number: Decimal | None
) -> dict[str, Any]:
    offer, years = even.offer, owned.own.terms.lifetime_years
    whole = offer.kind == "reserved"
    row = offer_cells(offer, owned.as_of) | {
        "experiment_usd": _cents(even.rent_per_experiment_usd),
        "break_even_experiments": None if even.experiments is None else round(even.experiments, 1),
        "break_even_utilisation": None
        if even.utilisation is None
        else f"{percent(even.utilisation)}",
        "whole_life_usd": _cents(
            reserved_usd(offer.price_per_hour_usd, years)
            if whole
            else rented_usd(offer.price_per_hour_usd, days, owned.own.experiments(days))
        ),
    }
    if number is not None:
        row[f"{number:f}_experiments_usd"] = (
            row["whole_life_usd"]
            if whole
            else _cents(rented_usd(offer.price_per_hour_usd, days, number))
        )
    return row


def _kwh_words(usd: Decimal) -> str:
    """``$0.30``, ``$0.125``: cents at least."""
    return usd_and_cents(usd) if usd == usd.quantize(Decimal("0.01")) else f"${usd.normalize():f}"
