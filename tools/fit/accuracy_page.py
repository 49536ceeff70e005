"""`python -m tools.fit.accuracy_page [--out FILE]` writes how good predictions are.

Cross-validates everything, which takes half an hour. docs/prediction.md is what it wrote last; a
test fails when the evidence has changed since.
"""

from __future__ import annotations

import argparse
import math
import os
import statistics
import sys
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

# One thread: the matrices are small, and threads that wait for each other cost more than they do.
# It must be set before numpy is loaded.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

from advisor.prediction.observed_times import PAPER, Observation  # noqa: E402
from advisor.prediction.physics.chip import gpu_type  # noqa: E402
from advisor.prediction.predict_one import analytic_days  # noqa: E402
from bench_runner.typed_numbers import percent  # noqa: E402
from tools.fit.accuracy_cuts import GUESSES, Cuts, Held, cuts_of  # noqa: E402
from tools.fit.cross_validate import (  # noqa: E402
    CUTS,
    is_own,
    is_truth,
    project,
    training_days,
)
from tools.fit.fit import Posterior, fit_posterior  # noqa: E402
from tools.fit.fit_memory import fit_costs, says_fits  # noqa: E402
from tools.fit.interval_widths import width_rows  # noqa: E402
from tools.fit.refit import fingerprint, kept_of  # noqa: E402
from tools.fit.shipped_evidence import load_evidence  # noqa: E402
from tools.fit.training_limits import as_table  # noqa: E402

Row = Sequence[object]

READING = """
- Models and sources are left out several at a time, each whole; GPU types one by one. Everything
  that touches what is left out is kept out of the fit: of the factors, the effects, their widths
  and the calibration of the intervals.
- *Median*, *mean* and *90th percentile* are of the error. An error inside the rounding of a printed
  day counts as none.
- *Log bias* is the median logarithm of measured over predicted: above 0 where predictions are too
  fast.
- The last two columns are the median errors of guesses that need no fit: the median MFU of the same
  GPU in the rest of the evidence, and 40 % of the peak.
- We chose some rules after we had seen the residuals of these very cuts, so the figures flatter by
  as much. tools/fit/NOTES.md lists the rules, and what was tried and not taken.
"""
COMPARED = """
The ratio of two times of one model, method and source. What two predictions share (the model, the
software) cancels in it, so that its 90 % interval is narrower than those of the two times. A
ranking tells builds apart by it. Of every two at least one machine has a GPU of the type that is
left out of the fit. Table 1 is held against predictions without the paper's bias: what its clock
does to either time is added to the interval. The pairs are not independent: most of the others
compare the same few GPUs.
"""
LIMITS = """
What a power limit leaves of a card's speed comes from matrix products, which draw most. A training
step draws less, by one number that is fitted to trainings of BERT and ResNet-50 under limits of
half of the watts and more. Below each card's trainings are predicted from the other cards': root
mean square of the logarithms, every card weighing alike.
"""
RATIOS = """
How fast each is beside the A100 (or the H100, where its source measured no A100), with the card
left out of the fit: medians over the times that one source took of one model on as many of both.
The interval is that by which the program tells two machines apart.
"""
CASES = (
    ("a model that nobody measured, on a card that we measured", "a whole model", True),
    ("a card that nobody measured", "a whole GPU type", False),
    ("somebody else's software, of which no time is known", "a whole source", False),
)
"""What a reader may ask for, the cut that says how good it is, and whether of our times alone."""


def main() -> int:
    """Print the page, or write it to a file."""
    parser = argparse.ArgumentParser(prog="python -m tools.fit.accuracy_page", description=__doc__)
    parser.add_argument("--out", type=Path, metavar="FILE", help="write it there instead")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="processes (default: 2)")
    options = parser.parse_args()
    observations = load_evidence()
    with ProcessPoolExecutor(options.jobs) as pool:
        cuts = cuts_of(pool, observations)
    text = page(observations, fit_posterior(observations), cuts)
    if options.out is None:
        print(text, end="")
    else:
        options.out.write_text(text, encoding="utf-8")
    return 0


def page(observations: Sequence[Observation], whole: Posterior, cuts: Cuts) -> str:
    """All of it; ``whole`` is the fit of all evidence."""
    timed = sum(o.step_s is not None for o in observations)
    own = {name: [h for h in held if is_own(h.observation)] for name, held in cuts.truth.items()}
    by_group = []
    for name in ("a whole model", "a whole GPU type"):
        for title, held in (("Table 1", cuts.paper[name]), ("Measurements", cuts.truth[name])):
            by_group += [
                f"## {title}, {name} left out, by family and GPU",
                grouped(held, lambda o: o.workload.family),
                grouped(held, lambda o: gpu_type(o.chip)),
            ]
    parts = [
        "# How good the predictions are",
        "Written by `python -m tools.fit.accuracy_page --out docs/prediction.md`. "
        f"Evidence: {timed} measured times, fit {fingerprint(observations)}.",
        "## What to make of a prediction",
        summary(cuts),
        "## How to read the tables",
        READING.strip(),
        "## Table 1 as published, with the paper's bias term",
        held_table(cuts.paper),
        "## Measurements without the paper's bias",
        held_table(cuts.truth),
        "This project's own synchronised measurements alone, as one stack:",
        held_table(own),
        "## A whole source left out",
        "Its bias is unknown then: other people's software, as a user meets it.",
        grouped(cuts.truth["a whole source"], project),
        "## Cards",
        RATIOS.strip(),
        ratio_table(cuts),
        "## Cards held back by their watts",
        LIMITS.strip(),
        as_table(),
        "## The fastest that is predicted",
        "No prediction is faster than the highest share of what its matrix products alone take on "
        "a GPU that any training in half precision was measured at in a framework such as PyTorch: "
        f"{percent(whole.highest_share)}. Code in C and CUDA for one kind of model reaches "
        f"{percent(whole.highest_native_share)}, which bounds its own rows alone.",
        "## How wide the intervals are",
        "Of every recipe that ships on 1, 2, 4 and 8 of every GPU of the catalogue, with the "
        "settings that are written out and with the paper's.",
        table(
            ("settings", "GPU", "model", "predictions", "median", "90th percentile"),
            width_rows(kept_of(whole, observations)),
        ),
        "## Two machines compared",
        COMPARED.strip(),
        compared_table(cuts),
        "## Fit or no fit",
        verdict_table(observations),
        "## The analytic estimate",
        analytic_table(observations),
        *by_group,
    ]
    return "\n\n".join(parts) + "\n"


def table(head: Row, rows: Sequence[Row]) -> str:
    """In Markdown."""
    lines = [" | ".join(map(str, row)) for row in (head, *rows)]
    return "\n".join(
        [f"| {lines[0]} |", "|---" * len(head) + "|", *(f"| {x} |" for x in lines[1:])]
    )


def summary(cuts: Cuts) -> str:
    """What to make of a prediction, in a dozen lines."""
    every = [h for held in (*cuts.paper.values(), *cuts.truth.values()) for h in held]
    rows = []
    for words, cut, own in CASES:
        held = [h for h in cuts.truth[cut] if is_own(h.observation) or not own]
        wide = statistics.median(h.guess.high_days / h.guess.days for h in held)
        rows.append(
            (
                words,
                percent(median_error(held)),
                percent(ninth_error(held)),
                f"{percent(share_held(held))} of {len(held)}",
                f"{percent(1 / wide - 1)} to +{percent(wide - 1)}",
            )
        )
    head = (
        "you ask for",
        "typical error",
        "nine in ten are within",
        "intervals that hold",
        "typical interval",
    )
    worst = max(cuts.truth, key=lambda name: median_error(cuts.truth[name]))
    return "\n\n".join(
        (
            "Plan with the interval, not with its middle. It should hold nine of ten measured "
            f"times. Of the {len(every):,} below {percent(share_held(every))} do.",
            table(head, rows),
            f"It is worst with {worst} left out: {percent(median_error(cuts.truth[worst]))} off, "
            f"and {percent(share_held(cuts.truth[worst]))} of the intervals hold.",
            "Of 222 times of our own that were taken after a fit was made, 151 (68 %) were in its "
            "intervals (tools/fit/NOTES.md has each day). When the decision is close, measure: "
            "`advisor bench`.",
        )
    )


def median_error(held: Sequence[Held]) -> float:
    """How far off the median prediction is."""
    return statistics.median(h.guess.error for h in held)


def ninth_error(held: Sequence[Held]) -> float:
    """How far off nine in ten are at most."""
    errors = sorted(h.guess.error for h in held)
    return errors[min(len(errors) - 1, int(0.9 * len(errors)))]


def share_held(held: Sequence[Held]) -> float:
    """Share of the intervals that hold the measured time."""
    return sum(h.guess.covered for h in held) / len(held)


HEAD = ("cells", "median", "mean", "90th percentile", "log bias", "in the 90 % interval", *GUESSES)


def figures(held: Sequence[Held]) -> list[str]:
    """The columns of HEAD."""
    guessed = []
    for name in GUESSES:
        errors = [h.guesses[name] for h in held if not math.isnan(h.guesses[name])]
        guessed.append(percent(statistics.median(errors), 1) if errors else "no row to go by")
    return [
        str(len(held)),
        percent(median_error(held), 1),
        percent(statistics.fmean(h.guess.error for h in held), 1),
        percent(ninth_error(held), 1),
        f"{statistics.median(h.guess.log_error for h in held):+.2f}",
        percent(share_held(held)),
        *guessed,
    ]


def held_table(cuts: dict[str, list[Held]]) -> str:
    """A row a cut."""
    rows = [(name, *figures(held)) for name, held in cuts.items() if held]
    return table(("left out", *HEAD), rows)


def grouped(held: Sequence[Held], key: Callable[[Observation], Hashable]) -> str:
    """One cut, a row a group."""
    groups = sorted({key(h.observation) for h in held}, key=str)
    rows = [(g, *figures([h for h in held if key(h.observation) == g])) for g in groups]
    return table(("", *HEAD), rows)


def ratio_table(cuts: Cuts) -> str:
    """Cards beside a reference: the medians of their pairs."""
    head = ("", "over", "pairs", "measured", "predicted", "90 % interval", "pairs inside")
    rows = [
        (
            *(r.card, r.reference, r.pairs, f"{r.measured:.2f}", f"{r.predicted:.2f}"),
            f"{r.predicted * math.exp(-r.half):.2f} to {r.predicted * math.exp(r.half):.2f}",
            *(r.inside, percent(r.off, 1)),
        )
        for r in sorted(cuts.ratios, key=lambda r: r.card)
    ]
    return table((*head, "median error"), rows)


def compared_table(cuts: Cuts) -> str:
    """Ratios of two machines' times: how far off, and how many of their intervals hold."""
    rows: list[Row] = []
    for title, every in cuts.compared.items():
        for same in (False, True):
            pairs = [c for c in every if c.same_gpu == same]
            if pairs:
                errors = sorted(math.expm1(c.error) for c in pairs)
                rows.append(
                    (
                        f"{title}, {'one GPU type, other counts' if same else 'two GPU types'}",
                        len(pairs),
                        percent(statistics.median(errors), 1),
                        percent(errors[int(0.9 * (len(errors) - 1))], 1),
                        percent(sum(c.covered for c in pairs) / len(pairs)),
                    )
                )
    head = ("", "pairs", "median error of the ratio", "90th percentile", "in the 90 % interval")
    return table(head, rows)


def verdict_table(observations: Sequence[Observation]) -> str:
    """Tables 1 and 4: what the memory model says, and what the paper found otherwise."""
    paper = [o for o in observations if o.harness == PAPER]
    rows = []
    for name, key in (("nothing", None), *list(CUTS.items())[1:]):
        wrong: list[tuple[Observation, bool]] = []
        for group in [None] if key is None else list(dict.fromkeys(key(o) for o in paper)):
            held = [o for o in paper if key is None or key(o) == group]
            rest = paper if key is None else [o for o in paper if key(o) != group]
            says = zip(held, says_fits(held, fit_costs(rest)), strict=True)
            wrong += [(o, fits) for o, fits in says if fits != (o.step_s is not None)]
        which = "; ".join(
            f"{o.workload.workload_id} on {o.count} x {o.chip.name} {o.method}: "
            f"says {'fits' if fits else 'does not fit'}"
            for o, fits in wrong
        )
        rows.append((name, len(wrong), which))
    return table(("left out", f"wrong verdicts of {len(paper)}", "which"), rows)


def analytic_table(observations: Sequence[Observation]) -> str:
    """How much longer than FLOPs at the peak trainings take."""
    rows = []
    for title, chosen in (
        ("Table 4, naive settings", [o for o in observations if _is(o, "naive")]),
        ("Table 1, optimal settings", [o for o in observations if _is(o, "optimal")]),
        ("sound measurements", [o for o in observations if is_truth(o)]),
    ):
        ratios = []
        for o in chosen:
            days = training_days(o)
            # Against the tensor cores' peak, as the paper does, whatever the settings.
            least = analytic_days(o.workload, o.chip, o.count, naive=False)
            if days is not None and least is not None:
                ratios.append(days / least)
        rows.append((title, f"{statistics.median(ratios):.1f}"))
    return table(("", "measured over FLOPs at the peak, median"), rows)


def _is(o: Observation, method: str) -> bool:
    return o.harness == PAPER and o.method == method


if __name__ == "__main__":
    sys.exit(main())
