"""What to settle before first place is ordered, each with the command that settles it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from decimal import Decimal
from itertools import takewhile
from typing import TYPE_CHECKING

from advisor.answers.build_words import (
    gpus_words,
    hourly_words,
    in_machine,
    limit_first,
    rented_words,
    short_gpus_words,
)
from advisor.answers.checklist import Doubt, quoted
from advisor.answers.gpu_count_notes import gpus_of, measure_build
from advisor.answers.ranking.confidence import better_unsold, measured_days, settles_words
from advisor.answers.ranking.on_sale import chance_at, days_of, orderable
from advisor.answers.ranking.price_doubt import price_doubt
from advisor.answers.ranking.question_words import exchange_rate, prices_and_evidence
from advisor.answers.wording import OUTLET, chance_words, counted_days, estimate_mark, runs_words
from advisor.costs.amounts import minutes_words, usd_rounded
from advisor.costs.tco import DAYS_PER_YEAR
from advisor.ranking.question import CandidatesKey
from advisor.ranking.rank import RankedRow, Ranking
from advisor.ranking.uneven_batch import is_uneven
from bench_runner.typed_numbers import plain
from price_catalog.power import is_estimated, needs_machine_room, wall_w

if TYPE_CHECKING:
    from price_catalog.model import Rental
    from price_catalog.power import Supply

MOST_DOUBTS = 5


def doubts_title(ranking: Ranking) -> str:
    """The title of the doubts, which are about the first row: where no seller is known for it, the
    sentence above names another machine."""
    return "Before you order the first row" if orderable(ranking) else "Before you order"


def doubts_of(
    ranking: Ranking, rentals: Iterable[Rental], key: CandidatesKey | None
) -> list[Doubt]:
    """At most one of each kind about first place; [] where no build answers.

    ``rentals`` are those of the first places' GPUs; ``key`` is what was asked for beside the
    question, None where nothing was.
    """
    if not len(ranking):
        return []
    row = ranking.row(0)
    held = tuple(rentals)
    found = (
        exchange_rate(ranking, key),
        _yours(ranking, row),
        _ties(ranking),
        _better_unsold(ranking),
        _time(ranking, row),
        _power(row, None if key is None else key.supply),
        price_doubt(ranking, row),
        _rent(ranking, row, held, key),
        _try_rented(ranking, held, key),
    )
    doubts = [doubt for doubt in found if doubt is not None]
    # What settles the ties, and a trial, settle the time as well; who has a machine rents none.
    for about in ("time", "try", "rent"):
        if len(doubts) > MOST_DOUBTS:
            doubts = [doubt for doubt in doubts if doubt.about != about]
    return doubts


def _yours(ranking: Ranking, row: RankedRow) -> Doubt | None:
    """The fastest machine that is there already and answers too, where another comes first."""
    candidates, limit = ranking.candidates, ranking.question.max_days
    if row.build.host_owned:
        return None
    free = takewhile(lambda i: candidates.cents[i] == 0, candidates.by_cost)
    own = [
        i
        for i in free
        if candidates.builds[i].host_owned and (limit is None or candidates.days[i] <= limit)
    ]
    if not own:
        return None
    best = min(own, key=candidates.days.__getitem__)
    build, chance = candidates.builds[best], chance_at(ranking, best)
    words = f"your {short_gpus_words(build)} is free, you own it: {days_of(candidates, best)}"
    if chance is not None:
        words += f", {chance_words(chance)} to keep the limit"
    command = (
        f"advisor prices cost --model {quoted(candidates.model.recipe_id)} "
        f"--gpu {quoted(build.gpu.gpu_id)} --count {build.gpu_count} "
        f"--machine {quoted(build.host.host_id)} --electricity 0.15"
    )
    return Doubt(about="yours", words=words, command=command)


def _ties(ranking: Ranking) -> Doubt | None:
    """Who may be first instead, and the cheapest measurement that would tell."""
    uncertainty = ranking.uncertainty
    wanted = uncertainty.wanted
    tied, outside = uncertainty.tied, uncertainty.outside
    if wanted is None or not (tied or outside):
        return None
    build = ranking.candidates.builds[wanted.build]
    alike = "too close to call" if tied else "others may be in time"
    minutes = minutes_words(wanted.search.minutes)
    words = (
        f"{alike}: measure {short_gpus_words(build)}, about {minutes}. "
        f"That settles {settles_words(wanted)}{limit_first(build)}"
    )
    command = measure_build(ranking.candidates.model, build)
    return Doubt(about="ties", words=words, command=command)


_BETTER = {"days": "be faster", "cost": "be cheaper", "experiment-cost": "cost less a run"}
"""What a machine would do that comes before another, by the rule."""


def _better_unsold(ranking: Ranking) -> Doubt | None:
    """The best that would come before first place if somebody sold it."""
    row, rule = better_unsold(ranking), ranking.question.rule
    if row is None:
        return None
    build, mark = row.build, estimate_mark(row.time)
    days = days_of(ranking.candidates, ranking.order[row.rank - 1])
    facts = f"{days} at {usd_rounded(row.overall_cost_usd)}"
    if rule == "experiment-cost":
        facts += f", {mark}{usd_rounded(row.experiment_cost_usd)} a run"
    words = (
        f"{short_gpus_words(build)} {in_machine(build)} would {_BETTER[rule]}: {facts}. "
        "No seller is known: ask for a quote"
    )
    item = row.host_quote.item_id if build.host.gpu_id is not None else build.gpu.gpu_id
    command = f"advisor prices list --item {quoted(item)}"
    return Doubt(about="unsold", words=words, command=command)


def _time(ranking: Ranking, row: RankedRow) -> Doubt | None:
    """What the days rest on, where nobody timed this model on this machine as a run takes."""
    time, model = row.time, ranking.candidates.model
    build = row.build
    if time.verdict == "implausible":
        words = f"this published time {time.verdict_reason}"
        command = f"advisor predict --model {quoted(model.recipe_id)} "
        command += f"--gpu {quoted(build.gpu.gpu_id)} --count {build.gpu_count}"
        return Doubt(about="time", words=words, command=command)
    if time.basis == "predicted":
        life = ranking.question.lifetime_years
        words = f"estimated, not measured on {short_gpus_words(build)}{limit_first(build)}"
        if row.training_days > life * DAYS_PER_YEAR:
            words = f"a run takes longer than the {life:g} years that the machine serves; {words}"
    elif time.timing == "unsynchronised":
        words = "published, timed without waiting for the GPU: it may take longer"
        slower = measured_days(ranking, ranking.order[row.rank - 1])
        if slower is not None:
            days = counted_days(slower)
            words = f"published, timed without waiting for the GPU; we measured {days}"
    else:
        return None
    if is_uneven(model, gpus_of(build)):
        words += f"; they do not share its batch of {model.batch_size:,} evenly: change that first"
    return Doubt(about="time", words=words, command=measure_build(model, build))


def _power(row: RankedRow, supply: Supply | None) -> Doubt | None:
    """What it draws, against the lab's circuit or, where none is stated, an ordinary outlet."""
    build = row.build._replace(machines=1)  # each hangs on an outlet of its own
    watts = wall_w(build)
    check = f"advisor prices builds --gpus {quoted(row.build.gpu.gpu_id)}"
    if watts is None:
        words = f"no source states what {gpus_words(build)} draw: ask the vendor"
        return Doubt(about="power", words=words, command=check)
    about = "≈" if is_estimated(build) else ""
    about = about if row.build.machines == 1 else f"each machine: {about}"
    if supply is not None:
        if not is_estimated(build):
            return None
        words = f"{about}{watts:,.0f} W, an estimate, of your circuit's {supply.watts:,.0f} W"
        return Doubt(about="power", words=words, command=check)
    if watts <= OUTLET.watts:
        return None
    if needs_machine_room(watts):
        words = f"{about}{plain(watts / 1000)} kW needs a machine room: no outlet carries it"
    else:
        outlet = f"{OUTLET.volts} V {OUTLET.breaker_a} A outlet"
        words = f"{about}{watts:,.0f} W is more than a {outlet} carries"
    return Doubt(about="power", words=f"{words} (--circuit states yours)", command=check)


def _try_rented(
    ranking: Ranking, rentals: Iterable[Rental], key: CandidatesKey | None
) -> Doubt | None:
    """What it costs at most to measure the first places on rented GPUs before buying one; None
    where the command would rank other machines than were asked for."""
    if key is not None and key[1:] != CandidatesKey("", "latest", "sound")[1:]:
        return None
    from advisor.answers.ranking.rented_trials import FIRST, first_trials

    question = ranking.question
    if question.rule != "days" or ranking.row(0).time.timing == "synchronised":
        return None
    if ranking.candidates.model.own_command is not None:
        return None  # nothing here knows how to start it there
    trials = first_trials(ranking, rentals)
    if not trials.tried:
        return None
    model = quoted(ranking.candidates.model.recipe_id)
    command = f"advisor bench --model {model} --on sky --first {FIRST}"
    if question.budget_usd is not None:
        command += f" --budget {question.budget_usd:.0f}"
    if question.max_days is not None:
        command += f" --max-days {plain(question.max_days, 6)}"
    return Doubt(about="try", words=trials.short_words(), command=command)


def _rent(
    ranking: Ranking, row: RankedRow, rentals: Iterable[Rental], key: CandidatesKey | None
) -> Doubt | None:
    """What a run costs on the same GPUs by the hour, and from how many runs on buying pays."""
    from advisor.costs.rental import rent_offers, rented_usd

    build = row.build
    if build.machines > 1:
        return None  # offers are of one machine
    # As `advisor prices rent` has it under the same rule of prices.
    day = key.prices if key is not None and isinstance(key.prices, date) else date.today()
    offers = rent_offers(rentals, build.gpu.gpu_id, build.gpu_count, today=day)
    offer = next((offer for offer in offers if offer.kind == "on-demand"), None)
    if offer is None:
        return None
    run_usd = rented_usd(offer.price_per_hour_usd, row.training_days, Decimal(1))
    runs = row.overall_cost_usd / run_usd
    life = ranking.question.lifetime_years
    words = (
        f"a run costs ≈{usd_rounded(run_usd)} on {rented_words(build)} "
        f"rented at {hourly_words(offer)}"
    )
    if row.training_days > life * DAYS_PER_YEAR:
        words += f"; the machine does not finish one in {life:g} years"
    elif row.overall_cost_usd:
        sold = build.host_owned or ranking.candidates.offered[ranking.order[row.rank - 1]]
        pays = "buying pays" if sold else "if a seller is found, buying pays"
        words += f"; {pays} from {runs_words(runs)}"
        if float(runs) * row.training_days > life * DAYS_PER_YEAR:
            words += f", more than it does in {life:g} years"
        else:
            words += ", without electricity"
    command = (
        f"advisor prices rent --model {quoted(ranking.candidates.model.recipe_id)} "
        f"--gpu {quoted(build.gpu.gpu_id)} --count {build.gpu_count}"
    )
    candidates, i = ranking.candidates, ranking.order[row.rank - 1]
    same = candidates.alike[build.cards]
    # As `advisor.answers.prices.ownership` chooses where no machine is named.
    placed = candidates.placed_cents
    usual = min(same, key=lambda j: (not candidates.offered[j], placed[j], candidates.is_summed(j)))
    if i != usual or not candidates.offered[i]:
        command += f" --machine {quoted(build.host.host_id)}"
    command += "" if key is None else prices_and_evidence(key)
    if life != 5:
        command += f" --lifetime-years {life:g}"
    return Doubt(about="rent", words=words, command=command)
