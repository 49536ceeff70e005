"""Plans of the worked example, with their reports."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

from advisor.planning.grant.read_grant import read_grant
from advisor.planning.plan_grant import EXAMPLE, load_grant, plan_loaded
from advisor.planning.planned_grant import Planned
from advisor.planning.report.build_report import build_report
from advisor.planning.report.document import Report
from advisor.store import Store
from tests.planning.grant_files import changed

TODAY = date(2026, 11, 21)


def planned_from(store_path: Path, **changes: Any) -> Planned:
    grant = changed(read_grant(EXAMPLE), **changes)
    planned = plan_loaded(load_grant(Store(store_path), grant, TODAY), 300)
    assert planned.plan is not None
    return planned


def report_of(planned: Planned, *, pictures: bool = True) -> Report:
    assert planned.plan is not None
    assert planned.explanation is not None
    return build_report(planned.loaded, planned.plan, planned.explanation, pictures=pictures)
