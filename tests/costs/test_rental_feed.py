"""Renewing rental prices: the real gpuhunt package against a catalogue served on this machine."""

from __future__ import annotations

import csv
import io
import json
import threading
import zipfile
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from advisor.cli.main import main
from advisor.costs.rental_feed import RefreshError, fetch_rentals
from advisor.store import Store
from price_catalog.load import load_catalog
from price_catalog.providers import CloudNames
from tests.store_for_tests import look

TODAY = date(2026, 11, 21)
GPUS = load_catalog().gpus
FIELDS = [
    *("instance_name", "location", "price", "cpu", "memory", "gpu_count", "gpu_name"),
    *("gpu_memory", "spot", "disk_size", "gpu_vendor", "flags", "cpu_arch", "provider_data"),
]


def offer(name: str, price: str, count: int, gpu: str, memory: str, **more: str) -> dict[str, str]:
    row = {
        "instance_name": name,
        "location": "us-east-1",
        "price": price,
        "cpu": "96",
        "memory": "1152.0",
        "gpu_count": str(count),
        "gpu_name": gpu,
        "gpu_memory": memory,
        "spot": "False",
        "disk_size": "",
        "gpu_vendor": "nvidia",
        "flags": "",
        "cpu_arch": "x86",
        "provider_data": "{}",
    }
    return row | more


OFFERS = {
    "aws": [
        offer("p4de.24xlarge", "27.44705", 8, "A100", "80.0"),
        offer("p4de.24xlarge", "37.6", 8, "A100", "80.0", location="ap-northeast-1"),
        offer("p4de.24xlarge", "11.5", 8, "A100", "80.0", spot="True"),
        offer("g6.xlarge", "0.8048", 1, "L4", "24.0"),
        offer("x9.mystery", "3.0", 1, "A100", "80.0"),
        offer("t3.micro", "0.01", 0, "", "", gpu_vendor=""),
    ],
    "lambdalabs": [
        offer("gpu_8x_a100_80gb_sxm4", "14.32", 8, "A100", "80.0"),
        offer("gpu_1x_a6000", "0.80", 1, "A6000", "48.0"),
    ],
}


def zipped(provider: str, rows: list[dict[str, str]]) -> bytes:
    text = io.StringIO()
    writer = csv.DictWriter(text, FIELDS)
    writer.writeheader()
    writer.writerows(rows)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(f"{provider}.csv", text.getvalue())
    return out.getvalue()


class Clouds(BaseHTTPRequestHandler):
    """Two providers as they should be, one with a broken file, none of the others."""

    def do_GET(self) -> None:
        provider, _, rest = self.path.strip("/").partition("/")
        body = None
        if provider in OFFERS:
            body = b"20261121" if rest == "version" else zipped(provider, OFFERS[provider])
        elif provider == "azure":
            body = b"20261121" if rest == "version" else b"this is no zip file"
        self.send_response(200 if body else 404)
        self.end_headers()
        self.wfile.write(body or b"")

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def clouds(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    pytest.importorskip("gpuhunt", reason="needs the extra 'prices'")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Clouds)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_address[1]}"
    monkeypatch.setenv("GPUHUNT_CATALOG_URL", address)
    yield address
    server.shutdown()
    server.server_close()


def test_one_broken_provider_does_not_break_the_rest(clouds: str) -> None:
    found = fetch_rentals(GPUS, today=TODAY)
    assert found.answered == ("aws", "lambdalabs")
    assert "azure" in found.failed
    prices = {(r.provider, r.gpu_id, r.gpu_count, r.kind): r for r in found.rentals}
    node = prices["aws", "a100-sxm4-80gb", 8, "on-demand"]
    assert (node.price_per_hour_usd, node.region) == (Decimal("27.4471"), "us-east-1")
    assert node.priced_on == TODAY
    assert prices["aws", "a100-sxm4-80gb", 8, "spot"].price_per_hour_usd == Decimal("11.5")
    assert prices["lambda", "rtx-a6000", 1, "on-demand"].price_per_hour_usd == Decimal("0.8")
    assert len(found.rentals) == 5
    assert found.left_out == 1  # the A100 whose form nobody states


def test_the_rows_are_kept_dated_and_once(
    clouds: str, own_store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = len(look(Store(own_store)).rentals())
    argv = ["prices", "refresh", "--store", str(own_store)]
    assert main(argv) == 0
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "5 rental prices" in printed.err
    assert "no prices from azure" in printed.err
    assert "Traceback" not in printed.err
    kept = look(Store(own_store)).rentals()
    assert len(kept) == before + 5
    assert main(argv) == 0
    assert look(Store(own_store)).rentals() == kept
    ask = ["prices", "rent", "--model", "pythia-1b", "--gpu", "A100", "--count", "8"]
    capsys.readouterr()
    assert main([*ask, "--format", "json", "--store", str(own_store)]) == 0
    rent = {row["rent"]: row for row in json.loads(capsys.readouterr().out)["rent"]}
    assert rent["on-demand"]["providers"] >= 2


def test_no_network_is_a_clear_message_and_the_prices_stay(
    own_store: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("gpuhunt", reason="needs the extra 'prices'")
    monkeypatch.setenv("GPUHUNT_CATALOG_URL", "http://127.0.0.1:9")
    before = look(Store(own_store)).rentals()
    assert main(["prices", "refresh", "--store", str(own_store)]) == 1
    printed = capsys.readouterr()
    assert printed.err.startswith("advisor: no provider's prices could be read")
    assert "check the network; the prices that are there stay" in printed.err
    assert printed.err.count("\n") == 1
    assert look(Store(own_store)).rentals() == before


def test_without_the_package_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "gpuhunt", None)
    with pytest.raises(RefreshError, match=r'pip install -c constraints.txt ".\[prices\]"'):
        fetch_rentals(GPUS, today=TODAY)


@pytest.mark.parametrize(
    ("provider", "instance", "gpu", "memory", "gpu_id"),
    [
        ("aws", "p4de.24xlarge", "A100", 80, "a100-sxm4-80gb"),
        ("aws", "p4d.24xlarge", "A100", 40, "a100-sxm4-40gb"),
        ("azure", "Standard_NC24ads_A100_v4", "A100", 80, "a100-pcie-80gb"),
        ("gcp", "a3-highgpu-8g", "H100", 80, "h100-sxm5-80gb"),
        ("gcp", "a3-ultragpu-8g", "H200", 141, "h200-sxm-141gb"),
        ("lambdalabs", "gpu_1x_a100", "A100", 40, "a100-pcie-40gb"),
        ("runpod", "whatever", "A100", 80, None),
        ("runpod", "whatever", "RTX4090", 24, "rtx-4090"),
        ("runpod", "whatever", "RTX6000Ada", 48, "rtx-6000-ada"),
        ("runpod", "whatever", "H100NVL", 94, "h100-nvl-94gb"),
        ("runpod", "whatever", "RTXPRO6000", 96, None),
        ("runpod", "whatever", "RTX3080", 10, None),
        ("runpod", "whatever", "A40", 24, None),
    ],
)
def test_a_form_that_is_not_stated_is_not_guessed(
    provider: str, instance: str, gpu: str, memory: float, gpu_id: str | None
) -> None:
    assert CloudNames(GPUS).gpu_id(provider, instance, gpu, memory) == gpu_id
