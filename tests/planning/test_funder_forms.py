"""What a funder reads: its own lines, by award year, without marks, on at most four pages."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from datetime import date
from decimal import Decimal
from itertools import pairwise
from pathlib import Path

import pytest
from msgspec import structs

pytest.importorskip("matplotlib")
pytest.importorskip("typst")
pytest.importorskip("xlsxwriter")

from advisor.answers.plan_sentence import plan_sentence
from advisor.parse import InputError
from advisor.planning.grant.cautions import cautions
from advisor.planning.grant.checked_toml import AmountOrZero
from advisor.planning.grant.cost_lines import fixed_costs
from advisor.planning.grant.currency import Currency
from advisor.planning.grant.funder import FOLDER, FUNDERS, funder_form
from advisor.planning.grant.grant import Grant, read_grant
from advisor.planning.grant.grant_file import CostLine
from advisor.planning.grant.institution import NO_RULES, read_institution
from advisor.planning.grant.problem_of_grant import rules_of
from advisor.planning.plan_grant import EXAMPLE, Planned, load_grant, plan_loaded
from advisor.planning.report.award_years import entries
from advisor.planning.report.drawing import columns_that_fit, styled
from advisor.planning.report.html import to_html
from advisor.planning.report.markdown_csv_json import to_csv_text, to_json_text, to_markdown
from advisor.planning.report.material import material_of
from advisor.planning.report.number_ledger import Num, NumberLedger
from advisor.planning.report.pdf import to_pdf
from advisor.planning.report.pictures import lanes_of, told_apart
from advisor.planning.report.report import Paragraph, Picture, Report, ReportTable, joined
from advisor.planning.report.sections import build_report
from advisor.planning.report.write import check_targets, write_report
from advisor.planning.report.xlsx import to_xlsx
from advisor.planning.sensitivity.explain import Alternative
from advisor.planning.sensitivity.solved_amounts import Finding, Solved, number_words
from advisor.planning.solver.arithmetic import PLAIN
from advisor.planning.solver.by_year import cents_by_year
from advisor.planning.solver.charges import purchase_charge
from advisor.planning.solver.problem import Allocation, FixedCost, MachineExtra, Placed, Plan
from advisor.store import Store
from price_catalog.model import OWN_QUOTE
from tests.plans_for_tests import make_problem, make_rental

TODAY = date(2026, 11, 22)


@pytest.fixture(scope="module")
def planned(store_path: Path) -> Planned:
    """Two models of the example: one machine is bought, runs go over the turn of a year."""
    grant = read_grant(EXAMPLE)
    grant = replace(grant, experiments=grant.experiments[:2], owned=(), rent=False)
    planned = plan_loaded(load_grant(Store(store_path), grant, TODAY), 60, quick=True)
    assert planned.plan is not None
    return planned


def report_for(planned: Planned, **changes: object) -> Report:
    grant = replace(planned.loaded.grant, **changes)  # type: ignore[arg-type]
    loaded = replace(planned.loaded, grant=grant)
    assert planned.plan is not None and planned.explanation is not None
    return build_report(loaded, planned.plan, planned.explanation, pictures=False)


@pytest.mark.parametrize("funder", FUNDERS)
def test_each_form_has_its_lines_its_paper_and_few_pages(planned: Planned, funder: str) -> None:
    form = funder_form(funder)  # type: ignore[arg-type]
    report = report_for(planned, funder=funder)
    part, annex = report.parts()
    table = part.tables()[0]
    assert table.columns[0] == form.name
    names = [str(row[0]) for row in table.rows]
    assert names[-3:] == [form.lines.direct, form.lines.indirect, form.lines.total]
    assert any(name.startswith(form.lines.equipment) for name in names)
    assert ("size: letter" if form.paper == "us-letter" else "size: A4") in to_html(part)
    pdf = to_pdf(part)
    assert len(re.findall(rb"/Type\s*/Page\b", pdf)) <= 4
    width = 612 if form.paper == "us-letter" else 595
    assert re.search(rb"/MediaBox\s*\[\s*0 0 %d" % width, pdf)
    for text in (to_html(part), to_markdown(part)):
        assert not re.search(r"\[\d+\]|Ledger", text)
    assert "Ledger" in to_html(annex)
    assert not any(str(text) in to_markdown(part) for text in form.before_you_send.values())
    # What was not compared is said to the lab, for the justification cannot.
    assert "Renting was not compared" in to_html(annex)
    assert "No campus cluster or national programme was compared" in to_html(annex)


def test_the_years_of_the_form_are_those_that_the_solver_kept_to(planned: Planned) -> None:
    plan, problem = planned.plan, planned.loaded.problem
    assert plan is not None and planned.explanation is not None
    found = entries(material_of(planned.loaded, plan, planned.explanation))
    by_year = cents_by_year(problem, plan.purchases, plan.placed)
    for year, cents in enumerate(by_year):
        asked = sum(e.direct.value + e.indirect.value for e in found if e.year == year)
        assert abs(asked * 100 - cents) <= len(found), year
    whole = sum(e.direct.value + e.indirect.value for e in found)
    assert whole * 100 == plan.cost_cents


def test_a_cheap_computer_is_supplies_in_table_and_text(planned: Planned) -> None:
    plan, problem = planned.plan, planned.loaded.problem
    assert plan is not None
    rules = replace(problem.rules, equipment_threshold_usd=Decimal(1_000_000))
    loaded = replace(planned.loaded, problem=replace(problem, rules=rules))
    report = report_for(replace(planned, loaded=loaded), funder="nsf")
    text = to_markdown(report.parts()[0])
    assert "D. Equipment" not in text and "G1. Materials and supplies: " in text
    assert "It counts as supplies, below the threshold" in text


def test_another_currency_stands_in_table_and_note(planned: Planned) -> None:
    euro = Currency(code="EUR", usd_per_unit=Decimal("1.25"), on=date(2026, 11, 1), source="a bank")
    report = report_for(planned, currency=euro, funder="horizon")
    table = report.tables()[0]
    dollars = report_for(planned, funder="horizon").tables()[0]
    total, in_dollars = table.rows[-1][-1], dollars.rows[-1][-1]
    assert not isinstance(total, str | None) and not isinstance(in_dollars, str | None)
    assert total.unit == "EUR"
    assert abs(total.value * Decimal("1.25") - in_dollars.value) < Decimal("0.2")
    assert "$1.25 a EUR, the rate of 1 November 2026 (a bank)" in to_markdown(report.parts()[0])


def test_what_the_institution_pays_is_not_in_a_budget_of_the_nsf(store_path: Path) -> None:
    grant = read_grant(EXAMPLE)
    grant = replace(
        grant, experiments=grant.experiments[:1], pays_electricity=False, usd_per_kwh=None
    )
    planned = plan_loaded(load_grant(Store(store_path), grant, TODAY), 60)
    text = to_markdown(report_for(planned, funder="nsf").parts()[0])
    assert "lectricity" not in text


@pytest.mark.parametrize("only", ["rented", "owned", "no money"])
def test_a_grant_that_buys_nothing_has_its_report_in_every_form(
    store_path: Path, tmp_path: Path, only: str
) -> None:
    """Costs of nothing at all have no place on a log axis, and no run no row in a table."""
    grant = read_grant(EXAMPLE)
    experiment = structs.replace(grant.experiments[1], each_year=False, runs=1)
    grant = replace(grant, experiments=(experiment,), buy=False, rent=only == "rented")
    if only == "owned":
        grant = replace(grant, pays_electricity=False, usd_per_kwh=None)
    else:
        grant = replace(grant, owned=())
    if only == "no money":
        grant = replace(grant, objective="most-runs", budget_usd=Decimal(0), year_budget_usd=None)
    planned = plan_loaded(load_grant(Store(store_path), grant, TODAY), 60)
    assert planned.plan is not None and planned.explanation is not None
    assert not planned.plan.purchases
    assert bool(planned.plan.rented) == (only == "rented")
    report = build_report(planned.loaded, planned.plan, planned.explanation)
    names = [str(tmp_path / f"r.{ending}") for ending in ("pdf", "html", "md")]
    written = write_report(report, check_targets(names, force=False), force=False)
    assert {path.name for path in written} >= {"r.pdf", "r.html", "r.md"}
    assert all(path.stat().st_size > 500 for path in written)
    if only == "no money":
        asked = (tmp_path / "r.md").read_text(encoding="utf-8")
        assert "No run can be done with this money between 1 January 2027 and" in asked
    if only == "rented":
        asked = (tmp_path / "r.md").read_text(encoding="utf-8")
        assert "Machines of our own" not in asked, "none may be bought, and the lab has none"


def test_json_has_the_plan_as_objects(planned: Planned) -> None:
    found = json.loads(to_json_text(report_for(planned)))
    assert {"purchases", "rentals", "schedule", "budget", "form", "sections"} <= set(found)
    assert found["budget"]["years"][0]["from"] == "2027-01-01"
    assert found["purchases"][0]["quotes"][0]["vendor"]
    assert len(found["schedule"]) == planned.plan.runs  # type: ignore[union-attr]
    last = found["budget"]["lines"][-1]
    assert sum(cell["value"] for cell in last["by_year"]) == pytest.approx(last["total"]["value"])


def test_the_annex_lies_beside_the_report_and_is_not_overwritten(
    planned: Planned, tmp_path: Path
) -> None:
    names = [str(tmp_path / f"r.{ending}") for ending in ("pdf", "html", "md", "csv")]
    written = write_report(report_for(planned), check_targets(names, force=False), force=False)
    assert {path.name for path in written} == {
        *("r.pdf", "r-annex.pdf", "r.html", "r-annex.html", "r.md", "r-annex.md", "r.csv"),
    }
    (tmp_path / "r.pdf").unlink()
    with pytest.raises(InputError, match=r"r-annex\.pdf.*is there already.*--force"):
        check_targets(names[:1], force=False)


def test_the_dfg_is_not_asked_for_the_allowance_that_it_adds(planned: Planned) -> None:
    rules = replace(planned.loaded.problem.rules, equipment_in_base=True)
    loaded = replace(planned.loaded, problem=replace(planned.loaded.problem, rules=rules))
    report = report_for(replace(planned, loaded=loaded), funder="dfg")
    table = report.tables()[0]
    direct, _, total = (table.shown(row[-1]).removesuffix(".00") for row in table.rows[-3:])
    text = to_markdown(report.parts()[0])
    assert f"We ask for {direct}: 1 machine (" in text
    assert f"With the programme allowance, which the funder adds, it is {total}." in text


def test_what_the_funder_reads_is_plain(planned: Planned) -> None:
    """No day as a file has it, nothing of how the program calls things, no joint that trips."""
    for funder in FUNDERS:
        report = report_for(planned, funder=funder)
        part, annex = report.parts()
        told = [b for s in part.sections for b in s.blocks if isinstance(b, Paragraph)]
        text = "\n".join(joined(paragraph.words) for paragraph in told)
        assert not re.search(r"\d{4}-\d\d-\d\d", text), funder
        assert "by parts" not in to_markdown(part)
        assert not re.search(r"that was compared|to train \d|\(actual|evidence|sound", text)
        assert re.search(r"takes [\d.,]+ days \(an estimate: [\d.,]+ days to [\d.,]+ days\)", text)
        assert "Year 1 is 1 January 2027 to 31 December 2027, and each later year beg" in text
        assert re.search(r"Before the order we ask each vendor for a written quote", text)
        before = to_markdown(annex).partition("## Ledger")[0]
        rules = before.partition("## Rules and settings")[2].partition("## Limits")[0]
        assert not re.search(r"\w\\_\w", rules), "keys of files are for files"
        assert "| not said |" not in rules


def test_a_price_says_that_it_was_added_up_or_is_old(planned: Planned) -> None:
    problem = planned.loaded.problem
    for kind, quoted, words in (
        ("parts-list", TODAY, "Added up from the prices of parts and options, and not quoted"),
        ("list", date(2025, 1, 1), "Older than a year: "),
        ("list", TODAY, "Before the order"),
    ):
        machines = tuple(
            replace(
                m,
                lines=tuple(replace(x, quote_kind=kind, quoted_on=quoted) for x in m.lines),
            )
            for m in problem.machines
        )
        loaded = replace(planned.loaded, problem=replace(problem, machines=machines))
        text = to_markdown(report_for(replace(planned, loaded=loaded)).parts()[0])
        told = f"The oldest of these prices is of {quoted.day} {quoted:%B %Y}. {words}"
        assert told in text


@pytest.mark.parametrize("longest", [8, 33, 61, 90])
def test_a_legend_stays_inside_its_picture(longest: int) -> None:
    """As wide as it is drawn, not as wide as it was reckoned."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.lines import Line2D

    labels = ["RTX PRO 6000 Blackwell workstation, "[: longest % 36] or "R", "m" * 3, "R 6 " * 40]
    labels[2] = labels[2][:longest]
    with styled() as figure_class:
        figure = figure_class(figsize=(7.2, 3.2))
        FigureCanvasAgg(figure)
        fit = columns_that_fit(labels, 2, points=7, inches=7.2)
        handles = [Line2D([], [], marker="o", linestyle="", label=label) for label in labels]
        legend = figure.legend(handles=handles, loc="outside lower center", ncols=fit, fontsize=7)
        figure.canvas.draw()
        drawn = legend.get_window_extent()
    assert drawn.x0 >= 0 and drawn.x1 <= figure.bbox.x1
    assert (fit == 2) is (longest < 50)


def test_the_picture_has_the_total_of_the_tables(planned: Planned) -> None:
    """In a currency whose lines are rounded to whole units their sum is what is asked for."""
    yen = Currency(code="JPY", usd_per_unit=Decimal("0.0067"), on=TODAY, source="a bank")
    grant = replace(planned.loaded.grant, currency=yen, funder="plain")
    grant = replace(grant, institution=replace(grant.institution, name=NO_RULES.name))
    other = Alternative(label="another", change={}, plan=planned.plan, over_budget=False)
    assert planned.plan is not None and planned.explanation is not None
    told = replace(planned.explanation, alternatives=(other,))
    report = build_report(replace(planned.loaded, grant=grant), planned.plan, told)
    (picture,) = [
        b
        for s in report.sections
        for b in s.blocks
        if isinstance(b, Picture) and b.name == "alternatives"
    ]
    table = report.tables()[0]
    assert f"{table.shown(table.rows[-1][-1])}, " in picture.svg
    for part in report.parts():
        assert "rules of no rules" not in to_markdown(part)


def test_runs_rented_year_after_year_share_a_line_of_the_calendar() -> None:
    def placed(machine: str, unit: int, first: float, last: float) -> Placed:
        return Placed(
            experiment_id="a",
            run=1,
            machine_id=machine,
            order=int(first // 365),
            unit=unit,
            pieces=((first, last),),
        )

    runs = [placed("r", 1, 0, 70), placed("r", 2, 0, 70), placed("r", 1, 365, 400)]
    runs += [placed("m", 1, 0, 9), placed("m", 1, 400, 409)]
    lines = [(name, len(line)) for name, _, line in lanes_of(runs, {"m"})]
    assert lines == [("m", 1), ("m", 1), ("r", 2), ("r", 1)]


def test_every_rule_of_a_form_has_its_source() -> None:
    assert {path.stem for path in FOLDER.glob("*.toml")} == set(FUNDERS)
    for funder in FUNDERS:
        form = funder_form(funder)
        assert set(form.before_you_send) <= set(form.sources), funder


def test_what_is_read_is_in_the_currency_of_the_grant(planned: Planned) -> None:
    euro = Currency(code="EUR", usd_per_unit=Decimal("1.25"), on=date(2026, 11, 1), source="a bank")
    text = to_markdown(report_for(planned, currency=euro, funder="dfg").parts()[0])
    asked = re.search(r"We ask for (EUR [\d,.]+)", text)
    assert asked is not None and text.count(asked[1].rstrip(",.:")) >= 2  # in the table, too
    before, _, quotes = text.partition("## Quotes")
    assert "$" not in re.sub(r"\$1\.25 a EUR|from \$10,000", "", before)
    assert "$" in quotes and "each, EUR" in quotes  # as the vendor quotes it, and converted


def amounts(table: ReportTable) -> list[list[Decimal]]:
    """The amounts of a table whose rows add up to its last one."""
    found = [
        [c.value for c in row if isinstance(c, Num) and c.unit in ("usd", "EUR", "JPY")]
        for row in table.rows
    ]
    assert all(len(row) == len(found[-1]) for row in found)
    return found


@pytest.mark.parametrize("code", ["USD", "EUR", "JPY"])
def test_every_table_adds_up_in_the_currency_of_the_grant(planned: Planned, code: str) -> None:
    """To the cent, or the yen, which has none: converted are prices and settings, and the rest is
    computed from them."""
    usd = Decimal("0.0067") if code == "JPY" else Decimal("1.1403")
    rate = Currency(code=code, usd_per_unit=usd, on=date(2026, 9, 25), source="ECB")
    changes = {} if code == "USD" else {"currency": rate}
    report = report_for(planned, funder="horizon", **changes)
    tables = {table.name: table for table in report.tables()}
    *lines, direct, indirect, total = amounts(tables["Budget"])
    years = amounts(tables["By fiscal year"])
    assert [sum(column) for column in zip(*lines, strict=True)] == direct
    assert [a + b for a, b in zip(direct, indirect, strict=True)] == total
    assert [sum(column) for column in zip(*years[:-1], strict=True)] == years[-1]
    for row in (*lines, direct, indirect, total, *years):
        assert sum(row[:-1]) == row[-1]
    # The same total wherever it stands.
    assert years[-1][-1] == total[-1]
    (recommended,) = [c.value for c in tables["Alternatives"].rows[0] if isinstance(c, Num)][:1]
    assert recommended == total[-1]
    # As a spreadsheet reads it where 1,50 is one and a half.
    cells = list(csv.DictReader(io.StringIO(to_csv_text(report)), delimiter=";"))[-1]
    assert (Decimal(cells["all years"].replace(",", ".")), cells["currency"]) == (total[-1], code)
    told = f"${usd} a {code}, the rate of 25 September 2026 (ECB)"
    assert (told in cells.get("converted", "")) is (code != "USD")
    found = json.loads(to_json_text(report), parse_float=Decimal)
    assert Decimal(str(found["budget"]["lines"][-1]["total"]["value"])) == total[-1]
    assert ("exchange_rate" in found) is (code != "USD")
    annex = to_markdown(report.parts()[1]).partition("## Ledger")[0]
    left = re.sub(
        rf"\${usd} a {code}|## Rules and settings.*?## Limits", "", annex, flags=re.DOTALL
    )
    assert ("$" in left) is (code == "USD")
    if code == "JPY":
        assert all(str(cells[name]).isdigit() for name in cells if name.endswith("years"))
        assert all(value == value.to_integral_value() for row in (*lines, *years) for value in row)
        assert re.search(r"JPY [\d,]+\.\d\d(?!\d| an)", annex) is None
    sheets = pytest.importorskip("openpyxl").load_workbook(io.BytesIO(to_xlsx(report)))
    wanted = {"EUR": '"EUR" #,##0.00', "JPY": '"JPY" #,##0', "USD": "$#,##0.00"}[code]
    last = sheets["Budget"].cell(len(tables["Budget"].rows) + 1, 2)
    assert last.number_format == wanted
    told = [cell.value for (cell,) in sheets["Report"].iter_rows(max_col=1)]
    assert "Justification" in told and any(str(text).startswith("Choice. ") for text in told)
    for sheet in sheets:  # a long label goes on in its cell, where its neighbour would cut it
        long = [c for row in sheet.iter_rows() for c in row if len(str(c.value)) > 80]
        assert all(c.alignment.wrap_text for c in long if c.data_type == "s"), sheet.title


def test_nothing_is_zero_of_each_currency_apart() -> None:
    ledger = NumberLedger()
    assert [ledger.total([], "nothing", unit).unit for unit in ("usd", "EUR")] == ["usd", "EUR"]


def test_what_is_rented_says_its_hours_its_rates_and_their_age(store_path: Path) -> None:
    grant = read_grant(EXAMPLE)
    experiment = structs.replace(grant.experiments[1], each_year=False, runs=1)
    grant = replace(grant, experiments=(experiment,), buy=False, owned=(), vat=Decimal("0.19"))
    planned = plan_loaded(load_grant(Store(store_path), grant, TODAY), 60, quick=True)
    report = report_for(planned, funder="nsf")
    text = to_markdown(report.parts()[0])
    assert re.search(r"Rented computers\. \$[\d,.]+ pays for [\d,]+ hours on 1 × .+ at \w+ ", text)
    (rates,) = [table for table in report.tables() if table.name == "Rates"]
    _, _, rate, paid, day, age = rates.rows[0]
    assert isinstance(rate, Num) and isinstance(paid, Num)
    asked = report.tables()[0].rows[0][-1]
    assert isinstance(asked, Num) and asked.value == paid.value
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", str(day)) and re.search(r"\d+ (days|months)", str(age))
    told = date.fromisoformat(str(day))
    assert f"The oldest of these rates is of {told.day} {told:%B %Y}. Before the first" in text
    assert "look up the provider's rate again" in text
    assert "The providers maintain the rented computers." in text
    annex = to_markdown(report.parts()[1])
    assert "- The training time is a prediction, not a measurement; its interval" in annex
    assert "Each run" not in text and "1 run in all. It trains the whole model once" in text


def test_a_funder_is_not_told_whose_quote_yours_is(planned: Planned) -> None:
    problem = planned.loaded.problem
    machines = tuple(
        replace(m, lines=tuple(replace(x, vendor=f"{x.vendor} ({OWN_QUOTE})") for x in m.lines))
        for m in problem.machines
    )
    loaded = replace(planned.loaded, problem=replace(problem, machines=machines))
    funder, annex = report_for(replace(planned, loaded=loaded)).parts()
    assert OWN_QUOTE not in to_markdown(funder)
    assert OWN_QUOTE in to_markdown(annex)


def test_depreciation_tax_and_the_share_of_the_funder_stand_as_arithmetic(
    store_path: Path,
) -> None:
    grant = read_grant(EXAMPLE)
    house = replace(grant.institution, equipment_as="depreciated", life_months=60)
    house = replace(house, use_share=Decimal("0.8"), equipment_in_base=True)
    grant = replace(grant, experiments=grant.experiments[1:2], owned=(), rent=False)
    grant = replace(grant, institution=house, vat=Decimal("0.2"), usd_per_kwh=None)
    loaded = load_grant(Store(store_path), replace(grant, pays_electricity=False), TODAY)
    planned = plan_loaded(loaded, 60, quick=True)
    assert planned.plan is not None
    machine_id = planned.plan.purchases[0].machine_id
    price = next(m for m in loaded.problem.machines if m.machine_id == machine_id).price_usd
    text = to_markdown(report_for(planned, funder="ukri").parts()[0])
    assert f"at ${price * Decimal('1.2'):,.2f}".removesuffix(".00") in text
    summed = any(
        line.quote_kind == "parts-list"
        for m in loaded.problem.machines
        if m.machine_id == machine_id
        for line in m.lines
    )
    how = "added up from its parts" if summed else "as quoted"
    told = f"${price:,.2f}".removesuffix(".00")
    assert f"({told} {how}, and then value-added tax). We ask for its depreciation, 36" in text
    assert "36 of 60 months at 80 % use" in text
    charged = (price * Decimal("1.2") * 36 / 60 * Decimal("0.8")).quantize(Decimal("0.01"))
    assert f"use: ${charged:,.2f}".removesuffix(".00") in text
    cost = Decimal(planned.plan.cost_cents) / 100
    paid = (cost * Decimal("0.8")).quantize(Decimal("0.01"))
    assert f"pays 80 % of the total: ${paid:,.2f}".removesuffix(".00") in text
    # What is asked for is the funder's part, and not the full cost.
    told = f"We ask for ${paid:,.2f}".removesuffix(".00")
    assert f"{told}, which is 80 % of the full cost of $" in text
    assert "Prices of machines include 20 % value-added tax" in text  # nothing is rented


def test_warranty_within_a_price_is_named_and_no_paragraph_is_empty(planned: Planned) -> None:
    extra = MachineExtra(key="costs[1]", name="Three years of support", usd=Decimal(100))
    problem = planned.loaded.problem
    rules = replace(problem.rules, machine_extras=(extra,))
    staff = FixedCost(
        key="costs[2].amount", name="Help", kind="staff", year=0, usd=Decimal(99), in_base=True
    )
    loaded = replace(planned.loaded, problem=replace(problem, rules=rules, fixed=(staff,)))
    text = to_markdown(report_for(replace(planned, loaded=loaded)).parts()[0])
    assert " Help: $99. In the price of each machine: Three years of support." in text
    assert not re.search(r"^(Upkeep|Data|Need|Choice)\.\s*$", text, re.MULTILINE)


def test_another_plan_that_does_less_is_not_said_to_do_the_same_work(planned: Planned) -> None:
    plan = planned.plan
    assert plan is not None and planned.explanation is not None
    for runs, words in (
        (plan.runs, "Doing the same work on rented computers costs $10 in all"),
        (plan.runs - 1, f"Rented computers alone do {plan.runs - 1} runs, for $10 in all"),
    ):
        other = Alternative(
            label="buy nothing, rent instead",
            change={"no_purchases": True},
            plan=replace(plan, runs=runs, cost_cents=1000),
            over_budget=False,
        )
        told = replace(planned.explanation, alternatives=(other,))
        rented, none = (
            to_markdown(report_for(replace(planned, explanation=told), rent=rent).parts()[0])
            for rent in (True, False)
        )
        assert f"Why not rent. {words}; this request is $" in rented
        assert "Why not rent" not in none  # granted hours alone are no rent


def planned_quote(planned: Planned) -> str:
    """The quote of the first machine that is bought."""
    assert planned.plan is not None
    bought = planned.plan.purchases[0].machine_id
    machine = next(m for m in planned.loaded.problem.machines if m.machine_id == bought)
    return machine.lines[0].quote_id


def test_a_plan_judged_by_more_than_what_is_paid_is_not_said_to_cost_least(
    planned: Planned,
) -> None:
    def text(**problem: object) -> str:
        changed = replace(planned.loaded.problem, **problem)  # type: ignore[arg-type]
        loaded = replace(planned.loaded, problem=changed)
        return to_markdown(report_for(replace(planned, loaded=loaded)).parts()[0])

    rules = planned.loaded.problem.rules
    less = "No other machine that we compared does this work for less."
    assert less in text()
    assert less not in text(rules=replace(rules, lifetime_years=Decimal(5)))
    unsure = Allocation(allocation_id="allocation:1", name="A", gpu_hours_a_year=None)
    assert less in text(allocations=(unsure,))
    days = {each.model: 30.0 for each in planned.loaded.problem.experiments}
    free = replace(make_rental("allocation:1:1", "0", days), allocation="allocation:1")
    odds = replace(unsure, odds=Decimal("0.4"))
    told = text(allocations=(odds,), rentals=(free,))
    assert less not in told
    assert "Why not A. It is awarded with odds of 40 %, and the plan does not count on it." in told
    grant = replace(planned.loaded.grant, lifetime_years=Decimal(5))
    assert planned.plan is not None
    sentence = plan_sentence(replace(planned.loaded, grant=grant), planned.plan)
    assert sentence.endswith("cheapest, less what its machines are still worth after it.")


def test_every_sheet_prints_on_the_paper_of_the_funder(planned: Planned) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    for funder, paper in (("nsf", 1), ("dfg", 9)):
        report = replace(report_for(planned, funder=funder), title="2 & more")
        book = openpyxl.load_workbook(io.BytesIO(to_xlsx(report)))
        for sheet in book:
            setup = sheet.page_setup
            assert (setup.paperSize, setup.fitToHeight) == (paper, 0), sheet.title
            assert sheet.sheet_properties.pageSetUpPr.fitToPage
            assert "2 && more" in sheet.oddFooter.left.text or "2 &" in sheet.oddFooter.left.text
            assert (setup.orientation == "landscape") is (sheet.title != "Report")
            assert bool(sheet.print_title_rows) is (sheet.title != "Report")
        # A column that is too narrow for its number shows hashes in its place.
        prices = book["Prices"]
        (at,) = [c.column for c in prices[1] if c.value == "each"]
        (width,) = [d.width for d in prices.column_dimensions.values() if d.min <= at <= d.max]
        price = planned.loaded.quotes[planned_quote(planned)].price_usd
        assert width > len(f"${price:,.2f}")


def test_a_sheet_shows_every_line_of_a_text_and_every_unit(planned: Planned) -> None:
    """Programs that do not fit rows themselves cut a text after its first line."""
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.load_workbook(io.BytesIO(to_xlsx(report_for(planned, funder="ukri"))))
    sheet = book["Report"]
    long = [c for (c,) in sheet.iter_rows(max_col=1) if len(str(c.value)) > 84 and c.row > 2]
    # Programs do not scale a single column that is wider than the paper: they cut it.
    assert long and sheet.column_dimensions["A"].width <= 85
    for cell in long:
        height = sheet.row_dimensions[cell.row].height
        assert height is not None and height >= 15 * len(str(cell.value)) / 84
    for name, column, unit in (
        ("Times", "training", " days"),
        ("Schedule", "training", " days"),
        ("Running", "use of a run", " kWh"),
    ):
        (head,) = [c for c in book[name][1] if c.value == column]
        assert head.alignment.horizontal == "right"
        assert book[name].cell(2, head.column).number_format.endswith(f'"{unit}"')


def test_a_discount_decides_what_counts_as_equipment_in_table_and_overhead(
    planned: Planned,
) -> None:
    """The price that is paid is held against the threshold, by the table as by the overhead."""
    plan, problem = planned.plan, planned.loaded.problem
    assert plan is not None
    machine_id = plan.purchases[0].machine_id
    price = next(m for m in problem.machines if m.machine_id == machine_id).price_usd
    threshold = price * Decimal("0.95")
    for discount, line in (("0.1", "G1. Materials"), ("0.01", "D. Equipment")):
        rules = replace(
            problem.rules, equipment_threshold_usd=threshold, discount=Decimal(discount)
        )
        loaded = replace(planned.loaded, problem=replace(problem, rules=rules))
        table = report_for(replace(planned, loaded=loaded), funder="nsf").tables()[0]
        assert any(str(row[0]).startswith(line) for row in table.rows)
        charge = purchase_charge(
            PLAIN,
            next(m for m in problem.machines if m.machine_id == machine_id),
            rules,
            Decimal(1),
        )
        assert bool(charge.base) is (line == "G1. Materials")


NOTHING = Plan(
    purchases=(),
    work=(),
    rented=(),
    placed=(),
    left_out={},
    cost_cents=0,
    judged_cents=0,
    runs=0,
    value=0,
    finish_day=0.0,
    proven=True,
    gap=None,
)


def cautions_of(grant: Grant) -> list[str]:
    """Of the settings alone: nothing is bought or run."""
    return cautions(grant, make_problem(rules=rules_of(grant)), NOTHING)


GRANT = """
[grant]
start = 2027-01-01
years = 3
funder = "{funder}"
[[experiments]]
model = "pythia-410m"
"""


@pytest.mark.parametrize(
    ("funder", "rate", "threshold", "currency"),
    [
        ("dfg", "0.25", 10_000, "EUR"),
        ("horizon", "0.25", 0, "EUR"),
        ("ukri", "0", 25_000, "GBP"),
        ("nserc", "0", 0, "CAD"),
    ],
)
def test_the_flat_rate_of_a_funder_counts_where_no_rules_are_named(
    tmp_path: Path, funder: str, rate: str, threshold: int, currency: str
) -> None:
    path = tmp_path / "grant.toml"
    path.write_text(GRANT.format(funder=funder), encoding="utf-8")
    grant = read_grant(path)
    house = grant.institution
    assert (house.overhead_rate, grant.currency.code) == (Decimal(rate), currency)
    assert house.equipment_threshold_usd == grant.currency.to_usd(Decimal(threshold))
    assert house.sources["overhead_rate"] and house.sources["equipment_threshold"]
    assert rules_of(grant).life_months == (60 if funder == "horizon" else None)
    house_said = [text for text in cautions_of(grant) if text.startswith("Counted by the rules of")]
    assert len(house_said) == 1 and f"overhead of {float(rate) * 100:.3g} %" in house_said[0]
    # Who writes dollars is answered in dollars.
    text = GRANT.format(funder=funder) + '[budget]\ntotal = "$60,000"\n'
    path.write_text(text, encoding="utf-8")
    assert (read_grant(path).currency.code, read_grant(path).budget_usd) == ("USD", 60_000)
    # A rate of the grant's own moves the threshold; rules of its own go before.
    own = '[budget]\ncurrency = "{}"\nusd_per_unit = 2\nusd_per_unit_on = 2026-11-01\n'
    path.write_text(GRANT.format(funder=funder) + own.format(currency), encoding="utf-8")
    assert read_grant(path).institution.equipment_threshold_usd == 2 * threshold
    rules = '[institution]\nrules = "us-equipment-10000"\n'
    path.write_text(GRANT.format(funder=funder) + rules, encoding="utf-8")
    assert read_grant(path).institution.overhead_rate == Decimal("0.15")
    (abroad,) = [text for text in cautions_of(read_grant(path)) if "Counted by" in text]
    assert f'write rules = "{house.file[:-5]}" under [institution]' in abroad


def test_rules_state_one_threshold(tmp_path: Path) -> None:
    path = tmp_path / "house.toml"
    both = "equipment_threshold = 1\nequipment_threshold_usd = 1\n"
    for text in ("", both):
        path.write_text(f'name = "H"\noverhead_rate = 0.1\n{text}', encoding="utf-8")
        with pytest.raises(InputError, match=r"equipment_threshold_usd: .*one of the two"):
            read_institution(path)


def test_depreciation_stands_in_the_years_of_its_months(planned: Planned) -> None:
    plan, problem = planned.plan, planned.loaded.problem
    assert plan is not None and planned.explanation is not None
    rules = replace(problem.rules, life_months=30, use_share=Decimal("0.5"), grant_months=36)
    loaded = replace(planned.loaded, problem=replace(problem, rules=rules))
    given = material_of(loaded, plan, planned.explanation)
    price = given.costs.equipment[0].charge.direct.value
    asked = [e.direct.value for e in entries(given) if e.line == "equipment"][:3]
    assert sum(asked) == price
    assert [round(amount / price, 3) for amount in asked] == [
        *(Decimal("0.4"), Decimal("0.4"), Decimal("0.2")),  # 12, 12 and 6 of 30 months
    ]
    depreciated = report_for(replace(planned, loaded=loaded), funder="horizon").tables()[0]
    assert str(depreciated.rows[0][0]).startswith("C.2 Equipment (depreciation): ")
    whole = report_for(planned, funder="horizon").tables()[0]
    assert str(whole.rows[0][0]).startswith("C.2 Equipment (whole price): ")


def test_each_rate_of_overhead_has_its_base(planned: Planned) -> None:
    plan, problem = planned.plan, planned.loaded.problem
    assert plan is not None and planned.explanation is not None
    rules = replace(problem.rules, overhead_rate_electricity=Decimal("0.26"))
    rules = replace(rules, equipment_in_base=True, overhead_rate=Decimal("0.5"))
    loaded = replace(planned.loaded, problem=replace(problem, rules=rules))
    given = material_of(loaded, plan, planned.explanation)
    power = sum(r.charge.direct.value for r in given.costs.running)
    rest = sum(e.charge.direct.value for e in given.costs.equipment)
    text = to_markdown(report_for(replace(planned, loaded=loaded), funder="nsf").parts()[0])
    found = re.search(
        r"26 % of \$([\d,.]+) \(electricity\) and 50 % of \$([\d,.]+) \(the rest\)", text
    )
    assert found is not None
    assert [Decimal(each.replace(",", "")) for each in found.groups()] == [power, rest]
    off = power * Decimal("0.26") + rest / 2 - given.costs.indirect.value
    assert abs(off) <= Decimal("0.01") * plan.runs


def test_the_nsf_is_not_told_what_others_pay(planned: Planned) -> None:
    rules = replace(planned.loaded.problem.rules, cost_share=Decimal("0.25"))
    problem = replace(planned.loaded.problem, rules=rules)
    shared = replace(planned, loaded=replace(planned.loaded, problem=problem))
    changes = {"cost_share": Decimal("0.25"), "cost_share_by": "the lab next door"}
    told = to_markdown(report_for(shared, funder="nih", **changes).parts()[0])
    assert "of which the lab next door pays 25 %" in told
    funder, annex = report_for(shared, funder="nsf", **changes).parts()
    assert "next door" not in to_markdown(funder) and "25 %" not in to_markdown(funder)
    assert "the lab next door pays a part" in to_markdown(annex)


def test_fifteen_years_stand_in_tables_that_fit_on_paper() -> None:
    nums = tuple(Num(value=Decimal(n), unit="usd", row=n) for n in range(1, 17))
    years = tuple(f"year {n}" for n in range(1, 16))
    table = ReportTable(name="Budget", columns=("line", *years, "all"), rows=(("D.", *nums),))
    pieces = table.pieces(5)
    assert [len(piece.columns) for piece in pieces] == [6, 6, 6, 2]
    assert [piece.name for piece in pieces][::3] == ["Budget, year 1 to year 5", "Budget, all"]
    assert [cell for piece in pieces for cell in piece.rows[0][1:]] == list(nums)
    assert table.pieces(16) == [table]


def test_a_table_with_cents_has_them_everywhere_and_a_rate_is_short() -> None:
    amounts = [Num(value=Decimal(text), unit="usd", row=1) for text in ("3432", "2565.3")]
    table = ReportTable(name="B", columns=("a", "b"), rows=(tuple(amounts),))
    assert [table.shown(cell) for cell in table.rows[0]] == ["$3,432.00", "$2,565.30"]
    for value, unit, text in (
        ("0.1833435421066194", "EUR-per-kwh", "EUR 0.1833 a kWh"),
        ("1.8", "usd-per-hour", "$1.80 an hour"),
        ("2.05254", "usd-per-hour", "$2.0525 an hour"),
        ("0.00001234", "usd-per-kwh", "$0.00001234 a kWh"),
    ):
        assert number_words(Decimal(value), unit) == text


def test_a_yearly_line_is_paid_once_for_two_halves_of_a_year() -> None:
    grant = read_grant(EXAMPLE)
    storage = CostLine(name="Disks", kind="storage", amount=AmountOrZero(1200), per="year")
    grant = replace(grant, costs=(storage,), award_years="fiscal")  # from July
    paid = [each.usd for each in fixed_costs(grant)]
    assert len(paid) == grant.years + 1 and sum(paid) == 1200 * grant.years
    assert paid[0] == (Decimal(1200) * 181 / 365).quantize(Decimal("0.01"))


def test_a_spreadsheet_reads_the_csv_as_utf_8(planned: Planned, tmp_path: Path) -> None:
    for funder, mark in (("nsf", b"line,"), ("dfg", b"\xef\xbb\xbfline;")):
        path = tmp_path / f"{funder}.csv"
        write_report(report_for(planned, funder=funder), [path], force=False)
        assert path.read_bytes().startswith(mark)
    lines = path.read_text(encoding="utf-8-sig").splitlines()
    (first, *_) = csv.DictReader(lines, delimiter=";")
    assert first["line"].startswith("Equipment above the limit (Geräte)")
    assert first["form"] == "DFG, by funding year"
    assert re.fullmatch(r"\d+,\d\d", first["all years"])
    assert all(len(row) == len(lines[0].split(";")) for row in csv.reader(lines, delimiter=";"))


def test_what_is_wanted_every_year_is_wanted_every_twelve_months(
    store_path: Path, tmp_path: Path
) -> None:
    """Where a fiscal year cuts the money of two years in three, no half year is left without."""
    path = tmp_path / "grant.toml"
    text = GRANT.format(funder="plain").replace("years = 3", 'years = 2\naward_years = "calendar"')
    path.write_text(text.replace("2027-01-01", "2027-07-01") + "each_year = true\n")
    loaded = load_grant(Store(store_path), read_grant(path), TODAY)
    wanted = loaded.problem.experiments
    assert [(e.release_day, e.due_day) for e in wanted] == [(0, 366), (366, 731)]
    assert [e.name for e in wanted] == ["Pythia 410M, year 1", "Pythia 410M, year 2"]
    assert [e.experiment_id for e in wanted] == ["pythia-410m, year 1", "pythia-410m, year 2"]
    assert loaded.problem.year_days == (0, 184, 550, 731)


def test_a_rate_that_the_grant_states_is_told_in_its_currency() -> None:
    def told(row: str) -> str:
        change = {"rent_price": (row, "2.28")}
        rate = Solved(value=Decimal("2.28"), unit="usd-per-hour", change=change, reads="threshold")
        return Finding(words=("at ", rate)).text(lambda usd: f"€{usd / 2}")

    assert told("allocation:1:2") == "at €1.14 an hour"
    assert told("shelf-2026:9") == "at $2.28 an hour"


def test_gpus_for_a_machine_of_the_lab_are_no_machine(store_path: Path) -> None:
    grant = read_grant(EXAMPLE)
    wanted = structs.replace(grant.experiments[1], each_year=False, runs=8)
    grant = replace(grant, experiments=(wanted,), years=1, rent=False, buy_gpus=("RTX A6000",))
    planned = plan_loaded(load_grant(Store(store_path), grant, TODAY), 60, quick=True)
    assert planned.plan is not None
    (bought,) = planned.plan.purchases
    label = next(
        m.label for m in planned.loaded.problem.machines if m.machine_id == bought.machine_id
    )
    text = to_markdown(report_for(planned, funder="nsf").parts()[0])
    assert f": GPUs for 1 machine ({label}) and electricity. It pays for 8 runs of tr" in text
    assert f"Choice. We ask for GPUs for 1 machine ({label}) at $" in text
    assert (
        "We have 1 machine (2 × A6000). With the GPUs that we ask for, 8 runs can be done" in text
    )


def test_dates_under_the_calendar_are_written_where_there_is_room() -> None:
    assert told_apart((0, 365, 730)) == [0, 365, 730]
    assert told_apart((0, 261, 627, 731)) == [0, 261, 731]  # a cut last year
    fifteen = told_apart([365 * year for year in range(16)])
    assert (fifteen[0], fifteen[-1]) == (0, 365 * 15) and len(fifteen) <= 7
    assert min(b - a for a, b in pairwise(fifteen)) * 6 >= 365 * 15


def test_a_grant_without_rules_is_told_that_no_overhead_is_counted(
    store_path: Path, tmp_path: Path
) -> None:
    path = tmp_path / "grant.toml"
    free = "[purchases]\nallowed = false\n"
    path.write_text(GRANT.format(funder="nsf") + free, encoding="utf-8")
    (told,) = [text for text in cautions_of(read_grant(path)) if "overhead" in text]
    assert told.startswith("No overhead is counted") and "overhead_rate" in told
    planned = plan_loaded(load_grant(Store(store_path), read_grant(path), TODAY), 60, quick=True)
    assert planned.plan is not None
    first = plan_sentence(planned.loaded, planned.plan)
    assert re.match(
        r"Rent \d × \S+( \S+)* from \w+: the one run for \$\d+ without overhead, ", first
    )
    annex = to_markdown(report_for(planned).parts()[1])
    assert "Buying was not compared" in annex and "No overhead is counted" in annex
    rules = '[institution]\nrules = "us-equipment-10000"\n'
    path.write_text(GRANT.format(funder="nsf") + rules, encoding="utf-8")
    assert not any("No overhead" in text for text in cautions_of(read_grant(path)))


def test_hours_that_are_granted_for_every_year_are_one_paragraph(
    store_path: Path, tmp_path: Path
) -> None:
    path = tmp_path / "grant.toml"
    hours = '[[allocations]]\nname = "Campus"\nkind = "campus"\ngpu = "H100"\nmax_gpus = 4\n'
    hours += "gpu_hours_a_year = 3000\nusd_per_gpu_hour = 0\n"
    text = GRANT.format(funder="nsf") + "each_year = true\n[purchases]\nallowed = false\n" + hours
    path.write_text(text, encoding="utf-8")
    planned = plan_loaded(load_grant(Store(store_path), read_grant(path), TODAY), 60, quick=True)
    assert planned.plan is not None and not planned.plan.cost_cents
    text = to_markdown(report_for(planned).parts()[0])
    found = re.findall(r"Granted hours\. 3 runs \(Pythia 410M\) on (.+): ([\d,]+) GPU-hours", text)
    assert len(found) == 1 and "Campus" in found[0][0]
    assert "We ask for no money. We do 3 runs of training on granted hours between " in text
    problem, runs = planned.loaded.problem, planned.plan.rented
    gpus = {r.rental_id: (r.gpu_count, r.times["pythia-410m"].days) for r in problem.rentals}
    days = [gpus[r.rental_id][0] * gpus[r.rental_id][1] * r.runs for r in runs]
    assert float(found[0][1].replace(",", "")) == pytest.approx(sum(days) * 24, rel=0.01)


def test_what_is_asked_for_does_not_pay_for_runs_on_granted_hours(
    store_path: Path, tmp_path: Path
) -> None:
    path = tmp_path / "grant.toml"
    hours = '[[allocations]]\nname = "Campus"\nkind = "campus"\ngpu = "H100"\nmax_gpus = 4\n'
    hours += "gpu_hours_a_year = 3000\nusd_per_gpu_hour = 0\nends = 2027-12-31\n"
    text = GRANT.format(funder="nsf") + "each_year = true\n[purchases]\nallowed = false\n" + hours
    path.write_text(text, encoding="utf-8")
    planned = plan_loaded(load_grant(Store(store_path), read_grant(path), TODAY), 60, quick=True)
    text = to_markdown(report_for(planned).parts()[0])
    assert "With granted hours, that is enough for 3 runs of training between" in text
    assert "It pays for" not in text
