"""What to do before the first row is ordered, each with its command; what helps where no build
answers."""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import date
from typing import TYPE_CHECKING

from advisor.answers.build_words import (
    gpus_words,
    hourly_words,
    in_machine,
    limit_first,
    rented_words,
)
from advisor.answers.checklist import Doubt, quoted
from advisor.answers.gpu_count_notes import gpus_of, measure_build
from advisor.answers.price_facts import as_quoted
from advisor.answers.ranking.question_words import ask_again, exchange_rate, prices_and_evidence
from advisor.answers.ranking.rented_trials import FIRST, first_trials
from advisor.answers.ranking.verdict import (
    NOT_ON_SALE,
    Verdict,
    days_of,
    measured_days,
    renting,
    verdict,
)
from advisor.answers.wording import (
    OUTLET,
    OUTLET_EU,
    PREDICTED_MARK,
    counted_days,
    is_unquoted,
    pays_words,
    price_day,
)
from advisor.costs.amount_words import age_words, minutes_words, usd_rounded
from advisor.costs.cost_terms import stated_terms
from advisor.costs.price_book import add_command
from advisor.ranking.exclusion_reasons import all_lack_bf16
from advisor.ranking.fine_tuning import parted
from advisor.ranking.question import CandidatesKey
from advisor.ranking.rank import RankedRow, Ranking
from advisor.ranking.times import is_uneven
from advisor.ranking.what_to_measure import wanted
from bench_runner.typed_numbers import plain
from price_catalog.power import is_estimated, needs_machine_room, wall_w
from price_catalog.vendors import EU

if TYPE_CHECKING:
    from price_catalog.model import Rental
    from price_catalog.power import Supply

MOST_SHOWN = 4
"""How many a short answer shows; ``--details`` has the rest."""
TITLE, HELP_TITLE = "Before you order", "What would help"
YOUNG_DAYS = 60
"""A price of fewer days needs no word."""


def steps_of(ranking: Ranking, rentals: Iterable[Rental], key: CandidatesKey | None) -> list[Doubt]:
    """What to do before the first row is ordered, the most useful first; where no build answers,
    what would help.

    ``rentals`` are those of the first rows' GPUs; ``key`` is what was asked for beside the
    question, None where nothing was.
    """
    held = tuple(rentals)
    if not ranking.table:
        return [] if key is None else _helps(ranking, held, key)
    row = ranking.lead(0)
    trained, rent = _trained(ranking, row), _rent(ranking, row, held, key)
    supply = None if key is None else key.supply
    power, watts = (
        _power(row, supply, ranking.candidates.buy_in),
        wall_w(row.build._replace(machines=1)),
    )
    unsafe = supply is None and watts is not None  # it draws more than an outlet carries
    found = (
        exchange_rate(ranking, key),
        trained,
        rent if trained is not None else None,  # a few hours: who would buy a machine for them
        _yours(ranking, row),
        power if unsafe else None,
        _measure(ranking, row),
        _quote(ranking, row),
        rent if trained is None else None,
        None if unsafe else power,
        _unsold(ranking),
        _try_rented(ranking, held, key),
    )
    return [step for step in found if step is not None]


def steps_title(ranking: Ranking) -> str:
    """What stands above them."""
    return TITLE if ranking.table else HELP_TITLE


def _trained(ranking: Ranking, row: RankedRow) -> Doubt | None:
    """Of fine-tuning: what is assumed of it, the memory that it takes, and what it does not fit."""
    model, time = ranking.candidates.model, row.time
    name, tuning = parted(model.recipe_id)
    if tuning is None:
        return None
    words = model.note or ""
    if time.peak_memory_gib is not None:
        room = f"of {row.build.gpu.memory_gib:g} GiB on {gpus_words(row.build)}"
        memory = f"takes {PREDICTED_MARK}{plain(time.peak_memory_gib)} {room}"
        words = f"{words}; {memory}" if words else memory
    gaps = [*zip(ranking.candidates.gap, ranking.candidates.builds, strict=True)]
    fits = {build.gpu.gpu_id for gap, build in gaps if gap is None}
    unfit = dict.fromkeys(build.gpu for gap, build in gaps if gap == "does-not-fit")
    small = [gpu.short_name for gpu in unfit if gpu.gpu_id not in fits]
    if small:
        words += f"; does not fit {', '.join(small[:3])}{' and others' if len(small) > 3 else ''}"
        words += "" if tuning.train == "qlora" else ": --train qlora needs less"
    command = f"advisor predict --model {quoted(name)}{tuning.flags()} "
    command += f"--gpu {quoted(row.build.gpu.gpu_id)} --count {row.build.gpu_count} --details"
    return Doubt(about="trained", words=words, command=command)


def _yours(ranking: Ranking, row: RankedRow) -> Doubt | None:
    """The fastest machine that is there already and answers too, where another comes first."""
    if row.build.host_owned:
        return None
    candidates = ranking.candidates
    own = [i for i in ranking.order if candidates.builds[i].host_owned]
    if not own:
        return None
    best = min(own, key=candidates.days.__getitem__)
    build = candidates.builds[best]
    words = f"your {gpus_words(build)} trains it in {days_of(candidates, best)}, for nothing"
    command = (
        f"advisor prices cost --model {quoted(candidates.model.recipe_id)} "
        f"--gpu {quoted(build.gpu.gpu_id)} --count {build.gpu_count} "
        f"--machine {quoted(build.host.host_id)} --electricity 0.15"
    )
    return Doubt(about="yours", words=words, command=command)


def _measure(ranking: Ranking, row: RankedRow) -> Doubt | None:
    """The measurement that settles most of the doubt about the days of the first rows."""
    model, time = ranking.candidates.model, row.time
    if time.verdict == "implausible":
        words = f"this published time {time.verdict_reason}"
        command = f"advisor predict --model {quoted(model.recipe_id)} "
        command += f"--gpu {quoted(row.build.gpu.gpu_id)} --count {row.build.gpu_count}"
        return Doubt(about="time", words=words, command=command)
    found = wanted(ranking)
    if found is None:
        if time.basis == "predicted" or time.timing != "unsynchronised":
            return None
        slower = measured_days(ranking, ranking.order[0])
        more = "it may take longer" if slower is None else f"we measured {counted_days(slower)}"
        words = f"its time was taken without waiting for the GPU: {more}"
        return Doubt(about="time", words=words, command=measure_build(model, row.build))
    build = ranking.candidates.builds[found.build]
    settles = "to know its time: this is an estimate"
    if ranking.tied_rows > 1:
        settles = "to tell the group apart" if found.left < 0.5 else "to settle part of the tie"
    words = f"{gpus_words(build)} for {minutes_words(found.search.minutes)} {settles}"
    if is_uneven(model, gpus_of(build)):
        words += f"; its batch of {model.batch_size:,} does not divide: change that first"
    words += limit_first(build)
    return Doubt(about="measure", words=words, command=measure_build(model, build))


def _quote(ranking: Ranking, row: RankedRow) -> Doubt | None:
    """How far to trust the price of the first row, and whom to ask."""
    build, host, gpu, today = row.build, row.host_quote, row.gpu_quote, date.today()
    if build.host_owned:
        return None
    day, whole = price_day(row), build.host.gpu_id is not None
    age, vendor = f"{age_words(day, today)} old", host.vendor
    words = [
        f"{usd_rounded(told.quote.price_usd)} for {told.item} is far off what others ask, "
        f"{usd_rounded(told.span.usual_usd)}: look at it before you trust it"
        for told in row.asked
        if told.span is not None and told.span.usual_usd is not None
    ]
    if row.availability != "orderable":
        words.append(NOT_ON_SALE[row.availability])
        i = ranking.order[0]
        if ranking.candidates.overtaken[i]:
            card = ranking.candidates.prices["gpu", build.gpu.gpu_id]
            alone = card.price_usd * build.gpu_count * build.machines
            words[-1] += f": its GPUs alone cost {usd_rounded(alone)} now ({card.label})"
    elif is_unquoted(build, host):
        words.append(f"{vendor} quoted no total: a sum of options, {age}")
    elif (today - day).days >= YOUNG_DAYS and whole:
        own = as_quoted(host)
        words.append(f"{vendor}'s price is {age}" + ("" if own is None else f", asked as {own}"))
    elif (today - day).days >= YOUNG_DAYS:
        sellers = dict.fromkeys((gpu.vendor, vendor))
        words.append(f"parts of {' and '.join(sellers)}, prices {age}: you put it together")
    if any("tax" in (q.includes or "").lower() for q in dict.fromkeys((host, gpu))):
        words.append("with tax, which other prices leave out")
    if not words:
        return None
    item = host.item_id if whole else build.gpu.gpu_id
    command = f"advisor prices list --item {quoted(item)}"
    return Doubt(about="quote", words="; ".join(words), command=command)


def _rent(
    ranking: Ranking, row: RankedRow, rentals: Iterable[Rental], key: CandidatesKey | None
) -> Doubt | None:
    """What a run costs on the same GPUs by the hour, and from how many runs on buying pays."""
    build, terms, even = row.build, ranking.question.terms, renting(ranking, rentals)
    if even is None:
        return None
    words = f"≈{usd_rounded(even.rent_per_experiment_usd)} a run on {rented_words(build)} "
    words += f"at {hourly_words(even.offer)}; {pays_words(even, terms, is_owned=build.host_owned)}"
    command = (
        f"advisor prices rent --model {quoted(ranking.candidates.model.recipe_id)} "
        f"--gpu {quoted(build.gpu.gpu_id)} --count {build.gpu_count} "
        f"--machine {quoted(build.host.host_id)}{stated_terms(terms)}"
    )
    command += "" if key is None else prices_and_evidence(key)
    return Doubt(about="rent", words=words, command=command)


def _power(row: RankedRow, supply: Supply | None, buy_in: str | None) -> Doubt | None:
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
    outlet = OUTLET_EU if buy_in in EU else OUTLET
    if watts <= outlet.watts:
        return None
    words = (
        f"{about}{watts:,.0f} W is more than a {outlet.volts} V {outlet.breaker_a} A outlet carries"
    )
    if needs_machine_room(watts):
        words = f"{about}{plain(watts / 1000)} kW needs a machine room: no outlet carries it"
    return Doubt(about="power", words=f"{words}; --circuit states yours", command=check)


def _unsold(ranking: Ranking) -> Doubt | None:
    """The best row that would come before the first if somebody sold it."""
    rest = ranking.table[ranking.sold_rows :]
    if not ranking.sold_rows or not rest:
        return None
    best = ranking.machine(rest[0][0])
    if ranking.doubt(rest[0][0]).value >= ranking.doubt(ranking.order[0]).value:
        return None
    build, i = best.build, rest[0][0]
    words = (
        f"{gpus_words(build)} {in_machine(build)} would come first: "
        f"{days_of(ranking.candidates, i)}, {usd_rounded(best.overall_cost_usd)}; "
        f"{NOT_ON_SALE[best.availability]}: ask for a quote"
    )
    item = best.host_quote.item_id if build.host.gpu_id is not None else build.gpu.gpu_id
    return Doubt(about="unsold", words=words, command=f"advisor prices list --item {quoted(item)}")


def _try_rented(
    ranking: Ranking, rentals: Iterable[Rental], key: CandidatesKey | None
) -> Doubt | None:
    """What it costs at most to measure the first rows on rented GPUs before one is bought; None
    where the command would rank other machines than were asked for."""
    question = ranking.question
    usual = key is None or key[1:] == CandidatesKey("", "latest", "sound")[1:]
    if not usual or question.rule != "days" or ranking.lead(0).time.timing == "synchronised":
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
    return Doubt(about="try", words=trials.words(), command=command)


# Where no build answers


def _helps(ranking: Ranking, rentals: Iterable[Rental], key: CandidatesKey) -> list[Doubt]:
    """A price, more money, more days, renting, or two machines."""
    candidates, question, found = ranking.candidates, ranking.question, verdict(ranking, rentals)
    limit, cents, said = question.max_days, candidates.cents, []

    def again(about: str, words: str, key: CandidatesKey = key, **changed: str | None) -> None:
        said.append(Doubt(about=about, words=words, command=ask_again(ranking, key, **changed)))

    if not candidates.rankable:
        if key.evidence == "published":
            words = "with sound evidence, times that were not published are estimated"
            again("evidence", words, key._replace(evidence="sound"))
        else:
            said += _to_be_timed(ranking, key)
        if "no-price" in candidates.gap and isinstance(key.prices, date):
            again("price", "with the prices of today", key._replace(prices="latest"))
        elif "no-price" in candidates.gap:
            i = candidates.gap.index("no-price")
            build, (what, item) = candidates.builds[i], candidates.unpriced(i)
            words = f"a quote for {build.gpu.name if what == 'GPU' else build.host.name} ranks it"
            command = add_command(quoted(item), date.today())
            said.append(Doubt(about="price", words=words, command=command))
        if not said and key.gpu_ids is not None:
            again("gpus", "machines with other GPUs", key._replace(gpu_ids=None))
    if found.in_time is not None and question.budget_usd is not None:
        dollars = f"{math.ceil(cents[found.in_time] / 100)}"
        again("budget", _named(ranking, found.in_time), budget=dollars)
    if found.in_budget is not None and limit is not None:
        days = f"{math.ceil(candidates.days[found.in_budget])}"
        again("days", _named(ranking, found.in_budget), days=days)
    if found.in_time is found.in_budget is None and candidates.rankable:
        i = candidates.by_cost[0]
        words = f"without a limit of days, {_named(ranking, i)}"
        again("budget", words, budget=f"{math.ceil(cents[i] / 100)}", days=None)
    for step in (exchange_rate(ranking, key), _rent_instead(found, key)):
        said += [] if step is None else [step]
    near = found.in_budget is not None and candidates.days[found.in_budget] <= 2 * (limit or 0)
    if found.in_time is None and key.network is None and near:
        again("two", "no one machine is fast enough: two of a kind may be")
        command = f"{said[-1].command} --nodes 2 --fabric infiniband-ndr"
        said[-1] = Doubt(about="two", words=said[-1].words, command=command)
    return said


def _named(ranking: Ranking, i: int) -> str:
    """``$9,870 buys 1 × RTX 5090: ≈331 days (289–379)``."""
    candidates = ranking.candidates
    build, price = candidates.builds[i], usd_rounded(candidates.cents[i] / 100)
    gpus, days = gpus_words(build), days_of(candidates, i)
    if build.host_owned:
        return f"your {gpus}: {days}"
    verb = "buys" if candidates.offered[i] else "was asked once for"
    return f"{price} {verb} {gpus}: {days}"


def _to_be_timed(ranking: Ranking, key: CandidatesKey) -> list[Doubt]:
    """What gives a model times that has none."""
    candidates = ranking.candidates
    name = candidates.model.recipe_id
    if candidates.uncounted is not None:
        command = f"advisor predict --model FILE --keep {quoted(name)} --force"
        return [Doubt(about="model", words="keep it again from its file", command=command)]
    if not all_lack_bf16(candidates):
        return []
    found = []
    if not candidates.model.is_mixture:  # whose experts are not predicted in fp16
        half = f"{name}-fp16"
        command = f"advisor predict --model {quoted(name)} --precision fp16 --keep {quoted(half)}"
        words = f"kept in fp16, as {half}, it is ranked on them"
        found.append(Doubt(about="precision", words=words, command=command))
    if key.gpu_ids is not None:
        command = ask_again(ranking, key._replace(gpu_ids=None))
        found.append(Doubt(about="gpus", words="newer GPUs have bf16 cores", command=command))
    return found


def _rent_instead(found: Verdict, key: CandidatesKey) -> Doubt | None:
    """The cheapest run on rented GPUs that keeps the limit of days."""
    if found.rent is None:
        return None
    ranking, (usd, i) = found.ranking, found.rent
    build, budget = ranking.candidates.builds[i], ranking.question.budget_usd
    words = f"a run costs ≈{usd_rounded(usd)} on {rented_words(build)}, rented for "
    words += days_of(ranking.candidates, i)
    words += ": over the budget too" if budget is not None and usd > budget else ""
    command = f"advisor prices rent --model {quoted(ranking.candidates.model.recipe_id)} "
    command += f"--gpu {quoted(build.gpu.gpu_id)} --count {build.gpu_count}"
    return Doubt(about="rent", words=words, command=command + prices_and_evidence(key))
