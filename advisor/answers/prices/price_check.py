"""The check of the prices: what is stale, outlying, contradicting or unsourced, which machines no
document describes, and what of each budget's ranking rests on it (pure)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from decimal import Decimal
from typing import Any, NamedTuple

from advisor.answers.build_words import gpus_words
from advisor.answers.checklist import with_command
from advisor.answers.wording import KIND_WORDS, is_unquoted, item_names
from advisor.costs.amount_words import age_words, usd_and_cents, usd_exact, usd_whole
from advisor.costs.price_book import (
    NEVER,
    OWN_SOURCE,
    STALE_DAYS,
    PriceBook,
    is_fresh,
    kind_class,
    outlying_quotes,
)
from advisor.ranking.candidates import Candidates
from advisor.ranking.question import Question
from advisor.ranking.rank import RankedRow, Ranking, rank
from advisor.ranking.snapshot import Snapshot
from advisor.tables.plain_values import fill
from bench_runner.typed_numbers import percent
from price_catalog.load import HOST_EXTRA_COLUMNS
from price_catalog.model import Quote

BUDGETS_USD = tuple(Decimal(usd) for usd in (40_000, 60_000, 100_000, 250_000, 500_000))
MODELS = ("pythia-1b", "pythia-6.9b")
FIGURES = tuple(
    name for name in HOST_EXTRA_COLUMNS if name not in ("gpu_id", "spec_source", "note")
)
"""What a document may state of a machine."""
YOUNG_SHARE = 0.8
"""At least so much of each budget's ranking should stand on prices of the last year."""
CONTRADICTING = Decimal("1.5")
"""Two sellers who ask so many times as much as each other for one item contradict each other."""
WITHIN_DAYS = 90
"""The same, where their quotes are no further apart than this."""
PROBLEMS = {
    "stale": "the best price of the item is a year old or has expired: find a newer one",
    "outlying": "far from the others of its item: is it for one piece?",
    "contradicting": "another seller asked much more: is it the same machine?",
    "unsourced": "no page or file to check it by: add one",
    "undescribed": "no document states its watts, rack units, memory or links: find its maker's",
    "passed over": "newer than the price that counts, but of a weaker kind, or not the middle one",
}
"""What each problem means, and how to mend it."""


class Problem(NamedTuple):
    """What is wrong with the price of one item, and how to mend it."""

    problem: str
    """One of PROBLEMS."""
    item: str
    price_usd: Decimal
    quoted_on: date
    vendor: str
    detail: str
    quote_ids: tuple[str, ...]
    """The quotes that it is about; the first is the one that is looked at."""
    counts: bool
    """Whether one of the quotes is the one that counts."""


class BudgetCheck(NamedTuple):
    """What one ranking rests on."""

    model: str
    name: str
    """What the model is called."""
    budget_usd: Decimal
    ranked: int
    young: int
    """How many of the ranked builds stand on prices of the last year alone."""
    resting: tuple[tuple[str, int], ...]
    """How many rest on a price with each problem."""
    first: str | None
    first_oldest: date | None
    """The day of the older of its prices."""
    first_is_a_sum: bool
    """Whether a whole machine is first whose total nobody quoted."""
    young_enough: bool


def price_problems(snapshot: Snapshot, book: PriceBook, *, today: date) -> list[Problem]:
    """All that is wrong, worst kind first as in PROBLEMS, then by item."""
    check = _Check(snapshot, book, today)
    found = [
        *check.stale(),
        *check.outlying(),
        *check.contradicting(),
        *check.unsourced(),
        *check.undescribed(),
        *check.passed_over(),
    ]
    order = {name: at for at, name in enumerate(PROBLEMS)}
    return sorted(found, key=lambda p: (order[p.problem], p.item, p.quoted_on, p.quote_ids))


class _Check:
    """The quotes while they are looked at."""

    def __init__(self, snapshot: Snapshot, book: PriceBook, today: date) -> None:
        self._book = book
        self._today = today
        self._names = item_names(snapshot.gpus, snapshot.hosts)
        self._hosts = snapshot.hosts
        self._sources = {source.source_id: source for source in snapshot.sources}
        corrected = {quote.corrects for quote in snapshot.quotes if quote.corrects}
        self._quotes = [
            quote
            for quote in snapshot.quotes
            if quote.kind not in NEVER
            and quote.quote_id not in corrected
            and quote.quoted_on <= today
        ]
        self._chosen = {quote.quote_id for quote in book.values()}

    def _problem(self, problem: str, quote: Quote, detail: str, *others: Quote) -> Problem:
        return Problem(
            problem=problem,
            item=self._names.get((quote.item_kind, quote.item_id), quote.item_id),
            price_usd=quote.price_usd,
            quoted_on=quote.quoted_on,
            vendor=quote.label,
            detail=detail,
            quote_ids=(quote.quote_id, *(other.quote_id for other in others)),
            counts=any(each.quote_id in self._chosen for each in (quote, *others)),
        )

    def stale(self) -> Iterator[Problem]:
        """Items whose best price is a year old, or has expired: all others of it are no better."""
        for quote in self._book.values():
            if quote.kind == "owned" or is_fresh(quote.quoted_on, quote.valid_until, self._today):
                continue
            age = age_words(quote.quoted_on, self._today)
            if (self._today - quote.quoted_on).days < STALE_DAYS:
                age = f"expired on {quote.valid_until}"
            yield self._problem("stale", quote, f"{age}: find one of this year")

    def outlying(self) -> Iterator[Problem]:
        """Prices far from the middle of their item within a year of them."""
        far = outlying_quotes(self._quotes)
        for quote in self._quotes:
            if quote.quote_id in far:
                yield self._problem("outlying", quote, PROBLEMS["outlying"])

    def contradicting(self) -> Iterator[Problem]:
        """Sellers who ask very different prices for one item at about one time."""
        items: dict[tuple[str, str], list[Quote]] = defaultdict(list)
        for quote in self._quotes:
            sold = kind_class(quote.kind) >= kind_class("list")
            if sold and is_fresh(quote.quoted_on, quote.valid_until, self._today):
                items[quote.item_kind, quote.item_id].append(quote)
        for quotes in items.values():
            quotes.sort(key=lambda quote: (quote.price_usd, quote.quote_id))
            pairs = (
                (low, high)
                for low in quotes
                for high in reversed(quotes)
                if high.price_usd >= CONTRADICTING * low.price_usd
                and high.vendor.casefold() != low.vendor.casefold()
                and abs((high.quoted_on - low.quoted_on).days) <= WITHIN_DAYS
            )
            widest = max(
                pairs, key=lambda pair: pair[1].price_usd / pair[0].price_usd, default=None
            )
            if widest is not None:
                low, high = widest
                words = (
                    f"{high.label} asked {usd_exact(high.price_usd)} on {high.quoted_on}: is it "
                    "the same machine, with the same memory and warranty?"
                )
                yield self._problem("contradicting", low, words, high)

    def unsourced(self) -> Iterator[Problem]:
        """Prices that nobody else can check: neither page nor file, nor a source with one."""
        for quote in self._quotes:
            source = self._sources.get(quote.source_id)
            checkable = quote.url or quote.file or (source is not None and source.url)
            if checkable or quote.kind == "owned":
                continue
            where = "your own" if quote.source_id == OWN_SOURCE else quote.source_id
            yield self._problem("unsourced", quote, f"no page or file to check it by ({where})")

    def undescribed(self) -> Iterator[Problem]:
        """Machines that ship with a price, of which no document states a single figure."""
        for host in self._hosts:
            quote = self._book.get(("host" if host.gpu_id is None else "server", host.host_id))
            if quote is None or host.origin == "local":
                continue
            if all(getattr(host, name) in (None, ()) for name in FIGURES):
                yield self._problem("undescribed", quote, PROBLEMS["undescribed"])

    def passed_over(self) -> Iterator[Problem]:
        """Newer quotes than the one that counts."""
        for key, newer in self._book.newer.items():
            quote = self._book[key]
            kind = KIND_WORDS.get(newer.kind, newer.kind)
            yield self._problem(
                "passed over",
                newer,
                f"newer than the {usd_exact(quote.price_usd)} of {quote.quoted_on} that counts, "
                f"but {kind}",
                quote,
            )


def budget_checks(
    candidates: Sequence[Candidates], problems: Iterable[Problem], *, today: date
) -> list[BudgetCheck]:
    """What the ranking of each model and budget rests on."""
    by_quote: dict[str, set[str]] = defaultdict(set)
    for problem in problems:
        if problem.problem != "passed over":
            for quote_id in problem.quote_ids:
                by_quote[quote_id].add(problem.problem)
    return [
        _budget_check(rank(each, Question(budget_usd=usd)), usd, by_quote, today)
        for each in candidates
        for usd in BUDGETS_USD
    ]


def _budget_check(
    answer: Ranking, usd: Decimal, by_quote: dict[str, set[str]], today: date
) -> BudgetCheck:
    rows = answer.rows()
    young = sum((today - _oldest(row)).days < STALE_DAYS for row in rows)
    resting: Counter[str] = Counter()
    for row in rows:
        ids = {row.gpu_quote.quote_id, row.host_quote.quote_id}
        resting.update(set().union(*(by_quote.get(quote_id, set()) for quote_id in ids)))
        resting["reported by others"] += "secondary" in (row.gpu_quote.kind, row.host_quote.kind)
        resting["summed"] += is_unquoted(row.build, row.host_quote)
    first = rows[0] if rows else None
    oldest = None if first is None else _oldest(first)
    return BudgetCheck(
        model=answer.candidates.model.recipe_id,
        name=answer.candidates.model.name,
        budget_usd=usd,
        ranked=len(rows),
        young=young,
        resting=tuple((name, n) for name, n in sorted(resting.items()) if n),
        first=None if first is None else gpus_words(first.build),
        first_oldest=oldest,
        first_is_a_sum=first is not None and is_unquoted(first.build, first.host_quote),
        young_enough=not rows
        or (
            young >= YOUNG_SHARE * len(rows)
            and oldest is not None
            and (today - oldest).days < STALE_DAYS
        ),
    )


def _oldest(row: RankedRow) -> date:
    return min(row.gpu_quote.quoted_on, row.host_quote.quoted_on)


def problem_rows(problems: Iterable[Problem]) -> list[dict[str, Any]]:
    """Problems as rows for a table."""
    return [
        {
            "problem": each.problem,
            "item": each.item,
            "price_usd": each.price_usd,
            "date": each.quoted_on,
            "vendor": each.vendor,
            "counts": each.counts,
            "detail": each.detail,
            "quote_id": each.quote_ids[0],
        }
        for each in problems
    ]


def budget_rows(checks: Iterable[BudgetCheck]) -> list[dict[str, Any]]:
    """The budgets as rows for a table."""
    return [
        {
            "model": each.model,
            "budget_usd": each.budget_usd,
            "ranked": each.ranked,
            "under_a_year": each.young,
            "share": None if not each.ranked else f"{percent(each.young / each.ranked)}",
            "rest_on": ", ".join(f"{n} {name}" for name, n in each.resting) or None,
            "first": each.first,
            "first_price_of": each.first_oldest,
            "first_is_a_sum": each.first_is_a_sum,
            "holds": each.young_enough,
        }
        for each in checks
    ]


_COLUMNS = {"reported by others": "told"}
"""How a column is headed where its words are too long for one."""


def check_text(problems: Sequence[Problem], checks: Sequence[BudgetCheck], width: int) -> str:
    """The check for a person: the rankings first, then what to mend."""
    from advisor.tables.text_table import to_table

    weak = [each for each in checks if not each.young_enough]
    if weak:
        named = ", ".join(f"{each.name} at {usd_whole(each.budget_usd)}" for each in weak)
        head = (
            f"Look at {named}: less than {percent(YOUNG_SHARE)} of the ranking, or not its first "
            "place, stands on prices of the last year."
        )
    else:
        head = (
            f"In each ranking {percent(YOUNG_SHARE)} or more, and first place, stand on prices of "
            "the last year."
        )
    if summed := list(dict.fromkeys(each.budget_usd for each in checks if each.first_is_a_sum)):
        *others, last = map(usd_whole, summed)
        named = f"{', '.join(others)} and {last}" if others else last
        head += f" At {named} the first is a sum of a seller's options: ask for a quote."
    counts = Counter(each.problem for each in problems)
    counted = Counter(each.problem for each in problems if each.counts)
    said = [f"{counts[name]} {name} ({counted[name]} count)" for name in PROBLEMS if counts[name]]
    blocks = [fill(head, width), *_budget_blocks(checks, width)]
    blocks.append(fill(f"Prices: {', '.join(said)}.", width))
    for name in PROBLEMS:
        rows = problem_rows(each for each in problems if each.problem == name)
        if not rows:
            continue
        columns = ["item", "price", "date", "vendor", "counts"]
        rows = [row | {"price": usd_and_cents(row["price_usd"])} for row in rows]
        if name == "stale":
            rows = [row | {"why": row["detail"].partition(":")[0]} for row in rows]
            columns.append("why")
        right, spare = frozenset({"price"}), ("vendor",)
        head, *lines = to_table(rows, columns, right, width=width, spare=spare).splitlines()
        told = [fill(f"{name.capitalize()}: {PROBLEMS[name]}", width), head]
        for row, line in zip(rows, lines, strict=True):
            told.append(line)
            if name in ("contradicting", "passed over"):
                indent = " " * 4
                told.append(
                    fill(row["detail"], width, initial_indent=indent, subsequent_indent=indent)
                )
        blocks.append("\n".join(told))
    command = "advisor prices check --format csv"
    blocks.append(with_command("Every word and each quote's id:", command, width))
    return "\n\n".join(blocks)


def _budget_blocks(checks: Sequence[BudgetCheck], width: int) -> list[str]:
    from advisor.tables.text_table import to_table

    # How many of a ranking rest on such prices.
    resting = sorted({name for each in checks for name, _ in each.resting})
    rows = [
        {
            "model": check.name,
            "budget": usd_whole(row["budget_usd"]),
            "ranked": row["ranked"],
            "recent": row["share"],
            "first": row["first"],
            **{_COLUMNS.get(name, name): dict(check.resting).get(name, 0) for name in resting},
        }
        for check, row in zip(checks, budget_rows(checks), strict=True)
    ]
    right = frozenset({"budget", "ranked", "recent", *(_COLUMNS.get(n, n) for n in resting)})
    spare = [_COLUMNS.get(name, name) for name in reversed(resting)]
    if not rows:
        return []
    table = to_table(rows, list(rows[0]), right, width=width, spare=spare)
    meaning = (
        "Summed: a seller's options added up, without a quote for the total. "
        "Told: reported by someone who does not sell it."
    )
    return [f"{table}\n{fill(meaning, width)}"]
