"""The top of docs/prediction.md: what to make of a prediction, and which goals are met."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bench_runner.typed_numbers import percent
from tools.fit.accuracy_chance import LEAST_HELD, MOST_HELD
from tools.fit.accuracy_cuts import Cuts, own_of
from tools.fit.accuracy_groups import Group, left_out
from tools.fit.accuracy_memory import WRONG_MUST, Verdicts
from tools.fit.accuracy_tables import (
    Held,
    half_width,
    median_error,
    ninth_error,
    share_held,
)
from tools.fit.accuracy_words import FORETOLD, LATER_TIMES
from tools.fit.card_ratios import Ratio
from tools.fit.cross_validate import project
from tools.fit.told_widths import EVERY, GOALS, WRITTEN_OUT, Told

PAPER_MUST = {"one cell": 0.07, "a whole model": 0.11, "a whole GPU type": 0.10}
TRUTH_MUST = {"one cell": 0.07, "a whole source": 0.15, "our own stack, a GPU left out": 0.10}
RATIO_MUST = 0.12
UNKNOWN = "nobody has looked into it yet"
"""Why a goal is missed that was met when this was written."""
TUNED = "nvidia-dgx-cloud"
"""A source whose times its maker tuned."""

FAMILIES = {
    "convnet": "convolutional networks",
    "decoder": "decoders",
    "encoder": "encoders",
    "ssm": "state-space models",
    "vit": "vision transformers",
}


@dataclass(frozen=True, slots=True)
class Case:
    """What a user asks for, and the cut that is like it."""

    words: str
    cut: str
    own: bool = False
    """Whether our own stack's times alone are like it."""


CASES = (
    Case("a model that nobody measured, on a card that we measured", "a whole model", own=True),
    Case("a card that nobody measured", "a whole GPU type"),
    Case("somebody else's software, of which no time is known", "a whole source"),
)


def summary(cuts: Cuts, groups: Sequence[Group]) -> str:
    """What to make of a prediction, in a dozen lines."""
    every = [h for held in cuts.named.values() for h in held]
    lines = [
        "Plan with the interval, not with its middle. It should hold nine of ten measured times. "
        f"Of the {len(every):,} below {percent(share_held(every))} do.",
        "",
        "| you ask for | typical error | nine in ten are within | intervals that hold "
        "| typical interval |",
        "|---" * 5 + "|",
        *(_case(case, cuts) for case in CASES),
        "",
        f"{_worst(cuts)} {_worst_family(groups)}",
        "",
        f"{_foretold()} When the decision is close, measure: `advisor bench`.",
    ]
    return "\n".join(lines)


def _case(case: Case, cuts: Cuts) -> str:
    held = (own_of(cuts.truth) if case.own else cuts.truth)[case.cut]
    wide = half_width(held)
    return (
        f"| {case.words} | {percent(median_error(held))} | {percent(ninth_error(held))} | "
        f"{percent(share_held(held))} of {len(held)} | "
        f"{percent(1 / wide - 1)} to +{percent(wide - 1)} |"
    )


def _worst(cuts: Cuts) -> str:
    name = max(cuts.truth, key=lambda each: median_error(cuts.truth[each]))
    held = cuts.truth[name]
    return (
        f"It is worst with {left_out(name)}: {percent(median_error(held))} off, and "
        f"{percent(share_held(held))} of the intervals hold."
    )


def _worst_family(groups: Sequence[Group]) -> str:
    """Of the cases that a user meets, the family of which the fewest intervals hold."""
    cuts = {case.cut for case in CASES}
    mine = [g for g in groups if g.kind == "family" and g.cut in cuts]
    worst = min(mine, key=lambda g: g.chance.share)
    return (
        f"Of families, {FAMILIES[worst.name]} are worst: with {left_out(worst.cut)} they are "
        f"{percent(median_error(worst.held))} off, and {percent(worst.chance.share)} of "
        f"{worst.chance.rows} intervals hold."
    )


def _foretold() -> str:
    asked, inside = (sum(each) for each in zip(*FORETOLD.values(), strict=True))
    return (
        f"Of {asked} times of our own that were taken after a fit was made, {inside} "
        f"({percent(inside / asked)}) were in its intervals ([later times](#{LATER_TIMES}))."
    )


@dataclass(frozen=True, slots=True)
class Goal:
    """What should be reached, and what is."""

    words: str
    must: str
    reached: str
    is_met: bool
    why: str
    """Where it is missed."""


def goal_table(
    cuts: Cuts,
    groups: Sequence[Group],
    verdicts: Sequence[Verdicts],
    told: Sequence[Told],
) -> str:
    """Every goal, whether it is met, and why not."""
    goals = [
        *_errors("Table 1", cuts.paper, PAPER_MUST),
        *_errors("measurements", cuts.truth, TRUTH_MUST),
        *(_fits(each) for each in verdicts),
        _cards(cuts.ratios),
        *_widths(told),
        _held(cuts),
        _tuned(cuts.truth["a whole source"]),
        _guesses(groups),
    ]
    lines = ["| goal | must reach | reached | | why |", "|---" * 5 + "|"]
    lines += [
        f"| {g.words} | {g.must} | {g.reached} | {'met' if g.is_met else '**missed**'} | "
        f"{'' if g.is_met else g.why} |"
        for g in goals
    ]
    met = sum(g.is_met for g in goals)
    return f"{met} of {len(goals)} goals are met.\n\n" + "\n".join(lines)


def _errors(title: str, cuts: dict[str, list[Held]], must: dict[str, float]) -> list[Goal]:
    return [
        Goal(
            f"{title}, {left_out(name)}: median error",
            f"at most {percent(most)}",
            percent(median_error(cuts[name]), 1),
            median_error(cuts[name]) <= most,
            UNKNOWN,
        )
        for name, most in must.items()
    ]


def _fits(verdicts: Verdicts) -> Goal:
    return Goal(
        f'Wrong verdicts on what fits, {verdicts.left_out} left out (a wrong "fits" counts double)',
        f"at most {percent(WRONG_MUST)}",
        percent(verdicts.weighted, 1),
        verdicts.weighted <= WRONG_MUST,
        UNKNOWN,
    )


def _cards(ratios: Sequence[Ratio]) -> Goal:
    beyond = [r for r in ratios if r.off > RATIO_MUST]
    names = ", ".join(
        f"{r.card} {percent(r.off)} off ({r.pairs} pair{'s' if r.pairs > 1 else ''})"
        for r in beyond
    )
    return Goal(
        "A card's speed beside the A100's or H100's, the card left out: median error",
        f"at most {percent(RATIO_MUST)} for every card",
        f"{len(ratios) - len(beyond)} of {len(ratios)} cards",
        not beyond,
        f"{names}: what is known of each stands below ([cards](#cards))",
    )


def _widths(told: Sequence[Told]) -> list[Goal]:
    return [
        Goal(
            f"Half-width of what a user is told on a GPU {t.gpu}",
            f"at most x or / {GOALS[t.gpu]}",
            f"all of {len(t.widths)}"
            if percent(t.above) == percent(0)
            else f"all but {percent(t.above)} of {len(t.widths)}",
            percent(t.above) == percent(0),
            "models that nobody measured, and a few cards with little evidence "
            "([which](#how-wide-the-intervals-are))",
        )
        for t in told
        if (t.settings, t.model) == (WRITTEN_OUT, EVERY) and t.above is not None
    ]


def _held(cuts: Cuts) -> Goal:
    outside = {
        name: share_held(held)
        for name, held in cuts.named.items()
        if not LEAST_HELD <= share_held(held) <= MOST_HELD
    }
    names = ", ".join(f"{name} {percent(share)}" for name, share in outside.items())
    return Goal(
        "Intervals that hold, each cut",
        f"{percent(LEAST_HELD)} to {percent(MOST_HELD)}",
        f"{len(cuts.named) - len(outside)} of {len(cuts.named)} cuts",
        not outside,
        f"{names} ([how many hold](#how-many-intervals-hold))",
    )


def _tuned(of_sources: Sequence[Held]) -> Goal:
    held = [h for h in of_sources if project(h.observation) == TUNED]
    inside = sum(h.guess.covered for h in held)
    return Goal(
        "Intervals that hold for NVIDIA's DGX Cloud, its source left out",
        "nine in ten",
        f"{inside} of {len(held)}",
        inside >= 0.9 * len(held),
        "what a maker tuned is a third faster than programs that people write; none held before "
        "somebody else's run of the same program was known",
    )


def _guesses(groups: Sequence[Group]) -> Goal:
    behind = sum(bool(g.better) for g in groups)
    return Goal(
        "Groups in which no guess without a fit is better",
        "all",
        f"{len(groups) - behind} of {len(groups)}",
        not behind,
        "[a prediction or a guess](#a-prediction-or-a-guess) has each, and why",
    )
