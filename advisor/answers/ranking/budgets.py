"""A budget in words, in the currency that it was typed in; and the rate that it was converted at
(pure)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from advisor.answers.checklist import Doubt
from advisor.answers.ranking.asked_again import asked_again
from advisor.costs.amounts import day_words, usd_exact, usd_whole
from bench_runner.typed_numbers import plain

if TYPE_CHECKING:
    from advisor.parse import Money
    from advisor.ranking.question import CandidatesKey, Question
    from advisor.ranking.rank import Ranking


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


def rate_words(question: Question) -> str | None:
    """What a budget in another currency was converted at; None for US dollars."""
    money = question.budget_typed
    if money is None or question.budget_usd is None:
        return None
    rate = money.rate
    return (
        f"{_typed_words(money)} are {usd_whole(question.budget_usd)} at {rate.code} 1 = "
        f"${rate.usd_per_unit} on {day_words(rate.on)} ({rate.source})"
    )


def converted(ranking: Ranking, key: CandidatesKey | None) -> Doubt | None:
    """The rate of a budget that was not typed in US dollars."""
    question, words = ranking.question, rate_words(ranking.question)
    if words is None or key is None or question.budget_usd is None:
        return None
    days = None if question.max_days is None else plain(question.max_days, 6)
    usd = f"{question.budget_usd.normalize():f}"
    command = asked_again(ranking, key, budget=usd, days=days)
    words += "; prices are without VAT; with another rate type the US dollars"
    return Doubt(about="rate", words=words, command=command)


def typed_object(question: Question) -> dict[str, Any] | None:
    """A budget in another currency than US dollars, with its rate; None where it was typed in
    those."""
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
