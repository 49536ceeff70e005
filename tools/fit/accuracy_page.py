"""`python -m tools.fit.accuracy_page [--out FILE]` writes how good predictions are.

Cross-validates everything, so it takes some minutes. docs/prediction.md is what it wrote
last; a test says when the evidence has moved on.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

# One thread: the matrices are small, and threads that wait for each other cost more than they do.
# It must be said before numpy is loaded.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

from advisor.prediction.observed_times import Observation  # noqa: E402
from advisor.prediction.physics.chip import gpu_type  # noqa: E402
from bench_runner.typed_numbers import percent  # noqa: E402
from tools.fit.accuracy_chance import DRAWS  # noqa: E402
from tools.fit.accuracy_cuts import Cuts, cuts_of, own_of  # noqa: E402
from tools.fit.accuracy_goals import (  # noqa: E402
    PAPER_MUST,
    RATIO_MUST,
    TRUTH_MUST,
    goal_table,
    summary,
)
from tools.fit.accuracy_groups import (  # noqa: E402
    Group,
    beaten_list,
    cut_table,
    groups_of,
    held_words,
    rare_list,
)
from tools.fit.accuracy_lists import CHOSEN, NOT_TAKEN, TRIED, listed  # noqa: E402
from tools.fit.accuracy_memory import (  # noqa: E402
    analytic_table,
    verdict_table,
    verdicts_of,
)
from tools.fit.accuracy_tables import (  # noqa: E402
    bert_table,
    compared_table,
    grouped,
    held_table,
    log_bias,
    machine_of,
    median_error,
    ratio_table,
    width_table,
)
from tools.fit.accuracy_words import (  # noqa: E402
    BETTER_GUESSES,
    BEYOND_GOAL,
    BOUND,
    BY_MODEL,
    FEW_PAIRS,
    LATER,
    LATER_TABLE,
    LINKS,
    ON_PCIE,
    ONE_SIDED,
    ONLY_EXPECTED,
    READING,
    SIMULATED,
)
from tools.fit.cross_validate import project  # noqa: E402
from tools.fit.fit import Posterior, fit_posterior  # noqa: E402
from tools.fit.fitted_from import fingerprint, kept_of  # noqa: E402
from tools.fit.shipped_evidence import load_evidence  # noqa: E402
from tools.fit.told_widths import told_table, told_widths  # noqa: E402
from tools.fit.training_limits import as_table  # noqa: E402


def main() -> int:
    """Print the report, or write it to a file."""
    parser = argparse.ArgumentParser(prog="python -m tools.fit.accuracy_page", description=__doc__)
    parser.add_argument("--out", type=Path, metavar="FILE", help="write it there instead")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="processes (default: 2)")
    options = parser.parse_args()
    observations = load_evidence()
    whole = fit_posterior(observations)
    with ProcessPoolExecutor(options.jobs) as pool:
        plain = cuts_of(pool, observations, whole)
        cuts = cuts_of(pool, observations, None)
    text = page(observations, whole, cuts, plain)
    if options.out is None:
        print(text, end="")
    else:
        options.out.write_text(text, encoding="utf-8")
    return 0


def page(observations: Sequence[Observation], whole: Posterior, cuts: Cuts, plain: Cuts) -> str:
    """All of it. ``plain`` are the cuts with the widths of the whole evidence."""
    groups = groups_of(cuts.named)
    verdicts = verdicts_of(observations)
    told = told_widths(kept_of(whole, observations))
    timed = sum(o.step_s is not None for o in observations)
    shares = (percent(whole.highest_share), percent(whole.highest_native_share))
    parts = [
        "# How good the predictions are",
        "Written by `python -m tools.fit.accuracy_page --out docs/prediction.md`; "
        "it takes some minutes. "
        f"Evidence: {timed} measured times, fit {fingerprint(observations)}.",
        "## What to make of a prediction",
        summary(cuts, groups),
        "## Goals",
        goal_table(cuts, groups, verdicts, told),
        "## How to read the tables",
        listed(READING.format(widths=len(whole.widths))),
        *_left_out(cuts, plain),
        *_of_groups(groups),
        "## Times that were taken later",
        _line(LATER),
        LATER_TABLE.strip(),
        "## A whole source left out",
        "Its bias is unknown then: other people's software, as a user meets it.",
        grouped(cuts.truth["a whole source"], project),
        *_of_cards(cuts),
        "## The fastest that is predicted",
        listed(BOUND.format(share=shares[0], native=shares[1])),
        "## How wide the intervals are",
        width_table(cuts.truth),
        "What a user is told: half-widths of every recipe that ships on 1, 2, 4 and 8 of every GPU "
        "of the catalogue, with the settings that are written out and with the paper's. The goal "
        "is at most 1.15 on a GPU that our stack was measured on, and 1.3 on one with evidence of "
        "its own.",
        told_table(told),
        listed(BEYOND_GOAL),
        "## Two machines compared",
        "The ratio of two times of one model, method and source. What two predictions share (the "
        "model, the software) cancels in it, so that its 90 % interval is narrower than those of "
        "the two times. A ranking tells builds apart by it. Of every two at least one machine has "
        "a GPU of the type that is left out of the fit.",
        "Table 1 is held against predictions without the paper's bias. What its clock does to "
        "either time is added to the interval, as wide as the fit without the GPU has it (without: "
        "70 % inside), and of others by how much more their times scatter than ours (without: 84 "
        "%). The pairs are not independent: most of the others compare the same few GPUs.",
        compared_table(cuts.compared),
        "## Fit or no fit",
        verdict_table(verdicts),
        "## The analytic estimate",
        analytic_table(observations),
        *_in_detail(cuts),
        "## Rules that were chosen after we had seen residuals",
        listed(CHOSEN),
        "## Readings that were tried and not taken",
        "What one gained in these cuts another lost. The figures are of the day of the trial, with "
        "the widths of the whole evidence.",
        listed(TRIED),
        "## Evidence that was not taken",
        "Public tables that we read and left out, by the reason.",
        listed(NOT_TAKEN),
    ]
    return "\n\n".join(parts) + "\n"


def _left_out(cuts: Cuts, plain: Cuts) -> list[str]:
    on_pcie = cuts.truth["all GPUs on PCIe"]
    bias = log_bias(on_pcie)
    return [
        "## Table 1 as published, with the paper's bias term",
        held_table(cuts.paper, PAPER_MUST, plain.paper),
        "## Measurements without the paper's bias",
        held_table(cuts.truth, TRUTH_MUST, plain.truth),
        _line(
            ON_PCIE.format(
                error=percent(median_error(on_pcie)),
                side="slow" if bias < 0 else "fast",
                bias=f"{bias:+.2f}",
            )
        ),
        "This project's own synchronised measurements alone, as one stack:",
        held_table(own_of(cuts.truth), {}, own_of(plain.truth)),
    ]


def _of_groups(groups: Sequence[Group]) -> list[str]:
    return [
        "## How many intervals hold",
        held_words(groups),
        _line(SIMULATED.format(draws=DRAWS)),
        cut_table(groups),
        _line(ONLY_EXPECTED),
        rare_list(groups),
        _line(ONE_SIDED),
        "## A prediction or a guess",
        beaten_list(groups),
        "Why, for the groups that are furthest behind:",
        listed(BETTER_GUESSES),
    ]


def _of_cards(cuts: Cuts) -> list[str]:
    return [
        "## Cards",
        "Each GPU type left out of the fit with all its rows.",
        grouped(cuts.truth["a whole GPU type"], lambda o: gpu_type(o.chip)),
        "How fast each is beside the A100 (or the H100, where its source measured no A100), with "
        "the card left out of the fit: medians over the times that one source took of one model "
        "on as many of both. The interval is that by which the program tells two machines apart. "
        f"The goal is {percent(RATIO_MUST)}.",
        ratio_table(cuts.ratios),
        "Of these, BERT-large on one GPU of each, by which sellers compare cards:",
        bert_table(cuts.ratios),
        listed(FEW_PAIRS),
        "## Links",
        listed(LINKS),
        "## Cards held back by their watts",
        "What a power limit leaves of a card's speed comes from matrix products, which draw most. "
        "A training step draws less, by one number that is fitted to trainings of BERT and "
        "ResNet-50 under limits of half of the watts and more. Below each card's trainings are "
        "predicted from the other cards': root mean square of the logarithms, every card weighing "
        "alike. A card of half the watts that nobody measured (an RTX PRO 6000 Max-Q) has an "
        "interval that is wider by about as much.",
        as_table(),
    ]


def _in_detail(cuts: Cuts) -> list[str]:
    parts = [
        "## Table 1, model by model left out",
        listed(BY_MODEL),
        grouped(cuts.paper["a whole model"], lambda o: o.workload.workload_id),
    ]
    for name in ("one cell", "a whole model", "a whole GPU type"):
        for title, held in (("Table 1", cuts.paper[name]), ("Measurements", cuts.truth[name])):
            parts += [
                f"## {title}, {name} left out, by family, GPU and number of GPUs",
                grouped(held, lambda o: o.workload.family),
                grouped(held, lambda o: gpu_type(o.chip)),
                grouped(held, machine_of),
            ]
    return parts


def _line(text: str) -> str:
    """A paragraph, on one line."""
    return " ".join(text.split())


if __name__ == "__main__":
    sys.exit(main())
