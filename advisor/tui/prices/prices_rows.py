"""The ledger of quotes as rows, one quote as a page, and owning against renting drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from advisor.answers.wording import KIND_WORDS, MARKS, marks_words
from advisor.costs.amount_words import usd_exact, usd_rounded, usd_tick
from advisor.costs.rental import cost_lines
from advisor.tui.widgets.filter_table import Rows
from advisor.tui.widgets.lines import FAINT, HEADING, PLAIN, STRONG, WARNING, Line, wrapped
from advisor.tui.widgets.table_layout import Column

if TYPE_CHECKING:
    from advisor.answers.prices.owning_and_renting import BuildCosts
    from price_catalog.model import Quote, Source


Entry = tuple["Quote", dict[str, Any]]


def quote_table(entries: Sequence[Entry], sources: Sequence[Source]) -> Rows:
    """Every quote; those that count carry a ★."""
    titles = {source.source_id: source for source in sources}

    def item(entry: Entry) -> str:
        return ("★ " if entry[1]["counts"] else "  ") + str(entry[1]["item"])

    def marks(entry: Entry) -> str:
        return marks_words(entry[1]["marks"])

    return Rows(
        columns=(
            Column("item", "item", 48, "left", lambda entry: entry[1]["item"].lower(), item, 18),
            Column("price", "price", 11, "right", lambda entry: entry[0].price_usd, _price),
            Column("age", "age", 9, "right", _age_days, lambda entry: str(entry[1]["age"])),
            Column("vendor", "vendor", 32, "left", _vendor, lambda entry: entry[0].label, 12),
            Column("marks", "marks", 19, "left", lambda entry: marks(entry) or None, marks, 13),
            Column("kind", "kind", 20, "left", _kind, _kind),
            Column("day", "date", 10, "left", _age_days, lambda entry: str(entry[0].quoted_on)),
        ),
        records=entries,
        text=lambda entry: (
            " ".join(str(value) for value in entry[1].values() if value is not None)
            + (" counts" if entry[1]["counts"] else "")
        ),
        lines=lambda entry, width: quote_page(entry, titles.get(entry[0].source_id), width),
        remark=lambda entry: entry[0].note or "",
    )


def _price(entry: Entry) -> str:
    return usd_exact(entry[0].price_usd)


def _age_days(entry: Entry) -> int:
    return -entry[0].quoted_on.toordinal()


def _vendor(entry: Entry) -> str:
    return entry[0].vendor.lower()


def _kind(entry: Entry) -> str:
    return KIND_WORDS.get(entry[0].kind, entry[0].kind)


def quote_page(entry: Entry, source: Source | None, width: int) -> list[Line]:
    quote, row = entry
    lines: list[Line] = [
        (f"{row['item']}  {usd_exact(quote.price_usd)}", STRONG),
        ("it counts under the price rule" if row["counts"] else "another quote counts", PLAIN),
        (f"{KIND_WORDS.get(quote.kind, quote.kind)}, {quote.quoted_on}, {row['age']} old", PLAIN),
        (f"vendor: {quote.vendor}", PLAIN),
    ]
    if row["today_low_usd"] is not None and row["today_low_usd"] != row["today_high_usd"]:
        ends = f"{usd_rounded(row['today_low_usd'])} to {usd_rounded(row['today_high_usd'])}"
        lines.append((f"if ordered today: {ends}", PLAIN))
    lines += [
        (f"{MARKS[mark][0]} {mark}: {MARKS[mark][1]}", WARNING)
        for mark in row["marks"].split(", ")
        if mark
    ]
    if quote.price_quoted is not None:
        lines.append((f"quoted as {quote.currency} {quote.price_quoted:,}", PLAIN))
    for name in ("includes", "valid_until", "delivery", "warranty", "url", "file", "corrects"):
        if row[name] is not None:
            lines.append((f"{name.replace('_', ' ')}: {row[name]}", PLAIN))
    if quote.note:
        lines += [("", PLAIN), ("NOTE", HEADING), (quote.note, PLAIN)]
    lines += [("", PLAIN), ("SOURCE", HEADING)]
    if source is not None:
        lines += [(source.title, PLAIN), (source.how_measured, FAINT)]
    lines += [("", PLAIN), (f"{quote.origin} row {quote.quote_id}", FAINT)]
    return wrapped(lines, width)


GLYPHS = {"own": "●", "on-demand": "◆", "spot": "▲", "reserved": "■"}


def _round_steps(highest: float) -> list[float]:
    """Round numbers up to ``highest``, about five of them."""
    size: float = 10 ** (len(str(int(highest / 5))) - 1) if highest >= 5 else 0.1
    step = next(size * m for m in (1, 2, 5, 10, 20, 50) if highest / (size * m) <= 6)
    return [step * n for n in range(int(highest / step) + 1)]


def break_even_text(costs: BuildCosts, width: int, height: int) -> list[str]:
    """Owning one build against renting it, drawn in characters: training runs to the right, a
    little beyond where they cost the same, US dollars up. Each line has a glyph of its own."""
    own, days = costs.own, costs.training_days
    assert own is not None and days is not None  # only such are compared
    lines, life = cost_lines(own, days, costs.evens), float(own.terms.lifetime_years * 365) / days
    # What is paid by the hour meets owning, which is the first line, at the break-even.
    meets = [float(even.experiments) for even in costs.evens if even.experiments]
    meets = [runs for runs in meets if runs <= life]
    right = min(life, max([2.2 * runs for runs in meets], default=life))
    top = max(line.usd(right) for line in lines) * 1.05
    left, tail = 9, 16
    columns, rows = max(width - left - tail, 10), max(height - 2, 5)
    grid = [[" "] * columns for _ in range(rows)]
    ends: dict[int, list[str]] = {}

    def row_of(usd: float) -> int:
        return min(rows - 1, max(0, rows - 1 - round(usd / top * (rows - 1))))

    for line in lines:
        for column in range(columns):
            usd = line.usd(right * column / (columns - 1))
            grid[row_of(usd)][column] = GLYPHS[line.name]
        ends.setdefault(row_of(line.usd(right)), []).append(line.label)
    for runs in meets:
        grid[row_of(lines[0].usd(runs))][round(runs / right * (columns - 1))] = "×"
    labels = {row_of(step): usd_tick(step) for step in _round_steps(top) if step <= top}
    drawn = [
        f"{labels.get(at, ''):>{left - 2}} │{''.join(cells)} {', '.join(ends.get(at, []))}"
        for at, cells in enumerate(grid)
    ]
    drawn.append(" " * (left - 1) + "└" + "─" * columns)
    axis = [" "] * (columns + tail)
    for step in _round_steps(right):
        text = f"{step:g}"
        at = round(step / right * (columns - 1))
        if (
            at + len(text) <= len(axis)
            and not "".join(axis[max(at - 1, 0) : at + len(text)]).strip()
        ):
            axis[at : at + len(text)] = text
    drawn.append(" " * left + "".join(axis).rstrip() + " training runs")
    return drawn
