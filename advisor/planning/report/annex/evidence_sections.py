"""The sections of a report about its evidence: how firm, which times, rules, limits, sources."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import advisor
from advisor.costs.amounts import day_words
from advisor.planning.report.phrases import finding_text, used_times
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
    for model, label, time in used_times(given.loaded, given.plan):
        days = given.book.time(time, f"{model} on {label}")
        how = {"measured": "published" if time.timing == "unsynchronised" else "measured"}
        rows.append(
            (
                model,
                label,
                days,
                *given.book.time_ends(time, f"{model} on {label}"),
                how.get(time.basis, time.basis)
                + ("" if time.basis == "predicted" else f", {time.timing}"),
                sources.get(time.source_id, time.source_id),
                "" if time.measured_on is None else day_words(time.measured_on),
                time.verdict or "not checked",
            )
        )
    columns = (
        "model",
        "machine",
        "training",
        "at least",
        "at most",
        "how",
        "source",
        "date",
        "is it possible?",
    )
    blocks: list[Block] = [ReportTable(name="Times", columns=columns, rows=tuple(rows))]
    if pictures:
        from advisor.planning.report.pictures import draw_cost_and_time

        drawn = draw_cost_and_time(given.loaded, given.plan, given.explanation)
        if drawn is not None:
            blocks.insert(0, drawn)
    return Section(title="Training times", blocks=tuple(blocks))


ALLOCATION_WORDS = {
    "gpu": "GPU",
    "max_gpus": "most GPUs of a job, or those of a share",
    "gpu_hours_a_year": "GPU-hours a year",
    "usd_per_gpu_hour": "US dollars a GPU-hour",
    "price_per_gpu_hour": "price of a GPU-hour, in the grant's currency",
    "max_job_days": "most days of a job",
    "queue_days": "days before each job",
    "odds": "odds of its award",
    "buy_in": "price of a share",
    "buy_in_on": "day of that price",
    "lasts_years": "years that it is served",
    "starts": "first day",
    "ends": "last day",
}
"""The keys of an allocation whose names do not say it."""
NO_SOURCE = "no source given"
OWN_SETTING = "your grant file, or the default"


def rules_section(given: Material) -> Section:
    """The money rules with their meaning and source."""
    from advisor.planning.grant.institution import MEANINGS, NO_RULES

    house, money = given.loaded.grant.institution, given.loaded.grant.currency
    written_off = house.equipment_as == "depreciated"
    untold = NO_SOURCE if house.file else OWN_SETTING
    numbers = {
        "equipment_threshold_usd": (house.equipment_threshold_usd, "usd"),
        "overhead_rate": (house.overhead_rate, "share"),
        "use_share": (house.use_share, "share"),
    }
    for key, unit in (
        ("overhead_rate_cloud", "share"),
        ("overhead_rate_electricity", "share"),
        ("life_months", "months"),
    ):
        if getattr(house, key) is not None:
            numbers[key] = (getattr(house, key), unit)
    rows: list[tuple[Cell, ...]] = []
    for key, meaning in MEANINGS.items():
        if key in ("currency", "usd_per_unit", "usd_per_unit_on"):
            continue  # the grant's own, which it may state otherwise than these rules
        if key in ("equipment_as", "use_share") and not written_off:
            continue
        if key == "equipment_threshold_usd" and house.equipment_threshold is not None:
            continue
        if key in numbers:
            value, unit = numbers[key]
            words = meaning.rstrip(".")
            cell: Cell = given.book.setting(f"institution.{key}", value, unit, words)
        elif key == "fiscal_year_start":
            month, day = house.fiscal_year_start
            cell = f"{day} {date(2000, month, 1):%B}"
        elif key == "threshold_valid_from":
            if house.threshold_valid_from is None:
                continue
            cell = day_words(house.threshold_valid_from)
        elif key == "equipment_threshold":
            if house.equipment_threshold is None:
                continue
            cell = f"{house.currency} {house.equipment_threshold:,}"
        else:
            found = getattr(house, key)
            if found is None:
                continue
            cell = ("yes" if found else "no") if isinstance(found, bool) else str(found)
        rows.append((meaning, cell, house.sources.get(key, untold)))
    rows.append((MEANINGS["currency"], money.code, OWN_SETTING))
    if money.code != "USD":
        told = money.source or NO_SOURCE
        words = MEANINGS["usd_per_unit"].rstrip(".")
        used = given.book.setting("budget.usd_per_unit", money.usd_per_unit, "factor", words)
        rows.append((MEANINGS["usd_per_unit"], used, told))
        if money.on is not None:
            rows.append((MEANINGS["usd_per_unit_on"], day_words(money.on), told))
    for n, rate in enumerate(house.overhead_rate_by_year or (), start=1):
        key, meaning = f"overhead_rate_by_year[{n}]", f"Overhead rate in award year {n}."
        cell = given.book.setting(f"institution.{key}", rate, "share", meaning)
        rows.append((meaning, cell, house.sources.get("overhead_rate_by_year", NO_SOURCE)))
    grant = given.loaded.grant
    running: list[tuple[str, Decimal | int, str, str]] = [
        (
            "running.utilisation",
            grant.utilisation,
            "share",
            "share of the calendar that is left for these experiments",
        ),
        ("running.queue_days", grant.queue_days, "days", "waiting before each run"),
        ("purchases.lead_days", grant.lead_days, "days", "from the order to the first run"),
        ("running.slack", grant.slack, "share", "kept free of runs before every deadline"),
        ("running.failures", grant.failures, "share", "trained again after failures"),
    ]
    if grant.longest_run_days is not None:
        meaning = "the longest that one run may take"
        running.append(("running.longest_run_days", grant.longest_run_days, "days", meaning))
    if grant.lifetime_years is not None:
        meaning = (
            "life of a machine: plans are compared by what machines lose in value within the "
            "grant, not by what is paid for them"
        )
        running.append(("purchases.lifetime_years", grant.lifetime_years, "years", meaning))
    if grant.usd_per_kwh is not None:
        running.append(
            (
                "electricity.usd_per_kwh",
                grant.usd_per_kwh,
                "usd-per-kwh",
                "price of electricity",
            )
        )
        running.append(
            (
                "electricity.pue",
                grant.pue,
                "factor",
                "power with cooling over power without (power usage effectiveness)",
            )
        )
    for n, use in enumerate(grant.utilisation_by_year or (), start=1):
        key, meaning = f"running.utilisation_by_year[{n}]", f"the same in award year {n}"
        running.append((key, use, "share", meaning))
    for key, number, unit, meaning in running:
        source = grant.electricity_source if key.startswith("electricity") else None
        cell = given.book.setting(key, number, unit, meaning)
        sentence = f"{meaning[0].upper()}{meaning[1:]}."
        rows.append((sentence, cell, source or OWN_SETTING))
    by = f"Money is counted by the rules of {house.name}."
    if house.name == NO_RULES.name:
        by = "The grant names no rules for its money: the settings below count."
    return Section(
        title="Rules and settings",
        blocks=(
            by,
            ReportTable(
                name="Settings",
                columns=("setting", "value", "where it comes from"),
                rows=tuple(rows),
                as_written=True,
            ),
            *_allocations(given),
        ),
    )


def _allocations(given: Material) -> tuple[ReportTable, ...]:
    """What each allocation is planned with, and who says so."""
    values = given.loaded.grant.allocation_values
    if not values:
        return ()
    return (
        ReportTable(
            name="Allocations",
            columns=("allocation", "setting", "value", "source"),
            rows=tuple(
                (
                    each.allocation,
                    ALLOCATION_WORDS.get(each.key, each.key.replace("_", " ")),
                    each.value.replace("-", " ") if each.key == "kind" else each.value,
                    each.source,
                )
                for each in values
            ),
        ),
    )


def sources_section(given: Material) -> Section:
    """Every source that is used, and the versions of what computed this."""
    used = {time.source_id for _, _, time in used_times(given.loaded, given.plan)}
    for e in given.costs.equipment:
        used.update(each.line.source_id for each in e.lines)
    rented = {r.rental_id for r in given.plan.rented}
    used.update(r.source_id for r in given.loaded.problem.rentals if r.rental_id in rented)
    sources = {source.source_id: source for source in given.loaded.snapshot.sources}
    rows: list[tuple[Cell, ...]] = [
        (
            sources[key].title,
            sources[key].url or "no page",
            sources[key].licence or "none stated",
            sources[key].how_measured,
        )
        for key in sorted(used & set(sources))
    ]
    import scipy

    versions = f"GPU grant advisor {advisor.__version__}, SciPy {scipy.__version__} (HiGHS)"
    return Section(
        title="Sources and versions",
        blocks=(
            ReportTable(
                name="Sources",
                columns=("source", "page", "licence", "how it was obtained"),
                rows=tuple(rows),
            ),
            f"Computed with {versions} from {given.loaded.grant.file}, prices "
            f"{given.loaded.grant.prices}, {given.loaded.grant.evidence} evidence.",
        ),
    )
