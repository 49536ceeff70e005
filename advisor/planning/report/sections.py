"""From a plan and its explanation to the report: sections of text, tables and pictures."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from advisor.planning.grant.problem_of_grant import Loaded
from advisor.planning.report.cost_book import CostBook
from advisor.planning.report.evidence_sections import EvidenceSections
from advisor.planning.report.number_ledger import Num, NumberLedger
from advisor.planning.report.report import (
    Block,
    Bullets,
    Cell,
    Paragraph,
    Report,
    ReportTable,
    Section,
    Words,
)
from advisor.planning.report.sentences import alternative_words, justification, solve_num
from advisor.planning.sensitivity.explain import Alternative, Explanation
from advisor.planning.solver.problem import Plan

OBJECTIVE_WORDS = {
    "cheapest": "the cheapest plan that does everything in time",
    "most-runs": "the most runs within the budget",
    "soonest": "the soonest finish within the budget",
}


def build_report(
    loaded: Loaded, plan: Plan, explanation: Explanation, *, pictures: bool = True
) -> Report:
    """The whole report. Pictures need matplotlib."""
    maker = _Maker(loaded, plan, explanation)
    sections = [
        maker.question(),
        maker.recommendation(),
        maker.money(),
        maker.justification(),
        maker.schedule(pictures),
        maker.alternatives(pictures),
        maker.sensitivity(),
        maker.times(pictures),
        maker.rules(),
        maker.limits(),
        maker.sources(),
    ]
    return Report(
        title=loaded.grant.title,
        made_on=loaded.today,
        sections=tuple(sections),
        rows=tuple(maker.ledger.rows),
    )


class _Maker(EvidenceSections):
    def __init__(self, loaded: Loaded, plan: Plan, explanation: Explanation) -> None:
        self.loaded = loaded
        self.plan = plan
        self.explanation = explanation
        self.ledger = NumberLedger()
        self.book = CostBook(loaded, self.ledger)
        self.costs = self.book.costs(plan)

    def _budget(self) -> Num | None:
        usd = self.loaded.grant.budget_usd
        return None if usd is None else self._setting("budget.total", usd, "usd", "budget")

    def question(self) -> Section:
        """What was asked."""
        grant, problem = self.loaded.grant, self.loaded.problem
        words: list[str | Num] = [
            f"Sought is {OBJECTIVE_WORDS[grant.objective]}, over ",
            self._setting("grant.years", grant.years, "years", "years of the grant"),
            f" years from {grant.start} on",
        ]
        budget = self._budget()
        if budget is not None:
            words += [", with ", budget]
        words.append(".")
        rows: list[tuple[Cell, ...]] = [
            (
                asked.name,
                self.loaded.snapshot.model(asked.model).name,
                self._setting(f"experiments[{n}].runs", asked.runs, "runs", f"{asked.name}: runs"),
                "every year" if asked.each_year else str(asked.not_before or grant.start),
                "each year's end" if asked.each_year else str(asked.by or grant.year_dates[-1]),
                asked.who or "not said",
            )
            for n, asked in enumerate(grant.experiments, start=1)
        ]
        blocks: list[Block] = [
            Paragraph(words=tuple(words)),
            ReportTable(
                name="Experiments",
                columns=("experiment", "model", "runs", "from", "to be done by", "for whom"),
                rows=tuple(rows),
            ),
        ]
        if grant.owned:
            items: list[Words] = []
            for n, own in enumerate(grant.owned, start=1):
                label = next(
                    m.label for m in problem.machines if m.machine_id.startswith(f"owned:{n}:")
                )
                count = self._setting(f"owned[{n}].machines", own.machines, "machines", label)
                words = [count, f": {label}"]
                if own.free_slots:
                    room = self._setting(
                        f"owned[{n}].free_slots", own.free_slots, "GPUs", f"room in {label}"
                    )
                    words += [", with room for ", room, " more in each"]
                items.append(tuple(words))
            blocks += [Paragraph(words=("The lab has:",)), Bullets(items=tuple(items))]
        if grant.year_budget_usd is not None:
            nums = [
                (
                    self._setting(f"budget.per_year[{n}]", usd, "usd", f"budget of year {n}"),
                    f" in year {n}",
                )
                for n, usd in enumerate(grant.year_budget_usd, start=1)
            ]
            blocks.append(Bullets(items=tuple(nums)))
        return Section(title="The question", blocks=tuple(blocks))

    def _runs(self) -> Num:
        return self.ledger.leaf("plan", self.plan.runs, "runs", "runs done", what="runs")

    def recommendation(self) -> Section:
        """What to do, and how sure that is."""
        plan = self.plan
        items: list[Words] = []
        for e in self.costs.equipment:
            do = "Buy " if e.machine.upgrade_of is None else "Upgrade "
            items.append(
                (do, e.count, f" on {e.bought_on}: {e.machine.label}, ", e.charge.each, " each.")
            )
        by_label: dict[str, list[Any]] = {}
        for r in self.costs.running:
            if r.rented:
                by_label.setdefault(r.label, []).append(r)
        for label, rented in by_label.items():
            runs = self.ledger.total([r.runs for r in rented], f"runs rented on {label}", "runs")
            usd = self.ledger.total([r.charge.direct for r in rented], f"rent of {label}")
            items.append((f"Rent {label} for ", runs, ": ", usd, " before overhead."))
        if not items:
            items.append(("Buy nothing and rent nothing: the machines of the lab do it all.",))
        for e_id, left in plan.left_out.items():
            number = self.ledger.leaf(
                "plan", left, "runs", f"{e_id}: runs left out", experiment_id=e_id, what="left out"
            )
            items.append((f"Leave out {self.book.experiments[e_id].name}: ", number, "."))
        end = self.ledger.leaf(
            "plan", round(plan.finish_day, 2), "days", "last day of the plan", what="finish"
        )
        words: list[str | Num] = [self._runs(), " for ", self.costs.total, ", overhead included"]
        words += [f". The last run ends on {self.book.day(plan.finish_day)}, after ", end, ". "]
        if plan.proven:
            words.append("No better plan exists under these settings: optimality is proven.")
        elif plan.gap is not None:
            gap = self.ledger.leaf(
                "plan", round(plan.gap, 6), "share", "gap to the best bound", what="gap"
            )
            words += ["Optimality is not proven: a better plan by up to ", gap, " may exist."]
        else:
            words.append("Optimality is not proven: the time for the search ran out.")
        return Section(
            title="Recommendation",
            blocks=(Paragraph(words=tuple(words)), Bullets(items=tuple(items))),
        )

    def money(self) -> Section:
        """Equipment, running costs, by fiscal year, direct and indirect."""
        blocks: list[Block] = []
        equipment: list[tuple[Cell, ...]] = []
        parts: list[tuple[Cell, ...]] = []
        for e in self.costs.equipment:
            for line, quantity, price in ((p.line, p.quantity, p.price) for p in e.lines):
                pieces = self.ledger.compute(
                    "product", [e.count, quantity], "pieces", f"{line.label}, pieces"
                )
                amount = self.ledger.compute(
                    "product", [pieces, price], "usd", f"{line.label}, all pieces"
                )
                equipment.append(
                    (
                        line.label,
                        pieces,
                        price,
                        amount,
                        line.quote_kind,
                        line.vendor,
                        str(line.quoted_on),
                        line.quote_id,
                    )
                )
                for n, (role, detail, usd, day) in enumerate(line.parts):
                    cost = self.ledger.leaf(
                        "part",
                        usd,
                        "usd",
                        f"{role} of {line.label}",
                        host_id=line.item_id,
                        position=n,
                    )
                    parts.append((line.label, role, detail, cost, str(day)))
        if equipment:
            total = self.ledger.total(
                [row[3] for row in equipment if isinstance(row[3], Num)], "equipment, direct"
            )
            equipment.append(("total", "", "", total, "", "", "", ""))
            blocks.append(
                ReportTable(
                    name="Equipment",
                    columns=("item", "pieces", "each", "all", "kind", "vendor", "date", "quote"),
                    rows=tuple(equipment),
                    total=True,
                )
            )
        if parts:
            blocks.append(
                ReportTable(
                    name="Parts",
                    columns=("machine", "part", "what", "price", "date"),
                    rows=tuple(parts),
                )
            )
        running = [
            (
                self.book.experiments[r.experiment_id].name,
                r.label,
                r.fiscal_year,
                r.runs,
                r.charge.amount,
                r.charge.price,
                r.charge.each,
                r.charge.direct,
            )
            for r in self.costs.running
        ]
        if running:
            total = self.ledger.total(
                [r.charge.direct for r in self.costs.running], "running, direct"
            )
            blocks.append(
                ReportTable(
                    name="Running",
                    columns=(
                        "experiment",
                        "machine",
                        "starts in",
                        "runs",
                        "use of a run",
                        "at",
                        "a run",
                        "all runs",
                    ),
                    rows=(*running, ("total", "", "", "", "", "", "", total)),
                    total=True,
                )
            )
        blocks.append(self._by_year())
        if self.loaded.grant.institution.fiscal_year_start != (1, 1):
            words = (
                "A fiscal year (FY) is called by the year in which it ends. Amounts are "
                "counted in the year in which a machine is bought or a run starts.",
            )
            blocks.append(Paragraph(words=words))
        return Section(title="What it costs", blocks=tuple(blocks))

    def _by_year(self) -> ReportTable:
        kinds: list[tuple[str, list[tuple[str, Num]]]] = [
            (
                "equipment",
                [
                    (self.book.fiscal_year(e.bought_on), e.charge.direct)
                    for e in self.costs.equipment
                ],
            ),
            ("rental", [(r.fiscal_year, r.charge.direct) for r in self.costs.running if r.rented]),
            (
                "electricity",
                [(r.fiscal_year, r.charge.direct) for r in self.costs.running if not r.rented],
            ),
        ]
        indirect = [
            (self.book.fiscal_year(e.bought_on), e.charge.indirect) for e in self.costs.equipment
        ]
        indirect += [(r.fiscal_year, r.charge.indirect) for r in self.costs.running]
        kinds.append(("indirect", indirect))
        total = self.ledger.total
        rows: list[tuple[Cell, ...]] = []
        columns: dict[str, list[Num]] = {year: [] for year in self.costs.years}
        for kind, amounts in kinds:
            cells = []
            for year in self.costs.years:
                num = total([usd for y, usd in amounts if y == year], f"{kind}, {year}")
                columns[year].append(num)
                cells.append(num)
            rows.append((kind, *cells, total(cells, f"{kind}, all years")))
        ends = [total(columns[year], f"all, {year}") for year in self.costs.years]
        rows.append(("total", *ends, total(ends, "all, all years")))
        return ReportTable(
            name="By fiscal year",
            columns=("cost", *self.costs.years, "all years"),
            rows=tuple(rows),
            total=True,
        )

    def justification(self) -> Section:
        """The paragraph for the form."""
        texts = justification(self.book, self.costs, self.plan, self._runs(), self._budget())
        joined: list[str | Num] = []
        for words in texts:
            joined += [*([" "] if joined else []), *words]
        return Section(title="Budget justification", blocks=(Paragraph(words=tuple(joined)),))

    def schedule(self, pictures: bool) -> Section:
        """Which run goes where and when."""
        options = self.loaded.problem.options()
        rows: list[tuple[Cell, ...]] = []
        for p in sorted(self.plan.placed, key=lambda p: (p.pieces[0][0], p.experiment_id, p.run)):
            e = self.book.experiments[p.experiment_id]
            option = options[p.machine_id]
            rows.append(
                (
                    e.name,
                    option.label,
                    str(self.book.day(p.pieces[0][0])),
                    str(self.book.day(p.pieces[-1][1])),
                    str(self.book.day(self.loaded.problem.due(e))),
                    self.book.time(option.times[e.model], f"{e.model} on {option.label}"),
                )
            )
        blocks: list[Block] = []
        if pictures:
            from advisor.planning.report.pictures import draw_plan

            blocks.append(draw_plan(self.loaded, self.plan))
        blocks.append(
            ReportTable(
                name="Schedule",
                columns=("experiment", "machine", "starts", "ends", "due", "training"),
                rows=tuple(rows),
            )
        )
        return Section(title="The plan on the calendar", blocks=tuple(blocks))

    def alternatives(self, pictures: bool) -> Section:
        """The runners-up with why not."""
        rows: list[tuple[Cell, ...]] = [
            ("recommended", self.costs.total, self._runs(), self._when(self.plan))
        ]
        notes: list[Words] = []
        for other in self.explanation.alternatives:
            rows.append((other.label, *self._figures(other)))
            why = alternative_words(self.loaded, self.ledger, self.plan, other)
            notes.append((f"{other.label}: ", *why, ". ", *self._takes(other)))
        blocks: list[Block] = [
            ReportTable(
                name="Alternatives",
                columns=("plan", "cost", "runs", "over by"),
                rows=tuple(rows),
            ),
            Bullets(items=tuple(notes)),
        ]
        if pictures:
            from advisor.planning.report.pictures import draw_alternatives, draw_break_even

            blocks.insert(0, draw_alternatives(self.loaded, self.plan, self.explanation))
            drawn = draw_break_even(self.loaded, self.plan)
            if drawn is not None:
                blocks.append(drawn)
        return Section(title="Runners-up, and why not", blocks=tuple(blocks))

    def _when(self, plan: Plan) -> str:
        return str(self.book.day(plan.finish_day))

    def _figures(self, other: Alternative) -> tuple[Cell, Cell, Cell]:
        """What another plan costs, its runs, and when it is over."""
        plan = other.plan
        if plan is None:
            return None, None, ""
        usd = Decimal(plan.cost_cents) / 100
        cost = solve_num(self.ledger, other.change, usd, "usd", f"cost, {other.label}", "cost")
        runs = solve_num(
            self.ledger, other.change, plan.runs, "runs", f"runs, {other.label}", "runs"
        )
        return cost, runs, self._when(plan)

    def _takes(self, other: Alternative) -> Words:
        """What another plan buys and rents."""
        plan = other.plan
        if plan is None:
            return ()
        words: list[str | Num] = []
        for p in plan.purchases:
            label = self.book.machines[p.machine_id].label
            count = solve_num(
                self.ledger,
                other.change,
                p.count,
                "machines",
                f"{other.label}: {label}",
                "bought",
                machine_id=p.machine_id,
                year=p.year,
            )
            day = self.book.day(self.loaded.problem.year_days[p.year])
            words += ["; " if words else "It buys ", count, f" ({label}) on {day}"]
        rented = dict.fromkeys(self.book.rentals[r.rental_id].label for r in plan.rented)
        if rented:
            words.append(f"{'; it' if words else 'It'} rents {', '.join(rented)}")
        return (*words, ".") if words else ("It takes what is owned.",)
