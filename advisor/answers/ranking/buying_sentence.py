"""The answer to a ranking's question: a record of facts, and the sentence that says them.

Every surface begins with it: the command line, JSON, the terminal program.
"""

from __future__ import annotations

from collections.abc import Iterable
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
    REASONS_COUNTED,
    counted_days,
    days_and_ends,
    estimate_mark,
    keeps_words,
    list_words,
    makes_words,
    mark_at,
    pays_words,
    price_source_words,
)
from advisor.costs.amount_words import usd_rounded
from advisor.costs.cost_of_owning import DAYS_PER_YEAR
from advisor.costs.rental import BreakEven, break_even, rent_offers, rented_usd
from advisor.ranking.candidates import Availability, Candidates, Reason
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
        self.first = ranking.lead(0) if ranking.table else None
        """What the first row is shown with; None where no build answers."""
        self.orderable = self.first is not None and self.first.availability == "orderable"
        self.as_good = tuple(row[0] for row in ranking.table[1 : ranking.tied_rows])
        """The other rows that cannot be told from the first."""

    @property
    def chance(self) -> float | None:
        """That it keeps the limit of days, 0 to 1; None where none was asked for."""
        return None if self.first is None else self.ranking.chance(self.ranking.order[0])

    @property
    def budget_chance(self) -> float | None:
        """That it still keeps the budget if it is ordered today, 0 to 1."""
        return None if self.first is None else self.ranking.budget_chance(self.ranking.order[0])

    @cached_property
    def in_time(self) -> int | None:
        """Where nothing that can be ordered answers: the cheapest that keeps the days."""
        candidates, limit = self.ranking.candidates, self.ranking.question.max_days
        return self._nearest(
            i for i in candidates.by_cost if limit is None or candidates.days[i] <= limit
        )

    @cached_property
    def in_budget(self) -> int | None:
        """And the fastest that the budget pays."""
        candidates, budget = self.ranking.candidates, self.ranking.budget_cents
        return self._nearest(
            i for i in candidates.by_days if budget is None or candidates.cents[i] <= budget
        )

    def _nearest(self, builds: Iterable[int]) -> int | None:
        """The first of these that can be ordered; the first of all where none can be."""
        if self.orderable:
            return None
        some, availability = list(builds), self.ranking.candidates.availability
        sold = (i for i in some if availability[i] == "orderable")
        return next(sold, some[0] if some else None)

    @cached_property
    def rent(self) -> tuple[Decimal, int] | None:
        """And the cheapest run on rented GPUs that keeps the limit of days and is over within a
        year, in US dollars; rather in one machine than on several with a GPU each."""
        if self.orderable:
            return None
        candidates, limit = self.ranking.candidates, self.ranking.question.max_days
        longest = YEAR_DAYS if limit is None else min(limit, YEAR_DAYS)
        day, found = candidates.prices.as_of or date.today(), []
        for i, *_ in candidates.configurations.values():
            build, days = candidates.builds[i], candidates.days[i]
            if build.machines > 1 or build.host_owned or days > longest:
                continue  # offers are of one machine
            for offer in rent_offers(self.rentals, build.gpu.gpu_id, build.gpu_count, today=day):
                if offer.kind == "on-demand":
                    usd = rented_usd(offer.price_per_hour_usd, days, Decimal(1))
                    found.append((offer.times > 1, usd, i))
        return min(found)[1:] if found else None

    @cached_property
    def rent_first(self) -> BreakEven | None:
        """What the first row's GPUs cost by the hour, where that is cheaper by far. Of fine-tuning
        and of the user's own program: who trains from scratch asks for a machine."""
        model, row = self.ranking.candidates.model, self.first
        if row is None or not self.orderable or row.build.host_owned:
            return None
        if parted(model.recipe_id)[1] is None and model.own_command is None:
            return None
        even = renting(self.ranking, self.rentals)
        if even is None or even.room < 1:
            return None
        few = even.experiments is not None and even.experiments <= RENT_RUNS
        dear = even.rent_per_experiment_usd >= RENT_SHARE * row.overall_cost_usd
        return None if few or dear else even

    @cached_property
    def more_money(self) -> int | None:
        """The cheapest GPUs on sale over the budget that are faster beyond the doubt."""
        ranking, candidates = self.ranking, self.ranking.candidates
        budget = ranking.budget_cents
        if budget is None or not self.orderable or ranking.question.rule != "days":
            return None
        days, cents = candidates.days, candidates.cents
        tied = [row[0] for row in ranking.table[: ranking.tied_rows]]
        fastest = min(tied, key=days.__getitem__)
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
        if not self.orderable:
            return " ".join([_nothing(self), *_nearest_words(self)])
        return " ".join([f"{self.action}.", *_caveats(self), *_others(self)])

    @property
    def action(self) -> str:
        """``Buy 2 × RTX 5090: Pythia 1B in ≈68 days (60–79), from $15,300 (Kiebel, May 2026)``;
        ``Rent ...`` where that is cheaper by far."""
        ranking, row = self.ranking, self.first
        assert row is not None
        build, mark = row.build, estimate_mark(row.time)
        days = days_of(ranking.candidates, ranking.order[0])
        trains = f"{ranking.candidates.model.name} in {days}"
        trains += over_words(build, ranking.candidates.network)
        limit = ranking.question.max_days
        if self.chance is not None and limit is not None:
            trains += f", {makes_words(self.chance, limit)}"
        if self.rent_first is not None:
            usd = usd_rounded(self.rent_first.rent_per_experiment_usd)
            pays = pays_words(self.rent_first, ranking.question.terms).removeprefix("buying ")
            price = usd_rounded(row.overall_cost_usd)
            rent = f"Rent {rented_words(build)} for ≈{usd} a run"
            return f"{rent}: {trains}. Buying (from {price}) {pays}"
        if ranking.question.rule == "experiment-cost" and row.experiment_cost_usd:
            trains += f", {mark}{usd_rounded(row.experiment_cost_usd)} a run"
        if build.host_owned:
            return f"Use {owned_words(build)}: {trains}"
        bought = f"Buy {gpus_words(build)}"
        if build.gpus_owned:
            bought = f"Add {added_words(build)}"
        source = price_source_words(build, row.gpu_quote, row.host_quote)
        return f"{bought}: {trains}, from {usd_rounded(row.overall_cost_usd)} ({source})"


def renting(ranking: Ranking, rentals: Iterable[Rental]) -> BreakEven | None:
    """The first row's GPUs by the hour against owning them; None where nobody rents them out."""
    i, prices = ranking.order[0], ranking.candidates.prices
    build = ranking.candidates.builds[i]
    if build.machines > 1:
        return None  # offers are of one machine
    day = prices.as_of or date.today()
    offers = rent_offers(rentals, build.gpu.gpu_id, build.gpu_count, today=day)
    offer = next((offer for offer in offers if offer.kind == "on-demand"), None)
    if offer is None:
        return None
    own = ranking.candidates.owning(i, ranking.question.terms)
    return break_even(own, offer, ranking.candidates.days[i])


def days_of(candidates: Candidates, i: int) -> str:
    """``≈79.4 days (50.2–126)``, of a candidate that need not be ranked."""
    return mark_at(candidates, i) + days_and_ends(candidates.days[i], *candidates.interval(i))


def measured_days(ranking: Ranking, i: int) -> float | None:
    """How long a synchronised run was measured to take where a shorter published time counts; None
    elsewhere."""
    best = ranking.candidates.times[i]
    return None if best is None or best.measured is None else best.measured.training_days


def _caveats(found: Verdict) -> list[str]:
    """What speaks against the first row itself, a sentence each."""
    ranking, row = found.ranking, found.first
    assert row is not None
    said = []
    if row.time.verdict == "implausible":
        said.append("But that published time is physically impossible.")
    elif row.time.verdict == "doubtful" and row.time.implied_mfu is not None:
        share = percent(row.time.implied_mfu)
        said.append(f"But that time is doubtful: it would take {share} of the GPUs' peak.")
    if row.time.lab is not None:
        said.append(f"You did not measure it: it comes from {row.time.lab}.")
    slower = measured_days(ranking, ranking.order[0])
    if slower is not None:
        said.append(f"But we measured {counted_days(slower)}.")
    if found.rent_first is not None:
        return said
    said += _with_vat(ranking, row)
    keeps, budget = found.budget_chance, ranking.question.budget_usd
    if keeps is not None and keeps < SURE_ENOUGH and budget is not None:
        said.append(f"Its price may have moved: {keeps_words(keeps, budget)}.")
    terms = ranking.question.terms
    busy = float(terms.lifetime_years * terms.utilisation) * DAYS_PER_YEAR
    if row.training_days > busy and not row.build.host_owned:
        life = f"{terms.lifetime_years:g} years"
        used = "" if terms.utilisation == 1 else f" at {terms.utilisation:.0%} use"
        said.append(f"That is longer than it trains in its {life}{used}.")
    return said


def _with_vat(ranking: Ranking, row: RankedRow) -> list[str]:
    """What it costs with the tax of the country where it is bought, which prices leave out."""
    vat = ranking.candidates.vat
    taxed = any("tax" in (q.includes or "").lower() for q in (row.gpu_quote, row.host_quote))
    if not vat or row.build.host_owned or taxed:
        return []
    usd = row.overall_cost_usd * (1 + vat)
    paid = "" if ranking.budget_cents is None else ", which the budget pays too"
    rate = plain(float(vat) * 100)
    return [f"Prices are before {rate} % VAT{paid}: {usd_rounded(usd)} with it."]


def _others(found: Verdict) -> list[str]:
    """What may be as good, and what more money buys."""
    ranking, candidates = found.ranking, found.ranking.candidates
    rule, builds = ranking.question.rule, candidates.builds
    said = []
    if found.as_good:
        named = [
            f"{gpus_words(builds[i])} (from {usd_rounded(candidates.cents[i] / 100)})"
            for i in found.as_good
        ]
        if len(named) > MOST_NAMED:
            named = [f"{len(named)} other GPU configurations"]
        alike = {"days": "as fast", "cost": "as cheap", "experiment-cost": "as cheap a run"}[rule]
        verb = "is" if len(found.as_good) == 1 else "are"
        said.append(f"{list_words(named)} {verb} {alike} within the doubt.")
    if found.rent_first is not None:
        return said
    if found.more_money is not None:
        i = found.more_money
        said.append(
            f"More money buys more speed from {usd_rounded(candidates.cents[i] / 100)}: "
            f"{gpus_words(builds[i])}, {mark_at(candidates, i)}"
            f"{counted_days(candidates.days[i])}."
        )
    elif not found.as_good:
        looked = looked_at(candidates)
        better = {"days": "faster", "cost": "cheaper", "experiment-cost": "cheaper a run"}[rule]
        said.append(f"Nothing on sale{looked} is {better}.")
    return said


def looked_at(candidates: Candidates) -> str:
    """`` with RTX 4090``, `` with a published time``: where the question left out what may be
    faster or cheaper."""
    what = []
    if candidates.some_gpus:
        names = list(dict.fromkeys(build.gpu.short_name for build in candidates.builds))
        what.append(" or ".join(names) if len(names) <= MOST_NAMED else "these GPUs")
    if candidates.evidence == "published":
        what.append("a published time")
    return f" with {' and '.join(what)}" if what else ""


def _nothing(found: Verdict) -> str:
    """That nothing on sale answers, or why nothing can be ranked at all."""
    candidates = found.ranking.candidates
    if not candidates.rankable:
        return _unrankable(candidates)
    sale = " on sale" if found.first is not None else ""
    start = f"Nothing{sale}{looked_at(candidates)} trains {candidates.model.name}"
    return f"{start}{asked_for(found.ranking)}."


def _nearest_words(found: Verdict) -> list[str]:
    """What comes nearest: of the money, of the days; and what is not sold but would answer."""
    ranking, row = found.ranking, found.first
    candidates, money = ranking.candidates, budget_words(ranking.question)
    limited, said = ranking.question.max_days is not None, []

    def named(i: int) -> str:
        build, gpu, host = candidates.builds[i], candidates.gpu_quotes[i], candidates.host_quotes[i]
        assert gpu is not None and host is not None  # it has a price
        if build.host_owned:
            return f"{owned_words(build)}, {days_of(candidates, i)}"
        source = price_source_words(build, gpu, host)
        price = usd_rounded(candidates.cents[i] / 100)
        words = f"{gpus_words(build)} for {price} ({source}), {days_of(candidates, i)}"
        why = NOT_ON_SALE[candidates.availability[i]]
        return f"{words}; {why}" if why else words

    def sold(i: int) -> str:
        """`` on sale`` where it is, and need be said."""
        buyable = candidates.availability[i] == "orderable"
        return " on sale" if buyable and not candidates.builds[i].host_owned else ""

    def worth(i: int | None) -> bool:
        """Whether to name it: beside what is not sold only what is."""
        return i is not None and (row is None or candidates.availability[i] == "orderable")

    if found.in_budget is not None and limited and worth(found.in_budget):
        start = f"The fastest{sold(found.in_budget)}"
        start += "" if money is None else f" for {money}"
        said.append(f"{start} is {named(found.in_budget)}.")
    same = found.in_time == found.in_budget and limited
    if found.in_time is not None and money is not None and worth(found.in_time) and not same:
        start = f"The cheapest{sold(found.in_time)}{' in time' if limited else ''}"
        said.append(f"{start} is {named(found.in_time)}.")
    if row is not None:
        said.append(f"If a seller is found: {named(ranking.order[0])}.")
    budget = ranking.budget_cents
    if found.rent is not None and (budget is None or found.rent[0] * 100 <= budget):
        usd, i = found.rent
        said.append(
            f"Rented, {rented_words(candidates.builds[i])} does it in "
            f"{days_of(candidates, i)} for {mark_at(candidates, i)}{usd_rounded(usd)}."
        )
    return said


_TELLING: tuple[Reason, ...] = (
    *("no-time", "no-price", "does-not-fit", "implausible-time", "old-price"),
    *("fit-not-known", "cannot-be-built"),
)
"""Of a build with the first of these more is there than of one with the last."""


def _unrankable(candidates: Candidates) -> str:
    """Why no build has both a price and a time: how many lack what, and of one of them why."""
    start = f"No machine can be ranked for {candidates.model.name}"
    if candidates.uncounted is not None:
        return f"{start}: it is no longer counted ({candidates.uncounted.rstrip('.')})."
    gaps = {reason: builds for reason, builds in candidates.gaps.items() if builds}
    if not gaps:
        return f"{start}: none has both a price and a training time."
    counts = [f"{len(builds):,} {REASONS_COUNTED[reason]}" for reason, builds in gaps.items()]
    reason = min(gaps, key=_TELLING.index)
    # A machine that exists says more than a pairing of cards with a strange chassis.
    first = max(gaps[reason], key=lambda i: candidates.builds[i].host.gpu_id is not None)
    why = exclusion_text(candidates, first, reason, Question()).partition("; add yours")[0]
    named = build_words(candidates.builds[first])
    return f"{start}: left out are {', '.join(counts)}. {named}: {why.removeprefix(NO_ESTIMATE)}."
