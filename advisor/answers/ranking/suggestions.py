"""What helps where no build answers a ranking's question, each with the command that shows it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING

from advisor.answers.build_words import (
    added_words,
    in_machine,
    owned_words,
    rented_words,
    short_gpus_words,
)
from advisor.answers.checklist import Doubt, quoted
from advisor.answers.ranking.on_sale import days_of, sold_first
from advisor.answers.ranking.question_words import ask_again, exchange_rate, prices_and_evidence
from advisor.costs.amounts import usd_rounded
from advisor.costs.price_book import add_command
from advisor.costs.rental import rent_offers, rented_usd
from advisor.ranking.exclusion_reasons import all_lack_bf16
from advisor.ranking.rank import Ranking

if TYPE_CHECKING:
    from advisor.ranking.question import CandidatesKey
    from price_catalog.model import Rental

TITLE = "What would help"
YEAR_DAYS = 366.0
"""Nobody rents a machine for longer than a year to train one model."""


def suggestions(ranking: Ranking, rentals: Iterable[Rental], key: CandidatesKey) -> list[Doubt]:
    """A price, more money, more days, renting, or two machines; [] where a build answers."""
    if len(ranking):
        return []
    candidates, question = ranking.candidates, ranking.question
    budget, limit, cents = question.budget_usd, question.max_days, candidates.cents
    found = []
    in_time = enough_fast(ranking)
    if not candidates.rankable and key.evidence == "published":
        words = "with sound evidence, times that were not published are estimated"
        sound = key._replace(evidence="sound")
        command = ask_again(ranking, sound)
        found.append(Doubt(about="evidence", words=words, command=command))
    if not candidates.rankable and key.evidence == "sound":
        found += _to_be_timed(ranking, key)
    if not candidates.rankable and "no-price" in candidates.gap and isinstance(key.prices, date):
        latest = key._replace(prices="latest")
        command = ask_again(ranking, latest)
        found.append(Doubt(about="price", words="with the prices of today", command=command))
    elif not candidates.rankable and "no-price" in candidates.gap:
        i = candidates.gap.index("no-price")
        build = candidates.builds[i]
        what, item = candidates.unpriced(i)
        words = f"a quote for {build.gpu.name if what == 'GPU' else build.host.name} ranks it"
        command = add_command(quoted(item), date.today())
        found.append(Doubt(about="price", words=words, command=command))
    if in_time is not None and budget is not None and cents[in_time] > budget * 100:
        usd = f"{math.ceil(cents[in_time] / 100)}"
        command = ask_again(ranking, key, budget=usd)
        found.append(Doubt(about="budget", words=_buys(ranking, in_time), command=command))
    inside = [i for i in candidates.by_days if budget is None or cents[i] <= budget * 100]
    if inside and limit is not None:
        i, unsold = sold_first(candidates, inside)
        build = candidates.builds[i]
        machine = f"{short_gpus_words(build)} {in_machine(build)}"
        machine = owned_words(build) if build.host_owned else machine
        words = f"{days_of(candidates, i)} on {machine}{unsold}"
        days = f"{math.ceil(candidates.days[i])}"
        command = ask_again(ranking, key, days=days)
        found.append(Doubt(about="days", words=words, command=command))
    if not (found or candidates.rankable) and key.gpu_ids is not None:
        every = key._replace(gpu_ids=None)
        command = ask_again(ranking, every)
        found.append(Doubt(about="gpus", words="machines with other GPUs", command=command))
    if in_time is None and not inside and candidates.rankable:
        # More money alone does not help, nor do more days: the cheapest that trains it at all.
        i, _ = sold_first(candidates, candidates.order("cost"))
        words = f"without a limit of days, {_buys(ranking, i)}"
        command = ask_again(ranking, key, budget=f"{math.ceil(cents[i] / 100)}", days=None)
        found.append(Doubt(about="budget", words=words, command=command))
    if (rate := exchange_rate(ranking, key)) is not None:
        found.append(rate)
    if (rent := _rent(ranking, rentals, key)) is not None:
        found.append(rent)
    most = 0.0 if limit is None else 2 * limit
    if in_time is None and key.network is None and inside and candidates.days[inside[0]] <= most:
        words = "no one machine is fast enough: two of a kind may be"
        command = ask_again(ranking, key)
        command += " --nodes 2 --fabric infiniband-ndr"
        found.append(Doubt(about="two", words=words, command=command))
    return found


def _buys(ranking: Ranking, i: int) -> str:
    """``$9,870 buys 1 × RTX 5090 in the Puget workstation: ≈331 days (289–379)``."""
    candidates = ranking.candidates
    build, price = candidates.builds[i], Decimal(candidates.cents[i]) / 100
    verb = "buys" if candidates.offered[i] else "was asked once for"
    bought = added_words(build) if build.gpus_owned else short_gpus_words(build)
    return f"{usd_rounded(price)} {verb} {bought} {in_machine(build)}: {days_of(candidates, i)}"


def _to_be_timed(ranking: Ranking, key: CandidatesKey) -> list[Doubt]:
    """What gives a model times that has none."""
    candidates = ranking.candidates
    name = candidates.model.recipe_id
    if candidates.uncounted is not None:
        words = "keep it again from its file"
        command = f"advisor predict --model FILE --keep {quoted(name)} --force"
        return [Doubt(about="model", words=words, command=command)]
    if not all_lack_bf16(candidates):
        return []
    found = []
    if not candidates.model.is_mixture:  # whose experts are not predicted in fp16
        half = f"{name}-fp16"
        keep = f"advisor predict --model {quoted(name)} --precision fp16 --keep {quoted(half)}"
        words = f"kept in fp16, as {half}, it is ranked on them"
        found.append(Doubt(about="precision", words=words, command=keep))
    if key.gpu_ids is not None:
        all_gpus = key._replace(gpu_ids=None)
        command = ask_again(ranking, all_gpus)
        found.append(Doubt(about="gpus", words="newer GPUs have bf16 cores", command=command))
    return found


def enough_fast(ranking: Ranking) -> int | None:
    """The cheapest that keeps the limit of days, whatever it costs; rather one that is sold."""
    candidates, limit = ranking.candidates, ranking.question.max_days
    cheapest = candidates.order("cost")
    in_time = [i for i in cheapest if limit is None or candidates.days[i] <= limit]
    return sold_first(candidates, in_time)[0] if in_time else None


def _rent(ranking: Ranking, rentals: Iterable[Rental], key: CandidatesKey) -> Doubt | None:
    """The cheapest run on rented GPUs that keeps the limit of days, and is over within a year;
    rather in one machine than on several with a GPU each."""
    candidates, limit = ranking.candidates, ranking.question.max_days
    longest = YEAR_DAYS if limit is None else min(limit, YEAR_DAYS)
    day = key.prices if isinstance(key.prices, date) else date.today()
    known, found, seen = tuple(rentals), [], set()
    for i in candidates.by_cost:
        build = candidates.builds[i]
        # Offers are of one machine; one time stands for all machines with the same GPUs.
        if build.machines > 1 or build.cards in seen or candidates.days[i] > longest:
            continue
        seen.add(build.cards)
        offers = rent_offers(known, build.gpu.gpu_id, build.gpu_count, today=day)
        for offer in offers:
            if offer.kind == "on-demand":
                usd = rented_usd(offer.price_per_hour_usd, candidates.days[i], Decimal(1))
                found.append((offer.times > 1, usd, i))
    if not found:
        return None
    _, usd, i = min(found)
    build = candidates.builds[i]
    words = f"a run costs ≈{usd_rounded(usd)} on {rented_words(build)}, rented for "
    words += days_of(candidates, i)
    budget = ranking.question.budget_usd
    if budget is not None and usd > budget:
        words += ": over the budget too"
    command = f"advisor prices rent --model {quoted(candidates.model.recipe_id)} "
    command += f"--gpu {quoted(build.gpu.gpu_id)} --count {build.gpu_count}"
    command += prices_and_evidence(key)
    return Doubt(about="rent", words=words, command=command)
