"""The answer to a ranking's question: a record of facts, and the sentence that says them.

Every surface begins with it: the command line, JSON, the terminal program.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from decimal import Decimal
from functools import cached_property

from advisor.answers.build_words import (
    added_words,
    build_words,
    gpus_words,
    over_words,
    owned_words,
    rented_words,
)
from advisor.answers.ranking.question_words import asked_for, budget_words
from advisor.answers.wording import (
    REASON_WORDS,
    counted_days,
    days_and_ends,
    keeps_words,
    list_words,
    makes_words,
    mark_at,
    pays_words,
    price_source_words,
)
from advisor.costs.amount_words import usd_rounded
from advisor.costs.cost_of_owning import DAYS_PER_YEAR
from advisor.costs.rental import BreakEven, RentOffer, break_even, rent_offers, rented_usd
from advisor.ranking.candidates import Availability, Candidates
from advisor.ranking.exclusion_reasons import NO_ESTIMATE, exclusion_text
from advisor.ranking.fine_tuning import parted
from advisor.ranking.interval_comparison import alike
from advisor.ranking.question import Question
from advisor.ranking.row_order import RankedRow, Ranking
from bench_runner.typed_numbers import percent, plain
from price_catalog.model import Rental

MOST_NAMED = 2
"""How many GPU configurations a sentence names before it counts them."""
NOT_ON_SALE: dict[Availability, str] = {
    "orderable": "",
    "not-delivered": "its seller is not known to deliver there",
    "out-of-date": "that price is out of date",
    "no-seller": "no seller is known at that price",
}
"""Why a build cannot be ordered at its price."""
SURE_ENOUGH = 0.75
"""A budget that is kept with less than this chance is a doubt of the first line."""
RENT_SHARE, RENT_RUNS = Decimal("0.01"), 100
"""Renting comes first where a run costs less than this share of the price, and buying pays only
after more runs than that."""
YEAR_DAYS = 366.0
"""Nobody rents a machine for longer than a year to train one model."""


class Verdict:
    """The facts of an answer, also where nothing fits; builds are the candidates' indices."""

    def __init__(self, ranking: Ranking, rentals: Iterable[Rental] = ()) -> None:
        """``rentals`` are those that are known."""
        self.ranking, self.rentals = ranking, tuple(rentals)
        self.candidates, self.question = ranking.candidates, ranking.question
        self.first: RankedRow | None = None
        """What the first row is shown with; None where no build answers."""
        self.chance: float | None = None
        """That it keeps the limit of days, 0 to 1; None where none was asked for."""
        self.budget_chance: float | None = None
        """That it still keeps the budget if it is ordered today, 0 to 1."""
        if ranking.table:
            self.first, i = ranking.lead(0), ranking.order[0]
            self.chance, self.budget_chance = ranking.chance(i), ranking.budget_chance(i)
        self.orderable = self.first is not None and self.first.availability == "orderable"
        self.as_good = tuple(row[0] for row in ranking.table[1 : ranking.tied_rows])
        """The other rows that cannot be told from the first."""

    @cached_property
    def in_time(self) -> int | None:
        """Where nothing that can be ordered answers: the cheapest that keeps the days."""
        candidates = self.candidates
        return self._nearest(candidates.by_cost, candidates.days, self.question.max_days)

    @cached_property
    def in_budget(self) -> int | None:
        """And the fastest that the budget pays."""
        candidates = self.candidates
        return self._nearest(candidates.by_days, candidates.cents, self.ranking.budget_cents)

    @cached_property
    def fastest(self) -> int | None:
        """And the fastest of all, where nothing keeps the days."""
        return None if self.in_time is not None else self._nearest(self.candidates.by_days)

    def _nearest(
        self, order: Iterable[int], values: Sequence[float] = (), most: float | None = None
    ) -> int | None:
        """The first in this order that can be ordered, of those with a value of at most that; the
        first of all where none can be."""
        if self.orderable:
            return None
        some = [i for i in order if most is None or values[i] <= most]
        sold = (i for i in some if self.candidates.availability[i] == "orderable")
        return next(sold, some[0] if some else None)

    def _offer(self, i: int) -> RentOffer | None:
        """The GPUs of a build by the hour, on demand; offers are of one machine."""
        build, day = self.candidates.builds[i], self.candidates.prices.as_of or date.today()
        if build.machines > 1:
            return None
        offers = rent_offers(self.rentals, build.gpu.gpu_id, build.gpu_count, today=day)
        return next((offer for offer in offers if offer.kind == "on-demand"), None)

    @cached_property
    def rent(self) -> tuple[Decimal, int] | None:
        """Where nothing that can be ordered answers: the cheapest run on rented GPUs that keeps the
        limit of days and is over within a year, in US dollars."""
        if self.orderable:
            return None
        longest, found = min(self.question.max_days or YEAR_DAYS, YEAR_DAYS), []
        for i, *_ in self.candidates.configurations.values():
            days = self.candidates.days[i]
            if self.candidates.builds[i].host_owned or days > longest:
                continue
            if (offer := self._offer(i)) is not None:
                usd = rented_usd(offer.price_per_hour_usd, days, Decimal(1))
                found.append((usd, i))
        return min(found, default=None)

    @property
    def is_small(self) -> bool:
        """Whether it is fine-tuned, or the user's own program: who trains a model from scratch asks
        for a machine."""
        model = self.candidates.model
        return parted(model.recipe_id)[1] is not None or model.own_command is not None

    @cached_property
    def renting(self) -> BreakEven | None:
        """The first row's GPUs by the hour against owning them; None where nobody rents them
        out."""
        i = self.ranking.order[0]
        offer, own = self._offer(i), self.candidates.owning(i, self.question.terms)
        return None if offer is None else break_even(own, offer, self.candidates.days[i])

    @cached_property
    def rent_first(self) -> BreakEven | None:
        """The same where it is a small training and renting is cheaper by far."""
        row = self.first
        if row is None or not self.orderable or row.build.host_owned or not self.is_small:
            return None
        even = self.renting
        if even is None or even.room < 1:
            return None
        few = even.experiments is not None and even.experiments <= RENT_RUNS
        dear = even.rent_per_experiment_usd >= RENT_SHARE * row.overall_cost_usd
        return None if few or dear else even

    @cached_property
    def more_money(self) -> int | None:
        """The cheapest GPUs on sale over the budget that are faster beyond the doubt."""
        ranking, candidates, budget = self.ranking, self.candidates, self.ranking.budget_cents
        if budget is None or not self.orderable or self.question.rule != "days":
            return None
        days, cents = candidates.days, candidates.cents
        fastest = min((ranking.order[0], *self.as_good), key=days.__getitem__)
        doubt = ranking.doubt(fastest)
        return next(
            (
                i
                for i in candidates.by_cost
                if cents[i] > budget
                and days[i] < days[fastest]
                and candidates.availability[i] == "orderable"
                and not alike(ranking.doubt(i), doubt)
            ),
            None,
        )

    @cached_property
    def sentence(self) -> str:
        """The answer in words; could be sent in an e-mail by itself."""
        row = self.first
        return " ".join(_nothing(self) if row is None or not self.orderable else _told(self, row))


def days_of(candidates: Candidates, i: int) -> str:
    """``≈79.4 days (50.2–126)``, of a candidate that need not be ranked."""
    return mark_at(candidates, i) + days_and_ends(candidates.days[i], *candidates.interval(i))


def _told(found: Verdict, row: RankedRow) -> Iterator[str]:
    """What to buy or rent, what speaks against it, what is as good, and what more money buys."""
    candidates, i, even = found.candidates, found.ranking.order[0], found.rent_first
    trains = f"{candidates.model.name} in {days_of(candidates, i)}"
    trains += over_words(row.build, candidates.network)
    price = usd_rounded(row.overall_cost_usd)
    if even is not None:
        usd = usd_rounded(even.rent_per_experiment_usd)
        yield f"Rent {rented_words(row.build)} for ≈{usd} a run: {trains}."
        pays = pays_words(even, found.question.terms).removeprefix("buying ")
        yield f"Buying (from {price}) {pays}."
    elif row.build.host_owned:
        yield f"Use {owned_words(row.build)}: {trains}."
    else:
        build, quotes = row.build, (row.gpu_quote, row.host_quote)
        source = price_source_words(build, *quotes, candidates.abroad)
        bought = f"Add {added_words(build)}" if build.gpus_owned else f"Buy {gpus_words(build)}"
        yield f"{bought}: {trains}, from {price} ({source})."
    if even is None:
        yield from _odds(found, row)
    yield from _doubts_of_time(found, row)
    if even is None and not row.build.host_owned:
        yield from _doubts_of_money(found, row)
    if others := found.as_good:
        named = [
            f"{gpus_words(candidates.builds[j])} (from {usd_rounded(candidates.cents[j] / 100)})"
            for j in others
        ]
        if len(named) > MOST_NAMED:
            named = [f"{len(named)} other GPU configurations"]
        words = {"days": "as fast", "cost": "as cheap", "experiment-cost": "as cheap a run"}
        verb = "is" if len(others) == 1 else "are"
        yield f"{list_words(named)} {verb} {words[found.question.rule]} within the doubt."
    if even is None and (j := found.more_money) is not None:
        price, gpus = _price(candidates, j), gpus_words(candidates.builds[j])
        days = mark_at(candidates, j) + counted_days(candidates.days[j])
        yield f"More money buys more speed from {price}: {gpus}, {days}."


def _odds(found: Verdict, row: RankedRow) -> Iterator[str]:
    """The chance of a limit, and the cost of a run where that orders the table."""
    if found.chance is not None and found.question.max_days is not None:
        yield f"T{makes_words(found.chance, found.question.max_days)[1:]}."
    if found.question.rule == "experiment-cost" and row.experiment_cost_usd:
        mark = mark_at(found.candidates, found.ranking.order[0])
        yield f"A run costs {mark}{usd_rounded(row.experiment_cost_usd)}."


def _doubts_of_time(found: Verdict, row: RankedRow) -> Iterator[str]:
    """What speaks against the first row's time."""
    if row.time.verdict == "implausible":
        yield "But that published time is physically impossible."
    elif row.time.verdict == "doubtful" and row.time.implied_mfu is not None:
        share = percent(row.time.implied_mfu)
        yield f"But that time is doubtful: it would take {share} of the GPUs' peak."
    if row.time.lab is not None:
        yield f"You did not measure it: it comes from {row.time.lab}."
    best = found.candidates.times[found.ranking.order[0]]
    slower = None if best is None or best.measured is None else best.measured.training_days
    if slower is not None:
        yield f"But we measured {counted_days(slower)}."


def _doubts_of_money(found: Verdict, row: RankedRow) -> Iterator[str]:
    """And against its price."""
    vat, terms = found.candidates.vat, found.question.terms
    if vat:
        usd = usd_rounded(row.overall_cost_usd * (1 + vat))
        paid = "" if found.ranking.budget_cents is None else ", which the budget pays too"
        yield f"Prices are before {plain(float(vat) * 100)} % VAT{paid}: {usd} with it."
    keeps = found.budget_chance
    if keeps is not None and keeps < SURE_ENOUGH:
        odds = keeps_words(keeps, budget_words(found.question))
        yield f"Its price may have moved: {odds}."
    if row.training_days > float(terms.lifetime_years * terms.utilisation) * DAYS_PER_YEAR:
        used = "" if terms.utilisation == 1 else f" at {terms.utilisation:.0%} use"
        yield f"That is longer than it trains in its {terms.lifetime_years:g} years{used}."


def nearest(found: Verdict) -> dict[str, int]:
    """What comes nearest, by what has to change for it: ``budget``, ``days`` or, where neither is
    enough, ``both``. What no seller offers is named only where nothing else is; nor is what its
    machine does not live to train."""
    terms, near = found.question.terms, dict[str, int]()
    life = float(terms.lifetime_years * terms.utilisation) * DAYS_PER_YEAR

    def add(about: str, i: int | None) -> None:
        if i is None or found.candidates.days[i] > life:
            return
        if found.first is None or found.candidates.availability[i] == "orderable":
            near[about] = i

    if found.question.budget_usd is not None:
        add("budget", found.in_time)
    if found.question.max_days is not None and found.in_budget not in near.values():
        add("days", found.in_budget)
        if not near:
            add("both", found.fastest)
    return near


def _nothing(found: Verdict) -> Iterator[str]:
    """That nothing on sale answers, or why nothing can be ranked at all; what comes nearest; what
    is not sold but would answer; and renting. What the question left out is said, which may be
    faster or cheaper."""
    candidates, what = found.candidates, []
    if not candidates.rankable:
        yield _unrankable(candidates)
        return
    if candidates.some_gpus:
        names = list(dict.fromkeys(build.gpu.short_name for build in candidates.builds))
        what.append(" or ".join(names) if len(names) <= MOST_NAMED else "these GPUs")
    if candidates.evidence == "published":
        what.append("a published time")
    looked = f" with {' and '.join(what)}" if what else ""
    sale = " on sale" if found.first is not None else ""
    budget, rented, name = found.ranking.budget_cents, "", candidates.model.name
    if found.rent is not None and (budget is None or found.rent[0] * 100 <= budget):
        usd, i = found.rent
        gpus, days = rented_words(candidates.builds[i]), days_of(candidates, i)
        rented = f"Rented, {gpus} does it in {days} for ≈{usd_rounded(usd)}."
        if found.is_small:
            yield f"Rent {gpus} for ≈{usd_rounded(usd)} a run: {name} in {days}."
            rented, name = "", "it"
    yield f"Nothing{sale}{looked} trains {name}{asked_for(found.ranking)}."
    in_time = "" if found.question.max_days is None else " in time"
    money = "" if found.question.budget_usd is None else " for this money"
    which = {
        "budget": f"The cheapest{in_time}",
        "days": f"The fastest{money}",
        "both": "The fastest",
    }
    for about, i in nearest(found).items():
        sold = candidates.availability[i] == "orderable" and not candidates.builds[i].host_owned
        yield f"{which[about]}{' on sale' * sold} is {_named(candidates, i)}."
    if found.first is not None:
        yield f"If a seller is found: {_named(candidates, found.ranking.order[0])}."
    if rented:
        yield rented


def _price(candidates: Candidates, i: int) -> str:
    """``$40,100``; ``$40,100 ($47,700 with VAT)`` where the budget pays that too."""
    usd, vat = Decimal(candidates.cents[i]) / 100, candidates.vat
    return usd_rounded(usd) + (f" ({usd_rounded(usd * (1 + vat))} with VAT)" if vat else "")


def _named(candidates: Candidates, i: int) -> str:
    build, gpu, host = candidates.builds[i], candidates.gpu_quotes[i], candidates.host_quotes[i]
    assert gpu is not None and host is not None  # it has a price
    if build.host_owned:
        return f"{owned_words(build)}, {days_of(candidates, i)}"
    source = price_source_words(build, gpu, host, candidates.abroad)
    price, days = _price(candidates, i), days_of(candidates, i)
    words = f"{gpus_words(build)} for {price} ({source}), {days}"
    why = NOT_ON_SALE[candidates.availability[i]]
    return f"{words}; {why}" if why else words


def _unrankable(candidates: Candidates) -> str:
    """Why no build has both a price and a time: how many lack what, and of one of them why."""
    start = f"No machine can be ranked for {candidates.model.name}"
    if candidates.uncounted is not None:
        return f"{start}: it is no longer counted ({candidates.uncounted.rstrip('.')})."
    gaps = {reason: builds for reason, builds in candidates.gaps.items() if builds}
    if not gaps:
        return f"{start}: none has both a price and a training time."
    counts = [f"{len(builds):,} {REASON_WORDS[reason]}" for reason, builds in gaps.items()]
    reason = next(iter(gaps))
    # A machine that exists says more than a pairing of cards with a strange chassis.
    first = max(gaps[reason], key=lambda i: candidates.builds[i].host.gpu_id is not None)
    why = exclusion_text(candidates, first, reason, Question()).partition("; add yours")[0]
    named = build_words(candidates.builds[first])
    return f"{start}: {', '.join(counts)}. {named}: {why.removeprefix(NO_ESTIMATE)}."
