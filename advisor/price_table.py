"""The prices that ship, by GPU, as a Markdown page."""

from __future__ import annotations

from advisor.ask import Snapshot
from advisor.export import to_markdown
from price_catalog.model import Quote

_INTRO = """# Prices that ship

Made by `advisor prices table --out docs/prices.md` from `price_catalog/quotes/`;
not edited by hand.
Every quote is kept. Which one counts is a rule, which `advisor rank` prints.

"""


def shipped_prices(snapshot: Snapshot) -> str:
    """Every shipped quote of GPUs and machines, oldest first, and the sources."""
    shipped = [quote for quote in snapshot.quotes if quote.origin == "shipped"]
    names = {("gpu", gpu.gpu_id): gpu.name for gpu in snapshot.gpus}
    order = {("gpu", gpu.gpu_id): at for at, gpu in enumerate(snapshot.gpus)}
    for at, host in enumerate(snapshot.hosts):
        kind = "host" if host.gpu_id is None else "server"
        names[kind, host.host_id] = host.name
        order[kind, host.host_id] = 10_000 + at

    def key(quote: Quote) -> tuple[int, str, str]:
        at = order.get((quote.item_kind, quote.item_id), 99_999)
        return (at, str(quote.quoted_on), quote.quote_id)

    rows = [
        {
            "item": names.get((quote.item_kind, quote.item_id), quote.item_id),
            "price": f"${quote.price_usd:,}",
            "kind": quote.kind,
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
