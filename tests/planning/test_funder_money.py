"""The money of a funder's form: its lines, its overhead, what others pay, NIH's modules."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("typst")
pytest.importorskip("xlsxwriter")

from advisor.planning.grant.read_grant import read_grant
from advisor.planning.planned_grant import Planned
from advisor.planning.report.facts.request import modules_of
from advisor.planning.report.formats.markdown_csv_json import to_csv_text, to_json_text, to_markdown
from advisor.planning.report.formats.pdf import to_typst
from advisor.planning.report.number_ledger import Num
from advisor.planning.report.plan_costs import Material
from advisor.planning.solver.money.arithmetic import PLAIN
from advisor.planning.solver.money.charges import purchase_charge
from advisor.typed_input import InputError
from tests.planning.forms_for_tests import GRANT, report_for


def test_the_nsf_is_not_told_what_others_pay(planned: Planned) -> None:
    rules = replace(planned.loaded.problem.rules, cost_share=Decimal("0.25"))
    problem = replace(planned.loaded.problem, rules=rules)
    shared = replace(planned, loaded=replace(planned.loaded, problem=problem))
    changes = {"purchases": {"cost_share": Decimal("0.25"), "cost_share_by": "the lab next door"}}
    told = to_markdown(report_for(shared, funder="horizon", **changes).parts()[0])
    assert "of which the lab next door pays 25 %" in told
    funder, annex = report_for(shared, funder="nsf", **changes).parts()
    assert "next door" not in to_markdown(funder) and "25 %" not in to_markdown(funder)
    assert "the lab next door pays a part" in to_markdown(annex)


def test_a_sum_that_others_pay_is_not_asked_for(planned: Planned, tmp_path: Path) -> None:
    changes = {"shared": Decimal(1000), "shared_by": "the faculty"}
    report = report_for(planned, funder="nih", **changes)
    table = report.tables()[0]
    total, theirs, left = (row[-1] for row in table.rows[-3:])
    assert isinstance(total, Num) and isinstance(theirs, Num) and isinstance(left, Num)
    # The table of every form says it, and in the sheet it follows from the total.
    ledger = {row.number: row for row in report.rows}
    assert (left.value, ledger[left.row].of) == (total.value - 1000, (total.row, theirs.row))
    part = report.parts()[0]
    for written in (to_markdown(part), to_typst(part)):
        row = re.search(r"Paid by the faculty(.+?)Asked of the funder(.+)", written, re.DOTALL)
        assert row and "$1,000" in row[1] and f"${total.value - 1000:,.2f}" in row[2]
    # More than all of it is not asked back.
    rich = to_markdown(report_for(planned, **changes | {"shared": Decimal(10**7)}).parts()[0])
    assert "We ask for no money" in rich and "We ask for 1" not in rich
    budget = json.loads(to_json_text(report))["budget"]
    assert budget["asked"]["value"] == float(total.value - 1000)
    theirs = budget["paid_by_others"]
    *_, paid, rest = csv.DictReader(io.StringIO(to_csv_text(report)))
    assert (paid["line"], paid["all years"]) == ("Paid by the faculty", "1000.00")
    assert rest["line"] == "Asked of the funder"
    assert float(rest["all years"]) == budget["asked"]["value"]
    assert (theirs["by"], theirs["amount"]["value"]) == ("the faculty", 1000)

    def asked(funder: str) -> float:
        found: float = json.loads(to_json_text(report_for(planned, funder=funder, **changes)))[
            "budget"
        ]["asked"]["value"]
        return found

    # UKRI pays its share of all of it whoever pays the rest; the DFG adds to its own part alone.
    whole, direct = budget["lines"][-1]["total"]["value"], budget["lines"][-3]["total"]["value"]
    assert asked("ukri") == pytest.approx(whole * 0.8, abs=0.01)
    assert asked("dfg") == pytest.approx(direct - 1000)
    # What is paid in a later year is not there for an earlier one; what is left over is.
    sums = (Decimal(0), Decimal(10**5), Decimal(0))
    later = changes | {"shared": sum(sums), "shared_by_year": sums}
    report = report_for(planned, funder="nih", **later)
    *_, whole, theirs_row, asked_row = report.tables()[0].rows
    costs, paid_by, asked_by = (
        [cell.value for cell in row if isinstance(cell, Num)]
        for row in (whole, theirs_row, asked_row)
    )
    there = Decimal(0)
    for cost, paid, sum_of_year in zip(costs[:-1], paid_by[:-1], sums, strict=True):
        there += sum_of_year
        assert paid == min(there, cost)
        there -= paid
    assert 0 < paid_by[-1] == sum(costs[1:-1]) < costs[0]
    assert [a - b for a, b in zip(costs, paid_by, strict=True)] == asked_by
    path = tmp_path / "grant.toml"
    for funder, lines, problem in (
        ("nsf", 'shared = 9\nshared_by = "B"', "nsf prohibits voluntary cost sharing"),
        ("plain", "shared = 9", "must say who pays the shared sum"),
        ("plain", 'shared_by = ""', "is empty: write who pays, or remove it and what they pay"),
        ("plain", "shared = 9\nshared_by = 9", 'must say who pays, .* like "the faculty"'),
        ("plain", 'shared_per_year = []\nshared_by = "B"', "has 0 amounts for 3 years"),
        ("plain", 'shared_by = "B"', "names who pays, but no sum is there: write shared"),
        (
            "plain",
            'per_year = [5, 5, 5]\nshared = 9\nshared_by = "B"',
            "write shared_per_year, one sum",
        ),
        ("plain", 'shared = 9\nshared_per_year = [9]\nshared_by = "B"', "remove one of the two"),
        ("plain", 'shared_per_year = [9]\nshared_by = "B"', "has 1 amount for "),
        ("plain", 'total = 50\nshared = 9\nshared_by = "B"', None),
    ):
        path.write_text(f"{GRANT.format(funder=funder)}[budget]\n{lines}\n", encoding="utf-8")
        if problem is None:
            grant = read_grant(path)
            assert (grant.budget, grant.shared, grant.shared_reach) == (50, 9, 1)
            assert replace(grant, funder="ukri").shared_reach == 0
            continue
        with pytest.raises(InputError, match=rf"budget\.shared.*: .*{problem}"):
            read_grant(path)


def test_nih_takes_modules_and_asks_why_their_number_varies(planned: Planned) -> None:
    for discount, vat, told in (
        ("0.9", 0, None),  # less than one module in every year
        ("0", 0, "modules, because we buy the "),
        ("0", 9, None),  # more than ten modules in a year
    ):
        rules = planned.loaded.problem.rules
        rules = replace(rules, vat=Decimal(vat), discount=Decimal(discount))
        loaded = replace(planned.loaded, problem=replace(planned.loaded.problem, rules=rules))
        report = report_for(replace(planned, loaded=loaded), funder="nih")
        part = to_markdown(report.parts()[0])
        modular = part.partition("## Modular budget")[2]
        assert (told or "") in modular and bool(modular) is (told is not None)
        # What stays in the office is no part of what is sent.
        annex = to_markdown(report.parts()[1])
        assert ("## Justification" in annex) is bool(modular) is not ("## Justification" in part)
        assert "office" not in part
        _, found, narrative = modular.partition("Additional narrative justification. ")
        assert "$" not in narrative
        if found:
            assert re.search(r"Modules \| [34] \| 1 \| 1 \| [56] \|", modular)
            assert re.search(r"in modules \| \$(75|100),000\S* \| \$25,000\S* \| ", modular)
    changes = {"shared": Decimal(9), "shared_by": "the faculty"}
    assert "Modul" not in to_markdown(report_for(planned, funder="nih", **changes).parts()[0])


@pytest.mark.parametrize(
    ("directs", "modules"),
    [
        ((30_000, 10_000, 20_000), (2, 1, 1)),  # the mean pays for the first year too late
        ((20_000, 30_000, 25_000), (1, 1, 1)),
        ((20_000, 30_001, 25_000), (2, 2, 2)),
        ((25_000, 25_000, 25_000), (1, 1, 1)),
    ],
)
def test_every_year_has_the_same_modules_unless_costs_come_before_them(
    planned: Planned, directs: tuple[int, ...], modules: tuple[int, ...]
) -> None:
    assert planned.plan is not None and planned.explanation is not None
    given = Material(planned.loaded, planned.plan, planned.explanation)

    def num(usd: int) -> Num:
        return given.ledger.leaf("setting", usd, "usd", "direct costs", key=str(usd))

    found = modules_of(given, [num(usd) for usd in directs], num(sum(directs)), num(25_000))
    assert tuple(each.value for each in found) == modules


def test_a_discount_decides_what_counts_as_equipment_in_table_and_overhead(
    planned: Planned,
) -> None:
    """The price that is paid is held against the threshold, by the table as by the overhead."""
    plan, problem = planned.plan, planned.loaded.problem
    assert plan is not None
    machine_id = plan.purchases[0].machine_id
    price = next(m for m in problem.machines if m.machine_id == machine_id).price
    threshold = price * Decimal("0.95")
    for discount, line in (("0.1", "G1. Materials"), ("0.01", "D. Equipment")):
        rules = replace(problem.rules, equipment_threshold=threshold, discount=Decimal(discount))
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
