"""Exports the ledger of purchases as a data set: a CSV file and a card that says what it is.

    python -m tools.price_dataset FOLDER        prices.csv and README.md

Each row names its source with the licence that the source states. The selection, the cleaning and
the text are under CC BY 4.0; a row whose source states no licence is a single fact, cited.
"""

from __future__ import annotations

import argparse
import csv
import io
from collections import Counter
from pathlib import Path

from price_catalog.load import Catalog, load_catalog

COLUMNS = (
    *("quote_id", "item_kind", "item_id", "item", "gpu_id", "gpu_count", "price_usd", "currency"),
    *("price_quoted", "kind", "vendor", "quoted_on", "valid_until", "includes", "delivery"),
    *("warranty", "corrects", "corrected", "note", "url", "source_id", "source", "source_url"),
    "licence",
)
NONE_STATED = "none stated: a single fact"


def rows(catalog: Catalog) -> list[dict[str, object]]:
    """Every quote of the ledger, corrected ones marked, with its source."""
    gpus = {gpu.gpu_id: gpu for gpu in catalog.gpus}
    hosts = {host.host_id: host for host in catalog.hosts}
    sources = {source.source_id: source for source in catalog.sources}
    corrected = {quote.corrects for quote in catalog.quotes}
    found = []
    for quote in sorted(catalog.quotes, key=lambda quote: (quote.quoted_on, quote.quote_id)):
        gpu, host = gpus.get(quote.item_id), hosts.get(quote.item_id)
        source = sources[quote.source_id]
        row = quote._asdict() | {
            "item": gpu.name if gpu else host.name if host else quote.item_id,
            "gpu_id": gpu.gpu_id if gpu else host.gpu_id if host else None,
            "gpu_count": 1 if gpu else host.max_gpus if host and host.gpu_id else None,
            "corrected": quote.quote_id in corrected,
            "source": source.title,
            "source_url": source.url,
            "licence": source.licence or NONE_STATED,
        }
        found.append({name: row[name] for name in COLUMNS})
    return found


def csv_text(catalog: Catalog) -> str:
    """The rows as CSV; what is not known is empty."""
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows({k: "" if v is None else v for k, v in row.items()} for row in rows(catalog))
    return out.getvalue()


def card(catalog: Catalog) -> str:
    """What the data set is, in Markdown with the head that data hubs read."""
    found = rows(catalog)
    days = [str(row["quoted_on"]) for row in found]
    kinds = Counter(str(row["kind"]) for row in found)
    licences = Counter(str(row["licence"]) for row in found)

    def listed(counts: Counter[str]) -> str:
        return "".join(f"| {name} | {count} |\n" for name, count in counts.most_common())

    return f"""---
license: cc-by-4.0
pretty_name: Prices of GPUs and GPU machines
tags: [gpu, hardware, prices, procurement]
configs: [{{config_name: default, data_files: prices.csv}}]
---
# Prices of GPUs and GPU machines

{len(found)} prices of {len({row["item_id"] for row in found})} GPUs, machines and parts, from
{min(days)} to {max(days)}, each with its seller, day, source and page. A price that was wrong has
`corrected`, and the row that `corrects` it.

`price_usd` is for one piece, without tax where that is known. A price in another currency has
`currency` and `price_quoted`; its note names the rate. `quoted_on` is the earliest day that a price
can be of where its own day is not known.

| kind | prices |
| --- | ---: |
{listed(kinds)}
`secondary` is told by somebody who does not sell it, `parts-list` is a sum that nobody quoted; the
others are in `price_catalog/model.py` of the project.

## Licence

The selection, the cleaning and the text are under CC BY 4.0. The column `licence` has what each
source states; cite the source of a row beside this data set.

| licence of the source | prices |
| --- | ---: |
{listed(licences)}"""


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    catalog = load_catalog()
    (folder / "prices.csv").write_text(csv_text(catalog), encoding="utf-8")
    (folder / "README.md").write_text(card(catalog), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
