"""What a search found, as a person reads it."""

from __future__ import annotations

from typing import Any

from advisor.benchmark.progress import Progress, folded_words, gains, outcome_sentence, shown_first
from advisor.tui.benchmark.benchmark_rows import tried_lines

PAPERS = {"free lunch", "zero-1", "zero-2", "zero-3"}
LEAN = "free lunch + layers compiled + fused loss + trimmed"


def finished(*rows: tuple[str, str, float | None, str | None], best: str | None) -> Progress:
    progress = Progress([label for label, *_ in rows], 3.0, "fast")
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
    shown, folded = shown_first(progress)
    assert [row.label for row in shown] == [LEAN, "free lunch", "naive", "zero-2"]
    assert folded_words(folded) == "2 others left out (1 cannot win, 1 cannot fit)"
    words = gains(progress, PAPERS)
    assert words is not None
    assert words.startswith(f"{LEAN}: ")
    assert "2.00 × as fast as naive" in words
    assert "1.44 × as fast as the paper's best (free lunch)" in words
    more = gains(progress, PAPERS | {"zero-3 + offloading"})
    assert more is not None and "the paper's fastest of 1 tried (free lunch)" in more


def test_why_a_time_may_not_be_the_machine_s_is_known() -> None:
    told: dict[str, dict[str, Any]] = {
        "naive": {"settled": "after 2 steps: three in a row", "gpu": {"sm_clock_mhz": 1980.0}},
        "free lunch": {"settled": "not settled after 9 steps: times still differed"},
        "zero-1": {"settled": "after 2 steps: three", "gpu": {"slowed_by_heat": 0.4}},
    }
    progress = Progress(list(told), 3.0, "fast")
    for label, environment in told.items():
        record = {"status": "ok", "training_days": 6.0, "environment": environment}
        progress.apply({"event": "trial-finished", "label": label, "record": record}, 1.0)
    calm, restless, hot = (row.unsure for row in progress.rows.values())
    assert calm == ""
    assert "still differed by more than 2 %" in restless and "heat" in hot
    assert any(restless == text for text, _ in tried_lines(progress.rows["free lunch"]))


def test_a_search_that_was_cut_short_says_so() -> None:
    progress = Progress(["naive", "free lunch", "zero-1"], 3.0, "fast")
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
    shown, folded = shown_first(progress)
    assert [(row.label, row.detail) for row in shown] == [
        ("naive", ""),
        ("free lunch", "stopped while it ran"),
    ]
    assert folded_words(folded) == "1 other not tried"
