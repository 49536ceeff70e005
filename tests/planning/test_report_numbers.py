"""Every number of a report, walked back to its rows."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

pytest.importorskip("matplotlib")
pytest.importorskip("typst")
pytest.importorskip("xlsxwriter")

from advisor.planning.grant.read_grant import read_grant
from advisor.planning.plan_grant import EXAMPLE
from advisor.planning.planned_grant import Planned
from advisor.planning.report.document import Report, words_of
from advisor.planning.report.formats.markdown_csv_json import to_json_text
from advisor.planning.report.number_ledger import Num
from advisor.planning.solver.money.arithmetic import OPERATIONS
from advisor.planning.solver.money.cents import run_cents
from advisor.planning.solver.problem import Rules
from tests.planning.forms_for_tests import planned_from, report_for
from tests.planning.number_walk import Walk
from tests.plans_for_tests import make_machine


@pytest.fixture(scope="module")
def planned(bought: Planned) -> Planned:
    return bought


@pytest.fixture(scope="module")
def report(planned: Planned) -> Report:
    return report_for(planned, pictures=True)


DAY = r"\d{1,2} [A-Z][a-z]+ \d{4}"


@pytest.fixture(scope="module", params=["bought", "rented", "most", "parts"])
def variant(request: pytest.FixtureRequest, store_path: Path, bought: Planned) -> Planned:
    """Plans that differ in what they pay for and by which rules."""
    if request.param == "bought":
        return bought
    if request.param == "rented":
        wanted = read_grant(EXAMPLE).experiments[1:3]
        return planned_from(store_path, experiments=wanted, owned=())
    if request.param == "most":
        return planned_from(
            store_path,
            objective="most-runs",
            predictions=True,
            experiments=read_grant(EXAMPLE).experiments[3:],
            budget=Decimal(20_000),
            year_budget=(Decimal(9_000), Decimal(9_000), Decimal(2_000)),
        )
    house = structs.replace(
        read_grant(EXAMPLE).institution,
        fabrication_is_equipment=False,
        overhead_rate=Decimal("0.5"),
    )
    return planned_from(
        store_path,
        institution=house,
        owned=(),
        rentals={"allowed": False},
        experiments=read_grant(EXAMPLE).experiments[1:3],
        electricity={"price_change": Decimal("0.03")},
        vat=Decimal("0.1"),
    )


def every(value: Any) -> Iterator[Any]:
    """Each number and text inside a JSON value, with the object that it stands in."""
    if isinstance(value, dict):
        if set(value) == {"value", "unit", "row"}:
            yield value
            return
        for each in value.values():
            yield from every(each)
    elif isinstance(value, list):
        for each in value:
            yield from every(each)
    elif value is not None:
        yield value


def test_every_number_is_walked_back_to_its_rows(variant: Planned, store_path: Path) -> None:
    found = json.loads(to_json_text(report_for(variant)), parse_float=Decimal)
    rows = {row["number"]: row for row in found["rows"]}
    assert variant.plan is not None
    (total,) = [row["value"] for row in found["rows"] if row["label"] == "total cost"]
    assert Decimal(str(total)) * 100 == variant.plan.cost_cents
    # What something left out would have saved is another plan's, which has rows of its own.
    cells = list(every({k: v for k, v in found.items() if k not in ("rows", "left_out")}))
    numbers = [cell for cell in cells if isinstance(cell, dict)]
    assert not [cell for cell in cells if not isinstance(cell, dict | str)]
    assert len(numbers) > 80
    for cell in numbers:
        assert cell["value"] == rows[cell["row"]]["value"]
        assert cell["unit"] == rows[cell["row"]]["unit"]
    walk = Walk(variant, store_path)
    for number, row in rows.items():
        value = Decimal(str(row["value"]))
        if row["operation"] is None:
            again = walk.plan_(row["origin"], row) if row["kind"] == "plan" else walk.value(row)
            assert Decimal(str(again)) == value, row
            continue
        assert all(other < number for other in row["of"])
        of = [Decimal(str(rows[other]["value"])) for other in row["of"]]
        again = OPERATIONS[row["operation"]](of)
        assert abs(again - value) <= (
            Decimal("0.005") if row["decimals"] is not None else abs(value) * Decimal("1e-12")
        ), row


def test_dearer_electricity_is_added_up_by_hand() -> None:
    """5 % a year over three years: every kWh has the price of the middle, 1.05 to the 1.5."""
    machine = make_machine("m", "1", {"a": 10.0})  # of 1 kW
    rules = Rules(
        price_per_kwh=Decimal("0.15"),
        electricity_change=Decimal("0.05"),
        failures=Decimal("0.05"),
        pue=Decimal("1.3"),
        grant_months=36,
        electricity_in_base=False,
    )
    kwh = 24 * 10 * 1.05 * 1.3
    assert run_cents(machine, "a", rules) == round(kwh * 0.15 * 1.05**1.5 * 100)


UNEVEN = r"\d GPUs do not share a batch of [\d,]+ evenly: the time is with one of [\d,]+"
TRIED = "30 days later", "without the limit of 90 days on a run"
"""What was tried, not what was found."""


def unexplained(planned: Planned, texts: Iterable[str]) -> list[str]:
    """Texts with a digit that is of no name, date, year or batch."""
    problem, models = planned.loaded.problem, planned.loaded.models.values()
    lines = [line for m in problem.machines for line in m.lines]
    names = {m.label for m in problem.machines} | {m.gpu_name for m in problem.machines}
    names |= {line.label for line in lines} | {line.vendor for line in lines}
    names |= {r.label for r in problem.rentals} | {e.name for e in problem.experiments}
    names |= {e.name for e in planned.loaded.grant.experiments} | {m.name for m in models}
    names |= {planned.loaded.grant.institution.name, *TRIED}
    longest_first = sorted(map(re.escape, names), key=len, reverse=True)
    known = re.compile("|".join([DAY, r"year \d", UNEVEN, *longest_first]))
    return [text for text in texts if re.search(r"\d", known.sub("", text))]


def test_no_text_holds_a_number_that_has_no_row(report: Report, planned: Planned) -> None:
    """What stands in running text and in cells is a name or a date; amounts and counts are numbers
    with rows."""
    told, texts = {"Sources", "Settings", "Times", "Parts", "Prices", "Budget", "Asked"}, []
    for section in report.sections:
        if section.title not in ("Sources and versions", "Before you send it"):
            for block in section.blocks:
                each = [block] if isinstance(block, str) else block
                if isinstance(each, list | tuple):
                    texts += [w for text in each for w in words_of(text) if isinstance(w, str)]
    assert len(texts) > 30
    tables = [table for table in report.tables() if table.name not in told]
    texts += [c for t in tables for row in t.rows for c in row if isinstance(c, str)]
    assert unexplained(planned, texts) == []
    (asked,) = [table for table in report.tables() if table.name == "Asked"]
    assert all(isinstance(number, Num) for row in asked.rows for number in row[1:5])
