"""The answer of a ranking in one sentence: what to buy, its price, how long it trains, how sure.

Every surface begins with `verdict`: the command line, JSON and the terminal program.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from advisor.answers.wording import (
    chance_words,
    counted_days,
    estimate_mark,
    gpus_words,
    machine_words,
    price_day,
    price_day_words,
)
from advisor.costs.amounts import days_rounded, usd_exact, usd_rounded
from advisor.ranking.rank import RankedRow, Ranking
from advisor.ranking.ties import chance_within


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The first line of an answer."""

    sentence: str
    """Could stand alone in an e-mail."""
    short: str
    """The same for a line of a small terminal: without vendor, model and the price's age."""
    row: RankedRow | None
    """First place; None where no build answers."""
    chance: float | None
    """That first place keeps the limit of days, 0 to 1; None where none was asked for."""


def verdict(ranking: Ranking) -> Verdict:
    """The answer in one sentence, also where nothing fits."""
    if not len(ranking):
        return Verdict(sentence=_nothing(ranking), short=_nothing(ranking), row=None, chance=None)
    row = ranking.row(0)
    chance = chance_of(ranking, row)
    # What to do, at which price, how fast, how sure.
    limit = [] if chance is None else [f"{chance_words(chance)} to make {_limit(ranking)}"]
    per_run = ranking.question.rule == "experiment-cost"
    run = [f"{usd_rounded(row.experiment_cost_usd)} a run"] if per_run else []
    facts = [days_words(row), *limit, *run]
    sure = how_sure(ranking)
    model = ranking.candidates.model.name
    return Verdict(
        sentence=f"{buy_words(row)}{_price_words(ranking, row)}: "
        f"{model} in {', '.join(facts)}; {sure}.",
        short=f"{_short_words(row)}, {', '.join(facts)}; {sure}.",
        row=row,
        chance=chance,
    )


def chance_of(ranking: Ranking, row: RankedRow) -> float | None:
    """How likely a build keeps the limit of days, 0 to 1; None where none was asked for."""
    limit = ranking.question.max_days
    if limit is None:
        return None
    return chance_within(limit, row.training_days, row.training_days_low, row.training_days_high)


def days_words(row: RankedRow) -> str:
    """``≈79.4 days (50.2–126)``; the mark where nobody measured it."""
    days, low, high = row.training_days, row.training_days_low, row.training_days_high
    ends = days_rounded(low), days_rounded(high)
    interval = "" if ends[0] == ends[1] else f" ({'–'.join(ends)})"
    return f"{estimate_mark(row.time)}{counted_days(days)}{interval}"


def buy_words(row: RankedRow) -> str:
    """``Buy 2 × RTX 5090 in the tinybox G4 128 GB from tiny corp``."""
    build = row.build
    if build.host_owned:
        own = f"your {gpus_words(build)}"
        return f"Use {own}" if build.host.name == own else f"Use {own} ({build.host.name})"
    if build.gpus_owned:
        more = build.gpu_count - build.gpus_owned
        return (
            f"Add {more} × {build.gpu.name} to your {build.gpus_owned} in the "
            f"{machine_words(build)}"
        )
    words = f"Buy {gpus_words(build)} in the {machine_words(build)}"
    vendor = row.host_quote.vendor
    sold_whole = build.host.gpu_id is not None and vendor.lower() not in build.host.name.lower()
    return f"{words} from {vendor}" if sold_whole else words


def _short_words(row: RankedRow) -> str:
    if row.build.host_owned:
        return f"Use your {gpus_words(row.build)}"
    return f"Buy {gpus_words(row.build)}: {usd_rounded(row.overall_cost_usd)}"


def _price_words(ranking: Ranking, row: RankedRow) -> str:
    """`` for $26,000 (April 2026, 7 months old)``; nothing for what is there already."""
    if row.build.host_owned:
        return ""
    age = price_day_words(price_day(row), date.today())
    seller = "" if ranking.candidates.offered[ranking.order[row.rank - 1]] else ", no seller known"
    return f" for {usd_rounded(row.overall_cost_usd)} ({age}{seller})"


def how_sure(ranking: Ranking) -> str:
    """How sure first place is, in a few words."""
    uncertainty, rule = ranking.uncertainty, ranking.question.rule
    if uncertainty.first_is_impossible:
        return "but that published time is physically impossible"
    if len(ranking) == 1 and not uncertainty.outside:
        return "nothing else fits"
    alike = "cheap a run" if rule == "experiment-cost" else "fast"
    count, outside = len(uncertainty.tied), len(uncertainty.outside)
    if count:
        return f"{count:,} other{'s' if count > 1 else ''} may be as {alike}"
    if outside:
        return f"{outside:,} left out as too slow may be better"
    if rule == "cost":
        return "nothing cheaper fits"
    return f"no other is as {alike}"


def _limit(ranking: Ranking) -> str:
    limit = ranking.question.max_days
    assert limit is not None  # only asked for where there is a limit
    return counted_days(limit)


def _nothing(ranking: Ranking) -> str:
    """Why nothing fits, and what comes nearest."""
    candidates, question = ranking.candidates, ranking.question
    model, budget, limit = candidates.model.name, question.budget_usd, question.max_days
    asked = "" if budget is None else f" for {usd_exact(budget)}"
    asked += "" if limit is None else f" within {_limit(ranking)}"
    if not candidates.rankable:
        return f"No machine can be ranked for {model}: none has both a price and a training time."
    cents = candidates.cents
    inside = [] if budget is None else [i for i in candidates.by_days if cents[i] <= budget * 100]
    in_time = [i for i in candidates.by_cost if limit is None or candidates.days[i] <= limit]
    near = []
    if inside:
        near.append(f"the fastest for that takes {_days_of(ranking, inside[0])}")
    if in_time:
        what = "the cheapest" if limit is None else "the cheapest that does"
        cost = candidates.cost_usd(in_time[0])
        assert cost is not None  # it is rankable
        near.append(
            f"{what} costs {usd_rounded(cost)} ({gpus_words(candidates.builds[in_time[0]])})"
        )
    elif inside:
        near.append("no machine here is fast enough at any price")
    else:
        near.append(f"the fastest takes {_days_of(ranking, candidates.by_days[0])}")
    return f"Nothing trains {model}{asked}: {', '.join(near)}."


def _days_of(ranking: Ranking, i: int) -> str:
    candidates = ranking.candidates
    best = candidates.times[i]
    mark = estimate_mark(best.chosen) if best is not None and best.chosen is not None else ""
    name = gpus_words(candidates.builds[i])
    return f"{mark}{counted_days(candidates.days[i])} ({name})"
