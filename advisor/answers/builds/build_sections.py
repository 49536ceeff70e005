"""What each section about one build says: why here, time, price, running it, rent, power, how to
measure it and how to order it (pure)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Literal, NamedTuple, get_args

from advisor.answers.build_words import (
    gpus_words,
    hourly_words,
    machine_words,
    over_words,
    rented_words,
    set_limit,
)
from advisor.answers.builds.one_build import OneBuild
from advisor.answers.checklist import of_typed_store, quoted
from advisor.answers.measure_commands import bench_command, gpus_of, keep_command, uneven_notes
from advisor.answers.price_facts import newer_words, place_lines
from advisor.answers.prices.owning_and_renting_text import cost_rows, even_words, offer_words
from advisor.answers.ranking.question_words import budget_words
from advisor.answers.ranking.rank_sentence import NOT_ON_SALE, SURE_ENOUGH, days_of
from advisor.answers.wording import (
    KIND_WORDS,
    OUTLET,
    REASON_WORDS,
    RULE_WORDS,
    counted_days,
    estimate_mark,
    is_unquoted,
    keeps_words,
    makes_words,
    price_day_words,
    trust_words,
)
from advisor.costs.amount_words import (
    age_words,
    days_exact,
    minutes_words,
    usd_and_cents,
    usd_exact,
    usd_rounded,
)
from advisor.costs.cost_of_owning import CostTerms
from advisor.ranking.what_to_measure import wanted
from bench_runner.typed_numbers import percent
from price_catalog.model import Quote
from price_catalog.power import (
    circuits,
    heat_btu_per_h,
    is_estimated,
    needs_machine_room,
    supply_obstacle,
    wall_w,
)

Section = Literal["why", "time", "price", "running", "rent", "power", "measure", "order"]
SECTIONS: tuple[Section, ...] = get_args(Section)
SECTION_WORDS = {name: "Run it" if name == "running" else name.capitalize() for name in SECTIONS}


class Said(NamedTuple):
    """One line of a section: what it says, and whether it is a caution."""

    text: str
    warns: bool = False


Lines = Iterator[Said | str]
"""What a section says, cautions marked."""


def section_lines(one: OneBuild, section: Section) -> list[Said]:
    """What a section says in full; its first line stands on the page of all sections."""
    return [Said(said) if isinstance(said, str) else said for said in _SECTIONS[section](one)]


def _why(one: OneBuild) -> Lines:
    row, ranking = one.row, one.ranking
    if row is None:
        assert one.left_out is not None
        reason = f"{REASON_WORDS[one.left_out.reason]}; {one.left_out.detail}"
        yield Said(f"left out: {reason}", True)
        return
    words = [f"row {row.group}, {RULE_WORDS[ranking.question.rule]}"]
    if one.index in ranking.front:
        words.append("no other is both cheaper and faster")
    if row.tied_with < row.group:
        words.append(f"cannot be told from row {row.tied_with}")
    elif row.group == 1 and ranking.tied_rows > 1:
        words.append(f"{ranking.tied_rows - 1} others cannot be told from it, and cost more")
    unsold = NOT_ON_SALE[row.availability]
    yield Said("; ".join([*words, unsold] if unsold else words), bool(unsold))
    chance, limit = ranking.chance(one.index), ranking.question.max_days
    if chance is not None and limit is not None:
        yield Said(makes_words(chance, limit), chance < 0.5)
    if row.rank > 1:
        best = ranking.lead(0)
        more = row.overall_cost_usd - best.overall_cost_usd
        beside = f"{usd_rounded(abs(more))} {'more' if more > 0 else 'less'} than the first"
        first = days_of(ranking.candidates, ranking.order[0])
        yield f"{beside}, {gpus_words(best.build)}: {first}"


def _time(one: OneBuild) -> Lines:
    candidates, best = one.ranking.candidates, one.ranking.candidates.times[one.index]
    found = one.row or one.left_out
    time = None if found is None else found.time
    if time is None or time.training_days is None:
        yield Said("no time is known: it was not measured and cannot be estimated", True)
        return
    days = f"{estimate_mark(time)}{counted_days(time.training_days)}"
    yield f"{days if one.row is None else days_of(candidates, one.index)}; {trust_words(time)}"
    if over := over_words(one.build, candidates.network):
        yield f"{over.strip()}; the doubt of that is in the interval"
    yield from uneven_notes(candidates.model, [one.build])
    if best is not None and best.naive is not None and best.naive.training_days:
        yield f"with the software as it comes: {counted_days(best.naive.training_days)}"
    published = None if best is None else best.published
    if published is not None and published.training_days is not None and published is not time:
        wrong = published.verdict == "implausible"
        others = published.training_days == time.measured_otherwise_days
        whose = "measured with other settings" if others else "published"
        words = f"{whose}: {counted_days(published.training_days)} ({published.source_id})"
        if wrong:
            words += f", physically impossible: it {published.verdict_reason}; we use our estimate"
        yield Said(words, wrong)


def _price(one: OneBuild) -> Lines:
    row, candidates, build = one.row, one.ranking.candidates, one.build
    cost, why = candidates.cost_usd(one.index), NOT_ON_SALE[candidates.availability[one.index]]
    if cost is None:
        yield Said("no price: a adds the one that a vendor asked of you", True)
        return
    if build.host_owned:
        yield "yours already: nothing to buy"
        return
    gpu, host = candidates.gpu_quotes[one.index], candidates.host_quotes[one.index]
    assert gpu is not None and host is not None  # it has a price
    summed, whole = is_unquoted(build, host), build.host.gpu_id is not None
    if whole:
        asked = _asked(host, one.today)
        if build.machines == 1:  # its price is the whole, which stands before it
            asked = asked.partition(" ")[2]
        sums = f", a sum of {host.vendor}'s options" if summed else ""
        parts = [f"{machine_words(build)} with its GPUs{sums} {asked}"]
    else:
        bought = build.gpu_count - build.gpus_owned
        parts = [f"{machine_words(build)} {_asked(host, one.today)}"]
        parts.append(f"{bought} × {_asked(gpu, one.today)} a GPU")
    if build.machines > 1:
        parts = [f"{build.machines} times {', '.join(parts)}; what joins them is not counted"]
    yield f"{usd_rounded(cost)}: {', '.join(parts)}"
    low, _, high = (usd_rounded(cents / 100) for cents in candidates.cents_today(one.index))
    if low != high:
        yield f"{low} to {high} if ordered today, in 9 of 10 cases"
        keeps = one.ranking.budget_chance(one.index)
        if keeps is not None and row is not None:
            odds = keeps_words(keeps, budget_words(one.ranking.question))
            yield Said(odds, keeps < SURE_ENOUGH)
    if summed:
        yield Said(f"that sum was not quoted: ask {host.vendor} for a quote", True)
    if candidates.overtaken[one.index]:
        yield Said("its GPUs alone cost as much now: ask the vendor again", True)
    elif why:
        yield Said(why, True)
    for told in row.asked if row is not None else ():
        if (words := newer_words(told, one.today)) is not None:
            yield Said(words, True)
    for quote in sorted(one.quotes, key=lambda quote: (quote.item_kind == "gpu") == whole):
        item = "a GPU" if quote.item_kind == "gpu" else "the machine"
        yield quote_words(quote, item, one.today)


def _asked(quote: Quote, today: date) -> str:
    return f"{usd_rounded(quote.price_usd)} ({price_day_words(quote.quoted_on, today)})"


def quote_words(quote: Quote, item: str, today: date) -> str:
    """One quote in a line: price and of what, who asked it, when."""
    kind = KIND_WORDS.get(quote.kind, quote.kind)
    day = f"{quote.quoted_on} ({age_words(quote.quoted_on, today)} old)"
    if quote.quoted_on >= today:
        day = "today"
    return f"{usd_exact(quote.price_usd)} {item}: {quote.label}, {kind}, {day}"


def _running(one: OneBuild) -> Lines:
    costs, own = one.costs, one.costs.own
    if own is None:
        yield Said(f"not known: {costs.problem}", True)
        return
    days, terms = costs.training_days, own.terms
    words = []
    if days is not None and (whole := own.experiment_usd(days)) is not None:
        words.append(f"{costs.mark if whole else ''}{usd_rounded(whole)} a run")
        years, use = terms.lifetime_years, terms.utilisation
        if one.row is not None and terms == CostTerms(lifetime_years=years, utilisation=use):
            price = one.row.overall_cost_usd
            used = "" if use == 1 else f" × {percent(use)}"
            words.append(
                f"{usd_exact(price)} × {costs.mark}{days_exact(days)} d / ({years:g} y × 365 d"
                f"{used}) = {costs.mark}{usd_and_cents(whole)}"
            )
    words.append(f"with{'' if terms.electricity_usd_per_kwh else 'out'} electricity")
    yield "; ".join(words)
    if costs.problem is not None:
        yield Said(costs.problem, True)
    nothing: list[str] = []
    for term in cost_rows(costs):
        life, each = term["life_usd"], term["experiment_usd"]
        if life == 0 and term["term"] not in ("hardware", "whole"):
            nothing.append(str(term["term"]))
            continue
        amount = "no data" if life is None else usd_rounded(life)
        run_words = "" if each is None else f", {costs.mark}{usd_rounded(each)} a run"
        yield f"{term['term']:<12} {amount:>10}{run_words}  {term['how']}"
    if nothing:
        yield f"not counted: {', '.join(nothing)}"


def _rent(one: OneBuild) -> Lines:
    costs = one.costs
    if one.build.machines > 1:
        yield "nothing to compare: offers are of one machine"
    elif costs.own is None or costs.training_days is None:
        yield Said(f"nothing to compare: {costs.problem or 'no time is known'}", True)
    elif not costs.evens:
        yield "no rental of these GPUs is known: advisor prices refresh"
    else:
        # What is rented for certain comes before what may be taken away.
        evens = sorted(costs.evens, key=lambda even: even.offer.kind != "on-demand")
        at = f" on {rented_words(one.build)} at {hourly_words(evens[0].offer)}"
        for even, pays in zip(evens, even_words(costs, evens), strict=True):
            yield f"≈{usd_rounded(even.rent_per_experiment_usd)} a run{at}, {pays}"
            at = ""
        yield from (offer_words(even.offer) for even in costs.evens)


def _power(one: OneBuild) -> Lines:
    build = one.build._replace(machines=1)
    watts = wall_w(build)
    if watts is None:
        yield Said("its power is not stated: ask the vendor", True)
        return
    mark = "≈" if is_estimated(build) else ""
    heat = float(f"{heat_btu_per_h(watts):.3g}")  # no closer than the watts are known
    each = "" if one.build.machines == 1 else ", each machine"
    yield f"{mark}{watts:,.0f} W at the wall, {mark}{heat:,.0f} BTU/h of heat{each}"
    supply = one.supply or OUTLET
    whose = "your circuit" if one.supply is not None else "an ordinary outlet"
    named = f"{whose} ({supply.volts} V {supply.breaker_a} A, {supply.watts:,.0f} W for hours)"
    if one.supply is None and needs_machine_room(watts):
        yield Said("needs a machine room: no outlet carries it", True)
    elif supply_obstacle(build, supply) is None:
        yield f"{named} carries {int(supply.watts // watts)} of them"
    else:
        yield Said(f"{named} does not carry it", True)
    for circuit in circuits(watts):
        breaker = "several circuits" if circuit.breaker_a is None else f"{circuit.breaker_a} A"
        yield f"{circuit.volts} V: {circuit.amps:.1f} A, needs {breaker}"
    yield from place_lines(build)


def measure_commands(one: OneBuild) -> dict[str, str]:
    """Where it can be measured, and the command that does it there."""
    model, build, gpus = one.ranking.candidates.model, one.build, gpus_of(one.build)
    bench, gpu = bench_command(model, gpus, build.machines), f"--gpu {quoted(build.gpu.gpu_id)}"
    first, limit = keep_command(model, build.gpu.gpu_id, gpus), set_limit(build)
    found = {} if limit is None or build.machines > 1 else {"before, its power limit": limit}
    if first is not None:
        found["first, with a batch that they share"] = first
    if build.machines > 1:
        found["on a cluster"] = f"{bench} {gpu}"
    else:
        found["here"] = bench
        found["on a cluster"] = f"{bench} --on slurm {gpu}"
        found["on a rented machine"] = f"{bench} --on sky {gpu}"
    found["records from elsewhere"] = "advisor merge --mine FILE"
    return {where: of_typed_store(command) for where, command in found.items()}


def _measure(one: OneBuild) -> Lines:
    settles = wanted(one.ranking)
    first = "here, on a cluster (SLURM), or on a rented machine"
    if one.build.machines > 1:
        first = "on a cluster (SLURM)"
    if settles is not None and settles.build == one.index:
        minutes = minutes_words(settles.minutes)
        first += f"; about {minutes}, which would settle most of the doubt"
    yield first
    yield from (f"{where}: {command}" for where, command in measure_commands(one).items())


def _order(one: OneBuild) -> Lines:
    candidates = one.ranking.candidates
    quotes = (candidates.host_quotes[one.index], candidates.gpu_quotes[one.index])
    bought = list(dict.fromkeys(quote for quote in quotes if quote is not None))
    if one.build.host_owned:
        yield "yours already: nothing to order"
        return
    if not bought:
        yield Said("no vendor is known: a adds what a vendor asks of you", True)
        return
    why = NOT_ON_SALE[candidates.availability[one.index]]
    if one.left_out is None and why:
        yield Said(f"{why}: ask a vendor for a quote", True)
    elif len({quote.vendor for quote in bought}) > 1:
        what = "the GPU" if one.build.gpu_count == 1 else "the GPUs"
        sellers = f"{bought[1].vendor} sells {what}, {bought[0].vendor} the rest"
        yield f"{sellers}: you put it together"
    for quote in bought:
        delivery = f"delivery: {quote.delivery}" if quote.delivery else "delivery not stated"
        warranty = f"warranty: {quote.warranty}" if quote.warranty else "warranty not stated"
        yield f"{quote.label}: {delivery}; {warranty}"
        includes = f"the price includes {quote.includes}" if quote.includes else None
        yield from filter(None, (quote.url, includes, quote.note))
        if quote.valid_until is not None:
            yield Said(f"valid until {quote.valid_until}", quote.valid_until < one.today)
    if one.build.host.note:
        yield f"the machine: {one.build.host.note}"


_WRITERS = (_why, _time, _price, _running, _rent, _power, _measure, _order)
_SECTIONS = dict(zip(SECTIONS, _WRITERS, strict=True))
