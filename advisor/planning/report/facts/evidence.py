"""Facts and tables of the evidence: which times, which settings, limits and sources."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from importlib.metadata import version
from typing import Any

import advisor
from advisor.costs.amount_words import day_words
from advisor.costs.cost_of_owning import CostTerms
from advisor.planning.grant.candidates.cost_lines import not_asked_for
from advisor.planning.grant.institution import NO_RULES, meanings
from advisor.planning.report.document import Cell, ReportTable, capital
from advisor.planning.report.number_ledger import Num
from advisor.planning.report.plan_costs import Material
from advisor.planning.report.report_numbers import used_times
from advisor.ranking.times import uneven_words

TERMS = {
    "lifetime_years": ("years of life", "years"),
    "utilisation": ("share of that time in use", "share"),
    "electricity_usd_per_kwh": ("electricity, a kWh", "money"),
    "pue": ("PUE", "factor"),
    "hosting_usd_per_u_month": ("hosting, a rack unit and month", "money"),
    "staff_usd_per_year": ("staff, a year", "money"),
    "resale_share": ("what a machine brings at the end, of its price", "share"),
    "financing_rate": ("interest, a year", "share"),
}
"""What a run is counted by, and its unit."""
NO_SOURCE = "no source given"
OWN_SETTING = "your grant file, or the default"


def times_table(given: Material) -> ReportTable:
    """Each training time with how it was obtained."""
    rows: list[tuple[Cell, ...]] = []
    sources = {each.source_id: each.title for each in given.loaded.snapshot.sources}
    sources["prediction"] = "this program's estimate"
    for model, machine, time in used_times(given.loaded, given.plan):
        label = f"{model} on {machine}"
        days = (given.time(time, label), *given.time_ends(time, label))
        how = "published" if time.timing == "unsynchronised" else "measured"
        how = f"{how}, {time.timing}" if time.basis == "measured" else time.basis
        day = "" if time.measured_on is None else day_words(time.measured_on)
        source = sources.get(time.source_id, time.source_id)
        rows.append((model, machine, *days, how, source, day, time.verdict or "not checked"))
    columns = ("model", "machine", "training", "at least", "at most", "how", "source", "date")
    return ReportTable.of("Times", (*columns, "is it possible?"), rows)


def settings_table(given: Material) -> ReportTable:
    """The money rules and settings with their meaning and source."""
    rows: list[tuple[Cell, ...]] = []
    for key, value, unit, words, source in (*_rules(given), *_settings(given), *_terms(given)):
        cell: Cell = str(value)
        if isinstance(value, Num):
            cell = value
        elif isinstance(value, bool):
            cell = "yes" if value else "no"
        elif isinstance(value, date):
            cell = day_words(value)
        elif key == "institution.fiscal_year_start":
            cell = f"{value[1]} {date(2000, value[0], 1):%B}"
        elif unit:
            cell = given.setting(key, value, unit, words)
        rows.append((f"{capital(words)}.", cell, source))
    return ReportTable.of("Settings", ("setting", "value", "where it comes from"), rows)


def allocations_table(given: Material) -> ReportTable | None:
    """What each allocation is planned with, and who says so."""
    words = meanings("allocations")
    rows = [
        (
            each.allocation,
            words.get(each.key, ("", each.key.replace("_", " ")))[1],
            each.value.replace("-", " ") if each.key == "kind" else each.value,
            each.source,
        )
        for each in given.grant.allocation_values
    ]
    columns = ("allocation", "setting", "value", "source")
    return ReportTable.of("Allocations", columns, rows) if rows else None


Setting = tuple[str, Any, str, str, str]
"""Its key in a grant's file, its value, unit and meaning, and where it comes from."""


def _rules(given: Material) -> Iterator[Setting]:
    """Each rule of the institution that says anything; the currency is the grant's own."""
    grant = given.grant
    house, money = grant.institution, grant.currency
    converted = money.code != "USD"
    own = {
        "currency": money.code,
        "usd_per_unit": money.usd_per_unit if converted else None,
        "usd_per_unit_on": money.on if converted else None,
    }
    left_out = {"equipment_as", "use_share", "rent_up_to_depreciation"}
    if house.equipment_as == "depreciated":
        left_out = set()
    for key, (unit, meaning) in meanings("institution").items():
        value, words = getattr(house, key), meaning.rstrip(".")
        source = house.sources.get(key, NO_SOURCE if house.file else OWN_SETTING)
        table = "institution"
        if key in own:
            table, value = "budget", own[key]
            source = OWN_SETTING if key == "currency" else money.source or NO_SOURCE
        if value is not None and key not in left_out:
            yield f"{table}.{key}", value, unit, words, source
    for n, rate in enumerate(house.overhead_rate_by_year or (), start=1):
        key, words = f"institution.overhead_rate_by_year[{n}]", f"Overhead rate in award year {n}"
        yield key, rate, "share", words, house.sources.get("overhead_rate_by_year", NO_SOURCE)


def _settings(given: Material) -> Iterator[Setting]:
    """How runs are planned, and what electricity costs."""
    grant = given.grant
    for table in ("running", "purchases", "electricity"):
        source = grant.electricity.source if table == "electricity" else None
        for key, (unit, words) in meanings(table).items():
            value = getattr(grant, key, getattr(getattr(grant, table), key))
            if value is not None and (key != "pue" or grant.price_per_kwh is not None):
                yield f"{table}.{key}", value, unit, words, source or OWN_SETTING
    for n, use in enumerate(grant.running.utilisation_by_year or (), start=1):
        words = f"the same in award year {n}"
        yield f"running.utilisation_by_year[{n}]", use, "share", words, OWN_SETTING


def _terms(given: Material) -> Iterator[Setting]:
    """By what the cost of a run on what is bought is counted."""
    grant, usual = given.grant, CostTerms()
    for name, (label, unit) in TERMS.items():
        value = getattr(grant.terms, name)
        if value != getattr(usual, name) or name in ("lifetime_years", "utilisation"):
            words, origin = f"cost of a run: {label}", {"name": "assumption", "term": name}
            value = grant.currency.rate_of_usd(value) if unit == "money" else value
            num = given.ledger.leaf("unit", value, unit, words, **origin)
            yield name, num, unit, words, OWN_SETTING


def sources_table(given: Material) -> ReportTable:
    """Every source that is used."""
    used = {time.source_id for _, _, time in used_times(given.loaded, given.plan)}
    used |= {each.line.source_id for e in given.costs.equipment for each in e.lines}
    rented = given.plan.rented
    used |= {r.source_id for r in given.problem.rentals if r.rental_id in rented}
    sources = {source.source_id: source for source in given.loaded.snapshot.sources}
    rows = (
        (of.title, of.url or "no page", of.licence or "none stated", of.how_measured)
        for of in (sources[key] for key in sorted(used & set(sources)))
    )
    columns = ("source", "page", "licence", "how it was obtained")
    return ReportTable.of("Sources", columns, rows)


def limits(given: Material) -> dict[str, Any]:
    """What the evidence cannot say."""
    loaded, grant, placed = given.loaded, given.grant, given.plan.placed
    times = [time for _, _, time in used_times(loaded, given.plan)]
    options = loaded.problem.options()
    models = {e.experiment_id: e.model for e in loaded.problem.experiments}
    pairs = {(models[p.experiment_id], options[p.machine_id].gpu_count) for p in placed}
    uneven = (
        (loaded.models[model].name, uneven_words(loaded.models[model], count))
        for model, count in sorted(pairs)
    )
    every = {1: "month", 3: "quarter", 6: "half-year", 12: "year of the grant"}
    return {
        "unsure": any(t.timing != "synchronised" and t.basis == "measured" for t in times),
        "doubtful": any(time.verdict == "doubtful" for time in times),
        "predicted": any(time.basis == "predicted" for time in times),
        "uneven": [(name, words) for name, words in uneven if words is not None],
        "every": every[grant.purchases.order_every_months],
        "upgraded": any(e.machine.upgrade_of is not None for e in given.costs.equipment),
        "rented": any(r.rented for r in given.costs.running),
        "left": [
            *["failures"] * (not loaded.problem.rules.failures),
            *not_asked_for(grant),
            *["tax"] * (not loaded.problem.rules.vat),
            "what the machines bring when they are sold",
        ],
    }


def versions(given: Material) -> dict[str, Any]:
    """By whose rules money is counted, and what computed this."""
    house = given.grant.institution.name
    named = "" if house == NO_RULES.name else house
    return {"house": named, "advisor": advisor.__version__, "highs": version("highspy")}
