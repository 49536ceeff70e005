"""What owning and renting one build cost: rows of amounts, sentences and tables."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from advisor.answers.build_words import hourly_words, owned_words, rented_words
from advisor.answers.checklist import Doubt, doubt_block, quoted
from advisor.answers.prices.ownership import Ownership, chosen_build
from advisor.answers.prices.rented_alone import offer_cells
from advisor.answers.wording import (
    counted_days,
    is_unquoted,
    pays_words,
    price_day_words,
    rests_on_words,
    summed_words,
)
from advisor.costs.amount_words import age_words, usd_and_cents, usd_as_quoted, usd_rounded
from advisor.costs.cost_terms import stated_terms
from advisor.costs.price_book import is_fresh
from advisor.costs.rental import (
    BreakEven,
    RentOffer,
    rented_usd,
    reserved_usd,
)
from advisor.tables.plain_values import fill
from advisor.tables.text_table import to_table
from bench_runner.typed_numbers import percent
from price_catalog.model import Rental
from price_catalog.providers import written_provider

if TYPE_CHECKING:
    from advisor.costs.cost_of_owning import CostTerms
    from advisor.costs.rental import BreakEven


def cost_rows(owned: Ownership) -> list[dict[str, Any]]:
    """Every term over the life, a year and, where there is a time, a training run."""
    own, days = owned.own, owned.training_days
    years, busy = own.terms.lifetime_years, own.busy_days

    def row(term: str, life: Decimal | None, how: str) -> dict[str, Any]:
        each = None
        if life is not None and days is not None:
            each = life * Decimal(str(days)) / busy
        return {
            "term": term,
            "life_usd": _cents(life),
            "year_usd": _cents(None if life is None else life / years),
            "experiment_usd": _cents(each),
            "how": how,
        }

    terms = own.terms
    watts = owned.watts_words or "power not known"
    kwh = _kwh_words(terms.electricity_usd_per_kwh)
    use, resale, rate = (
        f"{share * 100:g} %"
        for share in map(float, (terms.utilisation, terms.resale_share, terms.financing_rate))
    )
    rows = [
        row("hardware", own.hardware_usd, f"over {years} years at {use} use"),
        row("resale", own.resale_usd, f"{resale} of the price comes back"),
        row("financing", own.financing_usd, f"{rate} a year, monthly parts"),
        row(
            "hosting",
            own.hosting_usd,
            f"{usd_as_quoted(terms.hosting_usd_per_u_month)} a rack unit and month",
        ),
        row("staff", own.staff_usd, f"{usd_as_quoted(terms.staff_usd_per_year)} a year"),
        row(
            "electricity",
            own.electricity_usd,
            f"{watts} × PUE {terms.pue} × {kwh} a kWh; {owned.power}",
        ),
        row("whole", own.life_usd, "everything above"),
    ]
    if days is not None:
        rows[-1]["experiment_usd"] = own.experiment_usd(days)
    return rows


def _cents(amount: Decimal | None) -> Decimal | None:
    return None if amount is None else amount.quantize(Decimal("0.01"))


def rent_row(
    owned: Ownership, even: BreakEven, days: float, number: Decimal | None
) -> dict[str, Any]:
    offer, years = even.offer, owned.own.terms.lifetime_years
    whole = offer.kind == "reserved"
    row = offer_cells(offer, owned.as_of) | {
        "experiment_usd": _cents(even.rent_per_experiment_usd),
        "break_even_experiments": None if even.experiments is None else round(even.experiments, 1),
        "break_even_utilisation": None
        if even.utilisation is None
        else f"{percent(even.utilisation)}",
        "whole_life_usd": _cents(
            reserved_usd(offer.price_per_hour_usd, years)
            if whole
            else rented_usd(offer.price_per_hour_usd, days, owned.own.experiments(days))
        ),
    }
    if number is not None:
        row[f"{number:f}_experiments_usd"] = (
            row["whole_life_usd"]
            if whole
            else _cents(rented_usd(offer.price_per_hour_usd, days, number))
        )
    return row


def _kwh_words(usd: Decimal) -> str:
    """``$0.30``, ``$0.125``: cents at least."""
    return usd_and_cents(usd) if usd == usd.quantize(Decimal("0.01")) else f"${usd.normalize():f}"


def _days_words(owned: Ownership) -> str:
    """``≈79.4 days``, with the mark of an estimate; the time must be known."""
    assert owned.training_days is not None
    return f"{owned.mark}{counted_days(owned.training_days)}"


def finishes(owned: Ownership) -> bool:
    """Whether the machine makes a training run in its life, as far as it is used; the time must be
    known."""
    assert owned.training_days is not None  # else nothing is compared
    return owned.own.experiments(owned.training_days) >= 1


def cost_sentence(owned: Ownership) -> str:
    """What owning costs over the life and a run, and what is counted."""
    own, model = owned.own, owned.candidates.model.name
    machine = owned_words(owned.build)
    if own.life_usd is None:
        return f"What owning {machine} costs is not known: no source states what it draws."
    years = f"{own.terms.lifetime_years:f} year{'' if own.terms.lifetime_years == 1 else 's'}"
    candidates, i = owned.candidates, owned.position
    host, price = candidates.host_quotes[i], "yours already"
    if own.hardware_usd and host is not None:
        month = _price_month(owned)
        price = f"price of {month}"
        if is_unquoted(owned.build, host):
            price = f"{summed_words(host)}, {month}"
        elif candidates.overtaken[i]:
            price += ", out of date: its GPUs cost more now"
        elif not candidates.offered[i]:
            price += f", {unsold_words(owned)}"
    counted = "with" if own.terms.electricity_usd_per_kwh else "without"
    words = f"Owning {machine} costs {usd_rounded(own.life_usd)} over {years} "
    words += f"({price}, {counted} electricity)"
    each = None if owned.training_days is None else own.experiment_usd(owned.training_days)
    if each is None:
        return f"{words}. How long {model} trains on it is not known."
    if not finishes(owned):
        return f"{words}, and does not finish a run of {model} by then ({_days_words(owned)})."
    cost = f"{owned.mark}{usd_rounded(each)}"
    return f"{words}. A run of {model} costs {cost} and takes {_days_words(owned)}."


def unsold_words(owned: Ownership) -> str:
    """Why no seller can be asked for a machine at its price."""
    candidates, i = owned.candidates, owned.position
    quotes = [q for q in (candidates.gpu_quotes[i], candidates.host_quotes[i]) if q is not None]
    if any(not is_fresh(q.quoted_on, q.valid_until, owned.as_of) for q in quotes):
        return "which has expired or is over a year old"
    return "no seller known"


def rent_sentence(owned: Ownership, evens: list[BreakEven]) -> str:
    """What a rented run costs, and from how many runs on buying pays."""
    even, terms = evens[0], owned.own.terms
    words = (
        f"A run of {owned.candidates.model.name} on {rented_words(owned.build)} rented "
        f"{even.offer.kind.replace('-', ' ')} costs "
        f"{owned.mark}{usd_rounded(even.rent_per_experiment_usd)} "
        f"({_days_words(owned)} at {hourly_words(even.offer)})."
    )
    pays = pays_words(even, terms, is_owned=owned.build.host_owned)
    words += f" {pays[0].upper()}{pays[1:]}"
    if not (owned.build.host_owned or owned.candidates.offered[owned.position]):
        words += f", at a price of {_price_month(owned)}, {unsold_words(owned)}"
    return f"{words}."


def _price_month(owned: Ownership) -> str:
    """When the older of its prices was asked: ``April 2026``."""
    candidates, i = owned.candidates, owned.position
    quotes = (candidates.gpu_quotes[i], candidates.host_quotes[i])
    return f"{min(quote.quoted_on for quote in quotes if quote is not None):%B %Y}"


def offer_words(offer: RentOffer) -> str:
    """What renting costs, from whom and since when, in one sentence."""
    hourly, whose = hourly_words(offer), offer.middle
    one = "" if offer.times == 1 else " of one GPU"
    odd = f"; {ODD_SPOT}" if offer.is_odd else ""
    asked = f"{written_provider(whose.provider)}, {whose.priced_on}{left_out_words(whose)}{odd}"
    if offer.providers == 1:
        return f"{offer.kind}: {hourly}, the only offer{one}: {asked}"
    low, high = offer.low_usd / offer.times, offer.high_usd / offer.times
    span = f"{usd_and_cents(low)} to {usd_and_cents(high)}"
    which = "dearer" if offer.providers == 2 else "median"
    of = f"the {which} of {offer.providers} offers{one} ({span})"
    return f"{offer.kind}: {hourly}, {of}: {asked}"


def left_out_words(rental: Rental) -> str:
    """What is billed on top of a rental price; nothing where it is whole."""
    return f"; {rental.leaves_out} are billed on top" if rental.leaves_out else ""


def even_words(evens: Sequence[BreakEven], terms: CostTerms, *, is_owned: bool) -> list[str]:
    """From when buying pays beside each way to rent."""
    said = (pays_words(even, terms, is_owned=is_owned) for even in evens)
    return [f"{even.offer.kind}: {words}." for even, words in zip(evens, said, strict=True)]


ODD_SPOT = "dearer than on demand, which is odd: ask again"
OLD_RENT_DAYS = 120
"""From which age on a rental price is worth asking for again: rents fall within months."""
_FLAGS = {
    "resale": "--resale 20%",
    "financing": "--financing 5%",
    "hosting": "--hosting 30",
    "staff": "--staff 2000",
    "electricity": "--electricity 0.15",
}
"""How each term is counted."""


def cost_text(owned: Ownership, width: int, *, details: bool) -> str:
    """What owning costs: the answer, the terms that are counted, then what is not; with
    ``details`` every term, and what the figures rest on."""
    mark = owned.mark
    terms = cost_rows(owned)
    # Of a machine that is there all of it may be nothing: then that is said.
    counted = [row for row in terms if details or row["life_usd"] != 0 or row["term"] == "whole"]
    years = f"{owned.own.terms.lifetime_years:f} years"
    table = to_table(
        [
            {
                "": row["term"],
                years: _usd(row["life_usd"]),
                "a year": _usd(row["year_usd"]),
                "a run": _usd(row["experiment_usd"], mark if row["experiment_usd"] else ""),
            }
            for row in counted
        ],
        ("", years, "a year", "a run"),
        frozenset({years, "a year", "a run"}),
    )
    how = [
        fill(f"{row['term']}: {row['how']}", width, initial_indent="  ", subsequent_indent="    ")
        for row in counted
        if row["term"] not in ("whole", "hardware")
    ]
    facts = [fill(f"  {_price_line(owned)}", width, subsequent_indent="    "), *how]
    blocks = [fill(cost_sentence(owned), width), table, "\n".join(facts)]
    blocks += doubt_block("Not counted", cost_doubts(owned), width)
    return "\n\n".join([*blocks, *(_rests_on(owned, (), width) if details else ())])


def _rests_on(owned: Ownership, evens: Sequence[BreakEven], width: int) -> list[str]:
    """The quotes, the time, the power and the rents behind the figures, with their sources."""
    candidates, i, build = owned.candidates, owned.position, owned.build
    quotes = [("machine", candidates.host_quotes[i])]
    if build.host.gpu_id is None:  # else the machine's price has its GPUs in it
        quotes.append(("one GPU", candidates.gpu_quotes[i]))
    facts = []
    for name, quote in quotes:
        assert quote is not None  # only builds with a price are asked about
        where = quote.url or quote.file or quote.source_id
        said = f"{usd_and_cents(quote.price_usd)}, {quote.label}, {quote.quoted_on}"
        facts.append((name, f"{said}, {where}"))
    best = candidates.times[i]
    if best is not None and best.chosen is not None:
        facts.append(("time", rests_on_words(best.chosen)))
    facts.append(("power", owned.power))
    for even in evens:
        rental = even.offer.middle
        whose, where = written_provider(rental.provider), rental.url or rental.source_id
        said = f"{whose}, {rental.priced_on}, {where}"
        one = "" if even.offer.times == 1 else " for one GPU"
        facts.append((even.offer.kind, f"median of {even.offer.providers}{one}: {said}"))
        rates = [
            f"{written_provider(rate.provider)} {usd_and_cents(rate.price_per_hour_usd)}"
            for rate in even.offer.rates
        ]
        facts += [("", f"each an hour: {', '.join(rates)}")] if len(rates) > 1 else []
    label = max(len(name) for name, _ in facts) + 4
    lines = [
        fill(
            words,
            width,
            initial_indent=f"  {name}".ljust(label),
            subsequent_indent=" " * label,
            break_long_words=False,
        )
        for name, words in facts
    ]
    return ["\n".join(["Rests on", *lines])]


def _price_line(owned: Ownership) -> str:
    candidates, i = owned.candidates, owned.position
    gpu, host = candidates.gpu_quotes[i], candidates.host_quotes[i]
    assert gpu is not None and host is not None  # only builds with a price are asked about
    age = price_day_words(min(gpu.quoted_on, host.quoted_on), owned.as_of)
    age = "yours already" if owned.build.host_owned else age
    use = owned.own.terms.utilisation
    trains = "it trains all the time" if use == 1 else f"it trains {percent(use)} of its life"
    return f"hardware: {age}; {trains}"


def cost_doubts(owned: Ownership) -> list[Doubt]:
    """What the sum leaves out, with the flag that counts it."""
    own, terms = owned.own, owned.own.terms
    command = _command("cost", owned)
    if not terms.electricity_usd_per_kwh:
        watts = f" of {owned.watts_words}" if owned.watts_words else ""
        words = f"electricity{watts}: state what a kWh costs you"
        doubts = [Doubt(about="power", words=words, command=f"{command} --electricity 0.15")]
    else:
        doubts = []
    left = [
        flag
        for term, flag in _FLAGS.items()
        if term != "electricity" and not getattr(own, f"{term}_usd")
    ]
    if terms.hosting_usd_per_u_month and not own.hosting_usd:
        words = "hosting: this machine stands on the floor; in a rack it takes some units"
        doubts.append(Doubt(about="room", words=words, command=f"{command} --rack-units 4"))
        left.remove(_FLAGS["hosting"])
    if left:
        names = [flag.partition(" ")[0].removeprefix("--") for flag in left]
        words = f"{', '.join(names)}: 0 until you say"
        doubts.append(Doubt(about="other", words=words, command=f"{command} {' '.join(left)}"))
    return doubts


def rent_text(
    owned: Ownership,
    evens: list[BreakEven],
    number: Decimal | None,
    width: int,
    *,
    details: bool,
) -> str:
    """What renting costs beside owning: the answer, a row for each way to rent, the doubts; with
    ``details`` what the figures rest on."""
    days = owned.training_days
    assert days is not None  # else there is nothing to compare
    mark, runs = owned.mark, "" if number is None else f"{number:,f} runs"
    life = f"{owned.own.terms.lifetime_years:f} years"
    rows = []
    for even in evens:
        offer, exact = even.offer, rent_row(owned, even, days, number)
        row = {
            "": offer.kind,
            "an hour": usd_and_cents(offer.price_per_hour_usd),
            "others ask": f"{usd_and_cents(offer.low_usd)} to {usd_and_cents(offer.high_usd)}",
            "a run": _usd(even.rent_per_experiment_usd, mark),
            "buying pays": _pays(pays_words(even, owned.own.terms)),
            life: _usd(exact["whole_life_usd"]),
            "price": age_words(offer.middle.priced_on, owned.as_of),
        }
        if number is not None:
            row[runs] = _usd(exact[f"{number:f}_experiments_usd"], mark)
        rows.append(row)
    own = {name: "" for name in rows[0]} | {
        "": "own",
        "a run": _usd(owned.own.experiment_usd(days), mark),
        life: _usd(owned.own.life_usd),
    }
    # A cell that is not asked for is left blank, not said to be missing.
    rows = [{name: text or "–" for name, text in row.items()} for row in (*rows, own)]
    columns = [name for name in rows[0] if name != "price"] + ["price"]
    right = frozenset({"an hour", "a run", life, runs})
    table = to_table(rows, columns, right)
    # CSV and JSON have them; the doubts tell an old price.
    for spared in ("others ask", "price", life):
        if max(map(len, table.splitlines())) > width:
            columns.remove(spared)
            table = to_table(rows, columns, right)
    blocks = [fill(rent_sentence(owned, evens), width), table]
    doubts = rent_doubts(owned, evens, number)
    blocks += doubt_block("Before you decide", doubts, width)
    return "\n\n".join([*blocks, *(_rests_on(owned, evens, width) if details else ())])


def _pays(words: str) -> str:
    """`pays_words` without its reason, for a column."""
    return (
        "never"
        if "pays" not in words or "never" in words
        else words[12:].removesuffix(", without electricity").replace(" of its life", " use")
    )


def rent_doubts(
    owned: Ownership, evens: Sequence[BreakEven], number: Decimal | None
) -> list[Doubt]:
    """How old the rents are, what is billed on top, and what owning leaves out; ``number`` are the
    training runs that were asked about."""
    doubts = []
    rental = evens[0].offer.middle
    words = []
    if (owned.as_of - rental.priced_on).days >= OLD_RENT_DAYS:
        words.append(f"the price is {age_words(rental.priced_on, owned.as_of)} old")
    if rental.leaves_out:
        words.append(f"{rental.leaves_out} are billed on top")
    told = [f"{', '.join(words)} ({written_provider(rental.provider)})"] if words else []
    told += [f"spot is {ODD_SPOT}" for even in evens if even.offer.is_odd]
    if (count := evens[0].offer.times) > 1:
        told.append(f"no offer is known of {count} in one machine: {count} times the price of one")
    if told:
        text = "; ".join(told)
        doubts.append(Doubt(about="rent", words=text, command="advisor prices refresh"))
    if not owned.own.terms.electricity_usd_per_kwh:
        runs = "" if number is None else f" --experiments {number:f}"
        doubts.append(
            Doubt(
                about="power",
                words="owning does not count electricity here: state what a kWh costs you",
                command=f"{_command('rent', owned)}{runs} --electricity 0.15",
            )
        )
    return doubts


def _command(name: str, owned: Ownership) -> str:
    build = owned.build
    usual = chosen_build(owned.candidates, build.gpu_count, None) == owned.position
    machine = "" if usual else f" --machine {quoted(build.host.host_id)}"
    return (
        f"advisor prices {name} --model {quoted(owned.candidates.model.recipe_id)} "
        f"--gpu {quoted(build.gpu.gpu_id)} --count {build.gpu_count}{machine}"
        f"{stated_terms(owned.own.terms)}{owned.asked}"
    )


def _usd(amount: Decimal | None, mark: str = "") -> str:
    return "not known" if amount is None else f"{mark}{usd_rounded(amount)}"
