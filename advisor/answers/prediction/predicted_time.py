"""What the answer to one prediction says."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import TYPE_CHECKING, Any

from advisor.answers.checklist import Doubt, doubt_block, doubt_objects
from advisor.answers.wording import PREDICTED_MARK, days_and_ends, settings_words, time_unit
from advisor.costs.amount_words import day_words, days_rounded, minutes_words
from advisor.tables.plain_values import fill
from advisor.tables.text_table import to_table
from bench_runner.typed_numbers import count_words, plain

if TYPE_CHECKING:
    from advisor.prediction.predict_one import Prediction


def first_sentence(answer: Prediction, name: str) -> str:
    """The answer in one sentence that could stand alone; what was measured is quoted first.
    ``name`` is what a person calls the model."""
    if not answer.measured:
        return _predicted(answer, name)
    best = answer.measured[0]
    days = days_and_ends(best.training_days, *best.ends)
    return (
        f"{name} trains on {answer.gpu_count} × {answer.gpu} in {days}, measured {_where(answer)}."
    )


def _predicted(answer: Prediction, name: str) -> str:
    machine = _machine_words(answer)
    days, low, high = answer.training_days, answer.training_days_low, answer.training_days_high
    if days is None or low is None or high is None:
        verb = "is not predicted" if answer.fits else "does not fit"
        return f"{name} {verb} on {machine}: {answer.reason.partition(': ')[2]}."
    one = answer.one_machine_days
    slower = "" if one is None or days < one else " That is no faster than one of the machines."
    return (
        f"{name} trains on {machine} in {PREDICTED_MARK}{days_and_ends(days, low, high)}, "
        f"predicted, not measured.{slower}"
    )


def _machine_words(answer: Prediction) -> str:
    if answer.network is None:
        return f"{answer.gpu_count} × {answer.gpu}{_host_words(answer)}"
    from advisor.ranking.fabric import fabric_words  # late: most ask for one machine

    each = answer.gpu_count // answer.machines
    return (
        f"{answer.machines} machines of {each} × {answer.gpu} with "
        f"{fabric_words(answer.network)} between them"
    )


def _host_words(answer: Prediction) -> str:
    """`` with 107 GiB of host memory``, where it needs more than is assumed of any machine."""
    if answer.host_gib_needed is None or not answer.fits:
        return ""
    from advisor.prediction.physics.columns import GPUS_A_NODE  # late: most need none
    from advisor.prediction.physics.memory import HOST_GIB_A_GPU

    if answer.host_gib_needed <= HOST_GIB_A_GPU:
        return ""
    of_machine = answer.host_gib_needed * min(answer.gpu_count, GPUS_A_NODE)
    each = " for every eight" if answer.gpu_count > GPUS_A_NODE else ""
    return f" with {of_machine:,.0f} GiB of host memory{each}"


def prediction_doubts(answer: Prediction, bench: str, rank: str | None) -> list[Doubt]:
    """What would make it surer; ``bench`` is the command that measures it, ``rank`` the one that
    looks for a machine with these GPUs, where the model has a name to rank it by."""
    if not answer.fits:
        if rank is None:
            return []
        command = rank.partition(" --gpus ")[0]
        return [Doubt(about="machine", words="machines that it fits", command=command)]
    doubts = []
    minutes = minutes_words(answer.bench_minutes)
    if not answer.measured and answer.measure is not None:
        how = f"about {minutes} there would settle it"
        if " --keep " in bench:
            how = "keep the model first, so that it can be measured and ranked"
        words = f"not measured on {_machine_words(answer)}; {how}"
        doubts.append(Doubt(about="time", words=words, command=bench))
    elif answer.measured and not answer.measured[0].here:
        words = f"measured elsewhere; about {minutes} tell what your own machine takes"
        doubts.append(Doubt(about="time", words=words, command=bench))
    if answer.training_days is None:
        return doubts
    if answer.assumptions:
        doubts.append(Doubt(about="assumed", words="; ".join(answer.assumptions), command=""))
    if rank is not None:
        words = "which machine with this GPU to order, at what price"
        doubts.append(Doubt(about="machine", words=words, command=rank))
    return doubts


def as_object(answer: Prediction, name: str, bench: str, rank: str | None) -> Mapping[str, Any]:
    """The JSON of the command: stable names, numbers as they are."""
    from dataclasses import asdict

    content = asdict(answer)
    content["model"] = content.pop("target")
    # What is read first is what the sentence says: the measured time where there is one, as in a
    # ranking. What is predicted beside it keeps its place.
    names = ("training_days", "training_days_low", "training_days_high", "settings")
    content["predicted"] = {name: content[name] for name in names}
    if answer.measured:
        best = content["measured"][0]
        content |= {"basis": "measured", "settings": best["settings"]}
        content["memory_gib"] = best["peak_memory_gib"]
        content |= dict(zip(names, (best["training_days"], *answer.measured[0].ends), strict=False))
    content["verdict"] = {
        "sentence": first_sentence(answer, name),
        "doubts": doubt_objects(prediction_doubts(answer, bench, rank)),
    }
    return content


def as_text(
    answer: Prediction, name: str, bench: str, rank: str | None, *, details: bool, width: int
) -> str:
    """The answer in words: the sentence, the times in a table, what would make it surer; with
    ``details`` what it rests on and the settings."""
    blocks = [fill(first_sentence(answer, name), width)]
    if answer.measured and answer.training_days is None:
        blocks[0] += f"\n{fill(f'It is not predicted: {answer.reason}.', width)}"
    rows = _rows(answer)
    if rows:
        gib, mark = answer.memory_gib, PREDICTED_MARK
        if answer.measured:
            gib, mark = answer.measured[0].peak_memory_gib, ""
        foot = [] if gib is None else [f"Memory of each GPU: {mark}{plain(gib)} GiB."]
        foot += [] if details else ["Settings, and what it rests on: add --details."]
        table = to_table(rows, list(rows[0]), frozenset(list(rows[0])[1:2]), width=width)
        blocks.append(f"{table}\n{' '.join(foot)}".rstrip())
    if details:
        lines = [
            fill(words, width, initial_indent=f"  {label:<10}", subsequent_indent=" " * 12)
            for label, words in _facts(answer)
        ]
        blocks += ["\n".join(lines)] if lines else []
    blocks += doubt_block("To be sure", prediction_doubts(answer, bench, rank), width)
    return "\n\n".join(blocks)


def _rows(answer: Prediction) -> list[dict[str, str]]:
    """The times of a prediction side by side, in the unit of the sentence."""
    rows: list[dict[str, str]] = []
    days = answer.training_days
    unit = time_unit((answer.measured[0].training_days if answer.measured else days) or 0)

    def rounded(days: float) -> str:
        return days_rounded(days * unit.a_day)

    def add(how: str, days: float | None, *ends: float | None, mark: str = PREDICTED_MARK) -> None:
        if days is None:
            return
        low, high = (None if end is None else rounded(end) for end in ends or (None, None))
        held = "-" if low == high else f"{low}–{high}"
        rows.append(
            {"how": how, f"{unit.word}s": f"{mark}{rounded(days)}", "9 in 10 such runs": held}
        )

    if answer.measured:
        best = answer.measured[0]
        add("measured " + _where(answer), best.training_days, *best.ends, mark="")
    ours = "our fastest settings" if answer.method == "optimal" else f"{answer.method} settings"
    ours = ours if answer.software == "ours" else f"{answer.software} software"
    add(f"predicted, with {ours}", days, answer.training_days_low, answer.training_days_high)
    paper = answer.paper_settings_days
    papers = answer.method == "optimal" and answer.software == "ours" and answer.network is None
    if papers and days is not None and (paper is None or days <= 0.99 * paper):
        how = "with the paper's settings"
        ends = answer.paper_settings_days_low, answer.paper_settings_days_high
        if paper is None:
            figures = {f"{unit.word}s": "-", "9 in 10 such runs": "do not fit"}
            rows.append({"how": f"predicted, {how}"} | figures)
        elif ends[0] == ends[1]:  # a search with them was run on these GPUs
            add(f"measured, {how}", paper, mark="")
        else:
            add(f"predicted, {how}", paper, *ends)
    other = answer.other_software_days
    alike = days is not None and other is not None and abs(other / days - 1) < ALIKE
    how = f"predicted, with other software{', which is as fast' if alike else ''}"
    add(how, other, answer.other_software_days_low, answer.other_software_days_high)
    ends = answer.one_machine_days_low, answer.one_machine_days_high
    add("predicted, on one of the machines", answer.one_machine_days, *ends)
    if answer.fits:
        add("the paper's estimate: all FLOPs at the peak", answer.analytic_days, mark="")
    return rows


ALIKE = 0.03
"""Two predictions no further apart than this say the same."""


def _where(answer: Prediction) -> str:
    best = answer.measured[0]
    where = "here" if best.here else "elsewhere"
    if not best.measured_on:
        return where
    return f"{where} on {day_words(date.fromisoformat(best.measured_on))}"


def _facts(answer: Prediction) -> list[tuple[str, str]]:
    """The rest of it, by name: first what was counted, to hold against what one knows."""
    words = f"{count_words(answer.parameters)} parameters"
    if answer.active_parameters < answer.parameters:
        words += f", {count_words(answer.active_parameters)} of them for a token"
    facts = [("model", words)]
    if answer.measured and answer.measured[0].settings is not None:
        facts.append(("measured", f"with {settings_words(answer.measured[0].settings)}"))
    if answer.training_days is not None:
        facts.append(("rests on", answer.reason.removeprefix("not measured: ")))
    if answer.settings is not None:
        facts.append(("settings", settings_words(answer.settings)))
    return facts
