"""The report: what an office asks for, every form opened, the same bytes twice."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("typst")
pytest.importorskip("xlsxwriter")

from advisor.planning.grant.read_grant import read_grant
from advisor.planning.plan_grant import EXAMPLE
from advisor.planning.report.formats.markdown_csv_json import to_csv_text, to_json_text, to_markdown
from advisor.planning.report.formats.pdf import to_pdf
from advisor.planning.report.formats.xlsx import to_xlsx
from tests.planning.forms_for_tests import planned_from, report_for


def test_the_same_inputs_give_the_same_bytes(store_path: Path) -> None:
    """Read, solved and explained anew: two models, of which one is trained every year."""
    wanted = read_grant(EXAMPLE).experiments[3:5]
    report, again = (
        report_for(planned_from(store_path, experiments=wanted), pictures=True) for _ in range(2)
    )
    for form in (to_markdown, to_csv_text, to_json_text, to_pdf, to_xlsx):
        assert form(report) == form(again), form.__name__


def test_every_setting_of_an_institution_is_explained() -> None:
    from advisor.planning.grant.institution import Institution, meanings

    names = {*Institution.__struct_fields__} - {"equipment_threshold_usd"}
    by_year = {"overhead_rate_by_year"}  # a row a year, which says itself which
    assert (
        set(meanings("institution"))
        == names - {"name", "file", "note", "sources", "threshold_in", "procurement"} - by_year
    )
