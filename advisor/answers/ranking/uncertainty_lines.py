"""What the training times leave open, in sentences (pure)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Any

from advisor.answers.build_words import (
    build_words,
    limit_first,
    short_gpus_words,
)
from advisor.answers.chance_words import chance_words
from advisor.answers.price_facts import newer_words, prices_told
from advisor.answers.ranking.confidence import better_unsold
from advisor.answers.shared_batch import measure_build
from advisor.costs.amounts import are, days_exact, days_rounded, minutes_words, usd_whole
from advisor.ranking.price_ranges import LOOKED_AT, rank_spans
from advisor.ranking.rank import Ranking
from advisor.ranking.uncertainty import Wanted
from bench_runner.settings.space import PASSES_PER_TRIAL, SECONDS_PER_TRIAL, FastSearch
from bench_runner.typed_numbers import plain

NAMED = 8
"""How many builds a sentence names before it counts the rest."""


def uncertainty_line(ranking: Ranking) -> str | None:
    """How sure first place is, in one sentence; None where nothing competes."""
    uncertainty = ranking.uncertainty
    first = uncertainty.first
    if first is None or (len(ranking) == 1 and uncertainty.is_sure):
        return None
    if uncertainty.is_sure:
        if ranking.question.rule == "cost":
            return "First place is sure: the price alone decides."
        if not uncertainty.by_time:
            return "First place is sure: it is yours already, however long it takes."
        caveat = _caveat(ranking, first)
        on_sale = " on sale" if better_unsold(ranking) else ""
        reached = f"other GPUs{on_sale} are behind by more than the doubt"
        if caveat:
            return f"First place is sure if its time holds: {reached}, but that {caveat}."
        return f"First place is sure: {reached}."
    reasons = []
    if uncertainty.first_is_impossible:
        reasons.append("its published time is physically impossible")
    if uncertainty.tied:
        count = len(uncertainty.tied)
        reasons.append(
            f"{'the build' if count == 1 else f'the {count} builds'} marked = "
            f"{are(count)} too close to call"
        )
    if uncertainty.first_may_be_slow:
        reasons.append("it may take longer than the limit")
    if uncertainty.outside:
        reasons.append(
            f"{_named(ranking, uncertainty.outside)}, left out as too slow, may keep the limit"
        )
    said = f"First place is not sure: {'; '.join(reasons)}."
    caveat = _caveat(ranking, first)
    if "unsynchronised" in caveat and not uncertainty.first_is_impossible:
        said += f" The time of first place {caveat.removeprefix('time ')}."
    return said


def limit_lines(ranking: Ranking) -> list[str]:
    """Which builds the limit of days may sort wrongly."""
    uncertainty, limit = ranking.uncertainty, ranking.question.max_days
    if limit is None:
        return []
    lines = []
    if uncertainty.perhaps_slow:
        builds = _named(ranking, uncertainty.perhaps_slow)
        lines.append(f"Ranked, but perhaps slower than {days_exact(limit)} days: {builds}.")
    if uncertainty.perhaps_fast:
        builds = _named(ranking, uncertainty.perhaps_fast)
        lines.append(f"Left out, but perhaps within {days_exact(limit)} days: {builds}.")
    return lines


def wanted_line(ranking: Ranking) -> str | None:
    """What to measure, how long that takes and where the figure comes from."""
    uncertainty = ranking.uncertainty
    wanted = uncertainty.wanted
    if wanted is None:
        if uncertainty.is_sure or uncertainty.first is None:
            return None
        if ranking.candidates.evidence != "sound":
            return (
                "No measurement changes that: published evidence takes the printed times, whole "
                "days, as they are. Sound evidence does not."
            )
        return "No measurement is left to settle it: these times are synchronised ones."
    build = build_words(ranking.candidates.builds[wanted.build])
    count = _open(ranking)
    if wanted.left < 0.05:
        after = "That settles who is first."
    elif count == 1 and wanted.left < 0.97:
        after = f"That settles it {chance_words(1 - wanted.left)} times."
    else:
        open_ = max(1, round(wanted.left))
        after = (
            f"About {open_} of {count:,} may stay open."
            if wanted.left >= 0.5
            else ("That settles most of it.")
        )
    minutes = minutes_words(wanted.search.minutes)
    return (
        f"Measure {ranking.candidates.model.name} on {build} first: about {minutes} "
        f"({minutes_from(wanted.search)}). {after} There: {bench_command(ranking, wanted)}"
        f"{limit_first(ranking.candidates.builds[wanted.build])}"
    )


def minutes_from(search: FastSearch) -> str:
    """What the estimate of the minutes is made of."""
    words = (
        f"the fast search tries about {search.tries:.0f} settings, "
        f"{SECONDS_PER_TRIAL} s each to start and compile"
    )
    if search.pass_s is None:
        return words
    seconds = plain(search.pass_s, 2) if search.pass_s < 10 else f"{search.pass_s:.0f}"
    return f"{words}, and {PASSES_PER_TRIAL} passes of {seconds} s"


def bench_command(ranking: Ranking, wanted: Wanted) -> str:
    """What to type on the machine that is to be measured."""
    build = ranking.candidates.builds[wanted.build]
    return measure_build(ranking.candidates.model, build)


def settle_object(ranking: Ranking) -> dict[str, Any]:
    """How sure first place is, as the JSON of `advisor rank` has it."""
    uncertainty, wanted = ranking.uncertainty, ranking.uncertainty.wanted
    measure = None
    if wanted is not None:
        build = ranking.candidates.builds[wanted.build]
        measure = {
            "gpu": build.gpu.name,
            "gpu_count": build.gpu_count,
            "machines": build.machines,
            "host": build.host.name,
            "minutes": round(wanted.search.minutes, 1),
            "minutes_from": minutes_from(wanted.search),
            "still_open_on_average": round(wanted.left, 2),
            "command": bench_command(ranking, wanted),
        }
    return {
        "first_is_sure": None if uncertainty.first is None else uncertainty.is_sure,
        "tied_with_first": len(uncertainty.tied),
        "may_be_first_though_left_out": len(uncertainty.outside),
        "in_words": uncertainty_line(ranking),
        "measure": measure,
        "measure_in_words": wanted_line(ranking),
        "limit": limit_lines(ranking),
    }


def _open(ranking: Ranking) -> int:
    uncertainty = ranking.uncertainty
    return len(uncertainty.tied) + len(uncertainty.outside) + uncertainty.first_may_be_slow


def _with_interval(ranking: Ranking, i: int, *, machines: int) -> str:
    low, high = ranking.candidates.interval(i)
    build = ranking.candidates.builds[i]
    words = build_words(build)
    if machines > 1:
        words = f"{short_gpus_words(build)} in {machines} machines"
    return words if low == high else f"{words} ({days_rounded(low)}–{days_rounded(high)} days)"


def _named(ranking: Ranking, builds: list[int]) -> str:
    """Each with its interval; machines with the same GPUs and the same time are counted."""
    groups: dict[tuple[object, ...], list[int]] = {}
    for i in builds:
        cards = ranking.candidates.builds[i].cards
        groups.setdefault((cards, ranking.candidates.interval(i)), []).append(i)
    named = list(groups.values())[:NAMED]
    names = [
        _with_interval(ranking, group[0], machines=len(group)).replace(" days)", ")")
        for group in named
    ]
    more = len(builds) - sum(map(len, named))
    return ", ".join(names) + (f" and {more} more" if more else "")


def _caveat(ranking: Ranking, first: int) -> str:
    """What the interval of first place does not cover; empty where nothing is known."""
    best = ranking.candidates.times[first]
    time = best.chosen if best is not None else None
    if time is not None and time.basis == "predicted":
        return "time is an estimate: 9 in 10 runs stay within its interval"
    if time is None or time.timing != "unsynchronised":
        return ""
    doubt = f" and is {time.verdict}" if time.verdict in ("doubtful", "implausible") else ""
    return f"time was taken unsynchronised{doubt}, so it may be too low"


def doubt_lines(ranking: Ranking) -> list[str]:
    """Where the range of the prices would change the answer, one sentence each."""
    return [*_over_and_under(ranking), *_swaps(ranking), *_passed_over(ranking)]


def _passed_over(ranking: Ranking) -> Iterator[str]:
    """Newer quotes of what ranks that do not count, each once."""
    today = date.today()
    told = (t for row in ranking.rows(LOOKED_AT) for t in prices_told(row, today))
    words = (newer_words(each, today) for each in told)
    for text in dict.fromkeys(filter(None, words)):
        yield f"{text[0].upper()}{text[1:]}."


def _over_and_under(ranking: Ranking) -> Iterator[str]:
    budget = ranking.question.budget_usd
    if budget is None:
        return
    for row in ranking.rows(LOOKED_AT):
        if row.overall_cost_high_usd > budget:
            yield (
                f"{build_words(row.build)} is over the budget at the high end of its prices "
                f"({usd_whole(row.overall_cost_high_usd)})."
            )
    candidates, cents = ranking.candidates, int(budget * 100)
    for i, reason in ranking.excluded_order[:LOOKED_AT]:
        low = candidates.cents_range(i)[0]
        if reason == "over-budget" and low <= cents:
            yield (
                f"{build_words(candidates.builds[i])} fits the budget at the low end of its prices "
                f"({usd_whole(low / 100)})."
            )


def _swaps(ranking: Ranking) -> Iterator[str]:
    for position, (best, worst) in enumerate(rank_spans(ranking)):
        if best != worst:
            build = ranking.candidates.builds[ranking.order[position]]
            yield (
                f"Within the range of its prices {build_words(build)} could stand from rank "
                f"{best} to {worst}."
            )
