"""What the answer to one prediction says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from advisor.costs.amounts import days_short_grouped

if TYPE_CHECKING:
    from advisor.prediction.predict_one import Prediction


def as_object(answer: Prediction) -> Mapping[str, Any]:
    """The JSON of the command: stable names, numbers as they are."""
    from dataclasses import asdict

    content = asdict(answer)
    content["model"] = content.pop("target")
    return content


def as_lines(answer: Prediction) -> list[str]:
    """The answer in words, one fact a line."""
    from advisor.answers.wording import settings_words

    machine = f"{answer.target} on {answer.gpu_count} x {answer.gpu}"
    lines = [
        f"{machine}: {_days(time.training_days)} days, measured "
        f"{'here' if time.here else 'elsewhere'}"
        + (f" on {time.measured_on}" if time.measured_on else "")
        + (f", with {settings_words(time.settings)}" if time.settings is not None else "")
        for time in answer.measured[:1]
    ]
    if answer.training_days is None:
        lines.append(f"{machine}: {answer.reason}")
    else:
        low, high = answer.training_days_low, answer.training_days_high
        lines += [
            f"{machine}: {_days(answer.training_days)} days, predicted "
            f"(9 in 10 such times lie between {_days(low)} and {_days(high)})",
            f"  with software other than ours 9 in 10 lie between "
            f"{_days(answer.other_software_days_low)} and "
            f"{_days(answer.other_software_days_high)}",
            f"  {answer.reason}",
        ]
    if answer.settings is not None:
        lines.append(f"  fits with: {settings_words(answer.settings)}")
        lines.append(f"  settings that fit: {len(answer.fitting)}")
    if answer.analytic_days is not None:
        lines.append(
            f"  analytic estimate (all FLOPs at the peak, the optimist): "
            f"{_days(answer.analytic_days)} days, which no training reaches"
        )
    if answer.assumptions:
        lines.append(f"  assumed: {'; '.join(answer.assumptions)}")
    if answer.measure is not None:
        lines.append(f"  to be sure: {answer.measure}")
    return lines


def _days(days: float | None) -> str:
    """Three significant digits: more would promise what no prediction holds."""
    return "no data" if days is None else days_short_grouped(days)
