"""Everything there is to say about a ranking, in order: the text of `rank --details` (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date

from advisor.answers.build_words import build_words, gpus_words, machine_words
from advisor.answers.checklist import command_lines, doubt_block, of_typed_store
from advisor.answers.measure_commands import uneven_notes
from advisor.answers.ranking.before_you_order import steps_of, steps_title
from advisor.answers.ranking.question_words import headline
from advisor.answers.ranking.rank_answer import NOT_SOLD, table_lines
from advisor.answers.ranking.rank_sentence import SURE_ENOUGH, Verdict
from advisor.answers.wording import (
    REASON_WORDS,
    chance_words,
    count_words,
    price_marks,
    price_source_words,
    rank_words,
    rests_on_words,
    settings_words,
    source_title,
    trust_words,
)
from advisor.costs.amount_words import usd_whole
from advisor.ranking.question import CandidatesKey
from advisor.ranking.row_order import ExcludedRow, RankedRow, Ranking
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
    candidates, rows, found = answer.candidates, answer.rows(), Verdict(answer, rentals)
    blocks = [fill(found.sentence, width), fill(headline(answer, str(key.prices)), width)]
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
        blocks.append(_offers(answer, rows, width))
    counts = count_words(len(answer), len(candidates.builds), answer.excluded_counts)
    blocks.append(fill(counts, width))
    blocks += doubt_block(steps_title(found), steps_of(found, key), width)
    grounds = dict.fromkeys(_ground(candidates.model, row) for row in rows)
    blocks += _listed("What the times rest on, and the settings:", grounds, width)
    by_reason: dict[str, list[ExcludedRow]] = {}
    for left in answer.excluded():
        by_reason.setdefault(left.reason, []).append(left)
    for reason, some in by_reason.items():
        title = f"Left out, {len(some):,} {REASON_WORDS[reason]}:"
        blocks += _listed(title, _by_detail(some), width)
    title = "Published times that are impossible:"
    blocks += _listed(title, _by_detail(answer.refused), width)
    used = {row.time.source_id for row in rows}
    used |= {quote.source_id for row in rows for quote in (row.gpu_quote, row.host_quote)}
    for source in sources:
        if source.source_id in used:
            where = f", {source.url}" if source.url else ""
            said = f"{source_title(source)}{where}. {source.how_measured}"
            blocks.append(fill(said, width, break_long_words=False))
    return "\n\n".join(blocks)


def _offers(answer: Ranking, rows: Sequence[RankedRow], width: int) -> str:
    """Every offer of every row: its machine, price and seller, the age of the price."""
    cells = [
        {
            "": "*" if row.on_pareto_front else " ",
            "offer": machine_words(row.build) + f" ({OWN_QUOTE})" * row.build.host.is_own_quote,
            "price": usd_whole(row.overall_cost_usd),
            "asked by": price_source_words(row.build, row.gpu_quote, row.host_quote),
            "remarks": _remarks(answer, row) or " ",
        }
        for row in rows
    ]
    table = to_table(cells, list(cells[0]), frozenset({"price"}), width=width - 2)
    head, *lines = (f"  {line}".rstrip() for line in table.splitlines())
    titles = [f"{rank_words(row).rstrip()} {gpus_words(row.build)}" for row in rows]
    found, group = [head], 0
    for row, title, line in zip(rows, titles, lines, strict=True):
        found += [line] if row.group == group else [title, line]
        group = row.group
    return "\n".join(found)


def _remarks(answer: Ranking, row: RankedRow) -> str:
    """What speaks against the price, and against the time."""
    said = [NOT_SOLD[row.availability]] if row.availability in NOT_SOLD else []
    keeps = answer.budget_chance(answer.order[row.rank - 1])
    if keeps is not None and keeps < SURE_ENOUGH:
        said.append(f"in budget: {chance_words(keeps)}")
    quotes = dict.fromkeys((row.gpu_quote, row.host_quote))
    if not row.build.host_owned:
        marks = (mark for quote in quotes for mark in price_marks(row, quote, date.today()))
        said += dict.fromkeys(mark for mark in marks if mark != "reported by others")
        said += [OWN_QUOTE] if any(quote.is_own for quote in quotes) else []
    doubts = [word for word in trust_words(row.time).split(", ") if word in ("doubtful", "naive")]
    return ", ".join([*said, *doubts])


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


def _ground(model: Model, row: RankedRow) -> str:
    """What a time rests on."""
    words = f"{gpus_words(row.build)}: {trust_words(row.time)}; {rests_on_words(row.time)}; with "
    words += settings_words(row.time.settings)
    return "; ".join([words, *uneven_notes(model, [row.build])])


def _by_detail(left: Iterable[ExcludedRow]) -> list[str]:
    """Left-out builds of one reason in a line with it; whole machines by their names."""
    builds: dict[str, list[str]] = {}
    for row in left:
        named = row.build.host.gpu_id is not None or row.build.host.is_own_quote
        words = build_words(row.build) if named else gpus_words(row.build)
        builds.setdefault(row.detail, []).append(words)
    return [
        f"{', '.join(dict.fromkeys(names))}"
        + (f" in {len(names)} machines" if len(names) > len({*names}) else "")
        + f": {detail}"
        for detail, names in builds.items()
    ]
