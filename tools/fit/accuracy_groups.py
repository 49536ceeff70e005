"""Cuts by family, GPU, source and number of GPUs: where a guess without a fit is better, and where
too few or too many intervals hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from advisor.prediction.observed_times import Observation
from advisor.prediction.physics.chip import gpu_type
from bench_runner.typed_numbers import percent
from tools.fit.accuracy_chance import (
    LEAST_HELD,
    MOST_HELD,
    RARE,
    Chance,
    chance_of,
    outside_by_chance,
)
from tools.fit.accuracy_tables import Held, baseline_error, machine_of, median_error
from tools.fit.baselines import BASELINES

FEWEST = 20
"""Rows of a group from which on it says whether predictions are better than a baseline."""
WHOLE = "all"
KEYS: dict[str, Callable[[Observation], str]] = {
    WHOLE: lambda o: "",
    "family": lambda o: o.workload.family,
    "GPU": lambda o: gpu_type(o.chip),
    "source": lambda o: o.stack,
    "": machine_of,
}


@dataclass(frozen=True, slots=True)
class Group:
    """Times of one cut that are alike in one thing."""

    cut: str
    kind: str
    """A key of KEYS."""
    name: str
    held: list[Held]
    chance: Chance

    @property
    def words(self) -> str:
        """Where it is found."""
        return f"{self.cut}, " + f"{self.kind} {self.name}".strip()

    @property
    def better(self) -> list[str]:
        """The guesses without a fit that are better."""
        ours = median_error(self.held)
        return [name for name in BASELINES if baseline_error(self.held, name) < ours]


def left_out(cut: str) -> str:
    """A cut within a sentence; some names say already that it is left out."""
    return f"{cut.removesuffix(' left out')} left out"


def groups_of(cuts: dict[str, list[Held]]) -> list[Group]:
    """Of every cut those with rows enough."""
    return [group for cut, held in cuts.items() for group in _of_cut(cut, held)]


def _of_cut(cut: str, held: Sequence[Held]) -> Iterator[Group]:
    for kind, key in KEYS.items():
        for name in sorted({key(h.observation) for h in held}):
            rows = [h for h in held if key(h.observation) == name]
            if len(rows) >= FEWEST:
                yield Group(cut, kind, name, rows, _chance(rows))


def _chance(rows: Sequence[Held]) -> Chance:
    drawn = [h.guess.drawn for h in rows if h.guess.drawn is not None]
    return chance_of([h.guess.covered for h in rows], drawn)


def beaten_list(groups: Sequence[Group]) -> str:
    """Where a guess without a fit is better."""
    behind = sum(bool(g.better) for g in groups)
    beaten = [
        f"- {g.words} ({percent(median_error(g.held), 1)} against "
        f"{percent(baseline_error(g.held, name), 1)} of {name})"
        for g in groups
        for name in g.better
    ]
    head = f"A guess without a fit is better in {behind} of {len(groups)} groups of {FEWEST} rows "
    return "\n".join([f"{head}or more{':' if beaten else '.'}", *beaten])


def held_words(groups: Sequence[Group]) -> str:
    """How many groups are outside, and how many would be by chance."""
    few = sum(g.chance.share < LEAST_HELD for g in groups)
    many = sum(g.chance.share > MOST_HELD for g in groups)
    likely_few = sum(float(g.chance.drawn_below.mean()) for g in groups)
    likely_many = sum(float(g.chance.drawn_above.mean()) for g in groups)
    alone = sum(outside_by_chance(g.chance.rows) for g in groups)
    goal = f"{percent(LEAST_HELD)} to {percent(MOST_HELD)}"
    return (
        f"The share of a group's intervals that hold is outside {goal} in {few + many} of "
        f"{len(groups)} groups of {FEWEST} rows or more. If all intervals are right, {alone:.0f} "
        f"are expected where errors share nothing, and {likely_few + likely_many:.0f} where they "
        f"share what the fit says. Too many hold in {many} groups ({likely_many:.0f} expected), "
        f"too few in {few} ({likely_few:.0f} expected)."
        f"{_leaning(many > likely_many, few > likely_few)}{_beyond_chance(groups)}"
    )


def _leaning(more_above: bool, more_below: bool) -> str:
    if more_above == more_below:
        return ""
    return (
        " So the intervals are rather too wide than too narrow: they promise less than they could."
        if more_above
        else " So the intervals are rather too narrow than too wide: they promise too much."
    )


def _beyond_chance(groups: Sequence[Group]) -> str:
    sides = {g.cut: _side(g.chance) for g in groups if g.kind == WHOLE}
    cuts = [f"{side} with {left_out(cut)}" for cut, side in sides.items() if side]
    return f" Of the cuts below they are, beyond chance, {' and '.join(cuts)}." if cuts else ""


def cut_table(groups: Sequence[Group]) -> str:
    """Each cut's intervals that hold, beside where nine draws in ten lie."""
    import numpy as np

    lines = [
        "| left out | cells | intervals that hold | in 9 draws of 10 | | groups outside "
        "| expected | in 9 draws of 10 |",
        "|---" * 8 + "|",
    ]
    for whole in (g for g in groups if g.kind == WHOLE):
        mine = [g.chance for g in groups if g.cut == whole.cut]
        drawn = np.sum([c.drawn_below | c.drawn_above for c in mine], axis=0)
        low, high = np.quantile(drawn, (0.05, 0.95))
        least, most = np.quantile(whole.chance.drawn / whole.chance.rows, (0.05, 0.95))
        lines.append(
            f"| {whole.cut} | {whole.chance.rows} | {percent(whole.chance.share)} | "
            f"{percent(least)} to {percent(most)} | {_side(whole.chance)} | "
            f"{sum(c.is_outside for c in mine)} of {len(mine)} | {drawn.mean():.0f} | "
            f"{low:.0f} to {high:.0f} |"
        )
    return "\n".join(lines)


def _side(chance: Chance) -> str:
    """Whether more or fewer hold than in nineteen draws of twenty."""
    if (chance.drawn >= chance.held).mean() < RARE:
        return "too wide"
    return "too narrow" if (chance.drawn <= chance.held).mean() < RARE else ""


def rare_list(groups: Sequence[Group]) -> str:
    """The groups that are further off than what their errors share explains."""
    rare = [g for g in groups if g.chance.probability < RARE]
    above = sum(g.chance.share > 0.9 for g in rare)
    expected = sum(g.chance.rare for g in groups)
    chance = "no more than" if len(rare) <= expected else "more than"
    lines = [
        f"Further off than shared errors explain are {len(rare)} of the {len(groups)} groups: a "
        f"share as far from nine in ten, to either side, has a probability below {percent(RARE)}. "
        f"If all intervals were right, {expected:.0f} would be ({percent(RARE)} of all are "
        f"{RARE * len(groups):.0f}, but shares come in steps): it is {chance} chance. Too many "
        f"intervals hold in {above} of them, too few in {len(rare) - above}{':' if rare else '.'}"
    ]
    lines += [
        f"- {g.words} ({percent(g.chance.share)} of {g.chance.rows}, probability "
        f"{percent(g.chance.probability, 1)})"
        for g in rare
    ]
    return "\n".join(lines)
