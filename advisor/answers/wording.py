"""What a build, a time, a price and their marks are called, once for every surface.

The figures themselves, dollars and days, are written by advisor.costs.amount_words.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from typing import NamedTuple

from advisor.costs.amount_words import age_words, days_rounded
from advisor.costs.cost_of_owning import CostTerms
from advisor.costs.price_book import quote_marks
from advisor.costs.rental import BreakEven
from advisor.ranking.candidates import Candidates, Reason
from advisor.ranking.row_order import ORDER, RankedRow
from advisor.ranking.times import TrainingTime
from bench_runner.records.measurement import Settings
from bench_runner.typed_numbers import percent, plain
from price_catalog.builds import Build
from price_catalog.model import OWN_QUOTE, Gpu, Host, Quote, Source
from price_catalog.power import Supply, needs_machine_room

RULE_WORDS = {rule: words for rule, (words, _) in ORDER.items()}
RULE_CHOICES = {"days": "fastest", "cost": "cheapest", "experiment-cost": "per run"}
"""The same where somebody chooses one."""
REASON_WORDS = {
    "over-budget": "over budget",
    "too-slow": "too slow",
    "does-not-fit": "too little memory",
    "implausible-time": "impossible time",
    "no-time": "without a time",
    "no-price": "without a price",
    "cannot-be-built": "cannot be built",
    "fit-not-known": "fit not known",
    "old-price": "old price",
}
"""Why a build is left out, in a few words, alone or after a number of builds."""
KIND_WORDS = {
    "reseller-quote": "reseller's quote",
    "education": "university price",
    "parts-list": "sum of part prices",
    "list": "list price",
    "street": "street price",
    "used": "used, resale",
    "secondary": "reported by others",
    "rounded": "rounded by the paper",
}
"""The kinds of a quote."""
STATUS_WORDS = {"infeasible": "does not fit", "failed": "failed", "pruned": "not tried"}
"""What became of a tried setting without a time."""
VERDICT_MARKS = {"plausible": "✓", "doubtful": "?", "implausible": "✗", "unchecked": "–"}
SUM = "sum"
MARKS = {
    "stale": ("~", "a year old or older"),
    "expired": ("x", "no longer valid"),
    "unsourced": ("?", "no page or file to check it by"),
    "outlying": ("!", "far from the other quotes of its item"),
    "corrected": ("<", "another quote stands in for it"),
    SUM: ("+", "added up from parts or options; the total was not quoted"),
}
"""The marks of a quote: one sign, plain enough for every terminal, so that a narrow column still
tells; and what it means."""
SHARDING_AS_PRINTED = {
    "zero-1": "Zero (1)",
    "zero-2": "Zero (2)",
    "zero-3": "Zero (3)",
    "fsdp-shard-grad-op": "FSDP (2)",
    "fsdp-full-shard": "FSDP (3)",
}
"""What the paper's tables call it."""
PREDICTED_MARK = "≈"
OUTLET, OUTLET_230 = Supply(120, 15), Supply(230, 16)
"""An ordinary outlet, where the lab states no circuit; of the first kind where ..."""
LOW_VOLTAGE = frozenset({None, "US", "CA", "MX", "JP", "TW"})
"""... the mains have 100 to 127 V, or no country is named."""


def over_outlet(watts: float, buy_in: str | None) -> str | None:
    """That a machine draws more than an ordinary outlet of the buyer's country carries; None where
    it does not."""
    outlet = OUTLET if buy_in in LOW_VOLTAGE else OUTLET_230
    if watts <= outlet.watts:
        return None
    if needs_machine_room(watts):
        return f"{plain(watts / 1000)} kW needs a machine room: no outlet carries it"
    return f"{watts:,.0f} W is more than a {outlet.volts} V {outlet.breaker_a} A outlet carries"


def count_words(ranked: int, builds: int, left_out: Mapping[Reason, int]) -> str:
    """One total for one question, on every surface: what is ranked and what is left out add up.

    ``23 of 1,677 builds fit; left out: 23 over budget, 1,631 cannot be built.``
    """
    counted = ", ".join(f"{n:,} {REASON_WORDS[reason]}" for reason, n in left_out.items())
    text = f"{ranked:,} of {builds:,} builds fit"
    return f"{text}; left out: {counted}." if counted else f"{text}."


ATTENTIONS = {
    "eager": "unfused attention",
    "sdpa": "fused attention (SDPA)",
    "flash": "FlashAttention",
}


def settings_words(settings: Settings | None) -> str:
    """Settings in the field's terms, as one short line."""
    if settings is None:
        return "settings not recorded"
    batch, passes = settings.micro_batch_size, settings.gradient_accumulation_steps
    words = (
        "free lunch" if settings.free_lunch else "naive",
        "activation checkpointing" if settings.activation_checkpointing else None,
        settings.sharding,
        "offloading" if settings.offloading else None,
        "layers compiled one by one" if settings.compilation == "regional" else None,
        "fused loss" if settings.loss == "fused" else None,
        None if settings.attention is None else ATTENTIONS[settings.attention],
        "half-precision weights" if settings.weights == "half" else None,
        "fp8 products, which change the training" if settings.matmul == "fp8" else None,
        "half-precision optimiser states, which change the training"
        if settings.states == "half"
        else None,
        None if batch is None else f"micro-batch {batch}",
        None if passes is None else f"accumulation {passes}",
    )
    return ", ".join(filter(None, words))


def trust_words(time: TrainingTime) -> str:
    """How far to trust a time, as a few words."""
    if time.basis == "predicted":
        words = ["predicted"]
    else:
        words = ["measured" if time.timing == "synchronised" else "unsynchronised"]
    if time.method == "naive":
        words.append("naive")
    if time.implied_mfu is not None:
        words.append(f"{percent(time.implied_mfu)} MFU")
    if time.verdict in ("doubtful", "implausible"):
        words.append(time.verdict)
    return ", ".join(words)


def rests_on_words(time: TrainingTime) -> str:
    """What stands behind a time, as one phrase, such as "measured here" or "estimated from 71
    measured times, the nearest Pythia 1B on 1 × H100"."""
    if time.rests_on == "measured-here":
        return "measured here"
    if time.rests_on == "measured-elsewhere":
        day = "" if time.measured_on is None else f" on {time.measured_on}"
        kind = "" if time.timing == "synchronised" else ", not synchronised"
        return f"measured{day} elsewhere on the same hardware{kind}"
    if time.rests_on != "estimated":
        return "no time"
    words = "estimated"
    if time.evidence_nearest is not None:
        words += f" from {time.evidence_pieces} measured times, the nearest {time.evidence_nearest}"
    if time.measured_otherwise_days is not None:
        days = counted_days(time.measured_otherwise_days)
        return f"measured with other settings: {days}; with ours {words}"
    return words


def rank_words(row: RankedRow) -> str:
    """The number of its row; as in ``1=``, that of the first of its group."""
    return f"{row.group} " if row.tied_with == row.group else f"{row.tied_with}="


def estimate_mark(time: TrainingTime) -> str:
    """The mark of a time that was not measured; empty where it was."""
    return PREDICTED_MARK if time.basis == "predicted" else ""


def mark_at(candidates: Candidates, i: int) -> str:
    """The same of a candidate's time; empty where it has none."""
    best = candidates.times[i]
    return "" if best is None or best.chosen is None else estimate_mark(best.chosen)


def middle_of(providers: int) -> str:
    """Which of its providers' rates a rent is: of an even number the dearer of the middle two."""
    if providers == 1:
        return "the only provider known"
    return f"the {'dearer' if providers == 2 else 'median'} of {providers} providers"


def list_words(names: Sequence[str]) -> str:
    """``A``, ``A and B``, ``A, B and C``."""
    *some, last = names
    return f"{', '.join(some)} and {last}" if some else last


def price_source_words(
    build: Build,
    gpu_quote: Quote,
    host_quote: Quote,
    country: Callable[[str], str] = lambda seller: "",
) -> str:
    """Who asks a build's price, and since when: ``Kiebel, January 2026``; ``BIZON's options added
    up, January 2026``; of parts both sellers; with ``country``, what is said of a seller's."""
    if build.host_owned:
        return "yours already"
    quotes = list(dict.fromkeys((gpu_quote, host_quote)))
    vendors = list(dict.fromkeys(quote.vendor for quote in quotes))
    summed = "'s options added up" if is_unquoted(build, host_quote) else ""
    who = list_words([f"{name}{summed}{country(name)}" for name in vendors])
    if any(quote.kind == "secondary" for quote in quotes):
        who = f"reported by others: {who}"
    if any(quote.kind == "used" for quote in quotes):
        who = f"used, {who}"
    if any(quote.is_own for quote in quotes) and not build.host.is_own_quote:
        who = f"{OWN_QUOTE}, {who}"
    day = min(quote.quoted_on for quote in quotes)
    return f"{who}, {day:%B %Y}{''.join(dict.fromkeys(quote.tax_words for quote in quotes))}"


def is_unquoted(build: Build, host_quote: Quote) -> bool:
    """Whether its seller never named this price of a whole machine."""
    return build.host.gpu_id is not None and host_quote.is_summed


class TimeUnit(NamedTuple):
    """The unit of a time."""

    word: str
    sign: str
    a_day: float
    """How many of these a day has."""


DAY, HOUR = TimeUnit("day", "d", 1), TimeUnit("hour", "h", 24)
MINUTE, SECOND = TimeUnit("minute", "min", 1440), TimeUnit("second", "s", 86400)


def time_unit(days: float) -> TimeUnit:
    """The largest unit of which a time is at least one; of less than a second, that."""
    units = (DAY, HOUR, MINUTE)
    fits = (unit for unit in units if days * unit.a_day >= 1)
    return DAY if days <= 0 else next(fits, SECOND)


def short_time(days: float) -> str:
    """``60 d``, ``6 h``, ``30 min``."""
    unit = time_unit(days)
    return f"{days_rounded(days * unit.a_day)} {unit.sign}"


def counted_days(days: float) -> str:
    """``1 day``, ``79.4 days``; of less than a day ``3.68 hours``, of an hour ``5 minutes``."""
    unit = time_unit(days)
    words = days_rounded(days * unit.a_day)
    return f"{words} {unit.word}{'' if words == '1' else 's'}"


def days_and_ends(days: float, low: float, high: float) -> str:
    """``79.4 days (50.2–126)``: with the ends of its interval, where they differ when rounded; all
    three in one unit."""
    a_day = time_unit(days).a_day
    return counted_days(days) + ends_words(low * a_day, high * a_day)


def ends_words(low: float, high: float) -> str:
    """`` (50.2–126)``; nothing where both are the same when rounded."""
    ends = days_rounded(low), days_rounded(high)
    return "" if ends[0] == ends[1] else f" ({'–'.join(ends)})"


def source_name(source: Source | None, source_id: str) -> str:
    """Who says so, in a few words: a paper's table and its authors, else how the title begins.

    ``Table 1, Khandelwal et al.``, ``Our H200 runs``; a source that the store lacks keeps its id.
    """
    if source is None:
        return source_id
    title = source_title(source)
    authors, quoted, rest = title.partition(', "')
    if not quoted:
        return title.partition(", ")[0]
    part = rest.rpartition("), ")[2].partition(" and ")[0]
    return f"{part}, {authors}"


def source_title(source: Source) -> str:
    """What a source is called, without the number that a document is kept by."""
    named, number, title = source.title.partition(": ")
    if not (number and re.fullmatch(r"Document \d+", named)):
        return source.title
    return title[0].upper() + title[1:]


def item_names(gpus: Iterable[Gpu], hosts: Iterable[Host]) -> dict[tuple[str, str], str]:
    """What a person calls each item that a quote is for, by its kind and id."""
    names = {("gpu", gpu.gpu_id): gpu.name for gpu in gpus}
    for host in hosts:
        names["host" if host.gpu_id is None else "server", host.host_id] = host.label
    return names


def price_day(row: RankedRow) -> date:
    """The day of the older of a build's two prices."""
    return min(row.gpu_quote.quoted_on, row.host_quote.quoted_on)


def price_day_words(day: date, today: date) -> str:
    """When a price was asked and how old it is: ``April 2026, 7 months old``."""
    return f"{day:%B %Y}, {age_words(day, today)} old" if day < today else "today's price"


def age_short(row: RankedRow, today: date) -> str:
    """The age of a build's older price in a narrow column, or what is wrong with it.

    ``3 mo``, ``12 d``, ``2.2 y``; ``used``, ``told`` (by others, who do not sell it), ``sum`` (of a
    seller's options, and no total was quoted), ``owned``;
    ``own 12 d`` where one of them is the user's own quote.
    """
    quotes = (row.gpu_quote, row.host_quote)
    kinds = {quote.kind for quote in quotes}
    if kinds == {"owned"}:
        return "owned"
    own = "own " if any(quote.is_own for quote in quotes) else ""
    for kind, words in (("secondary", "told"), ("used", "used")):
        if kind in kinds:
            return own + words
    if is_unquoted(row.build, row.host_quote):
        return f"{own}sum"
    days = max((today - price_day(row)).days, 0)
    if days < 60:
        return f"{own}{days} d"
    return f"{own}{days // 30} mo" if days < 730 else f"{own}{days / 365:.1f} y"


def price_marks(row: RankedRow, quote: Quote, today: date) -> tuple[str, ...]:
    """What speaks against one of the two prices of a build."""
    spans = (asked.span for asked in row.asked if asked.quote is quote)
    outlying = any(span is not None and span.outlying for span in spans)
    marks = quote_marks(quote, today=today, outlying=outlying)
    return (*marks, "reported by others") if quote.kind == "secondary" else marks


def marks_words(marks: str) -> str:
    """``~ stale, ? unsourced``; of several marks all signs first: ``~? stale, unsourced``."""
    names = [mark for mark in marks.split(", ") if mark]
    signs = "".join(MARKS[name][0] for name in names)
    return f"{signs} {', '.join(names)}" if names else "–"


def pays_words(even: BreakEven, terms: CostTerms, *, is_owned: bool = False) -> str:
    """From how many whole runs on owning is cheaper than renting: ``buying pays from 24 runs (12 %
    of its life)``."""
    who = "your own machine is cheaper" if is_owned else "buying pays"
    never = "your own machine is never cheaper" if is_owned else "buying never pays"
    life = f"{terms.lifetime_years:f} years"
    life += "" if terms.utilisation == 1 else f" at {percent(terms.utilisation)} use"
    if even.room < 1:
        return f"a machine of your own does not finish one in its {life}"
    if even.experiments is None:
        return f"{never}: under these terms it costs more"
    runs = max(1, math.ceil(even.experiments))
    if even.never_pays:
        return f"{never}: it takes {runs:,} runs, {int(even.room):,} fit {life}"
    less = "" if terms.electricity_usd_per_kwh else ", without electricity"
    if runs == 1 or even.utilisation is None:
        return f"{who} from the first run{less}"
    share = percent(even.utilisation * runs / even.experiments)
    return f"{who} from {runs:,} runs ({share} of its life){less}"


_CHANCES = (
    *((n, parts) for parts in (2, 3, 4, 5, 6, 10) for n in range(1, parts)),
    *((1, 20), (19, 20)),
)


def chance_words(chance: float) -> str:
    """A probability, 0 to 1, as people say it: ``3 in 4``, ``over 97 %``; as
    in a column of `percent_words`."""
    if chance >= 0.975:
        return "over 97 %"
    if chance <= 0.025:
        return "under 3 %"
    n, parts = min(_CHANCES, key=lambda known: abs(known[0] / known[1] - chance))
    return f"{n} in {parts}"


def keeps_words(chance: float, budget: str) -> str:
    """``the chance that it still costs at most $40,000 is 2 in 3``."""
    return f"the chance that it still costs at most {budget} is {chance_words(chance)}"


def makes_words(chance: float, limit: float) -> str:
    """``the chance that it takes at most 60 days is 3 in 4``."""
    return f"the chance that it takes at most {counted_days(limit)} is {chance_words(chance)}"


def percent_words(chance: float) -> str:
    """A probability, 0 to 1, for a column: ``74 %``; 0 and 100 only of what is certain."""
    shown = round(chance * 100)
    return f"{min(max(shown, 1), 99) if 0 < chance < 1 else shown} %"
