"""`python -m advisor.predict.report`: how good the predictions are, as Markdown."""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Callable, Hashable, Sequence

# One thread: the matrices are small, and threads that wait for each other cost more than they do.
# It must be said before numpy is loaded.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

from advisor.predict.answer import analytic_days  # noqa: E402
from advisor.predict.cross_validate import (  # noqa: E402
    CUTS,
    Guess,
    gpu_type,
    hold_out,
    is_paper_optimal,
    is_truth,
    source,
)
from advisor.predict.evidence import PAPER, REFERENCE, Observation, load_evidence  # noqa: E402
from advisor.predict.fit_memory import fit_costs, says_fits  # noqa: E402

MUST = {"one cell": 0.08, "a whole model": 0.15, "a whole GPU type": 0.15}
TRUTH_MUST = 0.15
WRONG_MUST = 0.03
TRUTH_TYPES = ("A100", "H100", "H200")


def main() -> int:
    """Print the report; takes about two minutes."""
    observations = load_evidence()
    paper = {name: _held(observations, is_paper_optimal, name) for name in CUTS}
    truth = {name: _held(observations, is_truth, name) for name in CUTS}
    others = hold_out(observations, _foreign, source)
    print("## Skill: Table 1 as published, with the paper's bias term\n")
    print(_table(paper, MUST))
    print("\n## Truth: measurements without the paper's bias\n")
    print("Decoder language models on A100, H100 and H200.\n")
    print(_table({name: _decoders(guesses) for name, guesses in truth.items()}, TRUTH_MUST))
    references = {
        name: [g for g in guesses if g.observation.harness == REFERENCE]
        for name, guesses in truth.items()
    }
    if any(references.values()):
        print("\nThis project's own synchronised measurements alone, all families:\n")
        print(_table(references, TRUTH_MUST))
    if others:
        print("\nA whole source left out, its bias unknown:\n")
        print(_grouped(others, lambda g: g.observation.source_id))
    for title, cuts in (("Skill", paper), ("Truth", truth)):
        for name, guesses in cuts.items():
            print(f"\n### {title}, {name} left out\n")
            print(_grouped(guesses, lambda g: g.observation.workload.family))
            print()
            print(_grouped(guesses, lambda g: gpu_type(g.observation.chip)))
    print("\n## Fit or no fit\n")
    print(_verdicts(observations))
    print("\n## The analytic estimate\n")
    print(_analytic(observations))
    return 0


def _foreign(o: Observation) -> bool:
    return o.harness not in (PAPER, REFERENCE)


def _held(
    observations: Sequence[Observation], tested: Callable[[Observation], bool], name: str
) -> list[Guess]:
    started = time.monotonic()
    guesses = hold_out(observations, tested, CUTS[name])
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


def _table(cuts: dict[str, list[Guess]], must: dict[str, float] | float) -> str:
    lines = [f"| left out | must reach | {_HEAD} |", "|---" * 8 + "|"]
    for name, guesses in cuts.items():
        if not guesses:
            continue
        bound = must if isinstance(must, float) else must[name]
        lines.append(f"| {name} | {bound:.0%} | {_figures(guesses)} |")
    return "\n".join(lines)


def _grouped(guesses: Sequence[Guess], key: Callable[[Guess], Hashable]) -> str:
    lines = [f"| | {_HEAD} |", "|---" * 7 + "|"]
    for group in dict.fromkeys(key(g) for g in guesses):
        lines.append(f"| {group} | {_figures([g for g in guesses if key(g) == group])} |")
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
