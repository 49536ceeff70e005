from __future__ import annotations

import csv
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

from price_catalog.load import Catalog, load_catalog
from price_catalog.model import Gpu, Quote

Break = Callable[[str, str, str], str]
QUOTE_COLUMNS = Quote._fields[:11]


def gpu(catalog: Catalog, name: str) -> Gpu:
    return next(gpu for gpu in catalog.gpus if gpu.name == name)


def quote(catalog: Catalog, item_id: str, **fields: object) -> Quote:
    (found,) = (
        quote
        for quote in catalog.quotes
        if quote.item_id == item_id
        and all(getattr(quote, name) == value for name, value in fields.items())
    )
    return found


class TestShippedTables:
    def test_table_5_prices_gpus(self, catalog: Catalog) -> None:
        prices = {
            found.item_id: (found.price_usd, found.kind)
            for found in catalog.quotes
            if found.source_id == "paper-table5"
        }
        assert prices == {
            "rtx-3090": (1300, "used"),
            "rtx-a6000": (4800, "street"),
            "a100-sxm4-80gb": (19000, "reseller-quote"),
            "h100-sxm5-80gb": (30000, "reseller-quote"),
        }
        assert all(
            found.quoted_on == date(2024, 9, 21) and found.price_set == "paper"
            for found in catalog.quotes
            if found.source_id == "paper-table5"
        )

    def test_a_desktop_costs_the_exact_sum_of_its_parts(self, catalog: Catalog) -> None:
        # 99.00 + 109.95 + 329.00 + 102.49 + 139.99 + 99.99 + 139.99 in Table 6.
        assert quote(catalog, "desktop-1gpu", kind="parts-list").price_usd == Decimal("1020.41")
        # 247.93 + 109.95 + 329.00 + 252.52 + 139.99 + 99.99 + 276.91.
        assert quote(catalog, "desktop-2gpu", kind="parts-list").price_usd == Decimal("1456.29")

    def test_section_4_1_rounds_the_hosts(self, catalog: Catalog) -> None:
        rounded = {
            found.item_id: found.price_usd for found in catalog.quotes if found.kind == "rounded"
        }
        assert rounded == {
            "desktop-1gpu": 1000,
            "desktop-2gpu": 1500,
            "server-4gpu": 7500,
            "server-8gpu": 10500,
        }
        paper = [found for found in catalog.quotes if found.price_set == "paper"]
        assert len(paper) == 8


class TestOwnTables:
    def test_reads_another_folder(self, folder: Path, catalog: Catalog) -> None:
        assert load_catalog(folder) == catalog

    def test_a_new_price_is_a_new_row(self, folder: Path, catalog: Catalog) -> None:
        header = ",".join(QUOTE_COLUMNS)
        (folder / "quotes" / "mine.csv").write_text(
            f"{header}\nmine:1,gpu,NVIDIA GeForce RTX 4090,1899.50,street,shop,2026-11-01,"
            'paper-table5,,"new, boxed",\n',
            encoding="utf-8",
        )
        found = quote(load_catalog(folder), "rtx-4090", quote_id="mine:1")
        assert (found.price_usd, found.note) == (Decimal("1899.50"), "new, boxed")

    def test_column_order_byte_order_mark_and_line_ends_do_not_matter(
        self, folder: Path, catalog: Catalog
    ) -> None:
        path = folder / "machine_parts.csv"
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        with path.open("w", encoding="utf-8-sig", newline="") as file:
            writer = csv.DictWriter(file, list(reversed(rows[0])), lineterminator="\r\n")
            writer.writeheader()
            writer.writerows(rows)
        assert load_catalog(folder).hosts == catalog.hosts

    def test_a_cell_may_span_lines_and_errors_still_count_right(
        self, folder: Path, catalog: Catalog
    ) -> None:
        path = folder / "quotes" / "mine.csv"
        path.write_text(
            ",".join(QUOTE_COLUMNS)
            + '\na,gpu,H200,31000,street,shop,2026-11-01,paper-table5,,"two\nlines",\n'
            "b,gpu,H200,cheap,street,shop,2026-11-01,paper-table5,,,\n",
            encoding="utf-8",
        )
        with pytest.raises(ValueError, match=r"mine\.csv line 4, column 'price_usd'"):
            load_catalog(folder)


QUOTES, PARTS, MACHINES = "quotes/paper-2024-09.csv", "machine_parts.csv", "machines.csv"
FIRST_PART = "desktop-1gpu,CPU,Intel Core i3-10300,99.00,2024-09-21,paper-table6\n"
HEADER = ",".join(QUOTE_COLUMNS)
BROKEN = [
    (QUOTES, ",gpu,rtx-3090,", ",gpu,RTX 3900,", "line 2, column 'item_id'", "mean 'RTX 3090'"),
    *(
        (QUOTES, ",1300,", f',"{price}",', "line 2, column 'price_usd'", "1300.00")
        for price in ("$1,300", "1300 USD", "-5", "0", "nan", "inf", "1e400", "1_300", "1300.005")
    ),
    (QUOTES, ",1300,used", ",,used", "column 'price_usd': is empty", ""),
    *(
        (QUOTES, ",2024-09-21,paper-table5", f",{day},paper-table5", "column 'quoted_on'", "")
        for day in ("21.09.2024", "2024-13-01", "20240921", "yesterday", "")
    ),
    (QUOTES, "2024-09-21,paper-table6", "2024-09-20,paper-table6", "column 'quoted_on'", ""),
    (QUOTES, ",used,", ",usd,", "column 'kind': 'usd' is not known", "did you mean 'used'?"),
    (QUOTES, ",paper-table5,", ",paper-table55,", "column 'source_id'", "mean 'paper-table5'"),
    (PARTS, "desktop-1gpu,CPU,", "desktop-3gpu,CPU,", "line 2, column 'host_id'", "desktop-2gpu"),
    (MACHINES, "=chipversus-4314", "=chipversus", "'spec_source': source 'chipversus'", "line 5"),
    (MACHINES, "slot_width=rack-unit", "slots=rack-unit", "column 'spec_source'", ""),
    (PARTS, FIRST_PART, FIRST_PART * 2, "line 3, column 'detail'", "already in line 2; keep one"),
    (PARTS, "99.00,2024-09-21,paper-table6", "99.00,2024-09-21,", "'source_id': is empty", ""),
    ("gpus.csv", ",35.58,35.6,", ",35.58,n/a,", "line 3, column 'tf32_tflops'", "154.8"),
    ("gpus.csv", "NVIDIA GeForce RTX 4090; 4090", "nvidia rtx-3090", "column 'aliases'", "already"),
    (
        "gpus.csv",
        "rtx-4090,RTX 4090,",
        "rtx-4090,RTX 3090,",
        "column 'name'",
        "stands for rtx-3090",
    ),
    ("gpus.csv", "rtx-3090,", "RTX 3090,", "column 'gpu_id'", "write it like 'rtx-3090'"),
    ("gpus.csv", "tf32_tflops=lightning", "tf32_tflops=x", "column 'field_sources'", "sources.csv"),
    ("gpus.csv", "; tf32_tflops=", "; tf32=", "column 'field_sources'", "mean 'tf32_tflops'"),
    (MACHINES, "desktop-2gpu,", "desktop-1gpu,", "line 3, column 'host_id'", "already in line 2"),
    *(
        (MACHINES, "desktop,1,", f"desktop,{count},", "line 2, column 'max_gpus'", "")
        for count in ("0", "-1", "two", "1.5", "٣", "9" * 5000)
    ),
    (MACHINES, "desktop,1,", "desktop,1,,", "line 2: has 24 cells where the header has 23", ""),
    (MACHINES, "max_gpus", "max_gpu", "'max_gpu' is not known; did you mean 'max_gpus'", ""),
    (MACHINES, "kind,max_gpus,gpu_id", "kind,gpu_id", "column 'max_gpus' is missing", "line 1"),
    (MACHINES, "Desktop for 1", '"Desktop for 1', "is not valid CSV", ""),
]


@pytest.mark.parametrize(("table", "old", "new", "where", "mend"), BROKEN)
def test_a_broken_row_is_one_line_that_names_it_and_the_way_out(
    broken: Break, table: str, old: str, new: str, where: str, mend: str
) -> None:
    message = broken(table, old, new)
    assert table.rpartition("/")[2] in message
    assert where in message and mend in message


def test_what_two_tables_say_together_is_checked(folder: Path, broken: Break) -> None:
    same = f"{HEADER}\nsame,gpu,h200,31000,street,shop,2026-11-01,paper-table5,,,\n"
    (folder / "quotes" / "a.csv").write_text(same)
    assert "'same' is already in a.csv" in broken(QUOTES, "paper-table5:rtx-3090", "same")
    (folder / "quotes" / "a.csv").unlink()
    parts = folder / PARTS
    kept = [line for line in parts.read_text().splitlines() if "server-8gpu" not in line]
    parts.write_text("\n".join(kept) + "\n")
    assert "server-8gpu has no parts list" in broken(MACHINES, "2U server", "2U Server")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", r"machines\.csv line 1: column 'host_id' is missing"),
        (None, r"machines\.csv is missing; it belongs at"),
        ("folder", r"machines\.csv cannot be read"),
        (b"host_id\xff\xfe\x00", r"machines\.csv is not UTF-8"),
    ],
)
def test_a_table_that_is_none(folder: Path, content: str | bytes | None, says: str) -> None:
    path = folder / MACHINES
    path.unlink()
    if content == "folder":
        path.mkdir()
    elif content is not None:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ValueError, match=says):
        load_catalog(folder)
