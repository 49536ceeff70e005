"""What a search found, as a person reads it."""

from __future__ import annotations

from typing import Any

from advisor.benchmark.progress import Progress, outcome_sentence, outcome_text
from advisor.tui.benchmark.benchmark_rows import tried_lines

PAPERS = {"free lunch", "zero-1", "zero-2", "zero-3"}
LEAN = "free lunch + layers compiled + fused loss + trimmed"


def finished(*rows: tuple[str, str, float | None, str | None], best: str | None) -> Progress:
    progress = Progress([label for label, *_ in rows], 3.0)
    for label, status, days, reason in rows:
        record: dict[str, Any] = {"status": status, "training_days": days, "reason": reason}
        kind = "left-out" if status == "pruned" else "trial-finished"
        progress.apply({"event": kind, "label": label, "record": record}, 1.0)
    progress.apply({"event": "search-finished", "label": best}, 2.0)
    progress.close()
    return progress


def test_the_winner_stands_first_with_its_gains_and_the_rest_is_folded() -> None:
    progress = finished(
        ("naive", "ok", 14.4, None),
        ("zero-1", "pruned", None, "cannot win: at best 9 s a step"),
        ("free lunch", "ok", 10.4, None),
        ("zero-3", "pruned", None, "cannot fit: weights alone take 90 GiB"),
        (LEAN, "ok", 7.2, None),
        ("zero-2", "infeasible", None, "out of memory at micro-batch 1"),
        best=LEAN,
    )
    asked = (progress, "Pythia 1B", "1 × H100")
    head, table, why, folded = outcome_text(*asked, PAPERS, details=False, width=99).split("\n\n")
    said = " ".join(head.split())
    assert f"in 7.2 days, measured here with {LEAN}, 2.00 × as fast as naive, 1.44 × as" in said
    assert said.endswith("the paper's best (free lunch).")
    assert [line.split("  ")[0] for line in table.splitlines()[1:]] == [LEAN, "free lunch", "naive"]
    assert why == "Without a time:\n  zero-2: out of memory at micro-batch 1"
    assert folded == "2 left out: --details shows why."
    all_of_it = outcome_text(*asked, PAPERS, details=True, width=99)
    assert "zero-1: cannot win" in all_of_it and "--details" not in all_of_it
    more = outcome_sentence(*asked, PAPERS | {"zero-3 + offloading"})
    assert "the paper's fastest of 1 tried (free lunch)" in more


def test_why_a_time_may_not_be_the_machine_s_is_known() -> None:
    told: dict[str, dict[str, Any]] = {
        "naive": {"settled": "after 2 steps: three in a row", "gpu": {"sm_clock_mhz": 1980.0}},
        "free lunch": {"settled": "not settled after 9 steps: times still differed"},
        "zero-1": {"settled": "after 2 steps: three", "gpu": {"slowed_by_heat": 0.4}},
    }
    progress = Progress(list(told), 3.0)
    for label, environment in told.items():
        record = {"status": "ok", "training_days": 6.0, "environment": environment}
        progress.apply({"event": "trial-finished", "label": label, "record": record}, 1.0)
    calm, restless, hot = (row.unsure for row in progress.rows.values())
    assert calm == ""
    assert "still differed by more than 2 %" in restless and "heat" in hot
    assert any(restless == text for text, _ in tried_lines(progress.rows["free lunch"]))


def test_a_search_that_was_cut_short_says_so() -> None:
    progress = Progress(["naive", "free lunch", "zero-1"], 3.0)
    record = {"status": "ok", "training_days": 6.0}
    progress.apply({"event": "trial-finished", "label": "naive", "record": record}, 1.0)
    progress.apply({"event": "trial-started", "label": "free lunch"}, 1.5)
    progress.apply({"event": "search-finished", "label": "naive"}, 2.0)
    progress.close()
    assert outcome_sentence(progress, "Pythia 1B", "1 × H100", PAPERS) == (
        "Pythia 1B trains on 1 × H100 in 6 days, measured here with naive; the search was not "
        "finished."
    )
    # What ran stands with its reason, what was never begun is counted.
    text = outcome_text(progress, "Pythia 1B", "1 × H100", PAPERS, details=False, width=99)
    assert text.endswith("free lunch: stopped while it ran\n\n1 not tried: --details shows why.")
