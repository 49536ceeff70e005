"""Everything there is to say about a ranking, in order: the text of `rank --details` (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date

from advisor.answers.build_words import gpus_words, machine_words
from advisor.answers.checklist import command_lines, doubt_block, of_typed_store
from advisor.answers.gpu_count_notes import faster_than_linear, faster_words, key_of, uneven_notes
from advisor.answers.price_facts import told_words
from advisor.answers.ranking.before_you_order import steps_of, steps_title
from advisor.answers.ranking.question_words import headline
from advisor.answers.ranking.rank_answer import NOT_SOLD, table_lines
from advisor.answers.ranking.verdict import SURE_ENOUGH, days_of, verdict
from advisor.answers.wording import (
    REASONS_COUNTED,
    chance_words,
    count_words,
    is_own_price,
    price_marks,
    price_source_words,
    rank_words,
    rests_on_words,
    settings_words,
    source_title,
    trust_words,
)
from advisor.costs.amount_words import usd_whole
from advisor.costs.price_book import RULE_WORDS as PRICE_RULE_WORDS
from advisor.ranking.question import CandidatesKey
from advisor.ranking.rank import ExcludedRow, RankedRow, Ranking
from advisor.ranking.times import Model
from advisor.tables.plain_values import fill
from advisor.tables.text_table import to_table
from price_catalog.model import OWN_QUOTE, Rental, Source


def ranking_text(
    answer: Ranking,
    rentals: Sequence[Rental],
    key: CandidatesKey,
    sources: Iterable[Source],
    *,
    width: int,
) -> str:
    """The whole answer for a person: rows, offers, what to do, what is left out, the sources."""
    candidates, rows = answer.candidates, answer.rows()
    blocks = [
        fill(verdict(answer, rentals).sentence, width),
        fill(headline(candidates, answer.question, str(key.prices)), width),
    ]
    if rows:
        blocks.append("\n".join(table_lines(answer, range(len(answer.table)), width)))
        meanings = [
            f"Order: {answer.order_words}.",
            "≈ estimated, not measured. The bars hold 9 in 10 runs.",
            "* on the Pareto front: no other offer here is both cheaper and faster.",
            "MFU: the share of the GPUs' peak that the time implies.",
        ]
        if any(row.time.timing == "unsynchronised" for row in rows):
            meanings.append(
                "Unsynchronised: timed without waiting for the GPU, so possibly too low."
            )
        blocks.append("\n".join(fill(line, width, subsequent_indent="  ") for line in meanings))
        blocks.append(_offers(answer, width))
    blocks += _listed("May keep the limit, though left out as too slow:", _perhaps(answer), width)
    counts = count_words(len(answer), len(candidates.builds), answer.excluded_counts)
    blocks.append(fill(counts, width))
    blocks += doubt_block(steps_title(answer), steps_of(answer, rentals, key), width)
    blocks += _grounds(candidates.model, rows, width)
    if key.prices != "paper":
        blocks.append(fill(f"Which price counts: {PRICE_RULE_WORDS}", width))
    blocks += _told(rows, width)
    blocks += _left_out(answer, width)
    used = {row.time.source_id for row in rows} | {row.gpu_quote.source_id for row in rows}
    used |= {row.host_quote.source_id for row in rows}
    for source in sources:
        if source.source_id in used:
            where = f", {source.url}" if source.url else ""
            said = f"{source_title(source)}{where}. {source.how_measured}"
            blocks.append(fill(said, width, break_long_words=False))
    return "\n\n".join(blocks)


def _offers(answer: Ranking, width: int) -> str:
    """Every offer of every row: its machine, price and seller, the age of the price."""
    today, rows = date.today(), answer.rows()
    cells = [
        {
            "": "*" if row.on_pareto_front else " ",
            "offer": machine_words(row.build) + f" ({OWN_QUOTE})" * row.build.host.is_own_quote,
            "price": usd_whole(row.overall_cost_usd),
            "asked by": price_source_words(row.build, row.gpu_quote, row.host_quote),
            "remarks": _remarks(answer, row, today) or " ",
        }
        for row in rows
    ]
    right = frozenset({"price"})
    head, *lines = to_table(cells, list(cells[0]), right, width=width - 2).splitlines()
    found = [f"  {head}"]
    for place, (row, line) in enumerate(zip(rows, lines, strict=True)):
        if not place or row.group != rows[place - 1].group:
            found.append(f"{rank_words(row).rstrip()} {gpus_words(row.build)}")
        found.append(f"  {line}".rstrip())
    return "\n".join(found)


def _remarks(answer: Ranking, row: RankedRow, today: date) -> str:
    """What speaks against the price, and against the time."""
    keeps = answer.budget_chance(answer.order[row.rank - 1])
    moved = [] if keeps is None or keeps >= SURE_ENOUGH else [f"in budget: {chance_words(keeps)}"]
    unsold = [NOT_SOLD[row.availability]] if row.availability in NOT_SOLD else []
    quotes = dict.fromkeys((row.gpu_quote, row.host_quote))
    marks = dict.fromkeys(mark for quote in quotes for mark in price_marks(row, quote, today))
    marks.pop("reported by others", None)  # the seller's column says it
    marks |= dict.fromkeys([OWN_QUOTE] if any(map(is_own_price, quotes)) else [])
    if row.build.host_owned:
        marks = {}
    doubts = [word for word in trust_words(row.time).split(", ") if word in ("doubtful", "naive")]
    return ", ".join([*unsold, *moved, *marks, *doubts])


def _perhaps(answer: Ranking) -> list[str]:
    """GPU configurations that are left out as too slow but may keep the limit."""
    candidates, limit = answer.candidates, answer.question.max_days
    found: dict[tuple[str, int, int], int] = {}
    for i, reason in answer.excluded_order:
        if reason == "too-slow" and limit and candidates.interval(i)[0] <= limit:
            found.setdefault(candidates.builds[i].cards, i)
    return [f"{gpus_words(candidates.builds[i])}: {days_of(candidates, i)}" for i in found.values()]


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


def _grounds(model: Model, rows: Sequence[RankedRow], width: int) -> list[str]:
    """What each time rests on, once for each number of one GPU that takes as long."""
    faster = faster_than_linear(rows)

    def line(row: RankedRow) -> str:
        fewer = faster.get(key_of(row))
        words = (
            f"{gpus_words(row.build)}: {trust_words(row.time)}; {rests_on_words(row.time)}; with "
        )
        words += settings_words(row.time.settings)
        words = "; ".join([words, *uneven_notes(model, [row.build])])
        return words if fewer is None else f"{words}; {faster_words(row.build.gpu_count, fewer)}"

    lines = dict.fromkeys(map(line, rows))
    return _listed("What the times rest on, and the settings:", lines, width)


def _told(rows: Iterable[RankedRow], width: int) -> list[str]:
    """Each price of what ranks once: what was chosen, its age, and what others as good ask."""
    today = date.today()
    told = (told for row in rows for told in row.asked)
    lines = dict.fromkeys(f"{each.item}: {told_words(each, today)}" for each in told)
    return _listed("Prices, each with others as good:", lines, width)


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
