"""What owning and renting one build cost: rows of amounts, sentences and tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any

from advisor.answers.build_words import hourly_words, owned_words, rented_words
from advisor.answers.checklist import Doubt, asked_of, doubt_block, quoted
from advisor.answers.prices.owning_and_renting import BuildCosts, chosen_build
from advisor.answers.wording import (
    is_unquoted,
    middle_of,
    pays_words,
    price_day_words,
    rests_on_words,
)
from advisor.costs.amount_words import age_words, usd_and_cents, usd_as_quoted, usd_rounded
from advisor.costs.cost_of_owning import CENT
from advisor.costs.cost_terms import stated_terms
from advisor.costs.price_book import is_fresh
from advisor.costs.rental import BreakEven, RentOffer, rented_usd, reserved_usd
from advisor.tables.plain_values import fill
from advisor.tables.text_table import to_table
from bench_runner.typed_numbers import percent
from price_catalog.providers import written_provider

OLD_RENT_DAYS = 120
"""From which age on a rental price is worth asking for again: rents fall within months."""
_FLAGS = {
    "resale": "--resale 20%",
    "financing": "--financing 5%",
    "hosting": "--hosting 30",
    "staff": "--staff 2000",
}
"""How each term but electricity is counted."""


def cost_rows(costs: BuildCosts) -> list[dict[str, Any]]:
    """Every term over the life, a year and, where there is a time, a training run."""
    own, days = costs.own, costs.training_days
    assert own is not None
    terms, years = own.terms, own.terms.lifetime_years
    kwh = terms.electricity_usd_per_kwh
    kwh_words = usd_and_cents(kwh) if kwh == round(kwh, 2) else f"${kwh.normalize():f}"
    use, resale, rate = (
        f"{share * 100:g} %"
        for share in map(float, (terms.utilisation, terms.resale_share, terms.financing_rate))
    )
    hosting = usd_as_quoted(terms.hosting_usd_per_u_month)
    watts = f"{costs.watts_words or 'power not known'} × PUE {terms.pue} × {kwh_words} a kWh"
    rows = []
    for term, life, how in (
        ("hardware", own.hardware_usd, f"over {years} years at {use} use"),
        ("resale", own.resale_usd, f"{resale} of the price comes back"),
        ("financing", own.financing_usd, f"{rate} a year, monthly parts"),
        ("hosting", own.hosting_usd, f"{hosting} a rack unit and month"),
        ("staff", own.staff_usd, f"{usd_as_quoted(terms.staff_usd_per_year)} a year"),
        ("electricity", own.electricity_usd, f"{watts}; {costs.power}"),
        ("whole", own.life_usd, "everything above"),
    ):
        each = None
        if life is not None and days is not None:
            each = life * Decimal(str(days)) / own.busy_days
        if term == "whole" and days is not None:
            each = own.experiment_usd(days)
        rows.append(
            {
                "term": term,
                "life_usd": _cents(life),
                "year_usd": _cents(None if life is None else life / years),
                "experiment_usd": _cents(each),
                "how": how,
            }
        )
    return rows


def rent_rows(costs: BuildCosts, number: Decimal | None = None) -> list[dict[str, Any]]:
    """Each way to rent the GPUs, exact, beside owning them where somebody can; ``number`` are the
    training runs that are asked about."""
    return [_rent_row(costs, even, number) for even in costs.evens]


def _rent_row(costs: BuildCosts, even: BreakEven, number: Decimal | None) -> dict[str, Any]:
    offer, own, days = even.offer, costs.own, costs.training_days or 0.0
    middle, hourly = offer.middle, offer.price_per_hour_usd
    row: dict[str, Any] = {
        "rent": offer.kind,
        "usd_per_hour": hourly,
        "low": offer.low_usd,
        "high": offer.high_usd,
        "providers": offer.providers,
        "middle": middle.provider + (f" {middle.instance}" if middle.instance else ""),
        "date": middle.priced_on,
        "age": age_words(middle.priced_on, costs.as_of),
        "leaves_out": middle.leaves_out,
        "machines": offer.times,
        "experiment_usd": _cents(even.rent_per_experiment_usd),
    }
    if own is None:
        return row
    whole = None
    if offer.kind == "reserved":
        whole = reserved_usd(hourly, own.terms.lifetime_years)
    share = None if even.utilisation is None else percent(even.utilisation)
    row["break_even_experiments"] = None if even.experiments is None else round(even.experiments, 1)
    row["break_even_utilisation"] = share
    row["whole_life_usd"] = _cents(whole or rented_usd(hourly, days, own.experiments(days)))
    if number is not None:
        row[f"{number:f}_experiments_usd"] = _cents(whole or rented_usd(hourly, days, number))
    return row


def _cents(amount: Decimal | None) -> Decimal | None:
    return None if amount is None else amount.quantize(CENT)


# Sentences


def cost_sentence(costs: BuildCosts) -> str:
    """What owning costs over the life and a run, and what is counted."""
    own, model, machine = costs.own, costs.candidates.model.name, owned_words(costs.build)
    assert own is not None
    if own.life_usd is None:
        return f"What owning {machine} costs is not known: no source states what it draws."
    years = f"{own.terms.lifetime_years:f} year{'' if own.terms.lifetime_years == 1 else 's'}"
    price = "yours already"
    if own.hardware_usd and costs.quotes:
        host, month = costs.quotes[0], f"{costs.priced_on:%B %Y}"
        price = f"price of {month}"
        if is_unquoted(costs.build, host):
            price = f"a sum of {host.vendor}'s options, {month}"
        elif costs.candidates.overtaken[costs.position]:
            price += ", out of date: its GPUs cost more now"
        elif not costs.candidates.offered[costs.position]:
            price += f", {_unsold_words(costs)}"
        price += costs.tax_words
    counted = "with" if own.terms.electricity_usd_per_kwh else "without"
    words = f"Owning {machine} costs {usd_rounded(own.life_usd)} over {years} "
    words += f"({price}, {counted} electricity)"
    days = costs.training_days
    each = None if days is None else own.experiment_usd(days)
    if days is None or each is None:
        return f"{words}. How long {model} trains on it is not known."
    if own.experiments(days) < 1:
        return f"{words}, and does not finish a run of {model} by then ({costs.days_words})."
    cost = f"{costs.mark}{usd_rounded(each)}"
    return f"{words}. A run of {model} costs {cost} and takes {costs.days_words}."


def _unsold_words(costs: BuildCosts) -> str:
    """Why no seller can be asked for a machine at its price."""
    if any(not is_fresh(q.quoted_on, q.valid_until, costs.as_of) for q in costs.quotes):
        return "which has expired or is over a year old"
    return "no seller known"


def rent_sentence(costs: BuildCosts) -> str:
    """What a rented run costs, and from how many runs on buying pays."""
    even, mark, own = costs.evens[0], costs.mark, costs.own
    kind = even.offer.kind.replace("-", " ")
    rented = f"{costs.candidates.model.name} on {rented_words(costs.build)} rented {kind}"
    time = f"{costs.days_words} at {hourly_words(even.offer)}"
    words = f"A run of {rented} costs {mark}{usd_rounded(even.rent_per_experiment_usd)} ({time})."
    if own is None:
        return f"{words} No machine with just these GPUs is on sale."
    pays = pays_words(even, own.terms, is_owned=costs.build.host_owned)
    words += f" {pays[0].upper()}{pays[1:]}"
    sold = costs.build.host_owned or costs.candidates.offered[costs.position]
    if about := ("" if sold else f", {_unsold_words(costs)}") + costs.tax_words:
        words += f", at a price of {costs.priced_on:%B %Y}{about}"
    return f"{words}."


def offer_words(offer: RentOffer) -> str:
    """What renting costs, from whom and since when, in one sentence."""
    hourly, whose = hourly_words(offer), offer.middle
    one = "" if offer.times == 1 else " for each GPU"
    asked = f"{written_provider(whose.provider)}, {whose.priced_on}"
    asked += f"; {whose.leaves_out} are billed on top" if whose.leaves_out else ""
    low, high = (usd_and_cents(end / offer.times) for end in (offer.low_usd, offer.high_usd))
    of = f"{middle_of(offer.providers)}{one}"
    of += f" ({low} to {high})" if offer.providers > 1 else ""
    return f"{offer.kind}: {hourly}, {of}: {asked}"


def even_words(costs: BuildCosts, evens: Iterable[BreakEven]) -> list[str]:
    """From when buying pays beside each way to rent."""
    assert costs.own is not None
    terms, owned = costs.own.terms, costs.build.host_owned
    return [f"{e.offer.kind}: {pays_words(e, terms, is_owned=owned)}." for e in evens]


# Answers for a terminal


def cost_text(costs: BuildCosts, width: int, *, details: bool) -> str:
    """What owning costs: the answer, the terms that are counted, then what is not; with
    ``details`` every term, and what the figures rest on."""
    own, terms = costs.own, cost_rows(costs)
    assert own is not None
    # Of a machine that is there all of it may be nothing: then that is said.
    counted = [row for row in terms if details or row["life_usd"] != 0 or row["term"] == "whole"]
    columns = ("", f"{own.terms.lifetime_years:f} years", "a year", "a run")
    table = [
        {
            "": row["term"],
            columns[1]: _usd(row["life_usd"]),
            "a year": _usd(row["year_usd"]),
            "a run": _usd(row["experiment_usd"], costs.mark if row["experiment_usd"] else ""),
        }
        for row in counted
    ]
    age, use = price_day_words(costs.priced_on, costs.as_of), own.terms.utilisation
    age = "yours already" if costs.build.host_owned else age
    trains = "all the time" if use == 1 else f"{percent(use)} of its life"
    how = [f"hardware: {age}; it trains {trains}"]
    how += [
        f"{row['term']}: {row['how']}"
        for row in counted
        if row["term"] not in ("whole", "hardware")
    ]
    indents = {"initial_indent": "  ", "subsequent_indent": "    "}
    blocks = [
        fill(cost_sentence(costs), width),
        to_table(table, columns, frozenset(columns[1:])),
        "\n".join(fill(line, width, **indents) for line in how),
    ]
    blocks += doubt_block("Not counted", cost_doubts(costs), width)
    return "\n\n".join([*blocks, *(_rests_on(costs, (), width) if details else ())])


def cost_doubts(costs: BuildCosts) -> list[Doubt]:
    """What the sum leaves out, with the flag that counts it."""
    own, command, doubts = costs.own, _command("cost", costs), list[Doubt]()
    assert own is not None
    left = {term: flag for term, flag in _FLAGS.items() if not getattr(own, f"{term}_usd")}
    if not own.terms.electricity_usd_per_kwh:
        watts = f" of {costs.watts_words}" if costs.watts_words else ""
        words = f"electricity{watts}: state what a kWh costs you"
        doubts.append(Doubt(about="power", words=words, command=f"{command} --electricity 0.15"))
    if own.terms.hosting_usd_per_u_month and "hosting" in left:
        del left["hosting"]
        words = "hosting: this machine stands on the floor; in a rack it takes some units"
        doubts.append(Doubt(about="room", words=words, command=f"{command} --rack-units 4"))
    if left:
        flags = " ".join(left.values())
        words = f"{', '.join(left)}: 0 until you say"
        doubts.append(Doubt(about="other", words=words, command=f"{command} {flags}"))
    return doubts


def rent_text(costs: BuildCosts, number: Decimal | None, width: int, *, details: bool) -> str:
    """What renting costs beside owning: the answer, a row for each way to rent, the doubts; with
    ``details`` what the figures rest on."""
    own, mark, runs = costs.own, costs.mark, "" if number is None else f"{number:,f} runs"
    life = "" if own is None else f"{own.terms.lifetime_years:f} years"
    rows = []
    for even, exact in zip(costs.evens, rent_rows(costs, number), strict=True):
        offer = even.offer
        low, high = usd_and_cents(offer.low_usd), usd_and_cents(offer.high_usd)
        alike = "no other" if offer.providers == 1 else "the same"
        row = {
            "": offer.kind,
            "an hour": usd_and_cents(offer.price_per_hour_usd),
            "others ask": alike if low == high else f"{low} to {high}",
            "a run": _usd(even.rent_per_experiment_usd, mark),
        }
        if own is not None:
            row["buying pays (of its life)"] = _pays(pays_words(even, own.terms))
            row[life] = _usd(exact["whole_life_usd"])
            row |= {runs: _usd(exact[f"{number:f}_experiments_usd"], mark)} if number else {}
        rows.append(row | {"price": exact["age"]})
    columns = list(rows[0])
    notes = [f"{even.offer.kind}: {middle_of(even.offer.providers)}" for even in costs.evens]
    if own is not None and costs.training_days is not None:
        each = _usd(own.experiment_usd(costs.training_days), mark)
        # A cell that is not asked for is left blank, not said to be missing.
        blank = dict.fromkeys(columns, "–")
        sold = ""
        if not costs.build.host_owned:
            blank["price"] = age_words(costs.priced_on, costs.as_of)
            asked = dict.fromkeys(f"{q.label}, {q.quoted_on:%B %Y}" for q in costs.quotes)
            sold = f" ({'; '.join(asked)})"
        rows.append(blank | {"": "own", "a run": each, life: _usd(own.life_usd)})
        notes.append(f"own: {owned_words(costs.build)}{sold}")
    right = frozenset({"an hour", "a run", life, runs} - {""})
    table = to_table(rows, columns, right)
    # CSV and JSON have them; the doubts tell an old price.
    for spared in ("others ask", "price", life):
        if spared in columns and max(map(len, table.splitlines())) > width:
            columns.remove(spared)
            table = to_table(rows, columns, right)
    blocks = [fill(rent_sentence(costs), width), table, fill("; ".join(notes) + ".", width)]
    blocks += doubt_block("Before you decide", rent_doubts(costs, number), width)
    return "\n\n".join([*blocks, *(_rests_on(costs, costs.evens, width) if details else ())])


def _pays(words: str) -> str:
    """`pays_words` without its reason, for a column."""
    if "pays" not in words or "never" in words:
        return "never"
    return words[12:].removesuffix(", without electricity").replace(" of its life", "")


def rent_doubts(costs: BuildCosts, number: Decimal | None) -> list[Doubt]:
    """How old the rents are, what is billed on top, and what owning leaves out; ``number`` are the
    training runs that were asked about."""
    offer, doubts, words = costs.evens[0].offer, [], []
    if (costs.as_of - offer.middle.priced_on).days >= OLD_RENT_DAYS:
        words.append(f"the price is {age_words(offer.middle.priced_on, costs.as_of)} old")
    if offer.middle.leaves_out:
        words.append(f"{offer.middle.leaves_out} are billed on top")
    if words:
        words = [f"{', '.join(words)} ({written_provider(offer.middle.provider)})"]
    if (count := offer.times) > 1:
        who = written_provider(offer.middle.provider)
        words.append(f"{who} names no price of {count} in one machine: {count} times that of one")
    if words:
        refresh = "advisor prices refresh"
        doubts.append(Doubt(about="rent", words="; ".join(words), command=refresh))
    if costs.own is None:
        ranked = f"advisor rank --model {quoted(costs.candidates.model.recipe_id)} "
        ranked += f"--gpus {quoted(costs.build.gpu.gpu_id)}"
        doubts.append(Doubt(about="own", words=costs.problem or "", command=ranked))
    elif not costs.own.terms.electricity_usd_per_kwh:
        runs = "" if number is None else f" --experiments {number:f}"
        command = f"{_command('rent', costs)}{runs} --electricity 0.15"
        text = "owning does not count electricity here: state what a kWh costs you"
        doubts.append(Doubt(about="power", words=text, command=command))
    return doubts


def _rests_on(costs: BuildCosts, evens: Sequence[BreakEven], width: int) -> list[str]:
    """The quotes, the time, the power and the rents behind the figures, with their sources."""
    facts = []
    for name, quote in zip(("machine", "one GPU"), costs.quotes, strict=False):
        where = quote.url or quote.file or quote.source_id
        said = (
            f"{usd_and_cents(quote.price_usd)}{quote.tax_words}, {quote.label}, {quote.quoted_on}"
        )
        facts.append((name, f"{said}, {where}"))
    best = costs.candidates.times[costs.position]
    if best is not None and best.chosen is not None:
        facts.append(("time", rests_on_words(best.chosen)))
    facts.append(("power", costs.power))
    for even in evens:
        rental, rates = even.offer.middle, even.offer.rates
        said = f"{written_provider(rental.provider)}, {rental.priced_on}, "
        said += rental.url or rental.source_id
        facts.append((even.offer.kind, f"{middle_of(len(rates))}: {said}"))
        if len(rates) > 1:
            each = (
                f"{written_provider(rate.provider)} {usd_and_cents(even.offer.usd(rate))}"
                for rate in rates
            )
            facts.append(("", f"each an hour of all GPUs: {', '.join(each)}"))
    label = max(len(name) for name, _ in facts) + 4
    options = {"subsequent_indent": " " * label, "break_long_words": False}
    lines = [
        fill(words, width, initial_indent=f"  {name}".ljust(label), **options)
        for name, words in facts
    ]
    return ["\n".join(["Rests on", *lines])]


def _command(name: str, costs: BuildCosts) -> str:
    build, own, model = costs.build, costs.own, costs.candidates.model.recipe_id
    usual, _ = chosen_build(costs.candidates, build.gpu_count, None)
    words = asked_of(f"prices {name}", model, build, machine=usual != costs.position)
    return f"{words}{'' if own is None else stated_terms(own.terms)}{costs.asked}"


def _usd(amount: Decimal | None, mark: str = "") -> str:
    return "not known" if amount is None else f"{mark}{usd_rounded(amount)}"
