"""A ranking's question in words: its budget, its limits, and the command that asks it again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from advisor.answers.build_words import supply_words
from advisor.answers.checklist import Doubt, quoted
from advisor.answers.wording import RULE_WORDS, counted_days
from advisor.costs.amount_words import day_words, days_exact, usd_exact, usd_whole
from advisor.costs.cost_terms import stated_terms
from bench_runner.typed_numbers import percent, plain

if TYPE_CHECKING:
    from advisor.costs.cost_of_owning import CostTerms
    from advisor.ranking.candidates import Candidates
    from advisor.ranking.question import CandidatesKey, Question
    from advisor.ranking.row_order import Ranking
    from advisor.typed_input import Money


def _typed_words(money: Money) -> str:
    """A budget as it was typed: ``€100,000``, ``CHF 90,000``."""
    sign = {"EUR": "€", "GBP": "£"}.get(money.rate.code, f"{money.rate.code} ")
    return usd_exact(money.amount).replace("$", sign)


def budget_words(question: Question) -> str | None:
    """``$40,000``, ``€100,000 ($114,030)``; None without a budget."""
    if question.budget_usd is None:
        return None
    if question.budget_typed is None:
        return usd_exact(question.budget_usd)
    return f"{_typed_words(question.budget_typed)} ({usd_whole(question.budget_usd)})"


def typed_object(question: Question) -> dict[str, Any] | None:
    """A budget in another currency than US dollars, with its rate; None in US dollars."""
    money = question.budget_typed
    if money is None:
        return None
    rate = money.rate
    return {
        "amount": money.amount,
        "currency": rate.code,
        "usd_per_unit": rate.usd_per_unit,
        "on": rate.on,
        "source": rate.source,
    }


def exchange_rate(ranking: Ranking, key: CandidatesKey | None) -> Doubt | None:
    """The rate of a budget that was not typed in US dollars."""
    question = ranking.question
    money, usd = question.budget_typed, question.budget_usd
    if money is None or usd is None or key is None:
        return None
    rate = money.rate
    words = (
        f"{_typed_words(money)} are {usd_whole(usd)} at {rate.code} 1 = ${rate.usd_per_unit} on "
        f"{day_words(rate.on)} ({rate.source}); prices are without VAT. For another rate, type the "
        "budget in US dollars"
    )
    return Doubt(about="rate", words=words, command=ask_again(ranking, key))


def asked_for(ranking: Ranking, *, budget: bool = True) -> str:
    """`` for $40,000 within 60 days on a 120 V 15 A circuit``; empty where no limit was set.
    Without ``budget`` the rest of it."""
    most, limit = budget_words(ranking.question), ranking.question.max_days
    asked = f" for {most}" if budget and most is not None else ""
    asked += "" if limit is None else f" within {counted_days(limit)}"
    supply = ranking.candidates.supply
    return asked if supply is None else f"{asked} on a {supply_words(supply)} circuit"


def headline(candidates: Candidates, question: Question, prices: str) -> str:
    """The question in one line."""
    words = [candidates.model.name]
    words.append(f"budget {budget_words(question)}" if question.budget_usd else "any budget")
    if question.max_days is not None:
        words.append(f"at most {days_exact(question.max_days)} days")
    words += [RULE_WORDS[question.rule], f"prices {prices}", f"{candidates.evidence} evidence"]
    words += [terms_words(question.terms)]
    if candidates.buy_in is not None:
        words.append(f"bought in {candidates.buy_in}, freight and import not counted")
    if candidates.supply is not None:
        words.append(f"{supply_words(candidates.supply)} circuit")
    if candidates.network is not None:
        from advisor.ranking.fabric import fabric_words  # late: most ask for one machine

        words.append(f"also two machines, {fabric_words(candidates.network)} between them")
    return " · ".join(words)


def terms_words(terms: CostTerms) -> str:
    """What owning is counted with: ``5 years of life at 100 % use, without electricity``."""
    words = f"{terms.lifetime_years:g} years of life at {percent(terms.utilisation)} use, "
    if not terms.electricity_usd_per_kwh:
        return f"{words}without electricity"
    return f"{words}${terms.electricity_usd_per_kwh:g} a kWh at PUE {terms.pue:g}"


def ask_again(ranking: Ranking, key: CandidatesKey, **changed: str | None) -> str:
    """The command that asks the question again, with another ``budget`` or limit of ``days``."""
    question = ranking.question
    usd, limit = question.budget_usd, question.max_days
    asked = {
        "budget": None if usd is None else f"{usd.normalize():f}",
        "days": None if limit is None else plain(limit, 6),
        **changed,
    }
    command = f"advisor rank --model {quoted(ranking.candidates.model.recipe_id)}"
    command += "" if asked["budget"] is None else f" --budget {asked['budget']}"
    command += "" if asked["days"] is None else f" --max-days {asked['days']}"
    command += "" if question.rule == "days" else f" --by {question.rule}"
    command += stated_terms(question.terms)
    if key.gpu_ids is not None:
        command += f" --gpus {quoted(','.join(sorted(key.gpu_ids)))}"
    if key.software != "ours":
        command += f" --software {key.software}"
    if key.buy_in is not None:
        command += f" --buy-in {key.buy_in}"
    if key.supply is not None:
        command += f" --circuit {key.supply.volts}V/{key.supply.breaker_a}A"
    if key.network is not None:
        command += f" --nodes 2 --fabric {key.network}"
    return command + prices_and_evidence(key)


def prices_and_evidence(key: CandidatesKey) -> str:
    """The flags of the prices and the evidence, where they are not the usual ones."""
    words = "" if key.prices == "latest" else f" --prices {key.prices}"
    return words if key.evidence == "sound" else f"{words} --evidence {key.evidence}"
