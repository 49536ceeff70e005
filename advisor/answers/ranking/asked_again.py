"""A ranking's question as it is typed, with what differs (pure)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.answers.checklist import quoted

if TYPE_CHECKING:
    from advisor.ranking.question import CandidatesKey
    from advisor.ranking.rank import Ranking


def asked_again(
    ranking: Ranking, key: CandidatesKey, *, budget: str | None, days: str | None
) -> str:
    """The question with another budget or limit, as it is typed."""
    question = ranking.question
    command = f"advisor rank --model {quoted(ranking.candidates.model.recipe_id)}"
    command += "" if budget is None else f" --budget {budget}"
    command += "" if days is None else f" --max-days {days}"
    command += "" if question.rule == "days" else f" --by {question.rule}"
    life = question.lifetime_years
    command += "" if life == 5 else f" --lifetime-years {life:g}"
    if key.gpu_ids is not None:
        command += f" --gpus {quoted(','.join(sorted(key.gpu_ids)))}"
    if key.supply is not None:
        command += f" --circuit {key.supply.volts}V/{key.supply.breaker_a}A"
    if key.network is not None:
        command += f" --nodes 2 --fabric {key.network}"
    return command + prices_and_evidence(key)


def prices_and_evidence(key: CandidatesKey) -> str:
    """Which prices and which evidence, where they are not the usual."""
    words = "" if key.prices == "latest" else f" --prices {key.prices}"
    return words if key.evidence == "sound" else f"{words} --evidence {key.evidence}"
