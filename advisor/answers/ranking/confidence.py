"""How sure the first place of a ranking is, which builds may be first instead, and the measurement
that would tell."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from advisor.answers.build_words import build_words, limit_first, short_gpus_words
from advisor.answers.gpu_count_notes import measure_build
from advisor.answers.ranking.on_sale import cost_at, looked_at
from advisor.answers.wording import counted_days, is_unquoted
from advisor.costs.amounts import days_exact, days_rounded, minutes_words, usd_rounded
from advisor.costs.tco import DAYS_PER_YEAR
from advisor.ranking.rank import RankedRow, Ranking
from bench_runner.settings.space import PASSES_PER_TRIAL, SECONDS_PER_TRIAL, FastSearch
from bench_runner.typed_numbers import plain

if TYPE_CHECKING:
    from advisor.ranking.uncertainty import Wanted
    from price_catalog.builds import Build

MOST_NAMED = 2
"""How many kinds of GPUs a sentence names before it counts them."""
MOST_LISTED = 8
"""How many builds a list names before it counts the rest."""


def confidence(ranking: Ranking) -> str:
    """How sure first place is, as a sentence without its full stop."""
    uncertainty, rule = ranking.uncertainty, ranking.question.rule
    if uncertainty.first_is_impossible:
        return "but that published time is physically impossible"
    slower = measured_days(ranking, ranking.order[0])
    if slower is not None:
        return f"but we measured {counted_days(slower)}"
    life = ranking.question.lifetime_years
    if ranking.row(0).training_days > life * DAYS_PER_YEAR:
        return f"that is longer than the {life:g} years it serves"
    looked = looked_at(ranking.candidates)
    if len(ranking) == 1 and not uncertainty.outside:
        return f"nothing else{looked} fits"
    a_run = rule == "experiment-cost"
    if uncertainty.tied:
        alike = "cost as little" if a_run else "be faster" if ranking.quoted_first else "be as fast"
        return f"{rivals(ranking, uncertainty.tied)} may {alike}"
    if uncertainty.outside:
        return f"{rivals(ranking, uncertainty.outside)} may do so, too"
    best_unsold = None if ranking.all_alike else ranking.row(ranking.offered)
    as_fast = best_unsold and best_unsold.training_days <= ranking.row(0).training_days
    on_sale = " on sale" if better_unsold(ranking) or (rule == "days" and as_fast) else ""
    on_sale += looked
    if sum_is_less(ranking):
        return f"nothing{on_sale} quoted whole {'costs less a run' if a_run else 'is cheaper'}"
    if rule == "cost":
        return f"nothing cheaper{on_sale} fits"
    if a_run:
        return f"no other{on_sale} costs less a run"
    if ranking.question.budget_usd is None:
        return f"nothing{on_sale} is faster"
    return f"nothing faster{on_sale} fits the budget"


def rivals(ranking: Ranking, builds: Collection[int]) -> str:
    """``2 × RTX 5090 ($15,200) or 2 × RTX 6000 Ada``: kinds of GPUs, whatever holds them, with the
    cheapest on sale where it costs less than first place; of many how many, ``5 others``."""
    candidates = ranking.candidates
    # In the order of the ranking; what is left out has none, and comes as it is given.
    order = [i for i in ranking.order if i in builds] or builds
    kinds = dict.fromkeys(_kind(candidates.builds[i]) for i in order)
    price, cheapest = "", None
    cents, placed = candidates.cents, candidates.placed_cents
    low = min(
        (i for i in order if candidates.offered[i] and not candidates.builds[i].host_owned),
        key=lambda i: (placed[i], candidates.is_summed(i)),  # as a ranking names it
        default=None,
    )
    if low is not None and cents[low] < cents[ranking.order[0]]:
        quote = candidates.host_quotes[low]
        summed = quote is not None and is_unquoted(candidates.builds[low], quote)
        price = f"{usd_rounded(cost_at(candidates, low))}{' as a sum' if summed else ''}"
        cheapest = _kind(candidates.builds[low])
    if len(kinds) > MOST_NAMED:
        return f"{len(kinds)} others" + (f" (from {price})" if price else "")
    return " or ".join(f"{kind} ({price})" if kind == cheapest else kind for kind in kinds)


def _kind(build: Build) -> str:
    """``2 × RTX 5090``; ``two machines of 2 × RTX 5090``."""
    if build.machines == 1:
        return short_gpus_words(build)
    return f"two machines of {short_gpus_words(build._replace(machines=1))}"


def sum_is_less(ranking: Ranking) -> bool:
    """Whether a sum of parts or options is a little cheaper than first place, or a run on it: what
    is quoted comes before it by cost."""
    candidates, rule, first = ranking.candidates, ranking.question.rule, ranking.order[0]
    if rule == "days" or candidates.is_summed(first):
        return False
    value = candidates.cents if rule == "cost" else candidates.experiment_weight
    return any(value[i] < value[first] for i in ranking.order[: ranking.offered])


def measured_days(ranking: Ranking, i: int) -> float | None:
    """How long a synchronised run was measured to take where a shorter published time counts; None
    elsewhere."""
    best = ranking.candidates.times[i]
    return None if best is None or best.measured is None else best.measured.training_days


def better_unsold(ranking: Ranking) -> RankedRow | None:
    """The best build without a known seller, where it does better than first place."""
    if ranking.all_alike:
        return None
    first, unsold = ranking.row(0), ranking.row(ranking.offered)  # the best of those
    better = {
        "experiment-cost": unsold.experiment_cost_usd < first.experiment_cost_usd,
        "cost": unsold.overall_cost_usd < first.overall_cost_usd,
        "days": unsold.training_days < first.training_days,
    }
    return unsold if better[ranking.question.rule] else None


def sure_line(ranking: Ranking) -> str | None:
    """Whether first place is sure, and why, in one sentence; None where nothing competes."""
    uncertainty = ranking.uncertainty
    if uncertainty.first is None or (len(ranking) == 1 and uncertainty.is_sure):
        return None
    caveat = _caveat(ranking, uncertainty.first)
    if uncertainty.is_sure:
        if ranking.question.rule == "cost":
            return "First place is sure: the price alone decides."
        if not uncertainty.by_time:
            return "First place is sure: it is yours already, however long it takes."
        rest = f", if its time holds: {caveat}" if caveat else ""
        return f"First place is sure: other GPUs are behind by more than the doubt{rest}."
    reasons = [confidence(ranking).removeprefix("but ")]
    if uncertainty.first_may_be_slow:
        reasons.append("it may take longer than the limit")
    if uncertainty.outside:
        named = _listed(ranking, uncertainty.outside)
        reasons.append(f"{named} are left out as too slow, but may keep the limit")
    return f"First place is not sure: {'; '.join([*reasons, caveat] if caveat else reasons)}."


def _caveat(ranking: Ranking, first: int) -> str:
    """What the interval of first place does not cover; empty where nothing is known."""
    best = ranking.candidates.times[first]
    time = None if best is None else best.chosen
    if time is None or time.basis == "predicted" or time.timing != "unsynchronised":
        return ""
    return "its time was taken without waiting for the GPU, so it may be too low"


def limit_lines(ranking: Ranking) -> list[str]:
    """Which builds the limit of days may sort wrongly."""
    uncertainty, limit = ranking.uncertainty, ranking.question.max_days
    if limit is None:
        return []
    days = f"{days_exact(limit)} days"
    lines = []
    if uncertainty.perhaps_slow:
        builds = _listed(ranking, uncertainty.perhaps_slow)
        lines.append(f"Ranked, but perhaps slower than {days}: {builds}.")
    if uncertainty.perhaps_fast:
        builds = _listed(ranking, uncertainty.perhaps_fast)
        lines.append(f"Left out, but perhaps within {days}: {builds}.")
    return lines


def measure_line(ranking: Ranking) -> str | None:
    """What to measure first, how long that takes, and what stays open."""
    uncertainty, wanted = ranking.uncertainty, ranking.uncertainty.wanted
    if wanted is None:
        if uncertainty.is_sure or uncertainty.first is None:
            return None
        if ranking.candidates.evidence != "sound":
            return (
                "No measurement changes that: published evidence takes the printed times, whole "
                "days, as they are. Sound evidence does not."
            )
        return "No measurement is left to settle it: these times are synchronised ones."
    build = ranking.candidates.builds[wanted.build]
    return (
        f"Measure {ranking.candidates.model.name} on {build_words(build)} first: about "
        f"{minutes_words(wanted.search.minutes)} ({minutes_from(wanted.search)}). It settles "
        f"{settles_words(wanted)}. There: {measure_build(ranking.candidates.model, build)}"
        f"{limit_first(build)}"
    )


def settles_words(wanted: Wanted) -> str:
    """``most of it``: how much of the doubt about first place a measurement ends."""
    if wanted.left < 0.05:
        return "who is first"
    return "most of it" if wanted.left < 0.5 else "part of it"


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
            "command": measure_build(ranking.candidates.model, build),
        }
    return {
        "first_is_sure": None if uncertainty.first is None else uncertainty.is_sure,
        "tied_with_first": len(uncertainty.tied),
        "may_be_first_though_left_out": len(uncertainty.outside),
        "in_words": sure_line(ranking),
        "measure": measure,
        "measure_in_words": measure_line(ranking),
        "limit": limit_lines(ranking),
    }


def _listed(ranking: Ranking, builds: list[int]) -> str:
    """Each build with its interval of days; machines with the same GPUs and time are counted."""
    groups: dict[tuple[object, ...], list[int]] = {}
    for i in builds:
        key = (ranking.candidates.builds[i].cards, ranking.candidates.interval(i))
        groups.setdefault(key, []).append(i)
    named = list(groups.values())[:MOST_LISTED]
    names = []
    for first, *others in named:
        low, high = ranking.candidates.interval(first)
        build = ranking.candidates.builds[first]
        words = build_words(build)
        if others:
            words = f"{short_gpus_words(build)} in {len(others) + 1} machines"
        days = "" if low == high else f" ({days_rounded(low)}–{days_rounded(high)})"
        names.append(f"{words}{days}")
    more = len(builds) - sum(map(len, named))
    return ", ".join(names) + (f" and {more} more" if more else "")
