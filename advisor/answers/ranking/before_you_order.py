"""What to do before the first row is ordered, each with its command; what helps where no build
answers."""

from __future__ import annotations

import math
from datetime import date
from typing import TYPE_CHECKING

from advisor.answers.build_words import (
    gpus_words,
    hourly_words,
    in_machine,
    rented_words,
    set_limit,
)
from advisor.answers.checklist import Doubt, asked_of, quoted
from advisor.answers.measure_commands import gpus_of, measure_build
from advisor.answers.price_facts import as_quoted
from advisor.answers.ranking.question_words import ask_again, exchange_rate, prices_and_evidence
from advisor.answers.ranking.rank_sentence import NOT_ON_SALE, Verdict, days_of, nearest
from advisor.answers.wording import (
    PREDICTED_MARK,
    is_unquoted,
    over_outlet,
    pays_words,
    price_day,
    price_day_words,
)
from advisor.costs.amount_words import age_words, counted, minutes_words, usd_rounded
from advisor.costs.cost_terms import stated_terms
from advisor.costs.price_book import add_command
from advisor.ranking.fine_tuning import parted
from advisor.ranking.row_order import RankedRow
from advisor.ranking.times import is_uneven
from advisor.ranking.what_to_measure import wanted
from bench_runner.typed_numbers import plain
from price_catalog.power import is_estimated, wall_w

if TYPE_CHECKING:
    from advisor.ranking.question import CandidatesKey

MOST_SHOWN = 4
"""How many a short answer shows; ``--details`` has the rest."""
TITLE, HELP_TITLE = "Before you order", "What would help"
YOUNG_DAYS = 60
"""A price of fewer days needs no word."""


def steps_of(found: Verdict, key: CandidatesKey) -> list[Doubt]:
    """What to do before the first row is ordered, the most useful first; where no build answers,
    what would help. ``key`` is what was asked for beside the question."""
    row = found.first
    if row is None:
        return _helps(found, key)
    trained, rent = _trained(found, row), _rent(found, row, key)
    steps = (
        exchange_rate(found.ranking, key),
        trained,
        rent if trained is not None else None,  # a few hours: who would buy a machine for them
        _yours(found, row),
        _power(found, row, key),
        _measure(found, row),
        _quote(found, row),
        rent if trained is None else None,
        _unsold(found),
    )
    return [step for step in steps if step is not None]


def steps_title(found: Verdict) -> str:
    """What stands above them."""
    return HELP_TITLE if found.first is None else TITLE


def _trained(found: Verdict, row: RankedRow) -> Doubt | None:
    """Of fine-tuning: what is assumed of it, the memory that it takes, and what it does not fit."""
    model, build = found.candidates.model, row.build
    name, tuning = parted(model.recipe_id)
    if tuning is None:
        return None
    said = [] if model.note is None else [model.note]
    if row.time.peak_memory_gib is not None:
        taken = f"{PREDICTED_MARK}{plain(row.time.peak_memory_gib)}"
        said.append(f"takes {taken} of {build.gpu.memory_gib:g} GiB on {gpus_words(build)}")
    gaps = [*zip(found.candidates.gap, found.candidates.builds, strict=True)]
    small = {each.gpu.gpu_id for gap, each in gaps if gap == "does-not-fit"}
    small -= {each.gpu.gpu_id for gap, each in gaps if gap is None}
    if small and tuning.train != "qlora":
        kinds = counted(len(small), "kind")
        said.append(f"{kinds} of GPU too small: --train qlora needs less")
    command = asked_of("predict", name, build).replace(" --gpu ", f"{tuning.flags()} --gpu ")
    return Doubt("trained", "; ".join(said), f"{command} --details")


def _yours(found: Verdict, row: RankedRow) -> Doubt | None:
    """The fastest machine that is there already and answers too, where another comes first."""
    candidates = found.candidates
    own = [i for i in found.ranking.order if candidates.builds[i].host_owned]
    if row.build.host_owned or not own:
        return None
    best = min(own, key=candidates.days.__getitem__)
    build = candidates.builds[best]
    words = f"your {gpus_words(build)} trains it in {days_of(candidates, best)}, for nothing"
    command = asked_of("prices cost", candidates.model.recipe_id, build, machine=True)
    return Doubt("yours", words, f"{command} --electricity 0.15")


def _measure(found: Verdict, row: RankedRow) -> Doubt | None:
    """The measurement that settles most of the doubt about the days of the first rows."""
    model, time = found.candidates.model, row.time
    if time.verdict == "implausible":
        words = f"this published time {time.verdict_reason}"
        return Doubt("time", words, asked_of("predict", model.recipe_id, row.build))
    settles = wanted(found.ranking)
    if settles is None:
        if time.basis == "predicted" or time.timing != "unsynchronised":
            return None
        words = "its time was taken without waiting for the GPU: it may take longer"
        return Doubt("time", words, measure_build(model, row.build))
    build, why = found.candidates.builds[settles.build], "to know its time: this is an estimate"
    if found.as_good:
        why = "to settle part of the tie" if settles.left else "to tell the group apart"
    words = f"{gpus_words(build)} for {minutes_words(settles.minutes)} {why}"
    if is_uneven(model, gpus_of(build)):
        words += f"; its batch of {model.batch_size:,} does not divide: change that first"
    if (limit := set_limit(build)) is not None:
        words += f"; set its power limit first: {limit}"
    return Doubt("measure", words, measure_build(model, build))


def _quote(found: Verdict, row: RankedRow) -> Doubt | None:
    """How far to trust the price of the first row, and whom to ask."""
    build, host, gpu, today = row.build, row.host_quote, row.gpu_quote, date.today()
    if build.host_owned:
        return None
    day, whole = price_day(row), build.host.gpu_id is not None
    age = f"{age_words(day, today)} old"
    words = [
        f"{usd_rounded(told.quote.price_usd)} for {told.item} is far off what others ask, "
        f"{usd_rounded(told.span.usual_usd)}: look at it before you trust it"
        for told in row.asked
        if told.span is not None and told.span.usual_usd is not None
    ]
    if row.availability != "orderable":
        words.append(NOT_ON_SALE[row.availability])
        if found.candidates.overtaken[found.ranking.order[0]]:
            card = found.candidates.prices["gpu", build.gpu.gpu_id]
            alone = card.price_usd * build.gpu_count * build.machines
            asked = price_day_words(card.quoted_on, today)
            words[-1] += f": its GPUs alone cost {usd_rounded(alone)} ({card.label}, {asked})"
    elif is_unquoted(build, host):
        words.append(f"{host.vendor} quoted no total: a sum of options, {age}")
    elif (today - day).days >= YOUNG_DAYS:
        own = as_quoted(host) if whole else None
        asked = f", asked as {own}" if own else ""
        words.append(f"the price of {host.vendor} is {age}{asked}")
        if not whole:
            sellers = " and ".join(dict.fromkeys((gpu.vendor, host.vendor)))
            words[-1] = f"parts of {sellers}, prices {age}: you put it together"
    taxed = (quote for quote in dict.fromkeys((host, gpu)) if quote.has_tax)
    words += [f"{quote.vendor} quotes with {quote.includes}" for quote in taxed]
    return Doubt("quote", "; ".join(words), _listed(row)) if words else None


def _listed(row: RankedRow) -> str:
    """What lists the quotes for a build."""
    whole = row.build.host.gpu_id is not None
    item = row.host_quote.item_id if whole else row.build.gpu.gpu_id
    return f"advisor prices list --item {quoted(item)}"


def _rent(found: Verdict, row: RankedRow, key: CandidatesKey) -> Doubt | None:
    """What a run costs on the same GPUs by the hour, and from how many runs on buying pays."""
    build, terms, even = row.build, found.question.terms, found.renting
    if even is None:
        return None
    words = f"≈{usd_rounded(even.rent_per_experiment_usd)} a run on {rented_words(build)} "
    words += f"at {hourly_words(even.offer)}"
    if found.rent_first is None:  # else the first line says it
        words += f"; {pays_words(even, terms, is_owned=build.host_owned)}"
    command = asked_of("prices rent", found.candidates.model.recipe_id, build, machine=True)
    return Doubt("rent", words, command + stated_terms(terms) + prices_and_evidence(key))


def _power(found: Verdict, row: RankedRow, key: CandidatesKey) -> Doubt | None:
    """What it draws, against the lab's circuit or, where none is stated, an ordinary outlet."""
    one = row.build._replace(machines=1)  # each hangs on an outlet of its own
    watts, check = wall_w(one), f"advisor prices builds --gpus {quoted(one.gpu.gpu_id)}"
    if watts is None:
        words = f"no source states what {gpus_words(one)} draw: ask the vendor"
        return Doubt("power", words, check)
    mark = PREDICTED_MARK if is_estimated(one) else ""
    draws = f"{'' if row.build.machines == 1 else 'each machine: '}{mark}"
    if key.supply is not None:
        words = f"{draws}{watts:,.0f} W, an estimate, of your circuit's {key.supply.watts:,.0f} W"
        return Doubt("power", words, check) if mark else None
    over = over_outlet(watts, key.buy_in)
    if over is None:
        return None
    return Doubt("power", f"{draws}{over}; --circuit states yours", check)


def _unsold(found: Verdict) -> Doubt | None:
    """The best row that would come before the first if somebody sold it."""
    ranking = found.ranking
    rest = ranking.table[ranking.sold_rows :]
    if not ranking.sold_rows or not rest:
        return None
    i = rest[0][0]
    if ranking.doubt(i).value >= ranking.doubt(ranking.order[0]).value:
        return None
    best = ranking.machine(i)
    words = (
        f"{gpus_words(best.build)} {in_machine(best.build)} would come first: "
        f"{days_of(found.candidates, i)} for {usd_rounded(best.overall_cost_usd)}, but "
        f"{NOT_ON_SALE[best.availability]}: ask for a quote"
    )
    return Doubt("unsold", words, _listed(best))


def _helps(found: Verdict, key: CandidatesKey) -> list[Doubt]:
    """Where no build answers: a price, more money, more days, or renting."""
    ranking, candidates, said = found.ranking, found.candidates, list[Doubt]()

    def again(about: str, words: str, key: CandidatesKey = key, /, **changed: str | None) -> None:
        said.append(Doubt(about, words, ask_again(ranking, key, **changed)))

    if candidates.uncounted is not None:
        name = quoted(candidates.model.recipe_id)
        command = f"advisor predict --model FILE --keep {name} --force"
        said.append(Doubt("model", "keep it again from its file", command))
    elif not candidates.rankable:
        if key.evidence == "published":
            words = "with sound evidence, times that were not published are estimated"
            again("evidence", words, key._replace(evidence="sound"))
        if "no-price" in candidates.gap and isinstance(key.prices, date):
            again("price", "with the prices of today", key._replace(prices="latest"))
        elif "no-price" in candidates.gap:
            i = candidates.gap.index("no-price")
            build, (what, item) = candidates.builds[i], candidates.unpriced(i)
            words = f"a quote for {build.gpu.name if what == 'GPU' else build.host.name} ranks it"
            said.append(Doubt("price", words, add_command(quoted(item), date.today())))
        if key.gpu_ids is not None:
            again("gpus", "machines with other GPUs", key._replace(gpu_ids=None))
    for about, i in nearest(found).items():
        build, changed = candidates.builds[i], dict[str, str | None]()
        words = f"your {gpus_words(build)}" if build.host_owned else gpus_words(build)
        if about != "days" and found.question.budget_usd is not None:
            usd = math.ceil(candidates.cents[i] * (1 + candidates.vat) / 100)
            changed["budget"] = f"{usd}"
            words = f"with ${usd:,}: {words}"
        if about != "budget":
            changed["days"] = f"{math.ceil(candidates.days[i])}"
            words = f"{words} in {changed['days']} days"
        again("days" if about == "both" else about, words, **changed)
    if (rate := exchange_rate(ranking, key)) is not None:
        said.append(rate)
    if found.rent is not None:
        usd_a_run, i = found.rent
        build, budget = candidates.builds[i], ranking.budget_cents
        words = f"≈{usd_rounded(usd_a_run)} a run on {rented_words(build)}, rented"
        words += ": over the budget too" if budget and usd_a_run * 100 > budget else ""
        command = asked_of("prices rent", candidates.model.recipe_id, build)
        said.append(Doubt("rent", words, command + prices_and_evidence(key)))
    return said
