"""The sections of a report about its evidence: how firm, which times, rules, limits, sources."""

from __future__ import annotations

from decimal import Decimal

import advisor
from advisor.planning.grant.problem_of_grant import Loaded
from advisor.planning.report.cost_book import CostBook, Costs
from advisor.planning.report.number_ledger import Num, NumberLedger
from advisor.planning.report.report import Block, Bullets, Cell, Paragraph, ReportTable, Section
from advisor.planning.report.sentences import finding_words, limits, used_times
from advisor.planning.sensitivity.explain import Explanation
from advisor.planning.solver.problem import Plan


class EvidenceSections:
    """What `build.py` makes the second half of a report with."""

    loaded: Loaded
    plan: Plan
    explanation: Explanation
    ledger: NumberLedger
    book: CostBook
    costs: Costs

    def _setting(self, key: str, value: Decimal | int, unit: str, label: str) -> Num:
        return self.book.setting(key, value, unit, label)

    def sensitivity(self) -> Section:
        """What binds, what would flip the decision, what to ask for."""
        blocks: list[Block] = []
        for title, found, none in (
            ("What binds:", self.explanation.binds, "Nothing binds that was tried."),
            (
                "What would change the decision:",
                self.explanation.flips,
                "Of the prices, times and rules that were tried none changes the decision.",
            ),
            ("Worth asking for, cheapest first:", self.explanation.ask, ""),
        ):
            if found:
                items = tuple(finding_words(self.ledger, finding) for finding in found)
                blocks += [Paragraph(words=(title,)), Bullets(items=items)]
            elif none:
                blocks.append(Paragraph(words=(none,)))
        return Section(title="How firm this is", blocks=tuple(blocks))

    def times(self, pictures: bool) -> Section:
        """Each training time with how it was obtained."""
        rows: list[tuple[Cell, ...]] = []
        for model, label, time in used_times(self.loaded, self.plan):
            low, high = (
                None
                if value is None
                else self.ledger.leaf(
                    "time",
                    value,
                    "days",
                    f"{column}, {model} on {label}",
                    measurement_id=time.measurement_id,
                    column=column,
                )
                for value, column in (
                    (time.days_low, "training_days_low"),
                    (time.days_high, "training_days_high"),
                )
            )
            how = {"measured": "published" if time.timing == "unsynchronised" else "measured"}
            rows.append(
                (
                    model,
                    label,
                    self.book.time(time, f"{model} on {label}"),
                    low,
                    high,
                    how.get(time.basis, time.basis)
                    + ("" if time.basis == "predicted" else f", {time.timing}"),
                    time.source_id,
                    str(time.measured_on or "not said"),
                    time.verdict or "unchecked",
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
            "audit",
        )
        blocks: list[Block] = [ReportTable(name="Times", columns=columns, rows=tuple(rows))]
        if pictures:
            from advisor.planning.report.pictures import draw_cost_and_time

            blocks.insert(0, draw_cost_and_time(self.loaded, self.plan, self.explanation))
        return Section(title="Training times", blocks=tuple(blocks))

    def rules(self) -> Section:
        """The money rules with their meaning and source."""
        from advisor.planning.grant.institution import MEANINGS

        house = self.loaded.grant.institution
        numbers = {
            "equipment_threshold_usd": (house.equipment_threshold_usd, "usd"),
            "overhead_rate": (house.overhead_rate, "share"),
            "usd_per_unit": (house.usd_per_unit, "factor"),
        }
        rows: list[tuple[Cell, ...]] = []
        for key, meaning in MEANINGS.items():
            if key.startswith("usd_per_unit") and house.currency == "USD":
                continue
            if key in numbers:
                value, unit = numbers[key]
                cell: Cell = self._setting(f"institution.{key}", value, unit, key)
            elif key == "fiscal_year_start":
                cell = "{:02d}-{:02d}".format(*house.fiscal_year_start)
            elif key == "usd_per_unit_on":
                cell = str(house.usd_per_unit_on)
            else:
                found = getattr(house, key)
                cell = ("yes" if found else "no") if isinstance(found, bool) else str(found)
            rows.append((key, cell, meaning, house.sources.get(key, "not said")))
        grant = self.loaded.grant
        running: list[tuple[str, Decimal | int, str, str]] = [
            (
                "running.utilisation",
                grant.utilisation,
                "share",
                "share of the calendar that is left for these experiments",
            ),
            ("running.queue_days", grant.queue_days, "days", "waiting before each run"),
            ("purchases.lead_days", grant.lead_days, "days", "from the order to the first run"),
        ]
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
        for key, number, unit, meaning in running:
            source = grant.electricity_source if key.startswith("electricity") else None
            cell = self._setting(key, number, unit, meaning)
            rows.append((key, cell, meaning, source or f"{grant.file}"))
        return Section(
            title="Rules and settings",
            blocks=(
                Paragraph(words=(f"Rules: {house.name}. Settings, not advice.",)),
                ReportTable(
                    name="Settings",
                    columns=("setting", "value", "meaning", "source"),
                    rows=tuple(rows),
                ),
            ),
        )

    def limits(self) -> Section:
        """What the evidence cannot say."""
        items = limits(self.book, self.plan, self.costs)
        return Section(title="Limits of the evidence", blocks=(Bullets(items=tuple(items)),))

    def sources(self) -> Section:
        """Every source that is used, and the versions of what computed this."""
        used = {time.source_id for _, _, time in used_times(self.loaded, self.plan)}
        for e in self.costs.equipment:
            used.update(each.line.source_id for each in e.lines)
        rented = {r.rental_id for r in self.plan.rented}
        used.update(r.source_id for r in self.loaded.problem.rentals if r.rental_id in rented)
        sources = {source.source_id: source for source in self.loaded.snapshot.sources}
        rows: list[tuple[Cell, ...]] = [
            (
                key,
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
                    columns=("source", "title", "page", "licence", "how it was obtained"),
                    rows=tuple(rows),
                ),
                Paragraph(
                    words=(
                        f"Computed with {versions} from {self.loaded.grant.file}, prices "
                        f"{self.loaded.grant.prices}, {self.loaded.grant.evidence} evidence.",
                    )
                ),
            ),
        )
