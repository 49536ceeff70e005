"""Everything there is to say about a ranking, in order: the text of `rank --details` (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date

from advisor.answers.build_words import gpus_words, machine_words, short_gpus_words
from advisor.answers.checklist import Doubt, command_lines, doubt_block, of_typed_store
from advisor.answers.gpu_count_notes import faster_than_linear, faster_words, key_of, uneven_notes
from advisor.answers.price_facts import prices_told, told_words
from advisor.answers.ranking.confidence import limit_lines, measure_line, sure_line
from advisor.answers.ranking.price_doubt import price_range_lines
from advisor.answers.ranking.question_words import headline
from advisor.answers.ranking.rank_exports import published_note
from advisor.answers.ranking.verdict import chance_of, days_words, verdict
from advisor.answers.wording import (
    OUTLET,
    REASONS_COUNTED,
    count_words,
    days_and_interval,
    estimate_mark,
    percent_words,
    price_note,
    rank_words,
    rests_on_words,
    settings_words,
    source_title,
    trust_words,
)
from advisor.costs.amounts import usd_rounded, usd_whole
from advisor.costs.price_book import RULE_WORDS as PRICE_RULE_WORDS
from advisor.ranking.rank import ExcludedRow, RankedRow, Ranking
from advisor.ranking.times import Model
from advisor.tables.plain_values import fill
from advisor.tables.text_table import to_table
from price_catalog.builds import Build
from price_catalog.model import Source
from price_catalog.power import Supply, supply_obstacle


def ranking_text(
    answer: Ranking,
    at_face_value: Ranking,
    prices: str,
    sources: Iterable[Source],
    supply: Supply | None,
    doubts: tuple[str, Sequence[Doubt]],
    *,
    width: int,
) -> str:
    """The whole answer for a person: the builds, what is open, what is left out, the sources.

    Everything is as wide as the terminal.
    """
    blocks = [
        fill(verdict(answer).sentence, width),
        fill(headline(answer.candidates, answer.question, prices), width),
    ]
    rows = answer.rows()
    if rows:
        blocks.append("\n".join(_row_lines(answer, rows, width)))
        lifetime = answer.question.lifetime_years
        meanings = [
            "≈ estimated, not measured. In brackets: what 9 in 10 runs take.",
            "* on the Pareto front: no other build here is both cheaper and faster.",
            "= too close to first place to call: the doubt is larger than the difference.",
            f"A run costs the price × days / ({lifetime:g} years × 365).",
            "MFU: the share of the GPUs' peak that the time implies.",
        ]
        if any(row.time.timing == "unsynchronised" for row in rows):
            meanings.append(
                "Unsynchronised: timed without waiting for the GPU, so possibly too low."
            )
        blocks.append("\n".join(fill(line, width, subsequent_indent="  ") for line in meanings))
    sure = [sure_line(answer), measure_line(answer), *limit_lines(answer)]
    if any(sure):
        blocks += _listed("What the times leave open:", [x for x in sure if x], width)
    counts = count_words(len(answer), len(answer.candidates.builds), answer.excluded_counts)
    blocks.append(fill(counts, width))
    blocks += doubt_block(*doubts, width)
    blocks += _grounds(answer.candidates.model, rows, width)
    if prices != "paper":
        blocks.append(fill(f"Which price counts: {PRICE_RULE_WORDS}", width))
    if supply is None:
        blocks += [fill(line, width) for line in _over_an_outlet(row.build for row in rows)]
    blocks += _told(rows, width)
    blocks += _listed("What the prices leave open:", price_range_lines(answer), width)
    note = published_note(answer, at_face_value)
    if note:
        blocks.append(fill(note, width))
    blocks += _left_out(answer, width)
    used = {row.time.source_id for row in rows} | {row.gpu_quote.source_id for row in rows}
    used |= {row.host_quote.source_id for row in rows}
    for source in sources:
        if source.source_id in used:
            where = f", {source.url}" if source.url else ""
            said = f"{source_title(source)}{where}. {source.how_measured}"
            blocks.append(fill(said, width, break_long_words=False))
    return "\n\n".join(blocks)


def _listed(title: str, lines: Iterable[str], width: int) -> list[str]:
    """Lines under a title as one block, each indented; [] where there are none."""
    filled = []
    for line in lines:
        words, named, command = line.partition("advisor ")
        indents = {"initial_indent": "  ", "subsequent_indent": "    "}
        filled.append(fill(words, width, **indents))
        if named:  # a command has a line of its own, so that it can be copied
            filled += command_lines(of_typed_store(named + command), 4, width)
    return ["\n".join([title, *filled])] if filled else []


MOST_NAMED = 6


def _over_an_outlet(builds: Iterable[Build]) -> list[str]:
    """Which builds an ordinary outlet does not carry, in one sentence; [] where it carries all."""
    heavy = [gpus_words(build) for build in builds if supply_obstacle(build, OUTLET) is not None]
    if not heavy:
        return []
    named = list(dict.fromkeys(heavy))
    more = f" and {len(named) - MOST_NAMED} more" if len(named) > MOST_NAMED else ""
    return [
        f"More than an outlet of {OUTLET.volts} V and {OUTLET.breaker_a} A carries for hours "
        f"({OUTLET.watts:,.0f} W): {', '.join(named[:MOST_NAMED])}{more}. State the lab's circuit "
        "with --circuit, as in 208V/30A, and what it does not carry is left out."
    ]


def _grounds(model: Model, rows: Sequence[RankedRow], width: int) -> list[str]:
    """What each time rests on, once for each number of one GPU that takes as long."""
    faster = faster_than_linear(rows)

    def line(row: RankedRow) -> str:
        fewer = faster.get(key_of(row))
        words = f"{gpus_words(row.build)}: {days_words(row)}; {rests_on_words(row.time)}; with "
        words += settings_words(row.time.settings)
        words = "; ".join([words, *uneven_notes(model, [row.build])])
        return words if fewer is None else f"{words}; {faster_words(row.build.gpu_count, fewer)}"

    lines = dict.fromkeys(map(line, rows))
    return _listed("What the times rest on, and the settings:", lines, width)


def _told(rows: Iterable[RankedRow], width: int) -> list[str]:
    """Each price of what ranks once: what was chosen, its age, and what others as good ask."""
    today = date.today()
    told = (told for row in rows for told in prices_told(row, today))
    lines = dict.fromkeys(f"{each.item}: {told_words(each, today)}" for each in told)
    return _listed("Prices, each with others as good:", lines, width)


def _row_lines(answer: Ranking, rows: Sequence[RankedRow], width: int) -> list[str]:
    """Two lines a build: its name, and below it the figures in columns; in a terminal that is too
    narrow for those, the figures one after the other."""
    today = date.today()
    figures = [
        {
            "price": usd_whole(row.overall_cost_usd),
            "days": estimate_mark(row.time) + days_and_interval(row),
            **_chance(answer, row),
            "a run": estimate_mark(row.time) + usd_rounded(row.experiment_cost_usd),
            "time": trust_words(row.time).removeprefix("predicted, "),
            "prices of": price_note(row, today),
        }
        for row in rows
    ]
    indent = " " * 5
    heading, *lines = to_table(figures, list(figures[0])).splitlines()
    if max(map(len, (heading, *lines))) + len(indent) <= width:
        told = [f"{indent}{line}" for line in lines]
        found = [f"{indent}{heading}"]
    else:
        told = [
            fill(
                f"{each['price']} · {each['days']} days · "
                + (f"chance {each['chance']} · " if "chance" in each else "")
                + f"{each['a run']} a run · {each['time']} · prices of {each['prices of']}",
                width,
                initial_indent=indent,
                subsequent_indent=indent,
            )
            for each in figures
        ]
        found = []
    for row, line in zip(rows, told, strict=True):
        front = "*" if row.on_pareto_front else ""
        name = f"{short_gpus_words(row.build)}, {machine_words(row.build)}"
        start = f"{rank_words(row)}{front}".ljust(len(indent))
        found += fill(name, width, initial_indent=start, subsequent_indent=indent).splitlines()
        found.append(line)
    return found


def _chance(answer: Ranking, row: RankedRow) -> dict[str, str]:
    """That the build keeps the limit of days, where one was asked for."""
    chance = chance_of(answer, row)
    return {} if chance is None else {"chance": percent_words(chance)}


def _left_out(answer: Ranking, width: int) -> list[str]:
    """Every left-out build, one block a reason; then the published times that were replaced."""
    by_reason: dict[str, list[ExcludedRow]] = {}
    for row in answer.excluded():
        by_reason.setdefault(row.reason, []).append(row)
    blocks = []
    for reason, rows in by_reason.items():
        title = f"Left out, {len(rows):,} {REASONS_COUNTED[reason]}:"
        blocks += _listed(title, _grouped(rows), width)
    title = "Published times that are impossible:"
    return blocks + _listed(title, _grouped(answer.refused), width)


def _grouped(left: Iterable[ExcludedRow]) -> list[str]:
    """Left-out builds, each with why; those of one reason, or that differ only in the number of
    GPUs or in a machine that nothing is told of, share a line."""
    builds: dict[str, dict[str, list[int]]] = {}
    for row in left:
        host = row.build.host
        named = host.gpu_id is not None or host.is_own_quote
        name = row.build.gpu.name + (f" ({host.label})" if named else "")
        builds.setdefault(row.detail, {}).setdefault(name, []).append(row.build.gpu_count)
    lines = []
    for detail, names in builds.items():
        words = [
            f"{', '.join(map(str, sorted(set(numbers))))} × {gpu}"
            + (f" in {len(numbers)} machines" if len(numbers) > len(set(numbers)) else "")
            for gpu, numbers in names.items()
        ]
        first, then = "; ".join(words), detail
        if len(words) > 1 and "advisor " not in detail:  # a command ends a line
            first, then = then, first
        lines.append(f"{first}: {then}")
    return lines
