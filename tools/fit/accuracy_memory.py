"""Tables of docs/prediction.md that need no cross-validation of times: what fits, and what the
peaks alone would say."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from advisor.prediction.observed_times import PAPER, Observation
from advisor.prediction.predict_one import analytic_days
from bench_runner.typed_numbers import percent
from tools.fit.cross_validate import CUTS, is_truth, training_days
from tools.fit.fit_memory import fit_costs, says_fits

WRONG_MUST = 0.03


@dataclass(frozen=True, slots=True)
class Verdicts:
    """Of one cut: what the memory model says that the paper found otherwise."""

    left_out: str
    of: int
    wrong: list[tuple[Observation, bool]]
    """What was found otherwise, and whether the model says that it fits."""

    @property
    def weighted(self) -> float:
        """The share that is wrong, a wrong "fits" counted double."""
        return sum(2 if fits else 1 for _, fits in self.wrong) / self.of


def verdicts_of(observations: Sequence[Observation]) -> list[Verdicts]:
    """Tables 1 and 4: what the memory model says against what the paper found."""
    paper = [o for o in observations if o.harness == PAPER]
    found = []
    for name, key in (("nothing", None), *list(CUTS.items())[1:]):
        wrong: list[tuple[Observation, bool]] = []
        groups = [None] if key is None else list(dict.fromkeys(key(o) for o in paper))
        for group in groups:
            held = [o for o in paper if key is None or key(o) == group]
            rest = paper if key is None else [o for o in paper if key(o) != group]
            says = says_fits(held, fit_costs(rest))
            wrong += [(o, fits) for o, fits in zip(held, says, strict=True) if fits != _ran(o)]
        found.append(Verdicts(name, len(paper), wrong))
    return found


def _ran(o: Observation) -> bool:
    return o.step_s is not None


def verdict_table(verdicts: Sequence[Verdicts]) -> str:
    """A row a cut."""
    lines = [
        f"| left out | must reach | wrong verdicts of {verdicts[0].of} | weighted | which |",
        "|---" * 5 + "|",
    ]
    for each in verdicts:
        which = "; ".join(
            f"{o.workload.workload_id} on {o.count} x {o.chip.name} {o.method}: "
            f"says {'fits' if fits else 'does not fit'}"
            for o, fits in each.wrong
        )
        lines.append(
            f"| {each.left_out} | {percent(WRONG_MUST)} | {len(each.wrong)} | "
            f"{percent(each.weighted, 1)} | {which} |"
        )
    return "\n".join(lines)


def analytic_table(observations: Sequence[Observation]) -> str:
    """How much longer than FLOPs at the peak trainings take."""
    lines = ["| | measured over FLOPs at the peak, median |", "|---|---|"]
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
        if ratios:
            lines.append(f"| {title} | {statistics.median(ratios):.1f} |")
    return "\n".join(lines)


def _is(o: Observation, method: str) -> bool:
    return o.harness == PAPER and o.method == method
