"""What the answer to one prediction says."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import fill
from typing import TYPE_CHECKING, Any

from advisor.answers.before import WIDTH, Doubt, doubt_block, doubt_objects
from advisor.answers.wording import PREDICTED_MARK, counted_days, settings_words
from advisor.costs.amounts import days_rounded

if TYPE_CHECKING:
    from advisor.prediction.predict_one import Prediction


def first_sentence(answer: Prediction, name: str) -> str:
    """The answer in one sentence that could stand alone; what was measured is quoted first.
    ``name`` is what a person calls the model."""
    if not answer.measured:
        return _predicted(answer, name)
    best = answer.measured[0]
    when = f" on {best.measured_on}" if best.measured_on else ""
    return (
        f"{name} trains on {answer.gpu_count} × {answer.gpu} in "
        f"{counted_days(best.training_days)}, measured {'here' if best.here else 'elsewhere'}"
        f"{when}."
    )


def _predicted(answer: Prediction, name: str) -> str:
    machine = _machine_words(answer)
    days, low, high = answer.training_days, answer.training_days_low, answer.training_days_high
    if days is None or low is None or high is None:
        return f"{name} on {machine}: {answer.reason}."
    one = answer.one_machine_days
    slower = "" if one is None or days < one else " That is no faster than one of the machines."
    return (
        f"{name} trains on {machine} in {PREDICTED_MARK}{counted_days(days)} "
        f"({days_rounded(low)}–{days_rounded(high)}): predicted, not measured, with 9 in 10 such "
        f"runs inside the interval.{slower}"
    )


def _machine_words(answer: Prediction) -> str:
    if answer.network is None:
        return f"{answer.gpu_count} × {answer.gpu}"
    from advisor.ranking.fabric import fabric_words  # late: most ask for one machine

    each = answer.gpu_count // answer.machines
    return (
        f"{answer.machines} machines of {each} × {answer.gpu} with "
        f"{fabric_words(answer.network)} between them"
    )


def _beside(answer: Prediction) -> str:
    """The prediction beside what was measured."""
    days, low, high = answer.training_days, answer.training_days_low, answer.training_days_high
    if days is None or low is None or high is None:
        return f"It is not predicted: {answer.reason}."
    ends = f"{days_rounded(low)}–{days_rounded(high)}"
    return (
        f"Beside it, predicted: {PREDICTED_MARK}{counted_days(days)} ({ends}, 9 in 10 such runs)."
    )


def _paper_words(answer: Prediction) -> str:
    """What the paper's settings would take, where ours take less."""
    paper, days = answer.paper_settings_days, answer.training_days
    low, high = answer.paper_settings_days_low, answer.paper_settings_days_high
    if answer.method != "optimal" or days is None or answer.network is not None:
        return ""
    if paper is None or low is None or high is None:
        return "does not fit with the paper's settings, only with those that we write out"
    if days > 0.99 * paper:
        return ""
    ends = f"{days_rounded(low)}–{days_rounded(high)}"
    return (
        f"{PREDICTED_MARK}{counted_days(paper)} ({ends}) with the paper's settings; "
        f"{PREDICTED_MARK}{counted_days(days)} with those that we write out"
    )


def prediction_doubts(answer: Prediction, bench: str) -> list[Doubt]:
    """What would make it surer; ``bench`` is the command that measures it."""
    if not answer.fits:
        return []
    if answer.measured and answer.measured[0].here:
        return []
    if answer.measured:
        words = "measured elsewhere; 10 minutes tell what your own machine takes"
        return [Doubt(about="time", words=words, command=bench)]
    words = f"nobody measured it on {_machine_words(answer)}; 10 minutes there settle it"
    return [Doubt(about="time", words=words, command=bench)]


def as_object(answer: Prediction, bench: str, name: str) -> Mapping[str, Any]:
    """The JSON of the command: stable names, numbers as they are."""
    from dataclasses import asdict

    content = asdict(answer)
    content["model"] = content.pop("target")
    content["verdict"] = {
        "sentence": first_sentence(answer, name),
        "doubts": doubt_objects(prediction_doubts(answer, bench)),
    }
    return content


def as_text(answer: Prediction, bench: str, name: str, width: int = WIDTH) -> str:
    """The answer in words: the sentence, what it rests on, what would make it surer."""
    facts = []
    if answer.measured and answer.measured[0].settings is not None:
        facts.append(("measured", f"with {settings_words(answer.measured[0].settings)}"))
    if answer.training_days is not None:
        facts.append(("rests on", answer.reason.removeprefix("not measured: ")))
        if words := _paper_words(answer):
            facts.append(("paper", words))
        ends = answer.other_software_days_low, answer.other_software_days_high
        if ends[0] is not None and ends[1] is not None:
            other = f"{days_rounded(ends[0])}–{days_rounded(ends[1])} days with software not ours"
            facts.append(("elsewhere", other))
    if answer.one_machine_days is not None:
        alone = f"{PREDICTED_MARK}{counted_days(answer.one_machine_days)} on one of the machines"
        facts.append(("alone", alone))
    if answer.settings is not None:
        best = settings_words(answer.settings)
        if answer.fitting:
            best += f"; the fastest of {len(answer.fitting)} that fit"
        facts.append(("settings", best))
    if answer.analytic_days is not None:
        least = counted_days(answer.analytic_days)
        facts.append(("at best", f"{least} with all FLOPs at the peak: the optimist's figure"))
    if answer.assumptions:
        facts.append(("assumed", "; ".join(answer.assumptions)))
    blocks = [fill(first_sentence(answer, name), width)]
    if answer.measured:
        blocks[0] += f"\n{fill(_beside(answer), width)}"
    lines = [
        fill(words, width, initial_indent=f"  {label:<10}", subsequent_indent=" " * 12)
        for label, words in facts
    ]
    blocks += ["\n".join(lines)] if lines else []
    blocks += doubt_block("To be sure", prediction_doubts(answer, bench), width)
    return "\n\n".join(blocks)
