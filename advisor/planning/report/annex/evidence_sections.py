"""The sections of a report about its evidence: how firm, which times, rules, limits, sources."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from importlib.metadata import version

import advisor
from advisor.costs.amount_words import day_words
from advisor.planning.grant.institution import NO_RULES, meanings
from advisor.planning.report.phrases import capital, finding_text, used_times
from advisor.planning.report.plan_costs import Material
from advisor.planning.report.report import Block, Cell, ReportTable, Section


def sensitivity_section(given: Material) -> Section:
    """What binds, what would flip the decision, what to ask for."""
    blocks: list[Block] = []
    for title, found, none in (
        ("What binds:", given.explanation.binds, "Nothing that was tried limits the plan."),
        (
            "What would change the decision:",
            given.explanation.thresholds,
            "Of the prices, times and rules that were tried none changes the decision.",
        ),
        ("Worth asking for, cheapest first:", given.explanation.ask, ""),
    ):
        if found:
            blocks += [title, tuple(finding_text(given.ledger, finding) for finding in found)]
        elif none:
            blocks.append(none)
    return Section(title="How firm this is", blocks=tuple(blocks))


def times_section(given: Material, pictures: bool) -> Section:
    """Each training time with how it was obtained."""
    rows: list[tuple[Cell, ...]] = []
    sources = {each.source_id: each.title for each in given.loaded.snapshot.sources}
    sources["prediction"] = "this program's estimate"
    for model, machine, time in used_times(given.loaded, given.plan):
        label = f"{model} on {machine}"
        days = (given.book.time(time, label), *given.book.time_ends(time, label))
        how = "published" if time.timing == "unsynchronised" else "measured"
        how = f"{how}, {time.timing}" if time.basis == "measured" else time.basis
        day = "" if time.measured_on is None else day_words(time.measured_on)
        source = sources.get(time.source_id, time.source_id)
        rows.append((model, machine, *days, how, source, day, time.verdict or "not checked"))
    columns = ("model", "machine", "training", "at least", "at most", "how", "source", "date")
    blocks: list[Block] = [ReportTable.of("Times", (*columns, "is it possible?"), rows)]
    if pictures:
        from advisor.planning.report.pictures import draw_cost_and_time

        drawn = draw_cost_and_time(given.loaded, given.plan, given.explanation)
        if drawn is not None:
            blocks.insert(0, drawn)
    return Section(title="Training times", blocks=tuple(blocks))


NO_SOURCE = "no source given"
OWN_SETTING = "your grant file, or the default"


def rules_section(given: Material) -> Section:
    """The money rules with their meaning and source."""
    grant, house = given.loaded.grant, given.loaded.grant.institution
    rows = [*_rules(given), *_currency(given), *_settings(given)]
    by = f"Money is counted by the rules of {house.name}."
    if house.name == NO_RULES.name:
        by = "The grant names no rules for its money: the settings below count."
    columns: tuple[str, ...] = ("setting", "value", "where it comes from")
    blocks: list[Block] = [by, ReportTable.of("Settings", columns, rows)]
    if grant.allocation_values:
        # What each allocation is planned with, and who says so.
        words = meanings("allocations")
        told = (
            (
                each.allocation,
                words.get(each.key, ("", each.key.replace("_", " ")))[1],
                each.value.replace("-", " ") if each.key == "kind" else each.value,
                each.source,
            )
            for each in grant.allocation_values
        )
        columns = ("allocation", "setting", "value", "source")
        blocks.append(ReportTable.of("Allocations", columns, told))
    return Section(title="Rules and settings", blocks=tuple(blocks))


def _rules(given: Material) -> Iterator[tuple[Cell, ...]]:
    """Each rule of the institution that says anything."""
    house = given.loaded.grant.institution
    left_out = {"currency", "usd_per_unit", "usd_per_unit_on"}  # which the grant may have otherwise
    if house.equipment_as != "depreciated":
        left_out |= {"equipment_as", "use_share", "rent_up_to_depreciation"}
    for key, (unit, meaning) in meanings("institution").items():
        value = getattr(house, key)
        if value is None or key in left_out:
            continue
        cell: Cell
        if unit:
            words = meaning.rstrip(".")
            cell = given.book.setting(f"institution.{key}", value, unit, words)
        elif key == "fiscal_year_start":
            month, day = value
            cell = f"{day} {date(2000, month, 1):%B}"
        elif isinstance(value, date):
            cell = day_words(value)
        else:
            cell = ("yes" if value else "no") if isinstance(value, bool) else str(value)
        yield meaning, cell, house.sources.get(key, NO_SOURCE if house.file else OWN_SETTING)


def _currency(given: Material) -> Iterator[tuple[Cell, ...]]:
    """The grant's own, and what it is converted at; rates of overhead by year follow."""
    house, money, setting = (
        given.loaded.grant.institution,
        given.loaded.grant.currency,
        given.book.setting,
    )
    words = {key: meaning for key, (_, meaning) in meanings("institution").items()}
    yield words["currency"], money.code, OWN_SETTING
    if money.code != "USD":
        told, meaning = money.source or NO_SOURCE, words["usd_per_unit"]
        key = "budget.usd_per_unit"
        yield meaning, setting(key, money.usd_per_unit, "factor", meaning.rstrip(".")), told
        if money.on is not None:
            yield words["usd_per_unit_on"], day_words(money.on), told
    for n, rate in enumerate(house.overhead_rate_by_year or (), start=1):
        key, meaning = f"overhead_rate_by_year[{n}]", f"Overhead rate in award year {n}."
        source = house.sources.get("overhead_rate_by_year", NO_SOURCE)
        yield meaning, setting(f"institution.{key}", rate, "share", meaning), source


def _settings(given: Material) -> Iterator[tuple[Cell, ...]]:
    """How runs are planned, and what electricity costs."""
    grant = given.loaded.grant
    settings = [
        (f"{table}.{key}", getattr(grant, key), unit, words)
        for table in ("running", "purchases", "electricity")
        for key, (unit, words) in meanings(table).items()
        if key != "pue" or grant.price_per_kwh is not None
    ]
    for n, use in enumerate(grant.utilisation_by_year or (), start=1):
        words = f"the same in award year {n}"
        settings.append((f"running.utilisation_by_year[{n}]", use, "share", words))
    for key, number, unit, words in settings:
        if number is None:
            continue
        source = grant.electricity_source if key.startswith("electricity") else None
        cell = given.book.setting(key, number, unit, words)
        yield f"{capital(words)}.", cell, source or OWN_SETTING


def sources_section(given: Material) -> Section:
    """Every source that is used, and the versions of what computed this."""
    grant = given.loaded.grant
    used = {time.source_id for _, _, time in used_times(given.loaded, given.plan)}
    used |= {each.line.source_id for e in given.costs.equipment for each in e.lines}
    rented = {r.rental_id for r in given.plan.rented}
    used |= {r.source_id for r in given.loaded.problem.rentals if r.rental_id in rented}
    sources = {source.source_id: source for source in given.loaded.snapshot.sources}
    rows = (
        (of.title, of.url or "no page", of.licence or "none stated", of.how_measured)
        for of in (sources[key] for key in sorted(used & set(sources)))
    )
    columns = ("source", "page", "licence", "how it was obtained")
    versions = f"GPU grant advisor {advisor.__version__}, HiGHS {version('highspy')}"
    computed = (
        f"Computed with {versions} from {grant.file}, prices {grant.prices}, {grant.evidence} "
        "evidence."
    )
    blocks = (ReportTable.of("Sources", columns, rows), computed)
    return Section(title="Sources and versions", blocks=blocks)
