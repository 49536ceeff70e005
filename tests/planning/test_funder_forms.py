"""What a funder reads: its own lines, by award year, without marks, on at most four pages."""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest
from msgspec import structs

pytest.importorskip("matplotlib")
pytest.importorskip("typst")
pytest.importorskip("xlsxwriter")

from advisor.planning.grant.funder import funder_form, paper_of
from advisor.planning.grant.grant_keys import FUNDERS
from advisor.planning.grant.read_grant import read_grant
from advisor.planning.plan_grant import EXAMPLE, load_grant, plan_loaded
from advisor.planning.planned_grant import Planned
from advisor.planning.report.budget_entries import LINES, entries
from advisor.planning.report.build_report import build_report
from advisor.planning.report.formats.markdown_csv_json import to_markdown
from advisor.planning.report.formats.pdf import to_pdf
from advisor.planning.report.formats.write_report import check_targets, write_report
from advisor.planning.report.plan_costs import Material
from advisor.planning.solver.money.cents import cents_by_year
from advisor.store import Store
from advisor.typed_input import InputError
from tests.planning.forms_for_tests import TODAY, report_for
from tests.planning.grant_files import changed


@pytest.mark.parametrize(
    ("funder", "currency", "paper"),
    [
        ("plain", "USD", "us-letter"),
        ("plain", "CAD", "us-letter"),
        ("plain", "CHF", "a4"),
        ("dfg", "USD", "a4"),
        ("nsf", "EUR", "us-letter"),
    ],
)
def test_nobodys_form_is_printed_on_the_paper_of_its_country(
    funder: str, currency: str, paper: str
) -> None:
    assert paper_of(funder_form(funder), currency) == paper  # type: ignore[arg-type]


@pytest.mark.parametrize("funder", FUNDERS)
def test_each_form_has_its_lines_its_paper_and_few_pages(planned: Planned, funder: str) -> None:
    form = funder_form(funder)  # type: ignore[arg-type]
    report = report_for(planned, funder=funder)
    part, annex = report.parts()
    table = next(table for table in report.tables() if table.name == "Budget")
    assert table.columns[0] == form.name
    names = [str(row[0]) for row in table.rows]
    end = [form.lines.direct, form.lines.indirect, form.lines.total]
    if funder == "ukri":
        end += ["Paid by the institution", "Asked of the funder"]
    elif funder == "dfg":
        end.append("Asked of the funder")
    assert names[-len(end) :] == end
    assert any(name.startswith(form.lines.equipment) for name in names)
    if funder in ("nsf", "nih"):  # whose lines have letters
        lines = [getattr(form.lines, kind) for kind in LINES]
        letters = [str(line).partition(".")[0] for line in lines if line is not None]
        assert letters == sorted(letters)
    letter = funder in ("nsf", "nih", "nserc", "plain")  # the grant is in US dollars
    made = to_pdf(part)
    assert len(re.findall(rb"/Type\s*/Page\b", made)) <= 4
    width = 612 if letter else 595
    assert re.search(rb"/MediaBox\s*\[\s*0 0 %d" % width, made)
    assert not re.search(r"\[\d+\]|Ledger", to_markdown(part))
    assert "Ledger" in to_markdown(annex)
    assert not any(str(text) in to_markdown(part) for text in form.before_you_send.values())
    # What was not compared is said to the lab, for the justification cannot.
    assert "Renting was not compared" in to_markdown(annex)
    assert "No campus cluster or national programme was compared" in to_markdown(annex)


def test_the_years_of_the_form_are_those_that_the_solver_kept_to(planned: Planned) -> None:
    plan, problem = planned.plan, planned.loaded.problem
    assert plan is not None and planned.explanation is not None
    found = entries(Material(planned.loaded, plan, planned.explanation))
    by_year = cents_by_year(problem, plan.purchases, plan.placed)
    for year, cents in enumerate(by_year):
        asked = sum(e.direct.value + e.indirect.value for e in found if e.year == year)
        assert abs(asked * 100 - cents) <= len(found), year
    whole = sum(e.direct.value + e.indirect.value for e in found)
    assert whole * 100 == plan.cost_cents


def test_no_money_has_its_report_in_every_form(store_path: Path, tmp_path: Path) -> None:
    """No run has no row in a table and no line in a picture."""
    grant = read_grant(EXAMPLE)
    experiment = structs.replace(grant.experiments[1], each_year=False, runs=1)
    no = {"allowed": False}
    grant = changed(grant, experiments=(experiment,), purchases=no, rentals=no, owned=())
    grant = replace(grant, objective="most-runs", budget=Decimal(0), year_budget=None)
    planned = plan_loaded(load_grant(Store(store_path), grant, TODAY), 60)
    assert planned.plan is not None and planned.explanation is not None
    report = build_report(planned.loaded, planned.plan, planned.explanation)
    names = [str(tmp_path / f"r.{ending}") for ending in ("pdf", "md", "xlsx", "csv", "json")]
    written = write_report(report, check_targets(names, force=False), force=False)
    assert all(path.stat().st_size > 100 for path in written)
    asked = (tmp_path / "r.md").read_text(encoding="utf-8")
    assert "No run can be done with this money between 1 January 2027 and" in asked


def test_the_annex_lies_beside_the_report_and_is_not_overwritten(
    planned: Planned, tmp_path: Path
) -> None:
    names = [str(tmp_path / f"r.{ending}") for ending in ("pdf", "md", "csv")]
    written = write_report(report_for(planned), check_targets(names, force=False), force=False)
    assert {path.name for path in written} == {
        *("r.pdf", "r-annex.pdf", "r.md", "r-annex.md", "r.csv"),
    }
    (tmp_path / "r.pdf").unlink()
    with pytest.raises(InputError, match=r"r-annex\.pdf.*is there already.*--force"):
        check_targets(names[:1], force=False)


def test_depreciation_stands_in_the_years_of_its_months(planned: Planned) -> None:
    plan, problem = planned.plan, planned.loaded.problem
    assert plan is not None and planned.explanation is not None
    rules = replace(problem.rules, life_months=30, use_share=Decimal("0.5"), grant_months=36)
    loaded = replace(planned.loaded, problem=replace(problem, rules=rules))
    given = Material(loaded, plan, planned.explanation)
    price = given.costs.equipment[0].charge.direct.value
    asked = [e.direct.value for e in entries(given) if e.line == "equipment"][:3]
    assert sum(asked) == price
    assert [round(amount / price, 3) for amount in asked] == [
        # 11, 12 and 7 of 30 months: it is delivered in February.
        *(Decimal("0.367"), Decimal("0.4"), Decimal("0.233")),
    ]
    depreciated = report_for(replace(planned, loaded=loaded), funder="horizon").tables()[0]
    assert str(depreciated.rows[0][0]).startswith("C.2 Equipment (depreciation): ")
    whole = report_for(planned, funder="horizon").tables()[0]
    assert str(whole.rows[0][0]).startswith("C.2 Equipment (whole price): ")
