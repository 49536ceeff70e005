"""`python -m advisor.prediction.fit.accuracy_page [--out FILE]` writes how good predictions are.

Cross-validates everything, so it takes minutes. docs/prediction.md is what it wrote last; a test
says when the evidence has moved on.
"""

from __future__ import annotations

import argparse
import math
import os
import statistics
import sys
import time
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path

# One thread: the matrices are small, and threads that wait for each other cost more than they do.
# It must be said before numpy is loaded.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

from advisor.prediction.fit.compare_machines import compare  # noqa: E402
from advisor.prediction.fit.cross_validate import (  # noqa: E402
    CUTS,
    WIDER_CUTS,
    Guess,
    hold_out,
    is_paper_optimal,
    is_truth,
)
from advisor.prediction.fit.fit_memory import fit_costs, says_fits  # noqa: E402
from advisor.prediction.fit.fitted_from import fingerprint  # noqa: E402
from advisor.prediction.fit.observations import PAPER, REFERENCE, Observation, load_evidence  # noqa: E402
from advisor.prediction.physics.chip import gpu_type  # noqa: E402
from advisor.prediction.predict_one import analytic_days  # noqa: E402

MUST = {"one cell": 0.08, "a whole model": 0.15, "a whole GPU type": 0.15}
TRUTH_MUST = 0.15
WRONG_MUST = 0.03
TRUTH_TYPES = ("A100", "H100", "H200")


def main() -> int:
    """Print the report, or write it to a file."""
    parser = argparse.ArgumentParser(
        prog="python -m advisor.prediction.fit.accuracy_page", description=__doc__
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="write it there instead")
    options = parser.parse_args()
    text = report()
    if options.out is None:
        print(text, end="")
    else:
        options.out.write_text(text, encoding="utf-8")
    return 0


def report() -> str:
    """All of it."""
    observations = load_evidence()
    paper = {name: _held(observations, is_paper_optimal, name) for name in CUTS}
    truth = {name: _held(observations, is_truth, name) for name in {**CUTS, **WIDER_CUTS}}
    timed = sum(o.step_s is not None for o in observations)
    everything = [g for guesses in (*paper.values(), *truth.values()) for g in guesses]
    parts = [
        "# How good the predictions are",
        "Written by `python -m advisor.prediction.fit.accuracy_page --out docs/prediction.md`; "
        "it takes minutes. "
        f"Evidence: {timed} measured times, fit {fingerprint(observations)}.",
        "Everything that touches what is left out is kept out of the fit, the choice of "
        "hyper-parameters and the calibration of the intervals included. An error inside the "
        "rounding of a printed day counts as none. Log bias is the median logarithm of measured "
        f"over predicted. Of all {len(everything)} intervals of 90 % below, "
        f"{sum(g.covered for g in everything) / len(everything):.0%} hold the measured time.",
        "## Skill: Table 1 as published, with the paper's bias term",
        _table(paper, MUST),
        "## Truth: measurements without the paper's bias",
        "Decoder language models on A100, H100 and H200:",
        _table({name: _decoders(truth[name]) for name in CUTS}, TRUTH_MUST),
        "All families and GPUs:",
        _table(truth, None),
    ]
    references = {
        name: [g for g in guesses if g.observation.harness == REFERENCE]
        for name, guesses in truth.items()
    }
    if any(references.values()):
        parts += ["This project's own synchronised measurements alone:", _table(references, None)]
    foreign = [g for g in truth["a whole source"] if _foreign(g.observation)]
    parts += [
        "A whole source left out, its bias unknown (other people's software, as a user meets it):",
        _grouped(foreign, lambda g: g.observation.source_id),
        "## Two machines compared",
        "The ratio of two times of one model, method and source. What two predictions share (the "
        "model, the software) cancels in it, so that its 90 % interval is narrower than those of "
        "the two times; a ranking tells builds apart by it. Of every two at least one machine has "
        "a GPU of the type that is left out of the fit. Table 1 is held against predictions "
        "without the paper's bias. The pairs are not independent: most of the others compare the "
        "same few GPUs.",
        _compared(observations),
        "## Fit or no fit",
        _verdicts(observations),
        "## The analytic estimate",
        _analytic(observations),
    ]
    for title, cuts in (("Skill", paper), ("Truth", truth)):
        for name, guesses in cuts.items():
            parts += [
                f"## {title}, {name} left out, by family and by GPU",
                _grouped(guesses, lambda g: g.observation.workload.family),
                _grouped(guesses, lambda g: gpu_type(g.observation.chip)),
            ]
    return "\n\n".join(parts) + "\n"


def _foreign(o: Observation) -> bool:
    return o.harness not in (PAPER, REFERENCE)


def _held(
    observations: Sequence[Observation], tested: Callable[[Observation], bool], name: str
) -> list[Guess]:
    started = time.monotonic()
    guesses = hold_out(observations, tested, {**CUTS, **WIDER_CUTS}[name])
    took = time.monotonic() - started
    print(f"{name}: {len(guesses)} held out, {took:.0f} s", file=sys.stderr)
    return guesses


def _decoders(guesses: Sequence[Guess]) -> list[Guess]:
    return [
        g
        for g in guesses
        if g.observation.workload.family == "decoder"
        and gpu_type(g.observation.chip) in TRUTH_TYPES
    ]


def _figures(guesses: Sequence[Guess]) -> str:
    errors = sorted(g.error for g in guesses)
    covered = sum(g.covered for g in guesses) / len(guesses)
    bias = statistics.median(g.log_error for g in guesses)
    ninth = errors[min(len(errors) - 1, int(0.9 * len(errors)))]
    return (
        f"{len(guesses)} | {statistics.median(errors):.1%} | {statistics.fmean(errors):.1%} | "
        f"{ninth:.1%} | {bias:+.2f} | {covered:.0%}"
    )


_HEAD = "cells | median | mean | 90th percentile | log bias | in the 90 % interval"


def _table(cuts: dict[str, list[Guess]], must: dict[str, float] | float | None) -> str:
    lines = [f"| left out | must reach | {_HEAD} |", "|---" * 8 + "|"]
    for name, guesses in cuts.items():
        if not guesses:
            continue
        bound = must[name] if isinstance(must, dict) else must
        reach = "" if bound is None else f"{bound:.0%}"
        lines.append(f"| {name} | {reach} | {_figures(guesses)} |")
    return "\n".join(lines)


def _grouped(guesses: Sequence[Guess], key: Callable[[Guess], Hashable]) -> str:
    lines = [f"| | {_HEAD} |", "|---" * 7 + "|"]
    for group in sorted({key(g) for g in guesses}, key=str):
        lines.append(f"| {group} | {_figures([g for g in guesses if key(g) == group])} |")
    return "\n".join(lines)


def _compared(observations: Sequence[Observation]) -> str:
    lines = [
        "| | pairs | median error of the ratio | 90th percentile | in the 90 % interval |",
        "|---" * 5 + "|",
    ]
    for title, tested in (("Table 1", is_paper_optimal), ("other measurements", is_truth)):
        started = time.monotonic()
        found = compare(observations, tested)
        print(f"pairs of {title}: {time.monotonic() - started:.0f} s", file=sys.stderr)
        for same in (False, True):
            kind = "one GPU type, other counts" if same else "two GPU types"
            pairs = [c for c in found if c.same_gpu == same]
            if pairs:
                errors = sorted(math.expm1(c.error) for c in pairs)
                covered = sum(c.covered for c in pairs) / len(pairs)
                lines.append(
                    f"| {title}, {kind} | {len(pairs)} | {statistics.median(errors):.1%} | "
                    f"{errors[int(0.9 * (len(errors) - 1))]:.1%} | {covered:.0%} |"
                )
    return "\n".join(lines)


def _verdicts(observations: Sequence[Observation]) -> str:
    """Tables 1 and 4: what the memory model says against what the paper found."""
    paper = [o for o in observations if o.harness == PAPER]
    lines = [
        f"| left out | must reach | wrong verdicts of {len(paper)} | weighted | which |",
        "|---|---|---|---|---|",
    ]
    for name, key in (("nothing", None), *list(CUTS.items())[1:]):
        wrong: list[tuple[Observation, bool]] = []
        groups = [None] if key is None else list(dict.fromkeys(key(o) for o in paper))
        for group in groups:
            held = [o for o in paper if key is None or key(o) == group]
            rest = paper if key is None else [o for o in paper if key(o) != group]
            says = says_fits(held, fit_costs(rest))
            wrong += [(o, fits) for o, fits in zip(held, says, strict=True) if fits != _ran(o)]
        weight = sum(2 if fits else 1 for _, fits in wrong) / len(paper)
        which = "; ".join(
            f"{o.workload.workload_id} on {o.count} x {o.chip.name} {o.method}: "
            f"says {'fits' if fits else 'does not fit'}"
            for o, fits in wrong
        )
        lines.append(f"| {name} | {WRONG_MUST:.0%} | {len(wrong)} | {weight:.1%} | {which} |")
    return "\n".join(lines)


def _ran(o: Observation) -> bool:
    return o.step_s is not None


def _analytic(observations: Sequence[Observation]) -> str:
    lines = ["| | measured over FLOPs at the peak, median |", "|---|---|"]
    for title, chosen in (
        ("Table 4, naive settings", [o for o in observations if _is(o, "naive")]),
        ("Table 1, optimal settings", [o for o in observations if _is(o, "optimal")]),
        ("sound measurements", [o for o in observations if is_truth(o)]),
    ):
        ratios = []
        for o in chosen:
            days = o.training_days
            # Against the tensor cores' peak, as the paper does, whatever the settings.
            least = analytic_days(o.workload, o.chip, o.count, naive=False)
            if days is not None and least is not None:
                ratios.append(days / least)
        if ratios:
            lines.append(f"| {title} | {statistics.median(ratios):.1f} |")
    return "\n".join(lines)


def _is(o: Observation, method: str) -> bool:
    return o.harness == PAPER and o.method == method


if __name__ == "__main__":
    sys.exit(main())
