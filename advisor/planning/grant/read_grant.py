"""Reads grant.toml: what is wanted, by when, with which money and under which rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

from msgspec import structs

from advisor.planning.currency import DOLLARS, Currency
from advisor.planning.grant.allocation_programmes import values_of
from advisor.planning.grant.cross_field_checks import check, check_days, check_tables
from advisor.planning.grant.funder import funder_form
from advisor.planning.grant.grant_keys import (
    BudgetTable,
    ElectricityTable,
    General,
    GrantFile,
    OwnRules,
    Procurement,
)
from advisor.planning.grant.grant_record import Grant
from advisor.planning.grant.institution import (
    Institution,
    find_institution,
    read_currency,
    without_rules,
)
from advisor.planning.grant.toml_reader import (
    MAX_BYTES,
    Amount,
    parse_toml,
    read_table,
    read_toml,
    toml_problem,
    wrong,
)
from advisor.ranking.snapshot import Snapshot
from advisor.typed_input import MAX_BUDGET_USD, InputError, parse_price_rule
from bench_runner.untrusted_text import OutsideError
from price_catalog.currencies import DOLLARS as DOLLAR_CODES

_EACH_HOUSE = {"life_months", "use_share", "fiscal_year_start"}
"""What a funder's rules leave to each house: with these the rules are still the funder's."""
_OF_THE_GRANT = {"rules", "name", "source"}
"""What says where rules are from, and is none."""


def with_own_rules(file: str, house: Institution, own: OwnRules, currency: Currency) -> Institution:
    """An institution with what the grant itself says of it. Raises InputError."""
    changes = {key: value for key, value in _said(own).items() if key not in _OF_THE_GRANT}
    if own.overhead_rate_by_year is not None and house.equipment_as == "depreciated":
        problem = "a machine that is written off over years has one rate: write overhead_rate"
        raise wrong(file, "institution.overhead_rate_by_year", problem)
    if own.equipment_threshold is not None:
        changes |= {"threshold_in": currency.code, "threshold_valid_from": None}
    if not changes and own.name is None:
        return house
    charged = {"overhead_rate", "overhead_rate_by_year"} & changes.keys()
    if not house.file and charged and own.equipment_threshold is None:
        problem = (
            "overhead needs it, or rules: write from which price a machine is equipment, in "
            f"{currency.code}"
        )
        raise wrong(file, "institution.equipment_threshold", problem)
    if own.life_months is not None and house.equipment_as != "depreciated":
        problem = 'is for equipment that is written off: write rules = "horizon-europe" as well'
        raise wrong(file, "institution.life_months", problem)
    source = own.source or "the grant's own word"
    theirs = house.name if changes.keys() <= _EACH_HOUSE else "our institution"
    sources = {**house.sources, **dict.fromkeys(changes, source)}
    return structs.replace(house, **changes, name=own.name or theirs, note=None, sources=sources)


def _threshold_in(currency: Currency, house: Institution) -> Institution:
    """With its threshold in the grant's currency."""
    if house.threshold_in == currency.code:
        return house
    usd = house.equipment_threshold
    if house.threshold_in != "USD":
        usd *= house.usd_per_unit
    amount, code = currency.of_usd(usd), house.threshold_in
    source = f"{code} {house.equipment_threshold:,} at this grant's rate"
    told = house.sources.get("equipment_threshold")
    sources = house.sources | {"equipment_threshold": f"{source}: {told}" if told else source}
    return structs.replace(
        house, equipment_threshold=amount, threshold_in=currency.code, sources=sources
    )


def _with_mean_rate(grant: Grant) -> Grant:
    """Rates of award years are counted by their mean for what has no year."""
    house = grant.institution
    if house.overhead_rate_by_year is None:
        return grant
    rate = grant.mean_of_years(house.overhead_rate_by_year)
    said = "the mean of overhead_rate_by_year, for what has no year of its own: electricity"
    sources = {**house.sources, "overhead_rate": said}
    return replace(grant, institution=structs.replace(house, overhead_rate=rate, sources=sources))


def read_grant(path: Path, today: date | None = None) -> Grant:
    """A grant from its file; with ``today``, none whose prices or rates are of a day to come.
    Raises InputError, in one line with file and key."""
    instead = "give the path of a grant file, or write one: advisor plan --example > grant.toml"
    return _of_today(grant_of(read_toml(path, GrantFile, instead), path), today)


def _of_today(grant: Grant, today: date | None) -> Grant:
    if today is not None:
        check_days(grant, today)
    return grant


def grant_of(file: GrantFile, path: Path) -> Grant:
    """A grant from the tables of its file. Raises InputError."""
    check_tables(path.name, file)
    general, power = file.grant, file.electricity
    # The flat rate of a funder counts where the grant names no other rules.
    form = funder_form(general.funder)
    rules = file.institution.rules or form.rules
    institution = without_rules(form) if rules is None else find_institution(rules, path)
    currency = _currency(path.name, file.budget, institution)
    asked = file.budget.currency is not None or file.institution.rules is not None
    foreign = institution.currency not in DOLLAR_CODES
    if not asked and foreign and any(amount.in_dollars for _, amount in _amounts(file)):
        currency = DOLLARS  # whatever the funder's own rules are in
    institution = with_own_rules(path.name, institution, file.institution, currency)
    institution = _threshold_in(currency, institution)
    budget = file.budget.total

    def each_year(amounts: Sequence[Decimal] | None) -> tuple[Decimal, ...] | None:
        return None if amounts is None else tuple(map(currency.rounded, amounts))

    theirs = file.budget.shared_per_year or (file.budget.shared or Decimal(0),)
    _check_amounts(path.name, file, currency)
    found = Grant(
        file=path.name,
        **_of_general(path, general),
        purchases=file.purchases,
        rentals=file.rentals,
        running=file.running,
        electricity=power,
        budget=None if budget is None else currency.rounded(budget),
        year_budget=each_year(file.budget.per_year),
        carry_over=file.budget.carry_over,
        evidence=file.evidence.times,
        predictions=file.evidence.predictions,
        prices=parse_price_rule(file.evidence.prices),
        experiments=file.experiments,
        owned=file.owned,
        # What the grant says, and of the rest what its institution does.
        procurement=structs.replace(institution.procurement, **_said(file.procurement)),
        price_per_kwh=_electricity(path.name, power, currency),
        institution=institution,
        currency=currency,
        vat=file.budget.vat,
        costs=file.costs,
        pays_electricity=power.paid_by != "institution" and power != ElectricityTable(),
        shared=sum(map(currency.rounded, theirs), Decimal(0)),
        shared_by_year=each_year(file.budget.shared_per_year),
        shared_by=file.budget.shared_by,
    )
    allocations, values = values_of(path.name, file.allocations, found.year_dates)
    found = replace(found, allocations=allocations, allocation_values=values)
    check(found)
    return _with_mean_rate(found)


def _said(table: Procurement | OwnRules) -> dict[str, Any]:
    return {key: value for key, value in structs.asdict(table).items() if value is not None}


def _of_general(path: Path, general: General) -> dict[str, Any]:
    """Title, dates and form."""
    found = structs.asdict(general) | {"title": general.title or path.stem}
    years = found.pop("years")
    return found | {"months": general.months or 12 * years}


def _currency(file: str, budget: BudgetTable, house: Institution) -> Currency:
    """The grant's own with its rate or a shipped one, or its institution's. Raises InputError."""
    rate, on = budget.usd_per_unit, budget.usd_per_unit_on
    if budget.currency is not None:
        return read_currency(file, "budget.", budget.currency, rate, on, budget.rate_source)
    if rate is not None:
        raise wrong(file, "budget.usd_per_unit", 'needs a currency: write currency = "EUR"')
    if house.currency == "USD":
        return DOLLARS
    source, on = house.sources.get("usd_per_unit", house.file), house.usd_per_unit_on
    return Currency(code=house.currency, usd_per_unit=house.usd_per_unit, on=on, source=source)


def _check_amounts(name: str, file: GrantFile, currency: Currency) -> None:
    """A dollar sign in a grant in euros is a mistake. Raises InputError."""
    for place, amount in _amounts(file):
        if currency.code not in (amount.codes or {currency.code}):
            bare = amount.codes == DOLLAR_CODES
            said = "dollars" if bare else " or ".join(amount.codes)
            problem = f"is in {said}, and the grant is in {currency.code}: write it in "
            problem += currency.code
            if not bare:
                problem += f', or currency = "{amount.codes[0]}" under [budget]'
            raise wrong(name, place, problem)
        if currency.in_usd(amount) > MAX_BUDGET_USD:
            problem = f"is over ${MAX_BUDGET_USD:,}: write one such as 40000, 40k or 40,000"
            raise wrong(name, place, problem)
    rates = [("electricity.price_per_kwh", file.electricity.price_per_kwh, 10)]
    for n, each in enumerate(file.allocations, start=1):
        rates.append((f"allocations[{n}].price_per_gpu_hour", each.price_per_gpu_hour, 1000))
        code = "USD" if each.price_per_gpu_hour is None else currency.code
        if each.credit is not None and code not in (each.credit.codes or (code,)):
            problem = f"is in {' or '.join(each.credit.codes)}, and the price of an hour in {code}"
            raise wrong(name, f"allocations[{n}].credit", f"{problem}: write both in one")
    for place, price, most in rates:
        if price is not None and currency.in_usd(price) > most:
            problem = f"is over ${most:,}: write it in {currency.code}, as the grant is"
            raise wrong(name, place, problem)


def _amounts(file: GrantFile) -> list[tuple[str, Amount]]:
    """What is in the grant's currency, each with its place."""
    years = enumerate(file.budget.per_year or (), start=1)
    theirs = enumerate(file.budget.shared_per_year or (), start=1)
    allocations = enumerate(file.allocations, start=1)
    amounts = [
        ("budget.total", file.budget.total),
        ("budget.shared", file.budget.shared),
        *((f"budget.per_year[{n}]", amount) for n, amount in years),
        *((f"budget.shared_per_year[{n}]", amount) for n, amount in theirs),
        *((f"costs[{n}].amount", cost.amount) for n, cost in enumerate(file.costs, start=1)),
        *((f"allocations[{n}].buy_in", each.buy_in) for n, each in allocations),
        ("institution.equipment_threshold", file.institution.equipment_threshold),
    ]
    return [(place, amount) for place, amount in amounts if amount is not None]


def _electricity(file: str, power: ElectricityTable, currency: Currency) -> Decimal | None:
    """Price per kWh, None where the grant is not charged."""
    if power.paid_by == "institution" or power == ElectricityTable():
        return None
    if power.price_per_kwh is not None:
        return power.price_per_kwh
    if power.usd_per_kwh is None:
        problem = "is missing: write what a kWh costs, as in usd_per_kwh = 0.15"
        raise wrong(file, "electricity.usd_per_kwh", problem)
    return currency.rate_of_usd(power.usd_per_kwh)


def check_grant(
    text: str, path: Path, today: date | None = None
) -> tuple[Grant | None, dict[str, str]]:
    """The grant that a text is, or what is wrong by field, as ``budget.total`` or
    ``experiments[2].by``; what is wrong with the text as a whole has the empty name.

    ``path`` is where it would be kept: rules of an institution are looked for beside it.
    """
    if len(text) > MAX_BYTES:
        return None, {"": f"is larger than {MAX_BYTES:,} bytes"}
    try:
        file, errors = read_table(GrantFile, parse_toml(text))
        return (None, errors) if file is None else (_of_today(grant_of(file, path), today), {})
    except OutsideError as error:
        return None, {"": str(error)}
    except InputError as error:
        head, _, rest = str(error).partition(": ")
        named = head.startswith(f"{path.name}, ")
        return None, {head.removeprefix(f"{path.name}, "): rest} if named else {"": str(error)}
    except (RecursionError, ValueError) as error:
        return None, {"": toml_problem(error, text)}


def unknown_names(grant: Grant, snapshot: Snapshot) -> dict[str, str]:
    """Models and GPUs of a grant that the store does not know, by field, with the nearest ones."""
    gpus = [
        *((f"owned[{n}].gpu", [each.gpu]) for n, each in enumerate(grant.owned, start=1)),
        *((f"allocations[{n}].gpu", [each.gpu]) for n, each in enumerate(grant.allocations, 1)),
        ("purchases.gpus", grant.purchases.gpus or ()),
        ("rentals.gpus", grant.rentals.gpus or ()),
    ]
    errors: dict[str, str] = {}
    for number, experiment in enumerate(grant.experiments, start=1):
        try:
            snapshot.model(experiment.trained)
        except InputError as error:
            errors[f"experiments[{number}].model"] = str(error)
    for place, names in gpus:
        try:
            snapshot.gpu_ids(names)
        except InputError as error:
            errors[place] = str(error)
    return errors
