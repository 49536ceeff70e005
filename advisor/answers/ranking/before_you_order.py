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
from advisor.answers.checklist import Doubt, asked_of, quoted
from advisor.answers.measure_commands import gpus_of, measure_build
from advisor.answers.price_facts import as_quoted
from advisor.answers.ranking.buying_sentence import (
    NOT_ON_SALE,
    Verdict,
    days_of,
    measured_days,
    renting,
)
from advisor.answers.ranking.question_words import ask_again, exchange_rate, prices_and_evidence
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
from advisor.ranking.row_order import RankedRow, Ranking
from advisor.ranking.times import is_uneven
from advisor.ranking.what_to_measure import wanted
from bench_runner.typed_numbers import plain
from price_catalog.power import is_estimated, needs_machine_room, wall_w
from price_catalog.vendors import EU

if TYPE_CHECKING:
    from price_catalog.builds import Build
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
    power = _power(row.build, supply, ranking.candidates.buy_in)
    # Without a stated circuit it draws more than an outlet carries.
    unsafe = supply is None and wall_w(row.build._replace(machines=1)) is not None
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
    )
    return [step for step in found if step is not None]


def steps_title(ranking: Ranking) -> str:
    """What stands above them."""
    return TITLE if ranking.table else HELP_TITLE


def _trained(ranking: Ranking, row: RankedRow) -> Doubt | None:
    """Of fine-tuning: what is assumed of it, the memory that it takes, and what it does not fit."""
    model, time, build = ranking.candidates.model, row.time, row.build
    name, tuning = parted(model.recipe_id)
    if tuning is None:
        return None
    said = [] if model.note is None else [model.note]
    if time.peak_memory_gib is not None:
        taken = f"{PREDICTED_MARK}{plain(time.peak_memory_gib)}"
        said.append(f"takes {taken} of {build.gpu.memory_gib:g} GiB on {gpus_words(build)}")
    gaps = [*zip(ranking.candidates.gap, ranking.candidates.builds, strict=True)]
    fits = {each.gpu.gpu_id for gap, each in gaps if gap is None}
    unfit = dict.fromkeys(each.gpu for gap, each in gaps if gap == "does-not-fit")
    small = [gpu.short_name for gpu in unfit if gpu.gpu_id not in fits]
    if small:
        less = "" if tuning.train == "qlora" else ": --train qlora needs less"
        others = " and others" if len(small) > 3 else ""
        said.append(f"does not fit {', '.join(small[:3])}{others}{less}")
    command = asked_of("predict", name, build).replace(" --gpu ", f"{tuning.flags()} --gpu ")
    return Doubt("trained", "; ".join(said), f"{command} --details")


def _yours(ranking: Ranking, row: RankedRow) -> Doubt | None:
    """The fastest machine that is there already and answers too, where another comes first."""
    candidates = ranking.candidates
    own = [i for i in ranking.order if candidates.builds[i].host_owned]
    if row.build.host_owned or not own:
        return None
    best = min(own, key=candidates.days.__getitem__)
    build = candidates.builds[best]
    words = f"your {gpus_words(build)} trains it in {days_of(candidates, best)}, for nothing"
    command = asked_of("prices cost", candidates.model.recipe_id, build, machine=True)
    return Doubt("yours", words, f"{command} --electricity 0.15")


def _measure(ranking: Ranking, row: RankedRow) -> Doubt | None:
    """The measurement that settles most of the doubt about the days of the first rows."""
    model, time = ranking.candidates.model, row.time
    if time.verdict == "implausible":
        words = f"this published time {time.verdict_reason}"
        return Doubt("time", words, asked_of("predict", model.recipe_id, row.build))
    found = wanted(ranking)
    if found is None:
        if time.basis == "predicted" or time.timing != "unsynchronised":
            return None
        slower = measured_days(ranking, ranking.order[0])
        more = "it may take longer" if slower is None else f"we measured {counted_days(slower)}"
        words = f"its time was taken without waiting for the GPU: {more}"
        return Doubt("time", words, measure_build(model, row.build))
    build = ranking.candidates.builds[found.build]
    settles = "to know its time: this is an estimate"
    if ranking.tied_rows > 1:
        settles = "to tell the group apart" if not found.left else "to settle part of the tie"
    words = f"{gpus_words(build)} for {minutes_words(found.search.minutes)} {settles}"
    if is_uneven(model, gpus_of(build)):
        words += f"; its batch of {model.batch_size:,} does not divide: change that first"
    return Doubt("measure", words + limit_first(build), measure_build(model, build))


def _quote(ranking: Ranking, row: RankedRow) -> Doubt | None:
    """How far to trust the price of the first row, and whom to ask."""
    build, host, gpu, today = row.build, row.host_quote, row.gpu_quote, date.today()
    if build.host_owned:
        return None
    day, whole = price_day(row), build.host.gpu_id is not None
    age, old = f"{age_words(day, today)} old", (today - day).days >= YOUNG_DAYS
    words = [
        f"{usd_rounded(told.quote.price_usd)} for {told.item} is far off what others ask, "
        f"{usd_rounded(told.span.usual_usd)}: look at it before you trust it"
        for told in row.asked
        if told.span is not None and told.span.usual_usd is not None
    ]
    if row.availability != "orderable":
        words.append(NOT_ON_SALE[row.availability])
        if ranking.candidates.overtaken[ranking.order[0]]:
            card = ranking.candidates.prices["gpu", build.gpu.gpu_id]
            alone = card.price_usd * build.gpu_count * build.machines
            words[-1] += f": its GPUs alone cost {usd_rounded(alone)} now ({card.label})"
    elif is_unquoted(build, host):
        words.append(f"{host.vendor} quoted no total: a sum of options, {age}")
    elif old and whole:
        own = as_quoted(host)
        words.append(f"{host.vendor}'s price is {age}" + (f", asked as {own}" if own else ""))
    elif old:
        sellers = dict.fromkeys((gpu.vendor, host.vendor))
        words.append(f"parts of {' and '.join(sellers)}, prices {age}: you put it together")
    if any("tax" in (q.includes or "").lower() for q in (host, gpu)):
        words.append("with tax, which other prices leave out")
    if not words:
        return None
    return Doubt("quote", "; ".join(words), _listed(row))


def _listed(row: RankedRow) -> str:
    """What lists the quotes for a build."""
    whole = row.build.host.gpu_id is not None
    item = row.host_quote.item_id if whole else row.build.gpu.gpu_id
    return f"advisor prices list --item {quoted(item)}"


def _rent(
    ranking: Ranking, row: RankedRow, rentals: Iterable[Rental], key: CandidatesKey | None
) -> Doubt | None:
    """What a run costs on the same GPUs by the hour, and from how many runs on buying pays."""
    build, terms, even = row.build, ranking.question.terms, renting(ranking, rentals)
    if even is None:
        return None
    words = f"≈{usd_rounded(even.rent_per_experiment_usd)} a run on {rented_words(build)} "
    words += f"at {hourly_words(even.offer)}; {pays_words(even, terms, is_owned=build.host_owned)}"
    command = asked_of("prices rent", ranking.candidates.model.recipe_id, build, machine=True)
    command += stated_terms(terms) + ("" if key is None else prices_and_evidence(key))
    return Doubt("rent", words, command)


def _power(build: Build, supply: Supply | None, buy_in: str | None) -> Doubt | None:
    """What it draws, against the lab's circuit or, where none is stated, an ordinary outlet."""
    one = build._replace(machines=1)  # each hangs on an outlet of its own
    watts, check = wall_w(one), f"advisor prices builds --gpus {quoted(build.gpu.gpu_id)}"
    if watts is None:
        words = f"no source states what {gpus_words(one)} draw: ask the vendor"
        return Doubt("power", words, check)
    draws = f"{'' if build.machines == 1 else 'each machine: '}{'≈' if is_estimated(one) else ''}"
    if supply is not None:
        of = f"of your circuit's {supply.watts:,.0f} W"
        words = f"{draws}{watts:,.0f} W, an estimate, {of}"
        return Doubt("power", words, check) if is_estimated(one) else None
    outlet = OUTLET_EU if buy_in in EU else OUTLET
    if watts <= outlet.watts:
        return None
    words = f"{watts:,.0f} W is more than a {outlet.volts} V {outlet.breaker_a} A outlet carries"
    if needs_machine_room(watts):
        words = f"{plain(watts / 1000)} kW needs a machine room: no outlet carries it"
    return Doubt("power", f"{draws}{words}; --circuit states yours", check)


def _unsold(ranking: Ranking) -> Doubt | None:
    """The best row that would come before the first if somebody sold it."""
    rest = ranking.table[ranking.sold_rows :]
    if not ranking.sold_rows or not rest:
        return None
    i = rest[0][0]
    if ranking.doubt(i).value >= ranking.doubt(ranking.order[0]).value:
        return None
    best = ranking.machine(i)
    words = (
        f"{gpus_words(best.build)} {in_machine(best.build)} would come first: "
        f"{days_of(ranking.candidates, i)}, {usd_rounded(best.overall_cost_usd)}; "
        f"{NOT_ON_SALE[best.availability]}: ask for a quote"
    )
    return Doubt("unsold", words, _listed(best))


# Where no build answers


def _helps(ranking: Ranking, rentals: Iterable[Rental], key: CandidatesKey) -> list[Doubt]:
    """A price, more money, more days, renting, or two machines."""
    candidates, question, found = ranking.candidates, ranking.question, Verdict(ranking, rentals)
    limit, cents, said = question.max_days, candidates.cents, []

    def again(about: str, words: str, key: CandidatesKey = key, **changed: str | None) -> None:
        said.append(Doubt(about, words, ask_again(ranking, key, **changed)))

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
            said.append(Doubt("price", words, add_command(quoted(item), date.today())))
        if not said and key.gpu_ids is not None:
            again("gpus", "machines with other GPUs", key._replace(gpu_ids=None))
    if found.in_time is not None and question.budget_usd is not None:
        dollars = math.ceil(cents[found.in_time] * (1 + candidates.vat) / 100)
        again("budget", _named(ranking, found.in_time), budget=f"{dollars}")
    if found.in_budget is not None and limit is not None:
        days = f"{math.ceil(candidates.days[found.in_budget])}"
        again("days", _named(ranking, found.in_budget), days=days)
    if found.in_time is found.in_budget is None and candidates.rankable:
        i = candidates.by_cost[0]
        words = f"without a limit of days, {_named(ranking, i)}"
        again(
            "budget", words, budget=f"{math.ceil(cents[i] * (1 + candidates.vat) / 100)}", days=None
        )
    for step in (exchange_rate(ranking, key), _rent_instead(found, key)):
        said += [] if step is None else [step]
    near = found.in_budget is not None and candidates.days[found.in_budget] <= 2 * (limit or 0)
    if found.in_time is None and key.network is None and near:
        again("two", "no one machine is fast enough: two of a kind may be")
        command = f"{said[-1].command} --nodes 2 --fabric infiniband-ndr"
        said[-1] = said[-1]._replace(command=command)
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
        return [Doubt("model", "keep it again from its file", command)]
    if not all_lack_bf16(candidates):
        return []
    found = []
    if not candidates.model.is_mixture:  # whose experts are not predicted in fp16
        half = f"{name}-fp16"
        command = f"advisor predict --model {quoted(name)} --precision fp16 --keep {quoted(half)}"
        words = f"kept in fp16, as {half}, it is ranked on them"
        found.append(Doubt("precision", words, command))
    if key.gpu_ids is not None:
        command = ask_again(ranking, key._replace(gpu_ids=None))
        found.append(Doubt("gpus", "newer GPUs have bf16 cores", command))
    return found


def _rent_instead(found: Verdict, key: CandidatesKey) -> Doubt | None:
    """The cheapest run on rented GPUs that keeps the limit of days."""
    if found.rent is None:
        return None
    ranking, (usd, i) = found.ranking, found.rent
    build, budget = ranking.candidates.builds[i], ranking.budget_cents
    words = f"a run costs ≈{usd_rounded(usd)} on {rented_words(build)}, rented for "
    words += days_of(ranking.candidates, i)
    words += ": over the budget too" if budget is not None and usd * 100 > budget else ""
    command = asked_of("prices rent", ranking.candidates.model.recipe_id, build)
    return Doubt("rent", words, command + prices_and_evidence(key))
