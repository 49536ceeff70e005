"""A ranking's question in words: its budget, its limits, and the command that asks it again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.answers.build_words import supply_words
from advisor.answers.checklist import Doubt, quoted
from advisor.answers.wording import RULE_WORDS, counted_days, list_words
from advisor.costs.amount_words import day_words, days_exact, usd_exact, usd_whole
from advisor.costs.cost_terms import stated_terms
from bench_runner.typed_numbers import percent, plain

if TYPE_CHECKING:
    from advisor.costs.cost_of_owning import CostTerms
    from advisor.ranking.question import CandidatesKey, Question
    from advisor.ranking.row_order import Ranking


def _typed_words(question: Question) -> str:
    """A budget as it was typed: ``$40,000``, ``€100,000``, ``CHF 90,000``."""
    usd, money = question.budget_usd, question.budget_typed
    assert usd is not None
    if money is None:
        return usd_exact(usd)
    sign = {"EUR": "€", "GBP": "£"}.get(money.rate.code, f"{money.rate.code} ")
    return usd_exact(money.amount).replace("$", sign)


def budget_words(question: Question) -> str:
    """``$40,000``; one of another currency with what it is in dollars: ``£60,000 ($81,390)``."""
    words, usd = _typed_words(question), question.budget_usd
    return words if usd is None or question.budget_typed is None else f"{words} ({usd_whole(usd)})"


def exchange_rate(ranking: Ranking, key: CandidatesKey) -> Doubt | None:
    """The rate of a budget that was not typed in US dollars."""
    money, usd = ranking.question.budget_typed, ranking.question.budget_usd
    if money is None or usd is None:
        return None
    rate = money.rate
    words = (
        f"{_typed_words(ranking.question)} are {usd_whole(usd)} at {rate.code} 1 = "
        f"${rate.usd_per_unit} on {day_words(rate.on)} ({rate.source}); for another rate, type "
        "the budget in US dollars"
    )
    words += "" if ranking.candidates.vat else "; prices are before VAT: --buy-in counts it"
    return Doubt("rate", words, ask_again(ranking, key))


def asked_for(ranking: Ranking) -> str:
    """`` for $40,000 within 60 days on a 120 V 15 A circuit``; empty where no limit was set."""
    question, supply = ranking.question, ranking.candidates.supply
    asked = "" if question.budget_usd is None else f" for {budget_words(question)}"
    asked += "" if question.max_days is None else f" within {counted_days(question.max_days)}"
    return asked if supply is None else f"{asked} on a {supply_words(supply)} circuit"


def headline(ranking: Ranking, prices: str) -> str:
    """The question in one line."""
    candidates, question = ranking.candidates, ranking.question
    words = [candidates.model.name]
    words.append(
        "any budget" if question.budget_usd is None else f"budget {_typed_words(question)}"
    )
    if question.max_days is not None:
        words.append(f"at most {days_exact(question.max_days)} days")
    words += [RULE_WORDS[question.rule], f"prices {prices}", f"{candidates.evidence} evidence"]
    words.append(terms_words(question.terms))
    if candidates.buy_in is not None:
        words.append(f"bought in {candidates.buy_in}, freight and import not counted")
    if candidates.supply is not None:
        words.append(f"{supply_words(candidates.supply)} circuit")
    if candidates.network is not None:
        from advisor.ranking.fabric import fabric_words  # late: most ask for one machine

        words.append(f"also two machines, {fabric_words(candidates.network)} between them")
    return " · ".join(words)


def terms_words(terms: CostTerms) -> str:
    """What owning is counted with: ``5 years at 100 % use, without electricity``."""
    words = f"{terms.lifetime_years:g} years at {percent(terms.utilisation)} use, "
    if terms.electricity_usd_per_kwh:
        words += f"${terms.electricity_usd_per_kwh:g} a kWh at PUE {terms.pue:g}"
    else:
        words += "without electricity"
    rest = [name for name, value in _BESIDE.items() if getattr(terms, value)]
    return f"{words}, with {list_words(rest)}" if rest else words


_BESIDE = {
    "hosting": "hosting_usd_per_u_month",
    "staff": "staff_usd_per_year",
    "resale": "resale_share",
    "a loan": "financing_rate",
}


def ask_again(ranking: Ranking, key: CandidatesKey, **changed: str | None) -> str:
    """The command that asks the question again, with another ``budget`` or limit of ``days``."""
    question = ranking.question
    usd, limit, supply = question.budget_usd, question.max_days, key.supply
    asked = {
        "budget": None if usd is None else f"{usd.normalize():f}",
        "days": None if limit is None else plain(limit, 6),
        **changed,
    }
    command = f"advisor rank --model {quoted(ranking.candidates.model.recipe_id)}"
    command += flags(
        budget=asked["budget"],
        max_days=asked["days"],
        by=None if question.rule == "days" else question.rule,
    )
    command += stated_terms(question.terms)
    command += flags(
        gpus=None if key.gpu_ids is None else quoted(",".join(sorted(key.gpu_ids))),
        software=None if key.software == "ours" else key.software,
        buy_in=key.buy_in,
        circuit=None if supply is None else f"{supply.volts}V/{supply.breaker_a}A",
        nodes=None if key.network is None else "2",
        fabric=key.network,
    )
    return command + prices_and_evidence(key)


def prices_and_evidence(key: CandidatesKey) -> str:
    """The flags of the prices and the evidence, where they are not the usual ones."""
    return flags(
        prices=None if key.prices == "latest" else f"{key.prices}",
        evidence=None if key.evidence == "sound" else key.evidence,
    )


def flags(**values: object) -> str:
    """`` --rack-units 8`` of each value that is not None."""
    return "".join(
        f" --{name.replace('_', '-')} {value}"
        for name, value in values.items()
        if value is not None
    )
