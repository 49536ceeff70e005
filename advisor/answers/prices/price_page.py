"""The prices that ship, by GPU, as a Markdown page."""

from __future__ import annotations

from dataclasses import replace

from advisor.answers.prices.price_check import PROBLEMS, price_problems, problem_rows
from advisor.answers.wording import item_names
from advisor.costs.amounts import usd_as_quoted, usd_whole
from advisor.costs.price_book import kind_class, kind_order
from advisor.parse import InputError
from advisor.ranking.snapshot import Snapshot
from advisor.tables.table_formats import to_markdown
from price_catalog.model import Quote
from price_catalog.not_found import load_not_found

BEGIN, END = "<!-- prices -->", "<!-- /prices -->"
"""Between these two lines of a page the short table stands."""

_INTRO = """# Prices that ship

Made by `advisor prices check --out docs/prices.md` from `price_catalog/quotes/`;
not edited by hand.
Every quote is kept. Which one counts is a rule, which `advisor rank --details` prints. What rests
on these prices in a ranking says `advisor prices check`.

"""


def shipped_prices(snapshot: Snapshot) -> str:
    """Every shipped quote of GPUs and machines, oldest first, and the sources."""
    shipped = [quote for quote in snapshot.quotes if quote.origin == "shipped"]
    names = item_names(snapshot.gpus, snapshot.hosts)
    order = {("gpu", gpu.gpu_id): at for at, gpu in enumerate(snapshot.gpus)}
    for at, host in enumerate(snapshot.hosts):
        kind = "host" if host.gpu_id is None else "server"
        order[kind, host.host_id] = 10_000 + at

    def key(quote: Quote) -> tuple[int, str, str]:
        at = order.get((quote.item_kind, quote.item_id), 99_999)
        return (at, str(quote.quoted_on), quote.quote_id)

    corrected = {quote.corrects for quote in shipped}
    rows = [
        {
            "item": names.get((quote.item_kind, quote.item_id), quote.item_id),
            "price": usd_as_quoted(quote.price_usd),
            "kind": f"{quote.kind}{', corrected' if quote.quote_id in corrected else ''}",
            "vendor": quote.vendor,
            "date": quote.quoted_on,
            "source": quote.source_id,
            "page": quote.url or "",
        }
        for quote in sorted(shipped, key=key)
    ]
    used = {quote.source_id for quote in shipped}
    sources = [
        {
            "source": source.source_id,
            "title": source.title,
            "address": source.url or "",
            "licence": source.licence or "none stated: single facts",
            "how": source.how_measured,
        }
        for source in snapshot.sources
        if source.source_id in used
    ]
    return (
        _INTRO
        + to_markdown(rows, ("item", "price", "kind", "vendor", "date", "source", "page"))
        + "\n## Sources\n\n"
        + to_markdown(sources, ("source", "title", "address", "licence", "how"))
    )


def checked_prices(snapshot: Snapshot) -> str:
    """The page of the prices that ship, with what is wrong with them on the day of the newest."""
    quotes = tuple(quote for quote in snapshot.quotes if quote.origin == "shipped")
    hosts = tuple(host for host in snapshot.hosts if host.origin == "shipped")
    shipped = replace(snapshot, quotes=quotes, hosts=hosts, builds=())
    today = max(quote.quoted_on for quote in quotes)
    book = shipped.prices(today, today=today)
    problems = price_problems(shipped, book, today=today)
    rows = [
        row | {"price": usd_as_quoted(row["price_usd"]), "counts": "yes" if row["counts"] else ""}
        for row in problem_rows(problems)
    ]
    columns = ("problem", "item", "price", "date", "vendor", "counts", "detail")
    missing = [
        {
            "item": each.item,
            "looked_on": each.looked_on,
            "found": each.found,
            "pages": " ".join(each.pages),
        }
        for each in load_not_found()
    ]
    return (
        shipped_prices(shipped)
        + f"\n## To be mended, as of {today}\n\n"
        + "".join(f"- {name}: {words}\n" for name, words in PROBLEMS.items())
        + "\n"
        + to_markdown(rows, columns)
        + "\n## Looked for and not found\n\n"
        + to_markdown(missing, ("item", "looked_on", "found", "pages"))
    )


def short_prices(snapshot: Snapshot) -> str:
    """A row a GPU: the newest shipped price that no other corrects, of one day the better kind."""
    newest: dict[str, Quote] = {}
    corrected = {quote.corrects for quote in snapshot.quotes if quote.origin == "shipped"}
    for quote in snapshot.quotes:
        if (
            quote.origin == "shipped"
            and quote.item_kind == "gpu"
            and quote.quote_id not in corrected
        ):
            held = newest.setdefault(quote.item_id, quote)
            if _newness(quote) > _newness(held):
                newest[quote.item_id] = quote
    rows = [
        {
            "GPU": gpu.name,
            "newest price": usd_whole(newest[gpu.gpu_id].price_usd),
            "date": newest[gpu.gpu_id].quoted_on,
            "kind": newest[gpu.gpu_id].kind,
            "vendor": newest[gpu.gpu_id].vendor,
            "source": newest[gpu.gpu_id].source_id,
        }
        for gpu in snapshot.gpus
        if gpu.gpu_id in newest
    ]
    return to_markdown(rows, ("GPU", "newest price", "date", "kind", "vendor", "source"))


def _newness(quote: Quote) -> tuple[str, int, int, str]:
    kind = quote.kind
    return str(quote.quoted_on), kind_class(kind), kind_order(kind), quote.quote_id


def between_marks(page: str, table: str) -> str:
    """The page with the table between its two marks. Raises InputError where it has none."""
    before, begin, rest = page.partition(f"{BEGIN}\n")
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise InputError(
            f"the page has no lines {BEGIN} and {END}: write both where the table belongs"
        )
    return f"{before}{begin}{table}{end}{after}"
