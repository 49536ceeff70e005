"""What the lab has: which of it does the work, and what stays unused."""

from __future__ import annotations

from pathlib import Path

from advisor.planning.grant.read_grant import read_grant
from advisor.planning.plan_grant import load_grant, plan_loaded
from advisor.planning.report.formats.markdown_csv_json import to_markdown
from advisor.planning.unused_gpus import unused_gpus
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
    (why,) = {each.why for each in unused_gpus(planned.loaded.problem, planned.plan)}
    assert f"{have} each), unused since {why}." in text


def test_what_no_run_can_use_says_the_reason_that_a_terminal_says(
    store_path: Path, tmp_path: Path
) -> None:
    path = tmp_path / "grant.toml"
    slow = '[[owned]]\ngpu = "V100 16GB SXM"\ngpu_count = 1\n'
    other = '[[owned]]\ngpu = "RTX 5090"\ngpu_count = 1\n'
    text = GRANT.format(funder="plain").replace("pythia-410m", "pythia-6.9b")
    for owned in (slow, slow + other):
        path.write_text(f"{text}[purchases]\nlead_days = 30\n{owned}", encoding="utf-8")
        loaded = load_grant(Store(store_path), read_grant(path), TODAY)
        planned = plan_loaded(loaded, 60, quick=True)
        assert planned.plan is not None
        unused = unused_gpus(loaded.problem, planned.plan)
        assert len(unused) == owned.count("[[owned]]")
        said = to_markdown(report_for(planned).parts()[0])
        if len({each.why for each in unused}) == 1:
            assert said.count(f", unused since {unused[0].why}.") == 1
        for each in unused:
            assert f"({each.machine.label.removesuffix(' (owned)')}" in said
            assert f", unused since {each.why}" in said
