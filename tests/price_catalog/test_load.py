from __future__ import annotations

import csv
import subprocess
import sys
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

from price_catalog.load import QUOTE_COLUMNS, Catalog, load_catalog, load_quotes
from price_catalog.model import Gpu, Quote

Break = Callable[[str, str, str], str]


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
    @pytest.mark.parametrize(
        ("name", "gpu_id", "memory_gib", "fp16", "tf32", "tdp_w"),
        [
            ("RTX 3090", "rtx-3090", 24, 71, 35.6, 350),
            ("A6000", "rtx-a6000", 48, 154.8, 77.4, 300),
            ("A100", "a100-sxm4-80gb", 80, 312, 156, 400),
            ("H100", "h100-sxm5-80gb", 80, 989, 494.5, 700),
            ("H200", "h200-sxm-141gb", 141, 989, 494.5, 700),
            ("RTX 4090", "rtx-4090", 24, 165.2, 82.6, 450),
        ],
    )
    def test_rates_are_dense_with_fp32_accumulate(
        self,
        catalog: Catalog,
        name: str,
        gpu_id: str,
        memory_gib: float,
        fp16: float,
        tf32: float,
        tdp_w: float,
    ) -> None:
        found = gpu(catalog, name)
        assert found.gpu_id == gpu_id
        assert (found.memory_gib, found.tdp_w) == (memory_gib, tdp_w)
        assert (found.fp16_tflops, found.bf16_tflops, found.tf32_tflops) == (fp16, fp16, tf32)

    def test_unknown_figures_stay_unknown(self, catalog: Catalog) -> None:
        assert gpu(catalog, "Quadro RTX 8000").fp16_tflops is None
        assert gpu(catalog, "RTX 2080 Ti").bf16_tflops is None
        assert gpu(catalog, "A100").fp8_tflops is None

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

    def test_tables_6_and_7_line_by_line(self, catalog: Catalog) -> None:
        hosts = {
            host.max_gpus: host
            for host in catalog.hosts
            if host.parts and host.parts[0].source_id.startswith("paper-")
        }
        assert sorted(hosts) == [1, 2, 4, 8]
        assert [len(hosts[count].parts) for count in (1, 2, 4, 8)] == [7, 7, 1, 1]
        supply = hosts[2].parts[-1]
        assert (supply.role, supply.detail) == ("Power supply", "EVGA SuperNOVA 1600 G+")
        assert supply.price_usd == Decimal("276.91")
        assert supply.priced_on == date(2024, 9, 21)
        assert supply.source_id == "paper-table6"

    def test_a_server_has_the_reseller_s_quote(self, catalog: Catalog) -> None:
        four = quote(catalog, "server-4gpu", kind="reseller-quote")
        assert four.price_usd == 7482
        assert four.vendor == "thinkmate.com"
        assert four.price_set is None
        assert quote(catalog, "server-8gpu", kind="reseller-quote").price_usd == 10673

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

    def test_reading_needs_no_training_library(self) -> None:
        code = (
            "import price_catalog.load as l, sys; l.load_catalog()\n"
            "assert not {'torch', 'numpy', 'duckdb', 'textual'} & set(sys.modules)"
        )
        subprocess.run([sys.executable, "-c", code], check=True, timeout=60)

    def test_csv_is_loaded_only_when_a_table_is_read(self) -> None:
        code = "import price_catalog.load, sys; assert 'csv' not in sys.modules"
        subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


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

    def test_quotes_alone_can_be_read_for_an_import(self, folder: Path, catalog: Catalog) -> None:
        quotes = load_quotes(
            folder / "quotes" / "paper-2024-09.csv",
            gpus=catalog.gpus,
            hosts=catalog.hosts,
            source_ids=frozenset(source.source_id for source in catalog.sources),
        )
        assert quotes == tuple(q for q in catalog.quotes if q.source_id.startswith("paper-"))


class TestBrokenRows:
    """Each broken row is one line that names file, line, column and the way out."""

    def test_unknown_gpu_offers_the_nearest(self, broken: Break) -> None:
        message = broken("quotes/paper-2024-09.csv", ",gpu,rtx-3090,", ",gpu,RTX 3900,")
        assert "paper-2024-09.csv line 2, column 'item_id'" in message
        assert "did you mean 'RTX 3090'" in message

    @pytest.mark.parametrize(
        "price",
        [
            "$1,300",
            "1300 USD",
            "-5",
            "0",
            "0.00",
            "nan",
            "inf",
            "1e400",
            "1_300",
            "1300.005",
            "1.2.3",
        ],
    )
    def test_price_that_is_none(self, broken: Break, price: str) -> None:
        message = broken("quotes/paper-2024-09.csv", ",1300,", f',"{price}",')
        assert "line 2, column 'price_usd'" in message
        assert price in message
        assert "1300.00" in message

    def test_gpu_without_a_price(self, broken: Break) -> None:
        assert "column 'price_usd': is empty" in broken(
            "quotes/paper-2024-09.csv", ",1300,used", ",,used"
        )

    def test_host_without_price_and_parts(self, folder: Path, broken: Break) -> None:
        parts = folder / "machine_parts.csv"
        kept = [line for line in parts.read_text().splitlines() if "server-8gpu" not in line]
        parts.write_text("\n".join(kept) + "\n")
        message = broken("machines.csv", "2U server", "2U Server")
        assert "server-8gpu has no parts list to add up" in message

    @pytest.mark.parametrize("day", ["21.09.2024", "2024-13-01", "20240921", "yesterday", ""])
    def test_date_that_is_none(self, broken: Break, day: str) -> None:
        message = broken(
            "quotes/paper-2024-09.csv", ",2024-09-21,paper-table5", f",{day},paper-table5"
        )
        assert "line 2, column 'quoted_on'" in message
        assert "2024-09-21" in message

    def test_parts_list_newer_than_its_quote(self, broken: Break) -> None:
        message = broken(
            "quotes/paper-2024-09.csv", "2024-09-21,paper-table6", "2024-09-20,paper-table6"
        )
        assert "column 'quoted_on'" in message

    def test_unknown_kind(self, broken: Break) -> None:
        message = broken("quotes/paper-2024-09.csv", ",used,", ",usd,")
        assert "column 'kind': 'usd' is not known here; did you mean 'used'?" in message

    def test_unknown_source(self, broken: Break) -> None:
        message = broken("quotes/paper-2024-09.csv", ",paper-table5,", ",paper-table55,")
        assert "column 'source_id'" in message
        assert "did you mean 'paper-table5'" in message

    def test_unknown_host_of_a_part(self, broken: Break) -> None:
        message = broken("machine_parts.csv", "desktop-1gpu,CPU,", "desktop-3gpu,CPU,")
        assert "machine_parts.csv line 2, column 'host_id'" in message
        assert "desktop-2gpu" in message

    def test_a_machine_s_figure_from_an_unknown_source(self, broken: Break) -> None:
        message = broken("machines.csv", "base_w=chipversus-4314", "base_w=chipversus")
        assert "machines.csv line 5, column 'spec_source': source 'chipversus'" in message
        message = broken("machines.csv", "slot_width=rack-unit", "slots=rack-unit")
        assert "column 'spec_source'" in message

    def test_a_part_written_twice(self, broken: Break) -> None:
        line = "desktop-1gpu,CPU,Intel Core i3-10300,99.00,2024-09-21,paper-table6\n"
        message = broken("machine_parts.csv", line, line + line.replace("Intel", "intel"))
        assert "machine_parts.csv line 3, column 'detail'" in message
        assert "is already in line 2; keep one of them" in message

    def test_part_without_a_source(self, broken: Break) -> None:
        message = broken("machine_parts.csv", "99.00,2024-09-21,paper-table6", "99.00,2024-09-21,")
        assert "column 'source_id': is empty" in message

    def test_gpu_rate_that_is_no_number(self, broken: Break) -> None:
        message = broken("gpus.csv", ",35.58,35.6,", ",35.58,n/a,")
        assert "gpus.csv line 3, column 'tf32_tflops'" in message
        assert "leave the cell empty" in message

    def test_alias_on_two_gpus(self, broken: Break) -> None:
        message = broken("gpus.csv", "NVIDIA GeForce RTX 4090; 4090", "nvidia rtx-3090")
        assert "column 'aliases': 'nvidia rtx-3090' already stands for rtx-3090" in message

    def test_gpu_name_on_two_gpus(self, broken: Break) -> None:
        message = broken("gpus.csv", "rtx-4090,RTX 4090,", "rtx-4090,RTX 3090,")
        assert "column 'name': 'RTX 3090' already stands for rtx-3090" in message

    def test_gpu_id_with_capitals(self, broken: Break) -> None:
        message = broken("gpus.csv", "rtx-3090,", "RTX 3090,")
        assert "column 'gpu_id'" in message
        assert "write it like 'rtx-3090'" in message

    def test_figure_with_an_unknown_source(self, broken: Break) -> None:
        message = broken("gpus.csv", "tf32_tflops=lightning", "tf32_tflops=lightening")
        assert "column 'field_sources'" in message
        assert "did you mean 'lightning'" in message

    def test_source_of_an_unknown_field(self, broken: Break) -> None:
        message = broken("gpus.csv", "; tf32_tflops=", "; tf32=")
        assert "did you mean 'tf32_tflops'" in message

    def test_duplicate_id(self, broken: Break) -> None:
        message = broken("machines.csv", "desktop-2gpu,", "desktop-1gpu,")
        assert message.startswith("machines.csv line 3, column 'host_id'")
        assert "already in line 2" in message

    def test_duplicate_quote_across_files(self, folder: Path, broken: Break) -> None:
        header = ",".join(QUOTE_COLUMNS)
        (folder / "quotes" / "a.csv").write_text(
            f"{header}\nsame,gpu,h200,31000,street,shop,2026-11-01,paper-table5,,,\n"
        )
        message = broken("quotes/paper-2024-09.csv", "paper-table5:rtx-3090", "same")
        assert "'same' is already in a.csv" in message

    @pytest.mark.parametrize("count", ["0", "-1", "two", "1.5", "٣", "9" * 5000])
    def test_number_of_gpus(self, broken: Break, count: str) -> None:
        message = broken("machines.csv", "desktop,1,", f"desktop,{count},")
        assert "machines.csv line 2, column 'max_gpus'" in message

    def test_too_many_cells(self, broken: Break) -> None:
        message = broken("machines.csv", "desktop,1,", "desktop,1,,")
        assert "machines.csv line 2: has 24 cells where the header has 23" in message

    def test_unknown_column(self, broken: Break) -> None:
        message = broken("machines.csv", "max_gpus", "max_gpu")
        assert "line 1: column 'max_gpu' is not known; did you mean 'max_gpus' or" in message

    def test_missing_column(self, broken: Break) -> None:
        message = broken("machines.csv", "kind,max_gpus,gpu_id", "kind,gpu_id")
        assert "line 1: column 'max_gpus' is missing" in message

    def test_quote_that_never_ends(self, broken: Break) -> None:
        assert "is not valid CSV" in broken("machines.csv", "Desktop for 1", '"Desktop for 1')

    def test_empty_file(self, folder: Path) -> None:
        (folder / "gpus.csv").write_text("")
        with pytest.raises(ValueError, match=r"gpus\.csv line 1: column 'gpu_id' is missing"):
            load_catalog(folder)

    def test_missing_file(self, folder: Path) -> None:
        (folder / "machines.csv").unlink()
        with pytest.raises(ValueError, match=r"machines\.csv is missing; it belongs at"):
            load_catalog(folder)

    def test_directory_in_its_place(self, folder: Path) -> None:
        (folder / "machines.csv").unlink()
        (folder / "machines.csv").mkdir()
        with pytest.raises(ValueError, match=r"machines\.csv cannot be read"):
            load_catalog(folder)

    def test_not_text(self, folder: Path) -> None:
        (folder / "machines.csv").write_bytes(b"host_id\xff\xfe\x00")
        with pytest.raises(ValueError, match=r"machines\.csv is not UTF-8"):
            load_catalog(folder)
