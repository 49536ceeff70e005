"""What the lab has: which of it does the work, and what stays unused."""

from __future__ import annotations

from pathlib import Path

from advisor.planning.grant.grant import read_grant
from advisor.planning.plan_grant import load_grant, plan_loaded
from advisor.planning.report.markdown_csv_json import to_markdown
from advisor.store import Store
from tests.planning.forms_for_tests import GRANT, TODAY, report_for


def test_what_the_lab_has_says_which_of_it_does_the_work(store_path: Path, tmp_path: Path) -> None:
    path = tmp_path / "grant.toml"
    path.write_text(
        GRANT.format(funder="plain").replace("years = 3", "years = 1")
        + "[purchases]\nallowed = false\n[rentals]\nallowed = false\n"
        '[[owned]]\ngpu = "H100"\ngpu_count = 4\n'
        '[[owned]]\ngpu = "RTX 5090"\ngpu_count = 1\nmachines = 2\n',
        encoding="utf-8",
    )
    planned = plan_loaded(load_grant(Store(store_path), read_grant(path), TODAY), 60, quick=True)
    assert planned.plan is not None
    (placed,) = planned.plan.placed
    assert placed.machine_id.startswith("owned:1:")
    text = to_markdown(report_for(planned).parts()[0])
    have = "What exists. We have 1 machine (4 × H100), used for 1 run; and 2 machines (1 × RTX 5090"
    assert f"{have} each), whose use would not make this work cheaper." in text
